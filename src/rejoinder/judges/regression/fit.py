"""How a judge over views is fitted: one head for replies that come with a reference, one for those that do not.

Shapes: N lines, F features.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rejoinder.example import Example
from rejoinder.judges.features.table import VECTOR, Features, FeatureSet
from rejoinder.judges.learner import Rows
from rejoinder.judges.regression.adapt import Adaptation
from rejoinder.judges.regression.calibration import Calibration, calibrate
from rejoinder.judges.regression.contrasts import Written
from rejoinder.judges.regression.head import SEEDS, Head, fit_head, standardised, weights_of
from rejoinder.judges.regression.likeness import USUAL, Likeness, cloud_of
from rejoinder.judges.regression.lines import OTHER, Added, ViewLines
from rejoinder.judges.regression.trees import Growth
from rejoinder.scorer import Advance, FloatArray, ignore

Way = Literal["context", "reference"]
WAYS: tuple[Way, ...] = ("context", "reference")
FEWEST = 60  # lines of a head; of fewer the trees have no leaf to grow
FEWEST_CONTEXTS = 12  # of fewer a fold of the calibration would be one or two
FOLDS = 4
NONSENSE = 1.0  # standard deviations that a reply without sense is worth less
USUAL_NONSENSE = 0.05  # a larger share of the lines: what looks senseless is another language, and tells nothing


class Part(NamedTuple):
    """What was fitted for one way of reading.

    Attributes:
        columns: which of all features it reads, in the order that `Head` reads them in.
        head: predicts standard deviations of a data set.
        calibration: makes ratings of them.
        likeness: what the lines were like.
        lines: how many these were.
        adaptation: what was learnt of a user's ratings later, or None.
    """

    columns: NDArray[np.intp]
    head: Head
    calibration: Calibration
    likeness: Likeness
    lines: int
    adaptation: Adaptation | None = None

    def predict(self, features: Features, examples: Sequence[Example]) -> FloatArray:
        """[N] what the calibration makes ratings of, for [N, F + 1 + W] features of N examples."""
        base = self.head.predict(features)
        return base if self.adaptation is None else self.adaptation.predict(base, self.plain(features), examples)

    def plain(self, features: Features) -> Features:
        """[N, F] of [N, F + 1 + W] features those that trees and kernel read."""
        return features[:, : self.head.plain]

    @property
    def expected(self) -> float:
        """The prediction before any feature has moved it."""
        base = self.head.expected
        return base if self.adaptation is None else self.adaptation.expected(base)

    def moved(self, features: Features, examples: Sequence[Example]) -> FloatArray:
        """[N, F + 1 + W] what each feature adds to that; behind them R of the raw text where there is an adaptation."""
        if self.adaptation is None:
            return self.head.moved(features)
        return self.adaptation.moved(self.head, features, examples)

    def unlike(self, features: Features) -> NDArray[np.bool_]:
        """[N] whether a line is unlike all that this was fitted on."""
        own = self.plain(features)
        far = self.likeness.unlike(own)
        return far if self.adaptation is None else far & self.adaptation.likeness.unlike(own)


class Material(NamedTuple):
    """Lines of one way of reading.

    Attributes:
        features: [N, F + 1 + W], see `Head`.
        targets: [N] ratings in standard deviations of their set.
        weights: [N] of the lines.
        ratings: [N] from 1 to 5.
        sets: [N] data sets, from 0.
        folds: [N] which fold of the calibration each belongs to.
        replies: [N] numbers of the replies, see `ViewLines`.
        added: what spoilt replies are like, made of rows of this.
        vector: W.
    """

    features: Features
    targets: FloatArray
    weights: FloatArray
    ratings: FloatArray
    sets: NDArray[np.intp]
    folds: NDArray[np.intp]
    replies: Rows
    added: Added
    vector: int

    @property
    def plain(self) -> int:
        """F."""
        return int(self.features.shape[1]) - 1 - self.vector


def fit_parts(
    lines: ViewLines,
    ratings: FloatArray,
    rows: Rows,
    views: FeatureSet,
    growth: Growth,
    rng: np.random.Generator,
    advance: Advance,
) -> dict[Way, Part]:
    """The heads that the ascending `rows` suffice for.

    Args:
        lines: N lines.
        ratings: [N] from 1 to 5.
        rows: those to fit on.
        views: what their features are.
        growth: how trees are grown.
        rng: decides what is random.
        advance: called with 1 after each of `STEPS`.
    """
    found: dict[Way, Part] = {}
    for way in WAYS:
        own = rows[(lines.context if way == "context" else lines.reference)[rows]]
        if len(own) < FEWEST or len(np.unique(ratings[own])) < 2 or len(np.unique(lines.groups[own])) < FEWEST_CONTEXTS:
            continue
        columns = columns_of(views, way)
        material = _material(lines, ratings, own, views, columns, rng)
        found[way] = _part(material, columns, growth, rng, advance)
    return found


STEPS = len(WAYS) * (SEEDS + FOLDS)


def columns_of(views: FeatureSet, way: Way) -> NDArray[np.intp]:
    """The features that a head of one way reads, in the order in which it reads them."""
    columns = views.plain if way == "context" else np.arange(len(views.columns))
    return np.asarray(columns[np.argsort(views.readers[columns], kind="stable")])


def _material(
    lines: ViewLines,
    ratings: FloatArray,
    own: Rows,
    views: FeatureSet,
    columns: NDArray[np.intp],
    rng: np.random.Generator,
) -> Material:
    """The lines of one way, with what was made of them."""
    sets = np.unique(lines.sets[own], return_inverse=True)[1]
    added = lines.added.of_lines(own, lines.replies)
    return Material(
        features=lines.features[np.ix_(own, columns)],
        targets=standardised(ratings[own], sets),
        weights=weights_of(sets),
        ratings=ratings[own],
        sets=sets,
        folds=_folds(sets, lines.groups[own], rng),
        replies=lines.replies[own],
        added=added.numbered(own)._replace(features=added.features[:, columns]),
        vector=int((views.readers[columns] == VECTOR).sum()),
    )


def _folds(sets: NDArray[np.intp], groups: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
    """[N] folds of whole data sets, or where these are few, of whole contexts."""
    wholes = sets if len(np.unique(sets)) >= FOLDS else np.unique(groups, return_inverse=True)[1]
    count = int(wholes.max()) + 1
    return rng.permutation(np.arange(count) % FOLDS)[wholes]


def _part(
    material: Material, columns: NDArray[np.intp], growth: Growth, rng: np.random.Generator, advance: Advance
) -> Part:
    """What is fitted for one way."""
    # Calibration asks how far predictions spread and are off; fewer and larger steps tell that as well.
    quick = growth._replace(trees=-(-growth.trees * 2 // 5), step=growth.step * 5 / 2)
    predictions, distances = (np.full(len(material.targets), np.nan) for _ in range(2))
    plain = material.features[:, : material.plain]
    for fold in range(FOLDS):
        inside = material.folds == fold
        if inside.any() and not inside.all():
            head = _head(material, np.flatnonzero(~inside), rng, quick, 1)
            predictions[inside] = head.predict(material.features[inside])
            distances[inside] = cloud_of(plain[~inside]).distances(plain[inside])
        advance(1)
    head = _head(material, np.arange(len(material.targets)), rng, growth, advance=advance)
    # Explanations begin at the average reply of people's lines, not at one between these and the spoilt ones.
    head = head.told_from(material.features, material.weights)
    calibration = calibrate(predictions, material.ratings, material.sets)
    likeness = replace(cloud_of(plain), bound=_bound(distances, material.sets))
    return Part(columns, head, calibration, likeness, len(material.targets))


def _bound(distances: FloatArray, sets: NDArray[np.intp]) -> float:
    """The distance that `USUAL` of the lines stay within, all data sets alike."""
    share = 1.0 / np.bincount(sets)[sets]
    order = np.argsort(distances)
    reached = np.cumsum(share[order]) / share.sum()
    return float(distances[order][min(int(np.searchsorted(reached, USUAL)), len(order) - 1)])


def _head(
    material: Material,
    inside: Rows,
    rng: np.random.Generator,
    growth: Growth,
    seeds: int = SEEDS,
    advance: Advance = ignore,
) -> Head:
    """A head fitted to some of the lines and what was made of these."""
    added = material.added.of_lines(inside, material.replies)
    usual = material.features[inside, material.plain].mean() > USUAL_NONSENSE
    # Over the features of texts alone contrasts bought nothing that shows (docs/lab-notes.md).
    written = _kinds_of(len(inside), added) if material.vector else None
    return fit_head(
        np.concatenate([material.features[inside], added.features]),
        np.concatenate([material.targets[inside], added.deserved(material.targets)]),
        np.concatenate([material.weights[inside], added.weights]),
        rng,
        written=written,
        vector=material.vector,
        nonsense=0.0 if usual else NONSENSE,
        growth=growth,
        seeds=seeds,
        advance=advance,
    )


def _kinds_of(lines: int, added: Added) -> Written:
    """Which of so many lines and the added rows behind them are replies that people wrote, and what for."""
    return Written(*(np.concatenate([np.full(lines, OTHER), column]) for column in (added.kinds, added.contexts)))


def parts_used(parts: Mapping[Way, Part], context: NDArray[np.bool_], reference: NDArray[np.bool_]) -> list[Way | None]:
    """[N] which part reads each line: that with references where there are some and it was fitted."""
    return [
        "reference"
        if has_reference and "reference" in parts
        else "context"
        if has_context and "context" in parts
        else None
        for has_context, has_reference in zip(context, reference, strict=True)
    ]
