"""Rated lines as a sample of all lines: which are rated, and which to rate next."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import numpy as np

from rejoinder.data.read import examples_of
from rejoinder.data.shared_ids import refuse_again
from rejoinder.data.values import is_number
from rejoinder.errors import DataError, UsageError
from rejoinder.example import OVERALL, Example, Given, majority
from rejoinder.scorer import Advance, Card, ScorerLike, Scores, ignore, run
from rejoinder.scoring.catalog import DEFAULT, columns_of, load_scorer
from rejoinder.scoring.dialogue import as_rated
from rejoinder.stats.resamples import BoolArray, FloatArray, Sampling
from rejoinder.stats.splits import even_counts, stratified

ALL = "all lines"
"""The group of every line where no line names a system."""
LOOK, SECOND = "look", "second"
"""The key of a rated line and its value where its ratings count in place of those of other files."""
WEIGHT = "rating_weight"
"""The key of the weight of a rated line: 1 over its chance of being rated, 1 on average over a system."""


class RatedSample(NamedTuple):
    """Lines, some of them with ratings."""

    lines: tuple[Example, ...]  # [N] the lines, then the rated lines that are not among them
    population: BoolArray  # [N] whether a line is one of the lines
    rated: int  # number of rated lines in files of their own
    matched: int  # number of them that are among the lines
    unknown: tuple[str, ...] = ()  # ids of rated lines without texts that none of the lines has


def rated_lines(rated: Given | None, keep: Collection[str] = ()) -> list[Example]:
    """Return the lines of a rated file, or of several, which need no texts where they have ids."""
    return [] if rated is None else examples_of(rated, name="rated", keep=keep, labels=True, texts=False)


def joined(
    lines: Sequence[Example],
    rated: Sequence[Example],
    dimension: str = OVERALL,
    refuse: Callable[[Sequence[Example]], None] = refuse_again,
) -> RatedSample:
    """Return the lines, each with its rating and with keys of the rated line that it lacks.

    A rated line is the line with its id, else the first line with its context, reply and system that has no rated line
    yet. If both have a rating, that of the rated line counts. A rated line without a rating in `dimension` gives only
    its keys. Rated lines of one id from several files are ratings of one reply, by the people that the files are
    called after. Those of a second look count in place of the first.

    Args:
        lines: all lines.
        rated: rated lines; without texts they need an id.
        dimension: which ratings.
        refuse: called with the lines; raises if some are repeated.

    Raises:
        DataError: two lines of either have the same id; an id belongs to another reply, or to several; a reply is rated
            in two lines; a weight is not a positive number; none of the ids of lines without texts is among the lines.
    """
    refuse(lines)
    again = [line for line in rated if line.extra.get(LOOK) == SECOND]
    if 0 < len(again) < len(rated):
        first = joined(lines, [line for line in rated if line.extra.get(LOOK) != SECOND], dimension, refuse)
        then = joined(first.lines, again, dimension, refuse)
        corrected = [_corrected(*pair, dimension) for pair in zip(first.lines, then.lines, strict=False)]
        return first._replace(
            lines=(*corrected, *then.lines[len(first.lines) :]),
            population=np.pad(first.population, (0, len(then.lines) - len(first.lines))),
            rated=first.rated + then.rated - then.matched,
            unknown=tuple(dict.fromkeys(first.unknown + then.unknown)),
        )
    rated = by_file(rated)
    refuse_again(rated)
    result, extra, taken, unknown = list(lines), list[Example](), dict[int, Example](), list[Example]()
    by_id = defaultdict[str, list[int]](list)
    by_text = defaultdict[object, list[int]](list)
    for place, line in enumerate(lines):
        by_text[_text(line)].append(place)
        by_id[_id(line)].append(place)
    ids = {**{_dialogue(line): [place] for place, line in enumerate(lines)}, **by_id, "": []}
    is_rated = [line.rating(dimension) is not None for line in rated]
    weights_of([line for line, counts in zip(rated, is_rated, strict=True) if counts])  # while each has its place
    for line, counts in zip(rated, is_rated, strict=True):
        same_id = ids.get(_id(line), [])
        at = _place(line, lines, same_id, by_text[_text(line)] if line.response and counts else [], taken)
        if at is not None and counts:
            taken[at], result[at] = line, _with_ratings(lines[at], line)
        elif at is not None:
            result[at] = replace(result[at], extra=_keys(result[at], line))
        elif counts:
            (extra if line.response or not lines else unknown).append(line)
    if unknown and not taken:
        raise _no_id(lines, unknown)
    population = np.arange(len(result) + len(extra)) < len(result)
    lost = tuple(line.id for line in unknown)
    return RatedSample((*result, *extra), population, sum(is_rated), len(taken), lost)


def by_file(rated: Sequence[Example]) -> list[Example]:
    """Return rated lines, those of one id in several files as one; a rater without a name is called after the file."""
    if len({_file(line) for line in rated}) < 2:
        return list(rated)
    replies = defaultdict[object, dict[str, Example]](dict)
    for place, line in enumerate(rated):
        file = _file(line)
        reply = (line.dataset, _id(line), line.system, " ".join(line.response.split())) if _id(line) else place
        key = file if file not in replies[reply] and line.ratings else f"{file} {place}"
        name = PurePath(file).stem
        named = tuple(rating if rating.rater else replace(rating, rater=name) for rating in line.ratings)
        replies[reply][key] = replace(line, ratings=named)
    lines = []
    for reply_lines in replies.values():
        first, *others = reply_lines.values()
        if all(line.ratings and not line.quality for line in others):
            ratings = tuple(rating for line in (first, *others) for rating in line.ratings)
            scales = {key: scale for line in (first, *others) for key, scale in line.scales.items()}
            first, others = replace(first, ratings=ratings, scales=scales), []
        lines += [first, *others]
    return lines


def _corrected(line: Example, again: Example, dimension: str) -> Example:
    """Return a line with the rating of a second look; its first ratings stay those of its labellers."""
    values = [rating.value for rating in again.counted(dimension)]
    rating = majority(values) if {*values} <= {0, 1} else again.rating(dimension)  # type: ignore[arg-type]
    if again.extra.get(LOOK) != SECOND or rating is None:
        return line
    quality = {**line.quality, dimension: float(rating)}
    return replace(again, ratings=line.ratings or again.ratings, quality=quality, scales=line.scales or again.scales)


def _file(line: Example) -> str:
    return line.where.rpartition(":")[0]


def _no_id(lines: Sequence[Example], unknown: Sequence[Example]) -> DataError:
    """Return the error for rated lines without texts whose ids are not among the lines."""
    theirs, ours = (", ".join(repr(line.id) for line in side[:3]) for side in (unknown, lines))
    files = ", ".join(dict.fromkeys(map(_file, lines)))
    problem = f"none of {len(unknown):,} ids ({theirs}) is among the ids of {files or 'the lines'} ({ours})"
    return DataError(problem, "Name the columns that hold the same ids: --map id=NAME", where=_file(unknown[0]))


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


def _id(line: Example) -> str:
    """Return the id of a line; "" for one without, which is named after its place in the file."""
    return line.id.strip() if line.id and line.id != line.where else _dialogue(line)


def _dialogue(line: Example) -> str:
    """Return the id of a line's conversation, or ""."""
    return str(line.extra.get("dialogue_id") or "").strip()


