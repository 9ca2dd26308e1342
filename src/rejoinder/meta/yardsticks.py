"""What stands beside the scorers that were asked for: trivial baselines, BLEU on content words, means of ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rejoinder.example import Example
from rejoinder.data.rated import NO_SYSTEM, RatedSet, RatedSets
from rejoinder.metrics.bleu import NO_STOP_WORDS, ORDERS
from rejoinder.scorer import FloatArray, Scores, Signature, run
from rejoinder.scoring.catalog import cards, load_scorer
from rejoinder.scoring.dialogue import as_rated
from rejoinder.version import __version__

Kind = Literal["metric", "judge", "baseline", "reads ratings"]
BASELINES = ("length", "context-overlap")
OF_SYSTEM, OF_SET = "mean of its system", "mean of its data set"
BLEU = frozenset(f"bleu-{order}" for order in ORDERS)


def yardsticks(examples: Sequence[Example], given: Mapping[str, Scores], sets: RatedSets) -> dict[str, Scores]:
    """What stands beside the scorers `given`: trivial baselines, a variant of BLEU, and means of people's ratings."""
    beside = {
        **content_bleu(examples, given),
        **{name: run(as_rated(load_scorer(name), examples), examples) for name in BASELINES if name not in given},
        **known_means(sets, len(examples)),
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
    return {name: run(as_rated(load_scorer(name), examples), examples) for name in without if name not in given}


def known_means(sets: RatedSets, n: int) -> dict[str, Scores]:
    """The baselines that these data sets allow, by name: [n] scores each.

    `mean of its system` is the mean rating of the line's system over the other contexts of its data set, where two
    systems or more are named; `mean of its data set` is there where data sets are pooled.
    """
    found: dict[str, Scores] = {}
    # Of one system alone the others' mean falls as the own rating rises: it would correlate with it, at -1.
    several = [one for one in sets.filled if len(one.named_systems) > 1]
    if several:
        values, reasons = np.full(n, np.nan), dict.fromkeys(range(n), "system not named, alone, or in no other context")
        for one in several:
            values[one.places] = _other_contexts(one)
        found[OF_SYSTEM] = _scores(OF_SYSTEM, values, reasons)
    if sets.pool is not None:
        values = np.full(n, np.nan)
        for number in np.unique(sets.pool.sets):
            own = sets.pool.sets == number
            values[sets.pool.places[own]] = sets.pool.ratings[own].mean()
        found[OF_SET] = _scores(OF_SET, values, dict.fromkeys(range(n), "not rated"))
    return found


def _other_contexts(rated: RatedSet) -> FloatArray:
    """[N] mean rating of the line's system over the lines of other contexts; NaN where there are none."""
    cells = rated.systems * rated.clusters + rated.contexts
    sums, lines = _totals(rated.systems, rated.ratings), _totals(rated.systems, np.ones(len(rated.ratings)))
    with np.errstate(invalid="ignore", divide="ignore"):
        means: FloatArray = (sums - _totals(cells, rated.ratings)) / (
            lines - _totals(cells, np.ones(len(rated.ratings)))
        )
    return np.where(rated.systems == NO_SYSTEM, np.nan, means)


def _totals(groups: NDArray[np.int64], values: FloatArray) -> FloatArray:
    """[N] sum of `values` over the lines of each line's group."""
    numbers = np.unique(groups, return_inverse=True)[1]
    totals: FloatArray = np.bincount(numbers, weights=values)[numbers].astype(np.float64)
    return totals


def _scores(name: str, values: FloatArray, reasons: dict[int, str]) -> Scores:
    """`values` as scores; those that are NaN keep their reason."""
    rounded = values.round(9)  # means over the same ratings in another order tie
    missing = {place: reason for place, reason in reasons.items() if np.isnan(rounded[place])}
    signature = Signature({"scorer": name, "version": 1, "reads": "ratings", "rejoinder": __version__})
    return Scores(rounded, missing, signature)
