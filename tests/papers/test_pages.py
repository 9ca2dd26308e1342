"""Every experiment has its page among the results, and every page says which command makes it."""

from __future__ import annotations

import re

import pytest

from conftest import PROJECT
from rejoinder.papers import EXPERIMENTS, experiment
from rejoinder.papers.asked import FLAGS

RESULTS = PROJECT / "docs" / "results"
# Pages that no experiment writes: the overview, and one put together by hand from a recipe and `rejoinder study`.
BY_HAND = {"README", "word_vectors"}


def test_every_page_of_results_is_an_experiment() -> None:
    assert {page.stem for page in RESULTS.glob("*.md")} - BY_HAND == set(EXPERIMENTS)


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
