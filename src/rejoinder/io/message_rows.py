"""Tables with a row for each message: the rows of one conversation become its chat messages.

Read so where one column names the conversation, one who speaks, by a role (`bot`, `customer`), one what was said, and
none a reply. Rows of several conversations may stand between each other, so the file is held in memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain, pairwise
from typing import Any, NamedTuple

from rejoinder.errors import DataError, UnclearColumn, UsageError
from rejoinder.io.columns import Names
from rejoinder.io.lines import Row
from rejoinder.io.names import MESSAGES, plain
from rejoinder.io.planner import file_of, listed
from rejoinder.io.roles import SIDES, judged_in, role_of
from rejoinder.io.single_messages import REMEDY, speakers_in, texts_in

_OF = r"(?:conversation|conv|chat|session|thread|ticket|dialog|dialogue|call|case)"
_CONVERSATION = re.compile(rf"{_OF}(?:_(?:id|key|nr|no|number|uuid))?")
_TIMES = frozenset(
    (
        *("time", "timestamp", "ts", "date", "datetime", "date_time", "created", "created_at", "sent", "sent_at"),
        *("turn", "turn_id", "turn_index", "turn_number", "index", "position", "order", "sequence", "seq", "step"),
        *("message_index", "message_number", "message_order"),
    )
)
_HOUR = re.compile(r"(?<=[T ])(\d):")  # of one digit, which ISO 8601 does not know
_JUDGED = re.compile(r"rating|score|stars|quality|feedback|grade|label|vote|thumb|satisf|csat")
_FALLS = 3
_ASKED = frozenset(("response", "context", MESSAGES))


class _Columns(NamedTuple):
    """What columns of a table are: the conversation, who may speak, what was said, and those of when, or none."""

    conversation: str
    speakers: Sequence[str]
    text: str
    times: tuple[str, ...]


def conversations(found: Iterable[Row], names: Names) -> Iterator[Row]:
    """The rows of a file; where they are messages, a row for each conversation, in order of their beginnings.

    Raises:
        UnclearColumn: who speaks is no role, a message belongs to no conversation, or messages have ratings.
    """
    stream = iter(found)
    first = next(stream, None)
    if first is None:
        return
    columns = None if _ASKED & names.columns.keys() else _columns(first)
    if columns is None:
        yield from chain([first], stream)
        return
    rows = [first, *stream]
    speaker = min(columns.speakers, key=lambda name: sum(role_of(_cell(row, name)) is None for row in rows))
    if not {role_of(_cell(row, speaker)) for row in rows} >= set(SIDES):
        yield from rows  # which says that these are messages, and what to do
        return
    for row in rows:
        if role_of(_cell(row, speaker)) is None:
            problem = f"{_cell(row, speaker)!r} in the column {speaker} is no role"
            raise UnclearColumn(problem, "Write bot there for who is judged, user for the others", where=row.where)
        if not _cell(row, columns.conversation):
            problem = f"a message without a conversation in the column {columns.conversation}"
            raise UnclearColumn(problem, "Say in every row which conversation it belongs to", where=row.where)
    yield from _joined(rows, columns, speaker, names)


def _columns(row: Row) -> _Columns | None:
    """What the columns are, by the first row; None where it is no message."""
    if not isinstance(row.record, Mapping) or MESSAGES in row.record:
        return None
    given = list(map(str, row.record))
    of = [name for name in given if _CONVERSATION.fullmatch(plain(name))]
    speakers, texts = speakers_in(given), [name for name in texts_in(given) if plain(name) != "context"]
    if len(of) != 1 or not speakers or len(texts) != 1 or _has_reply(row):
        return None
    times = {plain(name): name for name in given if plain(name) in _TIMES}
    both = ("date", "time") if {"date", "time"} <= times.keys() else tuple(times)[:1]
    return _Columns(of[0], speakers, texts[0], tuple(times[name] for name in both))


def _has_reply(row: Row) -> bool:
    """Whether a column is a reply."""
    try:
        return "response" in Names().understood(dict(row.record), row.where, flat=row.flat, guess=True)
    except (DataError, UsageError):
        return False


def _joined(rows: Sequence[Row], columns: _Columns, speaker: str, names: Names) -> list[Row]:
    """A row for each conversation; what was made of the file is said."""
    chats: dict[str, list[Row]] = {}
    for row in rows:
        chats.setdefault(_cell(row, columns.conversation), []).append(row)
    read = {columns.conversation, *columns.speakers, columns.text, *columns.times}
    beside = [name for name in dict.fromkeys(str(name) for row in rows for name in row.record) if name not in read]
    varied = [name for name in beside if any(len(_values(chat, name)) > 1 for chat in chats.values())]
    if judged := [name for name in varied if _JUDGED.search(plain(name)) or name in names.mapped]:
        problem = f"{listed(judged)} differs inside a conversation, and what is said of single messages is not read so"
        raise UnclearColumn(problem, REMEDY, where=rows[0].where)
    if _are_backwards(chats.values(), columns.times):
        problem = f"by {listed(columns.times)} the messages seem to stand newest first"
        remedy = "Sort the rows, oldest first; if they are, give such columns another name"
        raise UnclearColumn(problem, remedy, where=rows[0].where)
    ordered = {key: _in_time(chat, columns.times) for key, chat in chats.items()}
    moved = sum(chat != ordered[key] for key, chat in chats.items())
    roles = [name for chat in chats.values() for name in judged_in(_cell(row, speaker) for row in chat)]
    told = f"{file_of(rows[0].where)}: read {len(rows):,} rows, one a message, as {len(chats):,} conversations by "
    told += f"{columns.conversation}, in which {listed(list(dict.fromkeys(roles)))} is judged"
    told += f"; put {moved:,} of them in order by {listed(columns.times)}" if moved else ""
    told += f"; not read: {listed(varied)}" if varied else ""
    names.said_once(told)
    kept = [name for name in beside if name not in varied]
    return [_chat(key, chat, columns, speaker, kept) for key, chat in ordered.items()]


def _chat(key: str, chat: Sequence[Row], columns: _Columns, speaker: str, kept: Sequence[str]) -> Row:
    """The row of a conversation: its messages, and the cells that all of its rows have alike."""
    said = [row.record.get(columns.text) for row in chat]  # in JSON perhaps a list of parts
    messages = [
        {"role": _cell(row, speaker).lower(), "content": text if isinstance(text, list) else _cell(row, columns.text)}
        for row, text in zip(chat, said, strict=True)
    ]
    beside = {name: next(iter(_values(chat, name)), "") for name in kept}
    return chat[0]._replace(record={**beside, "id": key, MESSAGES: messages})


def _are_backwards(chats: Iterable[Sequence[Row]], columns: Sequence[str]) -> bool:
    """Whether times that cannot be sorted by only fall from row to row, by the numbers in them.

    That is some falls: at noon and where a month ends there is one in good order too.
    """
    falls = 0
    for chat in chats:
        keys = [tuple(map(int, re.findall(r"\d+", _time(row, columns)))) for row in chat]
        if chat != _in_time(chat, columns) or any(one < other for one, other in pairwise(keys)):
            return False
        falls += sum(one > other for one, other in pairwise(keys))
    return falls >= _FALLS


def _in_time(chat: Sequence[Row], columns: Sequence[str]) -> list[Row]:
    """The rows in order of time, where that can be told: of numbers, and of dates as ISO 8601 writes them."""
    times = [_time(row, columns) for row in chat] if columns else []
    keys: list[Any]
    try:
        keys = list(map(float, times))
    except ValueError:
        try:
            keys = [datetime.fromisoformat(_HOUR.sub(r"0\1:", time)) for time in times]
        except ValueError:
            return list(chat)
    try:
        return [chat[place] for place in sorted(range(len(keys)), key=keys.__getitem__)] or list(chat)
    except TypeError:  # some say their zone, and some do not
        return list(chat)


def _time(row: Row, columns: Sequence[str]) -> str:
    """When a message was said: of a day and an hour both."""
    return " ".join(_cell(row, name) for name in columns)


def _values(chat: Sequence[Row], name: str) -> dict[str, None]:
    """The different cells of a column, blank ones aside."""
    return {cell: None for row in chat if (cell := _cell(row, name))}


def _cell(row: Row, name: str) -> str:
    """What stands in a row; "" for nothing."""
    value = row.record.get(name) if isinstance(row.record, Mapping) else None
    return "" if value is None else str(value).strip()
