"""The view `surprisal`: how likely each word of a reply is after its context, and what the context adds to that.

A small network tells it that was taught what a causal language model finds (see `likelihood`, the view of such a model
itself). Columns are means and extremes of natural logarithms; the reply's end counts as its last word but for `mean`,
`rest`, `least` and `sum`. Shapes: N examples, F features.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from math import fsum, nan
from typing import Any

import numpy as np

from rejoinder.encoders.student import StudentEncoder
from rejoinder.encoders.surprisal import Surprisal
from rejoinder.judges.views.view import Column, Features, Group, table
from rejoinder.learner import Side
from rejoinder.nn.attending import Told
from rejoinder.records import Example


class Logs:
    """The logarithms of a reply's words, its end the last of them where it was read to its end."""

    def __init__(self, told: Told) -> None:
        self.surprisal, self.alone, self.entropy = (one.tolist() for one in told[:3])
        self.ended = told.ended

    @cached_property
    def words(self) -> list[float]:
        """Of the words without the end."""
        return [-one for one in (self.surprisal[:-1] if self.ended else self.surprisal)]

    @cached_property
    def gains(self) -> list[float]:
        """How much likelier each word is for the context."""
        return [alone - after for alone, after in zip(self.alone, self.surprisal, strict=True)]


def _mean(values: Sequence[float]) -> float:
    """The mean, of one value or more."""
    return fsum(values) / len(values)


COLUMNS: tuple[Column[Logs], ...] = (
    Column("mean", "fluency", lambda read: _mean(read.words)),
    Column("rest", "fluency", lambda read: _mean(read.words[1:] or read.words)),
    Column("least", "fluency", lambda read: min(read.words)),
    Column("sum", "fluency", lambda read: fsum(read.words)),
    Column("end", "fluency", lambda read: -read.surprisal[-1] if read.ended else nan),
    Column("entropy", "specificity", lambda read: _mean(read.entropy)),
    Column("alone", "fluency", lambda read: -_mean(read.alone)),
    Column("gain", "context fit", lambda read: _mean(read.gains)),
    Column("gain_sum", "context fit", lambda read: fsum(read.gains)),
)


@dataclass(frozen=True)
class SurprisalView:
    """How surprising a reply is, by a small network.

    Attributes:
        surprisal: the network.
        student: whose vocabulary it reads by.
        name: what the view is called.

    Raises:
        DataError: the student has another vocabulary.
    """

    surprisal: Surprisal
    student: StudentEncoder
    name: str = "surprisal"
    needs: tuple[Side, ...] = ()

    def __post_init__(self) -> None:
        """See that the two belong together."""
        self.surprisal.require(self.student)

    @property
    def columns(self) -> tuple[str, ...]:
        """[F] the names of its features."""
        return tuple(column.name for column in COLUMNS)

    @property
    def groups(self) -> tuple[Group, ...]:
        """[F] what each feature tells."""
        return tuple(column.group for column in COLUMNS)

    @property
    def options(self) -> Mapping[str, Any]:
        """What decides the features, and the version of the columns."""
        return {f"{self.name}_{key}": value for key, value in {**self.surprisal.options, "version": 1}.items()}

    def features(self, examples: Sequence[Example]) -> Features:
        """[N, F]; NaN where the reply has no word, and of the end of one that is not read so far."""
        found = np.full((len(examples), len(COLUMNS)), np.nan, np.float32)
        vocabulary = self.student.vocabulary
        order = sorted(range(len(examples)), key=lambda row: examples[row].context)
        for context, rows in groupby(order, key=lambda row: examples[row].context):
            before = self.surprisal.before(vocabulary, context)
            for row in rows:
                if (told := self.surprisal.told(vocabulary, examples[row].response, before)) is not None:
                    found[row] = table(COLUMNS, [Logs(told)])[0]
        return found
