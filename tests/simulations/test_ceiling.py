"""The simulations of ceiling, with few draws."""

from __future__ import annotations

import pytest

from simulations.ceiling import SIMULATIONS
from simulations.rows import Simulation


@pytest.mark.parametrize("simulation", SIMULATIONS, ids=lambda simulation: simulation.run.__name__)
def test_figures_are_right(simulation: Simulation) -> None:
    rows = simulation.run(simulation.few, 1)
    assert [row for row in rows if not row.holds() and not row.outside] == []
