"""A full study as a file: HTML, Markdown, LaTeX, CSV or JSON, by its suffix."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from rejoinder.errors import UsageError
from rejoinder.io.atomic import atomic_file, require_place
from rejoinder.meta.agreement import Agreement
from rejoinder.meta.conclusions import COUNTS
from rejoinder.meta.findings import Findings
from rejoinder.meta.full_study import FullStudy
from rejoinder.report.old_document import Section, csv_page, latex, markdown_page
from rejoinder.report.over_sets import left_out_rows, left_out_table, nearness_table
from rejoinder.report.sections import card_table, over_sets_table, tables_of
from rejoinder.report.study_page import study_page
from rejoinder.stats.figure import plain


def write_study(study: FullStudy, path: Path, command: str) -> None:
    """Write the study to `path`, whole or not at all; the call that made it stands in HTML, Markdown and LaTeX.

    Raises:
        UsageError: see `require_writable`.
    """
    require_writable(path)
    text = WRITERS[path.suffix.lower()](study, command)
    with atomic_file(path) as partial:
        partial.write_text(text, encoding="utf-8")


def require_writable(path: Path) -> None:
    """Raise, before any work, where a study cannot be written to `path`.

    Raises:
        UsageError: the suffix is of no known format, or the folder does not exist.
    """
    if path.suffix.lower() not in WRITERS:
        found = path.suffix or "(no suffix)"
        raise UsageError(f"{path}: unknown format of a study {found}. Known: {', '.join(WRITERS)}")
    require_place(path)


def study_markdown_page(study: FullStudy, command: str) -> str:
    """The answer and all tables in Markdown."""
    return markdown_page("Scorers against people", study.answer, _parts(study), _signatures(study), command)


def study_tex(study: FullStudy, command: str) -> str:
    """All tables in LaTeX, to be put into a document that uses the package booktabs."""
    return latex(_parts(study), command)


def study_csv(study: FullStudy, _command: str = "") -> str:
    """Every correlation as one row, and every other share, difference and count that says how to read them."""
    rows = [*study.agreements, *study.over_sets]
    if study.left_out:
        rows += left_out_rows(study.left_out)
    for found in study.findings:
        for one in found.standings:
            rows += [row for row in (one.within, one.without_copies) if row.statistic not in ("pearson", "spearman")]
        rows += [*_by_chance(found), *_nearer(found), *_alone(found)]
    return csv_page(plain(row) for row in rows)


def _by_chance(found: Findings) -> list[Agreement]:
    """The chance band of each correlation."""
    return [
        replace(
            one.pooled,
            statistic="pearson by chance",
            value=one.chance.value,
            low=one.chance.low,
            high=one.chance.high,
            p=math.nan,
            method=one.chance.method,
        )
        for one in found.standings
        if one.chance.known
    ]


def _nearer(found: Findings) -> list[Agreement]:
    """Which of two scorers is nearer to people, and the lines where it is."""
    duel = found.duel
    if duel is None:
        return []
    said = f"share of lines nearer to people than {duel.second or 'another'}"
    whole = Agreement(
        dataset=found.card.dataset,
        scorer=duel.first or "none",
        level="turn",
        statistic=said,
        n=duel.n,
        unscored=found.card.rated - duel.n,
        contexts=duel.contexts,
        value=duel.value,
        low=duel.low,
        high=duel.high,
        p=math.nan,
        method=duel.method,
        seed=duel.seed,
        reason=duel.reason,
    )
    traits = [
        replace(
            whole,
            statistic=f"{one.what}: mean where nearer less mean where {duel.second} is",
            n=one.n_first + one.n_second,
            value=one.apart.value,
            low=one.apart.low,
            high=one.apart.high,
            reason=one.apart.reason,
        )
        for one in duel.traits
    ]
    return [whole, *traits]


def _alone(found: Findings) -> list[Agreement]:
    """Shares of pairs of systems by what scorer and people say of them; n is the number of pairs."""
    return [
        Agreement(
            dataset=found.card.dataset,
            scorer=one.scorer,
            level="system",
            statistic=f"share of pairs of systems: {count.replace('_', ' ')}",
            n=one.pairs,
            unscored=0,
            contexts=one.contexts,
            value=getattr(one, count) / one.pairs if one.pairs else math.nan,
            low=math.nan,
            high=math.nan,
            p=math.nan,
            method=one.method,
            seed=one.seed,
            reason=one.reason,
        )
        for one in found.conclusions
        for count in COUNTS
    ]


def study_json(study: FullStudy, _command: str = "") -> str:
    """Everything, as JSON."""
    return json.dumps(study.to_dict(), ensure_ascii=False, allow_nan=False) + "\n"


WRITERS: Mapping[str, Callable[[FullStudy, str], str]] = {
    ".html": study_page,
    ".md": study_markdown_page,
    ".tex": study_tex,
    ".csv": study_csv,
    ".json": study_json,
}


def _parts(study: FullStudy) -> list[Section]:
    """Title, words and tables, for all sets together and for each."""
    several = bool(study.over_sets)
    parts = [
        Section(one.card.title, one.answer if several else (), [t for t in tables_of(one) if t.key != "data"])
        for one in study.findings
    ]
    over = [
        nearness_table(study),
        *([left_out_table(study.left_out)] if study.left_out else []),
        over_sets_table(study),
    ]
    first = [Section("All data sets", (), over)] if several else []
    return [*first, *parts, Section("Data", (), [card_table(found.card for found in study.findings)])]


def _signatures(study: FullStudy) -> list[object]:
    """Where all scores came from."""
    return [*study.study.signatures.values(), *(study.baselines.signatures.values() if study.baselines else ())]
