"""Retrieval without a network: a response at random, or by TF-IDF.

Source: Liu et al. 2016, section 4.1.
Shapes: P pairs, U different responses, V words, N requests, K candidates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rejoinder.data.folders import AGAIN, Parts
from rejoinder.errors import DataError
from rejoinder.models import reply_bank as pools
from rejoinder.models import tfidf
from rejoinder.models.decoding import Decoding
from rejoinder.models.reply_bank import EMPTY, UNKNOWN, Pool, Retriever, best
from rejoinder.models.tfidf import Tfidf, joined
from rejoinder.models.weights import Tensors, tensor
from rejoinder.responder import Answer, Request
from rejoinder.scorer import FloatArray

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix, csr_matrix

RANDOM, BY_CONTEXT, BY_RESPONSE = "random", "c-tfidf", "r-tfidf"
NO_WORD_SHARED = "no candidate shares a word with the context"
NEIGHBOURS = 100
"""Pairs of the most similar contexts whose responses `rank` compares candidates with."""


@dataclass(frozen=True)
class RandomResponder:
    """Answers with responses drawn from the pool, each as likely as it has pairs.

    Attributes:
        pool: the candidates.
        options: digest of the model.
        name: `random`.
    """

    pool: Pool
    options: Mapping[str, Any] = field(default_factory=dict)
    name: str = RANDOM

    def respond_batch(self, requests: Sequence[Request], count: int) -> list[Answer]:
        """Answers to requests; their seeds decide them."""
        return [self._answer(request, count) for request in requests]

    def _answer(self, request: Request, count: int) -> Answer:
        """The answer to one request."""
        pairs = np.random.default_rng(request.seed).permutation(self.pool.pairs)
        if group := self.pool.group(request.withheld):
            pairs = pairs[pairs != group.start]  # pairs of one response are alike, any of them may go
        drawn = dict.fromkeys(np.searchsorted(self.pool.starts, pairs, side="right") - 1)
        places = list(islice(drawn, count))
        return self.pool.answer(places, [None] * len(places))

    def rank(self, requests: Sequence[Request], candidates: Sequence[Sequence[str]]) -> FloatArray:
        """See `Retriever`; scores from 0 to 1, which the seeds of the requests decide."""
        drawn = [
            np.random.default_rng(request.seed).random(len(texts))
            for request, texts in zip(requests, candidates, strict=True)
        ]
        return np.array(drawn)


@dataclass(frozen=True)
class TfidfResponder:
    """Answers with the response that is most similar to the context (R-TFIDF) or whose own context is (C-TFIDF).

    Only candidates that share a word with the context come back.

    Attributes:
        pool: the candidates.
        weights: what words weigh.
        index: [U, V] vectors of the responses, or [P, V] of the contexts of the pairs, by column.
        name: `r-tfidf` or `c-tfidf`.
        options: digest of the model.
    """

    pool: Pool
    weights: Tfidf
    index: csc_matrix
    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def respond_batch(self, requests: Sequence[Request], count: int) -> list[Answer]:
        """Answers to requests; the score of a reply is the cosine."""
        vectors = self.weights.vectors([joined(request.context) for request in requests])
        return [self._answer(request, vector, count) for request, vector in zip(requests, vectors, strict=True)]

    def rank(self, requests: Sequence[Request], candidates: Sequence[Sequence[str]]) -> FloatArray:
        """See `Retriever`. R-TFIDF: the cosine of candidate and context.

        C-TFIDF knows no score of a response that is not in its pool. So here a candidate gets the cosine with the
        response of a pair times the cosine of that pair's context with the context, of the pair where that is highest;
        one that is in the pool would get what it gets in an answer.
        """
        contexts = self.weights.vectors([joined(request.context) for request in requests])
        rows = [
            self._ranked(context, self.weights.vectors(texts))
            for context, texts in zip(contexts, candidates, strict=True)
        ]
        return np.array(rows)

    def _ranked(self, context: csr_matrix, candidates: csr_matrix) -> FloatArray:
        """[K] scores of candidates."""
        if self.name == BY_RESPONSE:
            cosines: FloatArray = (candidates @ context.T).toarray()[:, 0].astype(float)
            return cosines
        similar = self._similar(context)
        pairs = best(similar, NEIGHBOURS)
        places = np.searchsorted(self.pool.starts, pairs, side="right") - 1
        responses = self.weights.vectors([self.pool.texts[place] for place in places])
        products: FloatArray = (candidates @ responses.T).toarray() * similar[pairs]
        highest: FloatArray = products.max(axis=1)
        return highest

    def _similar(self, context: csr_matrix) -> NDArray[np.float32]:
        """[U or P] the cosine of a context [1, V] and each vector of the index."""
        cosines: NDArray[np.float32] = self.index[:, context.indices] @ context.data
        return cosines

    def _answer(self, request: Request, context: csr_matrix, count: int) -> Answer:
        """The answer to one request."""
        if not context.nnz:
            return Answer((), UNKNOWN if joined(request.context).strip() else EMPTY)
        scores = self._scores(context, request.withheld)
        places = best(scores, count)
        places = places[scores[places] > 0]
        return self.pool.answer(places, scores[places].tolist()) if len(places) else Answer((), NO_WORD_SHARED)

    def _scores(self, context: csr_matrix, withheld: str | None) -> NDArray[np.float32]:
        """[U] scores of the responses; -inf where none is left."""
        scores = self._similar(context)
        if self.name == BY_RESPONSE:
            if (place := self.pool.only_of(withheld)) is not None:
                scores[place] = -np.inf
            return scores
        if group := self.pool.group(withheld):
            # The pair that the withheld response belongs to is that with the most similar context.
            scores[group.start + scores[group].argmax()] = -np.inf
        highest: NDArray[np.float32] = np.maximum.reduceat(scores, self.pool.starts[:-1])
        return highest


def tfidf_parts(kind: str, sampled: pools.Sample, *, smooth: bool) -> Parts:
    """What `from_parts` needs of a TF-IDF model over a pool, the pool aside."""
    weights, contexts, responses = tfidf.fitted(sampled.pool, sampled.contexts, smooth=smooth)
    index = (contexts if kind == BY_CONTEXT else responses).tocsc()
    arrays = {"columns": index.indptr, "rows": index.indices, "values": index.data}
    return Parts({}, {**weights.parts.tensors, **arrays}, weights.parts.files)


def from_parts(parts: Parts, _decoding: Decoding) -> Retriever:
    """The responder whose parts these are; how words are chosen is nothing to it.

    Raises:
        DataError: the candidates are missing, or a part is damaged.
    """
    pool, options, kind = pools.from_parts(parts), {"weights": parts.digest}, parts.config["kind"]
    if kind == RANDOM:
        return RandomResponder(pool, options)
    weights = tfidf.from_parts(parts)
    height = pool.pairs if kind == BY_CONTEXT else len(pool.texts)
    return TfidfResponder(pool, weights, _index(parts.tensors, height, len(weights.words)), kind, options)


def _index(tensors: Tensors, height: int, words: int) -> csc_matrix:
    """[height, V] the vectors of what is compared; a place outside it would be read from whatever lies there in memory.

    Raises:
        DataError: they are no such matrix.
    """
    from scipy.sparse import csc_matrix

    values = tensor(tensors, "values", (None,))
    values = values.astype(np.promote_types(values.dtype, np.float32))  # sparse matrices know no half precision
    rows, columns = (tensors.get(name, np.empty(0)) for name in ("rows", "columns"))
    if not (
        rows.dtype.kind == columns.dtype.kind == "i"
        and rows.shape == values.shape
        and columns.shape == (words + 1,)
        and columns[0] == 0
        and (columns[1:] >= columns[:-1]).all()
        and columns[-1] == len(values)
        and rows.min() >= 0
        and rows.max() < height
    ):
        raise DataError("the tensors rows, columns and values are no matrix", AGAIN)
    return csc_matrix((values, rows, columns), (height, words))
