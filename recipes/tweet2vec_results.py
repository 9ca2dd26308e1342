"""Measure a trained tweet2vec on tweets it has not seen, beside word models trained on the same tweets.

Usage: python recipes/tweet2vec_results.py MODEL CORPUS... [--work FOLDER] [--seed 0] [--resamples 1000]

MODEL is a folder that `rejoinder pretrain` made of the files CORPUS; its recipe says which tweets were left out to test
on. Printed: for every model precision at 1 (how often the first hashtag is one of the tweet's) and the mean rank of the
best placed of the tweet's hashtags, as the program released with Dhingra et al. 2016 counts them, with 95 % expanded
percentile intervals over resampled tweets, and what tweet2vec has over each word model on the same resamples.

The word models know the 20,000 most frequent words of the training part and stop at their best validation, as tweet2vec
does; their runs stand in the folder --work, and a run that is there is gone on with. `word GRU` is the baseline of the
paper: the same network over words. `average of words` puts a softmax on the mean of word vectors: a bag of words.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rejoinder.io.folders import read_folder
from rejoinder.nn.tweet import TweetModel, TweetSizes
from rejoinder.stats.bootstrap import cluster_counts, percentile_interval
from rejoinder.text import tokenizer
from rejoinder.text.tweets import as_numbers, most_frequent, numbered
from rejoinder.training.fit import RunOptions, fit
from rejoinder.training.pretrain_tweets import tweets_in_numbers
from rejoinder.training.tweet import Tweet, TweetBatches, TweetTask, as_batch, best_ranks
from rejoinder.training.tweet_corpus import Labelled, Part, TweetCorpus, TweetText, tweet_corpus

WORDS = 20_000
BATCH = 64
WIDTH = 128

Ranks = NDArray[np.float64]


class AverageModel(nn.Module):
    """A softmax on the mean of the vectors of a tweet's words."""

    def __init__(self, sizes: TweetSizes) -> None:
        super().__init__()
        self.lookup = nn.Embedding(sizes.symbols, sizes.lookup)
        self.head = nn.Linear(sizes.lookup, sizes.hashtags)
        nn.init.normal_(self.lookup.weight, std=0.1)

    def forward(self, symbols: Tensor, lengths: Tensor) -> Tensor:
        """[B, L] logarithm of the probability of each hashtag."""
        inside = torch.arange(symbols.shape[1]) < lengths[:, None]
        total = (self.lookup(symbols) * inside[..., None]).sum(1)
        return torch.log_softmax(self.head(total / lengths[:, None]), -1)


def ranks(model: nn.Module, tweets: Sequence[Tweet]) -> Ranks:
    """[N] rank of the best placed hashtag of each tweet."""
    order = sorted(range(len(tweets)), key=lambda place: len(tweets[place].symbols))
    found = np.empty(len(tweets))
    with torch.inference_mode():
        for start in range(0, len(order), BATCH):
            places = order[start : start + BATCH]
            batch = as_batch([tweets[place] for place in places])
            found[places] = best_ranks(model.eval()(batch.symbols, batch.lengths), batch.hashtags).numpy()
    return found


def word_ranks(
    corpus: TweetCorpus, network: Callable[[TweetSizes], nn.Module], options: RunOptions, folder: Path
) -> Ranks:
    """[N] ranks on the test part by a network over words, trained on the training part in `folder`."""
    split = tokenizer("words-1")
    words = most_frequent((word for text, _ in corpus.parts["train"] for word in split(text)), WORDS)
    known = numbered(words)

    def part(name: Part) -> list[Tweet]:
        # A text of signs that are no tokens is one unknown word.
        return [Tweet(as_numbers(split(text) or [""], known), hashtags) for text, hashtags in corpus.parts[name]]

    sizes = TweetSizes(len(words) + 1, len(corpus.hashtags), lookup=WIDTH, units=WIDTH, embedding=WIDTH)
    task = TweetTask(sizes, options, network)
    start = time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    best = fit(task, TweetBatches(part("train"), part("validation"), BATCH, options.seed), folder).best
    print(f"{folder.name}: {time.monotonic() - start:.0f} seconds, best validation {best}", file=sys.stderr)
    return ranks(task.model, part("test"))


