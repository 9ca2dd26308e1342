"""Metrics beside the published figures on the same data, and the first ADEM beside every metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from rejoinder.catalogue import DEFAULT, SCORERS
from rejoinder.encoders import AverageEncoder
from rejoinder.io.vectors import read_vectors
from rejoinder.judges.train import Trained, train_judge
from rejoinder.meta import Study, study
from rejoinder.meta.agreement import Agreement
from rejoinder.papers.asked import Asked, Takes
from rejoinder.papers.figures import turn_level
from rejoinder.papers.published import AGREEMENT, PublishedAgreement
from rejoinder.records import Example

TAKES = Takes(("files", "vectors", "data", "seed"))
SETS = ("deriu_*", "gupta_*", "usr_personachat", "grade_*")
SPLITS = 5
METRICS = [name for name in SCORERS if name != DEFAULT]  # the judge in the box was fitted on these sets


class Beside(NamedTuple):
    """A published figure and ours.

    Attributes:
        published: what was printed, and of what.
        pearson: ours.
        spearman: ours.
    """

    published: PublishedAgreement
    pearson: Agreement
    spearman: Agreement


class First(NamedTuple):
    """ADEM over averaged word vectors, beside every metric.

    Attributes:
        name: of the word vectors.
        trained: on the first split.
        studies: on the test part of each split, copies of references left out of all parts.
        copies: of the first split's judge on the same test contexts, copies among the responses.
    """

    name: str
    trained: Trained
    studies: Sequence[Study]
    copies: Study


@dataclass(frozen=True)
class Found:
    """All that was found.

    Attributes:
        examples: what was studied.
        beside: published figures and ours.
        firsts: over the word vectors in the box, and over those that were given.
    """

    examples: Sequence[Example]
    beside: Sequence[Beside]
    firsts: Sequence[First]


def find(asked: Asked) -> Found:
    """The metrics on each set that has published figures, and ADEM on all sets together, over five splits."""
    examples = asked.examples(SETS)
    given = [None] if asked.vectors is None else [None, Path(asked.vectors)]
    with asked.stage("studying", 1 + len(given)) as advance:
        beside = _beside(examples, asked.seed)
        advance(1)
        firsts = []
        for vectors in given:
            firsts.append(_first(examples, vectors, asked.seed))
            advance(1)
    return Found(examples, beside, firsts)


def _beside(examples: Sequence[Example], seed: int) -> list[Beside]:
    """Ours for every published figure whose data set is there."""
    rows: dict[tuple[str, str], dict[str, Agreement]] = {}
    for name in dict.fromkeys(one.dataset for one in AGREEMENT):
        if mine := [example for example in examples if example.dataset == name]:
            rows |= turn_level(study(mine, ["bleu-4/coco", "rouge-l/coco"], seed=seed))
    there = [one for one in AGREEMENT if (one.dataset, one.scorer) in rows]
    return [Beside(one, rows[one[:2]]["pearson"], rows[one[:2]]["spearman"]) for one in there]


def _first(examples: Sequence[Example], vectors: Path | None, seed: int) -> First:
    """ADEM trained without copies of references, on its own test contexts beside every metric, without and with."""
    own = [example for example in examples if not example.copies_reference]
    encoder = AverageEncoder(read_vectors(vectors))
    splits = [train_judge(own, "adem", encoder, seed=other) for other in range(seed, seed + SPLITS)]
    studies = [study(split.test, [*METRICS, split.judge], vectors=vectors, seed=seed) for split in splits]
    contexts = {example.context_key for example in splits[0].test}
    with_copies = [example for example in examples if example.references and example.context_key in contexts]
    other = study(with_copies, [*METRICS, splits[0].judge], vectors=vectors, seed=seed)
    return First(vectors.name if vectors else "The word vectors in the box", splits[0], studies, other)
