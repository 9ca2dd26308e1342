"""The view `language`: how likely the words of a reply are after each other, and beside how usual they are.

Columns are means and extremes of logarithms to the base 2, the end of the reply being the last word of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rejoinder.judges.views.reading import words_of
from rejoinder.judges.views.view import Column, Features, Group, table
from rejoinder.learner import Side
from rejoinder.records import Example
from rejoinder.training.phrases import Phrases

_LEAST = 1e-9  # no word is less likely
_LOWEST = 3  # words that count as the least likely


@dataclass(frozen=True)
class Likelihood:
    """How likely the words of a reply are, one of them at least.

    Attributes:
        after: the logarithm for each word after the two before it.
        alone: the logarithm for each word by itself.
    """

    after: Sequence[float]
    alone: Sequence[float]

    @cached_property
    def gains(self) -> list[float]:
        """How much more likely each word is for the two before it."""
        return [after - alone for after, alone in zip(self.after, self.alone, strict=True)]


def _mean(values: Sequence[float]) -> float:
    """The mean, of one value or more."""
    return fsum(values) / len(values)


COLUMNS: tuple[Column[Likelihood], ...] = (
    Column("likely_mean", "fluency", lambda read: _mean(read.after)),
    Column("likely_gain", "fluency", lambda read: _mean(read.gains)),
    Column("likely_least", "fluency", lambda read: min(read.after)),
    Column("likely_sum", "fluency", lambda read: fsum(read.after)),
    Column("likely_lowest_gains", "fluency", lambda read: _mean(sorted(read.gains)[:_LOWEST])),
    Column("likely_start", "fluency", lambda read: read.after[0]),
    Column("likely_end", "fluency", lambda read: read.after[-1]),
    Column("usual_words", "specificity", lambda read: _mean(read.alone)),
)


@dataclass(frozen=True)
class LanguageView:
    """How likely the words of a reply are, by a trigram model of dialogues.

    Attributes:
        phrases: holds the model.
    """

    phrases: Phrases
    name: str = "language"
    needs: tuple[Side, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """[F] the names of its features."""
        return tuple(column.name for column in COLUMNS)

    @property
    def groups(self) -> tuple[Group, ...]:
        """[F] what each feature tells."""
        return tuple(column.group for column in COLUMNS)

    @property
    def options(self) -> Mapping[str, Any]:
        """The digest of the model, and the version of the columns."""
        return {"phrases": self.phrases.parts.digest, "version": 1}

    def features(self, examples: Sequence[Example]) -> Features:
        """[N, F] the features, finite for every text."""
        replies = [self.phrases.tokens(words_of(example.response)) for example in examples]
        alone, *_, after = self.phrases.model.by_order(replies)
        return table(COLUMNS, (Likelihood(_logs(one), _logs(other)) for one, other in zip(after, alone, strict=True)))


def _logs(found: NDArray[np.float64]) -> list[float]:
    """The logarithm of each probability, taken one by one: of arrays the last bit may depend on the others."""
    return [log2(max(one, _LEAST)) for one in found.tolist()]
