"""A causal language model of transformers that a user names: how likely it finds a reply, and what would be said to it.

Its weights belong to others and stay where they are: what a judge keeps of it is its name and the digest of its
weights. Nothing is fetched, and no code of a model's folder is run. Every reply is read by itself, so that its numbers
do not depend on others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np

from rejoinder.errors import DataError, MissingAsset, MissingExtra
from rejoinder.io.folders import Parts
from rejoinder.records import Example
from rejoinder.scorer import FloatArray

KIND = "lm"
FOLLOWING = ("That's great!", "That doesn't make sense.")
"""What people say to replies that they like and that they do not understand (Mehri and Eskenazi 2020 ask more)."""
_TURNS = 5  # turns of a context that are read
_LONGEST = 120  # pieces of a turn that are read; of a turn before the reply the last ones
_DIGESTED = 1 << 16  # bytes of a tensor that its digest reads

Messages = list[dict[str, str]]


@dataclass(frozen=True)
class Reading:
    """What a model makes of one reply of k pieces, its end among them.

    Attributes:
        after: [k] natural logarithm of the probability of each piece after the context.
        alone: [k] the same without context.
        entropy: [k] of what the model expects there after the context, in nats.
        following: [2] mean logarithm of the pieces of each of `FOLLOWING`, were it said next.
    """

    after: FloatArray
    alone: FloatArray
    entropy: FloatArray
    following: FloatArray


@dataclass(frozen=True)
class CausalModel:
    """Reads replies with a causal language model.

    Attributes:
        name: the folder of the model, or what it is called where models are downloaded from.
        model: the library's model.
        tokenizer: the library's tokenizer.
    """

    name: str
    model: Any
    tokenizer: Any

    @cached_property
    def digest(self) -> str:
        """Twelve hexadecimal digits that tell its weights from others: of the beginning of every tensor."""
        import torch

        total = hashlib.sha256()
        for name, tensor in sorted(self.model.state_dict().items()):
            total.update(f"\n{name} {tuple(tensor.shape)} {tensor.dtype}\n".encode())
            total.update(tensor.detach().flatten()[:_DIGESTED].to(torch.float32).numpy().tobytes())
        return total.hexdigest()[:12]

    @property
    def parts(self) -> Parts:
        """What `from_parts` needs to find it again."""
        return Parts({"kind": KIND, "model": self.name, "weights": self.digest}, {})

    @property
    def options(self) -> Mapping[str, Any]:
        """What decides the numbers."""
        return {"model": KIND, "weights": self.digest}

    def readings(self, examples: Sequence[Example]) -> list[Reading]:
        """[N] what it makes of N replies, each with a visible text; a context may be empty."""
        order = sorted(range(len(examples)), key=lambda row: examples[row].context)
        found: dict[int, Reading] = {}
        nothing = _Read(self, self._pieces(self._written(_messages(()), ask=True)))
        for context, rows in groupby(order, key=lambda row: examples[row].context):
            known = list(rows)
            replies = [examples[row].response for row in known]
            found |= zip(known, self._of_context(_messages(context), replies, nothing), strict=True)
        return [found[row] for row in range(len(examples))]

    def _of_context(self, context: Messages, replies: Sequence[str], nothing: _Read) -> list[Reading]:
        """Replies to one context, whose pieces go through the model once, as did those of none."""
        before = _Read(self, self._pieces(self._written(context, ask=True)))
        found = []
        for reply in replies:
            pieces, end = self._reply(context, reply)
            own = [*pieces, *end[:1]]
            with before.going_on([*pieces, *end]) as told:
                said = [*context, {"role": "assistant", "content": reply}]
                following = [self._said_next(told, said, text) for text in FOLLOWING]
                after, entropy = told.logs[: len(own)], told.entropy[: len(own)]
            with nothing.going_on(own) as told:
                found.append(Reading(after, told.logs, entropy, np.array(following)))
        return found

    def _reply(self, context: Messages, reply: str) -> tuple[list[int], list[int]]:
        """The pieces of a reply, and of what ends it."""
        said = [*context, {"role": "assistant", "content": reply}]
        end = self._written(said)[len(self._written(context, ask=True)) + len(reply) :]
        return self._pieces(reply)[:_LONGEST], self._pieces(end)

    def _said_next(self, before: _Read, said: Messages, text: str) -> float:
        """The mean logarithm of the pieces of `text`, were it said after `said`, which was read before."""
        opening = self._written([*said, {"role": "user", "content": text}])[len(self._written(said)) :]
        start = self._pieces(opening[: opening.index(text)])
        with before.going_on([*start, *self._pieces(text)]) as told:
            return float(told.logs[len(start) :].mean())

    def _written(self, messages: Messages, ask: bool = False) -> str:
        """The messages as the model was taught to read them; with `ask`, up to where the assistant begins."""
        if self.tokenizer.chat_template:
            return str(self.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=ask))
        turns = "".join(f"{'A' if one['role'] == 'user' else 'B'}: {one['content']}\n" for one in messages)
        return turns + "B: " * ask

    def _pieces(self, text: str) -> list[int]:
        """The numbers of a text's pieces."""
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])


