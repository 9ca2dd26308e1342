"""`audit`: how a scorer can be fooled, by a battery of attacks on the replies of a file.

All attacks are made first, then scored together, then told apart again: the scorer sees few big calls, and a reply that
several attacks come to is scored once. Shapes: N originals, K candidates of an attack.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from rejoinder.auditing.answer import answer
from rejoinder.auditing.attack import BAD, Attack, Transformation
from rejoinder.auditing.battery import VERSION
from rejoinder.auditing.bias import biases
from rejoinder.auditing.card import Audit
from rejoinder.auditing.geometry import breadth, cones
from rejoinder.auditing.making import chosen, equipped, made
from rejoinder.auditing.originals import Originals, originals_of
from rejoinder.auditing.pool import pool_of
from rejoinder.auditing.results import OUTSIDE, Attacked, Case, Measured, Result, fooled, gains, result_of
from rejoinder.auditing.scoring import FAILED, Scored, scored, scored_groups
from rejoinder.auditing.search import Target
from rejoinder.data.read import examples_of
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example, Given
from rejoinder.data.shared_ids import refuse_again
from rejoinder.scoring.domain import out_of_domain
from rejoinder.scorer import Advance, FloatArray, Scorer, ScorerLike, Signature, ignore
from rejoinder.scoring.catalog import DEFAULT, columns_of, fitted_on, load_scorers
from rejoinder.scoring.explained import facts_warning
from rejoinder.scoring.unscored import nothing_scored, unread
from rejoinder.stats.resamples import BoolArray, IntArray, Sampling, number_of

ALLOWED = 0.1
"""The share of examples that may fool a scorer that holds, where nobody says another."""
LIMIT = 500
_WORST = 3
_NO_SCORE = "no score"


def audit(
    examples: Given,
    scorer: ScorerLike = DEFAULT,
    *,
    families: Sequence[str | Attack | Transformation] | None = None,
    limit: int = LIMIT,
    allowed: float = ALLOWED,
    seed: int = 0,
    vectors: str | Path | None = None,
    pool: str | Path | Sequence[str] | None = None,
    advance: Advance = ignore,
    expect: Advance = ignore,
) -> Audit:
    """What fools a scorer, how often, with intervals and examples: a card of attacks.

    Each attack makes another reply of a reply, and says what a scorer that cannot be fooled would do: score it lower,
    not lower, or the same (`rejoinder.auditing.attack`). When it is said to be fooled: `rejoinder.auditing.results`;
    which replies are attacked: `rejoinder.auditing.originals`. What people said of a reply is not said of the bad one
    made of it, which goes to the scorer without ratings; a harmless change keeps them.

    Args:
        examples: replies in any form that `examples_of` takes; rated ones tell the most, because a bad reply can be
            held against one that people found good.
        scorer: a name, a judge's folder, a scorer object or a function, which answers for replies that it never saw.
        families: names of attacks, attacks, or functions `f(example, rng)` that give the attacked example or None; None
            takes the whole battery.
        limit: how many of the examples are attacked at most, drawn by the seed.
        allowed: the share of examples, from 0 to 1, that may fool a scorer that is said to hold.
        seed: decides what is drawn, 0 or more.
        vectors: file of word vectors for scorers that need them; None takes those in the box.
        pool: replies, or a file of them (see `read_replies`), among which three more attacks look for the one that
            scores highest: by the gradient of the judge (`white-box`), by brute force (`pool-best`), and for all
            contexts together (`pool-fixed`).
        advance: called during scoring with the number of replies done.
        expect: called before that with the number of replies to come, as far as it is known.

    Raises:
        DataError: there is no example with a reply; an id is given twice.
        NothingScored: the scorer cannot score a single one of them.
        UsageError: no such attack, or two of one name; a number is out of range; the scorer reads a column, which says
            nothing of other replies.
    """
    sampling = Sampling.checked(0, seed)
    require_range(limit, allowed)
    attacks = chosen(families, pool_of(pool))
    if columns_of(scorer):
        raise UsageError(f"{scorer} is a column of the lines and says nothing of other replies. Name what made it")
    found = _originals(examples, limit, sampling)
    ((name, loaded),) = load_scorers([scorer], vectors=vectors).items()
    expect(len(found.examples))
    before = scored(loaded, found.examples, advance)
    _require_some(name, before, found.examples)
    card = _attacked(name, _Judged(loaded, found, before, allowed), attacks, sampling, advance, expect)
    fitted = fitted_on([scorer], [one.dataset for one in found.examples]).get(name, [])
    card = replace(card, fitted=fitted, limit=limit)
    return replace(card, answer=answer(card))


def _require_some(name: str, before: Scored, examples: Sequence[Example]) -> None:
    """Raise `NothingScored` where not one reply has a score."""
    if not before.known.any():
        found = f"{name}: none of {len(examples)} replies has a score; {before.most_frequent}"
        raise nothing_scored(found, unread(examples))


def _originals(examples: Given, limit: int, sampling: Sampling) -> Originals:
    """The replies that are attacked, of which there is one at least."""
    given = examples_of(examples)
    refuse_again(given)
    found = originals_of(given, limit, sampling)
    if not found.examples:
        raise DataError("no example has a reply", "Give lines with a response")
    return found


def _attacked(
    name: str, judged: _Judged, attacks: Sequence[Attack], sampling: Sampling, advance: Advance, expect: Advance
) -> Audit:
    """The record of all attacks, still without its answer."""
    loaded = judged.scorer
    usable, tools, left_out = equipped(attacks, name, loaded)
    attacked = [made(attack, judged.found, sampling, Target(loaded, judged.sign, advance)) for attack in usable]
    groups = [[one for one in all_ if one] for all_ in attacked]
    expect(sum(map(len, groups)))
    after = scored_groups(loaded, groups, advance)
    found = [judged.result(*of_one) for of_one in zip(usable, attacked, after, strict=True)]
    results, lines = tuple(result for result, _ in found), tuple(chain.from_iterable(lines for _, lines in found))
    signature = Signature({**judged.before.signature.fields, "attacks": VERSION, **tools, "seed": sampling.seed})
    card = judged.card(name, results, sampling)
    return replace(card, left_out=left_out, signature=signature, attacked=lines)


def require_range(limit: Any, allowed: Any) -> None:
    """Raise where a number is out of range."""
    if not isinstance(limit, int) or limit < 1:
        raise UsageError(f"limit is {limit!r}, expected a whole number, 1 or more")
    if not isinstance(allowed, (int, float)) or not 0 <= allowed < 1:
        raise UsageError(f"the share let pass is {allowed!r}, expected a number from 0 to under 1")


@dataclass(frozen=True, slots=True)
class _Judged:
    """The scorer with its scores of the originals, against which attacks are measured.

    Attributes:
        scorer: the scorer.
        found: the originals.
        before: their scores.
        allowed: see `audit`.
    """

    scorer: Scorer
    found: Originals
    before: Scored
    allowed: float

    @property
    def sign(self) -> int:
        """-1 where a lower score is the better one."""
        return -1 if self.scorer.card.higher_is_better is False else 1

    @property
    def spread(self) -> float:
        """The standard deviation of the scores of the originals."""
        return float(self.before.values[self.before.known].std())

    def card(self, name: str, results: tuple[Result, ...], sampling: Sampling) -> Audit:
        """The record of all, still without its answer and what was asked for."""
        found, known = self.found, self.before.known
        outside = out_of_domain(name, self.scorer.card, self.before.share)
        return Audit(
            answer=(),
            scorer=name,
            results=tuple(replace(one, verdict=OUTSIDE) for one in results) if outside else results,
            out_of_domain=outside,
            facts=facts_warning({name: self.scorer}),
            fitted=(),
            left_out={},
            signature=self.before.signature,
            cones=cones(self.scorer, found.examples, found.clusters, sampling),
            breadth=breadth(self.scorer, found.examples, self.before.values, found.clusters, sampling),
            biases=biases(found.examples, self.before.values, found.clusters, sampling, self.sign),
            examples=len(found.examples),
            given=found.given,
            rated=found.rated,
            scaled=found.scaled,
            human=found.human,
            good=int(found.good.sum()),
            contexts=number_of(found.clusters),
            empty=found.empty,
            unscored=int((~known).sum()),
            noted=self.before.noted,
            mean=float(self.before.values[known].mean()),
            spread=self.spread,
            directed=self.scorer.card.higher_is_better is not None,
            allowed=self.allowed,
            limit=0,
            seed=sampling.seed,
        )

    def result(self, attack: Attack, made: Sequence[Example | None], given: Scored) -> tuple[Result, list[Attacked]]:
        """What one attack did, and each attacked reply; `given` has the scores of those of `made` that are there."""
        n = len(self.found.examples)
        there = np.array([one is not None for one in made], dtype=np.bool_).reshape(-1, n)
        after = np.full(there.shape, np.nan)
        after[there] = given.values
        chosen = self._searched(attack, after, there)
        rows = np.arange(n)
        values, attempted = after[chosen, rows], there[chosen, rows]
        aimed_at = self.found.good if attack.goal == BAD else np.ones(n, dtype=np.bool_)
        usable = np.flatnonzero(attempted & self.before.known & np.isfinite(values))
        declined = np.flatnonzero(attempted & self.before.known & _left(there, given)[chosen, rows] & attack.silence)
        clusters = self.found.clusters
        found = Measured(self.before.values[usable], values[usable], clusters[usable], clusters[declined])
        picked = [made[int(choice) * n + int(row)] for choice, row in zip(chosen, rows, strict=True)]
        failed = int(attempted.sum()) - len(usable) - len(declined)
        result = result_of(
            attack,
            found,
            self.sign,
            self.spread,
            self.allowed,
            skipped=int((aimed_at & ~attempted).sum()),
            failed=failed,
            why_failed=self._why(given, failed),
            chosen=Counter(one.response for row in usable if (one := picked[row])) if len(there) > 1 else {},
            worst=self._worst(attack, found, usable, [picked[row] for row in usable]),
        )
        return result, self._lines(attack, picked, values)

    def _lines(self, attack: Attack, picked: Sequence[Example | None], values: FloatArray) -> list[Attacked]:
        """Each attacked reply with its scores [N]."""
        before = self.before.values
        won = fooled(attack.goal, Measured(before, values, self.found.clusters), self.sign, self.spread)
        won = np.where(np.isfinite(before) & np.isfinite(values), won, np.nan)
        return [
            Attacked(
                attack.name, attack.goal, original, attacked, float(before[row]), float(values[row]), float(won[row])
            )
            for row, (original, attacked) in enumerate(zip(self.found.examples, picked, strict=True))
            if attacked is not None
        ]

    def _searched(self, attack: Attack, after: FloatArray, there: Any) -> IntArray:
        """[N] the candidate that each original gets; a search looks at originals that can be attacked alone."""
        rows = np.flatnonzero(there.any(axis=0))
        chosen = np.zeros(after.shape[1], dtype=np.int64)
        if len(rows):
            chosen[rows] = attack.search(self.sign * after[:, rows], self.found.clusters[rows])
        return chosen

    def _why(self, given: Scored, failed: int) -> str:
        """The most frequent reason for a missing score."""
        return (given.most_frequent or self.before.most_frequent or _NO_SCORE) if failed else ""

    def _worst(
        self, attack: Attack, found: Measured, usable: IntArray, picked: Sequence[Example | None]
    ) -> tuple[Case, ...]:
        """The examples that fooled the scorer most, each reply once."""
        gained = gains(attack.goal, found, self.sign)
        really = fooled(attack.goal, found, self.sign, self.spread) > 0
        cases: dict[str, Case] = {}
        for row in np.argsort(-gained, kind="stable"):
            original, attacked = self.found.examples[usable[row]], picked[row]
            if len(cases) == _WORST or not really[row] or attacked is None:
                break
            case = Case(
                original.id,
                original.context,
                original.response,
                attacked.response,
                float(found.before[row]),
                float(found.after[row]),
            )
            cases.setdefault(original.response, case)
        return tuple(cases.values())


def _left(there: BoolArray, given: Scored) -> BoolArray:
    """[K N] where an attacked reply was left without a score, and not because the scorer failed."""
    left = np.zeros(there.shape, dtype=np.bool_)
    left[there] = [
        not why.startswith(FAILED) if (why := given.reasons.get(place)) else False for place in range(len(given.values))
    ]
    return left
