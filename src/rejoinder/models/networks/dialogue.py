"""HRED, VHRED and Seq2Seq: recurrent layers that read turns and predict each from those before it.

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

from rejoinder.models.networks.latent import Gaussian, GaussianNet, divergence
from rejoinder.models.networks.recurrent import (
    Recurrent,
    State,
    cross_entropy,
    last_step,
    masked,
    reversed_within,
)
from rejoinder.models.sizes import DialogueSizes


class Turns(NamedTuple):
    """Turns of like length: tokens [n, T] with padding behind, and their lengths [n], end of turn included."""

    tokens: Tensor
    lengths: Tensor


class Dialogues(NamedTuple):
    """B dialogues: their N turns in chunks of like length, and where each stands.

    `rows` [B, U] is the position of a turn in the concatenation of the chunks, -1 where a dialogue has fewer turns.
    """

    chunks: Sequence[Turns]
    rows: Tensor


class Losses(NamedTuple):
    """What a model makes of a batch; sums, so that they add up over batches.

    Attributes:
        nll: negative log-likelihood of all tokens, nats (of a VHRED: given a sample of the posterior).
        bag: negative log-likelihood of all tokens in no order, nats; 0 where the model does not tell them.
        divergence: [Z] KL divergence of posterior and prior by latent dimension, summed over turns; empty where there
            is no latent variable.
        tokens: how many tokens.
        turns: how many turns.
        posterior_means: [N, Z] for counting active units; Z is 0 where there is no latent variable.
    """

    nll: Tensor
    bag: Tensor
    divergence: Tensor
    tokens: int
    turns: int
    posterior_means: Tensor


class UtteranceEncoder(nn.Module):
    """A turn to a vector: the last state of a forward and of a backward layer, side by side."""

    def __init__(self, sizes: DialogueSizes) -> None:
        super().__init__()
        self.forwards = Recurrent(sizes.embedding, sizes.utterance, sizes.cell, sizes.normalise)
        self.backwards = Recurrent(sizes.embedding, sizes.utterance, sizes.cell, sizes.normalise)

    def forward(self, embedded: Tensor, lengths: Tensor) -> Tensor:
        """[n, 2H] from word vectors [n, T, E]."""
        there, _ = self.forwards(embedded)
        back, _ = self.backwards(reversed_within(embedded, lengths))
        return torch.cat([last_step(there, lengths), last_step(back, lengths)], -1)


class Decoder(nn.Module):
    """Predicts the words of a turn, given what came before it (`condition`) and the words so far.

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
        """[n, T, E] what the logits are linear in, from the word before each step [n, T, E]; and the last state."""
        steps = condition[:, None].expand(-1, embedded.shape[1], -1)  # [n, T, K]
        outputs, state = self.layer(torch.cat([embedded, steps], -1), state)
        return self.narrow(torch.cat([outputs, embedded, steps], -1)), state


