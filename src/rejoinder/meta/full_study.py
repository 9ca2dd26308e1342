"""`full_study`: a study of scorers against people with everything beside it that says how its figures may be read."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypedDict
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from rejoinder.catalogue import cards, columns_of, fitted_on, listed, load_scorer
from rejoinder.errors import UsageError
from rejoinder.io.given import examples_of
from rejoinder.io.ratings import Scale
from rejoinder.meta.agreement import NONE, Sampling
from rejoinder.meta.answer import answer, answer_of
from rejoinder.meta.ceiling import people_of
from rejoinder.meta.conclusions import conclusions_of, summed
from rejoinder.meta.content import content_bleu
from rejoinder.meta.contrasts import clusters_of, contrasts_of
from rejoinder.meta.duel import duel_of
from rejoinder.meta.findings import DataCard, Findings, FullStudy, Kind, People, Standing
from rejoinder.meta.leave_one_out import SEEN, UNSEEN, left_out_of, left_out_scores
from rejoinder.meta.length import cases_of, length_effects
from rejoinder.meta.over_sets import nearness_of
from rejoinder.meta.parts import NO_SYSTEM, POOLED, Part, rated_parts, title_of
from rejoinder.meta.results import Agreement
from rejoinder.meta.same_lines import Common, common_of
from rejoinder.meta.study import scores_of, study, usable_ratings
from rejoinder.meta.systems import systems_of
from rejoinder.meta.verdict import Verdict, verdicts_of
from rejoinder.meta.yardsticks import OF_SET, OF_SYSTEM, known_means
from rejoinder.metrics.baselines import words
from rejoinder.records import OVERALL, Example, Given
from rejoinder.scorer import Advance, FloatArray, ScorerLike, Scores, ignore, run
from rejoinder.stats.bootstrap import Counts, cluster_counts, require_sampling
from rejoinder.stats.chance import chance_level
from rejoinder.stats.paired import mean_correlation
from rejoinder.stats.pairwise import calibrated_accuracy
from rejoinder.stats.within import within_correlations


class _Options(TypedDict):
    """Those of `study` that all studies in one share."""

    dimension: str
    resamples: int
    seed: int
    drop_copies: bool


OVER_SETS = "mean over data sets"
BASELINES = ("length", "context-overlap")
MOST_PAIRED = 2000  # lines; all pairs of more take too long


def full_study(
    examples: Given,
    scorers: Sequence[ScorerLike] | Mapping[str, Scores],
    *,
    dimension: str = OVERALL,
    resamples: int = 1000,
    seed: int = 0,
    vectors: str | Path | None = None,
    drop_copies: bool = False,
    leave_one_out: bool = False,
    advance: Advance = ignore,
) -> FullStudy:
    """The study of `scorers`, beside them the trivial baselines, and for each data set what its figures rest on.

    That is: how far people agree with each other and the ceiling that follows; correlations inside systems and without
    copies of references; tests between scorers; the effect of length; systems; lines where scorers and people disagree.
    Arguments and errors as for `study`. With `leave_one_out` a judge fitted on all data sets but the one in question
    is a scorer too, and beside the scorers stands what it gains by seeing other conversations of the set; `advance` is
    then called with 1 after each of six fits a data set before all else.

    Raises:
        UsageError: `leave_one_out` with fewer than two data sets, or with ratings other than the overall ones.
    """
    require_sampling(resamples, seed)
    examples = examples_of(examples, keep=columns_of(scorers))
    held_out: Mapping[str, Scores] = {}
    if leave_one_out:
        if dimension != OVERALL:
            raise UsageError(f"judges are fitted on overall ratings, so no set is left out for {dimension!r}")
        held_out = left_out_scores(examples, seed=seed, advance=advance)
    ratings = usable_ratings(examples, dimension, drop_copies=drop_copies)
    given = dict(scores_of(examples, scorers, vectors, advance))
    if held_out:
        given[UNSEEN] = held_out[UNSEEN]
    sampling = Sampling(resamples, seed)
    parts = [part for part in rated_parts(examples, ratings, dimension) if len(part.places)]
    beside = _yardsticks(examples, given, parts)
    options = _Options(dimension=dimension, resamples=resamples, seed=seed, drop_copies=drop_copies)
    asked = study(examples, given, **options)
    baselines = study(examples, beside, **options) if beside else None
    rows = asked.agreements + (baselines.agreements if baselines else ())
    scores = {**given, **beside}
    over_sets = _over_sets(parts, scores, sampling)
    findings = [
        _findings(part, parts, examples, scores, (*rows, *over_sets), dimension, sampling, tuple(given))
        for part in parts
    ]
    if over_sets:
        findings[-1] = replace(findings[-1], conclusions=summed([two for one in findings for two in one.conclusions]))
    left_out = None
    if held_out:
        ceilings = {one.card.dataset: one.people.ceiling for one in findings}
        left_out = left_out_of(parts, held_out, ceilings, sampling)
    single = findings[:-1] if over_sets else []
    own = {} if isinstance(scorers, Mapping) else fitted_on(listed(scorers), [one.dataset for one in examples])
    near = [row for row in over_sets if row.scorer not in own]
    common = _common(parts, examples, near, {**scores, **held_out}, dimension, sampling)
    chance = {row.scorer: _mean_chance(single, row.scorer) for row in over_sets}
    verdicts = {one.scorer: one.verdict for one in findings[-1].standings}
    found = FullStudy(
        study=asked,
        baselines=baselines,
        findings=tuple(findings),
        over_sets=over_sets,
        fitted=own,
        chance=chance,
        verdicts=_verdicts(over_sets, chance, given) if over_sets else verdicts,
        asked=tuple(given),
        nearness=nearness_of(single, near, left_out, common),
        common=common.sets,
        common_lines=common.n,
        left_out=left_out,
    )
    return replace(found, answer=answer(found))


def _yardsticks(examples: Sequence[Example], given: Mapping[str, Scores], parts: Sequence[Part]) -> dict[str, Scores]:
    """What stands beside the scorers `given`: trivial baselines, a variant of BLEU, and means of people's ratings."""
    beside = {
        **content_bleu(examples, given),
        **{name: run(load_scorer(name), examples) for name in BASELINES if name not in given},
        **known_means(parts, len(examples)),
    }
    return {name: scores for name, scores in beside.items() if scores.scored.any()}


