"""Two networks over the vectors of an encoder that stays as it is: one reads contexts, one replies.

What they make of a context and of its reply is near each other, and far from what they make of other replies.
Shapes: B contexts with their replies, T turns that are read of each, K others that do not answer it, U different texts,
D width of the encoder's vectors, O width of the selector's own.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from rejoinder.models.sizes import SelectorSizes

_FIRST_SCALE, _HIGHEST_SCALE = 2.5, 3.6  # logarithms


class Choices(NamedTuple):
    """Contexts, and what is to be told apart: places among vectors, -1 for none.

    Attributes:
        vectors: [U + 1, D] of the texts; the last row, which is that of -1, is zeros.
        turns: [B, T] of each context, the last turn first.
        replies: [B] of what answers it.
        others: [B, K] of what does not, the last turn itself among them.
    """

    vectors: Tensor
    turns: Tensor
    replies: Tensor
    others: Tensor


class Chosen(NamedTuple):
    """How well the replies are told from others.

    Attributes:
        loss: sum over contexts of the cross-entropy, mean of both directions.
        first: how many contexts are nearer to their reply than to any other reply of the batch.
        nearer: how many are nearer to it than to all their own others.
    """

    loss: Tensor
    first: Tensor
    nearer: Tensor


class Side(nn.Module):
    """A network with one hidden layer."""

    def __init__(self, inputs: int, sizes: SelectorSizes) -> None:
        super().__init__()
        self.up = nn.Linear(inputs, sizes.hidden)
        self.down = nn.Linear(sizes.hidden, sizes.output)

    def forward(self, vectors: Tensor) -> Tensor:
        """Unit vectors [..., O] in single precision."""
        return functional.normalize(self.down(functional.relu(self.up(vectors))).float(), dim=-1)


class SelectorModel(nn.Module):
    """Both networks, and how sharply cosines decide."""

    def __init__(self, sizes: SelectorSizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.contexts = Side(sizes.turns * sizes.width, sizes)
        self.replies = Side(sizes.width, sizes)
        self.log_scale = nn.Parameter(torch.tensor(_FIRST_SCALE))

    def choose(self, batch: Choices) -> Chosen:
        """How well each context finds its reply among those of the batch and its own others."""
        contexts = self.contexts(batch.vectors[batch.turns].flatten(1)) * self.log_scale.clamp(max=_HIGHEST_SCALE).exp()
        told = torch.cat([batch.replies[:, None], batch.others], 1)
        sides = self.replies(batch.vectors[told])
        with torch.autocast(sides.device.type, enabled=False):  # these products are the loss, not the network
            return self._told_apart(batch, contexts, sides)

    @staticmethod
    def _told_apart(batch: Choices, contexts: Tensor, sides: Tensor) -> Chosen:
        """The same of vectors of contexts [B, O], times how sharply cosines decide, and of replies [B, 1 + K, O]."""
        nearby = (contexts[:, None] * sides[:, 1:]).sum(-1).masked_fill(batch.others < 0, -torch.inf)
        # A copy of the true reply is no negative.
        copies = (batch.replies[:, None] == batch.replies).fill_diagonal_(fill_value=False)
        logits = (contexts @ sides[:, 0].T).masked_fill(copies, -torch.inf)
        target = torch.arange(len(sides), device=sides.device)
        rows = functional.cross_entropy(torch.cat([logits, nearby], 1), target, reduction="sum")
        columns = functional.cross_entropy(logits.T, target, reduction="sum")
        first, nearer = logits.argmax(1) == target, logits.diagonal() > nearby.amax(1)
        return Chosen((rows + columns) / 2, first.sum(), nearer.sum())
