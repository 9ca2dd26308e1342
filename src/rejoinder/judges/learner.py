"""What learns from ratings how to judge: the protocol, and nothing of any one kind of judge.

A `Learner` encodes rated examples once, is then fitted on some of them and stopped by others as often as is asked, and
what it has fitted predicts the rating of any of them. Training, cross-validation and leaving data sets out know no more
than that, so a new kind of judge is a file with a learner and one entry of `kinds.KINDS`. Shapes: N examples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, Protocol, TypeGuard

import numpy as np
from numpy.typing import NDArray

from rejoinder.errors import UsageError
from rejoinder.example import Example
from rejoinder.scorer import Advance, Encoder, FloatArray, Scorer

Rows = NDArray[np.intp]
Side = Literal["context", "reference"]
Encoded = Any
"""What a learner makes of examples before it is fitted. Only that learner looks inside."""
PREDICTED = (1.0, 5.0)
"""The scale that every learner is fitted to: ratings of all scales are brought to it first."""


class Judge(Scorer, Protocol):
    """A scorer that predicts ratings."""

    @property
    def scale(self) -> tuple[float, float]:
        """The lowest and highest rating that it predicts, nominally."""
        ...

    @property
    def trained_on(self) -> frozenset[str]:
        """The data sets that it was fitted on."""
        ...


class PortableJudge(Judge, Protocol):
    """A judge that can be written into a folder, from which the module that the table of kinds names makes it again."""

    @property
    def training(self) -> Mapping[str, Any]:
        """What it was fitted on and how that went, JSON values."""
        ...

    @property
    def parts(self) -> Any:
        """All that its module's `from_parts` needs to make it again, an `io.folders.Parts`."""
        ...

    def save(self, folder: str | Path, *, force: bool = False) -> None:
        """Write it as one folder that needs nothing outside it.

        Args:
            folder: where to.
            force: replace a model that stands there.

        Raises:
            UsageError: a model stands at `folder` and is not to be replaced, or something that is no model does.
        """
        ...


class Fitted(Protocol):
    """What came of one fit."""

    @property
    def record(self) -> Mapping[str, Any]:
        """How it was fitted and how that went, JSON values; goes into the judge's folder."""
        ...

    @property
    def account(self) -> Sequence[str]:
        """The same for people, a sentence each."""
        ...

    def predict(self, encoded: Encoded, rows: Rows) -> FloatArray:
        """[n] the ratings from 1 to 5 of n ascending `rows`, not clipped; NaN where one cannot be read."""
        ...

    def judge(self, training: Mapping[str, Any], scale: tuple[float, float]) -> PortableJudge:
        """The judge that answers on `scale`, ready to score, with the record of its training."""
        ...


class Learner(Protocol):
    """Turns rated examples into a judge. Whatever is random follows from the generator that a fit is given."""

    @property
    def name(self) -> str:
        """What its judges are called: `adem`."""
        ...

    @property
    def needs(self) -> tuple[Side, ...]:
        """The sides that an example must have besides its response."""
        ...

    @property
    def options(self) -> Mapping[str, Any]:
        """What decides what it learns, for signatures."""
        ...

    @property
    def steps(self) -> int:
        """How often a fit calls `advance` with 1."""
        ...

    def encode(self, examples: Sequence[Example]) -> Encoded:
        """N examples as it reads them, once for all fits.

        Raises:
            DataError: it cannot read them at all.
        """
        ...

    def unusable(self, encoded: Encoded) -> Sequence[str]:
        """[N] why an example that has all it needs cannot be learnt from; "" where it can."""
        ...

    def seconds(self, lines: float) -> float:
        """About how long a fit on so many lines takes: a forecast from sizes alone, alike on every machine."""
        ...

    def fit(
        self,
        encoded: Encoded,
        ratings: FloatArray,
        train: Rows,
        validation: Rows,
        rng: np.random.Generator,
        advance: Advance,
    ) -> Fitted:
        """A judge fitted on some of N encoded examples.

        Args:
            encoded: all of them.
            ratings: [N] from 1 to 5.
            train: ascending rows to fit on, none of them unusable.
            validation: ascending rows that decide when to stop, none of them unusable.
            rng: decides whatever is random.
            advance: called with 1 after each of `steps`.

        Raises:
            DataError: nothing can be learnt from these.
        """
        ...


class Several(Protocol):
    """Learners whose judges answer together: each example goes to the first that reads all that is there."""

    @property
    def name(self) -> str:
        """What their judge is called."""
        ...

    @property
    def options(self) -> Mapping[str, Any]:
        """What decides what they learn, for signatures."""
        ...

    @property
    def members(self) -> Sequence[Learner]:
        """The learners, in the order in which an example looks for the first whose needs it meets."""
        ...

    def encode(self, examples: Sequence[Example]) -> Encoded:
        """N examples as all of the members read them."""
        ...

    def together(
        self, judges: Mapping[str, PortableJudge], absent: Mapping[str, str], scale: tuple[float, float]
    ) -> PortableJudge:
        """The judge of several judges, by name, that answers on `scale`; `absent` says why each of the rest is not."""
        ...


AnyLearner = Learner | Several


def is_several(learner: AnyLearner) -> TypeGuard[Several]:
    """Whether a learner is several."""
    return hasattr(learner, "members")


def members_of(learner: AnyLearner) -> Sequence[Learner]:
    """The members of several learners; one by itself is the only member."""
    return learner.members if is_several(learner) else (learner,)  # type: ignore[return-value]


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What a user chose of a learner. What is left out is its own to decide.

    Attributes:
        encoder: what turns texts into vectors: a name, a model's folder, an encoder.
        state: which of its states.
        vectors: file of word vectors.
        references: how several references count.
        preset: a recipe by name.
        options: how it is fitted: an object that the learner knows, or single values by name.
        views: what it reads beside the views that it has anyway, by name.
    """

    encoder: str | Path | Encoder | None = None
    state: str | None = None
    vectors: str | Path | None = None
    references: str | None = None
    preset: str | None = None
    options: Any = field(default=None)
    views: tuple[str, ...] = ()

    def only(self, name: str, *known: str) -> None:
        """Refuse what the learner called `name` has no use for.

        Raises:
            UsageError: something was chosen that is not among the `known` attributes.
        """
        given: list[str] = []
        for one in fields(self):
            if one.name not in known and (value := getattr(self, one.name)):
                given += map(str, value) if one.name == "options" and isinstance(value, Mapping) else [one.name]
        if given:
            raise UsageError(
                f"{name} has no use for {', '.join(given)}. Leave {'it' if len(given) == 1 else 'them'} out"
            )
