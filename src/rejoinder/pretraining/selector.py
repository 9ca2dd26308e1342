"""Training a selector: which reply answers which context, over the vectors of an encoder, which stay as they are.

A context's reply is distinguished from the replies of the other contexts of its batch, from other turns of its own
dialogue, and from its last turn repeated. Shapes: N turns of all dialogues, B contexts of a batch, D width.
"""

from __future__ import annotations

import itertools
import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rejoinder.data.dialogues import Dialogue
from rejoinder.data.folders import Parts
from rejoinder.errors import DataError
from rejoinder.models.networks.selector import Choices, SelectorModel
from rejoinder.models.selector import COMMON, Selector, tensor_shapes
from rejoinder.models.sizes import SelectorSizes
from rejoinder.pretraining.corpus import Lesson, Source, is_held_out
from rejoinder.pretraining.loop import AdamTask, Row, tensors_of
from rejoinder.pretraining.recipe import Run, SelectorRecipe
from rejoinder.pretraining.student import TeacherVectors, read_vectors, write_vectors

VECTORS = "vectors"
_EARLIER, _LATER = 6, 4  # how far other turns are from a reply that it is distinguished from
_MOST_VALIDATED = 16  # batches
_FEWEST = 2  # replies

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class TurnIndex:
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


def index_turns(dialogues: Iterable[Dialogue], share: float) -> TurnIndex:
    """Return dialogues in numbers, of which `share` is held out; takes some 30 bytes a turn and its text."""
    texts: list[str] = []
    known: dict[str, int] = {}
    turns, sizes, held_out = array("q"), array("q"), array("b")
    for dialogue in dialogues:
        for turn in dialogue.turns:
            plain = " ".join(turn.split())
            place = known.setdefault(plain.casefold(), len(texts))
            if place == len(texts):
                texts.append(plain)
            turns.append(place)
        sizes.append(len(dialogue.turns))
        held_out.append(is_held_out(dialogue, share))
    lengths = np.array(sizes, dtype=np.int64)
    stops = np.cumsum(lengths)
    return TurnIndex(
        texts,
        np.array(turns, dtype=np.int64),
        np.repeat(stops - lengths, lengths),
        np.repeat(stops, lengths),
        np.repeat(np.array(held_out, dtype=np.bool_), lengths),
    )


