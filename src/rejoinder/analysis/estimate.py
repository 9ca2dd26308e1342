"""Mean human ratings of systems, from few ratings and the scores of all lines.

Shapes: N lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rejoinder.analysis.estimate_layout import layout
from rejoinder.analysis.sample import RatedSample, joined, weights_of
from rejoinder.analysis.scored import RATERS
from rejoinder.data.clusters import sorted_clusters
from rejoinder.data.rated import FEWEST_EQUAL, RatedSets, equal_scores, rated_sets, ratings_of
from rejoinder.data.read import examples_of
from rejoinder.data.scales import Scale, in_words
from rejoinder.data.values import is_number
from rejoinder.errors import DataError, UsageError
from rejoinder.estimates import NAN, Estimate, decide, estimate_of, pick
from rejoinder.example import OVERALL, Example, Given
from rejoinder.report.results import About, Results
from rejoinder.report.written import sentences
from rejoinder.scorer import Advance, Card, FloatArray, ScorerLike, Scores, ignore, run
from rejoinder.scoring.catalog import DEFAULT, columns_of, fitted_on, label_of, load_scorer
from rejoinder.scoring.dialogue import as_rated
from rejoinder.scoring.unscored import nothing_scored, unread
from rejoinder.stats.prediction_powered import (
    FREEDOM_TO_TUNE,
    Sample,
    powered,
    ratings_needed,
    sample_of,
    shared_power,
    worth,
)
from rejoinder.stats.resamples import BoolArray, IntArray

ALL_PAIRS = 20
"""Systems: with more, only the highest is compared with each."""
ALL = "all lines"
"""The group of every line where no line names a system."""
_FAR = 4.0  # standard errors: equal chances bring the rated lines so far from the others once in 16,000 samples
_BY_SCORES = "prediction-powered mean with power tuning (PPI++), Student's t, variance over conversations (CR2)"
_BY_RATINGS = "mean of the ratings, Student's t, variance over conversations (CR2)"


class _System(NamedTuple):
    """A system: its name, the sample, and the clusters of its rated lines.

    The name is empty if no line names a system. `mean_score` is that of its population.
    """

    name: str
    sample: Sample
    lines: int
    unscored: int
    mean_score: float
    contexts: frozenset[int]

    @property
    def differs(self) -> bool:
        """Whether the scores of the rated lines differ from those of all lines more than chance explains."""
        gap = self.sample.variances()[1]
        return self.sample.freedom > 0 and gap > 0 and abs(self.sample.gap) > _FAR * gap**0.5


def estimate(
    lines: Given,
    scorer: ScorerLike = DEFAULT,
    *,
    rated: Given | None = None,
    plan: float | None = None,
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
        plan: half the width of an interval that you want; the results then hold how many ratings it needs.
        dimension: which ratings.
        vectors: file of word vectors for a scorer that needs them; default: the bundled ones.
        progress: called during scoring with the number of lines done.

    Returns:
        Estimates with the labels `system` and `versus`: "mean rating" and "difference" (by ratings and scores), the
        same with ", ratings only", "power", "effective ratings", and with a `plan` "ratings needed".

    Raises:
        DataError: no line is rated; an id or a reply is rated in two lines; scales differ and are not known.
        NothingScored: no line, or no rated line, could be scored.
        UsageError: `plan` is not a number over 0; see also `load_scorer`.
    """
    if plan is not None and not (is_number(plan) and plan > 0):
        raise UsageError(f"plan is {plan!r}, expected half the width of an interval, a number over 0")
    keep = columns_of(scorer)
    examples = examples_of(lines, name="lines", keep=keep)
    sample = joined(examples, [] if rated is None else examples_of(rated, name="rated", keep=keep), dimension)
    sets, ratings, scale = _ratings(sample.lines, dimension)
    loaded = as_rated(load_scorer(scorer, vectors=vectors), sample.lines)
    scores = run(loaded, sample.lines, progress=progress)
    _require_scored(scores, np.isfinite(ratings), loaded.card.name, unread(sample.lines))
    clusters = sorted_clusters(sample.lines)
    systems = _systems(sample, ratings, scores, loaded.card, clusters.numbers)
    label = label_of(scorer, loaded)
    estimates = _estimates(systems, label, plan, scale)
    means = pick(estimates, statistic="mean rating")
    facts = {
        "estimates": estimates,
        "means": means,
        "known": [mean for mean in means if mean.known],
        "scorer": label,
        "scale": "" if scale is None else in_words(scale),
        "plan": plan,
        "lines": sum(system.lines for system in systems),
        "ratings": sum(system.sample.n for system in systems),
        "few": all(mean.n < FREEDOM_TO_TUNE for mean in means),
        "rated": sample.rated,
        "matched": sample.matched,
        "copied": equal_scores(scores.values, ratings),
        "differing": [system.name for system in systems if system.differs],
        "fitted": next(iter(fitted_on([scorer], [line.dataset for line in sample.lines]).values()), []),
        "without_system": sum(not name for name in names_of(sample.lines)),
        "unscored": Counter(scores.reasons.values()),
        "note": clusters.note,
        "signature": str(scores.signature),
    }
    return _results(facts, sets, {"dimension": dimension, "scale": scale, "plan": plan}, loaded.card, scores)


