"""What stands beside the scorers that were asked for: trivial baselines, BLEU on content words, means of ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rejoinder.catalogue import cards, load_scorer
from rejoinder.meta.parts import NO_SYSTEM, POOLED, Part
from rejoinder.metrics.bleu import NO_STOP_WORDS, ORDERS
from rejoinder.records import Example
from rejoinder.scorer import FloatArray, Scores, Signature, run
from rejoinder.stats.arrays import number_of
from rejoinder.version import __version__

Kind = Literal["metric", "judge", "baseline", "reads ratings"]
BASELINES = ("length", "context-overlap")
OF_SYSTEM, OF_SET = "mean of its system", "mean of its data set"
BLEU = frozenset(f"bleu-{order}" for order in ORDERS)


def yardsticks(examples: Sequence[Example], given: Mapping[str, Scores], parts: Sequence[Part]) -> dict[str, Scores]:
    """What stands beside the scorers `given`: trivial baselines, a variant of BLEU, and means of people's ratings."""
    beside = {
        **content_bleu(examples, given),
        **{name: run(load_scorer(name), examples) for name in BASELINES if name not in given},
        **known_means(parts, len(examples)),
    }
    return {name: scores for name, scores in beside.items() if scores.scored.any()}


def kind_of(name: str, scores: Scores) -> Kind:
    """What kind of scorer gave these scores; one that the catalogue does not know is a judge."""
    if name in (OF_SYSTEM, OF_SET):
        return "reads ratings"
    card = cards().get(str(scores.signature.fields.get("scorer")))
    return card.kind if card else "judge"


def content_bleu(examples: Sequence[Example], given: Mapping[str, Scores]) -> dict[str, Scores]:
    """Beside every plain BLEU among the scores `given` the same without stop words, where it was not asked for.

    Source: Liu et al. (2016), table 4.
    """
    plain = [name for name in given if name in BLEU and given[name].signature.fields.get("scorer") == name]
    without = [f"{name}/{NO_STOP_WORDS}" for name in plain]
    return {name: run(load_scorer(name), examples) for name in without if name not in given}


def known_means(parts: Sequence[Part], n: int) -> dict[str, Scores]:
    """The baselines that these parts allow, by name: [n] scores each.

    `mean of its system` is the mean rating of the line's system over the other contexts of its data set, where two
    systems or more are named; `mean of its data set` is there where data sets are pooled.
    """
    single = [part for part in parts if part.name != POOLED]
    found: dict[str, Scores] = {}
    # Of one system alone the others' mean falls as the own rating rises: it would correlate with it, at -1.
    several = [part for part in single if len(np.unique(part.systems[part.systems != NO_SYSTEM])) > 1]
    if several:
        values, reasons = np.full(n, np.nan), dict.fromkeys(range(n), "system not named, alone, or in no other context")
        for part in several:
            values[part.places] = _other_contexts(part)
        found[OF_SYSTEM] = _scores(OF_SYSTEM, values, reasons)
    pooled = next((part for part in parts if part.name == POOLED), None)
    if pooled is not None:
        on_one_scale = np.full(n, np.nan)
        on_one_scale[pooled.places] = pooled.ratings
        values = np.full(n, np.nan)
        for part in single:
            if len(part.places):
                values[part.places] = on_one_scale[part.places].mean()
        found[OF_SET] = _scores(OF_SET, values, dict.fromkeys(range(n), "not rated"))
    return found


def _other_contexts(part: Part) -> FloatArray:
    """[N] mean rating of the line's system over the lines of other contexts; NaN where there are none."""
    cells = part.systems * number_of(part.contexts) + part.contexts
    sums, lines = _totals(part.systems, part.ratings), _totals(part.systems, np.ones(len(part.ratings)))
    with np.errstate(invalid="ignore", divide="ignore"):
        means: FloatArray = (sums - _totals(cells, part.ratings)) / (lines - _totals(cells, np.ones(len(part.ratings))))
    return np.where(part.systems == NO_SYSTEM, np.nan, means)


def _totals(groups: NDArray[np.int64], values: FloatArray) -> FloatArray:
    """[N] sum of `values` over the lines of each line's group."""
    numbers = np.unique(groups, return_inverse=True)[1]
    totals: FloatArray = np.bincount(numbers, weights=values)[numbers].astype(np.float64)
    return totals


def _scores(name: str, values: FloatArray, reasons: dict[int, str]) -> Scores:
    """`values` as scores; those that are NaN keep their reason."""
    rounded = values.round(9)
    missing = {place: reason for place, reason in reasons.items() if np.isnan(rounded[place])}
    signature = Signature({"scorer": name, "version": 1, "reads": "ratings", "rejoinder": __version__})
    return Scores(rounded, missing, signature)
