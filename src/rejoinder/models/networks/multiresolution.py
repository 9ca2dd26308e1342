"""MrRNN: first what the turn is to be about, a short row of nouns, then its words, given those.

Two hierarchies: one predicts each turn's coarse sequence from the coarse sequences before it, the other its words from
the turns before it and from an encoding of its own coarse sequence. In training that is the true one, at generation the
one that the first has predicted, and the joint log-likelihood is the sum of both.

Source: Serban et al. 2017, Multiresolution Recurrent Neural Networks.
Shapes: N turns, K twice the units of the coarse reader.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from rejoinder.models.networks.dialogue import DialogueModel, Dialogues, Losses, Sizes, Turns, UtteranceEncoder
from rejoinder.models.networks.recurrent import Cell, Normalise


@dataclass(frozen=True)
class MultiresolutionSizes:
    """What decides the shape of both hierarchies, which are alike.

    Attributes:
        vocabulary: pieces of turns.
        coarse_vocabulary: pieces of coarse sequences.
        embedding: width of a piece's vector.
        utterance: units of an utterance encoder, and of the coarse reader, in each direction.
        context: units of a context encoder.
        decoder: units of a decoder.
        cell: the recurrence.
        normalise: where layer normalisation stands.
        word_drop: share of the previous words that a decoder does not get to see in training.
        unknown: id that stands in for a dropped word.
    """

    vocabulary: int
    coarse_vocabulary: int
    embedding: int = 128
    utterance: int = 128
    context: int = 256
    decoder: int = 256
    cell: Cell = "lstm"
    normalise: Normalise = "none"
    word_drop: float = 0.0
    unknown: int = 1

    def of(self, vocabulary: int, beside: int) -> Sizes:
        """The sizes of one of the hierarchies."""
        return Sizes(
            vocabulary,
            self.embedding,
            self.utterance,
            self.context,
            self.decoder,
            cell=self.cell,
            normalise=self.normalise,
            word_drop=self.word_drop,
            unknown=self.unknown,
            beside=beside,
        )


class Both(NamedTuple):
    """Dialogues, and their coarse sequences turn by turn."""

    words: Dialogues
    coarse: Dialogues


class Multiresolution(nn.Module):
    """The two hierarchies and the coarse reader between them."""

    def __init__(self, sizes: MultiresolutionSizes) -> None:
        super().__init__()
        self.sizes = sizes
        own = sizes.of(sizes.coarse_vocabulary, 0)
        self.coarse = DialogueModel(own)
        self.reader = UtteranceEncoder(own)
        self.words = DialogueModel(sizes.of(sizes.vocabulary, 2 * sizes.utterance))

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
