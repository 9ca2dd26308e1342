"""Features of how near a reply comes to its references, by words, characters, topics and length.

Each measure is there twice, of the nearest reference and as the mean over all. Shapes: N examples, M references.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import fsum, inf

import numpy as np
from numpy.typing import NDArray

from rejoinder.example import Example
from rejoinder.judges.features.table import FeatureBlock, Features, joint_features
from rejoinder.judges.features.text import SUBSEQUENCE_WORDS, read_text
from rejoinder.metrics import counting
from rejoinder.models.phrases import Phrases
from rejoinder.scorer import FloatArray

_MEASURES = ("words", "pairs", "in_order", "characters", "topics", "length")
_MOST = 10  # higher counts of references are clipped to this
_RUN = 4  # the longest runs of characters; the shortest are of two


def reference_block(phrases: Phrases) -> FeatureBlock:
    """Return features that are NaN without a reference, apart from the number of references."""
    shares = [f"{measure}_{how}" for measure in _MEASURES[:-1] for how in ("best", "mean")]
    features = (
        *joint_features("reference fit", 0, 1, *shares),
        *joint_features("reference fit", -inf, 0, "length_best", "length_mean"),
        *joint_features("other", 0, _MOST, "references"),
    )
    return FeatureBlock("reference", features, partial(_reference_features, phrases), needs_reference=True)


def _reference_features(phrases: Phrases, examples: Sequence[Example]) -> Features:
    """Return [N, 13] features; blank references do not count."""
    features = np.full((len(examples), 2 * len(_MEASURES) + 1), np.nan, np.float32)
    features[:, -1] = 0
    rows = [row for row, example in enumerate(examples) if any(map(str.strip, example.references))]
    if rows:
        batch = counting.TextBatch.of([examples[row] for row in rows])
        measures = np.concatenate([_measures(phrases, part) for part in batch.parts()])
        counts = np.bincount(batch.owners)
        starts = np.cumsum(counts) - counts
        features[rows, :-1:2] = np.maximum.reduceat(measures, starts)
        features[rows, 1:-1:2] = np.add.reduceat(measures, starts) / counts[:, None]
        features[rows, -1] = np.minimum(counts, _MOST)
    return features


def _measures(phrases: Phrases, batch: counting.TextBatch) -> FloatArray:
    """Return [M, 6] measures that compare each reference with its reply."""
    texts, owners, n = [*map(read_text, batch.texts)], batch.owners, batch.size
    pairs = list(zip(owners.tolist(), range(n, len(texts)), strict=True))
    words = counting.number_tokens([text.words for text in texts])
    letters = counting.number_characters(["".join(text.words) for text in texts])
    shared = counting.shared_subsequences(
        *([texts[place].words[:SUBSEQUENCE_WORDS] for place in side] for side in zip(*pairs, strict=True))
    )
    topics = np.array([_weight(phrases, text.topics) for text in texts])
    shared_topics = np.array([_weight(phrases, texts[reply].topics & texts[other].topics) for reply, other in pairs])
    sizes = np.log(words.lengths + 1)
    return np.column_stack(
        [
            _f1(counting.shared_ngrams(words, owners, 2), counting.ngram_totals(words.lengths, 2), owners),
            _f1(shared, words.lengths, owners),
            _f1(counting.shared_ngrams(letters, owners, _RUN), counting.ngram_totals(letters.lengths, _RUN), owners)[
                :, 1:
            ].mean(axis=1),
            _f1(shared_topics, topics, owners),
            -np.abs(sizes[owners] - sizes[n:]),
        ]
    )


def _weight(phrases: Phrases, words: frozenset[str]) -> float:
    """Return the sum of the idf of some words."""
    return fsum(phrases.rarity.get(word, phrases.rarest) for word in words)


def _f1(shared: NDArray[np.number], totals: NDArray[np.number], owners: NDArray[np.int64]) -> FloatArray:
    """Return the F1 [M, ...] of what references and replies share, of `totals` of both; 0 where they share nothing."""
    whole = totals[owners] + totals[len(totals) - len(owners) :]
    f1: FloatArray = np.divide(2.0 * shared, whole, out=np.zeros(shared.shape), where=shared != 0)
    return f1
