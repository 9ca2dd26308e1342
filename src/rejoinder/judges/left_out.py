"""Judges that never saw a data set, and judges that saw other conversations of it: what both make of its lines.

Every line is encoded once; each judge is a panel as `train_panel` fits it, but for the members that no line goes to.
Shapes: N rated lines, n of them in one data set, D width of a vector.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rejoinder.encoders import PortableEncoder
from rejoinder.errors import UsageError
from rejoinder.judges.bilinear import TERMS, Kind
from rejoinder.judges.conversations import traces
from rejoinder.judges.fit import FitOptions, Fitted, fit_bilinear
from rejoinder.judges.head import Vectors
from rejoinder.judges.oversample import Lengths, Rows
from rejoinder.judges.panel import MEMBERS
from rejoinder.judges.sides import Encoded, encode
from rejoinder.judges.train import FEWEST_CONTEXTS, FEWEST_LINES, SHARES, normalised_ratings, response_lengths
from rejoinder.records import Example
from rejoinder.scorer import Advance, FloatArray, ignore
from rejoinder.stats.splits import fold_groups, joined_numbers, numbered, split_groups

FOLDS = 5
# Larger batches, longer steps and fewer epochs than for the judge in the box: four times quicker, and the validation
# error of the members is the same within .005 rating points (docs/lab-notes.md).
QUICK = FitOptions(epochs=15, batch_size=256, learning_rate=0.01)


class Known(NamedTuple):
    """The n lines that a member can be fitted on, because every side that it reads has a vector.

    Attributes:
        rows: [n] which of all rated lines they are, ascending.
        raw: vectors [n, D].
        ratings: [n].
        lengths: of the n responses.
    """

    rows: Rows
    raw: Vectors
    ratings: FloatArray
    lengths: Lengths


@dataclass(frozen=True)
class RatedLines:
    """N rated lines of several data sets, encoded.

    Attributes:
        places: [N] where they stand among the examples that were given.
        sets: ascending rows of each data set.
        traces: [N, 4] what tells conversations, numbered; -1 where a trace would not tell (see `conversations.traces`).
        contexts: [N] number of the context.
        ratings: [N] on the scale 1 to 5.
        encoded: their vectors.
        readable: [N] by member: whether the sides that it reads are there.
        known: by member: the lines whose sides have vectors too.
    """

    places: Rows
    sets: Mapping[str, Rows]
    traces: Rows
    contexts: Rows
    ratings: FloatArray
    encoded: Encoded
    readable: Mapping[Kind, NDArray[np.bool_]]
    known: Mapping[Kind, Known]

    def others(self, name: str) -> Rows:
        """The rows of all other data sets, without those that share a conversation with the set `name`."""
        own = self.traces[self.sets[name]]
        rest = np.flatnonzero(~np.isin(np.arange(len(self.traces)), self.sets[name]))
        return rest[~np.isin(self.traces[rest], own[own >= 0]).any(axis=1)]


def rated_lines(examples: Sequence[Example], encoder: PortableEncoder) -> RatedLines:
    """The rated lines of `examples`, ready for many fits.

    Raises:
        UsageError: fewer than two data sets have ratings.
        DataError: a rated line has no scale.
    """
    places = [place for place, example in enumerate(examples) if example.rating() is not None]
    rated = [examples[place] for place in places]
    names = [example.dataset or "" for example in rated]
    sets = {name: np.flatnonzero([other == name for other in names]) for name in dict.fromkeys(names)}
    if len(sets) < 2:
        found = f"{len(sets)} data set{'s' * (len(sets) != 1)} with ratings"
        raise UsageError(f"{found}; to leave one out takes two or more. Name more files")
    ratings, lengths = normalised_ratings(rated), response_lengths(rated)
    encoded = encode(rated, encoder, TERMS["adem"])
    sides = {"context": [one.context for one in rated], "reference": [one.references for one in rated]}
    given = {side: np.array([any(map(str.strip, one)) for one in texts]) for side, texts in sides.items()}
    told = np.array(numbered([trace for example in rated for trace in traces(example)])).reshape(len(rated), -1)
    readable = {kind: np.all([given[side] for side in TERMS[kind]], axis=0) for kind in MEMBERS}
    return RatedLines(
        places=np.array(places, dtype=np.intp),
        sets=sets,
        traces=told,
        contexts=told[:, 0],
        ratings=ratings,
        encoded=encoded,
        readable=readable,
        known={kind: _known(encoded.means, ratings, lengths, kind) for kind in MEMBERS},
    )


def _known(raw: Vectors, ratings: FloatArray, lengths: Lengths, kind: Kind) -> Known:
    """The lines of all that `kind` can be fitted on."""
    sides = ("response", *TERMS[kind])
    rows = np.flatnonzero(np.all([np.isfinite(getattr(raw, side)).all(axis=1) for side in sides], axis=0))
    nothing = np.empty((len(rows), 0))
    own = Vectors(**{side: getattr(raw, side)[rows] if side in sides else nothing for side in Vectors._fields})
    return Known(rows, own, ratings[rows], Lengths(*(count[rows] for count in lengths)))


class _Fit(NamedTuple):
    """A panel to fit.

    Attributes:
        name: the data set that it scores.
        rows: what it is fitted on.
        asked: [n] which lines of the set it scores.
    """

    name: str
    rows: Rows
    asked: NDArray[np.bool_]


def unseen_scores(
    lines: RatedLines, options: FitOptions = QUICK, *, seed: int = 0, advance: Advance = ignore
) -> FloatArray:
    """[N] each line's score by the judge that was fitted on all other data sets; NaN where none could be, or reads it.

    Args:
        lines: the rated lines.
        options: how each member is fitted.
        seed: decides the split of each fit and the order of its lines.
        advance: called with 1 after each fit, of which there is one a data set.
    """
    fits = [_Fit(name, lines.others(name), np.ones(len(own), dtype=bool)) for name, own in lines.sets.items()]
    return _fitted(lines, fits, options, seed, advance)


def seen_scores(
    lines: RatedLines, options: FitOptions = QUICK, *, seed: int = 0, advance: Advance = ignore
) -> FloatArray:
    """[N] each line's score by a judge that was fitted on other conversations of its data set as well.

    The conversations of a set are divided into five folds (fewer where there are fewer conversations); the lines of a
    fold are scored by the judge that was fitted on the other folds and on what `unseen_scores` fits on. Arguments as
    there, with a fit a fold.
    """
    fits = []
    for name, own in lines.sets.items():
        groups, others = joined_numbers(lines.traces[own]), lines.others(name)
        folds = min(FOLDS, len(np.unique(groups)))
        fold = fold_groups(groups, folds, np.random.default_rng(seed))
        fits += [
            _Fit(name, np.sort(np.concatenate([others, own[fold != number]])), fold == number)
            for number in range(folds if folds > 1 else 0)
        ]
    return _fitted(lines, fits, options, seed, advance)


def _fitted(lines: RatedLines, fits: Sequence[_Fit], options: FitOptions, seed: int, advance: Advance) -> FloatArray:
    """[N] scores of the lines that are asked for; two fits at a time."""
    from threadpoolctl import threadpool_limits

    scores = np.full(len(lines.ratings), np.nan)
    with threadpool_limits(limits=1, user_api="blas"), ThreadPoolExecutor(2) as pool:
        for fit, found in zip(fits, pool.map(lambda fit: _scores(lines, fit, options, seed), fits), strict=True):
            scores[lines.sets[fit.name][fit.asked]] = found[fit.asked]
            advance(1)
    return scores


def _scores(lines: RatedLines, asked: _Fit, options: FitOptions, seed: int) -> FloatArray:
    """[n] scores of the data set's lines that are asked for, by the panel that is fitted on the rows."""
    own, rows = lines.sets[asked.name], asked.rows
    scores, left = np.full(len(own), np.nan), asked.asked.copy()
    parts = split_groups(joined_numbers(lines.traces[rows]), SHARES, np.random.default_rng(seed)) if len(rows) else []
    fit = partial(_member, lines, [rows[part] for part in parts], options=options, seed=seed)
    for kind in MEMBERS:
        mine = left & lines.readable[kind][own]
        if mine.any() and (fitted := fit(kind)):
            # Those without a known word stay without a score, as in a panel; no later member takes them.
            scores[mine] = _predicted(lines.encoded.of(own[mine]), fitted, kind)
            left &= ~mine
    return scores


def _member(lines: RatedLines, parts: Sequence[Rows], kind: Kind, options: FitOptions, seed: int) -> Fitted | None:
    """The member `kind` fitted on the first of three parts and stopped on the second; None where too little is there.

    What is too little is what `train_judge` refuses.
    """
    known = lines.known[kind]
    parts = [np.flatnonzero(np.isin(known.rows, part)) for part in parts]
    own = np.concatenate([np.empty(0, dtype=np.intp), *parts])
    contexts, different = len(np.unique(lines.contexts[known.rows[own]])), len(np.unique(known.ratings[own]))
    if contexts < FEWEST_CONTEXTS or different < 2 or min(map(len, parts)) < FEWEST_LINES:
        return None
    rng = np.random.default_rng(seed)
    return fit_bilinear(known.raw, known.ratings, known.lengths, parts[0], parts[1], TERMS[kind], options, rng)


def _predicted(encoded: Encoded, fitted: Fitted, kind: Kind) -> FloatArray:
    """[n] predicted ratings; of several references the mean of the scores."""
    if "reference" not in TERMS[kind]:
        return fitted.predict(encoded.means)
    return encoded.combine(fitted.predict(encoded.pairs()), "mean")
