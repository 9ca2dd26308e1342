"""What becomes of every attacked reply: scored, rightly left alone, failed; and what is said of one or many."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import rejoinder
from attacked import Attacked, by_attack
from conftest import Run
from rejoinder.example import Example


def lines(count: int = 60) -> list[Example]:
    return [Example((f"what of {n} ?",), f"it is {n} and more", id=str(n)) for n in range(count)]


def each(*arguments: Any, **options: Any) -> list[Attacked]:
    """Return the attacks of an audit."""
    return [*by_attack(rejoinder.audit(*arguments, **options)).values()]


def by_length(examples: list[Example]) -> list[float]:
    return [float(len(one.response)) for one in examples]


def silent(examples: list[Example]) -> list[float | None]:
    """Leaves what has no words without a score."""
    return [None if len(one.response) < 4 else 1.0 + len(one.response) for one in examples]


def test_to_leave_nothing_without_a_score_is_right() -> None:
    found = rejoinder.audit(lines(), silent, families=["empty", "lone-punctuation", "near-empty"], fail_over=0.1)
    for one in [*by_attack(found).values()]:
        assert (one.n, one.facts["declined"], one.facts["failed"]) == (60, 60, 0)
        assert (one.share.value, one.verdict, one.rows) == (0.0, "holds", {})
    assert found.gate is not None and found.gate.passed


def test_to_leave_some_of_it_without_a_score_counts_beside_the_rest() -> None:
    def half(examples: list[Example]) -> list[float | None]:
        return [None if not one.response and int(one.id) % 2 else 5.0 for one in examples]

    (one,) = each(lines(), half, families=["empty"])
    assert (one.n, one.facts["declined"], one.share.value, one.value("AUC")) == (60, 30, 0.25, 0.5)


def test_to_leave_words_without_a_score_is_a_failure() -> None:
    def picky(examples: list[Example]) -> list[float | None]:
        return [None if one.response.isupper() or "I don't" in one.response else 1.0 for one in examples]

    found = rejoinder.audit(lines(), picky, families=["upper-case"])
    (one,) = by_attack(found).values()
    assert (one.n, one.facts["declined"], one.facts["failed"]) == (0, 0, 60)


def test_to_fail_on_nothing_is_a_failure() -> None:
    def fragile(examples: list[Example]) -> list[float]:
        return [1.0 / len(one.response) for one in examples]

    (one,) = each(lines(), fragile, families=["empty"])
    assert (one.n, one.facts["declined"], one.facts["failed"], one.verdict) == (0, 0, 60, "inconclusive")
    assert "division by zero" in one.facts["why_failed"]


def test_every_attacked_reply_as_a_line(run: Run, tmp_path: Path) -> None:
    given, out = tmp_path / "in.jsonl", tmp_path / "attacked.jsonl"
    rejoinder.write(lines(), given)
    done = run("audit", given, "-s", "length", "--family", "said-twice", "--family", "upper-case", "-o", out)
    assert done.code == 0 and f"saved in {out}" in done.words
    records = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(records) == 120 and len({one["id"] for one in records}) == 120
    first, shouted = records[0], records[60]
    assert first["response"] == "it is 0 and more it is 0 and more" and first["scores"] == {"length": 10.0}
    assert first["attack"] == {
        "family": "said-twice",
        "goal": "bad scores high",
        "id": "0",
        "original": "it is 0 and more",
        "before": 5.0,
        "after": 10.0,
        "fooled": 1.0,
    }
    assert shouted["attack"]["fooled"] == 0.0 and shouted["id"] == "0#upper-case"
    assert run("score", out, "-s", "length", "-o", tmp_path / "again.jsonl").code == 0  # it is input again
    again = [json.loads(line)["scores"]["length"] for line in (tmp_path / "again.jsonl").read_text().splitlines()]
    assert again == [one["scores"]["length"] for one in records]


def test_what_has_no_score_has_none_in_its_line() -> None:
    found = rejoinder.audit(lines(), silent, families=["empty"])
    (first, *_) = found.layout.lines or ()
    assert first["scores"] == {"silent": None} and first["attack"]["fooled"] is None


def test_one_reply_is_one_reply() -> None:
    (_, second, *_) = rejoinder.audit(lines(1), by_length, families=["upper-case"]).answer
    assert second.startswith("This is on 1 reply to 1 context.")
    (first, *_) = rejoinder.audit(lines(), by_length, families=["upper-case"]).answer
    assert "of 1 attack, holds" in first


def test_progress_knows_how_much_there_is_to_come() -> None:
    done: list[int] = []
    expected: list[int] = []
    rejoinder.audit(lines(), by_length, families=["said-twice", "empty"], progress=done.append, expect=expected.append)
    assert sum(done) == sum(expected) == 180
