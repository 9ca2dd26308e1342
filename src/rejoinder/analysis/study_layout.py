"""The report of a study: key figures, the chart of scorers, and the tables of each data set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from rejoinder.analysis.analyses import TableOf
from rejoinder.analysis.ceiling import CEILING, SAME_OTHERS, WORTH
from rejoinder.analysis.contrasts import contrasts_table
from rejoinder.analysis.labels import judges_of
from rejoinder.analysis.leave_one_out import LEFT_OUT, left_out_section
from rejoinder.analysis.pooled import among_scorers, over_sets_table, scorers_chart, sets_of, sets_table
from rejoinder.analysis.scored import RATERS, Analysis, ScoredSet
from rejoinder.analysis.standings import OVER_SETS, best_first
from rejoinder.analysis.study_answer import answer, ranked
from rejoinder.analysis.verdicts import agreement_word
from rejoinder.analysis.within import CONTEXTS, SYSTEMS
from rejoinder.estimates import Estimate, one, pick
from rejoinder.report.charts import scatter
from rejoinder.report.layout import Block, Case, Cases, Chart, KeyFigure, Layout, Prose, Section
from rejoinder.report.results import About
from rejoinder.report.tables import Column, Table, pivot, table
from rejoinder.report.written import count, interval, lines_scored, number, p_value, pluralize, sentences
from rejoinder.stats.correlation import CORRELATIONS

MOST_DRAWN = 4
"""Scorers with charts of their lines and systems, each of which takes up 30 KB of a page."""


class Measured(NamedTuple):
    """Everything that the report of a study is made of; there is no pool of a single data set."""

    sets: Sequence[ScoredSet]
    pool: ScoredSet | None
    estimates: Sequence[Estimate]
    analyses: Iterable[tuple[Analysis, TableOf | None]]
    about: About
    cases: Sequence[Case]

    @property
    def whole(self) -> ScoredSet:
        """All lines: the pool, or the one data set."""
        return self.pool or self.sets[0]


def layout(study: Measured) -> Layout:
    """Return the report of a study."""
    titles = ", ".join(scored.rated.title for scored in study.sets)
    brief: list[Block | None] = [brief_table(study), Prose(notes(study))]
    levels = [(scored, level) for scored in [*study.sets, study.pool] if scored for level in (scored.level, "system")]
    return Layout(
        title=f"Scorers and human ratings: {titles}",
        keys=key_figures(study),
        chart=scorers_chart(study.pool, study.estimates) if study.pool else chart_of_set(study, study.sets[0]),
        sections=[
            *sections_over_sets(study),
            *(section(study, scored) for scored in study.sets),
            Section("Data", [data_table(study)]),
        ],
        brief=brief,
        every=[*brief, *(agreement_table(study, scored, level) for scored, level in levels)],
        made=[*sentences("analysis", "study_made", options=study.about.options), *notes(study)],
    )


def sections_over_sets(study: Measured) -> list[Section]:
    """Return the parts of the page about all data sets together; none for a single one."""
    if study.pool is None:
        return []
    contrasts = contrasts_table(pick(study.estimates, dataset=study.pool.name))
    tables = [over_sets_table(study.pool, study.estimates), sets_table(study.pool, study.estimates), contrasts]
    left_out = [left_out_section(study.sets, study.estimates)] if LEFT_OUT in study.pool.scores else []
    return [Section("All data sets", tables), *left_out]


def key_figures(study: Measured) -> list[KeyFigure]:
    """Return the best scorer that was asked for, the ceiling, what the scorer is worth, and the number of ratings."""
    dataset = OVER_SETS if study.pool else study.sets[0].name
    rows = ranked(study.whole, study.estimates)
    words = {"above": "agrees with human ratings", "below": "runs against human ratings"}
    keys = []
    for row in rows[:1]:
        highest = one(study.estimates, dataset=dataset, scorer=row.scorer, statistic="highest pearson")
        of_several = f"highest of {len(rows)}, " if highest.known else ""
        note = f"{of_several}{words.get(row.verdict, 'no significant agreement')}"
        keys.append(KeyFigure.of(highest if highest.known else row, row.scorer, note))
    own = pick(study.estimates, dataset=dataset, group="")
    limit = one(own, scorer=RATERS, statistic=CEILING)
    keys += [KeyFigure.of(limit, "noise ceiling", "highest correlation to expect of any scorer")] if limit.known else []
    for row in [row for lead in rows[:1] for row in pick(own, scorer=lead.scorer, statistic=WORTH) if row.known]:
        keys.append(KeyFigure.of(row, "raters", f"{row.scorer} is worth that many", digits=1))
    contexts = count(sum(scored.rated.clusters for scored in study.sets))
    where = f" in {len(study.sets)} data sets" if study.pool else ""
    rated = count(study.about.counts["rated"])
    return [*keys, KeyFigure(rated, "", "rated responses", f"to {contexts} contexts{where}")]


def chart_of_set(study: Measured, scored: ScoredSet) -> Chart | None:
    """Return the scorers of a data set with the ceiling."""
    rows = ranked(scored, study.estimates)
    above = sum(row.verdict == "above" for row in rows) or "None"
    caption = f"{above} of {pluralize(len(rows), 'scorer')} significantly above chance. "
    name = "scorers" if study.pool is None else f"scorers-{scored.name}"
    return scorers_chart(scored, study.estimates, name, caption)


def section(study: Measured, scored: ScoredSet) -> Section:
    """Return the part of the page about one data set."""
    own = pick(study.estimates, dataset=scored.name)
    several = study.pool is not None
    cases = [case for case in study.cases if case.values.get("dataset") == scored.name]
    missing = missing_values(own)
    tables = [made for _, table_of in study.analyses if table_of and (made := table_of(own))]
    return Section(
        scored.rated.title,
        [
            Prose(answer(scored, study.estimates, study.about.scorers)) if several else None,
            chart_of_set(study, scored) if several else None,
            *(_marked(made_table, scored) if not place else made_table for place, made_table in enumerate(tables)),
            *scatter_charts(scored, own),
            Cases("Where scorers and raters differ most", cases) if cases else None,
            Prose(missing, "Not computed", listed=True) if missing else None,
        ],
    )


def _marked(made_table: Table, scored: ScoredSet) -> Table:
    """Return a table of scorers with a note that names the baselines among its rows."""
    rows = {row[0].text for row in made_table.rows}
    names = [name for name in scored.kinds if scored.kinds[name] == "baseline" and name in rows]
    notes = [f"Trivial baselines: {', '.join(names)}."] if names else []
    return made_table._replace(notes=(*made_table.notes, *notes))


def missing_values(estimates: Sequence[Estimate]) -> list[str]:
    """Return which correlations do not exist, and why."""
    reasons: dict[str, list[str]] = {}
    statistics = ("pearson", SYSTEMS, CONTEXTS, CEILING)
    for row in pick(estimates, statistic=statistics, group=""):
        if row.reason and not row.known:
            level = " over systems" if row.level == "system" else ""
            reasons.setdefault(f"{row.statistic}{level}: {row.reason}", []).append(row.scorer)
    return [f"{reason} ({', '.join(names)})" for reason, names in reasons.items()]


def scatter_charts(scored: ScoredSet, estimates: Sequence[Estimate]) -> list[Chart | None]:
    """Return, for some of the scorers that were asked for, scores over ratings, and mean scores of systems over theirs.

    Means are drawn from 0 for the lowest to 1 for the highest.
    """
    drawn = [name for name in scored.compared if name in scored.asked][:MOST_DRAWN]
    ratings = {row.system: row.value for row in pick(estimates, scorer=RATERS, statistic="mean rating", level="system")}
    lines, systems = list[Chart | None](), list[Chart | None]()
    for name in drawn:
        x, y = scored.rated.ratings.tolist(), scored.scores[name].tolist()
        about: dict[str, Any] = {"xlabel": "human rating", "ylabel": name, "jitter": 0.01}
        caption = f"Scores of {name} and human ratings."
        lines.append(scatter(f"lines-{scored.name}-{name}", x, y, caption=caption, **about))
        means = {row.system: row.value for row in pick(estimates, scorer=name, statistic="mean score", level="system")}
        order = one(estimates, scorer=name, statistic="pearson", level="system")
        if order.known and means:
            names = sorted(means, key=lambda system: -ratings[system])
            both = np.array([[values[system] for system in names] for values in (ratings, means)])
            lowest, width = both.min(axis=1, keepdims=True), np.ptp(both, axis=1, keepdims=True)
            x, y = ((both - lowest) / width).tolist()
            caption = f"Systems by {name}: Pearson {interval(order)}. Both axes from the lowest to the highest mean."
            about = {"xlabel": "mean rating", "ylabel": f"mean of {name}", "caption": caption}
            systems.append(scatter(f"systems-{scored.name}-{name}", x, y, labels=names, diagonal=True, **about))
    return [*lines, *systems]


def brief_table(study: Measured) -> Table | None:
    """Return the raters, then the scorers that were asked for and the baselines, best first; of a pool the means."""
    scored = study.whole
    dataset, kinds = OVER_SETS if study.pool else scored.name, scored.kinds
    own = pick(study.estimates, dataset=dataset, level=scored.level, group="", versus="")
    shown = [name for name, kind in kinds.items() if name in scored.asked or kind == "baseline"]
    rows = [row for row in pick(own, scorer=shown, statistic=("pearson", "spearman", SAME_OTHERS, WORTH)) if row.known]
    sets = sets_of(study.pool, study.estimates) if study.pool else {}
    if not study.pool:  # the means are in order
        order = best_first(study.estimates, dataset=dataset, level=scored.level)
        rows.sort(key=lambda row: order.index(row.scorer) if row.scorer in order else len(order))
    rows.sort(key=lambda row: row.statistic != "pearson")
    pearson = {"statistic": "pearson"}
    return pivot(
        [*among_scorers(own), *rows],
        lambda row: f"{row.scorer} (baseline)" if kinds.get(row.scorer) == "baseline" else row.scorer,
        [
            Column("n", pearson, lines_scored, spare=True),
            *([Column("data sets", pearson, lambda row: count(sets[row.scorer]), spare=True)] if study.pool else []),
            Column("Pearson [low, high]", pearson),
            Column("Spearman [low, high]", {"statistic": "spearman"}, spare=True),
            Column("agreement", pearson, agreement_word),
            Column("against the other raters", {"statistic": SAME_OTHERS}),
            Column("worth raters", {"statistic": WORTH}, partial(interval, digits=1), spare=True),
        ],
        heading="scorer",
        in_order=True,
    )


def agreement_table(study: Measured, scored: ScoredSet, level: str) -> Table | None:
    """Return Pearson, Spearman and Kendall with their p, best by Spearman first."""
    own = pick(study.estimates, dataset=scored.name, level=level, group="", versus="", system="")
    columns = [Column("n", {"statistic": "pearson"}, lambda row: count(row.n))]
    for name in ("spearman", "pearson", "kendall"):
        title, labels = name.capitalize(), {"statistic": name}
        columns.append(Column(f"{title} [low, high]", labels))
        if any(row.p > 0 for row in pick(own, **labels)):
            columns.append(Column(f"p of {title}", labels, lambda row: p_value(row.p), spare=True))
    kept = [row for row in own if row.statistic in CORRELATIONS and row.scorer != RATERS]
    kept.sort(key=lambda row: row.statistic != "spearman" or -row.value)
    title = f"{scored.rated.title}, {level} level, {pluralize(scored.rated.clusters, 'context')}"
    return pivot(kept, "scorer", columns, title=title)


def data_table(study: Measured) -> Table:
    """Return what the rated lines of each data set are."""
    header = ["data set", "rated", "contexts", "systems", "with reference", "copies of a reference", "scale"]
    header += ["mean rating", "standard deviation", "words in a response"]
    rows = [
        (
            about["title"],
            *(count(about[key]) for key in ("rated", "contexts", "systems", "with_references", "copies")),
            "not given, or several" if about["scale"] is None else "{:g} to {:g}".format(*about["scale"]),
            *(number(about[key], 2) for key in ("mean_rating", "deviation")),
            number(about["words"], 1),
        )
        for about in study.about.data
    ]
    return table(header, rows, caption="The rated lines that were used. Lines without a rating are not included.")


def notes(study: Measured) -> tuple[str, ...]:
    """Return what the tables were computed on: the lines, and which scorers left some unscored."""
    rows = pick(study.estimates, level=study.whole.level, statistic="pearson", scorer=study.whole.asked)
    unscored: dict[tuple[int, str], list[str]] = {}
    for name in study.whole.asked:
        about = study.about.scorers[name]
        unscored.setdefault((about["unscored"], about["unscored_reason"]), []).append(name)
    facts = {"missing": [] if study.pool else missing_values(rows), "unscored": unscored}
    facts["judged"] = judges_of(study.whole)
    return sentences("analysis", "study_notes", counts=study.about.counts, options=study.about.options, **facts)
