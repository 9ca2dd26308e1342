"""What raters said as rows, one for each rater and reply: out of a study as a file, and from a file into a study.

The rows are input of all that reads replies (`docs/formats.md`, a row for each rater). They also hold what only a study
knows: seconds, when, comments, and how many checks of attention the rater has passed and failed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rejoinder.annotation import database as db
from rejoinder.annotation.answers import LONGEST_COMMENT, Answer, Values, all_answers, all_raters, stored
from rejoinder.annotation.collected import rater_records
from rejoinder.annotation.items import Item, texts_digest
from rejoinder.annotation.study import Study
from rejoinder.data.files import Row, rows
from rejoinder.data.read import raise_error
from rejoinder.data.values import from_cell
from rejoinder.data.write import open_writer
from rejoinder.errors import DataError, UsageError
from rejoinder.example import OVERALL

Record = Mapping[str, Any]
_WINNER = {0: "a", 1: "b", None: "tie"}
_REMEDY = "Give rows that a study has exported"


def export_rows(study: Study, path: str | Path) -> int:
    """Write one row for each answer, and return how many; checks of attention are counts in them, no rows.

    Args:
        study: whose answers.
        path: where to; the suffix says in which format, `-` is standard output.

    Raises:
        UsageError: the suffix is of no known format.
        WriteError: it cannot be written.
    """
    count = 0
    with open_writer(path) as put:
        for row in rows_of(study):
            put(row)
            count += 1
    return count


def rows_of(study: Study) -> Iterator[dict[str, Any]]:
    """One row for each answer to each line, by rater, in the order in which they were given."""
    facts = {row.number: record for row, record in zip(all_raters(study), rater_records(study), strict=True)}
    for answer in all_answers(study):
        item = study.plan.item(answer.item)
        for line in item.lines:
            yield {
                **_line(study, item, line),
                **_said(study, answer.values),
                "rater": facts[answer.rater].name,
                "seconds": answer.seconds,
                "when": datetime.fromtimestamp(answer.at, UTC).isoformat(timespec="milliseconds"),
                "comment": answer.comment,
                "checks_passed": facts[answer.rater].passed,
                "checks_failed": facts[answer.rater].failed,
                "digest": item.digest,
            }


def _line(study: Study, item: Item, line: Any) -> dict[str, Any]:
    """The texts of an input line, and what it is called."""
    if not study.design.pairwise:
        return dict(line)
    first, second = line
    return {
        "id": first.get("id", ""),
        "context": list(item.context),
        "response_a": first["response"],
        "response_b": second["response"],
        **(
            {"system_a": first["system"], "system_b": second["system"]}
            if "system" in first and "system" in second
            else {}
        ),
    }


def _said(study: Study, values: Values) -> dict[str, Any]:
    """The answers, under the names that readers know."""
    if study.design.pairwise:
        (value,) = values.values()
        return {"winner": _WINNER[value]}
    scales = {question.name: list(question.bounds) for question in study.design.questions}
    named = {_column(name): value for name, value in values.items()}
    others = {name: scale for name, scale in scales.items() if name != OVERALL}
    return {
        **named,
        **({"scale": scales[OVERALL]} if OVERALL in scales else {}),
        **({"scales": others} if others else {}),
    }


def _column(question: str) -> str:
    """What the answers to a question stand under."""
    return "rating" if question == OVERALL else f"rating.{question}"


@dataclass(frozen=True, slots=True)
class _Read:
    """A row that was read: who, what, and how many checks that rater has passed and failed."""

    rater: str
    answer: Answer
    checks: tuple[int, int]
    where: str


def import_rows(study: Study, path: str | Path) -> int:
    """Add the answers of other raters to a study, all or none, and return how many were new.

    Args:
        study: what they go into; rows are about its texts, by digest.
        path: rows as `export_rows` writes them.

    Raises:
        DataError: a row is of other texts, or holds no answer to the study's questions.
        UsageError: a rater of that name is in the study and has said something else.
    """
    numbers = {item.digest: item for item in study.plan.rated}
    by_rater: dict[str, dict[int, _Read]] = {}
    for row in rows(str(path), raise_error):
        read = _read(study, row, numbers)
        by_rater.setdefault(read.rater, {})[read.answer.item] = read
    known = _known(study)
    new = {name: found for name, found in by_rater.items() if not _is_there(name, found, known)}
    with study.engine.begin() as connection:
        last = connection.execute(db.sql.select(db.sql.func.max(db.raters.c.number))).scalar() or 0
        for number, (name, found) in enumerate(new.items(), start=last + 1):
            checks = json.dumps(next(iter(found.values())).checks)
            connection.execute(db.raters.insert(), {"number": number, "name": name, "token": None, "checks": checks})
            kept = [{"rater": number, "item": item, **stored(read.answer)} for item, read in found.items()]
            connection.execute(db.answers.insert(), kept)
    return sum(map(len, new.values()))


def _known(study: Study) -> dict[str, dict[int, Values]]:
    """What each rater in a study has said, by item."""
    names = {row.number: str(row.name) for row in all_raters(study)}
    found: dict[str, dict[int, Values]] = {name: {} for name in names.values()}
    for answer in all_answers(study):
        found[names[answer.rater]][answer.item] = answer.values
    return found


def _is_there(name: str, read: Mapping[int, _Read], known: Mapping[str, Mapping[int, Values]]) -> bool:
    """Whether all of a rater's rows are in the study.

    Raises:
        UsageError: a rater of that name has said something else.
    """
    if name not in known:
        return False
    for item, row in read.items():
        if known[name].get(item) != row.answer.values:
            raise UsageError(
                f"{row.where}: a rater {name!r} is in the study and has not said that. Rename one of the two"
            )
    return True


def _read(study: Study, row: Row, items: Mapping[str, Item]) -> _Read:
    """One row of a file.

    Raises:
        DataError: see `import_rows`.
    """
    if not isinstance(row.data, Mapping):
        raise DataError("no object, expected a row", _REMEDY, where=row.where)
    record = row.data
    if row.flat:
        record = {**record, "context": from_cell(record.get("context"), row.where, "context")}
    item = items.get(_digest(study, record, row.where))
    if item is None:
        raise DataError("the texts are none of this study", _REMEDY, where=row.where, field="digest")
    rater = str(record.get("rater") or "").strip()
    if not rater or len(rater) > 100:
        raise DataError("no name of a rater", _REMEDY, where=row.where, field="rater")
    answer = Answer(
        0,
        item.number,
        _values(study, record, row.where),
        _amount(record, "seconds", row.where),
        _when(record, row.where),
        str(record.get("comment") or "")[:LONGEST_COMMENT],
    )
    checks = tuple(int(_amount(record, name, row.where) or 0) for name in ("checks_passed", "checks_failed"))
    return _Read(rater, answer, (checks[0], checks[1]), row.where)


def _digest(study: Study, record: Record, where: str) -> str:
    """The digest of a row's texts.

    Raises:
        DataError: it is another one than the row says.
    """
    names = ("response_a", "response_b") if study.design.pairwise else ("response",)
    said = str(record.get("digest") or "")
    context, replies = record.get("context") or [], [record.get(name) for name in names]
    if not isinstance(context, list) or not all(isinstance(text, str) for text in (*context, *replies)):
        raise DataError("no texts", _REMEDY, where=where, field="response")
    found = texts_digest(context, [str(reply) for reply in replies])
    if said and said != found:
        raise DataError(
            "the texts are not those that were rated", "Leave them as they were", where=where, field="digest"
        )
    return found


def _values(study: Study, record: Record, where: str) -> Values:
    """The answers in a row.

    Raises:
        DataError: one lacks or is none.
    """
    if study.design.pairwise:
        winners = {word: value for value, word in _WINNER.items()}
        if record.get("winner") not in winners:
            raise DataError("expected a, b or tie", _REMEDY, where=where, field="winner")
        return {study.design.questions[0].name: winners[record["winner"]]}
    values = {}
    for question in study.design.questions:
        column = _column(question.name)
        number = _number(record, column, where)
        option = None if number is None else question.option(f"{number:g}")
        if option is None:
            expected = (
                f"is {record.get(column)!r}, expected an answer from {question.bounds[0]} to {question.bounds[1]}"
            )
            raise DataError(expected, _REMEDY, where=where, field=column)
        values[question.name] = option.value
    return values


def _number(record: Record, name: str, where: str) -> float | None:
    """A number, or None where it is not there."""
    given = record.get(name)
    if given is None or given == "":
        return None
    try:
        return float(given)
    except (TypeError, ValueError) as error:
        raise DataError(f"is {given!r}, expected a number", _REMEDY, where=where, field=name) from error


def _amount(record: Record, name: str, where: str) -> float | None:
    """A number from 0 on, or None where it is not there."""
    found = _number(record, name, where)
    if found is not None and not 0 <= found < math.inf:
        raise DataError(f"is {record.get(name)!r}, expected 0 or more", _REMEDY, where=where, field=name)
    return found


def _when(record: Record, where: str) -> float:
    """A time, in seconds since 1970."""
    try:
        return datetime.fromisoformat(str(record.get("when"))).timestamp()
    except ValueError as error:
        said = f"is {record.get('when')!r}, expected a time such as 2026-11-22T13:00:00+00:00"
        raise DataError(said, _REMEDY, where=where, field="when") from error
