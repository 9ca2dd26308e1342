"""How figures are resampled: how often, and which generator each of them draws from.

A figure draws from a generator of its own, which follows from the seed, what is drawn for (the name of a data set) and
the purpose. So it stays what it is whatever else is asked for, and in whatever order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self
from zlib import crc32

import numpy as np

from rejoinder.errors import UsageError
from rejoinder.stats.arrays import Counts
from rejoinder.stats.bootstrap import cluster_counts

MOST_RESAMPLES = 100_000
Purpose = Literal[
    "agreement",
    "assignment",
    "attack",
    "audited lines",
    "bias",
    "ceiling",
    "choices",
    "comparison",
    "contrasts",
    "fit",
    "geometry",
    "leave one out",
    "length",
    "models of raters",
    "next lines",
    "paper",
    "paper, dialogue quoted",
    "paper, growing shares",
    "paper, kept at random",
    "paper, lines attacked",
    "paper, lines quoted",
    "paper, swaps",
    "halves of raters",
    "pool",
    "quality",
    "re-ranking",
    "raters",
    "raters by chance",
    "reliability",
    "stand-in",
    "systems",
    "trial",
    "within systems",
]

# The numbers behind the purposes are those that published figures were drawn with; another number would move them.
#
# Purposes without a number meet on no data set: ratings, choices between two replies, a trial, which has a name of its
# own, who rates what, which is drawn for the number of a rater, and a comparison, which draws for numbers of clusters
# and not for a name. The experiments of papers draw for no name at all, so their numbers are another series.
PURPOSES: Mapping[Purpose, tuple[int, ...]] = {
    "agreement": (),
    "choices": (),
    "comparison": (),
    "trial": (),
    "assignment": (),
    "ceiling": (1,),
    "contrasts": (2,),
    "length": (3,),
    "systems": (4,),
    "within systems": (5,),
    "pool": (6,),
    "leave one out": (7,),
    "attack": (9,),
    "audited lines": (10,),
    "geometry": (11,),
    "reliability": (12,),
    "bias": (13,),
    "fit": (14,),
    "re-ranking": (16,),
    "next lines": (17,),
    "quality": (18,),
    "raters by chance": (29,),
    "raters": (25,),
    "halves of raters": (26,),
    "models of raters": (27,),
    "stand-in": (28,),
    "paper": (0,),
    "paper, swaps": (1,),
    "paper, kept at random": (2,),
    "paper, growing shares": (3,),
    "paper, lines quoted": (4,),
    "paper, dialogue quoted": (5,),
    "paper, lines attacked": (6,),
}


@dataclass(frozen=True, slots=True)
class Sampling:
    """How often to resample, and with which seed.

    Attributes:
        resamples: number of resamples; 0 gives no intervals.
        seed: 0 or more.
    """

    resamples: int
    seed: int

    @classmethod
    def checked(cls, resamples: Any, seed: Any, *, least: int = 0) -> Self:
        """The sampling that a caller asks for.

        Args:
            resamples: a whole number from `least` to `MOST_RESAMPLES`.
            seed: a whole number, 0 or more.
            least: see `resamples`.

        Raises:
            UsageError: one of them is none.
        """
        if not isinstance(resamples, (int, np.integer)) or not least <= resamples <= MOST_RESAMPLES:
            raise UsageError(f"resamples is {resamples!r}, expected a whole number from {least} to {MOST_RESAMPLES:,}")
        if not isinstance(seed, (int, np.integer)) or seed < 0:
            raise UsageError(f"seed is {seed!r}, expected a whole number, 0 or more")
        return cls(int(resamples), int(seed))

    def generator(self, drawn_for: str | Sequence[int], purpose: Purpose) -> np.random.Generator:
        """The generator that a figure draws from.

        Args:
            drawn_for: name of a data set; where nothing has a name, how many clusters there are, or nothing.
            purpose: see `PURPOSES`.
        """
        # crc32, because Python's own hash of a text is another one in each process
        named = [crc32(drawn_for.encode())] if isinstance(drawn_for, str) else drawn_for
        return np.random.default_rng(np.random.SeedSequence([self.seed, *named, *PURPOSES[purpose]]))

    def counts(self, clusters: int, drawn_for: str | Sequence[int], purpose: Purpose) -> Counts:
        """[G, B] how often each of G `clusters` is drawn, from `generator`; B is 0 where there are none to draw."""
        return cluster_counts(clusters, self.resamples if clusters else 0, self.generator(drawn_for, purpose))
