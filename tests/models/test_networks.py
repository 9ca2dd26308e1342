"""The modules: recurrences against torch's own, masks that keep padding out, the latent variable and its formulas."""

from __future__ import annotations

from itertools import chain
from typing import Any, cast

import pytest
import torch
from torch import nn
from torch.nn import functional

from rejoinder.models.networks.dialogue import (
    DialogueModel,
    Dialogues,
    Gaussian,
    GaussianNet,
    LanguageModel,
    Turns,
    as_sequences,
    divergence,
)
from rejoinder.models.networks.dual_encoder import DualEncoder
from rejoinder.models.networks.mrrnn import MrRNN, WordsAndCoarse
from rejoinder.models.networks.recurrent import (
    NormalisedGRU,
    NormalisedLSTM,
    Recurrent,
    last_step,
    masked,
    reversed_within,
)
from rejoinder.models.sizes import Cell, DialogueSizes, DualEncoderSizes, LanguageSizes, MrrnnSizes, Normalise

SIZES = DialogueSizes(vocabulary=50, embedding=6, utterance=5, context=7, decoder=8)
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


@pytest.mark.parametrize("cell", CELLS)
def test_layer_norm_between_layers_is_that_of_the_outputs_and_leaves_the_state(cell: Cell) -> None:
    layer, inputs = Recurrent(3, 4, cell, "layers"), torch.randn(2, 5, 3)
    with torch.no_grad():
        cast("nn.LayerNorm", layer.norm).weight.mul_(3.0)
        cast("nn.LayerNorm", layer.norm).bias.add_(0.5)
    outputs, state = layer(inputs)
    plain, last = layer.core(inputs)
    torch.testing.assert_close(outputs, functional.layer_norm(plain, (4,)) * 3.0 + 0.5)
    torch.testing.assert_close(outputs.mean(-1), torch.full((2, 5), 0.5))
    assert (outputs - plain).abs().max() > 0.1
    torch.testing.assert_close(state[0], (last[0] if cell == "lstm" else last)[0])
    assert isinstance(Recurrent(3, 4, cell, "none").norm, nn.Identity)


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
    model = DialogueModel(SIZES.model_copy(update={"latent": latent, "normalise": normalise})).eval()
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


@pytest.mark.parametrize("share", [0.25, 0.6])
def test_about_the_share_asked_for_is_dropped_and_the_encoder_reads_all(share: float) -> None:
    model = DialogueModel(SIZES.model_copy(update={"word_drop": share}))
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


@pytest.mark.parametrize("latent", [0, 4])
def test_every_weight_learns(latent: int) -> None:
    model = DialogueModel(SIZES.model_copy(update={"latent": latent}))
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


TURNS = ([[5, 6, 2], [7, 2], [8, 9, 10, 2]], [[11, 2], [12, 13, 2]])
LANGUAGE = LanguageSizes(vocabulary=50, embedding=6, units=7)
DUAL = DualEncoderSizes(vocabulary=50, embedding=6, units=7)


def test_dialogues_in_sequence_are_their_turns_one_after_the_other() -> None:
    for given in (dialogues(), dialogues(extra=2), dialogues(chunks=5)):
        found = as_sequences(given)
        for row, turns in enumerate(TURNS):
            flat = [token for turn in turns for token in turn]
            assert found.lengths[row] == len(flat)
            assert found.tokens[row].tolist() == flat + [0] * (9 - len(flat))
        assert found.ends.tolist() == [[2, 4, 8], [1, 4, 4]]


