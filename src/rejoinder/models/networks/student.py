"""A small encoder of sentences that is trained on the vectors of a larger one.

The sum of the vectors of a text's pieces and of its pairs of neighbouring pieces goes through one linear map; the
output of a few convolutions over the same pieces is added. The map alone is a static table of word vectors, trained
first; the rest begins at zero and learns the difference.

Shapes: N texts, T pieces, E width of a piece's vector, O width of an encoding.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from rejoinder.models.sizes import StudentSizes
from rejoinder.models.student import HIGHEST, LEFT, RIGHT


class Block(nn.Module):
    """A residual block: a convolution of each column over neighbouring pieces, then two maps."""

    def __init__(self, sizes: StudentSizes) -> None:
        super().__init__()
        width = 2 * sizes.reach + 1
        self.kernel = nn.Parameter(torch.empty(width, sizes.embedding).uniform_(-(width**-0.5), width**-0.5))
        self.bias = nn.Parameter(torch.zeros(sizes.embedding))
        self.norm = nn.LayerNorm(sizes.embedding)
        self.up = nn.Linear(sizes.embedding, sizes.inner)
        self.down = nn.Linear(sizes.inner, sizes.embedding)
        nn.init.zeros_(self.down.bias)
        self.down.weight.data *= 0.5  # so that several blocks do not drown the pieces themselves

    def forward(self, states: Tensor, inside: Tensor) -> Tensor:
        """[N, T, E] from [N, T, E]; `inside` [N, T, 1] is 0 where there is no piece."""
        mixed = self.norm(states + self._convolved(states * inside))
        added: Tensor = states + self.down(functional.relu(self.up(mixed)))
        return added

    def _convolved(self, states: Tensor) -> Tensor:
        """The convolution as shifted products: on a CPU faster than torch's with a group for each column."""
        reach, length = len(self.kernel) // 2, states.shape[1]
        wide = functional.pad(states, (0, 0, reach, reach))  # [N, T, E] -> [N, T + 2 reach, E]
        total: Tensor = self.bias
        for shift, column in enumerate(self.kernel):
            total = total + wide[:, shift : shift + length] * column
        return total


class StudentModel(nn.Module):
    """The tables of pieces and pairs, the convolutions, and the maps to the width of the teacher."""

    def __init__(self, sizes: StudentSizes) -> None:
        super().__init__()
        self.sizes = sizes
        width = sizes.embedding
        self.pieces = nn.Embedding(sizes.vocabulary, width)
        self.weights = nn.Embedding(sizes.vocabulary, 1)
        self.pairs = nn.Embedding(sizes.buckets, width)
        self.bag = nn.Linear(width, sizes.output)
        self.first = nn.LayerNorm(width)
        self.positions = nn.Embedding(sizes.positions, width)
        self.blocks = nn.ModuleList(Block(sizes) for _ in range(sizes.blocks))
        self.last = nn.LayerNorm(width)
        self.gate = nn.Linear(width, 1, bias=False)
        self.read = nn.Linear(width, sizes.output)
        nn.init.normal_(self.pieces.weight, std=0.05)
        nn.init.normal_(self.positions.weight, std=0.3)
        for module in (self.weights, self.pairs, self.gate, self.read):
            for weight in module.parameters():
                nn.init.zeros_(weight)

    def forward(
        self, tokens: Tensor, lengths: Tensor, *, alone: bool = False, generator: torch.Generator | None = None
    ) -> Tensor:
        """Unit vectors [N, O] of texts of one piece or more.

        Args:
            tokens: [N, T] ids with padding behind.
            lengths: [N] ids of each text.
            alone: only the table of pieces, without pairs and convolutions.
            generator: draws the pairs to leave out; None leaves out none.
        """
        inside = (torch.arange(tokens.shape[1], device=tokens.device) < lengths[:, None])[:, :, None]
        vectors, weights = self.pieces(tokens), self.weights(tokens).clamp(-HIGHEST, HIGHEST)  # [N, T, E], [N, T, 1]
        total = (vectors * (weights.exp() * inside)).sum(1)  # [N, E]
        if alone:
            return self._unit(self.bag(total / lengths.sqrt()[:, None]))
        total = total + self._paired(tokens, lengths, generator)
        return self._unit(self.bag(total / lengths.sqrt()[:, None]) + self.read(self._pooled(vectors, weights, inside)))

    def _paired(self, tokens: Tensor, lengths: Tensor, generator: torch.Generator | None) -> Tensor:
        """[N, E] the sum of the vectors of pairs of neighbours."""
        if tokens.shape[1] < 2:
            return torch.zeros((), device=tokens.device)
        places = (tokens[:, :-1] * LEFT + tokens[:, 1:] * RIGHT) % self.sizes.buckets
        kept = (torch.arange(places.shape[1], device=tokens.device) < lengths[:, None] - 1).float()
        if generator is not None and self.sizes.dropout:
            drawn = torch.rand(kept.shape, generator=generator, device=generator.device).to(kept)
            kept = kept * (drawn >= self.sizes.dropout) / (1 - self.sizes.dropout)
        return functional.embedding_bag(places, self.pairs.weight, per_sample_weights=kept, mode="sum")

    def _pooled(self, vectors: Tensor, weights: Tensor, inside: Tensor) -> Tensor:
        """[N, E] the mean of the states of the pieces, weighted by a gate and half the weight of the piece."""
        places = torch.arange(vectors.shape[1], device=vectors.device).clamp(max=self.sizes.positions - 1)
        states = self.first(vectors) + self.positions(places)
        for block in self.blocks:
            states = block(states, inside)
        states = self.last(states.float())
        shares = torch.softmax((self.gate(states).float() + weights / 2).masked_fill(~inside, -torch.inf), 1)
        pooled: Tensor = (states * shares).sum(1)
        return pooled

    @staticmethod
    def _unit(vectors: Tensor) -> Tensor:
        """[N, O] in single precision and of length 1."""
        return functional.normalize(vectors.float(), dim=-1)
