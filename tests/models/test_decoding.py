"""Greedy search, beam search and sampling, on tables of probabilities that can be checked by hand and on models."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from conftest import drawn
from rejoinder.models.networks.decoding import (
    Generated,
    Limits,
    beam,
    draw,
    draw_from_nucleus,
    greedy,
    nucleus,
    sample,
)
from rejoinder.models.networks.dialogue import DialogueModel, Turns
from rejoinder.models.networks.recurrent import State
from rejoinder.models.sizes import DialogueSizes

SIZES = DialogueSizes(vocabulary=50, embedding=6, utterance=5, context=7, decoder=8)
END, NEVER, A, B, C = range(5)
LIMITS = Limits(END, (NEVER,), longest=3)


def step(previous: Tensor | None, state: State) -> tuple[Tensor, State]:
    """A model that is a table: logits [n, V] after the word before; its state are tables [n, 1 + V, V] of rows."""
    (tables,) = state
    rows = torch.zeros(len(tables), dtype=torch.long) if previous is None else previous + 1
    return tables[torch.arange(len(tables)), rows], state


def table(*rows: Sequence[float]) -> Tensor:
    """[1, 6, 5] the logits of the probabilities at the beginning, and after END, NEVER, A, B and C."""
    first, *after = (torch.tensor(row).log() for row in rows)
    nothing = torch.zeros(5)
    return torch.stack([first, nothing, nothing, *after, *[nothing] * (3 - len(after))])[None]


def tables(seed: int, count: int = 1) -> Tensor:
    """[count, 6, 5] random tables."""
    return 2 * torch.randn(count, 6, 5, generator=torch.Generator().manual_seed(seed))


def generators(count: int, seed: int = 0) -> list[torch.Generator]:
    return [torch.Generator().manual_seed(seed + row) for row in range(count)]


def shown(written: Sequence[Generated]) -> list[tuple[list[int], Any]]:
    return [(turn.ids, pytest.approx(turn.score, abs=1e-5)) for turn in written]


# The beginning is A in 6 of 10, but what follows A is less sure than what follows B.
AFTER_B = table((0, 0, 0.6, 0.4, 0), (0.5, 0, 0.25, 0.25, 0), (0.9, 0, 0.05, 0.05, 0))


def test_greedy_takes_the_likeliest_word_and_beam_search_the_likeliest_turn() -> None:
    assert shown(greedy(step, (AFTER_B,), LIMITS)) == [([A], math.log(0.6 * 0.5) / 2)]
    (found,) = beam(step, (AFTER_B,), LIMITS, width=2, count=2)
    assert shown(found) == [([B], math.log(0.4 * 0.9) / 2), ([A], math.log(0.6 * 0.5) / 2)]


def test_turns_are_compared_by_the_probability_of_a_piece() -> None:
    given = table((0.5, 0, 0.5, 0, 0), (0.8, 0, 0.2, 0, 0))
    (found,) = beam(step, (given,), LIMITS, width=2, count=2)
    assert shown(found) == [([A], math.log(0.5 * 0.8) / 2), ([], math.log(0.5))]
    (longer,) = beam(step, (given,), LIMITS._replace(shortest=1), width=1)
    assert shown(longer) == [([A], math.log(1.0 * 0.8) / 2)], "what may not be said has no probability"


def test_what_does_not_end_is_cut_off() -> None:
    given = table((0, 0, 1, 0, 0), (0.1, 0, 0.9, 0, 0))
    expected = [([A, A, A], math.log(0.9 * 0.9) / 3)]
    assert shown(greedy(step, (given,), LIMITS)) == expected
    assert shown(beam(step, (given,), LIMITS, width=1)[0]) == expected
    assert sample(step, (table((0, 0, 1, 0, 0), (0, 0, 1, 0, 0)),), LIMITS, generators(1))[0].ids == [A, A, A]


def turns(of: Tensor, limits: Limits) -> Iterator[tuple[list[int], float]]:
    """Every turn there can be, and its log-probability per piece, the slow way."""
    words = [word for word in range(5) if word != END and word not in limits.forbidden]
    for size in range(limits.shortest, limits.longest + 1):
        for said in itertools.product(words, repeat=size):
            pieces = [*said, END] if size < limits.longest else list(said)
            total, before = 0.0, 0
            for number, piece in enumerate(pieces):
                open_to = [*words, *([END] if number >= limits.shortest else [])]
                total += (of[before][piece] - of[before][open_to].logsumexp(0)).item()
                before = piece + 1
            yield list(said), total / len(pieces)


@drawn(15)
@given(st.integers(0, 10**6), st.integers(0, 2))
def test_a_beam_that_is_wide_enough_finds_every_turn(seed: int, shortest: int) -> None:
    of, limits = tables(seed), LIMITS._replace(shortest=shortest)
    expected = sorted(turns(of[0], limits), key=lambda turn: -turn[1])
    (found,) = beam(step, (of,), limits, width=45, count=45)
    assert sorted(turn.ids for turn in found) == sorted(ids for ids, _ in expected)
    scores = {tuple(ids): score for ids, score in expected}
    assert [turn.score for turn in found] == pytest.approx([scores[tuple(turn.ids)] for turn in found], abs=1e-5)
    assert [turn.score for turn in found] == sorted((turn.score for turn in found), reverse=True)


@drawn(25)
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(0, 4))
def test_what_a_beam_search_finds_is_allowed_distinct_and_in_order(seed: int, width: int, shortest: int) -> None:
    limits = Limits(END, (NEVER, B), longest=4, shortest=shortest)
    for found in beam(step, (tables(seed, 3),), limits, width, count=width):
        assert 1 <= len(found) <= width
        said = [tuple(turn.ids) for turn in found]
        assert len(set(said)) == len(said)
        assert all(shortest <= len(ids) <= 4 and set(ids) <= {A, C} for ids in said)
        assert [turn.score for turn in found] == sorted((turn.score for turn in found), reverse=True)


@drawn(25)
@given(st.integers(0, 10**6), st.integers(0, 2))
def test_a_beam_of_one_is_greedy_search(seed: int, shortest: int) -> None:
    state, limits = (tables(seed, 4),), LIMITS._replace(longest=5, shortest=shortest)
    found = [turns[0] for turns in beam(step, state, limits, width=1)]
    assert [(turn.ids, turn.score) for turn in found] == shown(greedy(step, state, limits))
    assert sample(step, state, limits, generators(4), top_p=1e-6) == greedy(step, state, limits)


@drawn(15)
@given(st.integers(0, 10**6), st.integers(1, 4))
def test_no_turn_depends_on_the_others_of_its_batch(seed: int, width: int) -> None:
    """Rows that are done early stay as they were then."""
    of, limits = tables(seed, 5), LIMITS._replace(longest=6)
    together = (
        greedy(step, (of,), limits),
        sample(step, (of,), limits, generators(5), temperature=0.8, top_p=0.9),
        *zip(*(found for found in beam(step, (of,), limits, width, width)), strict=False),
    )
    for row in range(5):
        own = of[row : row + 1]
        apart = (
            *greedy(step, (own,), limits),
            *sample(step, (own,), limits, generators(1, row), temperature=0.8, top_p=0.9),
            *beam(step, (own,), limits, width, width)[0],
        )
        assert [(turns[row].ids, turns[row].score) for turns in together] == shown(apart)[: len(together)]


WORDS = torch.tensor([1.0, 9.0, 2.0, 0.0, -1.0])  # the second is forbidden


def frequencies(**options: float) -> Tensor:
    """[5] how often each word is drawn at the beginning; END is the turn without a word."""
    count = 8_000
    state = (WORDS.expand(count, 6, 5),)
    drawn = sample(step, state, LIMITS._replace(longest=1), [torch.Generator().manual_seed(0)] * count, **options)
    return torch.bincount(torch.tensor([(turn.ids or [END])[0] for turn in drawn]), minlength=5) / count


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({}, [END, A, B, C]),
        ({"temperature": 0.5}, [END, A, B, C]),
        ({"temperature": 3.0}, [END, A, B, C]),
        # The probabilities are .64, .24, .09 and .03.
        ({"top_p": 0.6}, [A]),
        ({"top_p": 0.65}, [END, A]),
        ({"top_p": 0.9}, [END, A, B]),
        ({"temperature": 3.0, "top_p": 0.6}, [END, A]),
    ],
)
def test_words_are_drawn_as_often_as_they_are_probable(options: dict[str, float], kept: list[int]) -> None:
    expected = torch.zeros(5)
    expected[kept] = (WORDS[kept] / options.get("temperature", 1.0)).softmax(0)
    found = frequencies(**options)
    # Of 8,000 draws a frequency has a standard error of .0056 at most.
    torch.testing.assert_close(found, expected, atol=0.02, rtol=0)
    assert not found[expected == 0].any()


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([1, 5, 64, 1000]),
    st.sampled_from([0.0, 0.3, 1.0, 4.0]),
    st.booleans(),
    st.floats(1e-6, 1.0, exclude_max=True),
)
def test_a_word_is_in_the_nucleus_if_the_more_probable_words_have_less_than_top_p(
    seed: int, size: int, spread: float, even: bool, top_p: float
) -> None:
    logits = spread * torch.randn(3, size, generator=torch.Generator().manual_seed(seed))
    # Rounded logits make equally probable words; a spread of 0 makes all words so.
    probabilities = (logits.round() if even else logits).softmax(-1)
    above = (probabilities[:, None] * (probabilities[:, None] > probabilities[:, :, None])).sum(-1)  # [3, V]
    clear = (above - top_p).abs() > 1e-5  # sums in another order differ in their last bits
    found = nucleus(probabilities, top_p)
    expected = torch.where(above < top_p, probabilities, 0)
    torch.testing.assert_close(found[clear], expected[clear], rtol=0, atol=0)
    uniforms = torch.rand(3, 9, generator=torch.Generator().manual_seed(seed))
    words = draw_from_nucleus(probabilities, uniforms, top_p)
    assert (above.gather(1, words[:, None]) < top_p + 1e-5).all()


@pytest.mark.parametrize("spread", [0.1, 3.0])
@pytest.mark.parametrize("top_p", [0.05, 0.5, 0.9])
def test_rejection_draws_from_the_nucleus_in_proportion(spread: float, top_p: float) -> None:
    generator, count = torch.Generator().manual_seed(0), 20_000
    probabilities = (spread * torch.randn(1, 50, generator=generator)).softmax(-1)
    uniforms = torch.rand(count, 9, generator=generator)
    words = draw_from_nucleus(probabilities.expand(count, -1), uniforms, top_p)
    expected = nucleus(probabilities, top_p)[0]
    found = torch.bincount(words, minlength=50) / count
    torch.testing.assert_close(found, expected / expected.sum(), atol=0.015, rtol=0)
    assert not found[expected == 0].any()


@pytest.mark.parametrize("uniform", [0.0, 1.0 - 2**-24, 1.0])
def test_the_ends_of_the_interval_draw_no_forbidden_word(uniform: float) -> None:
    allowed = torch.tensor([[0.0, 0.3, 0.3, 0.4, 0.0]])
    assert draw(allowed, torch.tensor([uniform])).tolist() == [B if uniform else NEVER]


def test_the_score_of_a_sample_does_not_depend_on_temperature() -> None:
    turns = sample(step, (AFTER_B.expand(50, 6, 5),), LIMITS._replace(longest=2), generators(50), temperature=5.0)
    scores = {tuple(turn.ids): turn.score for turn in turns}
    assert scores[B,] == pytest.approx(math.log(0.4 * 0.9) / 2)


def said_by(model: DialogueModel, contexts: Tensor, limits: Limits) -> list[list[int]]:
    return [turn.ids for turn in greedy(model.step, model.begin(contexts), limits)]


@pytest.fixture
def model() -> DialogueModel:
    torch.manual_seed(0)
    return DialogueModel(SIZES).eval()


def test_greedy_says_the_likeliest_word_each_time(model: DialogueModel) -> None:
    contexts = torch.randn(2, 7)
    with torch.no_grad():
        model.decoder.words.bias[9] = 50.0
    assert said_by(model, contexts, Limits(2, (), 3)) == [[9, 9, 9]] * 2
    with torch.no_grad():
        model.decoder.words.bias[2] = 99.0
    assert said_by(model, contexts, Limits(2, (), 3)) == [[], []]
    assert said_by(model, contexts, Limits(2, (), 3, shortest=2)) == [[9, 9]] * 2
    said = said_by(model, contexts, Limits(2, (2, 9), 4))
    assert all(len(turn) == 4 and not {2, 9} & set(turn) for turn in said)


def test_tensors_are_made_where_the_model_is(model: DialogueModel) -> None:
    contexts, limits = torch.randn(2, 7), Limits(2, (2, 9), 4, shortest=1)

    def everything() -> tuple[object, ...]:
        return (
            greedy(model.step, model.begin(contexts), limits),
            sample(model.step, model.begin(contexts), limits, generators(2), top_p=0.9),
            beam(model.step, model.begin(contexts), limits, 3, 3),
        )

    said = everything()
    with torch.device("meta"):  # any tensor made without a word on its device would stand there
        assert everything() == said


def test_greedy_is_what_the_losses_expect(model: DialogueModel) -> None:
    contexts = torch.randn(1, 7)
    (turn,) = greedy(model.step, model.begin(contexts), Limits(2, (2,), 3))
    said = turn.ids

    def loss(ids: list[int]) -> float:
        return model._decode(Turns(torch.tensor([ids]), torch.tensor([3])), contexts, torch.Generator()).item()

    best = loss(said)
    for word in set(range(3, 50)) - {said[2]}:
        assert loss([*said[:2], word]) >= best
    free = greedy(model.step, model.begin(contexts), Limits(49, (), 3))[0]
    assert free.score == pytest.approx(-loss(free.ids) / 3, rel=1e-5)


def test_a_vhred_is_conditioned_on_a_sample_of_its_prior(model: DialogueModel) -> None:
    vhred = DialogueModel(SIZES.model_copy(update={"latent": 4})).eval()
    contexts = torch.randn(2, 7)
    mean = vhred.condition_after(contexts, torch.zeros(2, 4))
    assert mean.shape == (2, 11)
    torch.testing.assert_close(mean[:, 7:], vhred.prior(contexts).mean)
    assert not torch.equal(mean, vhred.condition_after(contexts, torch.ones(2, 4)))
    torch.testing.assert_close(model.condition_after(contexts, torch.zeros(2, 0)), contexts)
