"""Training a student to give the vectors of its teacher.

First the table of pieces alone, which takes a high step size and a fraction of the time; then all of it. The loss is
how far each vector is from the teacher's, and how far the cosines among the vectors of a batch are from those among the
teacher's, so that what is near what is learnt too.

Shapes: B texts, T pieces, O width of a vector, N texts in all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rejoinder.models.networks.student import StudentModel
from rejoinder.models.sizes import StudentSizes
from rejoinder.models.vocabulary import PAD_ID
from rejoinder.pretraining.fit import Task
from rejoinder.pretraining.recipe import Run
from rejoinder.pretraining.taught import Taught

TABLES = ("pieces.", "weights.", "pairs.")
"""What the names of the weights begin with that few texts of a batch touch: no decay, and a step size of their own."""
_ALONE_RATE, _TABLE_RATE = 2.0, 0.5
_DECAY, _BETAS = 0.01, (0.9, 0.98)
_WARM_UP, _LEAST_RATE = 100, 0.01
_RELATIONS = 5.0
_FEWEST, _MOST = 64, 384
# A piece as frequent as this begins with half the weight of a rare one.
_FREQUENT = 1e-3

Ints = NDArray[np.int64]


class StudentBatch(NamedTuple):
    """B texts: ids [B, T] filled behind, how many [B], and the teacher's unit vectors [B, O]."""

    tokens: Tensor
    lengths: Tensor
    vectors: Tensor


