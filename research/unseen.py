"""How a judge does on a system that it never saw, and with fewer ratings (Lowe et al. 2017, table 4 and supplement).

Shapes: N lines, S splits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rejoinder.estimates import Estimate
from rejoinder.judges.adem.judge import Kind
from rejoinder.judges.adem.optimizer import AdemOptions
from rejoinder.judges.protocol import Rows
from rejoinder.scorer import Advance, FloatArray, ignore
from rejoinder.stats.resamples import Sampling
from research.figures import Appearances, Figures
from research.fits import Judgement, Split, judge, predictions
from research.material import Material, leave_one_out

FEWEST_LINES = 80
KEPT_AT_RANDOM = 0.75
SHARES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)


def keep_at_random(rows: Rows, share: float, rng: np.random.Generator) -> Rows:
    """A random `share` (0 to 1) of `rows`, ascending: single items, whatever their groups.

    Source: Lowe et al. 2017, table 4, whose last row leaves out 25 % at random.
    """
    return np.sort(rng.choice(rows, size=round(share * len(rows)), replace=False))


def growing_shares(groups: Rows, shares: Sequence[float], rng: np.random.Generator) -> list[Rows]:
    """Positions of growing random parts of whole groups, each part inside the next, for a curve over label counts.

    Args:
        groups: [N] group number of each item.
        shares: ascending shares of the groups, over 0 and at most 1; each part has one group at least.
        rng: decides the order of the groups.

    Raises:
        ValueError: the shares do not ascend, or leave that range.
    """
    if not shares or shares[0] <= 0 or shares[-1] > 1 or any(a >= b for a, b in pairwise(shares)):
        raise ValueError(f"shares {list(shares)}, expected ascending ones over 0 and at most 1")
    order = rng.permutation(np.unique(groups))
    sizes = [max(1, round(share * len(order))) for share in shares]
    return [np.flatnonzero(np.isin(groups, order[:size])) for size in sizes]


class Unseen(NamedTuple):
    """A judge that never saw a system.

    Attributes:
        system: which was left out of training and validation; "" where lines were left out at random.
        lines: how many lines it has in all.
        share: share of the training lines that were left out, mean over the splits.
        full: Spearman and Pearson on the full test parts.
        removed: the same on the test lines of the system left out; None at random.
        seen: the same lines, judged by the judge that was fitted on everything; None at random.
    """

    system: str
    lines: int
    share: float
    full: tuple[Estimate, Estimate]
    removed: tuple[Estimate, Estimate] | None
    seen: tuple[Estimate, Estimate] | None


class Point(NamedTuple):
    """A judge that was given a share of the labels.

    Attributes:
        share: of the contexts of training and of validation.
        lines: how many lines that is, training and validation together, mean over the splits.
        spearman: on the full test parts.
        pearson: the same.
    """

    share: float
    lines: float
    spearman: Estimate
    pearson: Estimate


def systems_to_leave_out(material: Material) -> list[str]:
    """The systems with enough lines to say something about them, most lines first.

    One name is one system, in whatever data set it stands.
    """
    known = material.systems[material.own]
    names, lines = np.unique(known[known != ""], return_counts=True)
    order = np.lexsort((names, -lines))
    return [str(names[place]) for place in order if lines[place] >= FEWEST_LINES]


def unseen_systems(
    figures: Figures,
    splits: Sequence[Split],
    full: Sequence[Judgement],
    options: Sequence[AdemOptions],
    kind: Kind,
    where: Appearances,
    advance: Advance = ignore,
) -> list[Unseen]:
    """Each system with 80 lines or more left out once, most lines first; in the end a quarter left out at random.

    Args:
        figures: of the material.
        splits: the splits.
        full: [S] the judges that were fitted on everything, whose encodings are used.
        options: [S] how each split fits.
        kind: the judge's.
        where: the test lines.
        advance: called with 1 after each fit.
    """
    material, seen = figures.material, predictions(full)
    parts = {one.label: one for one in leave_one_out(material.systems)}
    found = []
    for system in systems_to_leave_out(material):
        reduced = [_only(split, parts[system].rest) for split in splits]
        scores = _fitted(material, reduced, full, options, kind, advance)
        theirs = where.where(material.systems == system)
        found.append(
            Unseen(
                system,
                int((~material.copies[parts[system].left]).sum()),
                _share(splits, reduced),
                figures.both(scores, where),
                figures.both(scores, theirs),
                figures.both(seen, theirs),
            )
        )
    rngs = [Sampling(0, split.seed).generator((), "paper, kept at random") for split in splits]
    at_random = [
        split._replace(train=keep_at_random(split.train, KEPT_AT_RANDOM, rng))
        for split, rng in zip(splits, rngs, strict=True)
    ]
    scores = _fitted(material, at_random, full, options, kind, advance)
    return [*found, Unseen("", 0, _share(splits, at_random), figures.both(scores, where), None, None)]


def fewer_labels(
    figures: Figures,
    splits: Sequence[Split],
    full: Sequence[Judgement],
    options: Sequence[AdemOptions],
    kind: Kind,
    where: Appearances,
    advance: Advance = ignore,
) -> list[Point]:
    """The judge with growing shares of the labels, those of the validation part among them. Arguments as above."""
    material = figures.material
    points = []
    for place, share in enumerate(SHARES):
        reduced = [
            split._replace(
                train=_growing(material, split.train, split.seed)[place],
                validation=_growing(material, split.validation, split.seed)[place],
            )
            for split in splits
        ]
        # As many steps for few lines as for many; else the judge of few would be one that was stopped too soon.
        longer = [replace(one, epochs=round(one.epochs / share)) for one in options]
        scores = _fitted(material, reduced, full, longer, kind, advance)
        lines = float(np.mean([len(split.train) + len(split.validation) for split in reduced]))
        points.append(Point(share, lines, *figures.both(scores, where)))
    return points


def _fitted(
    material: Material,
    splits: Sequence[Split],
    full: Sequence[Judgement],
    options: Sequence[AdemOptions],
    kind: Kind,
    advance: Advance,
) -> FloatArray:
    """[S, N] what judges predict that were fitted on reduced splits."""
    found = []
    for split, one, option in zip(splits, full, options, strict=True):
        found.append(judge(material, one.encoding, split, kind, option))
        advance(1)
    return predictions(found)


def _only(split: Split, rows: Rows) -> Split:
    """The split with training and validation cut to `rows`."""
    return split._replace(train=np.intersect1d(split.train, rows), validation=np.intersect1d(split.validation, rows))


def _share(splits: Sequence[Split], reduced: Sequence[Split]) -> float:
    """The share of the training lines that was left out, mean over the splits."""
    return float(np.mean([1 - len(less.train) / len(split.train) for split, less in zip(splits, reduced, strict=True)]))


def _growing(material: Material, rows: Rows, seed: int) -> list[Rows]:
    """Growing shares of the contexts of `rows`, each inside the next."""
    rng = Sampling(0, seed).generator((), "paper, growing shares")
    return [rows[part] for part in growing_shares(material.contexts[rows], SHARES, rng)]
