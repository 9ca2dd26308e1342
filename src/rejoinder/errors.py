"""Everything rejoinder raises on purpose.

    RejoinderError
      UsageError        the call itself is wrong: unknown scorer, bad option   (exit code 2)
      DataError         a line, file or set of examples cannot be used         (exit code 3)
        ColumnError   a value that makes its column doubtful                 (exit code 3)
      MissingAsset      a file that scoring needs is not there                 (exit code 4)
      UnusableModel     a model of another library cannot be used              (exit code 4)
      MissingExtra      an optional library is not installed                   (exit code 4)
      NothingScored   a scorer could not score a single line                 (exit code 5)
      WorkersLost       processes that score elsewhere end again and again     (exit code 1)
      WriteError        an output cannot be written                            (exit code 7)

Every message says where, what was found, what was expected and what to do, in one line. The command line prints that
line on stderr and exits with the class's `exit_code`; `--debug` shows the traceback. Exit code 6 is no error: a gate
was not passed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

_LONGEST_SHOWN = 40  # characters


class RejoinderError(Exception):
    """Root of all errors that rejoinder raises on purpose."""

    exit_code: ClassVar[int] = 1

    def __reduce__(self) -> tuple[Any, ...]:
        """How it goes from one process to another; its class may be made of other things than the message."""
        return _again, (type(self), self.args), self.__dict__


def _again(kind: type[RejoinderError], arguments: tuple[Any, ...]) -> RejoinderError:
    """An error as it was in another process."""
    error = kind.__new__(kind)
    error.args = arguments
    return error


class UsageError(RejoinderError, ValueError):
    """The call is wrong: an unknown scorer, an option outside its range."""

    exit_code = 2


class DataError(RejoinderError, ValueError):
    """Input that cannot be used, with the place it stands at.

    Args:
        problem: what was found and what was expected.
        remedy: what the user can do about it.
        where: `file:line`, or the file alone, or "" where neither is known.
        field: the key at fault, or "".
    """

    exit_code = 3

    def __init__(self, problem: str, remedy: str, *, where: str = "", field: str = "") -> None:
        # A key may be no text, or hold half a character, which nothing can write.
        field = str(field or "").encode(errors="backslashreplace").decode()
        self.problem, self.remedy, self.where, self.field = problem, remedy, where, field
        place = ": ".join(part for part in (where, f'field "{field}"' if field else "") if part)
        super().__init__(f"{place}: {problem}. {remedy}" if place else f"{problem}. {remedy}")


class ColumnError(DataError):
    """A value after which a whole column is not understood: passing over its line would misread the others."""


class MissingAsset(RejoinderError, FileNotFoundError):
    """A file that scoring needs is not there; the message says where it was looked for and how to get it."""

    exit_code = 4


class UnusableModel(RejoinderError, ValueError):
    """A model of another library that is refused, damaged or unknown; the message says why and what to do."""

    exit_code = 4


class MissingExtra(RejoinderError, ImportError):
    """An optional library is not installed; the message holds the exact install command.

    Args:
        library: its name.
        extra: the extra that brings it; "" where it is installed beside rejoinder, by its own name.
        purpose: what it is needed for.
    """

    exit_code = 4

    def __init__(self, library: str, extra: str, purpose: str) -> None:
        self.library, self.extra = library, extra
        wanted = f"'rejoinder[{extra}]'" if extra else library
        super().__init__(f"{purpose} needs {library}. Install it: pip install {wanted}")


_MISSED = {
    "no context": "what was said before (--map context=NAME)",
    "no reference": "a good reply (--map references=NAME)",
}


class NothingScored(RejoinderError, RuntimeError):
    """A scorer could not score a single line.

    Args:
        problem: what was found, with the most frequent reason. What to do is added where lines lack something.
        columns: the columns or keys of text that were not read.
    """

    exit_code = 5

    def __init__(self, problem: str, columns: Sequence[str] = ()) -> None:
        told = [remedy for missed, remedy in _MISSED.items() if missed in problem]
        found = " or ".join(told) + ", or choose what needs none (rejoinder list)" * (len(told) == 1)
        which = f"of {', '.join(columns[:5])}{', ...' * (len(columns) > 5)}" if columns else "column"
        super().__init__(f"{problem}. Say which {which} holds {found}" if told else problem)


class WorkersLost(RejoinderError, RuntimeError):
    """Processes that score elsewhere end again and again; the message says at what."""


class WriteError(RejoinderError, OSError):
    """An output cannot be written: no folder, no right, no space left."""

    exit_code = 7


def shown(given: object) -> str:
    """A value for a message: None, a number or a text as it is, cut; of anything else its type."""
    if given is None or isinstance(given, (bool, int, float, str)):
        return repr(given) if len(repr(given)) <= _LONGEST_SHOWN else f"{repr(given)[:_LONGEST_SHOWN]}..."
    return f"a {type(given).__name__}"


def require_one_of(name: str, given: object, words: Iterable[str]) -> None:
    """Raise `UsageError` where a choice is none of the words that there are for it."""
    words = list(words)
    if given not in words:
        raise UsageError(f"{name} is {shown(given)}, expected one of {', '.join(words)}")
