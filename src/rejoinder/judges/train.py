"""From rated examples to a trained judge of the ADEM family, with the figures it reaches on what it did not see."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rejoinder.encoders import AverageEncoder, fit_projection
from rejoinder.errors import DataError
from rejoinder.io.vectors import read_vectors
from rejoinder.judges.adem import TERMS, Adem, Kind, embed, encode_sides
from rejoinder.judges.fit import FitOptions, FitResult, fit_head
from rejoinder.judges.head import HIGHEST, LOWEST, Terms, Vectors
from rejoinder.records import Example
from rejoinder.scorer import Advance, FloatArray, ignore
from rejoinder.stats.correlation import pearson, spearman
from rejoinder.stats.splits import split_groups

SHARES = (0.70, 0.15, 0.15)
PARTS = ("train", "validation", "test")
FEWEST_CONTEXTS = 30


@dataclass(frozen=True)
class Trained:
    """A trained judge and the parts of the data it was trained, stopped and tested on.

    Attributes:
        judge: ready to score or save.
        train: examples that the head was fitted on.
        validation: examples that decided when to stop.
        test: examples that it never saw.
        fit: the course of the fitting.
    """

    judge: Adem
    train: list[Example]
    validation: list[Example]
    test: list[Example]
    fit: FitResult


def train_adem(
    examples: Sequence[Example],
    *,
    kind: Kind = "adem",
    vectors: str | Path | None = None,
    components: int = 50,
    options: FitOptions | None = None,
    seed: int = 0,
    advance: Advance = ignore,
) -> Trained:
    """A judge of the ADEM family fitted on rated examples, over averaged word vectors.

    Contexts are split 70 / 15 / 15 into training, validation and test, so that no context stands in two parts.

    Args:
        examples: rated examples with a scale; those without what `kind` needs are left out and counted.
        kind: `adem`, or `c-adem` (context only) or `r-adem` (reference only).
        vectors: file of word vectors; None takes those in the box.
        components: K, at most the width of the vectors (50 in the paper).
        options: how the head is fitted; None takes `FitOptions()`.
        seed: decides the split and the order of the examples.
        advance: called with 1 after each epoch.

    Raises:
        DataError: fewer than 30 rated contexts, constant ratings, no scale, or nothing that `kind` can use.
    """
    options = options or FitOptions()
    encoder, terms = AverageEncoder(read_vectors(vectors)), TERMS[kind]
    usable, left_out = _usable(examples, encoder, kind)
    rng = np.random.default_rng(seed)
    parts = [[usable[place] for place in part] for part in split_groups(_groups(usable), SHARES, rng)]
    train, validation, test = parts
    sides = encode_sides(train, encoder, terms)
    projection = fit_projection([getattr(sides, side) for side in (*terms, "response")], components)
    embedded = [embed(part, encoder, projection, terms) for part in parts]
    ratings = [normalised_ratings(part) for part in parts]
    fit = fit_head(embedded[0], ratings[0], embedded[1], ratings[1], terms, options, rng, advance)
    training = {
        "datasets": dict(Counter(example.dataset or "unnamed" for example in train)),
        "lines": {name: len(part) for name, part in zip(PARTS, parts, strict=True)},
        "left_out": dict(Counter(left_out)),
        "seed": seed,
        **asdict(options),
        "best_epoch": fit.best_epoch,
        **{name: _agreement(fit, embedded[place], ratings[place]) for place, name in ((1, "validation"), (2, "test"))},
    }
    return Trained(Adem(kind, encoder, projection, fit.head, training), train, validation, test, fit)


def normalised_ratings(examples: Sequence[Example]) -> FloatArray:
    """[N] mean overall ratings mapped linearly from each example's scale to [1, 5]."""
    mapped = []
    for example in examples:
        rating, scale = example.rating(), example.scale()
        if rating is None or scale is None:
            raise DataError("not rated, or without a scale", 'Give "quality" and "scale": [1, 5]', where=example.where)
        mapped.append(LOWEST + (HIGHEST - LOWEST) * (rating - scale[0]) / (scale[1] - scale[0]))
    return np.array(mapped)


def _usable(examples: Sequence[Example], encoder: AverageEncoder, kind: Kind) -> tuple[list[Example], list[str]]:
    """The examples that the judge can be fitted on, and a reason for each of the others.

    Raises:
        DataError: too little is left, and why.
    """
    rated = [example for example in examples if example.rating() is not None]
    for example in rated:
        if example.scale() is None:
            remedy = 'Say what the lowest and the highest rating can be: "scale": [1, 5]'
            raise DataError("rated, but without a scale", remedy, where=example.where, field="scale")
    reasons = ["not rated"] * (len(examples) - len(rated))
    known = _known_sides(rated, encoder, TERMS[kind])
    usable = []
    for example, missing in zip(rated, known, strict=True):
        if missing:
            reasons.append(missing)
        else:
            usable.append(example)
    contexts = len({example.context_key for example in usable})
    if contexts < FEWEST_CONTEXTS:
        why = (
            ", ".join(f"{count} lines: {reason}" for reason, count in Counter(reasons).most_common()) or "none left out"
        )
        raise DataError(
            f"{contexts} rated contexts that {kind} can learn from, expected {FEWEST_CONTEXTS} or more ({why})",
            _remedy(reasons),
        )
    if len(set(normalised_ratings(usable).tolist())) == 1:
        raise DataError("all ratings are equal", "Give ratings that differ; there is nothing to learn from these")
    return usable, reasons


def _known_sides(examples: Sequence[Example], encoder: AverageEncoder, terms: Terms) -> list[str]:
    """For each example why it cannot be used, or ""."""
    sides = encode_sides(examples, encoder, terms)
    why = []
    for row, example in enumerate(examples):
        absent = [side for side in terms if not (example.context if side == "context" else example.references)]
        unknown = [side for side in (*terms, "response") if np.isnan(getattr(sides, side)[row]).any()]
        why.append(f"no {absent[0]}" if absent else f"no known word in the {unknown[0]}" if unknown else "")
    return why


def _remedy(reasons: Sequence[str]) -> str:
    """What to do where too few lines are usable; names the judge that can do without what is missing."""
    if "no reference" in reasons:
        return "Rate more, or train the judge that needs no reference: rejoinder train c-adem"
    if "no context" in reasons:
        return "Rate more, or train the judge that needs no context: rejoinder train r-adem"
    return "Rate responses to more contexts"


def _groups(examples: Sequence[Example]) -> NDArray[np.intp]:
    """[N] the number of each example's context, counted in order of appearance."""
    numbers: dict[tuple[str, ...], int] = {}
    return np.array([numbers.setdefault(example.context_key, len(numbers)) for example in examples], dtype=np.intp)


def _agreement(fit: FitResult, vectors: Vectors, ratings: FloatArray) -> dict[str, Any]:
    """How far predictions and ratings of one part agree."""
    predicted = fit.head(vectors)
    found = {"pearson": pearson(predicted, ratings).value, "spearman": spearman(predicted, ratings).value}
    return {"n": len(ratings), **{name: None if math.isnan(value) else value for name, value in found.items()}}
