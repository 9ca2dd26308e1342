"""How far the raters of a data set agree with each other, worked out: all of them, each, and each two.

Shapes: N lines, M meetings, P groups of them, G contexts, B resamples. Draws [.., 1 + B] hold the value itself, then
those of the resamples.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rejoinder.humans.agreement import LEAST, OfPair, OfRater, RaterAgreement
from rejoinder.humans.raters import Meetings, Raters
from rejoinder.stats.agreement import (
    LEVELS,
    WEIGHTINGS,
    Weighting,
    alphas,
    kappas,
    random_halves,
    reliability,
    two_way,
    usable,
)
from rejoinder.stats.correlation import resampled
from rejoinder.stats.figure import Figure
from rejoinder.stats.resamples import (
    FloatArray,
    IntArray,
    Resamples,
    Sampling,
    number_of,
    percentile_interval,
    renumbered,
)

KAPPAS: Mapping[Weighting, str] = {"unweighted": "kappa", "linear": "kappa_linear", "quadratic": "kappa_quadratic"}
MOST_VALUES = 101  # different ratings; with more they are no categories
_FEWER = 200  # resamples of figures that are worked out one resample at a time
_DRAWS = 100  # of who is in which half


def agreement_of(raters: Raters, sampling: Sampling) -> RaterAgreement:
    """How far raters agree; figures are NaN, with the reason, where that cannot be said."""
    given = np.isfinite(raters.ratings)
    found = RaterAgreement(
        lines=int(given.any(axis=1).sum()),
        ratings=int(given.sum()),
        raters=int((raters.count() > 0).sum()),
        named=raters.named,
        again=raters.again,
        nameless=raters.nameless,
        seed=sampling.seed,
    )
    _, reason = usable(raters.ratings, least=2)
    if reason:
        return replace(found, reason=reason)
    drawn = _Drawn.of(raters, sampling)
    pairs, medians = _pairs(drawn)
    return replace(
        found,
        pairs=len(pairs),
        **medians,
        **_alphas(drawn),
        **_iccs(drawn),
        **_halves(drawn),
        by_rater=_by_rater(drawn) if raters.named else (),
        by_pair=pairs if raters.named else (),
    )


@dataclass(frozen=True, slots=True)
class _Drawn:
    """The ratings of a data set, and the resamples of its contexts that all intervals are over.

    Attributes:
        raters: who rated what.
        resamples: of the lines.
        rng: decides halves and further resamples.
        no_categories: why ratings are no categories, or "".
    """

    raters: Raters
    resamples: Resamples
    rng: np.random.Generator
    no_categories: str

    @classmethod
    def of(cls, raters: Raters, sampling: Sampling) -> _Drawn:
        """Those of a data set."""
        resamples = sampling.draw(raters.rated.contexts, raters.rated.name, "raters")
        values = len(np.unique(raters.ratings[np.isfinite(raters.ratings)]))
        why = f"ratings take {values:,} values; with more than {MOST_VALUES} they are no categories"
        rng = sampling.generator(raters.rated.name, "halves of raters")
        return cls(raters, resamples, rng, why if values > MOST_VALUES else "")

    @property
    def few(self) -> Resamples:
        """The first resamples alone."""
        return Resamples(self.resamples.clusters, self.resamples.counts[:, : 1 + _FEWER])

    def figure(self, draws: FloatArray, n: int, why: str = "", *, lines: IntArray | None = None) -> Figure:
        """The figure of draws [1 + B], which rests on the contexts of all lines, or of these."""
        if np.isnan(draws[0]):
            return Figure(n=n, reason=why or "undefined where ratings do not vary")
        contexts = (self.resamples if lines is None else self.resamples.at(lines)).size
        return replace(percentile_interval(draws, contexts), n=n)

    def correlation(self, one: FloatArray, other: FloatArray, lines: IntArray) -> FloatArray:
        """[1 + B] Spearman's correlation of two columns that stand on `lines`."""
        return resampled("spearman", one, other, self.resamples.at(lines))

    def kappas(self, met: Meetings, groups: IntArray) -> dict[str, FloatArray]:
        """[P, 1 + B] kappas of groups of meetings, by name."""
        if self.no_categories:
            nothing = np.full((number_of(groups), self.resamples.counts.shape[1]), np.nan)
            return dict.fromkeys(KAPPAS.values(), nothing)
        own = self.resamples.at(met.lines)
        return {KAPPAS[way]: kappas(met.one, met.other, groups, own, way) for way in WEIGHTINGS}

    def row(self, draws: Mapping[str, FloatArray], group: int, lines: IntArray) -> dict[str, Any]:
        """The figures of one group of meetings, on these lines."""
        why = {name: self.no_categories if name in KAPPAS.values() else "" for name in draws}
        return {name: self.figure(values[group], len(lines), why[name], lines=lines) for name, values in draws.items()}


