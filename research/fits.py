"""Many judges fitted on few encodings: splits, settings, and the choice among settings by validation.

Shapes: N lines, S splits.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal, NamedTuple

import numpy as np

from rejoinder.judges.adem.head import Normalise
from rejoinder.judges.adem.judge import Kind
from rejoinder.judges.adem.learner import AdemLearner
from rejoinder.judges.adem.optimizer import PRESETS, AdemFit, AdemOptions
from rejoinder.judges.crossval import SHARES
from rejoinder.judges.protocol import Rows
from rejoinder.scorer import Advance, FloatArray, ignore
from rejoinder.stats.correlation import pearson, spearman
from rejoinder.stats.splits import split_groups
from research.encodings import Encoding
from research.material import Material

# Larger batches, longer steps and fewer epochs than the defaults: ten times quicker; the validation error is the same
# within .004 rating points, because it is lowest after some six epochs.
QUICK = AdemOptions(batch_size=128, learning_rate=0.007, epochs=20)
# The printed step is .001; twice that comes to the same validation error in half the time.
QUICK_AUTOJUDGE = replace(PRESETS["deriu2019"], learning_rate=0.002, epochs=30)
COMPONENTS = (7, 20, 50, 100, 150)
NORMALISE: tuple[Normalise, ...] = ("none", "l2")
OVERSAMPLE: tuple[Literal["words"] | None, ...] = (None, "words")


class Split(NamedTuple):
    """One random division of the contexts; a context stands in one part only.

    Attributes:
        seed: what it follows from.
        train: lines to fit on.
        validation: lines that decide the epoch and the settings.
        test: all other lines.
    """

    seed: int
    train: Rows
    validation: Rows
    test: Rows


class Settings(NamedTuple):
    """What is tried.

    Attributes:
        state: which state of the encoder, "" where it has one only.
        components: principal components.
        normalise: what happens to raw vectors first.
        oversample: whether training lines are repeated.
    """

    state: str
    components: int
    normalise: Normalise
    oversample: Literal["words"] | None

    @property
    def options(self) -> AdemOptions:
        """How to fit with these settings."""
        return replace(QUICK, components=self.components, normalise=self.normalise, oversample=self.oversample)


class Judgement(NamedTuple):
    """A judge fitted on one split.

    Attributes:
        fitted: the judge.
        encoding: what it stands on.
        validation: its Pearson and Spearman correlations on the validation part; NaN where there is none.
    """

    fitted: AdemFit
    encoding: Encoding
    validation: tuple[float, float]


@dataclass(frozen=True)
class Sweep:
    """A judge fitted with every setting on every split, and each split's choice.

    Attributes:
        settings: all that were tried.
        validation: [settings, S, 2] Pearson and Spearman on the validation parts.
        chosen: [S] the settings that each split chose.
        judgements: [S] the chosen judges.
    """

    settings: list[Settings]
    validation: FloatArray
    chosen: list[Settings]
    judgements: list[Judgement]


def splits(material: Material, seeds: int) -> list[Split]:
    """`seeds` random splits of contexts, 70 / 15 / 15; copies of references are left in the test parts alone."""
    found = []
    for seed in range(seeds):
        parts = split_groups(material.contexts, SHARES, np.random.default_rng(seed))
        train, validation = (part[~material.copies[part]] for part in parts[:2])
        found.append(Split(seed, train, validation, parts[2]))
    return found


def judge(material: Material, encoding: Encoding, split: Split, kind: Kind, options: AdemOptions) -> Judgement:
    """A judge fitted on those lines of a split that have vectors."""
    train, validation = encoding.usable(split.train), encoding.usable(split.validation)
    ratings, rng = material.ratings, np.random.default_rng(split.seed)
    learner = AdemLearner(kind, encoding.encoder, options)
    fitted = learner.fit(encoding.lines, ratings, train, validation, rng).fit
    predicted = fitted.predict(encoding.raw.at(validation))
    by_value, by_rank = (correlate(predicted, ratings[validation]).value for correlate in (pearson, spearman))
    return Judgement(fitted, encoding, (by_value, by_rank))


def sweep(
    material: Material, encodings: Sequence[Encoding], splits: Sequence[Split], kind: Kind, advance: Advance = ignore
) -> Sweep:
    """A judge over one encoder with every setting: its states, components, normalisation, over-sampling.

    Validation alone is looked at. More components than the vectors are wide are not tried.
    """
    by_state = {encoding.state: encoding for encoding in encodings}
    width = min(encoding.raw.response.shape[1] for encoding in encodings)
    sizes = [count for count in COMPONENTS if count <= width] or [width]
    settings = [Settings(*values) for values in product(by_state, sizes, NORMALISE, OVERSAMPLE)]
    validation, chosen, best = [], [], []
    for split in splits:
        tried = [judge(material, by_state[one.state], split, kind, one.options) for one in settings]
        place = best_of(tried)
        validation.append([one.validation for one in tried])
        chosen.append(settings[place])
        best.append(tried[place])
        advance(1)
    return Sweep(settings, np.array(validation).transpose(1, 0, 2), chosen, best)


def best_of(judgements: Sequence[Judgement]) -> int:
    """The place of the judge with the highest Pearson correlation on its validation part; the first where none has."""
    figures = [one.validation[0] for one in judgements]
    return int(np.nan_to_num(figures, nan=-np.inf).argmax())


def predictions(judgements: Sequence[Judgement]) -> FloatArray:
    """[S, N] what each judge predicts for every line; NaN where a line could not be scored."""
    return np.array([one.encoding.predict(one.fitted) for one in judgements])


def seconds_of(judgement: Judgement) -> float:
    """How long encoding and judging all lines takes."""
    start = time.perf_counter()
    judgement.encoding.predict(judgement.fitted)
    return judgement.encoding.seconds + time.perf_counter() - start


def set_means(material: Material, train: Rows) -> FloatArray:
    """[N] the mean training rating of each line's data set: what knowing the set alone is worth."""
    names, sets = np.unique(material.datasets, return_inverse=True)
    overall = material.ratings[train].mean()
    inside = [material.ratings[train[sets[train] == number]] for number in range(len(names))]
    return np.array([own.mean() if len(own) else overall for own in inside])[sets]
