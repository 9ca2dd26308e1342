"""`audit`: how a scorer can be fooled, by a battery of attacks on the replies of a file.

All attacks are made first, then scored together, then told apart again: the scorer sees few big calls, and a reply that
several attacks come to is scored once. Shapes: N originals, K candidates of an attack.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rejoinder.auditing.answer import answer
from rejoinder.auditing.attack import BAD, Attack, Transformation, attack_of
from rejoinder.auditing.battery import VERSION, battery
from rejoinder.auditing.card import Audit
from rejoinder.auditing.geometry import breadth, cones
from rejoinder.auditing.originals import Originals, originals_of
from rejoinder.auditing.results import Case, Measured, Result, fooled, gains, result_of
from rejoinder.auditing.scoring import Scored, scored
from rejoinder.catalogue import DEFAULT, columns_of, fitted_on, load_scorers
from rejoinder.errors import DataError, MissingAsset, MissingExtra, TooManyUnscored, UsageError
from rejoinder.humans.lines import refuse_duplicates
from rejoinder.io.given import examples_of
from rejoinder.records import Example, Given
from rejoinder.scorer import Advance, FloatArray, Scorer, ScorerLike, Signature, ignore
from rejoinder.stats.arrays import IntArray, number_of
from rejoinder.stats.sampling import Sampling

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
    advance: Advance = ignore,
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
        advance: called during scoring with the number of replies done.

    Raises:
        DataError: there is no example with a reply; an id is given twice.
        TooManyUnscored: the scorer cannot score a single one of them.
        UsageError: no such attack, or two of one name; a number is out of range; the scorer reads a column, which says
            nothing of other replies.
    """
    sampling = Sampling.checked(0, seed)
    require_range(limit, allowed)
    attacks = _chosen(families)
    if columns_of(scorer):
        raise UsageError(f"{scorer} is a column of the lines and says nothing of other replies. Name what made it")
    given = examples_of(examples)
    refuse_duplicates(given)
    found = originals_of(given, limit, sampling)
    if not found.examples:
        raise DataError("no example has a reply", "Give lines with a response")
    ((name, loaded),) = load_scorers([scorer], vectors=vectors).items()
    usable, tools, left_out = _equipped(attacks)
    made = [_made(attack, found, sampling) for attack in usable]
    before, after = scored(loaded, found.examples, [[one for one in all_ if one] for all_ in made], advance)
    if not before.known.any():
        raise TooManyUnscored(f"{name}: none of {len(found.examples)} replies has a score; {before.most_frequent}")
    judged = _Judged(loaded, found, before, allowed)
    results = tuple(judged.result(attack, all_, given) for attack, all_, given in zip(usable, made, after, strict=True))
    card = judged.card(name, results, limit=limit, sampling=sampling)
    signature = Signature({**before.signature.fields, "attacks": VERSION, **tools, "seed": sampling.seed})
    fitted = fitted_on([scorer], [one.dataset for one in found.examples]).get(name, [])
    card = replace(card, fitted=fitted, left_out=left_out, signature=signature)
    return replace(card, answer=answer(card))


def require_range(limit: Any, allowed: Any) -> None:
    """Raise where a number is out of range."""
    if not isinstance(limit, int) or limit < 1:
        raise UsageError(f"limit is {limit!r}, expected a whole number, 1 or more")
    if not isinstance(allowed, (int, float)) or not 0 <= allowed < 1:
        raise UsageError(f"the share let pass is {allowed!r}, expected a number from 0 to under 1")


def _chosen(families: Sequence[str | Attack | Transformation] | None) -> list[Attack]:
    """The attacks that were asked for.

    Raises:
        UsageError: there is no such attack, or it was named twice.
    """
    if isinstance(families, str):
        families = [families]
    known = battery()
    chosen = list(known.values()) if families is None else [_attack(one, known) for one in families]
    names = [attack.name for attack in chosen]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"the attack {twice!r} was named twice. Name each once")
    if not chosen:
        raise UsageError("no attack was named. Name one, or leave them out for all")
    return chosen


