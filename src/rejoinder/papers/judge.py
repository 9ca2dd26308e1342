"""The judge in the box: fitted, asked about sets and contexts that it never saw, and attacked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from rejoinder.catalogue import load_learner, score
from rejoinder.encoders import load_encoder
from rejoinder.encoders.dan import DanEncoder
from rejoinder.errors import UsageError
from rejoinder.io.folders import read_folder
from rejoinder.judges.bilinear.fit import FitOptions
from rejoinder.judges.bilinear.panel import MEMBERS
from rejoinder.judges.conversations import conversations
from rejoinder.judges.left_out import rated_lines, unseen_scores
from rejoinder.judges.lines import normalised_ratings
from rejoinder.judges.train import Trained, train_judge
from rejoinder.learner import AnyLearner, Choices, PortableJudge
from rejoinder.meta import study
from rejoinder.meta.agreement import Agreement
from rejoinder.papers.asked import Asked, Takes, named
from rejoinder.papers.figures import turn_level
from rejoinder.records import Example
from rejoinder.scorer import FloatArray, Scorer, Scores, Signature
from rejoinder.stats.bootstrap import cluster_counts, percentile_interval
from rejoinder.stats.correlation import pearson, spearman
from rejoinder.stats.figure import Figure

TAKES = Takes(
    ("files", "encoders", "data", "seed"),
    must=("encoders",),
    why="is fitted over a dual encoder, which `rejoinder pretrain recipes/dan-small.toml` trains. Give -e NAME=FOLDER",
)
# The licence of the repository that each set was released in.
SETS = {
    "dstc7": "O-UDA 1.0",
    "conture_turn": "CC BY 4.0",
    "engage_dailydialog": "MIT (its dialogues: CC BY-NC-SA 4.0)",
    "zhao_dailydialog": "GPL-3.0 and MIT (its dialogues: CC BY-NC-SA 4.0)",
    "zhao_personachat": "GPL-3.0",
    "gupta_dailydialog": "none stated (its dialogues: CC BY-NC-SA 4.0)",
    "usr_personachat": "none stated",
    "grade_dailydialog": "none stated (its dialogues: CC BY-NC-SA 4.0)",
    "grade_empathetic": "none stated (its dialogues: CC BY-NC 4.0)",
    "deriu_convai2": "none stated",
    "deriu_dailydialog": "none stated (its dialogues: CC BY-NC-SA 4.0)",
    "deriu_empathetic": "none stated (its dialogues: CC BY-NC 4.0)",
    "fed_turn": "none stated",
    "holistic_context": "none stated",
}
# The licences of the corpora that the encoder may be trained on.
CORPORA = {
    "self_dialogue": "BSD-3-Clause",
    "topical_chat": "CDLA-Sharing-1.0",
    "ubuntu_irc": "CC BY 4.0",
    "synthetic_persona": "CC BY 4.0",
    "multiwoz": "MIT, Apache-2.0",
    "persuasion": "Apache-2.0",
    "casino": "CC BY 4.0",
    "taskmaster4": "CC BY 4.0",
    "sgd": "CC BY-SA 4.0",
}
# Over this encoder the best epoch comes early; chosen on validation.
OPTIONS = FitOptions(epochs=40, batch_size=64)
BESIDE = ("embedding-greedy", "rouge-l", "bleu-2", "length", "context-overlap")
DULL = "I don't know."
RESAMPLES = 1000


class Unseen(NamedTuple):
    """A data set, asked of the judge that was fitted on all others.

    Attributes:
        name: of the set.
        pearson: of the judge.
        spearman: the same.
        others: Spearman of the scorers in `BESIDE`.
    """

    name: str
    pearson: Agreement
    spearman: Agreement
    others: Sequence[float]


class Member(NamedTuple):
    """A member of the panel on its own test part, copies of a reference left out; figures as far as they are known."""

    trained: Trained
    n: int
    pearson: float
    spearman: float


class Attack(NamedTuple):
    """A way to change responses, and what it does to the score.

    Attributes:
        name: what is done.
        expected: what a good judge should do.
        moved: mean change of the score, over the responses that it changes and that have a score before and after.
        raised: share of responses that are scored higher than before.
    """

    name: str
    expected: str
    moved: Figure
    raised: float


@dataclass(frozen=True)
class Found:
    """All that was found.

    Attributes:
        panel: the judge.
        config: of its encoder's folder.
        corpora: names of what the encoder was trained on.
        sets: names of what the judge was fitted on.
        unseen: one a set.
        members: one a member of the panel.
        attacks: on C-ADEM's test part, without references.
    """

    panel: PortableJudge
    config: Mapping[str, Any]
    corpora: Sequence[str]
    sets: Sequence[str]
    unseen: Sequence[Unseen]
    members: Sequence[Member]
    attacks: Sequence[Attack]


def find(asked: Asked) -> Found:
    """The judge fitted on all sets, and what is known of it.

    Raises:
        UsageError: the encoder is no dual encoder, or was trained on corpora, or the judge would be fitted on sets,
            whose licence is not known here.
    """
    _, folder = named(asked.encoders[0], "-e")
    encoder = load_encoder(folder)
    if not isinstance(encoder, DanEncoder):
        raise UsageError(f"{folder} is no dual encoder. Train one by recipes/dan-small.toml")
    config = read_folder(folder).config
    corpora = [corpus["name"].removesuffix(".jsonl.gz") for corpus in config["corpora"]]
    examples = asked.examples(tuple(SETS))
    sets = [str(name) for name in dict.fromkeys(example.dataset for example in examples)]
    if unknown := [*(set(corpora) - set(CORPORA)), *(set(sets) - set(SETS))]:
        raise UsageError(f"the licence of {', '.join(sorted(unknown))} is not known. Add it to SETS or CORPORA")
    with asked.stage("fitting", OPTIONS.epochs * len(MEMBERS)) as advance:
        learner = load_learner("panel", Choices(encoder=encoder, options=OPTIONS))
        trained = train_judge(examples, learner, seed=asked.seed, advance=advance)
    with asked.stage("leaving out", None):
        unseen = _unseen(examples, learner, asked.seed)
    panel, members = trained.judge, trained.members
    attacked = members[MEMBERS.index("c-adem")].test
    return Found(
        panel, config, corpora, sets, unseen, list(map(_member, members)), attacks(panel, attacked, asked.seed)
    )


def _unseen(examples: Sequence[Example], learner: AnyLearner, seed: int) -> list[Unseen]:
    """For each set the judge that was fitted on all others, beside scorers that need no ratings."""
    lines = rated_lines(examples, learner)
    values = np.full(len(examples), np.nan)
    values[lines.places] = unseen_scores(lines, seed=seed)
    unscored = dict.fromkeys(np.flatnonzero(np.isnan(values)).tolist(), "read by no judge")
    given = {"panel": Scores(values, unscored, Signature({"scorer": "panel"}))}
    panels = turn_level(study(examples, given, seed=seed, drop_copies=True))
    others = turn_level(study(examples, BESIDE, seed=seed, drop_copies=True, resamples=0))
    return [
        Unseen(
            name,
            panels[name, "panel"]["pearson"],
            panels[name, "panel"]["spearman"],
            [others[name, scorer]["spearman"].value for scorer in BESIDE],
        )
        for name in dict.fromkeys(str(example.dataset) for example in examples)
    ]


def _member(trained: Trained) -> Member:
    """What a member reaches on its own test part."""
    own = [example for example in trained.test if not example.copies_reference]
    scores, ratings = score(own, trained.judge).values, normalised_ratings(own)
    return Member(trained, *_correlations(scores, ratings))


def _correlations(scores: FloatArray, ratings: FloatArray) -> tuple[int, float, float]:
    """n, Pearson's and Spearman's correlation of the lines that have a score."""
    by_value, by_rank = pearson(scores, ratings), spearman(scores, ratings)
    return by_value.n, by_value.value, by_rank.value


def attacks(panel: Scorer, examples: Sequence[Example], seed: int) -> list[Attack]:
    """How the score moves under each change of the responses to the same contexts, references aside."""
    chosen = [replace(example, references=()) for example in examples if example.context and example.response.strip()]
    before = score(chosen, panel).values
    return [
        _attack(panel, name, expected, chosen, before, responses, seed)
        for name, (expected, responses) in _changed(chosen, np.random.default_rng(seed)).items()
    ]


def _attack(
    panel: Scorer,
    name: str,
    expected: str,
    chosen: Sequence[Example],
    before: FloatArray,
    responses: Sequence[str],
    seed: int,
) -> Attack:
    """What one change does; the interval resamples conversations."""
    changed = [replace(example, response=text) for example, text in zip(chosen, responses, strict=True)]
    after = score(changed, panel).values
    different = np.array([new.response != old.response for new, old in zip(changed, chosen, strict=True)])
    both = np.isfinite(before) & np.isfinite(after) & different
    moved = (after - before)[both]
    if not len(moved):
        return Attack(name, expected, Figure(reason="no response is changed by it"), float("nan"))
    kept = [one for one, counts in zip(chosen, both, strict=True) if counts]
    _, groups = np.unique(conversations(kept), return_inverse=True)
    counts = cluster_counts(int(groups.max()) + 1, RESAMPLES, np.random.default_rng(seed))[groups].astype(float)
    mean = percentile_interval((moved @ counts) / counts.sum(0), len(counts), value=float(moved.mean()))
    return Attack(name, expected, replace(mean, n=len(moved)), float((moved > 0).mean()))


def _changed(examples: Sequence[Example], rng: np.random.Generator) -> dict[str, tuple[str, list[str]]]:
    """What a good judge should do with changed responses, and these, by what is done to them."""
    words = [example.response.split() for example in examples]
    elsewhere = [_response_elsewhere(example, examples, rng) for example in examples]
    return {
        "words in random order": ("lower", [" ".join(rng.permutation(split)) for split in words]),
        "words in reverse order": ("lower", [" ".join(split[::-1]) for split in words]),
        "said twice": ("lower", [f"{example.response} {example.response}" for example in examples]),
        "the last turn of the context again": ("lower", [example.context[-1] for example in examples]),
        "another context's response": ("lower", elsewhere),
        f'"{DULL}"': ("lower", [DULL] * len(examples)),
        "without punctuation": ("about as before", [_letters(example.response) for example in examples]),
    }


def _response_elsewhere(example: Example, examples: Sequence[Example], rng: np.random.Generator) -> str:
    """A response to another context."""
    while True:
        other = examples[int(rng.integers(len(examples)))]
        if other.context_key != example.context_key:
            return other.response


def _letters(text: str) -> str:
    """`text` without punctuation but apostrophes."""
    return "".join(letter for letter in text if letter.isalnum() or letter.isspace() or letter == "'")
