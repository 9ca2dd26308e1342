"""Scorers against human labels: how many good replies a judge passes and how many bad ones it catches.

A verdict is 1 (pass) or 0 (fail). Scorers that give other numbers have an area under the curve, and the shares at a
cutoff. "TPR" is the share of good replies passed, "TNR" the share of bad replies caught: the positive class is a pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import sqrt
from typing import Any, get_args

import numpy as np

from rejoinder.analysis.scored import Chosen, Judging, JudgingOptions, ScoredSet
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
from rejoinder.stats.resamples import BoolArray, FloatArray, IntArray, Resamples, number_of, renumbered
from rejoinder.stats.shares import auc_of_clusters, best_cutoff, share_of_clusters
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
    result = []
    for example in examples:
        ratings = [
            replace(rating, value=float(rating.value >= good)) if rating.dimension == dimension else rating
            for rating in example.ratings
        ]
        means = {name: float(value >= good) if name == dimension else value for name, value in example.quality.items()}
        scales = {**example.scales, dimension: (0.0, 1.0)}
        result.append(replace(example, ratings=tuple(ratings), quality=means, scales=scales))
    return result


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
        clusters: [M] the clusters of all lines, where they were given.
    """

    scored: ScoredSet
    name: str
    rows: IntArray
    labels: FloatArray
    verdicts: IntArray
    every: IntArray
    places: IntArray
    clusters: IntArray

    @classmethod
    def of(cls, scored: ScoredSet, name: str, clusters: IntArray | None = None, rows: IntArray | None = None) -> Judged:
        """Return the verdicts of a scorer, by its cutoff if it gives numbers, on `rows` or those of the answer."""
        rows, population = counted(scored.rated) if rows is None else rows, scored.rated.population
        labels, scores, every = (
            scored.rated.ratings[rows],
            scored.scores[name][rows],
            scored.of_all.get(name, np.empty(0)),
        )
        if not gives_verdicts(scored, name):
            scores, every = _cut(scored, rows, scores, every)
        places, given = np.full(len(scored.rated), -1), np.empty(0, dtype=np.int64) if clusters is None else clusters
        places[population.rows[population.rows >= 0]] = np.flatnonzero(population.rows >= 0)
        return cls(scored, name, rows, labels, _numbered(scores), _numbered(every), places[rows], given)

    @property
    def lines(self) -> tuple[Example, ...]:
        """[M] all lines."""
        return self.scored.rated.population.lines

    @property
    def passed(self) -> float:
        """The share of all lines with a verdict that the judge passes; without a population that of labelled lines."""
        return self.passed_of(np.ones(len(self.every), dtype=bool))

    def passed_of(self, listed: BoolArray) -> float:
        """Return the same for some of all lines [M]."""
        verdicts = self.every[listed] if len(self.every) else self.verdicts
        return float(verdicts[verdicts != NO_VERDICT].mean()) if (verdicts != NO_VERDICT).any() else NAN

    @property
    def judged(self) -> IntArray:
        """Positions of the labelled lines with a verdict."""
        return np.flatnonzero(self.verdicts != NO_VERDICT)


def _numbered(scores: FloatArray) -> IntArray:
    """Return scores of 0 and 1 as verdicts."""
    return np.where(np.isfinite(scores), scores, NO_VERDICT).astype(np.int64)


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
        verdicts[folds == fold] = _at_least(
            scores[folds == fold], learnt_cutoff(scored, labels[folds != fold], scores[folds != fold])
        )
    return verdicts, _at_least(every, learnt_cutoff(scored, labels, scores))


def learnt_cutoff(scored: ScoredSet, labels: FloatArray, scores: FloatArray) -> float:
    """Return the cutoff with the lowest cost of errors on these lines."""
    known = np.isfinite(scores)
    good, bad = scores[known & (labels == 1)], scores[known & (labels == 0)]
    return best_cutoff(good, bad, scored.judging.cost) if len(good) + len(bad) else -np.inf


def _at_least(scores: FloatArray, cutoff: float) -> FloatArray:
    """Return 1 for scores from the cutoff on, 0 for those below; NaN stays."""
    return np.where(np.isfinite(scores), (scores >= cutoff).astype(np.float64), np.nan)


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
        result: FloatArray = np.where(
            np.array([[True], [True], [False], [False]]), counts * of_passes, counts * of_fails
        )
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
    for name in scored.scores:
        verdicts, rows = gives_verdicts(scored, name), scored.rows(name)
        if not len(rows):
            continue
        if not is_binary(scored.scores[name][rows]):
            estimates += _of_numbers(scored, name, at_cutoff=name in scored.asked and name not in judges)
        if name in judges or verdicts:
            judge, dev = Judged.of(scored, name), np.flatnonzero(np.array(scored.rated.splits) == DEV)
            estimates += against_labels(judge)
            if len(dev) and TEST in scored.rated.splits:
                of_dev = Judged.of(scored, name, rows=dev)
                estimates += [replace(row, by="split", group=DEV) for row in two_shares(of_dev, of_dev.judged)]
    return estimates


