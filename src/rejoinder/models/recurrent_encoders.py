"""Encoders of trained recurrent networks: an HRED or VHRED (the encoder of ADEM), and tweet2vec.

Two states of an HRED can stand for a text. `context` is the state of the context encoder after the text was read as a
dialogue (the words of the paper); `utterance` is the state of the utterance encoder after the last turn (probably that
of the released ADEM).

tweet2vec (Dhingra et al. 2016) reads the first 145 characters of a text, cleaned as tweets were in training: lower
case, `@user`, `!url`, no hashtags. The source does not say how a context of several turns becomes one text; here its
turns are cleaned, joined with a space, and the last 145 characters are read, because a reply is to the last turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rejoinder.data.folders import AGAIN, Parts, value_in
from rejoinder.errors import DataError
from rejoinder.models import require_torch
from rejoinder.models.sizes import DialogueSizes, TweetSizes
from rejoinder.models.tweets import UNKNOWN, as_numbers, clean_tweet, numbered
from rejoinder.models.vocabulary import as_turn
from rejoinder.models.weights import Count, Object, words_of
from rejoinder.scorer import FloatArray

if TYPE_CHECKING:
    from torch import Tensor

    from rejoinder.models.networks.dialogue import DialogueModel
    from rejoinder.models.networks.loading import TurnReader
    from rejoinder.models.networks.tweet2vec import Tweet2Vec

StateOf = Literal["context", "utterance"]
VOCABULARY, CHARACTERS = "vocabulary.json", "characters.json"


@dataclass(frozen=True)
class RecurrentEncoder:
    """Encodes texts with a trained HRED or VHRED; `from_parts` makes it again from its `parts`."""

    parts: Parts
    model: DialogueModel
    reader: TurnReader
    state: StateOf

    @property
    def width(self) -> int:
        """D, the length of a vector."""
        sizes = self.model.sizes
        return sizes.context if self.state == "context" else 2 * sizes.utterance

    @property
    def options(self) -> Mapping[str, Any]:
        """Everything that decides the vectors."""
        return {"encoder": self.parts.config["kind"], "state": self.state, "weights": self.parts.digest}

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Return [N, D] states of texts, each read as a dialogue of one turn; NaN for a blank text."""
        return self.encode_contexts([(text,) for text in texts])

    def encode_contexts(self, contexts: Sequence[tuple[str, ...]]) -> FloatArray:
        """Return [N, D] states of contexts; NaN for a blank context."""
        return self._encode([self.reader.numbers(context) for context in contexts])

    def silence(self) -> FloatArray:
        """Return [D] the state of a dialogue whose only turn ends at once."""
        return np.asarray(self._encode([[as_turn([], self.reader.longest_turn)]])[0])

    def truncated(self, texts: Sequence[str]) -> list[int]:
        """Return the positions of texts whose end is not read."""
        return self.truncated_contexts([(text,) for text in texts])

    def truncated_contexts(self, contexts: Sequence[tuple[str, ...]]) -> list[int]:
        """Return the positions of contexts of which first turns, or the end of a turn, are not read."""
        return [place for place, context in enumerate(contexts) if self.reader.truncates(context)]

    def _encode(self, contexts: Sequence[list[list[int]]]) -> FloatArray:
        """Return [N, D] states of contexts in numbers."""
        from rejoinder.models.networks.loading import as_dialogues, encode_in_batches

        def states(batch: list[list[list[int]]]) -> Tensor:
            dialogues = as_dialogues(batch)
            if self.state == "context":
                return self.model.encode_dialogues(dialogues)
            (turns,), rows = dialogues
            last = rows.gather(1, (rows >= 0).sum(1, keepdim=True) - 1)[:, 0]  # [n]
            return self.model.encode_turns(turns._replace(tokens=turns.tokens[last], lengths=turns.lengths[last]))

        return encode_in_batches(contexts, self.width, lambda turns: (len(turns), max(map(len, turns))), states)


