"""From rated examples to a trained bilinear judge, with the figures it reaches on what it did not see."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np

from rejoinder.encoders import WORD_VECTORS, PortableEncoder, load_encoder
from rejoinder.errors import DataError, UsageError
from rejoinder.io.ratings import Scale
from rejoinder.judges.answers import answer_scale
from rejoinder.judges.bilinear.fit import FitOptions, Fitted, fit_bilinear
from rejoinder.judges.bilinear.judge import TERMS, BilinearJudge, Kind, unknown_sides
from rejoinder.judges.bilinear.oversample import Rows
from rejoinder.judges.bilinear.recipes import options_of
from rejoinder.judges.bilinear.sides import References
from rejoinder.judges.lines import RatedLines, encode_rated
from rejoinder.judges.notes import shares, text_notes
from rejoinder.records import Example, Given
from rejoinder.scorer import Advance, FloatArray, ignore
from rejoinder.stats.correlation import pearson, spearman
from rejoinder.stats.splits import joined_numbers, split_groups

SHARES = (0.70, 0.15, 0.15)
PARTS = ("train", "validation", "test")
FEWEST_CONTEXTS = 30
FEWEST_LINES = 3


@dataclass(frozen=True)
class Trained:
    """A trained judge and the parts of the data it was trained, stopped and tested on.

    Attributes:
        judge: ready to score or save.
        train: examples that the head was fitted on.
        validation: examples that decided when to stop.
        test: examples that it never saw.
        fit: the course of the fitting.
    """

    judge: BilinearJudge
    train: list[Example]
    validation: list[Example]
    test: list[Example]
    fit: Fitted


def train_judge(
    examples: Given,
    kind: Kind = "adem",
    encoder: PortableEncoder | str | Path = WORD_VECTORS,
    options: FitOptions | None = None,
    *,
    references: References | None = None,
    scale: Scale | None = None,
    seed: int = 0,
    advance: Advance = ignore,
) -> Trained:
    """A bilinear judge fitted on rated examples.

    Conversations are split 70 / 15 / 15 into training, validation and test, so that none stands in two parts (see
    `conversations`).

    Args:
        examples: rated examples, in any form that `examples_of` takes; those without what `kind` needs are left out and
            counted.
        kind: `adem`; `c-adem` or `autojudge` (context only); `r-adem` (reference only); `vhred` (adem before training).
        encoder: texts to vectors, or what `load_encoder` makes it from.
        options: how it is fitted; None takes `FitOptions()`, for AutoJudge `DERIU2019` (see `recipes`).
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
    require_kind(kind, references)
    encoder = load_encoder(encoder) if isinstance(encoder, (str, Path)) else encoder
    lines = encode_rated(examples, encoder, (kind,), scale)
    trained = fit_judge(lines, kind, options, references=references, seed=seed, advance=advance)
    return replace(trained, judge=replace(trained.judge, scale=answer_scale(lines.examples, scale)))


def require_kind(kind: Kind, references: References | None = None) -> None:
    """Raise `UsageError` where there is no such judge, no such way to count references, or it reads none."""
    if kind not in TERMS:
        raise UsageError(f"no judge is called {kind!r}. There are: {', '.join(TERMS)}")
    if references is None:
        return
    if references not in get_args(References):
        raise UsageError(f"references count by {' or '.join(get_args(References))}, not by {references!r}")
    if "reference" not in TERMS[kind]:
        raise UsageError(f"{kind} reads no references, so counting them by {references!r} would have no effect")


def fit_judge(
    lines: RatedLines,
    kind: Kind,
    options: FitOptions | None = None,
    *,
    references: References | None = None,
    seed: int = 0,
    assigned: Rows | None = None,
    advance: Advance = ignore,
) -> Trained:
    """`train_judge` on lines that were encoded before.

    Args:
        lines: N rated lines, encoded for `kind`.
        kind: see `train_judge`, as for the others.
        options: how it is fitted.
        references: how it scores against several.
        seed: decides the split and the order of the examples.
        assigned: [N] the part that each line belongs to (0 training, 1 validation, 2 test); None splits those that can
            be used.
        advance: called with 1 after each epoch.

    Raises:
        DataError: too little is there to fit on.
    """
    options, terms, known = options_of(kind, options), TERMS[kind], lines.known[kind]
    left_out = _left_out(lines, kind)
    _require_enough(lines, kind, left_out)
    rng = np.random.default_rng(seed)
    if assigned is None:
        parts = split_groups(joined_numbers(lines.traces[known.rows]), SHARES, rng)
    else:
        parts = [np.flatnonzero(assigned[known.rows] == number) for number in range(len(PARTS))]
    for name, part in zip(PARTS, parts, strict=True):
        if len(part) < FEWEST_LINES:
            found = f"the {name} part of the split has {len(part)} lines that {kind} can use, expected {FEWEST_LINES}"
            raise DataError(found, "Rate responses to more contexts, or choose another --seed")
    fit = fit_bilinear(known.raw, known.ratings, known.lengths, parts[0], parts[1], terms, options, rng, advance)
    rows = [known.rows[part] for part in parts]
    judge = BilinearJudge(kind, lines.encoder, fit.normalise, fit.projection, fit.head, references or "mean", {})
    training = _record(lines, judge, rows, fit, {"left_out": dict(left_out), "seed": seed, **asdict(options)})
    own = [[lines.examples[row] for row in part] for part in rows]
    return Trained(replace(judge, training=training), own[0], own[1], own[2], fit)


