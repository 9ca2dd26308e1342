"""Attacks: perturbations of a reply, some with a search that asks the scorer, and the list of all of them.

Sources: Sai et al. (2019), tables 3 to 6; newer attacks come from weaknesses of learned judges and of language models
as judges. Shapes: N examples, K sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np

from rejoinder.errors import MissingAsset, MissingExtra, UsageError
from rejoinder.example import Example
from rejoinder.judges.protocol import is_differentiable
from rejoinder.perturbations import PERTURBATIONS, Corpus, Goal, Perturbation
from rejoinder.perturbations.degrading import common_replies
from rejoinder.perturbations.perturbation import Rng, from_function
from rejoinder.registry import Entry
from rejoinder.scorer import Advance, FloatArray, Scorer, Scores, ignore, run
from rejoinder.scoring.catalog import list_entries
from rejoinder.stats.resamples import IntArray

VERSION = 2
"""Goes up when an attack changes what it makes."""
GOALS: Mapping[Goal, str] = {
    Goal.WORSE: "a bad reply that should score lower than the good one it stands for",
    Goal.NOT_WORSE: "a reply as good as before, or better, that should not score lower",
    Goal.SAME: "the same reply to a reader's eye, whose score should not move",
}
FAILED = "it failed: "
"""The first words of the reason for a missing score if the scorer raised an error."""
ROUNDS, TRIES = 8, 4
"""Rounds of hill climbing, and changes tried in each: 1 + 8 * 4 questions for each reply."""


def score_bisecting(scorer: Scorer, examples: Sequence[Example], progress: Advance = ignore) -> Scores:
    """Return scores; if the scorer raises, calls are halved until the examples that it cannot take are alone."""
    try:
        return run(scorer, examples, progress=progress)
    except Exception as error:  # noqa: BLE001 - a scorer may raise anything on odd replies
        if len(examples) == 1:
            why = f"{FAILED}{type(error).__name__}: {error}".removesuffix(": ")
            return Scores(np.array([np.nan]), {0: why})
    middle = len(examples) // 2
    first, second = (score_bisecting(scorer, part, progress) for part in (examples[:middle], examples[middle:]))
    later = {row + middle: why for row, why in second.reasons.items()}
    return Scores(np.concatenate([first.values, second.values]), {**first.reasons, **later})


@dataclass(frozen=True)
class Target:
    """The scorer that an attack is aimed at; `sign` is -1 if a lower score is better.

    `expect` is called with the number of replies to come, `progress` with the number of those that were scored.
    """

    scorer: Scorer
    sign: int = 1
    progress: Advance = ignore
    expect: Advance = ignore

    def ask(self, examples: Sequence[Example]) -> FloatArray:
        """Return [M] the scores of M examples: higher is better, minus infinity without a score."""
        if not examples:
            return np.empty(0)
        self.expect(len(examples))
        values = self.sign * score_bisecting(self.scorer, examples, self.progress).values
        return np.where(np.isfinite(values), values, -np.inf)


class Task(NamedTuple):
    """The examples [N] that a search changes, with random numbers and the context of each, and all of the audit."""

    attack: Perturbation
    examples: Sequence[Example]
    generators: Sequence[Rng]
    clusters: IntArray
    corpus: Corpus


Search = Callable[[Task, Target], Sequence[Example | None]]
"""Returns [N] the attacked example of each example of a task, or None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack(Perturbation):
    """A perturbation of your own, or one with a search.

    Attributes:
        search: finds attacked examples by asking the scorer, in place of `transform`.
        needs_gradient: whether the search reads vectors and gradients of the scorer.
        fixed: whether it gives one reply to all contexts.
    """

    search: Search | None = None
    needs_gradient: bool = False
    fixed: bool = False

    @classmethod
    def of(cls, source: Any, **changes: Any) -> Attack:
        """Return the attack of a perturbation or of a function `f(example, rng)`; `changes` replace its attributes.

        Raises:
            UsageError: `source` is neither.
        """
        base = source if isinstance(source, Perturbation) else from_function(source)
        attributes = {field.name: getattr(base, field.name) for field in fields(base)} | changes
        return cls(**attributes | {"goal": Goal(attributes["goal"])})


# searches


def hill_climbing(task: Task, target: Target, rounds: int = ROUNDS, tries: int = TRIES) -> list[Example | None]:
    """Change one word at random, keep the best of a few such changes, and repeat.

    The perturbation of the attack makes the starts. A word is dropped or moved, or a word of the context or of any
    start replaces it or comes before it.
    """
    made = [
        task.attack.apply(example, rng, task.corpus)
        for example, rng in zip(task.examples, task.generators, strict=True)
    ]
    starts = {row: start for row, start in enumerate(made) if start is not None}
    vocabulary = sorted({word for start in starts.values() for word in start.response.split()})
    best = list(starts.values())
    heights = target.ask(best)
    for _ in range(rounds if best else 0):
        steps = [
            [_edited(example, vocabulary, task.generators[row]) for _ in range(tries)]
            for row, example in zip(starts, best, strict=True)
        ]
        scores = target.ask([step for tried in steps for step in tried]).reshape(len(best), tries)
        for place in np.flatnonzero(scores.max(axis=1, initial=-np.inf) > heights).tolist():
            top = int(scores[place].argmax())
            best[place], heights[place] = steps[place][top], scores[place, top]
    climbed = dict(zip(starts, best, strict=True))
    return [climbed.get(row) for row in range(len(made))]


