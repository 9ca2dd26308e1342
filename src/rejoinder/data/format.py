"""Formats of other programs: the interface of an adapter, and detection by keys."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from rejoinder.data.columns import plain
from rejoinder.data.files import OnError, Row
from rejoinder.errors import ColumnError, DataError

Records = Callable[[Iterable[Row], OnError], Iterator[Row]]


@dataclass(frozen=True)
class Format:
    """A format that another program writes."""

    name: str  # in messages, and for `--input-format`
    about: str  # one line for docs/formats.md and `rejoinder list formats`
    keys: tuple[frozenset[str], ...]  # a row with all keys of one set is of this format; `.x` is any key that ends so
    records: Records  # turns rows into rows in our own form; it streams, or collects where rows belong together
    confirm: Callable[[Mapping[str, Any]], Any] = len  # looks at values where the keys are common words
    whole: bool = False  # whether `records` holds the whole file in memory
    columns: bool = False  # whether the keys are columns of a table; a row where the user maps one of them is plain


def keys(*sets: str) -> tuple[frozenset[str], ...]:
    """Return sets of keys, each written as one text."""
    return tuple(frozenset(names.split()) for names in sets)


def each(record: Callable[[Mapping[str, Any], str], Iterable[Mapping[str, Any]]]) -> Records:
    """Return `records` of a format whose rows are independent; `record` turns a row into any number of records."""

    def records(rows: Iterable[Row], on_error: OnError) -> Iterator[Row]:
        for row in rows:
            try:
                made = list(record(row.data, row.where))
            except ColumnError:
                raise
            except DataError as error:
                on_error(error)
                continue
            for number, data in enumerate(made, start=1):
                yield Row(row.where if len(made) == 1 else f"{row.where}#{number}", data, row.flat)

    return records


@cache
def formats() -> tuple[Format, ...]:
    """Return all formats; their order has no meaning."""
    from rejoinder.data.formats import FORMATS

    return FORMATS


def bare(name: str) -> str:
    """Return the plain form of a name, without a scale in brackets at its end."""
    return plain(name.partition("(")[0].partition("[")[0]) or plain(name)


def with_endings(names: tuple[str, ...]) -> set[str]:
    """Return the names, plain and without a scale (`Rating A (1-5)`), and endings: `.a.b` and `.b` of `x.a.b`."""
    parts = [name.split(".") for name in names if "." in name]
    return {*names, *map(bare, names), *("." + ".".join(part[n:]) for part in parts for n in range(1, len(part)))}


@lru_cache(maxsize=4096)
def candidates(names: tuple[Any, ...]) -> tuple[tuple[Format, frozenset[str]], ...]:
    """Return the formats whose keys are among these names, each with its largest set of keys."""
    present = with_endings(tuple(map(str, names)))
    sets = [(kind, [wanted for wanted in kind.keys if wanted <= present]) for kind in formats()]
    return tuple((kind, max(wanted, key=len)) for kind, wanted in sets if wanted)


def detect(row: Row, mapped: Collection[str] = ()) -> Format | None:
    """Return the format of a row; None for a row of a plain file. `mapped` are the columns that the user maps.

    Raises:
        ColumnError: the row could be of two formats, and neither set of keys contains the other.
    """
    if not isinstance(row.data, Mapping) or not (possible := candidates(tuple(row.data))):
        return None
    taken = set(map(plain, mapped))
    found = [
        (kind, wanted)
        for kind, wanted in possible
        if kind.confirm(row.data) and not (kind.columns and taken & set(map(plain, wanted)))
    ]
    best = [kind for kind, wanted in found if not any(wanted < other for _, other in found)]
    if len(best) > 1:
        listed = " and like ".join(kind.name for kind in best)
        raise ColumnError(f"looks like {listed}", f"Say which: --input-format {best[0].name}", where=row.where)
    return best[0] if best else None


def without_nothing(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record without keys that hold nothing."""
    return {key: value for key, value in record.items() if value not in (None, {}, [])}
