"""A panel of ADEM judges over one encoder: each example goes to the one that uses all its texts.

ADEM needs a reference and C-ADEM cannot use one; people have some for some responses. All members predict the same
thing on the same scale, so their scores are one column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np

from rejoinder.data.folders import AGAIN, Parts, value_in, write_folder
from rejoinder.data.scales import Scale, in_words
from rejoinder.errors import DataError
from rejoinder.example import Example
from rejoinder.judges.adem.head import Terms
from rejoinder.judges.adem.judge import AdemJudge, Kind, training_lines
from rejoinder.judges.adem.judge import from_parts as member_from
from rejoinder.judges.adem.learner import AdemLearner, Lines, encode_lines, learners
from rejoinder.judges.domain import FITTED_LINES, NEVER_READ
from rejoinder.judges.protocol import PREDICTED, LearnerOptions, PortableJudge, Slopes, Space
from rejoinder.judges.scales import from_config, in_config
from rejoinder.models import INSIDE, encoder_of
from rejoinder.models.encoders import PortableEncoder
from rejoinder.scorer import Card, Need, Scores, missing_need

FAMILY = "panel"
MEMBERS: tuple[Kind, ...] = ("adem", "c-adem", "r-adem")
"""In the order in which an example looks for the first whose needs it meets."""


@dataclass(frozen=True)
class Panel:
    """Trained judges over one encoder, some of `MEMBERS`; `absent` is why each of the others is missing."""

    members: Mapping[Kind, AdemJudge]
    absent: Mapping[Kind, str]
    scale: Scale = PREDICTED

    def __post_init__(self) -> None:
        members = {kind: replace(judge, scale=self.scale) for kind, judge in self.members.items()}
        object.__setattr__(self, "members", members)

    @property
    def card(self) -> Card:
        """The card; predictions are not clipped to the scale."""
        needs: frozenset[Need] = frozenset({"context", "reference"})
        if {"c-adem", "r-adem"} <= self.members.keys():
            needs = frozenset({"context or reference"})
        elif alone := [judge for kind, judge in self.members.items() if kind != "adem"]:
            needs = alone[0].card.needs  # ADEM reads both sides, so it lets in no further example
        return Card(
            name=FAMILY,
            summary=f"A judge: the rating from {in_words(self.scale)} that people would give, predicted",
            kind="judge",
            needs=needs,
            range=(None, None),
            source="Lowe et al. 2017, equation 1 and its two halves",
            notes=(
                f"Of {', '.join(self.members)} the first whose needs an example meets scores it. Nominally "
                f"{in_words(self.scale)}, not clipped."
            ),
            domain=FITTED_LINES,
            unread=NEVER_READ,
        )

    @property
    def trained_on(self) -> frozenset[str]:
        """The data sets that a member was fitted on."""
        return frozenset().union(*(judge.trained_on for judge in self.members.values()))

    @property
    def training(self) -> Mapping[str, Any]:
        """Return the training record of each member, by kind."""
        return {kind: judge.training for kind, judge in self.members.items()}

    @property
    def encoder(self) -> PortableEncoder:
        """The one encoder of all."""
        return next(iter(self.members.values())).encoder

    @cached_property
    def options(self) -> Mapping[str, Any]:
        """Digest of everything that decides a score."""
        return {**self.encoder.options, "model": self.parts.digest}

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """Return predicted ratings; unscored where no member can read what is there."""
        values = np.full(len(examples), np.nan)
        warnings: dict[int, tuple[str, ...]] = {}
        shared, reasons = self._shared(examples)
        for kind, rows in shared.items():
            outcome = self.members[kind].score_batch([examples[row] for row in rows])
            values[rows] = outcome.values
            reasons |= {rows[place]: reason for place, reason in outcome.reasons.items()}
            warnings |= {rows[place]: texts for place, texts in outcome.warnings.items()}
        return Scores(values, reasons, warnings=warnings)

    def slopes(self, examples: Sequence[Example], vectors: Any = None) -> Slopes:
        """See `Differentiable.slopes`; each example by the member that scores it."""
        values = np.full(len(examples), np.nan)
        result = Slopes(values, *np.full((2, len(examples), self.encoder.width), np.nan))
        for kind, rows in self._shared(examples)[0].items():
            chosen = None if vectors is None else vectors[rows]
            slopes = self.members[kind].slopes([examples[row] for row in rows], chosen)
            for whole, part in zip(result, slopes, strict=True):
                whole[rows] = part
        return result

    def spaces(self, examples: Sequence[Example]) -> list[Space]:
        """See `Differentiable.spaces`; one each member that scores some of them."""
        spaces = []
        for kind, places in self._shared(examples)[0].items():
            rows = np.array(places, dtype=np.intp)
            (space,) = self.members[kind].spaces([examples[place] for place in places])
            sides = {name: side._replace(rows=rows[side.rows]) for name, side in space.sides.items()}
            spaces.append(replace(space, rows=rows, sides=sides))
        return spaces

    def _shared(self, examples: Sequence[Example]) -> tuple[dict[Kind, list[int]], dict[int, str]]:
        """Return the rows that each member scores, and why none scores the others."""
        rows: dict[Kind, list[int]] = {}
        reasons: dict[int, str] = {}
        cards = {kind: judge.card for kind, judge in self.members.items()}
        for row, example in enumerate(examples):
            # By what is there alone: who scores an example must not depend on the others of its batch.
            missing = {kind: missing_need(card, example) for kind, card in cards.items()}
            if able := [kind for kind, need in missing.items() if need is None]:
                rows.setdefault(able[0], []).append(row)
            else:
                reasons[row] = " and ".join(dict.fromkeys(filter(None, missing.values())))
        return rows, reasons

    def save(self, folder: str | Path, *, force: bool = False) -> None:
        """See `PortableJudge.save`."""
        members = "\n\n".join(f"## {kind.upper()}\n\n{training_lines(judge)}" for kind, judge in self.members.items())
        absent = "".join(f"## {kind.upper()}\n\nNot there: {why}\n\n" for kind, why in self.absent.items())
        card = f"# Panel of judges\n\n{self.card.notes}\n\n{absent}{members}\n"
        write_folder(folder, self.parts, card, force=force)

    @cached_property
    def parts(self) -> Parts:
        """Everything learned or looked up, the encoder once."""
        config = {"kind": FAMILY, "members": list(self.members), "absent": dict(self.absent), **in_config(self.scale)}
        parts = Parts(config, {})
        for kind, judge in self.members.items():
            parts = parts.holding(kind, replace(judge, scale=PREDICTED).own_parts)
        return parts.holding(INSIDE, self.encoder.parts)


def from_parts(parts: Parts) -> Panel:
    """Return the panel with these parts of a folder; raises what `judge.from_parts` does."""
    encoder = encoder_of(parts.inner(INSIDE))
    names, why = parts.config.get("members"), value_in(parts.config, "absent", dict[str, Any])
    if not isinstance(names, list) or not names or {*map(str, names), *why} - {*MEMBERS}:
        raise DataError(f"is {names!r:.60}, expected some of {', '.join(MEMBERS)}", AGAIN, field="members")
    members: dict[Kind, AdemJudge] = {kind: member_from(parts.inner(kind), encoder) for kind in names}
    if wrong := next((kind for kind, judge in members.items() if judge.kind != kind), None):
        raise DataError(f"is {members[wrong].kind}, expected {wrong}", AGAIN, field=f"{wrong}.name")
    absent = {kind: str(why[kind]) for kind in MEMBERS if kind in why}
    return Panel(members, absent, scale=from_config(parts.config))


@dataclass(frozen=True)
class PanelLearner:
    """Learns the members over one encoder."""

    members: tuple[AdemLearner, ...]
    name: str = FAMILY

    @property
    def options(self) -> Mapping[str, Any]:
        """Return the options of a member: all are fitted alike."""
        return self.members[0].options

    def encode(self, examples: Sequence[Example]) -> Lines:
        """Return vectors of every side, once for all members; raises what theirs do."""
        sides: Terms = tuple(dict.fromkeys(side for member in self.members for side in member.needs))
        return encode_lines(self.members[0].encoder, examples, sides)

    def combine(self, judges: Mapping[str, PortableJudge], absent: Mapping[str, str], scale: Scale) -> Panel:
        """Return the panel."""
        members = {cast("Kind", name): judge for name, judge in judges.items() if isinstance(judge, AdemJudge)}
        return Panel(members, {cast("Kind", name): why for name, why in absent.items()}, scale)


def learner(name: str, choices: LearnerOptions) -> PanelLearner:
    """Return the learner of a panel; for the rest see `learners`."""
    return PanelLearner(tuple(learners(MEMBERS, name, choices)))
