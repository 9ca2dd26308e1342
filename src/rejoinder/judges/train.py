"""From rated examples to a trained bilinear judge, with the figures it reaches on what it did not see."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np

from rejoinder.encoders import WORD_VECTORS, PortableEncoder, load_encoder
from rejoinder.errors import DataError, UsageError
from rejoinder.judges.bilinear import TERMS, BilinearJudge, Kind, unknown_sides
from rejoinder.judges.conversations import conversations
from rejoinder.judges.fit import FitOptions, Fitted, fit_bilinear
from rejoinder.judges.head import HIGHEST, LOWEST, Terms
from rejoinder.judges.notes import shares, text_notes
from rejoinder.judges.oversample import Lengths, Rows
from rejoinder.judges.recipes import options_of
from rejoinder.judges.sides import Encoded, References, encode
from rejoinder.metrics.baselines import words
from rejoinder.records import Example
from rejoinder.scorer import Advance, FloatArray, ignore
from rejoinder.stats.correlation import pearson, spearman
from rejoinder.stats.splits import split_groups

SHARES = (0.70, 0.15, 0.15)
PARTS = ("train", "validation", "test")
FEWEST_CONTEXTS = 30
FEWEST_LINES = 3
# What the release appends to a response before it counts characters: ` </s>`.
_END = 5


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

    judge: BilinearJudge
    train: list[Example]
    validation: list[Example]
    test: list[Example]
    fit: Fitted


def train_judge(
    examples: Sequence[Example],
    kind: Kind = "adem",
    encoder: PortableEncoder | str | Path = WORD_VECTORS,
    options: FitOptions | None = None,
    *,
    references: References | None = None,
    seed: int = 0,
    assigned: Mapping[tuple[str, ...], int] | None = None,
    advance: Advance = ignore,
) -> Trained:
    """A bilinear judge fitted on rated examples.

    Conversations are split 70 / 15 / 15 into training, validation and test, so that none stands in two parts (see
    `conversations`).

    Args:
        examples: rated examples with a scale; those without what `kind` needs are left out and counted.
        kind: `adem`; `c-adem` or `autojudge` (context only); `r-adem` (reference only); `vhred` (adem before training).
        encoder: texts to vectors, or what `load_encoder` makes it from.
        options: how it is fitted; None takes `FitOptions()`, for AutoJudge `DERIU2019` (see `recipes`).
        references: how it scores against several references, by the `best` score or by the `mean`; None takes the
            mean. It is fitted on the mean of their vectors.
        seed: decides the split and the order of the examples.
        assigned: the number of the part that each context belongs to (see `split_contexts`); None splits those that can
            be used.
        advance: called with 1 after each epoch.

    Raises:
        DataError: fewer than 30 rated contexts, constant ratings, no scale, or nothing that `kind` can use.
        UsageError: there is no such kind, or no such way to count references, or it reads none.
    """
    if kind not in TERMS:
        raise UsageError(f"no judge is called {kind!r}. There are: {', '.join(TERMS)}")
    _check_references(kind, references)
    options = options_of(kind, options)
    encoder, terms = load_encoder(encoder) if isinstance(encoder, (str, Path)) else encoder, TERMS[kind]
    complete, left_out = _complete(examples, terms)
    encoded, ratings = encode(complete, encoder, terms), normalised_ratings(complete)
    usable = _usable(complete, encoded, ratings, kind, left_out)
    rng = np.random.default_rng(seed)
    if assigned is None:
        parts = [usable[part] for part in split_groups(conversations([complete[row] for row in usable]), SHARES, rng)]
    else:
        numbers = np.array([assigned[complete[row].context_key] for row in usable])
        parts = [usable[numbers == number] for number in range(len(PARTS))]
    for name, part in zip(PARTS, parts, strict=True):
        if len(part) < FEWEST_LINES:
            found = f"the {name} part of the split has {len(part)} lines that {kind} can use, expected {FEWEST_LINES}"
            raise DataError(found, "Rate responses to more contexts, or choose another --seed")
    train, validation, test = parts
    fit = fit_bilinear(
        encoded.means, ratings, response_lengths(complete), train, validation, terms, options, rng, advance
    )
    judge = BilinearJudge(kind, encoder, fit.normalise, fit.projection, fit.head, references or "mean", {})
    scores = judge.score_encoded(encoded).values
    training = {
        "datasets": dict(Counter(complete[row].dataset or "unnamed" for row in train)),
        "lines": {name: len(part) for name, part in zip(PARTS, parts, strict=True)},
        "left_out": dict(left_out),
        "seed": seed,
        **asdict(options),
        "components": None if fit.projection is None else len(fit.projection.components),
        "fitted_rows": len(fit.rows),
        "over_sampling_left_out": len(train) - len(np.unique(fit.rows)),
        "best_epoch": fit.best_epoch,
        "validation": _agreement(scores[validation], ratings[validation]),
        "test": _agreement(scores[test], ratings[test]),
        "noted": shares(text_notes([complete[row] for row in train], terms), len(train)),
    }
    own = [[complete[row] for row in part] for part in parts]
    return Trained(replace(judge, training=training), own[0], own[1], own[2], fit)


def split_contexts(examples: Sequence[Example], seed: int) -> dict[tuple[str, ...], int]:
    """The number of the part (0 training, 1 validation, 2 test) of every rated context, conversations kept whole."""
    rated = [example for example in examples if example.rating() is not None]
    parts = split_groups(conversations(rated), SHARES, np.random.default_rng(seed))
    return {rated[row].context_key: number for number, part in enumerate(parts) for row in part}


def normalised_ratings(examples: Sequence[Example]) -> FloatArray:
    """[N] mean overall ratings mapped linearly from each example's scale to [1, 5].

    Raises:
        DataError: an example is not rated, or its scale is not known.
    """
    mapped = []
    for example in examples:
        rating, scale = example.rating(), example.scale()
        if rating is None or scale is None:
            raise DataError("not rated, or without a scale", 'Give "quality" and "scale": [1, 5]', where=example.where)
        mapped.append(rescaled(rating, scale, (LOWEST, HIGHEST)))
    return np.array(mapped)


def rescaled(value: float, scale: tuple[float, float], other: tuple[float, float]) -> float:
    """`value`, which stands on `scale` (its lowest and highest), mapped linearly to the scale `other`."""
    return other[0] + (other[1] - other[0]) * (value - scale[0]) / (scale[1] - scale[0])


def response_lengths(examples: Sequence[Example]) -> Lengths:
    """How long the responses of N examples are, as over-sampling counts."""
    counts = [(len(words(example.response)), len(example.response.strip()) + _END) for example in examples]
    return Lengths(*np.array(counts, dtype=np.intp).reshape(-1, 2).T)


def _check_references(kind: Kind, references: References | None) -> None:
    """Raise `UsageError` where there is no such way to count references, or it would have no effect."""
    if references is None:
        return
    if references not in get_args(References):
        raise UsageError(f"references count by {' or '.join(get_args(References))}, not by {references!r}")
    if "reference" not in TERMS[kind]:
        raise UsageError(f"{kind} reads no references, so counting them by {references!r} would have no effect")


def _complete(examples: Sequence[Example], terms: Terms) -> tuple[list[Example], Counter[str]]:
    """The rated examples that have all sides, and how many others there are for which reason.

    Raises:
        DataError: one is rated, but without a scale.
    """
    complete, left_out = [], Counter[str]()
    for example in examples:
        sides = {"context": example.context, "reference": example.references}
        absent = next((side for side in terms if not any(map(str.strip, sides[side]))), None)
        if example.rating() is None:
            left_out["not rated"] += 1
        elif example.scale() is None:
            remedy = 'Say what the lowest and the highest rating can be: "scale": [1, 5]'
            raise DataError("rated, but without a scale", remedy, where=example.where, field="scale")
        elif absent:
            left_out[f"no {absent}"] += 1
        else:
            complete.append(example)
    return complete, left_out


def _usable(
    complete: Sequence[Example], encoded: Encoded, ratings: FloatArray, kind: Kind, left_out: Counter[str]
) -> Rows:
    """The rows that the judge can be fitted on; the others are counted in `left_out`.

    Raises:
        DataError: too little is left, and why.
    """
    unknown = unknown_sides(encoded.means, TERMS[kind])
    left_out.update(f"no known word in the {side}" for side in unknown if side)
    usable = np.array([row for row, side in enumerate(unknown) if not side], dtype=np.intp)
    contexts = len({complete[row].context_key for row in usable})
    if contexts < FEWEST_CONTEXTS:
        why = ", ".join(f"{count} lines: {reason}" for reason, count in left_out.most_common()) or "none left out"
        problem = f"{contexts} rated contexts that {kind} can learn from, expected {FEWEST_CONTEXTS} or more ({why})"
        raise DataError(problem, _remedy(left_out))
    if len(set(ratings[usable].tolist())) == 1:
        raise DataError("all ratings are equal", "Give ratings that differ; there is nothing to learn from these")
    return usable


def _remedy(left_out: Counter[str]) -> str:
    """What to do where too few lines are usable; names the judges that can do without what is missing."""
    if left_out["no reference"]:
        return "Rate more, or train a judge that needs no reference: rejoinder train c-adem, or autojudge"
    if left_out["no context"]:
        return "Rate more, or train the judge that needs no context: rejoinder train r-adem"
    return "Rate responses to more contexts"


def _agreement(scores: FloatArray, ratings: FloatArray) -> dict[str, Any]:
    """How far scores and ratings of one part agree."""
    linear = pearson(scores, ratings)
    found = {"pearson": linear.value, "spearman": spearman(scores, ratings).value, "p": linear.p}
    return {"n": len(ratings), **{name: None if math.isnan(value) else value for name, value in found.items()}}
