"""The modules: recurrences against torch's own, masks that keep padding out, the latent variable and its formulas."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest
import torch
from torch import nn

from rejoinder.nn.dialogue import DialogueModel, Dialogues, Sizes, Turns
from rejoinder.nn.generate import greedy
from rejoinder.nn.latent import Gaussian, GaussianNet, divergence
from rejoinder.nn.recurrent import (
    Cell,
    Normalise,
    NormalisedGRU,
    NormalisedLSTM,
    Recurrent,
    last_step,
    masked,
    reversed_within,
)

SIZES = Sizes(vocabulary=50, embedding=6, utterance=5, context=7, decoder=8)
CELLS: tuple[Cell, ...] = ("lstm", "gru")
NORMALISE: tuple[Normalise, ...] = ("none", "layers", "gates")


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)


def noise(number: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(number)


def test_lstm_without_its_norms_is_torchs() -> None:
    mine, theirs = NormalisedLSTM(3, 4), cast("Any", nn.LSTM(3, 4, batch_first=True))
    mine.input_norm = mine.state_norm = mine.memory_norm = cast("nn.LayerNorm", nn.Identity())
    with torch.no_grad():
        mine.from_input.weight.copy_(theirs.weight_ih_l0)
        mine.from_state.weight.copy_(theirs.weight_hh_l0)
        theirs.bias_ih_l0.zero_()
        theirs.bias_hh_l0.zero_()
    inputs, h, c = torch.randn(2, 5, 3), torch.randn(2, 4), torch.randn(2, 4)
    outputs, state = mine(inputs, (h, c))
    expected, (last_h, last_c) = theirs(inputs, (h[None], c[None]))
    torch.testing.assert_close(outputs, expected)
    torch.testing.assert_close(state, (last_h[0], last_c[0]))


def test_gru_without_its_norms_is_torchs() -> None:
    mine, theirs = NormalisedGRU(3, 4), cast("Any", nn.GRU(3, 4, batch_first=True))
    identity = cast("nn.LayerNorm", nn.Identity())
    mine.gate_input_norm = mine.gate_state_norm = mine.new_input_norm = mine.new_state_norm = identity
    with torch.no_grad():
        # torch's order is reset, update, new, and its update gate keeps the old state where ours lets the new one in.
        reset, update, new = theirs.weight_ih_l0.split(4)
        mine.from_input.weight.copy_(torch.cat([-update, reset, new]))
        reset, update, new = theirs.weight_hh_l0.split(4)
        mine.from_state.weight.copy_(torch.cat([-update, reset, new]))
        theirs.bias_ih_l0.zero_()
        theirs.bias_hh_l0.zero_()
    inputs, h = torch.randn(2, 5, 3), torch.randn(2, 4)
    outputs, state = mine(inputs, (h,))
    expected, last = theirs(inputs, h[None])
    torch.testing.assert_close(outputs, expected)
    torch.testing.assert_close(state[0], last[0])


def test_layer_norm_in_the_gates_ignores_the_scale_of_the_input_weights() -> None:
    layer = NormalisedLSTM(3, 4)
    inputs = torch.randn(2, 5, 3)
    before, _ = layer(inputs, None)
    with torch.no_grad():
        layer.from_input.weight *= 7.0
    after, _ = layer(inputs, None)
    torch.testing.assert_close(before, after, atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("normalise", NORMALISE)
def test_a_layer_can_be_run_step_by_step(cell: Cell, normalise: Normalise) -> None:
    layer = Recurrent(3, 4, cell, normalise)
    inputs = torch.randn(2, 6, 3)
    whole, last = layer(inputs)
    first, state = layer(inputs[:, :4])
    second, end = layer(inputs[:, 4:], state)
    torch.testing.assert_close(torch.cat([first, second], 1), whole)
    torch.testing.assert_close(end, last)
    assert layer.state_from(torch.ones(2, 4))[0].tolist() == [[1.0] * 4] * 2


def test_sequences_are_reversed_within_their_length() -> None:
    sequences = torch.tensor([[1, 2, 3, 0], [4, 0, 0, 0]])[..., None]
    assert reversed_within(sequences, torch.tensor([3, 1]))[..., 0].tolist() == [[3, 2, 1, 0], [4, 0, 0, 0]]
    assert last_step(sequences.float(), torch.tensor([3, 1]))[:, 0].tolist() == [3, 4]
    assert masked(sequences, torch.tensor([3, 1]))[:, 0].tolist() == [1, 2, 3, 4]


def test_divergence_is_that_of_torch() -> None:
    one, other = (Gaussian(torch.randn(5, 3), torch.rand(5, 3) + 0.1) for _ in range(2))
    expected = torch.distributions.kl_divergence(
        *(torch.distributions.Normal(side.mean, side.variance.sqrt()) for side in (one, other))
    )
    torch.testing.assert_close(divergence(one, other), expected)
    assert divergence(one, one).abs().max() < 1e-6


def test_samples_have_the_mean_and_variance_asked_for() -> None:
    gaussian = Gaussian(torch.full((1, 1), 2.0), torch.full((1, 1), 0.25))
    drawn = gaussian.sample(torch.randn(100_000, 1, generator=noise()))
    assert drawn.mean().item() == pytest.approx(2.0, abs=0.01)
    assert drawn.var().item() == pytest.approx(0.25, abs=0.01)


def test_variances_stay_in_bounds() -> None:
    net = GaussianNet(3, 2)
    with torch.no_grad():
        net.spread.bias.fill_(1e6)
    assert net(torch.randn(4, 3)).variance.max() <= 10.0
    with torch.no_grad():
        net.spread.bias.fill_(-1e6)
    assert net(torch.randn(4, 3)).variance.min() > 0.0


def dialogues(extra: int = 0, chunks: int = 1) -> Dialogues:
    """Two dialogues of three and two turns; `extra` columns of padding, the turns in one or more chunks."""
    turns = [[5, 6, 2], [7, 2], [8, 9, 10, 2], [11, 2], [12, 13, 2]]
    lengths = torch.tensor([len(turn) for turn in turns])
    tokens = torch.zeros(5, 4 + extra, dtype=torch.long)
    for row, turn in enumerate(turns):
        tokens[row, : len(turn)] = torch.tensor(turn)
    parts = zip(tokens.chunk(chunks), lengths.chunk(chunks), strict=True)
    return Dialogues([Turns(rows, length) for rows, length in parts], torch.tensor([[0, 1, 2], [3, 4, -1]]))


@pytest.mark.parametrize("latent", [0, 4])
@pytest.mark.parametrize("normalise", NORMALISE)
def test_padding_and_chunks_do_not_change_the_losses(latent: int, normalise: Normalise) -> None:
    model = DialogueModel(replace(SIZES, latent=latent, normalise=normalise)).eval()
    plain = model(dialogues(), noise())
    for other in (dialogues(extra=3), dialogues(chunks=5), dialogues(extra=1, chunks=2)):
        found = model(other, noise())
        torch.testing.assert_close(found.nll, plain.nll)
        torch.testing.assert_close(found.divergence, plain.divergence)
    assert (plain.tokens, plain.turns) == (14, 5)
    assert plain.divergence.shape == (latent,)
    assert plain.posterior_means.shape == (5, latent)


def test_a_turn_is_predicted_from_what_came_before_it_and_nothing_else() -> None:
    model = DialogueModel(SIZES).eval()
    given = dialogues()
    embedded = model.embedding.weight.detach().clone()

    def turn_loss(row: int, changed: int) -> float:
        """Loss of one turn after another turn's first word was changed."""
        tokens = given.chunks[0].tokens.clone()
        tokens[changed, 0] = 20
        turns = Turns(tokens, given.chunks[0].lengths)
        before = model.contexts_before(model.encode_turns(turns), given.rows)
        alone = Turns(tokens[row : row + 1], turns.lengths[row : row + 1])
        return float(model._decode(alone, before[row : row + 1], noise()).detach())

    base = turn_loss(1, changed=3)
    assert turn_loss(1, changed=0) != pytest.approx(base)  # the turn before it
    assert turn_loss(1, changed=2) == pytest.approx(base)  # the turn after it
    assert turn_loss(1, changed=4) == pytest.approx(base)  # another dialogue
    torch.testing.assert_close(model.embedding.weight.detach(), embedded)


