"""How sure a scorer is of each score: from the batch to every output, through order, duplicates and scales."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rejoinder
from conftest import Run
from rejoinder.example import Example
from rejoinder.judges.scales import Rescaled
from rejoinder.registry import Entry
from rejoinder.scorer import Card, Scorer, Scores, run
from rejoinder.scoring.catalog import SCORERS


@dataclass(frozen=True)
class Sure:
    """Scores by length from 1 to 5, and is the less sure the longer a response is; says nothing of empty ones."""

    scale: tuple[float, float] = (1.0, 5.0)

    @property
    def card(self) -> Card:
        return Card("sure", "a test", "judge", frozenset(), (None, None), "a test")

    @property
    def options(self) -> Mapping[str, Any]:
        return {}

    @property
    def trained_on(self) -> frozenset[str]:
        return frozenset()

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        words = np.array([float(len(example.response.split())) or math.nan for example in examples])
        reasons = dict.fromkeys(np.flatnonzero(np.isnan(words)).tolist(), "empty")
        return Scores(words, reasons, low=words - words / 10, high=words + words / 5)


CARDS = {"sure": Sure().card}


def load(name: str, vectors: str | Path | None) -> Scorer:
    return Sure()


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SCORERS, "sure", Entry("sure", "", load, cards=lambda: CARDS))


RESPONSES = ("a b c", "a", "", "a b c", "a b c d")


def examples() -> list[Example]:
    return [Example(("x",), response, id=str(row)) for row, response in enumerate(RESPONSES)]


def test_order_and_duplicates() -> None:
    scores = run(Sure(), examples(), batch_size=2)
    assert scores.low is not None and scores.high is not None
    np.testing.assert_allclose(scores.low, [2.7, 0.9, math.nan, 2.7, 3.6])
    np.testing.assert_allclose(scores.high, [3.6, 1.2, math.nan, 3.6, 4.8])
    table = scores.to_pandas()
    assert table.columns.tolist() == ["score", "unscored", "warnings", "low", "high"] and table["high"][1] == 1.2


def test_a_scorer_that_gives_none_has_none() -> None:
    scores = rejoinder.score(examples(), "length")
    assert scores.low is None and scores.high is None
    assert scores.to_pandas().columns.tolist() == ["score", "unscored", "warnings"]


def test_they_stand_on_the_scale_of_the_answers() -> None:
    scores = run(Rescaled(Sure(), (0.0, 100.0)), examples())
    assert scores.low is not None
    np.testing.assert_allclose(scores.values, [50, 0, math.nan, 50, 75])
    np.testing.assert_allclose(scores.low, [42.5, -2.5, math.nan, 42.5, 65])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    rejoinder.write(examples(), path)
    return path


def test_score_writes_them(run: Run, file: Path) -> None:
    found = [record.get("intervals") for record in run("score", file, "-s", "sure", "-s", "length").records]
    assert found[0] == {"sure": pytest.approx([2.7, 3.6])} and found[1] == {"sure": pytest.approx([0.9, 1.2])}
    assert found[2] is None, "no score, no interval"
    assert all("intervals" not in record for record in run("score", file, "-s", "length").records)


def test_a_table_has_columns_for_them_and_reads_back(run: Run, file: Path, tmp_path: Path) -> None:
    table, parquet = tmp_path / "out.csv", tmp_path / "out.parquet"
    for out in (table, parquet):
        assert run("score", file, "-s", "sure", "-o", out).code == 0
        again = list(rejoinder.read(out))
        assert again[0].extra["intervals"]["sure"] == pytest.approx([2.7, 3.6]) and "intervals" not in again[2].extra
    assert {"low.sure", "high.sure"} <= set(table.read_text().splitlines()[0].split(","))
    lines = run("score", table, "-s", "length").records
    assert lines[0]["intervals"]["sure"] == pytest.approx([2.7, 3.6]), "what an earlier run wrote stays"
    assert "[2.70, 3.60]" in run("score", file, "-s", "sure", "--format", "table").words


def test_a_key_of_the_users_own_stays(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps({"response": "a b", "intervals": "every day", "low.x": 3}) + "\n")
    assert run("score", path, "-s", "length").records[0]["intervals"] == "every day"
    mine = run("score", path, "-s", "sure").records[0]
    assert mine["input_intervals"] == "every day" and list(mine["intervals"]) == ["sure"]
    assert run("score", path, "-s", "length", "--format", "csv").out.splitlines()[0].count("low.x") == 1


def test_a_judge_that_takes_few_at_a_time_does_so_on_another_scale() -> None:
    class Slow(Sure):
        card = replace(Sure().card, batch_size=2)

        def score_batch(self, examples: Sequence[Example]) -> Scores:
            batches.append(len(examples))
            return super().score_batch(examples)

    batches: list[int] = []
    examples = [Example(("hi",), "a " * (number + 1)) for number in range(5)]
    run(Rescaled(Slow(), (0.0, 1.0)), examples)
    assert batches == [2, 2, 1]
    assert run(Rescaled(Sure(), (0.0, 1.0)), examples).values[0] == 0.0
