"""In what order messages were said, by the cells that say when: numbers, or dates as people and programs write them.

`1/2/2026` is a day of January or of February. Which it is tells the whole file: one day beyond 12 is enough, and where
both ways put the messages in one order it does not matter. In `30.11.26` either end may be the year: a file is of few.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from itertools import chain, pairwise
from typing import Any

from rejoinder.errors import ColumnError

_HOUR = re.compile(r"(?<=[T ])(\d):")  # of one digit, which ISO 8601 does not know
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?: ?([AP])\.? ?M\b\.?)?")
_DATE = re.compile(r"(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})(?:[T ](.+))?")
_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_DAY_MONTH = re.compile(
    rf"(?P<d>\d{{1,2}})(?:ST|ND|RD|TH|\.)?[ /-](?P<m>{'|'.join(_MONTHS)})[A-Z]*\.?[ /-](?P<y>\d{{4}})"
)
_MONTH_DAY = re.compile(rf"(?P<m>{'|'.join(_MONTHS)})[A-Z]*\.? (?P<d>\d{{1,2}})(?:ST|ND|RD|TH)? (?P<y>\d{{4}})")
_WEEKDAY = re.compile(r"(?:MON|TUE|WED|THU|FRI|SAT|SUN)[A-Z]*\.? ")
_ZONE = re.compile(r" (?:(?!AM|PM)[A-Z]{1,5}|(?:UTC|GMT)?[+-]\d{1,2}:?(?:\d{2})?)$")
_FALLS = 3
"""So often times without a day fall where messages stand newest first: at noon and midnight they do in good order."""

Keys = list[Any]
"""When the messages of a conversation were said, as what can be compared; None where that cannot be told."""


def in_time(chats: Iterable[Sequence[str]], name: str, where: str) -> list[list[int]]:
    """The places of the messages of each conversation, in order of time as far as that can be told.

    Args:
        chats: what says when, message by message, of every conversation of a file.
        name: what the columns are called, for messages.
        where: the place of the first message.

    Raises:
        ColumnError: the messages do not stand in order, and what order it is cannot be told.
    """
    times = _in_one_zone([[_simple(time) for time in chat] for chat in chats])
    as_they_stand = [list(range(len(chat))) for chat in times]
    readings = _readings(times)
    if not readings:
        rises, falls = _steps([list(map(_numbers, chat)) for chat in times])
        if falls >= _FALLS and falls > rises:
            raise _disorder(name, where)
        return as_they_stand
    orders = list(map(_sorted, readings))
    if any(order != orders[0] for order in orders):
        steps = list(map(_steps, readings))
        if any(not falls for _, falls in steps) and all(rises for rises, _ in steps):
            return as_they_stand
        problem = f"what is day and what is month in {name} cannot be told, and so neither which message came first"
        raise ColumnError(problem, "Write dates as 2026-01-31 9:58", where=where)
    rises, falls = _steps(readings[0])
    unsorted = [keys for keys in readings[0] if None in keys and len(keys) > 1]
    if unsorted and (falls > rises or _steps(unsorted)[1]):
        raise _disorder(name, where)
    return orders[0]


def _disorder(name: str, where: str) -> ColumnError:
    """The error of messages that do not stand in order, and cannot be put into it."""
    problem = f"by {name} the messages seem to stand newest first, or in no order, and not all can be sorted by it"
    remedy = "Sort the rows, oldest first, or write each time as 2026-01-31 9:58; else give such columns another name"
    return ColumnError(problem, remedy, where=where)


def _sorted(reading: Sequence[Keys]) -> list[list[int]]:
    """The places of each conversation in order; those of one with a time that cannot be read as they stand.

    Where a file stands newest first, so do its messages of one minute; but not those of one numbered turn.
    """
    rises, falls = _steps(reading)
    dated = any(isinstance(key, datetime) for keys in reading for key in keys)
    step = -1 if dated and falls > rises else 1
    return [
        list(range(len(keys))) if None in keys else sorted(range(len(keys))[::step], key=keys.__getitem__)
        for keys in reading
    ]


def _steps(reading: Iterable[Keys]) -> tuple[int, int]:
    """How often times rise from message to message, and how often they fall."""
    rises = falls = 0
    for keys in reading:
        for one, other in pairwise([key for key in keys if key is not None]):
            rises, falls = rises + (one < other), falls + (one > other)
    return rises, falls


def _readings(times: Sequence[Sequence[str]]) -> list[list[Keys]]:
    """The times in the way, or the ways, in which most can be read; none where that is not the half of them."""
    number = sum(map(len, times))
    sure: list[Callable[[str], Any]] = [_number, partial(_iso, zoned=False), partial(_iso, zoned=True)]
    in_doubt: list[Callable[[str], Any]] = [partial(_date, order=order) for order in ("ymd", "dmy", "mdy")]
    read: list[tuple[int, list[Keys]]] = []
    for way in sure + in_doubt:
        keys = [[way(time) for time in chat] for chat in times]
        read.append((sum(key is not None for chat in keys for key in chat), keys))
        if way in sure and read[-1][0] == number:
            return [keys]
    least = max(*(known for known, _ in read), sum(map(bool, chain.from_iterable(times))) // 2 + 1)
    found = [keys for known, keys in read if known >= least]
    years = list(map(_years, found))
    return [keys for keys, own in zip(found, years, strict=True) if own == min(years)]


def _years(reading: Iterable[Keys]) -> int:
    """Of how many years the messages are, where they have dates."""
    return len({key.year for key in chain.from_iterable(reading) if isinstance(key, datetime)})


def _simple(time: str) -> str:
    """A time in capitals, without a weekday and what stands between its parts; a month by name as ISO 8601 has it."""
    text = " ".join(time.strip("[]()").replace(", ", " ").upper().split())
    text = _WEEKDAY.sub("", text, count=1)
    for form in (_DAY_MONTH, _MONTH_DAY):
        text = form.sub(lambda found: f"{found['y']}-{_MONTHS.index(found['m']) + 1:02}-{int(found['d']):02}", text, 1)
    return text


def _in_one_zone(times: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
    """The times without the zone behind them (`14:05 CET`) where all of them have the same."""
    zones = {found[0] if (found := _ZONE.search(time)) else "" for chat in times for time in chat if time}
    zone = zones.pop() if len(zones) == 1 else ""
    return [[time.removesuffix(zone) for time in chat] for chat in times]


def _number(time: str) -> float | None:
    """A number that counts seconds or turns."""
    try:
        number = float(time)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _iso(time: str, *, zoned: bool) -> datetime | None:
    """A date as ISO 8601 writes it, with a zone or without: the two cannot be compared."""
    try:
        found = datetime.fromisoformat(_HOUR.sub(r"0\1:", time))
    except ValueError:
        return None
    return found if (found.tzinfo is not None) == zoned else None


def _date(time: str, *, order: str) -> datetime | None:
    """A date with its parts in an order, such as `dmy`; at midnight where no hour stands behind it."""
    found = _DATE.fullmatch(time)
    clock = _CLOCK.fullmatch(found[5]) if found and found[5] else None
    if found is None or (found[5] and clock is None):
        return None
    part = dict(zip(order, (found[1], found[3], found[4]), strict=True))
    if len(part["y"]) not in (2, 4) or max(len(part["m"]), len(part["d"])) > 2:
        return None
    century = 2000 if len(part["y"]) == 2 else 0
    try:
        return datetime(century + int(part["y"]), int(part["m"]), int(part["d"]), *(_of_day(clock) if clock else ()))
    except ValueError:
        return None


def _of_day(clock: re.Match[str]) -> tuple[int, int, int, int]:
    """Hour, minute, second and microsecond."""
    hour = int(clock[1])
    if clock[5] and hour <= 12:
        hour = hour % 12 + 12 * (clock[5] == "P")
    return hour, int(clock[2]), int(clock[3] or 0), int((clock[4] or "0")[:6].ljust(6, "0"))


def _numbers(time: str) -> tuple[int, ...] | None:
    """The numbers in what is no date, in their order, those of a clock as on one of 24 hours; None where none is."""
    clock = _CLOCK.search(time)
    before = time[: clock.start()] if clock else time
    return (*map(int, re.findall(r"\d+", before)), *(_of_day(clock) if clock else ())) or None
