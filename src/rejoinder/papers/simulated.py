"""Simulated raters of known competence: nobody rated anything here, and everything made of them has to say so."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rejoinder.stats.arrays import BoolArray, FloatArray, IntArray
from rejoinder.stats.rater_models import Labelled

VALUES = 5


class Crowd(NamedTuple):
    """Simulated raters.

    Attributes:
        competence: [J] how often each knows the true rating; a spammer never does.
        habits: [J, L] what each says who does not know.
    """

    competence: FloatArray
    habits: FloatArray

    @property
    def spammers(self) -> BoolArray:
        """[J] who never knows."""
        found: BoolArray = self.competence == 0
        return found


def crowd(honest: int, spammers: int, rng: np.random.Generator) -> Crowd:
    """Raters: the honest know between half of the ratings and nine tenths, and guess a neighbour of none in particular.

    A spammer prefers one value, or none, at random.

    Args:
        honest: how many know something.
        spammers: how many know nothing.
        rng: decides both.
    """
    competence = np.concatenate([rng.uniform(0.5, 0.9, honest), np.zeros(spammers)])
    guesses = rng.dirichlet(np.full(VALUES, 20.0), honest)
    habits = rng.dirichlet(np.full(VALUES, 0.7), spammers)
    return Crowd(competence, np.vstack([guesses, habits]))


def rate(truth: IntArray, people: Crowd, each: int, rng: np.random.Generator) -> Labelled:
    """Ratings of lines by `each` raters a line, drawn at random; the numbers of ratings are 0 to 4.

    Args:
        truth: [N] the true rating of each line, 0 to 4.
        people: who rates.
        each: how many rate a line.
        rng: decides who, and what they say.
    """
    count = len(people.competence)
    chosen = np.argsort(rng.random((len(truth), count)), axis=1)[:, :each]
    lines, raters = np.repeat(np.arange(len(truth)), each), chosen.ravel()
    bounds = people.habits[raters].cumsum(axis=1)
    guessed = np.minimum((rng.random(len(raters))[:, None] > bounds).sum(axis=1), VALUES - 1)
    knows = rng.random(len(raters)) < people.competence[raters]
    return Labelled(lines, raters, np.where(knows, truth[lines], guessed), (len(truth), count, VALUES))
