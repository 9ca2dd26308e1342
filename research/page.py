"""What the pages of reproduced experiments share: head, tables of data and encoders, figures, and writing them."""

from __future__ import annotations

import datetime
import io
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from rejoinder.data.outputs import atomic_file
from rejoinder.report import markdown
from rejoinder.report.layout import Block, Prose, Section
from rejoinder.report.markdown import escaped
from rejoinder.report.written import one_line
from rejoinder.version import __version__

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_NO_PICTURES: Mapping[str, Figure] = MappingProxyType({})


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


class Page(NamedTuple):
    """The page of a paper.

    Attributes:
        title: its heading.
        sections: everything below it.
        brief: what a terminal shows.
        figures: SVG by the name of its file, next to the page.
    """

    title: str
    sections: Sequence[Section]
    brief: Sequence[Block]
    figures: Mapping[str, str]

    @property
    def text(self) -> str:
        """The page in Markdown."""
        return markdown.page(self.title, self.sections)

    def save(self, path: Path) -> None:
        """Write the page and its figures, each whole or not at all."""
        for file, text in {
            **{path.with_name(name): svg for name, svg in self.figures.items()},
            path: self.text,
        }.items():
            with atomic_file(file) as partial:
                # A lone surrogate cannot be encoded, and must not cost the whole page.
                partial.write_text(text, encoding="utf-8", errors="backslashreplace")


def about(command: str, start: float) -> About:
    """How a page comes about that `command` makes, and began to at `start`, by `time.perf_counter`."""
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    return About(command, today, time.perf_counter() - start, os.cpu_count() or 1)


def paper(
    name: str,
    about: About,
    blocks: Mapping[str, Block | Sequence[Block]],
    brief: Sequence[Block],
    *,
    pictures: Mapping[str, Figure] = _NO_PICTURES,
    **values: object,
) -> Page:
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
    title, parts, figures = "", [("", list[Block]())], dict[str, str]()
    for chunk in _chunks(name):
        if chunk.startswith("# "):
            title = chunk.removeprefix("# ").format(**values)
        elif chunk.startswith("## "):
            parts.append((chunk.removeprefix("## ").format(**values), []))
        elif chunk.startswith("!["):
            file = chunk.rpartition("](")[2].removesuffix(")")
            figures[file] = svg(pictures[file.removeprefix(f"{name}-").removesuffix(".svg")])
            parts[-1][1].append(Prose([chunk], marked=True))
        else:
            parts[-1][1].extend(_blocks(chunk, blocks, said))
    return Page(title, [Section(heading, held) for heading, held in parts], brief, figures)


def _chunks(name: str) -> Iterator[str]:
    """Headings, paragraphs, images, and braces with a line of their own, each on one line."""
    words = (resources.files("research") / "texts" / f"{name}.md").read_text(encoding="utf-8")
    apart = re.sub(r"^(\{\w+\})$", r"\n\1\n", words, flags=re.MULTILINE)
    return filter(None, map(one_line, re.split(r"\n\s*\n", apart)))


def _blocks(chunk: str, blocks: Mapping[str, Block | Sequence[Block]], said: Mapping[str, object]) -> Sequence[Block]:
    """What a chunk of the words stands for."""
    if chunk.startswith("### "):
        return [Prose((), chunk.removeprefix("### "))]
    if (key := chunk.strip("{}")) in blocks:
        found = blocks[key]
        return [found] if isinstance(found, Block) else found
    return [Prose([chunk.format(**said)], marked=True)]


def svg(figure: Figure) -> str:
    """Return a figure as SVG, the same bytes each time."""
    from matplotlib import rc_context

    out = io.StringIO()
    with rc_context({"svg.hashsalt": "rejoinder", "svg.fonttype": "none"}):
        figure.savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    return text[text.index("<svg") :]


def _made_by(about: About) -> str:
    """How a page came about: command, date, version, time."""
    return (
        f"Made by `{about.command}` on {about.date} with rejoinder {__version__}, in {about.seconds:,.0f} seconds on "
        f"{about.cores} cores."
    )
