"""How scores move with the vectors of responses: gradients against finite differences."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
import pytest

import rejoinder
from rejoinder.example import Example
from rejoinder.judges.adem.fit import FitOptions, Normalise
from rejoinder.judges.adem.judge import BilinearJudge, Kind
from rejoinder.judges.adem.panel import Panel
from rejoinder.judges.adem.sides import References
from rejoinder.judges.differentiable import Differentiable
from rejoinder.judges.train import train_judge
from rejoinder.scorer import FloatArray
from samples import bilinear_of, small_panel

STEP = 1e-5


def given() -> list[Example]:
    """Examples with all sides, several references, none, and a response without a known word."""
    replies = [example.response for example in rejoinder.read("@conture")][:12]
    made = [
        Example((replies[row - 1],), replies[row], tuple(replies[row - 2 : row]) if row % 3 else ())
        for row in range(2, 12)
    ]
    return [*made, Example(("hello",), "xqzzyx", ("yes",)), Example((), "good", ("good day",))]


def numeric(judge: Differentiable, examples: list[Example], vectors: FloatArray) -> FloatArray:
    """[N, D] the gradient by differences to both sides."""
    found = np.empty_like(vectors)
    for column in range(vectors.shape[1]):
        moved = np.zeros(vectors.shape[1])
        moved[column] = STEP
        up, down = (judge.slopes(examples, vectors + side * moved).values for side in (1, -1))
        found[:, column] = (up - down) / (2 * STEP)
    return found


def checked(judge: Differentiable, examples: list[Example]) -> FloatArray:
    """The gradients, once they agree with differences and the values with the scores."""
    slopes = judge.slopes(examples)
    scored = np.isfinite(slopes.values)
    assert scored.any() and not np.isfinite(slopes.gradients[~scored]).any()
    np.testing.assert_allclose(slopes.gradients, numeric(judge, examples, slopes.vectors), rtol=1e-5, atol=1e-6)
    expected = judge.score_batch(examples).values
    np.testing.assert_allclose(slopes.values[scored], expected[scored], rtol=1e-9)
    return slopes.gradients[scored]


@pytest.fixture(scope="module")
def judges() -> dict[Normalise, BilinearJudge]:
    rated = [replace(one, references=one.context[-1:]) for one in rejoinder.read("@conture")]
    ways: tuple[Normalise, ...] = ("none", "l2")
    return {
        way: bilinear_of(train_judge(rated, "adem", options=FitOptions(components=6, epochs=3, normalise=way)))
        for way in ways
    }


@pytest.mark.parametrize("references", ["mean", "best"])
@pytest.mark.parametrize("normalise", ["none", "l2"])
def test_gradients_are_those_of_the_score(
    judges: dict[Normalise, BilinearJudge], normalise: Normalise, references: References
) -> None:
    judge = replace(judges[normalise], references=references, scale=(0.0, 100.0))
    assert np.abs(checked(judge, given())).max() > 0.1


def test_without_components_too(judges: dict[Normalise, BilinearJudge]) -> None:
    judge = judges["none"]
    width = judge.encoder.width
    whole = replace(judge.head, M=np.eye(width), N=2 * np.eye(width))
    checked(replace(judge, projection=None, head=whole), given())


def test_a_panel() -> None:
    panel = small_panel()
    assert isinstance(panel, Panel) and set(panel.members) == {"adem", "c-adem", "r-adem"}
    gradients = checked(replace(panel, scale=(0.0, 10.0)), given())
    assert len(gradients) >= 10 and np.abs(gradients).max() > 0.01


def test_a_step_along_the_gradient_raises_the_score() -> None:
    panel, examples = small_panel(), given()
    slopes = panel.slopes(examples)
    after = panel.slopes(examples, slopes.vectors + 0.01 * slopes.gradients)
    known = np.isfinite(slopes.values)
    assert known.any() and (after.values > slopes.values)[known].all()


@pytest.mark.parametrize("references", ["mean", "best"])
@pytest.mark.parametrize("normalise", ["none", "l2"])
def test_a_space_scores_any_response_as_the_judge_does(
    judges: dict[Normalise, BilinearJudge], normalise: Normalise, references: References
) -> None:
    judge = replace(judges[normalise], references=references, scale=(0.0, 100.0))
    examples = given()
    others = ["how are you", "see you in the film", "xqzzyx", "good day"]
    (space,) = judge.spaces(examples)
    assert space.name == "adem" and space.rows.tolist() == [*range(len(examples))]
    assert space.sides["reference"].rows.tolist() == [row for row, one in enumerate(examples) for _ in one.references]
    compared = space.project(judge.encoder.encode(others))
    assert compared.shape == (4, 6)
    grid = space.scores(compared)
    expected = [judge.score_batch([replace(one, response=text) for one in examples]).values for text in others]
    np.testing.assert_allclose(grid, np.array(expected).T, rtol=1e-9)
    rows = np.array([1, 2, len(examples) - 1])
    np.testing.assert_allclose(space.scores(compared, rows), grid[rows], rtol=1e-9)


def test_the_spaces_of_a_panel_share_its_examples() -> None:
    panel, examples = replace(small_panel(), scale=(0.0, 10.0)), given()
    spaces = panel.spaces(examples)
    assert sorted(np.concatenate([space.rows for space in spaces]).tolist()) == [*range(len(examples))]
    vectors = panel.encoder.encode(["good day"])
    for space in spaces:
        assert {"response", *panel.members[cast("Kind", space.name)].head.terms} == set(space.sides)
        asked = [replace(examples[row], response="good day") for row in space.rows]
        np.testing.assert_allclose(
            space.scores(space.project(vectors))[:, 0], panel.score_batch(asked).values, rtol=1e-9
        )
        assert set(space.sides["response"].rows) == set(space.rows)
