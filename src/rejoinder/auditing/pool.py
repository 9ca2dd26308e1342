"""Attacks that look for real replies in a pool: by the gradient of the judge, and by brute force.

The white-box attack is that of Sai et al. (2019, table 6): from the vector of the response along the gradient until the
score is near the top, then the real replies whose vectors lie nearest, of which the judge itself takes the best. The
paper does not say in which space they lie nearest; here it is the one in which the head compares vectors, because what
the projection takes away moves no score. Brute force over the pool is the upper limit.

Shapes: N examples, n of them in one space, P replies, D width of a raw vector, K of a projected one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rejoinder.auditing.neighbours import Index
from rejoinder.auditing.reply_corpus import read_replies
from rejoinder.auditing.search import Seek, Target
from rejoinder.data.clusters import sorted_clusters
from rejoinder.errors import UsageError
from rejoinder.example import Example
from rejoinder.judges.answers import is_judge
from rejoinder.judges.differentiable import Differentiable, Space, is_differentiable
from rejoinder.scorer import Encoder
from rejoinder.stats.resamples import FloatArray, IntArray, blocks

NEIGHBOURS = 400
"""Replies nearest to where the gradient leads, of which the judge takes the best: as many as in the paper."""
DRAWN = 32
"""Replies that a scorer without vectors is asked about, for each example."""
AIM, NEAR = 0.9375, 0.0375
"""Where the gradient is to lead, and what is near enough, as shares of the scale: from 4.6 to 4.9 of 1 to 5."""
STEPS = 20
_AT_ONCE = 2**22  # scores in one working array
_ENCODED = 4096  # replies encoded at once


@dataclass(frozen=True)
class Pool:
    """P distinct replies, with their vectors once an attack has asked for these.

    Attributes:
        texts: [P] the replies.
    """

    texts: tuple[str, ...]
    _known: dict[int, tuple[Encoder, NDArray[np.float32]]] = field(default_factory=dict, compare=False, repr=False)

    @property
    def signature(self) -> str:
        """How many replies, and what tells them from others."""
        total = hashlib.sha256("\n".join(self.texts).encode("utf-8", "surrogatepass"))
        return f"{len(self.texts)} replies, {total.hexdigest()[:12]}"

    def vectors(self, encoder: Encoder) -> NDArray[np.float32]:
        """[P, D] by an encoder, NaN where it knows nothing of a reply; encoded once."""
        if id(encoder) not in self._known:
            parts = [self.texts[at : at + _ENCODED] for at in range(0, len(self.texts), _ENCODED)]
            found = [encoder.encode(part).astype(np.float32) for part in parts]
            self._known[id(encoder)] = (encoder, np.concatenate(found))
        return self._known[id(encoder)][1]

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """Where each reply stands, whatever its case."""
        found: dict[str, list[int]] = {}
        for place, text in enumerate(self.texts):
            found.setdefault(text.casefold(), []).append(place)
        return found

    def own(self, example: Example) -> list[int]:
        """The places of an example's own response and references, which are no bad replies to it."""
        texts = {text.strip().casefold() for text in (example.response, *example.references)}
        return [place for text in texts for place in self._places.get(text, ())]


def pool_of(given: str | Path | Sequence[str] | None) -> Pool | None:
    """The pool of a file or of texts; each distinct one that is not empty once.

    Raises:
        DataError, MissingAsset, UsageError: the file cannot be read (see `read_replies`); there is no reply.
    """
    if given is None:
        return None
    if isinstance(given, (str, Path)):
        return Pool(read_replies(given))
    found = tuple(dict.fromkeys(text.strip() for text in given if text.strip()))
    if not found:
        raise UsageError("the pool holds no reply. Give some, or leave it out")
    return Pool(found)


