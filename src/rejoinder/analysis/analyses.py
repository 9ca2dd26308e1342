"""The analyses of a scored set: agreement with human ratings, agreement of raters, and what limits both."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy.special import ndtri
from scipy.stats import mannwhitneyu

from rejoinder.analysis.baselines import DATA_SET_MEAN
from rejoinder.analysis.contrasts import contrasts, contrasts_table, rank_groups
from rejoinder.analysis.disagreements import mistakes
from rejoinder.analysis.labels import labels, labels_table
from rejoinder.analysis.scored import RATERS, Analysis, Derived, ScoredSet
from rejoinder.analysis.systems import systems, systems_table
from rejoinder.data.rated import NO_SYSTEM, RatedSet
from rejoinder.estimates import LEVEL, NAN, Estimate, Verdict, decide, estimate_of, one, pick
from rejoinder.metrics.baselines import words
from rejoinder.report.tables import Column, Table, pivot
from rejoinder.report.written import DASH, count, interval, p_value
from rejoinder.stats.agreement import one_against_others, random_halves, reliability
from rejoinder.stats.correlation import CORRELATIONS, SMALLEST_P, chance_band, columns
from rejoinder.stats.ranking import pair_accuracy
from rejoinder.stats.resamples import FloatArray, IntArray, renumbered

MOST_PAIRED = 2000
"""Lines; all pairs of more take too long."""
CLOSE = 6
"""Words between the lengths of a response and of a reference; Liu et al. (2016), table 5, print "<= 6" and ">= 6"."""
WITHOUT_COPIES = {"by": "lines", "group": "without reference copies"}
NEAR, FAR = (f"{kind} {CLOSE} words of a reference's length" for kind in ("within", "beyond"))
MOST_NEEDED = 1_000_000
"""Lines; a forecast of more only means that there is almost no correlation."""
_FEW_SYSTEMS = {
    1: "one system: there is nothing to correlate; needs three or more",
    2: "two systems: any two points lie on a line, a correlation over them says nothing; needs three or more",
}
_DRAWS = 100  # of the one rater, or of the first half
_EDGE = float(ndtri(1 - LEVEL / 2))  # standard deviations to the edge of a chance band
_POWER = float(ndtri(0.8))


# agreement with human ratings


def agreement(scored: ScoredSet) -> list[Estimate]:
    """Return Pearson, Spearman and Kendall by scorer: over lines, then over the mean scores of systems."""
    estimates = []
    for scorer, rows, values, ratings in _ranked(scored):
        for name, correlate in CORRELATIONS.items():
            result = correlate(values, ratings, names=("score", "rating"))
            draws = scored.draws(name, scorer, rows) if result.known else np.empty(0)
            estimates.append(_correlation(scored, scorer, rows, result, draws, statistic=name))
        named = rows[scored.rated.systems[rows] != NO_SYSTEM]
        estimates += _over_systems(scored, scorer, named) if len(named) else []
    return estimates


def _over_systems(scored: ScoredSet, scorer: str, rows: IntArray) -> list[Estimate]:
    """Return the correlations of one scorer over the means of systems."""
    of_systems = renumbered(scored.rated.systems[rows])
    means = [scored.means(name, rows, of_systems) for name in (scorer, RATERS)]
    named = int((scored.rated.systems != NO_SYSTEM).sum())
    about = {"level": "system", "n": len(means[0]), "unscored": named - len(rows)}
    estimates = []
    for name, correlate in CORRELATIONS.items():
        result = correlate(*(mean[:, 0] for mean in means), names=("mean score", "mean rating"))
        result = replace(result, reason=_FEW_SYSTEMS.get(len(means[0]), result.reason))
        estimates.append(_correlation(scored, scorer, rows, result, columns(name, *means), statistic=name, **about))
    return estimates


def _correlation(
    scored: ScoredSet, scorer: str, rows: IntArray, result: Estimate, draws: FloatArray, **more: Any
) -> Estimate:
    """Return a correlation with its interval; or the reason for none, and why lines are unscored if any are."""
    about = {"value": result.value, "p": result.p, **more}
    if result.known:
        return scored.estimate(draws, scorer, rows, more["statistic"], **about)
    estimate, why = scored.row(scorer, rows, **about), scored.unscored.get(scorer)
    unscored = f"; {estimate.unscored} rated lines unscored, most often: {why}" if why and estimate.unscored else ""
    return replace(estimate, reason=f"{result.reason}{unscored}")


def within_systems(scored: ScoredSet) -> list[Estimate]:
    """Return the mean correlation within systems, where predicting each system's mean gives nothing."""
    named, estimates, statistic = len(scored.rated.named_systems), [], "pearson within systems"
    for scorer, rows, *_ in _ranked(scored):
        rows = rows[scored.rated.systems[rows] != NO_SYSTEM]
        reason = f"{named} systems named; two or more are needed" if named < 2 else ""
        if scored.kinds[scorer] == "oracle baseline":
            reason = reason or "the same for all lines of a system"
        if reason:
            estimates.append(scored.row(scorer, rows[:0], statistic, reason=reason))
        else:
            mean = scored.within(scorer, rows, renumbered(scored.rated.systems[rows]))
            estimates.append(scored.row(scorer, rows, statistic, mean))
    return estimates


