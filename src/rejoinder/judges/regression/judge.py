"""The judge over features: features of an example, a head over them, ratings with an interval.

Explanations come from the head itself: kernel, trees and linear functions give the contribution of each feature, and
the calibration turns it into rating points. Shapes: N examples, F features.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

import numpy as np

from rejoinder.data.folders import Parts, write_folder
from rejoinder.data.scales import Scale, in_words
from rejoinder.example import Example
from rejoinder.judges.domain import (
    CONTEXT_CUT,
    CUT,
    FITTED_LINES,
    FORM_WARNINGS,
    NEVER_READ,
    UNLIKE,
    FormRule,
    common_warnings,
    text_warnings,
    with_domain,
)
from rejoinder.judges.features.extent import Shown, bounded
from rejoinder.judges.features.resources import Resources, load_resources
from rejoinder.judges.features.table import Features, FeatureSet, Group
from rejoinder.judges.protocol import PREDICTED, Side
from rejoinder.judges.regression.calibration import squash
from rejoinder.judges.regression.correction import RAW_TEXT_FEATURES
from rejoinder.judges.regression.folder import heads_in, with_heads
from rejoinder.judges.regression.head import FittedHead, heads_used, sides_present
from rejoinder.judges.scales import explained_on, from_config, in_config, on_scale, training_in
from rejoinder.models.threads import one_thread
from rejoinder.scorer import Card, Explanation, Scores, Warnings
from rejoinder.text.normalize import visible

KIND = "views"
"""The kind in the folders of these judges."""
ADAPTED = "adapted"
"""The key of an adaptation in the record of the training."""
EMPTY = "the response is empty"


@dataclass(frozen=True)
class FeatureJudge:
    """A fitted judge.

    Attributes:
        resources: what its features are computed with.
        heads: for lines with references and for those without.
        training: how it was fitted, JSON values.
        scale: the lowest and highest rating of its answers; its heads predict 1 to 5.
        name: on its card.
        version: goes up when its scores change.
        domain: see `Card.domain`.
        form: finds replies out of domain by their form; only the bundled judges have it. Others go by the distance to
            the lines that they were fitted on.
    """

    resources: Resources
    heads: Mapping[Side, FittedHead]
    training: Mapping[str, Any]
    scale: Scale = PREDICTED
    name: str = "judge"
    version: int = 1
    domain: str = FITTED_LINES
    form: FormRule | None = None

    @property
    def feature_set(self) -> FeatureSet:
        """The features of an example."""
        return self.resources.features

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
            source="boosted trees and kernel ridge regression over features of an example (docs/explain/judge.md)",
            notes=(
                f"Scores lie from {in_words(self.scale)} and reach neither end: the outer tenths are bent, so the best "
                "of several replies keep their order. Each comes with an interval that is meant to hold 90 % of "
                "ratings."
            ),
            domain=self.domain,
            unread=NEVER_READ,
            reads_line=self.resources.reads_line,
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

    @one_thread()
    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """Return predicted ratings with their intervals; an empty response has no score."""
        values, low, high = (np.full(len(examples), np.nan) for _ in range(3))
        outside: set[int] = set()
        shown = list(map(self.feature_set.shown, examples))
        for head, rows, own, features in self._by_head([part.example for part in shown]):
            values[rows], low[rows], high[rows] = head.calibration.answers(head.predict(features, own))
            # The form of a text is in its markup too.
            raw = [bounded(examples[row]) for row in rows]
            flags = head.out_of_domain(features) if self.form is None else self.form.outside(raw)
            outside.update(rows[place] for place in np.flatnonzero(flags).tolist())
        reasons = {row: EMPTY for row, part in enumerate(shown) if not visible(part.example.response)}
        outcome = Scores(values, reasons, warnings=self._warnings(examples, shown, outside), low=low, high=high)
        return on_scale(outcome, PREDICTED, self.scale)

    @one_thread()
    def explain(self, examples: Sequence[Example]) -> list[Explanation | None]:
        """Return the contribution of each group of features to each rating; None for a missing score."""
        explanations: list[Explanation | None] = [None] * len(examples)
        groups, shown = self.feature_set.groups, map(self.feature_set.shown, examples)
        for head, rows, own, features in self._by_head([part.example for part in shown]):
            ratings = head.calibration.ratings
            before, after = ratings(np.array([head.expected])), ratings(head.predict(features, own))
            base, away = squash(before), after - before
            # Squashing a score into the scale leaves the same share of what each feature added.
            kept = np.divide(squash(after) - base, away, out=np.ones(len(away)), where=away != 0)
            points = head.contributions(features, own) * (head.calibration.stretch * kept)[:, None]
            # A head without a correction does not read the raw text, whose features come last.
            read = np.array([*(groups[column] for column in head.columns), *["form"] * len(RAW_TEXT_FEATURES)])
            read = read[: points.shape[1]]
            added = {group: points[:, read == group].sum(axis=1).tolist() for group in get_args(Group) if group in read}
            for place, row in enumerate(rows):
                moved = {group: values[place] for group, values in added.items()}
                explanations[row] = explained_on(Explanation(float(base[0]), moved), PREDICTED, self.scale)
        return explanations

    def _by_head(self, examples: Sequence[Example]) -> Iterator[tuple[FittedHead, list[int], list[Example], Features]]:
        """Yield each head, the rows [n] that it scores, their examples and the features [n, F] that it reads of them.

        Features are computed once for all heads.
        """
        used = heads_used(self.heads, *sides_present(examples))
        rows = [row for row, side in enumerate(used) if side is not None and visible(examples[row].response)]
        features = self.feature_set.compute([examples[row] for row in rows])
        for side, head in self.heads.items():
            places = [place for place, row in enumerate(rows) if used[row] == side]
            if places:
                own = [rows[place] for place in places]
                yield head, own, [examples[row] for row in own], features[places][:, head.columns]

    def _warnings(self, examples: Sequence[Example], shown: Sequence[Shown], outside: set[int]) -> Warnings:
        """Return what the judge cannot judge."""
        common = common_warnings(self.training.get("noted", {}))
        if ADAPTED in self.training:  # its domain is the user's lines, and a distance shows how long those are
            common |= FORM_WARNINGS
        of_texts = text_warnings(list(map(bounded, examples)), ("context",))
        cut = self.resources.truncated([part.example.response for part in shown])
        warnings = {}
        for row, part in enumerate(shown):
            notes = [note for note in of_texts.get(row, ()) if note not in common]
            notes += [CUT] * (row in cut or part.cut) + [CONTEXT_CUT] * part.context_cut + [UNLIKE] * (row in outside)
            if notes:
                warnings[row] = with_domain(notes)
        return warnings

    @cached_property
    def parts(self) -> Parts:
        """Everything that decides a score."""
        own = Parts({"kind": KIND, "training": dict(self.training), **in_config(self.scale)}, {})
        return self.resources.store(with_heads(own, self.feature_set, self.heads))

    def save(self, folder: str | Path, *, force: bool = False) -> None:
        """Write the judge as a folder; see `PortableJudge.save`."""
        lines = "\n".join(f"- {key.replace('_', ' ')}: {value}" for key, value in self.training.items())
        card = f"# Judge over features\n\n{self.card.summary}. {self.card.notes}\n\n## Training\n\n{lines}\n"
        write_folder(folder, self.parts, card, force=force)


def from_parts(parts: Parts) -> FeatureJudge:
    """Return the judge with these parts, as its folder held them.

    Raises:
        DataError: a part is missing or impossible.
        MissingExtra: a library that an encoder of the user needs is not installed.
    """
    resources = load_resources(parts)
    heads, training = heads_in(parts, resources.features), training_in(parts.config)
    return FeatureJudge(resources, heads, training, from_config(parts.config))
