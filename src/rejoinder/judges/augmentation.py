"""Changed replies for a judge to learn from: corrupted, harmlessly changed, and written by people to mislead.

Without training on replies that repeat their context, a judge rates them as relevant. So a feature judge is fitted on
some changed replies too, with a small weight; the target of each is a convention, in standard deviations of a data set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from itertools import islice
from typing import NamedTuple

import numpy as np

from rejoinder.data.clusters import is_telling, normalized
from rejoinder.errors import MissingAsset, MissingExtra
from rejoinder.example import Example
from rejoinder.perturbations import PERTURBATIONS, Corpus, Perturbation
from rejoinder.stats.resamples import Sampling

EACH = 6
"""Changed replies of each line, each by another perturbation."""
NO_LINE = -1
"""The row of a reply that was made of no rated line: people wrote it to fit a context of its own, or not to fit."""


class WrittenFor(IntEnum):
    """What people wrote a reply for: to fit its context, to look as if it did, to fit another; or none of these."""

    OTHER, FITTING, MISLEADING, RANDOM = range(4)


class AugmentedExample(NamedTuple):
    """A reply that was changed, for better or worse, or that stands by itself."""

    example: Example  # with that reply
    row: int  # the line that it was made of, or `NO_LINE`
    at_most: float = np.inf  # its target at most (made of no line: its target), in standard deviations of its data set
    less: float = 0.0  # how much lower its target is than that of the line it was made of
    weight: float = 0.03  # of the row; a rated line of a data set of usual size has 1
    written_for: WrittenFor = WrittenFor.OTHER

    @property
    def is_harmless(self) -> bool:
        """Whether its target is that of the line it was made of."""
        return self.row != NO_LINE and self.at_most == np.inf and not self.less


_NO_REPLY = -1.5
_SAME_FOR_ALL = -1.2  # a generic sentence is not always wrong


class Worth(NamedTuple):
    """Target of a changed reply in standard deviations, at most and less than before, and the weight of its row.

    A small weight is enough to keep scores of parrots low, and barely changes agreement with people. Changes that are
    hard to distinguish from a good reply weigh more; generic sentences, which people often accept, weigh less.
    """

    at_most: float = np.inf
    less: float = 0.0
    weight: float = 0.02


# fmt: off
_HOPELESS: tuple[str, ...] = (
    "near-empty", "lone-punctuation", "gibberish", "jumbled", "reversed", "nouns", "padding", "prompt-added",
    "context-repeated", "parrot-last", "parrot-earlier", "parrot-half", "another-language", "prompt-like",
    "null-model", "insult", "words-repeated",
)
_UNRELATED = ("other-random", "other-nearest", "machine-response")
_GENERIC: tuple[str, ...] = (
    "generic-repeat", "generic-will-do", "generic-fantastic", "dull", "fixed-sentence", "counter-question", "one-word",
)
_DAMAGED = {"truncated": 1.0, "wrong-speaker": 0.5, "nouns-and-verbs": 0.8}
_TWISTED = ("said-twice", "contradiction")
_HARMLESS: tuple[str, ...] = (
    "no-punctuation", "spelled-out", "typing-error", "lower-case", "final-stop", "emoji", "synonyms",
    "no-stop-words", "no-common-words", "upper-case", "speaker-tag",
)
# fmt: on
WORTH: Mapping[str, Worth] = {
    **dict.fromkeys(_HOPELESS, Worth(_NO_REPLY)),
    **dict.fromkeys(_UNRELATED, Worth(_NO_REPLY, weight=0.07)),
    **dict.fromkeys(_GENERIC, Worth(_SAME_FOR_ALL, weight=0.04)),
    **{name: Worth(less=less, weight=0.07) for name, less in _DAMAGED.items()},
    **dict.fromkeys(_TWISTED, Worth(less=0.8)),
    "insult-added": Worth(_SAME_FOR_ALL, 0.5),
    **dict.fromkeys(_HARMLESS, Worth(weight=0.2)),
}


def augment(examples: Sequence[Example], seed: int = 0, each: int = EACH) -> list[AugmentedExample]:
    """Return `each` changed replies of every line; the perturbations follow from the seed and the line alone."""
    by_set: dict[str | None, list[int]] = {}
    for row, example in enumerate(examples):
        if not example.unanswered:
            by_set.setdefault(example.dataset, []).append(row)
    sampling = Sampling.checked(0, seed)
    usable = {name: PERTURBATIONS[name] for name in WORTH if _is_available(PERTURBATIONS[name])}
    augmented = []
    for rows in by_set.values():
        corpus = Corpus([examples[row] for row in rows])
        for row in rows:
            rng = sampling.generator("\n".join((*examples[row].context, examples[row].response)), "attack")
            changed = islice(_changed(examples[row], usable, corpus, rng), each)
            augmented += [AugmentedExample(example, row, *WORTH[name]) for name, example in changed]
    return sorted(augmented, key=lambda line: line.row)


def _changed(
    example: Example, usable: Mapping[str, Perturbation], corpus: Corpus, rng: np.random.Generator
) -> Iterator[tuple[str, Example]]:
    """Yield changed examples in random order, without those that are blank."""
    for name in rng.permutation(list(usable)).tolist():
        made = usable[name].apply(example, rng, corpus)
        if made is not None and not made.unanswered:
            yield name, made


def _is_available(perturbation: Perturbation) -> bool:
    """Return whether the tools of a perturbation are installed; otherwise nothing can be learnt from it."""
    try:
        for _, load in perturbation.tools:
            load()
    except (MissingAsset, MissingExtra):
        return False
    return True


class ReplySet(NamedTuple):
    """A context with replies that fit and replies that do not."""

    context: tuple[str, ...]  # the turns before them, oldest first
    relevant: tuple[str, ...]
    random: tuple[str, ...] = ()  # replies to other contexts
    misleading: tuple[str, ...] = ()  # that do not fit and were written to look as if they did
    id: str = ""  # name of the line, or ""


_FITS, _MISLEADS, _RANDOM = 0.5, -1.0, -1.0
_WEIGHT = 0.06


def written(sets: Sequence[ReplySet], examples: Sequence[Example], every: int = 1) -> list[AugmentedExample]:
    """Return the replies of each `every`-th set whose context shares no long turn with the context of an example."""
    known = {words for example in examples for turn in example.context if (words := _long(turn))}
    apart = [replies for replies in sets if known.isdisjoint(map(_long, replies.context))]
    return [
        AugmentedExample(Example(replies.context, reply), NO_LINE, target, weight=_WEIGHT, written_for=kind)
        for replies in apart[::every]
        for kind, texts, target in (
            (WrittenFor.FITTING, replies.relevant, _FITS),
            (WrittenFor.MISLEADING, replies.misleading, _MISLEADS),
            (WrittenFor.RANDOM, replies.random, _RANDOM),
        )
        for reply in texts
    ]


def _long(turn: str) -> str:
    """Return a long turn in normal form, "" for a short one."""
    words = normalized(turn)
    return words if is_telling(words) else ""