def one_dialogue(turns: list[list[int]]) -> Dialogues:
    """A dialogue whose turns are chunks each, the last first."""
    chunks = [Turns(torch.tensor([turn]), torch.tensor([len(turn)])) for turn in reversed(turns)]
    return Dialogues(chunks, torch.arange(len(turns)).flip(0)[None])


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("normalise", NORMALISE)
def test_a_language_model_goes_on_where_it_was_and_its_steps_add_up_to_its_loss(
    cell: Cell, normalise: Normalise
) -> None:
    model = LanguageModel(LANGUAGE.model_copy(update={"cell": cell, "normalise": normalise})).eval()
    tokens = as_sequences(dialogues()).tokens
    expected = model(dialogues(), noise())
    assert (expected.tokens, expected.turns) == (14, 5)
    assert expected.posterior_means.shape == (5, 0)
    total = torch.zeros(())
    # Begun anew before each turn of both dialogues, of which the second has none left at the last.
    for begun, ends in (([0, 0], [3, 2]), ([3, 2], [5, 5]), ([5, 5], [9, 5])):
        state = model.begin(tokens[:, : max(begun)], torch.tensor(begun))
        for row, (start, stop) in enumerate(zip(begun, ends, strict=True)):
            own, previous = tuple(part[row : row + 1] for part in state), None
            for word in tokens[row, start:stop]:
                logits, own = model.step(previous, own)
                total = total - logits.log_softmax(-1)[0, word]
                previous = word[None]
    torch.testing.assert_close(total, expected.nll)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("normalise", NORMALISE)
def test_a_last_state_is_that_after_the_last_step(cell: Cell, normalise: Normalise) -> None:
    layer, inputs, lengths = Recurrent(3, 4, cell, normalise), torch.randn(4, 5, 3), torch.tensor([5, 0, 1, 3])
    found = layer.last_state(inputs, lengths)
    for row, length in enumerate(lengths.tolist()):
        _, alone = layer(inputs[row : row + 1, :length]) if length else (None, [torch.zeros(1, 4)] * len(found))
        torch.testing.assert_close([part[row : row + 1] for part in found], list(alone))


@pytest.mark.parametrize("context", [0, 7])
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("normalise", NORMALISE)
def test_the_steps_of_a_decoder_add_up_to_its_loss(context: int, cell: Cell, normalise: Normalise) -> None:
    model = DialogueModel(SIZES.model_copy(update={"context": context, "cell": cell, "normalise": normalise})).eval()
    expected = model(dialogues(), noise()).nll
    before = model.contexts_before(model.encode_turns(dialogues().chunks[0]), dialogues().rows)
    total = torch.zeros(())
    for row, turn in enumerate(turn for turns in TURNS for turn in turns):
        state, previous = model.begin(before[row : row + 1]), None
        for word in torch.tensor(turn):
            logits, state = model.step(previous, state)
            total = total - logits.log_softmax(-1)[0, word]
            previous = word[None]
    torch.testing.assert_close(total, expected)


def test_a_seq2seq_reads_the_last_turn_alone() -> None:
    model = DialogueModel(SIZES.model_copy(update={"context": 0})).eval()
    encoded = model.encode_turns(dialogues().chunks[0])
    before = model.contexts_before(encoded, dialogues().rows)
    assert not before[[0, 3]].any(), "nothing came before a first turn"
    torch.testing.assert_close(before[[1, 2, 4]], encoded[[0, 1, 3]])
    torch.testing.assert_close(model.encode_dialogues(dialogues()), encoded[[2, 4]])


@pytest.mark.parametrize("bilinear", [True, False])
def test_a_dual_encoder_scores_by_the_product_of_what_it_read(bilinear: bool) -> None:
    model = DualEncoder(DUAL.model_copy(update={"bilinear": bilinear})).eval()
    if bilinear:
        torch.testing.assert_close(model.projected(torch.ones(2, 7)), torch.ones(2, 7))
    pairs = model(dialogues(), noise(), 3)
    responses = [(TURNS[0], 1), (TURNS[0], 2), (TURNS[1], 1)]
    for place, (turns, number) in enumerate(responses):
        context = model.encode_prefixes(one_dialogue([[*chain(*turns[:number])]]))[0, 0]
        response = model.encode_turns(Turns(torch.tensor([turns[number]]), torch.tensor([len(turns[number])])))[0]
        torch.testing.assert_close(pairs.right[place], context @ response)
    assert pairs.wrong.shape == (3, 3)
    logits = torch.cat([pairs.right, -pairs.wrong.flatten()])
    torch.testing.assert_close(pairs.loss, -logits.sigmoid().log().sum())


