"""A judge fitted on rated examples, and whether it is better than the scorers that exist already.

Conversations are divided into five folds, and each fold is scored by a judge that was fitted on the others. It is
compared with the bundled judge, the best metric and the best baseline. The last two are chosen for each fold by the
ratings of the other folds, so no figure comes from ratings that were used for a choice.

Shapes: N lines, K candidates, B resamples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rejoinder.analysis.train_layout import answer, layout, recommended
from rejoinder.data.scales import Scale
from rejoinder.data.write import write
from rejoinder.errors import MissingAsset, MissingExtra, UsageError
from rejoinder.estimates import Estimate, Verdict, decide, estimate_of
from rejoinder.example import Given
from rejoinder.judges import load_learner
from rejoinder.judges.answers import answer_scale
from rejoinder.judges.learner import AnyLearner, Choices, PortableJudge, Rows, members_of
from rejoinder.judges.lines import RatedLines, encode_rated
from rejoinder.judges.many import FOLDS, Manner, folds_of, scores_of
from rejoinder.judges.train import SHARES, Trained, fit_judge
from rejoinder.report.results import About, Results
from rejoinder.report.written import rounded
from rejoinder.scorer import Advance, Encoder, FloatArray, Scorer, ignore, run
from rejoinder.scoring.catalog import DEFAULT, SCORERS, cards, fitted_on, load_scorer
from rejoinder.scoring.domain import domain_share, out_of_domain
from rejoinder.stats.correlation import mean_correlations
from rejoinder.stats.resamples import (
    IntArray,
    Resamples,
    Sampling,
    number_of,
    percentile_interval,
    renumbered,
    two_sided,
)
from rejoinder.stats.splits import items_needed, pilot_of_correlations

FEWEST_RESAMPLES = 100
LONGEST = 60.0
"""Seconds of the longest cross-validation; the constants below are those of one core of 2026."""
_FITS = 4  # five fits on four fifths of the lines each
_PAIR, _LINE = 1.5e-3, 5e-4
_FARTHEST = 50  # times the lines that there are; a forecast beyond says only that two scorers are alike
_LEAST_SCORED = 0.9  # share of the lines that an alternative must score
_DIRECTIONS = {True: 1, False: -1, None: 0}  # 0: the scorer states none
_STATISTICS = ("spearman", "pearson")


class Lines(NamedTuple):
    """N lines of the folds, each array [N].

    Attributes:
        ratings: of each line.
        folds: of each line.
        sets: number of its data set.
        contexts: number of its cluster.
    """

    ratings: FloatArray
    folds: IntArray
    sets: IntArray
    contexts: IntArray

    def at(self, rows: Rows) -> Lines:
        """Return some of the lines."""
        return Lines(*(values[rows] for values in self))


class Candidate(NamedTuple):
    """A scorer that is compared.

    Attributes:
        name: of the scorer; of the best metric and baseline the one that all ratings together would choose.
        role: "new judge", "bundled judge", "best metric" or "best baseline".
        values: [N] scores, higher is better; NaN where unscored.
        chosen: the scorer that each fold chose.
        is_reversed: whether lower scores are taken as better; `values` are after that.
    """

    name: str
    role: str
    values: FloatArray
    chosen: tuple[str, ...] = ()
    is_reversed: bool = False


@dataclass
class CrossValidation:
    """The outcome of the comparison.

    Attributes:
        candidates: the new judge first; none if there is a `reason`.
        estimates: correlations of each, and differences of each two.
        counts: lines, contexts and so on.
        left_out: why other scorers are not compared.
        reason: why there is no comparison.
        note: about the clusters, a sentence.
    """

    candidates: Sequence[Candidate] = ()
    estimates: Sequence[Estimate] = ()
    counts: dict[str, int] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    note: str = ""


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
        encoder: texts to vectors, or what `load_encoder` makes it from; None takes averaged word vectors.
        options: of the fit, such as `FitOptions`; None takes the recipe of the kind.
        references: how several references count, by the `best` score or by the `mean`; None takes the mean.
        scale: lowest and highest possible rating, for ratings that state no scale, and for the judge's answers; None
            leaves it to the examples (see `train_judge`).
        seed: of splits, folds, the order of lines and the draws.
        resamples: of contexts, for the intervals; 100 or more.
        vectors: file of word vectors for encoder and metrics that read them; None takes the bundled ones.
        held_out: file for the test part, which the judge was not fitted on.
        progress: called with the number of epochs done, `steps` in all.

    Raises:
        DataError: the examples do not suffice to fit the judge.
        UsageError: there is no such kind or encoder, or an option would have no effect.
    """
    if resamples < FEWEST_RESAMPLES:
        raise UsageError(f"resamples is {resamples}, expected {FEWEST_RESAMPLES} or more")
    learner = load_learner(kind, Choices(encoder=encoder, vectors=vectors, options=options, references=references))
    lines = encode_rated(examples, learner, scale)
    trained = fit_judge(lines, scale=answer_scale(lines.examples, scale), seed=seed, advance=progress)
    if held_out is not None:
        write({example.where: example for member in trained.each for example in member.test}.values(), held_out)
    # A member that could not be fitted on these lines takes no part in the comparison either.
    names, part = {member.name for member in trained.each}, SHARES[0] + SHARES[1]
    members = [member for member in members_of(learner) if member.name in names]
    manner = Manner(members, shares=(SHARES[0] / part, SHARES[1] / part), seed=seed)
    once = _steps_of_a_fit(learner)
    compared = cross_validate(
        lines, learner.name, manner, resamples=resamples, vectors=vectors, progress=lambda done: progress(done * once)
    )
    return trained.judge, _results(trained, compared, {"kind": learner.name, "resamples": resamples, "seed": seed})


