"""Rated lines encoded once, for however many judges are fitted on them.

Shapes: N rated lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rejoinder.data.clusters import Clusters, NumberedTies
from rejoinder.data.read import examples_of
from rejoinder.data.scales import Scale, Span, likely, require_alike, require_inside, rescaled, spans_of, with_scale
from rejoinder.errors import DataError
from rejoinder.example import OVERALL, Example, Given
from rejoinder.judges.learner import PREDICTED, AnyLearner, Encoded, Learner, Rows, members_of
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
    """N rated lines, encoded.

    Attributes:
        learner: what encoded them and is fitted on them.
        examples: [N] the lines.
        places: [N] where they stand among the examples that were given.
        lost: how many of those nothing can be learnt from, by reason (see `unlearnable`).
        ties: what ties each line to others of its conversation.
        ratings: [N] on the scale 1 to 5.
        encoded: what the learner reads.
        given: [N] by side: whether the line has any text there.
        unusable: by the name of each member of the learner: [N] why it cannot learn from a line, "" where it can.
    """

    learner: AnyLearner
    examples: Sequence[Example]
    places: Rows
    lost: Counter[str]
    ties: NumberedTies
    ratings: FloatArray
    encoded: Encoded
    given: Mapping[str, NDArray[np.bool_]]
    unusable: Mapping[str, Sequence[str]]

    @property
    def contexts(self) -> Rows:
        """[N] number of the context."""
        return self.ties.contexts

    def clusters(self, rows: Rows) -> Clusters:
        """The clusters of some rows: conversations, which no split divides."""
        return self.ties.at(rows).clusters()

    @cached_property
    def sets(self) -> Mapping[str, Rows]:
        """Ascending rows of each data set, in order of appearance."""
        names = [example.dataset or "" for example in self.examples]
        return {name: np.flatnonzero([other == name for other in names]) for name in dict.fromkeys(names)}

    @cached_property
    def usable(self) -> Mapping[str, Rows]:
        """By the name of each member of the learner: the ascending rows that it can learn from."""
        return {name: np.flatnonzero([not why for why in reasons]) for name, reasons in self.unusable.items()}

    def readable(self, learner: Learner) -> NDArray[np.bool_]:
        """[N] whether the sides that a learner needs are there."""
        found: NDArray[np.bool_] = np.ones(len(self.examples), dtype=bool)
        for side in learner.needs:
            found &= self.given[side]
        return found

    def left_out(self, learner: Learner) -> Counter[str]:
        """How many of the examples that were given a learner cannot be fitted on, by reason."""
        reasons = Counter(self.lost)
        rest = np.ones(len(self.examples), dtype=bool)
        for side in learner.needs:
            reasons[f"no {side}"] = int((rest & ~self.given[side]).sum())
            rest &= self.given[side]
        why = self.unusable[learner.name]
        reasons.update(why[row] for row in np.flatnonzero(rest).tolist() if why[row])
        return +reasons


def encode_rated(examples: Given, learner: AnyLearner, scale: Scale | None = None) -> RatedLines:
    """The lines of `examples` of which the reply was rated, ready for a learner; `scale` is that of lines without one.

    Raises:
        DataError: a rated line has no scale, or a rating outside of it; or the learner cannot read them.
    """
    examples = list(with_scale(examples_of(examples), scale))
    why = list(map(unlearnable, examples))
    places = [place for place, reason in enumerate(why) if not reason]
    rated = [examples[place] for place in places]
    ratings = normalised_ratings(rated)  # before the encoding, which takes long: it refuses what has no scale
    encoded = learner.encode(rated)
    sides = {"context": [one.context for one in rated], "reference": [one.references for one in rated]}
    return RatedLines(
        learner=learner,
        examples=rated,
        places=np.array(places, dtype=np.intp),
        lost=Counter(filter(None, why)),
        ties=NumberedTies.of(rated),
        ratings=ratings,
        encoded=encoded,
        given={side: np.array([any(map(visible, one)) for one in texts], bool) for side, texts in sides.items()},
        unusable={member.name: member.unusable(encoded) for member in members_of(learner)},
    )


def unlearnable(example: Example) -> str:
    """Why no judge can learn from a line what a reply is worth, or "" where one can."""
    if example.rating() is None:
        return NOT_RATED
    return OF_DIALOGUE if example.is_dialogue else ""


def normalised_ratings(examples: Sequence[Example]) -> FloatArray:
    """[N] mean overall ratings mapped linearly from each example's scale to [1, 5].

    Raises:
        DataError: an example is not rated, or its scale is not known.
    """
    mapped = []
    for example in examples:
        rating, scale = example.rating(), example.scale()
        if rating is None:
            raise DataError("not rated", 'Give "quality" and "scale": [1, 5]', where=example.where)
        if scale is None:
            raise _no_scale(examples, example)
        require_inside(rating, scale, OVERALL, example.where, "quality")
        mapped.append(rescaled(rating, scale, PREDICTED))
    return np.array(mapped, dtype=np.float64)


def _no_scale(examples: Sequence[Example], first: Example) -> DataError:
    """The error for rated lines of which some, the first of them `first`, state no scale.

    Raises:
        DataError: they look as if they were on several.
    """
    require_alike(examples)
    spans = spans_of(example for example in examples if example.scale() is None)
    problem = f"rated, but without a scale; the ratings that have none are {_listed(spans)}"
    remedy = f'Say what the lowest and the highest can be: --scale {likely(spans)}, or "scale": [1, 5] on each line'
    return DataError(problem, remedy, where=first.where, field="scale")


def _listed(spans: Sequence[Span]) -> str:
    """The first of some spans."""
    return ", ".join(map(str, spans[:3])) + (", ..." if len(spans) > 3 else "")
