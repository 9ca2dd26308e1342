"""Tables with a row for each message: the rows of one conversation become its chat messages.

Read so where one column names the conversation, one who speaks, by a role (`bot`, `customer`), one what was said, and
none a reply. A bare `id` names the conversation where no other column does and both sides speak under most ids. Rows of
several conversations may stand between each other, so the file is held in memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from rejoinder.errors import ColumnError, DataError, UsageError
from rejoinder.io.columns import Names
from rejoinder.io.lines import Row
from rejoinder.io.message_times import in_time
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
_JUDGED = re.compile(r"rating|score|stars|quality|feedback|grade|label|vote|thumb|satisf|csat")
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
        ColumnError: who speaks is no role, a message belongs to no conversation, or messages have ratings.
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
    sides = {role_of(_cell(row, speaker)) for row in rows} >= set(SIDES)
    if not sides or (plain(columns.conversation) == "id" and not _is_shared(rows, columns.conversation, speaker)):
        yield from rows  # which says that these are messages, and what to do
        return
    for row in rows:
        if role_of(_cell(row, speaker)) is None:
            problem = f"{_cell(row, speaker)!r} in the column {speaker} is no role"
            raise ColumnError(problem, "Write bot there for who is judged, user for the others", where=row.where)
        if not _cell(row, columns.conversation):
            problem = f"a message without a conversation in the column {columns.conversation}"
            raise ColumnError(problem, "Say in every row which conversation it belongs to", where=row.where)
    yield from _joined(rows, columns, speaker, names)


def _is_shared(rows: Sequence[Row], name: str, speaker: str) -> bool:
    """Whether a bare `id` is of conversations and not of messages: under most of its values both sides speak."""
    spoke: dict[str, set[str | None]] = {}
    for row in rows:
        spoke.setdefault(_cell(row, name), set()).add(role_of(_cell(row, speaker)))
    return sum(roles >= set(SIDES) for roles in spoke.values()) * 2 > len(spoke)


def _columns(row: Row) -> _Columns | None:
    """What the columns are, by the first row; None where it is no message."""
    if not isinstance(row.record, Mapping) or MESSAGES in row.record:
        return None
    given = list(map(str, row.record))
    of = [name for name in given if _CONVERSATION.fullmatch(plain(name))]
    of = of or [name for name in given if plain(name) == "id"]
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
        raise ColumnError(problem, REMEDY, where=rows[0].where)
    ordered = _in_order(chats, columns.times)
    moved = sum(chat != ordered[key] for key, chat in chats.items())
    roles = [name for chat in chats.values() for name in judged_in(_cell(row, speaker) for row in chat)]
    told = f"{file_of(rows[0].where)}: read {len(rows):,} rows, one a message, as {len(chats):,} conversations by "
    told += f"{columns.conversation}, in which {listed(list(dict.fromkeys(roles)))} is judged"
    told += f"; put {moved:,} of them in order by {listed(columns.times)}" if moved else ""
    told += f"; not read: {listed(varied)}" if varied else ""
    names.said_once(told)
    kept = [name for name in beside if name not in varied]
    return [_chat(key, chat, columns, speaker, kept) for key, chat in ordered.items()]


def _in_order(chats: Mapping[str, Sequence[Row]], columns: Sequence[str]) -> dict[str, list[Row]]:
    """The rows of each conversation in order of time."""
    if not columns:
        return {key: list(chat) for key, chat in chats.items()}
    (first, *_), *_ = chats.values()
    places = in_time([[_time(row, columns) for row in chat] for chat in chats.values()], listed(columns), first.where)
    return {key: [chat[place] for place in own] for (key, chat), own in zip(chats.items(), places, strict=True)}


def _chat(key: str, chat: Sequence[Row], columns: _Columns, speaker: str, kept: Sequence[str]) -> Row:
    """The row of a conversation: its messages, and the cells that all of its rows have alike."""
    said = [row.record.get(columns.text) for row in chat]  # in JSON perhaps a list of parts
    messages = [
        {"role": _cell(row, speaker).lower(), "content": text if isinstance(text, list) else _cell(row, columns.text)}
        for row, text in zip(chat, said, strict=True)
    ]
    beside = {name: next(iter(_values(chat, name)), "") for name in kept}
    return chat[0]._replace(record={**beside, "id": key, MESSAGES: messages})


def _time(row: Row, columns: Sequence[str]) -> str:
    """When a message was said: of a day and an hour both; "" where one is missing."""
    cells = [_cell(row, name) for name in columns]
    return " ".join(cells) if all(cells) else ""


def _values(chat: Sequence[Row], name: str) -> dict[str, None]:
    """The different cells of a column, blank ones aside."""
    return {cell: None for row in chat if (cell := _cell(row, name))}


def _cell(row: Row, name: str) -> str:
    """What stands in a row; "" for nothing."""
    value = row.record.get(name) if isinstance(row.record, Mapping) else None
    return "" if value is None else str(value).strip()
