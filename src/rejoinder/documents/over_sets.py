"""What a study says over all its data sets: how near each scorer comes to people, and every set left out once."""

from __future__ import annotations

import math
from collections.abc import Mapping

from rejoinder.meta.agreement import Agreement
from rejoinder.meta.findings import Findings
from rejoinder.meta.full_study import FullStudy
from rejoinder.meta.leave_one_out import SEEN, UNSEEN, LeftOut, LeftOutSet
from rejoinder.documents.cells import count, measured, nothing
from rejoinder.documents.chart import Point, chart
from rejoinder.documents.document import Cell, Picture, Table
from rejoinder.documents.study_tables import chance_band, figure, named
from rejoinder.stats.figure import Figure, number


def nearness_table(study: FullStudy) -> Table:
    """People, then the scorers, best first; no rows where there is one data set."""
    common = len(study.common)
    rows = tuple(
        (
            Cell(one.scorer),
            Cell(one.kind),
            count(one.sets, f"n = {one.n:,}"),
            measured(one.pearson),
            measured(one.common) if common else nothing("there is no such set"),
            measured(one.spearman),
            measured(one.share, note=f"over the {one.ceilings} sets that have a ceiling", share=True),
            count(one.ceilings) if one.share.known else nothing(),
        )
        for one in study.nearness
    )
    sets = f"{study.common_lines:,} lines of {common} {'set' if common == 1 else 'sets'}"
    caption = (
        "Means over data sets of the correlation with people's mean rating inside each; [low, high]: 95 % intervals "
        "from resamples of contexts, of Spearman and of shares put together from those of the sets (Zou and Donner "
        "2008). "
        "Scorers have different sets and lines, because not every line has what they read; on the same lines they "
        f"stand in the column of the {sets} that all of them score, and people beside them over those of these sets "
        "that have single ratings, which may be fewer. Share of the ceiling: mean "
        "over the sets where people's ratings give one. Ceiling: the highest correlation to be expected of any scorer; "
        "one rater: a person against the mean of the others."
    )
    if study.left_out:
        caption += (
            f" {UNSEEN}: fitted on all other data sets. {SEEN}: on other conversations of the same set as well. Both "
            "stand on an encoder and settings that were chosen in sight of some of these sets."
        )
    header = (
        *("scorer", "kind", "sets", "Pearson [low, high]", "Pearson, same lines"),
        *("Spearman [low, high]", "share of the ceiling", "sets with a ceiling"),
    )
    return Table("How near to people", caption, header, rows)


def over_sets_table(study: FullStudy) -> Table:
    """The mean over data sets, with the correlation in each beside it; no rows where there is one set."""
    single = study.sets if study.over_sets else ()
    known = {(one.card.dataset, row.scorer): row.pooled for one in single for row in one.standings}
    rows = tuple(
        (
            named(row.scorer, study.whole),
            figure(row),
            chance_band(study.chance[row.scorer]),
            count(study.sets_of(row.scorer)),
            count(row.n),
            *(_place(known, one, row.scorer) for one in single),
        )
        for row in study.over_sets
        if row.known
    )
    caption = (
        "Pearson correlation with people inside each data set, and its mean over the sets that have one. Means over "
        "different sets are not alike: look at the columns. [low, high]: 95 % interval from resampled contexts. By "
        "chance: where 95 % of scorers that have nothing to do with the ratings would fall."
    )
    header = (
        "scorer",
        "mean over data sets [low, high]",
        "by chance",
        "sets",
        "n",
        *(one.card.title for one in single),
    )
    return Table("Inside each data set", caption, header, rows)


def left_out_table(left_out: LeftOut) -> Table:
    """Every data set left out once, and the mean."""
    rows = tuple(
        (
            Cell(one.dataset),
            count(one.n, f"{one.contexts:,} contexts"),
            *(
                measured(value, why=one.reason, signed=value is statistic.gap)
                for statistic in (one.pearson, one.spearman)
                for value in (statistic.unseen, statistic.seen, statistic.gap)
            ),
            measured(one.share.unseen, why="no ceiling is known", share=True),
            measured(one.share.seen, why="no ceiling is known", share=True),
        )
        for one in (*left_out.sets, left_out.mean)
    )
    caption = f"Gap: seen less unseen. {left_out.method}; seed {left_out.seed}."
    columns = [f"{name}, {one}" for name in ("Pearson", "Spearman") for one in ("unseen", "seen", "gap")]
    header = ("data set", "n", *columns, "share of the ceiling, unseen", "share of the ceiling, seen")
    return Table("", caption, header, rows)


def left_out_picture(left_out: LeftOut) -> Picture | None:
    """One row a data set, the mean last: unseen (hollow) and seen (filled) on a line, a stroke for the ceiling.

    None where no set has a correlation.
    """
    sets = [one for one in (*left_out.sets, left_out.mean) if one.pearson.gap.known]
    if not sets:
        return None
    rows = [
        Point(
            one.dataset,
            Figure(value=seen, low=min(unseen, seen), high=max(unseen, seen)),
            "judge",
            _said(one),
            before=unseen,
            limit=one.ceiling,
        )
        for one in sets
        for unseen, seen in [(one.pearson.unseen.value, one.pearson.seen.value)]
    ]
    drawn = chart("A judge on data sets that it saw other conversations of, and that it never saw", rows)
    gap = left_out.mean.pearson.gap
    worth = number(gap.value, 2)
    seen = f"Having seen other conversations of a data set is worth {worth} on average. " if gap.known else ""
    looks = (
        "Hollow: the judge that never saw the data set; filled: the one that saw other conversations of it; stroke: "
        "the ceiling, where it is known."
    )
    return Picture(drawn, seen + looks)


def _said(one: LeftOutSet) -> str:
    """A data set in words."""
    ceiling = f", ceiling {number(one.ceiling, 2)}" if not math.isnan(one.ceiling) else ""
    figures = f"unseen {one.pearson.unseen.value:.2f}, seen {one.pearson.seen.value:.2f}"
    return f"{one.dataset}: {figures}{ceiling}, n = {one.n:,}"


def _place(known: Mapping[tuple[str, str], Agreement], found: Findings, scorer: str) -> Cell:
    """The correlation of a scorer on a data set, or a dash."""
    row = known.get((found.card.dataset, scorer))
    return figure(row) if row else nothing("not worked out inside a data set")
