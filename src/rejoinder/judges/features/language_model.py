"""Features of the likelihood of a reply: by a trigram model of dialogues, and by a causal language model of the user's.

Shapes: N examples, T tokens of all replies, W width of a model's states.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import chain
from math import inf

import numpy as np

from rejoinder.example import Example
from rejoinder.judges.features.table import WIDE, Feature, FeatureBlock, Features, feature_rows, joint_features
from rejoinder.judges.features.text import read_text
from rejoinder.llm.causal import CausalModel, Reading, as_written
from rejoinder.models.phrases import Phrases
from rejoinder.text.normalize import visible

_LEAST = 1e-9  # the lowest probability
_END_SIGNS = (".", "?", "!")  # with the end of the text, what a sentence ends in
_HISTORY = 2  # words that the model reads before the one that it predicts
_LOWEST = 3  # words that count as the least likely


def trigram_block(phrases: Phrases) -> FeatureBlock:
    """Return the features of a trigram model: logarithms to the base 2, finite for every text.

    The end of a reply counts as its last word.
    """
    fluency = [f"likely_{name}" for name in ("mean", "gain", "least", "sum", "lowest_gains", "start", "end")]
    features = (
        *joint_features("fluency", -inf, inf, *fluency),
        *joint_features("specificity", -inf, 0, "usual_words"),
        *joint_features("fluency", -inf, 0, "may_end"),
    )
    return FeatureBlock("language", features, partial(_trigram_features, phrases))


def _trigram_features(phrases: Phrases, examples: Sequence[Example]) -> Features:
    """Return [N, 9] features of the trigram model."""
    n = len(examples)
    if not n:
        return np.empty((0, 9), np.float32)
    replies = [read_text(example.response).words for example in examples]
    tokens = [*map(phrases.tokens, replies)]
    texts = [*tokens, *chain.from_iterable(_with_ends(phrases, words) for words in replies)]
    probabilities = phrases.model.probabilities(texts)
    lengths = np.array([*map(len, texts)])
    lasts = np.cumsum(lengths) - 1
    may_end = probabilities[-1][lasts[n:]].reshape(n, -1).sum(axis=1)
    lengths, ends = lengths[:n], lasts[:n]
    starts, owners = ends + 1 - lengths, np.repeat(np.arange(n), lengths)
    alone, after = np.log2(np.maximum(probabilities[:, : ends[-1] + 1], _LEAST))[[0, -1]]
    gains = after - alone
    order = np.lexsort((gains, owners))
    lowest = order[np.arange(len(order)) < (starts + _LOWEST)[owners]]
    columns = (
        np.add.reduceat(after, starts) / lengths,
        np.add.reduceat(gains, starts) / lengths,
        np.minimum.reduceat(after, starts),
        np.add.reduceat(after, starts),
        np.bincount(owners[lowest], gains[lowest], n) / np.minimum(lengths, _LOWEST),
        after[starts],
        after[ends],
        np.add.reduceat(alone, starts) / lengths,
        np.log2(np.maximum(may_end, _LEAST)),
    )
    return np.array(columns, np.float32).T


def _with_ends(phrases: Phrases, words: Sequence[str]) -> list[list[int]]:
    """Return the last words of a reply that are no signs, followed by each of what ends a sentence.

    So a full stop that is missing or was added does not change the feature; a cut does.
    """
    last = len(words)
    while last and not any(map(str.isalnum, words[last - 1])):
        last -= 1
    history = phrases.tokens(words[max(last - _HISTORY, 0) : last])[:-1]
    return [[*history, end] for end in phrases.tokens(_END_SIGNS)]


CAUSAL: tuple[Feature[Reading], ...] = (
    Feature("mean", "fluency", lambda read: float(read.after.mean()), -inf, 0),
    Feature("rest", "fluency", lambda read: float(read.after[1:].mean()), -inf, 0),
    Feature("least", "fluency", lambda read: float(read.after.min()), -inf, 0),
    Feature("sum", "fluency", lambda read: float(read.after.sum()), -inf, 0),
    Feature("end", "fluency", lambda read: float(read.after[-1]), -inf, 0),
    Feature("entropy", "specificity", lambda read: float(read.entropy.mean()), 0, inf),
    Feature("alone", "fluency", lambda read: float(read.alone.mean()), -inf, 0),
    Feature("gain", "context fit", lambda read: float((read.after - read.alone).mean()), -inf, inf),
    Feature("gain_sum", "context fit", lambda read: float((read.after - read.alone).sum()), -inf, inf),
    Feature("praised", "context fit", lambda read: float(read.following[0]), -inf, 0),
    Feature("puzzled", "context fit", lambda read: float(read.following[1]), -inf, 0),
    Feature("puzzled_more", "context fit", lambda read: float(read.following[1] - read.following[0]), -inf, inf),
)


def causal_block(name: str, model: CausalModel) -> FeatureBlock:
    """Return the features of a causal language model and its W states; NaN if a reply has no visible character."""
    states = joint_features(WIDE, -inf, inf, *(f"state_{place}" for place in range(model.width)))
    return FeatureBlock(name, (*CAUSAL, *states), partial(_causal_features, model))


def _causal_features(model: CausalModel, examples: Sequence[Example]) -> Features:
    """Return [N, 12 + W] features of a causal language model."""
    features = np.full((len(examples), len(CAUSAL) + model.width), np.nan, np.float32)
    written = [as_written(example) for example in examples]
    rows = [row for row, example in enumerate(written) if visible(example.response)]
    if rows:
        readings = model.readings([written[row] for row in rows])
        features[rows] = np.hstack([feature_rows(CAUSAL, readings), [reading.state for reading in readings]])
    return features
