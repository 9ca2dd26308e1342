"""Write `docs/results/statistics.md`: what the rules of the statistics give in worlds with known truth.

`python tests/simulations/write.py` runs every simulation with many draws, which takes about half an hour on one core.
`--only NAME` runs one module and prints its table.
"""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from importlib import import_module
from math import isnan
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from simulations.rows import Row

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "results" / "statistics.md"
SEED = 1
NOT_MODULES = {"__init__", "rows", "write"}
HEAD = """# Statistics: simulations

Each rule of [the statistics](../reference/statistics.md) was tried in worlds with known truth. "Before" is the rule
that it replaced, on the same draws. A share over n draws has a standard error of at most .5 / sqrt(n).

Some rules were adjusted after a look at these worlds: the half counts in pass rates, the correction for unequal
systems in the band of chance, the errors of ratings in length bias, the families of comparisons. Expect figures in
other worlds to be slightly worse.

    python tests/simulations/write.py

Seed {seed}, {date}.
"""


def modules() -> list[str]:
    """Return the names of all simulations."""
    names = (path.stem for path in sorted(HERE.glob("*.py")))
    return [name for name in names if name not in NOT_MODULES and not name.startswith("test_")]


def rows_of(name: str) -> list[Row]:
    """Run the simulations of one module with many draws."""
    simulations = import_module(f"simulations.{name}").SIMULATIONS
    return [row for simulation in simulations for row in simulation.run(simulation.many, SEED)]


def table(rows: list[Row]) -> str:
    """Return rows as a Markdown table."""
    lines = [
        "| rule | world | measured | value | right | before | draws |",
        "| --- | --- | --- | ---: | --- | ---: | ---: |",
    ]
    for row in rows:
        low, high = row.right
        state = row.outside or ("" if row.holds() else "not reached")
        right = f"{low:.2f} to {high:.2f}" + (f" ({state})" if state else "")
        before = "" if isnan(row.before) else f"{row.before:.3f}"
        cells = [row.rule, row.design, row.measure, f"{row.value:.3f}", right, before, f"{row.draws:,}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Run the simulations, and write the page or print a table."""
    parser = argparse.ArgumentParser(description="Simulate the rules of the statistics.")
    parser.add_argument("--only", choices=modules(), help="one module; prints its table")
    only = parser.parse_args().only
    if only:
        sys.stdout.write(table(rows_of(only)) + "\n")
        return
    rows = []
    for name in modules():
        sys.stderr.write(f"{name}\n")
        rows += rows_of(name)
    head = HEAD.format(seed=SEED, date=datetime.now(UTC).date())
    PAGE.write_text(f"{head}\n{table(rows)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
