"""What the pages of reproduced experiments share: head, tables of data and encoders, figures, and writing them."""

from __future__ import annotations

import datetime
import math
import os
import textwrap
import time
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rejoinder.errors import MissingExtra
from rejoinder.io.atomic import atomic_file
from rejoinder.papers.encodings import Encoding
from rejoinder.papers.excerpts import Excerpt
from rejoinder.papers.material import Material
from rejoinder.report.markdown import markdown_table
from rejoinder.scorer import Signature
from rejoinder.stats.paired import OverParts
from rejoinder.stats.written import interval, number, p_value
from rejoinder.version import __version__

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_NONE = "–"
# How blocks of Markdown begin that are no prose: tables, headings, figures, details, lists, quotes.
_NO_PROSE = ("|", "#", "!", "<", "- ", ">")
# Where the ratings come from, by what the name of a data set begins with.
_PAPERS = {
    "deriu": "Deriu et al. 2022",
    "gupta": "Gupta et al. 2019",
    "usr": "Mehri and Eskenazi 2020 (USR)",
    "grade": "Huang et al. 2020 (GRADE)",
    "zhao": "Zhao et al. 2020",
    "fed": "Mehri and Eskenazi 2020 (FED)",
    "conture": "Ghazarian et al. 2022 (ConTurE)",
    "engage": "Ghazarian et al. 2020",
    "holistic": "Pang et al. 2020",
}


class About(NamedTuple):
    """How a page came about.

    Attributes:
        command: what was typed.
        date: when, year-month-day.
        seconds: how long it took.
        cores: on how many.
    """

    command: str
    date: str
    seconds: float
    cores: int


def about(command: str, start: float) -> About:
    """How a page comes about that `command` makes, and began to at `start`, by `time.perf_counter`."""
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    return About(command, today, time.perf_counter() - start, os.cpu_count() or 1)


class Page(NamedTuple):
    """A page with its figures.

    Attributes:
        text: Markdown.
        figures: by the last part of their file's name: page NAME shows NAME-KEY.svg.
        summary: a few lines for the terminal.
    """

    text: str
    figures: Mapping[str, Figure]
    summary: str


def require_figures() -> None:
    """Raise where figures cannot be drawn.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    try:
        import matplotlib  # noqa: F401 - only whether it is there
    except ImportError as error:
        raise MissingExtra("matplotlib", "train", "Drawing the figures") from error


def write_page(page: Page, out: Path, name: str) -> None:
    """Write `NAME.md` and `NAME-*.svg` into the folder `out`, each whole or not at all, the page last.

    The same figures give the same files.
    """
    from matplotlib import rc_context

    # Salted, because matplotlib would name the parts of the picture at random.
    with rc_context({"svg.hashsalt": "rejoinder", "svg.fonttype": "none"}):
        for key, figure in page.figures.items():
            with atomic_file(out / f"{name}-{key}.svg") as partial:
                figure.savefig(partial, format="svg", metadata={"Date": None})
    with atomic_file(out / f"{name}.md") as partial:
        partial.write_text(page.text, encoding="utf-8")


def written(name: str, about: About, **values: object) -> str:
    """The page `name`: its words in `texts/`, with `values` and how it came about where the braces are."""
    words = (resources.files("rejoinder.papers") / "texts" / f"{name}.md").read_text(encoding="utf-8")
    return laid_out(words.format(made_by=_made_by(about), **values))


def laid_out(text: str) -> str:
    """`text` with paragraphs of prose filled to lines of 118 characters; whatever else Markdown has stays as it is."""
    blocks = text.split("\n\n")
    return (
        "\n\n".join(
            block if block.startswith(_NO_PROSE) else textwrap.fill(block, 118, break_on_hyphens=False)
            for block in map(str.strip, blocks)
            if block
        )
        + "\n"
    )


def _made_by(about: About) -> str:
    """How a page came about: command, date, version, time."""
    return (
        f"Made by `{about.command}` on {about.date} with rejoinder {__version__}, in {about.seconds:,.0f} seconds on "
        f"{about.cores} cores."
    )


def data_table(material: Material) -> str:
    """The data sets, one a row, and why lines were left out."""
    rows = []
    for one in material.sets:
        copies = int(material.copies[material.datasets == one.name].sum())
        counts = [f"{count:,}" for count in (one.given, one.used, copies, one.contexts)]
        rows.append([one.name, *counts, one.digest, _PAPERS.get(one.name.partition("_")[0], _NONE)])
    used, copies = len(material.ratings), int(material.copies.sum())
    given = sum(one.given for one in material.sets)
    contexts = len(set(material.contexts.tolist()))
    rows.append(["all", *(f"{count:,}" for count in (given, used, copies, contexts)), "", ""])
    header = ["data set", "lines", "usable", "of these copies", "contexts", "digest of the usable", "paper"]
    table = markdown_table(header, rows)
    why = ", ".join(f"{count:,} {reason}" for reason, count in material.left_out.items())
    return table + (f"\nNot usable: {why}.\n" if why else "")


def encoder_table(encoders: Mapping[str, Sequence[Encoding]]) -> str:
    """The encoders, one a row and state, with what decides their vectors."""
    rows = [
        [name, one.kind, one.state or _NONE, str(one.encoder.width), f"`{Signature(one.encoder.options)}`"]
        for name, encodings in encoders.items()
        for one in encodings
    ]
    return markdown_table(["encoder", "kind", "state", "numbers", "signature"], rows)


def excerpt_table(excerpts: Iterable[Excerpt], judge: str) -> str:
    """Quoted turns with their two numbers."""
    rows = [[flat(one.turn), flat(one.response), number(one.rating, 2), number(one.score, 2)] for one in excerpts]
    return markdown_table(["answers", "response", "people", judge], rows)


def signed(value: float) -> str:
    """A difference with its sign."""
    return _NONE if math.isnan(value) else f"{value:+.3f}"


def with_p(estimate: OverParts) -> list[str]:
    """Two cells: a value with its interval, and p."""
    return [interval(estimate), p_value(estimate.p)]


def flat(text: str) -> str:
    """A turn on one line, as text and not as Markdown."""
    plain = " ".join(text.split())
    for sign in "\\*_`<[":
        plain = plain.replace(sign, "&lt;" if sign == "<" else f"\\{sign}")
    return plain
