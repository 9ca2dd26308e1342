"""A small network of attention that says how surprising each piece of a reply is after its context, and how sure it is.

Pieces of a context see those before them; pieces of a reply see the context and what stands before them in that reply,
so several replies to one context go through together. Unlike a language model it reads the piece that it judges.
Shapes: B contexts with their replies, L pieces of each, D width.
"""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor, nn
from torch.nn import functional

from rejoinder.nn.averaging import LEFT, RIGHT
from rejoinder.nn.surprising import REPLY, SurprisalSizes

_STEP = 2.0  # what is told is a multiple of it, so that weights of usual size reach rare words
_SPREAD, _MODEST, _QUIET = 0.3, 0.5, 0.3  # of weights at the beginning


class Laying(NamedTuple):
    """Pieces of contexts and replies, see `nn.surprising.Laid`; what is no piece is padding of zeros.

    Attributes:
        ids, previous, places, roles: [B, L] each.
        seen: [B, 1, L, L] whether the piece of a row sees that of a column.
    """

    ids: Tensor
    previous: Tensor
    places: Tensor
    roles: Tensor
    seen: Tensor


class Layer(nn.Module):
    """Attention, and two maps with a cut at zero between, each beside what it reads."""

    def __init__(self, sizes: SurprisalSizes) -> None:
        super().__init__()
        self.heads = sizes.heads
        self.before = nn.LayerNorm(sizes.width)
        self.reads = nn.Linear(sizes.width, 3 * sizes.width)
        self.writes = nn.Linear(sizes.width, sizes.width)
        self.after = nn.LayerNorm(sizes.width)
        self.up = nn.Linear(sizes.width, sizes.inner)
        self.down = nn.Linear(sizes.inner, sizes.width)
        for last in (self.writes, self.down):
            last.weight.data *= _MODEST
            nn.init.zeros_(last.bias)

    def forward(self, states: Tensor, seen: Tensor) -> Tensor:
        """States [B, L, D] after the layer."""
        batch, length, width = states.shape
        reads = self.reads(self.before(states)).view(batch, length, 3, self.heads, width // self.heads)
        queries, keys, values = reads.permute(2, 0, 3, 1, 4)
        found = functional.scaled_dot_product_attention(queries, keys, values, attn_mask=seen)
        states = states + self.writes(found.transpose(1, 2).reshape(batch, length, width))
        more: Tensor = states + self.down(functional.relu(self.up(self.after(states))))
        return more


class SurprisalModel(nn.Module):
    """Vectors of pieces and pairs, layers of attention, and what a piece and a pair say by themselves."""

    def __init__(self, sizes: SurprisalSizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.pieces = nn.Embedding(sizes.vocabulary, sizes.width)
        self.pairs = nn.Embedding(sizes.buckets, sizes.width)
        self.places = nn.Embedding(2 * sizes.places, sizes.width)
        self.roles = nn.Embedding(REPLY + 1, sizes.width)
        self.layers = nn.ModuleList(Layer(sizes) for _ in range(sizes.layers))
        self.last = nn.LayerNorm(sizes.width)
        self.told = nn.Linear(sizes.width, 2)
        self.piece_says = nn.Embedding(sizes.vocabulary, 2)
        self.pair_says = nn.Embedding(sizes.buckets, 2)
        for table in (self.pieces, self.places, self.roles):
            nn.init.normal_(table.weight, std=_SPREAD)
        for table in self.by_themselves:
            nn.init.zeros_(table.weight)
        self.told.weight.data *= _QUIET

    @property
    def by_themselves(self) -> tuple[nn.Embedding, ...]:
        """The tables that begin with nothing."""
        return self.pairs, self.piece_says, self.pair_says

    def forward(self, laying: Laying) -> Tensor:
        """[B, L, 2] the surprisal of each piece and the entropy before it, in nats, 0 or more."""
        pairs = (laying.previous * LEFT + laying.ids * RIGHT) % self.sizes.buckets
        states = self.pieces(laying.ids) + self.pairs(pairs) + self.places(laying.places) + self.roles(laying.roles)
        for layer in self.layers:
            states = layer(states, laying.seen)
        told = self.told(self.last(states)) + self.piece_says(laying.ids) + self.pair_says(pairs)
        return functional.softplus(told.float()) * _STEP
