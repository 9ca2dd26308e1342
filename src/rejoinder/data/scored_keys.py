"""Keys that scoring writes into a line, and the columns that hold them in a table."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any, TypeGuard

from rejoinder.data.chat import turns_in
from rejoinder.data.values import EMPTY, as_json, from_cell
from rejoinder.errors import DataError
from rejoinder.example import OVERALL

SCORED = ("scores", "unscored", "signatures")
WARNINGS, INTERVALS, EXPLAINED, WORST = "warnings", "intervals", "explained", "worst_turns"
NOTES = "notes"
"""The key of the warnings in lines that an earlier version wrote."""
_SCORE, _LOW, _HIGH, _MOVED, _BASE = "scores.", "low.", "high.", "explained.", "base"
_LISTS = ("context", "references", "sources")


def of_scoring(key: str, value: Any) -> bool:
    """Return whether a value under a common word, such as `warnings`, is what scoring writes there."""
    checks = {WARNINGS: _are_warnings, INTERVALS: are_intervals, EXPLAINED: are_explained, WORST: _are_worst}
    return key in checks and checks[key](value)


def are_earlier_notes(record: Mapping[str, Any]) -> bool:
    """Return whether the `notes` of a line are warnings of an earlier version: by scorers that signed the line."""
    notes, signatures = record.get(NOTES), record.get("signatures")
    return (
        isinstance(notes, Mapping)
        and isinstance(signatures, Mapping)
        and _are_warnings(notes)
        and not {*notes} - {*signatures}
    )


def are_intervals(value: Any) -> TypeGuard[Mapping[str, list[float]]]:
    """Return whether a value is the intervals of scores by scorer."""
    return _each(value, lambda ends: isinstance(ends, list) and len(ends) == 2 and _are_numbers(ends))


def are_explained(value: Any) -> TypeGuard[Mapping[str, Mapping[str, Any]]]:
    """Return whether a value is the explanations of scores by scorer."""

    def explains(part: Any) -> bool:
        is_part = isinstance(part, Mapping) and part.keys() == {_BASE, "moved"} and isinstance(part["moved"], Mapping)
        return is_part and _are_numbers([part[_BASE], *part["moved"].values()])

    return _each(value, explains)


def _are_warnings(value: Any) -> bool:
    return _each(value, lambda texts: isinstance(texts, list) and all(isinstance(text, str) for text in texts))


def _are_worst(value: Any) -> bool:
    keys = {"turn", "response", "score"}
    return _each(value, lambda turns: isinstance(turns, list) and all({*turn} == keys for turn in turns))


def _each(value: Any, check: Callable[[Any], bool]) -> bool:
    """Return whether a value is an object whose values all pass a check."""
    return isinstance(value, Mapping) and all(map(check, value.values()))


def _are_numbers(values: list[Any]) -> bool:
    return all(type(value) in (int, float) for value in values)


def to_cells(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the cells of a record: a column for each scorer, other lists and objects as JSON."""
    cells: dict[str, Any] = {}
    for field, value in record.items():
        if field == "scores" and _each(value, lambda score: score is None or _are_numbers([score])):
            cells |= {f"{_SCORE}{scorer}": score for scorer, score in value.items()}
        elif field == INTERVALS and are_intervals(value):
            for scorer, (low, high) in value.items():
                cells |= {f"{_LOW}{scorer}": low, f"{_HIGH}{scorer}": high}
        elif field == EXPLAINED and are_explained(value):
            for scorer, part in value.items():
                points = {_BASE: part[_BASE], **part["moved"]}
                cells |= {f"{_MOVED}{scorer}.{group}": number for group, number in points.items()}
        else:
            cells[field] = _cell(field, value, str(record.get("id") or ""))
    return cells


def _cell(field: str, value: Any, where: str) -> Any:
    """Return one cell; a single text or overall rating stands by itself if it reads back as such."""
    if field in _LISTS and isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        text = value[0]
        return text if text.strip() not in EMPTY and _is_plain(field, text) else as_json(value, where)
    if field in ("quality", "ratings") and isinstance(value, dict) and list(value) == [OVERALL]:
        value = value[OVERALL]
        if isinstance(value, list) and len(value) == 1:
            return value[0]
    return as_json(value, where) if isinstance(value, (list, dict, bool)) else value


def _is_plain(field: str, text: str) -> bool:
    try:
        return from_cell(text, "", field) == text and (field != "context" or turns_in(text) == [text])
    except DataError:
        return False


def is_number_column(column: str, columns: Container[str]) -> bool:
    """Return whether a column holds scores, ends of their intervals or parts of their explanations."""
    if column.startswith(_SCORE):
        return True
    for start, other in ((_LOW, _HIGH), (_HIGH, _LOW)):
        if scorer := column.removeprefix(start) if column.startswith(start) else "":
            return f"{other}{scorer}" in columns and f"{_SCORE}{scorer}" in columns
    scorer, _, group = column.removeprefix(_MOVED).rpartition(".")
    return column.startswith(_MOVED) and bool(group) and f"{_SCORE}{scorer}" in columns


def fold_columns(record: dict[str, Any], where: str) -> None:
    """Put the columns that scoring writes back into objects.

    Raises:
        DataError: a cell holds no score.
    """
    scored = {key.removeprefix(_SCORE): key for key in record if key.startswith(_SCORE)}
    if not scored or not isinstance(record.get("scores") or {}, Mapping):
        return

    def value(key: str) -> float | None:
        cell = record.pop(key, None)
        try:
            return None if cell in (None, "") else float(cell)
        except (TypeError, ValueError) as error:
            problem = f"{cell!r}, expected a score"
            raise DataError(problem, "Write a number or leave the cell empty", where=where, field=key) from error

    intervals: dict[str, list[float | None]] = {}
    for name in scored:
        ends = f"{_LOW}{name}", f"{_HIGH}{name}"
        if all(end in record for end in ends):
            intervals[name] = [value(end) for end in ends]
        groups = [key for key in record if key.startswith(f"{_MOVED}{name}.")]
        moved = {key.rpartition(".")[2]: value(key) for key in groups}
        if moved.get(_BASE) is not None:
            rest = {group: points for group, points in moved.items() if group != _BASE and points is not None}
            record.setdefault(EXPLAINED, {})[name] = {_BASE: moved[_BASE], "moved": rest}
    if known := {name: ends for name, ends in intervals.items() if None not in ends}:
        record[INTERVALS] = known
    record["scores"] = {**(record.get("scores") or {}), **{name: value(key) for name, key in scored.items()}}
