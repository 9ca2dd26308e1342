"""A comparison as a file: HTML, Markdown, LaTeX, CSV, JSON, or JSON lines with every pair, by its suffix."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from rejoinder.errors import UsageError
from rejoinder.io.atomic import atomic_file, require_place
from rejoinder.io.write import open_writer
from rejoinder.meta.compare_answer import percent, units
from rejoinder.meta.comparison import Comparison, Contrast
from rejoinder.meta.gap import Gap
from rejoinder.report.compare import contrast_table, how, strata_tables, worse_tables
from rejoinder.report.compare_picture import KINDS, seen_of_wins, win_rates
from rejoinder.report.first_screen import KeyFigure
from rejoinder.report.old_document import Section, csv_page, latex, markdown_page
from rejoinder.report.template import render
from rejoinder.stats.figure import plain

TITLE = "Is B better than A?"
ROWS = ".jsonl"
SUFFIXES = (".html", ".md", ".tex", ".csv", ".json", ROWS)


def write_comparison(found: Comparison, path: Path, files: tuple[str, str], command: str) -> None:
    """Write the comparison to `path`, whole or not at all.

    Args:
        found: the comparison.
        path: its suffix says what is written; `.jsonl` holds a line for each pair, or without pairs each reply.
        files: what A and B are called.
        command: the call that made it, for HTML, Markdown and LaTeX.

    Raises:
        UsageError: see `require_writable`.
    """
    require_writable(path)
    suffix = path.suffix.lower()
    if suffix == ROWS:
        with open_writer(path) as put:
            for row in found.compared.rows():
                put(row)
        return
    text = _text(found, suffix, files, command)
    with atomic_file(path) as partial:
        partial.write_text(text, encoding="utf-8")


def require_writable(path: Path) -> None:
    """Raise, before any work, where a comparison cannot be written to `path`.

    Raises:
        UsageError: the suffix is of no known format, or the folder does not exist.
    """
    if path.suffix.lower() not in SUFFIXES:
        found = path.suffix or "(no suffix)"
        raise UsageError(f"{path}: unknown format of a comparison {found}. Known: {', '.join(SUFFIXES)}")
    require_place(path)


def _text(found: Comparison, suffix: str, files: tuple[str, str], command: str) -> str:
    """What a file with this suffix holds."""
    if suffix == ".json":
        return json.dumps(found.to_dict(), ensure_ascii=False, allow_nan=False) + "\n"
    if suffix == ".csv":
        return csv_page(_csv_rows(found))
    if suffix == ".tex":
        return latex(_sections(found), command)
    if suffix == ".md":
        said = [*found.answer, _names(files), how(found)[0]]
        return markdown_page(TITLE, said, _sections(found), found.signatures.values(), command)
    return _page(found, files, command)


def _page(found: Comparison, files: tuple[str, str], command: str) -> str:
    """The page, in HTML: nothing outside it is needed, and no script to read it."""
    return render(
        "compare.html.jinja",
        title=TITLE,
        answer=found.answer,
        names=_names(files),
        picture=win_rates(found),
        seen=seen_of_wins(found),
        kinds=KINDS,
        key_figures=_key_figures(found),
        sections=_sections(found),
        how=how(found)[:2],
        signatures={name: str(signature) for name, signature in found.signatures.items()},
        command=command,
    )


def _key_figures(found: Comparison) -> list[KeyFigure]:
    """How often B wins, how far apart the means are, and what that rests on, by the first scorer."""
    one = found.contrasts[0]
    win, _, ends = percent(one).partition(" [")
    figures = [] if math.isnan(one.win) else [KeyFigure(win, f"[{ends}" if ends else "", "B wins", f"by {one.scorer}")]
    if not math.isnan(one.value):
        ends = "" if math.isnan(one.low) else f"[{one.low:+z.2f}, {one.high:+z.2f}]"
        figures.append(KeyFigure(f"{one.value:+z.2f}", ends, "B less A", f"mean score by {one.scorer}"))
    return [*figures, KeyFigure(f"{one.n:,}", "", units(found), f"of {one.contexts:,} {_clusters(found)}")]


def _clusters(found: Comparison) -> str:
    """What is resampled whole."""
    return "contexts" if found.design == "paired" else "conversations"


def _sections(found: Comparison) -> Sequence[Section]:
    """The tables under their headings."""
    made = [
        Section("By scorer", [], [contrast_table(found)]),
        Section(f"By {found.by}", [], strata_tables(found)),
        Section("What got worse", [], worse_tables(found)),
    ]
    return [section for section in made if section.tables]


def _names(files: tuple[str, str]) -> str:
    """Which file is which."""
    return f"A is {files[0]}, B is {files[1]}."


def _csv_rows(found: Comparison) -> Iterator[dict[str, Any]]:
    """One row a scorer, and one for each value of the field under it."""
    for one in found.contrasts:
        yield _csv_row(one, one, "", 1.0)
        yield from (_csv_row(one, kind, kind.name, kind.weight) for kind in one.strata)


def _csv_row(one: Contrast, gap: Gap, stratum: str, weight: float) -> dict[str, Any]:
    """The figures of one row."""
    figures = {key.name: getattr(gap, key.name) for key in fields(Gap)}
    row = {"scorer": one.scorer, "stratum": stratum, "weight": weight, **figures, "method": one.method}
    known: dict[str, Any] = plain({**row, "seed": one.seed})
    return known
