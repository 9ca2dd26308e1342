"""How often intervals miss the truth where lines share references alone, and how many clusters each data set has.

    python benchmarks/clusters.py [FILE...]

Simulated are lines without a context: so many references, six replies to each. Every reference has a level of its own
in the ratings and another, independent one in the scores; so the correlation is 0 and the mean rating is 3. A line is
then printed for each FILE of rated lines or pairs: lines, contexts as they are named or written, clusters.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import rejoinder
from rejoinder import Example, Pair
from rejoinder.scorer import Scores, Signature

DRAWS = {"study": 200, "estimate": 100}
REFERENCES, REPLIES, SEED = 60, 6, 0


def lines_of(rng: np.random.Generator) -> tuple[list[Example], NDArray[np.float64]]:
    """Rated lines, and scores that know nothing of the ratings."""
    ratings, scores = (
        np.repeat(rng.normal(size=REFERENCES), REPLIES) + 0.5 * rng.normal(size=REFERENCES * REPLIES) for _ in range(2)
    )
    lines = [
        Example(
            (),
            f"reply {place}",
            (f"reference {place // REPLIES}",),
            id=str(place),
            quality={"overall": float(3 + rating)},
            extra={"score": float(score)},
        )
        for place, (rating, score) in enumerate(zip(ratings, scores, strict=True))
    ]
    return lines, scores


def main(files: list[str]) -> None:
    """Print the figures."""
    rng = np.random.default_rng(SEED)
    missed = 0
    for _ in range(DRAWS["study"]):
        lines, scores = lines_of(rng)
        found = rejoinder.study(lines, {"given": Scores(scores, {}, Signature({"scorer": "given"}))}, resamples=200)
        row = found.one(scorer="given", statistic="pearson", level="turn")
        missed += not row.low <= 0 <= row.high
    print(f"study: {missed} of {DRAWS['study']} intervals of Pearson miss 0")
    held = 0
    for _ in range(DRAWS["estimate"]):
        lines, _ = lines_of(rng)
        (mean,) = rejoinder.estimate(lines, "column:score").systems
        held += mean.low <= 3 <= mean.high
    print(f"estimate: {held} of {DRAWS['estimate']} intervals hold the mean")
    for file in files:
        print(_counted(file))


def _counted(file: str) -> str:
    """The row of a file."""
    from rejoinder.data.clusters import clusters_of

    pairs = {"preferences", "judged_pairs"} & set(Path(file).parts)
    items: list[Example | Pair] = [*(rejoinder.read_pairs(file) if pairs else rejoinder.read(file))]
    contexts = {item.context_key for item in items}
    sizes = np.bincount(clusters_of(items).numbers)
    name = Path(file).name.partition(".")[0]
    return f"| {name} | {len(items):,} | {len(contexts):,} | {len(sizes):,} | {sizes.max():,} |"


if __name__ == "__main__":
    main(sys.argv[1:])
