"""Retrieval with a trained Dual Encoder: the response whose product with the context is highest.

Source: Lowe et al. 2015, section 4.3.
Shapes: U different responses, D units, N requests, K candidates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rejoinder.data.folders import Parts
from rejoinder.models import reply_bank as pools
from rejoinder.models.batching import (
    as_dialogues,
    encode_batches,
    limits,
    numbered_turns,
    padded,
    require_torch,
    vocabulary_of,
    with_weights,
)
from rejoinder.models.decoding import Decoding
from rejoinder.models.reply_bank import EMPTY, PART, UNKNOWN, Pool, best
from rejoinder.models.vocabulary import PAD_ID, UNK_ID, Vocabulary, as_turn
from rejoinder.models.weights import sizes, tensor
from rejoinder.responder import Answer, Context, Request
from rejoinder.scorer import FloatArray

if TYPE_CHECKING:
    from torch import Tensor

    from rejoinder.models.networks.dual import DualEncoder

VECTORS = "vectors"
_AT_ONCE = 64
"""Contexts whose products with all candidates are held together."""
_BLOCK = 10_000
"""Responses that are encoded together."""


@dataclass(frozen=True)
class Sides:
    """A trained Dual Encoder: contexts and responses to vectors whose product is the logit.

    Attributes:
        model: the network, in evaluation mode.
        vocabulary: its pieces.
        longest_turn: tokens kept of a turn, the end included, as in training.
        most_turns: the last so many turns of a context are read, as in training.
    """

    model: DualEncoder
    vocabulary: Vocabulary
    longest_turn: int
    most_turns: int

    def contexts(self, contexts: Sequence[Context]) -> NDArray[np.float32]:
        """[N, D] vectors of contexts, the form applied; NaN where no piece is known."""
        turns = [numbered_turns(self.vocabulary, context, self.longest_turn, self.most_turns) for context in contexts]
        known = [context if any(map(self._is_known, context)) else [] for context in turns]

        def last(batch: list[list[list[int]]]) -> Tensor:
            # A dialogue of fewer turns than others has its last state behind them too.
            return self.model.projected(self.model.encode_prefixes(as_dialogues(batch))[:, -1])

        size = self.model.sizes.units
        return encode_batches(known, size, lambda context: sum(map(len, context)), last).astype(np.float32)

    def _is_known(self, turn: Sequence[int]) -> bool:
        """Whether a turn has anything but unknown pieces, spaces and its end."""
        return bool(self.vocabulary.decode([number for number in turn if number != UNK_ID]))

    def responses(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """[n, D] vectors of responses; NaN for one without a piece."""
        from rejoinder.models.networks.dialogue import Turns

        turns = [as_turn(ids, self.longest_turn) if ids else [] for ids in self.vocabulary.encode_batch(texts)]
        size = self.model.sizes.units
        encode = self.model.encode_turns
        return encode_batches(turns, size, len, lambda batch: encode(Turns(*padded(batch, PAD_ID)))).astype(np.float32)


@dataclass(frozen=True)
class DualResponder:
    """Answers with the responses of the pool whose logit is highest.

    Attributes:
        sides: the trained model.
        pool: the candidates.
        vectors: [U, D] the vectors of their responses.
        options: digest of the model.
        name: `dual-encoder`.
    """

    sides: Sides
    pool: Pool
    vectors: NDArray[np.float32]
    options: Mapping[str, Any] = field(default_factory=dict)
    name: str = "dual-encoder"

    def respond_batch(self, requests: Sequence[Request], count: int) -> list[Answer]:
        """Answers to requests; the score of a reply is the logit."""
        contexts = self.sides.contexts([request.context for request in requests])
        answers = [Answer((), UNKNOWN if "".join(request.context).strip() else EMPTY) for request in requests]
        known = np.flatnonzero(~np.isnan(contexts[:, 0]))
        for start in range(0, len(known), _AT_ONCE):
            block = known[start : start + _AT_ONCE]
            gone = [self.pool.only_of(requests[row].withheld) for row in block]
            for row, (places, logits) in zip(block, highest(self.vectors, contexts[block], gone, count), strict=True):
                answers[row] = self.pool.answer(places, logits)
        return answers

    def rank(self, requests: Sequence[Request], candidates: Sequence[Sequence[str]]) -> FloatArray:
        """See `Retriever`; logits, 0 for a text or a context without a known word."""
        contexts = np.nan_to_num(self.sides.contexts([request.context for request in requests]))
        places = {text: place for place, text in enumerate(dict.fromkeys(chain.from_iterable(candidates)))}
        vectors = np.nan_to_num(self.sides.responses(list(places)))
        given = vectors[np.array([[places[text] for text in texts] for texts in candidates])]  # [N, K, D]
        logits: FloatArray = np.einsum("nd,nkd->nk", contexts, given).astype(float)
        return logits


def highest(
    vectors: NDArray[np.float32], contexts: NDArray[np.float32], gone: Sequence[int | None], count: int
) -> Iterator[tuple[list[int], list[float]]]:
    """Yield for each context [n, D] the places of the `count` vectors [U, D] of the highest product, and these.

    `gone` says for each context which vector to leave out.
    """
    # numpy's products, not torch's: of a single context they take a third of the time.
    for products, place in zip(contexts @ vectors.T, gone, strict=True):
        if place is not None:
            products[place] = -np.inf
        places = best(products, count)
        yield places.tolist(), products[places].tolist()


def encoded(parts: Parts, pool: Pool) -> Parts:
    """The parts of a trained Dual Encoder with the pool and the vectors of its responses inside.

    These are kept in half precision, which takes half the place and moves a logit by a thousandth.
    """
    sides, size = _sides(parts), parts.config["sizes"]["units"]
    vectors = np.zeros((len(pool.texts), size), dtype=np.float16)
    for start in range(0, len(pool.texts), _BLOCK):
        vectors[start : start + _BLOCK] = np.nan_to_num(sides.responses(pool.texts[start : start + _BLOCK]))
    own = pool.parts
    return parts.holding(PART, replace(own, tensors={**own.tensors, VECTORS: vectors}))


def from_parts(parts: Parts, _decoding: Decoding) -> DualResponder:
    """The responder whose parts these are; how words are chosen is nothing to it.

    Raises:
        DataError: the candidates are missing.
        MissingExtra: torch is not installed.
    """
    pool = pools.from_parts(parts)
    sides = _sides(parts)
    vectors = tensor(parts.tensors, f"{PART}.{VECTORS}", (len(pool.texts), sides.model.sizes.units)).astype(np.float32)
    return DualResponder(sides, pool, vectors, {"weights": parts.digest})


def _sides(parts: Parts) -> Sides:
    """The trained model among the parts of a responder."""
    require_torch("A dual encoder")
    from rejoinder.models.networks.dual import DualEncoder
    from rejoinder.models.sizes import DualEncoderSizes

    tensors = {name: tensor for name, tensor in parts.tensors.items() if not name.startswith(f"{PART}.")}
    shape = sizes(DualEncoderSizes, parts.config)
    vocabulary, (longest_turn, most_turns) = vocabulary_of(parts, shape.vocabulary), limits(parts.config)
    # In training the last turn of a piece is a response and in no context.
    return Sides(with_weights(lambda: DualEncoder(shape), tensors), vocabulary, longest_turn, most_turns - 1)
