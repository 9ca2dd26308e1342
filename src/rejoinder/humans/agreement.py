"""What is known of how far raters agree: all of a data set, each of them, and each two."""

from __future__ import annotations

from dataclasses import dataclass

from rejoinder.stats.figure import NOTHING, Figure

LEAST = 10  # lines that two raters share before a figure is made of them


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairwise:
    """How far one rater agrees with another, or with all others.

    Attributes:
        n: pairs of ratings of one line.
        kappa: Cohen's kappa, unweighted.
        kappa_linear: weighted by distance.
        kappa_quadratic: weighted by squared distance.
        spearman: correlation; of a rater with the mean of the line's other ratings.
    """

    n: int = 0
    kappa: Figure = NOTHING
    kappa_linear: Figure = NOTHING
    kappa_quadratic: Figure = NOTHING
    spearman: Figure = NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class OfRater(Pairwise):
    """What is known of one rater.

    Attributes:
        rater: the name.
        ratings: how many.
        mean: of the ratings.
        spread: their standard deviation.
        partners: how many others rated lines that this one rated.
    """

    rater: str
    ratings: int
    mean: float
    spread: float
    partners: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class OfPair(Pairwise):
    """Two raters.

    Attributes:
        rater: one.
        other: the other.
    """

    rater: str
    other: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterAgreement:
    """How far the raters of a data set agree.

    Attributes:
        lines: lines with a single rating.
        ratings: single ratings of them.
        raters: how many there are; where nobody is named, the most ratings of a line.
        named: whether they are people; else places in the lines (see `Raters`).
        again: ratings left out because their rater had rated the line before.
        nameless: ratings left out because they alone have no rater.
        pairs: pairs of raters who share ten lines or more; medians below are over these.
        kappa: median of Cohen's kappa, unweighted.
        kappa_linear: the same, weighted by distance.
        kappa_quadratic: the same, weighted by squared distance.
        spearman: median of Spearman's correlation.
        alpha_nominal: Krippendorff's alpha of ratings as names.
        alpha_ordinal: as ranks.
        alpha_interval: as numbers.
        icc_1: ICC(1, 1), one-way, of one rating.
        icc_1k: ICC(1, k), of the mean rating of a line.
        icc_2: ICC(2, 1), two-way, agreement, of one rating; lines that all raters rated.
        icc_2k: ICC(2, k).
        icc_3: ICC(3, 1), two-way, consistency.
        icc_3k: ICC(3, k).
        halves: Pearson correlation between the means of two random halves of each line's raters.
        halves_spearman: the same, Spearman.
        by_rater: one a rater; none where nobody is named.
        by_pair: one a pair of raters who share ten lines or more; none where nobody is named.
        seed: of the resamples.
        reason: why figures are missing, else "".
    """

    lines: int = 0
    ratings: int = 0
    raters: int = 0
    named: bool = False
    again: int = 0
    nameless: int = 0
    pairs: int = 0
    kappa: Figure = NOTHING
    kappa_linear: Figure = NOTHING
    kappa_quadratic: Figure = NOTHING
    spearman: Figure = NOTHING
    alpha_nominal: Figure = NOTHING
    alpha_ordinal: Figure = NOTHING
    alpha_interval: Figure = NOTHING
    icc_1: Figure = NOTHING
    icc_1k: Figure = NOTHING
    icc_2: Figure = NOTHING
    icc_2k: Figure = NOTHING
    icc_3: Figure = NOTHING
    icc_3k: Figure = NOTHING
    halves: Figure = NOTHING
    halves_spearman: Figure = NOTHING
    by_rater: tuple[OfRater, ...] = ()
    by_pair: tuple[OfPair, ...] = ()
    seed: int = 0
    reason: str = ""
