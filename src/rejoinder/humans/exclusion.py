"""Rules that leave raters out: a missed attention check and, where asked for, a low kappa with the other raters.

No rating is deleted: ratings that do not count are listed with the reason and kept aside.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rejoinder.data.values import is_number
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example
from rejoinder.humans.agreeing import KAPPAS, agreement_of
from rejoinder.humans.agreement import LEAST, OfRater
from rejoinder.humans.raters import Raters
from rejoinder.stats.agreement import WEIGHTINGS, Weighting
from rejoinder.stats.figure import Figure, number, pluralize
from rejoinder.stats.resamples import Sampling

CHECK = "check"
"""The key of a line whose rating is known: what an attentive rater gives, or the lowest and highest of it."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Who is left out.

    Attributes:
        kappa: a rater whose kappa with the others is lower is left out; None leaves nobody out for disagreeing.
        weighting: of that kappa.
    """

    kappa: float | None = None
    weighting: Weighting = "quadratic"

    def __post_init__(self) -> None:
        """Refuse what is no rule.

        Raises:
            UsageError: `kappa` is no number up to 1, or there is no such weighting.
        """
        if self.kappa is not None and (not is_number(self.kappa) or not self.kappa <= 1):
            raise UsageError(f"the least kappa is {self.kappa!r}, expected a number up to 1")
        if self.weighting not in WEIGHTINGS:
            raise UsageError(f"{self.weighting!r} weighs no kappa. There are: {', '.join(WEIGHTINGS)}")


@dataclass(frozen=True, slots=True)
class Excluded:
    """A rater whose ratings stand aside.

    Attributes:
        rater: the name.
        why: the rule that it is by, with the figure.
        ratings: how many.
    """

    rater: str
    why: str
    ratings: int


@dataclass(frozen=True, slots=True)
class Watched:
    """What is known of a rater besides the ratings.

    Attributes:
        missed: attention checks that were missed.
        checks: attention checks that were given.
        seconds: time spent on each reply, where that is known.
    """

    missed: int = 0
    checks: int = 0
    seconds: tuple[float, ...] = ()


def watched(checks: Sequence[Example], dimension: str) -> dict[str, Watched]:
    """By rater, how many attention checks among lines were missed, and how many there were.

    Args:
        checks: lines with the key `check`.
        dimension: which ratings.

    Raises:
        DataError: a check says no rating, nor the lowest and highest of one.
    """
    found: dict[str, Watched] = {}
    for line in checks:
        low, high = _expected(line)
        for one in line.ratings:
            if one.dimension == dimension and one.rater is not None:
                known = found.get(one.rater, Watched())
                missed = known.missed + (not low <= one.value <= high)
                found[one.rater] = Watched(missed, known.checks + 1)
    return found


def _expected(line: Example) -> tuple[float, float]:
    """What an attentive rater gives at the lowest and at the highest."""
    given: Any = line.extra[CHECK]
    ends = given if isinstance(given, list) else [given, given]
    if len(ends) != 2 or not all(map(is_number, ends)) or ends[0] > ends[1]:
        remedy = 'Write "check": 1, or "check": [1, 2]'
        raise DataError(f"{given!r}, expected a rating or [lowest, highest]", remedy, where=line.where, field=CHECK)
    return ends[0], ends[1]


def excluded(raters: Sequence[OfRater], known: Mapping[str, Watched], rule: Rule) -> tuple[Excluded, ...]:
    """Those left out, in the order of `raters`.

    A rater who shares fewer than ten ratings with others is not judged by them; of two raters who do not agree nobody
    can say who is at fault, so kappa leaves nobody out who shares lines with one other alone.

    Args:
        raters: all of them.
        known: what is known of each besides; one attention check that is missed is enough.
        rule: who is left out.

    The rule by kappa is off unless it is asked for. It leaves out honest raters wherever people disagree, and raises
    the agreement of the others even where every rater is as good as the next; `by_chance` tells by how much.

    Source: Lowe et al. (2017), appendix (checks, and kappa under .2); Liu et al. (2016), section 5.1 (kappa).
    """
    found = []
    least = -math.inf if rule.kappa is None else rule.kappa
    for one in raters:
        own = known.get(one.rater, Watched())
        kappa: Figure = getattr(one, KAPPAS[rule.weighting])
        if own.missed:
            why = f"missed {own.missed} of {pluralize(own.checks, 'attention check')}"
            found.append(Excluded(one.rater, why, one.ratings))
        elif one.partners > 1 and one.n >= LEAST and not math.isnan(kappa.value) and kappa.value < least:
            why = f"kappa {number(kappa.value, 2)} with the others, below {least:g}"
            found.append(Excluded(one.rater, why, one.ratings))
    return tuple(found)


SHUFFLES = 20


@dataclass(frozen=True, slots=True)
class ByChance:
    """The effect that a rule by kappa has where no rater is better than another.

    The ratings of each line are shuffled among its raters, so that only chance makes raters differ.

    Attributes:
        raters: mean number of raters that the rule leaves out.
        alpha: mean of Krippendorff's alpha (interval) of the raters that are left; NaN where nobody is left.
        shuffles: number of shuffles.
    """

    raters: float
    alpha: float
    shuffles: int = SHUFFLES


def by_chance(raters: Raters, rule: Rule, rng: np.random.Generator, shuffles: int = SHUFFLES) -> ByChance:
    """Return the effect that `rule` has on `raters` after their ratings were shuffled within each line."""
    left_out, alphas = [], []
    for _ in range(shuffles):
        mixed = raters.shuffled(rng)
        names = {who.rater for who in excluded(agreement_of(mixed, Sampling(0, 0)).by_rater, {}, rule)}
        rest = mixed.without([number for number, name in enumerate(mixed.names) if name in names])
        left_out.append(len(names))
        alphas.append(agreement_of(rest, Sampling(0, 0)).alpha_interval.value)
    known = [alpha for alpha in alphas if not math.isnan(alpha)]
    return ByChance(float(np.mean(left_out)), float(np.mean(known)) if known else math.nan, shuffles)
