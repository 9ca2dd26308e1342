"""A judge fitted on rated examples, and whether it is better than the scorers that exist already.

Conversations are divided into five folds, and each fold is scored by a judge that was fitted on the others. It is
compared with the bundled judge, the best metric and the best baseline. The last two are chosen for each fold by the
ratings of the other folds, so no figure comes from ratings that were used for a choice.

Shapes: N lines, K candidates, B resamples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rejoinder.analysis.train_layout import layout, recommended, text
from rejoinder.analysis.verdicts import agreed
from rejoinder.data.rated_lines import UNNAMED
from rejoinder.data.scales import Scale
from rejoinder.data.write import write
from rejoinder.errors import MissingAsset, MissingExtra, UsageError
from rejoinder.estimates import Estimate, decide, estimate_of
from rejoinder.example import Example, Given
from rejoinder.judges import crossval, load_learner
from rejoinder.judges.crossval import FOLD_SHARES, FOLDS, conversation_folds
from rejoinder.judges.protocol import AnyLearner, Learner, LearnerOptions, PortableJudge, members_of
from rejoinder.judges.rated import RatedLines, rated_lines
from rejoinder.judges.scales import answer_scale
from rejoinder.judges.train import fit_judge
from rejoinder.report.results import About, Results
from rejoinder.report.written import rounded
from rejoinder.scorer import Advance, Encoder, FloatArray, Scorer, ignore, run
from rejoinder.scoring.catalog import DEFAULT, SCORERS, cards, fitted_on, load_scorer
from rejoinder.scoring.domain import domain_share, out_of_domain
from rejoinder.stats.correlation import Statistic, mean_correlations
from rejoinder.stats.resamples import (
    BoolArray,
    IntArray,
    Resamples,
    Sampling,
    number_of,
    percentile_interval,
    renumbered,
    two_sided,
)
from rejoinder.stats.splits import parts_of

FEWEST_RESAMPLES = 100
LONGEST = 60.0
"""Seconds of the longest cross-validation; the constants below are those of one core of 2026."""
_FITS = 4  # five fits on four fifths of the lines each
_PAIR, _LINE = 1.5e-3, 5e-4
_LEAST_SCORED = 0.9  # share of the lines that an alternative must score
_DIRECTIONS = {True: 1, False: -1, None: 0}  # 0: the scorer states none
_STATISTICS: tuple[Statistic, ...] = ("spearman", "pearson")
BASELINE = "best baseline"
ROLES = {"new judge": "judge", "bundled judge": "judge", "best metric": "metric", BASELINE: "baseline"}


class Lines(NamedTuple):
    """N lines: [N] ratings, folds, and numbers of their data sets and clusters."""

    ratings: FloatArray
    folds: IntArray
    sets: IntArray
    contexts: IntArray

    def at(self, rows: NDArray[Any]) -> Lines:
        """Return some of the lines."""
        return Lines(*(values[rows] for values in self))


Candidate = tuple[str, str, FloatArray, Mapping[str, Any]]
"""A scorer that is compared: name, role (see `ROLES`), [N] scores (higher is better, NaN without one), and facts.

The facts of a best metric or baseline are the scorers that were `chosen` by the folds, and whether scores are
`reversed`; its name is the choice of all ratings together.
"""
Compared = tuple[tuple[Estimate, ...], dict[str, dict[str, Any]], Mapping[str, int], str]
"""Estimates, those of the new judge first, facts by scorer, counts, and a sentence about the clusters.

