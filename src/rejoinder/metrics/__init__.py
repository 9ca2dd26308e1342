"""Metrics in closed form and baselines. A new one is a file, a line of `_FILES` and a section of `cards.toml`."""

from __future__ import annotations

from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from rejoinder.registry import Entry, Registry

if TYPE_CHECKING:
    from rejoinder.scorer import Card, Scorer

_FILES = {
    **{f"bleu-{order}": "bleu" for order in (1, 2, 3, 4)},
    "chrf": "chrf",
    "rouge-l": "rouge",
    "meteor": "meteor",
    **{f"embedding-{kind}": "embedding" for kind in ("average", "greedy", "extrema")},
    "length": "baselines",
    "context-overlap": "baselines",
}
"""The file of each metric. It has a function `load(name, vectors)`; `vectors` is a file of word vectors, or None."""


@cache
def metric_cards() -> dict[str, Card]:
    """Return the cards of all metrics by name, presets included, from `cards.toml`."""
    import tomllib

    from rejoinder.scorer import Card

    tables = tomllib.loads(Path(__file__).with_name("cards.toml").read_text(encoding="utf-8"))
    texts, defaults = tables.pop("texts"), tables.pop("defaults")
    cards = {}
    for pattern, section in tables.items():
        for order in section.get("orders", (1, 2, 3, 4)) if "{order}" in pattern else (0,):
            table = defaults | section
            name, *words = (
                text.format(order=order, **texts) for text in (pattern, *map(table.get, ("summary", "source", "notes")))
            )
            summary, source, notes = words
            low, high = (end if abs(end) < float("inf") else None for end in table["range"])
            cards[name] = Card(
                name,
                summary,
                table["kind"],
                frozenset(table["needs"]),
                (low, high),
                source,
                table["version"],
                notes,
                higher_is_better=None if table["kind"] == "baseline" else True,
            )
    return cards


def _load(file: str, name: str, vectors: str | Path | None = None) -> Scorer:
    """Return the scorer called `name` of a file of this package."""
    scorer: Scorer = import_module(f"rejoinder.metrics.{file}").load(name, vectors)
    return scorer


METRICS: Registry[Scorer] = Registry(
    "metric", (Entry(name, "", partial(_load, file), cards=metric_cards) for name, file in _FILES.items())
)
