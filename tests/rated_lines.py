"""Rated lines and scores of them, made up."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rejoinder.example import Example, Rating
from rejoinder.scorer import Scores, Signature

SCALE = {"overall": (1.0, 5.0)}


def given(values: Sequence[float] | np.ndarray, name: str = "given") -> Scores:
    """Return the scores of an unknown scorer; NaN is a missing one."""
    missing = {place: "lost" for place, value in enumerate(values) if math.isnan(value)}
    return Scores(np.array(values, dtype=np.float64), missing, Signature({"scorer": name}))


def lines(n: int = 60, seed: int = 0, **keys: object) -> list[Example]:
    """Return rated lines, three for each context, by three systems that differ, with three single ratings each."""
    rng = np.random.default_rng(seed)
    made = []
    for place in range(n):
        worth = place % 3 + 1 + rng.normal()
        singles = [float(np.clip(round(worth + rng.normal() / 2), 1, 5)) for _ in range(3)]
        fields = {
            "id": f"line-{place}",
            "system": "abc"[place % 3],
            "scales": SCALE,
            "context": (f"turn {place // 3}",),
            "response": " ".join(["word"] * int(rng.integers(1, 20))),
            "references": ("a b c d",),
            "ratings": tuple(map(Rating, singles)),
        }
        made.append(Example(**{**fields, **keys}))  # type: ignore[arg-type]
    return made


def plain_lines(n: int = 200, seed: int = 0, **keys: object) -> list[Example]:
    """Return lines with a mean rating each, two for each context, whose length and system mean nothing."""
    rng = np.random.default_rng(seed)
    made = []
    for place in range(n):
        fields = {
            "context": (f"turn {place // 2}",),
            "response": "word " * int(rng.integers(1, 20)),
            "references": ("word of mouth",),
            "id": str(place),
            "quality": {"overall": float(rng.normal())},
            "scales": {"overall": (-9.0, 9.0)},
        }
        made.append(Example(**{**fields, **keys}))  # type: ignore[arg-type]
    return made


def ratings_of(examples: Sequence[Example]) -> np.ndarray:
    """Return the mean ratings."""
    return np.array([example.rating() for example in examples], dtype=np.float64)


def like(examples: Sequence[Example], share: float, seed: int = 1) -> Scores:
    """Return scores that correlate with standard normal ratings by about `share`."""
    noise = np.random.default_rng(seed).normal(size=len(examples))
    return given(share * ratings_of(examples) + math.sqrt(1 - share**2) * noise)


def noisy(examples: Sequence[Example], spread: float, seed: int = 1) -> list[float]:
    """Return the ratings with noise."""
    values: list[float] = (
        ratings_of(examples) + spread * np.random.default_rng(seed).normal(size=len(examples))
    ).tolist()
    return values
