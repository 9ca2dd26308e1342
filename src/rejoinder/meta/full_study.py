"""`full_study`: a study of scorers against people with everything beside it that says how its figures may be read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypedDict

from rejoinder.catalogue import columns_of, fitted_on, listed
from rejoinder.errors import UsageError
from rejoinder.frames import results_frame
from rejoinder.io.given import examples_of
from rejoinder.meta.agreement import Agreement
from rejoinder.meta.answer import Ranking, answer_of, beside, headline, headline_rows, speaker, tried_of
from rejoinder.meta.conclusions import summed
from rejoinder.meta.findings import Findings, findings_of
from rejoinder.meta.leave_one_out import SEEN, UNSEEN, LeftOut, left_out_of, left_out_scores
from rejoinder.meta.noted import noted
from rejoinder.meta.over_sets import Nearness, mean_chance, means_over_sets, nearness_of
from rejoinder.meta.parts import POOLED, rated_parts
from rejoinder.meta.same_lines import on_same_lines
from rejoinder.meta.study import Study, scores_of, study, usable_ratings
from rejoinder.meta.verdict import Verdict, verdicts_apart
from rejoinder.meta.yardsticks import yardsticks
from rejoinder.records import OVERALL, Given
from rejoinder.scorer import Advance, ScorerLike, Scores, ignore
from rejoinder.stats.figure import plain
from rejoinder.stats.sampling import Sampling
from rejoinder.stats.written import interval


class _Options(TypedDict):
    """Those of `study` that all studies in one share."""

    dimension: str
    resamples: int
    seed: int
    drop_copies: bool


@dataclass(frozen=True, slots=True)
class FullStudy:
    """A study with everything beside it that says how its figures may be read.

    Attributes:
        study: the agreement of the scorers that were asked for.
        baselines: that of the trivial baselines beside them, and of BLEU without stop words where BLEU is there.
        findings: one a data set, those pooled last.
        over_sets: mean over data sets of the Pearson correlation inside each, by scorer; none where there is one set.
        fitted: the judges that were fitted on lines of the data sets, and of which of them.
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
    findings: tuple[Findings, ...]
    over_sets: tuple[Agreement, ...]
    fitted: Mapping[str, Sequence[str]]
    chance: Mapping[str, float]
    verdicts: Mapping[str, Verdict]
    asked: tuple[str, ...]
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
    def titles(self) -> dict[str, str]:
        """What people call each data set."""
        return {one.card.dataset: one.card.title for one in self.findings}

    def sets_of(self, scorer: str) -> int:
        """The number of data sets inside which a scorer has a correlation."""
        own = (row.pooled for one in self.findings[:-1] for row in one.standings if row.scorer == scorer)
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
    sampling = Sampling.checked(resamples, seed)
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
    parts = [part for part in rated_parts(examples, ratings, dimension) if len(part.places)]
    trivial = yardsticks(examples, given, parts)
    options = _Options(dimension=dimension, resamples=resamples, seed=seed, drop_copies=drop_copies)
    asked = study(examples, given, **options)
    baselines = study(examples, trivial, **options) if trivial else None
    rows = asked.agreements + (baselines.agreements if baselines else ())
    scores = {**given, **trivial}
    over_sets = means_over_sets(parts, scores, sampling)
    findings = [
        findings_of(
            part,
            parts,
            examples,
            scores,
            rows,
            over_sets if part.name == POOLED else _ranking(rows, part.name),
            dimension,
            sampling,
            tuple(given),
        )
        for part in parts
    ]
    findings = [one if one.card.dataset == POOLED else replace(one, answer=answer_of(one, given)) for one in findings]
    if over_sets:
        findings[-1] = replace(findings[-1], conclusions=summed([two for one in findings for two in one.conclusions]))
    left_out = None
    if held_out:
        ceilings = {one.card.dataset: one.people.ceiling for one in findings}
        left_out = left_out_of(parts, held_out, ceilings, sampling)
    single = findings[:-1] if over_sets else []
    own = {} if isinstance(scorers, Mapping) else fitted_on(listed(scorers), [one.dataset for one in examples])
    near = [row for row in over_sets if row.scorer not in own]
    common = on_same_lines(parts, examples, near, {**scores, **held_out}, dimension, sampling)
    chance = {row.scorer: mean_chance(single, row.scorer) for row in over_sets}
    verdicts = {one.scorer: one.verdict for one in findings[-1].standings}
    found = FullStudy(
        study=asked,
        baselines=baselines,
        findings=tuple(findings),
        over_sets=over_sets,
        fitted=own,
        chance=chance,
        verdicts=verdicts_apart(over_sets, chance, given) if over_sets else verdicts,
        asked=tuple(given),
        nearness=nearness_of(single, near, left_out, common),
        common=common.sets,
        common_lines=common.n,
        left_out=left_out,
    )
    return replace(found, answer=_answer(found))


def _ranking(rows: Sequence[Agreement], dataset: str) -> list[Agreement]:
    """What scorers are ranked by on a data set: Pearson over lines."""
    return [row for row in rows if (row.dataset, row.level, row.statistic) == (dataset, "turn", "pearson")]


def _answer(study: FullStudy) -> tuple[str, ...]:
    """The answer as sentences, over all data sets where there are several, else over the one; what was noted last."""
    return (*_found(study), *(f"{line}." for line in noted(study.study.notes, study.study.examples)))


def _found(study: FullStudy) -> tuple[str, ...]:
    """What was found."""
    last = study.findings[-1]
    if not study.over_sets:
        return (last.answer[0], *_fitted(study), *last.answer[1:])
    rows = headline_rows(study.over_sets, last, study.asked)
    if not rows:
        return ("No scorer has a correlation with people on any of these data sets.", *_fitted(study))
    own, sets = study.sets_of(rows[0].scorer), len(study.findings) - 1
    where = f", the mean over {sets} data sets" if own == sets else f", the mean over {own} of {sets} data sets"
    ranking = Ranking(rows, tried_of(study.verdicts, study.asked), last, study.verdicts, study.chance, where)
    head, *more = headline(ranking)
    return (head, *_fitted(study), *more, *beside(ranking), *_over_sets(study), *speaker(study.over_sets))


def lead_of(study: FullStudy) -> Agreement | None:
    """The correlation that the headline names; None where there is none."""
    last = study.findings[-1]
    rows = study.over_sets or [one.pooled for one in last.standings]
    return next(iter(headline_rows(rows, last, study.asked)), None)


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
