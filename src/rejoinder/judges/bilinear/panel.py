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

from rejoinder.encoders import INSIDE, WORD_VECTORS, PortableEncoder, from_parts, load_encoder
from rejoinder.errors import DataError
from rejoinder.io.checks import AGAIN, inner
from rejoinder.io.folders import Parts, write_folder
from rejoinder.io.ratings import Scale
from rejoinder.io.scales import said
from rejoinder.judges.answers import PREDICTED, answer_scale, from_config, in_config, on_scale
from rejoinder.judges.bilinear.fit import FitOptions
from rejoinder.judges.bilinear.judge import TERMS, BilinearJudge, Kind, from_own_parts, training_lines
from rejoinder.judges.bilinear.sides import References
from rejoinder.judges.lines import RatedLines, encode_rated
from rejoinder.judges.train import Trained, fit_judge, split_lines
from rejoinder.records import Example, Given
from rejoinder.scorer import Advance, Card, Need, Outcome, ignore, missing_need

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
            summary=f"A judge: the rating from {said(self.scale)} that people would give, predicted",
            kind="judge",
            needs=self._needs,
            range=(None, None),
            version=self.version,
            source="Lowe et al. 2017, equation 1 and its two halves",
            notes=(
                f"Of {', '.join(self.members)} the first whose needs an example meets scores it. Nominally "
                f"{said(self.scale)}, not clipped."
            ),
        )

    @property
    def trained_on(self) -> frozenset[str]:
        """The data sets that a member was fitted on."""
        return frozenset().union(*(judge.trained_on for judge in self.members.values()))

    @cached_property
    def options(self) -> Mapping[str, Any]:
        """Digest of everything that decides a score."""
        return {**self.encoder.options, "model": self._parts.digest}

    def score_batch(self, examples: Sequence[Example]) -> Outcome:
        """Predicted ratings; unscored where no member can read what is there."""
        values = np.full(len(examples), np.nan)
        reasons: dict[int, str] = {}
        notes: dict[int, tuple[str, ...]] = {}
        rows: dict[Kind, list[int]] = {kind: [] for kind in self.members}
        for row, example in enumerate(examples):
            kind = self._member_for(example)
            if kind is None:
                lacking = (missing_need(judge.card, example) for judge in self.members.values())
                reasons[row] = " and ".join(dict.fromkeys(filter(None, lacking)))
            else:
                rows[kind].append(row)
        for kind, places in rows.items():
            outcome = self.members[kind].score_batch([examples[place] for place in places])
            values[places] = outcome.values
            reasons.update({places[row]: reason for row, reason in outcome.reasons.items()})
            notes.update({places[row]: found for row, found in outcome.notes.items()})
        return on_scale(Outcome(values, reasons, notes=notes), PREDICTED, self.scale)

    def save(self, folder: str | Path, *, force: bool = False) -> None:
        """Write the panel as one folder that needs nothing outside it.

        Args:
            folder: where to.
            force: replace a model that stands there.

        Raises:
            UsageError: a model stands at `folder` and is not to be replaced, or something that is no model does.
        """
        write_folder(folder, self._parts, self.text_card(), force=force)

    def text_card(self) -> str:
        """The card for people."""
        members = "\n\n".join(f"## {kind.upper()}\n\n{training_lines(judge)}" for kind, judge in self.members.items())
        absent = "".join(f"## {kind.upper()}\n\nNot there: {why}\n\n" for kind, why in self.absent.items())
        return f"# Panel of judges\n\n{self.card.notes}\n\n{absent}{members}\n"

    @property
    def _needs(self) -> frozenset[Need]:
        """What every example must have: one of both sides, where there is a member for each."""
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
    def _parts(self) -> Parts:
        """Everything learned or looked up, the encoder once."""
        config = {"kind": FAMILY, "members": list(self.members), "absent": dict(self.absent), **in_config(self.scale)}
        parts = Parts(config, {})
        for kind, judge in self.members.items():
            parts = parts.holding(kind, judge.own_parts)
        return parts.holding(INSIDE, self.encoder.parts)


def from_folder(parts: Parts) -> Panel:
    """The panel with these parts, as its folder held them.

    Raises:
        MissingExtra: a library that its encoder needs is not installed.
    """
    encoder = from_parts(parts.inner(INSIDE))
    named, why = parts.config.get("members"), inner(parts.config, "absent")
    if not isinstance(named, list) or not named or {*map(str, named), *why} - {*MEMBERS}:
        raise DataError(f"is {named!r:.60}, expected some of {', '.join(MEMBERS)}", AGAIN, field="members")
    members: dict[Kind, BilinearJudge] = {kind: from_own_parts(parts.inner(kind), encoder) for kind in named}
    if wrong := next((kind for kind, judge in members.items() if judge.kind != kind), None):
        raise DataError(f"is {members[wrong].kind}, expected {wrong}", AGAIN, field=f"{wrong}.name")
    absent = {kind: str(why[kind]) for kind in MEMBERS if kind in why}
    return Panel(members, absent, scale=from_config(parts.config))


def train_panel(
    examples: Given,
    encoder: PortableEncoder | str | Path = WORD_VECTORS,
    options: FitOptions | None = None,
    *,
    references: References | None = None,
    scale: Scale | None = None,
    seed: int = 0,
    advance: Advance = ignore,
) -> tuple[Panel, list[Trained]]:
    """A panel fitted on rated examples, and how each of its members came about.

    Contexts are split once, so that no member is tested on a context that another was fitted on. A member that the
    examples do not suffice for is left out, and the panel says why.

    Args:
        examples: rated examples, in any form that `examples_of` takes.
        encoder: texts to vectors, or what `load_encoder` makes it from.
        options: how each is fitted; None takes `FitOptions()`.
        references: how to score against several references; None takes the mean.
        scale: see `train_judge`.
        seed: decides the split and the order of the examples.
        advance: called with 1 after each epoch.

    Raises:
        DataError: the examples suffice for no member; the reasons of all.
    """
    encoder = load_encoder(encoder) if isinstance(encoder, (str, Path)) else encoder
    lines = encode_rated(examples, encoder, MEMBERS, scale)
    panel, members = fit_panel(lines, options, references=references, seed=seed, advance=advance)
    return replace(panel, scale=answer_scale(lines.examples, scale)), members


def fit_panel(
    lines: RatedLines,
    options: FitOptions | None = None,
    *,
    references: References | None = None,
    seed: int = 0,
    advance: Advance = ignore,
) -> tuple[Panel, list[Trained]]:
    """`train_panel` on lines that were encoded before, for all of `MEMBERS`."""
    assigned = split_lines(lines, seed)
    found: list[Trained] = []
    absent: dict[Kind, str] = {}
    for kind in MEMBERS:
        counted = references if "reference" in TERMS[kind] else None
        try:
            trained = fit_judge(lines, kind, options, references=counted, seed=seed, assigned=assigned, advance=advance)
        except DataError as error:
            absent[kind] = error.problem
        else:
            found.append(trained)
    if not found:
        raise DataError("; ".join(dict.fromkeys(absent.values())), "Rate responses to more contexts")
    return Panel({trained.judge.kind: trained.judge for trained in found}, absent), found
