"""Exact counts of the n-grams and subsequences that texts share, over a whole batch.

Tokens, words or characters, get numbers. An n-gram of a pair of texts is then a single number too, made of the number
of the pair and those of its tokens. It is no hash, so equal numbers are equal n-grams, and counting is sorting.

Shapes: N responses, M references, T = N + M texts, L tokens of all texts, K sizes of n-grams (1 to K).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence, Sized
from functools import wraps
from itertools import chain, pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from rejoinder.example import Example
from rejoinder.text import tokenizer

IntArray = NDArray[np.int64]
R = TypeVar("R")

NUMBER_BITS = 63  # of a signed number
PART_CHARACTERS = 1 << 18  # of texts that are counted at once: some 30 MiB, whatever the length of a file
CACHE_CHARACTERS = 4_000_000  # of texts whose results are kept: some 20 MiB
TEXT_OVERHEAD = 200  # characters that a text counts in addition, for the room its results take


class TextBatch(NamedTuple):
    """The texts of N examples.

    Attributes:
        texts: N responses, after them M references in the order of the examples.
        owners: [M] the position of the response that each reference belongs to, ascending.
    """

    texts: tuple[str, ...]
    owners: IntArray

    @classmethod
    def of(cls, examples: Sequence[Example]) -> TextBatch:
        """Return responses and references; blank references are left out, but an example keeps one, an empty text."""
        references: list[Sequence[str]] = [example.references for example in examples]
        if not all(references) or not all(map(str.strip, chain.from_iterable(references))):
            references = [[text for text in texts if text.strip()] or [""] for texts in references]
        responses = [example.response for example in examples]
        owners = np.repeat(np.arange(len(examples)), lengths_of(references))
        return cls((*responses, *chain.from_iterable(references)), owners)

    @property
    def size(self) -> int:
        """N, the number of responses."""
        return len(self.texts) - len(self.owners)

    def parts(self) -> Iterator[TextBatch]:
        """Yield the batch in parts of about `PART_CHARACTERS`, at least one example each."""
        n, lengths = self.size, lengths_of(self.texts)
        ends = np.cumsum(lengths[:n] + np.bincount(self.owners, lengths[n:], n).astype(np.int64))
        for start, end in pairwise([0, *(np.flatnonzero(np.diff(ends // PART_CHARACTERS)) + 1).tolist(), n]):
            first, last = np.searchsorted(self.owners, (start, end)).tolist()
            texts = self.texts[start:end] + self.texts[n + first : n + last]
            yield TextBatch(texts, self.owners[first:last] - start)


class Tokens(NamedTuple):
    """The tokens of T texts as numbers.

    Attributes:
        ids: [L] the tokens, text after text; equal tokens have equal numbers.
        lengths: [T] how many tokens each text has.
        bits: how many bits the largest number takes.
    """

    ids: IntArray
    lengths: IntArray
    bits: int

    def take(self, texts: IntArray) -> Tokens:
        """Return the tokens of some texts, by their positions; a text may be taken several times."""
        lengths = self.lengths[texts]
        shifts = (np.cumsum(self.lengths) - self.lengths)[texts] - (np.cumsum(lengths) - lengths)
        return Tokens(self.ids[np.arange(lengths.sum()) + np.repeat(shifts, lengths)], lengths, self.bits)


def lengths_of(texts: Sequence[Sized]) -> IntArray:
    """Return [T] the lengths of texts."""
    return np.fromiter(map(len, texts), np.int64, len(texts))


def number_tokens(texts: Sequence[Sequence[Hashable]]) -> Tokens:
    """Return the tokens of T texts, each given as a sequence of tokens."""
    numbers: dict[Hashable, int] = {}
    ids = [numbers.setdefault(token, len(numbers)) for token in chain.from_iterable(texts)]
    return Tokens(np.array(ids, np.int64), lengths_of(texts), len(numbers).bit_length())


def number_characters(texts: Sequence[str]) -> Tokens:
    """Return the characters of T texts as their tokens."""
    joined = "".join(texts)
    if joined.isascii():
        return Tokens(np.frombuffer(joined.encode("ascii"), np.uint8).astype(np.int64), lengths_of(texts), 7)
    ids, bits = close_gaps(np.frombuffer(joined.encode("utf-32-le"), np.uint32))
    return Tokens(ids, lengths_of(texts), bits)


def close_gaps(ids: NDArray[Any]) -> tuple[IntArray, int]:
    """Return numbers as 0, 1 ... without gaps, in the same order, and the bits that these take."""
    places = np.zeros(int(ids.max(initial=0)) + 1, np.int64)
    places[ids] = 1
    np.cumsum(places, out=places)
    return (places - 1)[ids], int(places[-1]).bit_length()


def ngram_totals(lengths: IntArray, longest: int) -> IntArray:
    """Return [T, K] the numbers of n-grams of each size in texts of these lengths [T]."""
    totals: IntArray = np.maximum(lengths[:, None] - np.arange(longest), 0)
    return totals


def shared_ngrams(tokens: Tokens, owners: IntArray, longest: int, *, together: bool = False) -> IntArray:
    """Count the n-grams that responses and references share; a repeated one counts as often as both have it.

    Args:
        tokens: the tokens of N responses, and after them of M references.
        owners: [M] the position of the response that each reference belongs to, ascending.
        longest: K, the size of the longest n-grams.
        together: count against all references of a response at once; each n-gram then counts as often as in the
            reference that shares most of it.

    Returns:
        [M, K] counts for each reference; with `together` [N, K] for each response.
    """
    pairs, n = len(owners), len(tokens.lengths) - len(owners)
    single = np.array_equal(owners, np.arange(n))
    if not single:
        tokens = tokens.take(np.concatenate((owners, np.arange(n, n + pairs))))
    ids, lengths, bits = tokens
    text = np.repeat(np.arange(2 * pairs), lengths)
    side = text >= pairs
    pair = text - pairs * side
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(ids))  # tokens from here to the end of the text
    counts = np.zeros((n if together else pairs, longest), np.int64)
    grams, width, pair_bits = ids, bits, pairs.bit_length()
    for size in range(1, min(longest, int(lengths.max(initial=0))) + 1):
        if size > 1:
            if width + bits + pair_bits + 1 > NUMBER_BITS:
                distinct, grams = np.unique(grams, return_inverse=True)
                width = len(distinct).bit_length()
            grams, width = grams[:-1] << bits | ids[size - 1 :], width + bits
        whole = np.flatnonzero(left[: len(grams)] >= size)
        codes, shared = _shared((pair[whole] << width | grams[whole]) << 1 | side[whole], width + pair_bits + 1)
        rows = codes >> width
        if together and not single:
            rows, shared = _most(owners[rows] << width | codes & ((1 << width) - 1), shared)
            rows >>= width
        counts[:, size - 1] = np.bincount(rows, shared, len(counts))
    return counts


def _shared(keys: IntArray, bits: int) -> tuple[IntArray, IntArray]:
    """Return the different ones of `keys` without their last bit, the side, and how often both sides have each."""
    if bits <= 32:
        keys = keys.astype(np.uint32)  # sorts in half the time
    keys.sort()
    codes = keys >> 1
    starts = _starts(codes)
    seconds = np.add.reduceat(keys & 1, starts, dtype=np.int64)
    return codes[starts].astype(np.int64), np.minimum(seconds, np.diff(starts, append=len(keys)) - seconds)


def _most(codes: IntArray, numbers: IntArray) -> tuple[IntArray, IntArray]:
    """Return the different `codes` and the largest number of each."""
    order = np.argsort(codes, kind="stable")
    starts = _starts(codes[order])
    return codes[order][starts], np.maximum.reduceat(numbers[order], starts)


def _starts(codes: NDArray[Any]) -> IntArray:
    """Return where each run of equal codes starts."""
    return np.flatnonzero(np.concatenate(([True], codes[1:] != codes[:-1])))


def shared_subsequences(responses: Sequence[Sequence[Hashable]], references: Sequence[Sequence[Hashable]]) -> IntArray:
    """Return [P] the lengths of the longest common subsequences of P pairs of texts, given as tokens."""
    from rapidfuzz.distance.LCSseq import similarity

    return np.fromiter(map(similarity, responses, references), np.int64, len(responses))


def best_of(values: NDArray[Any], owners: IntArray) -> IntArray:
    """Return [N] the position of the reference with the largest of `values` [M], of equal ones the first."""
    return np.lexsort((-values, owners))[_starts(owners)]


_caches: list[dict[Hashable, Any]] = []


def keep_results(function: Callable[..., R]) -> Callable[..., R]:
    """Keep the results of a function of a `TextBatch` and options, so that the metrics of a run share them.

    What is kept is bounded by characters, since texts differ a thousandfold in length; when it is full, all is dropped.
    """
    results: dict[Hashable, R] = {}
    _caches.append(results)
    room = CACHE_CHARACTERS

    @wraps(function)
    def remembered(batch: TextBatch, *options: Hashable) -> R:
        nonlocal room
        key = (batch.texts, batch.owners.tobytes(), options)
        if (result := results.get(key)) is None:
            if room < 0:
                results.clear()
                room = CACHE_CHARACTERS
            room -= sum(map(len, batch.texts)) + TEXT_OVERHEAD * len(batch.texts)
            result = results[key] = function(batch, *options)
        return result

    return remembered


def clear_caches() -> None:
    """Drop all results that are kept."""
    for results in _caches:
        results.clear()


@keep_results
def split_texts(batch: TextBatch, tokens: str) -> list[list[str]]:
    """Return the tokens of the texts of a batch by the tokenizer called `tokens`."""
    return list(map(tokenizer(tokens), batch.texts))