def toward(
    scorer: Differentiable, examples: Sequence[Example], aim: float, near: float
) -> tuple[FloatArray, FloatArray]:
    """Where the gradient leads from the vectors of the responses, until scores are nearer to `aim` than `near`.

    Each step is as long as a score that is linear in the vector needs: `r + a (aim - s) / |a|^2` with the gradient a
    and the score s. Over a bilinear head one step is the whole way, and the closed form.

    Args:
        scorer: a judge over vectors.
        examples: N examples.
        aim: the score to reach.
        near: how far off it may stay.

    Returns:
        The vectors [N, D], and their scores [N]; NaN where an example has none.
    """
    found = scorer.slopes(examples)
    vectors = found.vectors.copy()
    for _ in range(STEPS):
        squares = (found.gradients**2).sum(axis=1)
        gap = aim - found.values
        rows = np.flatnonzero((np.abs(gap) > near) & (squares > 0))  # NaN is neither
        if not len(rows):
            break
        vectors[rows] += found.gradients[rows] * (gap[rows] / squares[rows])[:, None]
        found = scorer.slopes(examples, vectors)
    return vectors, found.values


def white_box(pool: Pool, index: Callable[[FloatArray], Index]) -> Seek:
    """A seek by the gradient; only for a scorer that is `Differentiable`.

    Args:
        pool: where the replies come from.
        index: makes the index of the pool's vectors.
    """

    def seek(starts: Sequence[Example], _: Sequence[np.random.Generator], target: Target) -> list[Example | None]:
        scorer = target.scorer
        if not is_differentiable(scorer):
            return [None] * len(starts)
        reached = _highest(scorer, starts, target.sign)
        return _found(pool, scorer, starts, partial(_nearest_best, index, reached), target.sign)

    return seek


def best_of(pool: Pool) -> Seek:
    """A seek by brute force: the reply of the whole pool that the judge finds best.

    Of a scorer without vectors, which has to be asked about every reply, the best of a few that are drawn.
    """

    def seek(
        starts: Sequence[Example], generators: Sequence[np.random.Generator], target: Target
    ) -> list[Example | None]:
        if is_differentiable(target.scorer):
            return _found(pool, target.scorer, starts, _brute, target.sign)
        return _best_drawn(pool, starts, generators, target)

    return seek


def one_for_all(pool: Pool) -> Seek:
    """A seek for one reply to all contexts: on each half of them the one that scores highest over the other half.

    So the luck of a choice among many is not taken for weakness. A scorer without vectors is asked about a few.
    """

    def seek(
        starts: Sequence[Example], generators: Sequence[np.random.Generator], target: Target
    ) -> list[Example | None]:
        halves = sorted_clusters(starts).numbers % 2
        if is_differentiable(target.scorer):
            places, means = _means(pool, target.scorer, starts, halves, target.sign)
        else:
            places = generators[0].choice(len(pool.texts), min(DRAWN, len(pool.texts)), replace=False)
            asked = [replace(one, response=pool.texts[place]) for one in starts for place in places.tolist()]
            scores = target.ask(asked).reshape(len(starts), len(places))
            means = np.array([scores[halves == half].sum(axis=0) / max((halves == half).sum(), 1) for half in (0, 1)])
        if not len(places):
            return [None] * len(starts)
        chosen = places[means[::-1].argmax(axis=1) if halves.any() else means.argmax(axis=1)]
        return [replace(one, response=pool.texts[chosen[half]]) for one, half in zip(starts, halves, strict=True)]

    return seek


def _means(
    pool: Pool, scorer: Differentiable, starts: Sequence[Example], halves: IntArray, sign: int
) -> tuple[IntArray, FloatArray]:
    """The places of the replies of the pool that have a vector, and [2, P] their mean score over each half."""
    vectors = pool.vectors(scorer.encoder)
    known = np.flatnonzero(np.isfinite(vectors).all(axis=1))
    sums, counts = np.zeros((2, len(known))), np.zeros((2, 1))
    for space in scorer.spaces(starts) if len(known) else ():
        points = _projected(space, vectors, known)
        usable = np.flatnonzero(np.isfinite(space.scores(points[:1])[:, 0]))
        own = halves[space.rows[usable]]
        for part in blocks(len(points), max(len(usable), 1), _AT_ONCE):
            scores = sign * space.scores(points[part], usable)
            for half in (0, 1):
                sums[half, part] += scores[own == half].sum(axis=0)
        counts += np.bincount(own, minlength=2)[:, None]
    return known, sums / np.maximum(counts, 1)


_Choose = Callable[[Space, FloatArray, list[IntArray], int], tuple[IntArray, FloatArray]]
"""From a space, the pool in it [P, K], places not to be taken [n] and the sign: the best place of each example, and how
good it is, [n]."""


