"""`full_study`: a study of scorers against people with everything beside it that says how its figures may be read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from rejoinder.catalogue import columns_of
from rejoinder.errors import UsageError
from rejoinder.frames import results_frame
from rejoinder.humans.rated_set import RatedSet, RatedSets, rated_sets
from rejoinder.io.given import examples_of
from rejoinder.meta.agreement import Agreement
from rejoinder.meta.answer import Ranking, answer_of, beside, headline, headline_rows, speaker, tried_of
from rejoinder.meta.findings import Findings, findings_of
from rejoinder.meta.leave_one_out import SEEN, UNSEEN, LeftOut, left_out_of, left_out_scores
from rejoinder.meta.noted import noted
from rejoinder.meta.over_sets import Nearness, mean_chance, nearness_of
from rejoinder.meta.ranking import means_over_sets, ranking_of
from rejoinder.meta.same_lines import on_same_lines
from rejoinder.meta.scored_set import ScoredSet
from rejoinder.meta.study import Study, scores_of, study_of, usable_ratings
from rejoinder.meta.verdict import Verdict, verdicts_apart
from rejoinder.meta.yardsticks import kind_of, yardsticks
from rejoinder.records import OVERALL, Given
from rejoinder.scorer import Advance, ScorerLike, Scores, ignore
from rejoinder.stats.figure import plain
from rejoinder.stats.sampling import Sampling
from rejoinder.stats.written import interval


@dataclass(frozen=True, slots=True, kw_only=True)
class FullStudy:
    """A study with everything beside it that says how its figures may be read.

    Attributes:
        study: the agreement of the scorers that were asked for.
        baselines: that of the trivial baselines beside them, and of BLEU without stop words where BLEU is there.
        sets: what is said of each data set.
        pool: of all of them together; None where there is one.
        over_sets: mean over data sets of the Pearson correlation inside each, by scorer; none where there is one set.
        fitted: the judges that were fitted on lines of the data sets, and of which of them.
        withheld: those that are not here because nobody asked for them, likewise.
        chance: as in `Standing`, for the means in `over_sets`, by scorer.
        verdicts: whether each mean in `over_sets`, or the correlation where there is one set, is shown, by scorer.
        asked: the scorers that were asked for; the others came along.
        nearness: how near people and scorers come to people, over the data sets; none where there is one set.
        common: the data sets inside which every metric, judge and baseline has a correlation on the lines that all
            score.
        common_lines: how many lines these are.
        left_out: every data set left out once; None where that was not asked for.
        answer: what follows, in sentences, the main thing first.
    """

    study: Study
    baselines: Study | None
    sets: tuple[Findings, ...]
    fitted: Mapping[str, Sequence[str]]
    verdicts: Mapping[str, Verdict]
    asked: tuple[str, ...]
    pool: Findings | None = None
    over_sets: tuple[Agreement, ...] = ()
    chance: Mapping[str, float] = field(default_factory=dict)
    withheld: Mapping[str, Sequence[str]] = field(default_factory=dict)
    nearness: tuple[Nearness, ...] = ()
    common: tuple[str, ...] = ()
    common_lines: int = 0
    left_out: LeftOut | None = None
    answer: tuple[str, ...] = ()

    @property
    def agreements(self) -> tuple[Agreement, ...]:
        """Those of scorers and baselines."""
        return self.study.agreements + (self.baselines.agreements if self.baselines else ())

    @property
    def findings(self) -> tuple[Findings, ...]:
        """Those of the data sets, then of the pool where there is one."""
        return self.sets + ((self.pool,) if self.pool else ())

    @property
    def whole(self) -> Findings:
        """What is said of all lines: of the pool, or of the one data set."""
        return self.pool or self.sets[0]

    @property
    def titles(self) -> dict[str, str]:
        """What people call each data set."""
        return {one.card.dataset: one.card.title for one in self.findings}

    def sets_of(self, scorer: str) -> int:
        """The number of data sets inside which a scorer has a correlation."""
        own = (row.pooled for one in self.sets for row in one.standings if row.scorer == scorer)
        return sum(not math.isnan(row.value) for row in own)

    def to_pandas(self) -> Any:
        """The results as a `pandas.DataFrame`, a row each; the signatures stand in its `attrs`."""
        return results_frame(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """The study's own JSON values, with `answer`, `baselines`, `over_sets` and `findings` beside them."""
        beside = self.baselines.to_dict() if self.baselines else {"results": [], "signature": {}}
        own = self.study.to_dict()
        return {
            "version": own.pop("version"),
            "answer": list(self.answer),
            **own,
            "baselines": {key: beside[key] for key in ("results", "signature")},
            "over_sets": plain(self.over_sets),
            "findings": [one.to_dict() for one in self.findings],
            "fitted": {name: list(sets) for name, sets in self.fitted.items()},
            "chance": plain(self.chance),
            "verdicts": dict(self.verdicts),
            "nearness": plain(self.nearness),
            "common": list(self.common),
            "common_lines": self.common_lines,
            "left_out": plain(self.left_out),
        }


