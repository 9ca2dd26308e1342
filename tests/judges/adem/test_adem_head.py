"""The head against the released program, its gradient against differences, principal components against others."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from scipy import optimize

from conftest import GOLDEN
from rejoinder.errors import DataError
from rejoinder.judges.adem.head import AdemHead, Penalty, Vectors, fit_projection, gradient, initial_head, project
from rejoinder.judges.adem.judge import TERMS, Kind
from rejoinder.scorer import FloatArray

KINDS: tuple[Kind, ...] = ("adem", "c-adem", "r-adem")
PENALTIES: tuple[Penalty, ...] = ("frobenius", "l2_squared", "l1")


def penalty(head: AdemHead, kind: Penalty) -> float:
    matrices = (head.M, head.N)
    if kind == "frobenius":
        return float(sum(np.linalg.norm(matrix) for matrix in matrices))
    power = 2 if kind == "l2_squared" else 1
    return float(sum((np.abs(matrix) ** power).sum() for matrix in matrices))


def objective(head: AdemHead, vectors: Vectors, ratings: FloatArray, kind: Penalty, weight: float) -> float:
    return float(np.square(head(vectors) - ratings).mean()) + weight * penalty(head, kind)


@pytest.fixture(scope="module")
def golden() -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads((GOLDEN / "adem_head.json").read_text()))


def golden_vectors(golden: dict[str, Any]) -> Vectors:
    return Vectors(*(np.array(golden[side]) for side in ("context", "reference", "response")))


@pytest.mark.parametrize("kind", KINDS)
def test_values_of_the_released_program(golden: dict[str, Any], kind: Kind) -> None:
    vectors, expected = golden_vectors(golden), golden["cases"][kind.replace("-", "_")]
    first = initial_head(vectors, TERMS[kind])
    assert (first.alpha, first.beta) == pytest.approx((expected["alpha"], expected["beta"]), abs=1e-9)
    assert first(vectors) == pytest.approx(expected["scores_at_identity"], abs=1e-9)
    # The released program stores the transpose of the published M and N.
    trained = replace(first, M=np.array(expected["M_code_orientation"]).T, N=np.array(expected["N_code_orientation"]).T)
    assert trained(vectors) == pytest.approx(expected["scores_with_M_N"], abs=1e-9)
    ratings = np.array(golden["human"], dtype=float)
    assert objective(trained, vectors, ratings, "frobenius", 0.0) == pytest.approx(expected["mse"], abs=1e-9)
    whole = objective(trained, vectors, ratings, "frobenius", 0.075)
    assert whole == pytest.approx(expected["objective_released_code_gamma_0.075"], abs=1e-9)


@pytest.mark.parametrize("norm", PENALTIES)
@pytest.mark.parametrize("kind", KINDS)
def test_gradient_is_the_slope_of_the_objective(golden: dict[str, Any], kind: Kind, norm: Penalty) -> None:
    vectors, ratings = golden_vectors(golden), np.array(golden["human"], dtype=float)
    rng = np.random.default_rng(3)
    head = replace(initial_head(vectors, TERMS[kind]), M=rng.normal(size=(4, 4)), N=rng.normal(size=(4, 4)))
    slopes = gradient(head, vectors, ratings, norm, 0.1)
    assert tuple(slopes) == TERMS[kind]
    for term, slope in slopes.items():
        name = {"context": "M", "reference": "N"}[term]

        def at(flat: FloatArray, name: str = name) -> float:
            return objective(replace(head, **cast("Any", {name: flat.reshape(4, 4)})), vectors, ratings, norm, 0.1)

        numeric = optimize.approx_fprime(getattr(head, name).ravel(), at, 1e-7)
        assert slope.ravel() == pytest.approx(numeric, abs=1e-5)


def test_head_without_spread_is_refused() -> None:
    same = np.ones((3, 2))
    with pytest.raises(DataError, match="the judge gives all examples the same score"):
        initial_head(Vectors(same, same, same), TERMS["adem"])


def test_principal_components_are_those_of_scikit_learn() -> None:
    from sklearn.decomposition import PCA

    for shape in ((60, 8), (6, 20)):
        rows = np.random.default_rng(1).normal(size=shape) * np.linspace(1, 3, shape[1])
        fitted, expected = fit_projection([rows], 4, np.arange(len(rows))), PCA(4, svd_solver="full").fit(rows)
        signs = np.sign((fitted.components * expected.components_).sum(axis=1))
        np.testing.assert_allclose(fitted.components, expected.components_ * signs[:, None], atol=1e-9)
        assert fitted.explained == pytest.approx(expected.explained_variance_ratio_.sum())
        assert (fitted.components.max(axis=1) == np.abs(fitted.components).max(axis=1)).all()


def test_components_are_those_of_distinct_rows() -> None:
    rows, places = np.random.default_rng(0).normal(size=(50, 4)), np.arange(50)
    once = fit_projection([rows], 2, places)
    assert np.allclose(once(rows), fit_projection([rows, rows[::-1]], 2, np.tile(places, 2))(rows))
    with_nan = np.vstack([rows, np.full((1, 4), np.nan)])
    assert np.allclose(once(rows), fit_projection([with_nan], 2, np.arange(51))(rows))
    some = fit_projection([rows, rows], 2, np.arange(20))
    assert np.allclose(some(rows), fit_projection([rows[:20]], 2, np.arange(20))(rows))
    assert fit_projection([rows], 99, places).components.shape == (4, 4)


def test_normalised_vectors_have_length_one() -> None:
    raw = Vectors(*np.random.default_rng(0).normal(size=(3, 5, 4)))
    raw.response[0] = 0
    unit = project(raw, None, "l2")
    assert np.linalg.norm(unit.context, axis=1) == pytest.approx(np.ones(5))
    assert not unit.response[0].any()
