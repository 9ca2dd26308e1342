"""MrRNN: first what the turn will be about, a short sequence of nouns, then its words, given those.

Two hierarchies: one predicts the coarse sequence of each turn from the coarse sequences before it, the other its words
from the turns before it and from an encoding of its own coarse sequence. In training that is the true one, in
generation the one that the first hierarchy predicts; the joint log-likelihood is the sum of both.

Source: Serban et al. 2017, Multiresolution Recurrent Neural Networks.
Shapes: N turns, K twice the units of the coarse reader.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from rejoinder.models.networks.dialogue import DialogueModel, Dialogues, Losses, Turns, UtteranceEncoder
from rejoinder.models.sizes import MrrnnSizes


class WordsAndCoarse(NamedTuple):
    """Dialogues, and their coarse sequences turn by turn."""

    words: Dialogues
    coarse: Dialogues


class MrRNN(nn.Module):
    """The two hierarchies and the coarse reader between them."""

    def __init__(self, sizes: MrrnnSizes) -> None:
        super().__init__()
        self.sizes = sizes
        coarse = sizes.hierarchy(sizes.coarse_vocabulary, 0)
        self.coarse = DialogueModel(coarse)
        self.reader = UtteranceEncoder(coarse)
        self.words = DialogueModel(sizes.hierarchy(sizes.vocabulary, 2 * sizes.utterance))

    def forward(self, batch: WordsAndCoarse, generator: torch.Generator) -> tuple[Losses, Losses]:
        """The losses of the words, given the true coarse sequences, and of the coarse sequences."""
        coarse = self.coarse(batch.coarse, generator)
        encoded = torch.cat([self.read(chunk) for chunk in batch.coarse.chunks])  # [N, K] by coarse chunks
        inside = batch.words.rows >= 0
        extra_inputs = encoded.new_zeros(len(encoded), encoded.shape[-1])  # [N, K] by chunks of words
        extra_inputs[batch.words.rows[inside]] = encoded[batch.coarse.rows[inside]]
        return self.words(batch.words, generator, extra_inputs), coarse

    def read(self, coarse: Turns) -> Tensor:
        """[n, K] encodings of coarse sequences, a condition of the words."""
        encoded: Tensor = self.reader(self.coarse.embedding(coarse.tokens), coarse.lengths)
        return encoded
