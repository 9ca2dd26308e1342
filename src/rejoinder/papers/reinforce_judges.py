"""The judges of the experiment on rewards: some reward and were fitted on some data sets, some measure and on others.

Shapes: N replies.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from rejoinder.auditing.battery import battery
from rejoinder.catalogue import DEFAULT, load_scorer
from rejoinder.encoders import load_encoder
from rejoinder.encoders.recurrent import RecurrentEncoder
from rejoinder.io.atomic import atomic_file
from rejoinder.io.lines import raise_bad
from rejoinder.judges.bilinear.judge import BilinearJudge
from rejoinder.judges.bilinear.sides import encode
from rejoinder.judges.lines import RatedLines, encode_rated
from rejoinder.judges.train import train_judge
from rejoinder.judges.views.judge import ViewsJudge
from rejoinder.judges.views.learner import ViewsLearner, boxed_material, spoiler
from rejoinder.judges.views.lines import Added, Spoilt, ViewLines
from rejoinder.judges.views.trees import FULL
from rejoinder.judges.views.view import Features
from rejoinder.learner import PREDICTED, PortableJudge
from rejoinder.papers.asked import Asked
from rejoinder.papers.deriu2019_rerank import CHOOSING, MEASURING, agreement, rated
from rejoinder.papers.encodings import source
from rejoinder.papers.fits import QUICK_AUTOJUDGE
from rejoinder.records import Example
from rejoinder.responder import Context
from rejoinder.scorer import FloatArray, Scorer, run

Ratings = Callable[[Sequence[Context], Sequence[str]], FloatArray]
"""[N] ratings of replies to contexts, nominally 1 to 5; NaN where there is none."""
AddedRows = Literal["audit", "none", "all"]
Several = Callable[[Sequence[Context], Sequence[str]], dict[str, FloatArray]]
"""The same of several judges, by name."""
MEMBERS = 3
AUTOJUDGE, ADEM, VIEWS, BARE, AGAIN = "autojudge", "c-adem", "views", "views-bare", "views-again"
"""The folders of judges that reward: published designs; the box's with attacked rows, without, and with more."""
GOLD, OTHER = "gold", "views-other"
"""Those that measure."""
_FOUND = ("one-word",)
"""Attacks that a policy found and the audit has since."""
_LESS = -1.2  # what such a reply deserves at most, as a generic sentence does
_WEIGHT = 0.2  # what it counts; no other row has this weight, so it tells them
TOLD = "judges.json"
_LIGHT = FULL._replace(trees=120, step=0.1)  # half the time; the mean agreement is the same within .003


class Fitted(NamedTuple):
    """A judge of the experiment, for the page.

    Attributes:
        name: its folder.
        measures: whether it measures; else it rewards.
        lines: that it was fitted on.
        sets: data sets that it was fitted on.
        unseen: mean Spearman correlation with people inside the data sets of the other side.
    """

    name: str
    measures: bool
    lines: int
    sets: Sequence[str]
    unseen: float


def fit(folder: Path, encoders: Sequence[str], data: Path | None, seed: int) -> list[Fitted]:
    """Fit the judges that are not in `folder` yet.

    Args:
        folder: where they are kept, each in a folder of its own.
        encoders: NAME=FOLDER[:STATE] of the published designs, and of the judge that measures.
        data: folder that holds judgements/*.jsonl.gz; None for the shared one.
        seed: of their fits.
    """
    folder.mkdir(parents=True, exist_ok=True)
    asked = Asked(data=data, seed=seed, on_bad=raise_bad)
    lines = {False: rated(CHOOSING, asked), True: rated(MEASURING, asked)}
    paper, other = (source(text) for text in encoders)

    def bilinear(kind: str, *, measures: bool) -> PortableJudge:
        own = other if measures else paper
        options = QUICK_AUTOJUDGE if kind == AUTOJUDGE else None
        encoder = load_encoder(str(own.folder), own.state)
        return train_judge(lines[measures], kind, encoder, options, seed=seed).judge

    made: dict[str, tuple[bool, Callable[[], PortableJudge]]] = {
        AUTOJUDGE: (False, partial(bilinear, AUTOJUDGE, measures=False)),
        ADEM: (False, partial(bilinear, ADEM, measures=False)),
        GOLD: (True, partial(bilinear, ADEM, measures=True)),
    }
    views = {measures: _Views(own, seed) for measures, own in lines.items()}
    made[OTHER] = (True, partial(views[True].fit, "none"))
    kinds: dict[str, AddedRows] = {VIEWS: "audit", BARE: "none", AGAIN: "all"}
    for name, rows in kinds.items():
        made[name] = (False, partial(views[False].fit, rows))
        for number in range(MEMBERS):
            made[member(name, number)] = (False, partial(views[False].fit, rows, without=number))
    told: dict[str, Any] = json.loads(file.read_text()) if (file := folder / TOLD).is_file() else {}
    for name, (measures, make) in made.items():
        if not (folder / name).is_dir():
            make().save(folder / name)
        if name not in told:
            told[name] = _fitted(folder, name, measures, lines[not measures])
            with atomic_file(file) as partial_file:
                partial_file.write_text(json.dumps(told) + "\n", encoding="utf-8")
    return [Fitted(*told[name]) for name in made]


def member(name: str, number: int) -> str:
    """The folder of a member."""
    return f"{name}-{number}"


