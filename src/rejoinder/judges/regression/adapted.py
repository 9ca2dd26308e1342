"""A judge over views adapted to one user: each of its heads that the user's lines suffice for, and the others left out.

Shapes: N items (rated lines, or pairs of replies), n those that one head reads, F its features.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rejoinder.data.scales import Scale, required
from rejoinder.example import Example, Pair
from rejoinder.judges.features.table import Features
from rejoinder.judges.learner import Rows
from rejoinder.judges.notes import shares, text_notes, usual_share
from rejoinder.judges.regression.adapt import Adaptation, raw_features, table_of
from rejoinder.judges.regression.adapting import (
    FEWEST_FOLDS,
    NO_CORRECTION,
    Adapting,
    Choices,
    Ratings,
    balanced,
    fit_chosen,
    left_out,
)
from rejoinder.judges.regression.calibration import Calibration, with_interval
from rejoinder.judges.regression.fit import WAYS, Part, Way, parts_used
from rejoinder.judges.regression.judge import ADAPTED, ViewsJudge
from rejoinder.judges.regression.likeness import USUAL, Likeness, cloud_of
from rejoinder.judges.regression.linear import SILENT, Linear
from rejoinder.scorer import FloatArray
from rejoinder.text.normalize import visible

FEWEST = 30  # items of a head; of fewer, folds of them tell nothing
_CONFIDENCE = 0.95  # that no larger share of further lines than promised is out of domain
_FEWEST_IN_BIN = 100  # lines in a bin of the intervals
_AS_THEY_ARE = Calibration(0.0, 0.0, 1.0, *(np.zeros(1) for _ in range(3)))


@dataclass(frozen=True)
class Own:
    """What one head reads of the user's items.

    Attributes:
        part: the head before.
        rows: [n] which of the N items.
        replies: the texts, those of both replies of a pair.
        features: [n, F] or, of pairs, [2 n, F], of the replies.
        task: fits corrections.
        before: [n] what the judge says without one: ratings, or by how much the preferred reply is ahead.
    """

    part: Part
    rows: Rows
    replies: Sequence[Example]
    features: Features
    task: Adapting
    before: FloatArray


@dataclass(frozen=True)
class Adaptable:
    """A judge and what it may be adapted to.

    Attributes:
        judge: before.
        own: by way of reading, what the user's items suffice for.
        used: [N] the way that reads each item, or None.
        groups: [N] conversations.
    """

    judge: ViewsJudge
    own: Mapping[Way, Own]
    used: Sequence[Way | None]
    groups: Rows

    def before(self) -> FloatArray:
        """[N] what the judge says without adaptation; NaN where nothing reads an item."""
        return self._gathered({way: one.before for way, one in self.own.items()})

    def left_out(self, folds: Rows, rng: np.random.Generator, among: Rows | None = None) -> FloatArray:
        """[N] what adapted judges say of each item, each fitted on items `among` those of other folds; else on all."""
        kept = np.ones(len(self.used), bool) if among is None else np.isin(np.arange(len(self.used)), among)
        return self._gathered({way: _left_out(one, folds, kept, rng) for way, one in self.own.items()})

    def adapted(
        self, folds: Rows, rng: np.random.Generator, training: Mapping[str, Any], scale: Scale, *, corrected: bool
    ) -> ViewsJudge:
        """The adapted judge.

        Args:
            folds: [N] those that its intervals are worked out by.
            rng: decides what is random.
            training: what its record says of the adaptation.
            scale: that it answers on.
            corrected: whether more is fitted than a straight line over what its heads predict.
        """
        heads = {way: _part(one, folds, rng, corrected=corrected) for way, one in self.own.items()}
        training = self._training(training)
        return ViewsJudge(material=self.judge.material, heads=heads, training=training, scale=required(scale))

    def _training(self, added: Mapping[str, Any]) -> Mapping[str, Any]:
        """The record of the training, with what the adaptation adds."""
        before = self.judge.training
        replies = list(chain.from_iterable(one.replies for one in self.own.values()))
        noted = dict(before.get("noted", {}))
        for note, share in shares(text_notes(replies, ("context",)), len(replies)).items():
            noted[note] = max(usual_share(share, len(replies)), noted.get(note, 0.0))
        datasets = {**before.get("datasets", {}), **added["datasets"]}
        return {**before, "datasets": datasets, "noted": noted, ADAPTED: dict(added)}

    def _gathered(self, found: Mapping[Way, FloatArray]) -> FloatArray:
        """[N] values, each from the way that reads the item."""
        values = np.full(len(self.used), np.nan)
        for way, one in self.own.items():
            asked = np.array([self.used[row] == way for row in one.rows.tolist()], bool)
            values[one.rows[asked]] = found[way][asked]
        return values


def of_ratings(judge: ViewsJudge, examples: Sequence[Example], ratings: FloatArray, groups: Rows) -> Adaptable:
    """What a judge may be adapted to, of N rated lines with [N] `ratings` from 1 to 5 in conversations `groups`."""

    def own(part: Part, rows: Rows, replies: Sequence[Example], features: Features) -> Own:
        task = Ratings(_table(part, features, replies), ratings[rows], groups[rows])
        return Own(part, rows, replies, features, task, part.calibration.ratings(part.predict(features, replies)))

    sides = _sides(examples)
    found = {}
    for way, rows in _rows(judge, sides, groups).items():
        replies = [judge.views.shown(examples[row]).example for row in rows.tolist()]
        found[way] = own(judge.heads[way], rows, replies, judge.features(replies, way))
    return Adaptable(judge, found, _used(found, judge, sides), groups)


def of_choices(judge: ViewsJudge, pairs: Sequence[Pair], groups: Rows, longer: FloatArray) -> Adaptable:
    """The same of N pairs, all with a preferred reply.

    Args:
        judge: before.
        pairs: the pairs.
        groups: [N] conversations.
        longer: [N] see `adapting.balanced`.
    """
    one, other = (_sides([pair.replies[place] for pair in pairs]) for place in (0, 1))
    sides = (one[0] & other[0], one[1] & other[1])
    found = {}
    for way, rows in _rows(judge, sides, groups).items():
        part, own = judge.heads[way], [pairs[row] for row in rows.tolist()]
        better = [pair.replies[pair.preferred or 0] for pair in own]
        replies = [*better, *(pair.replies[1 - (pair.preferred or 0)] for pair in own)]
        replies = [judge.views.shown(reply).example for reply in replies]
        features = judge.features(replies, way)
        table, scores = _table(part, features, replies), part.calibration.ratings(part.predict(features, replies))
        half = len(own)
        task = Choices(table[:half], table[half:], balanced(longer[rows]), groups[rows])
        found[way] = Own(part, rows, replies, features, task, scores[:half] - scores[half:])
    return Adaptable(judge, found, _used(found, judge, sides), groups)


def _sides(examples: Sequence[Example]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """[N] whether there is any context, and any reference, and a reply."""
    replied = np.array([visible(one.response) for one in examples], np.bool_)
    context = np.array([any(map(visible, one.context)) for one in examples], np.bool_)
    reference = np.array([any(map(visible, one.references)) for one in examples], np.bool_)
    return context & replied, reference & replied


def _rows(judge: ViewsJudge, sides: Sequence[NDArray[np.bool_]], groups: Rows) -> dict[Way, Rows]:
    """The items of each head that has enough of them, and in enough conversations to leave some out."""
    found = {
        way: np.flatnonzero(there)
        for way, there in zip(WAYS, sides, strict=True)
        if way in judge.heads and int(there.sum()) >= FEWEST
    }
    several = {way: rows for way, rows in found.items() if len(np.unique(groups[rows])) >= FEWEST_FOLDS}
    return several or found  # of none in enough conversations what is asked of all of them tells


def _used(found: Mapping[Way, Own], judge: ViewsJudge, sides: Sequence[NDArray[np.bool_]]) -> list[Way | None]:
    """[N] the way that reads each item, once the others are gone."""
    return parts_used({way: judge.heads[way] for way in found}, sides[0], sides[1])


def _table(part: Part, features: Features, replies: Sequence[Example]) -> FloatArray:
    """[n, C] what an adaptation of a head reads; a head that was adapted before begins anew."""
    return table_of(part.head.predict(features), part.plain(features), raw_features(replies))


def _left_out(one: Own, folds: Rows, kept: NDArray[np.bool_], rng: np.random.Generator) -> FloatArray:
    """[n] what is said of each item of one head by corrections fitted on those of other folds."""
    return left_out(
        one.task, folds[one.rows], np.flatnonzero(kept[one.rows]), lambda rows: fit_chosen(one.task, rows, rng)
    )


def _part(one: Own, folds: Rows, rng: np.random.Generator, *, corrected: bool) -> Part:
    """A head with its adaptation."""
    every, task = np.arange(len(one.rows)), one.task

    def fit(rows: Rows) -> Linear:
        return fit_chosen(task, rows, rng) if corrected else task.fit(rows, NO_CORRECTION)

    linear = fit(every)
    if isinstance(task, Ratings):
        said = left_out(task, folds[one.rows], every, fit)
        calibration = with_interval(_AS_THEY_ARE, said, task.targets, np.ones(len(said)), _FEWEST_IN_BIN)
    else:
        calibration = _spread_as_before(one, linear)
    adaptation = Adaptation(linear, _cloud(one, folds))
    return one.part._replace(calibration=calibration, adaptation=adaptation)


def _spread_as_before(one: Own, linear: Linear) -> Calibration:
    """Choices tell an order and no ratings: mean and spread over the user's replies stay what they were."""
    before = one.part.calibration.ratings(one.part.predict(one.features, one.replies))
    after = linear.predict(_table(one.part, one.features, one.replies))
    spread = float(after.std())
    stretch = float(before.std()) / spread if spread > 0 else 0.0
    return replace(one.part.calibration, centre=float(before.mean()), middle=float(after.mean()), stretch=stretch)