def _require_scored(scores: Scores, rated: BoolArray, name: str, columns: Sequence[str]) -> None:
    """Raise `NothingScored` if no line, or no rated line, has a score."""
    for what, rows in (("lines", np.ones(len(rated), dtype=bool)), ("rated lines", rated)):
        if not scores.scored[rows].any():
            reasons = Counter(scores.reasons.get(place, "no reason given") for place in np.flatnonzero(rows).tolist())
            reason = reasons.most_common(1)[0][0]
            raise nothing_scored(f"{name}: none of {rows.sum():,} {what} has a score ({reason})", columns)


def _ratings(lines: Sequence[Example], dimension: str) -> tuple[RatedSets, FloatArray, Scale | None]:
    """Return the rated sets, the mean ratings [N] on one scale (NaN for lines that are not rated), and the scale.

    Raises:
        DataError: no line is rated; scales differ and are not known.
    """
    means = ratings_of(lines, dimension)
    if not np.isfinite(means).any():
        where = "" if dimension == OVERALL else f" in {dimension!r}"
        raise DataError(
            f"none of {len(lines):,} lines has a rating{where}",
            "Give rated lines: --rated FILE. Draw the lines to rate at random, about 50 or more for each system",
        )
    sets = rated_sets(lines, means, dimension)
    chosen = sets.pool or sets.filled[0]
    ratings = np.full(len(lines), np.nan)
    ratings[chosen.places] = chosen.ratings
    return sets, ratings, chosen.scale


def filled(lines: Sequence[Example], scores: Scores, card: Card) -> FloatArray:
    """Return scores [N] without gaps: the mean score for a line without one, the worst score for an empty reply.

    The estimate is right whatever these values are, because it assumes nothing about scores.
    """
    known = scores.values[scores.scored] if scores.scored.any() else np.zeros(1)
    values = np.where(scores.scored, scores.values, known.mean())
    if card.higher_is_better is not None:
        empty = np.array([line.unanswered for line in lines], dtype=bool)
        values[empty] = known.min() if card.higher_is_better else known.max()
    return values


def names_of(lines: Sequence[Example]) -> list[str]:
    """Return the system of each line, "" for a line that names none; `ALL` for each line if no line names one."""
    named = any(line.system for line in lines)
    return [line.system or "" if named else ALL for line in lines]


def _systems(sample: RatedSample, ratings: FloatArray, scores: Scores, card: Card, contexts: IntArray) -> list[_System]:
    """Return the systems, sorted by name."""
    names, numbers = np.unique(np.array(names_of(sample.lines), np.str_), return_inverse=True)
    order = np.argsort(numbers, kind="stable")
    rows_of = np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1)
    values, weights, systems = filled(sample.lines, scores, card), weights_of(sample.lines), []
    for name, rows in zip(names.tolist(), rows_of, strict=True):
        if not name:
            continue
        # The population of a system without other lines is its rated lines.
        population = sample.population[rows] if sample.population[rows].any() else ~sample.population[rows]
        systems.append(
            _System(
                name="" if name == ALL else name,
                sample=sample_of(ratings[rows], values[rows], weights[rows], population, contexts[rows]),
                lines=len(rows),
                unscored=int((~scores.scored[rows]).sum()),
                mean_score=float(values[rows][population].mean()),
                contexts=frozenset(contexts[rows[np.isfinite(ratings[rows])]].tolist()),
            )
        )
    return systems


