"""Whole conversations against people's ratings of them: what is drawn, scored and shown."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rejoinder
from rejoinder.papers import dialogue, dialogue_page
from rejoinder.papers.asked import Asked
from rejoinder.papers.page import About
from rejoinder.records import Example
from rejoinder.report.markdown import markdown


def talks(dataset: str, count: int) -> list[Example]:
    """Conversations of one length throughout, rated by it, whose last turn tells nothing."""
    rng = np.random.default_rng(0)
    found = []
    for number in range(count):
        words = int(rng.integers(1, 9))
        turns = [f"hello number {number}", " ".join("w" * words), "and then ?", "ok"]
        extra = {"level": "dialogue"}
        quality = {"overall": float(words)}
        found.append(
            Example(tuple(turns[:-1]), turns[-1], id=str(number), dataset=dataset, quality=quality, extra=extra)
        )
    return found


def test_conversations_are_drawn_scored_whole_and_beside_their_last_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dialogue, "DEFAULT", "length")
    monkeypatch.setattr(dialogue, "MOST", 30)
    (tmp_path / "judgements").mkdir()
    for name, count in (("fed_dialogue", 20), ("spotthebot_convai2", 40)):
        rejoinder.write(talks(name, count), tmp_path / "judgements" / f"{name}.jsonl.gz")
    found = dialogue.find(Asked(data=tmp_path))
    assert [(one.dataset, one.n, one.given) for one in found] == [
        ("fed_dialogue", 20, 20),
        ("spotthebot_convai2", 30, 40),
    ]
    for one in found:
        assert one.spearman[dialogue.WHOLE].value == pytest.approx(1.0)
        assert not one.spearman[dialogue.LAST].known, "all last turns are alike"
    page = markdown(dialogue_page.page(found, About("rejoinder reproduce dialogue", "2026-01-01", 1.0, 2)))
    assert "| fed_dialogue | 20 | 20 | 1.000" in page and "mean of the sets" in page and "{" not in page
