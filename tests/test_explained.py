"""What moved a score: from the scorer to every output, on every scale."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rejoinder
from conftest import Run
from rejoinder.example import Example
from rejoinder.registry import Entry
from rejoinder.scorer import Card, Explanation, Scorer, Scores
from rejoinder.scoring.catalog import SCORERS


@dataclass(frozen=True)
class Telling:
    """A judge that likes words and dislikes repetition, and says so; it scores no empty response."""

    scale: tuple[float, float] = (1.0, 5.0)

    @property
    def card(self) -> Card:
        return Card("telling", "a test", "judge", frozenset({"context"}), (None, None), "a test", explains=True)

    @property
    def options(self) -> Mapping[str, Any]:
        return {}

    @property
    def trained_on(self) -> frozenset[str]:
        return frozenset()

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        found = [one.score if one else np.nan for one in self.explain(examples)]
        return Scores(np.array(found), {row: "empty" for row, one in enumerate(found) if np.isnan(one)})

    def explain(self, examples: Sequence[Example]) -> list[Explanation | None]:
        return [_told(example.response.split()) for example in examples]


def _told(words: list[str]) -> Explanation | None:
    repeated = len(words) - len(set(words))
    return Explanation(2.0, {"specificity": len(words) / 4, "repetition": -repeated / 2}) if words else None


CARDS = {"telling": Telling().card}
RESPONSES = ("a b c d", "a a", "", "a")


def load(name: str, vectors: str | Path | None) -> Scorer:
    return Telling()


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SCORERS, "telling", Entry("telling", "", load, cards=lambda: CARDS))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    rejoinder.write(examples(), path)
    return path


def examples() -> list[Example]:
    found = [Example(("x",), response, id=str(row)) for row, response in enumerate(RESPONSES)]
    return [*found, Example((), "a b", id="no context")]


def test_words_name_the_strongest_groups() -> None:
    one = Explanation(3.0, {"a": 0.1, "b": -0.5, "c": 0.2, "d": 0.0})
    assert one.words == "b -0.50, c +0.20, a +0.10"
    assert one.score == pytest.approx(2.8)


def test_the_public_face_explains_what_has_a_score() -> None:
    found = rejoinder.explain(examples(), Telling())
    assert found[1] == Explanation(2.0, {"specificity": 0.5, "repetition": -0.5})
    assert found[2] is None and found[4] is None, "no score, nothing to explain"


def test_points_are_those_of_the_scale_of_the_answers() -> None:
    (one, *_) = rejoinder.explain(examples(), Telling(), scale=(0, 100))
    assert one is not None and one.base == 25.0 and one.moved == {"specificity": 25.0, "repetition": 0.0}
    assert one.score == rejoinder.score(examples(), Telling(), scale=(0, 100)).values[0]


def test_a_scorer_that_cannot_says_what_can(run: Run, file: Path) -> None:
    with pytest.raises(rejoinder.RejoinderError, match="^length does not explain"):
        rejoinder.explain(examples(), "length")
    refused = run("score", file, "-s", "length", "-s", "bleu-2", "--explain")
    assert refused.code == 2 and "length, bleu-2 do not" in refused.err and "rejoinder train judge" in refused.err


def test_score_writes_it_where_it_was_asked_for(run: Run, file: Path) -> None:
    told = run("score", file, "-s", "telling", "-s", "length", "--explain")
    assert told.records[0]["explained"] == {"telling": {"base": 2.0, "moved": {"specificity": 1.0, "repetition": 0.0}}}
    assert "explained" not in told.records[2] and "does not change length" in told.err
    assert all("explained" not in record for record in run("score", file, "-s", "telling").records)


def test_a_table_has_columns_for_it_and_reads_back(run: Run, file: Path, tmp_path: Path) -> None:
    table, parquet = tmp_path / "out.csv", tmp_path / "out.parquet"
    for out in (table, parquet):
        assert run("score", file, "-s", "telling", "--explain", "-o", out).code == 0
        again = list(rejoinder.read(out))
        assert again[1].extra["explained"] == {
            "telling": {"base": 2.0, "moved": {"specificity": 0.5, "repetition": -0.5}}
        }
        assert "explained" not in again[2].extra
    assert "explained.telling.repetition" in table.read_text().splitlines()[0].split(",")
    kept = run("score", table, "-s", "length").records
    assert kept[1]["explained"]["telling"]["moved"]["repetition"] == -0.5, "what an earlier run wrote stays"
    assert "explained" not in run("score", table, "-s", "telling").records[2]


def test_a_terminal_shows_the_strongest_groups_in_words(run: Run, file: Path) -> None:
    shown = run("score", file, "-s", "telling", "--explain", "--format", "table").words
    assert "moved by" in shown and "specificity +1.00, repetition +0.00" in shown
    assert "moved by" not in run("score", file, "-s", "telling", "--format", "table").words


def test_a_key_of_the_users_own_stays(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    own = {"response": "a b", "context": ["x"], "explained": "twice", "explained.x.y": "3"}
    path.write_text(json.dumps(own) + "\n")
    assert run("score", path, "-s", "length").records[0]["explained"] == "twice"
    mine = run("score", path, "-s", "telling", "--explain").records[0]
    assert mine["input_explained"] == "twice" and list(mine["explained"]) == ["telling"]
    assert run("score", path, "-s", "length", "--format", "csv").out.splitlines()[0].count("explained.x.y") == 1
