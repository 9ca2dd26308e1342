"""Rows of crowd workers that their requester rejected, or who gave the task back: their ratings count for nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from rejoinder.io.lines import Note, Row
from rejoinder.io.names import plain

_STATES = frozenset(("assignment_status", "submission_status", "assignment_state", "prolific_status", "worker_status"))
"""Columns that can be nothing but the state of an assignment."""
_PEOPLE = frozenset(
    ("participant_id", "prolific_pid", "prolific_id", "prolific_participant_id", "worker_id", "workerid", "hit_id")
)
"""Columns beside which `status` is the state of an assignment too."""
_GONE = frozenset(("rejected", "reject", "returned", "timed out", "timedout", "timeout", "screened out"))
_UNFINISHED = frozenset(("abandoned", "expired", "skipped", "cancelled", "canceled", "active", "reserved"))


def without_rejected(rows: Iterable[Row], note: Note, keep: Collection[str] = ()) -> Iterator[Row]:
    """Yield rows without those whose assignment was rejected, returned or never sent in; in the end, say how many.

    The states are those of Mechanical Turk, Prolific, Toloka and Appen. Everything else counts, what is not reviewed
    yet too.

    Args:
        rows: of one file or folder.
        note: is told how many rows are left out, of each state.
        keep: columns that the user says the meaning of.
    """
    gone: Counter[str] = Counter()
    file = ""
    for row in rows:
        file = file or row.where.rpartition(":")[0]
        state = _rejected(row.record, keep) if isinstance(row.record, Mapping) else ""
        if state:
            gone[state] += 1
        else:
            yield row
    if gone:
        states = ", ".join(f"{number:,} with {state}" for state, number in gone.most_common())
        number = gone.total()
        note(
            f"{file}: {number:,} row{'s are' if number > 1 else ' is'} left out whose work was not accepted ({states})"
        )


def _rejected(record: Mapping[str, Any], keep: Collection[str]) -> str:
    """What says that a row does not count, `AssignmentStatus Rejected`; "" where nothing does."""
    named = (name for name in record if name not in keep and not str(name).startswith(("Input.", "Answer.")))
    names = {plain(str(name)): name for name in named}
    crowd = not _PEOPLE.isdisjoint(names)
    for word in (*_STATES, *(["status"] if crowd else [])):
        said = _words(record[names[word]]) if word in names else ""
        if said in _GONE or (said in _UNFINISHED and word in _STATES):
            return f"{names[word]} {str(record[names[word]]).strip()}"
    if crowd and "tainted" in names and _words(record[names["tainted"]]) in ("true", "1", "yes"):
        return f"{names['tainted']} {record[names['tainted']]}"
    if crowd and {"approve", "reject"} <= names.keys():
        approved, refused = (_words(record[names[name]]) for name in ("approve", "reject"))
        if refused and not approved:
            return f"{names['reject']} filled in"
    return ""


def _words(value: Any) -> str:
    """A cell in one form: `TIMED-OUT` and `Timed_out` are `timed out`."""
    text = "" if value is None or value != value else str(value)
    return " ".join(text.casefold().replace("-", " ").replace("_", " ").split())
