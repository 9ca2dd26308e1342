"""From rated examples to a judge and to what it is worth: what `rejoinder train` calls."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from rejoinder.encoders import WORD_VECTORS, PortableEncoder, load_encoder
from rejoinder.errors import UsageError
from rejoinder.frames import FORMAT_VERSION
from rejoinder.io.ratings import Scale
from rejoinder.judges.answers import answer_scale
from rejoinder.judges.bilinear.fit import FitOptions
from rejoinder.judges.bilinear.judge import BilinearJudge, Kind
from rejoinder.judges.bilinear.panel import MEMBERS, Panel, fit_panel
from rejoinder.judges.bilinear.recipes import options_of
from rejoinder.judges.bilinear.sides import References
from rejoinder.judges.lines import encode_rated
from rejoinder.judges.many import FOLDS, Manner
from rejoinder.judges.train import SHARES, Trained, fit_judge, require_kind
from rejoinder.meta.trial import trial_of
from rejoinder.meta.trial_answer import trial_answer
from rejoinder.meta.trials import Trial
from rejoinder.records import Given
from rejoinder.scorer import Advance, ignore
from rejoinder.stats.figure import plain

FEWEST_RESAMPLES = 100


@dataclass(frozen=True)
class Training:
    """A judge, how it came about and what it is worth.

    Attributes:
        judge: ready to score or save.
        members: the one judge, or those of a panel, with the lines that each was fitted and tested on.
        trial: what cross-validation says of it.
    """

    judge: BilinearJudge | Panel
    members: tuple[Trained, ...]
    trial: Trial

    @property
    def answer(self) -> tuple[str, ...]:
        """What to use, in words."""
        return trial_answer(self.trial)

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values; keys: `version`, `results` (one mapping a judge), `scale`, `cross_validation`."""
        return {
            "version": FORMAT_VERSION,
            "results": [{"kind": one.judge.kind, **one.judge.training} for one in self.members],
            "scale": list(self.judge.scale),
            "cross_validation": {"answer": list(self.answer), **plain(self.trial)},
        }


def train(
    examples: Given,
    kind: Kind | Literal["panel"] = "panel",
    encoder: PortableEncoder | str | Path = WORD_VECTORS,
    options: FitOptions | None = None,
    *,
    references: References | None = None,
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
        kind: `adem`, `c-adem`, `r-adem`, `autojudge`, or a `panel` of the first three.
        encoder: texts to vectors, or what `load_encoder` makes it from.
        options: how it is fitted; see `recipes.fit_options`. None takes the kind's own recipe.
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
    kinds = MEMBERS if kind == "panel" else (kind,)
    for one in kinds:
        require_kind(one, references if len(kinds) == 1 else None)
    if isinstance(encoder, (str, Path)):
        encoder = load_encoder(encoder, vectors=vectors)
    options = options_of(kinds[0], options)
    lines = encode_rated(examples, encoder, kinds, scale)
    answers = answer_scale(lines.examples, scale)
    judge: BilinearJudge | Panel
    if kind == "panel":
        panel, members = fit_panel(lines, options, references=references, seed=seed, advance=advance)
        judge = replace(panel, scale=answers)
    else:
        only = fit_judge(lines, kind, options, references=references, seed=seed, advance=advance)
        judge = replace(only.judge, scale=answers)
        members = [replace(only, judge=judge)]
    fitted = tuple(one.judge.kind for one in members)
    left = SHARES[0] + SHARES[1]
    manner = Manner(fitted, options, references or "mean", (SHARES[0] / left, SHARES[1] / left), seed)
    epochs = len(kinds) * options.epochs
    trial = trial_of(
        lines, kind, manner, resamples=resamples, vectors=vectors, advance=lambda done: advance(done * epochs)
    )
    return Training(judge, tuple(members), trial)


def steps(kind: str, options: FitOptions) -> int:
    """How many epochs a training does, cross-validation included."""
    members = len(MEMBERS) if kind == "panel" else 1
    return (1 + FOLDS) * options.epochs * members
