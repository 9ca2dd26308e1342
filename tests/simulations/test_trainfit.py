"""Claims of `train`, `fit` and `quality` in worlds with known truth; the long table is docs/results/statistics.md."""

from __future__ import annotations

import pytest

from simulations.rows import Simulation
from simulations.trainfit import SIMULATIONS


@pytest.mark.parametrize("simulation", SIMULATIONS, ids=lambda simulation: simulation.run.__name__)
def test_every_figure_is_in_its_range(simulation: Simulation) -> None:
    wrong = [row for row in simulation.run(simulation.few, 0) if not row.holds() and not row.outside]
    assert not wrong
