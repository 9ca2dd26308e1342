"""From rated examples to a judge and to what it is worth: what `rejoinder train` calls."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rejoinder.data.scales import Scale
from rejoinder.errors import UsageError
from rejoinder.example import Given
from rejoinder.judges import load_learner
from rejoinder.judges.answers import answer_scale
from rejoinder.judges.learner import AnyLearner, Choices, PortableJudge, members_of
from rejoinder.judges.lines import encode_rated
from rejoinder.judges.many import FOLDS, Manner
from rejoinder.judges.train import SHARES, Trained, fit_judge
from rejoinder.meta.frames import FORMAT_VERSION
from rejoinder.meta.trial import Trial, trial_of
from rejoinder.meta.trial_answer import trial_answer
from rejoinder.scorer import Advance, Encoder, ignore
from rejoinder.stats.figure import plain

FEWEST_RESAMPLES = 100


@dataclass(frozen=True)
class Training:
    """A judge, how it came about and what it is worth.

    Attributes:
        trained: the judge, and the lines that it was fitted and tested on.
        trial: what cross-validation says of it.
    """

    trained: Trained
    trial: Trial

    @property
    def judge(self) -> PortableJudge:
        """Ready to score or save."""
        return self.trained.judge

    @property
    def members(self) -> tuple[Trained, ...]:
        """The one judge, or those of a panel."""
        return self.trained.each

    @property
    def answer(self) -> tuple[str, ...]:
        """What to use, in words."""
        return trial_answer(self.trial)

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values; keys: `version`, `results` (one mapping a judge), `scale`, `cross_validation`."""
        return {
            "version": FORMAT_VERSION,
            "results": [{"kind": one.name, **one.judge.training} for one in self.members],
            "scale": list(self.judge.scale),
            "cross_validation": {"answer": list(self.answer), **plain(self.trial)},
        }


def train(
    examples: Given,
    kind: str | AnyLearner = "panel",
    encoder: str | Path | Encoder | None = None,
    options: Any = None,
    *,
    references: str | None = None,
    scale: Scale | None = None,
    seed: int = 0,
    resamples: int = 1000,
    vectors: str | Path | None = None,
    advance: Advance = ignore,
) -> Training:
    """A judge fitted on rated examples, and by how much it beats what is there already.

    The judge is fitted on 70 % of the conversations (see `train_judge`); what it is worth is asked of five others made
    like it, each without a fifth of the conversations (see `trial`).

    Args:
        examples: rated examples, in any form that `examples_of` takes.
        kind: `adem`, `c-adem`, `r-adem`, `autojudge`, or a `panel` of the first three; or a learner, of which
            encoder, options and references are chosen already.
        encoder: texts to vectors, or what `load_encoder` makes it from; None takes averaged word vectors.
        options: how it is fitted, such as `FitOptions`; None takes the kind's own recipe.
        references: how it scores against several references, by the `best` score or by the `mean`; None takes the mean.
        scale: lowest and highest possible rating, for ratings that state no scale, and for the judge's answers; None
            leaves it to the examples (see `train_judge`).
        seed: decides splits, folds, the order of lines and the resampling.
        resamples: of contexts, for the intervals of the trial; 100 or more.
        vectors: file of word vectors for encoder and metrics that read them; None takes those in the box.
        advance: called with the number of epochs done, `steps` in all.

    Raises:
        DataError: the examples do not suffice to fit the judge.
        UsageError: there is no such kind, encoder or way to count references, or an option would have no effect.
    """
    if resamples < FEWEST_RESAMPLES:
        raise UsageError(f"resamples is {resamples}, expected {FEWEST_RESAMPLES} or more")
    choices = Choices(encoder=encoder, vectors=vectors, options=options, references=references)
    learner = load_learner(kind, choices)
    lines = encode_rated(examples, learner, scale)
    trained = fit_judge(lines, scale=answer_scale(lines.examples, scale), seed=seed, advance=advance)
    # What could not be fitted on these lines is not asked for in the trial either.
    fitted = {one.name for one in trained.each}
    left = SHARES[0] + SHARES[1]
    manner = Manner(
        [member for member in members_of(learner) if member.name in fitted],
        shares=(SHARES[0] / left, SHARES[1] / left),
        seed=seed,
    )
    once = _steps_of_a_fit(learner)
    trial = trial_of(
        lines, learner.name, manner, resamples=resamples, vectors=vectors, advance=lambda done: advance(done * once)
    )
    return Training(trained, trial)


def steps(learner: AnyLearner) -> int:
    """How many steps a training takes, cross-validation included."""
    return (1 + FOLDS) * _steps_of_a_fit(learner)


def _steps_of_a_fit(learner: AnyLearner) -> int:
    """How many steps one fit of all members takes."""
    return sum(member.steps for member in members_of(learner))