def test_first_turns_have_an_empty_context() -> None:
    model = DialogueModel(SIZES)
    before = model.contexts_before(torch.randn(5, 10), dialogues().rows)
    assert not before[0].any()
    assert not before[3].any()
    assert before[1].any()


def test_word_drop_happens_in_training_alone() -> None:
    model = DialogueModel(replace(SIZES, word_drop=0.5))
    model.train()
    assert model(dialogues(), noise(1)).nll != model(dialogues(), noise(2)).nll
    model.eval()
    assert model(dialogues(), noise(1)).nll == model(dialogues(), noise(2)).nll


@pytest.mark.parametrize("share", [0.25, 0.6])
def test_about_the_share_asked_for_is_dropped_and_the_encoder_reads_all(share: float) -> None:
    model = DialogueModel(replace(SIZES, word_drop=share))
    tokens = torch.randint(5, 50, (400, 21))
    batch = Dialogues([Turns(tokens, torch.full((400,), 21))], torch.arange(400).reshape(200, 2))
    read: list[torch.Tensor] = []
    model.embedding.register_forward_pre_hook(lambda _, inputs: read.append(inputs[0]))
    for training in (True, False):
        read.clear()
        model.train(training)(batch, noise())
        encoded, decoded = read
        assert torch.equal(encoded, tokens)
        dropped = decoded != tokens[:, :-1]
        assert (decoded[dropped] == SIZES.unknown).all()
        # 8,000 draws: the standard error is at most .0056.
        assert dropped.float().mean().item() == pytest.approx(share if training else 0.0, abs=0.02)