def _always_pass(scored: ScoredSet) -> list[Estimate]:
    """Return what a judge that passes everything reaches."""
    known = scored.rated.ratings[counted(scored.rated)]
    p = float(known.mean())
    values = {"accuracy": p, "F1": 2 * p / (1 + p), "balanced accuracy": 0.5, "kappa": 0.0}
    about: dict[str, Any] = {"method": "the same verdict for every reply", "seed": None, "unscored": 0, "n": len(known)}
    return [
        scored.row(ALWAYS_PASS, np.arange(len(known)), name, value=value, **about) for name, value in values.items()
    ]


def _of_numbers(scored: ScoredSet, name: str, *, at_cutoff: bool) -> list[Estimate]:
    """Return the AUC, in which equal scores count half, and the shares at the best cutoff on other lines."""
    rows, labels = np.intersect1d(counted(scored.rated), scored.rows(name)), scored.rated.ratings
    good, scores = labels[rows] == 1, scored.scores[name][rows]
    clusters = renumbered(scored.resamples.at(rows).clusters)
    area = auc_of_clusters(scores[good], scores[~good], clusters[good], clusters[~good])
    method = "share of pairs, 95% Wilson interval (Obuchowski)"
    about = {"method": method, "contexts": number_of(clusters), "verdict": _verdict(scored, name)}
    estimates = [scored.row(name, rows, "AUC", area, seed=None, **about)]
    if at_cutoff:
        cutoff = learnt_cutoff(scored, labels[rows], scores)
        shares = shares_of(Judged.of(scored, name))
        method = f"cutoff chosen on other contexts, {shares[0].method}"
        estimates += [replace(share, **AT_CUTOFF, method=method, verdict=Verdict.UNDEFINED) for share in shares]
        reason = "" if np.isfinite(cutoff) else "no cutoff is better than one verdict for all lines"
        value = cutoff if np.isfinite(cutoff) else NAN
        method = f"lowest score that passes; a bad reply passed costs {scored.judging.cost:g} good ones failed"
        estimates.append(scored.row(name, rows, "cutoff", value=value, reason=reason, method=method, seed=None))
    return estimates


def against_labels(judge: Judged) -> list[Estimate]:
    """Return the estimates of a scorer that gives verdicts of 0 and 1."""
    scored, name, own = judge.scored, judge.name, judge.judged
    rows, truth, verdicts = judge.rows[own], judge.labels[own], judge.verdicts[own].astype(np.float64)
    counts = confusion(truth, verdicts, scored.resamples.at(rows))
    about: dict[str, Any] = {"verdict": _verdict(scored, name)}
    count_of = {"method": "count", "seed": None, **about}
    estimates = [
        scored.row(name, rows, statistic, value=value, **count_of)
        for statistic, value in zip(COUNTS, counts[:, 0].tolist(), strict=True)
    ]
    silent = judge.labels[judge.verdicts == NO_VERDICT]
    sizes = {"": len(silent), "good": int(silent.sum()), "bad": int((1 - silent).sum())}
    for group, size in sizes.items():
        of_label = {"by": "label" if group else "", "group": group, "n": len(judge.labels)}
        estimates.append(scored.row(name, rows, "no verdict", value=float(size), **{**count_of, **of_label}))
    estimates += shares_of(judge)
    if scored.judging.chosen == "label":  # how frequent each label is, is not known then
        return estimates
    estimates += _among_verdicts(judge)
    scaled = weighted(counts, judge.passed) if scored.judging.chosen == "verdict" else counts
    for statistic, draws in rates(scaled).items():
        if statistic == "accuracy" and scored.judging.chosen == "chance":
            right = (truth == verdicts).astype(np.float64)
            estimates.append(_share(judge, right, own, statistic))
        elif statistic not in KINDS:
            row = scored.estimate(draws, name, rows, statistic, statistic=statistic, **about)
            estimates.append(row if row.known else replace(row, reason="labels and verdicts are all the same"))
    return estimates


def shares_of(judge: Judged) -> list[Estimate]:
    """Return the share of good replies passed and of bad replies caught, each with its verdict against the bar."""
    passed = judge.passed if judge.scored.judging.chosen == "verdict" else None
    return [against_bar(judge, row) for row in two_shares(judge, judge.judged, passed)]


def two_shares(judge: Judged, own: IntArray, passed: float | None = None) -> list[Estimate]:
    """Return the two shares over some labelled lines with a verdict, without a verdict against the bar.

    For labels chosen by verdict they are weighted: `passed` is the share of all these lines that the judge passes.
    """
    truth, right, estimates = judge.labels[own], judge.labels[own] == judge.verdicts[own], []
    for statistic, label in KINDS.items():
        estimates.append(_share(judge, right[truth == label].astype(np.float64), own[truth == label], statistic))
    if passed is not None and 0 < passed < 1:
        clusters = judge.scored.rated.contexts[judge.rows[own]]
        shares = weighted_shares(truth, judge.verdicts[own], clusters, passed, max(len(judge.every), len(own)))
        method = "share weighted by verdict over all lines, 95% interval of the log odds"
        for place, row in enumerate(estimates):
            share = shares[row.statistic]
            ends: dict[str, Any] = {"value": share.value, "low": share.low, "high": share.high}
            estimates[place] = replace(row, **ends, method=method, reason=row.reason or share.reason)
    return estimates


