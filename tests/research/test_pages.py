"""Every experiment has its page among the results, and every page says which command makes it; frozen pages."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest

import rejoinder
from conftest import PROJECT, Run, refused
from research import EXPERIMENTS
from research.asked import FLAGS, Asked, Takes, module
from research.page import About, Page, paper
from research.run import experiment as experiment_called

RESULTS = PROJECT / "docs" / "results"
ARCHIVE = PROJECT / "research" / "archive"
# Pages that no experiment writes: the overview, one of `rejoinder study`, two of benchmarks, one of simulations.
BY_HAND = {"README", "study", "performance", "judging-judges", "statistics"}


def test_every_page_of_results_is_an_experiment() -> None:
    assert {page.stem for page in RESULTS.glob("*.md")} - BY_HAND == set(EXPERIMENTS)


def test_a_frozen_page_says_when_it_was_measured_and_its_links_lead_somewhere() -> None:
    pages = sorted(ARCHIVE.glob("*.md"))
    assert len(pages) == 13
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert re.match(r"Measured at [0-9a-f]{7} on 20\d\d-\d\d-\d\d; not updated\.\n", text), page.name
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
            assert "://" in target or (ARCHIVE / target).exists(), f"{page.name}: {target}"


def test_the_package_imports_nothing_of_research() -> None:
    files = [*(PROJECT / "src").rglob("*.py")]
    assert [file.name for file in files if re.search(r"^\s*(from|import) research\b", file.read_text(), re.M)] == []


@pytest.mark.parametrize(
    "name", [module(name) for name in EXPERIMENTS] + ["research.build_judge", "research.build_plus"]
)
def test_each_script_runs_by_its_name(name: str) -> None:
    """With the folder of the clone as the working directory, as a user does."""
    told = subprocess.run([sys.executable, "-m", name, "--help"], cwd=PROJECT, capture_output=True, text=True)
    assert told.returncode == 0 and told.stdout.startswith("usage: ")


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_page_names_the_call_that_makes_it(name: str) -> None:
    text = " ".join((RESULTS / f"{name}.md").read_text(encoding="utf-8").split())
    # Pages made before the scripts left the package name the command of then.
    made_by = rf"(?:rejoinder reproduce {name}|python -m {re.escape(module(name))})"
    calls = re.findall(rf"{made_by} ?(.*?-o docs/results)", text.replace("\\ ", ""))
    assert calls, f"docs/results/{name}.md does not say how it is made"
    takes = experiment_called(name).TAKES
    flags = {flag for key, flag in FLAGS.items() if key in takes.may} | {"-o", "--on-error"}
    for call in calls:
        assert set(re.findall(r"(?<= )--?[a-z-]+", f" {call}")) <= flags, call


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_must_have_only_what_it_may_have(name: str) -> None:
    takes = experiment_called(name).TAKES
    assert set(takes.must) <= set(takes.may) <= set(FLAGS)
    assert bool(takes.must) == bool(takes.why)


def test_scripts_that_the_documents_name_are_there() -> None:
    documents = [*PROJECT.glob("docs/**/*.md"), PROJECT / "src" / "rejoinder" / "assets" / "ATTRIBUTION.md"]
    for document in documents:
        for script in re.findall(r"(?:recipes|research)/\w+\.py", document.read_text(encoding="utf-8")):
            assert (PROJECT / script).is_file(), f"{document.name}: {script}"


class Dummy:
    """An experiment: how many examples there are."""

    TAKES = Takes(("files", "data"))

    @staticmethod
    def find(asked: Asked) -> int:
        return len(asked.examples(("none",)))

    @staticmethod
    def page(found: int, about: About) -> Page:
        return paper("dummy", about, {}, (), lines=found)


def test_an_experiment_is_two_modules_its_words_and_one_line(
    experiment: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page comes about, and the list of what there is and the message of what it takes know of it."""
    words = PROJECT / "research" / "texts"
    assert {path.stem for path in words.glob("*.md")} == set(EXPERIMENTS), "words of no experiment, or none of one"
    monkeypatch.setitem(EXPERIMENTS, "dummy", "a dummy")
    for name in ("research.dummy", "research.dummy_page"):
        monkeypatch.setitem(sys.modules, name, cast("Any", Dummy))
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "dummy.md").write_text("# Dummy\n\n{made_by}\n\nThere are {lines} lines.\n")
    monkeypatch.setattr("importlib.resources.files", lambda _: tmp_path)
    done = experiment("dummy", "@conture", "-o", tmp_path)
    assert done.code == 0, done.err
    lines = sum(1 for _ in rejoinder.read("@conture"))
    assert f"There are {lines} lines." in (tmp_path / "dummy.md").read_text(encoding="utf-8")
    refused(
        experiment("dummy", "@conture", "-e", "a=b", "-o", tmp_path),
        2,
        "dummy takes FILES, --data, not -e. Leave out what does not fit",
    )
    assert "plus, dummy" in experiment("nothing", "-o", tmp_path).err
