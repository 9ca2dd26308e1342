"""Attacks that take real replies from a pool: by the gradient of the judge, and by brute force.

The white-box attack is that of Sai et al. (2019, table 6): it follows the gradient from the vector of the response to a
score near the top, and takes the best of the real replies with the nearest vectors. The paper does not state the space;
here it is the one in which the head compares vectors, because the part that projection removes moves no score. Brute
force over the pool is the upper limit.

Shapes: N examples, n of them in one space, P replies, D width of a raw vector, K of a projected one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from rejoinder.auditing.attack import POOL_ATTACKS, Attack, Search, Target, Task
from rejoinder.data.clusters import sorted_clusters
from rejoinder.data.dialogues import read_dialogues, text_lines
from rejoinder.data.files import OnError
from rejoinder.data.read import raise_error
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example
from rejoinder.judges.protocol import Differentiable, Space, is_differentiable, is_judge
from rejoinder.perturbations import Goal
from rejoinder.scorer import Encoder
from rejoinder.stats.resamples import FloatArray, IntArray, blocks

NEIGHBOURS = 400
"""Replies nearest to the end of the gradient, of which the judge takes the best, as in the paper."""
DRAWN = 32
"""Replies of the pool that a scorer without vectors scores for each example."""
TARGET, TOLERANCE = 0.9375, 0.0375
"""The score to reach and the allowed distance, as shares of the scale: 4.75 and 0.15 on a scale from 1 to 5."""
STEPS = 20
_SCORES_AT_ONCE = 2**22
_ENCODED_AT_ONCE = 4096


# the pool


def read_replies(path: str | Path, on_error: OnError = raise_error) -> tuple[str, ...]:
    """Return the distinct replies of a file, in the order of their first use.

    A `.txt` has a reply on each line; in the other formats of `read_dialogues`, each turn but the first is a reply.

    Raises:
        DataError: there is no reply; a bad line, unless `on_error` keeps it.
        MissingAsset, UsageError: the file does not exist, or its suffix is unknown.
    """
    if str(path).lower().removesuffix(".gz").endswith(".txt"):
        texts = [line for _, line in text_lines(path, on_error)]
    else:
        texts = [turn for dialogue in read_dialogues(path, on_error=on_error) for turn in dialogue.turns[1:]]
    if not (replies := _distinct(texts)):
        raise DataError("no reply is in it", "Give a text file with a reply a line, or a corpus", where=str(path))
    return replies


def _distinct(texts: Sequence[str]) -> tuple[str, ...]:
    """Return each text that is not blank, without outer spaces, once."""
    return tuple(dict.fromkeys(filter(None, map(str.strip, texts))))


@dataclass(frozen=True)
class Pool:
    """P distinct replies, and their vectors once an attack needs them."""

    texts: tuple[str, ...]
    _vectors: dict[int, tuple[Encoder, NDArray[np.float32]]] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, source: str | Path | Sequence[str]) -> Pool:
        """Return the pool of a file (see `read_replies`) or of texts.

        Raises:
            DataError, MissingAsset, UsageError: the file cannot be read; there is no reply.
        """
        if isinstance(source, (str, Path)):
            return cls(read_replies(source))
        if not (texts := _distinct(source)):
            raise UsageError("the pool holds no reply. Give some, or none of this option")
        return cls(texts)

    @property
    def signature(self) -> str:
        """The number of replies, and a hash of them."""
        total = hashlib.sha256("\n".join(self.texts).encode("utf-8", "surrogatepass"))
        return f"{len(self.texts)} replies, {total.hexdigest()[:12]}"

    def vectors(self, encoder: Encoder) -> NDArray[np.float32]:
        """Return [P, D] vectors, NaN for replies without one; encoded once."""
        if id(encoder) not in self._vectors:
            starts = range(0, len(self.texts), _ENCODED_AT_ONCE)
            parts = [encoder.encode(self.texts[start : start + _ENCODED_AT_ONCE]) for start in starts]
            self._vectors[id(encoder)] = (encoder, np.concatenate([part.astype(np.float32) for part in parts]))
        return self._vectors[id(encoder)][1]

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """The places of each reply, in lower case."""
        places: dict[str, list[int]] = {}
        for place, text in enumerate(self.texts):
            places.setdefault(text.casefold(), []).append(place)
        return places

    def fitting(self, example: Example) -> list[int]:
        """Return the places of an example's response and references, which are no bad replies to it."""
        texts = {text.strip().casefold() for text in (example.response, *example.references)}
        return [place for text in texts for place in self._places.get(text, ())]


