"""Encoders without a network of this package: averaged word vectors, models of sentence-transformers, and a cache.

Shapes: N texts or contexts, D width of a vector.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, Generic, Literal, Protocol, TypeVar, runtime_checkable
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from rejoinder.data.folders import Parts, value_in
from rejoinder.errors import DataError, MissingExtra
from rejoinder.models.weights import tensor, words_of
from rejoinder.scorer import Encoder, FloatArray
from rejoinder.text import Tokenize, tokenizer
from rejoinder.text.tokenizers import TOKENIZERS
from rejoinder.text.vectors import WordVectors, read_vectors, word_vectors

AVERAGE, SENTENCE = "average", "sentence"
WORDS = "words.json"
TURNS = 3
"""Turns of a context that a sentence model reads."""
MOST_CACHED = 4096
"""Texts whose vectors are cached, and as many contexts."""
_LONGEST_CACHED = 10_000  # characters
_TOGETHER = 64
_SETTINGS = (
    *("config.json", "modules.json", "config_sentence_transformers.json", "sentence_*_config.json"),
    *("tokenizer*.json", "*tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"),
    *("vocab.*", "merges.txt", "*.model", "*.jinja"),
)
"""The files that decide how a sentence model cuts, pools, normalises and prompts texts."""
_MODULE = re.compile(r"\d+_\w+")
"""The folders of a sentence model's modules, such as `1_Pooling`."""

Text = TypeVar("Text", bound=Hashable)
Name = TypeVar("Name", str, tuple[str, ...])


class PortableEncoder(Encoder, Protocol):
    """An encoder that a judge can take along in its folder."""

    @property
    def parts(self) -> Parts:
        """All that `encoder_of` needs to make it again."""
        ...


@runtime_checkable
class TruncatingEncoder(Protocol):
    """An encoder that reads texts up to a limit."""

    def truncated(self, texts: Sequence[str]) -> list[int]:
        """Return the positions of texts that it does not read to the end."""
        ...

    def truncated_contexts(self, contexts: Sequence[tuple[str, ...]]) -> list[int]:
        """Return the positions of contexts of which it leaves out turns, or the end of a turn."""
        ...


def encode_distinct(encode: Callable[[Sequence[Text]], FloatArray], texts: Sequence[Text]) -> FloatArray:
    """Return [N, D] what `encode` gives for N texts or contexts, each distinct one encoded once."""
    places: dict[Text, int] = {}
    rows = [places.setdefault(text, len(places)) for text in texts]
    encoded = encode(list(places))
    return encoded if len(places) == len(rows) else encoded[rows]


class CachedEncoder:
    """An encoder that keeps the vectors of the texts it met last; threads may share it, a copy in a process is empty.

    Args:
        encoder: whose vectors it keeps.
        most: texts to keep the vectors of, and as many contexts.
    """

    def __init__(self, encoder: PortableEncoder, most: int = MOST_CACHED) -> None:
        self.encoder, self.most = encoder, most
        self._texts, self._contexts = _Cache[str](most), _Cache[tuple[str, ...]](most)
        _CACHING.add(self)

    @property
    def width(self) -> int:
        """D, the length of a vector."""
        return self.encoder.width

    @property
    def parts(self) -> Parts:
        """Those of the encoder."""
        return self.encoder.parts

    @property
    def options(self) -> Mapping[str, Any]:
        """Those of the encoder."""
        return self.encoder.options

    def encode(self, texts: Sequence[str]) -> NDArray[Any]:
        """Return [N, D] vectors of texts; the caller may write to them."""
        return self._cached(self._texts, self.encoder.encode, texts)

    def encode_contexts(self, contexts: Sequence[tuple[str, ...]]) -> NDArray[Any]:
        """Return [N, D] vectors of contexts; the caller may write to them."""
        return self._cached(self._contexts, self.encoder.encode_contexts, contexts)

    def _cached(
        self, cache: _Cache[Name], encode: Callable[[Sequence[Name]], FloatArray], names: Sequence[Name]
    ) -> NDArray[Any]:
        """Return [N, D] the vectors of names, which may be the same."""
        return encode_distinct(partial(cache.vectors, encode), names) if names else np.zeros((0, self.width))

    def clear(self) -> None:
        """Forget all vectors."""
        self._texts, self._contexts = _Cache[str](self.most), _Cache[tuple[str, ...]](self.most)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what makes an empty one again."""
        return CachedEncoder, (self.encoder, self.most)


_CACHING: WeakSet[CachedEncoder] = WeakSet()


def clear_caches() -> None:
    """Let all cached encoders of the process forget their vectors.

    The last bits of a vector depend on the batch in which it was encoded. Results that must not depend on what the
    process did before, to the bit, call this first.
    """
    for encoder in list(_CACHING):
        encoder.clear()


class _Cache(Generic[Name]):
    """Vectors by name; of more than `most` those are dropped that were asked for longest ago."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._rows: OrderedDict[Name, int] = OrderedDict()
        self._vectors: NDArray[Any] | None = None  # [most, D], made when the first vector comes
        self._lock = Lock()

    def vectors(self, encode: Callable[[Sequence[Name]], NDArray[Any]], names: Sequence[Name]) -> NDArray[Any]:
        """Return [N, D] the vectors of distinct names; `encode` gives those that are not cached."""
        with self._lock:
            known = [place for place, name in enumerate(names) if name in self._rows]
            for place in known:
                self._rows.move_to_end(names[place])
            cached = None if self._vectors is None else self._vectors[[self._rows[names[place]] for place in known]]
        if cached is not None and len(known) == len(names):
            return cached
        missing = sorted({*range(len(names))}.difference(known))
        # Encoding takes long, and other threads need not wait for it.
        encoded = encode([names[place] for place in missing])
        with self._lock:
            self._keep([(names[place], row) for row, place in enumerate(missing)], encoded)
        if not known:
            return encoded
        vectors = np.empty((len(names), encoded.shape[1]), encoded.dtype)
        vectors[missing], vectors[known] = encoded, cached
        return vectors

    def _keep(self, named_rows: Sequence[tuple[Name, int]], encoded: NDArray[Any]) -> None:
        """Keep vectors of `encoded` by name, as those that were asked for last."""
        if self._vectors is None:
            self._vectors = np.empty((self.most, encoded.shape[1]), encoded.dtype)
        for name, row in named_rows[-self.most :]:
            if (len(name) if isinstance(name, str) else sum(map(len, name))) > _LONGEST_CACHED:
                continue
            if name in self._rows or len(self._rows) < self.most:
                place = self._rows.pop(name, len(self._rows))
            else:
                _, place = self._rows.popitem(last=False)
            self._rows[name] = place
            self._vectors[place] = encoded[row]


