"""The mean of a text's word vectors: the encoder that needs nothing but a table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rejoinder.data.folders import Parts, value_in
from rejoinder.models.weights import tensor, words_of
from rejoinder.scorer import FloatArray
from rejoinder.text import Tokenize, tokenizer
from rejoinder.text.tokenizers import TOKENIZERS
from rejoinder.text.vectors import WordVectors, read_vectors, word_vectors

KIND = "average"
WORDS = "words.json"


@dataclass(frozen=True)
class AverageEncoder:
    """Averages the vectors of the known words of a text; unknown words do not count.

    A context is encoded as all its turns in one, so a longer turn weighs more.

    Attributes:
        vectors: words and their vectors.
        tokenizer: name of the tokenizer.
    """

    vectors: WordVectors
    tokenizer: str = "words-2"

    @property
    def width(self) -> int:
        """D, the length of a vector."""
        return int(self.vectors.matrix.shape[1])

    @property
    def options(self) -> Mapping[str, Any]:
        """What decides the vectors."""
        return {"encoder": KIND, "vectors": self.vectors.digest, "tokenizer": self.tokenizer}

    @cached_property
    def parts(self) -> Parts:
        """All that `from_parts` needs to make it again."""
        words = json.dumps(list(self.vectors.index), ensure_ascii=False)
        return Parts({"kind": KIND, "tokenizer": self.tokenizer}, {"vectors": self.vectors.matrix}, {WORDS: words})

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """[N, D] mean vectors; NaN where no word of the text is known."""
        rows = self.vectors.lookup([self._split(text) for text in texts])
        means = np.full((len(rows), self.width), np.nan)
        # One text at a time: the sum of a slice does not depend on which other texts are in the batch.
        for place, row in enumerate(rows):
            if len(row):
                means[place] = self.vectors.matrix[row].mean(axis=0, dtype=np.float64)
        return means

    def encode_contexts(self, contexts: Sequence[tuple[str, ...]]) -> FloatArray:
        """[N, D] mean vectors over all words of all turns."""
        return self.encode([" ".join(turns) for turns in contexts])

    def known_share(self, texts: Iterable[str]) -> float:
        """The share of the words of `texts` that have a vector, 1 where there is no word."""
        counts = np.array([self.vectors.coverage(self._split(text)) for text in texts]).reshape(-1, 2)
        known, words = counts.sum(axis=0).tolist()
        return float(known / words) if words else 1.0

    @property
    def _split(self) -> Tokenize:
        """From a text to its tokens."""
        return tokenizer(self.tokenizer, self.vectors.index)


def encoder(vectors: str | Path | None) -> AverageEncoder:
    """The encoder that averages the word vectors in a file; None takes those in the box."""
    return AverageEncoder(read_vectors(vectors))


def from_parts(parts: Parts) -> AverageEncoder:
    """The encoder whose `parts` these are."""
    words = words_of(parts.files, WORDS)
    vectors = tensor(parts.tensors, "vectors", (len(words), None))
    return AverageEncoder(word_vectors(words, vectors), value_in(parts.config, "tokenizer", Literal[tuple(TOKENIZERS)]))
