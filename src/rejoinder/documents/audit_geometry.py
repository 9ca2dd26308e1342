"""What a card says of the geometry of a judge: the cones of its vectors, and the band of its scores."""

from __future__ import annotations

from collections.abc import Sequence

from rejoinder.auditing.geometry import Breadth, Cone
from rejoinder.documents.cells import count, measured, plain
from rejoinder.documents.document import Block, Cell, Prose, Table
from rejoinder.stats.figure import interval, number, percent

_SPACES = {"encoder": "encoder's", "head": "projected"}


def geometry(cones: Sequence[Cone], breadth: Breadth) -> list[Block]:
    """The blocks of the section; none where a scorer shows no vectors and nobody rated."""
    said = [_band(breadth)] if breadth.known else []
    return [*([Prose(said)] if said else []), *([cone_table(cones)] if cones else [])]


def cone_table(cones: Sequence[Cone]) -> Table:
    """A row a cone."""
    rows = tuple(
        (
            Cell(one.judge),
            Cell(one.side),
            Cell(_SPACES[one.space]),
            count(one.n),
            measured(one, note=one.method, why=one.reason),
            plain(one.spread),
            plain(one.length),
        )
        for one in cones
    )
    return Table(
        "How the judge's vectors lie",
        "Conicity: mean cosine of the vectors with their mean, 1 where all point one way (ADEM's responses: 0.59, Sai "
        "et al. 2019); spread: variance of these cosines; length: mean length. A head that is linear in vectors that "
        "all point one way hardly tells them apart.",
        ("judge", "side", "vectors", "n", "conicity [low, high]", "spread", "length"),
        rows,
        spare=("spread", "length"),
    )


def _band(one: Breadth) -> str:
    """How widely scores are spread beside ratings, in a sentence."""
    said = (
        f"Scores spread over the scale {number(one.value)} times as widely as ratings ({interval(one)}; standard "
        f"deviations of {percent(one.scores)} and {percent(one.ratings)} of their scales)"
    )
    if not one.pearson.known:
        return f"{said}."
    return (
        f"{said}; a correlation of {number(one.pearson.value)} with them allows {number(max(one.pearson.value, 0.0))} "
        "where what cannot be known is left at the mean."
    )
