"""The judge over views: features of an example, a head over them, ratings with an interval. Shapes: N examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from rejoinder.data.folders import Parts, write_folder
from rejoinder.data.scales import Scale, in_words
from rejoinder.example import Example
from rejoinder.judges.answers import FITTED_LINES, UNREAD, explained_on, from_config, in_config, on_scale, training_in
from rejoinder.judges.domain import FormRule
from rejoinder.judges.features.resources import Resources, load_resources
from rejoinder.judges.features.table import Features, FeatureSet
from rejoinder.judges.learner import PREDICTED
from rejoinder.judges.notes import CONTEXT_CUT, CUT, FORM_NOTES, UNLIKE, text_notes, usual_notes, with_domain
from rejoinder.judges.regression.explaining import explanations_of
from rejoinder.judges.regression.extent import Shown, bounded
from rejoinder.judges.regression.fit import Part, Way, parts_used
from rejoinder.judges.regression.parts import heads_in, with_heads
from rejoinder.scorer import Card, Explanation, Scores, Warnings
from rejoinder.text.normalize import visible

FAMILY = "views"
ADAPTED = "adapted"
"""What the record of the training calls an adaptation to a user's lines."""
EMPTY = "the response is empty"


@dataclass(frozen=True)
class ViewsJudge:
    """A fitted judge.

    Attributes:
        material: what its views are made of.
        heads: what predicts, with a reference and without.
        training: how it was fitted, JSON values.
        scale: the lowest and highest rating that it answers with; its heads predict 1 to 5.
        name: on its card.
        version: goes up when its scores change.
        domain: see `Card.domain`.
        form: what tells replies out of its domain by their form; only the bundled judges have it. Others go by how
            far a line is from those that they were fitted on.
    """

    material: Resources
    heads: Mapping[Way, Part]
    training: Mapping[str, Any]
    scale: Scale = PREDICTED
    name: str = "judge"
    version: int = 1
    domain: str = FITTED_LINES
    form: FormRule | None = None

    @property
    def views(self) -> FeatureSet:
        """What it reads."""
        return self.material.features

    @cached_property
    def card(self) -> Card:
        """The card; scores lie inside the scale."""
        return Card(
            name=self.name,
            summary=f"A judge: the rating from {in_words(self.scale)} that people would give, predicted",
            kind="judge",
            needs=frozenset(self.heads) if len(self.heads) == 1 else frozenset({"context or reference"}),
            range=self.scale,
            version=self.version,
            source="boosted trees and kernel ridge regression over views of an example (docs/judge.md)",
            notes=(
                f"Scores lie from {in_words(self.scale)} and reach neither end: the outer tenths are bent, so the best "
                "of several replies keep their order. Each comes with an interval that is meant to hold 90 % of "
                "ratings."
            ),
            domain=self.domain,
            unread=UNREAD,
            reads_line=self.material.reads_line,
            explains=True,
        )

    @property
    def trained_on(self) -> frozenset[str]:
        """The data sets that it was fitted on."""
        return frozenset(self.training.get("datasets", ()))

    @cached_property
    def options(self) -> Mapping[str, Any]:
        """Digest of everything that decides a score."""
        return {"model": self.parts.digest}

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """Predicted ratings with their intervals; an empty response is unscored."""
        found = {name: np.full(len(examples), np.nan) for name in ("values", "low", "high")}
        unlike: set[int] = set()
        shown = list(map(self.views.shown, examples))
        read = [one.example for one in shown]
        reasons = _empty(read)
        for way, rows in self._shared(read, reasons).items():
            own = [read[row] for row in rows]
            part, features = self.heads[way], self.features(own, way)
            answers = part.calibration.answers(part.predict(features, own))
            for name, values in zip(found, answers, strict=True):
                found[name][rows] = values
            raw = [bounded(examples[row]) for row in rows]  # the form of a text is in its markup too
            outside = part.unlike(features) if self.form is None else self.form.outside(raw)
            unlike.update(rows[place] for place in np.flatnonzero(outside).tolist())
        outcome = Scores(
            found["values"],
            reasons,
            warnings=self._notes(examples, shown, unlike),
            low=found["low"],
            high=found["high"],
        )
        return on_scale(outcome, PREDICTED, self.scale)

    def explain(self, examples: Sequence[Example]) -> list[Explanation | None]:
        """What moved each rating, by the groups of features; None where there is no score."""
        found: list[Explanation | None] = [None] * len(examples)
        read = [self.views.shown(example).example for example in examples]
        for way, rows in self._shared(read, _empty(read)).items():
            own = [read[row] for row in rows]
            told = explanations_of(self.heads[way], self.views.groups, self.features(own, way), own)
            for row, one in zip(rows, told, strict=True):
                found[row] = explained_on(one, PREDICTED, self.scale)
        return found

    def features(self, examples: Sequence[Example], way: Way) -> Features:
        """[N, F] what the head of one way reads."""
        return self.views.compute(examples)[:, self.heads[way].columns]

    def _shared(self, examples: Sequence[Example], reasons: Mapping[int, str]) -> dict[Way, list[int]]:
        """The rows that each head scores."""
        context = np.array([any(map(visible, one.context)) for one in examples], np.bool_)
        reference = np.array([any(map(visible, one.references)) for one in examples], np.bool_)
        shared: dict[Way, list[int]] = {}
        for row, way in enumerate(parts_used(self.heads, context, reference)):
            if way is not None and row not in reasons:
                shared.setdefault(way, []).append(row)
        return shared

    def _notes(self, examples: Sequence[Example], shown: Sequence[Shown], unlike: set[int]) -> Warnings:
        """What the judge cannot judge."""
        usual = usual_notes(self.training.get("noted", {}))
        if ADAPTED in self.training:  # its domain is the user's lines, and a distance tells how long those are
            usual |= FORM_NOTES
        told = text_notes(list(map(bounded, examples)), ("context",))
        cut = self.material.truncated([one.example.response for one in shown])
        found = {}
        for row in range(len(examples)):
            notes = [note for note in told.get(row, ()) if note not in usual]
            notes += [CUT] * (row in cut or shown[row].cut) + [CONTEXT_CUT] * shown[row].context_cut
            notes += [UNLIKE] * (row in unlike)
            if notes:
                found[row] = with_domain(notes)
        return found

    @cached_property
    def parts(self) -> Parts:
        """Everything that decides a score."""
        own = Parts({"kind": FAMILY, "training": dict(self.training), **in_config(self.scale)}, {})
        return self.material.store(with_heads(own, self.views, self.heads))

    def save(self, folder: str | Path, *, force: bool = False) -> None:
        """See `PortableJudge.save`."""
        write_folder(folder, self.parts, self.text_card(), force=force)

    def text_card(self) -> str:
        """The card for people."""
        lines = "\n".join(f"- {key.replace('_', ' ')}: {value}" for key, value in self.training.items())
        return f"# Judge over views\n\n{self.card.summary}. {self.card.notes}\n\n## Training\n\n{lines}\n"


def _empty(examples: Sequence[Example]) -> dict[int, str]:
    """The rows of which nothing can be seen, and why they have no score."""
    return {row: EMPTY for row, example in enumerate(examples) if not visible(example.response)}


def from_parts(parts: Parts) -> ViewsJudge:
    """The judge with these parts, as its folder held them.

    Raises:
        DataError: a part is missing, or is not what it must be.
        MissingExtra: a library that an encoder of the user's needs is not installed.
    """
    material = load_resources(parts)
    heads, training = heads_in(parts, material.features), training_in(parts.config)
    return ViewsJudge(material, heads, training, from_config(parts.config))