def full_study(
    examples: Given,
    scorers: Sequence[ScorerLike] | Mapping[str, Scores] | None = None,
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
    sampling = Sampling.checked(resamples, seed)
    examples = examples_of(examples, keep=columns_of(scorers))
    held_out: Mapping[str, Scores] = {}
    if leave_one_out:
        if dimension != OVERALL:
            raise UsageError(f"judges are fitted on overall ratings, so no set is left out for {dimension!r}")
        held_out = left_out_scores(examples, seed=seed, advance=advance)
    ratings = usable_ratings(examples, dimension, drop_copies=drop_copies)
    given, choice = scores_of(examples, scorers, vectors, advance)
    if held_out:
        given[UNSEEN] = held_out[UNSEEN]
    rated = rated_sets(examples, ratings, dimension)
    trivial = yardsticks(examples, given, rated)
    asked = study_of(examples, rated, given, sampling, drop_copies=drop_copies)
    baselines = study_of(examples, rated, trivial, sampling, drop_copies=drop_copies) if trivial else None
    scored = _scored_sets(rated, {**given, **trivial}, asked, baselines, sampling)
    sets = tuple(findings_of(one) for one in scored.sets)
    sets = tuple(replace(one, answer=answer_of(one, given)) for one in sets)
    ceilings = {one.card.dataset: one.people.ceiling.value for one in sets}
    found = FullStudy(
        study=asked,
        baselines=baselines,
        sets=sets,
        fitted=choice.fitted,
        withheld=choice.withheld,
        verdicts={one.scorer: one.verdict for one in sets[0].standings},
        asked=tuple(given),
        left_out=left_out_of(rated.filled, held_out, ceilings, sampling) if held_out else None,
    )
    if scored.pool:
        found = _with_pool(found, scored.pool, {**given, **trivial, **held_out})
    return replace(found, answer=_answer(found))


class _ScoredSets(NamedTuple):
    """The data sets with their scores, and the pool where there are several."""

    sets: tuple[ScoredSet, ...]
    pool: ScoredSet | None


def _scored_sets(
    rated: RatedSets, scores: Mapping[str, Scores], asked: Study, baselines: Study | None, sampling: Sampling
) -> _ScoredSets:
    """The scores beside the ratings, set by set."""
    kinds = {name: kind_of(name, found) for name, found in scores.items()}
    rows = asked.agreements + (baselines.agreements if baselines else ())

    def scored(one: RatedSet, members: tuple[ScoredSet, ...] = ()) -> ScoredSet:
        values = {name: found.values[one.places] for name, found in scores.items()}
        own = tuple(row for row in rows if row.dataset == one.name)
        return ScoredSet(one, values, kinds, own, tuple(asked.signatures), sampling, members)

    sets = tuple(map(scored, rated.filled))
    return _ScoredSets(sets, scored(rated.pool, sets) if rated.pool else None)


def _with_pool(found: FullStudy, pool: ScoredSet, scores: Mapping[str, Scores]) -> FullStudy:
    """The study with what is said over its data sets; `scores` are all there are, of all examples."""
    over_sets = pool.result(means_over_sets)
    chance = {row.scorer: mean_chance(found.sets, row.scorer) for row in over_sets}
    # A judge that was fitted on some of the sets is not as near to people as it looks.
    near = [row for row in over_sets if row.scorer not in found.fitted]
    alike = [row.scorer for row in near if row.scorer in pool.result(ranking_of)]
    seen = [SEEN] if alike and SEEN in scores and scores[SEEN].scored.any() else []
    common = on_same_lines(pool, {name: scores[name].values for name in (*alike, *seen)})
    return replace(
        found,
        pool=findings_of(pool),
        over_sets=over_sets,
        chance=chance,
        verdicts=verdicts_apart(over_sets, chance, found.asked),
        nearness=nearness_of(found.sets, near, found.left_out, common),
        common=common.sets,
        common_lines=common.n,
    )


def _answer(study: FullStudy) -> tuple[str, ...]:
    """The answer as sentences, over all data sets where there are several, else over the one; what was noted last."""
    return (*_found(study), *(f"{line}." for line in noted(study.study.notes, study.study.examples)))


def _found(study: FullStudy) -> tuple[str, ...]:
    """What was found."""
    if study.pool is None:
        head, *more = study.sets[0].answer
        return (head, *_fitted(study), *more)
    rows = headline_rows(study.over_sets, study.pool, study.asked)
    if not rows:
        return ("No scorer has a correlation with people on any of these data sets.", *_fitted(study))
    own, sets = study.sets_of(rows[0].scorer), len(study.sets)
    where = f", the mean over {sets} data sets" if own == sets else f", the mean over {own} of {sets} data sets"
    ranking = Ranking(rows, tried_of(study.verdicts, study.asked), study.pool, study.verdicts, study.chance, where)
    head, *more = headline(ranking)
    return (head, *_fitted(study), *more, *beside(ranking), *_over_sets(study), *speaker(study.over_sets))


def lead_of(study: FullStudy) -> Agreement | None:
    """The correlation that the headline names; None where there is none."""
    rows = study.over_sets or [one.pooled for one in study.whole.standings]
    return next(iter(headline_rows(rows, study.whole, study.asked)), None)


def _over_sets(study: FullStudy) -> list[str]:
    """Who is nearest on the lines that all scorers score, and what seeing a set is worth to a judge."""
    said = []
    rows = [one for one in study.nearness if one.scorer in study.asked]
    if len({one.sets for one in rows}) > 1 and len(study.common) > 1:
        lead = max(rows, key=lambda one: one.common.value)
        figure = interval(lead.common, 2)
        lines = f"On the {study.common_lines:,} lines of {len(study.common)} data sets that all scorers score"
        said.append(f"{lines}, {lead.scorer} is nearest: {figure}.")
    if study.left_out is None:
        return said
    mean = study.left_out.mean
    if mean.reason:
        return [*said, f"{UNSEEN} cannot be told from {SEEN}: {mean.reason}."]
    share, sets = mean.share.unseen.value, study.left_out.ceilings
    limit = f" ({100 * share:.0f} % of the ceiling, mean over the {sets} that have one)" if sets else ""
    return [
        *said,
        f"A judge reaches {interval(mean.pearson.unseen, 2)} on data sets that it never saw{limit}, and "
        f"{interval(mean.pearson.seen, 2)} where it was fitted on other conversations of the set: a gap of "
        f"{interval(mean.pearson.gap, 2)}.",
    ]


def _fitted(study: FullStudy) -> list[str]:
    """What must be known of judges that have seen lines like these."""
    return [
        f"{name} was fitted on lines of {', '.join(sets)}, these or others: on those it does better."
        for name, sets in study.fitted.items()
    ]