def without_copies(scored: ScoredSet) -> list[Estimate]:
    """Return Pearson over the lines whose response equals no reference, if others do: those are easy to score."""
    copies = scored.rated.copies
    kept = {scorer: rows[~copies[rows]] for scorer, rows, *_ in _ranked(scored)} if copies.any() else {}
    return [
        scored.row(scorer, rows, "pearson", scored.within(scorer, rows, np.zeros_like(rows)), **WITHOUT_COPIES)
        for scorer, rows in kept.items()
    ]


def by_chance(scored: ScoredSet) -> list[Estimate]:
    """Return the interval that holds 95 % of the correlations of scorers that are unrelated to the ratings."""
    bands = [
        scored.row(scorer, rows, "pearson by chance", chance_band(values, ratings, scored.rated.contexts[rows]))
        for scorer, rows, values, ratings in _ranked(scored)
    ]
    return [band for band in bands if band.known]


def pairs_of_lines(scored: ScoredSet) -> list[Estimate]:
    """Return the share of pairs of lines that a scorer orders as the ratings do, ties calibrated."""
    none = Estimate(reason=f"not computed for more than {MOST_PAIRED:,} lines")
    method = "ties calibrated on these lines"
    estimates = []
    for scorer, rows, values, ratings in _ranked(scored):
        accuracy = pair_accuracy(values, ratings) if len(rows) <= MOST_PAIRED else none
        estimates.append(scored.row(scorer, rows, "pair accuracy", accuracy, method=method))
    return estimates


def out_of_domain(scored: ScoredSet) -> list[Estimate]:
    """Return the share of scored replies that are out of the domain of each scorer that has one."""
    return [
        scored.row(name, scored.rows(name), "share out of domain", value=share.outside / share.scored, n=share.scored)
        for name, share in scored.shares.items()
        if share.scored
    ]


def _ranked(scored: ScoredSet) -> Iterator[tuple[str, IntArray, FloatArray, FloatArray]]:
    """Yield each scorer with the lines that it scores, their scores and their ratings.

    Within one data set its mean rating is the same for all lines, so it is no scorer there.
    """
    for name in scored.scores:
        if name != DATA_SET_MEAN or scored.rated.pooled:
            rows = scored.rows(name)
            yield name, rows, scored.scores[name][rows], scored.rated.ratings[rows]