@dataclass(frozen=True)
class StudentBatches:
    """The batches of texts to train and to validate on; the training part is passed over as often as the run needs.

    Texts of a batch are of like length. Which texts of one length meet, and in which order batches come, is drawn anew
    for every pass.

    Attributes:
        taught: the vectors.
        ids: the pieces of each of its N texts.
        train: places of texts to train on.
        held_out: places of texts to validate on.
        pieces: about how many a batch has.
        seed: decides the order; batch n is the same whenever it is asked for.
    """

    taught: Taught
    ids: Sequence[NDArray[np.int32]]
    train: Ints
    held_out: Ints
    pieces: int
    seed: int

    def training(self, first: int, count: int, rank: int, world: int) -> Iterator[StudentBatch]:
        """See `BatchSource`."""
        here, plan = -1, []
        for number in range(first * world + rank, (first + count) * world, world):
            if number // self.a_pass != here:
                here = number // self.a_pass
                plan = self._plan(here)
            yield self._batch(plan[number % self.a_pass])

    def validation(self, rank: int, world: int) -> Iterator[StudentBatch]:
        """See `BatchSource`."""
        order = self.held_out[np.argsort(self._lengths[self.held_out], kind="stable")]
        for start in range(rank * _MOST, len(order), world * _MOST):
            yield self._batch(order[start : start + _MOST])

    @property
    def a_pass(self) -> int:
        """Batches of a pass."""
        return len(self._cuts) + 1

    def _plan(self, number: int) -> list[Ints]:
        """The places of the texts of each batch of one pass."""
        generator = np.random.default_rng([self.seed, number])
        shuffled = generator.permutation(self.train)
        ordered = shuffled[np.argsort(self._lengths[shuffled], kind="stable")]
        batches = np.split(ordered, self._cuts)
        return [batches[place] for place in generator.permutation(len(batches))]

    def _batch(self, places: Ints) -> StudentBatch:
        """The texts at some places."""
        lengths = self._lengths[places]
        tokens = np.full((len(places), lengths.max()), PAD_ID)
        for row, place in enumerate(places):
            tokens[row, : lengths[row]] = self.ids[place]
        vectors = torch.from_numpy(self.taught.vectors(places))
        return StudentBatch(torch.from_numpy(tokens), torch.from_numpy(lengths), vectors)

    @cached_property
    def _lengths(self) -> Ints:
        """[N] the pieces of each text."""
        return np.array([len(ids) for ids in self.ids])

    @cached_property
    def _cuts(self) -> list[int]:
        """Where to cut the texts, sorted by length, into batches; in every pass alike, because lengths are."""
        lengths, cuts, start = np.sort(self._lengths[self.train]), list[int](), 0
        while (start := start + int(np.clip(self.pieces // lengths[start], _FEWEST, _MOST))) + _FEWEST <= len(lengths):
            cuts.append(start)
        return cuts


class StudentTask(Task):
    """A student in training.

    Args:
        sizes: the network's.
        options: the run's; its step size is that of all but the tables.
        alone: updates in which the table of pieces learns alone.
        shares: [vocabulary] of all pieces read, the share that each has; None takes them all for rare.
    """

    def __init__(
        self, sizes: StudentSizes, options: Run, alone: int = 0, shares: NDArray[np.floating] | None = None
    ) -> None:
        super().__init__(options)
        self.alone = alone
        with torch.random.fork_rng():
            torch.manual_seed(options.seed)
            self.model = StudentModel(sizes)
        if shares is not None:
            begun = torch.from_numpy(np.log(_FREQUENT / (_FREQUENT + shares))).float()
            self.model.weights.weight.data[: len(begun), 0] = begun

    def configure_optimizers(self) -> Any:
        """AdamW: tables without decay."""
        rate, named = self.options.learning_rate, list(self.model.named_parameters())
        tables = [weight for name, weight in named if name.startswith(TABLES)]
        rest = [weight for name, weight in named if not name.startswith(TABLES)]
        groups = [{"params": tables, "weight_decay": 0.0}, {"params": rest, "weight_decay": _DECAY}]
        optimizer = torch.optim.AdamW(groups, rate, betas=_BETAS, fused=True)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, [self.table_rate, self.rate])
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

    def configure_gradient_clipping(self, *_: Any, **__: Any) -> None:
        """Clip here: Lightning will not where AdamW is fused, which halves the time that tables of this size take."""
        torch.nn.utils.clip_grad_norm_(self.parameters(), self.options.clip)

    def rate(self, update: int) -> float:
        """What the step size is multiplied with: in each part of the run it rises, and falls to a hundredth.

        It rises over 100 updates, or a tenth of a short part.
        """
        first = update < self.alone
        done, part = (update, self.alone) if first else (update - self.alone, self.options.updates - self.alone)
        return min(1.0, (done + 1) / min(_WARM_UP, -(-part // 10))) * max(_LEAST_RATE, 1 - done / part)

    def table_rate(self, update: int) -> float:
        """The same for the tables."""
        return self.rate(update) * (_ALONE_RATE if update < self.alone else _TABLE_RATE)

    def loss(self, batch: StudentBatch, generator: torch.Generator) -> Tensor:
        """Distance from the teacher's vectors, and of the cosines among them."""
        alone = self.global_step < self.alone
        found = self.model(batch.tokens, batch.lengths, alone=alone, generator=generator)
        return (1 - _cosines(found, batch.vectors)).mean() + _RELATIONS * _relations(found, batch.vectors)

    def tally(self, batch: StudentBatch, _generator: torch.Generator) -> dict[str, Tensor]:
        """Sums over a batch."""
        found, texts = self.model(batch.tokens, batch.lengths), len(batch.lengths)
        return {
            "cosine": _cosines(found, batch.vectors).cpu().double().sum(),
            "relations": _relations(found, batch.vectors).cpu().double() * texts,
            "texts": torch.tensor(texts, dtype=torch.float64),
        }

    def figures(self, totals: Mapping[str, Tensor]) -> dict[str, float]:
        """The loss, and the mean cosine with the teacher's vectors."""
        texts = float(totals["texts"])
        cosine = float(totals["cosine"]) / texts
        return {"validation_loss": 1 - cosine + _RELATIONS * float(totals["relations"]) / texts, "cosine": cosine}


def _cosines(found: Tensor, taught: Tensor) -> Tensor:
    """[B] of unit vectors [B, O]."""
    return (found * taught).sum(1)


def _relations(found: Tensor, taught: Tensor) -> Tensor:
    """The mean squared difference of the cosines among vectors."""
    with torch.autocast(found.device.type, enabled=False):  # these products are the loss, not the network
        return (found @ found.T - taught @ taught.T).square().mean()
