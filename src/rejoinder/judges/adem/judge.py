"""Judges of the ADEM family: texts to vectors to ratings, saved as one folder with their encoder.

Sources: Lowe et al. 2017, Towards an Automatic Turing Test, sections 4 and 5; Deriu and Cieliebak 2019, Towards a
Metric for Automated Conversational Dialogue System Evaluation and Improvement. AutoJudge is C-ADEM's term without
principal components and penalty. The alpha .01 and beta 32 that it prints seem to be the step and batch size of ADEM's
supplement; here they come from the data, as ADEM's do. Shapes: N examples with R references together, D width.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from rejoinder.data.folders import AGAIN, Parts, value_in, write_folder
from rejoinder.data.scales import Scale, in_words, rescaled
from rejoinder.errors import DataError
from rejoinder.example import Example
from rejoinder.judges.adem.gradients import gradients, linear_forms
from rejoinder.judges.adem.head import (
    MATRICES,
    AdemHead,
    Encoded,
    Normalise,
    Projection,
    References,
    Terms,
    Vectors,
    project,
    project_side,
)
from rejoinder.judges.domain import FITTED_LINES, NEVER_READ, common_warnings, warnings_of
from rejoinder.judges.protocol import PREDICTED, Rows, SideVectors, Slopes, Space
from rejoinder.judges.scales import from_config, in_config, on_scale, training_in
from rejoinder.models import INSIDE, encoder_of
from rejoinder.models.encoders import PortableEncoder, encode_distinct
from rejoinder.models.threads import one_thread
from rejoinder.models.weights import Share, tensor
from rejoinder.scorer import Card, Encoder, FloatArray, Need, Scores
from rejoinder.text.normalize import visible, visible_text

Kind = Literal["adem", "c-adem", "r-adem", "autojudge", "untrained"]
FAMILY = "bilinear"
TERMS: dict[Kind, Terms] = {
    "adem": ("context", "reference"),
    "c-adem": ("context",),
    "r-adem": ("reference",),
    "autojudge": ("context",),
    "untrained": ("context", "reference"),
}
"""The terms of equation 1 of each kind; `untrained` is ADEM before training, over whatever encoder."""
_STORED: dict[Kind, str] = {kind: kind for kind in TERMS} | {"untrained": "vhred"}
"""The names in folders."""
_TITLES: dict[Kind, str] = {kind: kind.upper() for kind in TERMS} | {
    "autojudge": "AutoJudge",
    "untrained": "Untrained ADEM",
}
_ENCODERS = {"average": "averaged word vectors", "hred": "HRED", "vhred": "VHRED", "sentence": "sentence-transformers"}
_CARD = """\
# {title} judge

Predicts the overall rating, {scale}, from {needs}. {source}, over {encoder}.

## Training

{training}

## Limits