def split_lines(lines: RatedLines, seed: int) -> Rows:
    """[N] the number of the part (0 training, 1 validation, 2 test) of every line, conversations kept whole."""
    numbers = np.empty(len(lines.ratings), dtype=np.intp)
    for number, part in enumerate(split_groups(joined_numbers(lines.traces), SHARES, np.random.default_rng(seed))):
        numbers[part] = number
    return numbers


def _record(
    lines: RatedLines, judge: BilinearJudge, rows: Sequence[Rows], fit: Fitted, asked: Mapping[str, Any]
) -> dict[str, Any]:
    """What the judge was fitted on, what was asked for, and how that went, as JSON values."""
    return {
        "datasets": dict(Counter(lines.examples[row].dataset or "unnamed" for row in rows[0])),
        "lines": {name: len(part) for name, part in zip(PARTS, rows, strict=True)},
        **asked,
        "components": None if fit.projection is None else len(fit.projection.components),
        "fitted_rows": len(fit.rows),
        "over_sampling_left_out": len(rows[0]) - len(np.unique(fit.rows)),
        "best_epoch": fit.best_epoch,
        **{
            name: _agreement(lines.predicted(part, fit, judge.kind, judge.references), lines.ratings[part])
            for name, part in zip(PARTS[1:], rows[1:], strict=True)
        },
        "noted": shares(text_notes([lines.examples[row] for row in rows[0]], TERMS[judge.kind]), len(rows[0])),
    }


def _left_out(lines: RatedLines, kind: Kind) -> Counter[str]:
    """How many examples `kind` cannot be fitted on, by reason."""
    reasons = Counter[str]()
    if lines.unrated:
        reasons["not rated"] = lines.unrated
    rest = np.ones(len(lines.ratings), dtype=bool)
    for side in TERMS[kind]:
        reasons[f"no {side}"] = int((rest & ~lines.given[side]).sum())
        rest &= lines.given[side]
    unknown = unknown_sides(lines.encoded.means, TERMS[kind])
    reasons.update(f"no known word in the {unknown[row]}" for row in np.flatnonzero(rest) if unknown[row])
    return +reasons


def _require_enough(lines: RatedLines, kind: Kind, left_out: Counter[str]) -> None:
    """Raise `DataError` where too little is there to fit on, and why."""
    known = lines.known[kind]
    contexts = len(np.unique(lines.contexts[known.rows]))
    if contexts < FEWEST_CONTEXTS:
        why = ", ".join(f"{count} lines: {reason}" for reason, count in left_out.most_common()) or "none left out"
        problem = f"{contexts} rated contexts that {kind} can learn from, expected {FEWEST_CONTEXTS} or more ({why})"
        raise DataError(problem, _remedy(left_out))
    if len(set(known.ratings.tolist())) == 1:
        raise DataError("all ratings are equal", "Give ratings that differ; there is nothing to learn from these")


def _remedy(left_out: Counter[str]) -> str:
    """What to do where too few lines are usable; names the judges that can do without what is missing."""
    if left_out["no reference"]:
        return "Rate more, or train a judge that needs no reference: rejoinder train c-adem, or autojudge"
    if left_out["no context"]:
        return "Rate more, or train the judge that needs no context: rejoinder train r-adem"
    return "Rate responses to more contexts"


def _agreement(scores: FloatArray, ratings: FloatArray) -> dict[str, Any]:
    """How far scores and ratings of one part agree."""
    linear = pearson(scores, ratings)
    found = {"pearson": linear.value, "spearman": spearman(scores, ratings).value, "p": linear.p}
    return {"n": len(ratings), **{name: None if math.isnan(value) else value for name, value in found.items()}}
