"""Mean human ratings of systems, from few ratings and the scores of all lines.

Shapes: N lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rejoinder.analysis.baselines import most_frequent, scorer_facts
from rejoinder.analysis.labelling import counts_of, left_out_said, prompts_of
from rejoinder.analysis.labels import are_labels, is_binary
from rejoinder.analysis.sample import ALL, RatedSample, filled, joined, names_of, rated_lines, weights_of
from rejoinder.analysis.scored import RATERS
from rejoinder.data.clusters import sorted_clusters
from rejoinder.data.rated import FEWEST_EQUAL, RatedSets, Tie, equal_scores, labelled, rated_sets, ratings_of
from rejoinder.data.read import examples_of
from rejoinder.data.scales import Scale, in_words
from rejoinder.data.values import is_number
from rejoinder.errors import DataError, UsageError, require_one_of
from rejoinder.estimates import NAN, Estimate, decide, estimate_of, one, pick
from rejoinder.example import OVERALL, Example, Given
from rejoinder.report.charts import intervals
from rejoinder.report.layout import Chart, KeyFigure, Layout, Prose, Section
from rejoinder.report.results import About, Results
from rejoinder.report.tables import Column, pivot
from rejoinder.report.written import count, interval, p_value, rounded, sentences
from rejoinder.scorer import Advance, Card, FloatArray, ScorerLike, Scores, ignore, run
from rejoinder.scoring.catalog import DEFAULT, columns_of, fitted_on, label_of, load_scorer
from rejoinder.scoring.dialogue import as_rated
from rejoinder.scoring.unscored import nothing_scored, unread
from rejoinder.stats import prediction_powered as ppi
from rejoinder.stats.corrected import Corrected, corrected
from rejoinder.stats.pass_rate import NO_VERDICT, labels_for_caught
from rejoinder.stats.resamples import BoolArray, IntArray

TARGETS = ("rate", "caught", "difference")
"""What a plan may be for: a mean rating, the share of bad replies caught, a difference of systems."""
ALL_PAIRS = 20
"""Systems: with more, only the highest is compared with each."""
_SHOWN, _DRAWN = 10, 20  # differences on a terminal, systems in the chart
_FAR = 4.0  # standard errors: equal chances bring the rated lines so far from the others once in 16,000 samples
_DETECTED = 0.6996  # share of a difference that half the interval may be, to show it with probability .8
_NOT_ENOUGH = "no number of ratings of these lines is enough"


class _Data(NamedTuple):
    """Ratings and scores of N lines.

    Attributes:
        ratings: [N] NaN for lines that are not rated.
        scores: [N] without gaps.
        scored: [N] whether a line has a score.
        contexts: [N] the conversation of each line.
        labels: whether the ratings are labels of 0 and 1.
        verdicts: [N] 1, 0 or `NO_VERDICT`; None if the scores are no verdicts.
    """

    ratings: FloatArray
    scores: FloatArray
    scored: BoolArray
    contexts: IntArray
    labels: bool
    verdicts: IntArray | None

    @classmethod
    def of(
        cls,
        sample: RatedSample,
        ratings: FloatArray,
        scale: Scale | None,
        scores: Scores,
        card: Card,
        contexts: IntArray,
    ) -> _Data:
        """Return the ratings and scores."""
        values, verdicts = filled(sample.lines, scores, card), None
        if is_binary(scores.values[scores.scored]):
            known = scores.scored | np.array([line.unanswered for line in sample.lines], dtype=bool)
            verdicts = np.where(known, values, NO_VERDICT).astype(np.int64)
        labels = are_labels(ratings[np.isfinite(ratings)], scale)
        return cls(ratings, values, scores.scored, contexts, labels, verdicts)

    @property
    def rated(self) -> BoolArray:
        """[N] whether a line is rated."""
        return np.isfinite(self.ratings)


class _System(NamedTuple):
    """A system, its ratings and scores, and the clusters of its rated lines."""

    name: str  # "" for all lines
    of: Corrected
    lines: int
    unscored: int
    mean_score: float
    contexts: frozenset[int]

    @property
    def differs(self) -> bool:
        """Whether the scores of the rated lines differ from those of all lines more than chance explains."""
        gap = self.sample.variances()[1]
        return self.sample.freedom > 0 and gap > 0 and abs(self.sample.gap) > _FAR * gap**0.5

    @property
    def sample(self) -> ppi.Sample:
        """Its ratings and scores."""
        return self.of.sample


def estimate(
    lines: Given,
    scorer: ScorerLike = DEFAULT,
    *,
    rated: Given | None = None,
    tie: Tie | None = None,
    plan: float | Mapping[str, float] | None = None,
    dimension: str = OVERALL,
    vectors: str | Path | None = None,
    progress: Advance = ignore,
) -> Results:
    """Estimate the mean human rating of each system, and the difference of any two.

    The rated lines must be a random sample of all lines of a system, as `next_lines` draws it; lines that it chose have
    a weight (`rating_weight`). For the method, and why any scorer may be used, see `stats.prediction_powered`.
    Conversations are the clusters (`data.clusters`). A line without a score gets the mean score, an empty reply the
    worst.

    Args:
        lines: the lines of the systems, rated, partly rated or not, in any form that `examples_of` takes.
        scorer: a name, a judge's folder, a scorer object or a function; it must not have been fitted to these ratings.
        rated: rated lines, among the others (by id or by text) or not; default: the ratings in `lines`.
        tie: "fail" or "pass" where as many people give one label as the other; by default the line has no label.
        plan: half the width of an interval that you want; the results then hold how many ratings it needs. Or by
            target: `{"rate": 0.05, "caught": 0.1, "difference": 0.05}`, half widths for the mean rating and for the
            share of bad replies that the judge catches, and a true difference to be shown with probability .8.
        dimension: which ratings.
        vectors: file of word vectors for a scorer that needs them; default: the bundled ones.
        progress: called during scoring with the number of lines done.

    Returns:
        Estimates with the labels `system` and `versus`: "mean rating" and "difference" (by ratings and scores), the
        same with ", ratings only", "power", "effective ratings", and with a `plan` "ratings needed".

    Raises:
        DataError: no line is rated; an id or a reply is rated in two lines; scales differ and are not known.
        NothingScored: no line, or no rated line, could be scored.
        UsageError: `plan` is not a number over 0, or for another target; see also `load_scorer`.
    """
    targets = _targets(plan)
    keep = columns_of(scorer)
    examples = examples_of(lines, name="lines", keep=keep)
    sample = joined(examples, rated_lines(rated, keep), dimension)
    labels = labelled(
        sample.lines, dimension, tie=tie, prompts=prompts_of([scorer]), test_only=True, unknown=sample.unknown
    )
    sample = sample._replace(lines=labels.lines)
    sets, ratings, scale = _ratings(sample.lines, dimension)
    loaded = as_rated(load_scorer(scorer, vectors=vectors), sample.lines)
    scores = run(loaded, sample.lines, progress=progress)
    _require_scored(scores, np.isfinite(ratings), loaded.card.name, unread(sample.lines))
    clusters = sorted_clusters(sample.lines)
    data = _Data.of(sample, ratings, scale, scores, loaded.card, clusters.numbers)
    systems = _systems(sample, data)
    name = label_of(scorer, loaded)
    named = [system for system in systems if system.name] or systems
    counts = {**_counts(sample, named, equal_scores(scores.values, ratings)), **counts_of(labels.facts)}
    fitted = next(iter(fitted_on([scorer], [line.dataset for line in sample.lines]).values()), [])
    missing = {"unscored": len(scores.reasons), "unscored_reasons": Counter(scores.reasons.values())}
    facts = {
        "scorer": name,
        "targets": {target: targets.get(target) for target in TARGETS},
        "fitted": fitted,
        "note": clusters.note,
        "left_out": left_out_said(labels.facts),
        "few": all(system.sample.n < ppi.FREEDOM_TO_TUNE for system in named),
    }
    about = About(
        data=_data(sets),
        scorers={name: {**scorer_facts(loaded.card.kind, scores), **missing, "fitted_on": fitted}},
        options={"dimension": dimension, "scale": scale, "plan": plan},
        counts=counts,
    )
    estimates = _estimates(systems, name, targets, scale)
    if "caught" in targets:
        estimates.append(_caught(data, targets["caught"], name))
    return _results(estimates, about, scores, facts)


def _counts(sample: RatedSample, systems: Sequence[_System], copied: int) -> dict[str, Any]:
    """Return the numbers of lines and ratings, and the systems whose rated lines are unlike the others."""
    return {
        "lines": sum(system.lines for system in systems),
        "ratings": sum(system.sample.n for system in systems),
        "rated": sample.rated,
        "matched": sample.matched,
        "without_system": sum(not system for system in names_of(sample.lines)),
        "copied": copied,
        "differing": [system.name for system in systems if system.differs],
    }


def _targets(plan: float | Mapping[str, float] | None) -> dict[str, float]:
    """Return a plan by target; `UsageError` for another target or no number over 0."""
    targets = {} if plan is None else dict(plan) if isinstance(plan, Mapping) else {"rate": plan}
    for name, half in targets.items():
        require_one_of("plan", name, TARGETS)
        if not (is_number(half) and half > 0):
            raise UsageError(f"plan is {half!r}, expected half the width of an interval, a number over 0")
    return targets


def _results(estimates: Sequence[Estimate], about: About, scores: Scores, facts: Mapping[str, Any]) -> Results:
    """Return the results with their sentences and tables."""
    scale = about.options["scale"]
    facts = {
        **about.counts,
        **facts,
        "estimates": estimates,
        "scale": "" if scale is None else in_words(scale),
        "unscored": Counter(scores.reasons.values()),
        "signature": str(scores.signature),
        "fewest_copied": FEWEST_EQUAL,
    }
    answer, warnings, made = (
        sentences("analysis", "estimate", part=part, **facts) for part in ("answer", "warnings", "made")
    )
    return Results(
        command="estimate",
        estimates=tuple(estimates),
        answer=answer,
        warnings=(*facts["left_out"], *warnings),
        about=about,
        layout=_layout(estimates, made, scale, about.counts),
    )


def _data(sets: RatedSets) -> list[dict[str, Any]]:
    """Return the facts about the data sets."""
    return [
        {
            "dataset": part.name,
            "rated": len(part),
            "contexts": part.clusters,
            "systems": len(part.named_systems),
            "scale": part.scale,
        }
        for part in sets.filled
    ]


def _require_scored(scores: Scores, rated: BoolArray, name: str, columns: Sequence[str]) -> None:
    """Raise `NothingScored` if no line, or no rated line, has a score."""
    for what, rows in (("lines", np.ones_like(rated)), ("rated lines", rated)):
        if not scores.scored[rows].any():
            reasons = [scores.reasons.get(place, "no reason given") for place in np.flatnonzero(rows).tolist()]
            why = f"none of {rows.sum():,} {what} has a score ({most_frequent(reasons)})"
            raise nothing_scored(f"{name}: {why}", columns)


def _ratings(lines: Sequence[Example], dimension: str) -> tuple[RatedSets, FloatArray, Scale | None]:
    """Return the rated sets, the mean ratings [N] on one scale (NaN for lines that are not rated), and the scale."""
    means = ratings_of(lines, dimension)
    if not np.isfinite(means).any():
        problem = f"none of {len(lines):,} lines has a rating{'' if dimension == OVERALL else f' in {dimension!r}'}"
        remedy = "Give rated lines: --rated FILE. Draw the lines to rate at random, about 50 or more for each system"
        raise DataError(problem, remedy)
    sets = rated_sets(lines, means, dimension)
    chosen = sets.pool or sets.filled[0]
    ratings = np.full(len(lines), np.nan)
    ratings[chosen.places] = chosen.ratings
    return sets, ratings, chosen.scale


def _systems(sample: RatedSample, data: _Data) -> list[_System]:
    """Return the systems, sorted by name, and with several of them all lines as the last, where all have ratings."""
    names = np.array(names_of(sample.lines), np.str_)
    listed, weights = sample.population.copy(), weights_of(sample.lines)

    def system(name: str, rows: IntArray) -> _System:
        verdicts = None if data.verdicts is None else data.verdicts[rows]
        facts = (data.ratings[rows], data.scores[rows], weights[rows], listed[rows], data.contexts[rows])
        of_system = corrected(*facts, labels=data.labels, verdicts=verdicts)
        mean = float(data.scores[rows][listed[rows]].mean())
        contexts = frozenset(data.contexts[rows[data.rated[rows]]].tolist())
        return _System(name, of_system, len(rows), int((~data.scored[rows]).sum()), mean, contexts)

    groups = {name: np.flatnonzero(names == name) for name in np.unique(names[names != ""]).tolist()}
    systems = []
    for name, rows in groups.items():
        if not listed[rows].any():  # the population of a system without other lines is its rated lines
            listed[rows] = True
        systems.append(system("" if name == ALL else name, rows))
        if data.rated[rows].any():  # among all lines a system counts by its lines, however many of them are rated
            weights[rows] *= listed[rows].sum() / weights[rows][data.rated[rows]].sum()
    if len(systems) > 1 and all(of_system.sample.n for of_system in systems):
        systems.append(system("", np.flatnonzero(names != "")))
    return systems


def _estimates(
    systems: Sequence[_System], scorer: str, plan: Mapping[str, float], scale: Scale | None
) -> list[Estimate]:
    """Return the estimates of each system, the highest first, of all lines, and of each difference."""
    named = [system for system in systems if system.name] or systems
    shared = ppi.shared_power([system.sample for system in named])
    measured = []
    for system in systems:
        labels: dict[str, Any] = {"scorer": scorer, "system": system.name, "contexts": len(system.contexts)}
        rows = _rows(system.of.mean(shared), system.of, "mean rating", labels)
        if scale is not None:  # no mean of ratings is outside their scale
            rows[:2] = [mean.between(*scale) for mean in rows[:2]]
        rows += _needed(system.sample, plan.get("rate"), labels)
        labels |= {"statistic": "mean score", "n": system.lines, "unscored": system.unscored}
        measured.append((system, [*rows, Estimate(value=system.mean_score, **labels)]))
    measured.sort(key=lambda item: (item[0] not in named, -item[1][0].value if item[1][0].known else np.inf))
    known = [system for system, rows in measured if rows[0].known and system in named]
    differences, needed = [], []
    for place, first in enumerate(known if len(known) <= ALL_PAIRS else known[:1]):
        for second in known[place + 1 :]:
            labels = {"scorer": scorer, "system": first.name, "versus": second.name}
            labels["contexts"] = len(first.contexts | second.contexts)
            differences.append(_rows(first.of.minus(second.of, shared), first.of, "difference", labels))
            apart = first.sample.minus(second.sample)
            differences[-1] += _needed(apart, plan.get("rate"), labels)
            if "difference" in plan:
                needed.append(_to_show(plan["difference"], apart, min(first.lines, second.lines), labels))
    # The highest system was selected by its value, so every pair of systems counts as tested.
    tested = [rows[0] for rows in differences]
    not_shown = len(known) * (len(known) - 1) // 2 - len(tested)
    decided = decide(tested, tests=not_shown + sum(not np.isnan(difference.p) for difference in tested))
    of_pairs = [row for first, rows in zip(decided, differences, strict=True) for row in (first, *rows[1:])]
    return [*(row for _, rows in measured for row in rows), *of_pairs, *needed]


def _rows(mean: ppi.Powered, of: Corrected, statistic: str, labels: Mapping[str, Any]) -> list[Estimate]:
    """Return the estimates of a system or of a difference of two."""
    about: dict[str, Any] = {**labels, "n": mean.alone.n}
    by_raters = {**about, "scorer": RATERS}
    test = {} if "versus" in labels else {"p": NAN}  # of a mean, p would test whether it is 0
    by_scores, alone = of.methods
    effective, method = ppi.worth(mean), "one power for all systems" if mean.shared else "power of this sample"
    reason = "" if np.isfinite(effective) else mean.powered.reason or "the interval has no width"
    return [
        estimate_of(mean.powered, **about, **test, statistic=statistic, method=by_scores),
        estimate_of(mean.alone, **by_raters, **test, statistic=f"{statistic}, ratings only", method=alone),
        Estimate(**about, statistic="power", value=mean.power, method=method),
        Estimate(**about, statistic="effective ratings", value=effective, reason=reason),
    ]


def _needed(sample: ppi.Sample, half: float | None, labels: Mapping[str, Any]) -> list[Estimate]:
    """Return how many ratings an interval of this half width needs, with the scores and without; [] without `half`."""
    estimates = []
    if half is None:
        return []
    for statistic in ("ratings needed", "ratings needed, ratings only"):
        scored = statistic == "ratings needed"
        about = {**labels, "n": sample.n, "statistic": statistic, **({} if scored else {"scorer": RATERS})}
        number = ppi.ratings_needed(sample, half, scored=scored) if sample.n else None
        reason = "" if number else ppi.powered(sample).powered.reason or _NOT_ENOUGH
        value, method = NAN if number is None else float(number), f"for an interval of ± {half:g}"
        estimates.append(Estimate(**about, value=value, method=method, reason=reason))
    return estimates


def _to_show(apart: float, sample: ppi.Sample, lines: int, labels: Mapping[str, Any]) -> Estimate:
    """Return how many ratings of each of two systems show a difference; no number if they have too few lines."""
    number = ppi.ratings_needed(sample, apart * _DETECTED, scored=True)
    each = NAN if number is None else float(ceil(number / 2))
    reason = "" if each <= lines else ppi.powered(sample).powered.reason or _NOT_ENOUGH
    about = {**labels, "by": "target", "group": "difference", "statistic": "ratings needed", "n": sample.n}
    method = f"of each system, to show a difference of {apart:g} with probability .8"
    return Estimate(**about, value=NAN if reason else each, method=method, reason=reason)


def _caught(data: _Data, half: float, scorer: str) -> Estimate:
    """Return how many labels give the share of bad replies that a judge catches."""
    about: dict[str, Any] = {"scorer": scorer, "by": "target", "group": "caught", "statistic": "ratings needed"}
    about |= {
        "n": int(data.rated.sum()),
        "method": f"for ± {half:g} of the share of bad replies caught, Wilson interval",
    }
    if not data.labels or data.verdicts is None:
        return Estimate(**about, reason="only labels and a judge of verdicts say how many bad replies it catches")
    judged = data.rated & (data.verdicts != NO_VERDICT)
    bad = int((data.ratings[judged] == 0).sum())
    if not bad:
        return Estimate(**about, reason="no reply is labelled bad")
    caught = (float((data.verdicts[judged & (data.ratings == 0)] == 0).sum()) + 0.5) / (bad + 1)
    number, lines = labels_for_caught(half, caught, bad / int(judged.sum())), len(data.ratings)
    reason = "" if number <= lines else f"it would need {rounded(number)} labels, and there are {lines:,} lines"
    return Estimate(**about, value=NAN if reason else float(number), reason=reason)


def _layout(
    estimates: Sequence[Estimate], made: Sequence[str], scale: Scale | None, counts: Mapping[str, Any]
) -> Layout:
    """Return the content of the report."""
    means = [row for row in estimates if not (row.versus or row.group)]
    mean, difference = {"statistic": "mean rating"}, {"statistic": "difference"}
    columns = [
        Column("lines", {"statistic": "mean score"}, lambda row: count(row.n), spare=True),
        Column("ratings", mean, lambda row: count(row.n)),
        Column("mean rating [low, high]", mean),
        Column("ratings only", {"statistic": "mean rating, ratings only"}),
        Column("effective ratings", {"statistic": "effective ratings"}, _whole, spare=True),
        Column("ratings needed", {"statistic": "ratings needed"}, _whole),
        Column("needed, ratings only", {"statistic": "ratings needed, ratings only"}, _whole, spare=True),
    ]
    caption = "Effective ratings: number of ratings that would give as narrow an interval without the scorer."
    systems = pivot(means, _name, columns, heading="system", caption=caption, in_order=True)
    columns = [
        Column("[low, high]", difference, partial(interval, signed=True)),
        Column("ratings only", {"statistic": "difference, ratings only"}, partial(interval, signed=True), spare=True),
        Column("p", difference, lambda row: p_value(row.p_adjusted)),
        Column("verdict", difference, lambda row: row.verdict),
    ]
    caption = "p is adjusted for all pairs of systems (Holm)." if len(pick(estimates, **difference)) > 1 else ""
    pairs = [row for row in estimates if row.versus and not row.group]
    by = "{0.system} - {0.versus}".format
    apart = pivot(pairs, by, columns, heading="difference", caption=caption, in_order=True)
    more = len(apart.rows) - _SHOWN if apart else 0
    notes = (f"and {more:,} more: -o report.html",) if more > 0 else ()
    keys = [
        KeyFigure.of(row, f"mean rating of {_name(row)}", f"{row.n:,} ratings")
        for row in pick(means, **mean)[:2]
        if row.known
    ]
    return Layout(
        title="Mean ratings of systems",
        keys=[*keys, KeyFigure(count(counts["ratings"]), "", "ratings", f"of {counts['lines']:,} lines")],
        chart=_chart(means, scale),
        sections=[Section("Systems", [systems]), *([Section("Differences", [apart])] if apart else [])],
        brief=[systems, apart and apart._replace(rows=apart.rows[:_SHOWN], notes=notes), Prose(made)],
        made=made,
    )


def _name(row: Estimate) -> str:
    """Return the name of a system."""
    return row.system or ALL


def _whole(row: Estimate) -> str:
    """Return a forecast."""
    return rounded(round(row.value))


def _chart(estimates: Sequence[Estimate], scale: Scale | None) -> Chart | None:
    """Return the means of the first systems, and next to them by ratings only; None without a scale."""
    if scale is None:
        return None
    means = [mean for mean in pick(estimates, statistic="mean rating") if mean.has_interval][:_DRAWN]
    rows = []
    for mean in means:
        alone = one(estimates, statistic="mean rating, ratings only", system=mean.system)
        rows += [mean, alone] if alone.ends != mean.ends else [mean]
    return intervals(
        "systems",
        rows,
        row=lambda row: _name(row) if row.statistic == "mean rating" else f"{_name(row)}, ratings only",
        null=scale[0],
        scale=scale,
        xlabel="Mean rating",
        caption="Ratings only: without the scores." if len(rows) > len(means) else "",
    )
