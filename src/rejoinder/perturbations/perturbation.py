"""Perturbations: changes of a response for which the answer of an ideal scorer is known.

A perturbation is one small function `(example, rng, corpus) -> str | Example | None` with a decorator. It returns the
new response, a whole new example, or None if there is nothing to change. Its name is the name of the function, its
description the docstring.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from rejoinder.errors import UsageError
from rejoinder.example import Example
from rejoinder.stats.resamples import blocks
from rejoinder.text.scripts import unspaced_script

Rng = np.random.Generator
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
TRIES = 50  # responses of other contexts that are tried
BLOCK = 2**22  # similarities in memory
LISTS: dict[str, Any] = json.loads((Path(__file__).parent / "words.json").read_text(encoding="utf-8"))
"""Sentences and words of the perturbations; stop words are nltk's of 2019, common words those of Sai et al. (2019)."""


class Goal(StrEnum):
    """What the perturbed response would show of a scorer."""

    WORSE = "bad scores high"  # it is worse, and should score lower
    NOT_WORSE = "good scores low"  # it is as good, and should not score lower
    SAME = "no change"  # a reader sees no difference, so the score should not move


class Corpus:
    """All examples of an audit, which some perturbations take text from."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self.examples = tuple(examples)

    def is_other(self, other: Example, example: Example) -> bool:
        """Return whether `other` answers another context, with a text that is no response or reference of `example`."""
        own = {text.casefold().strip() for text in (example.response, *example.references)}
        return other.context_key != example.context_key and other.response.casefold().strip() not in own

    @cached_property
    def bigrams(self) -> dict[str, list[str]]:
        """Words that follow each word in the responses, as often as they do; "" is begin and end."""
        follows: dict[str, list[str]] = {}
        for example in self.examples:
            words = example.response.split()
            for word, after in zip(("", *words), (*words, ""), strict=True):
                follows.setdefault(word, []).append(after)
        return follows

    @cached_property
    def frequent(self) -> list[str]:
        """Five most frequent responses that answer several contexts."""
        contexts: dict[str, set[Any]] = {}
        for example in self.examples:
            contexts.setdefault(example.response.strip(), set()).add(example.context_key)
        shared = [text for text, keys in contexts.items() if text and len(keys) > 1]
        return sorted(shared, key=lambda text: (-len(contexts[text]), text))[:5]

    @cached_property
    def nearest(self) -> dict[tuple[tuple[str, ...], str], str]:
        """Responses to other contexts that share the most words with a context, by that context and its response."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        count = len(self.examples)
        queries = [
            " ".join(each.context) if any(map(str.strip, each.context)) else each.response for each in self.examples
        ]
        vectorizer = TfidfVectorizer(token_pattern=r"\w+")  # noqa: S106
        try:
            responses = vectorizer.fit_transform([each.response for each in self.examples])
        except ValueError:  # no response holds a word
            return {}
        contexts, found = vectorizer.transform(queries), {}
        for block in blocks(count, count, BLOCK):
            similar = (contexts[block] @ responses.T).toarray()
            for row, example in enumerate(self.examples[block]):
                for place in np.argsort(-similar[row], kind="stable")[:TRIES].tolist():
                    if similar[row, place] > 0 and self.is_other(self.examples[place], example):
                        found[example.context, example.response] = self.examples[place].response
                        break
        return found


Transformation = Callable[[Example, Rng, Corpus], str | Example | None]
Function = TypeVar("Function", bound=Transformation)


@dataclass(frozen=True, slots=True, kw_only=True)
class Perturbation:
    """One family of perturbed responses.

    Attributes:
        name: the name.
        goal: the fault of a scorer that it would show.
        about: the change, in a few words.
        transform: makes the perturbed response.
        ideal: the answer of an ideal scorer.
        source: the paper that first did it.
        tools: loads what it needs and gives name and version for the signature, by purpose.
        silence_is_right: whether leaving the response without a score is a right answer.
    """

    name: str
    goal: Goal
    about: str
    transform: Transformation
    ideal: str = ""
    source: str = ""
    tools: tuple[tuple[str, Callable[[], str]], ...] = ()
    silence_is_right: bool = False

    def apply(self, example: Example, rng: Rng, corpus: Corpus) -> Example | None:
        """Return the perturbed example; None if nothing changed. A bad response loses the ratings of the good one."""
        result = self.transform(example, rng, corpus)
        made = replace(example, response=result) if isinstance(result, str) else result
        if made is None or (made.response, made.references) == (example.response, example.references):
            return None
        return replace(made, ratings=(), quality={}) if self.goal is Goal.WORSE else made


PERTURBATIONS: dict[str, Perturbation] = {}
IDEAL = {Goal.WORSE: "lower", Goal.NOT_WORSE: "about unchanged", Goal.SAME: "unchanged"}


def perturbation(goal: Goal, *, ideal: str = "", **about: Any) -> Callable[[Function], Function]:
    """Register a function as a perturbation under its name."""

    def register(function: Function) -> Function:
        name = function.__name__.strip("_").replace("_", "-")
        text = (function.__doc__ or "").strip().rstrip(".")
        PERTURBATIONS[name] = Perturbation(
            name=name, goal=goal, about=text, transform=function, ideal=ideal or IDEAL[goal], **about
        )
        return function

    return register


def canned(name: str, about: str, *sentences: str, source: str = "", silence_is_right: bool = False) -> None:
    """Register a bad response that is one of some sentences."""
    PERTURBATIONS[name] = Perturbation(
        name=name,
        goal=Goal.WORSE,
        about=about,
        transform=lambda _, rng, __: choice(sentences, rng),
        ideal=IDEAL[Goal.WORSE],
        source=source,
        silence_is_right=silence_is_right,
    )


def from_function(function: Callable[[Example, Rng], Example | None]) -> Perturbation:
    """Return the perturbation of a function of the user, `f(example, rng)`, which makes a bad response.

    Raises:
        UsageError: it is no function, or returns something else than an Example or None.
    """
    if not callable(function):
        raise UsageError(f"an attack is a name, an Attack or a function, not {type(function).__name__}")
    name = str(getattr(function, "__name__", type(function).__name__))

    def transform(example: Example, rng: Rng, corpus: Corpus) -> Example | None:
        made = function(example, rng)
        if made is not None and not isinstance(made, Example):
            raise UsageError(
                f"the attack {name} returned {type(made).__name__}, expected an Example or None. Correct it"
            )
        return made

    about = (function.__doc__ or "").strip().partition("\n")[0].rstrip(".")
    return Perturbation(name=name, goal=Goal.WORSE, about=about, transform=transform, source="a Python function")


def choice(options: Sequence[str], rng: Rng) -> str:
    """Return one of the options at random."""
    return options[int(rng.integers(len(options)))]


def split_words(text: str) -> tuple[list[str], str]:
    """Return the words of a text and their separator; characters in a script without spaces."""
    return (list("".join(text.split())), "") if unspaced_script(text) else (text.split(), " ")


def shown(text: str | None) -> str | None:
    """Return the text; None if it is blank."""
    return text if text and text.strip() else None


def without_spans(text: str, spans: Sequence[tuple[int, int]]) -> str | None:
    """Return the text without some parts; None if there are none, or no word is left."""
    if not spans:
        return None
    kept, place = "", 0
    for start, end in spans:
        kept, place = kept + text[place:start], end
    left = re.sub(r"\s+(?=[.,!?;:])", "", " ".join((kept + text[place:]).split()))
    return left if WORD.search(left) else None
