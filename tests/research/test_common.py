"""Rated lines of papers: which are used, whose they are, how they are divided, and what judges are fitted on."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from made_up import CONTEXTS, collected, encoded, made_up
from rejoinder.errors import DataError, MissingAsset, UsageError
from rejoinder.judges.protocol import Rows
from research import deriu2019, lowe2017
from research.common import Material, Run, collect, digest_of, encode_all, leave_one_out, speakers
from research.fits import QUICK, Figures, Split, appearances, fit, splits


def groups_of(rows: Rows, material: Material) -> set[int]:
    return set(material.contexts[rows].tolist())


def test_splits_share_no_context_and_keep_copies_out_of_training() -> None:
    material = collected()
    for split in splits(material, 3):
        train, validation, test = (groups_of(rows, material) for rows in split[1:])
        assert not train & validation and not (train | validation) & test
        assert not material.copies[np.concatenate([split.train, split.validation])].any()
    assert splits(material, 3)[1].test.tolist() == splits(material, 2)[1].test.tolist()


def test_folds_hold_every_line_out_once_and_the_next_fold_decides_when_to_stop() -> None:
    material = collected()
    folds = [fold.split for fold in deriu2019.conversation_folds(material)]
    assert sorted(np.concatenate([fold.test for fold in folds]).tolist()) == material.originals.tolist()
    for place, fold in enumerate(folds):
        assert fold.validation.tolist() == folds[(place + 1) % 10].test.tolist()
        assert not groups_of(np.concatenate([fold.train, fold.validation]), material) & groups_of(fold.test, material)
    systems = deriu2019.system_folds(material)
    assert [fold.name for fold in systems] == ["alpha", "beta", "gamma"]
    for name, split in systems:
        assert not groups_of(split.train, material) & groups_of(split.validation, material)
        assert name not in material.systems[np.concatenate([split.train, split.validation])]


def test_one_conversation_in_two_sets_is_one_context() -> None:
    """The words of the turn that is answered tie them; a short turn does not."""
    rated = made_up()
    turn, bare = rated[0].context[-1], replace(rated[-1], references=())
    again = replace(bare, id="x", dataset="third", context=("hello", turn.upper().replace(" ", "  ") + " !"))
    short = [replace(bare, id=name, dataset=name, context=(name, "ok then")) for name in ("fourth", "fifth")]
    material = collect([*rated, again, *short], ("context",))
    assert material.contexts[-3] == material.contexts[0]
    assert len(set(material.contexts.tolist())) == CONTEXTS + 2


def test_lines_that_cannot_be_used_are_counted() -> None:
    rated = made_up()
    without = [replace(one, references=()) for one in rated[:6]]
    unrated = replace(rated[6], quality={}, scales={})
    material = collect([*without, unrated, *rated[7:]], ("context", "reference"))
    assert material.left_out == {"no reference": 6, "not rated": 1} and len(material.examples) == len(rated) - 7
    assert material.read == {"first": 180, "second": 90}
    assert digest_of(rated) == digest_of(made_up()) != digest_of(rated[1:])
    with pytest.raises(DataError, match="2 conversations to use, expected 30 or more"):
        collect(rated[:6], ("context",))
    with pytest.raises(DataError, match="all ratings are equal"):
        collect([replace(one, quality={"overall": 3.0}) for one in rated], ("context",))
    with pytest.raises(DataError, match="already given at example 1"):
        collect([*rated, rated[0]], ("context",))


def test_a_system_has_one_name() -> None:
    names = ("KV-MemNN", "kvmemnn", "New_Human_Generated", "ground truth", "", "é")
    assert speakers(names).tolist() == ["kv-memnn", "kv-memnn", "human", "human", "", "é"]
    labels = np.array(["b", "", "a", "b"])
    parts = [(label, rest.tolist(), left.tolist()) for label, rest, left in leave_one_out(labels)]
    assert parts == [("a", [0, 1, 3], [2]), ("b", [1, 2], [0, 3])]


def test_a_judge_never_sees_the_system_that_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    material, divided = collected(), splits(collected(), 1)
    options = replace(QUICK, epochs=0)
    judge = fit(material, encoded()[0], divided[0], "adem", options)
    search = lowe2017.Search([], np.zeros(0), [lowe2017.Settings("", options)], [judge])
    test = appearances([split.test for split in divided])
    seen: list[Split] = []

    def watched(*arguments: object) -> object:
        seen.append(arguments[2])  # type: ignore[arg-type]
        return fit(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(lowe2017, "fit", watched)
    work = lowe2017.Experiment(Figures.of(material, 50), divided, search, test)
    table = lowe2017.table4(work)
    lines = [line.split(" | ")[:2] for line in table.splitlines()[2:]]
    assert lines == [["| beta", "90"], ["| gamma", "90"], ["| mean", ""], ["| at random", ""]]  # alpha has 84 lines
    for system, split in zip(("beta", "gamma"), seen, strict=False):
        assert system not in material.systems[np.concatenate([split.train, split.validation])]
    assert len(seen[-1].train) == round(0.75 * len(divided[0].train))
    points = lowe2017.labels_curve(work)
    assert [share for share, *_ in points] == list(lowe2017.SHARES)
    assert points[-1][1] == len(divided[0].train) + len(divided[0].validation)


def test_components_are_fitted_on_training_lines_alone() -> None:
    material, split, encoding = collected(), splits(collected(), 1)[0], encoded()[0]
    options = replace(QUICK, components=5, epochs=0)
    one = fit(material, encoding, split, "adem", options).fit
    assert one.projection is not None
    raw = encoding.lines.encoded.means
    distinct = np.unique(np.concatenate([side[split.train] for side in raw]), axis=0)
    np.testing.assert_allclose(one.projection.mean, distinct.mean(axis=0), atol=1e-12)


def test_validation_chooses_the_settings() -> None:
    """On references that decide the rating, R-ADEM is well ahead of chance."""
    search = lowe2017.search(collected(), encoded(), splits(collected(), 2), "r-adem")
    assert search.validation.shape == (12, 2, 2)
    for place, chosen in enumerate(search.chosen):
        best = search.validation[:, place, 0].max()
        assert search.validation[search.settings.index(chosen), place, 0] == best
        assert best == search.judges[place].validation[0] > 0.3


def test_set_means_are_subtracted_before_systems_are_compared() -> None:
    """Ratings and scores order the systems of each set oppositely, the sets themselves alike."""
    material = collected()
    levels = np.where(material.datasets == "first", 0.0, 10.0)
    merit = np.array([{"alpha": 1.0, "beta": 0.0, "gamma": -1.0}[system] for system in material.systems])
    figures = Figures.of(replace(material, ratings=levels + merit), 50)
    where, scores = appearances([material.originals]), (levels - merit)[None]
    together, apart = (figures.systems(scores, where, centred=centred).estimate for centred in (False, True))
    assert together.value > 0.9 and apart.value == pytest.approx(-1) and apart.n == 6


def test_scorers_are_compared_by_whole_contexts() -> None:
    """Three contexts can be swapped in eight ways, so p cannot be small, however many lines there are."""
    material, rng = collected(), np.random.default_rng(0)
    few = replace(material, contexts=np.arange(len(material.ratings)) % 3)
    near, far = ((few.ratings + spread * rng.normal(size=len(few.ratings)))[None] for spread in (0.1, 5.0))
    where = appearances([material.originals])
    assert Figures.of(few, 50).ahead("pearson", near, far, where).p > 0.2
    assert Figures.of(material, 50).ahead("pearson", near, far, where).p < 0.01


def test_data_sets_are_looked_up_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "data" / "judgements"
    folder.mkdir(parents=True)
    for name in ("usr_personachat", "deriu_b", "deriu_a", "dstc7"):
        with gzip.open(folder / f"{name}.jsonl.gz", "wt") as file:
            file.write(json.dumps({"context": ["a"], "response": "b"}) + "\n")
    monkeypatch.setenv("REJOINDER_SHARED", str(tmp_path))
    for run in (Run("x"), Run("x", data=tmp_path / "data")):
        assert run.files(*lowe2017.SETS) == [
            folder / f"{name}.jsonl.gz" for name in ("deriu_a", "deriu_b", "usr_personachat")
        ]
        assert run.has("dstc7") and not run.has("zhao_*")
    with pytest.raises(MissingAsset, match="none of zhao_"):
        Run("x").files("zhao_*")


def test_encoders_are_named_once() -> None:
    with pytest.raises(UsageError, match="--encoder x: expected NAME=FOLDER"):
        encode_all(made_up()[:3], ["x"], ("context",))
    with pytest.raises(UsageError, match="two encoders are called 'a'"):
        encode_all(made_up()[:3], ["a=rejoinder", "a=rejoinder"], ("context",))
