"""Training tweet2vec: tweets with hashtags, batches of tweets of like length, the loss over hashtags.

A tweet with several hashtags has all of them as its target, in equal shares: its loss is the mean of their negative
log-likelihoods. The release shows such a tweet once for each hashtag instead, so it weighs more there. The optimizer is
Adam with a learning rate that falls linearly to a twentieth; the release has SGD with Nesterov momentum, halves the
rate when validation stalls and clips gradients inside the GRU. Here the norm of all gradients is clipped, and the
release's L2 term is off unless the recipe asks for it, because early stopping replaces it.

Shapes: B tweets, T characters, K hashtags of a tweet at most, L hashtags in all.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import torch
from torch import Tensor, nn

from rejoinder.data.dialogues import texts
from rejoinder.data.files import OnError, rows
from rejoinder.data.read import raise_error
from rejoinder.errors import DataError
from rejoinder.models.networks.loading import pad
from rejoinder.models.networks.tweet2vec import Tweet2Vec
from rejoinder.models.sizes import TweetSizes
from rejoinder.models.tweets import UNKNOWN, as_numbers, clean_tweet, hashtags_in, is_retweet, most_frequent, numbered
from rejoinder.pretraining.batches import Ints
from rejoinder.pretraining.corpus import Lesson, Source
from rejoinder.pretraining.loop import AdamTask, Row, tensors_of
from rejoinder.pretraining.recipe import Run, TweetRecipe, TweetText

CHARACTERS, HASHTAGS = "characters.json", "hashtags.json"
BATCHES_A_BUCKET = 50
"""Batches whose tweets are sorted by length together: more give less padding, fewer more chance in who meets whom."""
_NONE = -1
_LAST_SHARE = 0.05
_BUCKETS = 10_000
_REMEDY = 'Write {"text": "...", "hashtags": ["..."]} a line'


class Labelled(NamedTuple):
    """A cleaned tweet, and the numbers of its hashtags."""

    text: str
    hashtags: tuple[int, ...]


@dataclass(frozen=True)
class TweetCorpus:
    """Examples in three parts.

    Attributes:
        hashtags: their names, most frequent first.
        parts: the tweets of `train`, `validation` and `test` that have one or more of them.
        left_out: how many tweets were not used, by reason.
    """

    hashtags: Sequence[str]
    parts: Mapping[str, Sequence[Labelled]]
    left_out: Mapping[str, int]


def read_posts(*paths: str | Path, on_error: OnError = raise_error) -> Iterator[tuple[str, list[str]]]:
    """Yield the messages of JSON lines, plain or gzip, with their hashtags: those of the line, else those in the text.

    A line has `text`, or `turns` with one text, and may have `hashtags`.

    Raises:
        DataError: a bad line: no JSON object, no text or several, `hashtags` that are no texts; see also `rows`.
        MissingAsset: a file does not exist.
    """
    for path in paths:
        for where, record, _ in rows(path, on_error, "jsonl"):
            try:
                yield _post(record, where)
            except DataError as error:
                on_error(error)


def _post(record: Any, where: str) -> tuple[str, list[str]]:
    """Return the message of a decoded line, and its hashtags, lower case, without the sign."""
    if not isinstance(record, Mapping):
        raise DataError("not a JSON object", _REMEDY, where=where)
    field = "turns" if "turns" in record else "text"
    (text, *more) = texts(record["turns"], where) or ("", "") if field == "turns" else [record.get("text")]
    if more or not isinstance(text, str):
        raise DataError("not one text", _REMEDY, where=where, field=field)
    if (hashtags := record.get("hashtags")) is None:
        return text, hashtags_in(text)
    return text, [name.lstrip("#").lower() for name in texts(hashtags, where, "hashtags")]


def tweet_corpus(files: Sequence[str | Path], text: TweetText, on_error: OnError = raise_error) -> TweetCorpus:
    """Return the examples in `files`; they are held in memory.

    Tweets with the same text after cleaning and cutting become one, with the hashtags of all, as in the release. A hash
    of the cleaned text decides the part, so that no text is in two. Hashtags are counted over all parts.

    Raises:
        DataError: a bad line (see `read_posts`), or no tweet to train on or to validate on.
    """
    joined: dict[str, set[str]] = {}
    left_out = {"re-tweet": 0, "nothing but hashtags": 0, "reads like another": 0, "no frequent hashtag": 0}
    for post, names in read_posts(*files, on_error=on_error):
        cleaned = clean_tweet(post)[: text.longest].rstrip()
        if not cleaned:
            left_out["nothing but hashtags"] += 1
        elif is_retweet(cleaned):
            left_out["re-tweet"] += 1
        else:
            left_out["reads like another"] += cleaned in joined
            joined.setdefault(cleaned, set()).update(names)
    frequent = most_frequent((name for names in joined.values() for name in names), text.most, text.least)
    numbers = {name: number for number, name in enumerate(frequent)}
    parts: dict[str, list[Labelled]] = {"train": [], "validation": [], "test": []}
    for cleaned, own in joined.items():
        hashtags = tuple(sorted(numbers[name] for name in own if name in numbers))
        if hashtags:
            parts[part_of(cleaned, text)].append(Labelled(cleaned, hashtags))
        else:
            left_out["no frequent hashtag"] += 1
    if not parts["train"] or not parts["validation"]:
        counts = f"{len(parts['train'])} tweets to train on, {len(parts['validation'])} to validate on"
        raise DataError(
            f"{counts}, with {len(frequent)} hashtags on {text.least} tweets or more", "Give a larger corpus"
        )
    return TweetCorpus(frequent, parts, left_out)


def part_of(cleaned: str, text: TweetText) -> str:
    """Return the part that a cleaned text belongs to."""
    share = crc32(cleaned.encode()) % _BUCKETS / _BUCKETS
    if share < text.test:
        return "test"
    return "validation" if share < text.test + text.validation else "train"


class Tweet(NamedTuple):
    """A tweet in numbers: its characters (one or more) and its hashtags (one or more)."""

    symbols: Sequence[int]
    hashtags: Sequence[int]


class TweetBatch(NamedTuple):
    """B tweets: characters [B, T] padded behind, their numbers [B], and hashtags [B, K], -1 where there are fewer."""

    symbols: Tensor
    lengths: Tensor
    hashtags: Tensor


@dataclass(frozen=True)
class TweetBatches:
    """The batches of two sets of tweets, `size` tweets each, in an order that `seed` decides."""

    train: Sequence[Tweet]
    held_out: Sequence[Tweet]
    size: int
    seed: int

    def training(self, update: int, rank: int, world: int) -> Iterator[TweetBatch]:
        """See `loop.Batches`."""
        places = itertools.islice(self._passes(), update * world + rank, None, world)
        return (as_batch([self.train[place] for place in batch]) for batch in places)

    def validation(self) -> Iterator[TweetBatch]:
        """See `loop.Batches`."""
        order = sorted(self.held_out, key=lambda tweet: len(tweet.symbols))
        return (as_batch(order[start : start + self.size]) for start in range(0, len(order), self.size))

    def _passes(self) -> Iterator[Ints]:
        """Yield the places of the tweets of each batch: shuffled, like lengths together, batches shuffled."""
        lengths = np.array([len(tweet.symbols) for tweet in self.train])
        for number in itertools.count():
            generator = np.random.default_rng([self.seed, number])
            shuffled = generator.permutation(len(lengths))
            batches: list[Ints] = []
            for start in range(0, len(shuffled), BATCHES_A_BUCKET * self.size):
                bucket = shuffled[start : start + BATCHES_A_BUCKET * self.size]
                bucket = bucket[np.argsort(lengths[bucket], kind="stable")]
                batches += np.split(bucket, range(self.size, len(bucket), self.size))
            yield from (batches[place] for place in generator.permutation(len(batches)))


def as_batch(tweets: Sequence[Tweet]) -> TweetBatch:
    """Return the tweets as tensors."""
    symbols, lengths = pad([tweet.symbols for tweet in tweets], UNKNOWN)
    return TweetBatch(symbols, lengths, pad([tweet.hashtags for tweet in tweets], _NONE)[0])


class TweetTask(AdamTask):
    """tweet2vec in training.

    Args:
        sizes: the network's.
        run: the recipe's.
        l2: weight of the sum of all squared weights in the loss that is trained on (1e-4 in the release).
    """

    def __init__(self, sizes: TweetSizes, run: Run, l2: float = 0.0) -> None:
        super().__init__(Tweet2Vec, sizes, run)
        self.l2 = l2

    def rate(self, update: int) -> float:
        """Return a factor that falls linearly over the updates of the run."""
        return 1 + (_LAST_SHARE - 1) * update / self.run.updates

    def loss(self, batch: TweetBatch, update: int, generator: torch.Generator) -> Tensor:  # noqa: ARG002
        """Return the cross-entropy with the tweets' hashtags, nats, mean over tweets, and the L2 term."""
        loss = tweet_losses(self.model(batch.symbols, batch.lengths), batch.hashtags).mean()
        return loss + self.l2 * squared_weights(self.model) if self.l2 else loss

    def sums(self, batch: TweetBatch, generator: torch.Generator) -> dict[str, Tensor]:  # noqa: ARG002
        """See `loop.Task`."""
        scores, hashtags = self.model(batch.symbols, batch.lengths).cpu(), batch.hashtags.cpu()
        ranks = best_ranks(scores, hashtags)
        return {
            "loss": tweet_losses(scores, hashtags).double().sum(),
            "first": (ranks == 1).double().sum(),
            "ranks": ranks.double().sum(),
            "tweets": torch.tensor(len(ranks), dtype=torch.float64),
        }

    def figures(self, totals: Mapping[str, Tensor]) -> Row:
        """Return the cross-entropy, how often a tweet's hashtag comes first, and the mean rank of its best one."""
        names = {"loss": "validation_loss", "first": "precision_at_1", "ranks": "mean_rank"}
        return {name: float(totals[key]) / float(totals["tweets"]) for key, name in names.items()}


