"""The mean of a text's word vectors: the encoder that needs nothing but a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rejoinder.io.vectors import WordVectors
from rejoinder.scorer import FloatArray
from rejoinder.text import tokenizer


@dataclass(frozen=True)
class AverageEncoder:
    """Averages the vectors of the known words of a text; unknown words do not count.

    A context is encoded as all its turns in one, so a longer turn weighs more.

    Attributes:
        vectors: words and their vectors.
        tokenizer: name of the tokenizer.
    """

    vectors: WordVectors
    tokenizer: str = "words-1"

    @property
    def width(self) -> int:
        """D, the length of a vector."""
        return self.vectors.width

    @property
    def options(self) -> Mapping[str, Any]:
        """What decides the vectors."""
        return {"encoder": "average", "vectors": self.vectors.digest, "tokenizer": self.tokenizer}

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """[N, D] mean vectors; NaN where no word of the text is known."""
        split = tokenizer(self.tokenizer)
        rows = [self.vectors.lookup(split(text)) for text in texts]
        means = np.full((len(rows), self.width), np.nan)
        # One text at a time: the sum of a slice does not depend on which other texts are in the batch.
        for place, row in enumerate(rows):
            if len(row):
                means[place] = self.vectors.matrix[row].mean(axis=0, dtype=np.float64)
        return means

    def encode_contexts(self, contexts: Sequence[tuple[str, ...]]) -> FloatArray:
        """[N, D] mean vectors over all words of all turns."""
        return self.encode([" ".join(turns) for turns in contexts])
