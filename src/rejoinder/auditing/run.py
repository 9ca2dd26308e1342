"""`audit`: how a battery of attacks on the replies of a file fools a scorer.

All attacks are made first and then scored together: the scorer sees few large calls, and a reply that several attacks
lead to is scored once. Shapes: N originals, K candidates of an attack.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from rejoinder.auditing.attack import BAD, Attack, Transformation
from rejoinder.auditing.battery import VERSION
from rejoinder.auditing.bias import biases
from rejoinder.auditing.fooling import Attacked, Measured, estimates_of, fooled, gains
from rejoinder.auditing.geometry import breadth, cones
from rejoinder.auditing.layout import attack_case, audit_results
from rejoinder.auditing.making import chosen, equipped, made
from rejoinder.auditing.originals import Originals, originals_of
from rejoinder.auditing.pool import pool_of
from rejoinder.auditing.scoring import FAILED, Scored, scored, scored_groups
from rejoinder.auditing.search import Target
from rejoinder.data.read import examples_of
from rejoinder.data.shared_ids import refuse_again
from rejoinder.errors import DataError, UsageError
from rejoinder.estimates import Estimate, Verdict
from rejoinder.example import Example, Given
from rejoinder.report.layout import Case
from rejoinder.report.results import About, Results
from rejoinder.scorer import Advance, FloatArray, Scorer, ScorerLike, ignore
from rejoinder.scoring.catalog import DEFAULT, columns_of, fitted_on, load_scorers
from rejoinder.scoring.domain import out_of_domain
from rejoinder.scoring.explained import facts_warning
from rejoinder.scoring.unscored import nothing_scored, unread
from rejoinder.stats.resamples import BoolArray, IntArray, Sampling, number_of

ALLOWED = 0.1
"""The share of replies that may fool a scorer that holds, unless a gate says another."""
LIMIT = 500
_WORST = 3
_NO_SCORE = "no score"


def audit(
    examples: Given,
    scorer: ScorerLike = DEFAULT,
    *,
    families: Sequence[str | Attack | Transformation] | None = None,
    limit: int = LIMIT,
    fail_over: float | None = None,
    seed: int = 0,
    vectors: str | Path | None = None,
    pool: str | Path | Sequence[str] | None = None,
    progress: Advance = ignore,
    expect: Advance = ignore,
) -> Results:
    """Return which attacks fool a scorer, and on what share of the replies.

    Each attack changes a reply, and says what an ideal scorer would do: score the new reply lower, not lower, or the
    same (`rejoinder.auditing.attack`). See `rejoinder.auditing.fooling` for when a scorer is fooled, and
    `rejoinder.auditing.originals` for which replies are attacked. The human ratings of a reply are removed from a bad
    reply made of it; a harmless change keeps them.

    Args:
        examples: replies in any form that `examples_of` takes. Rated replies tell the most, because a bad reply is then
            compared with one that people rated good.
        scorer: a name, a judge's folder, a scorer object or a function. It must score replies that it never saw.
        families: names of attacks, attacks, or functions `f(example, rng)` that return the attacked example or None;
            None takes the whole battery.
        limit: the most replies that are attacked, drawn by the seed.
        fail_over: a gate: the largest share of replies that may fool the scorer, from 0 to 1. Without a gate, verdicts
            allow .1.
        seed: decides what is drawn, 0 or more.
        vectors: file of word vectors for scorers that need them; None takes the bundled ones.
        pool: replies, or a file of them (see `read_replies`), among which three more attacks search for the one that
            scores highest: by the gradient of the judge (`white-box`), by brute force (`pool-best`), and for all
            contexts together (`pool-fixed`).
        progress: called during scoring with the number of finished replies.
        expect: called before that with the number of replies to come.

    Raises:
        DataError: no example has a reply; an id is given twice.
        NothingScored: the scorer cannot score a single reply.
        UsageError: there is no such attack, or two have one name; a number is out of range; the scorer reads a column,
            which has no scores for other replies.
    """
    sampling = Sampling.checked(0, seed)
    allowed = ALLOWED if fail_over is None else fail_over
    require_range(limit, allowed)
    attacks = chosen(families, pool_of(pool))
    if columns_of(scorer):
        problem = f"{scorer} is a column of the lines and has no scores for other replies"
        raise UsageError(f"{problem}. Name the scorer that made it")
    originals = _originals(examples, limit, sampling)
    ((name, loaded),) = load_scorers([scorer], vectors=vectors).items()
    expect(len(originals.examples))
    before = scored(loaded, originals.examples, progress)
    if not before.known.any():
        problem = f"{name}: none of {len(originals.examples)} replies has a score; {before.most_frequent}"
        raise nothing_scored(problem, unread(originals.examples))
    run = _Run(name, loaded, originals, before, allowed, sampling)
    usable, tools, left_out = equipped(attacks, name, loaded)
    attacked = [made(attack, originals, sampling, Target(loaded, run.sign, progress)) for attack in usable]
    groups = [[example for example in examples_of_attack if example] for examples_of_attack in attacked]
    expect(sum(map(len, groups)))
    for attack, candidates, scores in zip(usable, attacked, scored_groups(loaded, groups, progress), strict=True):
        run.add(attack, candidates, scores)
    about = About(
        data=run.attacks,
        scorers={
            name: {
                "kind": loaded.card.kind,
                "asked": True,
                "signature": {**before.signature.fields, "attacks": VERSION, **tools, "seed": sampling.seed},
                "warnings": dict(before.warnings),
                "fitted": fitted_on([scorer], [example.dataset for example in originals.examples]).get(name, []),
                "out_of_domain": run.outside,
                "facts": facts_warning({name: loaded}),
                "mean": float(before.values[before.known].mean()),
                "spread": run.spread,
                "directed": loaded.card.higher_is_better is not None,
            }
        },
        options={"allowed": allowed, "limit": limit, "seed": sampling.seed, "left_out": left_out},
        counts=run.counts(),
    )
    lines = (line.to_record(name) for line in run.lines)
    return audit_results(name, run.estimates(), run.cases, about, lines, gate=fail_over is not None)


def _originals(examples: Given, limit: int, sampling: Sampling) -> Originals:
    """Return the replies to attack, at least one.

    Raises:
        DataError: there is none.
    """
    lines = examples_of(examples)
    refuse_again(lines)
    originals = originals_of(lines, limit, sampling)
    if not originals.examples:
        raise DataError("no example has a reply", "Give lines with a response")
    return originals


def require_range(limit: Any, allowed: Any) -> None:
    """Raise `UsageError` if a number is out of range."""
    if not isinstance(limit, int) or limit < 1:
        raise UsageError(f"limit is {limit!r}, expected a whole number, 1 or more")
    if not isinstance(allowed, (int, float)) or not 0 <= allowed < 1:
        raise UsageError(f"the share that is allowed is {allowed!r}, expected a number from 0 to under 1")


@dataclass(slots=True)
class _Run:
    """The scorer with its scores of the originals, and what the attacks did so far.

    Attributes:
        name: of the scorer.
        scorer: the scorer.
        originals: the replies that are attacked.
        before: their scores.
        allowed: share of replies that may fool a scorer that holds.
        sampling: the seed.
        shares: estimates of the attacks so far.
        attacks: facts about them, one mapping each.
        cases: the replies that fooled the scorer most.
        lines: every attacked reply.
    """

    name: str
    scorer: Scorer
    originals: Originals
    before: Scored
    allowed: float
    sampling: Sampling
    shares: list[Estimate] = field(default_factory=list)
    attacks: list[dict[str, Any]] = field(default_factory=list)
    cases: list[Case] = field(default_factory=list)
    lines: list[Attacked] = field(default_factory=list)

    @property
    def sign(self) -> int:
        """-1 if a lower score is better."""
        return -1 if self.scorer.card.higher_is_better is False else 1

    @property
    def spread(self) -> float:
        """The standard deviation of the scores of the originals."""
        return float(self.before.values[self.before.known].std())

    @property
    def outside(self) -> str:
        """Why the scorer cannot judge the original replies; "" if it can."""
        return out_of_domain(self.name, self.scorer.card, self.before.share)

    def counts(self) -> dict[str, int]:
        """Return how many replies there are of each kind."""
        originals = self.originals
        return {
            "replies": len(originals.examples),
            "lines": originals.given,
            "rated": originals.rated,
            "scaled": originals.scaled,
            "references_as_replies": originals.human,
            "good": int(originals.good.sum()),
            "contexts": number_of(originals.clusters),
            "empty": originals.empty,
            "unscored": int((~self.before.known).sum()),
        }

    def estimates(self) -> list[Estimate]:
        """Return the estimates of attacks, bias and geometry; no verdicts if the scorer cannot judge the replies."""
        examples, clusters, scores = self.originals.examples, self.originals.clusters, self.before.values
        shares = self.shares
        if self.outside:
            shares = [
                replace(share, verdict=Verdict.OUT_OF_DOMAIN) if share.statistic == "share fooled" else share
                for share in shares
            ]
        return [
            *shares,
            *biases(examples, scores, clusters, self.sampling, self.sign, scorer=self.name),
            *cones(self.scorer, examples, clusters, self.sampling, scorer=self.name),
            *breadth(self.scorer, examples, scores, clusters, self.sampling, scorer=self.name),
        ]

    def add(self, attack: Attack, candidates: Sequence[Example | None], scores: Scored) -> None:
        """Add what one attack did; `scores` are those of the `candidates` [K N] that are there."""
        originals, clusters = self.originals, self.originals.clusters
        n = len(originals.examples)
        made_ones = np.array([example is not None for example in candidates], dtype=np.bool_).reshape(-1, n)
        after = np.full(made_ones.shape, np.nan)
        after[made_ones] = scores.values
        best, rows = self._searched(attack, after, made_ones), np.arange(n)
        values, attempted = after[best, rows], made_ones[best, rows]
        aimed_at = originals.good if attack.goal == BAD else np.ones(n, dtype=np.bool_)
        usable = np.flatnonzero(attempted & self.before.known & np.isfinite(values))
        silent = _left(made_ones, scores)[best, rows] & attack.silence
        declined = np.flatnonzero(attempted & self.before.known & silent)
        measured = Measured(self.before.values[usable], values[usable], clusters[usable], clusters[declined])
        picked = [candidates[int(choice) * n + int(row)] for choice, row in zip(best, rows, strict=True)]
        failed = int(attempted.sum()) - len(usable) - len(declined)
        why_failed = (scores.most_frequent or self.before.most_frequent or _NO_SCORE) if failed else ""
        self.shares += estimates_of(
            attack, measured, self.sign, self.spread, self.allowed, why_failed, scorer=self.name
        )
        texts = [example.response for row in usable if (example := picked[row])] if len(made_ones) > 1 else []
        self.attacks.append(
            {
                "attack": attack.name,
                "goal": attack.goal,
                "about": attack.about,
                "ideal": attack.ideal,
                "source": attack.source,
                "skipped": int((aimed_at & ~attempted).sum()),
                "declined": len(declined),
                "failed": failed,
                "why_failed": why_failed,
                "chosen": dict(Counter(texts)),
            }
        )
        self.cases += self._worst(attack, measured, usable, [picked[row] for row in usable])
        self._add_lines(attack, picked, values)

    def _searched(self, attack: Attack, after: FloatArray, made_ones: BoolArray) -> IntArray:
        """Return [N] the candidate of each original; a search sees only originals that have one."""
        rows = np.flatnonzero(made_ones.any(axis=0))
        best = np.zeros(after.shape[1], dtype=np.int64)
        if len(rows):
            best[rows] = attack.search(self.sign * after[:, rows], self.originals.clusters[rows])
        return best

    def _worst(
        self, attack: Attack, measured: Measured, usable: IntArray, picked: Sequence[Example | None]
    ) -> list[Case]:
        """Return the replies that fooled the scorer most, each text once."""
        gained = gains(attack.goal, measured, self.sign)
        is_fooled = fooled(attack.goal, measured, self.sign, self.spread) > 0
        cases: dict[str, Case] = {}
        for row in np.argsort(-gained, kind="stable"):
            original, attacked = self.originals.examples[usable[row]], picked[row]
            if len(cases) == _WORST or not is_fooled[row] or attacked is None:
                break
            case = attack_case(attack, original, attacked, float(measured.before[row]), float(measured.after[row]))
            cases.setdefault(original.response, case)
        return [*cases.values()]

    def _add_lines(self, attack: Attack, picked: Sequence[Example | None], values: FloatArray) -> None:
        """Add each attacked reply with its score [N]."""
        before = self.before.values
        flags = fooled(attack.goal, Measured(before, values, self.originals.clusters), self.sign, self.spread)
        flags = np.where(np.isfinite(before) & np.isfinite(values), flags, np.nan)
        self.lines += [
            Attacked(
                attack.name, attack.goal, original, attacked, float(before[row]), float(values[row]), float(flags[row])
            )
            for row, (original, attacked) in enumerate(zip(self.originals.examples, picked, strict=True))
            if attacked is not None
        ]


def _left(made_ones: BoolArray, scores: Scored) -> BoolArray:
    """Return [K N] whether an attacked reply was left without a score, and not because the scorer failed."""
    left = np.zeros(made_ones.shape, dtype=np.bool_)
    left[made_ones] = [
        not why.startswith(FAILED) if (why := scores.reasons.get(row)) else False for row in range(len(scores.values))
    ]
    return left
