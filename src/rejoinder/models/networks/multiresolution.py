"""MrRNN: first what the turn is to be about, a short row of nouns, then its words, given those.

Two hierarchies: one predicts each turn's coarse sequence from the coarse sequences before it, the other its words from
the turns before it and from an encoding of its own coarse sequence. In training that is the true one, at generation the
one that the first has predicted, and the joint log-likelihood is the sum of both.

Source: Serban et al. 2017, Multiresolution Recurrent Neural Networks.
Shapes: N turns, K twice the units of the coarse reader.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from rejoinder.models.networks.dialogue import DialogueModel, Dialogues, Losses, Turns, UtteranceEncoder
from rejoinder.models.sizes import MrrnnSizes


class Both(NamedTuple):
    """Dialogues, and their coarse sequences turn by turn."""

    words: Dialogues
    coarse: Dialogues


class Multiresolution(nn.Module):
    """The two hierarchies and the coarse reader between them."""

    def __init__(self, sizes: MrrnnSizes) -> None:
        super().__init__()
        self.sizes = sizes
        own = sizes.hierarchy(sizes.coarse_vocabulary, 0)
        self.coarse = DialogueModel(own)
        self.reader = UtteranceEncoder(own)
        self.words = DialogueModel(sizes.hierarchy(sizes.vocabulary, 2 * sizes.utterance))

    def forward(self, both: Both, generator: torch.Generator) -> tuple[Losses, Losses]:
        """The losses of the words, given the true coarse sequences, and of these."""
        coarse = self.coarse(both.coarse, generator)
        read = torch.cat([self.read(chunk) for chunk in both.coarse.chunks])  # in the order of the coarse chunks
        inside = both.words.rows >= 0
        beside = read.new_zeros(len(read), read.shape[-1])
        beside[both.words.rows[inside]] = read[both.coarse.rows[inside]]
        return self.words(both.words, generator, beside), coarse

    def read(self, coarse: Turns) -> Tensor:
        """[n, K] what the words are told of coarse sequences."""
        read: Tensor = self.reader(self.coarse.embedding(coarse.tokens), coarse.lengths)
        return read
