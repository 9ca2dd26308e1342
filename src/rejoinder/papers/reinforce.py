"""A judge as a reward: what breaks, by best of n and by policy gradient, and what holds.

Source: Deriu and Cieliebak 2019, section 3 and appendix B (the collapse); Gao et al. 2023 (reward and an independent
judge over the square root of the divergence from the start).
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rejoinder.catalogue import DEFAULT
from rejoinder.improve.policy import Policy
from rejoinder.improve.reinforce import Practice
from rejoinder.io.folders import read_folder
from rejoinder.io.lines import silent
from rejoinder.papers.asked import CORPORA, files_of
from rejoinder.papers.reinforce_judges import (
    ADEM,
    AGAIN,
    AUTOJUDGE,
    BARE,
    GOLD,
    MEMBERS,
    OTHER,
    VIEWS,
    Fitted,
    Ratings,
    as_published,
    fit,
    member,
    scored,
    several,
    worst,
)
from rejoinder.papers.reinforce_pool import pool, rated_pool
from rejoinder.papers.reinforce_runs import SHOWN, Measures, Way, run_of
from rejoinder.responder import Context
from rejoinder.scorer import FloatArray
from rejoinder.streams.replies import contexts_of
from rejoinder.streams.selftalk import random_cut, sample_contexts

SETS = ("self_dialogue", "synthetic_persona", "topical_chat")
HELD_OUT = 0.01  # as in the recipe of the policy
MEASURED_ON, CHOSEN_ON, POOLED = 48, 32, 12
POOL = 1024
LONGEST = 20
SEEDS = 5
DEFENDED, SECOND, FLOOR = "all four defences", "second round", "second round with a floor"
NONE, PUBLISHED, ENDLESS = "without any", "AutoJudge as published", "AutoJudge without an end"
FREE = Practice(updates=60, episodes=32, turns=1, group=8, kl=0.0, step=3e-4, longest=LONGEST, every=20, most_kl=10.0)
HELD = replace(FREE, kl=0.1)
"""What a nat costs was chosen on contexts that nothing here is measured on, see docs/lab-notes.md."""
SHOWN_OF = (PUBLISHED, VIEWS, SECOND)
PAPER = replace(FREE, turns=4, group=1, baseline="none", step=1e-3, most_kl=None)


@dataclass(frozen=True)
class Found:
    """All that was found.

    Attributes:
        judges: fitted for it.
        runs: of each way and seed, figures at the start and after every few updates.
        returns: figures of each update of AutoJudge as published.
        shown: replies of some ways' first seed, at the start and after every few updates.
        silence: AutoJudge's mean rating of saying nothing, and of what the policy says at its start.
        pooled: [C, N] ratings of the pool by each judge.
        contexts: how many there were to train, and to measure on.
    """

    judges: Sequence[Fitted]
    runs: Mapping[str, Sequence[Sequence[Mapping[str, float]]]]
    returns: Sequence[Mapping[str, float]]
    shown: Mapping[str, Sequence[Mapping[str, Any]]]
    silence: tuple[float, float]
    pooled: Mapping[str, FloatArray]
    contexts: tuple[int, int]


def ways(judges: Path) -> list[Way]:
    """Every way of rewarding."""
    members = [member(VIEWS, number) for number in range(MEMBERS)]
    again = [member(AGAIN, number) for number in range(MEMBERS)]
    bare = [member(BARE, number) for number in range(MEMBERS)]

    def held(names: Sequence[str], *, lower: bool) -> Callable[[], Ratings]:
        return partial(worst, judges, names, lower=lower)

    return [
        Way(PUBLISHED, partial(as_published, judges), PAPER, bounded=False),
        Way(ENDLESS, partial(as_published, judges), replace(FREE, updates=120, most_kl=None), bounded=False),
        Way(AUTOJUDGE, partial(scored, judges, AUTOJUDGE), FREE, seeds=2),
        Way(ADEM, partial(scored, judges, ADEM), FREE),
        Way(VIEWS, held([VIEWS], lower=False), FREE, seeds=2),
        Way(DEFENDED, held(members, lower=True), HELD, seeds=2),
        Way("without the members", held([VIEWS], lower=True), HELD),
        Way("without the lower end", held(members, lower=False), HELD),
        Way("without attacked rows", held(bare, lower=True), HELD),
        Way("without the price of distance", held(members, lower=True), FREE),
        Way(NONE, held([BARE], lower=False), FREE),
        Way(SECOND, held(again, lower=False), HELD, seeds=SEEDS),
        Way(FLOOR, held(again, lower=False), HELD, floor=True, seeds=SEEDS),
        Way(DEFAULT, partial(scored, judges, DEFAULT), HELD),
    ]


def find(
    work: Path,
    start: Path,
    encoders: Sequence[str],
    data: Path | None,
    seed: int = 0,
    say: Callable[[str], None] = silent,
) -> Found:
    """The experiment; what is done stands in the folder `work`, and is not done again.

    Args:
        work: where everything is kept on its way.
        start: folder of the HRED that policies start from.
        encoders: see `fit`.
        data: folder with judgements/ and corpora/; None for the shared one.
        seed: of judges, contexts and the pool; policies have the seeds from 0 on.
        say: gets a line before each piece of work.
    """
    say("judges")
    judges = work / "judges"
    fitted = fit(judges, encoders, data, seed)
    training, _, measured = contexts(data, seed)
    origin = Policy(read_folder(start), LONGEST)
    members = [member(VIEWS, number) for number in range(MEMBERS)]
    groups = {OTHER: [OTHER], VIEWS: [VIEWS], DEFAULT: [DEFAULT], DEFENDED: members}
    ratings = several(judges, (GOLD, AUTOJUDGE, ADEM), groups)
    measures = Measures(measured, ratings, origin)
    runs: dict[str, list[Sequence[Mapping[str, float]]]] = {}
    every = ways(judges)
    for number in range(SEEDS):
        for way in every:
            if number < way.seeds:
                say(f"{way.name}, seed {number}")
                folder = folder_of(work, way.name, number)
                runs.setdefault(way.name, []).append(run_of(way, number, folder, start, training, measures))
    say("pool")
    few = measured[:POOLED]
    pooled = rated_pool(work / "pool.npz", few, lambda: pool(origin, few, POOL, seed), ratings)
    silent = float(np.mean(as_published(judges)(measured, [""] * len(measured))))
    return Found(
        fitted,
        runs,
        [{key: float(value) for key, value in row.items()} for row in _rows(folder_of(work, PUBLISHED, 0))],
        {name: json.loads((folder_of(work, name, 0) / SHOWN).read_text(encoding="utf-8")) for name in SHOWN_OF},
        (silent, runs[PUBLISHED][0][0][AUTOJUDGE]),
        pooled,
        (len(training), len(measured)),
    )


def folder_of(work: Path, name: str, seed: int) -> Path:
    """Where a run is kept."""
    return work / "runs" / f"{name.replace(' ', '-')}-{seed}"


def _rows(folder: Path) -> list[dict[str, str]]:
    """The curves of a run."""
    with (folder / "curves.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def contexts(data: Path | None, seed: int) -> tuple[list[Context], list[Context], list[Context]]:
    """Contexts to train on, to choose on, and to measure on, of dialogues that the policy was not trained on."""
    files = files_of(SETS, data, CORPORA)
    found = [one.context for one in sample_contexts(contexts_of(files, HELD_OUT, cut=random_cut(seed)), 1000, seed)]
    parts = np.cumsum([MEASURED_ON, CHOSEN_ON])
    return found[parts[1] :], found[parts[0] : parts[1]], found[: parts[0]]
