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

from rejoinder.auditing.attack import FAILED, VERSION, Attack, Target, Task, available, score_bisecting, select
from rejoinder.auditing.bias import biases
from rejoinder.auditing.fooling import Measured, estimates_of, line_record
from rejoinder.auditing.geometry import breadth, cones
from rejoinder.auditing.layout import SHARE, attack_case, audit_results
from rejoinder.auditing.pool import Pool, pool_attacks
from rejoinder.data.clusters import sorted_clusters
from rejoinder.data.read import examples_of
from rejoinder.data.shared_ids import refuse_again
from rejoinder.errors import DataError, UsageError
from rejoinder.estimates import Estimate, Verdict
from rejoinder.example import Example, Given
from rejoinder.perturbations import Corpus, Goal
from rejoinder.perturbations.perturbation import Rng
from rejoinder.report.layout import Case
from rejoinder.report.results import About, Results
from rejoinder.scorer import Advance, Scorer, ScorerLike, Scores, ignore
from rejoinder.scorer import run as run_scorer
from rejoinder.scoring.catalog import DEFAULT, columns_of, fitted_on, load_scorers
from rejoinder.scoring.domain import domain_share, out_of_domain
from rejoinder.scoring.explained import facts_warning
from rejoinder.scoring.unscored import nothing_scored, unread
from rejoinder.stats.resamples import BoolArray, IntArray, Sampling, number_of

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
    See `rejoinder.auditing.fooling` for when a scorer is fooled, and `select_originals` for which replies are attacked.
    A bad reply loses the human ratings of the reply that it was made from; a harmless change keeps them.

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
    _require(scorer, limit, allowed)
    attacks = select(families, {} if pool is None else pool_attacks(Pool.of(pool)))
    originals = select_originals(examples, limit, sampling)
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


def _require(scorer: ScorerLike, limit: Any, allowed: Any) -> None:
    """Raise `UsageError` if a number is out of range, or the scorer cannot score other replies."""
    if not isinstance(limit, int) or limit < 1:
        raise UsageError(f"limit is {limit!r}, expected a whole number, 1 or more")
    if not isinstance(allowed, (int, float)) or not 0 <= allowed < 1:
        raise UsageError(f"the share that is allowed is {allowed!r}, expected a number from 0 to under 1")
    if columns_of(scorer):
        problem = f"{scorer} is a column of the lines and has no scores for other replies"
        raise UsageError(f"{problem}. Name the scorer that made it")


# the originals and the attacked replies


@dataclass(frozen=True, slots=True)
class Originals:
    """The N replies that are attacked, whether bad replies are compared with each, and the context of each, from 0."""

    corpus: Corpus
    good: BoolArray
    clusters: IntArray
    counts: dict[str, int]

    @property
    def examples(self) -> tuple[Example, ...]:
        """The N examples."""
        return self.corpus.examples


def select_originals(given: Given, limit: int, sampling: Sampling) -> Originals:
    """Return at most `limit` of the examples with a response, drawn by the seed, in the order of the input.

    A bad reply that scores higher than another bad reply fools no scorer, so attacks of that goal change good replies
    only: rated ones in the upper half both of their data set and of its scale, if there is one. Without a rating, the
    first of several references, written by a person, replaces the response; other unrated responses count as good.

    Raises:
        DataError: no example has a response.
    """
    examples = examples_of(given)
    refuse_again(examples)
    replied = [example for example in examples if not example.unanswered]
    if not replied:
        raise DataError("no example has a reply", "Give lines with a response")
    drawn = replied
    if len(replied) > limit:
        rng = sampling.generator([len(replied), limit], "audited lines")
        drawn = [replied[row] for row in np.sort(rng.choice(len(replied), limit, replace=False))]
    ratings: dict[str | None, list[float]] = {}
    middles: dict[str | None, float] = {}
    for example in replied:
        if (rating := example.rating()) is not None:
            ratings.setdefault(example.dataset, []).append(rating)
        if (scale := example.scale()) is not None:
            middles[example.dataset] = sum(scale) / 2
    least = {name: max(float(np.median(values)), middles.get(name, -np.inf)) for name, values in ratings.items()}
    originals = [_with_reference_as_response(example) for example in drawn]
    rated = [(example, rating) for example in originals if (rating := example.rating()) is not None]
    good = [(rating := example.rating()) is None or rating >= least[example.dataset] for example in originals]
    clusters = sorted_clusters(originals).numbers
    counts = {
        "replies": len(originals),
        "lines": len(examples),
        "rated": len(rated),
        "scaled": sum(example.dataset in middles for example, _ in rated),
        "references_as_replies": sum(new is not old for new, old in zip(originals, drawn, strict=True)),
        "good": sum(good),
        "contexts": number_of(clusters),
        "empty": len(examples) - len(replied),
    }
    return Originals(Corpus(originals), np.array(good, dtype=np.bool_), clusters, counts)


def _with_reference_as_response(example: Example) -> Example:
    """Return the example; if it is unrated, with the first of several references as its response."""
    if example.rating() is not None or len(example.references) < 2:
        return example
    return replace(example, response=example.references[0], references=example.references[1:])


def make(attack: Attack, originals: Originals, sampling: Sampling, target: Target) -> list[Example | None]:
    """Return [N] the attacked example of each original; None for those without one.

    Random numbers depend on attack, context and response alone, so no attack changes another.
    """
    is_worse = attack.goal == Goal.WORSE
    rows = np.flatnonzero(originals.good) if is_worse else np.arange(len(originals.examples))
    examples = [originals.examples[row] for row in rows]
    texts = ["\n".join((attack.name, *example.context, example.response)) for example in examples]
    generators = [sampling.generator(text, "attack") for text in texts]
    results: Sequence[Example | None]
    if attack.search is None:
        drawn = zip(examples, generators, strict=True)
        results = [attack.apply(example, rng, originals.corpus) for example, rng in drawn]
    elif examples:
        if is_worse:  # people did not rate the bad reply
            examples = [replace(example, ratings=(), quality={}) for example in examples]
        task = Task(attack, examples, generators, originals.clusters[rows], originals.corpus)
        results = attack.search(task, target)
    else:
        results = []
    attacked: list[Example | None] = [None] * len(originals.examples)
    for row, example, result in zip(rows.tolist(), examples, results, strict=True):
        if result and (result.response, result.references) != (example.response, example.references):
            attacked[row] = result
    return attacked


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
            "fitted_on": fitted_on([given], datasets).get(self.name, []),
            "out_of_domain": self.outside,
            "facts": facts_warning({self.name: self.scorer}),
            "mean": float(self.before.values[self.before.scored].mean()),
            "spread": self.spread,
            "higher_is_better": self.scorer.card.higher_is_better,
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
                **{name: getattr(attack, name) for name in ("goal", "about", "ideal", "source")},
                "skipped": targets - len(rows),
                "declined": int(declined.sum()),
                "failed": failed,
                "why_failed": why_failed,
                "chosen": dict(Counter(example.response for _, example in used)) if attack.fixed else {},
            }
        )
        flags = Measured(before, after, clusters).fooled(attack.goal, self.sign, self.spread)
        numbers = zip(before.tolist(), after.tolist(), np.where(usable, flags, np.nan).tolist(), strict=True)
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