def _attack(named: str | Attack | Transformation, known: Mapping[str, Attack]) -> Attack:
    """One attack, by its name or as it is."""
    if isinstance(named, Attack):
        return named
    if not isinstance(named, str):
        return attack_of(named)
    if named not in known:
        from difflib import get_close_matches

        near = ", ".join(get_close_matches(named, known, n=3, cutoff=0.5))
        hint = f" Nearest: {near}." if near else ""
        raise UsageError(f"no attack is called {named!r}.{hint} All of them: rejoinder list")
    return known[named]


def _equipped(attacks: Sequence[Attack]) -> tuple[list[Attack], dict[str, str], dict[str, str]]:
    """The attacks whose tools are there, what these are called, and why the others are left out."""
    usable, tools, left_out = [], dict[str, str](), dict[str, str]()
    for attack in attacks:
        try:
            tools |= {purpose: load() for purpose, load in attack.tools.items()}
        except (MissingAsset, MissingExtra) as missing:
            left_out[attack.name] = str(missing)
        else:
            usable.append(attack)
    return usable, tools, left_out


def _made(attack: Attack, found: Originals, sampling: Sampling) -> list[Example | None]:
    """[K N] the attacked examples, candidate by candidate; None where there is none of an original."""
    made: list[Example | None] = []
    for transformation in attack.candidates(found.examples):
        for one, good in zip(found.examples, found.good, strict=True):
            if attack.goal == BAD and not good:
                made.append(None)
                continue
            rng = sampling.generator("\n".join((attack.name, *one.context, one.response)), "attack")
            attacked = transformation(one, rng)
            fair = attacked is not None and attack.constraint(one, attacked)
            made.append(_handed_over(attack, attacked) if attacked is not None and fair else None)
    return made


def _handed_over(attack: Attack, attacked: Example) -> Example:
    """The example as a scorer gets it: what people said of a good reply is not said of a bad one made of it."""
    return replace(attacked, ratings=(), quality={}) if attack.goal == BAD else attacked


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

    def card(self, name: str, results: tuple[Result, ...], *, limit: int, sampling: Sampling) -> Audit:
        """The record of all, still without its answer and what was left out."""
        found, known = self.found, self.before.known
        return Audit(
            answer=(),
            scorer=name,
            results=results,
            fitted=(),
            left_out={},
            signature=self.before.signature,
            cones=cones(self.scorer, found.examples, found.clusters, sampling),
            breadth=breadth(self.scorer, found.examples, self.before.values, found.clusters, sampling),
            examples=len(found.examples),
            given=found.given,
            rated=found.rated,
            human=found.human,
            good=int(found.good.sum()),
            contexts=number_of(found.clusters),
            empty=found.empty,
            unscored=int((~known).sum()),
            mean=float(self.before.values[known].mean()),
            spread=self.spread,
            directed=self.scorer.card.higher_is_better is not None,
            allowed=self.allowed,
            limit=limit,
            seed=sampling.seed,
        )

    def result(self, attack: Attack, made: Sequence[Example | None], given: Scored) -> Result:
        """What one attack did; `given` holds the scores of those of `made` that are there."""
        n = len(self.found.examples)
        there = np.array([one is not None for one in made], dtype=np.bool_).reshape(-1, n)
        after = np.full(there.shape, np.nan)
        after[there] = given.values
        chosen = self._searched(attack, after, there)
        rows = np.arange(n)
        values = after[chosen, rows]
        attempted = there[chosen, rows]
        aimed_at = self.found.good if attack.goal == BAD else np.ones(n, dtype=np.bool_)
        usable = np.flatnonzero(attempted & self.before.known & np.isfinite(values))
        found = Measured(self.before.values[usable], values[usable], self.found.clusters[usable])
        picked = [made[int(choice) * n + int(row)] for choice, row in zip(chosen[usable], usable, strict=True)]
        return result_of(
            attack,
            found,
            self.sign,
            self.spread,
            self.allowed,
            skipped=int((aimed_at & ~attempted).sum()),
            failed=int(attempted.sum()) - len(usable),
            why_failed=self._why(given, int(attempted.sum()) - len(usable)),
            chosen=Counter(one.response for one in picked if one) if len(there) > 1 else {},
            worst=self._worst(attack, found, usable, picked),
        )

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
