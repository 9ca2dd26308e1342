"""Experiments from end to end on made-up ratings, and its figures worked out anew."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import stats

import rejoinder
from conftest import Run, refused
from made_up import CONTEXTS, collected, encoded, made_up, row
from rejoinder.errors import MissingAsset
from research import EXPERIMENTS, deriu2019, lowe2017
from research.asked import files_of
from research.figures import appearances, figures
from research.material import collect
from research.run import main, reproduce


@pytest.fixture(scope="module")
def ratings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of the made-up ratings."""
    file = tmp_path_factory.mktemp("rated") / "rated.jsonl"
    rejoinder.write(made_up(), file)
    return file


def reproduced(name: str, *arguments: object) -> None:
    """Run an experiment, which must end well."""
    with pytest.raises(SystemExit) as stop:
        main(name, [*map(str, arguments)])
    assert not stop.value.code


@pytest.fixture(scope="module")
def pages(ratings: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the pages of both papers."""
    out = tmp_path_factory.mktemp("results")
    for name in ("lowe2017", "deriu2019"):
        reproduced(name, ratings, "-o", out, "--seeds", 1)
    return out


@pytest.mark.slow
@pytest.mark.parametrize(("name", "keys"), [("lowe2017", {"scores", "systems", "labels"}), ("deriu2019", {"folds"})])
def test_a_page_shows_its_figures_and_where_they_come_from(pages: Path, name: str, keys: set[str]) -> None:
    page = (pages / f"{name}.md").read_text(encoding="utf-8")
    shown = re.findall(r"!\[[^]]+\]\(([^)]+)\)", page)
    assert set(shown) == {f"{name}-{key}.svg" for key in keys} == {path.name for path in pages.glob(f"{name}-*.svg")}
    for file in shown:
        assert ElementTree.parse(pages / file).getroot().tag == "{http://www.w3.org/2000/svg}svg"
    assert f"`python -m research.{name} rated.jsonl --seeds 1 -o {pages.name}`" in page
    assert re.search(r"on 20\d\d-\d\d-\d\d with\s+rejoinder", page)
    assert "withdrawn" in page
    assert "**These are other dialogues.**" in page
    digests = {cells[5] for cells in (row(page, "first"), row(page, "second"))}
    assert len(digests) == 2
    assert all(re.fullmatch("[0-9a-f]{12}", digest) for digest in digests)
    assert "nan" not in page.lower().replace("nancy", "")
    assert str(pages) not in page


def test_a_cell_of_table_2_worked_out_anew(pages: Path) -> None:
    """ROUGE-L and the mean of the set on the test part of split 0, from the texts alone."""
    page = (pages / "lowe2017.md").read_text(encoding="utf-8")
    examples = made_up()
    order = np.random.default_rng(0).permutation(CONTEXTS)  # contexts come in order of appearance
    train, _, test = (set(part.tolist()) for part in np.split(order, [63, 76]))
    own = [example for example in examples if not example.copies_reference]
    tested = [example for example in own if int(example.id.split("-")[0]) in test]
    people = [example.quality["overall"] for example in tested]
    scores = rejoinder.score(tested, "rouge-l").values
    cells = row(page, "rouge-l")
    assert f"n = {len(tested)}." in page
    assert cells[3].split()[0] == f"{stats.spearmanr(scores, people).statistic:.3f}"
    assert cells[5].split()[0] == f"{stats.pearsonr(scores, people).statistic:.3f}"
    assert cells[9:] == ["0.096", "0.147"]
    means = {
        name: np.mean([e.quality["overall"] for e in own if e.dataset == name and int(e.id.split("-")[0]) in train])
        for name in ("first", "second")
    }
    known = [means[str(example.dataset)] for example in tested]
    assert row(page, "mean of the set")[3].split()[0] == f"{stats.spearmanr(known, people).statistic:.3f}"


def test_table_3_worked_out_anew(pages: Path) -> None:
    """Pearson over the six systems of the mean BLEU-1 and rating on the test part."""
    page = (pages / "lowe2017.md").read_text(encoding="utf-8").partition("## Table 3")[2]
    test = set(np.split(np.random.default_rng(0).permutation(CONTEXTS), [63, 76])[2].tolist())
    means: dict[tuple[str | None, str | None], list[tuple[float, float]]] = {}
    for example in made_up():
        if int(example.id.split("-")[0]) in test and not example.copies_reference:
            score = float(rejoinder.score([example], "bleu-1").values[0])
            means.setdefault((example.dataset, example.system), []).append((score, example.quality["overall"]))
    assert len(means) == 6
    ours, theirs = np.array([np.mean(pairs, axis=0) for pairs in means.values()]).T
    assert row(page, "bleu-1")[1].split()[0] == f"{stats.pearsonr(ours, theirs).statistic:.3f}"
    assert row(page, "adem")[-1] == "0.954"


def test_the_errors_of_deriu_worked_out_anew(pages: Path) -> None:
    """The mean absolute error of the set's mean, systems held out: a fold a system, then their mean."""
    page = (pages / "deriu2019.md").read_text(encoding="utf-8")
    cells = row(page, "systems", "autojudge")
    assert (cells[4], cells[6], cells[8]) == ("0.544", "0.530", "0.984")
    material = collect(made_up(), ("context",))
    folds = deriu2019._system_folds(material)
    assert [held.name for held in folds] == ["alpha", "beta", "gamma"]
    errors = []
    for held in folds:
        train = held.split.train
        known = [
            material.ratings[train][material.datasets[train] == material.datasets[line]].mean()
            for line in held.split.test
        ]
        errors.append(np.abs(np.array(known) - material.ratings[held.split.test]).mean())
    assert row(page, "systems", "mean of the set")[7].split()[0] == f"{np.mean(errors):.3f}"


def test_set_means_are_taken_off_before_systems_are_compared(pages: Path) -> None:
    """Two sets, each of whose systems people and scores put in opposite orders; the sets themselves in the same."""
    material = collected()
    levels = np.where(material.datasets == "first", 0.0, 10.0)
    order = {"alpha": 1.0, "beta": 0.0, "gamma": -1.0}
    merit = np.array([order[system] for system in material.systems])
    work = figures(replace(material, ratings=levels + merit), 0, 50)
    where, scores = appearances([material.own]), (levels - merit)[None]
    together, apart = (work.systems(scores, where, centred=centred) for centred in (False, True))
    assert together.value > 0.9 and apart.value == pytest.approx(-1)
    assert apart.names == together.names and len(apart.names) == 6
    means = dict(zip(apart.names, apart.ratings.tolist(), strict=True))
    offset = {
        name: np.mean(merit[material.own[material.datasets[material.own] == name]]) for name in ("first", "second")
    }
    for name, value in means.items():
        dataset, _, system = name.partition(": ")
        assert value == pytest.approx(order[system] - offset[dataset])
    cells = row((pages / "lowe2017.md").read_text(encoding="utf-8").partition("## Table 3")[2], "length")
    assert cells[1].split()[0] != cells[3].split()[0]


def test_scorers_are_told_apart_by_contexts_as_wholes() -> None:
    """Of three contexts there are eight ways to swap two scorers, so p cannot be small however many lines there are."""
    material = collected()
    few = replace(material, contexts=np.arange(len(material.ratings)) % 3)
    rng = np.random.default_rng(0)
    near, far = ((few.ratings + spread * rng.normal(size=len(few.ratings)))[None] for spread in (0.1, 5.0))
    where = appearances([material.own])
    assert figures(few, 0, 50).versus("pearson", near, far, where).p > 0.2
    assert figures(material, 0, 50).versus("pearson", near, far, where).p < 0.01


def test_a_second_run_finds_the_same(pages: Path, ratings: Path, tmp_path: Path) -> None:
    page = reproduce("deriu2019", ratings, out=tmp_path, seeds=1)
    assert page.text == (tmp_path / "deriu2019.md").read_text() and "<svg" in page.figures["deriu2019-folds.svg"]
    one, other = ((folder / "deriu2019.md").read_text().partition("**These")[2] for folder in (pages, tmp_path))
    assert one == other
    assert (tmp_path / "deriu2019-folds.svg").read_bytes() == (pages / "deriu2019-folds.svg").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["deriu2019-folds.svg", "deriu2019.md"]


@pytest.mark.slow
def test_progress_counts_every_piece_of_work(pages: Path) -> None:
    """And the same data in another run give the same figures."""
    prepared = encoded()
    done: list[int] = []
    found = lowe2017.compute(prepared, 1, done.append)
    assert sum(done) == lowe2017.steps(prepared, 1)
    page = (pages / "lowe2017.md").read_text(encoding="utf-8")
    for one in found.rows:
        if not np.isnan(one.spearman.value):
            assert row(page, one.name)[3].split()[0] == f"{one.spearman.value:.3f}"
    done.clear()
    deriu2019.compute(prepared, 2, done.append)
    assert sum(done) == deriu2019.steps(prepared, 2) == 23


def test_the_call_on_the_page_passes_over_the_bad_lines_that_the_run_passed_over(ratings: Path, tmp_path: Path) -> None:
    broken = tmp_path / "rated.jsonl"
    broken.write_text(ratings.read_text(encoding="utf-8") + "{\n", encoding="utf-8")
    reproduced("deriu2019", broken, "-o", tmp_path, "--on-error", "skip")
    page = (tmp_path / "deriu2019.md").read_text(encoding="utf-8")
    assert f"`python -m research.deriu2019 rated.jsonl --on-error skip -o {tmp_path.name}`" in page.replace("\n", " ")


def test_the_sets_of_a_paper_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "data" / "judgements"
    folder.mkdir(parents=True)
    for name in ("usr_personachat", "deriu_b", "deriu_a", "dstc7"):
        with gzip.open(folder / f"{name}.jsonl.gz", "wt") as file:
            file.write(json.dumps({"context": ["a"], "response": "b"}) + "\n")
    expected = [folder / f"{name}.jsonl.gz" for name in ("deriu_a", "deriu_b", "usr_personachat")]
    assert files_of(lowe2017.SETS, tmp_path / "data") == expected
    monkeypatch.setenv("REJOINDER_SHARED", str(tmp_path))
    assert files_of(lowe2017.SETS, None) == expected
    with pytest.raises(MissingAsset) as error:
        files_of(("zhao_*",), None)
    wanted = "Give FILES of rated examples, or --data with a folder that holds judgements/*.jsonl.gz"
    assert str(error.value) == f"{folder}: none of zhao_* is here. {wanted}"


def test_wrong_calls_say_what_to_do(
    ratings: Path, tmp_path: Path, experiment: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REJOINDER_SHARED", raising=False)
    refused(
        experiment("lowe2016", ratings, "-o", tmp_path),
        2,
        f"no experiment is called 'lowe2016'. Nearest: lowe2017. All of them: {', '.join(EXPERIMENTS)}",
    )
    refused(
        experiment("xyz", ratings, "-o", tmp_path),
        2,
        f"no experiment is called 'xyz'. All of them: {', '.join(EXPERIMENTS)}",
    )
    refused(
        experiment("lowe2017", "-o", tmp_path),
        4,
        "no rated examples to run on. Give FILES of rated examples, or --data with a folder that holds "
        "judgements/*.jsonl.gz, or set REJOINDER_SHARED",
    )
    refused(
        experiment("lowe2017", ratings, "--data", tmp_path / "data", "-o", tmp_path),
        2,
        "FILES and --data were both given. Give one of them",
    )
    figure = tmp_path / "lowe2017-a.svg"
    figure.write_text("<svg/>")
    ran = experiment("lowe2017", figure, "-o", tmp_path)
    assert ran.code == 2 and "is an input too" in ran.err
    figure.unlink()
    gone = tmp_path / "gone"
    refused(experiment("lowe2017", ratings, "-o", gone), 2, f"{gone}: no such folder. Make it first: mkdir -p {gone}")
    ran = experiment("lowe2017", ratings, "-o", tmp_path, "-e", f"vhred={gone}")
    assert ran.code == 4
    assert f"{gone}: no trained model here" in ran.err
    assert list(tmp_path.iterdir()) == []
