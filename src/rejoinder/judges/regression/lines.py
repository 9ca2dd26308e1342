"""Rated lines as the judge over views reads them: a matrix of features, and rows that a defence adds.

Shapes: N lines, F features, M added rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rejoinder.data.clusters import sorted_clusters
from rejoinder.example import Example
from rejoinder.judges.features.table import Features, FeatureSet
from rejoinder.judges.learner import Rows
from rejoinder.scorer import FloatArray
from rejoinder.text.normalize import visible

NO_LINE = -1
"""The line of a reply that was made of none: people wrote it to fit a context of its own, or not to fit."""
OTHER, FITTING, MISLEADING, RANDOM = range(4)
"""What people wrote a reply for: to fit its context, to look as if it did, to fit another; or no such thing."""


class Spoilt(NamedTuple):
    """A reply that somebody made worse, or changed without making it worse; or that stands by itself.

    Attributes:
        example: with that reply.
        row: the line that it was made of, or `NO_LINE`.
        at_most: what it deserves at most (made of no line: what it deserves), in standard deviations of its data set.
        less: how much less it deserves than the line it was made of.
        weight: what it counts, beside the 1 of a rated line of a data set of usual size.
        kind: `FITTING`, `MISLEADING`, `RANDOM`, or `OTHER`.
    """

    example: Example
    row: int
    at_most: float = np.inf
    less: float = 0.0
    weight: float = 0.03
    kind: int = OTHER

    @property
    def harmless(self) -> bool:
        """Whether it deserves what the line deserves that it was made of."""
        return self.row != NO_LINE and self.at_most == np.inf and not self.less


class Added(NamedTuple):
    """Rows that a defence adds.

    Attributes:
        features: [M, F].
        rows: [M] the line that each was made of, or `NO_LINE`.
        at_most: [M] see `Spoilt`.
        less: [M] see `Spoilt`.
        weights: [M] see `Spoilt`.
        replies: [M] the number of the reply where a line of the same data set has it too (see `ViewLines`), else -1.
        kinds: [M] see `Spoilt`.
        contexts: [M] numbers of their contexts.
    """

    features: Features
    rows: Rows
    at_most: FloatArray
    less: FloatArray
    weights: FloatArray
    replies: Rows
    kinds: NDArray[np.intp]
    contexts: NDArray[np.intp]

    def of_lines(self, rows: Rows, replies: Rows) -> Added:
        """Those made of no line, or of some of N; a reply taken from another line only where one of these has it.

        So what is fitted on some lines sees nothing of the others.

        Args:
            rows: these lines, ascending.
            replies: [N] the number of every line's reply.
        """
        own = (self.replies < 0) | np.isin(self.replies, replies[rows])
        kept = (self.rows == NO_LINE) | np.isin(self.rows, rows) & own
        return Added._make(column[kept] for column in self)

    def numbered(self, rows: Rows) -> Added:
        """The same, with the places of lines among some of them, ascending, for the numbers of the lines."""
        places = np.where(self.rows == NO_LINE, NO_LINE, np.searchsorted(rows, self.rows))
        return self._replace(rows=places.astype(np.intp))

    def deserved(self, targets: FloatArray) -> FloatArray:
        """[M] what each deserves, where the lines deserve [N] targets."""
        before = np.where(self.rows == NO_LINE, np.inf, targets[self.rows])
        return np.minimum(before - self.less, self.at_most)


@dataclass(frozen=True)
class ViewLines:
    """N rated lines.

    Attributes:
        features: [N, F].
        sets: [N] number of the data set, from 0.
        groups: [N] number of the context, from 0.
        context: [N] whether there is any.
        reference: [N] whether there is any.
        replies: [N] number of the reply in its data set, from 0.
        added: rows of replies that were spoilt.
    """

    features: Features
    sets: NDArray[np.intp]
    groups: NDArray[np.intp]
    context: NDArray[np.bool_]
    reference: NDArray[np.bool_]
    replies: Rows
    added: Added


def encode(views: FeatureSet, examples: Sequence[Example], spoilt: Sequence[Spoilt]) -> ViewLines:
    """The features of examples and of what was made of them."""
    replies = _numbers(list(map(_reply, (*examples, *(one.example for one in spoilt)))))
    known, made = replies[: len(examples)], replies[len(examples) :]
    return ViewLines(
        features=views.compute(examples),
        sets=_numbers([example.dataset or "" for example in examples]),
        groups=_contexts(examples),
        context=np.array([any(map(visible, example.context)) for example in examples], np.bool_),
        reference=np.array([any(map(visible, example.references)) for example in examples], np.bool_),
        replies=known,
        added=Added(
            views.compute([one.example for one in spoilt]),
            np.array([one.row for one in spoilt], np.intp),
            np.array([one.at_most for one in spoilt]),
            np.array([one.less for one in spoilt]),
            np.array([one.weight for one in spoilt]),
            np.where(np.isin(made, known), made, -1),
            np.array([one.kind for one in spoilt], np.intp),
            _contexts([one.example for one in spoilt]),
        ),
    )


def _contexts(examples: Sequence[Example]) -> NDArray[np.intp]:
    """[N] the number of each context, from 0: lines of one conversation have one number."""
    return sorted_clusters(examples, [("\n".join(example.order_key),) for example in examples]).numbers


def _reply(example: Example) -> str:
    """What tells a reply from the others of its data set."""
    return f"{example.dataset or ''}\n{example.response.casefold().strip()}"


def _numbers(labels: Sequence[str]) -> NDArray[np.intp]:
    """[N] the number of each label, from 0."""
    return np.unique(np.array(labels, np.str_), return_inverse=True)[1].astype(np.intp)
