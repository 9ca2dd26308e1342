"""Which rated examples or pairs belong to one conversation, so that a split keeps them together."""

from __future__ import annotations

from collections.abc import Sequence

from rejoinder.data.clusters import clusters_of
from rejoinder.example import Example, Pair
from rejoinder.judges.learner import Rows


def conversations(items: Sequence[Example | Pair]) -> Rows:
    """[N] the number of each item's conversation, counted in order of appearance (see `humans.clusters`)."""
    return clusters_of(items).numbers
