"""Bilinear judges (ADEM, C-ADEM, R-ADEM, AutoJudge): examples to ratings, saved as one folder with their encoder.

Sources: Lowe et al. 2017, Towards an Automatic Turing Test, sections 4 and 5; Deriu and Cieliebak 2019, Towards a
Metric for Automated Conversational Dialogue System Evaluation and Improvement. AutoJudge is C-ADEM's term without
principal components and penalty. The alpha .01 and beta 32 it prints for the scale are, it seems, the step and batch
size of ADEM's supplement; here they come from the data, as ADEM's do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rejoinder.data.folders import AGAIN, Parts, value_in, write_folder
from rejoinder.data.scales import Scale, in_words, rescaled
from rejoinder.errors import DataError
from rejoinder.example import Example
from rejoinder.judges.adem.fit import Normalise, project
from rejoinder.judges.adem.head import MATRICES, Head, Terms, Vectors
from rejoinder.judges.adem.sides import Encoded, References, encode
from rejoinder.judges.adem.slopes import forms_of, gradients
from rejoinder.judges.answers import FITTED_LINES, UNREAD, from_config, in_config, on_scale, training_in
from rejoinder.judges.differentiable import Side, Slopes, Space
from rejoinder.judges.learner import PREDICTED, Rows
from rejoinder.judges.notes import notes_on, usual_notes
from rejoinder.models import INSIDE, encoder_of
from rejoinder.models.encoders import PortableEncoder, Projection
from rejoinder.models.weights import Share, tensor
from rejoinder.scorer import Card, FloatArray, Need, Scores, Warnings
from rejoinder.text.normalize import visible

Kind = Literal["adem", "c-adem", "r-adem", "autojudge", "vhred"]
FAMILY = "bilinear"
TERMS: dict[Kind, Terms] = {
    "adem": ("context", "reference"),
    "c-adem": ("context",),
    "r-adem": ("reference",),
    "autojudge": ("context",),
    "vhred": ("context", "reference"),
}
_TITLES = {"autojudge": "AutoJudge", "vhred": "Untrained ADEM"}


@dataclass(frozen=True)
class BilinearJudge:
    """A trained judge.

    Attributes:
        kind: which terms of equation 1 it has; its name on its card, wherever its folder stands. `vhred` is what ADEM's
            paper calls the judge with ADEM's terms before training, over whatever encoder.
        encoder: texts to raw vectors.
        normalise: what happens to raw vectors first.
        projection: raw vectors to K principal components; None for none.
        head: projected vectors to ratings.
        references: of several references, the score against the `best`, or the `mean` of the scores.
        training: what it was trained on and how that went, JSON values; shown on its card.
        scale: the lowest and highest rating that it answers with, nominally; the head itself predicts 1 to 5.
    """

    kind: Kind
    encoder: PortableEncoder
    normalise: Normalise
    projection: Projection | None
    head: Head
    references: References
    training: Mapping[str, Any]
    scale: Scale = PREDICTED

    @property
    def card(self) -> Card:
        """The card; predictions are not clipped to the scale."""
        needs: frozenset[Need] = frozenset(self.head.terms)
        several = f" Several references: the {self.references} of the scores against each."
        return Card(
            name=self.kind,
            summary=f"{self._title}: the rating from {in_words(self.scale)} that people would give, predicted",
            kind="judge",
            needs=needs,
            range=(None, None),
            source="Deriu and Cieliebak 2019" if self.kind == "autojudge" else "Lowe et al. 2017, equation 1",
            notes=f"Nominally {in_words(self.scale)}, not clipped." + (several if "reference" in needs else ""),
            domain=FITTED_LINES,
            unread=UNREAD,
        )

    @property
    def _title(self) -> str:
        """The name in print."""
        return _TITLES.get(self.kind, self.kind.upper())

    @property
    def trained_on(self) -> frozenset[str]:
        """The data sets that it was fitted on."""
        return frozenset(self.training.get("datasets", ()))

    @cached_property
    def options(self) -> Mapping[str, Any]:
        """Encoder and digest of everything that decides a score."""
        return {**self.encoder.options, "model": self.parts.digest}

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """Predicted ratings; unscored where a needed text holds no word that the encoder knows."""
        encoded = encode(examples, self.encoder, self.head.terms)
        outcome = on_scale(self.score_encoded(encoded), PREDICTED, self.scale)
        empty = {row: "the response is empty" for row in outcome.reasons if not visible(examples[row].response)}
        return replace(outcome, reasons={**outcome.reasons, **empty}, warnings=self._notes(examples))

    def _notes(self, examples: Sequence[Example]) -> Warnings:
        """What the judge cannot judge."""
        return notes_on(examples, self.head.terms, self.encoder, usual_notes(self.training.get("noted", {})))

    def score_encoded(self, encoded: Encoded) -> Scores:
        """Predicted ratings, from 1 to 5, of examples that were encoded before."""
        # A product of its own for each row: a joint one adds in an order that the number of rows decides.
        rows = Vectors(*(side[:, None] for side in encoded.pairs()))
        values = self.head(project(rows, self.projection, self.normalise))[:, 0]
        combined = encoded.combine(values, self.references)
        unknown = unknown_sides(encoded.means, self.head.terms)
        reasons = {int(row): f"no known word in the {unknown[row]}" for row in np.flatnonzero(np.isnan(combined))}
        return Scores(combined, reasons)

    def slopes(self, examples: Sequence[Example], vectors: FloatArray | None = None) -> Slopes:
        """See `Differentiable.slopes`; the vectors are raw ones, as the encoder makes them."""
        encoded = encode(examples, self.encoder, self.head.terms)
        if vectors is not None:  # an attack moves the response alone: context and references stay what they are
            encoded = replace(encoded, response=vectors)
        values = rescaled(self.score_encoded(encoded).values, PREDICTED, self.scale)
        found = gradients(encoded, self.head, self.projection, self.normalise, self.references)
        stretch = (self.scale[1] - self.scale[0]) / (PREDICTED[1] - PREDICTED[0])
        return Slopes(values, encoded.response, found * stretch)

    def spaces(self, examples: Sequence[Example]) -> list[Space]:
        """See `Differentiable.spaces`."""
        encoded = encode(examples, self.encoder, self.head.terms)
        pairs = project(encoded.pairs(), self.projection, self.normalise)
        forms = forms_of(encoded, pairs, self.head, self.references)

        def projected(vectors: FloatArray) -> FloatArray:
            nothing = np.empty((0, 0))
            return project(Vectors(nothing, nothing, vectors), self.projection, self.normalise).response

        def scores(compared: FloatArray, rows: Rows | None = None) -> FloatArray:
            return rescaled(forms(compared, rows), PREDICTED, self.scale)

        rows = np.arange(len(examples))
        given = {"context": Side(encoded.context, rows), "reference": Side(encoded.references, encoded.owner)}
        sides: dict[str, Side] = {"response": Side(encoded.response, rows)}
        sides |= {name: given[name] for name in self.head.terms}
        return [Space(self.kind, rows, sides, projected, scores)]

    def save(self, folder: str | Path, *, force: bool = False) -> None:
        """See `PortableJudge.save`."""
        write_folder(folder, self.parts, self._text_card(), force=force)

    @cached_property
    def parts(self) -> Parts:
        """Everything learned or looked up."""
        return self.own_parts.holding(INSIDE, self.encoder.parts)

    @cached_property
    def own_parts(self) -> Parts:
        """Everything but the encoder."""
        config = {
            "kind": FAMILY,
            "name": self.kind,
            "alpha": self.head.alpha,
            "beta": self.head.beta,
            "normalise": self.normalise,
            "references": self.references,
            "explained_variance": None if self.projection is None else self.projection.explained,
            "training": dict(self.training),
            **in_config(self.scale),
        }
        tensors: dict[str, FloatArray] = {
            name: getattr(self.head, name) for name in (MATRICES[term] for term in self.head.terms)
        }
        if self.projection is not None:
            tensors["projection.mean"] = self.projection.mean
            tensors["projection.components"] = self.projection.components
        return Parts(config, tensors)

    def _text_card(self) -> str:
        """The card for people."""
        components = (
            "not projected" if self.projection is None else f"projected to {len(self.projection.components)} components"
        )
        encoder = self.encoder.parts.config["kind"]
        return _CARD.format(
            title=self._title,
            scale=in_words(self.scale),
            needs=" and ".join(("response", *self.head.terms)),
            source=self.card.source,
            encoder=f"{_ENCODERS.get(encoder, encoder)} ({self.encoder.width} dimensions), {components}",
            training=training_lines(self),
            untrained=_UNTRAINED * (self.training.get("best_epoch") == 0),
            order="Word order does not reach it: a shuffled response gets the same score. " * (encoder == "average"),
        )


_ENCODERS = {"average": "averaged word vectors", "hred": "HRED", "vhred": "VHRED", "sentence": "sentence-transformers"}
_UNTRAINED = "Its head is as it was before training (best epoch 0): it has learnt nothing from these ratings. "
_CARD = """\
# {title} judge

