"""The replies that are attacked: which lines are taken, and which of them are good enough to be held to.

A bad reply that scores higher than another bad reply has fooled nobody. So attacks of that goal stand beside good
replies alone: where people rated, those in the upper half both of their data set and of its scale, if it states one;
where nobody rated
a line that has several references, the first of these, a person's reply, in the place of the response; else the
response as it is, which is taken to be good.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rejoinder.data.clusters import sorted_clusters
from rejoinder.example import Example
from rejoinder.stats.resamples import BoolArray, IntArray, Sampling


@dataclass(frozen=True, slots=True)
class Originals:
    """What an audit attacks, N examples.

    Attributes:
        examples: [N] the examples.
        good: [N] whether a bad reply can be held against each.
        clusters: [N] the context of each, from 0.
        rated: how many are rated.
        scaled: how many of these are of a data set whose scale is known.
        human: how many are a reference in the place of the response.
        empty: lines left out because nothing is replied.
        given: lines in all, before some were drawn.
    """

    examples: tuple[Example, ...]
    good: BoolArray
    clusters: IntArray
    rated: int
    scaled: int
    human: int
    empty: int
    given: int


def originals_of(examples: Sequence[Example], limit: int, sampling: Sampling) -> Originals:
    """At most `limit` of the examples, drawn by the seed, in their order."""
    replied = [one for one in examples if not one.unanswered]
    taken: Sequence[int] = range(len(replied))
    if len(replied) > limit:
        rng = sampling.generator([len(replied), limit], "audited lines")
        taken = np.sort(rng.choice(len(replied), limit, replace=False)).tolist()
    middles = {one.dataset: sum(scale) / 2 for one in replied if (scale := one.scale()) is not None}
    least = _least_ratings(replied, middles)
    found = [_original(replied[place]) for place in taken]
    ratings = [one.rating() for one in found]
    return Originals(
        tuple(found),
        np.array(
            [rating is None or rating >= least[one.dataset] for one, rating in zip(found, ratings, strict=True)],
            dtype=np.bool_,
        ),
        sorted_clusters(found).numbers,
        rated=sum(rating is not None for rating in ratings),
        scaled=sum(rating is not None and one.dataset in middles for one, rating in zip(found, ratings, strict=True)),
        human=sum(one is not replied[place] for one, place in zip(found, taken, strict=True)),
        empty=len(examples) - len(replied),
        given=len(examples),
    )


def _original(example: Example) -> Example:
    """The example, or where nobody rated it and there are several references, the first of them as a reply."""
    if example.rating() is not None or len(example.references) < 2:
        return example
    return replace(example, response=example.references[0], references=example.references[1:])


def _least_ratings(examples: Sequence[Example], middles: Mapping[str | None, float]) -> dict[str | None, float]:
    """By data set the rating from which on a reply is good: median, or middle of the scale where that is more."""
    ratings: dict[str | None, list[float]] = {}
    for one in examples:
        if (rating := one.rating()) is not None:
            ratings.setdefault(one.dataset, []).append(rating)
    return {name: max(float(np.median(values)), middles.get(name, -np.inf)) for name, values in ratings.items()}
