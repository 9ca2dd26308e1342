"""A study of preference pairs as a file: HTML, Markdown, LaTeX, CSV or JSON, by its suffix."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path

from rejoinder.frames import plain
from rejoinder.io.atomic import atomic_file
from rejoinder.meta.preference_answer import shown
from rejoinder.meta.preference_results import CHANCE, PairCard, PairStudy, Preference
from rejoinder.report.chart import Mark, Point, chart
from rejoinder.report.document import Section, csv_page, latex, markdown_page
from rejoinder.report.first_screen import KINDS, KeyFigure
from rejoinder.report.preferences import data_table, figure, notes_of, tables_of
from rejoinder.report.study_files import require_writable
from rejoinder.report.template import render

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
    return render(
        "preferences.html.jinja",
        names=", ".join(card.title for card in study.cards),
        answer=study.answer,
        key_figures=_key_figures(study),
        kinds={look: what for look, what in KINDS.items() if look in {row.kind for row in study.results}},
        sections=[
            {
                "name": card.title,
                "picture": _picture(study, card),
                "seen": _seen(study, card),
                "tables": tables_of(study, card),
            }
            for card in study.cards
        ],
        data=data_table(study.cards),
        notes=notes_of(study),
        signatures={name: str(signature) for name, signature in study.signatures.items()},
        command=command,
    )


def _key_figures(study: PairStudy) -> list[KeyFigure]:
    """The best scorer asked for, chance, one person, and how many pairs, of the first data set."""
    card = study.cards[0]
    figures = []
    for lead in _named(study, card)[:1]:
        note = "shown to agree with people" if shown(lead) and lead.value > CHANCE else "not shown to agree with people"
        figures.append(KeyFigure(*_share(lead), lead.scorer, note))
    figures.append(KeyFigure(f"{100 * CHANCE:.0f} %", "", "chance", "takes either reply blindly"))
    people = [row for row in study.rows(card.dataset) if _is_person(row)]
    figures += [KeyFigure(*_share(row), row.scorer, "against the other people") for row in people]
    return [*figures, KeyFigure(f"{card.pairs:,}", "", "pairs of replies", f"to {card.contexts:,} contexts")]


def _share(row: Preference) -> tuple[str, str]:
    """Percent and interval."""
    ends = "" if math.isnan(row.low) else f"[{100 * row.low:.0f}, {100 * row.high:.0f}]"
    return f"{100 * row.value:.0f} %", ends


def _named(study: PairStudy, card: PairCard) -> list[Preference]:
    """The scorers asked for, best first; the baselines among them where there is no other."""
    asked = [row for row in study.rows(card.dataset) if row.scorer in study.asked]
    return [row for row in asked if row.kind != "baseline"] or asked


def _seen(study: PairStudy, card: PairCard) -> str:
    """What to see in the picture."""
    named = _named(study, card)
    agree = sum(shown(row) and row.value > CHANCE for row in named)
    who = f"{agree or 'None'} of {len(named)} scorers {'is' if agree == 1 else 'are'}"
    if len(named) == 1:
        who = f"{named[0].scorer} is{'' if agree else ' not'}"
    return f"{who} shown to take the preferred reply more often than chance."


def _picture(study: PairStudy, card: PairCard) -> str:
    """Everyone who chooses, with chance and people as marks."""
    rows = [row for row in study.rows(card.dataset) if not _is_person(row)]
    people = [row for row in study.rows(card.dataset) if _is_person(row)]
    marks = [Mark("chance", CHANCE), *(Mark(row.scorer, row.value, row.low, row.high) for row in people)]
    lead = next(iter(_named(study, card)), None)
    shown_rows = [
        Point(
            *(row.scorer, row.value, row.low, row.high, row.kind, f"{figure(row).text}; {figure(row).note}"),
            part="lead" if row is lead else "" if row.scorer in study.asked and row.kind != "baseline" else "beside",
        )
        for row in rows
    ]
    title = f"Scorers against people's choices on {card.title}"
    return chart(title, shown_rows, marks, axis="Share of pairs in which the preferred reply is taken")


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
    sections = [Section(card.title, (), tables_of(study, card)) for card in study.cards]
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
