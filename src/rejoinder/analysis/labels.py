"""Scorers against human labels: how many good replies a judge passes and how many bad ones it catches.

A verdict is 1 (pass) or 0 (fail). Scorers that give other numbers have an area under the curve, and the shares at a
cutoff. "TPR" is the share of good replies passed, "TNR" the share of bad replies caught: the positive class is a pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import sqrt
from typing import Any, get_args

import numpy as np

from rejoinder.analysis.scored import Chosen, Judging, JudgingOptions, ScoredSet
from rejoinder.data.clusters import sorted_clusters
from rejoinder.data.rated import RatedSet
from rejoinder.data.rated_lines import DEV, TEST
from rejoinder.data.scales import Scale
from rejoinder.data.values import is_number
from rejoinder.errors import UsageError
from rejoinder.estimates import NAN, Estimate, Verdict, one, pick
from rejoinder.example import Example
from rejoinder.report.tables import Column, Table, pivot
from rejoinder.report.written import count, interval, number
from rejoinder.stats.pass_rate import NO_VERDICT, weighted_shares
from rejoinder.stats.resamples import BoolArray, FloatArray, IntArray, Resamples, renumbered
from rejoinder.stats.shares import auc_of_clusters, best_cutoff, binary_share
from rejoinder.stats.splits import fold_groups

COUNTS = ("true pass", "false pass", "false fail", "true fail")
"""In the order of `confusion`. The first word says whether the judge is right, the second what it says."""
KINDS = {"TPR": 1, "TNR": 0}
"""The two shares, with the label of their replies."""
FEWEST_LABELS = 10
"""Labels of a class, without which a judge is neither above nor below the bar."""
ALWAYS_PASS = "always pass"  # noqa: S105
"""The baseline that passes every reply."""
AT_CUTOFF: dict[str, Any] = {"by": "cutoff", "group": "best on other lines"}
_FOLDS = 5
_EDGE, _POWER = 1.959963984540054, 0.8416212335729143  # of the normal distribution: two-sided 5 %, 80 %


# labels and verdicts


def is_labelled(rated: RatedSet) -> bool:
    """Return whether ratings are labels: all are 0 or 1, on the scale from 0 to 1 or, with both of them, on none."""
    return not rated.pooled and are_labels(rated.ratings, rated.scale)


def are_labels(ratings: FloatArray, scale: Scale | None) -> bool:
    """Return whether ratings [N] are all 0 or 1, on the scale from 0 to 1 or, with both of them, on none."""
    on_scale = scale == (0.0, 1.0) or (scale is None and len(ratings) > 0 and bool(np.ptp(ratings) > 0))
    return on_scale and is_binary(ratings)


def counted(rated: RatedSet) -> IntArray:
    """Return the places of the labelled lines that the answer is about: those of the test split if there is one."""
    splits = np.array(rated.splits, dtype=object)
    return np.flatnonzero(splits == TEST) if TEST in rated.splits else np.arange(len(rated))


def is_binary(values: FloatArray) -> bool:
    """Return whether all values are 0 or 1."""
    return bool(np.isin(values, (0.0, 1.0)).all())


def good_or_bad(examples: Sequence[Example], dimension: str, good: float) -> list[Example]:
    """Return the examples with each rating as a label: 1 from `good` on, else 0."""

    def label(name: str, value: float) -> float:
        return float(value >= good) if name == dimension else value

    return [
        replace(
            example,
            ratings=tuple(replace(rating, value=label(rating.dimension, rating.value)) for rating in example.ratings),
            quality={name: label(name, value) for name, value in example.quality.items()},
            scales={**example.scales, dimension: (0.0, 1.0)},
        )
        for example in examples
    ]


def judging_of(given: JudgingOptions) -> tuple[Judging, dict[str, Any]]:
    """Return how verdicts are judged, and all options; UsageError if a value is out of range."""
    options: dict[str, Any] = {"bar": None, "cost": 1.0, "cutoff": None, "good": None, "chosen": "chance", "by": ()}
    if unknown := sorted({*given} - {*options}):
        raise UsageError(f"study has no option {unknown[0]!r}. Use one of {', '.join(options)}")
    options |= given
    bar, cost, cutoff, _, chosen, by = options.values()
    if bar is not None and not (is_number(bar) and 0 < bar <= 1):
        raise UsageError(f"bar is {bar!r}, expected a share over 0, up to 1")
    if not (is_number(cost) and cost > 0):
        raise UsageError(f"cost is {cost!r}, expected a number over 0")
    if cutoff not in (None, "best") and not is_number(cutoff):
        raise UsageError(f"cutoff is {cutoff!r}, expected a number or 'best'")
    if chosen not in get_args(Chosen):
        raise UsageError(f"chosen is {chosen!r}, expected one of {', '.join(get_args(Chosen))}")
    return Judging(Judging().bar if bar is None else float(bar), float(cost), cutoff, chosen, tuple(by)), options


def judges_of(scored: ScoredSet) -> list[str]:
    """Return the scorers that were asked for and give verdicts on labelled lines, some of them by a cutoff."""
    if not is_labelled(scored.rated):
        return []
    names = [name for name in scored.asked if len(scored.rows(name))]
    return [name for name in names if scored.judging.cutoff is not None or gives_verdicts(scored, name)]


def gives_verdicts(scored: ScoredSet, name: str) -> bool:
    """Return whether a scorer that is no baseline gives nothing but 0 and 1."""
    scores = np.concatenate([scored.scores[name], scored.of_all.get(name, np.empty(0))])
    return "baseline" not in scored.kinds[name] and is_binary(scores[np.isfinite(scores)])


@dataclass(frozen=True, eq=False)
class Judged:
    """A judge's verdicts next to labels, of N labelled lines among M lines.

    Attributes:
        scored: the data set.
        name: of the judge.
        rows: [N] places of the labelled lines in the rated set.
        labels: [N] 1 for a good reply, 0 for a bad one.
        verdicts: [N] 1, 0 or `NO_VERDICT`.
        every: [M] the verdicts on all lines.
        places: [N] places of the labelled lines among all lines, -1 for lines that came with the labels alone.
    """

    scored: ScoredSet
    name: str
    rows: IntArray
    labels: FloatArray
    verdicts: IntArray
    every: IntArray
    places: IntArray

    @classmethod
    def of(cls, scored: ScoredSet, name: str, rows: IntArray | None = None) -> Judged:
        """Return the verdicts of a scorer, by its cutoff if it gives numbers, on `rows` or those of the answer."""
        rows, among = counted(scored.rated) if rows is None else rows, scored.rated.population.rows
        scores, every = scored.scores[name][rows], scored.of_all.get(name, np.empty(0))
        if not gives_verdicts(scored, name):
            scores, every = _cut(scored, rows, scores, every)
        places = np.full(len(scored.rated), -1)
        places[among[among >= 0]] = np.flatnonzero(among >= 0)
        verdicts, all_verdicts = (
            np.where(np.isfinite(values), values, NO_VERDICT).astype(np.int64) for values in (scores, every)
        )
        return cls(scored, name, rows, scored.rated.ratings[rows], verdicts, all_verdicts, places[rows])

    @property
    def lines(self) -> tuple[Example, ...]:
        """[M] all lines."""
        return self.scored.rated.population.lines

    @cached_property
    def clusters(self) -> IntArray:
        """[M] clusters of all lines."""
        return np.asarray(sorted_clusters(self.lines).numbers)

    @property
    def judged(self) -> IntArray:
        """Positions of the labelled lines with a verdict."""
        return np.flatnonzero(self.verdicts != NO_VERDICT)

    @property
    def wrong(self) -> BoolArray:
        """[N] whether a labelled line has a verdict that differs from its label."""
        differs: BoolArray = (self.verdicts != NO_VERDICT) & (self.verdicts != self.labels)
        return differs

    def contexts(self, places: IntArray) -> IntArray:
        """Return the clusters of some labelled lines."""
        return self.scored.rated.contexts[self.rows[places]]

    def passed(self, listed: BoolArray | slice = slice(None)) -> float:
        """Return the share of lines with a verdict that pass, of all lines or some [M]; if there are none, labelled."""
        verdicts = self.every[listed] if len(self.every) else self.verdicts
        return float(verdicts[verdicts != NO_VERDICT].mean()) if (verdicts != NO_VERDICT).any() else NAN

    def row(self, statistic: str, places: IntArray, measured: Estimate | None = None, **more: Any) -> Estimate:
        """Return an estimate about some labelled lines, without a verdict unless the judge cannot judge them."""
        about = {"seed": None, "verdict": _verdict(self.scored, self.name), **more}
        return self.scored.row(self.name, self.rows[places], statistic, measured or Estimate(), **about)

    def share(self, statistic: str, places: IntArray, hits: BoolArray, nothing: str = "no line") -> Estimate:
        """Return the share of hits among some labelled lines; `nothing` is the reason if there are none."""
        share = binary_share(hits, self.contexts(places))
        share = share if len(places) else replace(share, reason=nothing)
        unscored = len(self.rows) - len(self.judged)
        return self.row(statistic, places, share, method="share, 95% Wilson interval", unscored=unscored)


def _cut(scored: ScoredSet, rows: IntArray, scores: FloatArray, every: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return scores of labelled lines and of all lines as 1 from the cutoff on and 0 below it; NaN stays.

    A cutoff that is to be chosen is chosen for each fold of contexts on the labels of the others.
    """
    cutoff, labels = scored.judging.cutoff, scored.rated.ratings[rows]
    if isinstance(cutoff, float | int):
        return _at_least(scores, cutoff), _at_least(every, cutoff)
    groups = scored.rated.contexts[rows]
    folds = fold_groups(groups, min(_FOLDS, len(np.unique(groups))), scored.sampling.generator(scored.name, "cutoff"))
    verdicts = np.empty(len(scores))
    for fold in np.unique(folds):
        inside = folds == fold
        verdicts[inside] = _at_least(scores[inside], learnt_cutoff(scored, labels[~inside], scores[~inside]))
    return verdicts, _at_least(every, learnt_cutoff(scored, labels, scores))


