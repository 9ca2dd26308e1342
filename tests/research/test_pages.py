"""Pages of the four papers on made-up lines, with figures computed anew; pages of results; frozen pages."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import stats

import rejoinder
from conftest import PROJECT
from made_up import CONTEXTS, collected, made_up, row
from research import deriu2019, sai2019
from research.common import Page, Run, run_script

RESULTS, ARCHIVE = PROJECT / "docs" / "results", PROJECT / "research" / "archive"
PAPERS = {"lowe2017": {"scores", "systems", "labels"}, "liu2016": {"means"}, "deriu2019": {"folds"}, "sai2019": set()}
SCRIPTS = [*PAPERS, "build_judge", "build_plus"]
# Pages that no script writes: the overview, one of `rejoinder study`, two of benchmarks, one of simulations.
BY_HAND = {"README", "study", "performance", "judging-judges", "statistics"}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The small page of each paper, whose figures are checked as it is made."""
    out = tmp_path_factory.mktemp("results")
    for name, figures in PAPERS.items():
        run_script(name, "", import_module(f"research.{name}").make, "encoder responder", ["--small", "-o", str(out)])
        page = (out / f"{name}.md").read_text(encoding="utf-8")
        assert set(re.findall(r"!\[[^]]+\]\(([^)]+)\)", page)) == {f"{name}-{key}.svg" for key in figures}
        for key in figures:
            root = ElementTree.parse(out / f"{name}-{key}.svg").getroot()
            assert root.tag == "{http://www.w3.org/2000/svg}svg"
    return {name: (out / f"{name}.md").read_text(encoding="utf-8") for name in PAPERS}


@pytest.mark.slow
@pytest.mark.parametrize("name", PAPERS)
def test_a_page_says_what_made_it(pages: dict[str, str], name: str) -> None:
    head = " ".join(pages[name].split())
    assert f"Made by `python -m research.{name} --small -o docs/results` on 20" in head and "seed 0" in head
    assert re.search(r"Digest of the lines: [0-9a-f]{12}\.", head)
    assert "nan" not in pages[name].lower() and "{{" not in pages[name] and "{%" not in pages[name]
    assert max(len(line) for line in pages[name].splitlines() if line[:1] not in "|-!>#`") <= 120


@pytest.mark.slow
def test_cells_of_lowe2017(pages: dict[str, str]) -> None:
    """ROUGE-L and BLEU-1, over lines and over systems, on three splits, from the texts alone."""
    page = pages["lowe2017"]
    originals = [example for example in made_up() if not example.copies_reference]
    values: dict[str, list[float]] = {"lines": [], "systems": []}
    means: dict[tuple[str | None, str | None], list[tuple[float, float]]] = {}
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(CONTEXTS)  # contexts come in order of appearance
        test = set(order[76:].tolist())
        tested = [one for one in originals if int(one.id.split("-")[0]) in test]
        ratings = [one.quality["overall"] for one in tested]
        values["lines"].append(stats.spearmanr(rejoinder.score(tested, "rouge-l").values, ratings).statistic)
        for one, score, rating in zip(tested, rejoinder.score(tested, "bleu-1").values, ratings, strict=True):
            means.setdefault((one.dataset, one.system), []).append((float(score), rating))
    assert row(page, "rouge-l")[3].split()[0] == f"{np.mean(values['lines']):.3f}"
    assert row(page, "rouge-l")[9:] == ["0.096", "0.147"]
    ours, theirs = np.array([np.mean(pairs, axis=0) for pairs in means.values()]).T
    third = page.partition("## Table 3")[2]
    assert row(third, "bleu-1")[1].split()[0] == f"{stats.pearsonr(ours, theirs).statistic:.3f}"
    assert row(third, "adem")[-1] == "0.954"


