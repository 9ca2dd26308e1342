"""Estimates: one measured number each, with labels that say what it is about; how to find them, and their verdicts."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from operator import attrgetter
from typing import Any, Literal

NAN = float("nan")
CONFIDENCE = 0.95
"""Level of every interval."""
LEVEL = 0.05
"""Level of every test."""


class Verdict(StrEnum):
    """On which side of chance a value significantly lies."""

    ABOVE = "above"
    BELOW = "below"
    INCONCLUSIVE = "inconclusive"
    UNDEFINED = "undefined"
    OUT_OF_DOMAIN = "out of domain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """One measured number: its labels, then the measurement.

    Attributes:
        dataset: name of the data set, or "pooled" for all of them together.
        scorer: name of the scorer; "raters" for human ratings.
        versus: what was subtracted: a scorer, a system, a rater.
        system: name of the system.
        rater: name of the rater.
        level: what one item is: "turn", "dialogue", "system" or "pair".
        by: the column or property that `group` is a value of.
        group: part of the lines, such as a value of a column, a size of a learning curve, an attack.
        statistic: what was measured, one of `STATISTICS`.
        value: NaN if undefined.
        low: lower end of the 95 % interval; NaN if undefined.
        high: upper end.
        n: number of items.
        contexts: number of clusters that were resampled.
        unscored: number of items without a score, which are left out.
        p: two-sided, of the null hypothesis that `method` names; never 0; NaN if undefined.
        p_adjusted: p, adjusted for the family of tests.
        needed: of an inconclusive value, number of contexts that would confirm it with probability .8 if the truth is
            the end of the interval nearest to 0; None if unknown.
        verdict: see `decide`.
        method: how value, interval and p were computed.
        seed: of the draws; None if nothing was drawn.
        reason: why value or interval is missing.
    """

    dataset: str = ""
    scorer: str = ""
    level: str = "turn"
    statistic: str = ""
    n: int = 0
    unscored: int = 0
    contexts: int = 0
    value: float = NAN
    low: float = NAN
    high: float = NAN
    p: float = NAN
    method: str = ""
    seed: int | None = None
    reason: str = ""
    versus: str = ""
    system: str = ""
    rater: str = ""
    by: str = ""
    group: str = ""
    p_adjusted: float = NAN
    needed: int | None = None
    verdict: Verdict = Verdict.UNDEFINED

    def __neg__(self) -> Estimate:
        """Return the estimate with the opposite sign."""
        return replace(self, value=-self.value, low=-self.high, high=-self.low)

    def __truediv__(self, whole: float) -> Estimate:
        """Return the estimate as a share of `whole`, taken as known; NaN unless `whole` is positive."""
        whole = whole if whole > 0 else NAN
        return replace(self, value=self.value / whole, low=self.low / whole, high=self.high / whole)

    def between(self, least: float, most: float) -> Estimate:
        """Return the estimate with its interval cut off at the ends of a scale, unless the value is outside it."""
        if not self.has_interval or not least <= self.value <= most:
            return self
        return replace(self, low=min(max(self.low, least), most), high=min(max(self.high, least), most))

    @property
    def known(self) -> bool:
        """Whether there is a value."""
        return not math.isnan(self.value)

    @property
    def ends(self) -> tuple[float, float]:
        """Lower and upper end of the interval."""
        return self.low, self.high

    @property
    def has_interval(self) -> bool:
        """Whether there is an interval."""
        return not math.isnan(self.low)

    def excludes(self, null: float = 0.0) -> bool:
        """Return whether there is an interval without `null`."""
        return self.low > null or self.high < null


LABELS = ("dataset", "scorer", "versus", "system", "rater", "level", "by", "group", "statistic")
"""The fields that say what an estimate is about; no two estimates of one result have all of them in common."""


def estimate_of(estimate: Estimate, **labels: Any) -> Estimate:
    """Return the estimate with other `labels` or other fields."""
    return replace(estimate, **labels)


_SUMMARY = ("mean", "sd", "within 1 sd", "lowest", "highest")
STATISTICS = frozenset(
    {
        # agreement with human ratings
        *("pearson", "spearman", "kendall", "pearson by chance", "spearman by chance", "pearson within systems"),
        *("pearson within contexts", "pearson of the system mean", "pearson of the data set mean"),
        *("pair accuracy", "pair accuracy by chance", "highest pearson", "pearson in another data set"),
        *("difference of pearson", "difference of spearman", "ceiling of pearson", "share of the ceiling"),
        *("ceiling of pearson within systems", "pearson against the same others", "worth raters"),
        *("soft pairwise accuracy", "rank group", "mean score", "mean prediction interval", "mean rating"),
        *("length effect", "rated bad, scored good", "rated good, scored bad", "share out of domain"),
        # agreement of raters
        *("ICC(1)", "ICC(1,k)", "ICC(2,1)", "ICC(2,k)", "ICC(3,1)", "ICC(3,k)"),
        *("kappa", "pearson of one rater", "spearman of one rater", "pearson of halves", "spearman of halves"),
        *("alpha interval", "alpha ordinal", "alpha nominal", "kappa linear", "kappa quadratic"),
        *("spread of ratings", "share of ratings", "competence", "seconds", "raters left out", "raters beaten"),
        *("distance to the others", "advantage", "advantage of the rater"),
        # labels
        *("true pass", "false pass", "true fail", "false fail", "no verdict", "accuracy", "TPR", "TNR", "AUC"),
        *("balanced accuracy", "F1", "bad among passed", "good among failed", "cutoff", "break-even cost"),
        *("pass rate", "pass rate, labels only", "pass rate, judge only", "pass share of labelled lines"),
        *("difference of pass rate", "difference of pass rate, judge only", "labels needed"),
        *("agreement of labellers", "wrong fail labels", "TNR of a perfect judge"),
        # comparison of systems, preferences
        *(
            "difference",
            "difference, scores only",
            "detectable difference",
            "win rate",
            "share of wins",
            "share of ties",
            "share of losses",
        ),
        # preference pairs
        *("difference of accuracy", "length-balanced accuracy"),
        *("agreement with single votes", "highest agreement with single votes"),
        # means from few ratings
        *("mean rating, ratings only", "difference, ratings only", "power", "effective ratings"),
        *("ratings needed", "ratings needed, ratings only"),
        # learned judges
        *("gain in pearson", "gain in spearman", "gain in accuracy", "gain from more lines"),
        *("spearman within systems", "gain in pearson within systems", "gain in spearman within systems"),
        # re-ranking
        "share won",
        # audit
        *("evaluator reliability error", "share fooled", "share scored better", "ratio of spreads", "conicity"),
        *(
            "spread of vectors",
            "length of vectors",
            "sd of scores, share of the scale",
            "sd of ratings, share of the scale",
        ),
        *("partial correlation given the rating", "points of score for a step"),
        *("pearson with the original score", "spearman with the original score"),
        *(f"{name} score, {key}" for name in ("original", "attacked") for key in _SUMMARY),
    }
)
"""The closed list of statistics."""


# finding estimates


def pick(estimates: Iterable[Estimate], **labels: Any) -> list[Estimate]:
    """Return the estimates with these labels, in order; a label may be a collection of values."""
    wanted = {name: {value} if isinstance(value, str) else set(value) for name, value in labels.items()}
    return [estimate for estimate in estimates if all(getattr(estimate, name) in wanted[name] for name in wanted)]


def one(estimates: Iterable[Estimate], **labels: str) -> Estimate:
    """Return the one estimate with these labels; without such an estimate, an empty one with a reason.

    Raises:
        LookupError: several estimates have these labels.
    """
    matching = pick(estimates, **labels)
    if len(matching) > 1:
        raise LookupError(f"{len(matching)} estimates have the labels {labels}. Name more labels")
    return matching[0] if matching else Estimate(**labels, reason="not measured")  # type: ignore[arg-type]


def replaced(estimates: Iterable[Estimate], others: Iterable[Estimate]) -> list[Estimate]:
    """Return the estimates in order, with `others` in place of those that have the same labels."""
    labels = attrgetter(*LABELS)
    by_labels = {labels(row): row for row in others}
    return [by_labels.get(labels(row), row) for row in estimates]


def rows(estimates: Iterable[Estimate]) -> list[dict[str, Any]]:
    """Return the estimates as JSON values, one mapping each; numbers that are not finite are None."""
    return [{name: plain(value) for name, value in asdict(estimate).items()} for estimate in estimates]


def plain(value: Any) -> Any:
    """Return `value` as JSON values: numbers that are not finite become None, tuples lists, other objects text."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return str(value) if isinstance(value, StrEnum) or not isinstance(value, (str, int, type(None))) else value


