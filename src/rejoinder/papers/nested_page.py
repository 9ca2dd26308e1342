"""The page of how much of the judge's figure is luck of choosing its settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rejoinder.papers.fit import LIGHT
from rejoinder.papers.nested import DEFENCES, DOUBTED, FOLDS, MIXTURES, SHIPPED, Found, Settings
from rejoinder.papers.page import About, paper, table
from rejoinder.report.cells import count, measured, nothing, plain
from rejoinder.report.document import Cell, Document, Table
from rejoinder.stats.written import number


def page(found: Found, about: About) -> Document:
    """The page."""
    means = _means(found)
    return paper(
        "nested",
        about,
        {"means": means, "each": _each(found), "often": _often(found)},
        [means],
        sets=len(found.sets),
        others=len(found.sets) - 1,
        lines=found.lines,
        written=found.written,
        folds=FOLDS,
        trees=LIGHT.trees,
        defences=_listed(DEFENCES, 1),
        mixtures=_listed(MIXTURES, 2),
        doubted=" or ".join(DOUBTED),
    )


def _listed(values: Sequence[float], digits: int) -> str:
    """Numbers in a row, ascending."""
    return ", ".join(number(value, digits) for value in sorted(values))


def _means(found: Found) -> Table:
    """Means over data sets, a row a kind of judge, and the difference."""
    chosen, shipped = found.within
    rows = [
        ["chosen among the other sets", measured(found.nested), plain(chosen)],
        ["as the judge ships", measured(found.shipped), plain(shipped)],
        ["the first less the second", measured(found.gain, ends=3, signed=True), plain(chosen - shipped)],
    ]
    return table(["settings", "mean Spearman over sets", "within systems"], rows)


def _each(found: Found) -> Table:
    """Spearman on each data set, and what was chosen for it."""
    rows = [
        [one.name, count(one.nested.n), measured(one.nested), measured(one.shipped), *_said(one.chosen)]
        for one in found.sets
    ]
    header = ["set, unseen", "n", "settings chosen among the others", "as the judge ships"]
    return table([*header, "weight of attacked rows", "weight of the trees", "view left out"], rows)


def _said(settings: Settings) -> list[Cell]:
    """Three cells."""
    return [
        plain(settings.defence, 1),
        plain(settings.trees, 2),
        Cell(settings.without) if settings.without else nothing("all are read"),
    ]


def _often(found: Found) -> Table:
    """How often each setting was chosen."""
    chosen = Counter(value for one in found.sets for value in zip(Settings._fields, one.chosen, strict=True))
    offered = [
        ("weight of attacked rows", "defence", sorted(DEFENCES), 1),
        ("weight of the trees", "trees", sorted(MIXTURES), 2),
        ("view left out", "without", ("", *DOUBTED), 0),
    ]
    rows = [
        [said, _named(value, digits) + ", as it ships" * (value == getattr(SHIPPED, key)), count(chosen[key, value])]
        for said, key, values, digits in offered
        for value in values
    ]
    return table(["setting", "value", "chosen for sets"], rows)


def _named(value: object, digits: int) -> str:
    """A value in words."""
    return number(value, digits) if isinstance(value, float) else str(value) or "none"
