"""Two networks over the vectors of a fixed encoder: one for contexts, one for replies.

The vectors of a context and of its reply are near each other, and far from those of other replies.
Shapes: B contexts with their replies, T turns of each, K other turns that do not answer it, U different texts,
D width of the encoder's vectors, O width of the selector's vectors.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from rejoinder.models.sizes import SelectorSizes

_FIRST_SCALE, _HIGHEST_SCALE = 2.5, 3.6  # logarithms


class Choices(NamedTuple):
    """Contexts, their replies and wrong replies, as places among the vectors, -1 for none.

    Attributes:
        vectors: [U + 1, D] of the texts; the last row, which -1 means, is zeros.
        turns: [B, T] of each context, the last turn first.
        replies: [B] of the right reply.
        others: [B, K] of wrong ones, the last turn itself among them.
    """

    vectors: Tensor
    turns: Tensor
    replies: Tensor
    others: Tensor


class Chosen(NamedTuple):
    """The result of a batch.

    Attributes:
        loss: sum over contexts of the cross-entropy, mean of both directions.
        first: how many contexts are nearer to their reply than to any other reply of the batch.
        nearer: how many are nearer to it than to all their own wrong ones.
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
    """Both networks, and the scale of the cosines."""

    def __init__(self, sizes: SelectorSizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.contexts = Side(sizes.turns * sizes.width, sizes)
        self.replies = Side(sizes.width, sizes)
        self.log_scale = nn.Parameter(torch.tensor(_FIRST_SCALE))

    def contrastive_loss(self, batch: Choices) -> Chosen:
        """Return how well each context finds its reply among those of the batch and its own wrong ones."""
        contexts = self.contexts(batch.vectors[batch.turns].flatten(1))  # [B, T, D] -> [B, T D] -> [B, O]
        contexts = contexts * self.log_scale.clamp(max=_HIGHEST_SCALE).exp()
        replies = self.replies(batch.vectors[torch.cat([batch.replies[:, None], batch.others], 1)])  # [B, 1 + K, O]
        with torch.autocast(replies.device.type, enabled=False):  # these products are the loss, not the network
            wrong = (contexts[:, None] * replies[:, 1:]).sum(-1).masked_fill(batch.others < 0, -torch.inf)  # [B, K]
            # A copy of the true reply is no negative.
            copies = (batch.replies[:, None] == batch.replies).fill_diagonal_(fill_value=False)
            logits = (contexts @ replies[:, 0].T).masked_fill(copies, -torch.inf)  # [B, B]
            target = torch.arange(len(replies), device=replies.device)
            rows = functional.cross_entropy(torch.cat([logits, wrong], 1), target, reduction="sum")
            columns = functional.cross_entropy(logits.T, target, reduction="sum")
            first, nearer = logits.argmax(1) == target, logits.diagonal() > wrong.amax(1)
            return Chosen((rows + columns) / 2, first.sum(), nearer.sum())