def from_parts(parts: Parts) -> RecurrentEncoder:
    """Return the encoder of the `parts` of an HRED or VHRED with a `state`. Raises `MissingExtra`, `DataError`."""
    state: StateOf = value_in(parts.config, "state", StateOf)
    require_torch()
    from rejoinder.models.networks.dialogue import DialogueModel
    from rejoinder.models.networks.loading import build, turn_reader

    sizes = value_in(parts.config, "sizes", DialogueSizes)
    reader = turn_reader(parts, sizes.vocabulary)
    # The curves of its training are in the folder too, but decide nothing.
    kept = Parts(parts.config, parts.tensors, {VOCABULARY: parts.files[VOCABULARY]})
    return RecurrentEncoder(kept, build(lambda: DialogueModel(sizes), parts.tensors), reader, state)


@dataclass(frozen=True)
class TweetEncoder:
    """Encodes texts with a trained tweet2vec: the number of each known character, and how many are read of a text."""

    parts: Parts
    model: Tweet2Vec
    characters: Mapping[str, int]
    longest: int

    @property
    def width(self) -> int:
        """D, the length of a vector."""
        return self.model.sizes.embedding

    @property
    def options(self) -> Mapping[str, Any]:
        """Everything that decides the vectors."""
        return {"encoder": self.parts.config["kind"], "weights": self.parts.digest}

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Return [N, D] vectors of the beginnings of texts; NaN for a text without a known character."""
        return self._encode([clean_tweet(text)[: self.longest].rstrip() for text in texts])

    def truncated(self, texts: Sequence[str]) -> list[int]:
        """Return the positions of texts whose end is not read."""
        return [place for place, text in enumerate(texts) if len(clean_tweet(text)) > self.longest]

    def encode_contexts(self, contexts: Sequence[tuple[str, ...]]) -> FloatArray:
        """Return [N, D] vectors of the ends of contexts, turns joined with a space; NaN as in `encode`."""
        return self._encode([_joined(context)[-self.longest :].lstrip() for context in contexts])

    def truncated_contexts(self, contexts: Sequence[tuple[str, ...]]) -> list[int]:
        """Return the positions of contexts whose beginning is not read."""
        return [place for place, context in enumerate(contexts) if len(_joined(context)) > self.longest]

    def _encode(self, cleaned: Sequence[str]) -> FloatArray:
        """Return [N, D] vectors of cleaned and cut texts."""
        from rejoinder.models.networks.loading import encode_in_batches, pad

        numbers = [as_numbers(text, self.characters) for text in cleaned]
        known = [text if any(number != UNKNOWN for number in text) else [] for text in numbers]
        return encode_in_batches(known, self.width, len, lambda texts: self.model.encode(*pad(texts, UNKNOWN)))


def _joined(context: Sequence[str]) -> str:
    """Return the cleaned turns of a context as one text."""
    return " ".join(filter(None, map(clean_tweet, context)))


def tweets_from_parts(parts: Parts) -> TweetEncoder:
    """Return the encoder of the `parts` of a tweet2vec. Raises `MissingExtra`, `DataError`."""
    require_torch()
    from rejoinder.models.networks.loading import build
    from rejoinder.models.networks.tweet2vec import Tweet2Vec

    sizes, characters = value_in(parts.config, "sizes", TweetSizes), numbered(words_of(parts.files, CHARACTERS))
    if max(characters.values()) >= sizes.symbols:
        raise DataError(f"{len(characters)} characters for {sizes.symbols} symbols", AGAIN, field="sizes.symbols")
    # The curves and hashtags of its training are in the folder too, but decide nothing.
    kept = Parts(parts.config, parts.tensors, {CHARACTERS: parts.files[CHARACTERS]})
    model = build(lambda: Tweet2Vec(sizes), parts.tensors)
    longest = value_in(value_in(value_in(parts.config, "recipe", Object), "text", Object), "longest", Count)
    return TweetEncoder(kept, model, characters, longest)
