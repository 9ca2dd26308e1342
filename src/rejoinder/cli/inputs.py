"""How input files are to be read: the flags that say so, the same in every command that reads examples."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from rejoinder.cli.common import OnError, tell
from rejoinder.cli.places import Reads
from rejoinder.data.files import OnError as ReportError
from rejoinder.errors import UsageError
from rejoinder.example import OVERALL, Example, Pair

if TYPE_CHECKING:
    from rejoinder.data.read import How

Line = TypeVar("Line", bound=Example | Pair)

# A comma ends a column's name only where another `ours=` follows it, because names hold commas too.


class Turns(StrEnum):
    """Which turns of the assistant are judged."""

    LAST = "last"
    ALL = "all"


class Tie(StrEnum):
    """What counts where as many people say pass as fail."""

    FAIL = "fail"
    PASS = "pass"  # noqa: S105


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
    str | None,
    typer.Option(
        "--input-format",
        help="The container (csv, jsonl, json, tsv, xlsx, parquet, eval) or the format (langfuse, ...) of the files.",
        metavar="NAME",
    ),
]
RatingScale = Annotated[
    str | None,
    typer.Option(
        "--scale",
        help="The lowest and highest rating, or all words in order: for ratings that state none. 1,5 or bad,fair,good.",
        metavar="SCALE",
    ),
]
RatedFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--rated",
        help="Rated lines: labels or ratings of lines of FILE (by id, or by text), or others of the same systems; "
        "repeat for more. Default: those in FILE.",
        metavar="FILE",
    ),
    Reads(),
]
TieFlag = Annotated[
    Tie | None,
    typer.Option(
        "--tie",
        help="What counts where as many people say pass as fail. Default: the line is left out.",
        show_default=False,
    ),
]
Positive = Annotated[
    str | None,
    typer.Option(
        help="The word for a good reply, in columns of labels and verdicts that have it; all other words are for bad "
        "ones.",
        metavar="WORD",
    ),
]
TurnsFlag = Annotated[Turns, typer.Option("--turns", help="Which replies of a conversation count.")]


def how(
    columns: list[str] | None,
    input_format: str | None,
    turns: Turns | None = None,
    scorers: list[str] | None = None,
    *,
    scale: str | None = None,
    dimension: str = OVERALL,
    labels: bool = False,
    positive: str | None = None,
    texts: bool = True,
) -> How:
    """The keyword arguments of `rejoinder.read` that the flags come to; what it understands is said on stderr.

    Columns that are scorers (`column:KEY`) are left to these.

    Raises:
        UsageError: `--map` cannot be read.
    """
    from rejoinder.data.columns import mapping
    from rejoinder.scoring.catalog import columns_of

    asked: How = {"map": mapping(columns or []), "note": say, "keep": columns_of(scorers or []), "labels": labels}
    asked |= {"positive": positive, "texts": texts}
    if scale is not None and (dimension == OVERALL or not are_numbers(scale)):
        asked["scale"] = scale
    if input_format is not None:
        asked["input_format"] = input_format
    if turns is not None:
        asked["turns"] = turns.value
    return asked


def with_rated(
    files: Sequence[str],
    rated: Sequence[str] | None,
    reading: How,
    report_error: ReportError,
    scale: str | None,
    dimension: str,
) -> tuple[list[Example], list[Example]]:
    """The lines of files, and those of `--rated`, which need no texts.

    Raises:
        UsageError: `--rated` names a rating project.
    """
    from rejoinder.data.read import read_sides

    refuse_projects(rated or ())
    (lines,), others = read_sides(files, rated=rated, on_error=report_error, **reading)
    lines, others = (list(on_scale(side, scale, report_error, dimension)) for side in (lines, others or []))
    return lines, others


def refuse_projects(places: Sequence[str]) -> None:
    """Refuse rating projects, because `rejoinder ratings` decides which of their ratings count.

    Raises:
        UsageError: a place is a rating project.
    """
    from rejoinder.data.formats.annotation import is_project

    for place in filter(is_project, places):
        file = "rated.jsonl"
        remedy = f"Write its ratings to a file first: rejoinder ratings {shlex.quote(place)} -o {file}"
        raise UsageError(f"{place}: is a rating project. {remedy}; then name {file}")


def typed(columns: list[str] | None, input_format: str | None, turns: Turns, on_error: OnError) -> list[str]:
    """The flags that say how files are read, as they were typed, for the call that a page prints."""
    words = [word for text in columns or [] for word in ("--map", text)]
    words += [] if input_format is None else ["--input-format", input_format]
    words += [] if turns is Turns.LAST else ["--turns", turns.value]
    return words + ([] if on_error is OnError.STOP else ["--on-error", on_error.value])


def on_scale(
    lines: Iterable[Line], scale: str | None, report_error: ReportError, dimension: str = OVERALL
) -> Iterator[Line]:
    """Examples, those that are rated without a scale on the one that `--scale` says.

    Raises:
        UsageError: it says none.
    """
    from rejoinder.data.scales import with_scale

    return with_scale(lines, bounds_of(scale), report_error, dimension=dimension)


def say_scales(examples: Sequence[Example], dimension: str = OVERALL, more: str = "") -> None:
    """Say on stderr what to know of ratings: several scales put together, or such as nobody stated; who gave them.

    Args:
        examples: the rated lines.
        dimension: which ratings.
        more: what to say behind the scales.
    """
    from rejoinder.data.rated_lines import unnamed_raters_said
    from rejoinder.data.scales import scale_note

    if found := scale_note(examples, dimension):
        say(f"{found}{more}")
    if found := unnamed_raters_said(examples):
        say(found)


def say(what: str) -> None:
    """One line on standard error."""
    tell(what, err=True)


def are_numbers(scale: str) -> bool:
    """Return whether the value of `--scale` is two numbers, not words in order."""
    from rejoinder.data.scales import scale_of

    return not isinstance(scale_of(scale)[0], str)


def bounds_of(scale: str | None) -> tuple[float, float] | None:
    """Return the lowest and highest rating that `--scale` names; words in order are worth 1, 2, 3 ..."""
    from rejoinder.data.scales import required, scale_of

    if scale is None:
        return None
    values = scale_of(scale)
    numbers = [value for value in values if not isinstance(value, str)]
    return required(numbers) if numbers else (1.0, float(len(values)))
