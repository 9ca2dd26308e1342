"""Records in tables: how a field of a JSON object becomes one cell of a CSV or Parquet file, and back.

Lists of texts and nested objects are JSON inside the cell. A `context` or `references` cell that holds no list of texts
is text itself (`[laughs] hi`), of a context one turn or several (see `said_in`). A `quality` or `ratings` cell without
dimensions (`3.5`, `[3, 4]`) is the overall one; `scores` are one column a scorer, `intervals` two, `explained` one for
each group (`explained.SCORER.GROUP`) and `base`. An empty cell is an absent field, but for an empty reply.
A cell of what was said that holds a chat message in JSON, messages, or what an interface gave back, is read as in JSON
lines.

Keys that rejoinder does not know are text in a table: a number, a list or an object among them comes back from it as
the text that stood in the cell (`7` as `"7"`). Only JSON lines keep their types.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Container, Mapping
from typing import Any

from rejoinder.errors import DataError
from rejoinder.example import FOLLOWED, OVERALL, UNANSWERED
from rejoinder.io.chat import SPEAKERS, are_said, as_context, is_conversation, messages_in, said_in
from rejoinder.io.logs import is_reply, reply_in
from rejoinder.io.parse import EXPLAINED, INTERVALS, NOTES, SCORED, WORST, are_explained, are_intervals, of_scoring
from rejoinder.io.rating_words import rating_in
from rejoinder.io.values import as_json, object_in, require_whole_characters, unanswered_of, yes_or_no

TEXTS = ("context", "references")
MESSAGES = "messages"
LISTS = (*TEXTS, MESSAGES)
OBJECTS = ("quality", "ratings", "raters", "scale", "scales", *SCORED)
_SUCH_AS = {
    "context": '["..."]',
    "references": '["..."]',
    "messages": '[{"role": "user", "content": "..."}]',
    "quality": "3.5",
    "ratings": "[3, 4]",
    "raters": '["ann", "bob"]',
    "scale": "[1, 5]",
    "scales": '{"overall": [1, 5]}',
    "scores": '{"length": 3}',
    "unscored": '{"bleu-2": "no reference"}',
    "signatures": '{"length": "..."}',
}
_SCORE = "scores."
_ENDS = ("low.", "high.")
_MOVED = "explained."
_BASE = "base"
_LONGEST_LITERAL = 1_000_000  # characters; Python takes seconds for more


def from_cells(cells: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The JSON object of a row: cell texts decoded, empty cells dropped (a `response` stays, empty or null).

    Raises:
        DataError: a cell that must hold JSON or a score does not.
    """
    record: dict[str, Any] = {}
    scores, ends = {}, dict[str, dict[str, float | None]]()
    moved = dict[str, dict[str, float | None]]()
    for field, cell in cells.items():
        if field == "response":
            record[field] = _reply(cell, where) if isinstance(cell, str) else cell
        elif field.startswith(_SCORE):
            scores[field.removeprefix(_SCORE)] = _score(field, cell, where)
        elif field.startswith(_ENDS) and is_end(field, cells):
            end, _, scorer = field.partition(".")
            ends.setdefault(scorer, {})[end] = _score(field, cell, where)
        elif field.startswith(_MOVED) and is_moved(field, cells):
            _, scorer, group = _moved(field)
            moved.setdefault(scorer, {})[group] = _score(field, cell, where)
        elif cell is not None and cell != "":
            record[field] = decoded(field, cell, where) if isinstance(cell, str) else _without_nulls(cell)
    if scores and isinstance(record.setdefault("scores", {}), dict):  # anything else is for the reader to refuse
        record["scores"].update(scores)
    if known := {name: [one["low"], one["high"]] for name, one in ends.items() if None not in one.values()}:
        record[INTERVALS] = known
    if explained := {name: one for name, one in moved.items() if one.get(_BASE) is not None}:
        record[EXPLAINED] = {name: _explanation(one) for name, one in explained.items()}
    return record


def is_end(column: str, columns: Container[str]) -> bool:
    """Whether a column of a table is an end of the intervals of a scorer whose scores stand there too."""
    end, _, scorer = column.partition(".")
    other = f"{'high' if end == 'low' else 'low'}.{scorer}"
    return column.startswith(_ENDS) and other in columns and f"{_SCORE}{scorer}" in columns


def is_moved(column: str, columns: Container[str]) -> bool:
    """Whether a column of a table says what moved the scores of a scorer whose scores stand there too."""
    start, scorer, group = _moved(column)
    return bool(start == _MOVED and group) and f"{_SCORE}{scorer}" in columns


def _moved(column: str) -> tuple[str, str, str]:
    """The parts of a column's name: `explained.`, the scorer, the group; a group has no dot in its name."""
    scorer, _, group = column.removeprefix(_MOVED).rpartition(".")
    return _MOVED if column.startswith(_MOVED) else "", scorer, group


def _explanation(cells: Mapping[str, float | None]) -> dict[str, Any]:
    """What moved a score, from cells by group; a group that is not there has none."""
    moved = {group: points for group, points in cells.items() if group != _BASE and points is not None}
    return {_BASE: cells[_BASE], "moved": moved}


