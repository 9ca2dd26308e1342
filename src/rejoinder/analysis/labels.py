"""Scorers against human labels: the area under the curve of scores; confusion counts, rates and kappa of verdicts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rejoinder.analysis.scored import ScoredSet
from rejoinder.data.rated import RatedSet
from rejoinder.estimates import Estimate, Verdict, estimate_of
from rejoinder.report.tables import Column, Table, pivot
from rejoinder.report.written import count, interval
from rejoinder.stats.resamples import FloatArray, Resamples, number_of, renumbered
from rejoinder.stats.shares import auc_of_clusters, share_of_clusters

COUNTS = ("true pass", "false pass", "false fail", "true fail")
"""In the order of `confusion`. The first word says whether the judge is right, the second what it says."""


def is_labelled(rated: RatedSet) -> bool:
    """Return whether ratings are labels: all are 0 or 1, on the scale from 0 to 1 or, with both of them, on none."""
    on_scale = rated.scale == (0.0, 1.0) or (rated.scale is None and bool(np.ptp(rated.ratings) > 0))
    return on_scale and not rated.pooled and _is_binary(rated.ratings)


def confusion(labels: FloatArray, verdicts: FloatArray, resamples: Resamples) -> FloatArray:
    """Return [4, 1 + B] the number of true passes, false passes, false fails and true fails in each resample.

    Args:
        labels: [N], 1 for a good reply and 0 for a bad one.
        verdicts: [N], likewise.
        resamples: of the N lines.
    """
    return resamples.sums(
        np.stack([labels * verdicts, (1 - labels) * verdicts, labels * (1 - verdicts), (1 - labels) * (1 - verdicts)])
    )


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
    """Return the estimates of each scorer, but for means of ratings; none if ratings are no labels.

    Scorers with other numbers than verdicts of 0 and 1 have an AUC. Verdicts have confusion counts; a labelled line
    without a verdict counts as "no verdict", never as a fail. Counts have no interval, shares and AUC have Wilson's,
    kappa has one over resamples.
    """
    if not is_labelled(scored.rated):
        return []
    estimates: list[Estimate] = []
    for name, scores in scored.scores.items():
        rows = scored.rows(name)
        if not len(rows) or scored.kinds[name] == "oracle baseline":
            continue
        if not _is_binary(scores[rows]):
            estimates.append(_auc(scored, name))
        elif scored.kinds[name] != "baseline":
            estimates += _against_labels(scored, name)
    return estimates


def _auc(scored: ScoredSet, name: str) -> Estimate:
    """Return how often a good reply scores higher than a bad one; equal scores count half."""
    rows = scored.rows(name)
    good, scores = scored.rated.ratings[rows] == 1, scored.scores[name][rows]
    clusters = renumbered(scored.resamples.at(rows).clusters)
    area = auc_of_clusters(scores[good], scores[~good], clusters[good], clusters[~good])
    verdict = Verdict.OUT_OF_DOMAIN if name in scored.outside else Verdict.UNDEFINED
    fields = {**scored.about(name, rows, verdict=verdict, seed=None), "contexts": number_of(clusters)}
    return estimate_of(area, **fields, statistic="AUC", method="share of pairs, 95% Wilson interval (Obuchowski)")


def _against_labels(scored: ScoredSet, name: str) -> list[Estimate]:
    """Return the estimates of one scorer."""
    rows = scored.rows(name)
    truth, verdicts = scored.rated.ratings[rows], scored.scores[name][rows]
    verdict = Verdict.OUT_OF_DOMAIN if name in scored.outside else Verdict.UNDEFINED
    resamples = scored.resamples.at(rows)
    counts = confusion(truth, verdicts, resamples)
    about = scored.about(name, rows, verdict=verdict, seed=None)
    missing = {**about, "n": len(scored.rated), "value": float(about["unscored"])}
    estimates = [
        *(
            Estimate(**about, statistic=of, value=float(n), method="count")
            for of, n in zip(COUNTS, counts[:, 0], strict=True)
        ),
        Estimate(**missing, statistic="no verdict", method="count"),
    ]
    right = (truth == verdicts).astype(np.float64)
    for statistic, kept in {"accuracy": truth >= 0, "TPR": truth == 1, "TNR": truth == 0}.items():
        clusters = renumbered(resamples.clusters[kept])
        share = share_of_clusters(right[kept], clusters, number_of(clusters))
        reason = share.reason if kept.any() else f"no reply is labelled {'bad' if statistic == 'TNR' else 'good'}"
        fields = {**about, "n": int(kept.sum()), "contexts": number_of(clusters), "reason": reason}
        estimates.append(estimate_of(share, **fields, statistic=statistic, method="share, 95% Wilson interval"))
    kappa = scored.estimate(rates(counts)["kappa"], name, rows, "Cohen's kappa", statistic="kappa", verdict=verdict)
    return [*estimates, kappa if kappa.known else replace(kappa, reason="labels and verdicts are all the same")]


def labels_table(estimates: list[Estimate]) -> Table | None:
    """Return the rates and counts of each scorer that gives verdicts, and the AUC of each other one."""
    counts = [
        Column(name, {"statistic": name}, lambda size: count(int(size.value))) for name in (*COUNTS, "no verdict")
    ]
    return pivot(
        estimates,
        "scorer",
        [
            Column("bad replies caught", {"statistic": "TNR"}, lambda share: interval(share, share=True)),
            Column("good replies passed", {"statistic": "TPR"}, lambda share: interval(share, share=True)),
            Column("kappa [low, high]", {"statistic": "kappa"}),
            Column("AUC [low, high]", {"statistic": "AUC"}),
            *(column._replace(spare=column.title == "no verdict") for column in counts),
        ],
        title="Scores against labels",
        caption="AUC: how often a good reply scores higher than a bad one. True and false pass: the judge passes "
        "replies that are labelled good or bad. True and false fail: it fails replies that are labelled bad or good. "
        "[low, high]: 95 % intervals over contexts.",
    )


def _is_binary(values: FloatArray) -> bool:
    """Return whether all values are 0 or 1."""
    return bool(np.isin(values, (0.0, 1.0)).all())
