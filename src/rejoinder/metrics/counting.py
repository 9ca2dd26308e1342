"""Exact counts of the n-grams and subsequences that texts share, over a whole batch.

Tokens, words or characters, get numbers. An n-gram of a pair of texts is then a single number too, made of that of the
n-gram before its last token and that of the token. It is no hash, so equal numbers are equal n-grams, and counting is
sorting.

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
from rejoinder.text import tokenizer, unspaced_script

IntArray = NDArray[np.int64]
R = TypeVar("R")

NUMBER_BITS = 63  # of a signed number
PART_CHARACTERS = 1 << 15  # of texts that are counted at once: 3 MiB, which stay in the cache of a processor
CACHE_CHARACTERS = 8_000_000  # of texts whose results are kept: some 40 MiB
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

    def unspaced(self, split: Callable[[str], str] = str) -> dict[int, str]:
        """Return the scripts of examples whose sentences are not split into words, even by `split`, by position.

        An example with a blank response is none of them.
        """
        scripts = {}
        owners = np.append(np.arange(self.size), self.owners)
        for row in np.unique(owners[np.flatnonzero([not text.isascii() for text in self.texts])]).tolist():
            first, last = np.searchsorted(self.owners, (row, row + 1)) + self.size
            text = " ".join((self.texts[row], *self.texts[first:last]))
            if unspaced_script(text) and (script := unspaced_script(split(text))) and self.texts[row].strip():
                scripts[row] = script
        return scripts

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
        ids: [L] the tokens, text after text; equal tokens have equal numbers, from 0 on.
        lengths: [T] how many tokens each text has.
        kinds: how many different tokens there are, larger than every number.
    """

    ids: IntArray
    lengths: IntArray
    kinds: int

    def take(self, texts: IntArray) -> Tokens:
        """Return the tokens of some texts, by their positions; a text may be taken several times."""
        lengths = self.lengths[texts]
        shifts = (np.cumsum(self.lengths) - self.lengths)[texts] - (np.cumsum(lengths) - lengths)
        return Tokens(self.ids[np.arange(lengths.sum()) + np.repeat(shifts, lengths)], lengths, self.kinds)


def lengths_of(texts: Sequence[Sized]) -> IntArray:
    """Return [T] the lengths of texts."""
    return np.fromiter(map(len, texts), np.int64, len(texts))


def number_tokens(texts: Sequence[Sequence[Hashable]]) -> Tokens:
    """Return the tokens of T texts, each given as a sequence of tokens."""
    numbers: dict[Hashable, int] = {}
    ids = [numbers.setdefault(token, len(numbers)) for token in chain.from_iterable(texts)]
    return Tokens(np.array(ids, np.int64), lengths_of(texts), len(numbers))


def number_characters(texts: Sequence[str]) -> Tokens:
    """Return the characters of T texts as tokens, without white space."""
    ids, points = close_gaps(np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32))
    kept = np.array([not chr(point).isspace() for point in points.tolist()], np.bool_)[ids]
    ends = np.append(0, np.cumsum(kept))[np.cumsum(lengths_of(texts))]
    return Tokens(ids[kept], np.diff(ends, prepend=0), len(points))


def close_gaps(numbers: NDArray[Any]) -> tuple[IntArray, IntArray]:
    """Return numbers from 0 on in place of others, in the same order, and the others in that order, without repeats."""
    used = np.zeros(int(numbers.max(initial=0)) + 1, np.bool_)
    used[numbers] = True
    distinct = np.flatnonzero(used)
    places = np.empty(len(used), np.int64)
    places[distinct] = np.arange(len(distinct))
    return places[numbers], distinct


def ngram_totals(lengths: IntArray, longest: int) -> IntArray:
    """Return [T, K] the numbers of n-grams of each size in texts of these lengths [T]."""
    totals: IntArray = np.maximum(lengths[:, None] - np.arange(longest), 0)
    return totals


