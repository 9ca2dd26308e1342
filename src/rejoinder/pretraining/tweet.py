"""Training tweet2vec: batches of tweets of like length, the loss over hashtags, and how well they are predicted.

A tweet with several hashtags has all of them as its target, in equal shares: its loss is the mean of their negative
log-likelihoods. The release shows such a tweet once for each hashtag instead, so it weighs more there. The optimiser is
Adam with a step size that falls linearly to a twentieth; the release has SGD with Nesterov momentum, halves the step
size when validation stalls and clips gradients inside the GRU. Here the norm of all gradients is clipped, and the
release's L2 term is off unless the recipe asks for it, because early stopping stands for it.

Shapes: B tweets, T characters, K hashtags of a tweet at most, L hashtags in all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rejoinder.models.networks.tweet2vec import Tweet2Vec
from rejoinder.models.sizes import TweetSizes
from rejoinder.models.tweets import UNKNOWN
from rejoinder.pretraining.fit import Task
from rejoinder.pretraining.recipe import Run

BATCHES_A_BUCKET = 50
"""Batches whose tweets are sorted by length together: more give less padding, fewer more chance in who meets whom."""
_NONE = -1
_LAST_SHARE = 0.05

Batches = list[NDArray[np.int64]]


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
    """The batches of two sets of tweets; the training part is passed over as often as the run needs.

    Attributes:
        train: tweets to train on.
        held_out: tweets to validate on.
        size: B.
        seed: decides the order; batch n is the same whenever it is asked for.
    """

    train: Sequence[Tweet]
    held_out: Sequence[Tweet]
    size: int
    seed: int

    def training(self, first: int, count: int, rank: int, world: int) -> Iterator[TweetBatch]:
        """See `BatchSource`; process r of W has batches r, W + r, 2 W + r ... of a run."""
        a_pass = -(-len(self.train) // self.size)
        here, plan = -1, []
        for number in range(first * world + rank, (first + count) * world, world):
            if number // a_pass != here:
                here = number // a_pass
                plan = self._plan(here)
            yield as_batch([self.train[place] for place in plan[number % a_pass]])

    def validation(self, rank: int, world: int) -> Iterator[TweetBatch]:
        """See `BatchSource`."""
        order = sorted(range(len(self.held_out)), key=lambda place: len(self.held_out[place].symbols))
        for start in range(rank * self.size, len(order), world * self.size):
            yield as_batch([self.held_out[place] for place in order[start : start + self.size]])

    def _plan(self, number: int) -> Batches:
        """The places of the tweets of each batch of one pass: shuffled, like lengths together, batches shuffled."""
        generator = np.random.default_rng([self.seed, number])
        lengths = np.array([len(tweet.symbols) for tweet in self.train])
        shuffled = generator.permutation(len(lengths))
        batches: Batches = []
        for start in range(0, len(shuffled), BATCHES_A_BUCKET * self.size):
            bucket = shuffled[start : start + BATCHES_A_BUCKET * self.size]
            bucket = bucket[np.argsort(lengths[bucket], kind="stable")]
            batches += np.split(bucket, range(self.size, len(bucket), self.size))
        return [batches[place] for place in generator.permutation(len(batches))]


def as_batch(tweets: Sequence[Tweet]) -> TweetBatch:
    """The tweets as tensors."""
    return TweetBatch(
        _padded([tweet.symbols for tweet in tweets], UNKNOWN),
        torch.tensor([len(tweet.symbols) for tweet in tweets]),
        _padded([tweet.hashtags for tweet in tweets], _NONE),
    )


class TweetTask(Task):
    """tweet2vec in training.

    Args:
        sizes: the network's.
        options: the run's.
        network: what makes the network: a module from characters [B, T] and lengths [B] to the logarithms of the
            hashtags' probabilities [B, L].
        l2: weight of the sum of all squared weights in the loss that is trained on (1e-4 in the release).
    """

    def __init__(
        self,
        sizes: TweetSizes,
        options: Run,
        network: Callable[[TweetSizes], nn.Module] = Tweet2Vec,
        l2: float = 0.0,
    ) -> None:
        super().__init__(options)
        self.l2 = l2
        with torch.random.fork_rng():
            torch.manual_seed(options.seed)
            self.model = network(sizes)

    def configure_optimizers(self) -> Any:
        """Adam, its step size falling linearly over the updates of the run."""
        optimiser = torch.optim.Adam(self.parameters(), self.options.learning_rate)
        falling = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, _LAST_SHARE, self.options.updates)
        return {"optimizer": optimiser, "lr_scheduler": {"scheduler": falling, "interval": "step"}}

    def loss(self, batch: TweetBatch, _generator: torch.Generator) -> Tensor:
        """Cross-entropy with the tweets' hashtags, nats, mean over tweets, and the L2 term."""
        loss = tweet_losses(self.model(batch.symbols, batch.lengths), batch.hashtags).mean()
        return loss + self.l2 * squared_weights(self.model) if self.l2 else loss

    def tally(self, batch: TweetBatch, _generator: torch.Generator) -> dict[str, Tensor]:
        """Sums over a batch."""
        # On the CPU, because not every device knows double precision.
        scores, hashtags = self.model(batch.symbols, batch.lengths).cpu(), batch.hashtags.cpu()
        ranks = best_ranks(scores, hashtags)
        return {
            "loss": tweet_losses(scores, hashtags).double().sum(),
            "first": (ranks == 1).double().sum(),
            "ranks": ranks.double().sum(),
            "tweets": torch.tensor(len(ranks), dtype=torch.float64),
        }

    def figures(self, totals: Mapping[str, Tensor]) -> dict[str, float]:
        """Cross-entropy, how often a tweet's hashtag comes first, and the mean rank of its best one."""
        tweets = float(totals["tweets"])
        return {
            "validation_loss": float(totals["loss"]) / tweets,
            "precision_at_1": float(totals["first"]) / tweets,
            "mean_rank": float(totals["ranks"]) / tweets,
        }


def tweet_losses(log_probabilities: Tensor, hashtags: Tensor) -> Tensor:
    """[B] mean over a tweet's hashtags [B, K] of their negative log-likelihood, nats."""
    there = hashtags != _NONE
    taken = log_probabilities.gather(1, hashtags.clamp(min=0)).masked_fill(~there, 0.0)
    return -taken.sum(1) / there.sum(1)


def squared_weights(model: nn.Module) -> Tensor:
    """The sum of the squares of all weights; biases are not among them, as in the release."""
    return torch.stack([weight.square().sum() for weight in model.parameters() if weight.dim() > 1]).sum()


def best_ranks(scores: Tensor, hashtags: Tensor) -> Tensor:
    """[B] rank (1 is first) of the best placed of a tweet's hashtags [B, K] by `scores` [B, L].

    Of hashtags that score alike the own one counts as last, so that a model that says nothing gains nothing.
    """
    own = scores.gather(1, hashtags.clamp(min=0)).masked_fill(hashtags == _NONE, -torch.inf)
    return scores.shape[1] - (scores < own.amax(1, keepdim=True)).sum(1)


def _padded(rows: Sequence[Sequence[int]], fill: int) -> Tensor:
    """[B, T] the rows, filled behind."""
    table = torch.full((len(rows), max(map(len, rows))), fill)
    for place, row in enumerate(rows):
        table[place, : len(row)] = torch.as_tensor(row)
    return table
