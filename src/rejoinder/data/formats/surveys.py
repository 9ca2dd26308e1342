"""Surveys and crowd work: second header rows of Qualtrics and SurveyMonkey; work that a requester did not accept.

The states are those of Mechanical Turk, Prolific, Toloka and Appen. A row that waits for a review counts. This is a
stage for rows of every format, since a pair can be rated on Mechanical Turk too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain, islice
from typing import Any

from rejoinder.data.columns import plain, words
from rejoinder.data.files import Row

_STATES = frozenset(words("assignment_status submission_status assignment_state prolific_status worker_status"))
_PEOPLE = frozenset(words("participant_id prolific_pid prolific_id prolific_participant_id worker_id workerid hitid"))
_GONE = frozenset(("rejected", "reject", "returned", "timed out", "timedout", "timeout", "screened out"))
_UNFINISHED = frozenset(words("abandoned expired skipped cancelled canceled active reserved"))
_SECOND_HEADERS = frozenset(("Response", "Open-Ended Response"))  # SurveyMonkey
_QUESTION_ROWS = {"ResponseId": "Response ID", "StartDate": "Start Date", "RecordedDate": "Recorded Date"}  # Qualtrics
_CHOICE = re.compile(r"(Answer\.[\w. ]*?\w)\.(\d{1,2})")


def accepted(rows: Iterable[Row], note: Callable[[str], None], mapped: Collection[str] = ()) -> Iterator[Row]:
    """Yield the rows that count, and report how many do not.

    Args:
        rows: the rows of one file.
        note: receives the number of rows left out, by state.
        mapped: the columns that the user maps; their values decide nothing here.
    """
    left_out: Counter[str] = Counter()
    file = ""
    for row in _without_headers(rows):
        file = file or row.where.rpartition(":")[0]
        if not isinstance(row.data, Mapping):
            yield row
            continue
        states, choices = _columns(tuple(row.data))
        if reason := _rejected(row.data, {name: key for name, key in states.items() if key not in mapped}):
            left_out[reason] += 1
        else:
            yield row._replace(data=_joined(row.data, choices)) if choices else row
    if left_out:
        listed = ", ".join(f"{count:,} with {reason}" for reason, count in left_out.most_common())
        note(f"{file}: left out rows whose work was not accepted: {left_out.total():,} ({listed})")


def _without_headers(rows: Iterable[Row]) -> Iterator[Row]:
    """Return the rows of a table below the rows of questions that survey tools write under the header."""
    rows = iter(rows)
    first = list(islice(rows, 2))
    for place, row in enumerate(first):
        cells = row.data if row.flat and isinstance(row.data, Mapping) else {}
        texts = [str(cell) for cell in cells.values() if cell]
        import_ids = all(text.startswith('{"ImportId"') for text in texts)
        questions = any(cells.get(name) == text for name, text in _QUESTION_ROWS.items())
        if texts and (import_ids or (place == 0 and (questions or _SECOND_HEADERS.issuperset(texts)))):
            rest = chain(first[place + 1 :], rows)
            return rest if import_ids or not questions else _without_headers(rest)
    return chain(first, rows)


@lru_cache(maxsize=4096)
def _columns(keys: tuple[Any, ...]) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Return the columns with a state of the work, by plain name, and the columns of each choice."""
    own = {plain(name): name for name in map(str, keys) if not name.startswith(("Input.", "Answer."))}
    wanted = {*_STATES, *(() if _PEOPLE.isdisjoint(own) else ("status", "tainted", "approve", "reject"))}
    choices: dict[str, list[str]] = {}
    for match in filter(None, map(_CHOICE.fullmatch, map(str, keys))):
        choices.setdefault(match[1], []).append(match[0])
    choices = {name: held for name, held in choices.items() if len(held) > 1 and name not in keys}
    return {name: key for name, key in own.items() if name in wanted}, choices


def _rejected(row: Mapping[str, Any], states: Mapping[str, str]) -> str:
    """Return the state that tells that a row does not count; "" where it counts."""
    cells = {name: _state(row[key]) for name, key in states.items()}
    for name, state in cells.items():
        gone = _GONE if name == "status" else _GONE | _UNFINISHED if name in _STATES else ()
        if state in gone or (name == "tainted" and state in ("true", "1", "yes")):
            return f"{states[name]} {str(row[states[name]]).strip()}"
    return f"{states['reject']} filled in" if cells.get("reject") and cells.get("approve") == "" else ""


def _state(value: Any) -> str:
    text = "" if value is None or value != value else str(value)
    return " ".join(text.casefold().replace("-", " ").replace("_", " ").split())


def _joined(row: Mapping[str, Any], choices: Mapping[str, list[str]]) -> dict[str, Any]:
    """Return a row with one column for each question that Mechanical Turk writes as a column for each choice."""
    joined = dict(row)
    for name, columns in choices.items():
        states = [_state(joined[column]) for column in columns]
        if {*states} <= {"true", "false", ""}:
            chosen = [
                column.rpartition(".")[2] for column, state in zip(columns, states, strict=True) if state == "true"
            ]
            joined = {key: value for key, value in joined.items() if key not in columns}
            joined[name] = chosen[0] if len(chosen) == 1 else ""
    return joined
