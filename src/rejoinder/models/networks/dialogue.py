"""HRED, VHRED, Seq2Seq and a language model: recurrent layers that predict each turn from those before it.

Source: Serban et al. 2016 (HRED), Serban et al. 2017 (VHRED), Sutskever et al. 2014 (Seq2Seq), and the released
programs for what the papers leave out.
Shapes: B dialogues, U turns, N turns of all dialogues together, T tokens, V vocabulary, E word, H encoder (each
direction), C state that stands for what came before, D decoder, Z latent width, K condition of the decoder.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from rejoinder.models.networks.recurrent import (
    Recurrent,
    State,
    cross_entropy,
    drop_words,
    last_step,
    masked,
    reversed_within,
)
from rejoinder.models.sizes import DialogueSizes, LanguageSizes

_VARIANCE_SCALE = 0.1  # of the released program: starts the posterior narrow
_LEAST_VARIANCE, _MOST_VARIANCE = 1e-4, 10.0


class Turns(NamedTuple):
    """Turns of similar length: tokens [n, T] with padding behind, and their lengths [n], end of turn included."""

    tokens: Tensor
    lengths: Tensor


class Dialogues(NamedTuple):
    """B dialogues: their N turns in chunks of similar length, and the place of each turn.

    `rows` [B, U] is the position of a turn in the concatenation of the chunks, -1 behind the last turn of a dialogue.
    """

    chunks: Sequence[Turns]
    rows: Tensor


class Losses(NamedTuple):
    """The losses on a batch; sums, so that they add up over batches.

    Attributes:
        nll: negative log-likelihood of all tokens, nats (of a VHRED: given a sample of the posterior).
        bag: negative log-likelihood of all tokens in no order, nats; 0 without `bag_of_words`.
        divergence: [Z] KL divergence of posterior and prior by latent dimension, summed over turns; [0] without latent.
        tokens: their number.
        turns: their number.
        posterior_means: [N, Z] for counting active units; [N, 0] without a latent variable.
    """

    nll: Tensor
    bag: Tensor
    divergence: Tensor
    tokens: int
    turns: int
    posterior_means: Tensor


class Sequences(NamedTuple):
    """B dialogues as one sequence each: tokens [B, T] with padding 0 behind, their lengths [B].

    `ends` [B, U] is the place of the last token of each turn; behind the last turn of a dialogue, of that turn.
    """

    tokens: Tensor
    lengths: Tensor
    ends: Tensor


def as_sequences(dialogues: Dialogues) -> Sequences:
    """The dialogues of a batch, the tokens of all turns of each in a row."""
    longest = max(chunk.tokens.shape[1] for chunk in dialogues.chunks)
    turns = torch.cat([functional.pad(tokens, (0, longest - tokens.shape[1])) for tokens, _ in dialogues.chunks])
    sizes = torch.cat([chunk.lengths for chunk in dialogues.chunks])  # [N]
    rows, inside = dialogues.rows.clamp(min=0), dialogues.rows >= 0
    stream = masked(turns[rows[inside]], sizes[rows[inside]])  # all tokens, dialogue after dialogue
    ends = (sizes[rows] * inside).cumsum(1)  # [B, U]
    lengths = ends[:, -1]
    tokens = turns.new_zeros(len(rows), int(lengths.max()))
    tokens[torch.arange(tokens.shape[1], device=tokens.device) < lengths[:, None]] = stream
    return Sequences(tokens, lengths, ends - 1)


class Gaussian(NamedTuple):
    """Diagonal Gaussians, mean and variance [N, Z] each."""

    mean: Tensor
    variance: Tensor

    def sample(self, noise: Tensor) -> Tensor:
        """[N, Z] from standard normal `noise` [N, Z]; differentiable in mean and variance."""
        return self.mean + self.variance.sqrt() * noise


class GaussianNet(nn.Module):
    """Two tanh layers of latent width, then linear mean and softplus variance, as in the released VHRED."""

    def __init__(self, inputs: int, latent: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, latent), nn.Tanh(), nn.Linear(latent, latent), nn.Tanh())
        self.mean, self.spread = nn.Linear(latent, latent), nn.Linear(latent, latent)

    def forward(self, inputs: Tensor) -> Gaussian:
        """The Gaussian for each row of `inputs` [N, C]."""
        hidden = self.body(inputs)  # [N, Z]
        # In single precision even under autocast: a small KL term is a difference of nearly equal numbers.
        variance = functional.softplus(self.spread(hidden).float()) * _VARIANCE_SCALE
        return Gaussian(self.mean(hidden).float(), variance.clamp(_LEAST_VARIANCE, _MOST_VARIANCE))


def divergence(posterior: Gaussian, prior: Gaussian) -> Tensor:
    """[N, Z] Kullback-Leibler divergence of the posterior from the prior, nats, by dimension."""
    ratio = posterior.variance / prior.variance
    distance = (posterior.mean - prior.mean).square() / prior.variance
    return 0.5 * (ratio + distance - 1.0 - torch.log(ratio))


class UtteranceEncoder(nn.Module):
    """A turn to a vector: the last state of a forward and of a backward layer, side by side."""

    def __init__(self, sizes: DialogueSizes) -> None:
        super().__init__()
        self.forwards = Recurrent(sizes.embedding, sizes.utterance, sizes.cell, sizes.normalise)
        self.backwards = Recurrent(sizes.embedding, sizes.utterance, sizes.cell, sizes.normalise)

    def forward(self, embedded: Tensor, lengths: Tensor) -> Tensor:
        """[n, 2H] from word vectors [n, T, E]."""
        forwards, _ = self.forwards(embedded)  # [n, T, H]
        backwards, _ = self.backwards(reversed_within(embedded, lengths))
        return torch.cat([last_step(forwards, lengths), last_step(backwards, lengths)], -1)


class Decoder(nn.Module):
    """Predicts the words of a turn, given a condition, which stands for what came before it, and the words so far.

    The condition sets the first state and enters every step; the logits see the state, the last word and the condition.
    """

    def __init__(self, sizes: DialogueSizes, condition: int) -> None:
        super().__init__()
        self.first = nn.Linear(condition, sizes.decoder)
        self.layer = Recurrent(sizes.embedding + condition, sizes.decoder, sizes.cell, sizes.normalise)
        self.narrow = nn.Linear(sizes.decoder + sizes.embedding + condition, sizes.embedding)
        self.words = nn.Linear(sizes.embedding, sizes.vocabulary)

    def start(self, condition: Tensor) -> State:
        """The state before the first word, from the condition [n, K]."""
        return self.layer.state_from(torch.tanh(self.first(condition)))

    def features(self, embedded: Tensor, condition: Tensor, state: State) -> tuple[Tensor, State]:
        """Input [n, T, E] of the linear map to logits, from the word before each step [n, T, E]; and the last state."""
        steps = condition[:, None].expand(-1, embedded.shape[1], -1)  # [n, K] -> [n, T, K]
        outputs, state = self.layer(torch.cat([embedded, steps], -1), state)  # [n, T, E + K] -> [n, T, D]
        return self.narrow(torch.cat([outputs, embedded, steps], -1)), state


class DialogueModel(nn.Module):
    """HRED; with `sizes.latent` a VHRED; without `sizes.context` a Seq2Seq."""

    def __init__(self, sizes: DialogueSizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.embedding = nn.Embedding(sizes.vocabulary, sizes.embedding)
        self.utterances = UtteranceEncoder(sizes)
        if sizes.context:
            self.contexts = Recurrent(2 * sizes.utterance, sizes.context, sizes.cell, sizes.normalise)
        self.decoder = Decoder(sizes, sizes.state + sizes.beside + sizes.latent)
        if sizes.latent:
            self.prior = GaussianNet(sizes.state, sizes.latent)
            self.posterior = GaussianNet(sizes.state + 2 * sizes.utterance, sizes.latent)
        if sizes.latent and sizes.bag_of_words:
            self.bag = nn.Linear(sizes.state + sizes.latent, sizes.vocabulary)
        nn.init.normal_(self.embedding.weight, std=0.1)

    def forward(self, dialogues: Dialogues, generator: torch.Generator, extra_inputs: Tensor | None = None) -> Losses:
        """Return the losses on a batch; `generator` draws latent noise and, in training, dropped words.

        `extra_inputs` has a row for each of the N turns, which the decoder of a MrRNN reads in addition.
        """
        turns = torch.cat([self.encode_turns(chunk) for chunk in dialogues.chunks])  # [N, 2H]
        condition = before = self.contexts_before(turns, dialogues.rows)  # [N, C]
        spread, means = before.new_zeros(0), before.new_zeros(len(before), 0)
        if self.sizes.latent:
            prior, posterior = self.prior(before), self.posterior(torch.cat([before, turns], -1))
            noise = torch.randn(posterior.mean.shape, generator=generator, device=generator.device).to(before)
            condition = torch.cat([before, posterior.sample(noise)], -1)  # [N, C + Z]
            spread, means = divergence(posterior, prior).sum(0), posterior.mean.detach()
        if extra_inputs is not None:
            condition = torch.cat([condition, extra_inputs], -1)  # [N, K]
        nll, bag, start = before.new_zeros(()), before.new_zeros(()), 0
        for chunk in dialogues.chunks:
            chunk_condition = condition[start : start + len(chunk.tokens)]
            nll = nll + self._decode(chunk, chunk_condition, generator)
            if self.sizes.latent and self.sizes.bag_of_words:
                words = self.bag(chunk_condition).log_softmax(-1).gather(1, chunk.tokens)  # [n, V] -> [n, T]
                bag = bag - masked(words, chunk.lengths).sum()
            start += len(chunk.tokens)
        tokens = sum(int(chunk.lengths.sum()) for chunk in dialogues.chunks)
        return Losses(nll, bag, spread, tokens, len(before), means)

    def _decode(self, chunk: Turns, condition: Tensor, generator: torch.Generator) -> Tensor:
        """Summed negative log-likelihood of the tokens of the chunk."""
        previous = chunk.tokens[:, :-1]
        if self.training and self.sizes.word_drop:
            previous = drop_words(previous, self.sizes.word_drop, self.sizes.unknown, generator)
        features = self.features(previous, condition)
        return cross_entropy(self.decoder.words(masked(features, chunk.lengths)), masked(chunk.tokens, chunk.lengths))

    def features(self, previous: Tensor, condition: Tensor) -> Tensor:
        """[n, T, E] the input of the linear map to logits, from all words but the last [n, T - 1] of each turn.

        Zeros stand for the word before the first, as in the released program.
        """
        embedded = functional.pad(self.embedding(previous), (0, 0, 1, 0))  # [n, T - 1, E] -> [n, T, E]
        return self.decoder.features(embedded, condition, self.decoder.start(condition))[0]

    def encode_turns(self, turns: Turns) -> Tensor:
        """[n, 2H] the state of the utterance encoder after each turn."""
        encoded: Tensor = self.utterances(self.embedding(turns.tokens), turns.lengths)
        return encoded

    def encode_dialogues(self, dialogues: Dialogues) -> Tensor:
        """[B, C] the state after the last turn of each dialogue."""
        turns = torch.cat([self.encode_turns(chunk) for chunk in dialogues.chunks])
        return last_step(self.states(turns, dialogues.rows), (dialogues.rows >= 0).sum(1))

    def states(self, turns: Tensor, rows: Tensor) -> Tensor:
        """[B, U, C] the state after each turn, from turns [N, 2H]; anything behind the last turn of a dialogue."""
        placed = turns[rows.clamp(min=0)]  # [N, 2H] -> [B, U, 2H]
        states: Tensor = self.contexts(placed)[0] if self.sizes.context else placed
        return states

    def contexts_before(self, turns: Tensor, rows: Tensor) -> Tensor:
        """[N, C] the state before each turn, zeros before the first, from turns [N, 2H]."""
        states = self.states(turns, rows)
        shifted = torch.cat([torch.zeros_like(states[:, :1]), states[:, :-1]], 1)  # [B, U, C]
        inside = rows >= 0
        before = torch.zeros(len(turns), states.shape[-1], dtype=states.dtype, device=states.device)
        before[rows[inside]] = shifted[inside]  # [B, U, C] -> [N, C]
        return before

    def condition_after(self, contexts: Tensor, noise: Tensor) -> Tensor:
        """[n, K] the condition of the decoder after contexts [n, C]; of a VHRED with a sample of the prior.

        `noise` [n, Z] is standard normal; zeros take the mean of the prior.
        """
        return torch.cat([contexts, self.prior(contexts).sample(noise)], -1) if self.sizes.latent else contexts

    def begin(self, condition: Tensor) -> State:
        """The state before the first word, for `step`: the condition [n, K] and the state of the decoder."""
        return (condition, *self.decoder.start(condition))

    def step(self, previous: Tensor | None, state: State) -> tuple[Tensor, State]:
        """Logits [n, V] of the next word and the next state, from the word before it [n], None before the first."""
        condition, *rest = state
        if previous is None:
            embedded = self.embedding.weight.new_zeros(len(condition), 1, self.sizes.embedding)
        else:
            embedded = self.embedding(previous)[:, None]  # [n] -> [n, 1, E]
        features, after = self.decoder.features(embedded, condition, tuple(rest))
        return self.decoder.words(features[:, 0]), (condition, *after)


class LanguageModel(nn.Module):
    """Predicts each token of a dialogue from all before it, by one layer that is never reset, turn after turn.

    Source: the baseline of Serban et al. 2016 and 2017; the released program makes it of the decoder, its encoder set
    to zero. Shapes here: D units.
    """

    def __init__(self, sizes: LanguageSizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.embedding = nn.Embedding(sizes.vocabulary, sizes.embedding)
        self.layer = Recurrent(sizes.embedding, sizes.units, sizes.cell, sizes.normalise)
        self.narrow = nn.Linear(sizes.units + sizes.embedding, sizes.embedding)
        self.words = nn.Linear(sizes.embedding, sizes.vocabulary)
        nn.init.normal_(self.embedding.weight, std=0.1)

    def forward(self, dialogues: Dialogues, generator: torch.Generator) -> Losses:
        """The losses on a batch; in training `generator` draws dropped words."""
        tokens, lengths, _ = as_sequences(dialogues)
        previous = tokens[:, :-1]
        if self.training and self.sizes.word_drop:
            previous = drop_words(previous, self.sizes.word_drop, self.sizes.unknown, generator)
        features, _ = self.features(functional.pad(previous, (1, 0), value=self.sizes.end), None)  # [B, T, E]
        nll = cross_entropy(self.words(masked(features, lengths)), masked(tokens, lengths))
        zero, turns = features.new_zeros(()), sum(len(chunk.tokens) for chunk in dialogues.chunks)
        return Losses(nll, zero, zero.new_zeros(0), int(lengths.sum()), turns, zero.new_zeros(turns, 0))

    def begin(self, tokens: Tensor, lengths: Tensor) -> State:
        """The state for `step` after the tokens [n, T] of dialogues of `lengths` [n], 0 or more, end included."""
        # The last token of a dialogue is not read here, but at the first step.
        return self.layer.last_state(self.embedding(functional.pad(tokens, (1, 0), value=self.sizes.end)), lengths)

    def step(self, previous: Tensor | None, state: State) -> tuple[Tensor, State]:
        """Logits [n, V] of the next word and the next state, from the word before it [n], None before the first."""
        word = state[0].new_full((len(state[0]),), self.sizes.end, dtype=torch.long) if previous is None else previous
        features, state = self.features(word[:, None], state)
        return self.words(features[:, 0]), state

    def features(self, previous: Tensor, state: State | None) -> tuple[Tensor, State]:
        """Input [B, T, E] of the linear map to logits, from the token before each step [B, T]; and the last state."""
        embedded = self.embedding(previous)
        outputs, state = self.layer(embedded, state)  # [B, T, E] -> [B, T, D]
        return self.narrow(torch.cat([outputs, embedded], -1)), state
