"""A full study as one page that reads anywhere: words and a picture, then tables, plots and where all came from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np

from rejoinder.humans.rated_set import POOLED
from rejoinder.meta.agreement import Agreement
from rejoinder.meta.findings import Findings
from rejoinder.meta.full_study import FullStudy
from rejoinder.report.chart import Mark, Point, chart
from rejoinder.report.first_screen import (
    KINDS,
    key_figures,
    seen_of_scorers,
    seen_of_scores,
    seen_of_set,
    seen_of_systems,
)
from rejoinder.report.over_sets import left_out_picture, left_out_table, nearness_table
from rejoinder.report.sections import card_table, over_sets_table, tables_of
from rejoinder.report.svg import scatter, systems
from rejoinder.report.template import render
from rejoinder.stats.correlation import FEWEST

_LIMITS = {
    "chance": "where 95 % of scorers fall that have nothing to do with the ratings",
    "mark": "one person against the others; the ceiling that people's disagreement leaves",
}


def study_page(study: FullStudy, command: str) -> str:
    """The page, in HTML: nothing outside it is needed, and no script to read it.

    Args:
        study: what was found.
        command: the call that made it.
    """
    several = bool(study.over_sets)
    single = [found for found in study.findings if found.card.dataset != POOLED]
    signatures = {**study.study.signatures, **(study.baselines.signatures if study.baselines else {})}
    return render(
        "study.html.jinja",
        names=", ".join(found.card.title for found in single),
        answer=study.answer,
        key_figures=key_figures(study),
        picture=_over_sets(study) if several else _ceiling(single[0], study),
        seen=seen_of_scorers(study),
        kinds=_kinds(study),
        limits=_LIMITS if study.over_sets else {**_LIMITS, "band": "interval of the ceiling"},
        over_sets=[nearness_table(study), over_sets_table(study)] if several else [],
        left_out=left_out_table(study.left_out) if study.left_out else None,
        left_out_picture=left_out_picture(study.left_out) if study.left_out else "",
        left_out_seen=_gap_seen(study),
        sections=[_section(found, number, study) for number, found in enumerate(study.findings)],
        cards=card_table(found.card for found in study.findings),
        study=study.study,
        signatures={name: str(signature) for name, signature in signatures.items()},
        command=command,
    )


def _kinds(study: FullStudy) -> dict[str, str]:
    """The looks of the scorers that pictures show, for their key."""
    found = {_look(one.kind) for one in study.findings[-1].standings}
    return {look: what for look, what in KINDS.items() if look in found}


def _look(kind: str) -> str:
    """How a scorer of a kind is drawn."""
    return kind.partition(" ")[0]


def _gap_seen(study: FullStudy) -> str:
    """What to see in the picture of the sets left out."""
    gap = study.left_out.mean.pearson.gap.value if study.left_out else math.nan
    return "" if math.isnan(gap) else f"Having seen other conversations of a data set is worth {gap:z.2f} on average."


def _section(found: Findings, number: int, study: FullStudy) -> dict[str, Any]:
    """What the page says of one data set."""
    key, name, several = f"s{number}", found.card.title, bool(study.over_sets)
    blind = {
        one.scorer: one.pooled
        for one in found.standings
        if one.kind != "reads ratings" and not math.isnan(one.pooled.value)
    }
    rng = np.random.default_rng(crc32(name.encode()))
    return {
        "key": key,
        "name": name,
        "answer": found.answer if several else (),
        "picture": _ceiling(found, study) if several else "",
        "seen": seen_of_set(found, study),
        "tables": [table for table in tables_of(found) if table.key != "data"],
        "missing": _missing(found),
        "plots": {
            seen_of_scores(scorer, row): scatter(scorer, found.ratings, found.scores[scorer], rng)
            for scorer, row in blind.items()
        },
        "system_plots": _system_plots(found, list(blind)),
        "system_names": [row.system for row in found.systems.rows],
        "cases": {scorer: [one for one in found.cases if one.scorer == scorer] for scorer in blind},
    }


def _system_plots(found: Findings, scorers: Sequence[str]) -> dict[str, str]:
    """Picture by what is to be seen in it, for the scorers with mean scores of three systems or more."""
    rows = found.systems.rows
    names, ratings = [row.system for row in rows], np.array([row.rating.value for row in rows])
    known = {row.scorer: row for row in found.systems.agreements}
    plots = {}
    for scorer in scorers:
        means = np.array([row.scores[scorer] for row in rows])
        if np.isfinite(means).sum() >= FEWEST:
            seen = seen_of_systems(scorer, known.get(scorer))
            plots[seen] = systems(scorer, names, ratings, means)
    return plots


def _ceiling(found: Findings, study: FullStudy) -> str:
    """The scorers of one data set against the ceiling."""
    rows = [_point(one.pooled, one.kind, one.chance.high, study) for one in found.standings]
    people = found.people
    marks = [Mark("one person", people.one_rater.value), Mark("ceiling", people.ceiling.value, *people.ceiling.ends)]
    return _chart(f"Scorers against people on {found.card.title}", rows, marks)


def _over_sets(study: FullStudy) -> str:
    """The scorers over all data sets."""
    kinds = {one.scorer: one.kind for one in study.findings[-1].standings}
    rows = [_point(row, kinds[row.scorer], study.chance[row.scorer], study) for row in study.over_sets]
    known = [found.people for found in study.findings if not found.people.reason]
    marks = [
        Mark(name, float(np.mean([getattr(people, key).value for people in known])))
        for name, key in (("one person", "one_rater"), ("ceiling", "ceiling"))
        if known
    ]
    return _chart("Scorers against people, mean over data sets", rows, marks)


def _chart(title: str, rows: Sequence[Point], marks: Sequence[Mark]) -> str:
    """The picture of those that have a value, the best scorer asked for marked; "" where none has."""
    known = [row for row in rows if not math.isnan(row.value)]
    lead = next((row for row in known if not row.part), None)
    known = [row._replace(part="lead") if row is lead else row for row in known]
    return chart(title, known, [mark for mark in marks if not math.isnan(mark.value)]) if known else ""


def _point(row: Agreement, kind: str, chance: float, study: FullStudy) -> Point:
    """A row of the picture; baselines and what came along stand apart."""
    ends = "" if math.isnan(row.low) else f" [{row.low:.2f}, {row.high:.2f}]"
    by_chance = "" if math.isnan(chance) else f"; by chance within ±{chance:.2f}"
    note = f"{row.value:.3f}{ends}, n = {row.n:,}; {row.method}{by_chance}"
    part = "" if row.scorer in study.asked and kind != "baseline" else "beside"
    return Point(row.scorer, row.value, row.low, row.high, _look(kind), note, chance, part=part)


def _missing(found: Findings) -> list[str]:
    """What the section does not say, and why."""
    reasons: dict[str, list[str]] = {}
    for one in found.standings:
        for row in (one.pooled, one.within):
            if row.reason:
                reasons.setdefault(f"{row.statistic}: {row.reason}", []).append(one.scorer)
    said = [f"{reason} ({', '.join(names)})" for reason, names in reasons.items()]
    if found.people.reason:
        said.append(f"ceiling: {found.people.reason}")
    if found.systems.reason:
        said.append(f"systems: {found.systems.reason}")
    if found.duel and found.duel.reason:
        said.append(f"judge against metric: {found.duel.reason}")
    return said
