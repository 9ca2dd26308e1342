"""What a scorer over vectors shows of its inside, to attacks and to what is said of its geometry.

Shapes: N examples, n of them that one judge scores, D width of a raw vector, K of a projected one, P other responses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeGuard, cast

import numpy as np
from numpy.typing import NDArray

from rejoinder.example import Example
from rejoinder.scorer import Encoder, FloatArray, Scorer


class Grid(Protocol):
    """Scores of examples with other responses."""

    def __call__(self, compared: FloatArray, rows: NDArray[np.intp] | None = None, /) -> FloatArray:
        """See `Space.scores`."""
        ...


class Slopes(NamedTuple):
    """How the scores of N examples move with the vectors of their responses.

    Attributes:
        values: [N] scores; NaN where there is none.
        vectors: [N, D] the responses' vectors.
        gradients: [N, D] the derivative of each score by its response's vector; NaN where there is no score.
    """

    values: FloatArray
    vectors: FloatArray
    gradients: FloatArray


class Side(NamedTuple):
    """The vectors of one side of some examples.

    Attributes:
        vectors: [M, D] raw ones, as the encoder makes them; NaN where a text has none.
        rows: [M] the place of the example that each belongs to.
    """

    vectors: FloatArray
    rows: NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Space:
    """Where a judge compares vectors.

    Attributes:
        name: of the judge; where several share the work, of the one that scores these examples.
        rows: [n] the places of these examples.
        sides: response, context and reference, as far as the judge reads them.
        project: [M, K] from raw vectors [M, D] to those that are compared.
        scores: [n, P] from projected vectors [P, K]: what the examples would score with each as their response; given
            ascending places among the n too, what these would.
    """

    name: str
    rows: NDArray[np.intp]
    sides: Mapping[str, Side]
    project: Callable[[FloatArray], FloatArray]
    scores: Grid


class Differentiable(Scorer, Protocol):
    """A scorer that says how its scores move with the vectors of the responses, for attacks that look inside."""

    @property
    def encoder(self) -> Encoder:
        """What makes the vectors."""
        ...

    def slopes(self, examples: Sequence[Example], vectors: FloatArray | None = None) -> Slopes:
        """Scores and gradients of N examples, where `vectors` [N, D] are given with these as their responses."""
        ...

    def spaces(self, examples: Sequence[Example]) -> list[Space]:
        """Where N examples are compared: one space, or one each judge that scores some of them."""
        ...


def is_differentiable(scorer: Scorer) -> TypeGuard[Differentiable]:
    """Whether a scorer shows its inside."""
    return all(hasattr(cast("object", scorer), name) for name in ("encoder", "slopes", "spaces"))