def frequency_ranks(train: Sequence[Labelled], test: Sequence[Labelled], hashtags: int) -> Ranks:
    """[N] ranks if every tweet is given the hashtags in the order of their frequency in the training part."""
    counts = np.bincount([number for _, own in train for number in own], minlength=hashtags)
    place = np.empty(hashtags)
    place[np.argsort(-counts, kind="stable")] = np.arange(1, hashtags + 1)
    return np.array([place[list(own)].min() for _, own in test])


def cells(firsts: Ranks, found: Ranks, counts: NDArray[np.float64]) -> list[str]:
    """Precision at 1 in percent and mean rank with their intervals."""
    shown = []
    for values, scale in ((firsts, 100.0), (found, 1.0)):
        interval = percentile_interval(values @ counts / len(values) * scale, len(values), unit="tweet")
        shown.append(f"{values.mean() * scale:.1f} [{interval.low:.1f}, {interval.high:.1f}]")
    return shown


def main() -> None:
    """Train the word models and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("corpus", type=Path, nargs="+")
    parser.add_argument("--work", type=Path, default=Path("word_models"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--resamples", type=int, default=1000)
    given = parser.parse_args()
    parts = read_folder(given.model)
    corpus = tweet_corpus(given.corpus, TweetText(**parts.config["recipe"]["text"]))
    if json.loads(parts.files["hashtags.json"]) != list(corpus.hashtags):
        parser.error(f"{given.model} was not trained on these files")
    size, train, test = len(corpus.hashtags), corpus.parts["train"], corpus.parts["test"]
    own = np.array([len(hashtags) for _, hashtags in test], dtype=np.float64)
    model = TweetModel(TweetSizes(**parts.config["sizes"]))
    model.load_state_dict({name: torch.from_numpy(tensor) for name, tensor in parts.tensors.items()})
    tweet2vec = ranks(model, tweets_in_numbers(test, json.loads(parts.files["characters.json"])))
    words: dict[str, Ranks] = {}
    for name, network, updates in (("word GRU", TweetModel, 3000), ("average of words", AverageModel, 6000)):
        options = RunOptions(updates, 150, patience=4, learning_rate=0.003, accelerator="cpu", seed=given.seed)
        words[name] = word_ranks(corpus, network, options, given.work / name)
    counts = cluster_counts(len(test), given.resamples, np.random.default_rng(given.seed)).astype(np.float64)
    shape = ", ".join(f"{len(corpus.parts[part]):,} {part}" for part in ("train", "validation", "test"))
    print(f"{size:,} hashtags; tweets: {shape}; {own.mean():.2f} hashtags a test tweet\n")
    print("| model | n | precision at 1, % | mean rank |\n| --- | ---: | --- | --- |")
    # By chance the best of k of L hashtags stands at (L + 1) / (k + 1) on average.
    rows = {"chance": (own / size, (size + 1) / (own + 1))}
    frequent = frequency_ranks(train, test, size)
    found = {"most frequent hashtags": frequent, **words, "tweet2vec": tweet2vec}
    rows |= {name: ((values == 1).astype(np.float64), values) for name, values in found.items()}
    rows |= {
        f"tweet2vec minus {name}": (rows["tweet2vec"][0] - rows[name][0], tweet2vec - values)
        for name, values in words.items()
    }
    for name, (firsts, places) in rows.items():
        print(f"| {name} | {len(test):,} | {' | '.join(cells(firsts, places, counts))} |")
    print(f"\nweights: {parts.digest}; seed {given.seed}, {given.resamples:,} resamples")


if __name__ == "__main__":
    main()
