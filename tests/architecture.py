"""The packages of rejoinder: floors, line budgets, and which packages are rewritten already.

`python tests/architecture.py` prints the table: lines today, budget, floor.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).resolve().parent.parent / "src" / "rejoinder"
CORE = "core"
"""The name under which the modules directly under `rejoinder/` count."""
DOORS = {"__init__", "__main__"}
BASE = "base"
"""The lower half of the core: the modules that every package may import. Their lines count in the core."""
BASE_MODULES = {"errors", "estimates", "choices", "listening", "version", "assets"}
CEILING = 63_400
"""Lines of all packages together; lowered at each step, but raised by 3,500 for judges against labels and the rules of
the statistics."""
REWRITTEN: frozenset[str] = frozenset({"analysis", CORE, "data", "perturbations", "report", "stats", "text"})
"""Packages that have reached their design: final floor and budget, plain English, no circle of files."""


class Package(NamedTuple):
    """A package of the design.

    Attributes:
        floor: it imports only from floors below.
        budget: the most lines of Python that it may have.
    """

    floor: float
    budget: int


DESIGN = {
    "cli": Package(10, 1_750),
    "annotation": Package(9, 1_700),
    "serving": Package(9, 1_100),
    "integrations": Package(9, 450),
    "analysis": Package(8, 8_630),  # 4,400 in the first design: layouts, templates, judges against labels (1,450)
    "auditing": Package(8, 1_600),
    "systems": Package(8, 1_450),
    "scoring": Package(7, 1_100),
    "judges": Package(6, 4_550),
    "pretraining": Package(5.5, 2_200),
    "models": Package(5, 3_480),
    "report": Package(4, 1_330),  # 1,150 in the first design: text for those who cannot see a chart, labels that fit
    "metrics": Package(4, 1_160),
    "perturbations": Package(4, 760),
    "llm": Package(4, 1_200),
    "external": Package(4, 400),
    "data": Package(3, 8_302),  # 3,950 in the first design: 22 formats in place of 13, limits, scales, labels
    CORE: Package(2, 1_603),
    "text": Package(1, 740),
    "stats": Package(1, 2_870),  # 1,900 in the first design: Kendall, two samples, pass rates, labels in estimates
}
TODAY = {
    "cli": Package(12, 4_131),
    "integrations": Package(11, 550),
    "pages": Package(11, 761),
    "serving": Package(11, 2_213),
    "auditing": Package(8, 2_047),
    "improve": Package(9, 1_820),
    "annotation": Package(6, 1_866),
    "judges": Package(6, 8_240),
    "scoring": Package(7, 2_969),  # the report of score came in
    "metrics": Package(5, 1_445),
    "external": Package(4, 742),
    "pretraining": Package(5.5, 3_080),
    "models": Package(5, 4_596),
    "llm": Package(4, 2_482),
}
"""The packages that are not rewritten yet, with the floors and sizes that they have."""


def package_of(module: str) -> str:
    """Return the package of a dotted module name inside rejoinder; `core` or `base` for one directly under it."""
    name = module.split(".")[1]
    if name in BASE_MODULES:
        return BASE
    return name if (SOURCE / name).is_dir() else CORE


def files_of(package: str) -> list[Path]:
    """Return the modules of a package."""
    if package == CORE:
        return sorted([*SOURCE.glob("*.py"), *SOURCE.glob("assets/*.py")])
    return sorted((SOURCE / package).rglob("*.py"))


def lines_of(package: str) -> int:
    """Return how many lines of Python a package has."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files_of(package))


def packages() -> dict[str, Package]:
    """Return every package there is, a rewritten one as the design has it."""
    names = {path.parent.name for path in SOURCE.glob("*/__init__.py")} - BASE_MODULES | {CORE}
    return {name: DESIGN[name] if name in REWRITTEN else TODAY.get(name, Package(-1, 0)) for name in sorted(names)}


def main() -> None:
    """Print the table."""
    write, total = sys.stdout.write, 0
    for name, package in sorted(packages().items(), key=lambda item: -item[1].floor):
        lines = lines_of(name)
        total += lines
        state = "rewritten" if name in REWRITTEN else ""
        write(f"{package.floor:>4g} {name:<14} {lines:>7,} of {package.budget:>6,}  {state}\n")
    write(f"    {'total':<14} {total:>7,} of {CEILING:>6,}\n")


if __name__ == "__main__":
    main()