class DialogueModel(nn.Module):
    """HRED; a VHRED where `sizes.latent` is not 0; a Seq2Seq where `sizes.context` is 0."""

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

    def forward(self, dialogues: Dialogues, generator: torch.Generator, beside: Tensor | None = None) -> Losses:
        """The losses on a batch.

        Args:
            dialogues: the batch.
            generator: draws latent noise and, in training, dropped words.
            beside: [N, `sizes.beside`] what else the decoder is told of each turn, where the model has that.
        """
        turns = torch.cat([self.encode_turns(chunk) for chunk in dialogues.chunks])  # [N, 2H]
        before = self.contexts_before(turns, dialogues.rows)  # [N, C]
        condition, spread, means = before, before.new_zeros(0), before.new_zeros(len(before), 0)
        if self.sizes.latent:
            prior, posterior = self.prior(before), self.posterior(torch.cat([before, turns], -1))
            noise = torch.randn(posterior.mean.shape, generator=generator, device=generator.device).to(before)
            condition = torch.cat([before, posterior.sample(noise)], -1)  # [N, C + Z]
            spread, means = divergence(posterior, prior).sum(0), posterior.mean.detach()
        if beside is not None:
            condition = torch.cat([condition, beside], -1)
        nll, bag, start = before.new_zeros(()), before.new_zeros(()), 0
        for chunk in dialogues.chunks:
            own = condition[start : start + len(chunk.tokens)]
            nll = nll + self._decode(chunk, own, generator)
            if self.sizes.latent and self.sizes.bag_of_words:
                bag = bag + self._bag(chunk, own)
            start += len(chunk.tokens)
        tokens = sum(int(chunk.lengths.sum()) for chunk in dialogues.chunks)
        return Losses(nll, bag, spread, tokens, len(before), means)

    def encode_turns(self, turns: Turns) -> Tensor:
        """[n, 2H] the utterance encoder's state of each turn."""
        encoded: Tensor = self.utterances(self.embedding(turns.tokens), turns.lengths)
        return encoded

    def encode_dialogues(self, dialogues: Dialogues) -> Tensor:
        """[B, C] the state after the last turn of each dialogue."""
        turns = torch.cat([self.encode_turns(chunk) for chunk in dialogues.chunks])
        return last_step(self.states(turns, dialogues.rows), (dialogues.rows >= 0).sum(1))

    def states(self, turns: Tensor, rows: Tensor) -> Tensor:
        """[B, U, C] the state after each turn, from turns encoded [N, 2H]; anything behind the last of a dialogue."""
        placed = turns[rows.clamp(min=0)]
        states: Tensor = self.contexts(placed)[0] if self.sizes.context else placed
        return states

    def contexts_before(self, turns: Tensor, rows: Tensor) -> Tensor:
        """[N, C] the state before each turn, zeros before the first, from turns encoded [N, 2H]."""
        states = self.states(turns, rows)
        shifted = torch.cat([torch.zeros_like(states[:, :1]), states[:, :-1]], 1)
        inside = rows >= 0
        before = torch.zeros(len(turns), states.shape[-1], dtype=states.dtype, device=states.device)
        before[rows[inside]] = shifted[inside]
        return before

    def first_words(self, count: int) -> Tensor:
        """[count, 1, E] what stands for the word before the first: zeros, as in the released program."""
        return self.embedding.weight.new_zeros(count, 1, self.sizes.embedding)

    def condition_after(self, contexts: Tensor, noise: Tensor) -> Tensor:
        """[n, K] what the decoder is conditioned on after contexts [n, C]: they, and for a VHRED a sample of the prior.

        `noise` [n, Z] is standard normal; zeros take the mean of the prior.
        """
        if not self.sizes.latent:
            return contexts
        prior: Gaussian = self.prior(contexts)
        return torch.cat([contexts, prior.sample(noise)], -1)

    def begin(self, condition: Tensor) -> State:
        """The state before the first word, for `step`: the condition [n, K] and that of the decoder."""
        return (condition, *self.decoder.start(condition))

    def step(self, previous: Tensor | None, state: State) -> tuple[Tensor, State]:
        """Logits [n, V] of the next word and the next state, from the word before [n], None before the first."""
        condition, *rest = state
        embedded = self.first_words(len(condition)) if previous is None else self.embedding(previous)[:, None]
        features, after = self.decoder.features(embedded, condition, tuple(rest))
        return self.decoder.words(features[:, 0]), (condition, *after)

    def _decode(self, chunk: Turns, condition: Tensor, generator: torch.Generator) -> Tensor:
        """Summed negative log-likelihood of the chunk's tokens."""
        previous = chunk.tokens[:, :-1]
        if self.training and self.sizes.word_drop:
            draws = torch.rand(previous.shape, generator=generator, device=generator.device).to(previous.device)
            previous = previous.masked_fill(draws < self.sizes.word_drop, self.sizes.unknown)
        embedded = torch.cat([self.first_words(len(previous)), self.embedding(previous)], 1)  # [n, T, E]
        features, _ = self.decoder.features(embedded, condition, self.decoder.start(condition))
        return cross_entropy(self.decoder.words(masked(features, chunk.lengths)), masked(chunk.tokens, chunk.lengths))

    def _bag(self, chunk: Turns, condition: Tensor) -> Tensor:
        """Summed negative log-likelihood of the chunk's tokens, each told from the condition alone."""
        words = self.bag(condition).log_softmax(-1).gather(1, chunk.tokens)  # [n, T]
        return -masked(words, chunk.lengths).sum()
