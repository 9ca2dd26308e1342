"""Claims about few systems are right in worlds with known truth."""

from __future__ import annotations

import pytest

from simulations.rows import Simulation
from simulations.systems import SIMULATIONS


@pytest.mark.parametrize("simulation", SIMULATIONS, ids=lambda simulation: simulation.run.__name__)
def test_figures_are_in_their_range(simulation: Simulation) -> None:
    wrong = [row for row in simulation.run(simulation.few, 0) if not row.outside and not row.holds()]
    assert wrong == []
