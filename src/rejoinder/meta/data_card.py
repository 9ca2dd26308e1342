"""What the rated lines of a data set are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rejoinder.io.ratings import Scale
from rejoinder.meta.parts import NO_SYSTEM, POOLED, Part, title_of
from rejoinder.metrics.baselines import words
from rejoinder.records import Example
from rejoinder.stats.arrays import number_of


@dataclass(frozen=True, slots=True)
class DataCard:
    """What the rated lines of a data set are.

    Attributes:
        dataset: its name.
        title: what people call it; see `parts.title_of`.
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


def card_of(part: Part, examples: Sequence[Example], dimension: str, copies: NDArray[np.bool_]) -> DataCard:
    """What the lines of a part are."""
    own = [examples[place] for place in part.places]
    scales = {example.scale(dimension) for example in own}
    return DataCard(
        dataset=part.name,
        title=title_of(part.name, own),
        rated=len(own),
        contexts=number_of(part.contexts),
        systems=len(np.unique(part.systems[part.systems != NO_SYSTEM])),
        with_references=sum(any(map(str.strip, example.references)) for example in own),
        copies=int(copies.sum()),
        scale=_scale(scales, pooled=part.name == POOLED),
        mean_rating=float(part.ratings.mean()),
        deviation=float(part.ratings.std()),
        words=float(np.mean([len(words(example.response)) for example in own])),
    )


def _scale(scales: set[Scale | None], *, pooled: bool) -> Scale | None:
    """The scale that the ratings of a part stand on: of one that its lines name, or [0, 1] where there are several."""
    if None in scales:
        return None
    return (0.0, 1.0) if pooled or len(scales) > 1 else scales.pop()
