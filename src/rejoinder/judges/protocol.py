"""What judges and their learners are: a new kind of judge is a module that follows these and an entry of `LEARNERS`.

A `Learner` encodes rated examples once, is then fitted on some of them as often as needed, and what it has fitted
predicts the rating of any of them. `Differentiable` scorers show their vectors to attacks. Shapes: N examples, n of
them, D width of a raw vector, K of a projected one, P other responses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, TypeGuard, cast

import numpy as np
from numpy.typing import NDArray

from rejoinder.errors import UsageError
from rejoinder.example import Example
from rejoinder.scorer import Advance, Encoder, FloatArray, Scorer

Rows = NDArray[np.intp]
Side = Literal["context", "reference"]
Encoded = Any
"""What a learner makes of examples before it is fitted; only that learner looks inside."""
PREDICTED = (1.0, 5.0)
"""The scale that every learner is fitted to: ratings on other scales are mapped to it first."""


class Judge(Scorer, Protocol):
    """A scorer that predicts ratings."""

    @property
    def scale(self) -> tuple[float, float]:
        """The lowest and highest rating that it predicts, nominally."""

    @property
    def trained_on(self) -> frozenset[str]:
        """The data sets that it was fitted on."""


class PortableJudge(Judge, Protocol):
    """A judge that can be written into a folder."""

    @property
    def training(self) -> Mapping[str, Any]:
        """The record of its fit: data and figures, JSON values."""

    @property
    def parts(self) -> Any:
        """The parts of its folder, a `data.folders.Parts`."""

    def save(self, folder: str | Path, *, force: bool = False) -> None:
        """Write it as one folder that needs nothing outside it; `force` replaces a model there.

        Raises:
            UsageError: a model is there and is not to be replaced, or something that is no model is.
        """


class Fitted(Protocol):
    """The result of one fit."""

    @property
    def record(self) -> Mapping[str, Any]:
        """The record of the fit, JSON values; it goes into the folder of the judge."""

    @property
    def account(self) -> Sequence[str]:
        """The same for people, a sentence each."""

    def predict(self, encoded: Encoded, rows: Rows) -> FloatArray:
        """Return [n] ratings from 1 to 5 of n ascending `rows`, not clipped; NaN for an unreadable row."""

    def judge(self, training: Mapping[str, Any], scale: tuple[float, float]) -> PortableJudge:
        """Return the judge that answers on `scale`, with the record of its training."""


class Learner(Protocol):
    """A method that fits a judge on rated examples. The generator passed to a fit determines all random choices.

    A learner with `stops = False` is fitted on the validation lines too.
    """

    @property
    def name(self) -> str:
        """The name of its judges: `adem`."""

    @property
    def needs(self) -> tuple[Side, ...]:
        """The sides that an example must have besides its response."""

    @property
    def options(self) -> Mapping[str, Any]:
        """Return the settings that determine what it learns, for signatures."""

    @property
    def steps(self) -> int:
        """The number of times that a fit calls `advance` with 1."""

    def encode(self, examples: Sequence[Example]) -> Encoded:
        """Return N examples as it reads them, once for all fits; raises `DataError` if it cannot read them at all."""

    def unreadable(self, encoded: Encoded) -> Sequence[str]:
        """Return [N] why an example that has all it needs cannot be learnt from; "" where it can."""

    def seconds(self, lines: float) -> float:
        """Return the estimated seconds of a fit on `lines` lines, from sizes alone: the same on every machine."""

    def fit(
        self,
        encoded: Encoded,
        ratings: FloatArray,
        train: Rows,
        validation: Rows,
        rng: np.random.Generator,
        advance: Advance,
    ) -> Fitted:
        """Fit a judge on the readable rows `train` of N encoded examples with `ratings` [N] from 1 to 5.

        The readable rows `validation` decide when to stop; both ascend. Raises `DataError` if nothing can be learnt.
        """


class LearnerPanel(Protocol):
    """Learners whose judges answer together: each example goes to the first that uses all its texts."""

    @property
    def name(self) -> str:
        """The name of their judge."""

    @property
    def options(self) -> Mapping[str, Any]:
        """Return the settings that determine what they learn, for signatures."""

    @property
    def members(self) -> Sequence[Learner]:
        """The learners, in the order in which an example looks for the first whose needs it meets."""

    def encode(self, examples: Sequence[Example]) -> Encoded:
        """Return N examples as all of the members read them."""

    def combine(
        self, judges: Mapping[str, PortableJudge], absent: Mapping[str, str], scale: tuple[float, float]
    ) -> PortableJudge:
        """Return the judge of several judges, by name, that answers on `scale`; `absent` is why others are missing."""


AnyLearner = Learner | LearnerPanel


def is_panel(learner: AnyLearner) -> TypeGuard[LearnerPanel]:
    """Return whether a learner is a panel of several."""
    return hasattr(learner, "members")


def members_of(learner: AnyLearner) -> Sequence[Learner]:
    """Return the members of a panel; a learner by itself is the only member."""
    return learner.members if is_panel(learner) else (cast("Learner", learner),)


@dataclass(frozen=True, kw_only=True)
class LearnerOptions:
    """Options of a learner that a user set; the learner chooses the others."""

    encoder: str | Path | Encoder | None = None  # a name, a model folder, or an encoder
    state: str | None = None  # one of the states of the encoder
    vectors: str | Path | None = None  # a file of word vectors
    references: str | None = None  # how several references count
    preset: str | None = None  # a recipe by name
    options: Any = None  # how it is fitted: an object that the learner knows, or single values by name
    views: tuple[str, ...] = ()  # names of further features

    def only(self, name: str, *accepted: str) -> None:
        """Raise `UsageError` if anything was chosen that the learner called `name` does not accept."""
        chosen: list[str] = []
        for field in fields(self):
            if field.name not in accepted and (value := getattr(self, field.name)):
                chosen += map(str, value) if field.name == "options" and isinstance(value, Mapping) else [field.name]
        if chosen:
            it = "it" if len(chosen) == 1 else "them"
            raise UsageError(f"{name} does not accept {', '.join(chosen)}. Leave {it} out")


# vectors, for attacks that look inside


class Slopes(NamedTuple):
    """Scores [N] (NaN for none), vectors [N, D] of the responses, and gradients [N, D] of the scores by these."""

    values: FloatArray
    vectors: FloatArray
    gradients: FloatArray


class SideVectors(NamedTuple):
    """Raw vectors [M, D] of one side of some examples (NaN for a text without one), and the example [M] of each."""

    vectors: FloatArray
    rows: Rows


Grid = Callable[..., FloatArray]
"""From projected vectors [P, K] to the scores [n, P] of examples with each as their response.

