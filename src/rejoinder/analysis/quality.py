"""Whether replies are good enough: their mean score with its interval, compared with a required score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from textwrap import shorten
from typing import Any

import numpy as np

from rejoinder.analysis.baselines import scorer_facts
from rejoinder.analysis.worst import with_the_worst
from rejoinder.data.clusters import sorted_clusters
from rejoinder.data.read import examples_of
from rejoinder.data.shared_ids import refuse_again
from rejoinder.data.values import is_number
from rejoinder.errors import DataError, UsageError
from rejoinder.estimates import NAN, Estimate, Verdict, estimate_of
from rejoinder.example import Example, Given
from rejoinder.judges.protocol import is_judge
from rejoinder.report.layout import Case, Cases, Layout, Section
from rejoinder.report.results import About, Gate, Results
from rejoinder.report.written import interval, sentences
from rejoinder.scorer import OUT_OF_DOMAIN, Scorer, ScorerLike, Scores, run
from rejoinder.scoring.catalog import DEFAULT, columns_of, load_scorer
from rejoinder.scoring.dialogue import as_rated
from rejoinder.scoring.domain import INSTEAD, domain_share, out_of_domain
from rejoinder.scoring.explained import explanations, facts_warning, is_explained
from rejoinder.stats.permutation import cluster_means
from rejoinder.stats.resamples import FEWEST_CLUSTERS, Sampling, number_of

MIN_SCORED = 0.95
"""The smallest share of replies with a score: with fewer they are never good enough."""
_SHOWN, _TURNS, _LONGEST = 3, 3, 160  # bad replies; last turns of a context; characters of a text


def quality(
    examples: Given, at_least: float, scorer: ScorerLike = DEFAULT, *, resamples: int = 1000, seed: int = 0
) -> Results:
    """Decide whether the mean score of replies is at least the required score.

    The interval is about other replies of the same system: contexts are resampled. With fewer than four contexts, or
    different replies, there is no interval, and the verdict is inconclusive. The error of the scorer is not part of it.
    An empty reply is the worst reply.

    Args:
        examples: the replies, in any form that `examples_of` takes.
        at_least: the required mean score, on the scorer's own scale.
        scorer: a name, a judge's folder, a scorer object or a function.
        resamples: number of resamples, 100 or more.
        seed: their seed, 0 or more.

    Returns:
        An estimate "mean score". Its verdict is above if the whole interval is at least `at_least` (the gate passes),
        below, inconclusive, or out of domain; undefined without any score. If the scorer gives prediction intervals,
        another estimate, "mean prediction interval". The cases are the lowest replies.

    Raises:
        DataError: there is no reply, or two lines have the same id.
        UsageError: higher is not better by this scorer, or a number is out of range; see also `load_scorer`.
    """
    sampling = Sampling.checked(resamples, seed, least=100)
    loaded = load_scorer(scorer)
    require_least(loaded, at_least)
    lines = examples_of(examples, keep=columns_of(scorer))
    if not lines:
        raise DataError("no reply to judge", "Give one or more")
    refuse_again(lines)
    scores = run(as_rated(loaded, lines), lines)
    outside = out_of_domain(loaded.card.name, loaded.card, domain_share(scores, loaded))
    card = replace(loaded.card, range=loaded.scale) if is_judge(loaded) else loaded.card
    (values,), (empty,), _ = with_the_worst(card, [(lines, scores)])
    low, high = (None if end is None else np.where(empty, values, end) for end in (scores.low, scores.high))
    scores = replace(scores, values=values, low=low, high=high)
    mean = _mean(lines, scores, sampling)
    mean = replace(mean, scorer=card.name, verdict=Verdict.OUT_OF_DOMAIN if outside else _verdict(mean, at_least))
    cases = () if outside else _cases(loaded, lines, scores, at_least)
    counts = {"replies": len(lines), "empty": int(empty.sum())}
    error = _prediction_interval(scores, mean)
    facts = {"mean": mean, "error": error, "at_least": at_least, "outside": outside, **counts}
    facts |= {"warnings": scores.warning_counts, "instead": INSTEAD, "domain": OUT_OF_DOMAIN}
    facts["facts"] = facts_warning({card.name: loaded})
    answer, warnings, (gate,) = (
        sentences("analysis", "quality", part=part, **facts) for part in ("answer", "warnings", "gate")
    )
    missing = {"unscored": mean.unscored, "unscored_reasons": _missing(scores)}
    return Results(
        command="quality",
        estimates=(mean, error) if error.known else (mean,),
        answer=answer,
        warnings=warnings,
        cases=cases,
        about=About(
            scorers={card.name: scorer_facts(card.kind, scores) | missing},
            options={"at_least": at_least, "resamples": resamples, "seed": seed},
            counts=counts,
        ),
        gate=Gate(mean.verdict is Verdict.ABOVE, gate),
        layout=Layout(
            title="Quality of replies",
            sections=[Section("Lowest replies", [Cases("", cases)])] if cases else [],
            brief=[Cases("Lowest replies", cases)] if cases else [],
        ),
    )


def require_least(scorer: Scorer, at_least: Any) -> None:
    """Check that a score can be required of a scorer, and that it is a number.

    Raises:
        UsageError: higher is not better by this scorer, or `at_least` is not a finite number.
    """
    name = scorer.card.name
    if not scorer.card.higher_is_better:
        raise UsageError(f"{name} does not declare that higher is better, so no score can be required of it")
    if not is_number(at_least):
        value = "missing" if at_least is None else repr(at_least)
        raise UsageError(f"at_least is {value}, expected a finite number on the scale of {name}")


def _mean(lines: Sequence[Example], scores: Scores, sampling: Sampling) -> Estimate:
    known = np.flatnonzero(scores.scored)
    contexts = sorted_clusters([lines[row] for row in known.tolist()]).numbers
    clusters, missing, reason = number_of(contexts), len(lines) - len(known), ""
    labels: dict[str, Any] = {"statistic": "mean score", "n": len(known), "unscored": missing, "contexts": clusters}
    if len(known) < MIN_SCORED * len(lines):
        most = _missing(scores).most_common(1)[0][0]
        reason = f"{missing} of {len(lines)} have no score; most frequent reason: {most}"
    rng = sampling.generator([clusters], "quality")
    (mean,) = cluster_means(scores.values[known][None], contexts, np.zeros(1), sampling.resamples, rng, flips=0)
    replies = [(lines[row], float(scores.values[row])) for row in known.tolist()]  # a scorer may read more than texts
    different = len({(line.context, line.response, line.references, value) for line, value in replies})
    if mean.has_interval and different < FEWEST_CLUSTERS:
        few = f"{different} different {'reply' if different == 1 else 'replies'}, {FEWEST_CLUSTERS} are needed"
        mean = Estimate(value=mean.value, method="no interval", reason=f"no interval: {few}")
    return estimate_of(mean, **labels, p=NAN, seed=sampling.seed, reason=reason or mean.reason)


def _prediction_interval(scores: Scores, mean: Estimate) -> Estimate:
    """Return the mean of the scorer's prediction intervals: an error that all replies share is as large as this."""
    known = scores.scored
    if scores.low is None or scores.high is None or not known.any():
        return Estimate()
    low, high = (float(end[known].mean()) for end in (scores.low, scores.high))
    method = "mean of the ends of the scorer's prediction intervals (90 % for bundled judges)"
    ends = Estimate(value=mean.value, low=low, high=high, n=mean.n, contexts=mean.contexts, method=method)
    return replace(ends, scorer=mean.scorer, statistic="mean prediction interval")


