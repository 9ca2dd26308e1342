"""Notes: what a scorer cannot judge is said beside the score, in every output, and counted."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

import rejoinder
from conftest import Run
from rejoinder.meta.scoring import Tally, score_stream
from rejoinder.records import Example
from rejoinder.report.notes import noted
from rejoinder.report.scores import summary_table
from rejoinder.scorer import Card, Outcome, run


class Noting:
    """Scores every reply 1, and notes of each that ends in a question mark that it does so."""

    card = Card("noting", "one", "judge", frozenset(), (None, None), "here")
    options: dict[str, str] = {}  # noqa: RUF012 - a scorer's options are read, never changed

    def score_batch(self, examples: Sequence[Example]) -> Outcome:
        asked = {row: ("a question",) for row, one in enumerate(examples) if one.response.endswith("?")}
        return Outcome(np.ones(len(examples)), notes=asked)


REPLIES = ("why not?", "yes", "who are you, and what do you want?", "why not?", "no")


def lines(extra: Mapping[str, object] | None = None) -> list[Example]:
    return [Example((), text, id=str(place), extra=extra or {}) for place, text in enumerate(REPLIES)]


@pytest.mark.parametrize("batch_size", [1, 2, 512])
def test_notes_come_back_in_order_and_reach_duplicates(batch_size: int) -> None:
    scores = run(Noting(), lines(), batch_size=batch_size)
    assert list(scores.notes.items()) == [(place, ("a question",)) for place in (0, 2, 3)]


def scored(given: list[Example]) -> tuple[list[dict[str, object]], Tally]:
    tally = Tally(Noting())
    return list(score_stream(given, {"noting": tally})), tally


def test_an_output_line_has_its_notes_by_scorer_and_the_summary_counts_them() -> None:
    records, tally = scored(lines())
    assert [record["notes"] for record in records] == [
        {"noting": ["a question"]} if text.endswith("?") else {} for text in REPLIES
    ]
    assert "3 of 5 replies are noted as a question (noting)\n" in summary_table({"noting": tally}, 80)


def test_notes_of_an_earlier_run_stay_but_for_the_same_scorer() -> None:
    earlier = {"notes": {"noting": ["old"], "other": ["kept"]}}
    records, _ = scored(lines(earlier))
    assert records[0]["notes"] == {"noting": ["a question"], "other": ["kept"]}
    assert records[1]["notes"] == {"other": ["kept"]}


@pytest.mark.parametrize("own", ["call again", ["a"], {"mood": "good"}, 3])
def test_a_key_of_the_users_own_that_is_called_notes_is_kept(run: Run, tmp_path: Path, own: object) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"response": "fine", "notes": own}) + "\n")
    (record,) = run("score", path, "-s", "length").records
    assert record["notes"] == {} and record["input_notes"] == own


def test_a_column_of_the_users_own_that_is_called_notes_is_kept(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("response,notes\nfine,{call again\nyes,\nno,[1]\n")
    records = run("score", path, "-s", "length").records
    assert [record.get("input_notes") for record in records] == ["{call again", None, "[1]"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.tsv", "a.parquet"])
def test_notes_survive_every_format(tmp_path: Path, name: str) -> None:
    given = [Example((), "a", id="1", extra={"notes": {"x": ["cut", "not English"]}})]
    rejoinder.write(given, tmp_path / name)
    assert list(rejoinder.read(tmp_path / name)) == given


def test_notes_in_words() -> None:
    counts = {"a": {"code": 1, "cut": 1200}, "b": {"cut": 1200}}
    assert noted(counts, 3000, "of A") == [
        "1,200 of 3,000 replies of A are noted as cut (a, b)",
        "1 of 3,000 replies of A is noted as code (a)",
    ]
