"""What a page quotes, and where it may quote from."""

from __future__ import annotations

import numpy as np

import rejoinder
from made_up import encoded, made_up
from research.excerpts import QUOTED, dialogue, excerpts
from research.fits import QUICK, judge, splits
from research.material import collect


def test_examples_are_quoted_from_the_box_alone() -> None:
    prepared = encoded()
    one = judge(prepared.material, prepared.main[0], splits(prepared.material, 1)[0], "c-adem", QUICK)
    shown = excerpts(one, 0)
    box = {example.response: example for example in rejoinder.read("@conture")}
    assert len(shown) == 6
    for quoted in shown:
        assert box[quoted.response].context[-1] == quoted.turn
        assert quoted.rating == 1 + 2 * box[quoted.response].quality["overall"]
    assert [round(quoted.rating) for quoted in shown] == [1, 1, 3, 3, 5, 5]


def test_a_dialogue_is_shown_in_its_order() -> None:
    rated = collect(list(rejoinder.read("@conture")), ("context",))
    shown = dialogue(rated, np.arange(len(rated.ratings), dtype=float), 0)
    rows = [int(quoted.score) for quoted in shown]
    assert rows == sorted(rows)
    assert {rated.datasets[line] for line in rows} == {QUOTED}
    assert len({rated.examples[line].extra["dialogue_id"] for line in rows}) == 1
    assert [rated.examples[line].response for line in rows] == [quoted.response for quoted in shown]
    assert dialogue(collect(made_up(), ("context",)), np.zeros(270), 0) == []