def _edited(example: Example, vocabulary: Sequence[str], rng: Rng) -> Example:
    """Return the example with one word of its reply changed."""
    words = example.response.split()
    in_context = [word for turn in example.context for word in turn.split()]
    # Words of the context please a scorer that looks for overlap.
    source = in_context if in_context and rng.random() < 0.5 else vocabulary
    new = source[int(rng.integers(len(source)))]
    place, kind = int(rng.integers(len(words))), int(rng.integers(4))
    if kind == 0 and len(words) > 1:
        del words[place]
    elif kind == 1 and len(words) > 1:
        words.insert(int(rng.integers(len(words))), words.pop(place))
    elif kind == 2:
        words[place] = new
    else:
        words.insert(place, new)
    return replace(example, response=" ".join(words))


def best_sentence(task: Task, target: Target) -> list[Example | None]:
    """Say one of a few common replies everywhere, the one that scores highest."""
    sentences = common_replies(task.corpus)
    said = [replace(example, response=sentence) for sentence in sentences for example in task.examples]
    scores = target.ask(said).reshape(len(sentences), -1)
    unchanged = [[example.response == sentence for example in task.examples] for sentence in sentences]
    scores[np.array(unchanged)] = -np.inf
    best = best_for_all(scores, task.clusters)
    return [said[int(place) * len(task.examples) + row] for row, place in enumerate(best)]


def best_for_all(scores: FloatArray, clusters: IntArray) -> IntArray:
    """Return [N] the sentence of each example: on each half of the clusters the best one on the other half.

    So luck in the choice does not count as a weakness of the scorer. A single cluster is its own other half. The scores
    [K, N] of the sentences are not finite if there is none.
    """
    halves, chosen = clusters % 2, np.zeros(scores.shape[1], dtype=np.int64)
    for half in (0, 1):
        others = halves != half
        part = scores[:, others if others.any() else ~others]
        known = np.isfinite(part)
        means = np.where(known, part, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
        chosen[~others] = np.where(known.any(axis=1), means, -np.inf).argmax() if part.size else 0
    return chosen


# the list of attacks

_SEARCHES: Mapping[str, dict[str, Any]] = {
    "climbed": {"search": hill_climbing},
    "fixed-sentence": {"search": best_sentence, "fixed": True},
}
ATTACKS: Mapping[str, Attack] = {
    name: Attack.of(perturbation, **_SEARCHES.get(name, {})) for name, perturbation in PERTURBATIONS.items()
}
"""All attacks without a pool, in the order of the documentation."""
POOL_ATTACKS: Mapping[str, str] = {
    "white-box": "the best of a pool's replies that lie where the gradient leads",
    "pool-best": "the best of a pool's replies, by brute force",
    "pool-fixed": "one of a pool's replies for all contexts",
}
"""Attacks that take replies from a pool; see `pool.pool_attacks`."""


def listing() -> dict[str, list[Entry[Any]]]:
    """Return everything that can be trained or named, and the attacks, by group.

    The groups are `judges`, `encoders`, `responders`, `material` and `attacks`. `rejoinder train` and
    `rejoinder pretrain` make a folder, whose path is the name of the model from then on.
    """
    entries: list[Entry[Any]] = [
        *(Entry(name, each.about, dict, each.goal, ", ".join(dict(each.tools))) for name, each in ATTACKS.items()),
        *(Entry(name, about, dict, Goal.WORSE, "--pool") for name, about in POOL_ATTACKS.items()),
    ]
    return {**list_entries(), "attacks": entries}


def select(families: Sequence[Any] | None, pool: Mapping[str, Attack]) -> list[Attack]:
    """Return the attacks for these names, attacks or functions; all attacks for None. `pool` has those on a pool.

    Raises:
        UsageError: there is no such attack, it was named twice, or it needs a pool.
    """
    known = {**ATTACKS, **pool}
    wanted = known if families is None else [families] if isinstance(families, str) else families
    attacks = [_attack(each, known) for each in wanted]
    names = [attack.name for attack in attacks]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"the attack {twice!r} was named twice. Name each once")
    if not attacks:
        raise UsageError("no attack was named. Name one, or name none for all")
    return attacks


def _attack(named: Any, known: Mapping[str, Attack]) -> Attack:
    """Return an attack by its name, or as it is."""
    if not isinstance(named, str):
        return named if isinstance(named, Attack) else Attack.of(named)
    if named in known:
        return known[named]
    if named in POOL_ATTACKS:
        raise UsageError(f"{named} looks for replies in a pool. Give a file of them: --pool FILE (pool=)")
    near = ", ".join(get_close_matches(named, [*known, *POOL_ATTACKS], n=3, cutoff=0.5))
    hint = f" Nearest: {near}." if near else ""
    raise UsageError(f"no attack is called {named!r}.{hint} All of them: rejoinder list")


def available(
    attacks: Sequence[Attack], name: str, scorer: Scorer
) -> tuple[list[Attack], dict[str, str], dict[str, str]]:
    """Return the attacks that can be run on a scorer, the versions of their tools, and why others are left out."""
    usable, tools, left_out = [], dict[str, str](), dict[str, str]()
    for attack in attacks:
        if attack.needs_gradient and not is_differentiable(scorer):
            reason = f"it needs the vectors and gradients of a judge over an encoder, and {name} shows none"
            left_out[attack.name] = reason
            continue
        try:
            tools |= {purpose: load() for purpose, load in attack.tools}
        except (MissingAsset, MissingExtra) as missing:
            left_out[attack.name] = str(missing)
        else:
            usable.append(attack)
    return usable, tools, left_out