def tweet_losses(log_probabilities: Tensor, hashtags: Tensor) -> Tensor:
    """Return [B] the mean over a tweet's hashtags [B, K] of their negative log-likelihood, nats."""
    inside = hashtags != _NONE
    taken = log_probabilities.gather(1, hashtags.clamp(min=0)).masked_fill(~inside, 0.0)
    return -taken.sum(1) / inside.sum(1)


def squared_weights(model: nn.Module) -> Tensor:
    """Return the sum of the squares of all weights; biases are not among them, as in the release."""
    return torch.stack([weight.square().sum() for weight in model.parameters() if weight.dim() > 1]).sum()


def best_ranks(scores: Tensor, hashtags: Tensor) -> Tensor:
    """Return [B] the rank (1 is first) of the best placed of a tweet's hashtags [B, K] by `scores` [B, L].

    If scores are tied, the tweet's own hashtag is ranked last, so a model with equal scores for all gains nothing.
    """
    own = scores.gather(1, hashtags.clamp(min=0)).masked_fill(hashtags == _NONE, -torch.inf)
    return scores.shape[1] - (scores < own.amax(1, keepdim=True)).sum(1)


def tweet_lesson(recipe: TweetRecipe, source: Source) -> Lesson:
    """Return what tweet2vec learns.

    Raises:
        DataError: a bad line, or too few tweets.
    """
    corpus = tweet_corpus(source.files, recipe.text, source.on_error)
    texts_to_train_on = (character for tweet in corpus.parts["train"] for character in tweet.text)
    characters = most_frequent(texts_to_train_on, recipe.text.characters)
    known = numbered(characters)
    train, held_out = (
        [Tweet(as_numbers(tweet.text, known), tweet.hashtags) for tweet in corpus.parts[part]]
        for part in ("train", "validation")
    )
    left_out = ", ".join(f"{reason}: {count:,}" for reason, count in corpus.left_out.items())
    hashtags = len(corpus.hashtags)
    source.log(f"training on {len(train):,} tweets, validating on {len(held_out):,}, {hashtags:,} hashtags")
    source.log(f"not used: {left_out}")
    sizes = TweetSizes(**recipe.model.model_dump(), symbols=len(characters) + 1, hashtags=hashtags)
    task = TweetTask(sizes, recipe.run, l2=recipe.l2)
    lists = {CHARACTERS: characters, HASHTAGS: list(corpus.hashtags)}
    tweets = {part: len(examples) for part, examples in corpus.parts.items()}
    return Lesson(
        task,
        TweetBatches(train, held_out, recipe.batch, recipe.run.seed),
        {"tweets": tweets, "left_out": dict(corpus.left_out)},
        {name: json.dumps(items, ensure_ascii=False) for name, items in lists.items()},
        partial(tensors_of, task.model),
        f"Trained to predict {hashtags:,} hashtags on {len(train):,} tweets.",
    )
