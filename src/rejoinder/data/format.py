"""Formats of other programs: each one file with an unmistakable signature, and no order among them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from rejoinder.data.columns import plain
from rejoinder.data.files import OnError, Row
from rejoinder.errors import ColumnError, DataError

Records = Callable[[Iterable[Row], OnError], Iterator[Row]]


@dataclass(frozen=True)
class Format:
    """How one program writes conversations down.

    Attributes:
        name: what `--format` and messages call it.
        about: one line, for docs/formats.md and `rejoinder list formats`.
        keys: sets of keys; a row that has all keys of one of them is of this format. No other format has them.
        records: its rows to rows in our own form (docs/formats.md, "Our own line"), one at a time, or all at once.
        confirm: looks at a row that has the keys, where these are common words (`request`, `response`).
        whole: whether `records` holds the whole file in memory, because its rows belong together.
    """

    name: str
    about: str
    keys: tuple[frozenset[str], ...]
    records: Records
    confirm: Callable[[Mapping[str, Any]], bool] = lambda row: True
    whole: bool = False


def keys(*sets: str) -> tuple[frozenset[str], ...]:
    """Sets of keys, each written as one text."""
    return tuple(frozenset(one.split()) for one in sets)


def each(record: Callable[[Mapping[str, Any], str], Iterable[Mapping[str, Any]]]) -> Records:
    """`records` for a format whose rows stand by themselves: `record` makes any number of records of one."""

    def records(rows: Iterable[Row], on_error: OnError) -> Iterator[Row]:
        for row in rows:
            try:
                found = list(record(row.data, row.where))
            except ColumnError:
                raise
            except DataError as error:
                on_error(error)
                continue
            for number, one in enumerate(found, start=1):
                yield Row(row.where if len(found) == 1 else f"{row.where}:{number}", one, row.flat)

    return records


@cache
def formats() -> tuple[Format, ...]:
    """All formats; their order means nothing (a test shuffles them over every fixture)."""
    from rejoinder.data.formats import FORMATS

    return FORMATS


def with_endings(names: tuple[str, ...]) -> set[str]:
    """The names, plain too, and their endings: of `rating.responses.users` also `.responses.users` and `.users`."""
    endings = {
        "." + ".".join(parts[n:])
        for parts in (name.split(".") for name in names if "." in name)
        for n in range(1, len(parts))
    }
    return {*names, *map(plain, names), *endings}


@lru_cache(maxsize=4096)
def candidates(names: tuple[str, ...]) -> tuple[Format, ...]:
    """The formats whose keys stand among these; most rows are of none, and then nothing is looked at."""
    present = with_endings(names)
    return tuple(one for one in formats() if any(wanted <= present for wanted in one.keys))


def detect(row: Row) -> Format | None:
    """The one format that a row is of; None for a row of a plain file.

    Raises:
        ColumnError: it could be two, which is a fault of these adapters; `--format` decides meanwhile.
    """
    if not isinstance(row.data, Mapping):
        return None
    found = [one for one in candidates(tuple(row.data)) if one.confirm(row.data)]
    if len(found) > 1:  # MLflow's row has `request` and `response` too: the signature that holds the other is meant
        present = with_endings(tuple(row.data))
        widest = {one.name: max((wanted for wanted in one.keys if wanted <= present), key=len) for one in found}
        found = [one for one in found if not any(widest[one.name] < other for other in widest.values())]
    if len(found) > 1:
        raise ColumnError(
            f"looks like {' and like '.join(one.name for one in found)}",
            f"Say which: --format {found[0].name}",
            where=row.where,
        )
    return found[0] if found else None


def without_nothing(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record without keys that say nothing."""
    return {key: value for key, value in record.items() if value not in (None, {}, [])}
