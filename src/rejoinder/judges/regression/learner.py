"""How judges over features are learned: one head for replies with a reference, one for replies without.

People of one study use a scale differently from those of another. So heads are fitted to ratings that are standardised
within their data set, and a line weighs less in a large set: ten thousand lines must not drown ten sets of 500.
Shapes: N rated lines, M augmented rows, n lines of one head, F features, W numbers of a long vector.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rejoinder.data.clusters import sorted_clusters
from rejoinder.data.scales import Scale
from rejoinder.errors import DataError
from rejoinder.example import Example
from rejoinder.judges.augmentation import NO_LINE, AugmentedExample, WrittenFor, augment
from rejoinder.judges.domain import INSIDE, fit_cloud
from rejoinder.judges.features.added import load_source
from rejoinder.judges.features.resources import Resources, default_resources
from rejoinder.judges.features.table import VECTOR, Features
from rejoinder.judges.protocol import LearnerOptions, Rows, Side
from rejoinder.judges.rated import UNREAD
from rejoinder.judges.regression.calibration import calibrate
from rejoinder.judges.regression.head import (
    FORESTS,
    SIDES,
    FittedHead,
    Flags,
    Head,
    fit_head,
    heads_used,
    sides_present,
)
from rejoinder.judges.regression.judge import FeatureJudge
from rejoinder.judges.regression.linear import Written
from rejoinder.judges.regression.trees import DEFAULT, TreeOptions
from rejoinder.scorer import Advance, FloatArray, ignore

NAME = "judge"
MIN_LINES = 60  # of a head; with fewer the trees have no leaf to grow
_MIN_CONTEXTS = 12  # with fewer a fold of the calibration would be one or two
_FOLDS = 4
_NONSENSE = 1.0  # standard deviations that nonsense is rated lower
_COMMON_NONSENSE = 0.05  # if a larger share of the lines looks like nonsense, it is another language
_USUAL_SIZE = 500  # lines of a data set whose lines weigh 1
_SECONDS = 1.2e-2  # per line for all heads of a fit, on one core of 2026


class AugmentedRows(NamedTuple):
    """Rows of augmented replies; see `AugmentedExample`."""

    features: Features  # [M, F]
    rows: Rows  # [M] the line that each was made of, or `NO_LINE`
    at_most: FloatArray  # [M]
    less: FloatArray  # [M]
    weights: FloatArray  # [M]
    # [M] the number of the reply if a line of the same data set has it too (see `TrainingLines`), else -1
    replies: Rows
    written_for: Rows  # [M] `WrittenFor`
    contexts: Rows  # [M] numbers of their contexts

    def of_lines(self, rows: Rows, replies: Rows) -> AugmentedRows:
        """Return those made of no line, or of the ascending `rows`; `replies` [N] are the numbers of every line.

        A reply that is equal to that of another line stays only if one of `rows` has it: what is fitted on some lines
        sees nothing of the others.
        """
        is_own = (self.replies < 0) | np.isin(self.replies, replies[rows])
        kept = (self.rows == NO_LINE) | np.isin(self.rows, rows) & is_own
        return AugmentedRows._make(column[kept] for column in self)

    def targets(self, of_lines: FloatArray) -> FloatArray:
        """Return [M] targets from the [N] targets of the lines."""
        before = np.where(self.rows == NO_LINE, np.inf, of_lines[self.rows])
        return np.minimum(before - self.less, self.at_most)


@dataclass(frozen=True)
class TrainingLines:
    """N rated lines."""

    features: Features  # [N, F]
    sets: Rows  # [N] number of the data set, from 0
    groups: Rows  # [N] number of the context, from 0
    context: Flags  # [N] whether there is any
    reference: Flags  # [N] whether there is any
    replies: Rows  # [N] number of the reply in its data set, from 0
    augmented: AugmentedRows  # rows made of these lines, and others

    def select(self, rows: Rows, columns: Rows) -> TrainingLines:
        """Return the ascending `rows` with some of the features, and what may be seen of the augmented rows."""
        augmented = self.augmented.of_lines(rows, self.replies)
        places = np.where(augmented.rows == NO_LINE, NO_LINE, np.searchsorted(rows, augmented.rows))
        return TrainingLines(
            features=self.features[np.ix_(rows, columns)],
            sets=np.unique(self.sets[rows], return_inverse=True)[1],
            groups=np.unique(self.groups[rows], return_inverse=True)[1],
            context=self.context[rows],
            reference=self.reference[rows],
            replies=self.replies[rows],
            augmented=augmented._replace(rows=places.astype(np.intp), features=augmented.features[:, columns]),
        )


def _contexts(examples: Sequence[Example]) -> Rows:
    """Return [N] the number of each context, from 0: lines of one conversation have the same number."""
    return sorted_clusters(examples, [("\n".join(example.order_key),) for example in examples]).numbers


def _numbers(labels: Sequence[str]) -> Rows:
    """Return [N] the number of each label, from 0."""
    return np.unique(np.array(labels, np.str_), return_inverse=True)[1].astype(np.intp)


@dataclass(frozen=True)
class FittedHeads:
    """Fitted heads, before they are a judge; see `Fitted`."""

    resources: Resources
    heads: Mapping[Side, FittedHead]

    @property
    def record(self) -> Mapping[str, Any]:
        """The numbers of features and of lines."""
        return {
            "features": {side: len(head.columns) for side, head in self.heads.items()},
            "fitted_lines": {side: head.lines for side, head in self.heads.items()},
        }

    @property
    def account(self) -> Sequence[str]:
        """Describe the fit in sentences."""
        kinds = {"context": "that need no reference", "reference": "with those of references"}
        return [
            f"fitted on {head.lines} lines by {len(head.columns)} features {kinds[side]}"
            for side, head in self.heads.items()
        ]

    def predict(self, encoded: TrainingLines, rows: Rows) -> FloatArray:
        """Return [n] scores of the ascending `rows`; NaN for rows that no head reads."""
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
    """Learns judges over features; see `Learner`."""

    resources: Resources
    # Changes rated replies, for judges to learn what is no good reply.
    augmenter: Callable[[Sequence[Example]], Sequence[AugmentedExample]] | None = None
    trees: TreeOptions = DEFAULT
    name: str = NAME
    stops: bool = False  # nothing is stopped by validation lines, these are fitted on too
    needs: tuple[Side, ...] = ()  # no side that all lines must have: one of context and reference

    @property
    def options(self) -> Mapping[str, Any]:
        """The features, and whether augmented replies are added."""
        return {**self.resources.options, "defended": self.augmenter is not None}

    @property
    def steps(self) -> int:
        """Return the number of times that a fit calls `advance`."""
        return len(SIDES) * (FORESTS + _FOLDS)

    def encode(self, examples: Sequence[Example]) -> TrainingLines:
        """Return features of examples and of augmented replies."""
        augmented = self.augmenter(examples) if self.augmenter else ()
        changed = [line.example for line in augmented]
        labels = [f"{line.dataset or ''}\n{line.response.casefold().strip()}" for line in (*examples, *changed)]
        replies, of_changed = np.split(_numbers(labels), [len(examples)])
        context, reference = sides_present(examples)
        rows = AugmentedRows(
            features=self.resources.features.compute(changed),
            rows=np.array([line.row for line in augmented], np.intp),
            at_most=np.array([line.at_most for line in augmented]),
            less=np.array([line.less for line in augmented]),
            weights=np.array([line.weight for line in augmented]),
            replies=np.where(np.isin(of_changed, replies), of_changed, -1),
            written_for=np.array([line.written_for for line in augmented], np.intp),
            contexts=_contexts(changed),
        )
        features, sets = self.resources.features.compute(examples), _numbers([line.dataset or "" for line in examples])
        return TrainingLines(features, sets, _contexts(examples), context, reference, replies, rows)

    def unreadable(self, encoded: TrainingLines) -> list[str]:
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
        table = self.resources.features
        for side in SIDES:
            own = rows[getattr(encoded, side)[rows]]
            is_enough = len(own) >= MIN_LINES and len(np.unique(encoded.groups[own])) >= _MIN_CONTEXTS
            if is_enough and len(np.unique(ratings[own])) > 1:
                columns = table.plain if side == "context" else np.arange(len(table.columns))
                columns = columns[np.argsort(table.readers[columns], kind="stable")]  # in the order of the head
                vector = int((table.readers[columns] == VECTOR).sum())
                lines = encoded.select(own, columns)
                heads[side] = _HeadFit(lines, ratings[own], vector, rng).fitted(columns, self.trees, advance)
        if not heads:
            raise DataError(f"{len(rows)} lines suffice for no head", "Rate more responses")
        return FittedHeads(self.resources, heads)


def standardized(ratings: FloatArray, sets: NDArray[np.intp]) -> FloatArray:
    """Return [N] ratings in standard deviations from the mean of their data set; `sets` counts from 0."""
    counts = np.maximum(np.bincount(sets), 1)
    means = np.bincount(sets, ratings) / counts
    spreads = np.sqrt(np.bincount(sets, (ratings - means[sets]) ** 2) / counts)
    return (ratings - means[sets]) / np.where(spreads > 0, spreads, 1.0)[sets]


def line_weights(sets: NDArray[np.intp]) -> FloatArray:
    """Return [N] weights by which a data set counts by the square root of its size."""
    return np.sqrt(_USUAL_SIZE / np.bincount(sets)[sets])


@dataclass(frozen=True)
class _HeadFit:
    """The fit of one head to n lines with [n] `ratings` from 1 to 5; `vector` is W."""

    lines: TrainingLines
    ratings: FloatArray
    vector: int
    rng: np.random.Generator

    @cached_property
    def targets(self) -> FloatArray:
        """[n] ratings in standard deviations of their set."""
        return standardized(self.ratings, self.lines.sets)

    def fitted(self, columns: Rows, options: TreeOptions, advance: Advance) -> FittedHead:
        """Return the head over the features `columns` of all, calibrated by cross-validation."""
        lines = self.lines
        # Calibration needs how much predictions vary and by how much they are off; fewer, larger steps show that too.
        quick = options._replace(trees=-(-options.trees * 2 // 5), learning_rate=options.learning_rate * 5 / 2)
        predictions, distances = (np.full(len(self.targets), np.nan) for _ in range(2))
        plain = lines.features[:, : len(columns) - 1 - self.vector]
        # Folds of whole data sets, or of whole contexts if there are few sets.
        wholes = lines.sets if lines.sets.max() + 1 >= _FOLDS else lines.groups
        folds = self.rng.permutation(np.arange(int(wholes.max()) + 1) % _FOLDS)[wholes]
        for fold in range(_FOLDS):
            held_out = folds == fold
            if held_out.any() and not held_out.all():
                head = self._head(np.flatnonzero(~held_out), quick, 1)
                predictions[held_out] = head.predict(lines.features[held_out])
                distances[held_out] = fit_cloud(plain[~held_out]).distances(plain[held_out])
            advance(1)
        head = self._head(np.arange(len(self.targets)), options, FORESTS, advance)
        # Explanations start at the mean of human replies, without the augmented ones.
        head = head.with_baseline(lines.features, line_weights(lines.sets))
        calibration = calibrate(predictions, self.ratings, lines.sets)
        # All data sets have equal weight, whatever their size.
        order, share = np.argsort(distances), 1.0 / np.bincount(lines.sets)[lines.sets]
        reached = np.cumsum(share[order]) / share.sum()
        bound = float(distances[order][min(int(np.searchsorted(reached, INSIDE)), len(order) - 1)])
        return FittedHead(columns, head, calibration, replace(fit_cloud(plain), bound=bound), len(self.targets))

    def _head(self, rows: Rows, options: TreeOptions, forests: int, advance: Advance = ignore) -> Head:
        """Return a head fitted to some of the lines and to the augmented rows made of these."""
        features, weights = self.lines.features[rows], line_weights(self.lines.sets)[rows]
        augmented = self.lines.augmented.of_lines(rows, self.lines.replies)
        is_common = features[:, -1 - self.vector].mean() > _COMMON_NONSENSE
        of_lines = np.full(len(rows), WrittenFor.OTHER)
        kinds, contexts = (np.concatenate([of_lines, column]) for column in (augmented.written_for, augmented.contexts))
        return fit_head(
            np.concatenate([features, augmented.features]),
            np.concatenate([self.targets[rows], augmented.targets(self.targets)]),
            np.concatenate([weights, augmented.weights]),
            self.rng,
            # Over the features of texts alone, probes made no measurable difference (docs/lab-notes.md).
            written=Written(kinds, contexts) if self.vector else None,
            vector=self.vector,
            nonsense_penalty=0.0 if is_common else _NONSENSE,
            options=options,
            forests=forests,
            advance=advance,
        )


def learner(name: str, choices: LearnerOptions) -> FeatureLearner:
    """Return the learner of judges over the features of the bundled judge, and those that a user adds.

    Raises:
        UsageError: something was chosen that has no effect, or is no source of features.
        DataError, MissingAsset, MissingExtra: a source cannot be loaded (see `load_source`).
    """
    choices.only(name, "views")
    added = tuple(map(load_source, choices.views))
    return FeatureLearner(replace(default_resources(), added=added), augment)
