"""Deriu and Cieliebak 2019, table 2: five systems talk to themselves, and a judge chooses among them turn by turn.

What says whether that helped are other judges, fitted on data sets that share no conversation with those of AutoJudge.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from rejoinder.catalogue import DEFAULT, load_responder, load_scorer
from rejoinder.encoders import load_encoder
from rejoinder.errors import DataError, UsageError
from rejoinder.improve.best import BestOf
from rejoinder.io import read
from rejoinder.judges.train import train_judge
from rejoinder.meta.diversity import distinct
from rejoinder.metrics.elsewhere import of_function
from rejoinder.papers.asked import Asked, Takes, files_of, named
from rejoinder.papers.encodings import Source, source
from rejoinder.papers.figures import mean_by
from rejoinder.papers.fits import QUICK_AUTOJUDGE
from rejoinder.records import Example
from rejoinder.scorer import Advance, FloatArray, Scorer, run
from rejoinder.stats.arrays import IntArray, number_of, renumbered
from rejoinder.stats.cluster_means import Mean, cluster_means
from rejoinder.stats.correlation import spearman
from rejoinder.stats.paired import OverParts
from rejoinder.stats.sampling import Sampling
from rejoinder.streams.selftalk import self_talk
from rejoinder.text import tokenizer

# Data sets by the corpora that their contexts come from, so that no conversation stands on both sides.
CHOOSING = ("deriu_dailydialog", "deriu_empathetic", "gupta_dailydialog", "grade_*", "zhao_dailydialog", "engage_*")
MEASURING = ("conture_turn", "fed_turn", "usr_personachat", "zhao_personachat", "deriu_convai2", "holistic_context")
AUTOJUDGE, CHOOSER, CHANCE = "autojudge", "views", "chance"
VIEWS, OTHER = "views, other sets", "autojudge, other sets and encoder"
RESAMPLES = 1000
TAKES = Takes(
    ("files", "responders", "encoders", "seed"),
    must=("files", "responders", "encoders"),
    why="needs turns.jsonl of rejoinder selftalk, the systems that said them (-r NAME=FOLDER), and two encoders (-e "
    "NAME=FOLDER): of the AutoJudge that chooses and of the one that measures",
)
Turns = Mapping[str, Sequence[Example]]


class Judged(NamedTuple):
    """A judge of the experiment.

    Attributes:
        name: what it is called.
        does: what it is here for.
        reads: what it stands on.
        sets: data sets that it was fitted on.
        unseen: mean Spearman correlation with people inside the data sets of the other side; NaN of seen ones.
    """

    name: str
    does: str
    reads: str
    sets: Sequence[str]
    unseen: float


class Measured(NamedTuple):
    """What a row comes to by one of the judges that measure.

    Attributes:
        mean: mean score of all turns.
        gain: by how much that is above the best single system; None for a single system.
        over_chance: by how much above a choice at random; None for a single system and for chance itself.
    """

    mean: OverParts
    gain: Mean | None
    over_chance: Mean | None


class Row(NamedTuple):
    """What the turns of a system, or of a choice among systems, come to.

    Attributes:
        name: of the system, or of what chose.
        measured: by the judges that measure.
        again: share of turns that stand word for word in their context.
        distinct: distinct-2.
        length: mean number of words.
    """

    name: str
    measured: Mapping[str, Measured]
    again: float
    distinct: float
    length: float


@dataclass(frozen=True)
class Reranked:
    """All that was found.

    Attributes:
        judges: that choose and that measure.
        rows: the single systems, then what was chosen.
        best: the single system that does best, by each judge that measures.
        won: how often each choice took each system.
        turns: of each row, in the order they were said.
        contexts: that the dialogues began with.
    """

    judges: Sequence[Judged]
    rows: Sequence[Row]
    best: Mapping[str, str]
    won: Mapping[str, Mapping[str, int]]
    turns: Turns
    contexts: int


def find(asked: Asked) -> Reranked:
    """The experiment on turns of self-talk and the systems that said them.

    Raises:
        UsageError: there are not two encoders.
        DataError: a line is not of self-talk, or the systems do not begin with the same contexts.
    """
    singles = _singles(asked)
    starts = _starts(singles)
    with asked.stage("fitting", None):
        choosers, measures, judges = _judges(asked)
    turns, won = _rerank(asked, singles, starts, choosers)
    with asked.stage("scoring", len(turns) * len(measures)) as advance:
        scores = {by: _scores(scorer, turns, advance) for by, scorer in measures.items()}
    best = {by: _best(scores[by], singles) for by in measures}
    groups = {name: renumbered(np.array([str(one.extra["start_id"]) for one in said])) for name, said in turns.items()}
    rows = [
        _row(
            name, said, {by: _measured(name, scores[by], groups, best[by], set(singles), asked.seed) for by in measures}
        )
        for name, said in turns.items()
    ]
    return Reranked(judges, rows, best, won, turns, len(starts))


def _best(scores: Mapping[str, FloatArray], singles: Turns) -> str:
    """The single system with the highest mean score."""
    means = {name: float(np.nanmean(scores[name])) for name in singles}
    return max(means, key=lambda name: means[name])


def _rerank(
    asked: Asked, singles: Turns, starts: Mapping[str, Example], choosers: Mapping[str, Scorer]
) -> tuple[dict[str, Sequence[Example]], dict[str, Mapping[str, int]]]:
    """The turns of the single systems and of each choice among them, and how often each choice took each system."""
    responders = {name: load_responder(place) for name, place in (named(text, "-r") for text in asked.responders)}
    length = max(int(turn.extra["turn"]) for said in singles.values() for turn in said)
    everyone = {**choosers, CHANCE: of_function(_at_random, CHANCE)}
    turns, won = dict(singles), dict[str, Mapping[str, int]]()
    with asked.stage("talking", len(everyone) * len(starts) * length) as advance:
        for name, scorer in everyone.items():
            best = BestOf(responders, scorer, f"chosen by {name}")
            turns[best.name] = _talk(best, starts, length, asked.seed, advance)
            won[best.name] = dict(best.won.most_common())
    return turns, won


def _singles(asked: Asked) -> dict[str, list[Example]]:
    """The turns of each system, in the order they were said."""
    turns: dict[str, list[Example]] = {}
    for turn in asked.examples(()):
        if missing := [key for key in ("start_id", "dialogue_id", "turn") if key not in turn.extra]:
            raise DataError(f"no {missing[0]}", "Give turns.jsonl of rejoinder selftalk", where=turn.where)
        turns.setdefault(turn.system or "", []).append(turn)
    return turns


def _starts(singles: Turns) -> dict[str, Example]:
    """What the dialogues begin with, by its id; the same for all systems.

    Raises:
        DataError: it is not.
    """
    each = [
        {str(turn.extra["start_id"]): turn for turn in said if turn.extra["turn"] == 1} for said in singles.values()
    ]
    if any(starts.keys() != each[0].keys() for starts in each):
        raise DataError("the systems do not begin with the same contexts", "Give turns.jsonl of one rejoinder selftalk")
    return each[0]


def _talk(best: BestOf, starts: Mapping[str, Example], turns: int, seed: int, advance: Advance) -> list[Example]:
    """The turns that the best of all systems adds to each context, as lines of self-talk."""
    talks = self_talk(best, [start.context for start in starts.values()], turns=turns, seed=seed, advance=advance)
    return [
        Example(
            (*talk.context, *talk.replies[:place]),
            text,
            system=best.name,
            extra={"start_id": start, "dialogue_id": f"{best.name}/{start}", "turn": place + 1},
        )
        for start, talk in zip(starts, talks, strict=True)
        for place, text in enumerate(talk.replies)
    ]


def _judges(asked: Asked) -> tuple[dict[str, Scorer], dict[str, Scorer], list[Judged]]:
    """The judges that choose, those that measure, and what is to be said of them."""
    if len(asked.encoders) != 2:
        raise UsageError(f"{len(asked.encoders)} encoders were named, expected two: -e NAME=FOLDER -e NAME=FOLDER")
    lines = {"choosing": rated(CHOOSING, asked), "measuring": rated(MEASURING, asked)}
    sets = {side: sorted({str(one.dataset) for one in own}) for side, own in lines.items()}
    own, other = (source(text) for text in asked.encoders)

    def autojudge(side: str, one: Source) -> Scorer:
        encoder = load_encoder(one.folder, one.state)
        return train_judge(lines[side], "autojudge", encoder, QUICK_AUTOJUDGE, seed=asked.seed).judge

    def views(side: str) -> Scorer:
        return train_judge(lines[side], DEFAULT, seed=asked.seed).judge

    choosers = {AUTOJUDGE: autojudge("choosing", own), CHOOSER: views("choosing")}
    measures = {VIEWS: views("measuring"), OTHER: autojudge("measuring", other)}
    box = load_scorer(DEFAULT)
    said = [
        *_said(choosers, "chooses", (own.name, "views"), sets["choosing"], lines["measuring"]),
        Judged(DEFAULT, "chooses", "views", sorted(getattr(box, "trained_on", ())), float("nan")),
        *_said(measures, "measures", ("views", other.name), sets["measuring"], lines["choosing"]),
    ]
    return {**choosers, DEFAULT: box}, measures, said


def _said(
    judges: Mapping[str, Scorer], does: str, reads: Sequence[str], sets: Sequence[str], unseen: Sequence[Example]
) -> list[Judged]:
    """What is to be said of the judges of one side, which have not seen the lines of the other."""
    each = zip(judges.items(), reads, strict=True)
    return [Judged(name, does, stands_on, sets, agreement(one, unseen)) for (name, one), stands_on in each]


def rated(sets: Sequence[str], asked: Asked) -> list[Example]:
    """The rated lines of data sets that have a context, without their references."""
    lines = read(*files_of(sets, asked.data), on_bad=asked.on_bad, note=asked.note)
    return [
        replace(one, references=()) for one in lines if any(map(str.strip, one.context)) and one.rating() is not None
    ]


def agreement(judge: Scorer, lines: Sequence[Example]) -> float:
    """Mean Spearman correlation with people inside data sets."""
    scores = run(judge, lines).values
    ratings = np.array([one.rating() for one in lines], dtype=np.float64)
    sets = np.array([one.dataset for one in lines])
    known = np.isfinite(scores)
    parts = [known & (sets == name) for name in sorted(set(sets.tolist()))]
    return float(np.mean([spearman(scores[part], ratings[part]).value for part in parts]))


def _at_random(examples: Sequence[Example]) -> list[float]:
    """A number for each reply that says nothing of it and follows from context and reply alone."""
    texts = ("\n".join((*one.context, one.response)).encode() for one in examples)
    return [int.from_bytes(hashlib.sha256(text).digest()[:6]) / 2**48 for text in texts]


def _scores(scorer: Scorer, turns: Turns, advance: Advance) -> dict[str, FloatArray]:
    """The scores of the turns of each row."""
    found = {}
    for name, said in turns.items():
        found[name] = run(scorer, said).values
        advance(1)
    return found


def _row(name: str, turns: Sequence[Example], measured: Mapping[str, Measured]) -> Row:
    """What the turns of a row come to."""
    tokens = [tokenizer("words-1")(turn.response) for turn in turns]
    again = float(np.mean([turn.response in turn.context for turn in turns]))
    return Row(name, measured, again, distinct(tokens, 2), float(np.mean([len(words) for words in tokens])))


def _measured(
    name: str,
    scores: Mapping[str, FloatArray],
    groups: Mapping[str, IntArray],
    best: str,
    singles: Collection[str],
    seed: int,
) -> Measured:
    """What a row comes to by one judge; intervals are over the contexts that the dialogues began with.

    Args:
        name: of the row.
        scores: of the turns of each row.
        groups: number of the context that each of these turns began with.
        best: the best single system.
        singles: the single systems.
        seed: of the resamples.
    """
    mean = mean_by(scores[name], groups[name], seed)
    if name in singles:
        return Measured(mean, None, None)
    chance = f"chosen by {CHANCE}"
    others = [best, *([] if name == chance else [chance])]
    means = {one: _by_context(scores[one], groups[one]) for one in (name, *others)}
    rows = np.array([means[name] - means[one] for one in others])
    rng = Sampling(RESAMPLES, seed).generator((), "paper")
    gains = cluster_means(rows, np.arange(rows.shape[1]), np.zeros(len(rows)), RESAMPLES, rng)
    return Measured(mean, gains[0], gains[1] if len(gains) > 1 else None)


def _by_context(scores: FloatArray, groups: IntArray) -> FloatArray:
    """[G] mean score of the turns that began with each context; NaN where none has one."""
    known = np.isfinite(scores)
    count = number_of(groups)
    with np.errstate(invalid="ignore"):
        found: FloatArray = np.bincount(groups[known], scores[known], count) / np.bincount(
            groups[known], minlength=count
        )
    return found
