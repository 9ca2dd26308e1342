"""Rows of totals or averages at the foot of a table: they have no reply, but seem to be an empty one with a rating."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rejoinder.errors import DataError
from rejoinder.io.values import number_in, shortened

_THINGS = "ratings?|scores?|stars|points|rows|lines|values|replies|responses"
_OF_WHAT = rf"(?: (?:of )?(?:all |human |user )?(?:{_THINGS}))?"
_NUMBER = r"[+-]?\d+(?:[.,]\d+)*"
_SHARE = re.compile(rf"{_NUMBER}(?: ?%| ?(?:/|out of|of) ?{_NUMBER})", re.IGNORECASE)  # `60 %`, `3.4/5`
_VALUE = rf"(?:{_SHARE.pattern}|{_NUMBER})(?: ?(?:±|\+/?-) ?{_NUMBER})?(?: (?:{_THINGS}))?"
_LABEL = re.compile(
    r"(?:(?:grand |sub-?|overall |column )?(?:totals?|sums?|averages?|avg|mean|median|counts?)"
    rf"|stdev|std|sd|st\.? ?dev|standard deviation|variance|minimum|maximum|min|max){_OF_WHAT}"
    rf"(?: *\([^()]*\))?[\s.:=]*(?:n ?= ?)?(?:{_VALUE})?(?: *\(.*\))?"  # `Mean (SD)`, `Total (n=50): 4/5`
    r"|n ?= ?\d+",
    re.IGNORECASE,
)
_LONGEST = 200  # characters of a label; longer texts take the pattern long
_REMEDY = "Delete the row from the table, or leave it out with --on-error skip"


def refuse_totals(row: Mapping[str, Any], record: Mapping[str, Any], where: str) -> None:
    """Raise where a row of a table sums others up. An empty reply to something that was said is none.

    Args:
        row: its cells, by column.
        record: the same under our names.
        where: `file:line`.

    Raises:
        DataError: beside numbers there is nothing in it but a word such as "Average"; or nothing at all, in a table
            that has contexts. A row with an id of its own is a line like others, whatever its words.
    """
    if not _is_nothing(record.get("id")) and not is_label(record.get("id")):
        return
    reply, context = record.get("response"), record.get("context")
    blank = reply is None or (isinstance(reply, str) and not reply.strip())
    bare = "context" in record and context in (None, "", [])
    if not (blank or (bare and is_label(reply))):
        return
    texts = [cell for cell in row.values() if not _is_nothing(cell) and not _is_number(cell)]
    labels = [cell for cell in texts if is_label(cell)]
    if len(labels) < len(texts):
        return
    rated = any(map(_is_number, row.values()))
    if labels and (blank or rated):
        problem = f"the row of {shortened(labels[0].strip())!r} has no reply, so it seems to sum up others"
        raise DataError(problem, _REMEDY, where=where)
    if not labels and bare and rated:
        problem = "nothing but numbers, neither a reply nor what it replies to, so the row seems to sum up others"
        raise DataError(problem, f"{_REMEDY}; where it is an empty reply, give it an id", where=where)


def is_label(cell: Any) -> bool:
    """Whether a cell says that its row sums others up."""
    return isinstance(cell, str) and len(cell) <= _LONGEST and bool(_LABEL.fullmatch(cell.strip()))


def _is_number(cell: Any) -> bool:
    """Whether a cell holds a number, or a share of one."""
    return number_in(cell, thousands=False) is not None or (
        isinstance(cell, str) and len(cell) <= _LONGEST and bool(_SHARE.fullmatch(cell.strip()))
    )


def _is_nothing(cell: Any) -> bool:
    """Whether a cell is empty."""
    return cell is None or cell == [] or (isinstance(cell, str) and not cell.strip())
