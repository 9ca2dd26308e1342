"""Interpolated n-gram models: the published formula written out, and rules for any model."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from conftest import drawn
from rejoinder.errors import DataError, UsageError
from rejoinder.pretraining import ngrams
from rejoinder.pretraining.ngrams import fit_witten_bell

V = 6
START = V
Sequences = list[list[int]]
sequences = st.lists(st.lists(st.integers(0, V - 1), max_size=8), min_size=1, max_size=30).filter(any)


def chain(count: int, size: int, seed: int) -> list[NDArray[np.int64]]:
    """Sequences in which a token depends on the two before it."""
    generator = np.random.default_rng(seed)
    rows = np.random.default_rng(0).dirichlet(np.full(size, 0.1), (size, size))
    made = []
    for _ in range(count):
        tokens = [0, 0]
        for _ in range(int(generator.integers(1, 20))):
            tokens.append(int(generator.choice(size, p=rows[tokens[-2], tokens[-1]])))
        made.append(np.array(tokens[2:]))
    return made


def witten_bell(train: Sequences, order: int, history: tuple[int, ...], token: int) -> float:
    """Interpolated Witten-Bell written out, all kept: a history of start symbols alone counts as one of them."""
    history = history[len(history) - order + 1 :]
    if order == 1:
        flat = [one for sequence in train for one in sequence]
        return (flat.count(token) + 0.1) / (len(flat) + 0.1 * V)
    below = witten_bell(train, order - 1, history, token)
    if order > 2 and set(history) == {START}:
        return below
    padded = [[START] * (order - 1) + sequence for sequence in train]
    after = Counter(
        row[end] for row in padded for end in range(order - 1, len(row)) if tuple(row[end - order + 1 : end]) == history
    )
    return (after[token] + len(after) * below) / (after.total() + len(after)) if after else below


@given(sequences, st.lists(st.integers(0, V - 1), min_size=1, max_size=6), st.integers(1, 3))
@drawn(60)
def test_witten_bell_is_the_formula_written_out(train: Sequences, asked: list[int], order: int) -> None:
    model = fit_witten_bell(train, (1,) * (order - 1), vocabulary_size=V)
    padded = [START] * order + asked
    expected = [
        witten_bell(train, order, tuple(padded[end - order : end]), padded[end]) for end in range(order, len(padded))
    ]
    np.testing.assert_allclose(model.by_order([asked])[-1][0], expected)


@given(sequences, st.lists(st.integers(0, V - 1), max_size=3), st.integers(1, 3), st.integers(1, 3))
@drawn(60)
def test_what_is_dropped_goes_to_the_level_below(train: Sequences, history: list[int], two: int, three: int) -> None:
    model = fit_witten_bell(train, (two, three), vocabulary_size=V)
    whole = fit_witten_bell(train, (1, 1), vocabulary_size=V)
    rows = model.by_order([[*history, token] for token in range(V)])[-1]
    assert sum(row[-1] for row in rows) == pytest.approx(1.0)
    for small, large, least in zip(model.levels[1:], whole.levels[1:], (two, three), strict=True):
        assert set(small.grams.tolist()) <= set(large.grams.tolist())
        assert least > 1 or len(small.grams) == len(large.grams)


@given(sequences)
def test_the_probabilities_of_a_sequence_are_its_own(asked: Sequences) -> None:
    model = fit_witten_bell(chain(20, V, 1), (1, 2), vocabulary_size=V)
    together = model.by_order(asked)[-1]
    assert [row.tobytes() for row in together] == [model.by_order([one])[-1][0].tobytes() for one in asked]
    assert [len(row) for row in together] == [len(one) for one in asked]
    alone, _, after = model.by_order([[3, 3]])
    assert alone[0] == pytest.approx(model.levels[0].shares[[3, 3]])
    assert after[0].tobytes() == model.by_order([[3, 3]])[-1][0].tobytes()


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    train = chain(50, V, 3)
    whole = fit_witten_bell(train, (1, 1), vocabulary_size=V)
    monkeypatch.setattr(ngrams, "_AT_ONCE", 7)
    cut = fit_witten_bell(iter(train), (1, 1), vocabulary_size=V)
    assert all((a.grams == b.grams).all() for a, b in zip(cut.levels, whole.levels, strict=True))


def test_errors() -> None:
    model = fit_witten_bell([[0]], (1,), vocabulary_size=2)
    with pytest.raises(UsageError):
        fit_witten_bell([[0]], (1,) * 5, vocabulary_size=4000)
    for wrong in (2, -1):
        with pytest.raises(UsageError):
            model.by_order([[0, wrong]])[-1]
    with pytest.raises(DataError):
        fit_witten_bell([[]], (1,), vocabulary_size=2)
