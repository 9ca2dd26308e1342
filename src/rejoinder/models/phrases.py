"""Phrases of a corpus: how rare each word is, which whole replies are usual, how likely a word is after two others.

Counted, not trained (`pretraining/statistics.py`). Texts are read in `match_form`. Usual replies are stored as hashes.
Shapes: V tokens, W words, R usual replies, T tokens of several texts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rejoinder.data.folders import AGAIN, Parts, value_in
from rejoinder.errors import DataError
from rejoinder.models.weights import Count, tensor, words_of

KIND = "phrases"
END, UNKNOWN, FIRST = 0, 1, 2  # the tokens that are no words, and the first that is one
_WORDS = "words.json"
_MOST_WORDS = 2**16 - 3  # two other tokens and the start symbol fit 16 bits with them

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Level:
    """The n-grams of one length, as numbers to the base V + 1, ascending.

    A history that is missing leaves everything to the level below.

    Attributes:
        grams: those seen; the last digit is the token that is predicted.
        shares: the discounted share of each in its history.
        histories: those seen.
        weights: what discounting left to the level below, for each history.
    """

    grams: Ints
    shares: Floats
    histories: Ints
    weights: Floats

    @classmethod
    def of_shares(cls, grams: Ints, shares: Floats, base: int) -> Level:
        """Return the level whose histories leave to the level below what their n-grams do not take."""
        histories, first = np.unique(grams // base, return_index=True)
        taken = np.add.reduceat(shares, first) if len(grams) else shares
        return cls(grams, shares, histories, np.maximum(1.0 - taken, 0.0))


@dataclass(frozen=True, slots=True)
class NgramModel:
    """Probabilities of tokens after the tokens before them, interpolated over the lengths of n-grams.

    Attributes:
        vocabulary_size: V; tokens are 0 to V - 1, and V stands before the first token of each text.
        levels: one for each length of n-gram, from 1.
    """

    vocabulary_size: int
    levels: tuple[Level, ...]

    def probabilities(self, texts: Sequence[Sequence[int]]) -> Floats:
        """Return [levels, T]: for all tokens of all texts, alone, after the one before it, after the two before it."""
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        tokens = np.fromiter(chain.from_iterable(texts), np.int64, int(lengths.sum()))
        padded, places = pad(tokens, lengths, len(self.levels), self.vocabulary_size)
        base = self.vocabulary_size + 1
        found = np.empty((len(self.levels), len(places)))
        below: Floats | float = 1.0 / self.vocabulary_size
        for row, (length, level) in zip(found, enumerate(self.levels, start=1), strict=True):
            grams = ngrams(padded, places, length, base)
            row[:] = _values(level.histories, level.weights, grams // base, absent=1.0)
            row *= below
            row += _values(level.grams, level.shares, grams, absent=0.0)
            below = row
        return found


def pad(tokens: Ints, lengths: Ints, order: int, start: int) -> tuple[Ints, Ints]:
    """Return texts one after the other with `order` - 1 start symbols before each, and the places [T] of their tokens.

    Args:
        tokens: [T] the tokens of all texts.
        lengths: tokens of each text.
        order: the longest n-gram.
        start: the start symbol.
    """
    before = (order - 1) * np.repeat(np.arange(1, len(lengths) + 1), lengths)
    places = np.arange(len(tokens)) + before
    padded = np.full(len(tokens) + (order - 1) * len(lengths), start)
    padded[places] = tokens
    return padded, places


def ngrams(padded: Ints, places: Ints, length: int, base: int) -> Ints:
    """Return the n-gram of `length` that ends at each place, as a number to the base `base`."""
    grams = padded.take(places - (length - 1))
    for back in range(length - 2, -1, -1):
        grams *= base
        grams += padded.take(places - back)
    return grams


def _values(keys: Ints, values: Floats, wanted: Ints, *, absent: float) -> Floats:
    """Return the value of each key in `wanted`, or `absent`."""
    if not len(keys):  # texts of one token have no trigram
        return np.full(len(wanted), absent)
    place = keys.searchsorted(wanted)
    np.minimum(place, len(keys) - 1, out=place)
    found = values.take(place)
    found[keys.take(place) != wanted] = absent
    return found


@dataclass(frozen=True)
class Phrases:
    """What was counted in a corpus.

    Attributes:
        words: W words, the most frequent first.
        idf: [W] how rare each is: the logarithm of turns over turns that have it (and one).
        turns: how many turns there were.
        replies: [R] hashes of usual replies (`reply_hash`), ascending.
        counts: [R] how often each of them occurred.
        model: the trigram model over the tokens of `tokens`.
    """

    words: Sequence[str]
    idf: NDArray[np.float32]
    turns: int
    replies: NDArray[np.uint64]
    counts: NDArray[np.uint32]
    model: NgramModel

    @cached_property
    def rarity(self) -> Mapping[str, float]:
        """The idf of each word."""
        return dict(zip(self.words, self.idf.tolist(), strict=True))

    @cached_property
    def rarest(self) -> float:
        """The idf of a word that is not known."""
        return float(np.log(np.float64(max(self.turns, 1))))

    def tokens(self, words: Sequence[str]) -> list[int]:
        """Return the tokens of a text's words, with the one that ends it."""
        known = self._known
        return [*(known.get(word, UNKNOWN) for word in words), END]

    def reply_count(self, words: Sequence[str]) -> int:
        """Return how often a whole turn of these words occurred; 0 where that was not usual."""
        return self._reply_counts.get(reply_hash(words), 0)

    @cached_property
    def parts(self) -> Parts:
        """All that `from_parts` needs to make it again."""
        words = json.dumps(list(self.words), ensure_ascii=False) + "\n"
        tensors: dict[str, NDArray[Any]] = {"idf": self.idf, "replies": self.replies, "often": self.counts}
        tensors |= _packed(self.model)
        return Parts({"kind": KIND, "turns": self.turns}, tensors, {_WORDS: words})

    @cached_property
    def _known(self) -> Mapping[str, int]:
        return {word: token for token, word in enumerate(self.words, start=FIRST)}

    @cached_property
    def _reply_counts(self) -> Mapping[int, int]:
        return dict(zip(self.replies.tolist(), self.counts.tolist(), strict=True))


