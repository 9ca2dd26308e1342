"""An encoder that caches vectors gives those of the encoder, and none of a history that was cleared."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.data.folders import Parts
from rejoinder.models.encoders import CachedEncoder, PortableEncoder, clear_caches
from rejoinder.scorer import FloatArray


class Counting:
    """Encodes a text as its length and its vowels, NaN where it has none; and notes what it was asked."""

    width = 2
    options: Mapping[str, Any] = {"encoder": "counting"}
    parts = Parts({"kind": "counting"}, {})

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def encode(self, texts: Sequence[str]) -> FloatArray:
        self.asked += texts
        rows = [[len(text), sum(map(text.count, "aeiou"))] if text else [np.nan] * 2 for text in texts]
        return np.array(rows, np.float64)

    def encode_contexts(self, contexts: Sequence[tuple[str, ...]]) -> FloatArray:
        self.asked += contexts
        return self.encode(["/".join(context) for context in contexts])


@given(st.lists(st.lists(st.sampled_from(["", "a", "be", "sea", "bee", "Sea"]), max_size=6), max_size=8))
def test_vectors_are_those_of_the_other(batches: list[list[str]]) -> None:
    remembered: PortableEncoder = CachedEncoder(Counting(), most=3)
    for texts in batches:
        found = remembered.encode(texts)
        assert found.shape == (len(texts), 2)
        np.testing.assert_array_equal(found, Counting().encode(texts) if texts else found)
        found[:] = 7  # what the caller does with its own array is no matter of others
        contexts = [tuple(texts[:1]), tuple(texts)]
        np.testing.assert_array_equal(remembered.encode_contexts(contexts), Counting().encode_contexts(contexts))


def test_what_is_known_is_not_encoded_again() -> None:
    counting = Counting()
    remembered = CachedEncoder(counting)
    for _ in range(3):
        remembered.encode(["sea", "bee", "sea", ""])
    assert counting.asked == ["sea", "bee", ""]


def test_the_oldest_goes() -> None:
    counting = Counting()
    remembered = CachedEncoder(counting, most=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        remembered.encode([text])
    assert counting.asked == ["a", "b", "c", "b"]


def test_a_very_long_text_is_not_kept() -> None:
    counting = Counting()
    remembered = CachedEncoder(counting)
    long = "word " * 10_000
    for _ in range(2):
        np.testing.assert_array_equal(remembered.encode([long, "a"]), [[50_000, 10_000], [1, 1]])
    assert counting.asked == [long, "a", long]


def test_threads_may_share_one() -> None:
    remembered = CachedEncoder(Counting(), most=5)
    texts = [["a" * (start + step) for step in range(1, 9)] for start in range(40)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(remembered.encode, texts))
    for own, vectors in zip(texts, found, strict=True):
        np.testing.assert_array_equal(vectors[:, 0], [len(text) for text in own])


def test_another_process_can_be_given_one() -> None:
    remembered = CachedEncoder(Counting(), most=2)
    remembered.encode(["sea"])
    again = pickle.loads(pickle.dumps(remembered))
    assert again.most == 2 and again.options == remembered.options
    np.testing.assert_array_equal(again.encode(["sea"]), [[3, 2]])


def test_caches_can_be_cleared() -> None:
    counting = Counting()
    cached = CachedEncoder(counting)
    cached.encode(["sea"])
    clear_caches()
    cached.encode(["sea"])
    assert counting.asked == ["sea", "sea"]
