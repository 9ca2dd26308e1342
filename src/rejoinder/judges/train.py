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
from rejoinder.judges.crossval import PARTS, SHARES, fit, require_enough, split
from rejoinder.judges.domain import shares, text_warnings
from rejoinder.judges.protocol import (
    PREDICTED,
    AnyLearner,
    Fitted,
    Learner,
    LearnerOptions,
    LearnerPanel,
    PortableJudge,
    Rows,
    is_panel,
    members_of,
)
from rejoinder.judges.rated import RatedLines, rated_lines
from rejoinder.judges.scales import answer_scale
from rejoinder.scorer import Advance, Encoder, FloatArray, ignore
from rejoinder.stats.correlation import pearson, spearman


@dataclass(frozen=True)
class TrainedJudge:
    """A trained judge and the parts of the data it was fitted, stopped and tested on; of a panel, all of each part."""

    name: str  # of its learner
    judge: PortableJudge
    train: list[Example]
    validation: list[Example]
    test: list[Example]
    fits: tuple[Fitted, ...]  # of a panel one each
    members: tuple[TrainedJudge, ...] = ()  # of a panel
    absent: Mapping[str, str] = field(default_factory=dict)  # why other members are missing

    @property
    def each(self) -> tuple[TrainedJudge, ...]:
        """The members, or the judge itself if it is no panel."""
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
) -> TrainedJudge:
    """Return a judge fitted on rated examples.

    Conversations are split 70 / 15 / 15 into training, validation and test; none is in two parts.

    Args:
        examples: rated examples, in any form that `examples_of` takes; those without what the judge needs are left out
            and counted.
        kind: `adem`; `c-adem` or `autojudge` (context only); `r-adem` (reference only); `untrained` (ADEM before
            training); `panel`, the first three of them; or a learner, of which the next three are chosen already.
        encoder: texts to vectors, or what `load_encoder` makes it from; None uses averaged word vectors.
        options: how it is fitted, such as `AdemOptions`; None leaves it to the kind.
        references: how it scores against several references, by the `best` score or by the `mean`; None uses the
            mean. It is fitted on the mean of their vectors.
        scale: lowest and highest possible rating, for ratings that state no scale, and for the judge's answers; None
            leaves it to the examples: the judge answers on their scale, or from 1 to 5 if they have several.
        seed: decides the split and the order of the examples.
        advance: called with 1 after each epoch.

    Raises:
        DataError: fewer than 30 rated contexts, constant ratings, no scale, ratings outside of it, or nothing that
            `kind` can use.
        UsageError: there is no such kind, or no such way to count references, or it reads none; `scale` is none.
    """
    learner = load_learner(kind, LearnerOptions(encoder=encoder, options=options, references=references))
    lines = rated_lines(examples, learner, scale)
    return fit_judge(lines, scale=answer_scale(lines.examples, scale), seed=seed, advance=advance)


def fit_judge(lines: RatedLines, *, scale: Scale = PREDICTED, seed: int = 0, advance: Advance = ignore) -> TrainedJudge:
    """Return a judge fitted on lines that were encoded before, which answers on `scale`; see `train_judge`.

    Raises:
        DataError: too little is there to fit on.
    """
    learner = lines.learner
    if is_panel(learner):
        return _fit_panel(lines, learner, scale, seed, advance)
    (member,) = members_of(learner)
    # One generator for split and fit: so published judges were fitted, and a seed gives the same judge again.
    rows, rng = lines.usable[member.name], np.random.default_rng(seed)
    require_enough(lines, member, rows)
    parts = split(lines, rows, SHARES, rng)
    return _trained(lines, member, parts, fit(lines, member, parts, rng, advance), scale, seed)


def _fit_panel(lines: RatedLines, panel: LearnerPanel, scale: Scale, seed: int, advance: Advance) -> TrainedJudge:
    """Return the judge of a panel, without the members that the lines do not suffice for."""
    # All lines are divided once, so that no member is tested on a conversation that another was fitted on.
    parts = split(lines, np.arange(len(lines.examples)), SHARES, np.random.default_rng(seed))
    members: list[TrainedJudge] = []
    absent: dict[str, str] = {}
    for member in panel.members:
        try:  # each starts from the same seed, so that its result does not depend on the other members
            fitted = fit(lines, member, parts, np.random.default_rng(seed), advance)
        except DataError as error:
            absent[member.name] = error.problem
        else:
            members.append(_trained(lines, member, parts, fitted, PREDICTED, seed))
    if not members:
        raise DataError("; ".join(dict.fromkeys(absent.values())), "Rate responses to more contexts")
    judge = panel.combine({trained.name: trained.judge for trained in members}, absent, scale)
    fits = tuple(fit for trained in members for fit in trained.fits)
    return TrainedJudge(panel.name, judge, *_examples(lines, parts), fits, tuple(members), absent)


def _trained(
    lines: RatedLines, member: Learner, parts: Sequence[Rows], fitted: Fitted, scale: Scale, seed: int
) -> TrainedJudge:
    """Return the judge of one fit, with the record of its training."""
    rows = [part[np.isin(part, lines.usable[member.name])] for part in parts]
    examples = _examples(lines, rows)
    if not getattr(member, "stops", True):  # nothing decides when to stop: it was fitted on the validation lines too
        rows = [np.sort(np.concatenate(rows[:2])), rows[1][:0], rows[2]]
    fitted_on = [lines.examples[row] for row in rows[0]]
    record = {
        "datasets": dict(Counter(example.dataset or NO_SET for example in fitted_on)),
        "lines": {name: len(part) for name, part in zip(PARTS, rows, strict=True)},
        "left_out": dict(lines.dropped(member)),
        "seed": seed,
        **fitted.record,
        **{
            name: _agreement(fitted.predict(lines.encoded, part), lines.ratings[part])
            for name, part in zip(PARTS[1:], rows[1:], strict=True)
            if len(part)
        },
        "noted": shares(text_warnings(fitted_on, member.needs), len(fitted_on)),
    }
    return TrainedJudge(member.name, fitted.judge(record, scale), *examples, (fitted,))


def _examples(lines: RatedLines, parts: Iterable[Rows]) -> tuple[list[Example], list[Example], list[Example]]:
    train, validation, test = ([lines.examples[row] for row in part] for part in parts)
    return train, validation, test


def _agreement(scores: FloatArray, ratings: FloatArray) -> dict[str, Any]:
    linear = pearson(scores, ratings)
    figures = {"pearson": linear.value, "spearman": spearman(scores, ratings).value, "p": linear.p}
    return {"n": len(ratings), **{name: None if math.isnan(value) else value for name, value in figures.items()}}
