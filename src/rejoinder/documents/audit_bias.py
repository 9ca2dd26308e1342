"""What a score goes with that people did not reward, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from rejoinder.auditing.bias import Bias
from rejoinder.documents.cells import count, measured
from rejoinder.documents.document import Block, Cell, Table


def bias_table(biases: Sequence[Bias]) -> list[Block]:
    """A row a property; nothing where none of them has a figure."""
    if not any(one.known for one in biases):
        return []
    rows = tuple(
        (
            Cell(one.property, one.about),
            Cell(one.about),
            count(one.n),
            measured(one, 2, note=one.method, why=one.reason, signed=True),
            measured(one.points, 2, note=one.points.method, why=one.reason, signed=True),
            Cell(one.step),
        )
        for one in biases
    )
    return [
        Table(
            "What else the score goes with",
            "Partial correlation of the score with a property of the reply, given the rating by people, within data "
            "sets; and points of score for a step more of it, where the rating stays. [low, high]: 95 % interval over "
            "resampled contexts. What the rating misses of quality, a property may rightly tell.",
            ("property", "what is counted", "replies", "partial correlation [low, high]", "points [low, high]", "for"),
            rows,
            spare=("what is counted", "replies"),
            folded=("what is counted",),
        )
    ]
