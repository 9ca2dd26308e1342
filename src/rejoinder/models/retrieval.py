"""Responders that choose a response of a corpus: at random, by TF-IDF, or by a trained Dual Encoder.

Source: Liu et al. 2016, section 4.1 (TF-IDF); Lowe et al. 2015, section 4.3 (Dual Encoder).
Shapes: P pairs, U different responses, V words, D units, N requests, K candidates, n texts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rejoinder.data.folders import AGAIN, Parts, value_in
from rejoinder.errors import DataError
from rejoinder.models import require_torch
from rejoinder.models.decoding import Decoding
from rejoinder.models.reply_bank import EMPTY, PART, UNKNOWN, ReplyBank, Sample, bank_of, top
from rejoinder.models.sizes import DualEncoderSizes
from rejoinder.models.vocabulary import UNK_ID, as_turn
from rejoinder.models.weights import Tensors, tensor, words_of
from rejoinder.responder import Answer, Context, Request
from rejoinder.scorer import FloatArray
from rejoinder.text.tokenizers import tokenizer

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix, csr_matrix
    from torch import Tensor

    from rejoinder.models.networks.dual_encoder import DualEncoder
    from rejoinder.models.networks.loading import TurnReader

RANDOM, BY_CONTEXT, BY_RESPONSE, DUAL_ENCODER = "random", "c-tfidf", "r-tfidf", "dual-encoder"
NO_WORD_SHARED = "no candidate shares a word with the context"
NEIGHBOURS = 100
"""Pairs of the most similar contexts whose responses `TfidfResponder.rank` compares candidates with."""
TOKENIZER = "words-2"
_WORDS, _VECTORS = "words.json", "vectors"
_CONTEXTS = 64  # whose products with all candidates are in memory together
_RESPONSES = 10_000  # that are encoded together


@dataclass(frozen=True)
class RandomResponder:
    """Answers with responses drawn from the bank, each in proportion to its pairs, as the seed of a request decides."""

    bank: ReplyBank
    options: Mapping[str, Any] = field(default_factory=dict)
    name: str = RANDOM

    def respond_batch(self, requests: Sequence[Request], count: int) -> list[Answer]:
        """See `Responder`."""
        return [self._answer(request, count) for request in requests]

    def _answer(self, request: Request, count: int) -> Answer:
        pairs = np.random.default_rng(request.seed).permutation(self.bank.pairs)
        if group := self.bank.group(request.withheld):
            pairs = pairs[pairs != group.start]  # the pairs of a response are alike, any of them may go
        places = list(islice(dict.fromkeys(self.bank.places(pairs)), count))
        return self.bank.answer(places, [None] * len(places))

    def rank(self, requests: Sequence[Request], candidates: Sequence[Sequence[str]]) -> FloatArray:
        """See `Retriever`; scores from 0 to 1."""
        pairs = zip(requests, candidates, strict=True)
        return np.array([np.random.default_rng(request.seed).random(len(texts)) for request, texts in pairs])


@dataclass(frozen=True)
class Tfidf:
    """Texts to sparse vectors whose products are cosines: V words and their weights [V]."""

    words: Sequence[str]
    idf: FloatArray

    @cached_property
    def _counter(self) -> Any:
        return _word_counter(vocabulary=self.words)

    def vectors(self, contexts: Sequence[Context]) -> csr_matrix:
        """Return [n, V] vectors of contexts, of length 1, or 0 without a known word."""
        return self.weighted(self._counter.transform(["\n".join(context) for context in contexts]))

    def weighted(self, counts: csr_matrix) -> csr_matrix:
        """Return the vectors of texts from the counts of their words [n, V]."""
        from scipy.sparse import csr_matrix
        from sklearn.preprocessing import normalize

        vectors = csr_matrix(counts.multiply(self.idf), dtype=np.float32)
        vectors.eliminate_zeros()
        return normalize(vectors, copy=False)


def _word_counter(**options: Any) -> Any:
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer(analyzer=tokenizer(TOKENIZER), **options)


@dataclass(frozen=True)
class TfidfResponder:
    """Answers with the response that is most similar to the context (R-TFIDF) or whose own context is (C-TFIDF).

    Only candidates that share a word with the context are answers. `index` has the vectors [U, V] of the responses, or
    [P, V] of the contexts of the pairs, by column; `name` is `r-tfidf` or `c-tfidf`.
    """

    bank: ReplyBank
    weights: Tfidf
    index: csc_matrix
    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def respond_batch(self, requests: Sequence[Request], count: int) -> list[Answer]:
        """Return answers to requests; the score of a reply is the cosine."""
        vectors = self.weights.vectors([request.context for request in requests])
        return [self._answer(request, vector, count) for request, vector in zip(requests, vectors, strict=True)]

    def rank(self, requests: Sequence[Request], candidates: Sequence[Sequence[str]]) -> FloatArray:
        """See `Retriever`. R-TFIDF: the cosine of candidate and context.

        C-TFIDF has no score for a response that is not in its bank. So here a candidate gets the cosine with the
        response of a pair times the cosine of the context of that pair with the context, of the pair where the product
        is highest; a candidate in the bank gets its score in an answer.
        """
        contexts = self.weights.vectors([request.context for request in requests])
        return np.array([self._ranked(*pair) for pair in zip(contexts, candidates, strict=True)], dtype=float)

    def _ranked(self, context: csr_matrix, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return [K] scores of candidates."""
        candidates = self.weights.vectors([(text,) for text in texts])  # [K, V]
        if self.name == BY_RESPONSE:
            cosines: NDArray[np.float32] = (candidates @ context.T).toarray()[:, 0]
            return cosines
        similar = self._similar(context)
        pairs = top(similar, NEIGHBOURS)
        responses = self.weights.vectors([(self.bank.texts[place],) for place in self.bank.places(pairs)])
        highest: NDArray[np.float32] = ((candidates @ responses.T).toarray() * similar[pairs]).max(axis=1)
        return highest

    def _similar(self, context: csr_matrix) -> NDArray[np.float32]:
        """Return [U or P] the cosine of a context [1, V] and each vector of the index."""
        cosines: NDArray[np.float32] = self.index[:, context.indices] @ context.data
        return cosines

    def _answer(self, request: Request, context: csr_matrix, count: int) -> Answer:
        if not context.nnz:
            return _no_answer(request)
        scores = self._scores(context, request.withheld)
        places = top(scores, count)
        places = places[scores[places] > 0]
        return self.bank.answer(places, scores[places].tolist()) if len(places) else Answer((), NO_WORD_SHARED)

    def _scores(self, context: csr_matrix, withheld: str | None) -> NDArray[np.float32]:
        """Return [U] scores of the responses; -inf for one that is withheld."""
        scores = self._similar(context)
        if self.name == BY_RESPONSE:
            if (place := self.bank.single_source(withheld)) is not None:
                scores[place] = -np.inf
            return scores
        if group := self.bank.group(withheld):
            # The pair that the withheld response belongs to is that with the most similar context.
            scores[group.start + scores[group].argmax()] = -np.inf
        highest: NDArray[np.float32] = np.maximum.reduceat(scores, self.bank.starts[:-1])
        return highest


