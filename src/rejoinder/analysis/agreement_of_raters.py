"""The agreement of the raters of a data set: of all of them, of each with all others, and of each two.

Shapes: N lines, M pairs of ratings, P groups of these, B resamples. Draws [.., 1 + B] hold the value of the data, then
those of the resamples.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rejoinder.analysis.raters import FEWEST_SHARED, MOST_VALUES, RatingPairs, Raters, left_out
from rejoinder.analysis.scored import RATERS
from rejoinder.estimates import NAN, Estimate, estimate_of
from rejoinder.report.written import pluralize
from rejoinder.stats.agreement import (
    LEVELS,
    Weighting,
    alphas,
    kappas,
    krippendorff_alpha,
    random_halves,
    reliability,
    two_way,
    usable,
)
from rejoinder.stats.correlation import resampled
from rejoinder.stats.resamples import FloatArray, IntArray, Resamples, Sampling, percentile_interval, renumbered

KAPPAS: Mapping[Weighting, str] = {
    "quadratic": "kappa quadratic",
    "linear": "kappa linear",
    "unweighted": "kappa",
}
PAIRWISE = (*KAPPAS.values(), "spearman")
SHUFFLES = 20
_FEWER = 200  # resamples of statistics that are computed for one resample at a time
_SPLITS = 100  # random halves


@dataclass(frozen=True, slots=True)
class _Measure:
    """The ratings of a data set, and the resamples of its contexts behind all intervals."""

    raters: Raters
    sampling: Sampling
    resamples: Resamples

    @property
    def few(self) -> Resamples:
        """The first resamples only."""
        return Resamples(self.resamples.clusters, self.resamples.counts[:, : 1 + _FEWER])

    def estimate(
        self, statistic: str, draws: FloatArray, n: int, why: str = "", *, lines: IntArray | None = None, **labels: Any
    ) -> Estimate:
        """Return the estimate of draws [1 + B] that depend on the contexts of all lines, or of some."""
        seed = self.sampling.seed if self.sampling.resamples else None
        labels = {"dataset": self.raters.rated.name, "scorer": RATERS, "statistic": statistic, "n": n, **labels}
        if np.isnan(draws[0]):
            if not self.raters.few_values and statistic.startswith(("kappa", "alpha")):
                why = f"ratings take more than {MOST_VALUES} values, so they are not categories"
            return Estimate(**labels, reason=why or "undefined because ratings do not vary")
        contexts = (self.resamples if lines is None else self.resamples.at(lines)).size
        return estimate_of(percentile_interval(draws, contexts), contexts=contexts, seed=seed, **labels)

    def kappas(self, pairs: RatingPairs, groups: IntArray) -> dict[str, FloatArray]:
        """Return [P, 1 + B] the kappas of groups of pairs, by name."""
        if not self.raters.few_values:
            return dict.fromkeys(KAPPAS.values(), np.full((groups.max() + 1, 1), NAN))
        own = self.resamples.at(pairs.lines)
        return {name: kappas(pairs.values, pairs.others, groups, own, way) for way, name in KAPPAS.items()}

    def spearman(self, pairs: RatingPairs) -> FloatArray:
        """Return [1 + B] the correlation of pairs."""
        return resampled("spearman", pairs.values, pairs.others, self.resamples.at(pairs.lines))


def agreement(raters: Raters, sampling: Sampling) -> list[Estimate]:
    """Return the agreement of raters, the alpha of numbers first.

    Estimates without a rater are about all raters; kappa and Spearman are then medians over pairs of raters. With
    `rater` they are about this rater and all others, with `versus` too about these two. With too few ratings there is
    only an alpha with the reason.
    """
    resamples = sampling.draw(raters.rated.contexts, raters.rated.name, "raters")
    measure = _Measure(raters, sampling, resamples)
    _, reason = usable(raters.ratings, least=2)
    if reason:
        return [measure.estimate("alpha interval", np.full(1, NAN), 0, reason), *_rater_means(measure)]
    medians, of_pairs = _pairs(measure)
    of_all = [*_alphas(measure), *medians, *_intraclass(measure), *_halves(measure)]
    return [*of_all, *_rater_means(measure), *_each_rater(measure), *of_pairs]


def _alphas(measure: _Measure) -> list[Estimate]:
    """Return Krippendorff's alpha of numbers, ranks and names."""
    lines, _ = usable(measure.raters.ratings, least=2)
    table, resamples = measure.raters.ratings[lines], measure.resamples.at(lines)
    return [
        measure.estimate(
            f"alpha {level}",
            alphas(table, resamples, level) if measure.raters.few_values else np.full(1, NAN),
            len(table),
            lines=lines,
        )
        for level in reversed(LEVELS)
    ]


