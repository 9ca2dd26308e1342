"""Dialogues to show, with what people and a judge make of them.

Only ConTurE is quoted: its licence (CC BY 4.0) allows it, and a part of it is in the box. Most other sets state none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rejoinder.data.read import read
from rejoinder.example import Example
from rejoinder.judges.adem.judge import encode
from rejoinder.judges.rated import normalised_ratings
from rejoinder.scorer import FloatArray
from rejoinder.stats.resamples import Sampling
from research.fits import Judgement
from research.material import Material

QUOTED = "conture_turn"
SAMPLE = "@conture"
_OF_EACH = 2
_LONGEST = 25  # words of a turn
_FEWEST_TURNS, _MOST_TURNS = 5, 12


class Excerpt(NamedTuple):
    """A rated response.

    Attributes:
        turn: the turn that it answers.
        response: the response.
        rating: by people, 1 to 5.
        score: by the judge, nominally 1 to 5.
    """

    turn: str
    response: str
    rating: float
    score: float


def excerpts(judgement: Judgement, seed: int) -> list[Excerpt]:
    """Responses of the sample in the box drawn at random, two that people rated low, two between, two high.

    The judge needs nothing but context and response, and must not have been fitted on ConTurE.
    """
    short = [example for example in read(SAMPLE) if _short(example)]
    ratings = normalised_ratings(short)
    rng = Sampling(0, seed).generator((), "paper, lines quoted")
    drawn = np.concatenate(
        [
            rng.choice(np.flatnonzero((ratings >= low) & (ratings <= high)), _OF_EACH, replace=False)
            for low, high in ((1, 2), (2.5, 3.5), (4, 5))
        ]
    )
    chosen = [short[place] for place in drawn]
    encoded = encode(chosen, judgement.encoding.encoder, ("context",))
    return _rows(chosen, ratings[drawn], judgement.fitted.predict(encoded.means))


def dialogue(material: Material, scores: FloatArray, seed: int) -> list[Excerpt]:
    """The rated turns of one dialogue of ConTurE drawn at random, in their order; none where there is no such dialogue.

    Args:
        material: the lines.
        scores: [N] by a judge that was not fitted on the line's dialogue.
        seed: decides which.
    """
    rows: dict[str, list[int]] = {}
    for row, example in enumerate(material.examples):
        if example.dataset == QUOTED and "dialogue_id" in example.extra:
            rows.setdefault(str(example.extra["dialogue_id"]), []).append(row)
    whole = [mine for mine in rows.values() if _FEWEST_TURNS <= len(mine) <= _MOST_TURNS]
    whole = [mine for mine in whole if all(_short(material.examples[row]) for row in mine)]
    if not whole:
        return []
    drawn = whole[Sampling(0, seed).generator((), "paper, dialogue quoted").integers(len(whole))]
    drawn.sort(key=lambda row: len(material.examples[row].context))
    return _rows([material.examples[row] for row in drawn], material.ratings[drawn], scores[drawn])


def _short(example: Example) -> bool:
    """Whether the response and the turn it answers fit a line of a table."""
    return bool(example.context) and max(len(example.context[-1].split()), len(example.response.split())) <= _LONGEST


def _rows(examples: Sequence[Example], ratings: FloatArray, scores: FloatArray) -> list[Excerpt]:
    """Examples with their two numbers."""
    return [
        Excerpt(example.context[-1], example.response, float(rating), float(score))
        for example, rating, score in zip(examples, ratings, scores, strict=True)
    ]
