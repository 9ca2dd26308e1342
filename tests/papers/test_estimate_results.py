"""The page of few ratings and a scorer: what one draw makes, over many draws, and the whole on small data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rejoinder
from conftest import Run
from rejoinder.papers import estimate
from rejoinder.papers.estimate import TARGETS, Rated, Target, _outcomes, _some
from rejoinder.records import Example
from rejoinder.stats.figure import Figure


def set_of(contexts: int, agreement: float) -> Rated:
    """Three systems in as many contexts, and two scorers: one that agrees so far, one that knows nothing."""
    rng = np.random.default_rng(1)
    systems = np.tile(np.arange(3), contexts)
    ratings = 3 + 0.3 * systems + rng.normal(size=3 * contexts)
    noise = rng.normal(size=(2, 3 * contexts))
    scores = {"good": agreement * ratings + (1 - agreement) * noise[0], "poor": noise[1]}
    known = Figure(value=agreement)
    return Rated("made up", ratings, np.repeat(np.arange(contexts), 3), systems, scores, {"good": known, "poor": known})


@pytest.mark.parametrize("target", TARGETS)
def test_intervals_hold_and_a_good_scorer_narrows_them(target: Target) -> None:
    found = {(one.ratings, one.scorer): one for one in _outcomes(set_of(100, 0.7), target, 60, 0)}
    # two systems have 200 lines or fewer, as the contexts drawn twice have it
    assert {ratings for ratings, _ in found} == ({50, 100} if target == "two systems" else {50, 100, 200})
    for one in found.values():
        assert one.powered.value > 0.85 and one.alone.value > 0.85 and one.widest < 1.05
    good, poor = found[100, "good"], found[100, "poor"]
    assert good.half < 0.8 * good.half_alone and good.worth > 50
    assert poor.half_alone == good.half_alone and poor.half == pytest.approx(poor.half_alone, rel=0.03)
    assert found[50, "good"].half > good.half, "more ratings tell more"


def test_the_same_seed_gives_the_same() -> None:
    first, again, other = (_outcomes(set_of(40, 0.5), "each system", 5, seed) for seed in (1, 1, 2))
    assert first == again != other


def test_whole_contexts_are_kept_up_to_so_many_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate, "MOST_LINES", 20)
    lines = [Example((f"q {number // 3}",), f"a {number}", dataset=name) for name in ("a", "b") for number in range(60)]
    kept = _some([*lines, *(replace(one, dataset="small") for one in lines[:5])], 0)
    sizes = {name: [one.context for one in kept if one.dataset == name] for name in ("a", "b", "small")}
    assert [len(own) for own in sizes.values()] == [21, 21, 5]
    assert all(own.count(context) == 3 for own in (sizes["a"], sizes["b"]) for context in own)


@pytest.mark.slow
def test_the_page(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the samples in the box, one of which has no context to fit a judge on."""
    monkeypatch.setattr(estimate, "SETS", ("dstc7", "conture_turn"))
    for name in ("dstc7", "conture"):
        rejoinder.write(list(rejoinder.read(f"@{name}"))[:200], tmp_path / f"{name}.jsonl")
    call = ("reproduce", "estimate", tmp_path / "dstc7.jsonl", tmp_path / "conture.jsonl", "--seeds", 3)
    done = run(*call, "-o", tmp_path)
    assert done.code == 0, done.err
    page = " ".join((tmp_path / "estimate.md").read_text(encoding="utf-8").split())
    assert "Asked 3 times" in page and "| dstc7 | each system | 100 |" in page
    assert (tmp_path / "estimate-widths.svg").read_text().startswith("<svg")