class _Read:
    """A text that a model has read, from which it may go on, and go back.

    Args:
        of: the model.
        pieces: of the text; where there are none, it begins as the model's texts begin.
    """

    def __init__(self, of: CausalModel, pieces: Sequence[int]) -> None:
        from transformers import DynamicCache

        tokenizer = of.tokenizer
        begin = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
        self.model, self.cache = of.model, DynamicCache()
        self.logs, self.entropy = np.zeros(0), np.zeros(0)
        self.last = self._forward(list(pieces) or [begin])[-1:]

    @contextmanager
    def going_on(self, pieces: Sequence[int]) -> Iterator[_Read]:
        """The text and k more pieces, with the [k] logarithms of their probabilities and [k] entropies there.

        The text alone must not be used before the block ends: both have one memory.
        """
        import torch

        more = copy(self)
        read = self._forward(pieces)
        with torch.inference_mode():
            hidden = torch.cat([self.last, read])[: len(pieces)]
            expected = self.model.get_output_embeddings()(hidden).float().log_softmax(-1)
            more.last = read[-1:]
            more.logs = expected[torch.arange(len(pieces)), torch.tensor(pieces)].double().numpy()
            more.entropy = -(expected.exp() * expected).sum(-1).double().numpy()
        yield more
        self.cache.crop(-len(pieces))

    def _forward(self, pieces: Sequence[int]) -> Any:
        """[k, D] the last layer's states after k more pieces."""
        import torch

        with torch.inference_mode():
            asked = torch.tensor([list(pieces)])
            read = self.model.base_model(input_ids=asked, past_key_values=self.cache, use_cache=True)
        return read.last_hidden_state[0]


def _messages(context: Sequence[str]) -> Messages:
    """The last turns of a context as messages: first and last are the user's; of none, a blank one."""
    turns = [turn for turn in context if turn.strip()][-_TURNS:] or [""]
    if len(turns) % 2 == 0:  # many models have been taught that the user begins
        turns = ["\n".join(turns[:2]), *turns[2:]]
    return [{"role": ("user", "assistant")[place % 2], "content": turn} for place, turn in enumerate(turns)]


def causal_model(name: str) -> CausalModel:
    """The model called `name`.

    Args:
        name: a folder, or the name of a model that is in the cache of the library.

    Raises:
        MissingExtra: transformers is not installed.
        MissingAsset: there is no such model on this machine.
    """
    try:
        from transformers import AutoModelForCausalLM, AutoTokenizer
        from transformers.utils import logging
    except ImportError as error:
        raise MissingExtra("transformers", "encoders", f"The language model {KIND}:{name}") from error
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        tokenizer = AutoTokenizer.from_pretrained(name, local_files_only=True)
        model = AutoModelForCausalLM.from_pretrained(name, local_files_only=True, dtype="auto").eval()
    except (OSError, ValueError) as error:
        remedy = f"Give a folder, or download it once: hf download {name}"
        raise MissingAsset(f"{KIND}:{name}: no causal language model on this machine. {remedy}") from error
    return CausalModel(name, model, tokenizer)


def from_parts(parts: Parts) -> CausalModel:
    """The model that a judge's folder names.

    Raises:
        MissingExtra, MissingAsset: see `causal_model`.
        DataError: no name is there, or another model is called so by now.
    """
    name, weights = parts.config.get("model"), parts.config.get("weights")
    if not isinstance(name, str):
        raise DataError(f"is {name!r:.40}, expected the name of a model", "Train it again", field="model")
    found = causal_model(name)
    if found.digest != weights:
        problem = f"{KIND}:{name} has the weights {found.digest}, expected {weights!r:.20}"
        raise DataError(problem, "Put the model back that it was trained with, or train it again", field="model")
    return found
