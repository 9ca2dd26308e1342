"""Readers: every file format to `Example`s, one at a time, so that a file larger than memory passes through."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from types import NoneType
from typing import Any, Literal, TypedDict, TypeVar, Unpack, get_args

from rejoinder.errors import ColumnError, DataError, UsageError, require_one_of
from rejoinder.example import ROW, UNANSWERED, Example, Pair, ReplySet
from rejoinder.io.blanks import refuse_errors
from rejoinder.io.chat import is_conversation, messages_in
from rejoinder.io.columns import Columns, Names
from rejoinder.io.evaluations.inspect_log import log_samples
from rejoinder.io.evaluations.unfolding import unfolded
from rejoinder.io.file_formats import Format, format_of
from rejoinder.io.flat import from_cells
from rejoinder.io.json_rows import json_array, json_lines
from rejoinder.io.limits import require_few_columns
from rejoinder.io.lines import Note, OnBad, Row, name_of, raise_bad, silent
from rejoinder.io.logs import as_conversation
from rejoinder.io.message_rows import conversations
from rejoinder.io.names import MESSAGES, SAID, plain
from rejoinder.io.pairs import form_of, is_said, parse_audited, parse_either, parse_only_pair, parse_single, singly
from rejoinder.io.parse import every_turn
from rejoinder.io.parts import is_folder, parts_of
from rejoinder.io.planner import file_of, listed
from rejoinder.io.raters import Parsed, joined
from rejoinder.io.rating_words import numbered
from rejoinder.io.rejected import without_rejected
from rejoinder.io.sheets import sheet_rows
from rejoinder.io.side_by_side import apart, of_part
from rejoinder.io.single_messages import Halves
from rejoinder.io.tables import csv_rows, parquet_rows
from rejoinder.io.totals import refuse_totals
from rejoinder.io.values import object_in, unanswered_of
from rejoinder.io.verdicts import empty_verdicts

Turns = Literal["last", "all"]
Item = TypeVar("Item")


class How(TypedDict, total=False):
    """How files are to be read, beyond what they say themselves.

    Keys:
        map: what columns and keys are, ours first: `{"context": "prompt", "rating": ["ann", "bob"]}`. An empty text
            says that nothing in the file is that.
        input_format: the format of all files, whatever their suffix.
        turns: which turns of the assistant in a conversation become examples, the `last` unless told otherwise. Of
            `all`, ids end in `#1`, `#2` ..., and ratings and references are those of the last.
        note: is told what names were understood as, once for each.
        keep: names of columns and keys that stay what they are.
        without: names of the parts of a folder that are passed over.
        rows: whether an example keeps its row of a table (`records.ROW`), for an output that gives the row back.
    """

    map: Columns
    input_format: Format
    turns: Turns
    note: Note
    keep: Collection[str]
    without: Collection[str]
    rows: bool


def names_of(how: How) -> Names:
    """What understands the names of files that are read so.

    Raises:
        UsageError: `how` says something that is not asked, or a word that is none.
    """
    if unknown := how.keys() - How.__annotations__.keys():
        known = ", ".join(How.__annotations__)
        raise UsageError(f"reading takes no {', '.join(sorted(unknown))}. What it takes: {known}")
    require_one_of("turns", how.get("turns", "last"), get_args(Turns))
    if (kind := how.get("input_format")) is not None:
        require_one_of("input_format", kind, get_args(Format))
    return Names(how.get("map"), how.get("note", silent), how.get("keep", ()), rows=how.get("rows", False))


def read(*paths: str | Path, on_bad: OnBad = raise_bad, **how: Unpack[How]) -> Iterator[Example]:
    """Yield the examples of one or more files, in their order.

    Formats, by suffix: `.jsonl` (also `.ndjson` and standard input, `-`), `.json` (an array; read whole), `.csv`,
    `.tsv`, `.xlsx` (read whole), `.parquet`, `.eval`. Text formats may be gzip, whatever their
    name. `@NAME` is a file in the box. Common names of columns and keys are understood; so are the logs of the usual
    chat interfaces. In a table with one row a rater, rows of one id are joined (the file is then held in memory).

    Args:
        paths: files.
        on_bad: what to do with the error of a line that cannot be used; raises it unless told otherwise. With
            `on_bad=skipped.append` reading goes on and `skipped` tells what was left out.
        how: see `How`.

    Raises:
        DataError: a bad line, unless `on_bad` keeps it. One that concerns a whole file ends that file. An
            `ColumnError`, which makes the other lines doubtful, is always raised.
        MissingAsset: a file is not there.
        MissingExtra: the library that reads the format is not installed.
        UsageError: the suffix is of no known format; two columns could be the same thing; what `map` names is not
            there.
    """
    return _parsed(paths, parse_single, on_bad, how)


def read_either(*paths: str | Path, on_bad: OnBad = raise_bad, **how: Unpack[How]) -> Iterator[Example | Pair]:
    """As `read`, but lines with two replies and which of them people prefer come too, as `Pair`s (`io.pairs`)."""
    return _parsed(paths, parse_either, on_bad, how)


def read_audited(*paths: str | Path, on_bad: OnBad = raise_bad, **how: Unpack[How]) -> Iterator[Example | ReplySet]:
    """As `read`, but lines with replies that fit and replies that do not come too, as `ReplySet`s (`io.reply_sets`)."""
    return _parsed(paths, parse_audited, on_bad, how)


def read_pairs(*paths: str | Path, on_bad: OnBad = raise_bad, **how: Unpack[How]) -> Iterator[Pair]:
    """Yield the pairs of one or more files, in their order; as `read`, for files whose every line is a pair of replies.

    Args:
        paths: files.
        on_bad: what to do with the error of a line that cannot be used; raises it unless told otherwise.
        how: see `How`.

    Raises:
        DataError, MissingAsset, MissingExtra, UsageError: see `read`.
    """
    return _parsed(paths, parse_only_pair, on_bad, how)


def read_replies(*paths: str | Path, on_bad: OnBad = raise_bad, **how: Unpack[How]) -> Iterator[Example]:
    """As `read`, with the two replies of a pair as two examples (see `io.pairs.singly`)."""
    for found in read_either(*paths, on_bad=on_bad, **how):
        yield from singly(found) if isinstance(found, Pair) else (found,)


def _parsed(
    paths: Sequence[str | Path], parse: Callable[[Any, str], Parsed], on_bad: OnBad, how: How
) -> Iterator[Parsed]:
    """What `parse` makes of every row of the files, in their order; how to read them is checked at once."""
    return _parsed_by(names_of(how), paths, parse, on_bad, how)


def _parsed_by(
    names: Names, paths: Sequence[str | Path], parse: Callable[[Any, str], Parsed], on_bad: OnBad, how: How
) -> Iterator[Parsed]:
    """What `parse` makes of every row of the files, by these names."""
    for path in paths:
        found = rows(path, on_bad, how.get("input_format"), names.note, how.get("without", ()))
        yield from within_memory(parsed_rows(found, parse, names, on_bad, how.get("turns", "last")), path, on_bad)
    names.require_met()


def within_memory(parsed: Iterator[Item], path: str | Path, on_bad: OnBad) -> Iterator[Item]:
    """What is read of one file; where memory or the depth of calls does not suffice, the error goes to `on_bad`."""
    try:
        yield from parsed
    except MemoryError:
        on_bad(DataError("does not fit into memory", "Split it, or write JSON lines (.jsonl)", where=name_of(path)))
    except RecursionError:
        on_bad(too_deep(name_of(path)))


def too_deep(where: str) -> DataError:
    """The refusal of a value whose lists and objects are nested too deep for a rule of ours."""
    return DataError("nested too deep", "Flatten it", where=where)


def parsed_rows(
    found: Iterable[Row], parse: Callable[[Any, str], Parsed], names: Names, on_bad: OnBad, turns: Turns = "last"
) -> Iterator[Parsed]:
    """What `parse` makes of every row of one file, joined where it has a row a rater (see `joined`)."""
    names.begin()
    single = each_row(found, parse, names, on_bad, turns)
    first = next(single, None)
    if first is None:
        return
    stream = chain([first], single)
    yield from joined(stream, on_bad, names.note) if names.one_rating_a_line else stream


def each_row(
    found: Iterable[Row], parse: Callable[[Any, str], Parsed], names: Names, on_bad: OnBad, turns: Turns = "last"
) -> Iterator[Parsed]:
    """What `parse` makes of every row, or of every turn of the assistant in it; rows of several raters stay apart."""
    halves = Halves()
    for where, record in records_of(found, names, on_bad):
        try:
            halves.meet(record, where)
            records = every_turn(record, where) if turns == "all" and form_of(record) is None else [record]
            if len(records) > 1:  # a row of several replies is the row of none
                records = [{key: value for key, value in record.items() if key != ROW} for record in records]
            made = [parse(one, where) for one in records]
        except ColumnError:
            raise
        except DataError as error:
            on_bad(error)
        except RecursionError:
            on_bad(too_deep(where))
        else:
            yield from made


def records_of(found: Iterable[Row], names: Names, on_bad: OnBad) -> Iterator[tuple[str, Any]]:
    """The place and the record of every row of one file, under our names, its ratings as numbers."""
    return numbered(_understood(found, names, on_bad), names.said_once)


def _understood(found: Iterable[Row], names: Names, on_bad: OnBad) -> Iterator[tuple[str, Any]]:
    """The place and the record of every row, under our names."""
    file = ""
    for row in conversations(without_rejected(found, names.note, names.mapped), names):
        if row.flat and file_of(row.where) != file:  # the next part of a folder, which is of tables
            names.blanks.tell(file, names.note)
        file = file_of(row.where)
        try:
            records = _records_in(row, names)
        except ColumnError:
            raise
        except DataError as error:
            on_bad(error)
        except RecursionError:
            on_bad(too_deep(row.where))
        else:
            for record in records:
                if isinstance(record, Mapping):
                    names.blanks.meet(record.get("response"), flat=row.flat)
                    if names.rows and row.flat and len(records) == 1 and _is_row(row.record, record):
                        record = {**record, ROW: row.record}
                yield row.where, record
    names.blanks.tell(file, names.note)


def _is_row(row: Any, record: Mapping[str, Any]) -> bool:
    """Return whether a row of a table is the whole of one reply: no pair, and no conversation of several rows."""
    return (
        isinstance(row, Mapping) and form_of(record) is None and all(isinstance(cell, _CELLS) for cell in row.values())
    )


def _records_in(row: Row, names: Names) -> list[Any]:
    """The record of a row under our names, or those of its replies where it has a rating of each."""
    if isinstance(row.record, Mapping):
        require_few_columns(len(row.record), row.where)
    parts, told = apart(row.record, names.mapped)
    if told:
        names.said_once(f"{file_of(row.where)}: read {listed(told)} as {len(parts)} rated lines of one context")
    found = [(mark, understood(row._replace(record=record), names)) for mark, record in parts]
    return [of_part(record, mark, row.where) if mark else record for mark, record in found]


def understood(row: Row, names: Names) -> Any:
    """The record of a row under our names, its cells decoded; what is no record is left to the parser."""
    record = row.record
    if isinstance(record, list):
        _require_no_records(record, row.where)
        record = {MESSAGES: record}
    if not isinstance(record, Mapping):
        return record
    # A pair of replies has names of its own; of those that the user gave one may make it a single reply.
    form = form_of(record)
    guess = "response" in names.columns or form is None
    if form and row.flat:
        record = names.blanks.without(record, [name for name in record if is_said(name, form)])
    if guess:
        record = as_conversation(record, row.where)
    record = names.understood(record, row.where, flat=row.flat, guess=guess)
    if not row.flat:
        if isinstance(said := messages_in(record.get("context")), list):
            record = {**record, "context": said}
        if UNANSWERED in record:
            record = {**record, UNANSWERED: unanswered_of(record[UNANSWERED])}
        return record
    if guess:
        refuse_totals(row.record, record, row.where)
        for field in SAID:
            refuse_errors(record.get(field), row.where, field)
    cells = from_cells(record, row.where)
    if guess or form is None:
        _tell_json(cells.get("response"), row, names)
        return cells
    for name in record:
        if is_said(name, form):
            refuse_errors(record[name], row.where, name)
    return (
        empty_verdicts(record) | {key: value for key, value in record.items() if plain(str(key)) in form.keys} | cells
    )


def _tell_json(reply: Any, row: Row, names: Names) -> None:
    """Say that a reply is an object in JSON, of which a part may be what was said."""
    if isinstance(reply, str) and object_in(reply):
        source = next((name for name, cell in row.record.items() if cell == reply), "response")
        remedy = f"If the reply is one text in it, say which: --map response={source}.KEY"
        names.said_once(f"{file_of(row.where)}: {source} holds JSON, which is judged as it stands. {remedy}")


def _require_no_records(record: list[Any], where: str) -> None:
    """Raise where a list holds records instead of the messages of one conversation."""
    if record and not is_conversation(record) and all(isinstance(one, Mapping) for one in record):
        problem = f"a list of {len(record)} objects without a role, expected one record or its messages"
        raise DataError(problem, "Write one JSON object a line; of a JSON array say --input-format json", where=where)


def with_file(examples: Iterable[Example]) -> Iterator[Example]:
    """Yield examples with the file that each was read from under `file`, unless its line has such a key already."""
    for example in examples:
        yield replace(example, extra={"file": example.where.rpartition(":")[0], **example.extra})


def rows(
    path: str | Path,
    on_bad: OnBad,
    input_format: Format | None = None,
    note: Note = silent,
    without: Collection[str] = (),
) -> Iterator[Row]:
    """Yield each row of a file, or of a folder of parts; one that has none, good or bad, is an error."""
    met = bool(without)  # what is passed over was read before

    def bad(error: DataError) -> None:
        nonlocal met
        met = True
        on_bad(error)

    for file in [one for one in parts_of(path) if one.name not in without] if is_folder(path) else [path]:
        for row in _reader(input_format or format_of(file), note)(file, bad):
            met = True
            yield row
    if not met:
        bad(DataError("holds no record", "Give a file with at least one", where=name_of(path)))


def _reader(kind: Format, note: Note) -> Callable[[str | Path, OnBad], Iterator[Row]]:
    """The reader of a format."""
    if kind in _VALUES:
        values = _VALUES[kind]
        return lambda path, on_bad: of_values(values(path, on_bad), on_bad)
    table = partial(sheet_rows, note=note) if kind == "xlsx" else _TABLES[kind]
    return lambda path, on_bad: (Row(where, cells, flat=True) for where, cells in table(path, on_bad))


def of_values(found: Iterable[tuple[str, Any]], on_bad: OnBad) -> Iterator[Row]:
    """Rows of (`file:place`, decoded value)."""
    return (Row(where, record, flat=False) for where, record in unfolded(found, on_bad))


_CELLS = (str, int, float, NoneType)
_VALUES: dict[str, Callable[[str | Path, OnBad], Iterator[tuple[str, Any]]]] = {
    "jsonl": json_lines,
    "json": json_array,
    "eval": log_samples,
}
_TABLES: dict[str, Callable[[str | Path, OnBad], Iterator[tuple[str, dict[str, Any]]]]] = {
    "csv": csv_rows,
    "tsv": partial(csv_rows, usual="\t"),
    "parquet": parquet_rows,
}
