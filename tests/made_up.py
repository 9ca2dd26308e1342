"""Made-up ratings for the pages of papers, and how a page is read."""

from __future__ import annotations

from functools import cache

from research.common import Encoding, Material, collect, encode_all, made_up

CONTEXTS = 90
__all__ = ["CONTEXTS", "collected", "encoded", "made_up", "row"]


@cache
def collected() -> Material:
    """Return what an experiment takes of them."""
    return collect(made_up(), ("context", "reference"))


@cache
def encoded() -> list[Encoding]:
    """Return them in word vectors."""
    return encode_all(collected().examples, (), ("context", "reference"))["word vectors"]


def row(page: str, *start: str) -> list[str]:
    """Return the cells of the first table row that begins with `start`."""
    lines = (line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| "))
    return next(cells for cells in lines if tuple(cells[: len(start)]) == start)
