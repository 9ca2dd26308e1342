"""The figures of a study, one a row: correlations, and every share, difference and count that says how to read them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rejoinder.meta.agreement import Agreement
from rejoinder.meta.conclusions import COUNTS
from rejoinder.meta.findings import Findings
from rejoinder.meta.full_study import FullStudy
from rejoinder.meta.leave_one_out import SEEN, UNSEEN, LeftOut
from rejoinder.stats.figure import plain


def results(study: FullStudy) -> list[dict[str, Any]]:
    """The rows."""
    return [plain(row) for row in _rows(study)]


def _rows(study: FullStudy) -> Iterator[Agreement]:
    """The figures as records of one type."""
    yield from study.agreements
    yield from study.over_sets
    if study.left_out:
        yield from _left_out(study.left_out)
    for found in study.findings:
        for one in found.standings:
            yield from (row for row in (one.within, one.without_copies) if row.statistic not in ("pearson", "spearman"))
        yield from _by_chance(found)
        yield from _nearer(found)
        yield from _alone(found)


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


def _left_out(left_out: LeftOut) -> list[Agreement]:
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
