"""What every call is checked for before its command runs: what it reads, what it writes, and its numbers.

A parameter that names a file or folder carries `Reads` or `Writes` in its annotation, and nothing else has to be done:
`guard` is called before each command.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_type_hints

from rejoinder.data.outputs import require_apart
from rejoinder.errors import UsageError

Given = Mapping[str, Any]
STDOUT = "-"


def _itself(text: str) -> list[str]:
    """The places that a text names, where it is nothing but a place."""
    return [text]


def _one(given: Path, _others: Given) -> list[Path]:
    """What is written where a parameter names just that."""
    return [given]


@dataclass(frozen=True)
class Reads:
    """The parameter names something that is read.

    Attributes:
        places: from one text as it was given to the files and folders in it.
    """

    places: Callable[[str], list[str]] = _itself


@dataclass(frozen=True)
class Writes:
    """The parameter names something that is written.

    Attributes:
        places: from what was given, and all arguments of the call, to the files and folders that will be written.
    """

    places: Callable[[Path, Given], list[Path]] = _one


def guard(command: Callable[..., None], given: Given) -> None:
    """Raise `UsageError` where an output of the call is, holds or lies in an input of it, or two outputs are one.

    Args:
        command: a subcommand with marked parameters.
        given: its arguments by name.
    """
    outputs: list[Path] = []
    inputs: list[str] = []
    for name, mark in marks(command).items():
        for value in _several(given.get(name)):
            if isinstance(mark, Writes):
                outputs += mark.places(Path(value), given)
            else:
                inputs += mark.places(str(value))
    require_apart(outputs, inputs)


def writes_elsewhere(command: Callable[..., None], given: Given) -> bool:
    """Whether a call names outputs, none of which is standard output: that then takes only messages."""
    named = [
        str(value)
        for name, mark in marks(command).items()
        if isinstance(mark, Writes)
        for value in _several(given.get(name))
    ]
    return bool(named) and STDOUT not in named


def require_finite(command: Callable[..., None], given: Given) -> None:
    """Raise `UsageError` where a number of the call is none: NaN passes every check of a range, infinity many."""
    for name, value in given.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise UsageError(f"{_flag(command, name)} is {value}, expected a finite number")


def marks(command: Callable[..., None]) -> dict[str, Reads | Writes]:
    """The marked parameters of a command."""
    return {
        name: mark
        for name, hint in get_type_hints(command, include_extras=True).items()
        for mark in getattr(hint, "__metadata__", ())
        if isinstance(mark, (Reads, Writes))
    }


def in_scorer(name: str) -> list[str]:
    """The folder of a judge, or the files that `command:` and `openai:` name.

    A name that the catalogue knows is no folder, even where one is called so.
    """
    from rejoinder.scoring.catalog import PLUS, SCORERS

    if name.startswith("command:"):
        return in_responder(name)
    if name.startswith("openai:"):
        from rejoinder.llm.chat import files_in

        return files_in(name)
    if name.startswith(f"{PLUS}:"):
        return in_language_model(name.partition(":")[2])
    return [] if name.partition("/")[0] in SCORERS else [name]


def in_language_model(name: str) -> list[str]:
    """A folder or file; the model that a package carries is none."""
    from rejoinder.llm.causal import PACKAGED

    return [] if name in ("", PACKAGED) else [name]


def in_view(name: str) -> list[str]:
    """What `sentence:` or `lm:` names, or the folder of an encoder; a metric or a column is none."""
    before, _, rest = name.partition(":")
    return (
        in_language_model(rest)
        if before == "lm"
        else []
        if before == "column" or not in_scorer(name)
        else in_encoder(name)
    )


def in_encoder(name: str) -> list[str]:
    """The folder of a model, or what `sentence:` names; a name that the catalogue knows is no folder."""
    from rejoinder.models import ENCODERS

    before, colon, rest = name.partition(":")
    return [] if name in ENCODERS else [name, *([rest] if colon and before in ENCODERS else [])]


def in_responder(name: str) -> list[str]:
    """The folder of a model, the file after `human:`, or the files that a `command:` names."""
    if name.startswith("command:"):
        return [word for word in _words(name.removeprefix("command:")) if Path(word).is_file()]
    return [name, name.removeprefix("human:")]


def in_named(text: str) -> list[str]:
    """The places in NAME=PLACE, or in NAME=FOLDER:STATE."""
    place = text.partition("=")[2]
    return [text, *in_responder(place), place.rpartition(":")[0] or place] if place else [text]


def _flag(command: Callable[..., None], name: str) -> str:
    """What a user calls a parameter."""
    hint = get_type_hints(command, include_extras=True)[name]
    flags = [
        flag
        for mark in getattr(hint, "__metadata__", ())
        for flag in (getattr(mark, "default", None), *(getattr(mark, "param_decls", None) or ()))
        if str(flag).startswith("--")
    ]
    return flags[-1] if flags else f"--{name.replace('_', '-')}"


def _words(program: str) -> list[str]:
    """The words of a command line; quotes that do not close are an error of the command that runs it, not of this."""
    try:
        return shlex.split(program)
    except ValueError:
        return program.split()


def _several(value: Any) -> Iterable[Any]:
    """The values of a parameter, which takes none, one or many."""
    return value if isinstance(value, (list, tuple)) else () if value is None else (value,)
