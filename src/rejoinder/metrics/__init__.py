"""Metrics in closed form and baselines. A new one is its file and one line of `METRICS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rejoinder.registry import Entry, Registry

if TYPE_CHECKING:
    from rejoinder.scorer import Card, Scorer


class Family(Protocol):
    """A module with a family of metrics."""

    @property
    def CARDS(self) -> Mapping[str, Card]:  # noqa: N802 - a constant of the module
        """The cards by name, presets included."""
        ...

    @property
    def load(self) -> Callable[[str, str | Path | None], Scorer]:
        """The function that makes the scorer with this name, with a file of word vectors if it reads any."""
        ...


def _entry(name: str, family: Callable[[], Family]) -> Entry[Scorer]:
    return Entry(
        name,
        "",
        lambda name, vectors=None: family().load(name, vectors),
        cards=lambda: family().CARDS,
    )


def _bleu() -> Family:
    from rejoinder.metrics import bleu

    return bleu


def _chrf() -> Family:
    from rejoinder.metrics import chrf

    return chrf


def _rouge() -> Family:
    from rejoinder.metrics import rouge

    return rouge


def _meteor() -> Family:
    from rejoinder.metrics import meteor

    return meteor


def _embedding() -> Family:
    from rejoinder.metrics import embedding

    return embedding


def _baselines() -> Family:
    from rejoinder.metrics import baselines

    return baselines


_FAMILIES = {
    "bleu-1": _bleu,
    "bleu-2": _bleu,
    "bleu-3": _bleu,
    "bleu-4": _bleu,
    "chrf": _chrf,
    "rouge-l": _rouge,
    "meteor": _meteor,
    "embedding-average": _embedding,
    "embedding-greedy": _embedding,
    "embedding-extrema": _embedding,
    "length": _baselines,
    "context-overlap": _baselines,
}
METRICS: Registry[Scorer] = Registry("metric", (_entry(name, family) for name, family in _FAMILIES.items()))
