"""The audit's own attacks as rows to learn from: replies that were spoilt, and harmless changes that cost nothing.

A judge that was never shown a parrot finds it on topic. So a judge over views is fitted on some attacked replies beside
the rated ones, with hardly any weight; what each deserves is a convention, in standard deviations of a data set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from rejoinder.auditing.attack import Attack, Transformation
from rejoinder.auditing.battery import battery
from rejoinder.errors import MissingAsset, MissingExtra
from rejoinder.example import Example
from rejoinder.judges.views.lines import Spoilt
from rejoinder.stats.resamples import Sampling

EACH = 6
"""Attacked replies that are made of each line, each by another attack."""
_NO_REPLY = -1.5
_SAME_FOR_ALL = -1.2  # a generic sentence is not always wrong


class Worth(NamedTuple):
    """What a reply deserves after an attack: this at most, and so much less than before; and what such a row counts.

    So little weight is enough that no parrot scores well, and costs hardly any agreement with people. What is hard to
    tell from a good reply weighs more; generic sentences less than that, which people often accept.
    """

    at_most: float = np.inf
    less: float = 0.0
    weight: float = 0.02


_HOPELESS: tuple[str, ...] = (
    "near-empty",
    "lone-punctuation",
    "gibberish",
    "jumbled",
    "reversed",
    "nouns",
    "padding",
    "prompt-added",
)
_HOPELESS += ("context-repeated", "parrot-last", "parrot-earlier", "parrot-half", "another-language", "prompt-like")
_HOPELESS += ("null-model", "insult", "words-repeated")
_ELSEWHERE = ("other-random", "other-nearest", "machine-response")
_GENERIC: tuple[str, ...] = (
    "generic-repeat",
    "generic-will-do",
    "generic-fantastic",
    "dull",
    "fixed-sentence",
    "counter-question",
)
_GENERIC += ("one-word",)
_DAMAGED = {"truncated": 1.0, "wrong-speaker": 0.5, "nouns-and-verbs": 0.8}
_TWISTED = ("said-twice", "contradiction")
_HARMLESS: tuple[str, ...] = (
    "no-punctuation",
    "spelled-out",
    "typing-error",
    "lower-case",
    "final-stop",
    "emoji",
    "synonyms",
)
_HARMLESS += ("no-stop-words", "no-common-words", "upper-case", "speaker-tag")
WORTH: Mapping[str, Worth] = {
    **dict.fromkeys(_HOPELESS, Worth(_NO_REPLY)),
    **dict.fromkeys(_ELSEWHERE, Worth(_NO_REPLY, weight=0.07)),
    **dict.fromkeys(_GENERIC, Worth(_SAME_FOR_ALL, weight=0.04)),
    **{name: Worth(less=less, weight=0.07) for name, less in _DAMAGED.items()},
    **dict.fromkeys(_TWISTED, Worth(less=0.8)),
    "insult-added": Worth(_SAME_FOR_ALL, 0.5),
    **dict.fromkeys(_HARMLESS, Worth(weight=0.2)),
}


def spoilt(examples: Sequence[Example], seed: int = 0, each: int = EACH) -> list[Spoilt]:
    """Attacked replies of examples, `each` of a line; by which attacks is drawn by the seed and the example alone."""
    by_set: dict[str | None, list[int]] = {}
    for row, example in enumerate(examples):
        if not example.unanswered:
            by_set.setdefault(example.dataset, []).append(row)
    sampling = Sampling.checked(0, seed)
    found = [one for rows in by_set.values() for one in _of_set(examples, rows, sampling, each)]
    return sorted(found, key=lambda one: one.row)


def _of_set(examples: Sequence[Example], rows: Sequence[int], sampling: Sampling, each: int) -> list[Spoilt]:
    """Those of one data set, whose other replies are the material."""
    own = [examples[row] for row in rows]
    attacks = {name: attack for name in WORTH if _equipped(attack := battery()[name])}
    ways = {name: attack.candidates(own) for name, attack in attacks.items()}
    found = []
    for row, example in zip(rows, own, strict=True):
        rng = sampling.generator("\n".join((*example.context, example.response)), "attack")
        order = rng.permutation(list(attacks))
        made = ((name, _made(ways[name], attacks[name], example, rng)) for name in order.tolist())
        for name, attacked in islice(((name, one) for name, one in made if one is not None), each):
            found.append(Spoilt(attacked, row, *WORTH[name]))
    return found


def _equipped(attack: Attack) -> bool:
    """Whether what an attack takes is on this machine; what cannot be made cannot be learnt from."""
    try:
        for load in attack.tools.values():
            load()
    except (MissingAsset, MissingExtra):
        return False
    return True


def _made(ways: Sequence[Transformation], attack: Attack, example: Example, rng: np.random.Generator) -> Example | None:
    """The example attacked in one of the ways, or None where that cannot be or leaves nothing."""
    if not ways:
        return None
    attacked = ways[int(rng.integers(len(ways)))](example, rng)
    fair = attacked is not None and attack.constraint(example, attacked) and not attacked.unanswered
    return attacked if fair else None
