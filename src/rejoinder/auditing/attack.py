"""What an attack is: a goal, a transformation of examples, a constraint on what comes out, and a search among several.

A family of attacks is one small function and one line of a table (`battery.ATTACKS`). An attack of one's own is a
function from an example and a generator to the attacked example, or to None where it cannot attack that one.

Shapes: K candidates, N examples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from rejoinder.auditing.search import Search, Seek, the_only
from rejoinder.errors import UsageError
from rejoinder.example import Example

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
    """Whether there is anything to see of an attack: another response, or other references."""
    return (attacked.response, attacked.references) != (original.response, original.references)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """A family of attacks.

    Attributes:
        name: what it is called.
        goal: what it would show.
        about: what is done, in a few words.
        ideal: what an ideal judge answers.
        candidates: what makes the transformations.
        constraint: an attacked example that does not hold it is skipped.
        search: which of several candidates each example gets, seen from the scores of all.
        seek: what makes more of a candidate by asking the scorer, where there is such a thing.
        inside: whether that looks at the vectors and gradients of the scorer, which not every one shows.
        silence: whether a reply is such that leaving it without a score, with a reason, is a right answer.
        tools: what it takes, by purpose: loads each and gives its name and version for the signature.
        source: where it was first done, or "".
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
    """The candidates of an attack that has one and needs no material."""
    return lambda _: [transformation]


def text(change: Callable[[str, Rng], str | None]) -> Candidates:
    """The candidates of an attack that changes the response as a text."""

    def transformation(example: Example, rng: Rng) -> Example | None:
        found = change(example.response, rng)
        return None if found is None else replace(example, response=found)

    return alone(transformation)


def plain(change: Callable[[str], str | None]) -> Candidates:
    """The same, where nothing is drawn."""
    return text(lambda said, _: change(said))


def one_of(*sentences: str) -> Candidates:
    """The candidates of an attack that says one of these in the place of the response."""
    return text(lambda _, rng: sentences[int(rng.integers(len(sentences)))])


def each_of(sentences: Callable[[Sequence[Example]], Sequence[str]]) -> Candidates:
    """The candidates of an attack that says the same in every place, to search among."""

    def saying(sentence: str) -> Transformation:
        return lambda example, _: replace(example, response=sentence)

    return lambda examples: [saying(sentence) for sentence in sentences(examples)]


def attack_of(function: Any) -> Attack:
    """The attack that a function of one's own makes: a bad reply that should score lower.

    Args:
        function: `f(example, rng)` that gives an `Example`, or None where it cannot attack that one.

    Raises:
        UsageError: it is none.
    """
    if not callable(function):
        raise UsageError(f"an attack is a name, an Attack or a function, not {type(function).__name__}")

    def checked(example: Example, rng: Rng) -> Example | None:
        found = function(example, rng)
        if found is not None and not isinstance(found, Example):
            raise UsageError(f"the attack {name} gave {type(found).__name__}, expected an Example or None. Mend it")
        return found

    name = str(getattr(function, "__name__", type(function).__name__))
    said = (getattr(function, "__doc__", None) or "").strip().partition("\n")[0].rstrip(".")
    return Attack(
        name=name,
        goal=BAD,
        about=said or "an attack of one's own",
        ideal="lower",
        candidates=alone(checked),
        tools={},
        source="a Python function",
    )
