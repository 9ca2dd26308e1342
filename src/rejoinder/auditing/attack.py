"""Attacks: a perturbation with a goal, and a search where several candidates are possible.

An attack of your own is a function from an example and a generator to the attacked example, or to None where there is
nothing to attack. Shapes: K candidates, N examples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from rejoinder.auditing.search import Search, Seek, the_only
from rejoinder.example import Example
from rejoinder.perturbations.perturbation import Corpus, Perturbation, from_function

Goal = Literal["bad scores high", "good scores low", "no change"]
BAD: Goal = "bad scores high"
GOOD: Goal = "good scores low"
SAME: Goal = "no change"
GOALS: Mapping[Goal, str] = {
    BAD: "a bad reply that should score lower than the good one it stands for",
    GOOD: "a reply as good as before, or better, that should not score lower",
    SAME: "the same reply to a reader's eye, whose score should not move",
}
Rng = np.random.Generator
Transformation = Callable[[Example, Rng], Example | None]
"""Makes the attacked example of an example; None where there is nothing to attack."""
Candidates = Callable[[Sequence[Example]], Sequence[Transformation]]
"""From all examples of an audit, which are the material, to one transformation, or to several to search among."""
Constraint = Callable[[Example, Example], bool]
"""Whether an attacked example, the second, is a fair one of the first."""


def changed(original: Example, attacked: Example) -> bool:
    """Return whether an attack shows: another response, or other references."""
    return (attacked.response, attacked.references) != (original.response, original.references)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """A family of attacks.

    Attributes:
        name: its name.
        goal: the fault of a scorer that it would show.
        about: the change, in a few words.
        ideal: the answer of an ideal judge.
        candidates: makes the transformations.
        constraint: an attacked example that breaks it is skipped.
        search: chooses the candidate of each example from the scores of all.
        seek: makes more of a candidate by asking the scorer, if there is such a step.
        inside: whether that reads the vectors and gradients of the scorer, which not every scorer shows.
        silence: whether leaving the reply without a score, with a reason, is a right answer.
        tools: loads what it needs and gives name and version for the signature, by purpose.
        source: the paper that first did it, or "".
    """

    name: str
    goal: Goal
    about: str
    ideal: str
    candidates: Candidates
    constraint: Constraint = changed
    search: Search = the_only
    seek: Seek | None = None
    inside: bool = False
    tools: Mapping[str, Callable[[], str]]
    source: str = ""
    silence: bool = False


def alone(transformation: Transformation) -> Candidates:
    """Return the candidates of an attack that has one and needs no material."""
    return lambda _: [transformation]


def each_of(sentences: Callable[[Sequence[Example]], Sequence[str]]) -> Candidates:
    """Return the candidates of an attack that says the same in every place, to search among."""

    def saying(sentence: str) -> Transformation:
        return lambda example, _: replace(example, response=sentence)

    return lambda examples: [saying(sentence) for sentence in sentences(examples)]


def attack_from(perturbation: Perturbation, **more: Any) -> Attack:
    """Return the attack that a perturbation makes; `more` replaces or adds attributes."""

    def candidates(examples: Sequence[Example]) -> list[Transformation]:
        corpus = Corpus(examples)
        return [lambda example, rng: perturbation.apply(example, rng, corpus)]

    attributes: dict[str, Any] = {
        "name": perturbation.name,
        "goal": perturbation.goal.value,
        "about": perturbation.about,
        "ideal": perturbation.ideal,
        "candidates": candidates,
        "tools": dict(perturbation.tools),
        "source": perturbation.source,
        "silence": perturbation.silence_is_right,
    }
    return Attack(**{**attributes, **more})


def attack_of(function: Any) -> Attack:
    """Return the attack that a function of the user makes: a bad reply that should score lower.

    Args:
        function: `f(example, rng)` that gives an `Example`, or None where it cannot attack that one.

    Raises:
        UsageError: it is no function.
    """
    return attack_from(from_function(function))
