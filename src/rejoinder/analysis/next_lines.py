"""Which lines to rate next: equally many of every system, drawn at random over the range of a scorer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from rejoinder.analysis.estimate import filled, names_of
from rejoinder.analysis.sample import WEIGHT, joined
from rejoinder.data.read import examples_of
from rejoinder.errors import DataError, UsageError
from rejoinder.example import OVERALL, Example, Given
from rejoinder.scorer import Advance, ScorerLike, ignore, run
from rejoinder.scoring.catalog import DEFAULT, columns_of, load_scorer
from rejoinder.scoring.dialogue import as_rated
from rejoinder.stats.resamples import Sampling
from rejoinder.stats.splits import even_counts, stratified


def next_lines(
    lines: Given,
    count: int,
    scorer: ScorerLike = DEFAULT,
    *,
    rated: Given | None = None,
    dimension: str = OVERALL,
    seed: int = 0,
    vectors: str | Path | None = None,
    progress: Advance = ignore,
) -> list[Example]:
    """Return the lines whose ratings add most to `estimate`: to each system's mean, and to the errors of the scorer.

    They are a random sample of the lines without a rating: from the systems with the fewest ratings first, and of each
    system evenly from its lowest to its highest score. Each has a weight under `rating_weight`, 1 over its chance of
    being drawn, 1 on average, with which `estimate` stays right.

    Args:
        lines: the lines of the systems, in any form that `examples_of` takes.
        count: number of lines; all if there are fewer.
        scorer: as for `estimate`, like `rated`, `dimension`, `vectors` and `progress`.
        rated: lines that are rated already; default: the ratings in `lines`.
        dimension: which ratings.
        seed: of the draw.
        vectors: file of word vectors.
        progress: called during scoring.

    Raises:
        DataError: every line is rated.
        UsageError: `count` is not a whole number over 0; see also `load_scorer`.
    """
    if not isinstance(count, (int, np.integer)) or isinstance(count, bool) or count < 1:
        raise UsageError(f"count is {count!r}, expected the number of lines to rate, a whole number over 0")
    rng = Sampling.checked(0, seed).generator("next lines", "next lines")
    keep = columns_of(scorer)
    examples = examples_of(lines, name="lines", keep=keep)
    sample = joined(examples, [] if rated is None else examples_of(rated, name="rated", keep=keep), dimension)
    loaded = as_rated(load_scorer(scorer, vectors=vectors), examples)
    scores = filled(examples, run(loaded, examples, progress=progress), loaded.card)
    names, groups = np.unique(np.array(names_of(sample.lines), np.str_), return_inverse=True)
    is_rated = np.array([line.rating(dimension) is not None for line in sample.lines], dtype=bool)
    unrated = [np.flatnonzero((groups == group) & sample.population & ~is_rated) for group in range(len(names))]
    if not any(map(len, unrated)):
        raise DataError(f"all {len(examples):,} lines are rated", "Give lines without ratings, or run an estimate")
    ratings = [int(is_rated[groups == group].sum()) for group in range(len(names))]
    counts = even_counts([len(rows) for rows in unrated], ratings, int(count), rng)
    weights: dict[int, float] = {}
    for rows, number in zip(unrated, counts, strict=True):
        if number:
            places, drawn = stratified(scores[rows], number, rng)
            weights |= dict(zip(rows[places].tolist(), drawn.round(6).tolist(), strict=True))
    return [replace(examples[row], extra={**examples[row].extra, WEIGHT: weights[row]}) for row in sorted(weights)]