@dataclass(frozen=True)
class AverageEncoder:
    """Averages the vectors of the known words of a text; unknown words are ignored.

    A context is encoded as all its turns in one, so a longer turn weighs more.

    Attributes:
        vectors: words and their vectors.
        tokenizer: name of the tokenizer.
    """

    vectors: WordVectors
    tokenizer: str = "words-2"

    @property
    def width(self) -> int:
        """D, the length of a vector."""
        return int(self.vectors.matrix.shape[1])

    @property
    def options(self) -> Mapping[str, Any]:
        """The digest of the word vectors, and the tokenizer."""
        return {"encoder": AVERAGE, "vectors": self.vectors.digest, "tokenizer": self.tokenizer}

    @cached_property
    def parts(self) -> Parts:
        """All that `encoder_of` needs to make it again."""
        words = json.dumps(list(self.vectors.index), ensure_ascii=False)
        return Parts({"kind": AVERAGE, "tokenizer": self.tokenizer}, {"vectors": self.vectors.matrix}, {WORDS: words})

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Return [N, D] mean vectors; NaN for a text without known words."""
        rows = self.vectors.lookup([self._split(text) for text in texts])
        means = np.full((len(rows), self.width), np.nan)
        for place, row in enumerate(rows):
            if len(row):
                means[place] = self.vectors.matrix[row].mean(axis=0, dtype=np.float64)
        return means

    def encode_contexts(self, contexts: Sequence[tuple[str, ...]]) -> FloatArray:
        """Return [N, D] mean vectors over all words of all turns."""
        return self.encode([" ".join(turns) for turns in contexts])

    def known_share(self, texts: Iterable[str]) -> float:
        """Return the share of the words of `texts` that have a vector; 1 where there is no word."""
        counts = np.array([self.vectors.coverage(self._split(text)) for text in texts]).reshape(-1, 2)
        known, words = counts.sum(axis=0).tolist()
        return float(known / words) if words else 1.0

    @property
    def _split(self) -> Tokenize:
        """From a text to its tokens."""
        return tokenizer(self.tokenizer, self.vectors.index)


def average_encoder(vectors: str | Path | None) -> AverageEncoder:
    """Return the encoder that averages the word vectors in a file, or the bundled ones if `vectors` is None."""
    return AverageEncoder(read_vectors(vectors))


def average_of(parts: Parts) -> AverageEncoder:
    """Return the averaging encoder whose `parts` these are. Raises `DataError`."""
    words = words_of(parts.files, WORDS)
    vectors = tensor(parts.tensors, "vectors", (len(words), None))
    return AverageEncoder(word_vectors(words, vectors), value_in(parts.config, "tokenizer", Literal[tuple(TOKENIZERS)]))


@dataclass(frozen=True)
class SentenceEncoder:
    """Encodes texts with a model of sentence-transformers, each as far as the model reads.

    Its weights stay where they are: a judge's folder holds its name and the digests of its weights and settings. A
    context is its last three turns, joined by spaces; the first of them give way where the model does not read so far.

    Attributes:
        name: the folder of the model, or its name in the library's cache.
        model: the library's `SentenceTransformer`.
        settings: twelve hexadecimal digits, the digest of its files other than the weights.
    """

    name: str
    model: Any
    settings: str

    @cached_property
    def digest(self) -> str:
        """Twelve hexadecimal digits of its weights and its limit."""
        total = hashlib.sha256(str(self.model.max_seq_length).encode())
        for name, values in sorted(self.model.state_dict().items()):
            total.update(f"\n{name} {tuple(values.shape)}\n".encode())
            total.update(values.detach().cpu().double().numpy().tobytes())
        return total.hexdigest()[:12]

    @cached_property
    def parts(self) -> Parts:
        """What `encoder_of` needs to find it again."""
        from rejoinder.llm.loading import bare_name

        name = bare_name(self.name)
        return Parts({"kind": SENTENCE, "model": name, "weights": self.digest, "settings": self.settings}, {})

    @property
    def width(self) -> int:
        """D, the length of a vector."""
        # Older versions have it under its second name, which warns in newer ones.
        dimension = getattr(self.model, "get_embedding_dimension", None) or self.model.get_sentence_embedding_dimension
        return int(dimension())

    @property
    def options(self) -> Mapping[str, Any]:
        """The digests of weights and settings."""
        return {"encoder": SENTENCE, "weights": self.digest, "settings": self.settings}

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Return [N, D] vectors of texts; NaN for a blank one."""
        from rejoinder.llm.loading import usable

        encoded = np.full((len(texts), self.width), np.nan)
        if places := [place for place, text in enumerate(texts) if text.strip()]:
            written = [texts[place] for place in places]
            with usable(f"{SENTENCE}:{self.name}"):
                encoded[places] = self.model.encode(written, batch_size=_TOGETHER, show_progress_bar=False)
        return encoded

    def encode_contexts(self, contexts: Sequence[tuple[str, ...]]) -> FloatArray:
        """Return [N, D] vectors of contexts; NaN for a blank one."""
        return self.encode([self._joined(context) for context in contexts])

    def truncated(self, texts: Sequence[str]) -> list[int]:
        """Return the positions of texts whose end is not read."""
        return [place for place, text in enumerate(texts) if self._is_long(text)]

    def truncated_contexts(self, contexts: Sequence[tuple[str, ...]]) -> list[int]:
        """Return the positions of contexts whose last three turns are not read to their end."""
        return self.truncated([" ".join(_last(context)) for context in contexts])

    def _joined(self, context: Sequence[str]) -> str:
        """Return the last turns of a context as one text, as many as are read to their end, and at least one."""
        turns = _last(context)
        while len(turns) > 1 and self._is_long(" ".join(turns)):
            turns = turns[1:]
        return " ".join(turns)

    def _is_long(self, text: str) -> bool:
        """Whether the model does not read a text to its end."""
        limit = self.model.max_seq_length
        return limit is not None and len(self.model.tokenizer(text, verbose=False)["input_ids"]) > limit