@dataclass(frozen=True)
class SelectorBatches:
    """The batches of contexts and replies; each pass draws new batches.

    Attributes:
        index: the dialogues.
        vectors: of their texts.
        turns: of a context that are read.
        batch: B.
        negatives: other turns of its own dialogue that a reply is distinguished from.
        seed: determines all random draws.
    """

    index: TurnIndex
    vectors: TeacherVectors
    turns: int
    batch: int
    negatives: int
    seed: int

    def training(self, update: int, rank: int, world: int) -> Iterator[Choices]:
        """See `loop.Batches`."""
        return itertools.starmap(self._batch, itertools.islice(self._passes(), update * world + rank, None, world))

    def validation(self) -> Iterator[Choices]:
        """See `loop.Batches`; full batches alone, so that all are equally hard."""
        order = np.random.default_rng([self.seed]).permutation(self.held_out)
        for number in range(min(max(len(order) // self.batch, 1), _MOST_VALIDATED)):
            places = order[number * self.batch : (number + 1) * self.batch]
            yield self._batch(places, [self.seed, number])

    def _passes(self) -> Iterator[tuple[Ints, list[int]]]:
        """Yield the places of the replies of each batch and the seed of its draws, pass after pass, without end."""
        numbers = itertools.count()
        for epoch in itertools.count():
            order = np.random.default_rng([self.seed, epoch]).permutation(self.train)
            for start in range(0, max(len(order) // self.batch, 1) * self.batch, self.batch):
                yield order[start : start + self.batch], [self.seed, epoch, next(numbers)]

    @cached_property
    def train(self) -> Ints:
        """Places of the replies to train on."""
        return self._replies(held_out=False)

    @cached_property
    def held_out(self) -> Ints:
        """Places of the replies to validate on."""
        return self._replies(held_out=True)

    @cached_property
    def _has_vector(self) -> NDArray[np.bool_]:
        """[texts] whether each has a vector."""
        has_vector = np.zeros(len(self.index.texts), dtype=np.bool_)
        has_vector[self.vectors.usable()] = True
        return has_vector

    def _replies(self, *, held_out: bool) -> Ints:
        """Return the places of turns that have a vector, as the turns before them do."""
        index, has_vector = self.index, self._has_vector[self.index.turns]
        answers = np.arange(len(has_vector)) > index.starts
        return np.flatnonzero(answers & has_vector & np.roll(has_vector, 1) & (index.held_out == held_out))

    def _batch(self, places: Ints, seeds: list[int]) -> Choices:
        """Return the contexts of the replies at some places."""
        index = self.index
        back = places[:, None] - np.arange(1, self.turns + 1)  # [B, turns]
        turns = np.where(back >= index.starts[places][:, None], self._usable(np.maximum(back, 0)), -1)
        replies = index.turns[places]
        nearby = self._nearby(places, np.random.default_rng(seeds))
        others = self._usable(np.concatenate([nearby, places[:, None] - 1], 1))  # [B, negatives + 1]
        others[others == replies[:, None]] = -1
        kinds, rows = np.unique(np.concatenate([turns, replies[:, None], others], 1), return_inverse=True)
        kinds, rows = (kinds[1:], rows - 1) if kinds[0] < 0 else (kinds, rows)
        vectors = np.zeros((len(kinds) + 1, self.vectors.width), dtype=np.float32)
        vectors[:-1] = self.vectors.vectors(kinds)
        chosen = torch.from_numpy(rows.reshape(len(places), -1))
        parts = chosen[:, : self.turns], chosen[:, self.turns], chosen[:, self.turns + 1 :]
        return Choices(torch.from_numpy(vectors), *parts)

    def _nearby(self, places: Ints, generator: np.random.Generator) -> Ints:
        """Return [B, negatives] places of other turns of the same dialogue, near the replies at some places."""
        low = np.maximum(places - _EARLIER, self.index.starts[places])[:, None]
        high = np.minimum(places + _LATER, self.index.stops[places])[:, None]
        drawn = low + (generator.random((len(places), self.negatives)) * (high - low - 1)).astype(np.int64)
        nearby: Ints = drawn + (drawn >= places[:, None])
        return nearby

    def _usable(self, places: Ints) -> Ints:
        """Return the texts of the turns at some places, -1 for one without a vector."""
        texts = self.index.turns[places]
        return np.where(self._has_vector[texts], texts, -1)


class SelectorTask(AdamTask):
    """A selector in training."""

    def __init__(self, sizes: SelectorSizes, run: Run) -> None:
        super().__init__(SelectorModel, sizes, run)

    def loss(self, batch: Choices, update: int, generator: torch.Generator) -> Tensor:  # noqa: ARG002
        """Return the cross-entropy of a context, mean of both directions, nats."""
        loss: Tensor = self.model.contrastive_loss(batch).loss / len(batch.replies)
        return loss

    def sums(self, batch: Choices, generator: torch.Generator) -> dict[str, Tensor]:  # noqa: ARG002
        """See `loop.Task`."""
        sums = {name: value.cpu().double() for name, value in self.model.contrastive_loss(batch)._asdict().items()}
        return {**sums, "contexts": torch.tensor(len(batch.replies), dtype=torch.float64)}

    def figures(self, totals: Mapping[str, Tensor]) -> Row:
        """Return the loss a context, and the shares with their reply first: in the batch, among their own others."""
        contexts = float(totals["contexts"]) or math.nan
        return {
            "validation_loss": float(totals["loss"]) / contexts,
            "found_first": float(totals["first"]) / contexts,
            "before_own_others": float(totals["nearer"]) / contexts,
        }


def selector_lesson(recipe: SelectorRecipe, source: Source, run: Path) -> Lesson:
    """Return what a selector learns; the different turns and their vectors are in `run/vectors`.

    Raises:
        DataError: a bad dialogue, or too few of them.
    """
    assert source.encoder is not None  # noqa: S101 - the caller looked
    index = index_turns(source.dialogues(), recipe.text.held_out)
    if not index.texts:
        raise DataError("no dialogue", "Give a larger corpus")
    write_vectors(run / VECTORS, lambda: index.texts, source.encoder.encode, source.log)
    vectors = read_vectors(run / VECTORS)
    batches = SelectorBatches(index, vectors, recipe.model.turns, recipe.batch, recipe.negatives, recipe.run.seed)
    counts = {"train": len(batches.train), "held_out": len(batches.held_out)}
    if min(counts.values()) < _FEWEST:
        problem = f"{counts['train']} replies to train on, {counts['held_out']} to validate on"
        raise DataError(problem, "Give a larger corpus")
    source.log(f"training on {counts['train']:,} replies, validating on {counts['held_out']:,}")
    if recipe.threads:
        torch.set_num_threads(recipe.threads)
    sizes = SelectorSizes(**recipe.model.model_dump(), width=vectors.width)
    task = SelectorTask(sizes, recipe.run)
    return Lesson(
        task,
        batches,
        {"replies": counts, "vectors": vectors.digest()},
        {},
        lambda: selector_tensors(tensors_of(task.model), sizes, common_replies(batches, recipe.text.common)),
        f"Learnt which of {counts['train']:,} replies answers which context, over the vectors of an encoder.",
    )


def common_replies(batches: SelectorBatches, most: int) -> NDArray[np.float32]:
    """Return [C, D] the encoder's vectors of the most frequent replies, no two of them the same."""
    counts = np.bincount(batches.index.turns[batches.train], minlength=len(batches.index.texts))
    order = np.argsort(-counts, kind="stable")[: min(2 * most, np.count_nonzero(counts))]
    vectors = batches.vectors.vectors(order)
    first = np.sort(np.unique(vectors, axis=0, return_index=True)[1])
    return vectors[first[:most]]


def selector_tensors(
    tensors: Mapping[str, NDArray[Any]], sizes: SelectorSizes, common: NDArray[np.float32]
) -> dict[str, NDArray[np.float16]]:
    """Return what inference needs, in half precision: the weights, and the vectors that they make of common replies."""
    kept = {name: tensors[name].astype(np.float16) for name in tensor_shapes(sizes)}
    selector = Selector(Parts({}, kept))
    replies = [selector.replies(vector[None]) for vector in common]  # one by one: equal bits on every machine
    return {**kept, COMMON: np.concatenate(replies).astype(np.float16)}
