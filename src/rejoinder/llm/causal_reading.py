"""How a causal language model reads in one go a reply after its context, the reply alone, and what may follow it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np

from rejoinder.scorer import FloatArray

_ALIKE = 0.25  # natural logarithms: halves of numbers differ a little with how many are read at once,
_ROUNDED = 0.05  # and some processors round them so that what is very unlikely differs by such a share of itself
_DEPTH = 0.73  # of the layers: the last ones know what piece comes next, those before it what was said


class Told(NamedTuple):
    """What a model says of k pieces of a reply and of what may be said next.

    Attributes:
        after: [k] logarithms of the probabilities of the reply's pieces after the context.
        entropy: [k] of what is expected there.
        alone: logarithms of those of its own pieces without context.
        following: the same of the pieces of each text that may follow.
        states: [k, D] of the layer that is read, at the reply's pieces.
    """

    after: FloatArray
    entropy: FloatArray
    alone: FloatArray
    following: list[FloatArray]
    states: Any


class _States(NamedTuple):
    """[k, D] what two layers hold of k pieces: the last, and the one that a reply's `state` is taken from."""

    last: Any
    inner: Any


_NOTHING, _CONTEXT, _REPLY, _ALONE, _NEXT = range(5)
_SEES = {_REPLY: (_CONTEXT,), _ALONE: (_NOTHING,)}  # what may follow a reply sees both that and its context
_Text = tuple[int, Sequence[int], int]
"""Which text pieces belong to, the pieces, and the place of the first in what the model reads."""


class Read:
    """No context, and a context, that a model has read; replies are read after both in one go, each by itself.

    A few pieces take a model nearly as long as one, because all its weights have to come by. So what a reply is after
    its context, what it is without, and what may be said to it stand in one sequence, where a mask shows each text only
    what comes before it.

    Args:
        model: the library's model.
        nothing: the pieces of no context.
        context: those of the context.
    """

    def __init__(self, model: Any, nothing: Sequence[int], context: Sequence[int]) -> None:
        from transformers import DynamicCache

        self.model, self.cache, self.texts = model, DynamicCache(), list[int]()
        self.size = len(context)
        read = self._forward([(_NOTHING, nothing, 0), (_CONTEXT, context, 0)])
        self.texts += [_NOTHING] * len(nothing) + [_CONTEXT] * len(context)
        self.last = {_NOTHING: read.last[len(nothing) - 1], _CONTEXT: read.last[-1]}

    def of(self, reply: Sequence[int], alone: Sequence[int], nexts: Sequence[Sequence[int]]) -> Told:
        """What the model says of a reply, of its pieces without context, and of texts that may follow the reply."""
        import torch

        after = self.size + len(reply)
        texts: list[_Text] = [(_REPLY, reply, self.size), (_ALONE, alone, len(self.texts) - self.size)]
        texts += [(_NEXT + number, pieces, after) for number, pieces in enumerate(nexts)]
        pieces = [piece for _, own, _ in texts for piece in own]
        read = self._forward(texts)
        self.cache.crop(-len(pieces))
        ends = list(accumulate((len(own) for _, own, _ in texts), initial=0))
        before = [self.last[_CONTEXT], self.last[_NOTHING], *[read.last[len(reply) - 1]] * len(nexts)]
        states = [
            torch.cat([last[None], read.last[start : end - 1]])
            for last, (start, end) in zip(before, pairwise(ends), strict=True)
        ]
        with torch.inference_mode():
            expected = self.model.get_output_embeddings()(torch.cat(states)).float().log_softmax(-1)
            logs = expected[torch.arange(len(pieces)), torch.tensor(pieces)].double().numpy()
            here = expected[: len(reply)]
            entropy = -(here.exp() * here).sum(-1).double().numpy()
        told, without, *following = (logs[start:end] for start, end in pairwise(ends))
        return Told(told, entropy, without, following, read.inner[: len(reply)])

    def _forward(self, texts: Sequence[_Text]) -> _States:
        """What the layers hold of k pieces more."""
        import torch

        own = [text for text, pieces, _ in texts for _ in pieces]
        places = [start + place for _, pieces, start in texts for place in range(len(pieces))]
        known = torch.tensor([*self.texts, *own])
        shown = torch.stack([torch.isin(known, torch.tensor(_seen(text))) for text in own])
        shown &= torch.ones_like(shown).tril(len(self.texts))
        mask = torch.zeros(shown.shape, dtype=self.model.dtype).masked_fill(~shown, torch.finfo(self.model.dtype).min)
        with torch.inference_mode():
            read = self.model.base_model(
                input_ids=torch.tensor([[piece for _, pieces, _ in texts for piece in pieces]]),
                position_ids=torch.tensor([places]),
                attention_mask=mask[None, None],
                past_key_values=self.cache,
                use_cache=True,
                output_hidden_states=True,
            )
        return _States(read.last_hidden_state[0], read.hidden_states[round(_DEPTH * (len(read.hidden_states) - 1))][0])


def _seen(text: int) -> tuple[int, ...]:
    """The texts that one sees, itself among them."""
    return text, *_SEES.get(text, (_CONTEXT, _REPLY) if text >= _NEXT else ())


def reads_as_it_should(model: Any) -> bool:
    """Whether a model says the same of a few pieces behind a mask as it does of them alone.

    Not all do: some take no mask, some change what the last layer says before it is a probability.
    """
    import torch

    pieces = [1, 2, 3, 4, 5]
    try:
        told = Read(model, pieces[:1], pieces[:2]).of(pieces[2:], pieces[2:], [pieces[:1]])
        with torch.inference_mode():
            expected = model(torch.tensor([pieces])).logits[0].float().log_softmax(-1).double().numpy()
    except (IndexError, RuntimeError, TypeError, ValueError):
        return False
    plain = expected[np.arange(1, 4), pieces[2:]]
    return bool((np.abs(told.after - plain) < _ALIKE + _ROUNDED * np.abs(plain)).all())
