"""A panel of ADEM judges over one encoder: each example goes to the one that reads all that is there.

ADEM needs a reference and C-ADEM cannot use one; people have some for some responses. All members predict the same
thing on the same scale, so their scores stand in one column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from rejoinder.data.folders import AGAIN, Parts, value_in, write_folder
from rejoinder.data.scales import Scale, in_words, rescaled
from rejoinder.errors import DataError
from rejoinder.example import Example
from rejoinder.judges.adem.judge import BilinearJudge, Kind, from_own_parts, training_lines
from rejoinder.judges.answers import FITTED_LINES, UNREAD, from_config, in_config, on_scale
from rejoinder.judges.differentiable import Slopes, Space
from rejoinder.judges.learner import PREDICTED, Rows
from rejoinder.models import INSIDE, encoder_of
from rejoinder.models.encoders import PortableEncoder
from rejoinder.scorer import Card, FloatArray, Need, Scores, missing_need

FAMILY = "panel"
MEMBERS: tuple[Kind, ...] = ("adem", "c-adem", "r-adem")
"""In the order in which an example looks for the first whose needs it meets."""


@dataclass(frozen=True)
class Panel:
    """Trained judges over one encoder.

    Attributes:
        members: by kind; not all of `MEMBERS` need be there.
        absent: why each of the others is not there.
        name: the name on its card.
        version: goes up when its scores change.
        scale: the lowest and highest rating that it answers with, nominally; its members predict 1 to 5.
    """

    members: Mapping[Kind, BilinearJudge]
    absent: Mapping[Kind, str]
    name: str = FAMILY
    version: int = 1
    scale: Scale = PREDICTED

    @property
    def card(self) -> Card:
        """The card; predictions are not clipped to the scale."""
        return Card(
            name=self.name,
            summary=f"A judge: the rating from {in_words(self.scale)} that people would give, predicted",
            kind="judge",
            needs=self._needs,
            range=(None, None),
            version=self.version,
            source="Lowe et al. 2017, equation 1 and its two halves",
            notes=(
                f"Of {', '.join(self.members)} the first whose needs an example meets scores it. Nominally "
                f"{in_words(self.scale)}, not clipped."
            ),
            domain=FITTED_LINES,
            unread=UNREAD,
        )

    @property
    def trained_on(self) -> frozenset[str]:
        """The data sets that a member was fitted on."""
        return frozenset().union(*(judge.trained_on for judge in self.members.values()))

    @property
    def training(self) -> Mapping[str, Any]:
        """How each member was trained, by kind."""
        return {kind: judge.training for kind, judge in self.members.items()}

    @cached_property
    def options(self) -> Mapping[str, Any]:
        """Digest of everything that decides a score."""
        return {**self.encoder.options, "model": self.parts.digest}

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """Predicted ratings; unscored where no member can read what is there."""
        values = np.full(len(examples), np.nan)
        notes: dict[int, tuple[str, ...]] = {}
        shared, reasons = self._shared(examples)
        for kind, places in shared.items():
            outcome = self.members[kind].score_batch([examples[place] for place in places])
            values[places] = outcome.values
            reasons.update({places[row]: reason for row, reason in outcome.reasons.items()})
            notes.update({places[row]: found for row, found in outcome.warnings.items()})
        return on_scale(Scores(values, reasons, warnings=notes), PREDICTED, self.scale)

    def slopes(self, examples: Sequence[Example], vectors: FloatArray | None = None) -> Slopes:
        """See `Differentiable.slopes`; each example by the member that scores it."""
        values = np.full(len(examples), np.nan)
        found = {name: np.full((len(examples), self.encoder.width), np.nan) for name in ("vectors", "gradients")}
        for kind, places in self._shared(examples)[0].items():
            given = None if vectors is None else vectors[places]
            slopes = self.members[kind].slopes([examples[place] for place in places], given)
            values[places] = slopes.values
            found["vectors"][places], found["gradients"][places] = slopes.vectors, slopes.gradients
        stretch = (self.scale[1] - self.scale[0]) / (PREDICTED[1] - PREDICTED[0])
        return Slopes(rescaled(values, PREDICTED, self.scale), found["vectors"], found["gradients"] * stretch)

    def spaces(self, examples: Sequence[Example]) -> list[Space]:
        """See `Differentiable.spaces`; one each member that scores some of them."""

        def answering(space: Space, places: list[int]) -> Space:
            rows = np.array(places, dtype=np.intp)
            sides = {name: side._replace(rows=rows[side.rows]) for name, side in space.sides.items()}

            def scores(compared: FloatArray, rows: Rows | None = None) -> FloatArray:
                return rescaled(space.scores(compared, rows), PREDICTED, self.scale)

            return replace(space, rows=rows, sides=sides, scores=scores)

        return [
            answering(space, places)
            for kind, places in self._shared(examples)[0].items()
            for space in self.members[kind].spaces([examples[place] for place in places])
        ]

    def _shared(self, examples: Sequence[Example]) -> tuple[dict[Kind, list[int]], dict[int, str]]:
        """The rows that each member scores, and why none scores the others."""
        rows: dict[Kind, list[int]] = {}
        reasons: dict[int, str] = {}
        for row, example in enumerate(examples):
            # By what is there alone: who scores an example must not depend on the others of its batch.
            kind = self._member_for(example)
            if kind is None:
                lacking = (missing_need(judge.card, example) for judge in self.members.values())
                reasons[row] = " and ".join(dict.fromkeys(filter(None, lacking)))
            else:
                rows.setdefault(kind, []).append(row)
        return rows, reasons

    def save(self, folder: str | Path, *, force: bool = False) -> None:
        """See `PortableJudge.save`."""
        write_folder(folder, self.parts, self.text_card(), force=force)

    def text_card(self) -> str:
        """The card for people."""
        members = "\n\n".join(f"## {kind.upper()}\n\n{training_lines(judge)}" for kind, judge in self.members.items())
        absent = "".join(f"## {kind.upper()}\n\nNot there: {why}\n\n" for kind, why in self.absent.items())
        return f"# Panel of judges\n\n{self.card.notes}\n\n{absent}{members}\n"

    @property
    def _needs(self) -> frozenset[Need]:
        """What every example must have: one of both sides, where there is a member for each."""
        # ADEM reads both sides, so it lets in no example that C-ADEM or R-ADEM would not.
        if {"c-adem", "r-adem"} <= self.members.keys():
            return frozenset({"context or reference"})
        either: Need = "context" if "c-adem" in self.members else "reference"
        return (
            frozenset({either}) if {"c-adem", "r-adem"} & self.members.keys() else frozenset({"context", "reference"})
        )

    def _member_for(self, example: Example) -> Kind | None:
        """Which member scores an example."""
        able = (kind for kind, judge in self.members.items() if missing_need(judge.card, example) is None)
        return next(able, None)

    @property
    def encoder(self) -> PortableEncoder:
        """The one encoder of all."""
        return next(iter(self.members.values())).encoder

    @cached_property
    def parts(self) -> Parts:
        """Everything learned or looked up, the encoder once."""
        config = {"kind": FAMILY, "members": list(self.members), "absent": dict(self.absent), **in_config(self.scale)}
        parts = Parts(config, {})
        for kind, judge in self.members.items():
            parts = parts.holding(kind, judge.own_parts)
        return parts.holding(INSIDE, self.encoder.parts)


def from_parts(parts: Parts) -> Panel:
    """The panel with these parts, as its folder held them.

    Raises:
        MissingExtra: a library that its encoder needs is not installed.
    """
    encoder = encoder_of(parts.inner(INSIDE))
    named, why = parts.config.get("members"), value_in(parts.config, "absent", dict[str, Any])
    if not isinstance(named, list) or not named or {*map(str, named), *why} - {*MEMBERS}:
        raise DataError(f"is {named!r:.60}, expected some of {', '.join(MEMBERS)}", AGAIN, field="members")
    members: dict[Kind, BilinearJudge] = {kind: from_own_parts(parts.inner(kind), encoder) for kind in named}
    if wrong := next((kind for kind, judge in members.items() if judge.kind != kind), None):
        raise DataError(f"is {members[wrong].kind}, expected {wrong}", AGAIN, field=f"{wrong}.name")
    absent = {kind: str(why[kind]) for kind in MEMBERS if kind in why}
    return Panel(members, absent, scale=from_config(parts.config))