def _text(line: Example) -> tuple[object, ...]:
    """Return the key by which a line without an id is found; white space is ignored."""
    context, response = (tuple(" ".join(text.split()) for text in texts) for texts in (line.context, (line.response,)))
    return line.context_id, context, response


def _place(
    line: Example, lines: Sequence[Example], same_id: list[int], same_text: list[int], taken: Mapping[int, Example]
) -> int | None:
    """Return the position of a rated line among the lines, or None."""
    sets = (line.dataset,) if line.response else (line.dataset, None)  # ids without texts need not name their set
    same_id = [at for at in same_id if lines[at].dataset in sets or (line.dataset is None and not line.response)]
    words = line.response.split()
    if len(same_id) > 1:  # an id that several systems answer
        if line.system is not None:
            same_id = [at for at in same_id if line.system in (lines[at].system, PurePath(_file(lines[at])).stem)]
        same_reply = [at for at in same_id if lines[at].response.split() == words or not words]
        if len(same_reply) > 1 and not words:
            problem = f"the id {line.id!r} is that of several replies"
            raise DataError(problem, "Name the system of each label in a column system", where=line.where, field="id")
        same_id = same_reply or (same_id if line.system is not None else [])
    if same_id:
        other = lines[same_id[0]]
        if words and words != other.response.split():
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
    system, scales = rated.system if line.system is None else line.system, rated.scales or line.scales
    about: dict[str, Any] = {"scales": scales, "system": system, "extra": _keys(line, rated)}
    return replace(line, ratings=rated.ratings, quality=rated.quality, **about)


def _keys(line: Example, rated: Example) -> dict[str, Any]:
    """Return the keys of a line and those of its rated line, of which the weight wins; its conversation is its own."""
    weight = {WEIGHT: rated.extra[WEIGHT]} if rated.extra.get(WEIGHT) is not None else {}
    return {**{key: value for key, value in rated.extra.items() if key != "dialogue_id"}, **line.extra, **weight}


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
    sample = joined(examples, rated_lines(rated, keep), dimension)
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