def _pairs(measure: _Measure) -> tuple[list[Estimate], list[Estimate]]:
    """Return medians over each two raters who share enough lines, and the estimates of each two."""
    pairs, names = measure.raters.pairs, measure.raters.names
    codes, places, sizes = np.unique(pairs.first * len(names) + pairs.second, return_inverse=True, return_counts=True)
    often = np.flatnonzero(sizes >= FEWEST_SHARED)
    if not len(often):
        why = f"no two raters share {FEWEST_SHARED} lines"
        return [measure.estimate(name, np.full(1, NAN), 0, why) for name in PAIRWISE], []
    chosen = pairs.at(np.isin(places, often))
    groups = renumbered(places[np.isin(places, often)])
    parts = [chosen.at(groups == group) for group in range(len(often))]
    draws = {**measure.kappas(chosen, groups), "spearman": np.stack(list(map(measure.spearman, parts)))}
    medians = [_median(measure, name, values, chosen.lines) for name, values in draws.items()]
    of_pairs = [
        measure.estimate(
            name, values[group], len(part.lines), lines=part.lines, rater=names[code // len(names)], versus=other
        )
        for group, (part, code) in enumerate(zip(parts, codes[often].tolist(), strict=True))
        for other in [names[code % len(names)]]
        for name, values in draws.items()
    ]
    return medians, of_pairs if measure.raters.named else []


def _median(measure: _Measure, name: str, draws: FloatArray, lines: IntArray) -> Estimate:
    """Return the median over the groups of pairs that have a value.

    Pairs of raters share few lines, of which a resample holds fewer that differ. So medians of resamples are off the
    median of the data, and the interval is moved by as much.
    """
    kept = draws[np.isfinite(draws[:, 0])]
    if not len(kept):
        return measure.estimate(name, np.full(1, NAN), 0)
    defined = np.isfinite(kept).any(axis=0)
    medians = np.full(kept.shape[1], NAN)
    medians[defined] = np.nanmedian(kept[:, defined], axis=0)
    medians[1:] += medians[0] - np.nanmean(medians)
    estimate = measure.estimate(name, medians, len(kept), lines=lines)
    return replace(estimate, method=f"median over {pluralize(len(kept), 'pair')} of raters; {estimate.method}")


def _rater_means(measure: _Measure) -> list[Estimate]:
    """Return mean and spread of the ratings of each named rater."""
    estimates = []
    for name, column in zip(measure.raters.names, measure.raters.table.T, strict=True):
        ratings = column[np.isfinite(column)]
        if len(ratings) and measure.raters.named:
            labels: dict[str, Any] = {"dataset": measure.raters.rated.name, "scorer": RATERS, "n": len(ratings)}
            for statistic, value in (("mean rating", ratings.mean()), ("spread of ratings", ratings.std())):
                estimates.append(Estimate(**labels, statistic=statistic, rater=name, value=float(value)))
    return estimates


def _each_rater(measure: _Measure) -> list[Estimate]:
    """Return kappas of each rater with all others, and the correlation with the mean of the others."""
    raters, estimates = measure.raters, []
    if not raters.named:
        return []
    pairs, several = raters.pairs.both_ways, np.isfinite(raters.table).sum(axis=1)
    numbers, groups = np.unique(pairs.first, return_inverse=True)
    draws = measure.kappas(pairs, groups)
    for group, number in enumerate(numbers.tolist()):
        column, labels = raters.table[:, number], {"rater": raters.names[number]}
        lines, others = pairs.lines[groups == group], len(np.unique(pairs.second[groups == group]))
        for name, values in draws.items():
            estimate = measure.estimate(name, values[group], len(lines), lines=lines, **labels)
            method = f"with {pluralize(others, 'other rater')}; {estimate.method}"
            estimates.append(replace(estimate, method=method))
        lines = np.flatnonzero(np.isfinite(column) & (several > 1))
        # Rounded, so that equal means tie whatever the order of summation was.
        means = ((np.nansum(raters.table[lines], axis=1) - column[lines]) / (several[lines] - 1)).round(12)
        draw = resampled("spearman", column[lines], means, measure.resamples.at(lines))
        estimates.append(measure.estimate("spearman", draw, len(lines), lines=lines, **labels))
    return estimates


def _intraclass(measure: _Measure) -> list[Estimate]:
    """Return the intraclass correlations."""
    raters = measure.raters
    one, two = reliability(raters.ratings, measure.few), two_way(raters.table[:, raters.count() > 0], measure.few)
    of_two = (two.agreement, two.agreement_mean, two.consistency, two.consistency_mean)
    return [
        measure.estimate("ICC(1)", one.single, one.items),
        measure.estimate("ICC(1,k)", one.mean, one.items),
        *(
            measure.estimate(name, values, two.items, two.reason)
            for name, values in zip(("ICC(2,1)", "ICC(2,k)", "ICC(3,1)", "ICC(3,k)"), of_two, strict=True)
        ),
    ]


def _halves(measure: _Measure) -> list[Estimate]:
    """Return the correlations of random halves of the raters; each resample splits them anew."""
    ratings, few = measure.raters.ratings, measure.few
    rng = measure.sampling.generator(measure.raters.rated.name, "halves of raters")
    rows = (np.repeat(np.arange(len(ratings)), counts[few.clusters]) for counts in few.counts[:, 1:].T)
    whole, *again = random_halves(ratings, rng, _SPLITS), *(random_halves(ratings[row], rng, draws=1) for row in rows)
    return [
        measure.estimate(
            f"{name} of halves",
            np.array([getattr(half, name).value for half in (whole, *again)]),
            getattr(whole, name).n,
            getattr(whole, name).reason,
        )
        for name in ("pearson", "spearman")
    ]


def by_chance(
    raters: Raters, least: float, weighting: Weighting, rng: np.random.Generator, shuffles: int = SHUFFLES
) -> tuple[float, float]:
    """Return the effect of a rule by kappa if no rater is better than another: how many it leaves out, and alpha.

    The ratings of each line are shuffled among its raters, so raters differ by chance only. Both are means over the
    shuffles; alpha is NaN if nobody is ever left.
    """
    counts, values = [], []
    for _ in range(shuffles):
        mixed = raters.shuffled(rng)
        names = left_out(mixed, {}, least, weighting)
        counts.append(len(names))
        values.append(krippendorff_alpha(mixed.without(list(names)).ratings).value if raters.few_values else NAN)
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(counts)), float(np.mean(known)) if known else NAN