@pytest.mark.slow
def test_cells_of_deriu2019(pages: dict[str, str]) -> None:
    page, material, errors = pages["deriu2019"], collected(), []
    cells = row(page, "systems", "autojudge")
    assert (cells[4], cells[6], cells[8]) == ("0.544", "0.530", "0.984")
    for _, split in deriu2019.system_folds(material):
        train, sets = material.ratings[split.train], material.datasets[split.train]
        known = [train[sets == material.datasets[line]].mean() for line in split.test]
        errors.append(np.abs(np.array(known) - material.ratings[split.test]).mean())
    assert row(page, "systems", "mean of the set")[7].split()[0] == f"{np.mean(errors):.3f}"
    assert row(page, "chosen by autojudge")[-1] == "3.47" and "chosen by chance" in page


@pytest.mark.slow
def test_cells_of_sai2019_and_liu2016(pages: dict[str, str]) -> None:
    page = pages["sai2019"]
    for title in ("Table 3", "Table 4", "Table 5", "Table 6", "Fooled", "Why: the geometry"):
        assert f"## {title}" in page
    later = page[page.index("## Table 4") :]
    assert row(later, "the words from the last to the first")[1] == "2.75 ± 0.33, 69 %"
    page = pages["liu2016"]
    assert row(page, "r-tfidf")[2] != "–" and row(page, "human")[2:5] == ["–"] * 3
    assert row(page, "bleu-2")[-4:] == ["0.358", "0.387", "0.038", "0.059"]
    assert row(page, "bleu-2/no-stop-words")[-2:] == ["0.203", "0.130"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--data", "gone"], 4, "none of deriu_*"),
        (["--small", "-o", "gone"], 2, "no such folder. Make it first: mkdir -p gone"),
    ],
)
def test_wrong_calls_are_one_line(
    arguments: list[str], code: int, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = [] if "-o" in arguments else ["-o", str(tmp_path)]
    with pytest.raises(SystemExit) as stop:
        run_script("deriu2019", "", deriu2019.make, "encoder responder", [*arguments, *out])
    error = capsys.readouterr().err
    assert stop.value.code == code and message in error and error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_markup_of_texts_is_shown_and_paragraphs_are_filled(tmp_path: Path) -> None:
    page = Page({**dict.fromkeys(("talk", "excerpts"), ""), "systems_held_out": True, "data": "| *a* |"}, {})
    values = dict.fromkeys(("encoders", "folds", "table", "epochs", "fewest"), "word " * 40)
    text = Page({**page.values, **values}, {}).text(Run("deriu2019", command="x", out=tmp_path))
    assert max(map(len, text.splitlines())) <= 120


def test_variance_of_rows_columns_and_both() -> None:
    rows, columns, rng = np.array([[0.0], [2.0], [7.0]]), np.array([[1.0, 5.0]]), np.random.default_rng(0)
    assert sai2019.variance_shares(rows + columns)[2] == pytest.approx(0, abs=1e-12)
    assert sai2019.variance_shares(rows + 0 * columns)[:2] == pytest.approx((1, 0))
    assert sai2019.variance_shares(0 * rows + columns)[:2] == pytest.approx((0, 1))
    assert sai2019.variance_shares(rng.normal(size=(300, 300)))[2] > 0.98
    assert np.isnan(sai2019.variance_shares(np.ones((2, 2)))).all()


def test_every_page_of_results_has_a_script() -> None:
    assert {page.stem for page in RESULTS.glob("*.md")} - BY_HAND == {*PAPERS, "judge", "plus"}


@pytest.mark.parametrize("name", SCRIPTS)
def test_each_script_runs_by_its_name(name: str) -> None:
    """With the folder of the clone as the working directory, as a user does."""
    ran = subprocess.run(
        [sys.executable, "-m", f"research.{name}", "--help"], cwd=PROJECT, capture_output=True, text=True
    )
    assert ran.returncode == 0 and ran.stdout.startswith("usage: ")


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


def test_scripts_that_the_documents_name_are_there() -> None:
    documents = [*PROJECT.glob("docs/**/*.md"), PROJECT / "src" / "rejoinder" / "assets" / "ATTRIBUTION.md"]
    for document in documents:
        for script in re.findall(r"(?:recipes|research)/\w+\.py", document.read_text(encoding="utf-8")):
            assert (PROJECT / script).is_file(), f"{document.name}: {script}"
