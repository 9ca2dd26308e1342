"""Rated lines joined to the lines that they are ratings of, by id or by text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rejoinder.data.values import is_number
from rejoinder.errors import DataError
from rejoinder.example import OVERALL, Example
from rejoinder.data.shared_ids import refuse_again
from rejoinder.stats.resamples import BoolArray, FloatArray

WEIGHT = "rating_weight"
"""The key of how much a rating stands for: 1 over the line's chance of being rated, 1 on average over a system."""


@dataclass(frozen=True)
class Joined:
    """Lines with what people said of some of them.

    Attributes:
        lines: [N] the lines, then the rated ones that are not among them.
        listed: [N] whether a line is one of the lines.
        given: rated lines that were given by themselves.
        matched: how many of them are among the lines.
    """

    lines: tuple[Example, ...]
    listed: BoolArray
    given: int
    matched: int


def joined(lines: Sequence[Example], rated: Sequence[Example], dimension: str = OVERALL) -> Joined:
    """The lines, each with the rating that was given for it.

    A rated line is the line that has its id (in its data set), else the first that has its context, reply and system
    and is not taken yet. Where both have a rating, that of the rated line counts.

    Args:
        lines: N lines, rated or not.
        rated: rated ones, among the lines or not; those without a rating in `dimension` are left out.
        dimension: which ratings.

    Raises:
        DataError: two lines of either have one id; an id belongs to another reply; a reply is rated twice; a rated
            line stands for no number over 0.
    """
    for side in (lines, rated):
        refuse_again(side)
    found, extra = list(lines), list[Example]()
    taken: dict[int, Example] = {}
    by_id = defaultdict[tuple[str | None, str], list[int]](list)
    by_text = defaultdict[tuple[object, ...], list[int]](list)
    for place, line in enumerate(lines):
        by_text[_text(line)].append(place)
        if _named(line):
            by_id[line.dataset, line.id].append(place)
    own = [line for line in rated if line.rating(dimension) is not None]
    weights_of(own)  # here, where each still says in which file it stands
    for line in own:
        at = _place(line, lines, by_id, by_text[_text(line)], taken)
        if at is None:
            extra.append(line)
        else:
            taken[at] = line
            found[at] = _with_ratings(lines[at], line)
    return Joined((*found, *extra), np.arange(len(found) + len(extra)) < len(found), len(own), len(taken))


def weights_of(lines: Sequence[Example]) -> FloatArray:
    """[N] how much each rated line stands for, 1 where it does not say.

    Raises:
        DataError: a line says something that is no number over 0.
    """
    return np.array([_weight(line) for line in lines], dtype=np.float64)


def _weight(line: Example) -> float:
    """How much a line stands for."""
    said = line.extra.get(WEIGHT)
    if said is None or said == "":
        return 1.0
    try:
        value = float(said) if isinstance(said, str) else said
    except ValueError:
        value = said
    if not is_number(value) or not 0 < value < 1e9:
        raise DataError(
            f"is {said!r}, expected a number over 0",
            "Leave it as it was written, or out where lines were rated by chance",
            where=line.where,
            field=WEIGHT,
        )
    return float(value)


def _named(line: Example) -> bool:
    """Whether it has an id of its own; a line without one is called after its place."""
    return bool(line.id) and line.id != line.where


def _text(line: Example) -> tuple[object, ...]:
    """What a line is found by where it has no id; white space does not count."""
    context, response = (tuple(" ".join(text.split()) for text in texts) for texts in (line.context, (line.response,)))
    return line.context_id, context, response


def _place(
    line: Example,
    lines: Sequence[Example],
    by_id: Mapping[tuple[str | None, str], Sequence[int]],
    by_text: Sequence[int],
    taken: Mapping[int, Example],
) -> int | None:
    """Where among the lines a rated one stands; None where it does not."""
    places = by_id.get((line.dataset, line.id), ()) if _named(line) else ()
    if len(places) > 1:  # one of each system
        by_system = [place for place in places if lines[place].system == line.system]
        said = line.response.split()
        places = by_system or [place for place in places if lines[place].response.split() == said and not line.system]
    if not places:
        return _by_text(line, by_text, lines, taken)
    _require_same(line, lines[places[0]])
    return places[0]


def _by_text(
    line: Example, places: Sequence[int], lines: Sequence[Example], taken: Mapping[int, Example]
) -> int | None:
    """The line with the text of a rated one; None where there is none."""
    fitting = [place for place in places if line.system is None or lines[place].system in (None, line.system)]
    if not fitting:
        return None
    free = next((place for place in fitting if place not in taken), None)
    if free is None:
        raise DataError(
            f"this reply was already rated at {taken[fitting[0]].where or 'another line'}",
            "Give all its ratings in one line, or give both lines ids",
            where=line.where,
        )
    return free


def _require_same(rated: Example, line: Example) -> None:
    """Raise where an id is given to two replies."""
    if rated.response.split() != line.response.split():
        raise DataError(
            f"the id {rated.id!r} belongs to another reply at {line.where or 'another line'}",
            "Give each reply an id of its own, or none",
            where=rated.where,
            field="id",
        )


def _with_ratings(line: Example, rated: Example) -> Example:
    """The line with what people said of it."""
    weight = {WEIGHT: rated.extra[WEIGHT]} if rated.extra.get(WEIGHT) is not None else {}
    return replace(
        line,
        ratings=rated.ratings,
        quality=rated.quality,
        scales=rated.scales or line.scales,
        system=line.system if line.system is not None else rated.system,
        extra={**line.extra, **weight},
    )
