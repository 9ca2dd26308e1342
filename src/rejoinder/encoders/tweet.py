"""The encoder of a trained tweet2vec: characters of a text to a vector (Dhingra et al. 2016).

A text is cleaned as the tweets were: lower case, `@user`, `!url`, no hashtags. Of a text the first 145 characters are
read, as in training. The source does not say how a context of several turns becomes one text; here its turns are
cleaned, joined with a space, and the last 145 characters are read, because what was said last is what is answered.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rejoinder.errors import MissingExtra
from rejoinder.io.folders import Parts
from rejoinder.scorer import FloatArray
from rejoinder.text.tweets import UNKNOWN, as_numbers, clean_tweet, numbered

if TYPE_CHECKING:
    from rejoinder.nn.tweet import TweetModel

KIND = "tweet2vec"
_TOGETHER = 64


@dataclass(frozen=True)
class TweetEncoder:
    """Encodes texts with a trained tweet2vec.

    Attributes:
        model: the network, in evaluation mode.
        characters: the number of each known character.
        longest: characters read of a text.
        weights: digest of the model.
    """

    model: TweetModel
    characters: Mapping[str, int]
    longest: int
    weights: str

    @property
    def width(self) -> int:
        """D, the length of a vector."""
        return self.model.sizes.embedding

    @cached_property
    def options(self) -> Mapping[str, Any]:
        """What decides the vectors."""
        return {"encoder": self.weights, "kind": KIND}

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """[N, D] vectors of the beginnings of texts; NaN for a text without a known character."""
        return self._encode([clean_tweet(text)[: self.longest].rstrip() for text in texts])

    def encode_contexts(self, contexts: Sequence[tuple[str, ...]]) -> FloatArray:
        """[N, D] vectors of the ends of contexts, turns joined with a space; NaN as in `encode`."""
        joined = (" ".join(filter(None, map(clean_tweet, context))) for context in contexts)
        return self._encode([text[-self.longest :].lstrip() for text in joined])

    def _encode(self, cleaned: Sequence[str]) -> FloatArray:
        """[N, D] vectors of cleaned and cut texts."""
        symbols = [as_numbers(text, self.characters) for text in cleaned]
        encoded = np.full((len(symbols), self.width), np.nan)
        usable = [place for place, numbers in enumerate(symbols) if any(number != UNKNOWN for number in numbers)]
        # Like lengths together, so that no reading of padding is paid for; a row does not depend on its neighbours.
        usable.sort(key=lambda place: len(symbols[place]))
        for start in range(0, len(usable), _TOGETHER):
            places = usable[start : start + _TOGETHER]
            encoded[places] = self._vectors([symbols[place] for place in places])
        return encoded

    def _vectors(self, symbols: Sequence[Sequence[int]]) -> FloatArray:
        """[n, D] vectors of texts in numbers."""
        import torch

        lengths = torch.tensor([len(numbers) for numbers in symbols])
        table = torch.full((len(symbols), int(lengths.max())), UNKNOWN)
        for row, numbers in enumerate(symbols):
            table[row, : len(numbers)] = torch.tensor(numbers)
        with torch.inference_mode():
            vectors: FloatArray = self.model.encode(table, lengths).double().numpy()
        return vectors


def load_tweet(parts: Parts) -> TweetEncoder:
    """The encoder of the tweet2vec in a folder that was read.

    Raises:
        MissingExtra: torch is not installed.
    """
    try:
        import torch
    except ImportError as error:
        raise MissingExtra("torch", "train", "A pre-trained encoder") from error
    from rejoinder.nn.tweet import TweetModel, TweetSizes

    model = TweetModel(TweetSizes(**parts.config["sizes"]))
    model.load_state_dict({name: torch.from_numpy(tensor) for name, tensor in parts.tensors.items()})
    characters = numbered(json.loads(parts.files["characters.json"]))
    return TweetEncoder(model.eval(), characters, parts.config["recipe"]["text"]["longest"], parts.digest)
