"""A dialogue model as a policy: replies are drawn from it, and what it gave for each word of them can be learnt from.

Shapes: n replies, T pieces, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from rejoinder.data.folders import Parts, value_in
from rejoinder.errors import UsageError
from rejoinder.models.generation import encode_contexts
from rejoinder.models.networks.decoding import Limits, sample
from rejoinder.models.networks.dialogue import DialogueModel
from rejoinder.models.networks.loading import build, pad, turn_reader
from rejoinder.models.sizes import DialogueSizes
from rejoinder.models.vocabulary import END_ID, PAD_ID, UNK_ID
from rejoinder.responder import Context

KINDS = ("hred", "seq2seq")
_NEVER = -1e9  # finite, so that what is never said adds nothing to a divergence


class Told(NamedTuple):
    """What a policy gives for replies, summed over the pieces of each.

    Attributes:
        logs: [n] log-probability, nats.
        divergence: [n] KL divergence from another policy, of each piece given those before it.
        entropy: [n] entropy of each piece given those before it.
    """

    logs: Tensor
    divergence: Tensor
    entropy: Tensor


class Policy:
    """The policy of a trained model.

    Attributes:
        parts: the model as it was read.
        model: its network, which learns.
        vocabulary: its pieces.
        longest: most pieces of a reply.

    Raises:
        UsageError: the model is of a kind whose replies depend on more than their words.
    """

    def __init__(self, parts: Parts, longest: int) -> None:
        if parts.config.get("kind") not in KINDS:
            found = f"a model of kind {parts.config.get('kind')!r}"
            raise UsageError(f"{found} cannot be reinforced, expected one of {', '.join(KINDS)}")
        sizes = value_in(parts.config, "sizes", DialogueSizes)
        self.parts, self.longest = parts, longest
        self.model: DialogueModel = build(lambda: DialogueModel(sizes), parts.tensors)
        self.reader = turn_reader(parts, sizes.vocabulary)
        self.vocabulary = self.reader.vocabulary
        self._barred = torch.tensor([PAD_ID, UNK_ID])

    @property
    def network(self) -> nn.Module:
        """What has the weights."""
        return self.model

    def say(self, contexts: Sequence[Context], generator: torch.Generator) -> list[list[int]]:
        """A reply to each of n contexts as pieces, drawn from the policy; one may be empty.

        Args:
            contexts: turns, oldest first.
            generator: draws the words.
        """
        limits = Limits(END_ID, (PAD_ID, UNK_ID), self.longest)
        with torch.inference_mode():
            state = self.model.begin(self.condition(contexts))
            turns = sample(self.model.step, state, limits, [generator] * len(contexts))
            return [turn.ids for turn in turns]

    def tell(self, contexts: Sequence[Context], replies: Sequence[Sequence[int]], other: Policy) -> Told:
        """What the policy gives for n replies, and how far it is from `other` there.

        Args:
            contexts: what they reply to.
            replies: pieces without the end, which counts where it was reached.
            other: a policy of the same shape, which learns nothing.
        """
        ended = [[*reply, END_ID] if len(reply) < self.longest else list(reply) for reply in replies]
        tokens, lengths = pad(ended)
        inside = torch.arange(tokens.shape[1]) < lengths[:, None]  # [n, T]
        own = self._logs(contexts, tokens)  # [n, T, V]
        with torch.no_grad():
            others = other._logs(contexts, tokens)
        said = own.gather(2, tokens[:, :, None])[:, :, 0]
        shares = own.exp()
        steps = (said, (shares * (own - others)).sum(-1), -(shares * own).sum(-1))
        return Told(*((one * inside).sum(1) for one in steps))

    def condition(self, contexts: Sequence[Context]) -> Tensor:
        """[n, K] what the decoder is conditioned on after contexts."""
        return encode_contexts(self.model, [self.reader.numbers(context) for context in contexts])

    def _logs(self, contexts: Sequence[Context], tokens: Tensor) -> Tensor:
        """[n, T, V] log-probability of every piece at each place, given the pieces before it."""
        features = self.model.features(tokens[:, :-1], self.condition(contexts))
        logits: Tensor = self.model.decoder.words(features)
        return logits.index_fill(2, self._barred, _NEVER).log_softmax(-1)