def raters(scored: ScoredSet) -> list[Estimate]:
    """Return how well raters agree with each other, and so the highest correlation to expect of any scorer."""
    if scored.rated.pooled:
        return []
    ratings = scored.rated.single_ratings
    rows = np.flatnonzero(np.isfinite(ratings).any(axis=1))
    ratings = ratings[rows]
    result = reliability(ratings, scored.resamples.at(rows)) if len(rows) else None
    if result is None or result.reason:
        reason = result.reason if result else "the data has no single ratings, only means"
        return [scored.row(RATERS, rows, "ceiling of pearson", reason=reason)]
    named = {"ICC(1)": result.single, "ICC(1,k)": result.mean, "ceiling of pearson": result.ceiling}
    estimates = [
        scored.estimate(draws, RATERS, rows, "root of ICC(1,k)" * name.startswith("ceiling"), statistic=name)
        for name, draws in named.items()
    ]
    rng, several = scored.sampling.generator(scored.name, "ceiling"), rows[np.isfinite(ratings).sum(axis=1) > 1]
    parts = {"one rater": one_against_others(ratings, rng, _DRAWS), "halves": random_halves(ratings, rng, _DRAWS)}
    for part, figures in parts.items():
        for name, figure in figures._asdict().items():
            statistic, seed = f"{name} of {part}", scored.sampling.seed
            estimates.append(scored.row(RATERS, several, statistic, figure, seed=seed))
    return estimates


def length(scored: ScoredSet) -> list[Estimate]:
    """Return the mean score of responses about as long as a reference, less that of the others.

    Nothing without references, and of a pool, whose scales differ. Source: Liu et al. (2016), table 5.
    """
    gaps = np.empty(0) if scored.rated.pooled else _length_gaps(scored.rated)
    if not np.isfinite(gaps).any():
        return []
    values = {RATERS: scored.rated.ratings, **{name: scored.scores[name] for name in scored.compared}}
    return [estimate for name, own in values.items() for estimate in _length_effect(scored, name, own, gaps)]


def _length_gaps(rated: RatedSet) -> FloatArray:
    """Return [N] words between the lengths of a response and of the nearest reference; NaN without a reference."""
    gaps = np.full(len(rated), np.nan)
    for row, example in enumerate(rated.examples):
        if lengths := [len(words(reference)) for reference in example.references if reference.strip()]:
            size = len(words(example.response))
            gaps[row] = min(abs(size - other) for other in lengths)
    return gaps


def _length_effect(scored: ScoredSet, scorer: str, values: FloatArray, gaps: FloatArray) -> list[Estimate]:
    """Return the effect on one scorer, or on the ratings, and the two means."""
    rows = np.flatnonzero(np.isfinite(gaps) & np.isfinite(values))
    far = (gaps[rows] > CLOSE).astype(np.int64)
    parts = {group: rows[far == kind] for kind, group in enumerate((NEAR, FAR))}
    statistic = "mean rating" if scorer == RATERS else "mean score"
    means = [
        scored.row(scorer, own, statistic, by="length", group=group, value=float(values[own].mean()))
        for group, own in parts.items()
        if len(own)
    ]
    if len(means) < 2:
        near, beyond = map(len, parts.values())
        sizes = f"{near} responses within {CLOSE} words of a reference's length and {beyond} beyond"
        return [*means, scored.row(scorer, rows, "length effect", reason=f"{sizes}; one of each is needed")]
    drawn = scored.means(scorer, rows, far)
    about: dict[str, Any] = {
        "statistic": "length effect",
        "value": means[0].value - means[1].value,
        "p": max(float(mannwhitneyu(*(values[own] for own in parts.values())).pvalue), SMALLEST_P),
        # the tail depends on the contexts that have a line of the group
        "contexts": min(mean.contexts for mean in means),
    }
    method = "difference of means; p: Mann-Whitney, takes lines as independent"
    return [*means, scored.estimate(drawn[0] - drawn[1], scorer, rows, method, **about)]


# what follows


def verdicts(estimates: list[Estimate], scored: ScoredSet) -> list[Estimate]:
    """Decide which correlations are beyond what chance gives the best of as many scorers (Holm, 5 %)."""
    rows = pick(estimates, statistic="pearson", level=scored.level, group="")
    bands = {row.scorer: row.high for row in pick(estimates, statistic="pearson by chance")}
    decided = {row.scorer: row for row in beyond_chance(rows, bands, scored)}
    replaced = {id(row): decided[row.scorer] for row in rows}
    return [replaced.get(id(row), row) for row in estimates]