def steps(learner: AnyLearner) -> int:
    """Return the number of steps of a training, with its cross-validation."""
    return (1 + FOLDS) * _steps_of_a_fit(learner)


def _steps_of_a_fit(learner: AnyLearner) -> int:
    """Return the number of steps of one fit of all members."""
    return sum(member.steps for member in members_of(learner))


def _results(trained: Trained, compared: CrossValidation, options: Mapping[str, Any]) -> Results:
    """Return the results of a training."""
    scorers: dict[str, dict[str, Any]] = {trained.name: {"kind": "judge", "role": "new judge"}}
    for candidate in compared.candidates:
        kind = "judge" if candidate.role.endswith("judge") else candidate.role.removeprefix("best ")
        chosen = {"chosen": candidate.chosen, "reversed": candidate.is_reversed} if candidate.chosen else {}
        scorers[candidate.name] = {"kind": kind, "role": candidate.role, **chosen}
    for name, reason in compared.left_out.items():
        scorers[name] = {"kind": cards()[name].kind, "left_out": reason}
    for name, reason in trained.absent.items():
        scorers[name] = {"kind": "judge", "role": "member", "left_out": reason}
    baseline = next((candidate.name for candidate in compared.candidates if candidate.role == "best baseline"), "")
    use = recommended(compared.estimates, baseline)
    for candidate in compared.candidates:
        scorers[candidate.name]["recommended"] = candidate.name in use
    parts = []
    for member in trained.each:
        facts = scorers.setdefault(member.name, {"kind": "judge", "role": "member"})
        facts["training"] = member.judge.training
        facts["account"] = [sentence for fit in member.fits for sentence in fit.account]
        parts += _parts(member)
    about = About(
        data=[{"dataset": name, "lines": count} for name, count in _datasets(trained).items()],
        scorers=scorers,
        options={**options, "scale": trained.judge.scale},
        counts=compared.counts,
    )
    estimates = (*compared.estimates, *parts)
    return Results(
        command="train",
        estimates=estimates,
        answer=answer(estimates, about, compared.reason),
        warnings=tuple(filter(None, [compared.note])),
        about=about,
        layout=layout(estimates, about, compared.reason),
    )


def _datasets(trained: Trained) -> Mapping[str, int]:
    """Return the number of lines of each data set that the judge was fitted on."""
    return {name: count for member in trained.each for name, count in member.judge.training["datasets"].items()}


def _parts(member: Trained) -> list[Estimate]:
    """Return the agreement on the validation and test parts, which the judge was not fitted on."""
    training, estimates = member.judge.training, []
    for part in ("validation", "test"):
        for statistic in _STATISTICS if part in training else ():
            values = {"value": training[part][statistic], "p": training[part]["p"] if statistic == "pearson" else None}
            known = {name: value for name, value in values.items() if value is not None}
            labels = {"scorer": member.name, "statistic": statistic, "by": "part", "group": part}
            estimates.append(Estimate(**labels, n=training[part]["n"], method=f"on the {part} part", **known))
    return estimates


