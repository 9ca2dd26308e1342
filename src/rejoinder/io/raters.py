"""Tables with one row a rater: the rows of one reply joined to one example with all ratings, of a pair to all votes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar, cast

from rejoinder.errors import DataError
from rejoinder.example import Example, Pair, ReplySet, majority
from rejoinder.io.lines import Note, OnBad, silent
from rejoinder.io.names import NAMES, RATER, plain
from rejoinder.io.planner import file_of

# Published pairs name a judge where each is judged once.
_RATERS = frozenset(name for names in NAMES[RATER] for name in names if "judge" not in name)
Parsed = TypeVar("Parsed", bound=Example | Pair | ReplySet)


def joined(examples: Iterable[Parsed], on_bad: OnBad, note: Note = silent) -> Iterator[Parsed]:
    """Yield one example for each reply and one pair for each two, with the ratings or votes of all their rows.

    Rows belong together that have one id and, where it is named, one system; where no id comes twice, ids number the
    rows, and those belong together whose contexts, responses and systems are the same. Texts that a later row leaves
    empty are those of the first. Of other keys those stay that are the same in all its rows. Of a pair that is
    preferred which most votes prefer. Pairs come before examples, each in the order in which they first come; what is
    neither comes first of all.

    A row that repeats the rater, the reply and the rating of an earlier one is left out. Votes have no names, so of one
    rater's votes for a pair the first counts.

    Args:
        examples: one a row; all are held in memory.
        on_bad: is given the error of a row with the id of a reply or a pair and other texts.
        note: is told how many rows were left out.
    """
    lines, repeated = list(examples), Counter[str]()
    yield from (line for line in lines if not isinstance(line, Example | Pair))
    yield from cast("Iterator[Parsed]", _voted([line for line in lines if isinstance(line, Pair)], on_bad, repeated))
    yield from cast(
        "Iterator[Parsed]", _joined([line for line in lines if isinstance(line, Example)], on_bad, repeated)
    )
    for file, count in repeated.items():
        note(f"{file}: left out rows that repeat a rating or a choice of the same rater: {count:,}")


def _voted(rows: Sequence[Pair], on_bad: OnBad, repeated: Counter[str]) -> Iterator[Pair]:
    """Yield one pair for each two replies; arguments as for `joined`.

    Under `rater` rows are those of our own form, whose ids name pairs. Under another name, as `annotator`, an id may as
    well name the question, and one row a pair be all there is: then the texts tell pairs apart, and one row is no vote.
    """
    ours = bool(rows) and RATER in rows[0].replies[0].extra
    by_id = ours and _ids_recur(rows)
    found: dict[object, Pair] = {}
    voters = set[tuple[object, object]]()
    for row in rows:
        key = row.id if by_id else tuple(map(_texts, row.replies))
        voter = (key, rater) if (rater := _rater_of(row)) else None
        if voter in voters:
            repeated[file_of(row.where)] += 1
            continue
        if voter:
            voters.add(voter)
        if key not in found:
            found[key] = replace(row, votes=row.votes or (row.preferred,)) if ours else row
        elif differing := next(filter(None, map(_differing, found[key].replies, row.replies)), ""):
            problem = f"the id {row.id!r} stands for another {differing} at {found[key].where}"
            remedy = "Give every pair its own id, or leave ids out of account: --map id="
            on_bad(DataError(problem, remedy, where=row.where, field="id"))
        else:
            found[key] = _counted(found[key], row)
    yield from found.values()


def _rater_of(row: Pair) -> str:
    """Who chose in a row, under any name of a column of raters; "" where nobody is named."""
    known = (value for name, value in row.replies[0].extra.items() if plain(name) in _RATERS)
    return next((str(value) for value in known if value not in (None, "")), "")


def _counted(first: Pair, row: Pair) -> Pair:
    """A pair with the votes of another row of it."""
    votes = (*(first.votes or (first.preferred,)), *(row.votes or (row.preferred,)))
    one, other = (_together(*two) for two in zip(first.replies, row.replies, strict=True))
    return replace(first, replies=(one, other), preferred=majority(votes), votes=votes)


def _joined(rows: Sequence[Example], on_bad: OnBad, repeated: Counter[str]) -> Iterator[Example]:
    """Yield one example for each reply; arguments as for `joined`."""
    by_id = _ids_recur(rows)
    found: dict[object, Example] = {}
    for row in rows:
        key: object = row.id if by_id else _texts(row)
        if by_id and row.system is not None and found.get(key, row).system not in (None, row.system):
            key = row.id, row.system  # an id is of one line of each system
        if key not in found:
            found[key] = row
        elif differing := _differing(found[key], row):
            problem = f"the id {row.id!r} stands for another {differing} at {found[key].where}"
            remedy = "Give every reply its own id, or leave ids out of account: --map id="
            on_bad(DataError(problem, remedy, where=row.where, field="id"))
        elif _repeats(found[key], row):
            repeated[file_of(row.where)] += 1
        else:
            found[key] = _together(found[key], row)
    yield from found.values()


def _repeats(first: Example, row: Example) -> bool:
    """Whether a row holds nothing but ratings that the same people gave before."""
    return bool(row.ratings) and all(one.rater is not None and one in first.ratings for one in row.ratings)


def _ids_recur(rows: Sequence[Example | Pair]) -> bool:
    """Whether an id comes twice; else ids only number the rows."""
    return len({row.id for row in rows}) < len(rows)


def _texts(row: Example) -> object:
    """What rows of one reply have in common."""
    return row.dataset, row.context, row.response, row.system


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
