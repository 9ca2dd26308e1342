"""The scale that a judge answers in. What it predicts are ratings from 1 to 5; its answers are mapped linearly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeGuard, cast

import numpy as np
from annotated_types import Ge

from rejoinder.data.scales import Scale, in_words, required, rescaled, scales_in
from rejoinder.data.strict import require, value_in
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example
from rejoinder.judges.learner import PREDICTED, Judge
from rejoinder.scorer import Card, Explanation, FloatArray, Scorer, Scores

SHORT_CHAT = "short English chat"
"""The domain of the judges that come with the package."""
FITTED_LINES = "replies like those it was fitted on"
"""The domain of a judge that a user fitted."""
UNREAD = ("facts", "sources", "safety")
"""What no judge of this package reads."""


@dataclass(frozen=True)
class Answering:
    """A judge whose answers are brought to another scale.

    Attributes:
        judge: what answers.
        scale: the lowest and highest rating of its answers, nominally.
    """

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
        return {**self.judge.options, "scale": written(self.scale)}

    @property
    def trained_on(self) -> frozenset[str]:
        """The data sets that the judge was fitted on."""
        return self.judge.trained_on

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """The judge's scores on the other scale."""
        return on_scale(self.judge.score_batch(examples), self.judge.scale, self.scale)

    def explain(self, examples: Sequence[Example]) -> list[Explanation | None]:
        """Return the judge's explanations on the other scale, if its card has any."""
        found = cast("Any", self.judge).explain(examples)
        return [None if one is None else explained_on(one, self.judge.scale, self.scale) for one in found]


def answering(scorers: Mapping[str, Scorer], scale: Scale) -> dict[str, Scorer]:
    """The scorers, those that predict ratings with their answers on `scale`; the others as they are.

    Raises:
        UsageError: none of them predicts ratings, or `scale` is none.
    """
    scale = required(scale)
    if not any(map(is_judge, scorers.values())):
        found = f"the scale is for the ratings that judges predict, and {', '.join(scorers)} predicts none"
        raise UsageError(f"{found}. Leave it out")
    return {name: Answering(one, scale) if is_judge(one) else one for name, one in scorers.items()}


def is_judge(scorer: Scorer) -> TypeGuard[Judge]:
    """Whether a scorer predicts ratings on a scale."""
    return isinstance(getattr(scorer, "scale", None), tuple)


def on_scale(outcome: Scores, scale: Scale, other: Scale) -> Scores:
    """Scores, and their intervals where there are any, that stand on `scale`, brought to the scale `other`."""
    if scale == other:
        return outcome
    low, high = (None if end is None else _brought(end, scale, other) for end in (outcome.low, outcome.high))
    return replace(outcome, values=_brought(outcome.values, scale, other), low=low, high=high)


def _brought(values: FloatArray, scale: Scale, other: Scale) -> FloatArray:
    """Return [N] numbers on `scale` brought to `other`: what lies inside the one lies inside the other, rounded too."""
    found = rescaled(values, scale, other)
    inside = (scale[0] <= values) & (values <= scale[1])
    return np.where(inside, np.clip(found, *other), found)


def explained_on(one: Explanation, scale: Scale, other: Scale) -> Explanation:
    """What moved a score that stands on `scale`, in points of the scale `other`."""
    stretch = (other[1] - other[0]) / (scale[1] - scale[0])
    return Explanation(rescaled(one.base, scale, other), {group: stretch * moved for group, moved in one.moved.items()})


def answer_scale(examples: Sequence[Example], asked: Scale | None) -> Scale:
    """The scale that a judge fitted on `examples` answers in: `asked`, else that of all the ratings, else 1 to 5."""
    if asked is not None:
        return required(asked)
    scales = list(scales_in(examples))
    return scales[0] if len(scales) == 1 and scales[0] is not None else PREDICTED


def in_config(scale: Scale) -> dict[str, Any]:
    """What a judge's folder says of its scale; nothing of the usual one."""
    return {} if scale == PREDICTED else {"scale": list(scale)}


def from_config(config: Mapping[str, Any]) -> Scale:
    """The scale that a judge's folder names.

    Raises:
        DataError: what stands there is none.
    """
    try:
        low, high = config.get("scale", PREDICTED)
        return required((low, high))
    except (TypeError, ValueError, UsageError) as error:
        problem = f"the scale {config['scale']!r}, expected the lowest and the highest rating"
        raise DataError(problem, "Train the judge again") from error


def training_in(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The record of a judge's training: anything, where what it is asked for later is of its kind."""
    found: dict[str, Any] = value_in(config, "training", dict[str, Any])
    for name in ("datasets", "noted"):
        if name in found:
            require(dict[str, Annotated[float, Ge(0)]], found[name], f"training.{name}")
    return found


def written(scale: Scale) -> str:
    """A scale in a signature."""
    return f"{scale[0]:g}..{scale[1]:g}"
