"""Rows that belong together: of the raters of one reply, of the messages of one chat. They are held in memory."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from typing import Any

from rejoinder.data.columns import field_of, is_rating, plain, words
from rejoinder.data.files import OnError, Row
from rejoinder.errors import ColumnError, DataError
from rejoinder.example import Example, Pair, majority

Note = Callable[[str], None]
_OF = "conversation conv chat session thread ticket dialog dialogue call case"
_TALKS = frozenset(f"{of}{end}" for of in _OF.split() for end in ("", "_id", "_key", "_number", "_no", "_uuid"))
_WHO = words(
    "role sender sender_type sender_role sender_name speaker speaker_role author author_type message_author from "
    "participant_role"
)
_SAID = words("text message content body utterance msg message_text message_body")
_TIME = re.compile(r"(?:\d{4}-\d\d-\d\d[T ])?\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?\Z")
_TIMES = words("timestamp created_at time datetime date sent_at created ts")
_WHEN = (*_TIMES, *words("turn turn_id turn_index index position order seq step"))


def join_raters(lines: Iterable[Example | Pair], on_error: OnError, note: Note) -> Iterator[Example | Pair]:
    """Yield one example for each reply, and one pair for each two, with the ratings or votes of all their rows.

    Rows of one id (and system) belong together; where no id recurs, ids number the rows, and rows of the same texts do.
    A row that repeats rater, reply and rating of an earlier one is left out. Of other keys those stay that are the same
    in all rows. Of one rater's votes for a pair the first counts.

    Args:
        lines: one for each row.
        on_error: takes the error of a row with the id of a reply and other texts.
        note: takes how many rows were left out.
    """
    rows = list(lines)
    by_id = {kind: len({row.id for row in rows if type(row) is kind}) for kind in (Example, Pair)}
    counts = Counter(type(row) for row in rows)
    groups: dict[object, list[Any]] = {}
    voters: set[object] = set()
    repeated: Counter[str] = Counter()
    for row in rows:
        recurs = by_id[type(row)] < counts[type(row)]
        key = _key(row, recurs=recurs and (isinstance(row, Example) or _voter(row)[1]), groups=groups)
        group = groups.setdefault(key, [])
        if isinstance(row, Pair):
            voter = (key, _voter(row)[0])
            is_repeated = bool(voter[1]) and voter in voters
            voters.add(voter)
        else:
            is_repeated = bool(row.ratings) and all(
                rating.rater is not None and any(rating in other.ratings for other in group) for rating in row.ratings
            )
        if is_repeated:
            repeated[row.where.rpartition(":")[0]] += 1
        elif group and (differing := _differing(group[0], row)):
            problem = f"the id {row.id!r} stands for another {differing} at {group[0].where}"
            remedy = "Give every reply its own id, or leave ids out of account: --map id="
            on_error(DataError(problem, remedy, where=row.where, field="id"))
        else:
            group.append(row)
    for group in groups.values():
        yield _one_pair(group) if isinstance(group[0], Pair) else _one_example(group)
    for file, count in repeated.items():
        note(f"{file}: left out rows that repeat a rating or a choice of the same rater: {count:,}")


def _voter(pair: Pair) -> tuple[str, bool]:
    """Return the rater of a row of a pair, and whether under our own name, so that ids name pairs."""
    named = {key: value for key, value in pair.replies[0].extra.items() if field_of(key) == "rater"}
    return next(
        (" ".join(str(value).split()) for value in named.values() if value not in (None, "")), ""
    ), "rater" in named


def _key(row: Example | Pair, *, recurs: bool, groups: Mapping[object, Sequence[Any]]) -> object:
    """Return the key that rows of one reply, or of one pair, share."""
    if isinstance(row, Pair):
        return row.id if recurs else tuple(_texts(reply) for reply in row.replies)
    if not recurs and (row.context or row.response):
        return _texts(row)
    first = groups.get(row.id, [row])[0]
    return (row.id, row.system) if row.system is not None and first.system not in (None, row.system) else row.id


def _texts(row: Example) -> object:
    return row.dataset, row.context, row.response, row.system


def _differing(first: Example | Pair, row: Example | Pair) -> str:
    """Return the first field in which a row contradicts an earlier one of its id, or ""."""
    if isinstance(first, Pair) or isinstance(row, Pair):
        both = zip(first.replies, row.replies, strict=True) if isinstance(first, Pair) and isinstance(row, Pair) else ()
        return next(filter(None, (_differing(*two) for two in both)), "")
    names = ("context", "response", "system", "references", "sources")
    return next((name for name in names if getattr(row, name) and getattr(row, name) != getattr(first, name)), "")


def _one_example(rows: Sequence[Example]) -> Example:
    """Return the first row with the ratings of all."""
    if len(rows) == 1:
        return rows[0]
    first = rows[0]
    extra = {
        key: value
        for key, value in first.extra.items()
        if all(key in row.extra and row.extra[key] == value for row in rows)
    }
    return replace(
        first,
        ratings=tuple(rating for row in rows for rating in row.ratings),
        quality={key: value for row in reversed(rows) for key, value in row.quality.items()},
        scales={key: scale for row in reversed(rows) for key, scale in row.scales.items()},
        extra=extra,
    )


def _one_pair(rows: Sequence[Pair]) -> Pair:
    """Return the first row with the votes of all; under another name than `rater`, one row is no vote."""
    first = rows[0]
    if len(rows) == 1 and not _voter(first)[1]:
        return first
    votes = tuple(vote for row in rows for vote in (row.votes or (row.preferred,)))
    one, other = (_one_example([row.replies[place] for row in rows]) for place in (0, 1))
    return replace(
        first, replies=(one, other), preferred=majority(votes) if len(rows) > 1 else first.preferred, votes=votes
    )


def join_messages(rows: Iterable[Row], note: Note, mapped: Iterable[str] = ()) -> Iterator[Row]:
    """Yield a row for each conversation of a table of messages, in order of time; other rows as they come.

    Args:
        rows: of one file, of no known format.
        note: takes what was understood.
        mapped: columns that the user says the meaning of; where one is the response or the context, nothing is joined.

    Raises:
        ColumnError: a message belongs to no conversation, a time cannot be read, or a rating is of single messages.
    """
    rows = iter(rows)
    first = next(rows, None)
    if first is None:
        return
    names = (
        list(first.data)
        if isinstance(first.data, Mapping) and not {"response", "context", "messages"} & {*mapped}
        else []
    )
    talks, whos, saids = ([name for name in names if plain(str(name)) in known] for known in (_TALKS, _WHO, _SAID))
    others = {field_of(str(name)) for name in names}
    if len(talks) != 1 or len(whos) != 1 or len(saids) != 1 or others & {"response", "context", "messages"}:
        yield from chain([first], rows)
        return
    (talk,), (who,), (said,) = talks, whos, saids
    when = [name for word in _WHEN for name in names if plain(str(name)) == word]
    both = [name for name in when if plain(name) in ("date", "time")]
    groups: dict[str, list[Row]] = {}
    for row in chain([first], rows):
        if not isinstance(row.data, Mapping) or not str(row.data.get(talk) or "").strip():
            problem = "a message without a conversation"
            raise ColumnError(problem, "Name its conversation in every row", where=row.where, field=talk)
        groups.setdefault(str(row.data[talk]), []).append(row)
    if not when:
        _require_order([name for name in names if name not in (talk, who, said)], groups)
    changing = [
        name for name in when if any(len({str(row.data.get(name)) for row in group}) > 1 for group in groups.values())
    ]
    when = both if len(both) == 2 else (changing or when)[:1]
    everywhere = dict.fromkeys(name for group in groups.values() for row in group for name in row.data)
    kept = [name for name in everywhere if name not in (talk, who, said, *when)]
    varied = [
        name for name in kept if any(len({str(row.data.get(name)) for row in group}) > 1 for group in groups.values())
    ]
    if judged := [name for name in varied if is_rating(plain(name)) or "csat" in plain(name)]:
        remedy = (
            "Give each rated reply a row of its own, with its context, or give all rows of a conversation one rating"
        )
        raise ColumnError("differs inside a conversation", remedy, where=first.where, field=judged[0])
    file = first.where.rpartition(":")[0]
    count = sum(map(len, groups.values()))
    unread = f"; not read: {', '.join(varied)}" if varied else ""
    note(f"{file}: read {count:,} rows, one a message, as {len(groups):,} conversations by {talk}{unread}")
    for key, group in groups.items():
        timed = [row for row in group if all(row.data.get(name) not in (None, "") for name in when)]
        times = [[_clock(row.data[name], row.where, name) for name in sorted(when)] for row in timed]
        if when and len(timed) < len(group) and times != sorted(times):
            remedy = "Fill it in, or sort the rows, the oldest first, and delete the column"
            raise ColumnError("a message without a time", remedy, where=group[0].where, field=when[0])
        if when and len(timed) == len(group):
            by_clock = all(re.match(r"\d{1,2}:", str(row.data[name]).strip()) for row in group for name in when)
            if by_clock and times != sorted(times) and max(times)[0] - min(times)[0] > 12 * 3600:
                remedy = "Write the date too, or sort the rows, the oldest first, and delete the column"
                raise ColumnError("times that may pass midnight", remedy, where=group[0].where, field=when[0])
            if plain(when[0]) in _TIMES and times == sorted(times, reverse=True) != sorted(times):
                group, times = group[::-1], times[::-1]  # newest first, also in one minute
            group = [row for _, row in sorted(zip(times, group, strict=True), key=lambda pair: pair[0])]
        shared = {name: group[0].data.get(name) for name in kept if name not in varied}
        messages = [{"role": str(row.data[who] or "").strip(), "content": row.data[said]} for row in group]
        yield Row(group[0].where, {**shared, "id": key, "messages": messages}, flat=True)


def _require_order(names: Sequence[str], groups: Mapping[str, Sequence[Row]]) -> None:
    """Raise `ColumnError` if a column of another name holds times, and the rows are in another order."""
    for name in names:
        for group in groups.values():
            values = [str(row.data.get(name) or "") for row in group]
            if all(map(_TIME.match, values)) and (times := [_clock(value, "", "") for value in values]) != sorted(
                times
            ):
                remedy = f"Call {name} time if it says when each message was sent; else delete it"
                raise ColumnError("times out of order", remedy, where=group[0].where, field=name)


def _clock(value: Any, where: str, field: str) -> float:
    """Return a time as a number: seconds, ISO 8601, or hours and minutes."""
    text = str(value).strip()
    try:
        return float(text)
    except ValueError:
        pass
    try:
        hour = re.match(r"(\d{1,2}):", text)
        moment = datetime.fromisoformat(f"2000-01-01T{text:0>{len(text) + 2 - len(hour[1])}}" if hour else text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except ValueError as error:
        remedy = f"Write 2026-01-31T09:58, or sort the rows, the oldest first, and delete the column {field}"
        raise ColumnError(f"{text[:40]!r} is no time", remedy, where=where, field=field) from error