def _share(judge: Judged, right: FloatArray, own: IntArray, statistic: str) -> Estimate:
    """Return a share of labelled lines with Wilson's interval, at the number of lines that clusters are worth."""
    scored, rows = judge.scored, judge.rows[own]
    clusters = renumbered(scored.rated.contexts[rows])
    share = share_of_clusters(right, clusters, number_of(clusters), binary=True)
    nothing = {"TNR": "no reply is labelled bad", "TPR": "no reply is labelled good"}.get(statistic, "no line")
    about = {"n": len(rows), "contexts": number_of(clusters), "reason": share.reason if len(rows) else nothing}
    about |= {"verdict": _verdict(scored, judge.name), "unscored": len(judge.rows) - len(judge.judged), "seed": None}
    return scored.row(judge.name, rows, statistic, share, method="share, 95% Wilson interval", **about)


def _among_verdicts(judge: Judged) -> list[Estimate]:
    """Return how many of the replies that it passes are bad, of those that it fails good, and when it is worth it."""
    own = judge.judged
    verdicts, wrong = judge.verdicts[own], (judge.labels[own] != judge.verdicts[own]).astype(np.float64)
    estimates = []
    for statistic, verdict in (("bad among passed", 1), ("good among failed", 0)):
        row = _share(judge, wrong[verdicts == verdict], own[verdicts == verdict], statistic)
        nothing = f"the judge {'passes' if verdict else 'fails'} no labelled line"
        estimates.append(row if row.n else replace(row, reason=nothing))
    caught = float(((judge.labels[own] == 0) & (verdicts == 0)).sum())
    value = float(((judge.labels[own] == 1) & (verdicts == 0)).sum()) / caught if caught else NAN
    method = "good replies failed for each bad reply caught: from this cost of a bad reply on it beats passing all"
    reason = "" if caught else "it catches no bad reply"
    about: dict[str, Any] = {
        "method": method,
        "reason": reason,
        "seed": None,
        "verdict": _verdict(judge.scored, judge.name),
    }
    return [*estimates, judge.scored.row(judge.name, judge.rows[own], "break-even cost", value=value, **about)]


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
    names = {*judges_of(scored), *(name for name in scored.scores if gives_verdicts(scored, name))}
    names = names if is_labelled(scored.rated) else set()
    rows = {id(row) for row in pick(estimates, scorer=names, statistic="pearson", level=scored.level, group="")}
    undecided: dict[str, Any] = {"verdict": Verdict.UNDEFINED, "p_adjusted": NAN, "needed": None}
    kept = Verdict.OUT_OF_DOMAIN
    return [replace(row, **undecided) if id(row) in rows and row.verdict != kept else row for row in estimates]


def labels_table(estimates: list[Estimate]) -> Table | None:
    """Return the rates and counts of each scorer that gives verdicts, and the AUC of each other one."""
    share, whole = partial(interval, share=True), {"by": "", "group": "", "rater": ""}
    return pivot(
        estimates,
        "scorer",
        [
            Column("bad replies caught", {"statistic": "TNR", **whole}, share),
            Column("good replies passed", {"statistic": "TPR", **whole}, share),
            Column("kappa [low, high]", {"statistic": "kappa", **whole}),
            Column("AUC [low, high]", {"statistic": "AUC"}),
            Column("balanced accuracy", {"statistic": "balanced accuracy"}, share, spare=True),
            Column("F1", {"statistic": "F1"}, spare=True),
            *(
                Column(
                    name, {"statistic": name, **whole}, lambda size: count(int(size.value)), spare=name == "no verdict"
                )
                for name in (*COUNTS, "no verdict")
            ),
            Column("best cutoff", {"statistic": "cutoff"}, lambda row: number(row.value, 3), spare=True),
            Column("bad caught at the cutoff", {"statistic": "TNR", **AT_CUTOFF}, share, spare=True),
            Column("good passed at the cutoff", {"statistic": "TPR", **AT_CUTOFF}, share, spare=True),
        ],
        title="Scores against labels",
        caption="AUC: how often a good reply scores higher than a bad one. True and false pass: the judge passes "
        "replies that are labelled good or bad. True and false fail: it fails replies that are labelled bad or good. "
        "Best cutoff: chosen on all labels; the shares at the cutoff are of one chosen on other contexts. Always pass: "
        "the baseline. [low, high]: 95 % intervals over contexts.",
    )


def judge_shares(estimates: Sequence[Estimate], dataset: str, name: str) -> list[Estimate]:
    """Return the share of bad replies caught and that of good replies passed."""
    whole = {"dataset": dataset, "scorer": name, "by": "", "group": ""}
    return [one(estimates, statistic=statistic, **whole) for statistic in ("TNR", "TPR")]
