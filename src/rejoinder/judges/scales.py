"""The scale that a judge answers on. It predicts ratings from 1 to 5; its answers are mapped linearly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, cast

import numpy as np
from annotated_types import Ge

from rejoinder.data.scales import Scale, in_words, required, rescaled, scales_in
from rejoinder.data.strict import require, value_in
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example
from rejoinder.judges.protocol import PREDICTED, Judge, is_judge
from rejoinder.scorer import Card, Explanation, FloatArray, Scorer, Scores


@dataclass(frozen=True)
class Rescaled:
    """A judge whose answers are mapped to another scale: the lowest and highest rating, nominally."""

    judge: Judge
    scale: Scale

    @property
    def card(self) -> Card:
        """The judge's own, but for the scale."""
        card = self.judge.card
        note = f"Answers from {in_words(self.scale)}: {in_words(self.judge.scale)}, its own scale, mapped linearly."
        inside = card.range == self.judge.scale
        return replace(card, notes=f"{note} {card.notes}", range=self.scale if inside else card.range)

    @property
    def options(self) -> Mapping[str, Any]:
        """The judge's own, and the scale."""
        return {**self.judge.options, "scale": f"{self.scale[0]:g}..{self.scale[1]:g}"}

    @property
    def trained_on(self) -> frozenset[str]:
        """The data sets that the judge was fitted on."""
        return self.judge.trained_on

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """Return the judge's scores on the other scale."""
        return on_scale(self.judge.score_batch(examples), self.judge.scale, self.scale)

    def explain(self, examples: Sequence[Example]) -> list[Explanation | None]:
        """Return the judge's explanations on the other scale, if its card has any."""
        explanations = cast("Any", self.judge).explain(examples)
        return [line and explained_on(line, self.judge.scale, self.scale) for line in explanations]


def rescale(scorers: Mapping[str, Scorer], scale: Scale) -> dict[str, Scorer]:
    """Return the scorers; those that predict ratings answer on `scale`.

    Raises:
        UsageError: none of them predicts ratings, or `scale` is none.
    """
    scale = required(scale)
    if not any(map(is_judge, scorers.values())):
        problem = f"the scale is for the ratings that judges predict, and {', '.join(scorers)} predicts none"
        raise UsageError(f"{problem}. Omit the scale")
    return {name: Rescaled(scorer, scale) if is_judge(scorer) else scorer for name, scorer in scorers.items()}


def on_scale(outcome: Scores, scale: Scale, other: Scale) -> Scores:
    """Return scores on `scale`, with their intervals if there are any, mapped to the scale `other`."""

    def mapped(values: FloatArray) -> FloatArray:
        # What lies inside the one scale lies inside the other, rounded too.
        inside = (scale[0] <= values) & (values <= scale[1])
        result = rescaled(values, scale, other)
        return np.where(inside, np.clip(result, *other), result)

    if scale == other:
        return outcome
    low, high = (None if end is None else mapped(end) for end in (outcome.low, outcome.high))
    return replace(outcome, values=mapped(outcome.values), low=low, high=high)


def explained_on(line: Explanation, scale: Scale, other: Scale) -> Explanation:
    """Return an explanation of a score on `scale` in points of the scale `other`."""
    stretch = (other[1] - other[0]) / (scale[1] - scale[0])
    moved = {group: stretch * points for group, points in line.moved.items()}
    return Explanation(rescaled(line.base, scale, other), moved)


def answer_scale(examples: Sequence[Example], scale: Scale | None) -> Scale:
    """Return the scale that a judge fitted on `examples` answers on: `scale`, else that of all ratings, else 1 to 5."""
    if scale is not None:
        return required(scale)
    scales = list(scales_in(examples))
    return scales[0] if len(scales) == 1 and scales[0] is not None else PREDICTED


def in_config(scale: Scale) -> dict[str, Any]:
    """Return the config entry for the scale of a judge; empty for the default scale."""
    return {} if scale == PREDICTED else {"scale": list(scale)}


def from_config(config: Mapping[str, Any]) -> Scale:
    """Return the scale in the config of a judge; raise `DataError` if it is invalid."""
    try:
        low, high = config.get("scale", PREDICTED)
        return required((low, high))
    except (TypeError, ValueError, UsageError) as error:
        problem = f"the scale {config['scale']!r}, expected the lowest and the highest rating"
        raise DataError(problem, "Train the judge again") from error


def training_in(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the record of a judge's training; raises `DataError` if what is read of it later is of a wrong type."""
    training: dict[str, Any] = value_in(config, "training", dict[str, Any])
    for name in ("datasets", "noted"):
        if name in training:
            require(dict[str, Annotated[float, Ge(0)]], training[name], f"training.{name}")
    return training
