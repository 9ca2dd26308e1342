"""What a simulation returns: how often a rule is right in worlds with known truth."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import NamedTuple

NAN = float("nan")
FALSE_VERDICTS = (0.0, 0.07)
"""Range of the share of false verdicts that is right at a level of 5 %."""
COVERAGE = (0.92, 1.0)
"""Range of the share of 95 % intervals with the truth that is right."""


class Row(NamedTuple):
    """One measured figure of a rule.

    Attributes:
        rule: name of the rule.
        design: the simulated world, in words.
        measure: what is measured.
        value: the figure.
        draws: number of simulated data sets.
        right: the range that counts as right.
        before: the same figure under the rule that was replaced; NaN if not measured.
        outside: why this design is outside of what can be claimed; "" if it is inside.
    """

    rule: str
    design: str
    measure: str
    value: float
    draws: int
    right: tuple[float, float]
    before: float = NAN
    outside: str = ""

    def holds(self) -> bool:
        """Return whether the figure is in its range, but for three standard errors of a share over these draws."""
        low, high = self.right
        inside = min(max(self.value, 0.0), 1.0)
        error = 3 * sqrt(max(inside * (1 - inside), 0.01) / self.draws)
        return low - error <= self.value <= high + error


class Simulation(NamedTuple):
    """A function from a number of draws and a seed to rows, with the numbers for the test and for the long table."""

    run: Callable[[int, int], list[Row]]
    few: int
    many: int