Without a comparison there is one estimate without a value, and with the reason.
"""


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
    held_out: str | Path | None = None,
    progress: Advance = ignore,
) -> tuple[PortableJudge, Results]:
    """Return a judge fitted on rated examples, and how it compares with the scorers that exist already.

    The judge is fitted on 70 % of the conversations (see `train_judge`). The comparison fits five others in the same
    way, each without a fifth of the conversations.

    Args:
        examples: rated examples, in any form that `examples_of` takes.
        kind: `adem`, `c-adem`, `r-adem`, `autojudge`, or a `panel` of the first three; or a learner, which has encoder,
            options and references already.
        encoder: texts to vectors, or what `load_encoder` makes it from; by default averaged word vectors.
        options: of the fit, such as `AdemOptions`; by default the recipe of the kind.
        references: how several references count, by the `best` score or by the `mean`, which is the default.
        scale: lowest and highest possible rating, for ratings that state no scale, and for the judge's answers; None
            leaves it to the examples (see `train_judge`).
        seed: of splits, folds, the order of lines and the draws.
        resamples: of contexts, for the intervals; 100 or more.
        vectors: file of word vectors for encoder and metrics that read them; by default the bundled ones.
        held_out: file to write the test part to, which the judge was not fitted on.
        progress: called with the number of epochs done, `steps` in all.

    Raises:
        DataError: the examples do not suffice to fit the judge.
        UsageError: there is no such kind or encoder, or an option would have no effect.
    """
    if resamples < FEWEST_RESAMPLES:
        raise UsageError(f"resamples is {resamples}, expected {FEWEST_RESAMPLES} or more")
    chosen = LearnerOptions(encoder=encoder, vectors=vectors, options=options, references=references)
    learner = load_learner(kind, chosen)
    lines = rated_lines(examples, learner, scale)
    trained = fit_judge(lines, scale=answer_scale(lines.examples, scale), seed=seed, advance=progress)
    if held_out is not None:
        write({example.where: example for member in trained.each for example in member.test}.values(), held_out)
    # A member that could not be fitted on these lines takes no part in the comparison either.
    members = [member for member in members_of(learner) if member.name not in trained.absent]
    once = steps(learner) // (1 + FOLDS)
    estimates, scorers, counts, note = cross_validate(
        lines, learner.name, members, seed, resamples=resamples, vectors=vectors, advance=lambda _: progress(once)
    )
    member_facts = {"kind": "judge", "role": "member"}
    scorers |= {absent: {**member_facts, "left_out": reason} for absent, reason in trained.absent.items()}
    for member in trained.each:
        account = [sentence for fitted in member.fits for sentence in fitted.account]
        scorers.setdefault(member.name, dict(member_facts)).update(training=member.judge.training, account=account)
    options = {"kind": learner.name, "scale": trained.judge.scale, "resamples": resamples, "seed": seed}
    about = About(scorers=scorers, options=options, counts=counts)
    return trained.judge, Results(
        command="train",
        estimates=estimates,
        answer=text("answer", estimates, about),
        warnings=(note,) if note else (),
        about=about,
        layout=layout(estimates, about),
    )


def steps(learner: AnyLearner) -> int:
    """Return the number of steps of a training, with its cross-validation."""
    return (1 + FOLDS) * sum(member.steps for member in members_of(learner))


# cross-validation


def cross_validate(
    lines: RatedLines,
    name: str,
    members: Sequence[Learner],
    seed: int = 0,
    *,
    resamples: int = 1000,
    vectors: str | Path | None = None,
    advance: Advance = ignore,
) -> Compared:
    """Return the comparison of the judge called `name`, fitted on rated lines by some members, with other scorers.

    `lines` are encoded for the learner of these `members`; `seed` is that of folds, fits and draws; `advance` is
    called with 1 after each of five fits. For the rest see `train`.
    """
    rows = np.unique(np.concatenate([lines.usable[member.name] for member in members]))
    if (seconds := seconds_for(lines, members)) > LONGEST:
        forecast = f"with {len(rows):,} lines it would take about {rounded(round(seconds))} seconds"
        return _missing(name, f"{forecast}, more than the {LONGEST:.0f} that are allowed")
    parts = conversation_folds(lines, rows, seed)
    predicted = crossval.cross_validate(lines, parts, members, shares=FOLD_SHARES, seed=seed, advance=advance)
    if not parts or any(np.isnan(predicted[part.scored]).all() for part in parts):
        return _missing(name, f"four fifths of {len(rows):,} lines are too few to fit the judge on")
    folds, contexts = np.full((2, len(lines.ratings)), -1, dtype=np.int64)
    for number, part in enumerate(parts):
        folds[part.scored] = number
    clusters = lines.ties.at(rows).clusters()
    contexts[rows] = clusters.numbers
    asked = np.flatnonzero(np.isfinite(predicted))
    examples = [lines.examples[row] for row in asked.tolist()]
    sets = renumbered(np.array([example.dataset or "" for example in lines.examples]))
    table = Lines(lines.ratings, folds, sets, contexts).at(asked)
    others, left_out = alternatives(examples, table, vectors)
    candidates = [(name, "new judge", predicted[asked], {}), *others]
    scores = np.stack([values for _, _, values, _ in candidates], axis=1)
    scored = np.flatnonzero(np.isfinite(scores).all(axis=1))
    scores, table = scores[scored], table.at(scored)
    datasets = {example.dataset or UNNAMED for example in examples}
    dataset = datasets.pop() if len(datasets) == 1 else "pooled"
    roles = {scorer: role for scorer, role, *_ in candidates}
    estimates = compare_candidates(roles, scores, table, dataset, Sampling(resamples, seed))
    if not estimates:
        return _missing(name, "there is no correlation inside the folds")
    use = recommended(estimates, [scorer for scorer, role in roles.items() if role == BASELINE])
    scorers = {
        scorer: {"kind": ROLES[role], "role": role, "recommended": scorer in use, **facts}
        for scorer, role, _, facts in candidates
    }
    scorers |= {missing: {"kind": cards()[missing].kind, "left_out": why} for missing, why in left_out.items()}
    counts = {
        "lines": len(scored),
        "unscored": len(rows) - len(scored),
        "contexts": len(np.unique(table.contexts)),
        "folds": len(np.unique(table.folds)),
        "copies": sum(example.copies_reference for example in examples),
    }
    return tuple(estimates), scorers, counts, clusters.note


def _missing(name: str, reason: str) -> Compared:
    estimate = Estimate(scorer=name, statistic="spearman", reason=reason)
    return (estimate,), {name: {"kind": "judge", "role": "new judge", "recommended": False}}, {}, ""


def seconds_for(lines: RatedLines, members: Sequence[Learner]) -> float:
    """Return a forecast of the seconds that a comparison takes, from sizes alone: the same on every machine."""
    fits = sum(member.seconds(len(lines.usable[member.name]) * FOLD_SHARES[0]) for member in members)
    pairs = sum(len(example.references) for example in lines.examples)
    return _FITS * fits + _PAIR * pairs + _LINE * len(lines.examples)


def compare_candidates(
    roles: Mapping[str, str], scores: FloatArray, lines: Lines, dataset: str, sampling: Sampling
) -> list[Estimate]:
    """Return the correlations of candidates [N, K] by their `roles`, and differences of each two.

    Nothing if one of them has no correlation. Verdicts are those that Spearman and Pearson have in common. Differences
    of the highest to the other scorers are one family of tests; every other difference is tested alone.
    """
    names, contexts = list(roles), renumbered(lines.contexts)
    clusters = number_of(contexts)
    draws, parts = sampling.draw(contexts, "trial", "trial"), parts_of(lines.sets, lines.folds)
    drawn = {name: mean_correlations(name, scores, lines.ratings, parts, draws) for name in _STATISTICS}  # [1 + B, K]
    spearman = drawn["spearman"][0]
    if not np.isfinite(spearman).all():
        return []
    method = (
        "correlation inside folds (and data sets), mean by lines; metric and baseline chosen on the other folds; "
        f"95 % expanded percentile interval, {sampling.resamples} resamples of contexts, the same for all"
    )
    about = {"dataset": dataset, "n": len(scores), "contexts": clusters, "seed": sampling.seed, "method": method}

    def measured(values: FloatArray, **labels: Any) -> Estimate:
        return estimate_of(percentile_interval(values, clusters), **about, **labels, p=two_sided(values, clusters))

    def gap(statistic: Statistic, j: int, k: int) -> Estimate:
        labels = {"scorer": names[j], "versus": names[k], "statistic": f"difference of {statistic}"}
        return measured(drawn[statistic][:, j] - drawn[statistic][:, k], **labels)

    each = [
        decide([measured(values, scorer=names[k], statistic=name) for k, values in enumerate(drawn[name].T)])
        for name in _STATISTICS
    ]
    baselines = {k for k, name in enumerate(names) if roles[name] == BASELINE}
    highest = max(set(range(len(names))) - baselines, key=lambda k: spearman[k])
    pairs = list(combinations(range(len(names)), 2))
    with_highest = [pair for pair in pairs if highest in pair and baselines.isdisjoint(pair)]
    families = [with_highest, *([pair] for pair in pairs if pair not in with_highest)]
    differences = [
        row
        for family in families
        for both in zip(*agreed(*(decide([gap(name, *pair) for pair in family]) for name in _STATISTICS)), strict=True)
        for row in both
    ]
    return [*chain(*agreed(*each)), *differences]


# other scorers


def alternatives(
    examples: Sequence[Example], lines: Lines, vectors: str | Path | None
) -> tuple[list[Candidate], dict[str, str]]:
    """Return the scorers that the new judge is compared with, and why others are left out."""
    left_out: dict[str, str] = {}
    scorers: dict[str, Scorer] = {}
    comparable = any(example.references for example in examples)
    for name in SCORERS:
        # A scorer that needs references scores none of these; METEOR alone would take two seconds to load.
        if not comparable and "reference" in cards()[name].needs:
            left_out[name] = f"it scores 0 of {len(examples):,} lines"
            continue
        try:
            scorers[name] = load_scorer(name, vectors=vectors)
        except (MissingAsset, MissingExtra) as error:
            left_out[name] = str(error)
    if seen := fitted_on([DEFAULT], [example.dataset for example in examples]).get(DEFAULT):
        left_out[DEFAULT] = f"it was fitted on lines of {', '.join(seen)}, these or others"
        del scorers[DEFAULT]
    scores = {name: run(scorer, examples) for name, scorer in scorers.items()}
    for name, result in scores.items():
        if result.scored.mean() < _LEAST_SCORED:
            left_out[name] = f"it scores {result.scored.sum():,} of {len(examples):,} lines"
        if outside := out_of_domain(name, scorers[name].card, domain_share(result, scorers[name])):
            left_out[name] = outside
    usable = {name: result.values for name, result in scores.items() if name not in left_out}
    candidates: list[Candidate] = [(DEFAULT, "bundled judge", usable[DEFAULT], {})] if DEFAULT in usable else []
    directions = {name: _DIRECTIONS[scorers[name].card.higher_is_better] for name in usable}
    for kind in ("metric", "baseline"):
        columns = {name: usable[name] for name in usable if scorers[name].card.kind == kind}
        candidates += [_best(f"best {kind}", columns, directions, lines)] if columns else []
    return candidates, left_out


def _best(role: str, columns: Mapping[str, FloatArray], directions: Mapping[str, int], lines: Lines) -> Candidate:
    """Return, for each fold, the scores of the scorer that agrees best with the ratings of the other folds.

    A scorer that states no direction takes the one that it has on the other folds.
    """
    values, chosen = np.full(len(lines.ratings), np.nan), []
    for fold in np.unique(lines.folds):
        rows = lines.folds == fold
        name, sign = _choice(columns, directions, lines, ~rows)
        values[rows] = sign * columns[name][rows]
        chosen.append(name)
    name, sign = _choice(columns, directions, lines, np.ones(len(values), bool))
    return name, role, values, {"chosen": chosen, "reversed": sign < 0}


def _choice(
    columns: Mapping[str, FloatArray], directions: Mapping[str, int], lines: Lines, rows: BoolArray
) -> tuple[str, int]:
    """Return the scorer with the highest Spearman correlation inside data sets on these rows, and its direction."""
    signed = {}
    for name, values in columns.items():
        part = lines.at(scored := rows & np.isfinite(values))
        once = Resamples.once(part.contexts)
        value = float(mean_correlations("spearman", values[scored, None], part.ratings, part.sets, once)[0, 0])
        sign = directions[name] or (-1 if value < 0 else 1)
        signed[name] = np.nan_to_num(sign * value, nan=-np.inf), sign
    best = max(signed, key=lambda name: signed[name][0])
    return best, signed[best][1]
