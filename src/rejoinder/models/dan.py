"""A dual encoder of deep averaging networks: contexts and responses to vectors whose cosine says how well they fit.

A text is the sum of the vectors of its pieces and of its pairs of neighbouring pieces, the pairs hashed into buckets,
divided by the root of their number; a small network for each side stands on top.

Source: Henderson et al. 2017, Efficient Natural Language Response Suggestion for Smart Reply, section 4 (n-gram sums,
the other responses of a batch as negatives); Iyyer et al. 2015 (deep averaging).
Shapes: N turns, T tokens, C contexts, E width of a piece's vector, O width of an encoding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from rejoinder.models.averaging import LEFT, RIGHT

# Encodings nearer than this are of the same response.
_SAME = 0.999


@dataclass(frozen=True)
class DanSizes:
    """What decides the shape of the network.

    Attributes:
        vocabulary: pieces.
        buckets: rows for pairs of neighbouring pieces.
        embedding: E.
        hidden: units of the layer between.
        output: O.
        dropout: share of the inputs of each layer that is left out in training.
        earlier: turns before the last that a context is read with.
    """

    vocabulary: int
    buckets: int = 50_000
    embedding: int = 128
    hidden: int = 512
    output: int = 256
    dropout: float = 0.1
    earlier: int = 2


class Match(NamedTuple):
    """What a batch of P pairs comes to.

    Attributes:
        loss: sum over pairs of the mean of both directions' cross-entropy, nats.
        pairs: P.
        first: of how many pairs the true response scores higher than all the other responses of the batch.
    """

    loss: Tensor
    pairs: int
    first: Tensor


class Tower(nn.Module):
    """The network of one side: two layers with GELU between, to a vector of length 1."""

    def __init__(self, inputs: int, sizes: DanSizes) -> None:
        super().__init__()
        self.dropout = sizes.dropout
        self.first = nn.Linear(inputs, sizes.hidden)
        self.second = nn.Linear(sizes.hidden, sizes.output)

    def forward(self, inputs: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """[n, O] unit vectors from [n, D]; with a generator inputs are dropped."""
        hidden = functional.gelu(self.first(self._dropped(inputs, generator)))
        return functional.normalize(self.second(self._dropped(hidden, generator)), dim=-1)

    def _dropped(self, inputs: Tensor, generator: torch.Generator | None) -> Tensor:
        if generator is None or not self.dropout:
            return inputs
        kept = torch.rand(inputs.shape, generator=generator, device=generator.device).to(inputs) >= self.dropout
        return inputs * kept / (1 - self.dropout)


class DanModel(nn.Module):
    """The table of pieces and pairs, and the towers of contexts and responses."""

    def __init__(self, sizes: DanSizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.table = nn.Embedding(sizes.vocabulary + sizes.buckets, sizes.embedding)
        self.contexts = Tower(2 * sizes.embedding, sizes)
        self.responses = Tower(sizes.embedding, sizes)
        self.log_scale = nn.Parameter(torch.tensor(2.5))
        nn.init.normal_(self.table.weight, std=0.1)

    def forward(self, tokens: Tensor, lengths: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Encodings [N, O] of turns read as responses, and [C, O] of contexts made of them.

        Args:
            tokens: [N, T] ids, each turn with its end.
            lengths: [N] ids of each turn, its end included.
            rows: [C, 1 + earlier] places among the turns of a context's last turn and of those before, -1 for none.
        """
        bags = self.bags(tokens, lengths)
        return self.responses(bags), self.contexts(self.joined(bags, rows))

    def bags(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """[N, E] what each turn's pieces and pairs add up to; zeros for a turn that is its end alone."""
        pieces, following = tokens[:, :-1], tokens[:, 1:]
        pairs = (pieces * LEFT + following * RIGHT) % self.sizes.buckets + self.sizes.vocabulary
        inside = torch.arange(pieces.shape[1], device=tokens.device) < lengths[:, None] - 1
        vectors = self.table(pieces) + self.table(pairs)
        total = (vectors * inside[:, :, None].float()).sum(1)
        scaled: Tensor = total / (2.0 * (lengths - 1)).clamp(min=1).sqrt().to(total.dtype)[:, None]
        return scaled

    def joined(self, bags: Tensor, rows: Tensor) -> Tensor:
        """[C, 2E] the last turn's bag beside those before it, which are added up and divided by their number's root."""
        earlier = rows[:, 1:]
        there = (earlier >= 0).to(bags.dtype)
        before = (bags[earlier.clamp(min=0)] * there[:, :, None]).sum(1)
        before = before / there.sum(1).clamp(min=1.0).sqrt()[:, None]
        return torch.cat([bags[rows[:, 0]], before], -1)

    def match(self, bags: Tensor, responses: Tensor, rows: Tensor, generator: torch.Generator | None) -> Match:
        """How well contexts find their responses among all responses of the batch.

        Args:
            bags: [N, E] of the batch's turns.
            responses: [P] place of each pair's response.
            rows: [P, 1 + earlier] places of its context's turns.
            generator: drops inputs; None in validation.
        """
        contexts = self.contexts(self.joined(bags, rows), generator)
        answers = self.responses(bags[responses], generator)
        plain = self.responses(bags[responses]) if generator is not None else answers
        cosines = contexts @ answers.T
        # A copy of the true response is no negative.
        copies = (plain @ plain.T > _SAME) & ~torch.eye(len(rows), dtype=torch.bool, device=rows.device)
        logits = (cosines * self.log_scale.exp()).masked_fill(copies, -torch.inf)
        target = torch.arange(len(rows), device=rows.device)
        losses = [functional.cross_entropy(side, target, reduction="sum") for side in (logits, logits.T)]
        first = (logits.argmax(1) == target).sum()
        return Match((losses[0] + losses[1]) / 2, len(rows), first)


def context_rows(rows: Tensor, earlier: int) -> tuple[Tensor, Tensor]:
    """The pairs in dialogues: [P] place of each response and [P, 1 + earlier] places of the turns before it.

    `rows` [B, U] holds the places of each dialogue's turns, -1 behind its last. The last turn comes first.
    """
    before = functional.pad(rows, (earlier, 0), value=-1)  # the turn u stands at u + earlier
    turns = rows.shape[1]
    steps = [before[:, earlier - back : earlier - back + turns - 1] for back in range(earlier + 1)]
    responses = rows[:, 1:]
    found = responses >= 0
    return responses[found], torch.stack(steps, -1)[found]