{untrained}{order}Believe it on your data only as far as `rejoinder study` shows agreement with people there.
"""


def encode(examples: Sequence[Example], encoder: Encoder, terms: Terms) -> Encoded:
    """Return raw vectors for a judge with `terms`; each distinct text, as a reader sees it, is encoded once."""
    nothing = np.zeros((len(examples), encoder.width))
    context, references, owner = nothing, nothing, np.arange(len(examples))
    if "context" in terms:
        contexts = [tuple(map(visible_text, example.context)) for example in examples]
        context = encode_distinct(encoder.encode_contexts, contexts)
    if "reference" in terms:
        texts = [visible_text(text) for example in examples for text in example.references]
        references = encode_distinct(encoder.encode, texts)
        owner = np.repeat(owner, [len(example.references) for example in examples])
    response = encode_distinct(encoder.encode, [visible_text(example.response) for example in examples])
    # Some encoders compute in single precision; the fit does not.
    context, references, response = (np.asarray(side, np.float64) for side in (context, references, response))
    return Encoded(context, references, owner, response)


@dataclass(frozen=True)
class AdemJudge:
    """A trained judge: encoder, then `project`, then the head. `training` has JSON values: data, and how it went."""

    kind: Kind
    encoder: PortableEncoder
    normalise: Normalise
    projection: Projection | None
    head: AdemHead
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
            summary=f"{_TITLES[self.kind]}: the rating from {in_words(self.scale)} that people would give, predicted",
            kind="judge",
            needs=needs,
            range=(None, None),
            source="Deriu and Cieliebak 2019" if self.kind == "autojudge" else "Lowe et al. 2017, equation 1",
            notes=f"Nominally {in_words(self.scale)}, not clipped." + (several if "reference" in needs else ""),
            domain=FITTED_LINES,
            unread=NEVER_READ,
        )

    @property
    def trained_on(self) -> frozenset[str]:
        """The data sets that it was fitted on."""
        return frozenset(self.training.get("datasets", ()))

    @cached_property
    def options(self) -> Mapping[str, Any]:
        """Encoder and digest of everything that decides a score."""
        return {**self.encoder.options, "model": self.parts.digest}

    @one_thread()
    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """Return predicted ratings; unscored where a needed text has no word that the encoder knows."""
        encoded = encode(examples, self.encoder, self.head.terms)
        values, unknown = self.ratings(encoded), encoded.unknown_sides(self.head.terms)
        reasons = {row: f"no known word in the {unknown[row]}" for row in np.flatnonzero(np.isnan(values)).tolist()}
        reasons |= {row: "the response is empty" for row in reasons if not visible(examples[row].response)}
        warnings = warnings_of(examples, self.head.terms, self.encoder, common_warnings(self.training.get("noted", {})))
        return on_scale(Scores(values, reasons, warnings=warnings), PREDICTED, self.scale)

    def ratings(self, encoded: Encoded) -> FloatArray:
        """Return [N] predicted ratings from 1 to 5; NaN if a side has no vector."""
        # A product of its own for each row: a joint one adds in an order that the number of rows decides.
        rows = Vectors(*(side[:, None] for side in encoded.pairs()))
        return encoded.combine(self.head(project(rows, self.projection, self.normalise))[:, 0], self.references)

    def slopes(self, examples: Sequence[Example], vectors: FloatArray | None = None) -> Slopes:
        """See `Differentiable.slopes`; the vectors are raw ones, as the encoder makes them."""
        encoded = encode(examples, self.encoder, self.head.terms)
        if vectors is not None:  # context and references stay as they are
            encoded = replace(encoded, response=vectors)
        values = rescaled(self.ratings(encoded), PREDICTED, self.scale)
        derivatives = gradients(encoded, self.head, self.projection, self.normalise, self.references)
        stretch = (self.scale[1] - self.scale[0]) / (PREDICTED[1] - PREDICTED[0])
        return Slopes(values, encoded.response, derivatives * stretch)

    def spaces(self, examples: Sequence[Example]) -> list[Space]:
        """See `Differentiable.spaces`."""
        encoded = encode(examples, self.encoder, self.head.terms)
        rows = np.arange(len(examples))
        sides = {"response": SideVectors(encoded.response, rows)}
        if "context" in self.head.terms:
            sides["context"] = SideVectors(encoded.context, rows)
        if "reference" in self.head.terms:
            sides["reference"] = SideVectors(encoded.references, encoded.owner)
        projected = partial(project_side, projection=self.projection, normalise=self.normalise)
        forms = linear_forms(encoded, self.head, self.projection, self.normalise, self.references)

        def scores(compared: FloatArray, rows: Rows | None = None) -> FloatArray:
            return rescaled(forms(compared, rows), PREDICTED, self.scale)

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
            "name": _STORED[self.kind],
            "alpha": self.head.alpha,
            "beta": self.head.beta,
            "normalise": self.normalise,
            "references": self.references,
            "explained_variance": None if self.projection is None else self.projection.explained,
            "training": dict(self.training),
            **in_config(self.scale),
        }
        tensors: dict[str, FloatArray] = {MATRICES[term]: self.head.matrix(term) for term in self.head.terms}
        if self.projection is not None:
            tensors["projection.mean"] = self.projection.mean
            tensors["projection.components"] = self.projection.components
        return Parts(config, tensors)

    def _text_card(self) -> str:
        kept = "not projected" if self.projection is None else f"projected to {len(self.head.M)} components"
        encoder = self.encoder.parts.config["kind"]
        untrained = "Its head is as it was before training (best epoch 0): it has learnt nothing from these ratings. "
        return _CARD.format(
            title=_TITLES[self.kind],
            scale=in_words(self.scale),
            needs=" and ".join(("response", *self.head.terms)),
            source=self.card.source,
            encoder=f"{_ENCODERS.get(encoder, encoder)} ({self.encoder.width} dimensions), {kept}",
            training=training_lines(self),
            untrained=untrained * (self.training.get("best_epoch") == 0),
            order="Word order does not reach it: a shuffled response gets the same score. " * (encoder == "average"),
        )


def training_lines(judge: AdemJudge) -> str:
    """Return what a judge was trained on and how that went, a line each, for its card."""
    return "\n".join(f"- {key.replace('_', ' ')}: {_shown(value)}" for key, value in judge.training.items())


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    if value is None or value == {}:
        return "none"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_shown(inner)}" for key, inner in value.items())
    return ", ".join(map(_shown, value)) if isinstance(value, list) else str(value)


def from_parts(parts: Parts, encoder: PortableEncoder | None = None) -> AdemJudge:
    """Return the judge with these parts of a folder, over the encoder in it or that of its panel.

    Raises:
        DataError: a part is missing, or is not what it must be.
        MissingExtra: a library that its encoder needs is not installed.
    """
    encoder = encoder or encoder_of(parts.inner(INSIDE))
    config, tensors = parts.config, parts.tensors
    stored = value_in(config, "name", Literal[tuple(_STORED.values())])
    kind = next(kind for kind in get_args(Kind) if _STORED[kind] == stored)
    projection, width = None, encoder.width
    if config.get("explained_variance", 0) is not None:
        mean = tensor(tensors, "projection.mean", (width,))
        components = tensor(tensors, "projection.components", (None, width))
        projection = Projection(mean, components, value_in(config, "explained_variance", Share))
        width = len(components)
    # The matrix of a term that does not count stays the identity, and is not stored.
    matrices = {name: np.eye(width) for name in MATRICES.values()}
    matrices |= {MATRICES[term]: tensor(tensors, MATRICES[term], (width, width)) for term in TERMS[kind]}
    if not (beta := value_in(config, "beta", float)):
        raise DataError("is 0, expected a number to divide by", AGAIN, field="beta")
    return AdemJudge(
        kind=kind,
        encoder=encoder,
        normalise=value_in(config, "normalise", Normalise),
        projection=projection,
        head=AdemHead(**matrices, alpha=value_in(config, "alpha", float), beta=beta, terms=TERMS[kind]),
        references=value_in(config, "references", References),
        training=training_in(config),
        scale=from_config(config),
    )
