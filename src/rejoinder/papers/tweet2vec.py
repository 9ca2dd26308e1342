"""A trained tweet2vec on tweets that it has not seen, beside word models trained on the same tweets.

Shapes: N test tweets, B tweets of a batch, L words.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from rejoinder.errors import UsageError
from rejoinder.io.folders import Parts, read_folder
from rejoinder.nn.tweet import TweetModel, TweetSizes
from rejoinder.papers.asked import Asked, Takes, named
from rejoinder.scorer import FloatArray
from rejoinder.stats.bootstrap import cluster_counts, percentile_interval
from rejoinder.stats.figure import Figure
from rejoinder.text import tokenizer
from rejoinder.text.tweets import as_numbers, most_frequent, numbered
from rejoinder.training.fit import RunOptions, fit
from rejoinder.training.pretrain_tweets import CHARACTERS, HASHTAGS, tweets_in_numbers
from rejoinder.training.tweet import Tweet, TweetBatches, TweetTask, as_batch, best_ranks
from rejoinder.training.tweet_corpus import Labelled, Part, TweetCorpus, TweetText, tweet_corpus

TAKES = Takes(
    ("files", "encoders", "seed"),
    must=("files", "encoders"),
    why="measures a tweet2vec on the tweets that were left out of its training. Give its CORPUS and -e NAME=FOLDER",
)
WORDS, BATCH, WIDTH, RESAMPLES = 20_000, 64, 128, 1000
STRETCH, PATIENCE, STEP = 150, 4, 0.003


class AverageModel(nn.Module):
    """A softmax on the mean of the vectors of a tweet's words: a bag of words."""

    def __init__(self, sizes: TweetSizes) -> None:
        super().__init__()
        self.lookup = nn.Embedding(sizes.symbols, sizes.lookup)
        self.head = nn.Linear(sizes.lookup, sizes.hashtags)
        nn.init.normal_(self.lookup.weight, std=0.1)

    def forward(self, symbols: Tensor, lengths: Tensor) -> Tensor:
        """[B, hashtags] logarithm of the probability of each hashtag; `symbols` are [B, L]."""
        inside = torch.arange(symbols.shape[1]) < lengths[:, None]
        total = (self.lookup(symbols) * inside[..., None]).sum(1)
        return torch.log_softmax(self.head(total / lengths[:, None]), -1)


# Networks over words, and their most updates: the baseline of the paper, and a bag of words.
_WORD_MODELS: dict[str, tuple[Callable[[TweetSizes], nn.Module], int]] = {
    "word GRU": (TweetModel, 3000),
    "average of words": (AverageModel, 6000),
}


class Row(NamedTuple):
    """A model, or tweet2vec less a model.

    Attributes:
        name: of the model.
        first: precision at 1: percent of the tweets whose first hashtag is right.
        rank: mean rank of the best placed of a tweet's hashtags.
    """

    name: str
    first: Figure
    rank: Figure


@dataclass(frozen=True)
class Found:
    """All that was found.

    Attributes:
        corpus: its name.
        hashtags: how many are learned.
        tweets: how many each part has.
        left_out: how many tweets were not used, by reason.
        a_tweet: mean number of hashtags of a test tweet.
        digest: of the weights of tweet2vec.
        rows: chance, the models, and the differences.
        best: the best validation of each trained model.
    """

    corpus: str
    hashtags: int
    tweets: Mapping[Part, int]
    left_out: Mapping[str, int]
    a_tweet: float
    digest: str
    rows: Sequence[Row]
    best: Mapping[str, Mapping[str, float]]


def find(asked: Asked) -> Found:
    """Every model on the test tweets; runs of the word models stand in the folder MODEL.words, and are gone on with.

    Raises:
        UsageError: the model was not trained on these tweets.
    """
    folder = Path(named(asked.encoders[0], "-e")[1])
    parts = read_folder(folder)
    corpus = tweet_corpus(list(asked.files), TweetText(**parts.config["recipe"]["text"]), asked.on_bad)
    if json.loads(parts.files[HASHTAGS]) != list(corpus.hashtags):
        raise UsageError(f"{folder} was not trained on these files. Name those that it was trained on")
    test, size = corpus.parts["test"], len(corpus.hashtags)
    found = {"most frequent hashtags": _frequency_ranks(corpus.parts["train"], test, size)}
    best: dict[str, Mapping[str, float]] = {"tweet2vec": parts.config["figures"]}
    runs = folder.with_name(f"{folder.name}.words")
    with asked.stage("training word models", len(_WORD_MODELS)) as advance:
        for name, (network, updates) in _WORD_MODELS.items():
            options = RunOptions(updates, STRETCH, PATIENCE, STEP, accelerator="cpu", seed=asked.seed)
            found[name], best[name] = _word_ranks(corpus, network, options, runs / name)
            advance(1)
    found["tweet2vec"] = _ranks(*_characters(parts, test))
    own = np.array([len(tweet.hashtags) for tweet in test], dtype=np.float64)
    left_out, tweets = dict(corpus.left_out), {part: len(one) for part, one in corpus.parts.items()}
    name = Path(asked.files[0]).name.partition(".")[0]
    rows = _rows(found, own, size, asked.seed)
    return Found(name, size, tweets, left_out, float(own.mean()), parts.digest, rows, best)