def beyond_chance(rows: Sequence[Estimate], bands: dict[str, float], scored: ScoredSet) -> list[Estimate]:
    """Return Pearson correlations with verdicts and, if inconclusive, the number of lines that would confirm them.

    The scorers that were asked for and the others are two families. `bands` are the half widths of the chance bands by
    scorer; near their edge the normal distribution replaces Student's, which makes no difference for the verdict.
    """
    decided: list[Estimate] = []
    for asked in (True, False):
        family = [row for row in rows if (row.scorer in scored.asked) is asked]
        widths = [bands.get(row.scorer, NAN) for row in family]
        p = [
            math.erfc(_EDGE * abs(row.value) / band / math.sqrt(2)) if band > 0 else NAN
            for row, band in zip(family, widths, strict=True)
        ]
        tried = sum(row.known and row.scorer not in scored.outside for row in family)
        for row, band in zip(decide(family, p, outside=scored.outside), widths, strict=True):
            decided.append(replace(row, needed=needed(row, band, tried) if row.verdict == "inconclusive" else None))
    return decided


def needed(row: Estimate, band: float, tried: int) -> int | None:
    """Return about how many lines would confirm a correlation as high as this one with probability 0.8.

    It has a chance band of this half width, and is the best of `tried` scorers. None if it is not positive or has no
    band, if that number of lines exists already, and above a million.
    """
    if not row.value > 0 or math.isnan(band) or not tried:
        return None
    beyond = float(ndtri(1 - LEVEL / 2 / tried)) + _POWER
    lines = math.ceil(min(row.n * (beyond / _EDGE * band / row.value) ** 2, 2 * MOST_NEEDED))
    return lines if row.n < lines <= MOST_NEEDED else None


def shares_of_ceiling(estimates: list[Estimate], scored: ScoredSet) -> list[Estimate]:
    """Add each correlation as a share of the ceiling, which is taken as known."""
    ceiling = one(estimates, statistic="ceiling of pearson").value
    if not ceiling > 0:
        return estimates
    rows = pick(estimates, statistic="pearson", level=scored.level, group="")
    about: dict[str, Any] = {"p": NAN, "p_adjusted": NAN, "needed": None, "verdict": Verdict.UNDEFINED}
    about |= {"statistic": "share of the ceiling", "method": "Pearson over the ceiling, which is taken as known"}
    return [*estimates, *(estimate_of(row / ceiling, **about) for row in rows if row.known)]


# tables


def scorers_table(estimates: list[Estimate]) -> Table | None:
    """Return all scorers, the best by Pearson first."""
    level = next((row.level for row in estimates if row.level != "system"), "turn")

    def column(
        title: str, statistic: str, write: Callable[[Estimate], str] = interval, *, spare: bool = False
    ) -> Column:
        return Column(title, {"statistic": statistic, "level": level, "group": "", "versus": ""}, write, spare)

    copies = {"statistic": "pearson", "level": level, **WITHOUT_COPIES}
    return pivot(
        estimates,
        "scorer",
        [
            column("Pearson [low, high]", "pearson"),
            column("agreement", "pearson", agreement_word),
            column("n", "pearson", lambda row: count(row.n), spare=True),
            column("by chance", "pearson by chance", lambda row: f"±{row.high:.2f}"),
            column("share of the ceiling", "share of the ceiling", partial(interval, share=True)),
            column("Spearman [low, high]", "spearman"),
            Column("without copies", copies, spare=True),
            column("pairs", "pair accuracy", spare=True),
            column("group", "rank group", lambda row: f"{row.value:.0f}", spare=True),
        ],
        title="Scorers",
        caption="Agreement with human ratings line by line. [low, high]: 95 % interval from resampled contexts. By "
        "chance: where 95 % of scorers fall that are unrelated to the ratings. Without copies: over responses that "
        "equal no reference. Pairs: share of pairs of responses in the order of the ratings, ties calibrated. Group: a "
        "new one begins where all above are significantly ahead of all below, by Pearson and by Spearman.",
    )