def sentence_encoder(name: str, *, bare: bool = False) -> SentenceEncoder:
    """Return the encoder of a model that is on this machine; nothing is downloaded.

    Args:
        name: a folder, or the name of a model that is in the cache of the library.
        bare: whether the name may be no path.

    Raises:
        MissingExtra: sentence-transformers is not installed.
        MissingAsset: there is no such model on this machine.
        UnusableModel: it is refused, damaged or unknown to the library.
    """
    from rejoinder.llm.loading import find_model, load_sentence_model, usable
    from rejoinder.llm.model_folders import settings_digest

    if find_spec("sentence_transformers") is None:
        raise MissingExtra("sentence-transformers", "encoders", f"The encoder {SENTENCE}:{name}")
    title = f"{SENTENCE}:{name}"
    cache_folder = os.environ.get("SENTENCE_TRANSFORMERS_HOME")
    place = find_model(name, title, owner="sentence-transformers", cache_folder=cache_folder, bare=bare)
    model = load_sentence_model(place, title)
    with usable(title):
        encoder = SentenceEncoder(name, model, settings_digest(place, title, _SETTINGS, _MODULE))
        if not np.isfinite(encoder.encode(["hello there"])).all():
            raise ValueError("its vectors hold NaN or infinity")
    return encoder


def sentence_of(parts: Parts) -> SentenceEncoder:
    """Return the sentence encoder that a judge's folder names.

    Raises:
        MissingExtra, MissingAsset, UnusableModel: see `sentence_encoder`.
        DataError: no name is there, or another model has that name now.
    """
    from rejoinder.llm.loading import load_named_model

    encoder: SentenceEncoder = load_named_model(parts.config, SENTENCE, partial(sentence_encoder, bare=True))
    # Folders of older versions hold no digest of the settings, and are known by their weights alone.
    if parts.config.get("settings", encoder.settings) != encoder.settings:
        problem = f"{SENTENCE}:{encoder.name} has its weights, but cuts, pools, normalises or prompts texts otherwise"
        raise DataError(problem, "Put the model back that it was trained with, or train it again", field="model")
    return encoder


def _last(context: Sequence[str]) -> list[str]:
    """Return the last three turns that are not blank."""
    return [turn for turn in context if turn.strip()][-TURNS:]
