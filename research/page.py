"""What the pages of reproduced experiments share: head, tables of data and encoders, figures, and writing them."""

from __future__ import annotations

import datetime
import io
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, cast

from rejoinder.documents.cells import count, measured, p, plain
from rejoinder.documents.document import Block, Cell, Document, Picture, Prose, Section, Table, one_line
from rejoinder.documents.markdown import escaped
from rejoinder.errors import MissingExtra
from rejoinder.scorer import Signature
from rejoinder.stats.figure import DASH
from rejoinder.stats.figure import Figure as Measured
from rejoinder.version import __version__
from research.encodings import Encoding
from research.excerpts import Excerpt
from research.material import Material

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_NO_PICTURES: Mapping[str, Figure] = MappingProxyType({})
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


def require_figures() -> None:
    """Raise where figures cannot be drawn.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    try:
        import matplotlib  # noqa: F401 - only whether it is there
    except ImportError as error:
        raise MissingExtra("matplotlib", "train", "Drawing the figures") from error


def paper(
    name: str,
    about: About,
    blocks: Mapping[str, Block | Sequence[Block]],
    brief: Sequence[Block],
    *,
    pictures: Mapping[str, Figure] = _NO_PICTURES,
    **values: object,
) -> Document:
    """The page `name`: its words in `texts/`, with what was found where the braces are.

    Args:
        name: of the experiment.
        about: how the page came about.
        blocks: what stands where braces have a line of their own.
        brief: what a terminal shows.
        pictures: by the last part of the name of their file.
        values: what stands inside sentences; texts are shown as they are, whatever they hold.
    """
    said = {key: escaped(value) if isinstance(value, str) else value for key, value in values.items()}
    said["made_by"] = _made_by(about)
    title, parts = "", [("", list[Block]())]
    for chunk in _chunks(name):
        if chunk.startswith("# "):
            title = chunk.removeprefix("# ").format(**values)
        elif chunk.startswith("## "):
            parts.append((chunk.removeprefix("## ").format(**values), []))
        else:
            parts[-1][1].extend(_blocks(chunk, name, blocks, pictures, said))
    sections = [Section(heading, held) for heading, held in parts]
    return Document(title=title, question=title, answer=(), sections=sections, brief=brief)


def _chunks(name: str) -> Iterator[str]:
    """Headings, paragraphs, images, and braces with a line of their own, each on one line."""
    words = (resources.files("research") / "texts" / f"{name}.md").read_text(encoding="utf-8")
    apart = re.sub(r"^(\{\w+\})$", r"\n\1\n", words, flags=re.MULTILINE)
    return filter(None, map(one_line, re.split(r"\n\s*\n", apart)))


def _blocks(
    chunk: str,
    name: str,
    blocks: Mapping[str, Block | Sequence[Block]],
    pictures: Mapping[str, Figure],
    said: Mapping[str, object],
) -> Sequence[Block]:
    """What a chunk of the words stands for."""
    if chunk.startswith("### "):
        return [Prose((), chunk.removeprefix("### "))]
    if chunk.startswith("!["):
        return [_drawn(chunk, name, pictures)]
    if (key := chunk.strip("{}")) in blocks:
        found = blocks[key]
        return [found] if isinstance(found, Block) else cast("Sequence[Block]", found)
    return [Prose([chunk.format(**said)], marked=True)]


def _drawn(image: str, name: str, pictures: Mapping[str, Figure]) -> Picture:
    """The picture that an image in the words, `![what is to be seen](NAME-KEY.svg)`, stands for."""
    from matplotlib import rc_context

    seen, _, file = image.removeprefix("![").removesuffix(")").rpartition("](")
    out, figure = io.StringIO(), pictures[file.removeprefix(f"{name}-").removesuffix(".svg")]
    # Salted, because matplotlib would name the parts of the picture at random.
    with rc_context({"svg.hashsalt": "rejoinder", "svg.fonttype": "none"}):
        figure.savefig(out, format="svg", metadata={"Date": None})
    drawn = out.getvalue()
    return Picture(drawn[drawn.index("<svg") :], seen, file=file)


def table(header: Sequence[str], rows: Iterable[Iterable[object]], title: str = "") -> Table:
    """A table of cells and of what is read as it stands."""
    cells = ((cell if isinstance(cell, Cell) else Cell(str(cell)) for cell in row) for row in rows)
    return Table(title, "", tuple(header), tuple(map(tuple, cells)))


def _made_by(about: About) -> str:
    """How a page came about: command, date, version, time."""
    return (
        f"Made by `{about.command}` on {about.date} with rejoinder {__version__}, in {about.seconds:,.0f} seconds on "
        f"{about.cores} cores."
    )


def data_table(material: Material) -> Table:
    """The data sets, one a row, and why lines were left out."""
    rows: list[list[Cell | str]] = []
    for one in material.sets:
        copies = int(material.copies[material.datasets == one.name].sum())
        counts = map(count, (one.given, one.used, copies, one.contexts))
        rows.append([one.name, *counts, one.digest, _PAPERS.get(one.name.partition("_")[0], DASH)])
    used, copies = len(material.ratings), int(material.copies.sum())
    given = sum(one.given for one in material.sets)
    contexts = len(set(material.contexts.tolist()))
    rows.append(["all", *map(count, (given, used, copies, contexts)), "", ""])
    header = ["data set", "lines", "usable", "of these copies", "contexts", "digest of the usable", "paper"]
    why = ", ".join(f"{lost:,} {reason}" for reason, lost in material.left_out.items())
    return table(header, rows)._replace(notes=[f"Not usable: {why}."] if why else [])


def encoder_table(encoders: Mapping[str, Sequence[Encoding]]) -> Table:
    """The encoders, one a row and state, with what decides their vectors."""
    rows = [
        [name, one.kind, one.state or DASH, str(one.encoder.width), str(Signature(one.encoder.options))]
        for name, encodings in encoders.items()
        for one in encodings
    ]
    return table(["encoder", "kind", "state", "numbers", "signature"], rows)


def excerpt_table(excerpts: Iterable[Excerpt], judge: str) -> Table:
    """Quoted turns with their two numbers."""
    rows = [[one.turn, one.response, plain(one.rating, 2), plain(one.score, 2)] for one in excerpts]
    return table(["answers", "response", "people", judge], rows)


def with_p(estimate: Measured) -> list[Cell]:
    """Two cells: a value with its interval, and p."""
    return [measured(estimate), p(estimate.p)]
