"""Every figure of a tree of records as a row of one table, whatever the records are.

Nobody lists the figures of a result by hand: what is measured anew, and stands in a record, is a row from then on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from rejoinder.stats.figure import Figure, plain

# What a row says of its figure, in this order. All but the numbers of the figure itself may stand in a record above it.
COLUMNS = (
    *("dataset", "scorer", "level", "statistic", "n", "unscored", "contexts"),
    *("value", "low", "high", "p", "method", "seed", "reason"),
)
_OWN = ("value", "low", "high", "p", "reason")
_ABOUT = tuple(column for column in COLUMNS if column not in _OWN)


def rows_of(tree: Any, **about: Any) -> Iterator[dict[str, Any]]:
    """Yield a row of plain values for each figure in a tree, each dataset, scorer, level and statistic once.

    The tree is walked from the top: records field by field, unless they have a method `figures` that gives what is to
    be walked in their place. What a figure does not say of itself is what the record around it says, as a field, a
    property or a constant; its statistic is what `written_as` calls it, else what the record says, else the name of
    its field. Figures with neither value nor reason are left out.

    Args:
        tree: a record, a figure, or several.
        about: columns that hold wherever no record says otherwise.
    """
    seen = set()
    for row in _walked(tree, {"level": "turn", **about}):
        key = tuple(row[column] for column in COLUMNS[:4])
        if key not in seen:
            seen.add(key)
            yield row


def _walked(tree: Any, about: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The rows of a tree, of which `about` says what is known from above."""
    if isinstance(tree, Mapping):
        tree = tuple(tree.values())
    if isinstance(tree, (list, tuple)):
        for one in tree:
            yield from _walked(one, about)
    elif is_dataclass(tree):
        own = {**about, **_said(tree, about)}
        if isinstance(tree, Figure) and (tree.known or tree.reason):
            yield {column: plain(getattr(tree, column) if column in _OWN else own.get(column)) for column in COLUMNS}
        yield from _inside(tree, own)


def _inside(record: Any, about: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The rows of what a record holds."""
    if hasattr(record, "figures"):
        found: Iterable[Any] = record.figures()
        yield from _walked(tuple(found), about)
        return
    for key in fields(record):
        value = getattr(record, key.name)
        if not isinstance(value, Figure) or hasattr(value, "statistic"):
            yield from _walked(value, about)
        else:
            said = key.metadata.get("called") or getattr(record, "statistic", "") or key.name.replace("_", " ")
            yield from _walked(value, {**about, "statistic": said})


def _said(record: Any, about: Mapping[str, Any]) -> dict[str, Any]:
    """What a record says of its figures, and of those that it holds.

    A bare figure says nothing by being empty, and the record that holds it says better how it came about.
    """
    found = {name: value for name in _ABOUT if (value := getattr(record, name, None)) not in (None, "")}
    if type(record) is Figure:
        hidden = {"n"} if not record.n else set()
        hidden |= {"method"} if about.get("method") else set()
        found = {name: value for name, value in found.items() if name not in hidden}
    return found
