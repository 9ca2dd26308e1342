"""`rejoinder reproduce` from end to end on made-up ratings, its figures worked out anew, and its protocols."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import stats

import rejoinder
from conftest import Run, refused
from rejoinder import cli
from rejoinder.encoders import AverageEncoder
from rejoinder.errors import DataError, MissingAsset, UsageError
from rejoinder.io.folders import write_folder
from rejoinder.io.vectors import read_vectors
from rejoinder.judges.bilinear.fit import fit_bilinear
from rejoinder.judges.bilinear.head import Vectors
from rejoinder.learner import Rows
from rejoinder.papers import deriu2019, lowe2017, unseen
from rejoinder.papers.asked import files_of
from rejoinder.papers.encodings import Prepared, Source, prepare, source
from rejoinder.papers.excerpts import QUOTED, dialogue, excerpts
from rejoinder.papers.figures import appearances, figures
from rejoinder.papers.fits import QUICK, Split, judge, splits, sweep
from rejoinder.papers.material import Material, collect, speakers
from rejoinder.records import Example
from rejoinder.report.files import RENDERERS

WORDS = (  # noqa: SIM905 - shorter to read
    "i you we like love hate play music games movies dogs cats food pizza work school today tomorrow friend family "
    "really very good bad great nice home car city travel beach water coffee tea book read write run walk happy sad"
).split()
SYSTEMS = {"alpha": 0.7, "beta": 0.4, "gamma": 0.1}  # how often each keeps a word of the reference
CONTEXTS = 90


def made_up() -> list[Example]:
    """90 contexts in two sets, three systems each; people like what keeps the words of the reference."""
    rng = random.Random(0)
    examples = []
    for number in range(CONTEXTS):
        context, reference = (" ".join(rng.choices(WORDS, k=rng.randint(6, 10))) for _ in range(2))
        for system, kept in SYSTEMS.items():
            words = [word if rng.random() < kept else rng.choice(WORDS) for word in reference.split()]
            copies = system == "alpha" and number % 15 == 0
            examples.append(
                Example(
                    (context,),
                    reference if copies else " ".join(words),
                    (reference,),
                    id=f"{number}-{system}",
                    system=system,
                    dataset="first" if number < 60 else "second",
                    quality={"overall": min(5.0, max(1.0, 1 + 4 * kept + rng.gauss(0, 0.8)))},
                    scales={"overall": (1, 5)},
                )
            )
    return examples


@pytest.fixture(scope="module")
def ratings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of the made-up ratings."""
    file = tmp_path_factory.mktemp("rated") / "rated.jsonl"
    rejoinder.write(made_up(), file)
    return file


@pytest.fixture(scope="module")
def material() -> Material:
    return collect(made_up(), ("context", "reference"))


@pytest.fixture(scope="module")
def prepared() -> Prepared:
    return prepare(made_up(), [], lowe2017.NEEDS)


def reproduce(*arguments: object) -> None:
    """Run the command, which must end well."""
    with pytest.raises(SystemExit) as stop:
        cli.main(["reproduce", *map(str, arguments)])
    assert not stop.value.code


