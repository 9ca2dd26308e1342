"""The Dual Encoder: one LSTM reads context and response, a bilinear form says how well they fit.

Source: Lowe et al. 2015, section 4.3, p = sigmoid(c M r), without a bias as in the released program; the sum over
several negatives is that of Deriu and Cieliebak 2019, appendix.
Shapes: B dialogues, U turns, N turns of all dialogues together, P pairs, k wrong responses of each, D units.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from rejoinder.models.networks.dialogue import Dialogues, Turns, as_sequences
from rejoinder.models.networks.recurrent import Recurrent, last_step
from rejoinder.models.sizes import DualEncoderSizes


class Pairs(NamedTuple):
    """The summed cross-entropy of a batch of P pairs, nats, and the logits of right [P] and wrong [P, k] responses."""

    loss: Tensor
    right: Tensor
    wrong: Tensor


class DualEncoder(nn.Module):
    """The shared recurrence and M, which starts as the identity."""

    def __init__(self, sizes: DualEncoderSizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.embedding = nn.Embedding(sizes.vocabulary, sizes.embedding)
        self.layer = Recurrent(sizes.embedding, sizes.units, sizes.cell, sizes.normalise)
        if sizes.bilinear:
            self.form = nn.Parameter(torch.eye(sizes.units))
        nn.init.normal_(self.embedding.weight, std=0.1)

    def forward(self, dialogues: Dialogues, generator: torch.Generator, negatives: int) -> Pairs:
        """Score each turn after the first, and wrong turns drawn from the batch, against all turns before it."""
        responses = torch.cat([self.encode_turns(chunk) for chunk in dialogues.chunks])  # [N, D]
        contexts = self.projected(self.encode_prefixes(dialogues)[:, :-1])  # [B, U - 1, D]
        inside = dialogues.rows[:, 1:] >= 0
        contexts, places = contexts[inside], dialogues.rows[:, 1:][inside]  # [P, D], [P]
        # Never the right turn itself: from 1 to N - 1 places further on.
        shape, device = (len(places), negatives), generator.device
        steps = torch.randint(1, max(len(responses), 2), shape, generator=generator, device=device)
        others = (places[:, None] + steps.to(places.device)) % len(responses)  # [P, k]
        right = (contexts * responses[places]).sum(-1)
        wrong = torch.einsum("pd,pkd->pk", contexts, responses[others])
        return Pairs(functional.softplus(-right).sum() + functional.softplus(wrong).sum(), right, wrong)

    def encode_turns(self, turns: Turns) -> Tensor:
        """[n, D] the state after each turn, read alone."""
        outputs, _ = self.layer(self.embedding(turns.tokens))
        return last_step(outputs, turns.lengths)

    def encode_prefixes(self, dialogues: Dialogues) -> Tensor:
        """[B, U, D] the state after each turn, read behind those before it."""
        sequences = as_sequences(dialogues)
        outputs: Tensor = self.layer(self.embedding(sequences.tokens))[0]  # [B, T, D]
        places = sequences.ends[:, :, None].expand(-1, -1, outputs.shape[-1])
        return outputs.gather(1, places)

    def projected(self, contexts: Tensor) -> Tensor:
        """[..., D] contexts c as c M, whose product with a response is the logit."""
        return torch.matmul(contexts, self.form) if self.sizes.bilinear else contexts
