"""Which lines people should rate next: of every system as many, from all over the range of a scorer, by chance."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from rejoinder.data.read import examples_of
from rejoinder.errors import DataError, UsageError
from rejoinder.example import OVERALL, Example, Given
from rejoinder.humans.joined import WEIGHT, joined
from rejoinder.meta.estimate import filled, names_of
from rejoinder.scorer import Advance, ScorerLike, ignore, run
from rejoinder.scoring.catalog import DEFAULT, columns_of, load_scorer
from rejoinder.scoring.dialogue import as_rated
from rejoinder.stats.resamples import Sampling
from rejoinder.stats.splits import even_counts, stratified


def next_lines(
    given: Given,
    count: int,
    scorer: ScorerLike = DEFAULT,
    *,
    rated: Given | None = None,
    dimension: str = OVERALL,
    seed: int = 0,
    vectors: str | Path | None = None,
    advance: Advance = ignore,
) -> list[Example]:
    """The lines whose ratings tell most about each system's mean, and about where the scorer errs.

    They are drawn by chance among those that nobody rated, from the systems with the fewest ratings first, and of each
    system evenly from its lowest to its highest score: what the scorer knows is then no matter of luck, and its errors
    show wherever they are. Each says under `rating_weight` how much it stands for, by which `estimate` stays right.

    Args:
        given: the lines of the systems, in any form that `examples_of` takes.
        count: how many; all where there are no more.
        scorer: a name, a judge's folder, a scorer object or a function.
        rated: lines that are rated already, by id or by text; None takes the ratings in `given`.
        dimension: which ratings.
        seed: decides what is drawn.
        vectors: file of word vectors for a scorer that needs them; None takes those in the box.
        advance: called during scoring with the number of lines done.

    Raises:
        DataError: every line is rated.
        UsageError: `count` is no whole number over 0; see also `load_scorer`.
    """
    if not isinstance(count, (int, np.integer)) or isinstance(count, bool) or count < 1:
        raise UsageError(f"count is {count!r}, expected how many lines to rate, a whole number over 0")
    rng = Sampling.checked(0, seed).generator("next lines", "next lines")
    keep = columns_of(scorer)
    lines = examples_of(given, name="lines", keep=keep)
    others = [] if rated is None else examples_of(rated, name="rated", keep=keep)
    both = joined(lines, others, dimension)
    loaded = as_rated(load_scorer(scorer, vectors=vectors), lines)
    scores = filled(lines, run(loaded, lines, progress=advance), loaded.card)
    names, groups = np.unique(np.array(names_of(both.lines), np.str_), return_inverse=True)
    done = np.array([line.rating(dimension) is not None for line in both.lines], dtype=bool)
    free = [np.flatnonzero((groups == group) & both.listed & ~done) for group in range(len(names))]
    if not any(map(len, free)):
        raise DataError(f"all {len(lines):,} lines are rated", "Give lines that are not, or ask for an estimate")
    had = [int(done[groups == group].sum()) for group in range(len(names))]
    chosen: dict[int, float] = {}
    for rows, wanted in zip(free, even_counts([len(rows) for rows in free], had, int(count), rng), strict=True):
        if wanted:
            places, weights = stratified(scores[rows], wanted, rng)
            chosen |= dict(zip(rows[places].tolist(), weights.round(6).tolist(), strict=True))
    return [replace(lines[row], extra={**lines[row].extra, WEIGHT: chosen[row]}) for row in sorted(chosen)]
