"""How judges over features are learned: one head for replies with a reference, one for replies without.

People of one study use a scale differently from those of another. So heads are fitted to ratings that are standardised
within their data set, and a line weighs less in a large set: ten thousand lines must not drown ten sets of 500.
Shapes: N rated lines, n those of one head, F features, W numbers of a long vector.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rejoinder.data.scales import Scale
from rejoinder.errors import DataError
from rejoinder.example import Example
from rejoinder.judges.augmentation import AugmentedExample, WrittenFor, augment
from rejoinder.judges.features.added import load_source
from rejoinder.judges.features.resources import Resources, default_resources
from rejoinder.judges.features.table import VECTOR, Features, FeatureSet
from rejoinder.judges.learner import Choices, Rows, Side
from rejoinder.judges.lines import UNREAD
from rejoinder.judges.regression.calibration import calibrate
from rejoinder.judges.regression.cloud import INSIDE, fit_cloud
from rejoinder.judges.regression.fitted import SIDES, FittedHead, heads_used
from rejoinder.judges.regression.head import FORESTS, Head, fit_head
from rejoinder.judges.regression.judge import FeatureJudge
from rejoinder.judges.regression.linear import Written
from rejoinder.judges.regression.lines import AugmentedRows, TrainingLines, encode
from rejoinder.judges.regression.trees import DEFAULT, TreeOptions
from rejoinder.scorer import Advance, FloatArray, ignore

NAME = "judge"
Augmenter = Callable[[Sequence[Example]], Sequence[AugmentedExample]]
MIN_LINES = 60  # of a head; with fewer the trees have no leaf to grow
_MIN_CONTEXTS = 12  # with fewer a fold of the calibration would be one or two
_FOLDS = 4
_NONSENSE = 1.0  # standard deviations that nonsense is rated lower
_COMMON_NONSENSE = 0.05  # if a larger share of the lines looks like nonsense, it is another language
_USUAL_SIZE = 500  # lines of a data set whose lines weigh 1
_SECONDS = 1.2e-2  # per line for all heads of a fit, on one core of 2026


class _HeadLines(NamedTuple):
    """The lines of one head.

    Attributes:
        features: [n, F + 1 + W], see `Head`.
        targets: [n] ratings in standard deviations of their set.
        weights: [n].
        ratings: [n] from 1 to 5.
        sets: [n] data sets, from 0.
        folds: [n] folds of the calibration.
        replies: [n] numbers of the replies, see `TrainingLines`.
        augmented: rows made of these lines, and others.
        vector: W.
    """

    features: Features
    targets: FloatArray
    weights: FloatArray
    ratings: FloatArray
    sets: Rows
    folds: Rows
    replies: Rows
    augmented: AugmentedRows
    vector: int


@dataclass(frozen=True)
class FittedHeads:
    """Fitted heads, before they are a judge."""

    resources: Resources
    heads: Mapping[Side, FittedHead]

    @property
    def record(self) -> Mapping[str, Any]:
        """What was fitted."""
        return {
            "features": {side: len(head.columns) for side, head in self.heads.items()},
            "fitted_lines": {side: head.lines for side, head in self.heads.items()},
        }

    @property
    def account(self) -> Sequence[str]:
        """The same in words."""
        kinds = {"context": "that need no reference", "reference": "with those of references"}
        return [
            f"fitted on {head.lines} lines by {len(head.columns)} features {kinds[side]}"
            for side, head in self.heads.items()
        ]

    def predict(self, encoded: TrainingLines, rows: Rows) -> FloatArray:
        """Return [n] scores of the ascending `rows`; NaN where no head reads them."""
        scores = np.full(len(rows), np.nan)
        for head, own in self.shared(encoded, rows):
            features = encoded.features[np.ix_(own, head.columns)]
            scores[np.searchsorted(rows, own)] = head.calibration.answers(head.head.predict(features))[0]
        return scores

    def shared(self, encoded: TrainingLines, rows: Rows) -> list[tuple[FittedHead, Rows]]:
        """Return each head with those of the ascending `rows` that it reads."""
        used = np.array(heads_used(self.heads, encoded.context[rows], encoded.reference[rows]), object)
        return [(head, rows[used == side]) for side, head in self.heads.items()]

    def judge(self, training: Mapping[str, Any], scale: Scale) -> FeatureJudge:
        """Return the judge."""
        return FeatureJudge(self.resources, self.heads, training, scale)


@dataclass(frozen=True)
class FeatureLearner:
    """Learns judges over features.

    Attributes:
        resources: what their features are computed with.
        augmenter: changes rated replies, for judges to learn what is no good reply; None for none.
        trees: how trees are grown.
        name: of its judges.
        stops: False, see `judges.train`: nothing is stopped by validation lines, these are fitted on too.
    """

    resources: Resources
    augmenter: Augmenter | None = None
    trees: TreeOptions = DEFAULT
    name: str = NAME
    stops: bool = False

    @property
    def feature_set(self) -> FeatureSet:
        """The features of an example."""
        return self.resources.features

    @property
    def needs(self) -> tuple[Side, ...]:
        """No side that all lines must have: one of context and reference."""
        return ()

    @property
    def options(self) -> Mapping[str, Any]:
        """The features, and whether augmented replies are added."""
        return {**self.resources.options, "defended": self.augmenter is not None}

    @property
    def steps(self) -> int:
        """How often a fit calls `advance`."""
        return len(SIDES) * (FORESTS + _FOLDS)

    def encode(self, examples: Sequence[Example]) -> TrainingLines:
        """Return features of examples and of augmented replies."""
        return encode(self.feature_set, examples, self.augmenter(examples) if self.augmenter else ())

    def unusable(self, encoded: TrainingLines) -> list[str]:
        """Return [N] the reason why a line cannot be learned from, or ""."""
        return ["" if is_read else UNREAD for is_read in encoded.context | encoded.reference]

    def seconds(self, lines: float) -> float:
        """Return about how long a fit takes."""
        return 3 + _SECONDS * lines

    def fit(
        self,
        encoded: TrainingLines,
        ratings: FloatArray,
        train: Rows,
        validation: Rows,
        rng: np.random.Generator,
        advance: Advance = ignore,
    ) -> FittedHeads:
        """Fit the heads that the lines suffice for, on `validation` lines too; see `Learner.fit`."""
        rows = np.sort(np.concatenate([train, validation]))
        heads: dict[Side, FittedHead] = {}
        for side in SIDES:
            own = rows[getattr(encoded, side)[rows]]
            if len(own) < MIN_LINES or len(np.unique(encoded.groups[own])) < _MIN_CONTEXTS:
                continue
            if len(np.unique(ratings[own])) > 1:
                columns = columns_of(self.feature_set, side)
                vector = int((self.feature_set.readers[columns] == VECTOR).sum())
                lines = _lines_of(encoded, ratings, own, columns, vector, rng)
                heads[side] = _fitted_head(lines, columns, self.trees, rng, advance)
        if not heads:
            raise DataError(f"{len(rows)} lines suffice for no head", "Rate more responses")
        return FittedHeads(self.resources, heads)


def columns_of(feature_set: FeatureSet, side: Side) -> Rows:
    """Return the features that a head reads, in its order."""
    columns = feature_set.plain if side == "context" else np.arange(len(feature_set.columns))
    return np.asarray(columns[np.argsort(feature_set.readers[columns], kind="stable")])


def standardized(ratings: FloatArray, sets: NDArray[np.intp]) -> FloatArray:
    """Return [N] ratings in standard deviations from the mean of their data set; `sets` counts from 0."""
    counts = np.maximum(np.bincount(sets), 1)
    means = np.bincount(sets, ratings) / counts
    spreads = np.sqrt(np.bincount(sets, (ratings - means[sets]) ** 2) / counts)
    return (ratings - means[sets]) / np.where(spreads > 0, spreads, 1.0)[sets]


def line_weights(sets: NDArray[np.intp]) -> FloatArray:
    """Return [N] weights by which a data set counts by the square root of its size."""
    return np.sqrt(_USUAL_SIZE / np.bincount(sets)[sets])


def _lines_of(
    encoded: TrainingLines, ratings: FloatArray, own: Rows, columns: Rows, vector: int, rng: np.random.Generator
) -> _HeadLines:
    """Return the lines `own` of one head. Folds are whole data sets, or whole contexts if there are few sets."""
    sets = np.unique(encoded.sets[own], return_inverse=True)[1]
    wholes = sets if len(np.unique(sets)) >= _FOLDS else np.unique(encoded.groups[own], return_inverse=True)[1]
    augmented = encoded.augmented.of_lines(own, encoded.replies)
    return _HeadLines(
        features=encoded.features[np.ix_(own, columns)],
        targets=standardized(ratings[own], sets),
        weights=line_weights(sets),
        ratings=ratings[own],
        sets=sets,
        folds=rng.permutation(np.arange(int(wholes.max()) + 1) % _FOLDS)[wholes],
        replies=encoded.replies[own],
        augmented=augmented.renumbered(own)._replace(features=augmented.features[:, columns]),
        vector=vector,
    )


def _fitted_head(
    lines: _HeadLines, columns: Rows, options: TreeOptions, rng: np.random.Generator, advance: Advance
) -> FittedHead:
    # Calibration needs how much predictions vary and by how much they are off; fewer and larger steps show that too.
    quick = options._replace(trees=-(-options.trees * 2 // 5), learning_rate=options.learning_rate * 5 / 2)
    predictions, distances = (np.full(len(lines.targets), np.nan) for _ in range(2))
    plain = lines.features[:, : lines.features.shape[1] - 1 - lines.vector]
    for fold in range(_FOLDS):
        held_out = lines.folds == fold
        if held_out.any() and not held_out.all():
            head = _fit_on(lines, np.flatnonzero(~held_out), rng, quick, 1)
            predictions[held_out] = head.predict(lines.features[held_out])
            distances[held_out] = fit_cloud(plain[~held_out]).distances(plain[held_out])
        advance(1)
    head = _fit_on(lines, np.arange(len(lines.targets)), rng, options, FORESTS, advance)
    # Explanations start at the mean of human replies, without the augmented ones.
    head = head.with_baseline(lines.features, lines.weights)
    calibration = calibrate(predictions, lines.ratings, lines.sets)
    cloud = replace(fit_cloud(plain), bound=_bound(distances, lines.sets))
    return FittedHead(columns, head, calibration, cloud, len(lines.targets))


def _bound(distances: FloatArray, sets: Rows) -> float:
    """Return the distance within which `INSIDE` of the lines stay, all data sets alike."""
    share = 1.0 / np.bincount(sets)[sets]
    order = np.argsort(distances)
    reached = np.cumsum(share[order]) / share.sum()
    return float(distances[order][min(int(np.searchsorted(reached, INSIDE)), len(order) - 1)])


def _fit_on(
    lines: _HeadLines,
    rows: Rows,
    rng: np.random.Generator,
    options: TreeOptions,
    forests: int,
    advance: Advance = ignore,
) -> Head:
    """Return a head fitted to some of the lines and to the augmented rows made of these."""
    augmented = lines.augmented.of_lines(rows, lines.replies)
    is_common = lines.features[rows, -1 - lines.vector].mean() > _COMMON_NONSENSE
    of_lines = np.full(len(rows), WrittenFor.OTHER)
    kinds, contexts = (np.concatenate([of_lines, column]) for column in (augmented.written_for, augmented.contexts))
    return fit_head(
        np.concatenate([lines.features[rows], augmented.features]),
        np.concatenate([lines.targets[rows], augmented.targets(lines.targets)]),
        np.concatenate([lines.weights[rows], augmented.weights]),
        rng,
        # Over the features of texts alone, probes made no measurable difference (docs/lab-notes.md).
        written=Written(kinds, contexts) if lines.vector else None,
        vector=lines.vector,
        nonsense_penalty=0.0 if is_common else _NONSENSE,
        options=options,
        forests=forests,
        advance=advance,
    )


def learner(name: str, choices: Choices) -> FeatureLearner:
    """Return the learner of judges over the features of the bundled judge, and those that a user adds.

    Raises:
        UsageError: something was chosen that has no effect, or is no source of features.
        DataError, MissingAsset, MissingExtra: a source cannot be loaded (see `load_source`).
    """
    choices.only(name, "views")
    added = tuple(map(load_source, choices.views))
    return FeatureLearner(replace(default_resources(), added=added), augment)
