"""How input files are to be read: the flags that say so, the same in every command that reads examples."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from rejoinder.cli.common import OnError, tell
from rejoinder.errors import UsageError
from rejoinder.example import OVERALL, Example, Pair
from rejoinder.io.lines import OnBad

if TYPE_CHECKING:
    from rejoinder.io.read import How

Line = TypeVar("Line", bound=Example | Pair)

# A comma ends a column's name only where another `ours=` follows it, because names hold commas too.
_NEXT = re.compile(r",(?=[\w.]+=)")


class FileFormat(StrEnum):
    """What a file is, whatever it is called."""

    JSONL = "jsonl"
    JSON = "json"
    CSV = "csv"
    TSV = "tsv"
    XLSX = "xlsx"
    PARQUET = "parquet"
    EVAL = "eval"


class Turns(StrEnum):
    """Which turns of the assistant are judged."""

    LAST = "last"
    ALL = "all"


Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        help="What a column or key is: context=prompt,rating=stars. Several make one with +: "
        "rating=ann+bob. Nothing: rating=",
        metavar="OURS=THEIRS",
    ),
]
InputFormat = Annotated[
    FileFormat | None,
    typer.Option("--input-format", help="What the files are. Default: by their suffix; JSON lines from -."),
]
RatingScale = Annotated[
    str | None,
    typer.Option("--scale", help="The lowest and highest possible rating: where lines state none.", metavar="LOW,HIGH"),
]
TurnsFlag = Annotated[Turns, typer.Option("--turns", help="Which replies of a conversation count.")]


def how(
    columns: list[str] | None,
    input_format: FileFormat | None,
    turns: Turns | None = None,
    scorers: list[str] | None = None,
) -> How:
    """The keyword arguments of `rejoinder.read` that the flags come to; what it understands is said on stderr.

    Columns that are scorers (`column:KEY`) are left to these.

    Raises:
        UsageError: `--map` cannot be read.
    """
    from rejoinder.scoring.catalog import columns_of

    asked: How = {"map": _mapped(columns or []), "note": say, "keep": columns_of(scorers or [])}
    if input_format is not None:
        asked["input_format"] = input_format.value
    if turns is not None:
        asked["turns"] = turns.value
    return asked


def typed(columns: list[str] | None, input_format: FileFormat | None, turns: Turns, on_error: OnError) -> list[str]:
    """The flags that say how files are read, as they were typed, for the call that a page prints."""
    words = [word for text in columns or [] for word in ("--map", text)]
    words += [] if input_format is None else ["--input-format", input_format.value]
    words += [] if turns is Turns.LAST else ["--turns", turns.value]
    return words + ([] if on_error is OnError.STOP else ["--on-error", on_error.value])


def on_scale(lines: Iterable[Line], scale: str | None, on_bad: OnBad, dimension: str = OVERALL) -> Iterator[Line]:
    """Examples, those that are rated without a scale on the one that `--scale` says.

    Raises:
        UsageError: it says none.
    """
    from rejoinder.io.scales import scale_of, with_scale

    return with_scale(lines, None if scale is None else scale_of(scale), on_bad, dimension=dimension)


def say_scales(examples: Sequence[Example], dimension: str = OVERALL, more: str = "") -> None:
    """Say on stderr what to know of ratings: several scales put together, or such as nobody stated; who gave them.

    Args:
        examples: the rated lines.
        dimension: which ratings.
        more: what to say behind the scales.
    """
    from rejoinder.humans.lines import unnamed_raters_said
    from rejoinder.io.scales import scales_said

    if found := scales_said(examples, dimension):
        say(f"{found}{more}")
    if found := unnamed_raters_said(examples):
        say(found)


def _mapped(given: list[str]) -> dict[str, list[str]]:
    """Our names and theirs, from `ours=theirs,ours=theirs+theirs`."""
    named: dict[str, list[str]] = {}
    for part in (part for text in given for part in _NEXT.split(text)):
        ours, mark, theirs = part.partition("=")
        if not mark or ours.strip() in named:
            problem = "is given twice" if mark else "has no ="
            raise UsageError(f"--map {part}: {problem}. Write --map context=prompt,rating=stars")
        named[ours.strip()] = [name for name in theirs.split("+") if name]
    return named


def say(what: str) -> None:
    """One line on standard error."""
    tell(what, err=True)
