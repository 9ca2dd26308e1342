"""Formats of other programs: the interface of an adapter, and detection by keys."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from typing import Any, TypeVar

from rejoinder.data.columns import plain
from rejoinder.data.files import OnError, Row
from rejoinder.errors import ColumnError, DataError

Records = Callable[[Iterable[Row], OnError], Iterator[Row]]
_T = TypeVar("_T")
_Make = Callable[[Mapping[str, Any], str], Iterable[Mapping[str, Any] | None]]


@dataclass(frozen=True)
class Format:
    """A format that another program writes."""

    name: str  # in messages, and for `--input-format`
    about: str  # one line for docs/formats.md and `rejoinder list formats`
    keys: tuple[frozenset[str], ...]  # a row with all keys of one set is of this format; `.x` is any key that ends so
    records: Records  # turns rows into rows in our own form, and calls that hold no reply into rows of None
    confirm: Callable[[Mapping[str, Any]], Any] = len  # looks at values where the keys are common words
    whole: bool = False  # whether `records` holds the whole file in memory
    columns: bool = False  # whether the keys are columns of a table; a row where the user maps one of them is plain


def keys(*sets: str) -> tuple[frozenset[str], ...]:
    """Return sets of keys, each written as one text."""
    return tuple(frozenset(names.split()) for names in sets)


def items(row: Row) -> list[Row]:
    """Return the rows on a page of an interface (`data` with `object`, `meta` or `next_cursor`), else the row."""
    page = row.data if isinstance(row.data, Mapping) else {}
    held = page.get("data")
    marked = page.get("object") == "list" or isinstance(page.get("meta"), Mapping) or "next_cursor" in page
    if not (marked and isinstance(held, list) and held and all(isinstance(item, Mapping) for item in held)):
        return [row]
    return numbered(row, held)


def attempt(make: Callable[[Mapping[str, Any], str], Iterable[_T]], row: Row, on_error: OnError) -> list[_T]:
    """Return what an adapter makes of a row; nothing, with an error for `on_error`, of a row that it cannot read."""
    try:
        return list(make(row.data, row.where))
    except ColumnError:
        raise
    except DataError as error:
        on_error(error)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        problem = f"not in the form that its program writes ({type(error).__name__}: {error})"
        on_error(DataError(problem[:300], "Write it as JSON lines with context and response", where=row.where))
    return []


def each(record: _Make, parts: _Make | None = None) -> Records:
    """Return `records` of a format whose rows are independent.

    Args:
        record: turns a row into any number of records; None is a call of a model that holds no reply.
        parts: takes a document apart, into rows for `record`.
    """

    def records(rows: Iterable[Row], on_error: OnError) -> Iterator[Row]:
        for row in chain.from_iterable(map(items, rows)):
            opened = [row] if parts is None else numbered(row, attempt(parts, row, on_error))
            for part in opened:
                yield from numbered(part, attempt(record, part, on_error))

    return records


def numbered(row: Row, held: Sequence[Any]) -> list[Row]:
    """Return what a row holds as rows; of several each has its number in its place."""
    return [
        Row(row.where if len(held) == 1 else f"{row.where}#{number}", data, row.flat)
        for number, data in enumerate(held, start=1)
    ]


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
    data = items(row)[0].data
    if not isinstance(data, Mapping) or not (possible := candidates(tuple(data))):
        return None
    taken = set(map(plain, mapped))
    found = [
        (kind, wanted)
        for kind, wanted in possible
        if kind.confirm(data) and not (kind.columns and taken & set(map(plain, wanted)))
    ]
    best = [kind for kind, wanted in found if not any(wanted < other for _, other in found)]
    if len(best) > 1:
        listed = " and like ".join(kind.name for kind in best)
        raise ColumnError(f"looks like {listed}", f"Say which: --input-format {best[0].name}", where=row.where)
    return best[0] if best else None


def without_nothing(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record without keys that hold nothing."""
    return {key: value for key, value in record.items() if value not in (None, {}, [])}
