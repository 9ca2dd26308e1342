"""Rated lines as a sample of all lines: which are rated, and which to rate next."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rejoinder.data.read import examples_of
from rejoinder.data.shared_ids import refuse_again
from rejoinder.data.values import is_number
from rejoinder.errors import DataError, UsageError
from rejoinder.example import OVERALL, Example, Given
from rejoinder.scorer import Advance, Card, ScorerLike, Scores, ignore, run
from rejoinder.scoring.catalog import DEFAULT, columns_of, load_scorer
from rejoinder.scoring.dialogue import as_rated
from rejoinder.stats.resamples import BoolArray, FloatArray, Sampling
from rejoinder.stats.splits import even_counts, stratified

ALL = "all lines"
"""The group of every line where no line names a system."""
WEIGHT = "rating_weight"
"""The key of the weight of a rated line: 1 over its chance of being rated, 1 on average over a system."""


class RatedSample(NamedTuple):
    """Lines, some of them with ratings."""

    lines: tuple[Example, ...]  # [N] the lines, then the rated lines that are not among them
    population: BoolArray  # [N] whether a line is one of the lines
    rated: int  # number of rated lines in files of their own
    matched: int  # number of them that are among the lines


def joined(lines: Sequence[Example], rated: Sequence[Example], dimension: str = OVERALL) -> RatedSample:
    """Return the lines, each with its rating.

    A rated line is the line with its id (in its data set), else the first line with its context, reply and system that
    has no rated line yet. If both have a rating, that of the rated line counts. Rated lines without a rating in
    `dimension` are left out.

    Raises:
        DataError: two lines of either have the same id; an id belongs to another reply; a reply is rated in two lines;
            a weight is not a positive number.
    """
    for side in (lines, rated):
        refuse_again(side)
    result, extra, taken = list(lines), list[Example](), dict[int, Example]()
    by_id = defaultdict[object, list[int]](list)
    by_text = defaultdict[object, list[int]](list)
    for place, line in enumerate(lines):
        by_text[_text(line)].append(place)
        by_id[_id(line)].append(place)
    counted = [line for line in rated if line.rating(dimension) is not None]
    weights_of(counted)  # now, while each line still has the place in its own file
    for line in counted:
        at = _place(line, lines, by_id[_id(line)] if _id(line) else [], by_text[_text(line)], taken)
        if at is None:
            extra.append(line)
        else:
            taken[at], result[at] = line, _with_ratings(lines[at], line)
    return RatedSample((*result, *extra), np.arange(len(result) + len(extra)) < len(result), len(counted), len(taken))


def weights_of(lines: Sequence[Example]) -> FloatArray:
    """Return the weights [N] of rated lines, 1 for a line without a weight.

    Raises:
        DataError: a weight is not a positive number.
    """
    weights = []
    for line in lines:
        stated = line.extra.get(WEIGHT)
        value: Any = 1.0 if stated in (None, "") else stated
        if isinstance(value, str):
            with suppress(ValueError):
                value = float(value)
        if not is_number(value) or not 0 < value < 1e9:
            remedy = "Keep the weight as it was written, or remove it if lines were drawn with equal chances"
            raise DataError(f"is {stated!r}, expected a number over 0", remedy, where=line.where, field=WEIGHT)
        weights.append(value)
    return np.array(weights, dtype=np.float64)


def _id(line: Example) -> tuple[str | None, str] | None:
    """Return the id of a line; a line without one is named after its place in the file."""
    return (line.dataset, line.id) if line.id and line.id != line.where else None


def _text(line: Example) -> tuple[object, ...]:
    """Return the key by which a line without an id is found; white space is ignored."""
    context, response = (tuple(" ".join(text.split()) for text in texts) for texts in (line.context, (line.response,)))
    return line.context_id, context, response


def _place(
    line: Example, lines: Sequence[Example], same_id: list[int], same_text: list[int], taken: Mapping[int, Example]
) -> int | None:
    """Return the position of a rated line among the lines, or None."""
    if len(same_id) > 1:  # an id that several systems answer
        words = line.response.split()
        same_id = [place for place in same_id if lines[place].system == line.system] or [
            place for place in same_id if lines[place].response.split() == words and not line.system
        ]
    if same_id:
        other = lines[same_id[0]]
        if line.response.split() != other.response.split():
            problem = f"the id {line.id!r} belongs to another reply at {other.where or 'another line'}"
            raise DataError(problem, "Give each reply an id of its own, or none", where=line.where, field="id")
        return same_id[0]
    places = [place for place in same_text if line.system is None or lines[place].system in (None, line.system)]
    free = next((place for place in places if place not in taken), None)
    if places and free is None:
        problem = f"this reply was already rated at {taken[places[0]].where or 'another line'}"
        raise DataError(problem, "Give all its ratings in one line, or give both lines ids", where=line.where)
    return free


def _with_ratings(line: Example, rated: Example) -> Example:
    """Return the line with the ratings of the rated line."""
    weight = {WEIGHT: rated.extra[WEIGHT]} if rated.extra.get(WEIGHT) is not None else {}
    system = line.system if line.system is not None else rated.system
    scales, extra = rated.scales or line.scales, {**line.extra, **weight}
    return replace(line, ratings=rated.ratings, quality=rated.quality, scales=scales, system=system, extra=extra)


def filled(lines: Sequence[Example], scores: Scores, card: Card) -> FloatArray:
    """Return scores [N] without gaps: the mean score for a line without one, the worst score for an empty reply.

    The estimate is right whatever these values are, because it assumes nothing about scores.
    """
    known = scores.values[scores.scored] if scores.scored.any() else np.zeros(1)
    values = np.where(scores.scored, scores.values, known.mean())
    if card.higher_is_better is not None:
        empty = np.array([line.unanswered for line in lines], dtype=bool)
        values[empty] = known.min() if card.higher_is_better else known.max()
    return values


def names_of(lines: Sequence[Example]) -> list[str]:
    """Return the system of each line, "" for a line that names none; `ALL` for each line if no line names one."""
    named = any(line.system for line in lines)
    return [line.system or "" if named else ALL for line in lines]


def next_lines(
    lines: Given,
    count: int,
    scorer: ScorerLike = DEFAULT,
    *,
    rated: Given | None = None,
    dimension: str = OVERALL,
    seed: int = 0,
    vectors: str | Path | None = None,
    progress: Advance = ignore,
) -> list[Example]:
    """Return the lines whose ratings add most to `estimate`: to each system's mean, and to the errors of the scorer.

    They are a random sample of the lines without a rating: from the systems with the fewest ratings first, and of each
    system evenly from its lowest to its highest score. Each has a weight under `rating_weight`, 1 over its chance of
    being drawn, 1 on average, with which `estimate` stays right.

    Args:
        lines: the lines of the systems, in any form that `examples_of` takes.
        count: number of lines; all if there are fewer.
        scorer: as for `estimate`, like `rated`, `dimension`, `vectors` and `progress`.
        rated: lines that are rated already; default: the ratings in `lines`.
        dimension: which ratings.
        seed: of the draw.
        vectors: file of word vectors.
        progress: called during scoring.

    Raises:
        DataError: every line is rated.
        UsageError: `count` is not a whole number over 0; see also `load_scorer`.
    """
    if not isinstance(count, (int, np.integer)) or isinstance(count, bool) or count < 1:
        raise UsageError(f"count is {count!r}, expected the number of lines to rate, a whole number over 0")
    rng = Sampling.checked(0, seed).generator("next lines", "next lines")
    keep = columns_of(scorer)
    examples = examples_of(lines, name="lines", keep=keep)
    sample = joined(examples, [] if rated is None else examples_of(rated, name="rated", keep=keep), dimension)
    loaded = as_rated(load_scorer(scorer, vectors=vectors), examples)
    scores = filled(examples, run(loaded, examples, progress=progress), loaded.card)
    names, groups = np.unique(np.array(names_of(sample.lines), np.str_), return_inverse=True)
    is_rated = np.array([line.rating(dimension) is not None for line in sample.lines], dtype=bool)
    unrated = [np.flatnonzero((groups == group) & sample.population & ~is_rated) for group in range(len(names))]
    if not any(map(len, unrated)):
        raise DataError(f"all {len(examples):,} lines are rated", "Give lines without ratings, or run an estimate")
    ratings = [int(is_rated[groups == group].sum()) for group in range(len(names))]
    counts = even_counts([len(rows) for rows in unrated], ratings, int(count), rng)
    weights: dict[int, float] = {}
    for rows, number in zip(unrated, counts, strict=True):
        if number:
            places, drawn = stratified(scores[rows], number, rng)
            weights |= dict(zip(rows[places].tolist(), drawn.round(6).tolist(), strict=True))
    return [replace(examples[row], extra={**examples[row].extra, WEIGHT: weights[row]}) for row in sorted(weights)]
