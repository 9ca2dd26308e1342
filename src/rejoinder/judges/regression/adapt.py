"""What a judge over views learnt of one user's ratings or choices, on top of its head.

A few hundred ratings are too few for trees. So the head stays as it is, and its prediction becomes one feature among
those that it reads and some of the raw text, under one linear correction. Shapes: N examples, F features of the head,
R of the raw text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, log1p

import numpy as np
from numpy.typing import NDArray

from rejoinder.data.folders import AGAIN, Parts
from rejoinder.errors import DataError
from rejoinder.example import Example
from rejoinder.judges.features.table import Feature, Features, feature_rows
from rejoinder.judges.regression.head import Head
from rejoinder.judges.regression.likeness import Likeness
from rejoinder.judges.regression.linear import FARTHEST, Linear
from rejoinder.models.weights import tensor
from rejoinder.scorer import FloatArray
from rejoinder.text.normalize import visible_text

_LIST_MARK = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s", re.MULTILINE)
_MARKDOWN = re.compile(r"^#{1,6} |\*\*|__|^\s*\|.*\||^>", re.MULTILINE)
_CODE = re.compile(r"```|`[^`\n]+`|[{};]\s*$|^\s*(?:def|import|return|for|if)\b.*:$", re.MULTILINE)
_SENTENCE = re.compile(r"[.!?](?:\s|$)")
_WORD = re.compile(r"\w+")


class _Text:
    """A reply and what it answers, as a reader sees them, with their words."""

    def __init__(self, example: Example) -> None:
        self.reply = visible_text(example.response)
        self.words = _WORD.findall(self.reply.lower())
        self.asked = set(_WORD.findall(visible_text(example.context[-1]).lower())) if example.context else set[str]()


def _raw(name: str, of: Callable[[_Text], float]) -> Feature[_Text]:
    return Feature(name, "form", of, 0.0, inf)


def _found(pattern: re.Pattern[str]) -> Callable[[_Text], float]:
    """How often a pattern stands in the reply, each time counting less than the one before."""
    return lambda text: log1p(len(pattern.findall(text.reply)))


RAW: tuple[Feature[_Text], ...] = (
    _raw("characters", lambda text: log1p(len(text.reply))),
    _raw("words", lambda text: log1p(len(text.words))),
    _raw("distinct", lambda text: log1p(len(set(text.words)))),
    _raw("new_words", lambda text: log1p(len(set(text.words) - text.asked))),
    _raw("copied", lambda text: sum(word in text.asked for word in text.words) / max(1, len(text.words))),
    _raw("sentences", _found(_SENTENCE)),
    _raw("lines", lambda text: log1p(text.reply.strip().count("\n"))),
    _raw("list_marks", _found(_LIST_MARK)),
    _raw("markdown", _found(_MARKDOWN)),
    _raw("code", _found(_CODE)),
    _raw("capital_first", lambda text: float(text.reply[:1].isupper())),
    _raw("ended", lambda text: float(text.reply.rstrip()[-1:] in {".", "!", "?", '"', "`", "}", ")"})),
)
"""What chat is judged by without, and answers of language models are not."""


def raw_features(examples: Sequence[Example]) -> Features:
    """[N, R] features of the text as a reader sees it, finite for every text."""
    return feature_rows(RAW, map(_Text, examples))


def table_of(base: FloatArray, features: NDArray[np.floating], raw: NDArray[np.floating]) -> FloatArray:
    """[N, 1 + F + R] what an adaptation reads: the head's predictions, its features, those of the raw text."""
    return np.column_stack([base, features, raw]).astype(np.float64)


@dataclass(frozen=True)
class Adaptation:
    """A correction of a head, and what the lines were like that it was fitted on.

    Attributes:
        linear: reads a `table_of` 1 + F + R columns; what it predicts stands on the scale that the calibration reads.
        likeness: the user's lines as one cloud over the F features.
    """

    linear: Linear
    likeness: Likeness

    def predict(self, base: FloatArray, features: NDArray[np.floating], examples: Sequence[Example]) -> FloatArray:
        """[N] predictions, each the same to the last bit whatever stands beside it."""
        return self.linear.predict(table_of(base, features, raw_features(examples)))

    def expected(self, base: float) -> float:
        """The prediction before any feature has moved it, of a head that predicts `base` then."""
        return float(self.linear.base + self._of_base(np.array([base]))[0])

    def moved(self, head: Head, features: NDArray[np.floating], examples: Sequence[Example]) -> FloatArray:
        """[N, F + 1 + W + R] what each feature, those of the raw text last, adds to `expected`."""
        base, shares = head.predict(features), head.moved(features)
        own = self.linear.moved(table_of(base, features[:, : head.plain], raw_features(examples)))
        own = np.insert(own, [1 + head.plain] * (features.shape[1] - head.plain), 0.0, axis=1)
        away = base - head.expected
        added = self._of_base(base) - self._of_base(np.array([head.expected]))
        # What the head's prediction adds is shared out as its features moved that.
        slope = np.divide(added, away, out=np.zeros(len(base)), where=away != 0)
        own[:, 1 : 1 + shares.shape[1]] += slope[:, None] * shares
        return own[:, 1:]

    def _of_base(self, base: FloatArray) -> FloatArray:
        """[N] what the head's predictions add to those at the means."""
        standard = np.clip((base - self.linear.centre[0]) / self.linear.spread[0], -FARTHEST, FARTHEST)
        return np.asarray(standard * self.linear.weights[0])

    @property
    def parts(self) -> Parts:
        """For the judge's folder."""
        linear, cloud = self.linear, self.likeness
        tensors = {
            **{name: getattr(linear, name) for name in ("centre", "spread", "weights")},
            **{f"likeness.{name}": getattr(cloud, name) for name in ("centre", "spread")},
            "numbers": np.array([linear.base, cloud.bound]),
        }
        return Parts({"raw": [column.name for column in RAW]}, tensors)


def from_parts(parts: Parts, width: int) -> Adaptation:
    """The adaptation of a head over F = `width` features, as a folder holds it.

    Raises:
        DataError: it was made with other features of the raw text, or a number in it is none that it can have.
    """
    if parts.config.get("raw") != [column.name for column in RAW]:
        raise DataError("it was fitted with other features of the text than this version has", "Fit it again")
    given, wide = parts.tensors, 1 + width + len(RAW)
    base, bound = tensor(given, "numbers", (2,)).tolist()
    own = {name: tensor(given, name, (wide,)) for name in ("centre", "spread", "weights")}
    cloud = {name: tensor(given, f"likeness.{name}", (width,)) for name in ("centre", "spread")}
    if not all((found > 0).all() for found in (own["spread"], cloud["spread"])):
        raise DataError("a spread of the adaptation is not over 0", AGAIN)
    return Adaptation(Linear(**own, base=base), Likeness(**cloud, bound=bound))
