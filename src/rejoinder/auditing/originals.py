"""The replies that an audit attacks, and which of them are good.

A bad reply that scores higher than another bad reply fools no scorer, so attacks of that goal change good replies only:
rated ones in the upper half both of their data set and of its scale, if there is one. Without a rating, the first of
several references, written by a person, replaces the response; any other unrated response counts as good.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rejoinder.data.clusters import sorted_clusters
from rejoinder.example import Example
from rejoinder.perturbations import Corpus
from rejoinder.stats.resamples import BoolArray, IntArray, Sampling, number_of


@dataclass(frozen=True, slots=True)
class Originals:
    """The N replies that are attacked.

    Attributes:
        corpus: the N examples.
        good: [N] whether a bad reply is compared with each.
        clusters: [N] the context of each, from 0.
        counts: the number of replies, of all lines, and so on.
    """

    corpus: Corpus
    good: BoolArray
    clusters: IntArray
    counts: dict[str, int]

    @property
    def examples(self) -> tuple[Example, ...]:
        """The N examples."""
        return self.corpus.examples


def select_originals(examples: Sequence[Example], limit: int, sampling: Sampling) -> Originals:
    """Return at most `limit` of the examples with a response, drawn by the seed, in the order of the input."""
    replied = [example for example in examples if not example.unanswered]
    drawn = replied
    if len(replied) > limit:
        rng = sampling.generator([len(replied), limit], "audited lines")
        drawn = [replied[row] for row in np.sort(rng.choice(len(replied), limit, replace=False))]
    ratings: dict[str | None, list[float]] = {}
    middles: dict[str | None, float] = {}
    for example in replied:
        if (rating := example.rating()) is not None:
            ratings.setdefault(example.dataset, []).append(rating)
        if (scale := example.scale()) is not None:
            middles[example.dataset] = sum(scale) / 2
    least = {name: max(float(np.median(values)), middles.get(name, -np.inf)) for name, values in ratings.items()}
    originals = [_with_reference_as_response(example) for example in drawn]
    rated = [(example, rating) for example in originals if (rating := example.rating()) is not None]
    good = [(rating := example.rating()) is None or rating >= least[example.dataset] for example in originals]
    clusters = sorted_clusters(originals).numbers
    counts = {
        "replies": len(originals),
        "lines": len(examples),
        "rated": len(rated),
        "scaled": sum(example.dataset in middles for example, _ in rated),
        "references_as_replies": sum(new is not old for new, old in zip(originals, drawn, strict=True)),
        "good": sum(good),
        "contexts": number_of(clusters),
        "empty": len(examples) - len(replied),
    }
    return Originals(Corpus(originals), np.array(good, dtype=np.bool_), clusters, counts)


def _with_reference_as_response(example: Example) -> Example:
    """Return the example; if it is unrated, with the first of several references as its response."""
    if example.rating() is not None or len(example.references) < 2:
        return example
    return replace(example, response=example.references[0], references=example.references[1:])