def _pairs(drawn: _Drawn) -> tuple[tuple[OfPair, ...], dict[str, Any]]:
    """Each two raters who share enough lines, and the medians over them by name."""
    met, names = drawn.raters.meetings, drawn.raters.names
    codes, places, sizes = np.unique(met.first * len(names) + met.second, return_inverse=True, return_counts=True)
    often = np.flatnonzero(sizes >= LEAST)
    if not len(often):
        why = Figure(reason=f"no two raters share {LEAST} lines")
        return (), dict.fromkeys((*KAPPAS.values(), "spearman"), why)
    chosen = met.at(np.isin(places, often))
    groups = renumbered(places[np.isin(places, often)])
    draws = {**drawn.kappas(chosen, groups), "spearman": _spearmans(drawn, chosen, groups)}
    pairs = tuple(
        OfPair(
            rater=names[code // len(names)],
            other=names[code % len(names)],
            n=size,
            **drawn.row(draws, group, chosen.lines[groups == group]),
        )
        for group, (code, size) in enumerate(zip(codes[often].tolist(), sizes[often].tolist(), strict=True))
    )
    return pairs, {name: _median(drawn, values, name, chosen.lines) for name, values in draws.items()}


def _median(drawn: _Drawn, draws: FloatArray, name: str, lines: IntArray) -> Figure:
    """The median over groups of meetings, all on these lines, that have a value; in a resample over those with one.

    Pairs share few lines, of which a resample holds fewer that differ, so medians of resamples lie apart from that of
    the data. The interval is moved by as much.
    """
    kept = draws[np.isfinite(draws[:, 0])]
    if not len(kept):
        return Figure(reason=(name in KAPPAS.values() and drawn.no_categories) or "undefined where ratings do not vary")
    known = np.isfinite(kept).any(axis=0)
    medians = np.full(kept.shape[1], np.nan)
    medians[known] = np.nanmedian(kept[:, known], axis=0)
    medians[1:] += medians[0] - np.nanmean(medians)
    return drawn.figure(medians, len(kept), lines=lines)


def _spearmans(drawn: _Drawn, met: Meetings, groups: IntArray) -> FloatArray:
    """[P, 1 + B] Spearman's correlation of the two ratings of each group of meetings."""
    order = np.argsort(groups, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(groups))[:-1])
    own = (met.at(part) for part in parts)
    return np.stack([drawn.correlation(part.one, part.other, part.lines) for part in own])


def _by_rater(drawn: _Drawn) -> tuple[OfRater, ...]:
    """Each rater with all others."""
    met, table = drawn.raters.meetings.both_ways, drawn.raters.table
    numbers = np.unique(met.first).tolist()
    groups = renumbered(met.first)
    draws = drawn.kappas(met, groups) if numbers else {}
    rows = []
    for number, name in enumerate(drawn.raters.names):
        given = table[np.isfinite(table[:, number]), number]
        if not len(given):
            continue
        row = OfRater(rater=name, ratings=len(given), mean=float(given.mean()), spread=float(given.std()))
        if number in numbers:
            group = numbers.index(number)
            lines = met.lines[groups == group]
            figures = drawn.row(draws, group, lines)
            partners = len(np.unique(met.second[groups == group]))
            row = replace(row, n=len(lines), partners=partners, spearman=_with_others(drawn, number), **figures)
        rows.append(row)
    return tuple(rows)


def _with_others(drawn: _Drawn, number: int) -> Figure:
    """Spearman's correlation of a rater with the mean of what others gave to the same lines."""
    table = drawn.raters.table
    several = np.isfinite(table).sum(axis=1)
    lines = np.flatnonzero(np.isfinite(table[:, number]) & (several > 1))
    own = table[lines, number]
    others = (np.nansum(table[lines], axis=1) - own) / (several[lines] - 1)
    # Rounded, so that equal means tie whatever the order of summation was.
    return drawn.figure(drawn.correlation(own, others.round(12), lines), len(lines), lines=lines)


def _alphas(drawn: _Drawn) -> dict[str, Any]:
    """Krippendorff's, by name."""
    if drawn.no_categories:
        return {f"alpha_{level}": Figure(reason=drawn.no_categories) for level in LEVELS}
    lines, _ = usable(drawn.raters.ratings, least=2)
    table, resamples = drawn.raters.ratings[lines], drawn.resamples.at(lines)
    return {
        f"alpha_{level}": drawn.figure(alphas(table, resamples, level), len(table), lines=lines) for level in LEVELS
    }


def _iccs(drawn: _Drawn) -> dict[str, Any]:
    """Intraclass correlations, by name."""
    names = {"icc_2": "agreement", "icc_2k": "agreement_mean", "icc_3": "consistency", "icc_3k": "consistency_mean"}
    raters = drawn.raters
    one, two = reliability(raters.ratings, drawn.few), two_way(raters.table[:, raters.count() > 0], drawn.few)
    found = {"icc_1": drawn.figure(one.single, one.items), "icc_1k": drawn.figure(one.mean, one.items)}
    return found | {key: drawn.figure(getattr(two, name), two.items, two.reason) for key, name in names.items()}


def _halves(drawn: _Drawn) -> dict[str, Any]:
    """Correlations of random halves of the raters, by name; each resample deals the halves anew."""
    ratings, rng = drawn.raters.ratings, drawn.rng
    found = random_halves(ratings, rng, _DRAWS)
    rows = (np.repeat(np.arange(len(ratings)), counts[drawn.few.clusters]) for counts in drawn.few.counts[:, 1:].T)
    again = [random_halves(ratings[row], rng, draws=1) for row in rows]

    def figure(name: str) -> Figure:
        one: Figure = getattr(found, name)
        draws = np.array([one.value, *(getattr(other, name).value for other in again)])
        return drawn.figure(draws, one.n, one.reason)

    return {"halves": figure("pearson"), "halves_spearman": figure("spearman")}