def to_cells(record: Mapping[str, Any]) -> dict[str, Any]:
    """The row of a JSON object: texts and numbers as they are, a column for each scorer, else as `_cell`."""
    cells: dict[str, Any] = {}
    for field, value in record.items():
        if field == "scores" and _are_scores(value):
            cells.update({f"{_SCORE}{scorer}": score for scorer, score in value.items()})
        elif field == INTERVALS and are_intervals(value):
            for scorer, ends in value.items():
                cells.update({f"{end}{scorer}": number for end, number in zip(_ENDS, ends, strict=True)})
        elif field == EXPLAINED and are_explained(value):
            for scorer, one in value.items():
                points = {_BASE: one[_BASE], **one["moved"]}
                cells.update({f"{_MOVED}{scorer}.{group}": number for group, number in points.items()})
        else:
            cells[field] = _cell(field, value, str(record.get("id") or ""))
    return cells


def _cell(field: str, value: Any, where: str) -> Any:
    """One cell: a single text or overall rating by itself, where it reads back as such; lists and objects as JSON."""
    if field in TEXTS and isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        return value[0] if value[0] and decoded(field, value[0], "") == value else as_json(value, where)
    if field in ("quality", "ratings") and isinstance(value, dict) and list(value) == [OVERALL]:
        value = value[OVERALL]
        if isinstance(value, list) and len(value) == 1:
            return value[0]
    return as_json(value, where) if isinstance(value, (list, dict, bool)) else value


def decoded(field: str, cell: str, where: str) -> Any:
    """The value that the text of a cell stands for."""
    if field in TEXTS:
        return _texts(field, cell, where)
    if field in (NOTES, WORST):
        return _of_scoring(field, cell)
    if field in (SPEAKERS, FOLLOWED):  # of any other text `streams.dialogue` says that it names nobody
        return _listed(cell.strip()) or cell
    if field == UNANSWERED:  # a reason, or whether it is so
        return unanswered_of(cell)
    if field != MESSAGES and field not in OBJECTS:
        return cell
    if field in ("quality", "ratings") and (said := yes_or_no(cell)) is not None:
        return {OVERALL: said if field == "quality" else [said]}
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError) as error:
        if field in ("quality", "ratings") and rating_in(cell) is not None:  # what it says is told by its column
            return {OVERALL: cell if field == "quality" else [cell]}
        what = (
            f"{error.msg} at column {error.colno}"
            if isinstance(error, json.JSONDecodeError)
            else "too deep or too long"
        )
        raise DataError(
            f"not JSON ({what})",
            f"Write JSON in this cell, such as {_SUCH_AS[field]}",
            where=where,
            field=field,
        ) from error
    require_whole_characters(cell, {field: value}, where)
    if field in ("quality", "ratings") and not isinstance(value, dict):
        return {OVERALL: value if field == "quality" or isinstance(value, list) else [value]}
    return value


def _texts(field: str, cell: str, where: str) -> list[Any]:
    """The texts, or the chat messages, in a cell: those of a list, as JSON or Python writes it, or the cell itself."""
    text = cell.strip()
    value = _listed(text)
    if field == "context" and are_said(held := messages_in(object_in(text))):
        value = held
    if value and (all(isinstance(one, str) for one in value) or (field == "context" and is_conversation(value))):
        require_whole_characters(text, {field: value}, where)
        return value
    if value == []:
        return value
    return as_context(said_in(cell)) if field == "context" else [cell]


def _reply(cell: str, where: str) -> str:
    """The reply in a cell: that of chat messages or of a chat interface in JSON, else the cell itself.

    A bot may well answer in JSON of its own, which is its reply: so only what says that an assistant speaks is opened.
    """
    text = cell.strip()
    value = _listed(text) if text[:1] == "[" else object_in(text)
    if not is_reply(value):
        return cell
    require_whole_characters(text, {"response": value}, where)
    said = reply_in(value, where)
    return cell if said is None else said


def _listed(text: str) -> list[Any] | None:
    """The list that a text is; None where it is none, or only looks like one."""
    if text[:1] != "[" or text[-1:] != "]":
        return None
    try:
        return list(json.loads(text))
    except (ValueError, RecursionError):
        pass
    try:
        # Only what Python itself would write: it joins texts that no comma parts, as in numpy's way to write an array.
        value = ast.literal_eval(text) if len(text) <= _LONGEST_LITERAL else None
        return value if isinstance(value, list) and repr(value) == text else None
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _of_scoring(field: str, cell: str) -> Any:
    """What scoring wrote into a cell; any other text there is the user's own."""
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        return cell
    return value if of_scoring(field, value) else cell


def _score(field: str, cell: Any, where: str) -> float | None:
    """The score in a cell; None where it is empty."""
    try:
        return None if cell is None or cell == "" else float(cell)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{cell!r}, expected a score", "Write a number or leave the cell empty", where=where, field=field
        ) from error


def _are_scores(value: Any) -> bool:
    """Whether a `scores` field is what `score` writes; the key may also be the user's own."""
    return isinstance(value, dict) and all(
        score is None or (isinstance(score, (int, float)) and not isinstance(score, bool)) for score in value.values()
    )


def _without_nulls(value: Any) -> Any:
    """Nested values of a Parquet row; a struct has every field of its column, so the null ones are dropped."""
    if isinstance(value, dict):
        return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
    return value
