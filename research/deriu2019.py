"""Deriu and Cieliebak 2019, Towards a Metric for Automated Conversational Dialogue System Evaluation: tables 1 and 3.

Shapes: N lines, F folds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rejoinder.estimates import Estimate
from rejoinder.judges.adem.judge import TERMS
from rejoinder.judges.adem.optimizer import AdemOptions
from rejoinder.scorer import Advance, FloatArray, ignore
from rejoinder.stats.splits import fold_groups
from research.asked import Asked, Takes
from research.encodings import Encoding, Prepared, prepared_for
from research.excerpts import Excerpt, dialogue
from research.figures import Appearances, Figures, appearances, figures
from research.fits import QUICK, QUICK_AUTOJUDGE, Split, judge, set_means
from research.material import Material, leave_one_out

SETS = (
    "deriu_*",
    "gupta_*",
    "usr_personachat",
    "grade_*",
    "zhao_*",
    "fed_turn",
    "conture_turn",
    "engage_dailydialog",
    "holistic_context",
)
NEEDS = TERMS["autojudge"]
FOLDS = 10
FEWEST_LINES, FEWEST_SYSTEMS = 50, 3
AUTOJUDGE, WITH_COMPONENTS, SET_MEAN = "autojudge", "c-adem", "mean of the set"
SEEDS = 1
TAKES = Takes(("files", "encoders", "data", "seeds"))


class Row(NamedTuple):
    """One judge under one way of splitting; figures are means over the folds.

    Attributes:
        name: of the judge.
        pearson: on what was held out.
        spearman: the same.
        error: mean absolute error in rating points of 1 to 5.
        within: Pearson inside data sets.
    """

    name: str
    pearson: Estimate
    spearman: Estimate
    error: Estimate
    within: Estimate


class Fold(NamedTuple):
    """What AutoJudge reaches on one fold.

    Attributes:
        name: its number, or the system held out.
        lines: held out.
        pearson: with interval.
        spearman: the same.
    """

    name: str
    lines: int
    pearson: Estimate
    spearman: Estimate


@dataclass(frozen=True)
class Way:
    """One way of splitting.

    Attributes:
        rows: the judges.
        folds: AutoJudge on each fold.
        contexts: contexts held out, over all folds.
    """

    rows: list[Row]
    folds: list[Fold]
    contexts: int


@dataclass(frozen=True)
class Deriu2019:
    """All that was found.

    Attributes:
        material: the lines.
        encoders: the encodings by the name of the encoder; AutoJudge's come first.
        ways: `conversations` and `systems`; the second is missing where fewer than three systems have 50 lines.
        excerpts: a dialogue judged by the AutoJudge that did not see it; empty where no set may be quoted.
    """

    material: Material
    encoders: Mapping[str, list[Encoding]]
    ways: Mapping[str, Way]
    excerpts: list[Excerpt]


def find(asked: Asked) -> Deriu2019:
    """The experiments on the rated examples that were asked for, over as many splits or rounds."""
    start, rounds = prepared_for(asked, SETS, NEEDS), asked.seeds or SEEDS
    with asked.stage("fitting", steps(start, rounds)) as advance:
        return compute(start, rounds, advance)


def steps(prepared: Prepared, seeds: int) -> int:
    """How often `compute` advances: once a fold."""
    return seeds * FOLDS + len(_system_folds(prepared.material))


def compute(prepared: Prepared, seeds: int, advance: Advance = ignore) -> Deriu2019:
    """The experiments on prepared lines.

    Copies of references are left out: they are the human response once more, and so would let a judge see in training
    what it is tested on when humans are held out.

    Args:
        prepared: the lines and their encodings; of an encoder with two states the context state is taken.
        seeds: how many times conversations are divided into ten folds.
        advance: called with 1 after each fold, `steps` times in all.
    """
    material, work = prepared.material, figures(prepared.material, seed=0)
    conversations = [held for seed in range(seeds) for held in _conversation_folds(material, seed)]
    scores = _scores(prepared, conversations, advance)
    ways = {"conversations": _way(work, conversations, scores)}
    if systems := _system_folds(material):
        ways["systems"] = _way(work, systems, _scores(prepared, systems, advance))
    unseen = np.full(len(material.ratings), np.nan)
    for held, row in zip(conversations[:FOLDS], scores[AUTOJUDGE], strict=False):
        unseen[held.split.test] = row[held.split.test]
    return Deriu2019(material, prepared.encoders, ways, dialogue(material, unseen, seed=0))


class _Held(NamedTuple):
    """A fold: what is held out, and the split that holds it out."""

    name: str
    split: Split


def _conversation_folds(material: Material, seed: int) -> list[_Held]:
    """Ten folds of conversations; the fold after the one that is held out decides when to stop."""
    own = material.own
    fold = fold_groups(material.contexts[own], FOLDS, np.random.default_rng(seed))

    def held(number: int) -> _Held:
        validation = (number + 1) % FOLDS
        rest = own[(fold != number) & (fold != validation)]
        return _Held(str(FOLDS * seed + number + 1), Split(seed, rest, own[fold == validation], own[fold == number]))

    return [held(number) for number in range(FOLDS)]


def _system_folds(material: Material) -> list[_Held]:
    """A fold for each system with 50 lines or more; a tenth of the other contexts decides when to stop.

    One name is one system, in whatever data set it stands. None where there are fewer than three such systems.
    """
    own = material.own
    folds = []
    for system, rest, left in leave_one_out(material.systems[own]):
        if len(left) >= FEWEST_LINES:
            fold = fold_groups(material.contexts[own[rest]], FOLDS, np.random.default_rng(0))
            split = Split(0, own[rest[fold > 0]], own[rest[fold == 0]], own[left])
            folds.append(_Held(system, split))
    return folds if len(folds) >= FEWEST_SYSTEMS else []


def _scores(prepared: Prepared, folds: Sequence[_Held], advance: Advance) -> dict[str, FloatArray]:
    """[F, N] what each judge predicts when the lines of a fold are held out."""
    material = prepared.material
    found: dict[str, list[FloatArray]] = {}
    for held in folds:
        found.setdefault(SET_MEAN, []).append(set_means(material, held.split.train))
        for name, encoding, options in _judges(prepared):
            fitted = judge(material, encoding, held.split, "autojudge", options).fitted
            found.setdefault(name, []).append(encoding.predict(fitted))
        advance(1)
    return {name: np.array(rows) for name, rows in found.items()}


def _judges(prepared: Prepared) -> Iterator[tuple[str, Encoding, AdemOptions]]:
    """The judges: AutoJudge over every encoder, then the same term with components and penalty, over the first."""
    main = next(iter(prepared.encoders))
    for name, encodings in prepared.encoders.items():
        yield AUTOJUDGE if name == main else f"{AUTOJUDGE} over {name}", encodings[0], QUICK_AUTOJUDGE
    yield WITH_COMPONENTS, prepared.main[0], QUICK


def _way(work: Figures, folds: Sequence[_Held], scores: Mapping[str, FloatArray]) -> Way:
    """The figures of all judges, and of AutoJudge on each fold."""
    where = appearances([held.split.test for held in folds])
    rows = []
    for name, values in scores.items():
        spearman, pearson = work.both(values, where)
        rows.append(Row(name, pearson, spearman, work.error(values, where), work.within("pearson", values, where)))
    of_folds = []
    for place, held in enumerate(folds):
        own = Appearances(held.split.test, np.full(len(held.split.test), place))
        spearman, pearson = work.both(scores[AUTOJUDGE], own)
        of_folds.append(Fold(held.name, len(held.split.test), pearson, spearman))
    return Way(rows, of_folds, len(np.unique(work.material.contexts[where.rows])))


if __name__ == "__main__":
    from research.run import main

    main("deriu2019")