def _estimates(systems: Sequence[_System], scorer: str, plan: float | None, scale: Scale | None) -> list[Estimate]:
    """Return the estimates of each system, the highest first, and of each difference."""
    shared = shared_power([system.sample for system in systems])
    measured = []
    for system in systems:
        labels: dict[str, Any] = {"scorer": scorer, "system": system.name, "contexts": len(system.contexts)}
        estimates = _of_sample(system.sample, shared, plan, "mean rating", labels)
        if scale is not None:  # no mean of ratings is outside their scale
            estimates[:2] = [mean.between(*scale) for mean in estimates[:2]]
        labels |= {"statistic": "mean score", "n": system.lines, "unscored": system.unscored}
        measured.append((system, [*estimates, Estimate(value=system.mean_score, **labels)]))
    measured.sort(key=lambda item: -item[1][0].value if item[1][0].known else np.inf)
    known = [system for system, estimates in measured if estimates[0].known]
    tops = known if len(known) <= ALL_PAIRS else known[:1]
    differences = []
    for place, first in enumerate(tops):
        for second in known[place + 1 :]:
            labels = {"scorer": scorer, "system": first.name, "versus": second.name}
            labels["contexts"] = len(first.contexts | second.contexts)
            differences.append(_of_sample(first.sample.minus(second.sample), shared, plan, "difference", labels))
    # The highest system was selected by its value, so every pair of systems counts as tested.
    tested = [estimates[0] for estimates in differences]
    not_shown = len(known) * (len(known) - 1) // 2 - len(tested)
    decided = decide(tested, tests=not_shown + sum(not np.isnan(difference.p) for difference in tested))
    return [
        *(each for _, estimates in measured for each in estimates),
        *(each for first, rest in zip(decided, differences, strict=True) for each in (first, *rest[1:])),
    ]


def _of_sample(
    sample: Sample, shared: float | None, plan: float | None, statistic: str, labels: Mapping[str, Any]
) -> list[Estimate]:
    """Return the estimates of one sample: a system or a difference of two."""
    mean = powered(sample, shared)
    about: dict[str, Any] = {**labels, "n": sample.n}
    by_raters = {**about, "scorer": RATERS}
    test = {} if "versus" in labels else {"p": NAN}  # of a mean, p would test whether it is 0
    effective, method = worth(mean), "one power for all systems" if mean.shared else "power of this sample"
    reason = "" if np.isfinite(effective) else mean.powered.reason or "the interval has no width"
    estimates = [
        estimate_of(mean.powered, **about, **test, statistic=statistic, method=_BY_SCORES),
        estimate_of(mean.alone, **by_raters, **test, statistic=f"{statistic}, ratings only", method=_BY_RATINGS),
        Estimate(**about, statistic="power", value=mean.power, method=method),
        Estimate(**about, statistic="effective ratings", value=effective, reason=reason),
    ]
    if plan is not None:
        too_many = mean.powered.reason or "no number of ratings of these lines is enough"
        for name, fields in (("ratings needed", about), ("ratings needed, ratings only", by_raters)):
            number = ratings_needed(sample, plan, scored=fields is about) if sample.n else None
            value, reason = (NAN, too_many) if number is None else (float(number), "")
            method = f"for an interval of ± {plan:g}"
            estimates.append(Estimate(**fields, statistic=name, value=value, method=method, reason=reason))
    return estimates


def _results(
    facts: Mapping[str, Any], sets: RatedSets, options: Mapping[str, Any], card: Card, scores: Scores
) -> Results:
    """Return the results with their sentences and tables."""
    answer, warnings, made = (
        sentences("analysis", "estimate", part=part, fewest_copied=FEWEST_EQUAL, **facts)
        for part in ("answer", "warnings", "made")
    )
    about = {
        "kind": card.kind,
        "asked": True,
        "signature": scores.signature.fields,
        "warnings": scores.warning_counts,
        "unscored": len(scores.reasons),
        "unscored_reasons": facts["unscored"],
        "fitted_on": facts["fitted"],
    }
    keys = ("lines", "ratings", "rated", "matched", "without_system", "copied", "differing")
    return Results(
        command="estimate",
        estimates=tuple(facts["estimates"]),
        answer=answer,
        warnings=warnings,
        about=About(
            data=[
                {
                    "dataset": rated_set.name,
                    "rated": len(rated_set),
                    "contexts": rated_set.clusters,
                    "systems": len(rated_set.named_systems),
                    "scale": rated_set.scale,
                }
                for rated_set in sets.filled
            ],
            scorers={facts["scorer"]: about},
            options=options,
            counts={key: facts[key] for key in keys},
        ),
        layout=layout(facts["estimates"], made, scale=options["scale"], ratings=facts["ratings"], lines=facts["lines"]),
    )