def pool_attacks(pool: Pool) -> dict[str, Attack]:
    """Return the attacks that look for replies in a pool, by name."""
    searches: dict[str, Search] = {
        "white-box": partial(white_box, pool),
        "pool-best": partial(best_of, pool),
        "pool-fixed": partial(one_for_all, pool),
    }
    return {
        name: Attack(
            name=name,
            goal=Goal.WORSE,
            about=POOL_ATTACKS[name],
            ideal="lower",
            transform=lambda example, *_: example,
            source="" if name == "pool-fixed" else "Sai et al. 2019, table 6",
            tools=(("pool", lambda: pool.signature),),
            search=search,
            needs_gradient=name == "white-box",
            fixed=name == "pool-fixed",
        )
        for name, search in searches.items()
    }


# the three searches


def white_box(pool: Pool, task: Task, target: Target) -> list[Example | None]:
    """Take the best of the replies that lie nearest to the end of the gradient."""
    scorer = cast("Differentiable", target.scorer)
    low, high = scorer.scale if is_judge(scorer) else (1.0, 5.0)
    share = TARGET if target.sign > 0 else 1 - TARGET
    goal, tolerance = low + share * (high - low), TOLERANCE * (high - low)
    reached, _ = follow_gradient(scorer, task.examples, goal, tolerance)
    return _best_of_spaces(pool, scorer, task.examples, partial(_nearest_best, reached), target.sign)


def best_of(pool: Pool, task: Task, target: Target) -> list[Example | None]:
    """Take the reply of the whole pool that scores highest; without vectors, the best of a few that are drawn."""
    if is_differentiable(target.scorer):
        return _best_of_spaces(pool, target.scorer, task.examples, _best_of_all, target.sign)
    count = len(pool.texts)
    drawn = [
        np.setdiff1d(rng.choice(count, min(DRAWN, count), replace=False), pool.fitting(example))
        for example, rng in zip(task.examples, task.generators, strict=True)
    ]
    candidates = [
        replace(example, response=pool.texts[place])
        for example, places in zip(task.examples, drawn, strict=True)
        for place in places.tolist()
    ]
    scores, best, start = target.ask(candidates), list[Example | None](), 0
    for places in drawn:
        part = scores[start : start + len(places)]
        best.append(candidates[start + int(part.argmax())] if np.isfinite(part).any() else None)
        start += len(places)
    return best


def one_for_all(pool: Pool, task: Task, target: Target) -> list[Example | None]:
    """Take one reply for all contexts: on each half of them the one that scores highest on the other half.

    So luck in the choice does not count as a weakness. A scorer without vectors scores a few that are drawn.
    """
    examples = task.examples
    halves = sorted_clusters(examples).numbers % 2
    if is_differentiable(target.scorer):
        places, means = _means_over_halves(pool, target.scorer, examples, halves, target.sign)
    else:
        count = len(pool.texts)
        places = task.generators[0].choice(count, min(DRAWN, count), replace=False)
        replies = [pool.texts[place] for place in places.tolist()]
        candidates = [replace(example, response=reply) for example in examples for reply in replies]
        scores = target.ask(candidates).reshape(len(examples), len(places))
        means = np.array([scores[halves == half].sum(axis=0) / max((halves == half).sum(), 1) for half in (0, 1)])
    if not len(places):
        return [None] * len(examples)
    chosen = places[means[::-1].argmax(axis=1) if halves.any() else means.argmax(axis=1)]
    return [replace(example, response=pool.texts[chosen[half]]) for example, half in zip(examples, halves, strict=True)]


# in the space of the vectors


def follow_gradient(
    scorer: Differentiable, examples: Sequence[Example], goal: float, tolerance: float
) -> tuple[FloatArray, FloatArray]:
    """Move the vectors of the responses along the gradient until scores are nearer to `goal` than `tolerance`.

    Each step is as long as a linear score needs: `r + a (goal - s) / |a|^2` with the gradient a and the score s. Over a
    bilinear head one step is the whole way, in closed form.

    Returns the vectors [N, D] and their scores [N], NaN for an example without one.
    """
    slopes = scorer.slopes(examples)
    vectors = slopes.vectors.copy()
    for _ in range(STEPS):
        squares = (slopes.gradients**2).sum(axis=1)
        gap = goal - slopes.values
        rows = np.flatnonzero((np.abs(gap) > tolerance) & (squares > 0))  # NaN is neither
        if not len(rows):
            break
        vectors[rows] += slopes.gradients[rows] * (gap[rows] / squares[rows])[:, None]
        slopes = scorer.slopes(examples, vectors)
    return vectors, slopes.values


