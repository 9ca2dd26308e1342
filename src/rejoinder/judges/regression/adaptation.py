"""Adapts a judge to 50 to 500 ratings, or preferences between two replies, of one user.

So few items are too few for trees. The head stays as it is; a `Correction` is fitted over its predictions, by ridge
regression (ratings) or logistic ridge regression (preferences). The penalty is chosen by cross-validation over
conversations; reported predictions come from folds that had no part in that choice. Under an infinite penalty only a
line over the head's prediction is left, which is one of the choices for ratings.

Shapes: N items (rated lines, or pairs of replies), n items of one head, C columns (see `columns_of`), P penalties.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from rejoinder.data.scales import Scale, required
from rejoinder.example import Example, Pair
from rejoinder.judges.domain import INSIDE, TrainingCloud, fit_cloud, shares, smoothed_share, text_warnings
from rejoinder.judges.features.table import Features
from rejoinder.judges.protocol import Rows, Side
from rejoinder.judges.regression.calibration import Calibration, interval_bins
from rejoinder.judges.regression.correction import RAW_TEXT_FEATURES, Correction, columns_of
from rejoinder.judges.regression.head import SIDES, FittedHead, Flags, heads_used, sides_present
from rejoinder.judges.regression.judge import ADAPTED, FeatureJudge
from rejoinder.judges.regression.linear import SILENT, Linear, fit_path
from rejoinder.scorer import FloatArray
from rejoinder.stats.splits import fold_groups
from rejoinder.text.normalize import visible

MIN_ITEMS = 30  # of a head; with fewer, folds of them show nothing
MIN_FOLDS = 5
NO_CORRECTION = float("inf")
_INNER_FOLDS = 4
_CONFIDENCE = 0.95  # that no larger share of further lines than promised is out of domain
_MIN_IN_BIN = 100  # lines in a bin of the intervals
_HEAD_PENALTY = 3.0  # the head's prediction has proved useful elsewhere
_RAW_SHARE = 0.3  # raw features are penalised less: answers of language models differ in these
_MIN_SLOPE = 0.05  # times the spread: a line over the head's prediction never reverses its order


@dataclass(frozen=True)
class RatingTask:
    """N rated lines: `table` [N, C], `targets` [N] ratings, `groups` [N] conversations."""

    table: FloatArray
    targets: FloatArray
    groups: Rows
    penalties: Sequence[float] = (100.0, 300.0, 1000.0, 3000.0, NO_CORRECTION)

    def fit(self, rows: Rows, penalties: Sequence[float]) -> list[Linear]:
        """Return the correction fitted to some rows under each penalty."""
        table, targets = self.table[rows], self.targets[rows]
        of_columns = np.repeat(np.minimum(penalties, SILENT)[:, None], table.shape[1], axis=1)
        of_columns[:, 0] = _HEAD_PENALTY
        path = fit_path(table, targets, np.ones(len(rows)), of_columns)
        min_slope, mean = _MIN_SLOPE * float(targets.std()), float(targets.mean())
        return [
            _line_over_head(linear, max(float(linear.weights[0]), min_slope), mean) if np.isinf(penalty) else linear
            for penalty, linear in zip(penalties, path, strict=True)
        ]

    def predict(self, linear: Linear, rows: Rows) -> FloatArray:
        """Return [n] ratings."""
        return linear.predict(self.table[rows])

    def loss(self, predictions: FloatArray, rows: Rows) -> float:
        """Return the mean squared error."""
        return float(np.square(predictions - self.targets[rows]).mean())


@dataclass(frozen=True)
class PreferenceTask:
    """N pairs: [N, C] tables of the `preferred` and `other` replies, [N] `weights` and conversations `groups`."""

    preferred: FloatArray
    other: FloatArray
    weights: FloatArray
    groups: Rows
    penalties: Sequence[float] = (30.0, 100.0, 300.0)

    def fit(self, rows: Rows, penalties: Sequence[float]) -> list[Linear]:
        """Return the correction fitted to some rows under each penalty."""
        preferred, other, weights = self.preferred[rows], self.other[rows], self.weights[rows]
        both, gap = np.concatenate([preferred, other]), np.nan_to_num(preferred - other)
        spread = np.sqrt(weights @ np.square(gap) / weights.sum())
        present = np.isfinite(both)
        centre = np.where(present, both, 0.0).sum(axis=0) / np.maximum(present.sum(axis=0), 1)
        start = Linear(centre, np.where(spread > 1e-9, spread, SILENT), np.zeros(len(spread)), 0.0)
        gap = start.standardize(preferred) - start.standardize(other)
        return [self._fit(start, gap, weights, penalty) for penalty in penalties]

    def _fit(self, start: Linear, gap: FloatArray, weights: FloatArray, penalty: float) -> Linear:
        if np.isinf(penalty):
            slope = logistic(gap[:, :1], weights, np.array([_HEAD_PENALTY]))[0]
            return _line_over_head(start, max(float(slope), _MIN_SLOPE), 0.0)
        of_columns = np.full(gap.shape[1], penalty)
        of_columns[0], of_columns[-len(RAW_TEXT_FEATURES) :] = _HEAD_PENALTY, _RAW_SHARE * penalty
        return replace(start, weights=logistic(gap, weights, of_columns))

    def predict(self, linear: Linear, rows: Rows) -> FloatArray:
        """Return [n] differences of the preferred reply from the other."""
        return linear.predict(self.preferred[rows]) - linear.predict(self.other[rows])

    def loss(self, predictions: FloatArray, rows: Rows) -> float:
        """Return the mean logistic loss, longer and shorter replies balanced."""
        return float(np.average(np.logaddexp(0.0, -predictions), weights=self.weights[rows]))


Task = RatingTask | PreferenceTask


def balanced(longer: FloatArray) -> FloatArray:
    """Return [N] weights by which pairs with a longer preferred reply count as much as those with a shorter one.

    `longer` [N] is 1 where the longer reply is preferred, -1 where the shorter is, 0 where they are equally long.
    """
    weights, counts = np.ones(len(longer)), {sign: int((longer == sign).sum()) for sign in (1.0, -1.0)}
    if all(counts.values()):
        for sign, count in counts.items():
            weights[longer == sign] = sum(counts.values()) / (2 * count)
    return weights


def logistic(gaps: FloatArray, weights: FloatArray, penalties: FloatArray) -> FloatArray:
    """Return [C] weights with which `gaps` [N, C] come out above 0, under [C] penalties of their squares."""
    from scipy.optimize import minimize  # scikit-learn's checks take four times as long as the fit of so few rows

    def objective(solution: FloatArray) -> tuple[float, FloatArray]:
        margin = gaps @ solution
        wrong = weights / (1 + np.exp(np.clip(margin, -500.0, 500.0)))
        loss = weights @ np.logaddexp(0.0, -margin) + penalties @ np.square(solution) / 2
        return float(loss), penalties * solution - gaps.T @ wrong

    result = minimize(objective, np.zeros(gaps.shape[1]), jac=True, method="L-BFGS-B", options={"gtol": 1e-8})
    return np.asarray(result.x, np.float64)


def folds_of(groups: Rows, folds: int, rng: np.random.Generator) -> Rows:
    """Return [N] folds of whole conversations, fewer if there are fewer conversations."""
    return fold_groups(groups, min(folds, len(np.unique(groups))), rng)


def fit_chosen(task: Task, rows: Rows, rng: np.random.Generator) -> Linear:
    """Return the correction under the penalty with the least loss on left-out conversations of `rows`."""
    folds = folds_of(task.groups[rows], _INNER_FOLDS, rng)
    losses = np.zeros(len(task.penalties))
    if len(np.unique(folds)) < 2:
        losses[-1] = -1.0  # nothing to choose by: the most cautious
    else:
        for fold in np.unique(folds):
            left = rows[folds == fold]
            path = task.fit(rows[folds != fold], task.penalties)
            losses += [len(left) * task.loss(task.predict(linear, left), left) for linear in path]
    return task.fit(rows, [task.penalties[int(np.argmin(losses))]])[0]


def left_out(task: Task, folds: Rows, rows: Rows, fit: Callable[[Rows], Linear]) -> FloatArray:
    """Return [N] predictions of each item by the correction that `fit` makes of those of `rows` in other folds."""
    predictions = np.full(len(folds), np.nan)
    for fold in np.unique(folds):
        inside, scored = rows[folds[rows] != fold], np.flatnonzero(folds == fold)
        if len(inside):
            predictions[scored] = task.predict(fit(inside), scored)
    return predictions


def _line_over_head(start: Linear, slope: float, base: float) -> Linear:
    weights = np.zeros(len(start.weights))
    weights[0] = slope
    return Linear(start.centre, start.spread, weights, base)


@dataclass(frozen=True)
class HeadItems:
    """What one `head` reads: [n] `rows` of the items, `replies` (of pairs, the preferred ones first), their `features`.

    `task` fits corrections; `before` [n] is the score without one, or the difference of the preferred reply.
    """

    head: FittedHead
    rows: Rows
    replies: Sequence[Example]
    features: Features
    task: Task
    before: FloatArray


@dataclass(frozen=True)
class AdaptationInput:
    """A judge with N items: `items` of each head with enough of them, `used` [N] the head that reads each (or None)."""

    judge: FeatureJudge
    items: Mapping[Side, HeadItems]
    used: Sequence[Side | None]
    groups: Rows

    def before(self) -> FloatArray:
        """Return [N] scores of the judge without a correction; NaN for an item that no head reads."""
        return self._gathered({side: items.before for side, items in self.items.items()})

    def left_out(self, folds: Rows, rng: np.random.Generator, among: Rows | None = None) -> FloatArray:
        """Return [N] what corrections say that were fitted on items of other folds, of those `among` or of all."""
        kept = np.ones(len(self.used), bool) if among is None else np.isin(np.arange(len(self.used)), among)
        values = {}
        for side, items in self.items.items():
            inside, fit = np.flatnonzero(kept[items.rows]), partial(fit_chosen, items.task, rng=rng)
            values[side] = left_out(items.task, folds[items.rows], inside, fit)
        return self._gathered(values)

    def adapted(
        self, folds: Rows, rng: np.random.Generator, record: Mapping[str, Any], scale: Scale, *, corrected: bool
    ) -> FeatureJudge:
        """Return the adapted judge; its intervals come from [N] `folds`, `record` goes into its record of training.

        Without `corrected` only a line over what its heads predict is left.
        """
        heads = {side: _adapted(items, folds, rng, corrected=corrected) for side, items in self.items.items()}
        before, replies = self.judge.training, [reply for items in self.items.values() for reply in items.replies]
        noted = dict(before.get("noted", {}))
        for note, share in shares(text_warnings(replies, ("context",)), len(replies)).items():
            noted[note] = max(smoothed_share(share, len(replies)), noted.get(note, 0.0))
        datasets = {**before.get("datasets", {}), **record["datasets"]}
        training = {**before, "datasets": datasets, "noted": noted, ADAPTED: dict(record)}
        return FeatureJudge(self.judge.resources, heads, training, required(scale))

    def _gathered(self, values: Mapping[Side, FloatArray]) -> FloatArray:
        """Return [N] values, each from the head that reads the item."""
        gathered = np.full(len(self.used), np.nan)
        for side, items in self.items.items():
            is_read = np.array([self.used[row] == side for row in items.rows.tolist()], bool)
            gathered[items.rows[is_read]] = values[side][is_read]
        return gathered


def of_ratings(judge: FeatureJudge, examples: Sequence[Example], ratings: FloatArray, groups: Rows) -> AdaptationInput:
    """Return the input of N rated lines, with [N] `ratings` from 1 to 5 in conversations `groups` [N]."""
    return _input(
        judge, [examples], groups, lambda rows, table, scores: (RatingTask(table, ratings[rows], groups[rows]), scores)
    )


def of_preferences(judge: FeatureJudge, pairs: Sequence[Pair], groups: Rows, longer: FloatArray) -> AdaptationInput:
    """Return the input of N pairs, all with a preferred reply; see `balanced` for `longer`."""

    def task(rows: Rows, table: FloatArray, scores: FloatArray) -> tuple[Task, FloatArray]:
        (preferred, other), (higher, lower) = np.split(table, 2), np.split(scores, 2)
        return PreferenceTask(preferred, other, balanced(longer[rows]), groups[rows]), higher - lower

    preferred = [pair.replies[pair.preferred or 0] for pair in pairs]
    other = [pair.replies[1 - (pair.preferred or 0)] for pair in pairs]
    return _input(judge, [preferred, other], groups, task)


def _input(
    judge: FeatureJudge,
    replies: Sequence[Sequence[Example]],
    groups: Rows,
    task: Callable[[Rows, FloatArray, FloatArray], tuple[Task, FloatArray]],
) -> AdaptationInput:
    """Return the input of N items with one or two `replies` each; `task` takes rows, their table and their scores."""
    sides = dict(zip(SIDES, np.all([_readable(each) for each in replies], axis=0), strict=True))
    rows = {side: np.flatnonzero(flags) for side, flags in sides.items() if side in judge.heads}
    rows = {side: own for side, own in rows.items() if len(own) >= MIN_ITEMS}
    # If no head has items of enough conversations, the checks of all items together give the reason.
    rows = {side: own for side, own in rows.items() if len(np.unique(groups[own])) >= MIN_FOLDS} or rows
    shown = [judge.feature_set.shown(example).example for each in replies for example in each]
    features = np.full((len(shown), len(judge.feature_set.columns)), np.nan, np.float32)
    read = np.flatnonzero(np.tile(np.any(list(sides.values()), axis=0), len(replies))) if rows else np.arange(0)
    features[read] = judge.feature_set.compute([shown[place] for place in read])  # once for all heads
    items = {}
    for side, own in rows.items():
        head, places = judge.heads[side], np.concatenate([own + start * len(groups) for start in range(len(replies))])
        texts, read_by_head = [shown[place] for place in places], features[np.ix_(places, head.columns)]
        # A head that was adapted before starts again without its correction.
        table = columns_of(head.head.predict(read_by_head), head.plain(read_by_head), texts)
        scores = head.calibration.ratings(head.predict(read_by_head, texts))
        items[side] = HeadItems(head, own, texts, read_by_head, *task(own, table, scores))
    return AdaptationInput(judge, items, heads_used(items, sides["context"], sides["reference"]), groups)


def _readable(examples: Sequence[Example]) -> tuple[Flags, Flags]:
    """Return [N] whether there is a reply and any context, and [N] whether there is a reply and any reference."""
    has_reply = np.array([visible(example.response) for example in examples], np.bool_)
    context, reference = sides_present(examples)
    return context & has_reply, reference & has_reply


def _adapted(items: HeadItems, folds: Rows, rng: np.random.Generator, *, corrected: bool) -> FittedHead:
    """Return a head with its correction, calibrated on left-out items."""
    task, every, head = items.task, np.arange(len(items.rows)), items.head

    def fit(rows: Rows) -> Linear:
        return fit_chosen(task, rows, rng) if corrected else task.fit(rows, [NO_CORRECTION])[0]

    linear = fit(every)
    if isinstance(task, RatingTask):
        predictions = left_out(task, folds[items.rows], every, fit)
        bins = interval_bins(predictions, task.targets, np.ones(len(predictions)), _MIN_IN_BIN)
        calibration = Calibration(0.0, 0.0, 1.0, *bins)
    else:  # preferences tell an order and no level: mean and spread of the user's replies stay as they were
        before = head.calibration.ratings(head.predict(items.features, items.replies))
        after = linear.predict(np.concatenate([task.preferred, task.other]))
        stretch = float(before.std()) / float(after.std()) if after.std() > 0 else 0.0
        centre, middle = float(before.mean()), float(after.mean())
        calibration = replace(head.calibration, centre=centre, middle=middle, stretch=stretch)
    return head._replace(calibration=calibration, correction=Correction(linear, _cloud(items, folds)))


def _cloud(items: HeadItems, folds: Rows) -> TrainingCloud:
    """Return the user's lines, with a distance within which `INSIDE` or more of further lines stay."""
    own = np.tile(folds[items.rows], len(items.replies) // len(items.rows))
    features, distances = items.head.plain(items.features), np.zeros(len(own))

    def cloud(rows: Flags) -> TrainingCloud:
        """Return the cloud of some lines; features that do not vary keep the spread that they had before."""
        always_missing = np.isnan(features[rows]).all(axis=0)
        made = fit_cloud(np.where(always_missing, np.float32(0), features[rows]))
        return replace(made, spread=np.where(made.spread >= SILENT, items.head.cloud.spread, made.spread))

    for fold in np.unique(own):
        if not (own == fold).all():
            distances[own == fold] = cloud(own != fold).distances(features[own == fold])
    return replace(cloud(np.ones(len(own), np.bool_)), bound=tolerance_limit(distances))


def tolerance_limit(distances: FloatArray) -> float:
    """Return the distance within which, with 95 % confidence, `INSIDE` of all such lines lie.

    It is one of the distances, which suffices from 59 lines on; with fewer it is the largest. The distances are those
    of lines to clouds that were made without them.

    Source: Wilks (1941), Determination of sample sizes for setting tolerance limits.
    """
    from scipy.special import bdtr  # the binomial distribution; to import scipy.stats takes longer than a fit

    count = len(distances)
    inside = int(np.searchsorted(bdtr(np.arange(count + 1), count, INSIDE), _CONFIDENCE))
    return float(np.sort(distances)[min(inside, count - 1)])
