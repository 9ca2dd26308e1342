"""Texts to vectors, and the projection of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rejoinder.encoders.average import AverageEncoder
from rejoinder.encoders.projection import Projection, fit_projection
from rejoinder.io.folders import read_folder
from rejoinder.records import Example
from rejoinder.scorer import Encoder

if TYPE_CHECKING:
    from rejoinder.encoders.recurrent import StateOf

__all__ = ["AverageEncoder", "Projection", "encode_examples", "fit_projection", "load_encoder"]

TWEET2VEC = "tweet2vec"


def load_encoder(folder: str | Path, state: StateOf = "context") -> Encoder:
    """The encoder of the pre-trained model in `folder`.

    `state` says which of its states stands for a text; a tweet2vec has one only and does not look at it.

    Raises:
        MissingAsset: there is no model.
        MissingExtra: a library that it needs is not installed.
        DataError: the folder holds something else, or is damaged.
    """
    parts = read_folder(folder)
    if parts.config.get("kind") == TWEET2VEC:
        from rejoinder.encoders.tweet import load_tweet

        return load_tweet(parts)
    from rejoinder.encoders.recurrent import load_recurrent

    return load_recurrent(folder, state)


def encode_examples(encoder: Encoder, examples: Sequence[Example]) -> dict[str, NDArray[Any]]:
    """Vectors of everything in N examples with R references together, by name.

    `ids` [N]; `context` and `response` [N, D]; `reference` [R, D], and `reference_row` [R], whose each is.
    """
    pairs = [(row, text) for row, example in enumerate(examples) for text in example.references]
    return {
        "ids": np.array([example.id for example in examples], dtype=np.str_),
        "context": encoder.encode_contexts([example.context for example in examples]),
        "response": encoder.encode([example.response for example in examples]),
        "reference": encoder.encode([text for _, text in pairs]).reshape(-1, encoder.width),
        "reference_row": np.array([row for row, _ in pairs], dtype=np.int64),
    }