Choice = Callable[[Space, FloatArray, list[IntArray], int], tuple[IntArray, FloatArray]]
"""From a space, the pool in it [P, K], forbidden places of each example [n] and the sign: the best place of each
example, and its score, [n]."""


def _spaces(
    pool: Pool, scorer: Differentiable, examples: Sequence[Example]
) -> tuple[IntArray, Iterator[tuple[Space, FloatArray]]]:
    """Return the places of the replies with a vector, and each space with these vectors [P, K], projected."""
    vectors = pool.vectors(scorer.encoder)
    known = np.flatnonzero(np.isfinite(vectors).all(axis=1))

    def points(space: Space) -> FloatArray:
        parts = blocks(len(known), vectors.shape[1], _SCORES_AT_ONCE)
        return np.concatenate([space.project(vectors[known[part]].astype(np.float64)) for part in parts])

    return known, ((space, points(space)) for space in (scorer.spaces(examples) if len(known) else ()))


def _best_of_spaces(
    pool: Pool, scorer: Differentiable, examples: Sequence[Example], choose: Choice, sign: int
) -> list[Example | None]:
    """Return each example with the reply that is chosen in its space."""
    known, spaces = _spaces(pool, scorer, examples)
    number = np.full(len(pool.texts), -1)
    number[known] = np.arange(len(known))
    best: list[Example | None] = [None] * len(examples)
    for space, points in spaces:
        fitting = [number[pool.fitting(examples[row])] for row in space.rows]
        forbidden = [places[places >= 0] for places in fitting]
        places, heights = choose(space, points, forbidden, sign)
        for row, place, height in zip(space.rows.tolist(), known[places].tolist(), heights, strict=True):
            if np.isfinite(height):
                best[row] = replace(examples[row], response=pool.texts[place])
    return best


def _best_of_all(space: Space, points: FloatArray, forbidden: list[IntArray], sign: int) -> tuple[IntArray, FloatArray]:
    """Choose the best of all points; a `Choice`."""
    n = len(space.rows)
    best, heights = np.zeros(n, dtype=np.int64), np.full(n, -np.inf)
    for part in blocks(len(points), n, _SCORES_AT_ONCE):
        scores = sign * space.scores(points[part])
        for row, places in enumerate(forbidden):
            scores[row, places[(places >= part.start) & (places < part.stop)] - part.start] = np.nan
        scores[np.isnan(scores)] = -np.inf
        top = scores.argmax(axis=1)
        height = scores[np.arange(n), top]
        better = height > heights
        best[better], heights[better] = top[better] + part.start, height[better]
    return best, heights


def _nearest_best(
    reached: FloatArray, space: Space, points: FloatArray, forbidden: list[IntArray], sign: int
) -> tuple[IntArray, FloatArray]:
    """Choose the best of the points nearest to the vectors [N, D] that the gradient reached; a `Choice`."""
    from sklearn.neighbors import NearestNeighbors

    n = len(space.rows)
    best, heights = np.zeros(n, dtype=np.int64), np.full(n, -np.inf)
    queries = space.project(reached[space.rows])
    rows = np.flatnonzero(np.isfinite(queries).all(axis=1))
    index = NearestNeighbors(n_neighbors=min(NEIGHBOURS, len(points)), algorithm="brute").fit(points)
    nearest = index.kneighbors(queries[rows], return_distance=False) if len(rows) else []
    for row, places in zip(rows.tolist(), nearest, strict=True):
        scores = sign * space.scores(points[places], np.array([row]))[0]
        scores[np.isnan(scores) | np.isin(places, forbidden[row])] = -np.inf
        top = int(scores.argmax())
        best[row], heights[row] = places[top], scores[top]
    return best, heights


def _means_over_halves(
    pool: Pool, scorer: Differentiable, examples: Sequence[Example], halves: IntArray, sign: int
) -> tuple[IntArray, FloatArray]:
    """Return the places of the replies of the pool with a vector, and [2, P] their mean score on each half."""
    known, spaces = _spaces(pool, scorer, examples)
    sums, counts = np.zeros((2, len(known))), np.zeros((2, 1))
    for space, points in spaces:
        usable = np.flatnonzero(np.isfinite(space.scores(points[:1])[:, 0]))
        half_of = halves[space.rows[usable]]
        for part in blocks(len(points), max(len(usable), 1), _SCORES_AT_ONCE):
            scores = sign * space.scores(points[part], usable)
            for half in (0, 1):
                sums[half, part] += scores[half_of == half].sum(axis=0)
        counts += np.bincount(half_of, minlength=2)[:, None]
    return known, sums / np.maximum(counts, 1)
