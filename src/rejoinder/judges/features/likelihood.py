"""How likely a causal language model of the user's finds a reply after its context, alone, and what it expects next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rejoinder.example import Example
from rejoinder.judges.features.table import WIDE, Features, Group
from rejoinder.judges.features.view import Column, groups_of, names_of, table
from rejoinder.judges.protocol import Side
from rejoinder.llm.causal import CausalModel, Reading, as_written
from rejoinder.text.normalize import visible

COLUMNS: tuple[Column[Reading], ...] = (
    Column("mean", "fluency", lambda read: float(read.after.mean())),
    Column("rest", "fluency", lambda read: float(read.after[1:].mean())),
    Column("least", "fluency", lambda read: float(read.after.min())),
    Column("sum", "fluency", lambda read: float(read.after.sum())),
    Column("end", "fluency", lambda read: float(read.after[-1])),
    Column("entropy", "specificity", lambda read: float(read.entropy.mean())),
    Column("alone", "fluency", lambda read: float(read.alone.mean())),
    Column("gain", "context fit", lambda read: float((read.after - read.alone).mean())),
    Column("gain_sum", "context fit", lambda read: float((read.after - read.alone).sum())),
    Column("praised", "context fit", lambda read: float(read.following[0])),
    Column("puzzled", "context fit", lambda read: float(read.following[1])),
    Column("puzzled_more", "context fit", lambda read: float(read.following[1] - read.following[0])),
)


@dataclass(frozen=True)
class LikelihoodView:
    """Likelihood of a reply by a causal language model.

    Attributes:
        model: the model.
        name: what the view is called.
    """

    model: CausalModel
    name: str
    needs: tuple[Side, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """[F] the names of its features."""
        return (*names_of(COLUMNS), *(f"state_{place}" for place in range(self.model.width)))

    @property
    def groups(self) -> tuple[Group, ...]:
        """[F] what each feature tells."""
        return (*groups_of(COLUMNS), *(WIDE,) * self.model.width)

    @property
    def options(self) -> Mapping[str, Any]:
        """The model's digest, and the version of the columns."""
        return {f"{self.name}_{key}": value for key, value in {**self.model.options, "version": 2}.items()}

    def compute(self, examples: Sequence[Example]) -> Features:
        """[N, F]; NaN where nothing is to be seen of a reply."""
        found = np.full((len(examples), len(self.columns)), np.nan, np.float32)
        written = [as_written(example) for example in examples]
        there = [row for row, example in enumerate(written) if visible(example.response)]
        readings = self.model.readings([written[row] for row in there])
        found[there, : len(COLUMNS)] = table(COLUMNS, readings)
        if there:
            found[there, len(COLUMNS) :] = [one.state for one in readings]
        return found
