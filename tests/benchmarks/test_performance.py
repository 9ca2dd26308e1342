"""The benchmark of speed: what is set side by side is the same thing, and its page says what was measured."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from conftest import PROJECT
from rejoinder.estimates import Estimate
from rejoinder.example import Example
from rejoinder.scorer import run
from rejoinder.scoring.catalog import load_scorer

PAIRS = [
    ("the cat sat on the mat", "the cat is on the mat"),
    ("no word of it", "something else entirely"),
    ("hello", "hello"),
    ("hello hello hello", "hello there"),
    ("a b", "b a b a c d e f"),
]


@pytest.fixture
def systems(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(PROJECT / "benchmarks"))
    return import_module("performance_systems")


def test_definitions_written_plainly_give_the_scores_of_their_flavour(systems: Any) -> None:
    examples = [Example((), response, (reference,)) for response, reference in PAIRS]
    for order in range(1, 5):
        plainly = [systems.plain_bleus(*pair)[order - 1] for pair in PAIRS]
        assert run(load_scorer(f"bleu-{order}/coco"), examples).values == pytest.approx(plainly, rel=1e-9, abs=1e-12)
    plainly = [systems.plain_rouge(*pair) for pair in PAIRS]
    assert run(load_scorer("rouge-l/coco"), examples).values == pytest.approx(plainly, rel=1e-9, abs=1e-12)


def test_the_page_says_what_is_reached_and_what_is_not(systems: Any) -> None:
    performance, page = import_module("performance"), import_module("performance_page")
    rate = performance.told([900.0, 1000.0, 1100.0])
    assert (rate.value, rate.low, rate.high, rate.n) == (1000, 900, 1100, 3)
    same = performance.Found(rate, Estimate(value=1.5, low=1.2, high=1.8, n=3), 321.0, rate)
    found = {task: dict.fromkeys(own, same) for task, own in {**systems.RIVALS, **systems.ALONE}.items()}
    kept = Estimate(value=0.1, low=0.1, high=0.1, n=3)
    measured = {"import": kept, "help": kept, "single": kept, "retrieval": rate, "sampling": rate}
    text = page.page(found, measured, {"pairs": 10, "replies": 5, "rounds": 3}, "python performance.py")
    assert "Of 7 speeds that are asked of it, rejoinder reaches 6; short of it: the class" in text
    assert "321" in text and "1.50 [1.20, 1.80]" in text and f"]({page.PLOT})" in text
    assert page.plot(found).startswith("<svg")
