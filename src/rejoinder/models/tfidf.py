"""TF-IDF: texts to sparse vectors whose products are cosines.

Shapes: V words, n texts, P pairs, U different responses.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rejoinder.data.folders import AGAIN, Parts
from rejoinder.errors import DataError
from rejoinder.models.reply_bank import Pool
from rejoinder.models.weights import tensor, words_of
from rejoinder.responder import Context
from rejoinder.scorer import FloatArray
from rejoinder.text.tokenizers import tokenizer

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

TOKENIZER = "words-2"
_WORDS = "words.json"


@dataclass(frozen=True)
class Tfidf:
    """The words that are known and what each weighs.

    Attributes:
        words: V words.
        idf: [V] their weights.
    """

    words: Sequence[str]
    idf: FloatArray

    @property
    def parts(self) -> Parts:
        """All that `from_parts` needs to make it again."""
        return Parts({}, {"idf": self.idf}, {_WORDS: json.dumps(self.words, ensure_ascii=False) + "\n"})

    @cached_property
    def _counter(self) -> Any:
        return _counter(vocabulary={word: place for place, word in enumerate(self.words)})

    def vectors(self, texts: Sequence[str]) -> csr_matrix:
        """[n, V] vectors of length 1, of length 0 where no word of a text is known."""
        return self._weighed(self._counter.transform(texts))

    def _weighed(self, counts: csr_matrix) -> csr_matrix:
        """The vectors of texts from [n, V], how often each word stands in them."""
        from scipy.sparse import csr_matrix
        from sklearn.preprocessing import normalize

        vectors = csr_matrix(counts.multiply(self.idf), dtype=np.float32)
        vectors.eliminate_zeros()
        return normalize(vectors, copy=False)


def fitted(pool: Pool, contexts: Sequence[Context], *, smooth: bool) -> tuple[Tfidf, csr_matrix, csr_matrix]:
    """The weights of words in a pool, and the vectors of its contexts [P, V] and its responses [U, V].

    A word weighs log(P / df), where df counts the pairs that have it in context or response. The paper takes logarithms
    over dialogues, in which it counts contexts alone, but a word that only responses have would have no weight then;
    the released program too fits on both.

    Args:
        pool: the responses.
        contexts: of each pair of the pool.
        smooth: takes log((1 + P) / (1 + df)) + 1, as scikit-learn does.

    Source: Liu et al. 2016, section 4.1.
    """
    counter = _counter()
    counts = counter.fit_transform([*map(joined, contexts), *pool.texts])
    of_contexts, of_responses = counts[: pool.pairs], counts[pool.pairs :]
    sides = of_contexts + of_responses[np.repeat(np.arange(len(pool.texts)), np.diff(pool.starts))]
    frequencies = sides.getnnz(axis=0)
    idf = np.log((1 + pool.pairs) / (1 + frequencies)) + 1 if smooth else np.log(pool.pairs / frequencies)
    weights = Tfidf(counter.get_feature_names_out().tolist(), idf)
    return weights, weights._weighed(of_contexts), weights._weighed(of_responses)


def from_parts(parts: Parts) -> Tfidf:
    """The weights among the parts of a responder.

    Raises:
        DataError: they are damaged.
    """
    words = words_of(parts.files, _WORDS)
    if len(set(words)) < len(words):
        raise DataError(f"{_WORDS} holds a word twice", AGAIN)
    return Tfidf(words, tensor(parts.tensors, "idf", (len(words),)))


def joined(context: Context) -> str:
    """A context as one text, as TF-IDF reads it."""
    return "\n".join(context)


def _counter(**options: Any) -> Any:
    """What counts words as scikit-learn does."""
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer(analyzer=tokenizer(TOKENIZER), **options)