def reply_hash(words: Sequence[str]) -> int:
    """Return the 64 bits that stand for a whole reply."""
    return int.from_bytes(blake2b(" ".join(words).encode("utf-8", "surrogatepass"), digest_size=8).digest())


def from_parts(parts: Parts) -> Phrases:
    """Return the phrases whose `parts` these are.

    Raises:
        DataError: they are damaged.
    """
    words, tensors = words_of(parts.files, _WORDS), parts.tensors
    if len(words) > _MOST_WORDS or len(set(words)) < len(words):
        raise DataError(f"{_WORDS} holds a word twice, or more than {_MOST_WORDS:,}", AGAIN)
    idf = tensor(tensors, "idf", (len(words),)).astype(np.float32)
    replies = _whole(tensors, "replies", np.uint64)
    counts = _whole(tensors, "often", np.uint32, len(replies))
    model = _unpacked(tensors, FIRST + len(words))
    return Phrases(words, idf, value_in(parts.config, "turns", Count), replies, counts, model)


def _packed(model: NgramModel) -> dict[str, NDArray[Any]]:
    """Return the levels of a trigram model, 4 bytes an n-gram and 2 a history.

    An n-gram is stored as its last token, and each history by how many n-grams it has: of bigrams each token and the
    start symbol, of trigrams each bigram that is there. Shares are logarithms to the base 2.
    """
    one, two, three = model.levels
    base = model.vocabulary_size + 1
    tensors: dict[str, NDArray[Any]] = {"unigrams": np.log2(one.shares).astype(np.float32)}
    for name, level, histories in (("bigram", two, np.arange(base)), ("trigram", three, two.grams)):
        places = np.searchsorted(histories, level.grams // base)
        tensors[f"{name}s_after"] = np.bincount(places, minlength=len(histories)).astype(np.uint16)
        tensors[f"{name}s"] = (level.grams % base).astype(np.uint16)
        tensors[f"{name}_shares"] = np.log2(level.shares).astype(np.float16)
    return tensors


def _unpacked(tensors: Mapping[str, NDArray[Any]], tokens: int) -> NgramModel:
    """Return the trigram model that `_packed` packed."""
    base = tokens + 1
    shares = np.exp2(tensor(tensors, "unigrams", (tokens,)).astype(np.float64))
    levels = [Level.of_shares(np.arange(tokens), shares, base)]
    histories: Ints = np.arange(base)
    for name in ("bigram", "trigram"):
        after = _whole(tensors, f"{name}s_after", np.uint16, len(histories))
        last = _whole(tensors, f"{name}s", np.uint16, int(after.sum(dtype=np.int64)))
        logs = tensors.get(f"{name}_shares")
        if logs is None or logs.dtype != np.float16 or logs.shape != last.shape or (last >= tokens).any():
            raise DataError(f"the tensors of its {name}s do not fit each other", AGAIN)
        grams = np.repeat(histories, after) * base + last
        if (np.diff(grams) <= 0).any():
            raise DataError(f"the tensor {name}s is not in order", AGAIN)
        levels.append(Level.of_shares(grams, np.exp2(logs.astype(np.float64)), base))
        histories = grams
    return NgramModel(tokens, tuple(levels))


def _whole(tensors: Mapping[str, NDArray[Any]], name: str, kind: type[Any], length: int | None = None) -> NDArray[Any]:
    """Return the whole numbers called `name`. Raises `DataError`."""
    values = tensors.get(name)
    if values is None or values.dtype != kind or values.ndim != 1 or length not in (None, len(values)):
        expected = "" if length is None else f"{length:,} "
        raise DataError(f"no tensor {name} of {expected}whole numbers", AGAIN)
    return values
