"""Tables with one row a rater: the rows of one reply joined to one example with all ratings, of a pair to all votes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar, cast

from rejoinder.errors import DataError
from rejoinder.io.lines import OnBad
from rejoinder.records import Example, Pair, ReplySet, majority

Parsed = TypeVar("Parsed", bound=Example | Pair | ReplySet)


def joined(examples: Iterable[Parsed], on_bad: OnBad) -> Iterator[Parsed]:
    """Yield one example for each reply, with the ratings of all its rows, in the order in which they first come.

    Rows belong together that have one id; where no id comes twice, ids number the rows, and those belong together whose
    context, response and system are the same. Texts that a later row leaves empty are those of the first. Of other keys
    those stay that are the same in all its rows. Pairs of replies come as they are (see `voted`).

    Args:
        examples: one a row; all are held in memory.
        on_bad: is given the error of a row with the id of a reply and other texts.
    """
    lines = list(examples)
    rows = [line for line in lines if isinstance(line, Example)]
    yield from (line for line in lines if not isinstance(line, Example))
    yield from cast("Iterator[Parsed]", _joined(rows, on_bad))


def voted(pairs: Iterable[Parsed], on_bad: OnBad) -> Iterator[Parsed]:
    """Yield one pair for each id, with the votes of all its rows; what most of them prefer is preferred.

    Of other keys those stay that are the same in all its rows. What is no pair comes as it is.

    Args:
        pairs: one a row; all are held in memory.
        on_bad: is given the error of a row with the id of a pair and other texts.
    """
    found: dict[object, Pair] = {}
    for row in pairs:
        if not isinstance(row, Pair):
            yield row
        elif row.id not in found:
            found[row.id] = replace(row, votes=row.votes or (row.preferred,))
        elif differing := _differing(found[row.id].replies[0], row.replies[0]) or _differing(
            found[row.id].replies[1], row.replies[1]
        ):
            problem = f"the id {row.id!r} stands for another {differing} at {found[row.id].where}"
            on_bad(DataError(problem, "Give every pair its own id", where=row.where, field="id"))
        else:
            found[row.id] = _counted(found[row.id], row)
    yield from cast("Iterator[Parsed]", found.values())


def _counted(first: Pair, row: Pair) -> Pair:
    """A pair with the votes of another row of it."""
    votes = (*first.votes, *(row.votes or (row.preferred,)))
    one, other = (_together(*two) for two in zip(first.replies, row.replies, strict=True))
    return replace(first, replies=(one, other), preferred=majority(votes), votes=votes)


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
