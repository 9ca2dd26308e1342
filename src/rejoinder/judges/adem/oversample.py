"""Over-sampling: training rows repeated so that the length of a response does not tell its score.

Lowe et al. 2017, section 5, call it sub-sampling and count words. Their released program repeats rows, counts
characters, discards the shortest and the longest responses, and crashes where a bin lacks a score.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rejoinder.errors import DataError
from rejoinder.example import Example
from rejoinder.judges.learner import Rows
from rejoinder.metrics.baselines import words
from rejoinder.scorer import FloatArray

# What the release appends to a response before it counts characters: ` </s>`.
_END = 5
# About the release's 20 characters; the last bin is open.
_WORDS_A_BIN, _LAST_WORDS = 5, 30
_CHARACTERS_A_BIN, _FIRST_KEPT, _LAST_KEPT = 20, 20, 120


class Lengths(NamedTuple):
    """How long N responses are: words [N] and characters [N]."""

    words: Rows
    characters: Rows


def response_lengths(examples: Sequence[Example]) -> Lengths:
    """How long the responses of N examples are, as over-sampling counts."""
    counts = [(len(words(example.response)), len(example.response.strip()) + _END) for example in examples]
    return Lengths(*np.array(counts, dtype=np.intp).reshape(-1, 2).T)


def oversample(ratings: FloatArray, counts: Rows) -> Rows:
    """Rows in which, among responses of like length, every score that occurs is equally frequent.

    Each row occurs at least once. Lengths are binned by 5 words, the last bin is open; ratings are rounded to scores.

    Args:
        ratings: [n] on the scale 1 to 5.
        counts: [n] words of the responses.
    """
    bins = np.clip((counts - 1) // _WORDS_A_BIN * _WORDS_A_BIN, 0, _LAST_WORDS)
    return _balanced(np.floor(ratings + 0.5), bins)  # halves go up, not to the even score


def oversample_release(ratings: FloatArray, characters: Rows) -> Rows:
    """The rows that the released program trains on: bins of 20 characters, those under 21 and over 140 discarded.

    Unlike the program, ratings are rounded to scores, and a score that a bin lacks is passed over.

    Args:
        ratings: [n].
        characters: [n] characters of the responses, the five of the program's ` </s>` included.

    Raises:
        DataError: every response is discarded.
    """
    bins = (characters - 1) // _CHARACTERS_A_BIN * _CHARACTERS_A_BIN
    kept = np.flatnonzero((bins >= _FIRST_KEPT) & (bins <= _LAST_KEPT))
    if not len(kept):
        problem = "no response has 21 to 140 characters, and the release discards all others"
        raise DataError(problem, "Over-sample by words")
    return kept[_balanced(np.rint(ratings)[kept], bins[kept])]


def _balanced(scores: FloatArray, bins: Rows) -> Rows:
    """Rows by bin, then score; the rows of each score repeated in turn up to the most frequent one of the bin."""
    rows = []
    for bin_ in np.unique(bins):
        inside = bins == bin_
        groups = [np.flatnonzero(inside & (scores == score)) for score in np.unique(scores[inside])]
        most = max(map(len, groups))
        rows += [np.resize(group, most) for group in groups]
    return np.concatenate(rows)
