"""Scorers against human labels: the area under the curve of scores; confusion counts, rates and kappa of verdicts."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from rejoinder.analysis.scored import ScoredSet
from rejoinder.data.rated import RatedSet
from rejoinder.estimates import Estimate, Verdict
from rejoinder.report.tables import Column, Table, pivot
from rejoinder.report.written import count, interval
from rejoinder.stats.resamples import FloatArray, IntArray, Resamples, number_of, renumbered
from rejoinder.stats.shares import auc_of_clusters, share_of_clusters

COUNTS = ("true pass", "false pass", "false fail", "true fail")
"""In the order of `confusion`. The first word says whether the judge is right, the second what it says."""


def is_labelled(rated: RatedSet) -> bool:
    """Return whether ratings are labels: all are 0 or 1, on the scale from 0 to 1 or, with both of them, on none."""
    on_scale = rated.scale == (0.0, 1.0) or (rated.scale is None and bool(np.ptp(rated.ratings) > 0))
    return on_scale and not rated.pooled and _is_binary(rated.ratings)


def confusion(labels: FloatArray, verdicts: FloatArray, resamples: Resamples) -> FloatArray:
    """Return [4, 1 + B] how many true passes, false passes, false fails and true fails are in each resample.

    `labels` and `verdicts` [N] are 1 for a good reply and 0 for a bad one.
    """
    fails = 1 - labels, 1 - verdicts
    return resamples.sums(np.stack([labels * verdicts, fails[0] * verdicts, labels * fails[1], fails[0] * fails[1]]))


def rates(counts: FloatArray) -> dict[str, FloatArray]:
    """Return accuracy, TPR, TNR and Cohen's kappa [1 + B] of `confusion` counts [4, 1 + B]; NaN where undefined.

    TPR is the share of good replies that are passed, TNR the share of bad replies that are caught.
    """
    true_pass, false_pass, false_fail, true_fail = counts
    n = counts.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = (true_pass + true_fail) / n
        both_pass = (true_pass + false_pass) * (true_pass + false_fail)
        expected = (both_pass + (true_fail + false_fail) * (true_fail + false_pass)) / n**2
        return {
            "accuracy": observed,
            "TPR": true_pass / (true_pass + false_fail),
            "TNR": true_fail / (true_fail + false_pass),
            "kappa": np.where(expected < 1, (observed - expected) / (1 - expected), np.nan),
        }


def labels(scored: ScoredSet) -> list[Estimate]:
    """Return the estimates of each scorer; none if ratings are no labels.

    Scorers with other numbers than verdicts of 0 and 1 have an AUC. Verdicts have confusion counts; a labelled line
    without a verdict counts as "no verdict", never as a fail. Counts have no interval, shares and AUC have Wilson's,
    kappa has one over resamples.
    """
    estimates: list[Estimate] = []
    for name in scored.scores if is_labelled(scored.rated) else ():
        rows = scored.rows(name)
        if len(rows):
            if not _is_binary(scored.scores[name][rows]):
                estimates.append(_auc(scored, name, rows))
            elif scored.kinds[name] != "baseline":
                estimates += _against_labels(scored, name, rows)
    return estimates


def _auc(scored: ScoredSet, name: str, rows: IntArray) -> Estimate:
    """Return how often a good reply scores higher than a bad one; equal scores count half."""
    good, scores = scored.rated.ratings[rows] == 1, scored.scores[name][rows]
    clusters = renumbered(scored.resamples.at(rows).clusters)
    area = auc_of_clusters(scores[good], scores[~good], clusters[good], clusters[~good])
    method = "share of pairs, 95% Wilson interval (Obuchowski)"
    about = {"method": method, "contexts": number_of(clusters), "verdict": _verdict(scored, name)}
    return scored.row(name, rows, "AUC", area, seed=None, **about)


def _against_labels(scored: ScoredSet, name: str, rows: IntArray) -> list[Estimate]:
    """Return the estimates of a scorer that gives verdicts of 0 and 1."""
    truth, verdicts, resamples = scored.rated.ratings[rows], scored.scores[name][rows], scored.resamples.at(rows)
    counts = confusion(truth, verdicts, resamples)
    about: dict[str, Any] = {"verdict": _verdict(scored, name)}
    count_of = {"method": "count", "seed": None, **about}
    values, missing = dict(zip(COUNTS, counts[:, 0].tolist(), strict=True)), float(len(scored.rated) - len(rows))
    estimates = [
        *(scored.row(name, rows, statistic, value=value, **count_of) for statistic, value in values.items()),
        scored.row(name, rows, "no verdict", value=missing, **{**count_of, "n": len(scored.rated)}),
    ]
    right = (truth == verdicts).astype(np.float64)
    for statistic, kept in {"accuracy": truth >= 0, "TPR": truth == 1, "TNR": truth == 0}.items():
        clusters = renumbered(resamples.clusters[kept])
        share = share_of_clusters(right[kept], clusters, number_of(clusters))
        reason = share.reason if kept.any() else f"no reply is labelled {'bad' if statistic == 'TNR' else 'good'}"
        fields = {"n": int(kept.sum()), "contexts": number_of(clusters), "reason": reason, "seed": None, **about}
        estimates.append(scored.row(name, rows, statistic, share, method="share, 95% Wilson interval", **fields))
    kappa = scored.estimate(rates(counts)["kappa"], name, rows, "Cohen's kappa", statistic="kappa", **about)
    return [*estimates, kappa if kappa.known else replace(kappa, reason="labels and verdicts are all the same")]


def _verdict(scored: ScoredSet, name: str) -> Verdict:
    """Return the verdict of a scorer: none is made, but for one that cannot judge the lines."""
    return Verdict.OUT_OF_DOMAIN if name in scored.outside else Verdict.UNDEFINED


def labels_table(estimates: list[Estimate]) -> Table | None:
    """Return the rates and counts of each scorer that gives verdicts, and the AUC of each other one."""
    share = partial(interval, share=True)
    return pivot(
        estimates,
        "scorer",
        [
            Column("bad replies caught", {"statistic": "TNR"}, share),
            Column("good replies passed", {"statistic": "TPR"}, share),
            Column("kappa [low, high]", {"statistic": "kappa"}),
            Column("AUC [low, high]", {"statistic": "AUC"}),
            *(
                Column(name, {"statistic": name}, lambda size: count(int(size.value)), spare=name == "no verdict")
                for name in (*COUNTS, "no verdict")
            ),
        ],
        title="Scores against labels",
        caption="AUC: how often a good reply scores higher than a bad one. True and false pass: the judge passes "
        "replies that are labelled good or bad. True and false fail: it fails replies that are labelled bad or good. "
        "[low, high]: 95 % intervals over contexts.",
    )


def _is_binary(values: FloatArray) -> bool:
    """Return whether all values are 0 or 1."""
    return bool(np.isin(values, (0.0, 1.0)).all())
