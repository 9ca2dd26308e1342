"""The trained dual encoder in numpy: the arithmetic of `nn/dan.py` without torch, for whatever only scores.

A vector depends on its own text alone, to the last bit: sums and products are made row by row, so neither their order
nor their shape follows from what else is in the batch. Shapes: E width of a piece's vector, O width of an encoding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rejoinder.models.student import LEFT as LEFT
from rejoinder.models.student import RIGHT as RIGHT

SIDES = ("contexts", "responses")
TABLE = "table.weight"
# Pieces whose vectors are looked up together: memory stays flat however long a text is.
_AT_ONCE = 4096
_SHORTEST = 1e-12

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class AveragingNetwork:
    """The table of pieces and pairs, and a tower of two layers for contexts and for responses.

    Attributes:
        tensors: weights by the names that `DanModel` has for them; floats of any precision.
        vocabulary: pieces; the table's rows behind them are for pairs of neighbouring pieces.
    """

    tensors: Mapping[str, NDArray[np.floating]]
    vocabulary: int

    def bag(self, ids: Sequence[int]) -> Floats:
        """[E] what the pieces and pairs of a turn, given as ids with its end, add up to, by the root of their number.

        Zeros for a turn that is its end alone.
        """
        numbers = np.asarray(ids, dtype=np.int64)
        pieces, following = numbers[:-1], numbers[1:]
        pairs = (pieces * LEFT + following * RIGHT) % (len(self._table) - self.vocabulary) + self.vocabulary
        total = np.zeros(self._table.shape[1], dtype=np.float32)
        for start in range(0, len(pieces), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            total += self._table[np.concatenate((pieces[part], pairs[part]))].sum(axis=0)
        scaled: Floats = total / np.sqrt(np.float32(max(2 * len(pieces), 1)))
        return scaled

    def responses(self, bags: Sequence[Floats]) -> Floats:
        """[n, O] unit vectors of n turns, read as responses."""
        return self._towered("responses", np.stack(bags))

    def contexts(self, bags: Sequence[Sequence[Floats]]) -> Floats:
        """[n, O] unit vectors of n contexts, each of one turn or more, the last turn first."""
        return self._towered("contexts", np.stack([_joined(turns) for turns in bags]))

    @cached_property
    def _table(self) -> Floats:
        """The table in single precision, in which it is added up."""
        return self.tensors[TABLE].astype(np.float32)

    def _towered(self, side: str, inputs: Floats) -> Floats:
        """[n, O] from [n, D]: two layers with GELU between, to length 1."""
        outputs = self._layer(f"{side}.second", _gelu(self._layer(f"{side}.first", inputs)))
        lengths = np.sqrt(np.square(outputs).sum(axis=1, keepdims=True))
        unit: Floats = outputs / np.maximum(lengths, np.float32(_SHORTEST))
        return unit

    def _layer(self, name: str, inputs: Floats) -> Floats:
        """[n, H] from [n, D]: a product of its own for each row, because a joint one adds in an order set by n."""
        weight, bias = self.tensors[f"{name}.weight"], self.tensors[f"{name}.bias"]
        outputs: Floats = (inputs[:, None] @ weight.T)[:, 0] + bias
        return outputs


def _joined(turns: Sequence[Floats]) -> Floats:
    """[2E] the last turn's bag beside those before it, which are added up and divided by their number's root."""
    last, *earlier = turns
    before = np.sum(earlier, axis=0, dtype=np.float32) if earlier else np.zeros_like(last)
    return np.concatenate((last, before / np.sqrt(np.float32(max(len(earlier), 1)))))


# The error function as a quotient of polynomials, x P(x^2) / Q(x^2) inside [-4, 4]: the coefficients of Eigen's
# `generic_fast_erf_float`, nearer than 1e-6. scipy's is exact to the last bit, and a quarter of a second to import.
_P = (
    -2.72614225801306e-10,
    2.77068142495902e-08,
    -2.10102402082508e-06,
    -5.69250639462346e-05,
    -7.34990630326855e-04,
    -2.95459980854025e-03,
    -1.60960333262415e-02,
)
_Q = (-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03, -7.37332916720468e-03, -1.42647390514189e-02)


def _gelu(inputs: Floats) -> Floats:
    """Each x times the probability that a normal variable is below it."""
    clipped = np.clip(inputs * np.float32(np.sqrt(0.5)), -4, 4)
    squares = clipped * clipped
    error = clipped * _polynomial(_P, squares) / _polynomial(_Q, squares)
    gelu: Floats = np.float32(0.5) * inputs * (1 + error)
    return gelu


def _polynomial(coefficients: Sequence[float], x: Floats) -> Floats:
    """The polynomial with these coefficients, highest power first."""
    total = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        total *= x
        total += np.float32(coefficient)
    return total