def _cloud(one: Own, folds: Rows) -> Likeness:
    """The user's own lines, with a distance that `USUAL` or more of further lines stay within; see `_bound`."""
    own = np.tile(folds[one.rows], len(one.features) // len(one.rows))
    features, distances = one.part.plain(one.features), np.empty(len(own))
    for fold in np.unique(own):
        inside = own == fold
        if not inside.all():
            distances[inside] = _cloud_of(features[~inside], one.part).distances(features[inside])
    return replace(_cloud_of(features, one.part), bound=_bound(distances))


def _bound(distances: FloatArray) -> float:
    """The upper tolerance limit: with 95 % confidence `USUAL` of all lines like these lie within.

    It is one of the distances, which suffices from 59 lines on; of fewer it is the largest. The distances are those of
    lines to clouds that were made without them.

    Source: Wilks (1941), Determination of sample sizes for setting tolerance limits.
    """
    from scipy.stats import binom

    inside = int(binom.ppf(_CONFIDENCE, len(distances), USUAL))
    return float(np.sort(distances)[min(inside, len(distances) - 1)])


def _cloud_of(features: Features, part: Part) -> Likeness:
    """The cloud of a user's lines; where these are all alike, features spread as they did before."""
    silent = np.isnan(features).all(axis=0)
    found = cloud_of(np.where(silent, np.float32(0), features))
    return replace(found, spread=np.where(found.spread >= SILENT, part.likeness.spread, found.spread))