def _characters(parts: Parts, test: Sequence[Labelled]) -> tuple[nn.Module, list[Tweet]]:
    """tweet2vec, and the tweets as it reads them."""
    model = TweetModel(TweetSizes(**parts.config["sizes"]))
    model.load_state_dict({name: torch.from_numpy(tensor) for name, tensor in parts.tensors.items()})
    return model, tweets_in_numbers(test, json.loads(parts.files[CHARACTERS]))


def _rows(found: Mapping[str, FloatArray], own: FloatArray, size: int, seed: int) -> list[Row]:
    """The models, and what tweet2vec has over the word models on the same resamples of tweets.

    Args:
        found: [N] ranks by model.
        own: [N] how many hashtags each tweet has.
        size: how many hashtags there are.
        seed: decides the resamples.
    """
    counts = cluster_counts(len(own), RESAMPLES, np.random.default_rng(seed)).astype(np.float64)
    # By chance the best of k of L hashtags stands at (L + 1) / (k + 1) on average.
    values = {"chance": (own / size, (size + 1) / (own + 1))}
    values |= {name: ((ranks == 1).astype(np.float64), ranks) for name, ranks in found.items()}
    first, ranks = values["tweet2vec"]
    values |= {f"tweet2vec minus {name}": (first - values[name][0], ranks - values[name][1]) for name in _WORD_MODELS}
    return [Row(name, _mean(100 * firsts, counts), _mean(places, counts)) for name, (firsts, places) in values.items()]


def _mean(values: FloatArray, counts: FloatArray) -> Figure:
    """The mean of `values` [N] with an interval over resampled tweets."""
    means = values @ counts / len(values)
    return percentile_interval(means, len(values), value=float(values.mean()), unit="tweet")


def _ranks(model: nn.Module, tweets: Sequence[Tweet]) -> FloatArray:
    """[N] rank of the best placed hashtag of each tweet."""
    order = sorted(range(len(tweets)), key=lambda place: len(tweets[place].symbols))
    found = np.empty(len(tweets))
    with torch.inference_mode():
        for start in range(0, len(order), BATCH):
            places = order[start : start + BATCH]
            batch = as_batch([tweets[place] for place in places])
            found[places] = best_ranks(model.eval()(batch.symbols, batch.lengths), batch.hashtags).numpy()
    return found


def _word_ranks(
    corpus: TweetCorpus, network: Callable[[TweetSizes], nn.Module], options: RunOptions, folder: Path
) -> tuple[FloatArray, Mapping[str, float]]:
    """[N] ranks by a network over words, trained on the training part in `folder`; and its best validation."""
    split = tokenizer("words-1")
    words = most_frequent((word for text, _ in corpus.parts["train"] for word in split(text)), WORDS)
    known = numbered(words)

    def part(name: Part) -> list[Tweet]:
        # A text of signs that are no tokens is one unknown word.
        return [Tweet(as_numbers(split(text) or [""], known), hashtags) for text, hashtags in corpus.parts[name]]

    sizes = TweetSizes(len(words) + 1, len(corpus.hashtags), lookup=WIDTH, units=WIDTH, embedding=WIDTH)
    task = TweetTask(sizes, options, network)
    folder.mkdir(parents=True, exist_ok=True)
    best = fit(task, TweetBatches(part("train"), part("validation"), BATCH, options.seed), folder).best
    return _ranks(task.model, part("test")), best


def _frequency_ranks(train: Sequence[Labelled], test: Sequence[Labelled], hashtags: int) -> FloatArray:
    """[N] ranks if every tweet is given the hashtags in the order of their frequency in the training part."""
    counts = np.bincount([number for _, own in train for number in own], minlength=hashtags)
    place = np.empty(hashtags)
    place[np.argsort(-counts, kind="stable")] = np.arange(1, hashtags + 1)
    return np.array([place[list(own)].min() for _, own in test])
