"""The error for lines that lack a column, with the call that reads it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from rejoinder.errors import NothingScored
from rejoinder.example import Example

_COLUMNS = {
    "no context": "what was said before (--map context=NAME)",
    "no reference": "a good reply (--map references=NAME)",
}


def unread(examples: Iterable[Example]) -> list[str]:
    """Return the keys of texts that the reader did not use, among the first examples."""
    rows = (example.extra for example in islice(examples, 100))
    return [*dict.fromkeys(key for row in rows for key, value in row.items() if isinstance(value, str))]


def nothing_scored(problem: str, columns: Sequence[str] = ()) -> NothingScored:
    """Return the error for a scorer that could not score a single line.

    Args:
        problem: the most frequent reason. If lines lack a column, the remedy is added.
        columns: the columns of text that were not read.
    """
    remedies = [remedy for reason, remedy in _COLUMNS.items() if reason in problem]
    needed = " or ".join(remedies) + ", or choose what needs none (rejoinder list)" * (len(remedies) == 1)
    which = f"of {', '.join(columns[:5])}{', ...' * (len(columns) > 5)}" if columns else "column"
    return NothingScored(f"{problem}. Say which {which} holds {needed}" if remedies else problem)
