"""Whether replies are good enough: their mean score with its interval, beside what is asked of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np

from rejoinder.data.read import examples_of
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example, Given
from rejoinder.data.clusters import sorted_clusters
from rejoinder.data.shared_ids import refuse_again
from rejoinder.judges.answers import is_judge
from rejoinder.meta.agreement import most_frequent
from rejoinder.scoring.domain import domain_share, out_of_domain
from rejoinder.meta.worst import with_the_worst
from rejoinder.scorer import FloatArray, Scorer, ScorerLike, Scores, Signature, run
from rejoinder.scoring.catalog import DEFAULT, columns_of, load_scorer
from rejoinder.scoring.dialogue import as_rated
from rejoinder.scoring.explained import explanations, facts_warning, is_explained
from rejoinder.stats.figure import NONE, Figure
from rejoinder.stats.permutation import cluster_means
from rejoinder.stats.resamples import IntArray, Sampling, mean_of_independent

MIN_SCORED = 0.95
FEWEST = 5  # contexts that are resampled: of four, all means that can be drawn hold the truth in 88 % of cases only

Verdict = Literal["passes", "fails", "cannot tell", "out of domain"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lowest(Figure):
    """The reply with the lowest score; its interval is what the scorer says of it.

    Attributes:
        example: the reply.
        why: what moved its score, in words; "" where the scorer does not say it.
        notes: what the scorer cannot judge about it.
    """

    example: Example
    why: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality(Figure):
    """The mean score of replies, n of which have one, and whether it is what was asked for.

    Attributes:
        scorer: name of the scorer.
        at_least: the mean score that was asked for.
        replies: how many were given.
        contexts: contexts that those with a score answer.
        empty: replies without a text, each of which counts as the worst.
        unscored: why replies have no score, counted.
        notes: what the scorer cannot judge, counted.
        outside: why the scorer cannot judge these replies; "" where it can.
        facts: the warning that facts were not checked, or "".
        lowest: the reply with the lowest score; None where none has one.
        signature: where the scores came from.
    """

    scorer: str
    at_least: float
    replies: int
    contexts: int
    empty: int
    unscored: Mapping[str, int]
    notes: Mapping[str, int]
    outside: str
    facts: str
    lowest: Lowest | None
    signature: Signature

    @property
    def verdict(self) -> Verdict:
        """Whether the whole interval lies at or over what was asked for, under it, or on both sides.

        The scores of a scorer without intervals are taken as they are. Too few scores tell nothing good. Replies that
        the scorer cannot judge are neither good enough nor not.
        """
        if self.outside:
            return "out of domain"
        exact = not self.has_interval and not self.reason
        low, high = (self.value, self.value) if exact else self.ends
        if high < self.at_least:
            return "fails"
        return "passes" if low >= self.at_least and not self.reason else "cannot tell"


class _Scored(NamedTuple):
    """N replies with their scores, those of empty ones in.

    Attributes:
        values: [N]; NaN where there is none.
        low: [N] the lower end of each; None where the scorer gives no intervals.
        high: [N] the upper end.
        empty: how many are empty.
    """

    values: FloatArray
    low: FloatArray | None
    high: FloatArray | None
    empty: int

    def figure(self, row: int) -> Figure:
        """The score of one reply."""
        low, high = (NONE if ends is None else float(ends[row]) for ends in (self.low, self.high))
        return Figure(value=float(self.values[row]), low=low, high=high)


def quality(
    examples: Given,
    at_least: float,
    scorer: ScorerLike = DEFAULT,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> Quality:
    """Whether the mean score of replies is at least what is asked for, or that this cannot be told.

    With five contexts and distinct replies or more the interval is about other replies of the same system: contexts
    are resampled, of which a reply that was given in several is one each. With fewer it is about these replies alone,
    and comes from what the scorer says of each, taken as independent; its confidence is that of the scorer, 90 % of the
    judges here, and copies make it no surer: what the scorer says of them is said once. An empty reply is the worst
    reply. Lines that say that they are conversations are scored as such.

    Args:
        examples: the replies, in any form that `examples_of` takes.
        at_least: the mean score that is asked for, on the scorer's own scale.
        scorer: a name, the folder of a judge, a scorer object or a function.
        resamples: number of resamples, 100 or more.
        seed: their seed, 0 or more.

    Raises:
        DataError: there is no reply, or an id is given twice.
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
    scored = _scored(loaded, lines, scores)
    known = np.flatnonzero(np.isfinite(scored.values))
    contexts = sorted_clusters([lines[row] for row in known]).numbers
    copies = _copies(lines, scored, known)
    mean = _mean(scored, known, contexts, copies, sampling)
    missing = [why for row, why in scores.reasons.items() if math.isnan(scored.values[row])]
    return Quality.of(
        mean,
        n=len(known),
        reason=_too_few(len(known), len(lines), missing) or mean.reason,
        scorer=loaded.card.name,
        at_least=at_least,
        replies=len(lines),
        contexts=len(set(contexts.tolist())),
        empty=scored.empty,
        unscored={why: missing.count(why) for why in dict.fromkeys(missing)},
        notes=scores.warning_counts,
        outside=out_of_domain(loaded.card.name, loaded.card, domain_share(scores, loaded)),
        facts=facts_warning({loaded.card.name: loaded}),
        lowest=_lowest(loaded, lines, scores, scored) if len(known) else None,
        signature=scores.signature,
    )