def _missing(scores: Scores) -> Counter[str]:
    """Return the reasons of missing scores, with their numbers."""
    return Counter(reason for row, reason in scores.reasons.items() if not scores.scored[row])


def _score(scores: Scores, row: int) -> Estimate:
    low, high = (NAN if end is None else float(end[row]) for end in (scores.low, scores.high))
    return Estimate(value=float(scores.values[row]), low=low, high=high)


def _verdict(mean: Estimate, at_least: float) -> Verdict:
    """Return whether the whole interval is at least `at_least`."""
    if not mean.known:
        return Verdict.UNDEFINED
    if mean.high < at_least:
        return Verdict.BELOW
    return Verdict.ABOVE if mean.low >= at_least and not mean.reason else Verdict.INCONCLUSIVE


def _cases(scorer: Scorer, lines: Sequence[Example], scores: Scores, at_least: float) -> tuple[Case, ...]:
    """Return the lowest replies below `at_least`, the lowest first; if none is below, the lowest reply."""
    order = np.argsort(scores.values, kind="stable")[: int(scores.scored.sum())].tolist()
    below = [row for row in order if scores.values[row] < at_least]
    cases = []
    for row in (below or order[:1])[:_SHOWN]:
        line, score, warnings = lines[row], _score(scores, row), list(scores.warnings.get(row, ()))
        # The explanation of a whole conversation would be that of its last reply.
        (why,) = explanations(scorer, [line]) if is_explained(scorer) and not line.is_dialogue else (None,)
        words = why.words if why else ""
        values: dict[str, Any] = {"id": line.id, "dataset": line.dataset, "system": line.system}
        values |= {"scorer": scorer.card.name, "score": score.value, "low": score.low, "high": score.high}
        values |= {"explanation": words, "warnings": warnings}
        facts = "; ".join(filter(None, [interval(score), words, ", ".join(warnings)]))
        *context, reply = (shorten(text, _LONGEST, placeholder=" ...") for text in [*line.context, line.response])
        replies = [("reply", reply or "(empty)")]
        cases.append(Case(line.where or line.id, facts, context[-_TURNS:], replies, values=values))
    return tuple(cases)