def systems_of_scorers_table(estimates: list[Estimate]) -> Table | None:
    """Return how scorers agree with the ratings within systems and over their means."""
    over = {"level": "system"}
    return pivot(
        [row for row in pick(estimates, system="", versus="", group="") if row.known],
        "scorer",
        [
            Column("within systems [low, high]", {"statistic": "pearson within systems"}),
            Column("over systems, Pearson", {"statistic": "pearson", **over}),
            Column("over systems, Spearman", {"statistic": "spearman", **over}),
            Column("soft pairwise accuracy", {"statistic": "soft pairwise accuracy", **over}),
        ],
        title="Scorers within and over systems",
        caption="Within systems: mean of the Pearson correlations within each system, where predicting each system's "
        "mean gives nothing. Over systems: mean scores and mean ratings. Soft pairwise accuracy: how similar scores "
        "and ratings are in their certainty about which of two systems is better; 0.5 is chance.",
    )


def agreement_word(row: Estimate) -> str:
    """Return whether a correlation shows agreement with human ratings, in a word."""
    return {"above": "yes", "below": "reversed", "undefined": DASH}.get(row.verdict, row.verdict.value)


def raters_table(estimates: list[Estimate]) -> Table | None:
    """Return how well raters agree."""
    names = {
        "ceiling of pearson": "noise ceiling: root of the reliability of the mean rating",
        "pearson of one rater": "one rater and the mean of the others, Pearson",
        "spearman of one rater": "one rater and the mean of the others, Spearman",
        "pearson of halves": "two random halves of the raters, Pearson",
        "spearman of halves": "two random halves of the raters, Spearman",
        "ICC(1,k)": "reliability of the mean rating, ICC(1,k)",
        "ICC(1)": "reliability of one rating, ICC(1)",
    }
    rows = [
        replace(row, statistic="value", group=text)
        for name, text in names.items()
        for row in pick(estimates, scorer=RATERS, statistic=name)
    ]
    value = [Column("value", {"statistic": "value"}), Column("n", {"statistic": "value"}, lambda row: count(row.n))]
    return pivot(rows, "group", value, title="Raters", heading="figure", in_order=True)


def length_table(estimates: list[Estimate]) -> Table | None:
    """Return the effect of length."""
    effect, near, far = {"statistic": "length effect"}, {"group": NEAR}, {"group": FAR}
    return pivot(
        [*pick(estimates, **effect), *pick(estimates, by="length")],
        "scorer",
        [
            Column("near", near),
            Column("n, near", near, lambda row: count(row.n), spare=True),
            Column("far", far),
            Column("n, far", far, lambda row: count(row.n), spare=True),
            Column("difference [low, high]", effect, partial(interval, digits=3)),
            Column("p", effect, lambda row: p_value(row.p)),
        ],
        title="Length",
        caption=f"Mean score of responses {NEAR} (near), and of the others (far); Liu et al. (2016), table 5. p: "
        "Mann-Whitney, takes lines as independent. A scorer that lowers its score where raters do not follows length.",
        in_order=True,
    )


# the lists

TableOf = Callable[[list[Estimate]], Table | None]
"""What makes the table of an analysis from the estimates of one data set."""
ANALYSES: tuple[tuple[Analysis, TableOf | None], ...] = (
    (agreement, scorers_table),
    (within_systems, systems_of_scorers_table),
    (without_copies, None),
    (by_chance, None),
    (pairs_of_lines, None),
    (out_of_domain, None),
    (raters, raters_table),
    (contrasts, contrasts_table),
    (systems, systems_table),
    (length, length_table),
    (labels, labels_table),
    (mistakes, None),
)
"""The analyses of a data set, each with its table. To add one, write a function and its table, and one line here."""
DERIVED: tuple[Derived, ...] = (verdicts, shares_of_ceiling, rank_groups)


def analyse(scored: ScoredSet, analyses: Iterable[tuple[Analysis, TableOf | None]] = ANALYSES) -> list[Estimate]:
    """Return all estimates of one scored set."""
    estimates = [estimate for analysis, _ in analyses for estimate in analysis(scored)]
    for derive in DERIVED:
        estimates = derive(estimates, scored)
    return estimates
