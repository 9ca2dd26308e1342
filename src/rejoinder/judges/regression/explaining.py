"""What moved a rating of a judge over views, by the groups of its features, from its head itself.

Ridge regression and trees both say what each feature adds to their prediction; calibration stretches that into rating
points. So nothing is fitted beside the judge, and the parts add up to its score. Shapes: N examples, F features.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import numpy as np

from rejoinder.example import Example
from rejoinder.judges.features.table import Features, Group
from rejoinder.judges.regression.adapt import RAW
from rejoinder.judges.regression.calibration import bent
from rejoinder.judges.regression.fit import Part
from rejoinder.scorer import Explanation


def explanations_of(
    part: Part, groups: Sequence[Group], features: Features, examples: Sequence[Example]
) -> list[Explanation]:
    """[N] what moved the ratings from 1 to 5 that one head gives.

    Args:
        part: the head, and how its predictions become ratings.
        groups: what each feature of all views tells.
        features: [N, F] those that this head reads.
        examples: [N] what these are of.
    """
    calibration = part.calibration
    own = [groups[column] for column in part.columns]
    own += [column.group for column in RAW] if part.adaptation else []
    before = calibration.ratings(np.array([part.expected]))
    base = bent(before)
    after = calibration.ratings(part.predict(features, examples))
    # Bending a score into the scale leaves as large a share of what each feature added as of all together.
    away = after - before
    kept = np.divide(bent(after) - base, away, out=np.ones(len(away)), where=away != 0)
    moved = part.moved(features, examples) * (calibration.stretch * kept)[:, None]
    # Each row of a group stands by itself in memory, so that numpy adds it up alike however many rows there are.
    points = {
        group: np.ascontiguousarray(moved[:, [column for column, one in enumerate(own) if one == group]]).sum(axis=1)
        for group in get_args(Group)
        if group in own
    }
    return [
        Explanation(float(base[0]), {group: float(added[row]) for group, added in points.items()})
        for row in range(len(features))
    ]
