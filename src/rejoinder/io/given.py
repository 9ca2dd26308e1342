"""Examples from what Python programs hold: records, chat messages, data frames, the name of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, Unpack, cast

from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example, Given, Pair, ReplySet
from rejoinder.io.chat import is_conversation
from rejoinder.io.lines import Row, raise_bad
from rejoinder.io.pairs import parse_either, parse_only_pair, parse_single
from rejoinder.io.parse import to_record
from rejoinder.io.read import How, names_of, of_values, parsed_rows, read, read_audited, read_either, read_pairs
from rejoinder.io.reply_sets import parse_reply_set
from rejoinder.scorer import Scores

_FRAMES = ("pandas", "polars")
_FORMS = "a list of Example or of dicts, a data frame, chat messages, or the name of a file"


def examples_of(given: Given, *, name: str = "examples", **how: Unpack[How]) -> list[Example]:
    """The examples that `given` holds, in their order, by the rules that files are read by.

    Args:
        given: examples; dicts with the keys of an input line, or with common names in their place; conversations in
            chat messages, one alone too; a data frame of pandas or polars with such columns; or the name of a file.
        name: what it is called in messages, and in the ids of records that have none.
        how: see `How`.

    Raises:
        DataError: a record cannot be used.
        UsageError: something else was given; see also `read`.
    """
    if isinstance(given, (str, Path)):
        return list(read(given, **how))
    return _made(given, name, Example, parse_single, how)


def pairs_of(given: Given, *, name: str = "pairs", **how: Unpack[How]) -> list[Pair]:
    """The pairs of replies that `given` holds, in their order; as `examples_of`, by the forms of `io.pairs`.

    Args:
        given: pairs, dicts, a data frame or the name of a file.
        name: what it is called in messages, and in the ids of records that have none.
        how: see `How`.

    Raises:
        DataError: a record cannot be used.
        UsageError: something else was given; see also `read_pairs`.
    """
    if isinstance(given, (str, Path)):
        return list(read_pairs(given, **how))
    return _made(given, name, Pair, parse_only_pair, how)


def either_of(given: Given, *, name: str = "lines", **how: Unpack[How]) -> list[Example | Pair]:
    """The single replies and the pairs of replies that `given` holds, in their order; as `examples_of`, `pairs_of`."""
    if isinstance(given, (str, Path)):
        return list(read_either(given, **how))
    found: list[Example | Pair] = _made(given, name, cast(Any, Example | Pair), parse_either, how)
    return found


def reply_sets_of(given: Given, *, name: str = "reply sets", **how: Unpack[How]) -> list[ReplySet]:
    """The contexts with replies that fit and replies that do not in `given`; as `examples_of`, by `io.reply_sets`.

    Args:
        given: reply sets, dicts, a data frame or the name of a file.
        name: what it is called in messages, and in the ids of records that have none.
        how: see `How`.

    Raises:
        DataError: a record cannot be used, or is none.
        UsageError: something else was given; see also `read`.
    """
    if not isinstance(given, (str, Path)):
        return _made(given, name, ReplySet, parse_reply_set, how)
    found = list(read_audited(given, **how))
    if single := next((one for one in found if isinstance(one, Example)), None):
        problem = "a single reply, expected replies that fit and replies that do not"
        raise DataError(problem, "Single replies go into rejoinder.audit", where=single.where)
    return [one for one in found if isinstance(one, ReplySet)]


_Kind = TypeVar("_Kind", Example, Pair, ReplySet)


def _made(given: Given, name: str, kind: type[_Kind], parse: Callable[[Any, str], _Kind], how: How) -> list[_Kind]:
    """What `parse` makes of everything in `given` that is not of its `kind` already."""
    flat = _library(given) in _FRAMES
    found = list(_cells(given, name) if flat else _records(given, name))
    names = names_of(how)
    if how.get("map") is None and all(isinstance(one, kind) for one in found):
        return found
    place = f"{name}:row" if flat else f"{name}:item"
    placed = [(f"{place} {number}", _record(one, f"{place} {number}")) for number, one in enumerate(found, start=1)]
    rows = (Row(where, one, flat) for where, one in placed) if flat else of_values(placed, raise_bad)
    made = list(parsed_rows(rows, parse, names, raise_bad, how.get("turns", "last")))
    names.require_met()
    return made


def labelled(scores: Scores, given: Any, found: Sequence[Example]) -> Scores:
    """Scores of what was `found` in a frame of pandas, with the index of its rows; any others as they are.

    Beside anything else they would stand at the wrong replies, once the rows were sorted or chosen. Where a row is not
    one example (raters were joined, messages became a chat), the ids of the examples are the index.
    """
    if _library(given) != "pandas" or not hasattr(given, "index"):
        return scores
    rows = [one.where.rpartition(" ")[2] for one in found]
    whole = rows == [str(number + 1) for number in range(len(given))]
    return replace(scores, index=given.index if whole else [one.id for one in found])


def _record(record: Any, where: str) -> Any:
    """One record, as a JSON value.

    Raises:
        UsageError: it is none.
    """
    if isinstance(record, Example):
        record = to_record(record)
    if not isinstance(record, (Mapping, list)):
        raise UsageError(f"{where}: {type(record).__name__}, expected {_FORMS}")
    return record


def _records(given: Any, name: str) -> Iterable[Any]:
    """The records in anything but a frame."""
    if isinstance(given, (Example, Pair, ReplySet, Mapping)) or is_conversation(given):
        return [given]
    if not isinstance(given, Iterable):
        raise UsageError(f"{name} are given as {type(given).__name__}, expected {_FORMS}")
    return given


def _cells(frame: Any, name: str) -> Iterable[Mapping[str, Any]]:
    """The rows of a data frame, cells by column; what is missing is None."""
    if hasattr(frame, "collect"):
        frame = frame.collect()
    if not hasattr(frame, "columns"):
        raise UsageError(f"{name} are given as {type(frame).__name__}, expected {_FORMS}")
    if len(set(frame.columns)) < len(frame.columns):
        raise DataError("two columns have one name", "Rename one", where=name)
    if _library(frame) == "polars":
        rows: Iterable[Mapping[str, Any]] = frame.iter_rows(named=True)
    else:
        rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return ({str(column): _native(cell) for column, cell in row.items()} for row in rows)


def _library(value: Any) -> str:
    """The package that a value's class is of."""
    return type(value).__module__.partition(".")[0]


def _native(cell: Any) -> Any:
    """A cell as Python's own value: numpy's numbers and arrays are none."""
    return cell.tolist() if hasattr(cell, "tolist") else cell