# cross-validation


def cross_validate(
    lines: RatedLines,
    name: str,
    manner: Manner,
    *,
    resamples: int = 1000,
    vectors: str | Path | None = None,
    progress: Advance = ignore,
) -> CrossValidation:
    """Return the comparison of the judge that is fitted on rated lines in some manner with other scorers.

    Args:
        lines: encoded for the learners of the `manner`.
        name: of the new judge.
        manner: how it is fitted, and the seed of folds, fits and draws.
        resamples: of contexts, for the intervals.
        vectors: file of word vectors for metrics that need them; None takes the bundled ones.
        progress: called with 1 after each of five fits.
    """
    rows = np.unique(np.concatenate([lines.usable[member.name] for member in manner.members]))
    if (seconds := seconds_for(lines, manner)) > LONGEST:
        found = f"with {len(rows):,} lines it would take about {rounded(round(seconds))} seconds"
        return CrossValidation(reason=f"{found}, and more than {LONGEST:.0f} are too many")
    tasks = folds_of(lines, rows, manner.seed)
    predicted = scores_of(lines, tasks, manner, progress)
    if not tasks or any(np.isnan(predicted[task.asked]).all() for task in tasks):
        return CrossValidation(reason=f"four fifths of {len(rows):,} lines are too few to fit the judge on")
    folds, clusters = np.full((2, len(lines.ratings)), -1, dtype=np.int64)
    for number, task in enumerate(tasks):
        folds[task.asked] = number
    sets = renumbered(np.array([example.dataset or "" for example in lines.examples]))
    grouped = lines.clusters(rows)
    clusters[rows] = grouped.numbers
    asked = np.flatnonzero(np.isfinite(predicted))
    table = Lines(lines.ratings, folds, sets, clusters).at(asked)
    others, left_out = alternatives(lines, asked, table, vectors)
    candidates = [Candidate(name, "new judge", predicted[asked]), *others]
    scores = np.stack([candidate.values for candidate in candidates], axis=1)
    scored = np.flatnonzero(np.isfinite(scores).all(axis=1))
    names = sorted({lines.examples[row].dataset or "" for row in asked.tolist()})
    estimates = _estimates(candidates, scores[scored], table.at(scored), names, Sampling(resamples, manner.seed))
    if not estimates:
        return CrossValidation(reason="there is no correlation inside the folds")
    counts = {
        "lines": len(scored),
        "unscored": len(rows) - len(scored),
        "contexts": len(np.unique(table.contexts[scored])),
        "folds": len(np.unique(table.folds[scored])),
        "copies": sum(lines.examples[row].copies_reference for row in asked.tolist()),
    }
    return CrossValidation(candidates, estimates, counts, left_out, note=grouped.note)


def seconds_for(lines: RatedLines, manner: Manner) -> float:
    """Return a forecast of the seconds that a comparison takes, from sizes alone: the same on every machine."""
    fits = sum(member.seconds(len(lines.usable[member.name]) * manner.shares[0]) for member in manner.members)
    pairs = sum(len(example.references) for example in lines.examples)
    return _FITS * fits + _PAIR * pairs + _LINE * len(lines.examples)