def _verdicts(rows: Sequence[Agreement], chance: Mapping[str, float], asked: Collection[str]) -> dict[str, Verdict]:
    """What is shown of the scorers asked for, and by themselves of those that came along."""
    groups = [[row for row in rows if (row.scorer in asked) is wanted] for wanted in (True, False)]
    return {name: verdict for group in groups for name, verdict in verdicts_of(group, chance).items()}


def _findings(
    part: Part,
    parts: Sequence[Part],
    examples: Sequence[Example],
    found: Mapping[str, Scores],
    rows: Sequence[Agreement],
    dimension: str,
    sampling: Sampling,
    asked: Sequence[str],
) -> Findings:
    """All that is said of one part; of the pool nothing that its sets say better."""
    kinds = {name: _kind(name, one) for name, one in found.items()}
    scores = {name: one.values[part.places] for name, one in found.items()}
    blind = {name: values for name, values in scores.items() if kinds[name] != "reads ratings"}
    people = people_of(part, examples, dimension, sampling.seed)
    own = [row for row in rows if row.dataset == part.name]
    copies = np.array([examples[place].copies_reference for place in part.places], dtype=bool)
    standings = [
        _standing(part, name, kinds[name], values, [row for row in own if row.scorer == name], copies, people, sampling)
        for name, values in scores.items()
        if name != OF_SET or part.name == POOLED
    ]
    ranked = {row.scorer: row.value for row in rows if _ranks(row, part.name) and row.scorer in blind}
    order = sorted((name for name, value in ranked.items() if not np.isnan(value)), key=lambda name: -ranked[name])
    contrasts = contrasts_of(part, _sets(part, parts), blind, order, sampling)
    clusters = clusters_of({name: ranked[name] for name in order}, contrasts)
    chance = {one.scorer: one.chance for one in standings}
    verdicts = _verdicts([one.pooled for one in standings], chance, asked)
    standings = [replace(one, cluster=clusters.get(one.scorer, 0), verdict=verdicts[one.scorer]) for one in standings]
    of_systems = [row for row in own if row.level == "system" and row.statistic == "pearson"]
    details = {} if part.name == POOLED else blind
    met = [name for name in order if name in asked or kinds[name] != "metric"]  # no variant that nobody asked for
    card = _card(part, examples, dimension, copies)
    findings = Findings(
        card=card,
        people=people,
        standings=tuple(sorted(standings, key=lambda one: (np.isnan(one.pooled.value), -one.pooled.value))),
        contrasts=contrasts,
        lengths=length_effects(part, examples, details, sampling) if details else (),
        systems=systems_of(part, examples, blind, of_systems, sampling),
        cases=cases_of(part, examples, details),
        duel=duel_of(part, examples, details, met, kinds, card.scale, sampling) if details else None,
        conclusions=conclusions_of(part, examples, details, sampling),
        ratings=part.ratings,
        scores=scores,
    )
    return findings if part.name == POOLED else replace(findings, answer=answer_of(findings, asked))