@pytest.fixture(scope="module")
def pages(ratings: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the pages of both papers."""
    out = tmp_path_factory.mktemp("results")
    for name in ("lowe2017", "deriu2019"):
        reproduce(name, ratings, "-o", out, "--seeds", 1)
    return out


def row(page: str, *start: str) -> list[str]:
    """The cells of the first table row that begins with `start`."""
    lines = (line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| "))
    return next(cells for cells in lines if tuple(cells[: len(start)]) == start)


@pytest.mark.parametrize(("name", "keys"), [("lowe2017", {"scores", "systems", "labels"}), ("deriu2019", {"folds"})])
def test_a_page_shows_its_figures_and_where_they_come_from(pages: Path, name: str, keys: set[str]) -> None:
    page = (pages / f"{name}.md").read_text(encoding="utf-8")
    shown = re.findall(r"!\[[^]]+\]\(([^)]+)\)", page)
    assert set(shown) == {f"{name}-{key}.svg" for key in keys} == {path.name for path in pages.glob(f"{name}-*.svg")}
    for file in shown:
        assert ElementTree.parse(pages / file).getroot().tag == "{http://www.w3.org/2000/svg}svg"
    assert f"`rejoinder reproduce {name} rated.jsonl --seeds 1 -o {pages.name}`" in page
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


def test_set_means_are_taken_off_before_systems_are_compared(pages: Path, material: Material) -> None:
    """Two sets, each of whose systems people and scores put in opposite orders; the sets themselves in the same."""
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


def test_scorers_are_told_apart_by_contexts_as_wholes(material: Material) -> None:
    """Of three contexts there are eight ways to swap two scorers, so p cannot be small however many lines there are."""
    few = replace(material, contexts=np.arange(len(material.ratings)) % 3)
    rng = np.random.default_rng(0)
    near, far = ((few.ratings + spread * rng.normal(size=len(few.ratings)))[None] for spread in (0.1, 5.0))
    where = appearances([material.own])
    assert figures(few, 0, 50).versus("pearson", near, far, where).p > 0.2
    assert figures(material, 0, 50).versus("pearson", near, far, where).p < 0.01


def test_a_second_run_finds_the_same(pages: Path, ratings: Path, tmp_path: Path) -> None:
    document = rejoinder.reproduce("deriu2019", ratings, out=tmp_path, seeds=1)
    one, other = ((folder / "deriu2019.md").read_text().partition("**These")[2] for folder in (pages, tmp_path))
    assert one == other
    assert (tmp_path / "deriu2019-folds.svg").read_bytes() == (pages / "deriu2019-folds.svg").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["deriu2019-folds.svg", "deriu2019.md"]
    forms = {suffix: render(document) for suffix, render in RENDERERS.items()}
    assert "<svg" in forms[".html"] and forms[".html"].count("<table>") == forms[".tex"].count(r"\begin{tabular}") > 3
    rows = list(csv.DictReader(io.StringIO(forms[".csv"])))
    found = json.loads(forms[".json"])["results"]
    assert len(rows) == len(found) > 20
    errors = [one for one in found if one["column"] == "MAE [low, high]"]
    assert errors and all(one["low"] <= one["value"] <= one["high"] for one in errors)


def test_progress_counts_every_piece_of_work(prepared: Prepared, pages: Path) -> None:
    """And the same data in another run give the same figures."""
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


def test_the_judge_learns_what_people_like(prepared: Prepared) -> None:
    """On references that decide the rating, R-ADEM is found well ahead of chance, and validation chose the settings."""
    divided = splits(prepared.material, 2)
    found = sweep(prepared.material, prepared.main, divided, "r-adem")
    assert found.validation.shape == (12, 2, 2)
    assert {one.components for one in found.settings} == {7, 20, 50}
    for place, chosen in enumerate(found.chosen):
        best = found.validation[:, place, 0].max()
        assert found.validation[found.settings.index(chosen), place, 0] == best == found.judgements[place].validation[0]
    assert min(one.validation[0] for one in found.judgements) > 0.3


def test_splits_share_no_context_and_keep_copies_out_of_training(material: Material) -> None:
    for split in splits(material, 3):
        parts = [set(material.contexts[rows].tolist()) for rows in split[1:]]
        assert not parts[0] & parts[1]
        assert not (parts[0] | parts[1]) & parts[2]
        assert not material.copies[np.concatenate([split.train, split.validation])].any()
    assert splits(material, 3)[1].test.tolist() == splits(material, 2)[1].test.tolist()


def test_components_are_fitted_on_training_lines_alone(prepared: Prepared) -> None:
    """What stands in validation and test, whatever it is, leaves the components as they are."""
    encoding, split = prepared.main[0], splits(prepared.material, 1)[0]
    one = fit_bilinear(*_fit_arguments(prepared, encoding.raw, split))
    rng = np.random.default_rng(0)
    others = np.concatenate([split.validation, split.test])
    changed = Vectors(*(side.copy() for side in encoding.raw))
    for side in changed:
        side[others] = 50 + 10 * rng.normal(size=(len(others), side.shape[1]))
    two = fit_bilinear(*_fit_arguments(prepared, changed, split))
    assert one.projection is not None and two.projection is not None
    assert np.array_equal(one.projection.mean, two.projection.mean)
    assert np.array_equal(one.projection.components, two.projection.components)
    assert (one.head.alpha, one.head.beta) == (two.head.alpha, two.head.beta)
    distinct = np.unique(np.concatenate([side[split.train] for side in encoding.raw]), axis=0)
    np.testing.assert_allclose(one.projection.mean, distinct.mean(axis=0), atol=1e-12)


def _fit_arguments(prepared: Prepared, raw: Vectors, split: Split) -> tuple[Any, ...]:
    options = replace(QUICK, components=5, epochs=0)
    rows = (split.train, split.validation, lowe2017.NEEDS, options, np.random.default_rng(0))
    return (raw, prepared.material.ratings, prepared.main[0].lines.lengths, *rows)


def test_a_judge_never_sees_the_system_left_out(prepared: Prepared, monkeypatch: pytest.MonkeyPatch) -> None:
    material, divided = prepared.material, splits(prepared.material, 1)
    options = replace(QUICK, epochs=0)
    full = [judge(material, prepared.main[0], divided[0], lowe2017.ADEM, options)]
    seen: list[Split] = []

    def watched(*arguments: object) -> object:
        seen.append(arguments[2])  # type: ignore[arg-type]
        return judge(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(unseen, "judge", watched)
    where = appearances([split.test for split in divided])
    rows = unseen.unseen_systems(figures(material, 0, 50), divided, full, [options], lowe2017.ADEM, where)
    assert [one.system for one in rows] == ["beta", "gamma", ""]  # alpha has 79 lines that are no copies
    for one, split in zip(rows, seen, strict=True):
        assert one.system not in material.systems[np.concatenate([split.train, split.validation])]
    assert [one.lines for one in rows] == [90, 90, 0]
    assert rows[-1].share == pytest.approx(0.25, abs=0.01)
    assert rows[-1].removed is None
    shares = unseen.fewer_labels(figures(material, 0, 50), divided, full, [options], lowe2017.ADEM, where)
    assert [one.share for one in shares] == list(unseen.SHARES)
    assert shares[-1].lines == len(divided[0].train) + len(divided[0].validation)


def groups_of(rows: Rows, material: Material) -> set[int]:
    return set(material.contexts[rows].tolist())


def test_conversation_folds_hold_every_line_out_once(material: Material) -> None:
    folds = deriu2019._conversation_folds(material, 0)
    assert len(folds) == 10
    assert sorted(np.concatenate([held.split.test for held in folds]).tolist()) == material.own.tolist()
    for held in folds:
        train, validation, test = (groups_of(rows, material) for rows in held.split[1:])
        assert not train & validation
        assert not (train | validation) & test
    for held in deriu2019._system_folds(material):
        assert not groups_of(held.split.train, material) & groups_of(held.split.validation, material)
        assert held.name not in material.systems[np.concatenate([held.split.train, held.split.validation])]


def test_one_conversation_in_two_sets_is_one_context() -> None:
    """The words of the turn that is answered join them; a short turn does not."""
    rated = made_up()
    turn = rated[0].context[-1]
    again = [replace(rated[-1], id="x", dataset="third", context=("hello", turn.upper().replace(" ", "  ") + " !"))]
    short = [replace(rated[-1], id=name, dataset=name, context=("ok then",)) for name in ("fourth", "fifth")]
    found = collect([*rated, *again, *short], ("context",))
    assert found.contexts[-3] == found.contexts[0]
    assert len(set(found.contexts.tolist())) == CONTEXTS + 2


def test_what_cannot_be_used_is_counted() -> None:
    rated = made_up()
    others = [
        replace(rated[0], id="a", references=()),
        replace(rated[0], id="b", quality={}),
        replace(rated[0], id="c", extra={"level": "dialogue"}),
        replace(rated[0], id="d", context=()),
    ]
    found = collect([*rated, *others], ("context", "reference"))
    assert found.left_out == {"no reference": 1, "not rated": 1, "a rating of a whole dialogue": 1, "no context": 1}
    assert [(one.name, one.given, one.used, one.contexts) for one in found.sets] == [
        ("first", 184, 180, 60),
        ("second", 90, 90, 30),
    ]
    changed = collect([replace(rated[0], response="something else"), *rated[1:]], ("context", "reference"))
    assert changed.sets[0].digest != found.sets[0].digest
    assert changed.sets[1].digest == found.sets[1].digest


def test_a_system_has_one_name_and_people_are_one() -> None:
    names = [
        "KV-MemNN",
        "",
        "Human",
        "kvmemnn",
        "ground-truth",
        "New Human Generated",
        "Original Ground Truth",
        "kv memnn",
    ]
    others = ["seq2seq", "Seq2Seq", "seq2seq_att", "superhuman", "+", "-", "human"]
    assert speakers(names).tolist() == ["kv-memnn", "", "human", "kv-memnn", *["human"] * 3, "kv-memnn"]
    assert speakers(others).tolist() == ["seq2seq", "seq2seq", "seq2seq_att", "superhuman", "+", "-", "human"]
    spelt = {"alpha": ("KV-MemNN", "kvmemnn"), "beta": ("Human", "ground-truth"), "gamma": ("gamma", "gamma")}
    rated = [replace(one, system=spelt[str(one.system)][place % 2]) for place, one in enumerate(made_up())]
    folds = deriu2019._system_folds(collect(rated, ("context",)))
    before = deriu2019._system_folds(collect(made_up(), ("context",)))
    assert {held.name for held in folds} == {"kv-memnn", "human", "gamma"}
    lines = [sorted(tuple(held.split.test.tolist()) for held in ways) for ways in (folds, before)]
    assert lines[0] == lines[1]


def test_examples_are_quoted_from_the_box_alone(prepared: Prepared) -> None:
    one = judge(prepared.material, prepared.main[0], splits(prepared.material, 1)[0], "c-adem", QUICK)
    shown = excerpts(one, 0)
    box = {example.response: example for example in rejoinder.read("@conture")}
    assert len(shown) == 6
    for quoted in shown:
        assert box[quoted.response].context[-1] == quoted.turn
        assert quoted.rating == 1 + 2 * box[quoted.response].quality["overall"]
    assert [round(quoted.rating) for quoted in shown] == [1, 1, 3, 3, 5, 5]


def test_a_dialogue_is_shown_in_its_order() -> None:
    rated = collect(list(rejoinder.read("@conture")), ("context",))
    shown = dialogue(rated, np.arange(len(rated.ratings), dtype=float), 0)
    rows = [int(quoted.score) for quoted in shown]
    assert rows == sorted(rows)
    assert {rated.datasets[line] for line in rows} == {QUOTED}
    assert len({rated.examples[line].extra["dialogue_id"] for line in rows}) == 1
    assert [rated.examples[line].response for line in rows] == [quoted.response for quoted in shown]
    assert dialogue(collect(made_up(), ("context",)), np.zeros(270), 0) == []


def test_the_call_on_the_page_passes_over_the_bad_lines_that_the_run_passed_over(ratings: Path, tmp_path: Path) -> None:
    broken = tmp_path / "rated.jsonl"
    broken.write_text(ratings.read_text(encoding="utf-8") + "{\n", encoding="utf-8")
    reproduce("deriu2019", broken, "-o", tmp_path, "--on-error", "skip")
    page = (tmp_path / "deriu2019.md").read_text(encoding="utf-8")
    assert f"`rejoinder reproduce deriu2019 rated.jsonl --on-error skip -o {tmp_path.name}`" in page.replace("\n", " ")


def test_encoders_get_their_names_and_the_first_is_the_main_one(ratings: Path, tmp_path: Path, run: Run) -> None:
    encoder = AverageEncoder(read_vectors())
    write_folder(tmp_path / "average", encoder.parts, "a card")
    found = prepare(made_up(), [Source("mine", tmp_path / "average")], lowe2017.NEEDS)
    assert list(found.encoders) == ["mine", "word vectors"]
    assert found.main[0].raw.response.tolist() == found.encoders["word vectors"][0].raw.response.tolist()
    ran = run("reproduce", "lowe2017", ratings, "-o", tmp_path, "-e", f"mine={tmp_path / 'average'}:context")
    refused(ran, 2, f"{tmp_path / 'average'}: a model of kind average has one state only. Leave the state context out")
    ran = run("reproduce", "lowe2017", ratings, "-o", tmp_path, *2 * ["-e", f"mine={tmp_path / 'average'}"])
    refused(ran, 2, "two encoders are called 'mine'. Give each a name of its own: -e NAME=FOLDER")


def test_how_an_encoder_is_named() -> None:
    assert source("vhred=runs/a") == Source("vhred", Path("runs/a"), None)
    assert source("vhred=runs/a:utterance") == Source("vhred", Path("runs/a"), "utterance")
    assert source("v=c:/runs/a") == Source("v", Path("c:/runs/a"), None)
    for wrong in ("vhred", "=a", "vhred=", "vhred=a:both", "vhred=:context"):
        with pytest.raises(UsageError) as error:
            source(wrong)
        assert str(error.value) == f"-e {wrong}: expected NAME=FOLDER, NAME=FOLDER:context or NAME=FOLDER:utterance"


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


def test_wrong_calls_say_what_to_do(ratings: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REJOINDER_SHARED", raising=False)
    refused(
        run("reproduce", "lowe2016", ratings, "-o", tmp_path),
        2,
        "no experiment is called 'lowe2016'. Nearest: lowe2017. All of them: "
        "lowe2017, deriu2019, liu2016-table2, agreement, judge, preferences, pretraining, selftalk, study, tweet2vec",
    )
    refused(
        run("reproduce", "xyz", ratings, "-o", tmp_path),
        2,
        "no experiment is called 'xyz'. All of them: "
        "lowe2017, deriu2019, liu2016-table2, agreement, judge, preferences, pretraining, selftalk, study, tweet2vec",
    )
    refused(
        run("reproduce", "lowe2017", "-o", tmp_path),
        4,
        "no rated examples to run on. Give FILES of rated examples, or --data with a folder that holds "
        "judgements/*.jsonl.gz, or set REJOINDER_SHARED",
    )
    refused(
        run("reproduce", "lowe2017", ratings, "--data", tmp_path / "data", "-o", tmp_path),
        2,
        "FILES and --data were both given. Give one of them",
    )
    gone = tmp_path / "gone"
    refused(
        run("reproduce", "lowe2017", ratings, "-o", gone), 2, f"{gone}: no such folder. Make it first: mkdir -p {gone}"
    )
    ran = run("reproduce", "lowe2017", ratings, "-o", tmp_path, "-e", f"vhred={gone}")
    assert ran.code == 4
    assert f"{gone}: no trained model here" in ran.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda rated: [replace(example, references=()) for example in rated],
            "0 conversations to use, expected 30 or more (270 lines: no reference). Give rated lines with context and "
            "reference",
        ),
        (
            lambda rated: rated[:60],
            "20 conversations to use, expected 30 or more (none left out). Give rated lines with context and reference",
        ),
        (
            lambda rated: [replace(example, quality={"overall": 3}) for example in rated],
            "all ratings are equal. Give ratings that differ",
        ),
    ],
)
def test_data_that_do_not_do(change: Callable[[list[Example]], list[Example]], message: str) -> None:
    with pytest.raises(DataError) as error:
        collect(change(made_up()), ("context", "reference"))
    assert str(error.value) == message