def shared_ngrams(tokens: Tokens, owners: IntArray, longest: int, *, together: bool = False) -> IntArray:
    """Count the n-grams that responses and references share; a repeated one counts as often as both have it.

    An n-gram can only be shared if the one before its last token is, so each size needs only the places where the size
    before was shared.

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
    if not (single := np.array_equal(owners, np.arange(n))):
        tokens = tokens.take(np.concatenate((owners, np.arange(n, n + pairs))))
    # A mark ends each text, one for responses and one for references, so no n-gram across two texts is shared.
    ends = np.cumsum(tokens.lengths + 1) - 1
    text = np.repeat(np.arange(2 * pairs), tokens.lengths + 1)
    second = text >= pairs
    pair = text - pairs * second
    ids = tokens.kinds + second
    inside = np.ones(len(ids), np.bool_)
    inside[ends] = False
    ids[inside] = tokens.ids
    bits = (tokens.kinds + 1).bit_length()
    counts = np.zeros((n if together else pairs, longest), np.int64)
    places, prefix = np.arange(len(ids)), pair
    for size in range(longest):
        places, starts, flips, stops = _runs(prefix << bits | ids[places + size], second[places], places)
        numbers, rows = np.minimum(flips - starts, stops - flips), pair[places[starts]]
        if together and not single:
            first = places[starts] - (ends - tokens.lengths)[rows]  # in the response, the same for each reference
            rows, numbers = _largest(owners[rows] * len(ids) + first, numbers)
            rows //= len(ids)
        counts[:, size] = np.bincount(rows, numbers, len(counts))
        lengths = stops - starts
        if not len(lengths):
            break
        shift = np.repeat(starts - np.cumsum(lengths) + lengths, lengths)
        places, prefix = places[np.arange(len(shift)) + shift], np.repeat(np.arange(len(lengths)), lengths)
    return counts


def _runs(
    codes: IntArray, second: NDArray[np.bool_], places: IntArray
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Sort places by code, side and place, and find the runs of equal codes that have both sides.

    Returns:
        The sorted places; where the runs start, where their second side starts, and where they stop.
    """
    codes = codes << 1 | second
    bits = int(places.max(initial=0)).bit_length()
    if int(codes.max(initial=0)).bit_length() + bits <= NUMBER_BITS:
        codes = codes << bits | places
        codes.sort()
        places, codes = codes & ((1 << bits) - 1), codes >> bits
    else:
        order = np.lexsort((places, codes))
        places, codes = places[order], codes[order]
    changes = codes[1:] ^ codes[:-1]  # 0 for equal ones, 1 where only the side changes
    flips = np.flatnonzero(changes == 1) + 1
    borders = np.concatenate(([0], np.flatnonzero(changes > 1) + 1, [len(codes)]))
    run = np.searchsorted(borders, flips)
    return places, borders[run - 1], flips, borders[run]


def _largest(codes: IntArray, numbers: IntArray) -> tuple[IntArray, IntArray]:
    """Return the different `codes` and the largest number of each."""
    order = np.lexsort((-numbers, codes))
    first = order[np.flatnonzero(np.diff(codes[order], prepend=-1))]
    return codes[first], numbers[first]


def shared_subsequences(responses: Sequence[Sequence[Hashable]], references: Sequence[Sequence[Hashable]]) -> IntArray:
    """Return [P] the lengths of the longest common subsequences of P pairs of texts, given as tokens."""
    from rapidfuzz.distance.LCSseq import similarity

    return np.fromiter(map(similarity, responses, references), np.int64, len(responses))


def best_of(values: NDArray[Any], owners: IntArray) -> IntArray:
    """Return [N] the position of the reference with the largest of `values` [M], of equal ones the first."""
    return np.lexsort((-values, owners))[np.flatnonzero(np.diff(owners, prepend=-1))]


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
            result = function(batch, *options)
            size = sum(len(text) + TEXT_OVERHEAD for text in set(batch.texts))  # lines may share references
            if size > room:
                results.clear()
                room = CACHE_CHARACTERS
            if size <= room:
                results[key] = result
                room -= size
        return result

    return remembered


def clear_caches() -> None:
    """Drop all results that are kept."""
    for results in _caches:
        results.clear()


@keep_results
def split_texts(batch: TextBatch, tokens: str) -> list[list[str]]:
    """Return the tokens of the texts of a batch by the tokenizer called `tokens`."""
    split = tokenizer(tokens)
    words = {text: split(text) for text in set(batch.texts)}
    return [words[text] for text in batch.texts]