# verdicts


Adjustment = Literal["holm", "benjamini-hochberg", "benjamini-yekutieli"]


def adjusted(p: Sequence[float], method: Adjustment = "holm") -> list[float]:
    """Return the p of a family of tests, adjusted for their number; NaN stays NaN and is not counted.

    Holm bounds the chance of one false rejection, Benjamini and Hochberg the share of false rejections,
    Benjamini and Yekutieli the same for tests that depend on each other.
    """
    places = sorted((place for place in range(len(p)) if not math.isnan(p[place])), key=lambda place: p[place])
    m, result = len(places), [NAN] * len(p)
    if method == "holm":
        highest = 0.0
        for rank, place in enumerate(places):
            highest = max(highest, min(1.0, (m - rank) * p[place]))
            result[place] = highest
        return result
    factor = sum(1 / k for k in range(1, m + 1)) if method == "benjamini-yekutieli" else 1.0
    lowest = 1.0
    for rank in range(m, 0, -1):
        lowest = min(lowest, factor * m / rank * p[places[rank - 1]])
        result[places[rank - 1]] = lowest
    return result


def decide(
    family: Sequence[Estimate],
    p: Sequence[float] | None = None,
    *,
    null: float = 0.0,
    level: float = LEVEL,
    outside: Collection[str] = (),
    method: Adjustment = "holm",
    tests: int = 0,
) -> list[Estimate]:
    """Return a family of estimates with adjusted p and verdicts.

    A value is above or below `null` only if its adjusted p is below `level` and its interval excludes `null`. Otherwise
    it is inconclusive, and undefined without a value.

    Args:
        family: the estimates that are tested together.
        p: their p; without it, that of the estimates.
        null: the value by chance.
        level: of the tests.
        outside: scorers that cannot judge these lines. They are "out of domain" and not in the family.
        method: of the adjustment.
        tests: number of tests in the family, if some of them are not among these estimates.
    """
    given = [estimate.p for estimate in family] if p is None else list(p)
    outsiders = [bool({estimate.scorer, estimate.versus} & set(outside)) for estimate in family]
    given = [NAN if is_outside else value for is_outside, value in zip(outsiders, given, strict=True)]
    tested = sum(not math.isnan(value) for value in given)
    values = adjusted([*given, *[1.0] * max(0, tests - tested)], method)[: len(family)]
    return [
        replace(
            estimate,
            p_adjusted=value,
            verdict=Verdict.OUT_OF_DOMAIN if is_outside else _verdict(estimate, value, null, level),
        )
        for estimate, value, is_outside in zip(family, values, outsiders, strict=True)
    ]


def _verdict(estimate: Estimate, p: float, null: float, level: float) -> Verdict:
    """Return on which side of `null` the value significantly lies."""
    if not estimate.known:
        return Verdict.UNDEFINED
    if p < level and estimate.excludes(null):
        return Verdict.ABOVE if estimate.value > null else Verdict.BELOW
    return Verdict.INCONCLUSIVE
