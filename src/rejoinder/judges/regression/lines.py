"""Rated lines as a learner of features reads them: a matrix of features, and the rows of augmented replies.

Shapes: N lines, F features, M augmented rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rejoinder.data.clusters import sorted_clusters
from rejoinder.example import Example
from rejoinder.judges.augmentation import NO_LINE, AugmentedExample
from rejoinder.judges.features.table import Features, FeatureSet
from rejoinder.judges.learner import Rows
from rejoinder.judges.regression.fitted import Flags, sides_present
from rejoinder.scorer import FloatArray


class AugmentedRows(NamedTuple):
    """Rows of augmented replies; see `AugmentedExample`.

    Attributes:
        features: [M, F].
        rows: [M] the line that each was made of, or `NO_LINE`.
        at_most: [M].
        less: [M].
        weights: [M].
        replies: [M] the number of the reply if a line of the same data set has it too (see `TrainingLines`), else -1.
        written_for: [M] `WrittenFor`.
        contexts: [M] numbers of their contexts.
    """

    features: Features
    rows: Rows
    at_most: FloatArray
    less: FloatArray
    weights: FloatArray
    replies: Rows
    written_for: Rows
    contexts: Rows

    def of_lines(self, rows: Rows, replies: Rows) -> AugmentedRows:
        """Return those made of no line, or of the ascending `rows`; `replies` [N] are the numbers of every line.

        A reply that is equal to that of another line stays only if one of `rows` has it: what is fitted on some lines
        sees nothing of the others.
        """
        is_own = (self.replies < 0) | np.isin(self.replies, replies[rows])
        kept = (self.rows == NO_LINE) | np.isin(self.rows, rows) & is_own
        return AugmentedRows._make(column[kept] for column in self)

    def renumbered(self, rows: Rows) -> AugmentedRows:
        """Return them with places among the ascending `rows` for the numbers of the lines."""
        places = np.where(self.rows == NO_LINE, NO_LINE, np.searchsorted(rows, self.rows))
        return self._replace(rows=places.astype(np.intp))

    def targets(self, of_lines: FloatArray) -> FloatArray:
        """Return [M] targets from the [N] targets of the lines."""
        before = np.where(self.rows == NO_LINE, np.inf, of_lines[self.rows])
        return np.minimum(before - self.less, self.at_most)


@dataclass(frozen=True)
class TrainingLines:
    """N rated lines.

    Attributes:
        features: [N, F].
        sets: [N] number of the data set, from 0.
        groups: [N] number of the context, from 0.
        context: [N] whether there is any.
        reference: [N] whether there is any.
        replies: [N] number of the reply in its data set, from 0.
        augmented: rows made of these lines, and others.
    """

    features: Features
    sets: Rows
    groups: Rows
    context: Flags
    reference: Flags
    replies: Rows
    augmented: AugmentedRows


def encode(
    feature_set: FeatureSet, examples: Sequence[Example], augmented: Sequence[AugmentedExample]
) -> TrainingLines:
    """Return the features of examples and of augmented replies."""
    changed = [line.example for line in augmented]
    numbers = _numbers([f"{line.dataset or ''}\n{line.response.casefold().strip()}" for line in (*examples, *changed)])
    replies, of_changed = numbers[: len(examples)], numbers[len(examples) :]
    context, reference = sides_present(examples)
    return TrainingLines(
        features=feature_set.compute(examples),
        sets=_numbers([example.dataset or "" for example in examples]),
        groups=_contexts(examples),
        context=context,
        reference=reference,
        replies=replies,
        augmented=AugmentedRows(
            features=feature_set.compute(changed),
            rows=np.array([line.row for line in augmented], np.intp),
            at_most=np.array([line.at_most for line in augmented]),
            less=np.array([line.less for line in augmented]),
            weights=np.array([line.weight for line in augmented]),
            replies=np.where(np.isin(of_changed, replies), of_changed, -1),
            written_for=np.array([line.written_for for line in augmented], np.intp),
            contexts=_contexts(changed),
        ),
    )


def _contexts(examples: Sequence[Example]) -> Rows:
    """Return [N] the number of each context, from 0: lines of one conversation have the same number."""
    return sorted_clusters(examples, [("\n".join(example.order_key),) for example in examples]).numbers


def _numbers(labels: Sequence[str]) -> Rows:
    """Return [N] the number of each label, from 0."""
    return np.unique(np.array(labels, np.str_), return_inverse=True)[1].astype(np.intp)
