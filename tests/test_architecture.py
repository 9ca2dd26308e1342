"""The house: packages import from lower floors only, siblings not at all, and importing rejoinder stays light."""

from __future__ import annotations

import ast
import csv
import io
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import rejoinder
from architecture import BASE, CEILING, DESIGN, DOORS, REWRITTEN, SOURCE, TODAY, lines_of, package_of, packages
from rejoinder import estimates
from rejoinder.analysis.analyses import ANALYSES
from rejoinder.analysis.scored import ScoredSet
from rejoinder.estimates import Estimate
from rejoinder.example import Example
from rejoinder.report.files import csv_text, latex
from rejoinder.report.html import html
from rejoinder.report.markdown import markdown
from rejoinder.report.tables import Column, Table, pivot

LONGEST_FILE = 600
LONGEST_FUNCTION = 80


@cache
def nodes(path: Path) -> list[ast.stmt]:
    """All statements of a file, those inside functions too."""
    return [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.stmt)]


def edges(path: Path) -> Iterator[tuple[str, int]]:
    """(imported rejoinder module, line) for every import in a file."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            for name in node.names:
                if name.name.startswith("rejoinder."):
                    yield name.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            if node.module == "rejoinder":
                for name in node.names:
                    yield f"rejoinder.{name.name}", node.lineno
            elif node.module and node.module.startswith("rejoinder."):
                yield node.module, node.lineno


def offences(source: Path) -> list[str]:
    """The imports that go up a floor or across to a sibling."""
    found = []
    for path in sorted(source.rglob("*.py")):
        inside = path.relative_to(source)
        if inside.stem in DOORS and len(inside.parts) == 1:
            continue
        mine = package_of(".".join(("rejoinder", *inside.with_suffix("").parts)))
        for module, line in edges(path):
            other = package_of(module)
            if other != mine and not may_import(mine, other):
                floors = [floor_of(mine, other), floor_of(other, mine)]
                found.append(f"{inside}:{line}: {mine} (floor {floors[0]}) imports {module} (floor {floors[1]})")
    return found


def floor_of(package: str, other: str) -> float:
    """Return the floor of a package: by the design where both are rewritten, else by the order of today."""
    if package == BASE:
        return 0
    if package in REWRITTEN and (other in REWRITTEN or package not in TODAY):
        return DESIGN[package].floor
    return TODAY[package].floor if package in TODAY else DESIGN[package].floor


def may_import(package: str, other: str) -> bool:
    """Return whether a package stands above another."""
    return floor_of(package, other) > floor_of(other, package)


def test_every_package_has_a_floor_and_a_budget() -> None:
    assert [name for name, package in packages().items() if package.floor < 0] == []


def test_packages_keep_their_budgets() -> None:
    over = {name: lines_of(name) for name, package in packages().items() if lines_of(name) > package.budget}
    assert over == {}, "python tests/architecture.py prints the table"


def test_the_whole_keeps_its_ceiling() -> None:
    assert sum(map(lines_of, packages())) <= CEILING


def test_no_public_name_is_a_module() -> None:
    """Python binds a module to its package when it is imported, and would hide the function of that name."""
    modules = {path.stem for path in SOURCE.glob("*.py")} | {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert modules & set(rejoinder.__all__) == set()


def test_imports_go_down() -> None:
    assert offences(SOURCE) == []


def test_an_import_that_goes_up_is_found(tmp_path: Path) -> None:
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "a.py").write_text("def f():\n    from rejoinder.metrics import bleu\n")
    assert offences(tmp_path) == ["text/a.py:2: text (floor 1) imports rejoinder.metrics (floor 4)"]


def test_no_module_cycle() -> None:
    graph: dict[str, set[str]] = {}
    for path in SOURCE.rglob("*.py"):
        inside = path.relative_to(SOURCE)
        if inside.stem in DOORS:
            continue
        name = ".".join(("rejoinder", *inside.with_suffix("").parts))
        graph[name] = {module for module, _ in edges(path)}
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " -> ".join((*path, module))
        if module not in done:
            for other in graph.get(module, ()):
                visit(other, (*path, module))
            done.add(module)

    for module in graph:
        visit(module, ())


def test_files_stay_short() -> None:
    long = [path.name for path in SOURCE.rglob("*.py") if len(path.read_text().splitlines()) > LONGEST_FILE]
    assert long == []


def test_functions_stay_short() -> None:
    long = [
        f"{path.relative_to(SOURCE)}: {node.name}"
        for path in SOURCE.rglob("*.py")
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) - node.lineno >= LONGEST_FUNCTION
    ]
    assert long == []


@pytest.mark.parametrize("statement", ["import rejoinder", "import rejoinder.cli; rejoinder.cli._app(['--help'])"])
def test_importing_is_light(statement: str) -> None:
    heavy = ("torch", "scipy", "nltk", "sklearn", "sacrebleu", "polars")
    code = f"import sys; {statement}; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_public_names_are_sorted_and_load() -> None:
    assert sorted(rejoinder.__all__) == rejoinder.__all__
    for name in rejoinder.__all__:
        assert getattr(rejoinder, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'bleu'"):
        _ = rejoinder.bleu


def vowels(scored: ScoredSet) -> list[Estimate]:
    """An analysis that nobody needs: the share of responses that begin with a vowel."""
    begins = [one.response[:1].lower() in "aeiou" for one in scored.rated.examples]
    rows = np.arange(len(begins))
    return [scored.row("raters", rows, "share of vowels", value=sum(begins) / len(begins))]


def vowels_table(estimates: list[Estimate]) -> Table | None:
    return pivot(estimates, "scorer", [Column("begins with a vowel", {"statistic": "share of vowels"})], title="Vowels")


def test_an_analysis_is_a_function_its_table_and_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimates, "STATISTICS", estimates.STATISTICS | {"share of vowels"})
    lines = [
        Example((f"context {n // 2}",), text, id=f"{dataset}-{n}", dataset=dataset, quality={"overall": float(n % 5)})
        for dataset, texts in (("one", ["oh", "no", "is it", "so"]), ("two", ["hm", "he", "a b", "me"]))
        for n, text in enumerate(texts)
    ]
    results = rejoinder.study(lines, ["length"], resamples=0, analyses=[*ANALYSES, (vowels, vowels_table)])
    expected = {"one": 0.5, "two": 0.25, "pooled": 0.375}
    assert {row.dataset: row.value for row in results.pick(statistic="share of vowels")} == expected
    for render in (html, markdown, latex):
        page = render(results, "")
        assert page.count("begins with a vowel") == 2 and "0.50" in page
    rows = [row for row in csv.DictReader(io.StringIO(csv_text(results))) if row["statistic"] == "share of vowels"]
    assert {row["dataset"]: float(row["value"]) for row in rows} == expected
