"""The benchmark of speed: rows show bars and whether they are reached, sections replace their earlier version."""

from __future__ import annotations

import argparse
from functools import partial
from importlib import import_module
from typing import Any

import pytest

from conftest import PROJECT


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(PROJECT / "benchmarks"))
    return import_module


def test_rows_compare_rounds_and_show_what_is_reached(module: Any) -> None:
    timing = module("timing")
    times = {
        "rejoinder": [timing.Took(1.0, 1.0), timing.Took(2.0, 1.0), timing.Took(1.0, 1.0)],
        "earlier version": [timing.Took(3.0, 1.0), timing.Took(3.0, 1.0), timing.Took(2.0, 1.0)],
        "minilm": [timing.Took(9.0, 8.0)] * 3,
    }
    own, earlier, other = timing.rows_of("work", times, bar=2, scale=1000)
    assert own.texts == ["work", "rejoinder", "1000.00", "1000.00", "", "", "", ""]
    assert earlier.texts[4:] == ["2.00 [1.50, 3.00]", "1.00 [1.00, 1.00]", "2", "yes"]
    assert other.texts[6:] == ["", ""]
    assert timing.rows_of("work", times, bar=2, cpu=True)[1].texts[6:] == ["2", "**no**"]


def test_every_call_takes_its_turn_and_first_rounds_do_not_count(module: Any) -> None:
    timing, order = module("timing"), list[str]()

    def call(name: str) -> Any:
        order.append(name)
        return timing.Took(len(order), 0)

    times = timing.in_turn({name: partial(call, name) for name in "ab"}, rounds=2)
    assert "".join(order) == "ababab"
    assert [took.wall for took in times["b"]] == [4, 6]


def test_sections_replace_their_earlier_version_and_bars_are_counted(module: Any) -> None:
    performance, timing = module("performance"), module("timing")
    rows = [timing.Row(["x"], 2.0, 1.0), timing.Row(["y"], 0.5, 1.0), timing.Row(["z"])]
    first, second = (timing.Section(title, "Text.", ["what"], rows) for title in ("First", "Second"))
    page = "# Old title\n\nOld text.\n"
    for section in (first, second, first._replace(text="New text.")):
        page = performance.write(page, section.title, section.markdown("Measured today."))
    page = performance.beginning(page)
    assert page.startswith("# How fast rejoinder is\n\nrejoinder reaches 2 of the 4 bars")
    assert page.count("## First\n\nNew text.\n") == page.count("## ") - 1 == 1
    assert "| y | 1 | **no** |" in page


def test_metrics_are_compared_with_every_program_that_is_installed(module: Any) -> None:
    section = module("metrics_speed").section(argparse.Namespace(rounds=1, scale=0.01))
    rows = {(row.cells[0], row.cells[1].rpartition(" ")[0] or row.cells[1]): row for row in section.rows}
    assert {("bleu-4", "sacrebleu"), ("chrf", "sacrebleu"), ("rouge-l", "rouge-score")} <= rows.keys()
    assert all(float(rows[key].cells[-1]) < 1e-9 for key in [("bleu-4", "sacrebleu"), ("rouge-l", "rouge-score")])
    assert rows["bleu-4", "sacrebleu"].bar == 4
