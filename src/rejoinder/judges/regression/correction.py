"""What a user's ratings or preferences add to a head: one linear function of its prediction, features and raw text.

A few hundred ratings are too few for trees. Shapes: N examples, F features of the head, W numbers of its long vector,
R features of the raw text, 1 + F + R columns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log1p

import numpy as np
from numpy.typing import NDArray

from rejoinder.example import Example
from rejoinder.judges.domain import TrainingCloud
from rejoinder.judges.regression.linear import CLIP, Linear
from rejoinder.scorer import FloatArray
from rejoinder.text.normalize import visible_text

_WORD = re.compile(r"\w+")
_PATTERNS = {
    "sentences": re.compile(r"[.!?](?:\s|$)"),
    "list_marks": re.compile(r"^\s*(?:[-*•]|\d+[.)])\s", re.MULTILINE),
    "markdown": re.compile(r"^#{1,6} |\*\*|__|^\s*\|.*\||^>", re.MULTILINE),
    "code": re.compile(r"```|`[^`\n]+`|[{};]\s*$|^\s*(?:def|import|return|for|if)\b.*:$", re.MULTILINE),
}


class _Text:
    """A reply and its words, as a reader sees them, and the words of the turn before."""

    def __init__(self, example: Example) -> None:
        self.reply = visible_text(example.response)
        self.words = _WORD.findall(self.reply.lower())
        self.before = set(_WORD.findall(visible_text(example.context[-1]).lower())) if example.context else set[str]()


def _count(name: str) -> Callable[[_Text], float]:
    return lambda text: log1p(len(_PATTERNS[name].findall(text.reply)))


RAW_TEXT_FEATURES: Mapping[str, Callable[[_Text], float]] = {
    "characters": lambda text: log1p(len(text.reply)),
    "words": lambda text: log1p(len(text.words)),
    "distinct": lambda text: log1p(len(set(text.words))),
    "new_words": lambda text: log1p(len(set(text.words) - text.before)),
    "copied": lambda text: sum(word in text.before for word in text.words) / max(1, len(text.words)),
    "sentences": _count("sentences"),
    "lines": lambda text: log1p(text.reply.strip().count("\n")),
    "list_marks": _count("list_marks"),
    "markdown": _count("markdown"),
    "code": _count("code"),
    "capital_first": lambda text: float(text.reply[:1].isupper()),
    "ended": lambda text: float(text.reply.rstrip()[-1:] in {".", "!", "?", '"', "`", "}", ")"}),
}
"""What distinguishes answers of language models, and chat hardly at all; the names stand in folders."""


def raw_features(examples: Sequence[Example]) -> NDArray[np.float32]:
    """Return [N, R] features of the text as a reader sees it, finite for every text."""
    rows = [[feature(text) for feature in RAW_TEXT_FEATURES.values()] for text in map(_Text, examples)]
    return np.array(rows, np.float32).reshape(len(examples), len(RAW_TEXT_FEATURES))


def columns_of(base: FloatArray, features: NDArray[np.floating], examples: Sequence[Example]) -> FloatArray:
    """Return [N, 1 + F + R] what a correction reads: the head's predictions, its features, those of the raw text."""
    return np.column_stack([base, features, raw_features(examples)]).astype(np.float64)


@dataclass(frozen=True)
class Correction:
    """A linear correction of a head."""

    linear: Linear  # reads `columns_of`; the calibration reads its predictions
    cloud: TrainingCloud  # the user's lines over the F features

    def predict(self, base: FloatArray, features: NDArray[np.floating], examples: Sequence[Example]) -> FloatArray:
        """Return [N] corrected predictions."""
        return self.linear.predict(columns_of(base, features, examples))

    def expected(self, base: float) -> float:
        """Return the prediction before any feature has moved it, if the head then predicts `base`."""
        return float(self.linear.base + self._of_base(np.array([base]))[0])

    def contributions(
        self,
        base: FloatArray,
        expected: float,
        added: FloatArray,
        features: NDArray[np.floating],
        examples: Sequence[Example],
    ) -> FloatArray:
        """Return [N, F + 1 + W + R] what each feature adds to `self.expected(expected)`.

        The head predicts `base` [N]: `expected` and what its features `added` [N, F + 1 + W].
        """
        own = self.linear.contributions(columns_of(base, features, examples))
        of_features, of_text = own[:, 1 : 1 + features.shape[1]], own[:, 1 + features.shape[1] :]
        # What the head's prediction adds is shared among the features that moved it.
        moved = self._of_base(base) - self._of_base(np.array([expected]))
        slope = np.divide(moved, base - expected, out=np.zeros(len(base)), where=base != expected)
        shares = slope[:, None] * added
        shares[:, : features.shape[1]] += of_features
        return np.hstack([shares, of_text])

    def _of_base(self, base: FloatArray) -> FloatArray:
        """Return [N] what the head's predictions add to those at the means."""
        standard = (base - self.linear.centre[0]) / self.linear.spread[0]
        return np.asarray(np.clip(standard, -CLIP, CLIP) * self.linear.weights[0])
