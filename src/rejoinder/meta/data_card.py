"""What the rated lines of a data set are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rejoinder.meta.scored_set import ScoredSet
from rejoinder.metrics.baselines import words
from rejoinder.text.normalize import visible


@dataclass(frozen=True, slots=True)
class DataCard:
    """What the rated lines of a data set are.

    Attributes:
        dataset: its name.
        title: what people call it; see `humans.lines.title_of`.
        rated: lines with a rating that were used.
        contexts: contexts they come from.
        systems: systems named on them.
        with_references: lines with a reference.
        copies: responses that equal a reference word for word.
        scale: lowest and highest possible rating; None where the data does not say or lines differ.
        mean_rating: mean.
        deviation: standard deviation.
        words: mean number of words in a response.
    """

    dataset: str
    title: str
    rated: int
    contexts: int
    systems: int
    with_references: int
    copies: int
    scale: tuple[float, float] | None
    mean_rating: float
    deviation: float
    words: float


def card_of(scored: ScoredSet) -> DataCard:
    """What the rated lines are."""
    rated = scored.rated
    return DataCard(
        dataset=rated.name,
        title=rated.title,
        rated=len(rated),
        contexts=rated.clusters,
        systems=len(rated.named_systems),
        with_references=sum(any(map(visible, example.references)) for example in rated.examples),
        copies=int(rated.copies.sum()),
        scale=rated.scale,
        mean_rating=float(rated.ratings.mean()),
        deviation=float(rated.ratings.std()),
        words=float(np.mean([len(words(example.response)) for example in rated.examples])),
    )