def _no_answer(request: Request) -> Answer:
    return Answer((), UNKNOWN if "".join(request.context).strip() else EMPTY)


def fit_tfidf(bank: ReplyBank, contexts: Sequence[Context], *, smooth: bool) -> tuple[Tfidf, csr_matrix, csr_matrix]:
    """Return the weights of words in a bank, and the vectors of the contexts of its pairs [P, V] and responses [U, V].

    A word weighs log(P / df), where df counts the pairs that have it in context or response. The paper takes logarithms
    over dialogues, in which it counts contexts alone, but a word that only responses have would have no weight then;
    the released program too fits on both. With `smooth` it weighs log((1 + P) / (1 + df)) + 1, as in scikit-learn.

    Source: Liu et al. 2016, section 4.1.
    """
    counter = _word_counter()
    counts = counter.fit_transform([*map("\n".join, contexts), *bank.texts])  # [P + U, V]
    context_counts, response_counts = counts[: bank.pairs], counts[bank.pairs :]
    pairs = context_counts + response_counts[np.repeat(np.arange(len(bank.texts)), np.diff(bank.starts))]  # [P, V]
    frequencies = pairs.getnnz(axis=0)
    idf = np.log((1 + bank.pairs) / (1 + frequencies)) + 1 if smooth else np.log(bank.pairs / frequencies)
    weights = Tfidf(counter.get_feature_names_out().tolist(), idf)
    return weights, weights.weighted(context_counts), weights.weighted(response_counts)


