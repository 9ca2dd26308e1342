"""A study of preference pairs as a file: HTML, Markdown, LaTeX, CSV or JSON, by its suffix."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path

from rejoinder.io.atomic import atomic_file
from rejoinder.meta.preference_results import CHANCE, PairCard, PairStudy, Preference
from rejoinder.meta.results import plain
from rejoinder.report.document import Section, csv_page, latex, markdown_page
from rejoinder.report.preferences import data_table, figure, notes_of, tables_of
from rejoinder.report.study_files import require_writable
from rejoinder.report.svg import Mark, Whisker, whiskers

_TITLE = "Scorers against people's choices between two replies"


def write_preferences(study: PairStudy, path: Path, command: str) -> None:
    """Write the study to `path`, whole or not at all; the call that made it stands in HTML, Markdown and LaTeX.

    Raises:
        UsageError: see `study_files.require_writable`.
    """
    require_writable(path)
    text = _WRITERS[path.suffix.lower()](study, command)
    with atomic_file(path) as partial:
        partial.write_text(text, encoding="utf-8")


def _page(study: PairStudy, command: str) -> str:
    """The page, in HTML: nothing outside it is needed, and no script to read it."""
    from jinja2 import Environment, PackageLoader

    page = Environment(
        loader=PackageLoader("rejoinder.report", "."), autoescape=True, trim_blocks=True, lstrip_blocks=True
    ).get_template("preferences.html.jinja")
    return page.render(
        names=", ".join(card.dataset for card in study.cards),
        answer=study.answer,
        sections=[
            {"name": card.dataset, "picture": _picture(study, card, f"w{place}"), "tables": tables_of(study, card)}
            for place, card in enumerate(study.cards)
        ],
        data=data_table(study.cards),
        notes=notes_of(study),
        signatures={name: str(signature) for name, signature in study.signatures.items()},
        command=command,
    )


def _picture(study: PairStudy, card: PairCard, key: str) -> str:
    """Everyone who chooses, with chance and people as marks."""
    rows = study.rows(card.dataset)
    marks = [
        Mark("chance", CHANCE),
        *(Mark(row.scorer, row.value, row.low, row.high) for row in rows if _is_person(row)),
    ]
    shown = [
        Whisker(row.scorer, row.value, row.low, row.high, row.kind, f"{figure(row).text}; {figure(row).note}")
        for row in rows
        if not _is_person(row)
    ]
    title = f"Scorers against people's choices on {card.dataset}"
    return whiskers(key, title, shown, marks, axis="Share of pairs in which the preferred reply is taken")


def _is_person(row: Preference) -> bool:
    """Whether a row is of people themselves."""
    return row.kind == "people"


def preferences_markdown(study: PairStudy, command: str) -> str:
    """The answer and all tables in Markdown."""
    sections = [*_sections(study), Section("How to read it", notes_of(study), ())]
    return markdown_page(_TITLE, study.answer, sections, study.signatures.values(), command)


def _tex(study: PairStudy, command: str) -> str:
    """All tables in LaTeX."""
    return latex(_sections(study), command)


def _sections(study: PairStudy) -> list[Section]:
    """One a data set, and what the data are."""
    sections = [Section(card.dataset, (), tables_of(study, card)) for card in study.cards]
    return [*sections, Section("Data", (), [data_table(study.cards)])]


def _csv(study: PairStudy, _command: str) -> str:
    """One row a figure."""
    return csv_page(plain(asdict(row)) for row in study.results)


def _json(study: PairStudy, _command: str) -> str:
    """Everything, as JSON."""
    return json.dumps(study.to_dict(), ensure_ascii=False, allow_nan=False) + "\n"


_WRITERS: Mapping[str, Callable[[PairStudy, str], str]] = {
    ".html": _page,
    ".md": preferences_markdown,
    ".tex": _tex,
    ".csv": _csv,
    ".json": _json,
}
