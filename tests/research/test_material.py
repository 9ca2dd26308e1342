"""Rated lines of papers: which are used, whose they are, and how they are divided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from made_up import CONTEXTS, collected, made_up
from rejoinder.errors import DataError
from rejoinder.example import Example
from rejoinder.judges.protocol import Rows
from research import deriu2019
from research.fits import splits
from research.material import Material, collect, leave_one_out, speakers


def test_splits_share_no_context_and_keep_copies_out_of_training() -> None:
    material = collected()
    for split in splits(material, 3):
        parts = [set(material.contexts[rows].tolist()) for rows in split[1:]]
        assert not parts[0] & parts[1]
        assert not (parts[0] | parts[1]) & parts[2]
        assert not material.copies[np.concatenate([split.train, split.validation])].any()
    assert splits(material, 3)[1].test.tolist() == splits(material, 2)[1].test.tolist()


def groups_of(rows: Rows, material: Material) -> set[int]:
    return set(material.contexts[rows].tolist())


def test_conversation_folds_hold_every_line_out_once() -> None:
    material = collected()
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
    turn, bare = rated[0].context[-1], replace(rated[-1], references=())
    again = [replace(bare, id="x", dataset="third", context=("hello", turn.upper().replace(" ", "  ") + " !"))]
    short = [replace(bare, id=name, dataset=name, context=(name, "ok then")) for name in ("fourth", "fifth")]
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


@given(st.lists(st.sampled_from(["", "hred", "human", "tfidf"]), min_size=1, max_size=40))
def test_each_label_is_left_out_once(labels: list[str]) -> None:
    found = list(leave_one_out(labels))
    assert [one.label for one in found] == sorted(set(labels) - {""})
    for one in found:
        assert sorted([*one.rest, *one.left]) == list(range(len(labels)))
        assert {labels[row] for row in one.left} == {one.label}
        assert one.label not in {labels[row] for row in one.rest}