def retrieval_parts(config: Mapping[str, Any], sampled: Sample, *, smooth: bool = False) -> Parts:
    """Return the parts of a retrieval model of the `kind` in its config over a bank, the bank included."""
    parts, kind = Parts(config, {}, {}), config["kind"]
    if kind != RANDOM:
        weights, contexts, responses = fit_tfidf(sampled.bank, sampled.contexts, smooth=smooth)
        index = (contexts if kind == BY_CONTEXT else responses).tocsc()
        tensors = {"idf": weights.idf, "columns": index.indptr, "rows": index.indices, "values": index.data}
        parts = replace(parts, tensors=tensors, files={_WORDS: json.dumps(weights.words, ensure_ascii=False) + "\n"})
    return parts.holding(PART, sampled.bank.parts)


def from_parts(parts: Parts, _: Decoding) -> RandomResponder | TfidfResponder | DualEncoderResponder:
    """Return the responder of these parts; it does not decode.

    Raises:
        DataError: the candidates are missing, or a part is damaged.
        MissingExtra: a dual encoder needs torch, which is not installed.
    """
    bank, options, kind = bank_of(parts), {"weights": parts.digest}, parts.config["kind"]
    if kind == RANDOM:
        return RandomResponder(bank, options)
    if kind == DUAL_ENCODER:
        towers = _towers(parts)
        vectors = tensor(parts.tensors, f"{PART}.{_VECTORS}", (len(bank.texts), towers.model.sizes.units))
        return DualEncoderResponder(towers, bank, vectors.astype(np.float32), options)
    words = words_of(parts.files, _WORDS)
    if len(set(words)) < len(words):
        raise DataError(f"{_WORDS} holds a word twice", AGAIN)
    weights = Tfidf(words, tensor(parts.tensors, "idf", (len(words),)))
    height = bank.pairs if kind == BY_CONTEXT else len(bank.texts)
    return TfidfResponder(bank, weights, _index(parts.tensors, height, len(words)), kind, options)


def _index(tensors: Tensors, height: int, words: int) -> csc_matrix:
    """Return the vectors [height, V] to compare with; `DataError` where places outside would be read from memory."""
    from scipy.sparse import csc_matrix

    values = tensor(tensors, "values", (None,))
    values = values.astype(np.promote_types(values.dtype, np.float32))  # sparse matrices have no half precision
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