class _Views:
    """Fits judges over views on rated lines that are read once, when first asked for."""

    def __init__(self, examples: Sequence[Example], seed: int) -> None:
        self.examples, self.seed = examples, seed
        self._lines: RatedLines | None = None

    def fit(self, rows: AddedRows, without: int | None = None) -> PortableJudge:
        """A judge.

        Args:
            rows: which attacked replies are learnt from: those of the judge in the box, none, or further ones too.
            without: leaves every third data set out, from this one on.
        """
        if self._lines is None:
            learner = ViewsLearner(boxed_material(), _spoilt, _LIGHT)
            self._lines = encode_rated(self.examples, learner)
        learner, lines = cast("ViewsLearner", self._lines.learner), cast("ViewLines", self._lines.encoded)
        further = lines.added.weights == _WEIGHT
        kept = {"audit": ~further, "none": further & ~further, "all": further | ~further}[rows]
        lines = replace(lines, added=Added._make(column[kept] for column in lines.added))
        sets = list(self._lines.sets.items())
        chosen = dict(own for place, own in enumerate(sets) if without is None or place % MEMBERS != without)
        own = np.sort(np.concatenate(list(chosen.values())))
        rng = np.random.default_rng(self.seed)
        fitted = learner.fit(lines, self._lines.ratings, own, own[:0], rng)
        return fitted.judge({"datasets": {name: len(places) for name, places in chosen.items()}}, PREDICTED)


def _spoilt(examples: Sequence[Example]) -> list[Spoilt]:
    """The attacked replies that the judge in the box learns from, and of each line one more by what a policy found."""
    rng, found = np.random.default_rng(0), list(spoiler()(examples))
    for name in _FOUND:
        (way,) = battery()[name].candidates(examples)
        made = [(row, way(example, rng)) for row, example in enumerate(examples)]
        found += [Spoilt(one, row, _LESS, weight=_WEIGHT) for row, one in made if one is not None]
    return found


def _fitted(folder: Path, name: str, measures: bool, unseen: Sequence[Example]) -> Fitted:
    """What is to be said of a judge."""
    judge = load_scorer(folder / name)
    sets: Mapping[str, int] = judge.training["datasets"]  # type: ignore[attr-defined] # all are judges of our own
    return Fitted(name, measures, sum(sets.values()), sorted(sets), agreement(judge, unseen))


def scored(folder: Path, name: str) -> Ratings:
    """The ratings that a judge gives; those of the judge in the box where its name is asked for."""
    judge = _loaded(folder, name)

    def ratings(contexts: Sequence[Context], texts: Sequence[str]) -> FloatArray:
        return run(judge, _examples(contexts, texts)).values

    return ratings


def as_published(folder: Path) -> Ratings:
    """AutoJudge as it was published: not bounded, and an empty reply has the score of a turn that ends at once."""
    judge = cast("BilinearJudge", load_scorer(folder / AUTOJUDGE))
    silence = cast("RecurrentEncoder", judge.encoder).silence()

    def ratings(contexts: Sequence[Context], texts: Sequence[str]) -> FloatArray:
        encoded = encode(_examples(contexts, texts), judge.encoder, judge.head.terms)
        said = np.where(np.isnan(encoded.response), silence, encoded.response)
        return judge.score_encoded(replace(encoded, response=said)).values

    return ratings


def worst(folder: Path, names: Sequence[str], *, lower: bool) -> Ratings:
    """The lowest of what several judges over the same views give, or of the lower ends of their intervals."""
    each = over_views(folder, {name: [name] for name in names}, lower=lower)

    def ratings(contexts: Sequence[Context], texts: Sequence[str]) -> FloatArray:
        lowest: FloatArray = np.min(list(each(contexts, texts).values()), axis=0)
        return lowest

    return ratings


def over_views(folder: Path, groups: Mapping[str, Sequence[str]], *, lower: bool = False) -> Several:
    """The lowest of what the judges of each group give; all read the same views, which are worked out once."""
    judges = {name: cast("ViewsJudge", _loaded(folder, name)) for names in groups.values() for name in names}
    views = next(iter(judges.values())).views

    def ratings(contexts: Sequence[Context], texts: Sequence[str]) -> dict[str, FloatArray]:
        examples = _examples(contexts, texts)
        features = views.features(examples)
        silent = [one.unanswered for one in examples]
        each = {name: _one(judge, features, examples, lower=lower) for name, judge in judges.items()}
        return {
            group: np.where(silent, np.nan, np.min([each[name] for name in names], axis=0))
            for group, names in groups.items()
        }

    return ratings


def several(folder: Path, names: Sequence[str], groups: Mapping[str, Sequence[str]]) -> Several:
    """What judges give, and the lowest of what those over views give in groups."""
    single = {name: scored(folder, name) for name in names}
    views = over_views(folder, groups)

    def ratings(contexts: Sequence[Context], texts: Sequence[str]) -> dict[str, FloatArray]:
        return {**{name: one(contexts, texts) for name, one in single.items()}, **views(contexts, texts)}

    return ratings


def _loaded(folder: Path, name: str) -> Scorer:
    """A judge of the folder, or the one in the box."""
    return load_scorer(DEFAULT if name == DEFAULT else folder / name)


def _one(judge: ViewsJudge, features: Features, examples: Sequence[Example], *, lower: bool) -> FloatArray:
    """What one judge gives, from the features of all views."""
    part = judge.heads["context"]
    scores, low, _ = part.calibration.answers(part.predict(features[:, part.columns], examples))
    return low if lower else scores


def _examples(contexts: Sequence[Context], texts: Sequence[str]) -> list[Example]:
    """Replies as a judge sees them."""
    return [Example(tuple(context), text) for context, text in zip(contexts, texts, strict=True)]
