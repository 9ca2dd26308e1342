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

from rejoinder.example import Example
from rejoinder.judges.features.reading import Words, words_of
from rejoinder.judges.features.table import Features, Group
from rejoinder.judges.features.view import Column, groups_of, names_of, table
from rejoinder.judges.protocol import Side
from rejoinder.models.phrases import Phrases

_LEAST = 1e-9  # no word is less likely
_ENDS = (".", "?", "!")  # with nothing at all, what a sentence ends in
_BEFORE = 2  # words that the model reads before the one it tells
_LOWEST = 3  # words that count as the least likely


@dataclass(frozen=True)
class Likelihood:
    """How likely the words of a reply are, one of them at least.

    Attributes:
        after: the logarithm for each word after the two before it.
        alone: the logarithm for each word by itself.
        may_end: the logarithm for a sentence to be over after the last word that is no sign.
    """

    after: Sequence[float]
    alone: Sequence[float]
    may_end: float

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
    Column("may_end", "fluency", lambda read: read.may_end),
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
    columns: tuple[str, ...] = names_of(COLUMNS)
    groups: tuple[Group, ...] = groups_of(COLUMNS)

    @property
    def options(self) -> Mapping[str, Any]:
        """The digest of the model, and the version of the columns."""
        return {"phrases": self.phrases.parts.digest, "version": 2}

    def compute(self, examples: Sequence[Example]) -> Features:
        """[N, F] the features, finite for every text."""
        if not examples:
            return table(COLUMNS, ())
        replies = [words_of(example.response) for example in examples]
        ends = [after for words in replies for after in self._ended(words)]
        texts = [*map(self.phrases.tokens, replies), *ends]
        places = np.cumsum([len(text) for text in texts[:-1]])
        alone, *_, after = (np.split(row, places) for row in self.phrases.model.probabilities(texts))
        reads = zip(after[: len(replies)], alone, _sums(after[len(replies) :]), strict=False)
        return table(COLUMNS, (Likelihood(_logs(one), _logs(other), _log(ends)) for one, other, ends in reads))

    def _ended(self, words: Words) -> list[list[int]]:
        """The last words that are no signs, with each of what ends a sentence after them.

        So neither a full stop that was left out nor one that was put there changes what comes of it; a cut does.
        """
        last = len(words)
        while last and not any(map(str.isalnum, words[last - 1])):
            last -= 1
        end = self.phrases.tokens(())
        said, signs = self.phrases.tokens(words[max(last - _BEFORE, 0) : last])[:-1], self.phrases.tokens(_ENDS)[:-1]
        return [[*said, sign] for sign in signs] + [[*said, *end]]


def _sums(found: Sequence[NDArray[np.float64]]) -> list[float]:
    """For each text, the probabilities of what may end it, added up."""
    last, each = [one.tolist()[-1] for one in found], len(_ENDS) + 1
    return [fsum(last[start : start + each]) for start in range(0, len(last), each)]


def _logs(found: NDArray[np.float64]) -> list[float]:
    """The logarithm of each probability, taken one by one: of arrays the last bit may depend on the others."""
    return list(map(_log, found.tolist()))


def _log(probability: float) -> float:
    """The logarithm of a probability."""
    return log2(max(probability, _LEAST))