def _estimates(
    candidates: Sequence[Candidate], scores: FloatArray, lines: Lines, datasets: Sequence[str], sampling: Sampling
) -> list[Estimate]:
    """Return the correlations of all candidates, and differences of each two; none without a correlation."""
    contexts = renumbered(lines.contexts)
    clusters = number_of(contexts)
    draws = sampling.draw(contexts, "trial", "trial")
    parts = lines.sets * (int(lines.folds.max(initial=0)) + 1) + lines.folds
    drawn = {name: mean_correlations(name, scores, lines.ratings, parts, draws) for name in _STATISTICS}  # [1 + B, K]
    if not np.isfinite(drawn["spearman"][0]).all():
        return []
    method = (
        "correlation inside folds (and data sets), mean by lines; metric and baseline chosen on the other folds; "
        f"95 % expanded percentile interval, {sampling.resamples} resamples of contexts, the same for all"
    )
    about = {
        "dataset": datasets[0] if len(datasets) == 1 else "pooled",
        "n": len(scores),
        "contexts": clusters,
        "seed": sampling.seed,
        "method": method,
    }

    def measured(values: FloatArray, **labels: Any) -> Estimate:
        return estimate_of(percentile_interval(values, clusters), **about, **labels, p=two_sided(values, clusters))

    estimates: list[Estimate] = []
    for statistic in _STATISTICS:
        rows = [
            measured(values, scorer=candidate.name, statistic=statistic)
            for candidate, values in zip(candidates, drawn[statistic].T, strict=True)
        ]
        estimates += decide(rows)
    for j, k in combinations(range(len(candidates)), 2):
        needed = _needed(scores[:, [j, k]], lines, parts)
        for statistic in _STATISTICS:
            labels = {"scorer": candidates[j].name, "versus": candidates[k].name}
            values = drawn[statistic][:, j] - drawn[statistic][:, k]
            row = decide([measured(values, statistic=f"difference of {statistic}", **labels)])[0]
            forecast = needed if statistic == "spearman" and row.verdict == Verdict.INCONCLUSIVE else None
            estimates.append(estimate_of(row, needed=forecast))
    return estimates


def _needed(pair: FloatArray, lines: Lines, parts: IntArray) -> int | None:
    """Return the number of lines that would distinguish two candidates, by the spread of their ranks inside folds."""
    from scipy.stats import rankdata

    ranks = np.empty((len(pair), 3))
    for part in np.unique(parts):
        rows = parts == part
        ranks[rows] = rankdata(np.column_stack([pair[rows], lines.ratings[rows]]), axis=0) / rows.sum()
    count = items_needed(pilot_of_correlations(*ranks.T, lines.contexts))
    return None if count is None or count > _FARTHEST * len(pair) else count


# other scorers


def alternatives(
    lines: RatedLines, asked: Rows, table: Lines, vectors: str | Path | None
) -> tuple[list[Candidate], dict[str, str]]:
    """Return the scorers that the new judge is compared with on the lines `asked`, and why others are left out."""
    left_out: dict[str, str] = {}
    examples = [lines.examples[row] for row in asked.tolist()]
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
    candidates = [Candidate(DEFAULT, "bundled judge", usable[DEFAULT])] if DEFAULT in usable else []
    directions = {name: _DIRECTIONS[scorers[name].card.higher_is_better] for name in usable}
    for kind in ("metric", "baseline"):
        columns = {name: usable[name] for name in usable if scorers[name].card.kind == kind}
        candidates += [_best(f"best {kind}", columns, directions, table)] if columns else []
    return candidates, left_out


def _best(role: str, columns: Mapping[str, FloatArray], directions: Mapping[str, int], lines: Lines) -> Candidate:
    """Return, for each fold, the scores of the scorer that agrees best with the ratings of the other folds.

    A scorer that states no direction takes the one that it has on the other folds.
    """
    values, chosen = np.full(len(lines.ratings), np.nan), []
    everything = np.arange(len(lines.ratings))
    for fold in np.unique(lines.folds):
        name, sign = _choice(columns, directions, lines, everything[lines.folds != fold])
        rows = lines.folds == fold
        values[rows] = sign * columns[name][rows]
        chosen.append(name)
    name, sign = _choice(columns, directions, lines, everything)
    return Candidate(name, role, values, tuple(chosen), sign < 0)


def _choice(
    columns: Mapping[str, FloatArray], directions: Mapping[str, int], lines: Lines, rows: Rows
) -> tuple[str, int]:
    """Return the scorer with the highest Spearman correlation on these rows, and its direction."""
    found = {name: _agreement(values[rows], lines.at(rows)) for name, values in columns.items()}
    signs = {name: directions[name] or (-1 if found[name] < 0 else 1) for name in columns}
    best = max(columns, key=lambda name: np.nan_to_num(signs[name] * found[name], nan=-np.inf))
    return best, signs[best]


def _agreement(values: FloatArray, lines: Lines) -> float:
    """Return the Spearman correlation of scores with ratings inside data sets; NaN without one."""
    scored = np.flatnonzero(np.isfinite(values))
    inside = lines.at(scored)
    once = Resamples.once(inside.contexts)
    return float(mean_correlations("spearman", values[scored, None], inside.ratings, inside.sets, once)[0, 0])
