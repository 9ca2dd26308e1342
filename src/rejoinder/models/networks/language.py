"""An LSTM language model over whole dialogues: one recurrence that is never reset, turn after turn.

Source: the baseline of Serban et al. 2016 and 2017; the released program makes it of the decoder, its encoder
set to zero.
Shapes: B dialogues, T tokens, V vocabulary, E word, D units.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rejoinder.models.networks.dialogue import Dialogues, Losses
from rejoinder.models.networks.recurrent import Recurrent, State, cross_entropy, masked
from rejoinder.models.networks.sequences import in_sequence
from rejoinder.models.sizes import LanguageSizes


class LanguageModel(nn.Module):
    """Predicts each token of a dialogue from all before it."""

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
        sequences = in_sequence(dialogues)
        tokens, lengths = sequences.tokens, sequences.lengths
        previous = tokens[:, :-1]
        if self.training and self.sizes.word_drop:
            draws = torch.rand(previous.shape, generator=generator, device=generator.device).to(previous.device)
            previous = previous.masked_fill(draws < self.sizes.word_drop, self.sizes.unknown)
        first = previous.new_full((len(previous), 1), self.sizes.end)
        features, _ = self.features(torch.cat([first, previous], 1), None)
        nll = cross_entropy(self.words(masked(features, lengths)), masked(tokens, lengths))
        nothing = features.new_zeros(())
        turns = sum(len(chunk.tokens) for chunk in dialogues.chunks)
        return Losses(nll, nothing, nothing.new_zeros(0), int(lengths.sum()), turns, nothing.new_zeros(turns, 0))

    def begin(self, tokens: Tensor, lengths: Tensor) -> State:
        """The state for `step` after the tokens [n, T] of dialogues of `lengths` [n], the last of which ends a turn.

        A dialogue of no token has length 0.
        """
        first = tokens.new_full((len(tokens), 1), self.sizes.end)
        # The last token of a dialogue is not read here, but at the first step.
        return self.layer.last_state(self.embedding(torch.cat([first, tokens], 1)), lengths)

    def step(self, previous: Tensor | None, state: State) -> tuple[Tensor, State]:
        """Logits [n, V] of the next word and the next state, from the word before [n], None before the first."""
        word = state[0].new_full((len(state[0]),), self.sizes.end, dtype=torch.long) if previous is None else previous
        features, state = self.features(word[:, None], state)
        return self.words(features[:, 0]), state

    def features(self, previous: Tensor, state: State | None) -> tuple[Tensor, State]:
        """[B, T, E] what the logits are linear in, from the token before each step [B, T]; and the last state."""
        embedded = self.embedding(previous)
        outputs, state = self.layer(embedded, state)
        return self.narrow(torch.cat([outputs, embedded], -1)), state
