"""`audit`: how often attacks on the replies of a file fool a scorer.

All attacks are made first and then scored together: the scorer gets few large calls, and equal replies are scored once.
Shapes: N originals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from rejoinder.auditing.attack import FAILED, VERSION, Attack, Target, available, make, score_bisecting, select
from rejoinder.auditing.bias import biases
from rejoinder.auditing.fooling import Measured, estimates_of, line_record
from rejoinder.auditing.geometry import breadth, cones
from rejoinder.auditing.layout import SHARE, attack_case, audit_results
from rejoinder.auditing.originals import Originals, select_originals
from rejoinder.auditing.pool import Pool, pool_attacks
from rejoinder.data.read import examples_of
from rejoinder.data.shared_ids import refuse_again
from rejoinder.errors import DataError, UsageError
from rejoinder.estimates import Estimate, Verdict
from rejoinder.example import Example, Given
from rejoinder.perturbations import Goal
from rejoinder.perturbations.perturbation import Rng
from rejoinder.report.layout import Case
from rejoinder.report.results import About, Results
from rejoinder.scorer import Advance, Scorer, ScorerLike, Scores, ignore
from rejoinder.scorer import run as run_scorer
from rejoinder.scoring.catalog import DEFAULT, columns_of, fitted_on, load_scorers
from rejoinder.scoring.domain import domain_share, out_of_domain
from rejoinder.scoring.explained import facts_warning
from rejoinder.scoring.unscored import nothing_scored, unread
from rejoinder.stats.resamples import Sampling

ALLOWED = 0.1
"""The share of replies that may fool a scorer that holds, without a gate."""
LIMIT = 500
_WORST = 3


def audit(
    examples: Given,
    scorer: ScorerLike = DEFAULT,
    *,
    families: Sequence[str | Attack | Callable[[Example, Rng], Example | None]] | None = None,
    limit: int = LIMIT,
    fail_over: float | None = None,
    seed: int = 0,
    vectors: str | Path | None = None,
    pool: str | Path | Sequence[str] | None = None,
    progress: Advance = ignore,
    expect: Advance = ignore,
) -> Results:
    """Return which attacks fool a scorer, and on what share of the replies.

    An attack changes a reply and states how an ideal scorer reacts: with a lower score, no lower score or the same one.
    See `rejoinder.auditing.fooling` for when a scorer is fooled, and `rejoinder.auditing.originals` for which replies
    are attacked. A bad reply loses the human ratings of the reply that it was made from; a harmless change keeps them.

    Args:
        examples: replies in any form that `examples_of` takes. Rated replies tell the most, because a bad reply is then
            compared with one that people rated good.
        scorer: a name, a judge's folder, a scorer object or a function. It must score new replies.
        families: names of attacks, attacks, or functions `f(example, rng)` that return the attacked example or None;
            all attacks by default.
        limit: the most replies that are attacked, drawn by the seed.
        fail_over: a gate: the largest share of replies that may fool the scorer, from 0 to 1. Without a gate, verdicts
            allow .1.
        seed: decides what is drawn, 0 or more.
        vectors: file of word vectors for scorers that need them; the bundled ones by default.
        pool: replies, or a file of them (see `read_replies`), for three more attacks that look for the reply with the
            highest score: by the gradient of the judge (`white-box`), by brute force (`pool-best`), and for all
            contexts together (`pool-fixed`).
        progress: called during scoring with the number of finished replies.
        expect: called before that with the number of replies to come.

    Raises:
        DataError: no example has a reply; two examples have one id.
        NothingScored: the scorer cannot score a single reply.
        UsageError: there is no such attack, or two have one name; a number is out of range; the scorer reads a column,
            which has no scores for other replies.
    """
    sampling = Sampling.checked(0, seed)
    allowed = ALLOWED if fail_over is None else fail_over
    require_range(limit, allowed)
    attacks = select(families, {} if pool is None else pool_attacks(Pool.of(pool)))
    originals = _originals(examples, scorer, limit, sampling)
    ((name, loaded),) = load_scorers([scorer], vectors=vectors).items()
    expect(len(originals.examples))
    audited = _Audited(name, loaded, originals, run_scorer(loaded, originals.examples, progress=progress), allowed)
    usable, tools, left_out = available(attacks, name, loaded)
    target = Target(loaded, audited.sign, progress, expect)
    made = [make(attack, originals, sampling, target) for attack in usable]
    groups = [[example for example in attacked if example] for attacked in made]
    expect(sum(map(len, groups)))
    for attack, attacked, scores in zip(usable, made, _score_groups(loaded, groups, progress), strict=True):
        audited.add(attack, attacked, scores)
    about = About(
        data=audited.facts,
        scorers={name: audited.about(scorer, {"attacks": VERSION, **tools, "seed": sampling.seed})},
        options={"allowed": allowed, "limit": limit, "seed": sampling.seed, "left_out": left_out},
        counts={**originals.counts, "unscored": int((~audited.before.scored).sum())},
    )
    lines = (line_record(name, *line) for line in audited.lines)
    return audit_results(name, audited.estimates(sampling), audited.cases, about, lines, gate=fail_over is not None)


def require_range(limit: Any, allowed: Any) -> None:
    """Raise `UsageError` if a number is out of range."""
    if not isinstance(limit, int) or limit < 1:
        raise UsageError(f"limit is {limit!r}, expected a whole number, 1 or more")
    if not isinstance(allowed, (int, float)) or not 0 <= allowed < 1:
        raise UsageError(f"the share that is allowed is {allowed!r}, expected a number from 0 to under 1")


def _originals(examples: Given, scorer: ScorerLike, limit: int, sampling: Sampling) -> Originals:
    """Return the replies to attack, at least one."""
    if columns_of(scorer):
        problem = f"{scorer} is a column of the lines and has no scores for other replies"
        raise UsageError(f"{problem}. Name the scorer that made it")
    lines = examples_of(examples)
    refuse_again(lines)
    originals = select_originals(lines, limit, sampling)
    if not originals.examples:
        raise DataError("no example has a reply", "Give lines with a response")
    return originals


def _score_groups(scorer: Scorer, groups: Sequence[Sequence[Example]], progress: Advance) -> list[Scores]:
    """Return the scores of each group of attacked examples, as far as the scorer can score them."""
    examples = [example for group in groups for example in group]
    try:
        scores = run_scorer(scorer, examples, progress=progress)
    except Exception:  # noqa: BLE001 - a scorer may raise anything on odd replies
        return [score_bisecting(scorer, group, progress) for group in groups]
    parts = []
    for start, end in pairwise([0, *accumulate(map(len, groups))]):
        reasons = {row - start: why for row, why in scores.reasons.items() if start <= row < end}
        parts.append(Scores(scores.values[start:end], reasons))
    return parts


def _main_reason(scores: Scores) -> str:
    """Return the most frequent reason for a missing score; "" without any."""
    return next((reason for reason, _ in Counter(scores.reasons.values()).most_common(1)), "")


@dataclass(slots=True)
class _Audited:
    """A scorer with its scores of the originals, and the results of its attacks so far.

    `shares` are the estimates of the attacks, `lines` the arguments of `line_record` for every attacked reply.

    Raises:
        NothingScored: the scorer cannot score a single original.
    """

    name: str
    scorer: Scorer
    originals: Originals
    before: Scores
    allowed: float
    shares: list[Estimate] = field(default_factory=list)
    facts: list[dict[str, Any]] = field(default_factory=list)
    cases: list[Case] = field(default_factory=list)
    lines: list[tuple[Attack, Example, Example, float, float, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.before.scored.any():
            examples = self.originals.examples
            problem = f"{self.name}: none of {len(examples)} replies has a score; {_main_reason(self.before)}"
            raise nothing_scored(problem, unread(examples))

    @property
    def sign(self) -> int:
        """-1 if a lower score is better, else 1."""
        return -1 if self.scorer.card.higher_is_better is False else 1

    @property
    def spread(self) -> float:
        """The standard deviation of the scores of the originals."""
        return float(self.before.values[self.before.scored].std())

    @property
    def outside(self) -> str:
        """The reason why the scorer cannot judge the original replies; "" if it can."""
        return out_of_domain(self.name, self.scorer.card, domain_share(self.before, self.scorer))

    def about(self, given: ScorerLike, signature: dict[str, Any]) -> dict[str, Any]:
        """Return the facts about the scorer; `signature` is added to that of its scores."""
        datasets = [example.dataset for example in self.originals.examples]
        return {
            "kind": self.scorer.card.kind,
            "asked": True,
            "signature": {**self.before.signature.fields, **signature},
            "warnings": dict(self.before.warning_counts),
            "fitted": fitted_on([given], datasets).get(self.name, []),
            "out_of_domain": self.outside,
            "facts": facts_warning({self.name: self.scorer}),
            "mean": float(self.before.values[self.before.scored].mean()),
            "spread": self.spread,
            "directed": self.scorer.card.higher_is_better is not None,
        }

    def estimates(self, sampling: Sampling) -> list[Estimate]:
        """Return the estimates of attacks, bias and geometry; no verdicts if the scorer cannot judge the replies."""
        examples, clusters, scores = self.originals.examples, self.originals.clusters, self.before.values
        shares = self.shares
        if self.outside:
            shares = [
                replace(share, verdict=Verdict.OUT_OF_DOMAIN) if share.statistic == SHARE else share for share in shares
            ]
        return [
            *shares,
            *biases(examples, scores, clusters, sampling, self.sign, scorer=self.name),
            *cones(self.scorer, examples, clusters, sampling, scorer=self.name),
            *breadth(self.scorer, examples, scores, clusters, sampling, scorer=self.name),
        ]

    def add(self, attack: Attack, attacked: Sequence[Example | None], scores: Scores) -> None:
        """Add the results of an attack; `scores` are those of the M `attacked` [N] that are not None, in order."""
        rows = [row for row, example in enumerate(attacked) if example]
        pairs = [(self.originals.examples[row], example) for row, example in enumerate(attacked) if example]
        before, after, clusters = self.before.values[rows], scores.values, self.originals.clusters[rows]  # [M]
        usable = np.isfinite(before) & np.isfinite(after)
        declined = np.zeros(len(rows), dtype=np.bool_)
        if attack.silence_is_right:
            declined[[row for row, reason in scores.reasons.items() if not reason.startswith(FAILED)]] = True
            declined &= np.isfinite(before) & ~usable
        measured = Measured(before[usable], after[usable], clusters[usable], clusters[declined])
        failed = int((~usable & ~declined).sum())
        why_failed = (_main_reason(scores) or _main_reason(self.before) or "no score") if failed else ""
        labels = {"scorer": self.name}
        self.shares += estimates_of(attack, measured, self.sign, self.spread, self.allowed, why_failed, **labels)
        used = [pairs[place] for place in np.flatnonzero(usable).tolist()]
        self.cases += self._worst(attack, measured, used)
        targets = self.originals.counts["good"] if attack.goal == Goal.WORSE else len(attacked)
        self.facts.append(
            {
                "attack": attack.name,
                "goal": attack.goal,
                "about": attack.about,
                "ideal": attack.ideal,
                "source": attack.source,
                "skipped": targets - len(rows),
                "declined": int(declined.sum()),
                "failed": failed,
                "why_failed": why_failed,
                "chosen": dict(Counter(example.response for _, example in used)) if attack.fixed else {},
            }
        )
        flags = Measured(before, after, clusters).fooled(attack.goal, self.sign, self.spread)
        flags[~usable] = np.nan
        numbers = zip(before.tolist(), after.tolist(), flags.tolist(), strict=True)
        self.lines += [(attack, *pair, *values) for pair, values in zip(pairs, numbers, strict=True)]

    def _worst(self, attack: Attack, measured: Measured, pairs: Sequence[tuple[Example, Example]]) -> list[Case]:
        """Return the replies that fooled the scorer most, each original text once."""
        fooled = measured.fooled(attack.goal, self.sign, self.spread) > 0
        cases: dict[str, Case] = {}
        for row in np.argsort(-measured.gains(attack.goal, self.sign), kind="stable").tolist():
            if len(cases) == _WORST or not fooled[row]:
                break
            original, attacked = pairs[row]
            case = attack_case(attack, original, attacked, float(measured.before[row]), float(measured.after[row]))
            cases.setdefault(original.response, case)
        return [*cases.values()]
