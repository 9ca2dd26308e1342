"""Any model of sentence-transformers as an encoder: `sentence:FOLDER`, or `sentence:MODEL` where it was downloaded.

Its weights belong to others and stay where they are: what a judge keeps of it is its name, the digest of its weights
and that of its settings, and it is found again under that name (`io.models`). Nothing is fetched: a model that is not
on this machine is an error.

A text is read as far as the model reads. A context is its last three turns, joined by spaces, of which the first give
way where the model does not read so far, because what was said last is what is answered.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from rejoinder.data.folders import Parts
from rejoinder.errors import DataError, MissingExtra
from rejoinder.llm.loading import bare_name, find_model, load_named_model, load_sentence_model, usable
from rejoinder.llm.model_folders import settings_digest
from rejoinder.scorer import FloatArray

KIND = "sentence"
TURNS = 3
"""Turns that a context is read with."""
_TOGETHER = 64
_SETTINGS = (
    *("config.json", "modules.json", "config_sentence_transformers.json", "sentence_*_config.json"),
    *("tokenizer*.json", "*tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"),
    *("vocab.*", "merges.txt", "*.model", "*.jinja"),
)
"""The files that say how texts are cut, pooled, normalised and prompted."""
_MODULE = re.compile(r"\d+_\w+")
"""How the library calls the folders of a model's modules, such as `1_Pooling`."""


@dataclass(frozen=True)
class SentenceEncoder:
    """Encodes texts with a model of sentence-transformers.

    Attributes:
        name: the folder of the model, or what it is called where models are downloaded from.
        model: the library's `SentenceTransformer`.
        settings: twelve hexadecimal digits that tell the files beside its weights from others.
    """

    name: str
    model: Any
    settings: str

    @cached_property
    def digest(self) -> str:
        """Twelve hexadecimal digits that tell its weights and its limit from others."""
        total = hashlib.sha256(str(self.model.max_seq_length).encode())
        for name, tensor in sorted(self.model.state_dict().items()):
            total.update(f"\n{name} {tuple(tensor.shape)}\n".encode())
            total.update(tensor.detach().cpu().double().numpy().tobytes())
        return total.hexdigest()[:12]

    @cached_property
    def parts(self) -> Parts:
        """What `from_parts` needs to find it again."""
        return Parts(
            {"kind": KIND, "model": bare_name(self.name), "weights": self.digest, "settings": self.settings}, {}
        )

    @property
    def width(self) -> int:
        """D, the length of a vector."""
        # Its second name, under which older versions have it, warns in newer ones.
        asked = getattr(self.model, "get_embedding_dimension", None) or self.model.get_sentence_embedding_dimension
        return int(asked())

    @property
    def options(self) -> Mapping[str, Any]:
        """What decides the vectors."""
        return {"encoder": KIND, "weights": self.digest, "settings": self.settings}

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """[N, D] vectors of texts; NaN for a blank one."""
        encoded = np.full((len(texts), self.width), np.nan)
        if seen := [place for place, text in enumerate(texts) if text.strip()]:
            given = [texts[place] for place in seen]
            with usable(f"{KIND}:{self.name}"):
                encoded[seen] = self.model.encode(given, batch_size=_TOGETHER, show_progress_bar=False)
        return encoded

    def encode_contexts(self, contexts: Sequence[tuple[str, ...]]) -> FloatArray:
        """[N, D] vectors of contexts; NaN for one without a word."""
        return self.encode([self._joined(context) for context in contexts])

    def cuts(self, texts: Sequence[str]) -> list[int]:
        """The positions of texts whose end is not read."""
        return [place for place, text in enumerate(texts) if self._is_long(text)]

    def cuts_contexts(self, contexts: Sequence[tuple[str, ...]]) -> list[int]:
        """The positions of contexts of whose last three turns something is not read."""
        return self.cuts([" ".join(_last(context)) for context in contexts])

    def _joined(self, context: Sequence[str]) -> str:
        """The last turns of a context as one text, as many as are read to their end, and at least one."""
        turns = _last(context)
        while len(turns) > 1 and self._is_long(" ".join(turns)):
            turns = turns[1:]
        return " ".join(turns)

    def _is_long(self, text: str) -> bool:
        """Whether the model does not read a text to its end."""
        limit = self.model.max_seq_length
        return limit is not None and len(self.model.tokenizer(text, verbose=False)["input_ids"]) > limit


def encoder(name: str) -> SentenceEncoder:
    """The encoder of a model.

    Args:
        name: a folder, or the name of a model that is in the cache of the library.

    Raises:
        MissingExtra: sentence-transformers is not installed.
        MissingAsset: there is no such model on this machine.
        UnusableModel: it is refused, damaged or unknown to the library.
    """
    return _encoder(name)


def _encoder(name: str, *, bare: bool = False) -> SentenceEncoder:
    """The encoder of a model; with `bare`, its name may be no path."""
    if find_spec("sentence_transformers") is None:
        raise MissingExtra("sentence-transformers", "encoders", f"The encoder {KIND}:{name}")
    called = f"{KIND}:{name}"
    cache_folder = os.environ.get("SENTENCE_TRANSFORMERS_HOME")
    place = find_model(name, called, owner="sentence-transformers", cache_folder=cache_folder, bare=bare)
    model = load_sentence_model(place, called)
    with usable(called):
        found = SentenceEncoder(name, model, settings_digest(place, called, _SETTINGS, _MODULE))
        if not np.isfinite(found.encode(["hello there"])).all():
            raise ValueError("its vectors hold NaN or infinity")
    return found


def from_parts(parts: Parts) -> SentenceEncoder:
    """The encoder that a judge's folder names.

    Raises:
        MissingExtra, MissingAsset, UnusableModel: see `encoder`.
        DataError: no name is there, or another model is called so by now.
    """
    found: SentenceEncoder = load_named_model(parts.config, KIND, partial(_encoder, bare=True))
    # Folders of older versions hold no digest of the settings, and are known by their weights alone.
    if parts.config.get("settings", found.settings) != found.settings:
        problem = f"{KIND}:{found.name} has its weights, but cuts, pools, normalises or prompts texts in another way"
        raise DataError(problem, "Put the model back that it was trained with, or train it again", field="model")
    return found


def _last(context: Sequence[str]) -> list[str]:
    """The last three turns that are not blank."""
    return [turn for turn in context if turn.strip()][-TURNS:]
