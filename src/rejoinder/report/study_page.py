"""A full study as one page that reads anywhere: words and a picture, then tables, plots and where all came from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np

from rejoinder.meta.findings import Findings, FullStudy
from rejoinder.meta.parts import POOLED
from rejoinder.meta.results import Agreement
from rejoinder.report.over_sets import left_out_picture, left_out_table, nearness_table
from rejoinder.report.sections import card_table, figure, over_sets_table, tables_of
from rejoinder.report.svg import Mark, Whisker, scatter, systems, whiskers
from rejoinder.stats.correlation import FEWEST


def study_page(study: FullStudy, command: str) -> str:
    """The page, in HTML: nothing outside it is needed, and no script to read it.

    Args:
        study: what was found.
        command: the call that made it.
    """
    from jinja2 import Environment, PackageLoader

    page = Environment(
        loader=PackageLoader("rejoinder.report", "."), autoescape=True, trim_blocks=True, lstrip_blocks=True
    ).get_template("study.html.jinja")
    several = bool(study.over_sets)
    single = [found for found in study.findings if found.card.dataset != POOLED]
    signatures = {**study.study.signatures, **(study.baselines.signatures if study.baselines else {})}
    return page.render(
        names=", ".join(found.card.dataset for found in single),
        answer=study.answer,
        picture=_over_sets(study) if several else _ceiling(single[0], "first"),
        over_sets=[nearness_table(study), over_sets_table(study)] if several else [],
        left_out=left_out_table(study.left_out) if study.left_out else None,
        left_out_picture=left_out_picture(study.left_out, "left-p") if study.left_out else "",
        sections=[_section(found, number, several) for number, found in enumerate(study.findings)],
        cards=card_table(found.card for found in study.findings),
        study=study.study,
        signatures={name: str(signature) for name, signature in signatures.items()},
        command=command,
    )


def _section(found: Findings, number: int, several: bool) -> dict[str, Any]:
    """What the page says of one data set."""
    key, name = f"s{number}", found.card.dataset
    blind = [one.scorer for one in found.standings if one.kind != "reads ratings" and not math.isnan(one.pooled.value)]
    rng = np.random.default_rng(crc32(name.encode()))
    return {
        "key": key,
        "name": name,
        "answer": found.answer if several else (),
        "picture": _ceiling(found, key) if several else "",
        "tables": [table for table in tables_of(found) if table.key != "data"],
        "missing": _missing(found),
        "plots": [
            scatter(f"{key}-p{place}", scorer, found.ratings, found.scores[scorer], rng)
            for place, scorer in enumerate(blind)
        ],
        "plot_names": blind,
        "system_plots": _system_plots(found, blind, key),
        "system_names": [row.system for row in found.systems.rows],
        "cases": {scorer: [one for one in found.cases if one.scorer == scorer] for scorer in blind},
    }


def _system_plots(found: Findings, scorers: Sequence[str], key: str) -> dict[str, tuple[str, str]]:
    """Picture and words by scorer, of those with mean scores of three systems or more."""
    rows = found.systems.rows
    names, ratings = [row.system for row in rows], np.array([row.mean_rating for row in rows])
    known = {row.scorer: f"Pearson over {row.n} systems {figure(row).text}" for row in found.systems.agreements}
    plots = {}
    for place, scorer in enumerate(scorers):
        means = np.array([row.scores[scorer] for row in rows])
        if np.isfinite(means).sum() >= FEWEST:
            plots[scorer] = (systems(f"{key}-y{place}", scorer, names, ratings, means), known.get(scorer, ""))
    return plots


def _ceiling(found: Findings, key: str) -> str:
    """The scorers of one data set against the ceiling."""
    rows = [_whisker(one.pooled, one.kind, one.chance) for one in found.standings if not math.isnan(one.pooled.value)]
    people = found.people
    marks = [Mark("one rater", people.one_rater), Mark("ceiling", people.ceiling, people.low, people.high)]
    known = [mark for mark in marks if not math.isnan(mark.value)]
    return whiskers(f"{key}-w", f"Scorers against people on {found.card.dataset}", rows, known) if rows else ""


def _over_sets(study: FullStudy) -> str:
    """The scorers over all data sets."""
    kinds = {one.scorer: one.kind for one in study.findings[-1].standings}
    shown = [
        _whisker(row, kinds[row.scorer], study.chance[row.scorer])
        for row in study.over_sets
        if not math.isnan(row.value)
    ]
    known = [found.people for found in study.findings if not found.people.reason]
    marks = []
    if known:
        sets = f"mean of {len(known)} sets" if len(known) > 1 else "of one set"
        marks = [
            Mark(f"one rater, {sets}", float(np.mean([people.one_rater for people in known]))),
            Mark(f"ceiling, {sets}", float(np.mean([people.ceiling for people in known]))),
        ]
    return whiskers("first-w", "Scorers against people, mean over data sets", shown, marks) if shown else ""


def _whisker(row: Agreement, kind: str, chance: float) -> Whisker:
    """A row of the picture."""
    ends = "" if math.isnan(row.low) else f" [{row.low:.2f}, {row.high:.2f}]"
    by_chance = "" if math.isnan(chance) else f"; by chance within ±{chance:.2f}"
    note = f"{row.value:.3f}{ends}, n = {row.n:,}; {row.method}{by_chance}"
    return Whisker(row.scorer, row.value, row.low, row.high, kind.partition(" ")[0], note, chance)


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