def learnt_cutoff(scored: ScoredSet, labels: FloatArray, scores: FloatArray) -> float:
    """Return the cutoff with the lowest cost of errors on these lines."""
    known = np.isfinite(scores)
    good, bad = scores[known & (labels == 1)], scores[known & (labels == 0)]
    return best_cutoff(good, bad, scored.judging.cost) if len(good) + len(bad) else -np.inf


def _at_least(scores: FloatArray, cutoff: float) -> FloatArray:
    return np.where(np.isfinite(scores), scores >= cutoff, np.nan)


# counts and rates


def confusion(labels: FloatArray, verdicts: FloatArray, resamples: Resamples) -> FloatArray:
    """Return [4, 1 + B] how many true passes, false passes, false fails and true fails are in each resample.

    `labels` and `verdicts` [N] are 1 for a good reply and 0 for a bad one.
    """
    fails = 1 - labels, 1 - verdicts
    return resamples.sums(np.stack([labels * verdicts, fails[0] * verdicts, labels * fails[1], fails[0] * fails[1]]))


def rates(counts: FloatArray) -> dict[str, FloatArray]:
    """Return accuracy, TPR, TNR, kappa and others [1 + B] of `confusion` counts [4, 1 + B]; NaN where undefined."""
    true_pass, false_pass, false_fail, true_fail = counts
    n = counts.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = (true_pass + true_fail) / n
        both_pass = (true_pass + false_pass) * (true_pass + false_fail)
        expected = (both_pass + (true_fail + false_fail) * (true_fail + false_pass)) / n**2
        shares = {"TPR": true_pass / (true_pass + false_fail), "TNR": true_fail / (true_fail + false_pass)}
        return {
            "accuracy": observed,
            **shares,
            "balanced accuracy": (shares["TPR"] + shares["TNR"]) / 2,
            "F1": 2 * true_pass / (2 * true_pass + false_pass + false_fail),
            "kappa": np.where(expected < 1, (observed - expected) / (1 - expected), np.nan),
        }