Predicts the overall rating, {scale}, from {needs}. {source}, over {encoder}.

## Training

{training}

## Limits

{untrained}{order}Believe it on your data only as far as `rejoinder study` shows agreement with people there.
"""


def unknown_sides(raw: Vectors, terms: Terms) -> list[str]:
    """For each of N examples the first side that counts and has no vector, or ""."""
    found = np.full(len(raw.response), "", dtype=object)
    for side in ("response", *terms)[::-1]:
        found[np.isnan(getattr(raw, side)).any(axis=1)] = side
    return found.tolist()


def training_lines(judge: BilinearJudge) -> str:
    """What a judge was trained on and how that went, a line each, for its card."""
    return "\n".join(f"- {key.replace('_', ' ')}: {_shown(value)}" for key, value in judge.training.items())


def from_parts(parts: Parts) -> BilinearJudge:
    """The judge with these parts, as its folder held them.

    Raises:
        MissingExtra: a library that its encoder needs is not installed.
    """
    return from_own_parts(parts, encoder_of(parts.inner(INSIDE)))


def from_own_parts(parts: Parts, encoder: PortableEncoder) -> BilinearJudge:
    """The judge with these parts over `encoder`."""
    config, tensors = parts.config, parts.tensors
    kind: Kind = value_in(config, "name", Literal[tuple(TERMS)])
    projection = None if config.get("explained_variance", 0) is None else _projection(parts, encoder.width)
    width = encoder.width if projection is None else len(projection.components)
    matrices = {MATRICES[term]: tensor(tensors, MATRICES[term], (width, width)) for term in TERMS[kind]}
    # The matrix of a term that does not count stays the identity, and is not kept.
    matrices |= {name: np.eye(width) for name in MATRICES.values() if name not in matrices}
    beta = value_in(config, "beta", float)
    if not beta:
        raise DataError("is 0, expected a number to divide by", AGAIN, field="beta")
    return BilinearJudge(
        kind=kind,
        encoder=encoder,
        normalise=value_in(config, "normalise", Normalise),
        projection=projection,
        head=Head(**matrices, alpha=value_in(config, "alpha", float), beta=beta, terms=TERMS[kind]),
        references=value_in(config, "references", References),
        training=training_in(config),
        scale=from_config(config),
    )


def _projection(parts: Parts, width: int) -> Projection:
    """The principal components of vectors of so many numbers."""
    mean = tensor(parts.tensors, "projection.mean", (width,))
    components = tensor(parts.tensors, "projection.components", (None, width))
    return Projection(mean, components, value_in(parts.config, "explained_variance", Share))


def _shown(value: Any) -> str:
    """A value of the training record for the card."""
    if isinstance(value, float):
        return f"{value:.3g}"
    if value is None or value == {}:
        return "none"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_shown(inner)}" for key, inner in value.items())
    return ", ".join(map(_shown, value)) if isinstance(value, list) else str(value)
