"""Raters are not left out for disagreeing, and no constant can replace one of them."""

from __future__ import annotations

import pytest

from simulations.raters import SIMULATIONS
from simulations.rows import Simulation


@pytest.mark.parametrize("simulation", SIMULATIONS, ids=lambda simulation: simulation.run.__name__)
def test_the_rule_is_right_where_the_truth_is_known(simulation: Simulation) -> None:
    rows = simulation.run(simulation.few, 1)
    assert [row for row in rows if not row.outside and not row.holds()] == []
