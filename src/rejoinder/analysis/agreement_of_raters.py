"""The agreement of the raters of a data set: of all of them, of each with all others, and of each two.

Shapes: N lines, P groups of pairs of ratings, B resamples. Draws [.., 1 + B] hold the value of the data, then those of
the resamples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from rejoinder.analysis.raters import FEWEST_SHARED, MOST_VALUES, Raters, RatingPairs, below_kappa
from rejoinder.analysis.scored import RATERS
from rejoinder.estimates import LEVEL, NAN, Estimate, Verdict, adjusted, estimate_of, pick
from rejoinder.report.written import pluralize
from rejoinder.stats import agreement as stats
from rejoinder.stats.correlation import RANKED_BY, all_resampled
from rejoinder.stats.rater_models import distances
from rejoinder.stats.resamples import FloatArray, IntArray, Resamples, Sampling, percentile_interval, renumbered

KAPPAS: Mapping[stats.Weighting, str] = {
    "quadratic": "kappa quadratic",
    "linear": "kappa linear",
    "unweighted": "kappa",
}
SHUFFLES = 20
DISTANCE = "distance to the others"
FALSE_SUSPECTS = 0.1
"""The share of honest raters among the suspects that is accepted: the false discovery rate."""
_FEWER = 200  # resamples of statistics that are computed for one resample at a time

_UNDEFINED = np.full(1, NAN)


def agreement(raters: Raters, sampling: Sampling) -> list[Estimate]:
    """Return the agreement of raters, Krippendorff's alpha of numbers first.

    Estimates without a rater are about all raters; kappa and Spearman are then medians over pairs of raters. With
    `rater` they are about this rater and all others, with `versus` too about these two. With too few ratings there is
    only an alpha with the reason.
    """
    rated = raters.rated
    measure = _Measure(raters, sampling, sampling.draw(rated.contexts, rated.name, "raters"))
    lines, reason = stats.usable(raters.ratings, least=2)
    if reason:
        return [measure.estimate("alpha interval", _UNDEFINED, 0, reason), *_means(raters)]
    table, resamples = raters.ratings[lines], measure.resamples.at(lines)
    alphas = {
        f"alpha {level}": stats.alphas(table, resamples, level) if measure.categories else _UNDEFINED
        for level in reversed(stats.LEVELS)
    }
    of_all = [measure.estimate(name, draws, len(table), lines=lines) for name, draws in alphas.items()]
    medians, of_pairs = _pairs(measure)
    of_all += [*medians, *_intraclass(measure), *_halves(measure)]
    return [*of_all, *_means(raters), *_each_rater(measure), *of_pairs] if raters.named else of_all


@dataclass(frozen=True, slots=True)
class _Measure:
    """The ratings of a data set, and the resamples of its contexts behind all intervals."""

    raters: Raters
    sampling: Sampling
    resamples: Resamples

    @property
    def categories(self) -> bool:
        """Whether ratings take so few values that they are categories."""
        return len(self.raters.values) <= MOST_VALUES

    @property
    def few(self) -> Resamples:
        """The first resamples only."""
        return Resamples(self.resamples.clusters, self.resamples.counts[:, : 1 + _FEWER])

    def estimate(
        self, statistic: str, draws: FloatArray, n: int, why: str = "", *, lines: IntArray | None = None, **labels: Any
    ) -> Estimate:
        """Return the estimate of draws [1 + B] that depend on the contexts of all lines, or of some."""
        labels = {"dataset": self.raters.rated.name, "scorer": RATERS, "statistic": statistic, "n": n, **labels}
        if np.isnan(draws[0]):
            if not self.categories and statistic.startswith(("kappa", "alpha")):
                why = f"ratings take more than {MOST_VALUES} values, so they are not categories"
            return Estimate(**labels, reason=why or "undefined because ratings do not vary")
        contexts = (self.resamples if lines is None else self.resamples.at(lines)).size
        labels |= {"contexts": contexts, "seed": self.sampling.seed if self.sampling.resamples else None}
        return estimate_of(percentile_interval(draws, contexts), **labels)

    def kappas(self, pairs: RatingPairs, groups: IntArray) -> dict[str, FloatArray]:
        """Return [P, 1 + B] the kappas of groups of pairs, by name."""
        if not self.categories:
            return dict.fromkeys(KAPPAS.values(), np.full((groups.max() + 1, 1), NAN))
        resamples = self.resamples.at(pairs.lines)
        return {name: stats.kappas(pairs.values, pairs.others, groups, resamples, way) for way, name in KAPPAS.items()}

    def spearman(self, values: FloatArray, others: FloatArray, lines: IntArray) -> FloatArray:
        """Return [1 + B] the correlation of two ratings of lines."""
        draws: FloatArray = all_resampled("spearman", values[None], others, self.resamples.at(lines))[0]
        return draws


def _pairs(measure: _Measure) -> tuple[list[Estimate], list[Estimate]]:
    """Return medians over each two raters who share enough lines, and the estimates of each two."""
    pairs, names = measure.raters.pairs, measure.raters.names
    codes, places, sizes = np.unique(pairs.first * len(names) + pairs.second, return_inverse=True, return_counts=True)
    often = np.flatnonzero(sizes >= FEWEST_SHARED)
    if not len(often):
        why = f"no two raters share {FEWEST_SHARED} lines"
        return [measure.estimate(name, _UNDEFINED, 0, why) for name in (*KAPPAS.values(), "spearman")], []
    chosen, groups = pairs.at(np.isin(places, often)), renumbered(places[np.isin(places, often)])
    parts = [chosen.at(groups == group) for group in range(len(often))]
    correlations = [measure.spearman(part.values, part.others, part.lines) for part in parts]
    draws = {**measure.kappas(chosen, groups), "spearman": np.stack(correlations)}
    of_pairs = []
    for group, (part, code) in enumerate(zip(parts, codes[often].tolist(), strict=True)):
        labels = {"rater": names[code // len(names)], "versus": names[code % len(names)], "lines": part.lines}
        of_pairs += [measure.estimate(name, draws[name][group], len(part.lines), **labels) for name in draws]
    return [_median(measure, name, values, chosen.lines) for name, values in draws.items()], of_pairs


def _median(measure: _Measure, name: str, draws: FloatArray, lines: IntArray) -> Estimate:
    """Return the median over the groups of pairs that have a value.

    Pairs of raters share few lines, of which a resample holds fewer that differ. So medians of resamples are off the
    median of the data, and the interval is moved by as much.
    """
    kept = draws[np.isfinite(draws[:, 0])]
    if not len(kept):
        return measure.estimate(name, _UNDEFINED, 0)
    defined = np.isfinite(kept).any(axis=0)
    medians = np.full(kept.shape[1], NAN)
    medians[defined] = np.nanmedian(kept[:, defined], axis=0)
    medians[1:] += medians[0] - np.nanmean(medians)
    estimate = measure.estimate(name, medians, len(kept), lines=lines)
    return replace(estimate, method=f"median over {pluralize(len(kept), 'pair')} of raters; {estimate.method}")


def _means(raters: Raters) -> list[Estimate]:
    """Return mean and spread of the ratings of each named rater."""
    columns = {name: column[np.isfinite(column)] for name, column in zip(raters.names, raters.table.T, strict=True)}
    return [
        Estimate(dataset=raters.rated.name, scorer=RATERS, statistic=statistic, rater=name, n=len(values), value=value)
        for name, values in columns.items()
        if len(values) and raters.named
        for statistic, value in (("mean rating", float(values.mean())), ("spread of ratings", float(values.std())))
    ]


def _each_rater(measure: _Measure) -> list[Estimate]:
    """Return kappas of each rater with all others, and the correlation with the mean of the others."""
    table, pairs, estimates = measure.raters.table, measure.raters.pairs.both_ways, list[Estimate]()
    numbers, groups = np.unique(pairs.first, return_inverse=True)
    draws, several = measure.kappas(pairs, groups), np.isfinite(table).sum(axis=1)
    for group, number in enumerate(numbers.tolist()):
        column, name = table[:, number], measure.raters.names[number]
        lines, others = pairs.lines[groups == group], len(np.unique(pairs.second[groups == group]))
        for kappa, values in draws.items():
            estimate = measure.estimate(kappa, values[group], len(lines), lines=lines, rater=name)
            method = f"with {pluralize(others, 'other rater')}; {estimate.method}"
            estimates.append(replace(estimate, method=method))
        lines = np.flatnonzero(np.isfinite(column) & (several > 1))
        # Rounded, so that equal means tie whatever the order of summation was.
        means = ((np.nansum(table[lines], axis=1) - column[lines]) / (several[lines] - 1)).round(12)
        draw = measure.spearman(column[lines], means, lines)
        estimates.append(measure.estimate("spearman", draw, len(lines), lines=lines, rater=name))
    return estimates


def _intraclass(measure: _Measure) -> list[Estimate]:
    """Return the intraclass correlations; the two-way ones are of the lines that all raters rated."""
    raters = measure.raters
    one_way = stats.reliability(raters.ratings, measure.few)
    two_way = stats.two_way(raters.table[:, raters.counts > 0], measure.few)
    names = ("ICC(2,1)", "ICC(2,k)", "ICC(3,1)", "ICC(3,k)")
    return [
        measure.estimate("ICC(1)", one_way.single, one_way.items),
        measure.estimate("ICC(1,k)", one_way.mean, one_way.items),
        *(measure.estimate(*of, two_way.items, two_way.reason) for of in zip(names, two_way[:4], strict=True)),
    ]


def _halves(measure: _Measure) -> list[Estimate]:
    """Return the correlations of random halves of the raters; each resample splits them again."""
    ratings, few = measure.raters.ratings, measure.few
    rng = measure.sampling.generator(measure.raters.rated.name, "halves of raters")
    rows = (np.repeat(np.arange(len(ratings)), counts[few.clusters]) for counts in few.counts[:, 1:].T)
    halves = [stats.random_halves(ratings, rng), *(stats.random_halves(ratings[row], rng, 1) for row in rows)]
    of = {name: [half[name] for half in halves] for name in RANKED_BY}
    return [
        measure.estimate(f"{name} of halves", np.array([half.value for half in each]), each[0].n, each[0].reason)
        for name, each in of.items()
    ]


def suspects(raters: Raters, sampling: Sampling) -> list[Estimate]:
    """Return the distance of each named rater to the others; a verdict "above" makes the rater a suspect.

    A suspect disagrees with the others of the same lines more than chance explains: careless, or strict, or right where
    the others are wrong. So no suspect is left out. Raters with fewer than ten lines of three ratings have none.
    """
    if not raters.named:
        return []
    rng = sampling.generator(raters.rated.name, "suspects")
    tested = distances(raters.ratings, raters.raters, rng, least=FEWEST_SHARED)
    labels: dict[str, Any] = {"dataset": raters.rated.name, "scorer": RATERS, "statistic": DISTANCE}
    labels |= {"seed": sampling.seed, "method": "permutation test inside lines; Benjamini and Hochberg"}
    columns = [column.tolist() for column in tested]
    columns.append(adjusted(columns[-1], "benjamini-hochberg"))
    return [
        Estimate(**labels, rater=raters.names[rater], n=n, value=value, p=p, p_adjusted=p_adjusted,
                 verdict=Verdict.ABOVE if p_adjusted <= FALSE_SUSPECTS else Verdict.INCONCLUSIVE)
        for rater, n, value, p, p_adjusted in zip(*columns, strict=True)
    ]  # fmt: skip


def by_chance(
    raters: Raters, least: float, weighting: stats.Weighting, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the effect of a rule by kappa on raters that differ by chance only: how many it leaves out, and alpha.

    Both are means over shuffles of the ratings of each line among its raters.
    """
    mixed = [raters.shuffled(rng) for _ in range(SHUFFLES)]
    names = [below_kappa(part, least, weighting) for part in mixed]
    kept = [part.without(out).ratings for part, out in zip(mixed, names, strict=True)]
    values = [stats.krippendorff_alpha(part).value for part in kept if len(raters.values) <= MOST_VALUES]
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(list(map(len, names)))), float(np.mean(known)) if known else NAN


def upside_down(estimates: Iterable[Estimate]) -> list[Estimate]:
    """Return the correlations of raters who rate high what the others rate low: one such rater lowers all agreement.

    Intervals are wider for more raters: of 60 who guess, one or two have an interval below 0 by chance.
    """
    rows = [row for row in pick(estimates, statistic="spearman", versus="") if row.rater and row.known]
    rows = [row for row in rows if row.n >= FEWEST_SHARED]
    tests, edge = Counter(row.dataset for row in rows), NormalDist().inv_cdf
    wider = {name: edge(1 - LEVEL / 2 / count) / edge(1 - LEVEL / 2) for name, count in tests.items()}
    return [row for row in rows if row.value + (row.high - row.value) * wider[row.dataset] < 0]
