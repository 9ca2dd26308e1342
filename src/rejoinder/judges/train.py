"""From rated examples to a trained judge, with the figures it reaches on what it did not see."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from rejoinder.data.scales import Scale
from rejoinder.errors import DataError
from rejoinder.example import NO_SET, Example, Given
from rejoinder.judges import load_learner
from rejoinder.judges.answers import answer_scale
from rejoinder.judges.learner import (
    PREDICTED,
    AnyLearner,
    Choices,
    Fitted,
    Learner,
    PortableJudge,
    Rows,
    Several,
    is_several,
    members_of,
)
from rejoinder.judges.lines import MAPPED, NOT_RATED, OF_DIALOGUE, UNREAD, RatedLines, encode_rated
from rejoinder.judges.notes import shares, text_notes
from rejoinder.scorer import Advance, Encoder, FloatArray, ignore
from rejoinder.stats.correlation import pearson, spearman
from rejoinder.stats.splits import split_groups

SHARES = (0.70, 0.15, 0.15)  # as Lowe et al. 2017, section 5, divide theirs
PARTS = ("train", "validation", "test")
# Of fewer, the part that decides when to stop would be four contexts or less, and that which is kept for testing too.
FEWEST_CONTEXTS = 30
# Through two points there is always a line: their correlation says nothing.
FEWEST_LINES = 3


@dataclass(frozen=True)
class Trained:
    """A trained judge and the parts of the data it was trained, stopped and tested on.

    Attributes:
        name: of its learner.
        judge: ready to score or save.
        train: examples that it was fitted on; of several learners those that were divided among them, as below.
        validation: examples that decided when to stop.
        test: examples that it never saw.
        fits: what came of the fit; of several learners one each.
        members: the judges that several learners were fitted to.
        absent: why others of these were not.
    """

    name: str
    judge: PortableJudge
    train: list[Example]
    validation: list[Example]
    test: list[Example]
    fits: tuple[Fitted, ...]
    members: tuple[Trained, ...] = ()
    absent: Mapping[str, str] = field(default_factory=dict)

    @property
    def each(self) -> tuple[Trained, ...]:
        """The members, or where there are none the judge itself."""
        return self.members or (self,)


def train_judge(
    examples: Given,
    kind: str | AnyLearner = "adem",
    encoder: str | Path | Encoder | None = None,
    options: Any = None,
    *,
    references: str | None = None,
    scale: Scale | None = None,
    seed: int = 0,
    advance: Advance = ignore,
) -> Trained:
    """A judge fitted on rated examples.

    Conversations are split 70 / 15 / 15 into training, validation and test, so that none stands in two parts (see
    `conversations`).

    Args:
        examples: rated examples, in any form that `examples_of` takes; those without what the judge needs are left out
            and counted.
        kind: `adem`; `c-adem` or `autojudge` (context only); `r-adem` (reference only); `untrained` (ADEM before
            training); `panel`, the first three of them; or a learner, of which the next three are chosen already.
        encoder: texts to vectors, or what `load_encoder` makes it from; None takes averaged word vectors.
        options: how it is fitted, such as `AdemOptions`; None leaves it to the kind.
        references: how it scores against several references, by the `best` score or by the `mean`; None takes the
            mean. It is fitted on the mean of their vectors.
        scale: lowest and highest possible rating, for ratings that state no scale, and for the judge's answers; None
            leaves it to the examples: the judge answers on their scale, or from 1 to 5 where they have several.
        seed: decides the split and the order of the examples.
        advance: called with 1 after each epoch.

    Raises:
        DataError: fewer than 30 rated contexts, constant ratings, no scale, ratings outside of it, or nothing that
            `kind` can use.
        UsageError: there is no such kind, or no such way to count references, or it reads none; `scale` is none.
    """
    learner = load_learner(kind, Choices(encoder=encoder, options=options, references=references))
    lines = encode_rated(examples, learner, scale)
    return fit_judge(lines, scale=answer_scale(lines.examples, scale), seed=seed, advance=advance)


def fit_judge(lines: RatedLines, *, scale: Scale = PREDICTED, seed: int = 0, advance: Advance = ignore) -> Trained:
    """`train_judge` on lines that were encoded before, for a judge that answers on `scale`.

    Raises:
        DataError: too little is there to fit on.
    """
    learner = lines.learner
    if is_several(learner):
        return _fit_several(lines, learner, scale, seed, advance)
    (member,) = members_of(learner)
    # One generator for split and fit: so were the published judges fitted, and a seed gives the same judge for ever.
    rows, rng = lines.usable[member.name], np.random.default_rng(seed)
    require_enough(lines, member, rows)
    parts = divided(lines, rows, SHARES, rng)
    return _trained(lines, member, parts, fit_member(lines, member, parts, rng, advance), scale, seed)


def divided(lines: RatedLines, rows: Rows, shares: Sequence[float], rng: np.random.Generator) -> list[Rows]:
    """Ascending `rows` in parts of so large shares, conversations kept whole."""
    return [rows[part] for part in split_groups(lines.clusters(rows).numbers, shares, rng)]


def fit_member(
    lines: RatedLines, member: Learner, parts: Sequence[Rows], rng: np.random.Generator, advance: Advance = ignore
) -> Fitted:
    """What a learner makes of the lines in the first of some parts, stopped by those in the second.

    Args:
        lines: N rated lines.
        member: the learner of the lines, or a member of it.
        parts: ascending rows; those that the learner cannot use are passed over. Every one must have some that it can.
        rng: decides whatever is random.
        advance: see `Learner.fit`.

    Raises:
        DataError: too little is there to fit on.
    """
    usable = lines.usable[member.name]
    own = [part[np.isin(part, usable)] for part in parts]
    require_enough(lines, member, np.concatenate(own))
    for name, part in zip(PARTS, own, strict=False):
        if len(part) < FEWEST_LINES:
            found = f"the {name} part of the split has {len(part)} lines that {member.name} can use"
            problem = f"{found}, expected {FEWEST_LINES}"
            raise DataError(problem, "Rate responses to more contexts, or choose another --seed")
    return member.fit(lines.encoded, lines.ratings, own[0], own[1], rng, advance)


def _fit_several(lines: RatedLines, learner: Several, scale: Scale, seed: int, advance: Advance) -> Trained:
    """The judge of several learners. One that the lines do not suffice for is left out, and why is kept."""
    # All lines are divided once, so that no member is tested on a conversation that another was fitted on.
    everything = np.arange(len(lines.examples))
    parts = divided(lines, everything, SHARES, np.random.default_rng(seed))
    members: list[Trained] = []
    absent: dict[str, str] = {}
    for member in learner.members:
        try:  # Each draws from the seed anew, so that none depends on which others there are.
            fitted = fit_member(lines, member, parts, np.random.default_rng(seed), advance)
        except DataError as error:
            absent[member.name] = error.problem
        else:
            members.append(_trained(lines, member, parts, fitted, PREDICTED, seed))
    if not members:
        raise DataError("; ".join(dict.fromkeys(absent.values())), "Rate responses to more contexts")
    judge = learner.together({one.name: one.judge for one in members}, absent, scale)
    fits = tuple(fit for one in members for fit in one.fits)
    return Trained(learner.name, judge, *_examples(lines, parts), fits, tuple(members), absent)


def _trained(
    lines: RatedLines, member: Learner, parts: Sequence[Rows], fitted: Fitted, scale: Scale, seed: int
) -> Trained:
    """The judge of one fit, with the record of its training."""
    usable = lines.usable[member.name]
    own = [part[np.isin(part, usable)] for part in parts]
    judge = fitted.judge(_record(lines, member, own, fitted, seed), scale)
    return Trained(member.name, judge, *_examples(lines, own), (fitted,))


def _examples(lines: RatedLines, parts: Iterable[Rows]) -> tuple[list[Example], list[Example], list[Example]]:
    """The examples of training, validation and test."""
    train, validation, test = ([lines.examples[row] for row in part] for part in parts)
    return train, validation, test


def _record(lines: RatedLines, member: Learner, rows: Sequence[Rows], fitted: Fitted, seed: int) -> dict[str, Any]:
    """What a judge was fitted on, what was asked for, and how that went, as JSON values."""
    if not getattr(member, "stops", True):  # nothing decides when to stop: it was fitted on the validation lines too
        rows = [np.sort(np.concatenate(rows[:2])), rows[1][:0], rows[2]]
    return {
        "datasets": dict(Counter(lines.examples[row].dataset or NO_SET for row in rows[0])),
        "lines": {name: len(part) for name, part in zip(PARTS, rows, strict=True)},
        "left_out": dict(lines.left_out(member)),
        "seed": seed,
        **fitted.record,
        **{
            name: _agreement(fitted.predict(lines.encoded, part), lines.ratings[part])
            for name, part in zip(PARTS[1:], rows[1:], strict=True)
            if len(part)
        },
        "noted": shares(text_notes([lines.examples[row] for row in rows[0]], member.needs), len(rows[0])),
    }


def require_enough(lines: RatedLines, learner: Learner, rows: Rows) -> None:
    """Raise `DataError` where too little is there to fit a learner on, and why.

    Args:
        lines: N rated lines.
        learner: the learner.
        rows: those of the lines that it is to be fitted and tested on.
    """
    contexts = len(np.unique(lines.contexts[rows]))
    if contexts < FEWEST_CONTEXTS:
        left_out = lines.left_out(learner)
        why = ", ".join(f"{count} lines: {reason}" for reason, count in left_out.most_common()) or "none left out"
        found = f"{contexts} rated contexts that {learner.name} can learn from"
        raise DataError(f"{found}, expected {FEWEST_CONTEXTS} or more ({why})", _remedy(left_out))
    if len(np.unique(lines.ratings[rows])) == 1:
        raise DataError("all ratings are equal", "Give ratings that differ; there is nothing to learn from these")


def _remedy(left_out: Counter[str]) -> str:
    """What to do where too few lines are usable; names the judges that can do without what is missing."""
    most = max(left_out, key=left_out.__getitem__, default="")
    if most == OF_DIALOGUE:
        return "Judges learn from ratings of single replies: have such rated"
    if most == NOT_RATED:
        return "Rate more, or say where the ratings stand: --map rating=NAME"
    if most == UNREAD:
        return MAPPED
    if left_out["no reference"]:
        return "Rate more, or train a judge that needs no reference: rejoinder train c-adem, or autojudge"
    if left_out["no context"]:
        return (
            "Rate more, or train the judge that needs no context: rejoinder train r-adem; "
            "or say where it stands: --map context=NAME"
        )
    return "Rate responses to more contexts"


def _agreement(scores: FloatArray, ratings: FloatArray) -> dict[str, Any]:
    """How far scores and ratings of one part agree."""
    linear = pearson(scores, ratings)
    found = {"pearson": linear.value, "spearman": spearman(scores, ratings).value, "p": linear.p}
    return {"n": len(ratings), **{name: None if math.isnan(value) else value for name, value in found.items()}}
