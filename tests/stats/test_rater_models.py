"""Models of raters: step by step the numbers of the programs that their authors and others published."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from conftest import GOLDEN
from rejoinder.stats.rater_models import Labelled, dawid_skene, mace

CASES = ["full", "two_missing_per_item"]


def golden(file: str, case: str) -> Any:
    return json.loads((GOLDEN / file).read_text())["cases"][case]


def labelled(case: str) -> Labelled:
    matrix = golden("mace.json", case)["matrix_items_by_raters"]
    rows = np.array([(i, j, v - 1) for i, row in enumerate(matrix) for j, v in enumerate(row) if v is not None])
    return Labelled(rows[:, 0], rows[:, 1], rows[:, 2], (60, 5, 5))


@pytest.mark.parametrize("case", CASES)
def test_mace_goes_the_way_of_the_reference(case: str) -> None:
    given = labelled(case)
    for step in golden("mace.json", case)["fixed_init_vb"]["trajectory"]:
        found = mace(given, np.random.default_rng(0), restarts=1, iterations=step["m_steps_done"], noise=0)
        assert found.competence == pytest.approx(step["competence_knowing"], abs=1e-9)
        assert found.likelihood == pytest.approx(step["log_marginal_likelihood"], abs=1e-4)
    assert found.belief == pytest.approx(
        np.array(golden("mace.json", case)["fixed_init_vb"]["final_posteriors"]), abs=1e-6
    )


@pytest.mark.parametrize("case", CASES)
def test_mace_ends_where_the_reference_ends(case: str) -> None:
    expected = golden("mace.json", case)["reference_vb_seeds"]["0"]
    found = mace(labelled(case), np.random.default_rng(5), restarts=2)
    assert (found.belief.argmax(axis=1) + 1).tolist() == expected["labels"]
    assert found.competence == pytest.approx(expected["competence_knowing"], abs=1e-4)
    assert found.competence[4] < 0.2 < min(found.competence[:4])


@pytest.mark.parametrize("case", CASES)
def test_dawid_and_skene_end_where_crowd_kit_ends(case: str) -> None:
    expected = golden("dawid_skene.json", case)
    found = dawid_skene(labelled(case), iterations=5000)
    assert (found.belief.argmax(axis=1) + 1).tolist() == expected["labels"]
    assert found.belief == pytest.approx(np.array(expected["posteriors"]), abs=1e-3)
    assert found.competence[4] < min(found.competence[:4])


def test_the_order_of_ratings_changes_nothing() -> None:
    given = labelled("full")
    order = np.random.default_rng(1).permutation(len(given.lines))
    mixed = Labelled(given.lines[order], given.raters[order], given.labels[order], given.shape)
    for model in (lambda one: mace(one, np.random.default_rng(0), restarts=1), dawid_skene):
        assert model(mixed).belief == pytest.approx(model(given).belief, abs=1e-9)
