"""Hill climbing over words, for scorers that show nothing but their scores.

Round after round a few words of each reply are changed at random, and the change that scores highest is kept where it
scores higher than before. Shapes: N examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from rejoinder.auditing.search import Seek, Target
from rejoinder.example import Example

ROUNDS, TRIED = 8, 4
"""How often a word is changed, and how many changes are tried each time: the budget is 1 + 8 * 4 questions a reply."""


def climbing(rounds: int = ROUNDS, tried: int = TRIED) -> Seek:
    """A seek that climbs from each start by changes of one word.

    A word goes, changes its place, or one of the context or of any start comes in, in the place of another or between.

    Args:
        rounds: changes at most.
        tried: changes that are tried a round.
    """
    return partial(_climb, rounds, tried)


def _climb(
    rounds: int, tried: int, starts: Sequence[Example], generators: Sequence[np.random.Generator], target: Target
) -> list[Example | None]:
    """See `climbing`."""
    known = sorted({word for one in starts for word in one.response.split()})
    best, height = list(starts), target.ask(starts)
    for _ in range(rounds):
        steps = [[_edited(one, known, rng) for _ in range(tried)] for one, rng in zip(best, generators, strict=True)]
        scores = target.ask([step for own in steps for step in own]).reshape(len(best), tried)
        for row in np.flatnonzero(scores.max(axis=1, initial=-np.inf) > height).tolist():
            place = int(scores[row].argmax())
            best[row], height[row] = steps[row][place], scores[row, place]
    return list(best)


def _edited(example: Example, known: Sequence[str], rng: np.random.Generator) -> Example:
    """The example with one word of its reply changed."""
    words = example.response.split()
    said = [word for turn in example.context for word in turn.split()]
    pool = said if said and rng.random() < 0.5 else known  # words of the context please what looks for overlap
    new = pool[int(rng.integers(len(pool)))]
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