def weighted(counts: FloatArray, passed: float) -> FloatArray:
    """Return counts with the passes weighted to the share `passed` of all lines that the judge passes."""
    n, passes = counts.sum(axis=0), counts[0] + counts[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        of_passes, of_fails = passed * n / passes, (1 - passed) * n / (n - passes)
    result: FloatArray = counts * np.stack([of_passes, of_passes, of_fails, of_fails])
    return result


# estimates


def labels(scored: ScoredSet) -> list[Estimate]:
    """Return the estimates of each scorer; none if ratings are no labels.

    Scorers with other numbers than verdicts have an AUC, and the shares at the best cutoff on other lines. A labelled
    line without a verdict counts as "no verdict", never as a fail. Counts have no interval, shares and AUC have
    Wilson's, all else has one over resamples.
    """
    if not is_labelled(scored.rated):
        return []
    estimates, judges = _always_pass(scored), judges_of(scored)
    dev = np.flatnonzero(np.array(scored.rated.splits) == DEV)
    for name in scored.scores:
        rows = scored.rows(name)
        if not len(rows):
            continue
        if not is_binary(scored.scores[name][rows]):
            estimates += _of_numbers(scored, name, at_cutoff=name in scored.asked and name not in judges)
        if name in judges or gives_verdicts(scored, name):
            estimates += against_labels(Judged.of(scored, name))
            if len(dev) and TEST in scored.rated.splits:
                of_dev = Judged.of(scored, name, dev)
                estimates += [replace(row, by="split", group=DEV) for row in two_shares(of_dev, of_dev.judged)]
    return estimates


def _always_pass(scored: ScoredSet) -> list[Estimate]:
    """Return what a judge that passes everything reaches."""
    rows = counted(scored.rated)
    p = float(scored.rated.ratings[rows].mean())
    values = {"accuracy": p, "F1": 2 * p / (1 + p), "balanced accuracy": 0.5, "kappa": 0.0}
    about: dict[str, Any] = {"method": "the same verdict for every reply", "seed": None, "unscored": 0}
    return [scored.row(ALWAYS_PASS, rows, name, value=value, **about) for name, value in values.items()]


def _of_numbers(scored: ScoredSet, name: str, *, at_cutoff: bool) -> list[Estimate]:
    """Return the AUC, in which equal scores count half, and the shares at the best cutoff on other lines."""
    rows = np.intersect1d(counted(scored.rated), scored.rows(name))
    labels, scores = scored.rated.ratings[rows], scored.scores[name][rows]
    good, clusters = labels == 1, renumbered(scored.rated.contexts[rows])
    area = auc_of_clusters(scores[good], scores[~good], clusters[good], clusters[~good])
    about: dict[str, Any] = {"method": "share of pairs, 95% Wilson interval (Obuchowski)", "seed": None}
    estimates = [scored.row(name, rows, "AUC", area, verdict=_verdict(scored, name), **about)]
    if at_cutoff:
        shares = shares_of(Judged.of(scored, name))
        about["method"] = f"cutoff chosen on other contexts, {shares[0].method}"
        estimates += [replace(share, **AT_CUTOFF, **about, verdict=Verdict.UNDEFINED) for share in shares]
        about["method"] = f"lowest score that passes; a bad reply passed costs {scored.judging.cost:g} good ones failed"
        if np.isfinite(cutoff := learnt_cutoff(scored, labels, scores)):
            about["value"] = cutoff
        else:
            about["reason"] = "no cutoff is better than one verdict for all lines"
        estimates.append(scored.row(name, rows, "cutoff", **about))
    return estimates


def against_labels(judge: Judged) -> list[Estimate]:
    """Return the estimates of a scorer that gives verdicts of 0 and 1."""
    scored, name, own, chosen = judge.scored, judge.name, judge.judged, judge.scored.judging.chosen
    rows, truth, verdicts = judge.rows[own], judge.labels[own], judge.verdicts[own].astype(np.float64)
    counts = confusion(truth, verdicts, scored.resamples.at(rows))
    estimates = [
        judge.row(statistic, own, value=value, method="count")
        for statistic, value in zip(COUNTS, counts[:, 0].tolist(), strict=True)
    ]
    silent = judge.labels[judge.verdicts == NO_VERDICT]
    for group, size in {"": len(silent), "good": silent.sum(), "bad": (1 - silent).sum()}.items():
        about: dict[str, Any] = {"by": "label" if group else "", "group": group, "n": len(judge.labels)}
        estimates.append(judge.row("no verdict", own, value=float(size), method="count", **about))
    estimates += shares_of(judge)
    if chosen == "label":  # how frequent each label is, is not known then
        return estimates
    estimates += _among_verdicts(judge)
    for statistic, draws in rates(weighted(counts, judge.passed()) if chosen == "verdict" else counts).items():
        if statistic == "accuracy" and chosen == "chance":
            estimates.append(judge.share(statistic, own, ~judge.wrong[own]))
        elif statistic not in KINDS:
            verdict = _verdict(scored, name)
            row = scored.estimate(draws, name, rows, statistic, statistic=statistic, verdict=verdict)
            estimates.append(row if row.known else replace(row, reason="labels and verdicts are all the same"))
    return estimates


def shares_of(judge: Judged) -> list[Estimate]:
    """Return the share of good replies passed and of bad replies caught, each with its verdict against the bar."""
    passed = judge.passed() if judge.scored.judging.chosen == "verdict" else None
    return [against_bar(judge, row) for row in two_shares(judge, judge.judged, passed)]


def two_shares(judge: Judged, own: IntArray, passed: float | None = None) -> list[Estimate]:
    """Return the two shares over some labelled lines with a verdict, without a verdict against the bar.

    For labels chosen by verdict they are weighted: `passed` is the share of all these lines that the judge passes.
    """
    truth, estimates = judge.labels[own], []
    for statistic, label in KINDS.items():
        kept = own[truth == label]
        nothing = f"no reply is labelled {'good' if label else 'bad'}"
        estimates.append(judge.share(statistic, kept, ~judge.wrong[kept], nothing))
    if passed is None or not 0 < passed < 1:
        return estimates
    lines, method = (
        max(len(judge.every), len(own)),
        "share weighted by verdict over all lines, 95% interval of the log odds",
    )
    shares = weighted_shares(truth, judge.verdicts[own], judge.contexts(own), passed, lines)
    for place, row in enumerate(estimates):
        share = shares[row.statistic]
        ends: dict[str, Any] = {"value": share.value, "low": share.low, "high": share.high}
        estimates[place] = replace(row, **ends, method=method, reason=row.reason or share.reason)
    return estimates


def _among_verdicts(judge: Judged) -> list[Estimate]:
    """Return how many of the replies that it passes are bad, of those that it fails good, and when it is worth it."""
    estimates = []
    for statistic, verdict in (("bad among passed", 1), ("good among failed", 0)):
        places = np.flatnonzero(judge.verdicts == verdict)
        nothing = f"the judge {'passes' if verdict else 'fails'} no labelled line"
        estimates.append(judge.share(statistic, places, judge.wrong[places], nothing))
    caught, lost = (int(((judge.labels == label) & (judge.verdicts == 0)).sum()) for label in (0, 1))
    about: dict[str, Any] = {"value": lost / caught} if caught else {"reason": "it catches no bad reply"}
    method = "good replies failed for each bad reply caught: from this cost of a bad reply on it beats passing all"
    return [*estimates, judge.row("break-even cost", judge.judged, method=method, **about)]


def against_bar(judge: Judged, share: Estimate) -> Estimate:
    """Return a share with its verdict: above if its lower end reaches the bar, below if its upper end does not.

    If it is inconclusive, `needed` is how many replies of its kind would decide it if the share stays as it is.
    """
    bar = judge.scored.judging.bar
    if not share.known or share.verdict == Verdict.OUT_OF_DOMAIN:
        return share
    if share.n < FEWEST_LABELS:
        kind = "good" if share.statistic == "TPR" else "bad"
        reason = f"replies labelled {kind}: {share.n}, and {FEWEST_LABELS} are needed"
        return replace(share, verdict=Verdict.INCONCLUSIVE, reason=reason, needed=FEWEST_LABELS)
    if share.low >= bar or share.high < bar:
        return replace(share, verdict=Verdict.ABOVE if share.low >= bar else Verdict.BELOW)
    p = (share.value * share.n + 0.5) / (share.n + 1)
    gap = abs(p - bar)
    replies = ((_EDGE * sqrt(p * (1 - p)) + _POWER * sqrt(bar * (1 - bar))) / gap) ** 2 if gap > 0 else np.inf
    needed = int(replies) + 1 if replies < 100 * share.n else None
    return replace(share, verdict=Verdict.INCONCLUSIVE, needed=needed and max(needed, share.n + 1))


def verdict_of(shares: Sequence[Estimate]) -> Verdict:
    """Return the verdict on a judge by its two shares: above if both are, below if one is, else inconclusive."""
    verdicts = {row.verdict for row in shares}
    if Verdict.OUT_OF_DOMAIN in verdicts or verdicts == {Verdict.ABOVE}:
        return next(iter(verdicts))
    return Verdict.BELOW if Verdict.BELOW in verdicts else Verdict.INCONCLUSIVE


def _verdict(scored: ScoredSet, name: str) -> Verdict:
    """Return the verdict of a scorer: none is made, but for one that cannot judge the lines."""
    return Verdict.OUT_OF_DOMAIN if name in scored.outside else Verdict.UNDEFINED


def without_chance(estimates: list[Estimate], scored: ScoredSet) -> list[Estimate]:
    """Take back the verdicts by chance on judges: better than chance is not good enough, which the bar decides."""
    if not is_labelled(scored.rated):
        return estimates
    names = {*judges_of(scored), *(name for name in scored.scores if gives_verdicts(scored, name))}
    by_chance = pick(estimates, scorer=names, statistic="pearson", level=scored.level, group="")
    changed = {id(row) for row in by_chance if row.verdict != Verdict.OUT_OF_DOMAIN}
    undecided: dict[str, Any] = {"verdict": Verdict.UNDEFINED, "p_adjusted": NAN, "needed": None}
    return [replace(row, **undecided) if id(row) in changed else row for row in estimates]


def labels_table(estimates: list[Estimate]) -> Table | None:
    """Return the rates and counts of each scorer that gives verdicts, and the AUC of each other one."""
    share, whole = partial(interval, share=True), {"by": "", "group": "", "rater": ""}

    def column(
        title: str, statistic: str, write: Callable[[Estimate], str], *, spare: bool = False, **labels: str
    ) -> Column:
        return Column(title, {"statistic": statistic, **(labels or whole)}, write, spare)

    return pivot(
        estimates,
        "scorer",
        [
            column("bad replies caught", "TNR", share),
            column("good replies passed", "TPR", share),
            column("kappa [low, high]", "kappa", interval),
            column("AUC [low, high]", "AUC", interval),
            column("balanced accuracy", "balanced accuracy", share, spare=True),
            column("F1", "F1", interval, spare=True),
            *(
                column(name, name, lambda size: count(int(size.value)), spare=name == "no verdict")
                for name in (*COUNTS, "no verdict")
            ),
            column("best cutoff", "cutoff", lambda row: number(row.value, 3), spare=True),
            column("bad caught at the cutoff", "TNR", share, spare=True, **AT_CUTOFF),
            column("good passed at the cutoff", "TPR", share, spare=True, **AT_CUTOFF),
        ],
        title="Scores against labels",
        caption="AUC: how often a good reply scores higher than a bad one. True and false pass: the judge passes "
        "replies that are labelled good or bad. True and false fail: it fails replies that are labelled bad or good. "
        "Best cutoff: chosen on all labels; the shares at the cutoff are of one chosen on other contexts. Always pass: "
        "the baseline. [low, high]: 95 % intervals over contexts.",
    )


def judge_shares(estimates: Sequence[Estimate], name: str) -> list[Estimate]:
    """Return the share of bad replies caught and that of good replies passed, from the estimates of one data set."""
    return [one(estimates, statistic=statistic, scorer=name, by="", group="") for statistic in ("TNR", "TPR")]
