"""Interpolated n-gram models: hand-worked cases, the published formula written out, what holds of any model."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from conftest import drawn
from rejoinder.errors import DataError, UsageError
from rejoinder.training import ngrams
from rejoinder.training.ngrams import NgramModel, fit_ngrams, fit_witten_bell

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


def written_out(train: Sequences, order: int, history: tuple[int, ...], token: int) -> float:
    """Modified Kneser-Ney as Chen and Goodman define it, n-gram by n-gram."""
    padded = [[START, *sequence] for sequence in train]
    occur: dict[int, Counter[tuple[int, ...]]] = defaultdict(Counter)
    for sequence in padded:
        for length in range(1, order + 1):
            for end in range(1, len(sequence)):
                if end - length + 1 >= 0:
                    occur[length][tuple(sequence[end - length + 1 : end + 1])] += 1

    def counts(length: int) -> Counter[tuple[int, ...]]:
        if length == order:
            return occur[length]
        varied = Counter(gram[1:] for gram in occur[length + 1])
        return Counter({gram: n if gram[0] == START else varied[gram] for gram, n in occur[length].items()})

    def discount(length: int, count: int) -> float:
        n = Counter(min(c, 5) for c in counts(length).values())
        if not all(n[c] for c in (1, 2, 3, 4)):
            return 0.5
        y = n[1] / (n[1] + 2 * n[2])
        k = min(count, 3)
        return max(k - (k + 1) * y * n[k + 1] / n[k], 0.05)

    def probability(length: int, before: tuple[int, ...]) -> float:
        if length == 0:
            return 1 / V
        below = probability(length - 1, before[1:])
        following = {gram[-1]: n for gram, n in counts(length).items() if gram[:-1] == before}
        if not following or len(before) != length - 1:
            return below
        total = sum(following.values())
        freed = sum(discount(length, n) for n in following.values())
        own = following[token] - discount(length, following[token]) if token in following else 0.0
        return own / total + freed / total * below

    context = (START, *history)[-(order - 1) :] if order > 1 else ()
    return probability(len(context) + 1, context)


def test_hand_worked_bigrams() -> None:
    # All discounts are a half. Each token follows one token only, so the level below is uniform: 1/3.
    # P(1 | start) = 2.5/3 + 0.5/3 * 1/3; P(2 | 1) = 1.5/3 + 1/3 * 1/3; P(0 | 1) = 0.5/3 + 1/9; P(1 | 1) = 1/9.
    model = fit_ngrams([[1, 2], [1, 2], [1, 0]], 2, vocabulary_size=3)
    assert np.exp(model.log_prob([1, 2])) == pytest.approx([16 / 18, 11 / 18], abs=1e-15)
    assert np.exp(model.log_prob([1, 0])) == pytest.approx([16 / 18, 5 / 18], abs=1e-15)
    assert np.exp(model.log_prob([1, 1])) == pytest.approx([16 / 18, 2 / 18], abs=1e-15)
    # Nothing is known of what follows 2, so it is what is known of nothing at all.
    assert np.exp(model.log_prob([1, 2, 0])[-1]) == pytest.approx(1 / 3, abs=1e-15)


def test_hand_worked_unigrams() -> None:
    # Counts 3, 1, 0 with half off each: 2.5/4, 0.5/4, and 1/4 shared by three.
    model = fit_ngrams([[0, 0], [0, 1]], 1, vocabulary_size=3)
    assert np.exp(model.log_prob([0, 1, 2])) == pytest.approx([2.5 / 4 + 1 / 12, 0.5 / 4 + 1 / 12, 1 / 12], abs=1e-15)
    assert model.perplexity([[0], [], [1, 2]]) == pytest.approx(np.exp(-model.log_prob([0, 1, 2]).mean()), rel=1e-12)


@drawn(60)
@given(sequences, st.lists(st.integers(0, V - 1), min_size=1, max_size=6), st.integers(1, 4))
def test_any_model_is_the_formula_written_out(train: Sequences, asked: list[int], order: int) -> None:
    found = np.exp(fit_ngrams(train, order, vocabulary_size=V).log_prob(asked))
    expected = [written_out(train, order, tuple(asked[:place]), token) for place, token in enumerate(asked)]
    assert found == pytest.approx(expected, rel=1e-9)


def test_estimated_discounts_are_those_of_the_formula() -> None:
    train = [sequence.tolist() for sequence in chain(120, V, 1)]
    model = fit_ngrams(train, 3, vocabulary_size=V)
    counts = ngrams._counted(*flat_of(train, 3), 3, V + 1, None)[1]
    assert set(range(1, 5)) <= set(counts.tolist()), "the case must estimate its discounts"
    for sequence in train[:5]:
        expected = [written_out(train, 3, tuple(sequence[:place]), token) for place, token in enumerate(sequence)]
        assert np.exp(model.log_prob(sequence)) == pytest.approx(expected, rel=1e-9)


def flat_of(train: Sequences, order: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    flat = ngrams._padded(list(train), order, V)
    return flat, np.flatnonzero(flat != V)


@drawn(40)
@given(sequences, st.lists(st.integers(0, V - 1), max_size=4), st.integers(1, 4))
def test_probabilities_sum_to_one(train: Sequences, history: list[int], order: int) -> None:
    model = fit_ngrams(train, order, vocabulary_size=V)
    each = np.exp([model.log_prob([*history, token])[-1] for token in range(V)])
    assert each.sum() == pytest.approx(1, abs=1e-12)
    assert (each > 0).all()


def test_the_rarer_discounts_never_take_more_than_there_is() -> None:
    for seed in range(20):
        counts = np.random.default_rng(seed).geometric(0.4, 60)
        assert (ngrams._discounts(counts)[1:] <= [1, 2, 3]).all()
        assert (ngrams._discounts(counts)[1:] > 0).all()


@pytest.mark.slow
def test_longer_histories_help_where_they_matter() -> None:
    train, test = chain(6000, 8, 1), chain(300, 8, 2)
    perplexities = [fit_ngrams(train, order, vocabulary_size=8).perplexity(test) for order in (1, 2, 3)]
    assert all(longer < 0.9 * shorter for shorter, longer in pairwise(perplexities)), perplexities


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    train = chain(50, V, 3)
    whole = fit_ngrams(train, 3, vocabulary_size=V)
    monkeypatch.setattr(ngrams, "_AT_ONCE", 7)
    cut = fit_ngrams(iter(train), 3, vocabulary_size=V)
    assert cut.perplexity(train) == pytest.approx(whole.perplexity(train), rel=1e-12)
    assert all((a.grams == b.grams).all() for a, b in zip(cut.levels, whole.levels, strict=True))


def test_sequences_too_short_for_the_order() -> None:
    # Every trigram would begin with two start symbols; the level stays empty and the one below speaks.
    short, model = fit_ngrams([[0]], 2, vocabulary_size=V), fit_ngrams([[0]], 3, vocabulary_size=V)
    assert len(model.levels[2].grams) == 0
    assert model.log_prob([0])[0] == pytest.approx(short.log_prob([0])[0], abs=1e-15)


def test_no_tokens_no_logs() -> None:
    model = fit_ngrams([[0]], 2, vocabulary_size=2)
    assert isinstance(model, NgramModel)
    assert model.log_prob([]).shape == (0,)


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
    np.testing.assert_allclose(model.probabilities([asked])[0], expected)
    np.testing.assert_allclose(model.log_prob(asked), np.log(expected))


@given(sequences, st.lists(st.integers(0, V - 1), max_size=3), st.integers(1, 3), st.integers(1, 3))
@drawn(60)
def test_what_is_dropped_goes_to_the_level_below(train: Sequences, history: list[int], two: int, three: int) -> None:
    model = fit_witten_bell(train, (two, three), vocabulary_size=V)
    whole = fit_witten_bell(train, (1, 1), vocabulary_size=V)
    rows = model.probabilities([[*history, token] for token in range(V)])
    assert sum(row[-1] for row in rows) == pytest.approx(1.0)
    for small, large, least in zip(model.levels[1:], whole.levels[1:], (two, three), strict=True):
        assert set(small.grams.tolist()) <= set(large.grams.tolist())
        assert least > 1 or len(small.grams) == len(large.grams)


@given(sequences)
def test_the_probabilities_of_a_sequence_are_its_own(asked: Sequences) -> None:
    model = fit_witten_bell(chain(20, V, 1), (1, 2), vocabulary_size=V)
    together = model.probabilities(asked)
    assert [row.tobytes() for row in together] == [model.probabilities([one])[0].tobytes() for one in asked]
    assert [len(row) for row in together] == [len(one) for one in asked]
    alone, _, after = model.by_order([[3, 3]])
    assert alone[0] == pytest.approx(model.levels[0].shares[[3, 3]])
    assert after[0].tobytes() == model.probabilities([[3, 3]])[0].tobytes()


def test_messages() -> None:
    model = fit_ngrams([[0]], 2, vocabulary_size=2)
    with pytest.raises(UsageError) as caught:
        fit_ngrams([[0]], 0, vocabulary_size=2)
    assert str(caught.value) == "order is 0 and vocabulary_size 2, expected 1 or more"
    with pytest.raises(UsageError) as long:
        fit_ngrams([[0]], 6, vocabulary_size=4000)
    assert str(long.value) == "6-grams of 4000 tokens do not fit 63 bits. Give a lower order."
    for wrong in (2, -1):
        with pytest.raises(UsageError) as outside:
            model.log_prob([0, wrong])
        assert str(outside.value) == f"token {wrong} is outside the vocabulary, which has 0 to 1"
    with pytest.raises(DataError) as empty:
        fit_ngrams([[]], 2, vocabulary_size=2)
    assert str(empty.value) == "no token to count. Give at least one sequence that is not empty"
    with pytest.raises(DataError) as nothing:
        model.perplexity([])
    assert str(nothing.value) == "no token to predict. Give at least one sequence that is not empty"