@dataclass(frozen=True)
class Towers:
    """A trained Dual Encoder: contexts and responses to vectors whose product is the logit."""

    model: DualEncoder
    reader: TurnReader

    def contexts(self, contexts: Sequence[Context]) -> NDArray[np.float32]:
        """Return [N, D] vectors of contexts, the form applied; NaN for one without a known piece."""
        from rejoinder.models.networks.loading import as_dialogues, encode_in_batches

        def last(batch: list[list[list[int]]]) -> Tensor:
            # Behind the last turn of a dialogue stands the state after that turn.
            return self.model.projected(self.model.encode_prefixes(as_dialogues(batch))[:, -1])

        decode = self.reader.vocabulary.decode  # "" for unknown pieces, spaces and the end
        turns = [self.reader.numbers(context) for context in contexts]
        known = [
            context if any(decode([n for n in turn if n != UNK_ID]) for turn in context) else [] for context in turns
        ]
        width = self.model.sizes.units
        return encode_in_batches(known, width, lambda context: sum(map(len, context)), last).astype(np.float32)

    def responses(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return [n, D] vectors of responses; NaN for one without a piece."""
        from rejoinder.models.networks.loading import encode_in_batches, pad

        longest, pieces = self.reader.longest_turn, self.reader.vocabulary.encode_batch(texts)
        turns = [as_turn(ids, longest) if ids else [] for ids in pieces]
        encode, width = self.model.encode_turns, self.model.sizes.units
        return encode_in_batches(turns, width, len, lambda batch: encode(pad(batch))).astype(np.float32)


@dataclass(frozen=True)
class DualEncoderResponder:
    """Answers with the responses of the bank, whose vectors are [U, D], with the highest logit."""

    towers: Towers
    bank: ReplyBank
    vectors: NDArray[np.float32]
    options: Mapping[str, Any] = field(default_factory=dict)
    name: str = DUAL_ENCODER

    def respond_batch(self, requests: Sequence[Request], count: int) -> list[Answer]:
        """Return answers to requests; the score of a reply is the logit."""
        contexts = self.towers.contexts([request.context for request in requests])
        answers = [_no_answer(request) for request in requests]
        known = np.flatnonzero(~np.isnan(contexts[:, 0]))
        for start in range(0, len(known), _CONTEXTS):
            rows = known[start : start + _CONTEXTS]
            # A product of numpy: of a single context it takes a third of the time of torch's.
            for row, logits in zip(rows, contexts[rows] @ self.vectors.T, strict=True):  # [U]
                if (place := self.bank.single_source(requests[row].withheld)) is not None:
                    logits[place] = -np.inf
                places = top(logits, count)
                answers[row] = self.bank.answer(places.tolist(), logits[places].tolist())
        return answers

    def rank(self, requests: Sequence[Request], candidates: Sequence[Sequence[str]]) -> FloatArray:
        """See `Retriever`; logits, 0 for a text or a context without a known word."""
        contexts = np.nan_to_num(self.towers.contexts([request.context for request in requests]))
        places = {text: place for place, text in enumerate(dict.fromkeys(chain.from_iterable(candidates)))}
        vectors = np.nan_to_num(self.towers.responses(list(places)))
        responses = vectors[np.array([[places[text] for text in texts] for texts in candidates])]  # [N, K, D]
        logits: FloatArray = np.einsum("nd,nkd->nk", contexts, responses).astype(float)
        return logits


def with_bank(parts: Parts, bank: ReplyBank) -> Parts:
    """Return the parts of a trained Dual Encoder with a bank and the vectors of its responses inside.

    Half precision takes half the space and moves a logit by a thousandth.
    """
    towers = _towers(parts)
    blocks = [bank.texts[start : start + _RESPONSES] for start in range(0, len(bank.texts), _RESPONSES)]
    vectors = np.concatenate([np.nan_to_num(towers.responses(texts)).astype(np.float16) for texts in blocks])
    return parts.holding(PART, replace(bank.parts, tensors={**bank.parts.tensors, _VECTORS: vectors}))


def _towers(parts: Parts) -> Towers:
    """Return the trained model among the parts of a responder."""
    require_torch("A dual encoder")
    from rejoinder.models.networks.dual_encoder import DualEncoder
    from rejoinder.models.networks.loading import build, turn_reader

    sizes = value_in(parts.config, "sizes", DualEncoderSizes)
    weights = {name: values for name, values in parts.tensors.items() if not name.startswith(f"{PART}.")}
    reader = turn_reader(parts, sizes.vocabulary)
    # In training the last turn of a piece is a response and in no context.
    return Towers(build(lambda: DualEncoder(sizes), weights), replace(reader, most_turns=reader.most_turns - 1))
