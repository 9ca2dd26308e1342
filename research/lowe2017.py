"""Lowe et al. 2017, Towards an Automatic Turing Test: tables 2 to 5, figures 4 and 5, and the supplement's questions.

Shapes: N lines, S splits.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from rejoinder.errors import MissingAsset
from rejoinder.estimates import Estimate
from rejoinder.judges.adem.judge import TERMS, Kind
from rejoinder.scorer import Advance, FloatArray, ignore, run
from rejoinder.scoring.catalog import cards, load_scorer
from research.asked import Asked, Takes
from research.encodings import Encoding, Prepared, prepared_for
from research.excerpts import Excerpt, excerpts
from research.figures import Appearances, Figures, OfSystems, appearances, figures
from research.fits import (
    QUICK,
    QUICK_AUTOJUDGE,
    Judgement,
    Split,
    Sweep,
    best_of,
    judge,
    predictions,
    seconds_of,
    set_means,
    splits,
    sweep,
)
from research.material import Material
from research.unseen import SHARES, Point, Unseen, fewer_labels, systems_to_leave_out, unseen_systems

SETS = ("deriu_*", "gupta_*", "usr_personachat", "grade_*", "zhao_*")
NEEDS = TERMS["adem"]
ADEM: Kind = "adem"
SET_MEAN = "mean of the set"
# Rows that are fitted as AutoJudge is, and the judge whose terms they have.
_WHOLE: dict[str, Kind] = {"autojudge": "autojudge", "adem, all components": "adem"}
SEEDS = 5
TAKES = Takes(("files", "encoders", "data", "seeds"))


class Row(NamedTuple):
    """One scorer in tables 2 and 3.

    Attributes:
        name: its name.
        validation: Spearman and Pearson on the validation parts, mean over the splits; NaN for what is not fitted.
        spearman: on the test parts.
        pearson: the same.
        within: Spearman inside data sets, on the test parts.
        copies: Spearman on the test parts, responses that copy a reference among them.
        behind: how far ADEM is ahead, by Spearman and by Pearson; None for ADEM.
        systems: the correlation over systems.
        systems_within: the same after the mean of each set was taken off.
        speed: lines a second; NaN for what does no work.
    """

    name: str
    validation: tuple[float, float]
    spearman: Estimate
    pearson: Estimate
    within: Estimate
    copies: Estimate
    behind: tuple[Estimate, Estimate] | None
    systems: OfSystems
    systems_within: OfSystems
    speed: float


@dataclass(frozen=True)
class Lowe2017:
    """All that was found.

    Attributes:
        material: the lines.
        encoders: the encodings by the name of the encoder; ADEM's come first.
        splits: the splits.
        rows: the scorers.
        missing: scorers that could not run, and why.
        sweeps: what was tried, by the name of the encoder.
        unseen: systems left out of training, then lines left out at random.
        points: growing shares of the labels.
        scores: [N] by scorer, of the first split.
        excerpts: judged by C-ADEM of the first split.
    """

    material: Material
    encoders: Mapping[str, list[Encoding]]
    splits: list[Split]
    rows: list[Row]
    missing: Mapping[str, str]
    sweeps: Mapping[str, Sweep]
    unseen: list[Unseen]
    points: list[Point]
    scores: Mapping[str, FloatArray]
    excerpts: list[Excerpt]


class _Scored(NamedTuple):
    """The scores [S, N] of a scorer, its Spearman and Pearson on validation, and its lines a second."""

    scores: FloatArray
    validation: tuple[float, float] = (np.nan, np.nan)
    speed: float = np.nan


def find(asked: Asked) -> Lowe2017:
    """The experiments on the rated examples that were asked for, over as many splits or rounds."""
    start, rounds = prepared_for(asked, SETS, NEEDS), asked.seeds or SEEDS
    with asked.stage("fitting", steps(start, rounds)) as advance:
        return compute(start, rounds, advance)


def steps(prepared: Prepared, seeds: int) -> int:
    """How often `compute` advances."""
    leaving_out = len(systems_to_leave_out(prepared.material)) + 1
    return seeds * (len(prepared.encoders) + leaving_out + len(SHARES))


def compute(prepared: Prepared, seeds: int, advance: Advance = ignore) -> Lowe2017:
    """The experiments on prepared lines, over `seeds` random splits of the contexts.

    Copies of references are left out of training, validation and test but where a figure says otherwise. Every ADEM is
    fitted with many settings; in each split its own validation part chooses, and the test part is looked at for the
    chosen one alone.

    Args:
        prepared: the lines and their encodings.
        seeds: how many splits.
        advance: called with 1 after each piece of work, `steps` times in all.
    """
    material, divided = prepared.material, splits(prepared.material, seeds)
    whole = appearances([split.test for split in divided])
    test = whole.where(~material.copies)
    work = figures(material, seed=0)
    sweeps = {name: sweep(material, encodings, divided, ADEM, advance) for name, encodings in prepared.encoders.items()}
    metrics, missing = _metrics(material, seeds)
    reduced, judges = _judges(prepared, divided, sweeps)
    of_sets = np.array([set_means(material, split.train) for split in divided])
    scored = {**metrics, SET_MEAN: _Scored(of_sets), **judges}
    full = sweeps[next(iter(sweeps))]
    options = [settings.options for settings in full.chosen]
    return Lowe2017(
        material,
        prepared.encoders,
        divided,
        [_row(name, found, scored[ADEM], work, test, whole) for name, found in scored.items()],
        missing,
        sweeps,
        unseen_systems(work, divided, full.judgements, options, ADEM, test, advance),
        fewer_labels(work, divided, full.judgements, options, ADEM, test, advance),
        {name: found.scores[0] for name, found in scored.items()},
        excerpts(reduced, seed=0),
    )


def _metrics(material: Material, seeds: int) -> tuple[dict[str, _Scored], dict[str, str]]:
    """Every closed-form scorer, and why others could not run; one that is not fitted scores alike on every split.

    Judges in the catalogue are left out: they may have been fitted on these very lines.
    """
    found, missing = {}, {}
    for name, card in cards().items():
        if card.kind == "judge" or "/" in name:
            continue
        try:
            scorer = load_scorer(name)
            start = time.perf_counter()
            values = run(scorer, material.examples).values
        except MissingAsset as error:
            missing[name] = str(error)
            continue
        speed = len(values) / (time.perf_counter() - start)
        found[name] = _Scored(np.tile(values, (seeds, 1)), speed=speed)
    return found, missing


def _judges(
    prepared: Prepared, divided: list[Split], sweeps: Mapping[str, Sweep]
) -> tuple[Judgement, dict[str, _Scored]]:
    """The judges, untrained ones first; before them the C-ADEM of the first split.

    C-ADEM and R-ADEM take the settings that ADEM chose.
    """
    material, (main, *others) = prepared.material, sweeps
    chosen = sweeps[main]

    def fitted(kind: Kind, of: Sweep, epochs: int = QUICK.epochs) -> list[Judgement]:
        return [
            judge(material, one.encoding, split, kind, replace(settings.options, epochs=epochs))
            for one, split, settings in zip(of.judgements, divided, of.chosen, strict=True)
        ]

    context = fitted("c-adem", chosen)
    found = {f"{name}, untrained": fitted("adem", of, epochs=0) for name, of in sweeps.items()}
    found |= {"c-adem": context, "r-adem": fitted("r-adem", chosen)}
    found |= {f"{ADEM} over {name}": sweeps[name].judgements for name in others}
    found[ADEM] = chosen.judgements
    found |= {name: list(_as_autojudge(material, prepared.main, divided, kind)) for name, kind in _WHOLE.items()}
    return context[0], {name: _scored(material, judgements) for name, judgements in found.items()}


def _as_autojudge(
    material: Material, encodings: list[Encoding], divided: list[Split], kind: Kind
) -> Iterator[Judgement]:
    """A judge of this kind fitted as AutoJudge is, on each split, over the state that its validation part chooses."""
    for split in divided:
        tried = [judge(material, one, split, kind, QUICK_AUTOJUDGE) for one in encodings]
        yield tried[best_of(tried)]


def _scored(material: Material, judgements: list[Judgement]) -> _Scored:
    """What judges, one a split, come to."""
    by_value, by_rank = np.mean([one.validation for one in judgements], axis=0).tolist()
    return _Scored(predictions(judgements), (by_rank, by_value), len(material.ratings) / seconds_of(judgements[0]))


def _row(name: str, found: _Scored, adem: _Scored, work: Figures, test: Appearances, whole: Appearances) -> Row:
    """All figures of one scorer."""
    scores = found.scores
    spearman, pearson = work.both(scores, test)
    behind = None
    if name != ADEM:
        behind = (
            work.versus("spearman", adem.scores, scores, test),
            work.versus("pearson", adem.scores, scores, test),
        )
    return Row(
        name,
        found.validation,
        spearman,
        pearson,
        work.within("spearman", scores, test),
        work.correlation("spearman", scores, whole),
        behind,
        work.systems(scores, test, centred=False),
        work.systems(scores, test, centred=True),
        found.speed,
    )


if __name__ == "__main__":
    from research.run import main

    main("lowe2017")
