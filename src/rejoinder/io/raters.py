"""Tables with one row a rater: the rows of one reply joined into one example with all its ratings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar, cast

from rejoinder.errors import DataError
from rejoinder.io.lines import OnBad
from rejoinder.records import Example, Pair, ReplySet

Parsed = TypeVar("Parsed", bound=Example | Pair | ReplySet)


def joined(examples: Iterable[Parsed], on_bad: OnBad) -> Iterator[Parsed]:
    """Yield one example for each reply, with the ratings of all its rows, in the order in which they first come.

    Rows belong together that have one id; where no id comes twice, ids number the rows, and those belong together whose
    context, response and system are the same. Texts that a later row leaves empty are those of the first. Of other keys
    those stay that are the same in all its rows. Pairs of replies come as they are.

    Args:
        examples: one a row; all are held in memory.
        on_bad: is given the error of a row with the id of a reply and other texts.
    """
    lines = list(examples)
    rows = [line for line in lines if isinstance(line, Example)]
    yield from (line for line in lines if not isinstance(line, Example))
    yield from cast("Iterator[Parsed]", _joined(rows, on_bad))


def _joined(rows: Sequence[Example], on_bad: OnBad) -> Iterator[Example]:
    """Yield one example for each reply; arguments as for `joined`."""
    by_id = len({row.id for row in rows}) < len(rows)
    found: dict[object, Example] = {}
    for row in rows:
        key = row.id if by_id else (row.dataset, row.context, row.response, row.system)
        if key not in found:
            found[key] = row
        elif differing := _differing(found[key], row):
            problem = f"the id {row.id!r} stands for another {differing} at {found[key].where}"
            remedy = "Give every reply its own id, or leave ids out of account: --map id="
            on_bad(DataError(problem, remedy, where=row.where, field="id"))
        else:
            found[key] = _together(found[key], row)
    yield from found.values()


def _differing(first: Example, row: Example) -> str:
    """The first text in which a row contradicts an earlier one of its id, or ""."""
    for name in ("context", "response", "system", "references"):
        value = getattr(row, name)
        if value and value != getattr(first, name):
            return name
    return ""


def _together(first: Example, row: Example) -> Example:
    """An example with the ratings of another row of it."""
    return replace(
        first,
        ratings=(*first.ratings, *row.ratings),
        quality={**row.quality, **first.quality},
        scales={**row.scales, **first.scales},
        extra={key: value for key, value in first.extra.items() if key in row.extra and row.extra[key] == value},
    )