def test_a_dual_encoder_reads_a_prefix_as_if_it_were_all() -> None:
    model = DualEncoder(DUAL).eval()
    found = model.encode_prefixes(dialogues(extra=2))
    for row, turns in enumerate(TURNS):
        for number in range(len(turns)):
            alone = model.encode_prefixes(one_dialogue(turns[: number + 1]))
            torch.testing.assert_close(found[row, number], alone[0, -1])


def test_a_bilinear_form_stands_between_context_and_response() -> None:
    model = DualEncoder(DUAL).eval()
    with torch.no_grad():
        model.form.copy_(2 * torch.eye(7))
    doubled, plain = model(dialogues(), noise(), 1), DualEncoder(DUAL.model_copy(update={"bilinear": False})).eval()
    plain.load_state_dict({name: weight for name, weight in model.state_dict().items() if name != "form"})
    torch.testing.assert_close(doubled.right, 2 * plain(dialogues(), noise(), 1).right)


def test_a_wrong_response_is_never_the_right_one() -> None:
    model = DualEncoder(DUAL).eval()
    right, wrong = (model(dialogues(), noise(), 200)[part] for part in (1, 2))
    for place, row in enumerate((1, 2, 4)):
        drawn = {round(value, 5) for value in wrong[place].tolist()}
        assert len(drawn) == 4, f"all turns but turn {row}"
        assert round(right[place].item(), 5) not in drawn
    single = model(one_dialogue([[5, 2]]), noise(), 3)
    assert (single.loss.item(), len(single.right)) == (0.0, 0)


def coarse(chunks: int) -> Dialogues:
    """Coarse sequences of the five turns, in another order of chunks than these."""
    order, words = [4, 2, 0, 3, 1], [[20, 2], [21, 2], [22, 23, 2], [24, 2], [25, 2]]
    tokens = torch.tensor([[*words[turn], 0][:3] for turn in order])
    lengths = torch.tensor([len(words[turn]) for turn in order])
    places = torch.tensor([order.index(turn) for turn in range(5)])
    parts = zip(tokens.chunk(chunks), lengths.chunk(chunks), strict=True)
    rows = torch.tensor([[0, 1, 2], [3, 4, -1]])
    return Dialogues([Turns(*part) for part in parts], torch.where(rows >= 0, places[rows.clamp(min=0)], -1))


def test_a_mrrnn_predicts_coarse_sequences_and_the_words_of_each_turn_beside_its_own() -> None:
    model = MrRNN(
        MrrnnSizes(vocabulary=50, coarse_vocabulary=30, embedding=6, utterance=5, context=7, decoder=8)
    ).eval()
    words, own = model(WordsAndCoarse(dialogues(), coarse(chunks=1)), noise())
    torch.testing.assert_close(own.nll, model.coarse(coarse(chunks=1), noise()).nll)
    sequences = [[20, 2], [21, 2], [22, 23, 2], [24, 2], [25, 2]]
    beside = torch.cat([model.read(Turns(torch.tensor([ids]), torch.tensor([len(ids)]))) for ids in sequences])
    torch.testing.assert_close(words.nll, model.words(dialogues(), noise(), beside).nll)
    apart = model(WordsAndCoarse(dialogues(chunks=5), coarse(chunks=5)), noise())
    torch.testing.assert_close([part.nll for part in apart], [words.nll, own.nll])
    assert model.words(dialogues(), noise(), beside.flip(0)).nll != words.nll


@pytest.mark.parametrize("model", [LanguageModel(LANGUAGE.model_copy(update={"word_drop": 0.5})), DualEncoder(DUAL)])
def test_noise_decides_what_is_dropped_and_drawn(model: nn.Module) -> None:
    def loss(number: int) -> float:
        more = (3,) if isinstance(model, DualEncoder) else ()
        found: torch.Tensor = model(dialogues(), noise(number), *more)[0]
        return found.item()

    assert loss(1) == loss(1) != loss(2)