def require_least(scorer: Scorer, at_least: Any) -> None:
    """Refuse a least score where none can be asked of a scorer, or what is asked is no number.

    Raises:
        UsageError: so it is.
    """
    if not scorer.card.higher_is_better:
        name = scorer.card.name
        raise UsageError(f"{name} does not say that higher is better, so there is no least score to ask for")
    if isinstance(at_least, bool) or not isinstance(at_least, Real) or not math.isfinite(at_least):
        found = "missing" if at_least is None else repr(at_least)
        raise UsageError(f"at_least is {found}, expected a finite number on the scale of {scorer.card.name}")


def _scored(scorer: Scorer, lines: Sequence[Example], scores: Scores) -> _Scored:
    """The scores, with the worst one at empty replies: the low end of a judge's scale, or a score below it."""
    card = replace(scorer.card, range=scorer.scale) if is_judge(scorer) else scorer.card
    filled = with_the_worst(card, lines, [], (scores, run(scorer, [])))
    low, high = (
        None if ends is None else np.where(filled.empty_a, filled.a, ends) for ends in (scores.low, scores.high)
    )
    return _Scored(filled.a, low, high, int(filled.empty_a.sum()))


def _copies(lines: Sequence[Example], scored: _Scored, known: IntArray) -> list[list[int]]:
    """The rows of each distinct reply that has a score, together."""
    found: dict[object, list[int]] = {}
    for row in known.tolist():
        line = lines[row]
        key = (line.context, line.response, line.references, float(scored.values[row]))  # scorers may read more
        found.setdefault(key, []).append(row)
    return list(found.values())


def _mean(
    scored: _Scored, known: IntArray, contexts: IntArray, copies: Sequence[Sequence[int]], sampling: Sampling
) -> Figure:
    """The mean of the replies that have a score."""
    count = len(set(contexts.tolist()))
    if min(count, len(copies)) >= FEWEST:
        rng = sampling.generator([count], "quality")
        (mean,) = cluster_means(scored.values[known][None], contexts, np.zeros(1), sampling.resamples, rng, flips=0)
        return Figure.of(mean, p=NONE, seed=sampling.seed)
    found = mean_of_independent([scored.figure(rows[0]) for rows in copies], [len(rows) for rows in copies])
    if scored.low is None or not found.known:
        return replace(found, method="mean of the scores as they are")
    if not found.has_interval:
        return replace(found, reason="the scorer does not say of every reply how sure it is")
    return replace(
        found, method="mean of the scores and of the scorer's own intervals (of judges here 90%), taken as independent"
    )


def _too_few(scored: int, replies: int, missing: Sequence[str]) -> str:
    """Why too few replies have a score, or ""."""
    if scored >= MIN_SCORED * replies:
        return ""
    return f"{replies - scored} of {replies} have no score; most often: {most_frequent(missing)}"


def _lowest(scorer: Scorer, lines: Sequence[Example], scores: Scores, scored: _Scored) -> Lowest:
    """The reply with the lowest score; of equal ones the first."""
    row = int(np.nanargmin(scored.values))
    whole = lines[row].is_dialogue  # of which `explanations` would be those of the last reply
    (why,) = explanations(scorer, [lines[row]]) if is_explained(scorer) and not whole else (None,)
    return Lowest.of(
        scored.figure(row), example=lines[row], why=why.words if why else "", notes=scores.warnings.get(row, ())
    )
