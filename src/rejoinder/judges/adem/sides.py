"""Examples as vectors: every context, reference and response encoded once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from rejoinder.example import Example
from rejoinder.judges.adem.head import Terms, Vectors
from rejoinder.judges.learner import Rows
from rejoinder.models.encoders import encode_distinct
from rejoinder.scorer import Encoder, FloatArray
from rejoinder.text.normalize import visible_text

References = Literal["best", "mean"]


@dataclass(frozen=True)
class Encoded:
    """Raw vectors of N examples that have R references together. A side that the terms leave out is zero.

    Attributes:
        context: [N, D].
        references: [R, D].
        owner: [R] whose each reference is; where references do not count, every example has one of zeros.
        response: [N, D].
    """

    context: FloatArray
    references: FloatArray
    owner: Rows
    response: FloatArray

    def pairs(self) -> Vectors:
        """Raw vectors [R, D], a row a reference, with the context and response that belong to it."""
        return Vectors(self.context[self.owner], self.references, self.response[self.owner])

    def of(self, rows: Rows) -> Encoded:
        """The examples at the ascending `rows` alone."""
        kept = np.flatnonzero(np.isin(self.owner, rows))
        # Owners are renumbered by their places among the rows, which have to ascend for that.
        owner = np.searchsorted(rows, self.owner[kept])
        return Encoded(self.context[rows], self.references[kept], owner, self.response[rows])

    @cached_property
    def means(self) -> Vectors:
        """Raw vectors [N, D] with the mean of each example's references; NaN where none has a known word."""
        # A judge is fitted on the mean of the references' vectors, as the release is on one reference each; in scoring
        # each counts by itself (`pairs`), so that the best of them can be taken.
        known = ~np.isnan(self.references).any(axis=1)
        sums = np.zeros_like(self.response)
        np.add.at(sums, self.owner[known], self.references[known])
        counts = np.bincount(self.owner[known], minlength=len(sums))[:, None]
        means = np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)
        return Vectors(self.context, means, self.response)

    def combine(self, values: FloatArray, references: References) -> FloatArray:
        """[N] scores of the examples from those of their references [R], NaN left out; NaN where there is no other."""
        known = ~np.isnan(values)
        owner, values = self.owner[known], values[known]
        counts = np.bincount(owner, minlength=len(self.response))
        if references == "mean":
            combined = np.bincount(owner, values, len(counts)) / np.maximum(counts, 1)
        else:
            combined = np.full(len(counts), -np.inf)
            np.maximum.at(combined, owner, values)
        return np.where(counts > 0, combined, np.nan)


def encode(examples: Sequence[Example], encoder: Encoder, terms: Terms) -> Encoded:
    """Raw vectors of `examples` for a judge with `terms`; each distinct text as a reader sees it is encoded once."""
    nothing = np.zeros((len(examples), encoder.width))
    context, references, owner = nothing, nothing, np.arange(len(examples))
    if "context" in terms:
        context = encode_distinct(
            encoder.encode_contexts, [tuple(map(visible_text, example.context)) for example in examples]
        )
    if "reference" in terms:
        references = encode_distinct(
            encoder.encode, [visible_text(text) for example in examples for text in example.references]
        )
        owner = np.repeat(owner, [len(example.references) for example in examples])
    response = encode_distinct(encoder.encode, [visible_text(example.response) for example in examples])
    return Encoded(context, references, owner, response)
