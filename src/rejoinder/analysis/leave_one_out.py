"""Leave one data set out: judges on a data set that they were not fitted on, and with other conversations of it.

Shapes: N examples, n lines of one data set, B resamples.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from rejoinder.analysis.ceiling import LEAST_SCORED, SHARE, ceiling_on, ratio_of, singly_rated
from rejoinder.analysis.scored import ScoredSet
from rejoinder.analysis.standings import OVER_SETS, over_members
from rejoinder.errors import UsageError
from rejoinder.estimates import Estimate, estimate_of, pick
from rejoinder.example import OVERALL, Example
from rejoinder.judges import DEFAULT, load_learner
from rejoinder.judges.crossval import FOLDS, cross_validate, require_sets, same_set_folds, set_folds
from rejoinder.judges.protocol import AnyLearner
from rejoinder.judges.rated import rated_lines, why_unlearnable
from rejoinder.report.charts import intervals
from rejoinder.report.layout import Section
from rejoinder.report.tables import Column, pivot
from rejoinder.report.written import count, interval
from rejoinder.scorer import Advance, FloatArray, Scores, Signature, ignore
from rejoinder.stats.correlation import RANKED_BY, all_resampled, pearson
from rejoinder.stats.resamples import percentile_interval
from rejoinder.version import __version__

LEFT_OUT, SAME_SET = "judge (data set left out)", "judge (same data set)"
"""The scorers: a judge fitted on all other data sets, and one fitted on other conversations of the data set as well."""

_MEASURED = ("pearson", "difference of pearson", "spearman", "difference of spearman", SHARE)


def left_out_scores(
    examples: Sequence[Example],
    learner: bool | str | AnyLearner = True,
    *,
    dimension: str = OVERALL,
    seed: int = 0,
    advance: Advance = ignore,
) -> dict[str, Scores]:
    """Return the scores of N examples by `LEFT_OUT`, which is a scorer of the study, and by `SAME_SET`.

    Call it before anything is scored: fitting takes longest, and fails if a scale is missing. Examples without a rating
    or with one of a whole conversation are unscored. A learner of True is that of the bundled judge. `advance` is
    called with 1 after each fit, six for each data set.

    Raises:
        UsageError: fewer than two data sets have ratings, or the study is not of overall ratings.
        DataError: a rated line has no scale.
    """
    if dimension != OVERALL:
        raise UsageError(f"judges are fitted on overall ratings, so no data set is left out for {dimension!r}")
    learner = load_learner(DEFAULT if isinstance(learner, bool) else learner)
    require_sets(examples)
    lines = rated_lines(examples, learner)
    scores = {}
    for name, folds in ((LEFT_OUT, set_folds(lines)), (SAME_SET, same_set_folds(lines, seed))):
        values = np.full(len(examples), np.nan)
        values[lines.places] = cross_validate(lines, folds, seed=seed, advance=advance)
        reasons = {
            place: why_unlearnable(examples[place]) or "no judge could be fitted that reads it, or no known word in it"
            for place in np.flatnonzero(np.isnan(values)).tolist()
        }
        fields = {"scorer": name, "version": 1, **learner.options, "seed": seed, "rejoinder": __version__}
        scores[name] = Scores(values, reasons, Signature(fields))
    return scores


def left_out(members: Sequence[ScoredSet], same_set: FloatArray) -> list[Estimate]:
    """Return the agreement of `SAME_SET`, and how far it is above `LEFT_OUT`, in each data set and on average.

    Both judges are compared on the lines that both score, over the same resamples. `LEFT_OUT` is among the scorers of
    the data sets, `same_set` [N] are the scores of all examples by `SAME_SET`.
    """
    measured: list[Estimate] = []
    drawn: dict[str, list[FloatArray]] = {statistic: [] for statistic in _MEASURED}
    for member in members:
        both = np.stack([member.scores[LEFT_OUT], same_set[member.rated.places]])
        lines = np.flatnonzero(np.isfinite(both).all(axis=0))
        ratings, both, resamples = member.rated.ratings[lines], both[:, lines], member.resamples.at(lines)
        reasons = [pearson(scores, ratings, names=("score", "rating")).reason for scores in both]
        if reason := next(filter(None, reasons), ""):
            measured += [member.row(SAME_SET, lines, reason=reason, **_labels(name)) for name in _MEASURED[:-1]]
            continue
        draws: dict[str, FloatArray] = {}
        for name in RANKED_BY:
            unseen, seen = all_resampled(name, both, ratings, resamples)
            draws |= {name: seen, f"difference of {name}": seen - unseen}
        singly = np.intersect1d(lines, singly_rated(member))
        if len(singly) >= LEAST_SCORED * len(lines) and ceiling_on(member, singly).known:
            draws[SHARE] = np.stack([draws["pearson"], member.reliability(singly).ceiling])
        for statistic, row in draws.items():
            drawn[statistic].append(row)
            method = f"{statistic}; fitted on other conversations of the data set too, in {FOLDS} folds"
            interval = _interval(statistic, row, resamples.size)
            about = {**_labels(statistic), "method": f"{method}; {interval.method}"}
            measured.append(member.row(SAME_SET, lines, measured=interval, **about))
    return [*measured, *(_mean(name, rows, measured) for name, rows in drawn.items() if rows or name != _MEASURED[-1])]


def _mean(statistic: str, rows: Sequence[FloatArray], measured: Sequence[Estimate]) -> Estimate:
    """Return the mean over data sets of `rows`, draws of each; the data sets are resampled independently."""
    labels: dict[str, Any] = {"scorer": SAME_SET, **_labels(statistic)}
    members = [estimate for estimate in pick(measured, **labels) if estimate.known]
    if not rows:
        return Estimate(dataset=OVER_SETS, **labels, reason="no data set has a correlation")
    about = over_members(members, unscored=0, level=members[0].level, **labels)
    interval = _interval(statistic, np.mean(rows, axis=0), about["contexts"])
    return estimate_of(interval, **about, method=f"{statistic}, mean over {len(rows)} data sets; {interval.method}")


def _interval(statistic: str, draws: FloatArray, contexts: int) -> Estimate:
    """Return a statistic with its interval from `draws` [1 + B]; of a share [2, 1 + B], correlation and ceiling."""
    return ratio_of(draws[0], draws[1], contexts) if statistic == SHARE else percentile_interval(draws, contexts)


def _labels(statistic: str) -> dict[str, Any]:
    """Return the labels of an estimate; a difference is to `LEFT_OUT`."""
    return {"statistic": statistic, "versus": LEFT_OUT if statistic.startswith("difference") else ""}


def left_out_section(members: Sequence[ScoredSet], estimates: Sequence[Estimate]) -> Section:
    """Return a chart and a table of both judges, with a row for each data set and for the mean."""
    titles = {**{member.name: member.rated.title for member in members}, OVER_SETS: OVER_SETS}
    rows = pick(estimates, dataset=titles, scorer=(LEFT_OUT, SAME_SET), level=("turn", "dialogue"), group="")
    rows.sort(key=lambda row: (list(titles).index(row.dataset), row.scorer == LEFT_OUT))
    columns = [Column("n", {"scorer": SAME_SET, "statistic": "pearson"}, lambda row: count(row.n))]
    for name in RANKED_BY:
        for scorer, title in ((LEFT_OUT, "data set left out"), (SAME_SET, "same data set")):
            labels = {"scorer": scorer, "statistic": name}
            columns.append(Column(f"{name.capitalize()}, {title}", labels, spare=name == "spearman"))
        labels = {"scorer": SAME_SET, "statistic": f"difference of {name}"}
        signed = partial(interval, signed=True)
        columns.append(Column(f"{name.capitalize()}, difference", labels, signed, spare=name == "spearman"))
    chart = intervals(
        "left-out",
        pick(rows, statistic="pearson"),
        row=lambda row: titles[row.dataset],
        kinds=dict.fromkeys(titles.values(), "judge"),
        apart=(OVER_SETS,),
        xlabel="Pearson correlation with human ratings",
        caption="Hollow: the judge that was fitted on all other data sets. Filled: the judge that was also fitted on "
        "other conversations of the data set.",
    )
    table = pivot(
        rows,
        lambda row: titles[row.dataset],
        columns,
        heading="data set",
        in_order=True,
        caption="Data set left out: the judge was fitted on all other data sets, without lines of conversations that "
        f"are in both. Same data set: it was fitted on other conversations of the data set as well, in {FOLDS} folds. "
        "The encoder and the settings of both judges were tuned on some of these data sets. [low, high]: 95 % "
        "intervals over contexts.",
    )
    return Section("One data set left out", [chart, table])
