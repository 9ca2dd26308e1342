"""Comparisons by labels say that B is better in few worlds where nothing differs; shares near 1 are covered."""

from __future__ import annotations

import pytest

from simulations.compare_labels import SIMULATIONS
from simulations.rows import Simulation


@pytest.mark.parametrize("simulation", SIMULATIONS, ids=lambda simulation: simulation.run.__name__)
def test_figures_are_in_their_range(simulation: Simulation) -> None:
    wrong = [row for row in simulation.run(simulation.few, 0) if not row.outside and not row.holds()]
    assert wrong == []
