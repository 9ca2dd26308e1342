"""Replies that people wrote to fit, or to look as if they did, as rows to learn from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from judges_over_views import QUICK, made_material, rated
from rejoinder.example import Example
from rejoinder.judges.augmentation import NO_LINE, ReplySet, augment, written
from rejoinder.judges.regression.learner import FeatureLearner
from rejoinder.judges.train import train_judge

ASKED = ReplySet(
    ("Where shall we go for lunch today, any idea?",), ("The new place.",), ("No.",), ("A lunch box.", "X.")
)


def test_every_reply_of_a_set_is_a_row_of_its_own_worth() -> None:
    rows = written([ASKED], [])
    assert [row.example.response for row in rows] == ["The new place.", "A lunch box.", "X.", "No."]
    assert all(row.row == NO_LINE and row.example.context == ASKED.context for row in rows)
    fits, *others = (row.at_most for row in rows)
    assert fits > 0 > max(others)


def test_a_set_that_shares_a_long_turn_with_a_rated_line_is_left_out() -> None:
    long, short = Example(("Where shall we go for lunch today any idea",), "Home."), Example(("Any idea?",), "None.")
    assert not written([ASKED], [long])
    assert written([ASKED], [short])


@pytest.mark.slow
def test_a_judge_learns_from_them(tmp_path: Path) -> None:
    examples, material = rated("one", references=False) + rated("two", references=False), made_material(tmp_path)
    # Contrary to the ratings, here the short ones of two replies fit.
    sets = [ReplySet(one.context, ("Tea",), misleading=(" ".join(["many"] * 12),)) for one in rated("three")]

    def gap(learner: FeatureLearner) -> float:
        judge = train_judge(examples, learner).judge
        fit, unfit = (
            judge.score_batch([Example(one.context, text) for one in sets for text in getattr(one, side)]).values
            for side in ("relevant", "misleading")
        )
        return float(np.mean(fit) - np.mean(unfit))

    taught = FeatureLearner(
        material, lambda given: [*augment(given), *(row._replace(weight=2.0) for row in written(sets, given))], QUICK
    )
    assert gap(taught) > gap(FeatureLearner(material, augment, QUICK)) + 1