def _ranks(row: Agreement, dataset: str) -> bool:
    """Whether scorers are ranked by this row: Pearson over lines, for the pool the mean over its data sets."""
    home = OVER_SETS if dataset == POOLED else dataset
    return (row.dataset, row.level, row.statistic) == (home, "turn", "pearson")


def _sets(part: Part, parts: Sequence[Part]) -> NDArray[np.int64]:
    """[N] data set of each line of `part`, by its place among `parts`."""
    sets = np.zeros(len(part.places), dtype=np.int64)
    for number, one in enumerate(parts):
        if one.name != POOLED:
            sets[np.isin(part.places, one.places)] = number
    return sets


def _standing(
    part: Part,
    name: str,
    kind: Kind,
    values: FloatArray,
    rows: Sequence[Agreement],
    copies: NDArray[np.bool_],
    people: People,
    sampling: Sampling,
) -> Standing:
    """One scorer on one part."""
    turn = {row.statistic: row for row in rows if row.level == "turn"}
    pooled = turn["pearson"]
    without = pooled
    if copies.any():
        kept = np.where(copies, np.nan, values)
        without = _row(part, name, "pearson without copies", kept, np.zeros_like(part.systems), sampling)
    usable = np.isfinite(values)
    accuracy = calibrated_accuracy(values[usable], part.ratings[usable]) if usable.sum() <= MOST_PAIRED else None
    return Standing(
        scorer=name,
        kind=kind,
        pooled=pooled,
        spearman=turn["spearman"],
        within=_within(part, name, kind, values, sampling),
        without_copies=without,
        share=pooled.value / people.ceiling if people.ceiling > 0 else NONE,
        share_low=pooled.low / people.ceiling if people.ceiling > 0 else NONE,
        share_high=pooled.high / people.ceiling if people.ceiling > 0 else NONE,
        accuracy=accuracy.value if accuracy else NONE,
        accuracy_reason=accuracy.reason if accuracy else f"not worked out for more than {MOST_PAIRED:,} lines",
        chance=chance_level(values[usable], part.ratings[usable], part.contexts[usable]),
    )


def _mean_chance(findings: Sequence[Findings], scorer: str) -> float:
    """The chance level of the mean over data sets, which are independent; NaN where none has a correlation."""
    own = np.array([one.chance for found in findings for one in found.standings if one.scorer == scorer])
    known = own[np.isfinite(own)]
    return float(np.sqrt((known**2).sum()) / len(known)) if len(known) else NONE


def _within(part: Part, name: str, kind: Kind, values: FloatArray, sampling: Sampling) -> Agreement:
    """The mean correlation inside systems."""
    known = part.systems != NO_SYSTEM
    systems = len(np.unique(part.systems[known]))
    if systems < 2 or kind == "reads ratings":
        reason = (
            f"{systems} systems named; two or more are needed" if systems < 2 else "tells no line of a system apart"
        )
        return _agreement(part, name, "pearson inside systems", 0, 0, (NONE, NONE, NONE), "none", sampling, reason)
    return _row(part, name, "pearson inside systems", np.where(known, values, np.nan), part.systems, sampling)


def _row(
    part: Part, name: str, statistic: str, values: FloatArray, groups: NDArray[np.int64], sampling: Sampling
) -> Agreement:
    """The mean Pearson correlation inside groups, of the lines where `values` [N] is finite."""
    usable = np.flatnonzero(np.isfinite(values))
    contexts = np.unique(part.contexts[usable], return_inverse=True)[1].astype(np.int64)
    own = np.unique(groups[usable], return_inverse=True)[1].astype(np.int64)
    clusters = int(contexts.max(initial=-1)) + 1
    rng = np.random.default_rng(np.random.SeedSequence([sampling.seed, crc32(part.name.encode()), 5]))
    counts = cluster_counts(clusters, sampling.resamples if clusters else 0, rng)
    found = within_correlations(values[usable], part.ratings[usable], own, contexts, counts, ["pearson"])["pearson"]
    how = f"95% expanded percentile interval, {sampling.resamples} resamples of contexts"
    method = f"{statistic}; mean of {found.groups}; {how}"
    figures = (found.value, found.interval.low, found.interval.high)
    reason = found.reason or found.interval.reason
    return _agreement(part, name, statistic, len(usable), clusters, figures, method, sampling, reason)


