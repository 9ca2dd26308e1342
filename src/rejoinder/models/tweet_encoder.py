"""The encoder of a trained tweet2vec: characters of a text to a vector (Dhingra et al. 2016).

A text is cleaned as the tweets were: lower case, `@user`, `!url`, no hashtags. Of a text the first 145 characters are
read, as in training. The source does not say how a context of several turns becomes one text; here its turns are
cleaned, joined with a space, and the last 145 characters are read, because what was said last is what is answered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rejoinder.data.folders import AGAIN, Parts, value_in
from rejoinder.errors import DataError
from rejoinder.models.batching import encode_batches, padded, require_torch, with_weights
from rejoinder.models.tweets import UNKNOWN, as_numbers, clean_tweet, numbered
from rejoinder.models.weights import Count, Object, sizes, words_of
from rejoinder.scorer import FloatArray

if TYPE_CHECKING:
    from torch import Tensor

    from rejoinder.models.networks.tweet import TweetModel

CHARACTERS = "characters.json"


@dataclass(frozen=True)
class TweetEncoder:
    """Encodes texts with a trained tweet2vec.

    Attributes:
        parts: all that `from_parts` needs to make it again.
        model: the network, in evaluation mode.
        characters: the number of each known character.
        longest: characters read of a text.
    """

    parts: Parts
    model: TweetModel
    characters: Mapping[str, int]
    longest: int

    @property
    def width(self) -> int:
        """D, the length of a vector."""
        return self.model.sizes.embedding

    @property
    def options(self) -> Mapping[str, Any]:
        """What decides the vectors."""
        return {"encoder": self.parts.config["kind"], "weights": self.parts.digest}

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """[N, D] vectors of the beginnings of texts; NaN for a text without a known character."""
        return self._encode([clean_tweet(text)[: self.longest].rstrip() for text in texts])

    def cuts(self, texts: Sequence[str]) -> list[int]:
        """The positions of texts whose end is not read."""
        return [place for place, text in enumerate(texts) if len(clean_tweet(text)) > self.longest]

    def encode_contexts(self, contexts: Sequence[tuple[str, ...]]) -> FloatArray:
        """[N, D] vectors of the ends of contexts, turns joined with a space; NaN as in `encode`."""
        return self._encode([_joined(context)[-self.longest :].lstrip() for context in contexts])

    def cuts_contexts(self, contexts: Sequence[tuple[str, ...]]) -> list[int]:
        """The positions of contexts whose beginning is not read."""
        return [place for place, context in enumerate(contexts) if len(_joined(context)) > self.longest]

    def _encode(self, cleaned: Sequence[str]) -> FloatArray:
        """[N, D] vectors of cleaned and cut texts."""
        numbers = [as_numbers(text, self.characters) for text in cleaned]
        known = [text if any(number != UNKNOWN for number in text) else [] for text in numbers]
        return encode_batches(known, self.width, len, self._vectors)

    def _vectors(self, texts: Sequence[Sequence[int]]) -> Tensor:
        """[n, D] vectors of texts in numbers."""
        return self.model.encode(*padded(texts, UNKNOWN))


def _joined(context: Sequence[str]) -> str:
    """The cleaned turns of a context as one text."""
    return " ".join(filter(None, map(clean_tweet, context)))


def from_parts(parts: Parts) -> TweetEncoder:
    """The encoder whose `parts` these are; also those of a pre-trained model.

    Raises:
        MissingExtra: torch is not installed.
    """
    require_torch()
    from rejoinder.models.networks.tweet import TweetModel
    from rejoinder.models.sizes import TweetSizes

    # The curves and hashtags of its training go along with the model, but decide nothing.
    shape, characters = sizes(TweetSizes, parts.config), numbered(words_of(parts.files, CHARACTERS))
    if max(characters.values()) >= shape.symbols:
        found = f"{max(characters.values())} characters for a network of {shape.symbols} symbols"
        raise DataError(found, AGAIN, field="sizes.symbols")
    kept = Parts(parts.config, parts.tensors, {CHARACTERS: parts.files[CHARACTERS]})
    model = with_weights(lambda: TweetModel(shape), parts.tensors)
    longest = value_in(value_in(value_in(parts.config, "recipe", Object), "text", Object), "longest", Count)
    return TweetEncoder(kept, model, characters, longest)
