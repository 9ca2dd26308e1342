"""What a few ratings buy: how lines are drawn, what is measured on those left, and the page."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rejoinder
from judges_over_views import QUICK, made_material, quick_judge, rated
from rejoinder.io.parse import to_record
from rejoinder.papers import fit, fit_page
from rejoinder.papers.asked import Asked
from rejoinder.papers.page import About
from rejoinder.records import Example, Pair
from rejoinder.report.markdown import markdown


def test_lines_that_are_asked_about_are_of_other_conversations() -> None:
    groups = np.repeat(np.arange(60), 5)
    taken, left = fit._drawn(groups, 50, np.random.default_rng(0))
    assert len(taken) == 50 and len(left) == 100 and len(set(taken.tolist())) == 50
    assert not set(groups[taken].tolist()) & set(groups[left].tolist())
    assert len(fit._drawn(groups, 500, np.random.default_rng(0))[0]) == 200, "no more than two thirds have"


def test_the_calibration_error_is_how_far_like_scores_are_off_on_average() -> None:
    rng = np.random.default_rng(0)
    values = rng.random(2000)
    assert fit.calibration_error(values, values + 0.1) == pytest.approx(0.1)
    assert fit.calibration_error(values, values + rng.choice([-0.3, 0.3], 2000)) < 0.03, "errors of single replies"
    assert fit.calibration_error(values, np.full(2000, 0.5)) == pytest.approx(0.25, abs=0.01)


def test_what_chance_makes_of_bins_is_no_error_beyond_chance() -> None:
    rng = np.random.default_rng(0)
    found = []
    for off in (0.0, 0.15):
        draws = [(values := rng.random(150), values + off + rng.choice([-0.3, 0.3], 150)) for _ in range(300)]
        plain, beyond = (
            np.mean([error(*draw) for draw in draws]) for error in (fit.calibration_error, fit.beyond_chance)
        )
        found.append((plain, beyond))
    assert found[0][0] > 0.055, "the plain one is chance alone here"
    assert found[0][1] < 0.025
    assert found[1][1] == pytest.approx(0.15, abs=0.01)


def pair(better: str, worse: str, number: int) -> Pair:
    context = (f"what about the matter number {number} of them all ?",)
    return Pair((Example(context, better, id=f"{number}a"), Example(context, worse, id=f"{number}b")), preferred=0)


def test_before_and_after_are_asked_of_the_same_pairs() -> None:
    pairs = [pair("a b c", "a", 0), pair("a", "b c d", 1), pair("a b", "a b c", 2), pair("a", "b", 3)]
    before = np.array([1.0, 0.0, 1.0, 1.0])
    after = np.full((fit.DRAWS, 4), np.nan)
    after[0, :3], after[1, 1] = (1.0, 1.0, 0.0), 0.0
    every, longer, shorter = fit._by_length(pairs, before, after, np.arange(4), 0)
    assert (every.before.n, every.before.value, every.after.value) == (4, 0.5, 0.5)
    assert (longer.before.value, longer.after.value, longer.after.n) == (1.0, 1.0, 1)
    assert (shorter.before.value, shorter.after.value) == pytest.approx((1 / 3, 1 / 3))


@pytest.mark.slow
def test_the_page_from_end_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    material = made_material(tmp_path)
    monkeypatch.setattr(fit, "boxed_material", lambda: material)
    monkeypatch.setattr(fit, "load_scorer", lambda _: quick_judge(material))
    for name, value in (
        ("LIGHT", QUICK),
        ("DRAWS", 1),
        ("SIZES", (30, 400)),
        ("PAIRS_FITTED", 40),
        ("FEWEST_ASKED", 20),
    ):
        monkeypatch.setattr(fit, name, value)
    for folder in ("judgements", "preferences"):
        (tmp_path / folder).mkdir()
    for name in ("fed_turn", "usr_personachat"):
        rejoinder.write(rated(name, 90, references=False), tmp_path / "judgements" / f"{name}.jsonl.gz")
    lines = rated("pandalm", 80, references=False)
    records = []
    for number, one in enumerate(lines):
        told = to_record(replace(one, quality={}, scales={}))
        replies = [one.response, f"{one.response} and so on"]
        records.append({"id": str(number), "context": told["context"], "responses": replies, "preferred": number % 2})
    file = tmp_path / "preferences" / "pandalm.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    file.rename(file.with_suffix(".jsonl.gz"))
    found = fit.find(Asked(data=tmp_path))
    assert [(one.size, one.sets) for one in found.ratings] == [(30, 2)] and found.pairs == 80
    assert found.ratings[0].means["after"].value > 0.5 and found.choices[0].after.n == 40
    page = markdown(fit_page.page(found, About("rejoinder reproduce fit", "2026-01-01", 1.0, 2)))
    assert "| 30 | 2 |" in page and "| longer preferred |" in page and "{" not in page