def _highest(scorer: Differentiable, examples: Sequence[Example], sign: int) -> FloatArray:
    """[N, D] vectors whose scores are near the top of the judge's scale."""
    low, high = scorer.scale if is_judge(scorer) else (1.0, 5.0)
    share = AIM if sign > 0 else 1 - AIM
    return toward(scorer, examples, low + share * (high - low), NEAR * (high - low))[0]


def _found(
    pool: Pool, scorer: Differentiable, starts: Sequence[Example], choose: _Choose, sign: int
) -> list[Example | None]:
    """What a choice comes to, space by space."""
    vectors = pool.vectors(scorer.encoder)
    known = np.flatnonzero(np.isfinite(vectors).all(axis=1))
    place_of = np.full(len(vectors), -1)
    place_of[known] = np.arange(len(known))
    found: list[Example | None] = [None] * len(starts)
    for space in scorer.spaces(starts) if len(known) else ():
        points = _projected(space, vectors, known)
        own = [place_of[pool.own(starts[row])] for row in space.rows]
        places, heights = choose(space, points, [one[one >= 0] for one in own], sign)
        for row, place, height in zip(space.rows.tolist(), known[places].tolist(), heights, strict=True):
            if np.isfinite(height):
                found[row] = replace(starts[row], response=pool.texts[place])
    return found


def _projected(space: Space, vectors: NDArray[np.float32], known: IntArray) -> FloatArray:
    """[P, K] the known vectors of the pool as the head sees them, a block at a time."""
    parts = [
        space.project(vectors[known[part]].astype(np.float64))
        for part in blocks(len(known), vectors.shape[1], _AT_ONCE)
    ]
    return np.concatenate(parts)


def _brute(space: Space, points: FloatArray, own: list[IntArray], sign: int) -> tuple[IntArray, FloatArray]:
    """The best of all."""
    n = len(space.rows)
    best, height = np.zeros(n, dtype=np.int64), np.full(n, -np.inf)
    for part in blocks(len(points), n, _AT_ONCE):
        scores = sign * space.scores(points[part])
        for row, places in enumerate(own):
            inside = places[(places >= part.start) & (places < part.stop)]
            scores[row, inside - part.start] = np.nan
        scores[np.isnan(scores)] = -np.inf
        top = scores.argmax(axis=1)
        here = scores[np.arange(n), top]
        better = here > height
        best[better], height[better] = top[better] + part.start, here[better]
    return best, height


def _nearest_best(
    index: Callable[[FloatArray], Index],
    reached: FloatArray,
    space: Space,
    points: FloatArray,
    own: list[IntArray],
    sign: int,
) -> tuple[IntArray, FloatArray]:
    """The best of those nearest to where the gradient led."""
    n = len(space.rows)
    best, height = np.zeros(n, dtype=np.int64), np.full(n, -np.inf)
    queries = space.project(reached[space.rows])
    asked = np.flatnonzero(np.isfinite(queries).all(axis=1))
    nearest = index(points)(queries[asked], NEIGHBOURS)
    for row, places in zip(asked.tolist(), nearest, strict=True):
        scores = sign * space.scores(points[places], np.array([row]))[0]
        scores[np.isnan(scores) | np.isin(places, own[row])] = -np.inf
        top = int(scores.argmax())
        best[row], height[row] = places[top], scores[top]
    return best, height


def _best_drawn(
    pool: Pool, starts: Sequence[Example], generators: Sequence[np.random.Generator], target: Target
) -> list[Example | None]:
    """The best of `DRAWN` replies each, by asking."""
    drawn = [
        np.setdiff1d(rng.choice(len(pool.texts), min(DRAWN, len(pool.texts)), replace=False), pool.own(one))
        for one, rng in zip(starts, generators, strict=True)
    ]
    asked = [
        replace(one, response=pool.texts[at]) for one, own in zip(starts, drawn, strict=True) for at in own.tolist()
    ]
    scores, found, begin = target.ask(asked), list[Example | None](), 0
    for own in drawn:
        mine = scores[begin : begin + len(own)]
        found.append(asked[begin + int(mine.argmax())] if np.isfinite(mine).any() else None)
        begin += len(own)
    return found
