"""No tree of a judge in the box splits cosines of 1 by their last bit, which depends on the processor."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

import rejoinder
from conftest import PROJECT
from rejoinder.assets import JUDGE, PLUS
from rejoinder.data.folders import read_folder
from rejoinder.example import Example
from rejoinder.judges.regression.judge import FeatureJudge

RECIPE = runpy.run_path(str(PROJECT / "recipes" / "judge_thresholds.py"))
TEXTS = ("i see.", "we talked about the film and the weather yesterday", "The trains, late again! Who knows why?")


@pytest.mark.parametrize("folder", [JUDGE, PLUS])
def test_no_threshold_lies_at_one(folder: Path) -> None:
    parts = read_folder(folder)
    again, count = RECIPE["moved"](parts)
    assert count == 0 and again.digest == parts.digest


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_no_cosine_is_over_one(turns: int) -> None:
    judge = rejoinder.load_scorer("rejoinder")
    assert isinstance(judge, FeatureJudge)
    copies = [Example((text,) * turns, text, (text,)) for text in TEXTS]
    names = [name.partition(".") for name in judge.feature_set.columns]
    cosines = [view in RECIPE["VIEWS"] and column != "beyond_common" for view, _, column in names]
    found = judge.feature_set.compute(copies)[:, np.array(cosines)]
    assert np.nanmax(found) == 1.0 and np.nanmin(found) >= -1.0
