"""tweet2vec: a bidirectional GRU over the characters of a message, trained to predict its hashtags.

Source: Dhingra et al. 2016, section 3 (equations 1 and 2), and the released program for what the paper leaves out.
Shapes: B messages, T characters, E lookup, H units of each direction, D embedding, L hashtags.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rejoinder.models.networks.recurrent import Recurrent, last_step, reversed_within
from rejoinder.models.sizes import TweetSizes


class Tweet2Vec(nn.Module):
    """Messages to vectors, and vectors to a score for each hashtag.

    As in the release, the last forward and the first backward state go through linear maps without a bias and are
    summed; the first states, which are learned there, are zeros here.
    """

    def __init__(self, sizes: TweetSizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.lookup = nn.Embedding(sizes.symbols, sizes.lookup)
        self.forwards = Recurrent(sizes.lookup, sizes.units, "gru")
        self.backwards = Recurrent(sizes.lookup, sizes.units, "gru")
        self.from_forwards = nn.Linear(sizes.units, sizes.embedding, bias=False)
        self.from_backwards = nn.Linear(sizes.units, sizes.embedding, bias=False)
        self.head = nn.Linear(sizes.embedding, sizes.hashtags)
        nn.init.normal_(self.lookup.weight, std=0.1)

    def encode(self, symbols: Tensor, lengths: Tensor) -> Tensor:
        """[B, D] vectors of messages, from characters [B, T] with padding behind and their lengths [B]."""
        embedded = self.lookup(symbols)  # [B, T, E]
        forwards, _ = self.forwards(embedded)  # [B, T, H]
        backwards, _ = self.backwards(reversed_within(embedded, lengths))  # its last step is the first character
        last, first = last_step(forwards, lengths), last_step(backwards, lengths)
        vectors: Tensor = self.from_forwards(last) + self.from_backwards(first)
        return vectors

    def forward(self, symbols: Tensor, lengths: Tensor) -> Tensor:
        """[B, L] logarithm of the probability of each hashtag."""
        return torch.log_softmax(self.head(self.encode(symbols, lengths)), -1)
