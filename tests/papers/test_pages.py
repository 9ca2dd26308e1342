"""Every experiment has its page among the results, and every page says which command makes it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, cast

import pytest

import rejoinder
from conftest import PROJECT, Run, refused
from rejoinder.papers import EXPERIMENTS
from rejoinder.papers.asked import FLAGS, Asked, Takes
from rejoinder.papers.page import About, paper
from rejoinder.papers.run import experiment
from rejoinder.report.document import Document

RESULTS = PROJECT / "docs" / "results"
# Pages that no experiment writes: the overview, one by hand from a recipe and `rejoinder study`, one of a benchmark.
BY_HAND = {"README", "word_vectors", "performance"}
BY_RECIPE = {"reinforce"}
"""Pages that a recipe writes, because its work is to go on where it was cut."""


def test_every_page_of_results_is_an_experiment() -> None:
    assert {page.stem for page in RESULTS.glob("*.md")} - BY_HAND == set(EXPERIMENTS) | BY_RECIPE


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_page_names_the_call_that_makes_it(name: str) -> None:
    text = " ".join((RESULTS / f"{name}.md").read_text(encoding="utf-8").split())
    calls = re.findall(rf"rejoinder reproduce {name} ?(.*?-o docs/results)", text.replace("\\ ", ""))
    assert calls, f"docs/results/{name}.md does not say how it is made"
    takes = experiment(name).TAKES
    flags = {flag for key, flag in FLAGS.items() if key in takes.may} | {"-o", "--on-error"}
    for call in calls:
        assert set(re.findall(r"(?<= )--?[a-z-]+", f" {call}")) <= flags, call


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_must_have_only_what_it_may_have(name: str) -> None:
    takes = experiment(name).TAKES
    assert set(takes.must) <= set(takes.may) <= set(FLAGS)
    assert bool(takes.must) == bool(takes.why)


def test_scripts_that_the_documents_name_are_there() -> None:
    documents = [*PROJECT.glob("docs/**/*.md"), PROJECT / "src" / "rejoinder" / "data" / "ATTRIBUTION.md"]
    for document in documents:
        for script in re.findall(r"recipes/\w+\.py", document.read_text(encoding="utf-8")):
            assert (PROJECT / script).is_file(), f"{document.name}: {script}"


class Dummy:
    """An experiment: how many examples there are."""

    TAKES = Takes(("files", "data"))

    @staticmethod
    def find(asked: Asked) -> int:
        return len(asked.examples(("none",)))

    @staticmethod
    def page(found: int, about: About) -> Document:
        return paper("dummy", about, {}, (), lines=found)


def test_an_experiment_is_two_modules_its_words_and_one_line(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page comes about, and the list of what there is and the message of what it takes know of it."""
    words = RESULTS.parent.parent / "src" / "rejoinder" / "papers" / "texts"
    assert {path.stem for path in words.glob("*.md")} == set(EXPERIMENTS) | BY_RECIPE, (
        "words of no experiment, or none of one"
    )
    monkeypatch.setitem(EXPERIMENTS, "dummy", "a dummy")
    for name in ("rejoinder.papers.dummy", "rejoinder.papers.dummy_page"):
        monkeypatch.setitem(sys.modules, name, cast("Any", Dummy))
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "dummy.md").write_text("# Dummy\n\n{made_by}\n\nThere are {lines} lines.\n")
    monkeypatch.setattr("importlib.resources.files", lambda _: tmp_path)
    done = run("reproduce", "dummy", "@conture", "-o", tmp_path)
    assert done.code == 0, done.err
    lines = sum(1 for _ in rejoinder.read("@conture"))
    assert f"There are {lines} lines." in (tmp_path / "dummy.md").read_text(encoding="utf-8")
    refused(
        run("reproduce", "dummy", "@conture", "-e", "a=b", "-o", tmp_path),
        2,
        "dummy takes FILES, --data, not -e. Leave out what does not fit",
    )
    assert "tweet2vec, dummy" in run("reproduce", "nothing", "-o", tmp_path).err
