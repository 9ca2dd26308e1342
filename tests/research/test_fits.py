"""How the papers' judges are fitted: on what, with which settings, and what they never see."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from made_up import encoded
from rejoinder.judges.adem.head import Vectors
from rejoinder.judges.adem.optimizer import fit_adem
from research import lowe2017, unseen
from research.encodings import Prepared
from research.figures import appearances, figures
from research.fits import QUICK, Split, judge, splits, sweep


def test_the_judge_learns_what_people_like() -> None:
    """On references that decide the rating, R-ADEM is found well ahead of chance, and validation chose the settings."""
    prepared = encoded()
    divided = splits(prepared.material, 2)
    found = sweep(prepared.material, prepared.main, divided, "r-adem")
    assert found.validation.shape == (12, 2, 2)
    assert {one.components for one in found.settings} == {7, 20, 50}
    for place, chosen in enumerate(found.chosen):
        best = found.validation[:, place, 0].max()
        assert found.validation[found.settings.index(chosen), place, 0] == best == found.judgements[place].validation[0]
    assert min(one.validation[0] for one in found.judgements) > 0.3


def test_components_are_fitted_on_training_lines_alone() -> None:
    """What stands in validation and test, whatever it is, leaves the components as they are."""
    prepared = encoded()
    encoding, split = prepared.main[0], splits(prepared.material, 1)[0]
    one = fit_adem(*_fit_arguments(prepared, encoding.raw, split))
    rng = np.random.default_rng(0)
    others = np.concatenate([split.validation, split.test])
    changed = Vectors(*(side.copy() for side in encoding.raw))
    for side in changed:
        side[others] = 50 + 10 * rng.normal(size=(len(others), side.shape[1]))
    two = fit_adem(*_fit_arguments(prepared, changed, split))
    assert one.projection is not None and two.projection is not None
    assert np.array_equal(one.projection.mean, two.projection.mean)
    assert np.array_equal(one.projection.components, two.projection.components)
    assert (one.head.alpha, one.head.beta) == (two.head.alpha, two.head.beta)
    distinct = np.unique(np.concatenate([side[split.train] for side in encoding.raw]), axis=0)
    np.testing.assert_allclose(one.projection.mean, distinct.mean(axis=0), atol=1e-12)


def _fit_arguments(prepared: Prepared, raw: Vectors, split: Split) -> tuple[Any, ...]:
    options = replace(QUICK, components=5, epochs=0)
    rows = (split.train, split.validation, lowe2017.NEEDS, options, np.random.default_rng(0))
    return (raw, prepared.material.ratings, prepared.main[0].lines.lengths, *rows)


def test_a_judge_never_sees_the_system_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = encoded()
    material, divided = prepared.material, splits(prepared.material, 1)
    options = replace(QUICK, epochs=0)
    full = [judge(material, prepared.main[0], divided[0], lowe2017.ADEM, options)]
    seen: list[Split] = []

    def watched(*arguments: object) -> object:
        seen.append(arguments[2])  # type: ignore[arg-type]
        return judge(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(unseen, "judge", watched)
    where = appearances([split.test for split in divided])
    rows = unseen.unseen_systems(figures(material, 0, 50), divided, full, [options], lowe2017.ADEM, where)
    assert [one.system for one in rows] == ["beta", "gamma", ""]  # alpha has 79 lines that are no copies
    for one, split in zip(rows, seen, strict=True):
        assert one.system not in material.systems[np.concatenate([split.train, split.validation])]
    assert [one.lines for one in rows] == [90, 90, 0]
    assert rows[-1].share == pytest.approx(0.25, abs=0.01)
    assert rows[-1].removed is None
    shares = unseen.fewer_labels(figures(material, 0, 50), divided, full, [options], lowe2017.ADEM, where)
    assert [one.share for one in shares] == list(unseen.SHARES)
    assert shares[-1].lines == len(divided[0].train) + len(divided[0].validation)
