"""Cells that say that they are empty: `NaN`, `NULL`, `#N/A`, as pandas, SQL and spreadsheets write nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from typing import Any

from rejoinder.errors import DataError
from rejoinder.io.lines import Note

_SIGNS = frozenset(
    (
        *("nan", "NaN", "NAN", "-nan", "-NaN", "null", "Null", "NULL", "(null)", "(NULL)", "[NULL]", "<null>"),
        *("<NA>", "#N/A", "#NA", r"\N"),
    )
)
_WORDS = frozenset(("None", "NA", "N/A", "n/a"))
"""What an empty cell may be written as too, but a bot may well say: "How many are left?" "None"."""

NEVER_WORKED_OUT = "#formula without a value"
"""What we write for a formula whose value the file does not hold: a program wrote it, and no spreadsheet saved it."""
ERRORS = frozenset((NEVER_WORKED_OUT, "#NAME?", "#VALUE!", "#REF!", "#DIV/0!", "#NUM!", "#NULL!"))
"""What a spreadsheet shows for a formula that it cannot work out."""
FILLED_DOWN = frozenset((NEVER_WORKED_OUT, "#DIV/0!", "#N/A", "#VALUE!", "#REF!"))
"""What it shows for formulas below a table, where there is nothing to work them out from."""


class Blanks:
    """Empties such cells, and counts them file by file, to say it once."""

    def __init__(self) -> None:
        self.emptied: Counter[str] = Counter()
        self.kept: Counter[str] = Counter()
        self.signs: dict[str, None] = {}

    def without(
        self, cells: Mapping[str, Any], columns: Iterable[str], names: Container[str] = ()
    ) -> Mapping[str, Any]:
        """The cells of a row of a table, with empty texts for signs in some of its columns.

        In those of `names` also for errors of formulas: what they stand for is unknown, and not the same on all lines.
        """
        found = {
            name: cells[name].strip()
            for name in columns
            if is_sign(cells.get(name)) or (name in names and is_error(cells.get(name)))
        }
        self.emptied.update(found.keys())
        self.signs.update(dict.fromkeys(found.values()))
        return {**cells, **dict.fromkeys(found, "")} if found else cells

    def meet(self, reply: Any, *, flat: bool) -> None:
        """Count a reply that may stand for none, and is read as what was said; without a table a sign is such a one."""
        if isinstance(reply, str) and (reply.strip() in _WORDS or (not flat and is_sign(reply))):
            self.kept[reply.strip()] += 1

    def tell(self, file: str, note: Note) -> None:
        """Say what was counted in a file, and begin anew."""
        if self.emptied:
            columns = ", ".join(f"{count:,} under {name}" for name, count in self.emptied.items())
            note(f"{file}: cells with {_or(self.signs)} are read as empty: {columns}")
        if self.kept:
            number = self.kept.total()
            are = "reply is" if number == 1 else "replies are"
            remedy = "Where the bot said nothing, leave the text empty"
            note(f"{file}: {number:,} {are} the text {_or(self.kept)}, read as what the bot said. {remedy}")
        for counted in (self.emptied, self.kept, self.signs):
            counted.clear()


def refuse_errors(value: Any, where: str, field: str) -> None:
    """Raise where a spreadsheet took a text for a formula, as of one that begins with `=` or `-`, and lost it.

    Args:
        value: a text, or several: those of a list, or of chat messages.
        where: `file:line`.
        field: what it is.
    """
    for one in value if isinstance(value, list) else [value]:
        text = one.get("content") if isinstance(one, Mapping) else one
        if is_error(text):
            if str(text).strip() == NEVER_WORKED_OUT:
                remedy = "Open the file in a spreadsheet program and save it, which works formulas out"
                raise DataError("a formula without a value", remedy, where=where, field=field)
            remedy = "Enter it again in a column of the format Text, or leave the line out with --on-error skip"
            problem = f"{str(text).strip()!r}, which a spreadsheet writes for a formula: the text is lost"
            raise DataError(problem, remedy, where=where, field=field)


def is_sign(value: Any) -> bool:
    """Whether a cell says that it is empty."""
    return isinstance(value, str) and value.strip() in _SIGNS


def is_error(value: Any) -> bool:
    """Whether a cell is what a spreadsheet shows for a formula that it cannot work out."""
    return isinstance(value, str) and value.strip() in ERRORS


def _or(words: Iterable[str]) -> str:
    """Words in a sentence."""
    return " or ".join(map(repr, words))
