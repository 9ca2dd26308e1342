"""What an experiment has finished is not done again, and what it has not is as it would be without."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges_over_views import rated
from rejoinder.errors import DataError, UsageError
from rejoinder.io import write
from rejoinder.learner import Learner, Rows
from rejoinder.meta.leave_one_out import left_out_scores
from rejoinder.papers.asked import Asked
from rejoinder.papers.kept import Kept, KeptLearner, has_pieces, kept
from rejoinder.records import Example
from rejoinder.scorer import FloatArray

SETS = ("fed_turn", "usr_personachat")


class Mean:
    """Says the mean of what it was fitted on and a little noise; the fit of number `stops` is interrupted."""

    name, needs, options, steps, stops = "mean", (), {"kind": "mean"}, 1, False

    def __init__(self, interrupted: int = -1) -> None:
        self.fits, self.interrupted = 0, interrupted

    def encode(self, examples: Sequence[Example]) -> list[Example]:
        return list(examples)

    def unusable(self, encoded: Sequence[Example]) -> list[str]:
        return [""] * len(encoded)

    def seconds(self, lines: float) -> float:
        return lines

    def fit(self, encoded: Any, ratings: FloatArray, train: Rows, validation: Rows, rng: Any, advance: Any) -> Any:
        self.fits += 1
        if self.fits == self.interrupted:
            raise KeyboardInterrupt
        return Said(float(ratings[train].mean()) + float(rng.normal()))


class Said:
    def __init__(self, value: float) -> None:
        self.value = value

    def predict(self, encoded: Any, rows: Rows) -> FloatArray:
        return np.asarray(self.value + 0.001 * rows, dtype=np.float64)


def test_left_out_scores_go_on_to_the_same_end(tmp_path: Path) -> None:
    examples = [one for name in SETS for one in rated(name, 40)]

    def asked_of(learner: Mean, folder: Path | None) -> list[FloatArray]:
        found = left_out_scores(examples, cast("Learner", KeptLearner(cast("Learner", learner), Kept(folder))))
        return [one.values for one in found.values()]

    plain = asked_of(first := Mean(), None)
    with pytest.raises(KeyboardInterrupt):
        asked_of(Mean(interrupted=first.fits - 3), tmp_path)
    np.testing.assert_array_equal(asked_of(rest := Mean(), tmp_path), plain)
    assert 0 < rest.fits <= 5 < first.fits == 12
    np.testing.assert_array_equal(asked_of(none := Mean(), tmp_path), plain)
    assert none.fits == 0
    assert len({*map(float, np.concatenate(plain))}) > 12


def test_what_cannot_be_fitted_is_told_when_it_is_fitted_and_other_lines_are_asked_anew(tmp_path: Path) -> None:
    class Poor(Mean):
        def fit(self, *_: Any) -> Any:
            raise DataError("too little", "Rate more")

    rows, rng = np.arange(3), np.random.default_rng(0)
    with pytest.raises(DataError):
        KeptLearner(cast("Learner", Poor()), Kept(tmp_path)).fit(None, np.ones(9), rows, rows, rng, lambda _: None)
    for asked in (rows, rows + 1, rows):
        fitted = KeptLearner(cast("Learner", Mean()), Kept(tmp_path)).fit(
            None, np.ones(9), rows, rows, np.random.default_rng(0), lambda _: None
        )
        np.testing.assert_array_equal(
            fitted.predict(None, asked), 1 + np.random.default_rng(0).normal() + 0.001 * asked
        )


def test_what_was_made_from_is_told_and_nothing_is_kept_where_nobody_asks(tmp_path: Path) -> None:
    write(rated("any", 4), tmp_path / "any.jsonl")
    assert kept(Asked(), [tmp_path / "any.jsonl"]) == Kept(None) and not has_pieces(None)
    pieces = kept(Asked(run=tmp_path / "run"), [tmp_path / "any.jsonl"])
    assert pieces == Kept(tmp_path / "run") and not has_pieces(tmp_path / "run")
    pieces.piece("one", lambda: {"values": np.zeros(1)})
    assert has_pieces(tmp_path / "run")


@given(place=st.integers(0, 10_000), byte=st.integers(0, 255))
def test_a_damaged_piece_is_made_again(tmp_path_factory: pytest.TempPathFactory, place: int, byte: int) -> None:
    folder = tmp_path_factory.mktemp("run")
    pieces = Kept(folder)
    made = {"rows": np.arange(3), "values": np.ones(3)}
    pieces.piece("one", lambda: made)
    (file,) = folder.glob("*.npz")
    content = bytearray(file.read_bytes())
    content[place % len(content)] = byte
    file.write_bytes(content)
    found = pieces.piece("one", lambda: made)
    assert found.keys() == made.keys()
    for name, values in made.items():
        np.testing.assert_array_equal(found[name], values)


def test_a_learner_that_keeps_can_be_copied(tmp_path: Path) -> None:
    learner = KeptLearner(cast("Learner", Mean()), Kept(tmp_path))
    assert copy.deepcopy(learner).stops is False
    with pytest.raises(AttributeError):
        _ = learner.nothing


def test_a_folder_that_is_no_run_is_left_as_it_is(tmp_path: Path) -> None:
    write(rated("any", 4), tmp_path / "any.jsonl")
    (tmp_path / "run").mkdir()
    for name in (".notes.partial", "other.txt"):
        (tmp_path / "run" / name).write_text("mine")
    with pytest.raises(UsageError, match="exists and holds no run"):
        kept(Asked(run=tmp_path / "run"), [tmp_path / "any.jsonl"])
    assert len(list((tmp_path / "run").iterdir())) == 2
    with pytest.raises(UsageError, match="any.jsonl: no folder can be made here"):
        kept(Asked(run=tmp_path / "any.jsonl"), [tmp_path / "any.jsonl"])