def _agreement(
    part: Part,
    name: str,
    statistic: str,
    n: int,
    contexts: int,
    figures: tuple[float, float, float],
    method: str,
    sampling: Sampling,
    reason: str,
) -> Agreement:
    """A row at turn level, without p."""
    value, low, high = figures
    unscored = len(part.places) - n
    return Agreement(
        part.name, name, "turn", statistic, n, unscored, contexts, value, low, high, NONE, method, sampling.seed, reason
    )


def _common(
    parts: Sequence[Part],
    examples: Sequence[Example],
    rows: Sequence[Agreement],
    scores: Mapping[str, Scores],
    dimension: str,
    sampling: Sampling,
) -> Common:
    """The scorers of `rows` that read no ratings, and the judge that saw the sets, on the lines that all score."""
    kinds = {row.scorer: _kind(row.scorer, scores[row.scorer]) for row in rows if not np.isnan(row.value)}
    blind = [name for name, kind in kinds.items() if kind != "reads ratings"]
    names = [*blind, *(name for name in (SEEN,) if name in scores and scores[name].scored.any())]
    if not blind:
        return Common()
    values = {name: scores[name].values for name in names}
    return common_of(parts, examples, values, _pool_counts(parts[-1], sampling), dimension, sampling.seed)


def _pool_counts(pooled: Part, sampling: Sampling) -> Counts:
    """[G, B] how often each context of the pool is drawn."""
    rng = np.random.default_rng(np.random.SeedSequence([sampling.seed, crc32(POOLED.encode()), 6]))
    return cluster_counts(int(pooled.contexts.max()) + 1, sampling.resamples, rng)


def _over_sets(parts: Sequence[Part], scores: Mapping[str, Scores], sampling: Sampling) -> tuple[Agreement, ...]:
    """The mean over data sets of the correlation inside each, best first; none where there is one set."""
    pooled = next((part for part in parts if part.name == POOLED), None)
    if pooled is None:
        return ()
    sets, counts = _sets(pooled, parts), _pool_counts(pooled, sampling)
    rows = []
    for name, one in scores.items():
        values = one.values[pooled.places]
        found = mean_correlation("pearson", values, pooled.ratings, sets, pooled.contexts, counts)
        method = f"pearson, mean over {found.parts} data sets; {sampling.resamples} resamples of contexts"
        reason = "" if found.parts else "no data set has a correlation"
        unscored = len(values) - found.n
        figures = (found.value, found.low, found.high, found.p)
        rows.append(
            Agreement(
                *(OVER_SETS, name, "turn", "pearson", found.n, unscored, len(counts)),
                *figures,
                method=method,
                seed=sampling.seed,
                reason=reason,
            )
        )
    return tuple(sorted(rows, key=lambda row: (np.isnan(row.value), -row.value)))


def _card(part: Part, examples: Sequence[Example], dimension: str, copies: NDArray[np.bool_]) -> DataCard:
    """What the lines of a part are."""
    own = [examples[place] for place in part.places]
    scales = {example.scale(dimension) for example in own}
    return DataCard(
        dataset=part.name,
        title=title_of(part.name, own),
        rated=len(own),
        contexts=int(part.contexts.max()) + 1,
        systems=len(np.unique(part.systems[part.systems != NO_SYSTEM])),
        with_references=sum(any(map(str.strip, example.references)) for example in own),
        copies=int(copies.sum()),
        scale=_scale(scales, pooled=part.name == POOLED),
        mean_rating=float(part.ratings.mean()),
        deviation=float(part.ratings.std()),
        words=float(np.mean([len(words(example.response)) for example in own])),
    )


def _scale(scales: set[Scale | None], *, pooled: bool) -> Scale | None:
    """The scale that the ratings of a part stand on: of one that its lines name, or [0, 1] where there are several."""
    if None in scales:
        return None
    return (0.0, 1.0) if pooled or len(scales) > 1 else scales.pop()


def _kind(name: str, scores: Scores) -> Kind:
    """What kind of scorer gave these scores; one that the catalogue does not know is a judge."""
    if name in (OF_SYSTEM, OF_SET):
        return "reads ratings"
    card = cards().get(str(scores.signature.fields.get("scorer")))
    return card.kind if card else "judge"
