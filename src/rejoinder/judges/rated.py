"""Rated lines on one scale, encoded once for however many judges are fitted on them. Shapes: N rated lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rejoinder.data.clusters import NumberedTies, clusters_of
from rejoinder.data.read import examples_of
from rejoinder.data.scales import Scale, likely, require_alike, require_inside, rescaled, spans_of, with_scale
from rejoinder.errors import DataError
from rejoinder.example import OVERALL, Example, Given, Pair
from rejoinder.judges.protocol import PREDICTED, AnyLearner, Encoded, Learner, Rows, members_of
from rejoinder.scorer import FloatArray
from rejoinder.text.normalize import visible

NOT_RATED, OF_DIALOGUE = "not rated", "a rating of a whole dialogue"
UNREAD = "neither context nor reference"
MAPPED = (
    "Say which column holds what was said before (--map context=NAME) or a good reply (--map references=NAME); "
    "where none does, a judge has nothing to hold replies against"
)


@dataclass(frozen=True)
class RatedLines:
    """N rated lines, encoded for a learner."""

    learner: AnyLearner
    examples: Sequence[Example]  # [N]
    places: Rows  # [N] their places among all examples
    unlearnable: Counter[str]  # how many of the other examples nothing can be learnt from, by reason
    ties: NumberedTies  # what connects each line to others of its conversation
    ratings: FloatArray  # [N] on the scale 1 to 5
    encoded: Encoded
    has: Mapping[str, NDArray[np.bool_]]  # [N] by side, whether the line has any text there
    unreadable: Mapping[str, Sequence[str]]
    """By the name of each member of the learner, [N] why it cannot learn from a line, "" where it can."""

    def conversations(self, rows: Rows) -> Rows:
        """Return the number of the conversation of each of some rows, which no split divides."""
        return self.ties.at(rows).clusters().numbers

    @cached_property
    def sets(self) -> Mapping[str, Rows]:
        """Ascending rows of each data set, in order of appearance."""
        names = [example.dataset or "" for example in self.examples]
        return {name: np.flatnonzero([other == name for other in names]) for name in dict.fromkeys(names)}

    @cached_property
    def usable(self) -> Mapping[str, Rows]:
        """By the name of each member of the learner, the ascending rows that it can learn from."""
        return {name: np.flatnonzero([not why for why in reasons]) for name, reasons in self.unreadable.items()}

    def complete(self, learner: Learner) -> NDArray[np.bool_]:
        """Return [N] whether a line has all sides that a learner needs."""
        complete: NDArray[np.bool_] = np.ones(len(self.examples), dtype=bool)
        for side in learner.needs:
            complete &= self.has[side]
        return complete

    def dropped(self, learner: Learner) -> Counter[str]:
        """Return how many of all examples a learner cannot be fitted on, by reason."""
        reasons, rest = Counter(self.unlearnable), np.ones(len(self.examples), dtype=bool)
        for side in learner.needs:
            reasons[f"no {side}"] = int((rest & ~self.has[side]).sum())
            rest &= self.has[side]
        why = self.unreadable[learner.name]
        reasons.update(why[row] for row in np.flatnonzero(rest).tolist() if why[row])
        return +reasons


def rated_lines(examples: Given, learner: AnyLearner, scale: Scale | None = None) -> RatedLines:
    """Return the lines whose reply was rated, ready for a learner; `scale` is that of lines without one.

    Raises:
        DataError: a rated line has no scale, or a rating outside of it; or the learner cannot read them.
    """
    examples = list(with_scale(examples_of(examples), scale))
    why = list(map(why_unlearnable, examples))
    places = [place for place, reason in enumerate(why) if not reason]
    rated = [examples[place] for place in places]
    ratings = normalised_ratings(rated)  # before the encoding, which takes long: it refuses what has no scale
    encoded = learner.encode(rated)
    texts = {"context": [line.context for line in rated], "reference": [line.references for line in rated]}
    return RatedLines(
        learner=learner,
        examples=rated,
        places=np.array(places, dtype=np.intp),
        unlearnable=Counter(filter(None, why)),
        ties=NumberedTies.of(rated),
        ratings=ratings,
        encoded=encoded,
        has={side: np.array([any(map(visible, line)) for line in lines], bool) for side, lines in texts.items()},
        unreadable={member.name: member.unreadable(encoded) for member in members_of(learner)},
    )


def why_unlearnable(example: Example) -> str:
    """Return why no judge can learn from a line how good a reply is, or "" where one can."""
    if example.rating() is None:
        return NOT_RATED
    return OF_DIALOGUE if example.is_dialogue else ""


def conversations(items: Sequence[Example | Pair]) -> Rows:
    """Return [N] the number of each item's conversation, in order of appearance (see `data.clusters`)."""
    return clusters_of(items).numbers


def normalised_ratings(examples: Sequence[Example]) -> FloatArray:
    """Return [N] mean overall ratings mapped linearly from each example's scale to [1, 5].

    Raises:
        DataError: an example is not rated, its scale is not known, or its rating is outside of it.
    """
    mapped = []
    for example in examples:
        rating, scale = example.rating(), example.scale()
        if rating is None:
            raise DataError("not rated", 'Give "quality" and "scale": [1, 5]', where=example.where)
        if scale is None:
            require_alike(examples)
            spans = spans_of(line for line in examples if line.scale() is None)
            listed = ", ".join(map(str, spans[:3])) + (", ..." if len(spans) > 3 else "")
            problem = f"rated, but without a scale; the ratings that have none are {listed}"
            limits = f"Say what the lowest and the highest can be: --scale {likely(spans)}"
            remedy = f'{limits}, or "scale": [1, 5] on each line'
            raise DataError(problem, remedy, where=example.where, field="scale")
        require_inside(rating, scale, OVERALL, example.where, "quality")
        mapped.append(rescaled(rating, scale, PREDICTED))
    return np.array(mapped, dtype=np.float64)