def test_the_same_noise_gives_the_same_losses() -> None:
    model = DialogueModel(replace(SIZES, latent=4))
    assert model(dialogues(), noise(1)).nll == model(dialogues(), noise(1)).nll != model(dialogues(), noise(2)).nll


@pytest.mark.parametrize("latent", [0, 4])
def test_every_weight_learns(latent: int) -> None:
    model = DialogueModel(replace(SIZES, latent=latent))
    losses = model(dialogues(), noise())
    (losses.nll + losses.divergence.sum()).backward()
    silent = [name for name, weight in model.named_parameters() if weight.grad is None or not weight.grad.any()]
    assert silent == []


def test_dialogues_are_encoded_after_their_last_turn() -> None:
    model = DialogueModel(SIZES).eval()
    together = model.encode_dialogues(dialogues())
    alone = model.encode_dialogues(
        Dialogues([Turns(*(part[3:] for part in dialogues().chunks[0]))], torch.tensor([[0, 1]]))
    )
    torch.testing.assert_close(together[1:], alone)


def test_greedy_says_the_likeliest_word_each_time() -> None:
    model = DialogueModel(SIZES).eval()
    contexts = torch.randn(2, 7)
    with torch.no_grad():
        model.decoder.words.bias[9] = 50.0
    assert greedy(model, contexts, end=2, forbidden=(), longest=3) == [[9, 9, 9]] * 2
    with torch.no_grad():
        model.decoder.words.bias[2] = 99.0
    assert greedy(model, contexts, end=2, forbidden=(), longest=3) == [[], []]
    said = greedy(model, contexts, end=2, forbidden=(2, 9), longest=4)
    assert all(len(turn) == 4 and not {2, 9} & set(turn) for turn in said)
    apart = [greedy(model, contexts[row : row + 1], end=2, forbidden=(2, 9), longest=4)[0] for row in range(2)]
    assert said == apart


def test_greedy_makes_its_tensors_where_the_model_is() -> None:
    model, contexts = DialogueModel(SIZES).eval(), torch.randn(2, 7)
    said = greedy(model, contexts, end=2, forbidden=(2, 9), longest=4)
    with torch.device("meta"):  # any tensor made without a word on its device would stand there
        assert greedy(model, contexts, end=2, forbidden=(2, 9), longest=4) == said


def test_greedy_is_what_the_losses_expect() -> None:
    model = DialogueModel(SIZES).eval()
    contexts = torch.randn(1, 7)
    (said,) = greedy(model, contexts, end=2, forbidden=(2,), longest=3)
    best = model._decode(Turns(torch.tensor([said]), torch.tensor([3])), contexts, noise()).item()
    for word in set(range(3, 50)) - {said[2]}:
        other = torch.tensor([[*said[:2], word]])
        assert model._decode(Turns(other, torch.tensor([3])), contexts, noise()).item() >= best


def test_a_vhred_is_conditioned_on_a_sample_of_its_prior() -> None:
    model = DialogueModel(replace(SIZES, latent=4)).eval()
    contexts = torch.randn(2, 7)
    mean = model.condition_after(contexts, torch.zeros(2, 4))
    assert mean.shape == (2, 11)
    torch.testing.assert_close(mean[:, 7:], model.prior(contexts).mean)
    assert not torch.equal(mean, model.condition_after(contexts, torch.ones(2, 4)))
    torch.testing.assert_close(DialogueModel(SIZES).condition_after(contexts, torch.zeros(2, 0)), contexts)
