"""Training a selector: which reply answers which context, over vectors that stay as they are.

A context's reply is told from the replies of the other contexts of its batch, from other turns of its own dialogue,
and from its last turn said again. Shapes: N turns of all dialogues, B contexts of a batch, U texts, D width.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rejoinder.data.dialogues import Dialogue
from rejoinder.models.networks.selector import Choices, Chosen, SelectorModel
from rejoinder.models.sizes import SelectorSizes
from rejoinder.pretraining.corpora import is_held_out
from rejoinder.pretraining.fit import Task
from rejoinder.pretraining.recipe import Run
from rejoinder.pretraining.taught import Taught

_EARLIER, _LATER = 6, 4  # how far other turns are from a reply that it is told from
_MOST_VALIDATED = 16  # batches

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Said:
    """Dialogues in numbers, one after the other.

    Attributes:
        texts: different turns; those that differ in case and white space alone are one.
        turns: [N] place of each turn's text.
        starts: [N] place of the first turn of its dialogue.
        stops: [N] place behind the last.
        held_out: [N] whether the dialogue is for validation.
    """

    texts: Sequence[str]
    turns: Ints
    starts: Ints
    stops: Ints
    held_out: NDArray[np.bool_]


def said_in(dialogues: Iterable[Dialogue], share: float) -> Said:
    """Dialogues in numbers, of which `share` is held out; some 30 bytes a turn and its text."""
    texts: list[str] = []
    known: dict[str, int] = {}
    turns, sizes, aside = array("q"), array("q"), array("b")
    for dialogue in dialogues:
        for turn in dialogue.turns:
            plain = " ".join(turn.split())
            place = known.setdefault(plain.casefold(), len(texts))
            if place == len(texts):
                texts.append(plain)
            turns.append(place)
        sizes.append(len(dialogue.turns))
        aside.append(is_held_out(dialogue, share))
    ends, lengths = np.cumsum(np.array(sizes, dtype=np.int64)), np.array(sizes, dtype=np.int64)
    return Said(
        texts,
        np.array(turns, dtype=np.int64),
        np.repeat(ends - lengths, lengths),
        np.repeat(ends, lengths),
        np.repeat(np.array(aside, dtype=np.bool_), lengths),
    )


@dataclass(frozen=True)
class SelectorBatches:
    """The batches of contexts and replies; those to train on are passed over as often as the run needs.

    Which of them meet, and which other turns they are told from, is drawn anew for every pass.

    Attributes:
        said: the dialogues.
        taught: the vectors of their texts.
        there: [texts] whether each has a vector.
        turns: of a context that are read.
        batch: B.
        negatives: other turns of its own dialogue that a reply is told from.
        seed: decides all that is drawn; batch n is the same whenever it is asked for.
    """

    said: Said
    taught: Taught
    there: NDArray[np.bool_]
    turns: int
    batch: int
    negatives: int
    seed: int

    def training(self, first: int, count: int, rank: int, world: int) -> Iterator[Choices]:
        """See `BatchSource`."""
        here, order = -1, self.train
        for number in range(first * world + rank, (first + count) * world, world):
            if number // self.a_pass != here:
                here = number // self.a_pass
                order = np.random.default_rng([self.seed, here]).permutation(self.train)
            start = number % self.a_pass * self.batch
            yield self._batch(order[start : start + self.batch], np.random.default_rng([self.seed, here, number]))

    def validation(self, rank: int, world: int) -> Iterator[Choices]:
        """See `BatchSource`; full batches alone, so that all are as hard."""
        order = np.random.default_rng([self.seed]).permutation(self.validate)
        batches = min(max(len(order) // self.batch, 1), _MOST_VALIDATED)
        for number in range(rank, batches, world):
            places = order[number * self.batch : (number + 1) * self.batch]
            yield self._batch(places, np.random.default_rng([self.seed, number]))

    @property
    def a_pass(self) -> int:
        """Batches of a pass."""
        return max(len(self.train) // self.batch, 1)

    @cached_property
    def train(self) -> Ints:
        """Places of the replies to train on."""
        return self._replies(held_out=False)

    @cached_property
    def validate(self) -> Ints:
        """Places of the replies to validate on."""
        return self._replies(held_out=True)

    def _replies(self, *, held_out: bool) -> Ints:
        """The places of turns that have a vector, as the turns before them do."""
        said, there = self.said, self.there[self.said.turns]
        answers = np.arange(len(there)) > said.starts
        return np.flatnonzero(answers & there & np.roll(there, 1) & (said.held_out == held_out))

    def _batch(self, places: Ints, generator: np.random.Generator) -> Choices:
        """The contexts of the replies at some places."""
        said = self.said
        back = places[:, None] - np.arange(1, self.turns + 1)
        turns = np.where(back >= said.starts[places][:, None], self._usable(np.maximum(back, 0)), -1)
        replies = said.turns[places]
        others = self._usable(np.concatenate([self._nearby(places, generator), places[:, None] - 1], 1))
        others[others == replies[:, None]] = -1
        kinds, rows = np.unique(np.concatenate([turns, replies[:, None], others], 1), return_inverse=True)
        kinds, rows = (kinds[1:], rows - 1) if kinds[0] < 0 else (kinds, rows)
        vectors = np.zeros((len(kinds) + 1, self.taught.width), dtype=np.float32)
        vectors[:-1] = self.taught.vectors(kinds)
        found = torch.from_numpy(rows.reshape(len(places), -1))
        return Choices(
            torch.from_numpy(vectors), found[:, : self.turns], found[:, self.turns], found[:, self.turns + 1 :]
        )

    def _nearby(self, places: Ints, generator: np.random.Generator) -> Ints:
        """[B, negatives] places of other turns of the same dialogue, near the replies at some places."""
        low = np.maximum(places - _EARLIER, self.said.starts[places])[:, None]
        high = np.minimum(places + _LATER, self.said.stops[places])[:, None]
        drawn = low + (generator.random((len(places), self.negatives)) * (high - low - 1)).astype(np.int64)
        nearby: Ints = drawn + (drawn >= places[:, None])
        return nearby

    def _usable(self, places: Ints) -> Ints:
        """The texts of the turns at some places, -1 where one has no vector."""
        texts = self.said.turns[places]
        return np.where(self.there[texts], texts, -1)


class SelectorTask(Task):
    """A selector in training.

    Args:
        sizes: the networks'.
        options: the run's.
    """

    def __init__(self, sizes: SelectorSizes, options: Run) -> None:
        super().__init__(options)
        with torch.random.fork_rng():
            torch.manual_seed(options.seed)
            self.model = SelectorModel(sizes)

    def loss(self, batch: Choices, generator: torch.Generator) -> Tensor:  # noqa: ARG002
        """Cross-entropy of a context, mean of both directions, nats."""
        return self._chosen(batch).loss / len(batch.replies)

    def tally(self, batch: Choices, generator: torch.Generator) -> dict[str, Tensor]:  # noqa: ARG002
        """Sums over a batch."""
        sums = {name: value.cpu().double() for name, value in self._chosen(batch)._asdict().items()}
        return {**sums, "contexts": torch.tensor(len(batch.replies), dtype=torch.float64)}

    def figures(self, totals: Mapping[str, Tensor]) -> dict[str, float]:
        """Loss a context, and the shares that rank their reply first in their batch and before their own others."""
        contexts = float(totals["contexts"]) or math.nan
        return {
            "validation_loss": float(totals["loss"]) / contexts,
            "found_first": float(totals["first"]) / contexts,
            "before_own_others": float(totals["nearer"]) / contexts,
        }

    def _chosen(self, batch: Choices) -> Chosen:
        found: Chosen = self.model.contrastive_loss(batch)
        return found
