"""Everything rejoinder raises on purpose.

    RejoinderError
      UsageError        the call itself is wrong: unknown scorer, bad option   (exit code 2)
      DataError         a line, file or set of examples cannot be used         (exit code 3)
        ColumnError     a column or format with more than one reading          (exit code 3)
      MissingAsset      a file that scoring needs is missing                   (exit code 4)
      UnusableModel     a model of another library cannot be used              (exit code 4)
      MissingExtra      an optional library is not installed                   (exit code 4)
      NothingScored     a scorer could not score a single line                 (exit code 5)
      WorkersLost       processes that score end again and again               (exit code 1)
      WriteError        an output cannot be written                            (exit code 7)

A message is one line, `WHERE: PROBLEM. REMEDY`. The command line prints it on stderr and exits with the `exit_code` of
the class; `--debug` shows the traceback. Exit code 6 is no error: a gate failed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

_LONGEST_SHOWN = 40  # characters


class RejoinderError(Exception):
    """Root of all errors that rejoinder raises on purpose."""

    exit_code: ClassVar[int] = 1

    def __reduce__(self) -> tuple[Any, ...]:
        """Support pickling between processes, for classes with arguments of their own too."""
        return _unpickled, (type(self), self.args), self.__dict__


def _unpickled(kind: type[RejoinderError], arguments: tuple[Any, ...]) -> RejoinderError:
    error = kind.__new__(kind)
    error.args = arguments
    return error


class UsageError(RejoinderError, ValueError):
    """The call is wrong: an unknown scorer, an option outside its range."""

    exit_code = 2


class DataError(RejoinderError, ValueError):
    """Input that cannot be used.

    Args:
        problem: the value and the expected one.
        remedy: an instruction to the user.
        where: `file:line`, or the file alone, or "" if neither is known.
        field: the key at fault, or "".
    """

    exit_code = 3

    def __init__(self, problem: str, remedy: str, *, where: str = "", field: str = "") -> None:
        # A key may be no text, or hold half a character, which cannot be printed.
        field = str(field or "").encode(errors="backslashreplace").decode()
        self.problem, self.remedy, self.where, self.field = problem, remedy, where, field
        place = ": ".join(part for part in (where, f'field "{field}"' if field else "") if part)
        super().__init__(f"{place}: {problem}. {remedy}" if place else f"{problem}. {remedy}")


class ColumnError(DataError):
    """A column, or the format of a file, that is unclear; skipping its line would misread the others."""


class MissingAsset(RejoinderError, FileNotFoundError):
    """A file that scoring needs is missing; the message has its place and how to get it."""

    exit_code = 4


class UnusableModel(RejoinderError, ValueError):
    """A model of another library that is refused, damaged or unknown."""

    exit_code = 4


class MissingExtra(RejoinderError, ImportError):
    """An optional library is not installed; the message has the install command.

    Args:
        library: its name.
        extra: the extra that installs it; "" for a library that is installed by its own name.
        purpose: the part of rejoinder that needs it.
    """

    exit_code = 4

    def __init__(self, library: str, extra: str, purpose: str) -> None:
        self.library, self.extra = library, extra
        wanted = f"'rejoinder[{extra}]'" if extra else library
        super().__init__(f"{purpose} needs {library}. Install it: pip install {wanted}")


class NothingScored(RejoinderError, RuntimeError):
    """A scorer could not score a single line; the message has the most frequent reason."""

    exit_code = 5


class WorkersLost(RejoinderError, RuntimeError):
    """Processes that score end again and again; the message has the line that they end at."""


class WriteError(RejoinderError, OSError):
    """An output cannot be written: no folder, no right, no space left."""

    exit_code = 7


def shown(value: object) -> str:
    """Return a value for a message: None, a number or a text, cut; of anything else the type."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value) if len(repr(value)) <= _LONGEST_SHOWN else f"{repr(value)[:_LONGEST_SHOWN]}..."
    return f"a {type(value).__name__}"


def require_one_of(name: str, value: object, words: Iterable[str]) -> None:
    """Raise `UsageError` if a choice is none of the words for it."""
    words = list(words)
    if value not in words:
        raise UsageError(f"{name} is {shown(value)}, expected one of {', '.join(words)}")
