"""Sai et al. 2019, Re-evaluating ADEM: tables 3 to 6, asked of ADEM and AutoJudge trained anew and of other scorers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rejoinder.auditing import Attack, audit
from rejoinder.auditing.attack import ATTACKS, POOL_ATTACKS
from rejoinder.auditing.pool import read_replies
from rejoinder.example import Example
from rejoinder.judges.adem.judge import AdemJudge, Kind
from rejoinder.judges.protocol import PREDICTED, is_differentiable
from rejoinder.models import load_responder
from rejoinder.models.decoding import Decoding
from rejoinder.report.results import Results
from rejoinder.responder import answer, request
from rejoinder.scorer import FloatArray, Scorer
from rejoinder.scoring.catalog import load_scorer
from rejoinder.stats.resamples import Sampling
from research.asked import CORPORA, Asked, Takes, named
from research.attacks import scorer_of
from research.encodings import Encoding, prepared_for
from research.fits import OVERSAMPLE, QUICK, QUICK_AUTOJUDGE, Judgement, Split, best_of, judge, splits
from research.lowe2017 import NEEDS, SETS
from research.material import Material

TABLE3 = ("reference", "context-repeated", "machine-response", "swapped")
CHANGES = (
    *("no-punctuation", "no-stop-words", "no-common-words", "nouns-and-verbs", "no-entities", "synonyms"),
    *("jumbled", "reversed", "nouns", "words-repeated"),
)
GENERIC = ("generic-repeat", "generic-will-do", "generic-fantastic")
CLIMBED, DRAWN = "climbed", "other-random"
TRAINED: tuple[Kind, ...] = ("adem", "autojudge")
OTHERS = ("rejoinder", "bleu-2", "embedding-greedy")
POOL_OF = ("twitter_care", "topical_chat", "self_dialogue")
LIMIT = 300
"""Replies that are attacked, at most."""
POOL = 50_000
"""Replies of the pool, at most."""
COMPONENTS = 50
TAKES = Takes(("encoders", "responders", "data", "seed"))


class Trained(NamedTuple):
    """A judge trained anew.

    Attributes:
        judge: the judge.
        state: of its encoder, "" where that has one only.
        validation: its Pearson and Spearman correlations on the validation part.
    """

    judge: AdemJudge
    state: str
    validation: tuple[float, float]


class TwoWay(NamedTuple):
    """Shares of the variance of a table of values [R, C] that add up to 1.

    Attributes:
        rows: of the means of the rows.
        columns: of the means of the columns.
        both: of their interaction.
    """

    rows: float
    columns: float
    both: float


@dataclass(frozen=True)
class Sai2019:
    """All that was found.

    Attributes:
        material: the lines that judges were trained on, validated on and attacked on.
        split: which are which.
        encoder: what the encoder of the judges trained anew is called.
        trained: these, by name.
        audits: one a scorer, theirs first.
        crossed: by the name of a scorer over vectors: what decides its scores of all replies to all contexts.
        pool: how many replies were looked among.
        responder: who gave the machine responses; "" where a bigram model did.
    """

    material: Material
    split: Split
    encoder: str
    trained: Mapping[Kind, Trained]
    audits: Sequence[Results]
    crossed: Mapping[str, TwoWay]
    pool: int
    responder: str


def find(asked: Asked) -> Sai2019:
    """The battery on every scorer, on lines that the judges trained anew never saw.

    Raises:
        MissingAsset: there are no ratings, or no corpora for the pool.
    """
    corpora = asked.files_or(POOL_OF, CORPORA)  # that they are there comes before the long encoding
    prepared = prepared_for(asked, SETS, NEEDS)
    material, (split,) = prepared.material, splits(prepared.material, 1)
    with asked.stage("fitting", None):
        trained = {kind: _trained(kind, prepared.main, material, split) for kind in TRAINED}
    sampling = Sampling(0, asked.seed)
    examples = _attacked(material, split, sampling)
    families, responder = _families(asked, examples)
    texts = _pool(corpora, sampling)
    scorers: list[Scorer] = [*(one.judge for one in trained.values()), *map(load_scorer, OTHERS)]
    audits, crossed = [], {}
    with asked.stage("attacking", None) as advance:
        for scorer in scorers:
            found = audit(
                examples, scorer, families=families, pool=texts, limit=LIMIT, seed=asked.seed, progress=advance
            )
            audits.append(found)
            if (shares := _crossed(scorer, examples)) is not None:
                crossed[scorer_of(found)] = shares
    return Sai2019(material, split, next(iter(prepared.encoders)), trained, audits, crossed, len(texts), responder)


def _trained(kind: Kind, encodings: Sequence[Encoding], material: Material, split: Split) -> Trained:
    """A judge as its paper has it; what that leaves open (state of the encoder, over-sampling) validation chooses."""
    if kind == "autojudge":
        options = [QUICK_AUTOJUDGE]
    else:
        width = min(one.encoder.width for one in encodings)
        options = [replace(QUICK, components=min(COMPONENTS, width), oversample=how) for how in OVERSAMPLE]
    tried = [judge(material, one, split, kind, how) for one, how in product(encodings, options)]
    best = tried[best_of(tried)]
    return Trained(_as_scorer(kind, best), best.encoding.state, best.validation)


def _as_scorer(kind: Kind, fitted: Judgement) -> AdemJudge:
    """The judge that scores examples."""
    return AdemJudge(
        kind=kind,
        encoder=fitted.encoding.encoder,
        normalise=fitted.fitted.normalise,
        projection=fitted.fitted.projection,
        head=fitted.fitted.head,
        references="mean",
        training={},
        scale=PREDICTED,
    )


def _attacked(material: Material, split: Split, sampling: Sampling) -> list[Example]:
    """The lines that are attacked: of the test part, no copies of a reference."""
    rows = split.test[~material.copies[split.test]]
    if len(rows) > LIMIT:
        rows = np.sort(sampling.generator([], "paper, lines attacked").choice(rows, LIMIT, replace=False))
    return [material.examples[row] for row in rows]


def _pool(corpora: Sequence[str | Path], sampling: Sampling) -> list[str]:
    """The pool, drawn from the replies of the corpora."""
    every = list(dict.fromkeys(text for file in corpora for text in read_replies(file)))
    if len(every) <= POOL:
        return every
    rows = sampling.generator([len(every)], "paper, lines attacked").choice(len(every), POOL, replace=False)
    return [every[row] for row in np.sort(rows).tolist()]


def _families(asked: Asked, examples: Sequence[Example]) -> tuple[list[str | Attack], str]:
    """The attacks of the paper, and who gives the machine responses: a responder, where one was named."""
    names = [*TABLE3, *CHANGES, *GENERIC, DRAWN, CLIMBED, *POOL_ATTACKS]
    if not asked.responders:
        return [*names], ""
    name, place = named(asked.responders[0], "-r")
    contexts = list(dict.fromkeys(one.context for one in examples))
    asked_for = [request(context, asked.seed) for context in contexts]
    with asked.stage("replying", len(contexts)) as advance:
        answers = list(answer(load_responder(place, decoding=Decoding()), asked_for, advance=advance))
    said = {context: one.replies[0].text for context, one in zip(contexts, answers, strict=True) if one.replies}
    own = {one.name: one for one in _by_machine(said, name)}
    return [own.get(one, one) for one in names], name


def _by_machine(said: Mapping[tuple[str, ...], str], name: str) -> list[Attack]:
    """The two attacks of table 3 with what a machine said."""

    def response(example: Example, *_: object) -> Example | None:
        text = said.get(example.context, "")
        return replace(example, response=text) if text.strip() else None

    def swapped(example: Example, *_: object) -> Example | None:
        machine, human = response(example), next(filter(str.strip, example.references), "")
        return machine and replace(machine, response=human, references=(machine.response,)) if human else None

    return [
        replace(ATTACKS["machine-response"], about=f"what {name} says", transform=response),
        replace(ATTACKS["swapped"], about=f"reference and what {name} says swapped", transform=swapped),
    ]


def two_way(table: FloatArray) -> TwoWay:
    """Return the shares of rows, columns and their interaction in the variance of `table` [R, C]; NaN without any."""
    total = float(table.var())
    if not total:
        return TwoWay(np.nan, np.nan, np.nan)
    rows, columns = float(table.mean(axis=1).var()) / total, float(table.mean(axis=0).var()) / total
    return TwoWay(rows, columns, 1 - rows - columns)


def _crossed(scorer: Scorer, examples: Sequence[Example]) -> TwoWay | None:
    """What decides the scores of these replies, each to all of these contexts; None where a scorer shows no vectors."""
    if not is_differentiable(scorer):
        return None
    # Where several judges share the work, the one that scores most of the examples stands for all.
    space = max(scorer.spaces(examples), key=lambda one: len(one.rows))
    scores = space.scores(space.project(space.sides["response"].vectors))
    scores = scores[:, np.isfinite(scores).any(axis=0)]
    return two_way(scores[np.isfinite(scores).all(axis=1)])


if __name__ == "__main__":
    from research.run import main

    main("sai2019")
