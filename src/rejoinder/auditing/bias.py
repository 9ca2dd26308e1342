"""Bias: properties of a reply that its score goes with, given the human rating: length, copying, casing and so on.

For each property: its partial correlation with the score given the rating, within data sets, and the points of score
for one step of it at the same rating. Neither proves a fault by itself: a rating is a noisy measure of quality, and a
property may measure quality that the rating misses.

Shapes: N examples, G contexts, B resamples.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rejoinder.estimates import NAN, Estimate, estimate_of
from rejoinder.example import Example
from rejoinder.perturbations.preserving import STOP_WORDS
from rejoinder.scorer import FloatArray
from rejoinder.stats.resamples import IntArray, Sampling, percentile_interval, renumbered

RESAMPLES = 1000
FEWEST = 30
STATISTICS = ("partial correlation given the rating", "points of score for a step")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_LISTS: Mapping[str, str] = json.loads((Path(__file__).parent / "words.json").read_text(encoding="utf-8"))
# Common first names, without those that are common words too (Will, Mark, Grace, Rose, Hope, Art).
_FIRST_PERSON, _DIALECT, _NAMES = (frozenset(_LISTS[key].split()) for key in ("first person", "dialect", "names"))


class Property(NamedTuple):
    """A property of a reply that is not its quality.

    `value` is NaN for an example without one; `step` is the difference that the points of score are for.
    """

    name: str
    value: Callable[[Example], float]
    step: float = 0.1
    step_text: str = "a tenth of them"


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, with straight apostrophes."""
    return [word.lower().replace("’", "'") for word in _WORD.findall(text)]


def _share(listed: frozenset[str]) -> Callable[[Example], float]:
    """Return a function that gives the share of words that are in a list."""

    def share(example: Example) -> float:
        response = words(example.response)
        return sum(word in listed for word in response) / len(response)

    return share


def _copied(example: Example) -> float:
    """Return the share of content words that are in the context."""
    content = [word for word in words(example.response) if word not in STOP_WORDS]
    context = set(words(" ".join(example.context)))
    return sum(word in context for word in content) / len(content) if content and context else NAN


def _capitals(example: Example) -> float:
    """Return the share of capitals among letters."""
    letters = [sign for sign in example.response if sign.lower() != sign.upper()]
    return sum(map(str.isupper, letters)) / len(letters) if letters else NAN


def _first_speaker(example: Example) -> float:
    """Return 1 if the reply is by the first speaker of the conversation, else 0."""
    return float(len(example.context) % 2 == 0) if example.context else NAN


PROPERTIES: tuple[Property, ...] = (
    Property("length", lambda example: len(words(example.response)), 10, "ten words"),
    Property("generic wording", _share(frozenset(STOP_WORDS))),
    Property("copying", _copied),
    Property("casing", _capitals),
    Property("first person", _share(_FIRST_PERSON)),
    Property("speaker", _first_speaker, 1, "yes for no"),
    Property("dialect", _share(_DIALECT)),
    Property("named persons", lambda example: not _NAMES.isdisjoint(words(example.response)), 1, "yes for no"),
)


def biases(
    examples: Sequence[Example], scores: FloatArray, clusters: IntArray, sampling: Sampling, sign: int, **labels: Any
) -> list[Estimate]:
    """Return two estimates for each property: partial correlation, and points of score for a step of it.

    Examples without a human rating are ignored. `scores` is [N], NaN without a score, `clusters` [N] the context of
    each; `sign` is -1 if a lower score is better, which reverses both estimates.
    """
    ratings = np.array([_rating(example) for example in examples], dtype=np.float64)
    sets = renumbered(np.array([example.dataset or "" for example in examples]))
    has_words = np.array([bool(words(example.response)) for example in examples], dtype=np.bool_)
    usable = np.flatnonzero(np.isfinite(ratings) & np.isfinite(scores) & has_words)
    estimates = []
    for prop in PROPERTIES:
        values = np.full(len(examples), np.nan)
        values[usable] = [prop.value(examples[row]) for row in usable.tolist()]
        rows = np.flatnonzero(np.isfinite(values))
        labels |= {"by": "property", "group": prop.name, "n": len(rows)}
        if not np.isfinite(ratings).any():
            reason = "no human ratings"
        elif len(rows) < FEWEST:
            reason = f"{len(rows)} rated replies with a score and this property, {FEWEST} are needed"
        elif np.ptp(values[rows]) == 0:
            reason = "it is the same for all of them"
        else:
            variables = np.stack([values, sign * scores, ratings])[:, rows]
            estimates += _bias(prop, variables, sets[rows], clusters[rows], sampling.seed, labels)
            continue
        estimates += [Estimate(**labels, statistic=name, reason=reason) for name in STATISTICS]
    return estimates


def _rating(example: Example) -> float:
    """Return the rating as a share of its scale, or as it is without a scale; NaN without a rating."""
    rating, scale = example.rating(), example.scale()
    if rating is None:
        return NAN
    return rating if scale is None or scale[0] == scale[1] else (rating - scale[0]) / (scale[1] - scale[0])


def _bias(
    prop: Property, variables: FloatArray, sets: IntArray, clusters: IntArray, seed: int, labels: Mapping[str, Any]
) -> list[Estimate]:
    """Return the two estimates of property, score and rating [3, N], compared within data sets."""
    numbers = renumbered(sets)
    size = np.bincount(numbers)
    x, y, z = (values - (np.bincount(numbers, weights=values) / size)[numbers] for values in variables)
    resamples = Sampling(RESAMPLES, seed).draw(renumbered(clusters), "audit", "bias")
    correlation, slope = partial(x, y, z, np.concatenate([*resamples.weights()], axis=1))
    if np.isnan(correlation[0]):
        reason = "nothing of it, or of the score, is left given the rating"
        return [Estimate(**labels, statistic=name, reason=reason) for name in STATISTICS]
    return [
        estimate_of(
            percentile_interval(draws, resamples.size), **labels, statistic=name, contexts=resamples.size, seed=seed
        )
        for name, draws in zip(STATISTICS, (correlation, prop.step * slope), strict=True)
    ]


def partial(x: FloatArray, y: FloatArray, z: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return partial correlation and slope [B] of `y` and `x` given `z`, all [N], with each column of `weights` [N, B].

    The correlation is of the residuals of both by least squares on `z`; the slope is that of x in a regression of y on
    x and z. Both are NaN if no residuals are left.
    """
    values = np.stack([x, y, z])
    # Around the plain means first, so that little is lost to rounding.
    values = values - values.mean(axis=1, keepdims=True)
    total = weights.sum(axis=0)
    means = values @ weights / total

    def covariance(first: int, second: int) -> FloatArray:
        difference: FloatArray = (values[first] * values[second]) @ weights / total - means[first] * means[second]
        return difference

    # Variances that are only rounding.
    least_x, least_y, least_z = (1e-12 * max(float((each**2).mean()), 1e-300) for each in (x, y, z))
    zz, xz, yz = covariance(2, 2), covariance(0, 2), covariance(1, 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        explains = np.where(zz > least_z, 1 / zz, 0.0)  # a constant explains nothing
        xx, yy = covariance(0, 0) - xz**2 * explains, covariance(1, 1) - yz**2 * explains
        xy = covariance(0, 1) - xz * yz * explains
        known = (xx > least_x) & (yy > least_y)
        correlation = np.where(known, xy / np.sqrt(xx * yy), np.nan)
        return np.clip(correlation, -1, 1), np.where(known, xy / xx, np.nan)