With ascending places among the n as a second argument, those of these examples alone.
"""


@dataclass(frozen=True, slots=True)
class Space:
    """Where a judge compares vectors."""

    name: str  # of the judge; of a panel, of the member that scores these examples
    rows: Rows  # [n] places of these examples
    sides: Mapping[str, SideVectors]  # response, context and reference, as far as the judge reads them
    project: Callable[[FloatArray], FloatArray]  # from raw vectors [M, D] to those that are compared [M, K]
    scores: Grid


class Differentiable(Scorer, Protocol):
    """A scorer that shows how its scores move with the vectors of the responses."""

    @property
    def encoder(self) -> Encoder:
        """The encoder that makes the vectors."""

    def slopes(self, examples: Sequence[Example], vectors: FloatArray | None = None) -> Slopes:
        """Return scores and gradients of N examples, if given with `vectors` [N, D] as their responses."""

    def spaces(self, examples: Sequence[Example]) -> list[Space]:
        """Return where N examples are compared: one space, or one for each judge that scores some of them."""


def is_judge(scorer: Scorer) -> TypeGuard[Judge]:
    """Return whether a scorer predicts ratings on a scale."""
    return isinstance(getattr(scorer, "scale", None), tuple)


def is_differentiable(scorer: Scorer) -> TypeGuard[Differentiable]:
    """Return whether a scorer shows its vectors."""
    return all(hasattr(cast("object", scorer), name) for name in ("encoder", "slopes", "spaces"))
