"""What a study says over all its data sets: how near each scorer comes to people, and every set left out once."""

from __future__ import annotations

import math

from rejoinder.meta.agreement import Agreement
from rejoinder.meta.full_study import FullStudy
from rejoinder.meta.leave_one_out import SEEN, UNSEEN, LeftOut, LeftOutSet
from rejoinder.report.chart import Point, chart
from rejoinder.report.sections import Cell, Table
from rejoinder.stats.figure import Figure
from rejoinder.stats.written import number


def nearness_table(study: FullStudy) -> Table:
    """People, then the scorers, best first; no rows where there is one data set."""
    common = len(study.common)
    rows = tuple(
        (
            Cell(one.scorer),
            Cell(one.kind),
            Cell(str(one.sets), f"n = {one.n:,}", one.sets),
            _cell(one.pearson),
            _cell(one.common) if common else Cell("–", "there is no such set"),
            _cell(one.spearman),
            _percent(one.share, f"over the {one.ceilings} sets that have a ceiling"),
            Cell("–" if math.isnan(one.share.value) else str(one.ceilings), "", one.ceilings),
        )
        for one in study.nearness
    )
    sets = f"{study.common_lines:,} lines of {common} {'set' if common == 1 else 'sets'}"
    caption = (
        "Means over data sets of the correlation with people's mean rating inside each; [low, high]: 95 % intervals "
        "from resamples of contexts, of Spearman and of shares put together from those of the sets (Zou and Donner "
        "2008). "
        "Scorers have different sets and lines, because not every line has what they read; on the same lines they and "
        f"people stand in the column of the {sets} that all of them score. Share of the ceiling: mean "
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
    return Table("near", "How near to people", caption, header, rows)


def left_out_table(left_out: LeftOut) -> Table:
    """Every data set left out once, and the mean."""
    rows = tuple(
        (
            Cell(one.dataset),
            Cell(f"{one.n:,}", f"{one.contexts:,} contexts", one.n),
            *(
                _cell(figure, one.reason, signed=name == "gap")
                for statistic in (one.pearson, one.spearman)
                for name, figure in (("unseen", statistic.unseen), ("seen", statistic.seen), ("gap", statistic.gap))
            ),
            _percent(one.share.unseen, "no ceiling is known"),
            _percent(one.share.seen, "no ceiling is known"),
        )
        for one in (*left_out.sets, left_out.mean)
    )
    caption = f"Gap: seen less unseen. {left_out.method}; seed {left_out.seed}."
    columns = [f"{name}, {one}" for name in ("Pearson", "Spearman") for one in ("unseen", "seen", "gap")]
    header = ("data set", "n", *columns, "share of the ceiling, unseen", "share of the ceiling, seen")
    return Table("left", "One data set left out", caption, header, rows)


def left_out_rows(left_out: LeftOut) -> list[Agreement]:
    """What the judge that saw other conversations reaches, and the gap, as rows like those of the scorers."""
    return [
        Agreement.of(
            figure,
            dataset=one.dataset,
            scorer=scorer,
            level="turn",
            statistic=name,
            n=one.n,
            contexts=one.contexts,
            method=left_out.method,
            seed=left_out.seed,
            reason=one.reason,
        )
        for one in (*left_out.sets, left_out.mean)
        for name, statistic in (("pearson", one.pearson), ("spearman", one.spearman))
        for scorer, figure in ((SEEN, statistic.seen), (f"{SEEN} less {UNSEEN}", statistic.gap))
    ]


def left_out_picture(left_out: LeftOut) -> str:
    """One row a data set, the mean last: unseen (hollow) and seen (filled) on a line, a stroke for the ceiling.

    "" where no set has a correlation.
    """
    sets = [one for one in (*left_out.sets, left_out.mean) if not math.isnan(one.pearson.gap.value)]
    if not sets:
        return ""
    rows = [
        Point(
            one.dataset,
            one.pearson.seen.value,
            min(one.pearson.unseen.value, one.pearson.seen.value),
            max(one.pearson.unseen.value, one.pearson.seen.value),
            "judge",
            _said(one),
            before=one.pearson.unseen.value,
            limit=one.ceiling,
        )
        for one in sets
    ]
    return chart("A judge on data sets that it saw other conversations of, and that it never saw", rows)


def _said(one: LeftOutSet) -> str:
    """A data set in words."""
    ceiling = "" if math.isnan(one.ceiling) else f", ceiling {one.ceiling:.2f}"
    figures = f"unseen {one.pearson.unseen.value:.2f}, seen {one.pearson.seen.value:.2f}"
    return f"{one.dataset}: {figures}{ceiling}, n = {one.n:,}"


def _cell(figure: Figure, reason: str = "", *, signed: bool = False) -> Cell:
    """A figure with its interval, or a dash and why."""
    if math.isnan(figure.value):
        return Cell("–", reason)
    sign = "+" if signed and figure.value >= 0 else ""
    return Cell(sign + _text(figure), "", figure.value)


def _percent(figure: Figure, note: str) -> Cell:
    """A share with its interval, or a dash."""
    if math.isnan(figure.value):
        return Cell("–", note)
    ends = "" if math.isnan(figure.low) else f" [{100 * figure.low:.0f}, {100 * figure.high:.0f}]"
    return Cell(f"{100 * figure.value:.0f} %{ends}", note, figure.value)


def _text(figure: Figure, digits: int = 3) -> str:
    """A value and its interval."""
    ends = "" if math.isnan(figure.low) else f" [{number(figure.low, 2)}, {number(figure.high, 2)}]"
    return number(figure.value, digits) + ends
