"""ADEM, C-ADEM and R-ADEM as judges: examples to ratings, saved as one folder.

Source: Lowe et al. 2017, Towards an Automatic Turing Test, sections 4 and 5; the encoder is word vectors, averaged.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rejoinder.encoders import AverageEncoder, Projection
from rejoinder.io.folders import Parts, read_folder, write_folder
from rejoinder.io.vectors import word_vectors
from rejoinder.judges.head import HIGHEST, LOWEST, Head, Terms, Vectors
from rejoinder.records import Example
from rejoinder.scorer import Card, FloatArray, Need, Outcome

Kind = Literal["adem", "c-adem", "r-adem"]
WORDS = "words.json"
TERMS: dict[Kind, Terms] = {"adem": ("context", "reference"), "c-adem": ("context",), "r-adem": ("reference",)}


@dataclass(frozen=True)
class Adem:
    """A trained judge of the ADEM family.

    Attributes:
        kind: which terms of equation 1 it has; its name on its card, wherever its folder stands.
        encoder: texts to vectors.
        projection: vectors to K principal components.
        head: projected vectors to ratings.
        training: what it was trained on and how that went, JSON values; shown on its card.
    """

    kind: Kind
    encoder: AverageEncoder
    projection: Projection
    head: Head
    training: Mapping[str, Any]

    @property
    def card(self) -> Card:
        """The card; nominal range 1 to 5, predictions are not clipped."""
        needs: frozenset[Need] = frozenset(self.head.terms)
        return Card(
            name=self.kind,
            summary=f"{self.kind.upper()}: the rating from {LOWEST:g} to {HIGHEST:g} that people would give, predicted",
            kind="judge",
            needs=needs,
            range=(None, None),
            source="Lowe et al. 2017, equation 1",
            notes="Nominally 1 to 5, not clipped. Several references: the mean of the scores against each.",
        )

    @cached_property
    def options(self) -> Mapping[str, Any]:
        """Encoder and digest of everything that decides a score."""
        return {**self.encoder.options, "model": self._parts.digest}

    def score_batch(self, examples: Sequence[Example]) -> Outcome:
        """Predicted ratings; unscored where a needed text holds no word that the encoder knows."""
        vectors = embed(examples, self.encoder, self.projection, self.head.terms)
        values = self.head(vectors)
        reasons = {}
        for row in np.flatnonzero(np.isnan(values)):
            unknown = [side for side in ("response", *self.head.terms) if np.isnan(getattr(vectors, side)[row]).any()]
            reasons[int(row)] = f"no known word in the {unknown[0]}"
        return Outcome(values, reasons)

    def save(self, folder: str | Path) -> None:
        """Write the judge as one folder that needs nothing outside it; an older judge there is replaced.

        Raises:
            UsageError: something that is no judge stands at `folder`.
        """
        write_folder(folder, self._parts, self._text_card())

    @cached_property
    def _parts(self) -> Parts:
        """Everything learned or looked up."""
        config = {
            "kind": self.kind,
            "alpha": self.head.alpha,
            "beta": self.head.beta,
            "explained_variance": self.projection.explained,
            "tokenizer": self.encoder.tokenizer,
            "training": dict(self.training),
        }
        tensors = {
            "M": self.head.M,
            "N": self.head.N,
            "projection.mean": self.projection.mean,
            "projection.components": self.projection.components,
            "vectors": self.encoder.vectors.matrix,
        }
        return Parts(config, tensors, {WORDS: json.dumps(list(self.encoder.vectors.index), ensure_ascii=False)})

    def _text_card(self) -> str:
        """The card for people."""
        training = [f"- {key.replace('_', ' ')}: {_shown(value)}" for key, value in self.training.items()]
        return _CARD.format(
            kind=self.kind.upper(),
            needs=" and ".join(("response", *self.head.terms)),
            width=self.encoder.width,
            words=len(self.encoder.vectors.index),
            components=len(self.projection.components),
            training="\n".join(training),
        )


_CARD = """\
# {kind} judge

Predicts the overall rating, 1 to 5, of a response from {needs}. Lowe et al. 2017, equation 1, over averaged word
vectors ({width} dimensions, {words:,} words) projected to {components} components.

## Training

{training}

## Limits

Word order does not reach it: a shuffled response gets the same score. Believe it on your data only as far as
`rejoinder study` shows agreement with people there.
"""


def embed(examples: Sequence[Example], encoder: AverageEncoder, projection: Projection, terms: Terms) -> Vectors:
    """Projected vectors [N, K] of contexts, references and responses; a side that `terms` leave out is zero.

    The head is linear in the reference, so the mean over references stands for the mean of the scores against each.
    """
    encoded = encode_sides(examples, encoder, terms)
    absent = np.zeros((len(examples), len(projection.components)))
    return Vectors(
        context=projection(encoded.context) if "context" in terms else absent,
        reference=projection(encoded.reference) if "reference" in terms else absent,
        response=projection(encoded.response),
    )


def encode_sides(examples: Sequence[Example], encoder: AverageEncoder, terms: Terms) -> Vectors:
    """Raw vectors [N, D] of contexts, references (mean over those that have known words) and responses."""
    absent = np.zeros((len(examples), encoder.width))
    contexts = encoder.encode_contexts([example.context for example in examples]) if "context" in terms else absent
    references = _mean_references(examples, encoder) if "reference" in terms else absent
    return Vectors(contexts, references, encoder.encode([example.response for example in examples]))


def _mean_references(examples: Sequence[Example], encoder: AverageEncoder) -> FloatArray:
    """[N, D] the mean vector of each example's references; NaN where none has a known word."""
    means = np.full((len(examples), encoder.width), np.nan)
    texts = [reference for example in examples for reference in example.references]
    encoded = encoder.encode(texts)
    start = 0
    for row, example in enumerate(examples):
        mine = encoded[start : start + len(example.references)]
        start += len(example.references)
        known = mine[~np.isnan(mine).any(axis=1)]
        if len(known):
            means[row] = known.mean(axis=0)
    return means


def load_folder(folder: Path) -> Adem:
    """The judge saved in `folder`.

    Raises:
        MissingAsset: a file of it is missing.
        DataError: a file of it is damaged or was changed.
    """
    parts = read_folder(folder)
    config, tensors = parts.config, parts.tensors
    kind: Kind = config["kind"]
    words = json.loads(parts.files[WORDS])
    return Adem(
        kind=kind,
        encoder=AverageEncoder(word_vectors(words, tensors["vectors"], str(folder)), config["tokenizer"]),
        projection=Projection(
            tensors["projection.mean"], tensors["projection.components"], config["explained_variance"]
        ),
        head=Head(tensors["M"], tensors["N"], config["alpha"], config["beta"], TERMS[kind]),
        training=config["training"],
    )


def _shown(value: Any) -> str:
    """A value of the training record for the card."""
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_shown(inner)}" for key, inner in value.items())
    return ", ".join(map(_shown, value)) if isinstance(value, list) else str(value)
