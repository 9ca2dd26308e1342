"""The records of a full study: what each data set says of its people, its scorers and its systems."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from rejoinder.frames import results_frame
from rejoinder.meta.leave_one_out import LeftOut
from rejoinder.meta.results import Agreement, Figure, Study, plain
from rejoinder.meta.verdict import Verdict
from rejoinder.meta.verdicts import Conclusion, Duel
from rejoinder.scorer import FloatArray

Kind = Literal["metric", "judge", "baseline", "reads ratings"]


@dataclass(frozen=True, slots=True)
class DataCard:
    """What the rated lines of a data set are.

    Attributes:
        dataset: its name.
        title: what people call it; see `parts.title_of`.
        rated: lines with a rating that were used.
        contexts: contexts they come from.
        systems: systems named on them.
        with_references: lines with a reference.
        copies: responses that equal a reference word for word.
        scale: lowest and highest possible rating; None where the data does not say or lines differ.
        mean_rating: mean.
        deviation: standard deviation.
        words: mean number of words in a response.
    """

    dataset: str
    title: str
    rated: int
    contexts: int
    systems: int
    with_references: int
    copies: int
    scale: tuple[float, float] | None
    mean_rating: float
    deviation: float
    words: float


@dataclass(frozen=True, slots=True)
class People:
    """How far people agree with each other, and so how far any scorer can agree with their mean.

    Attributes:
        items: lines with a single rating.
        ratings: single ratings of them.
        single: reliability of one rating, ICC(1).
        mean: reliability of the mean rating.
        ceiling: square root of `mean`, the highest correlation with the mean rating to be expected of any scorer.
        low: lower end of the ceiling's 95 % interval.
        high: upper end.
        one_rater: Pearson correlation of one rater with the mean of the others.
        one_rater_spearman: the same, Spearman.
        halves: Pearson correlation between two random halves of the raters.
        halves_spearman: the same, Spearman.
        method: how the figures were worked out.
        seed: seed of the draws.
        reason: why figures are missing (NaN), else "".
    """

    items: int
    ratings: int
    single: float
    mean: float
    ceiling: float
    low: float
    high: float
    one_rater: float
    one_rater_spearman: float
    halves: float
    halves_spearman: float
    method: str
    seed: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """One scorer on one data set, looked at from several sides; all Pearson at turn level unless said.

    Attributes:
        scorer: its name.
        kind: of its card; "reads ratings" for the baselines that know people's ratings of other contexts.
        pooled: over all lines of the data set, whatever system they are of.
        spearman: the same, Spearman.
        within: mean of the correlations inside each system.
        without_copies: over the lines whose response equals no reference.
        share: `pooled` as a share of the ceiling; NaN where there is no ceiling.
        share_low: lower end of its interval, which takes the ceiling as known.
        share_high: upper end.
        accuracy: share of pairs of lines put in the order that people put them in, ties calibrated; NaN without.
        accuracy_reason: why `accuracy` is missing, else "".
        cluster: 1 for the best; a new one begins where all above are shown to be ahead of all below; 0 without a
            correlation.
        chance: 95 % of the scorers that have nothing to do with the ratings have a correlation between -`chance` and
            `chance` on these lines, whose contexts are taken as wholes; NaN without a correlation.
        verdict: whether the correlation is shown to be more than chance.
    """

    scorer: str
    kind: Kind
    pooled: Agreement
    spearman: Agreement
    within: Agreement
    without_copies: Agreement
    share: float
    share_low: float
    share_high: float
    accuracy: float
    accuracy_reason: str
    cluster: int = 0
    chance: float = math.nan
    verdict: Verdict = "no correlation"


@dataclass(frozen=True, slots=True)
class ScorerContrast:
    """Two scorers on the same lines of one data set.

    Attributes:
        first: the scorer with the higher correlation over its own lines.
        second: the other.
        n: lines that both score.
        contexts: contexts they come from.
        value: Pearson correlation of the first less that of the second, over lines that both score; pooled: the mean
            of these differences over data sets.
        low: lower end of its 95 % interval.
        high: upper end.
        p: two-sided, by paired permutation of whole contexts; never 0.
        p_adjusted: p by Holm for the number of pairs of scorers.
        p_williams: Williams' test, which takes lines as independent.
        needed: lines on which a difference like this one would be told with probability 0.8; None where no number can
            be forecast.
        method: how the figures were worked out.
        seed: seed of the resampling.
        reason: why figures are missing (NaN), else "".
    """

    first: str
    second: str
    n: int
    contexts: int
    value: float
    low: float
    high: float
    p: float
    p_adjusted: float
    p_williams: float
    needed: int | None
    method: str
    seed: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LengthEffect:
    """Mean scores of responses about as long as the nearest reference, and of the others.

    Attributes:
        scorer: its name; "people" for the ratings.
        n_close: lines whose response differs from a reference by six words at most.
        n_far: the others.
        mean_close: their mean score.
        mean_far: mean score of the others.
        value: `mean_close` less `mean_far`; NaN where a group is empty.
        low: lower end of its 95 % interval.
        high: upper end.
        p: Mann-Whitney, two-sided, takes lines as independent.
        method: how the figures were worked out.
        seed: seed of the resampling.
        reason: why figures are missing, else "".
    """

    scorer: str
    n_close: int
    n_far: int
    mean_close: float
    mean_far: float
    value: float
    low: float
    high: float
    p: float
    method: str
    seed: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """A line where a scorer and people disagree most.

    Attributes:
        scorer: its name.
        id: of the line.
        system: who responded.
        context: the turns.
        response: the response.
        references: human responses.
        rating: mean rating.
        score: the score.
        rating_rank: share of lines that people rated lower (ties count half), in [0, 1].
        score_rank: share of lines that the scorer scored lower.
    """

    scorer: str
    id: str
    system: str | None
    context: tuple[str, ...]
    response: str
    references: tuple[str, ...]
    rating: float
    score: float
    rating_rank: float
    score_rank: float


@dataclass(frozen=True, slots=True)
class SystemRow:
    """One system of a data set.

    Attributes:
        system: its name.
        n: rated lines.
        mean_rating: mean.
        low: lower end of its 95 % interval.
        high: upper end.
        cluster: 1 for the systems that none is shown to beat, 2 for the next, and so on.
        scores: mean score by scorer; NaN where nothing was scored.
    """

    system: str
    n: int
    mean_rating: float
    low: float
    high: float
    cluster: int
    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Systems:
    """The systems of a data set, best first, and how well scorers rank them.

    Attributes:
        rows: one a system; none where fewer than two are named.
        soft_accuracy: soft pairwise accuracy by scorer; NaN where there is none.
        agreements: Pearson over systems by scorer.
        reason: why there are no rows, else "".
    """

    rows: tuple[SystemRow, ...]
    soft_accuracy: Mapping[str, float]
    agreements: tuple[Agreement, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Findings:
    """All that a full study says of one data set.

    Attributes:
        card: what the lines are.
        people: how far people agree.
        standings: one a scorer, best first.
        contrasts: one a pair of scorers.
        lengths: people first, then one a scorer; none where no line has a reference.
        systems: the systems.
        cases: where scorers and people disagree most.
        duel: which of judge and metric is nearer to people; None where data sets are pooled.
        conclusions: what each scorer says of systems, people first; none where fewer than two are named.
        ratings: [N] ratings of the lines, for plots.
        scores: [N] scores by scorer, NaN where unscored, for plots.
        answer: what follows, in sentences; none where data sets are pooled.
    """

    card: DataCard
    people: People
    standings: tuple[Standing, ...]
    contrasts: tuple[ScorerContrast, ...]
    lengths: tuple[LengthEffect, ...]
    systems: Systems
    cases: tuple[Case, ...]
    duel: Duel | None
    conclusions: tuple[Conclusion, ...]
    ratings: FloatArray
    scores: Mapping[str, FloatArray]
    answer: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values, but for the single scores and ratings, which `rejoinder score` gives."""
        names = ("card", "people", "standings", "contrasts", "lengths", "systems", "cases", "duel", "conclusions")
        values: dict[str, Any] = {}
        for name in names:
            value = getattr(self, name)
            listed = [asdict(one) for one in value] if isinstance(value, tuple) else value and asdict(value)
            values[name] = plain(listed)
        return {"dataset": self.card.dataset, "answer": list(self.answer), **values}


@dataclass(frozen=True, slots=True)
class Nearness:
    """One scorer, or people, over S data sets.

    Attributes:
        scorer: its name; "ceiling" and "one rater" are people.
        kind: of its card; "people".
        sets: data sets inside which it has a correlation.
        n: lines in them that it scores.
        pearson: mean over these sets of the Pearson correlation inside each.
        common: mean of the same over the sets and lines in them that every metric, judge and baseline scores.
        spearman: mean of the Spearman correlations.
        share: mean of Pearson as a share of the ceiling, over the sets that have one.
        ceilings: how many of its sets have a ceiling.
    """

    scorer: str
    kind: str
    sets: int
    n: int
    pearson: Figure
    common: Figure
    spearman: Figure
    share: Figure
    ceilings: int


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
            "over_sets": [plain(asdict(one)) for one in self.over_sets],
            "findings": [one.to_dict() for one in self.findings],
            "fitted": {name: list(sets) for name, sets in self.fitted.items()},
            "chance": plain(self.chance),
            "verdicts": dict(self.verdicts),
            "nearness": [plain(asdict(one)) for one in self.nearness],
            "common": list(self.common),
            "common_lines": self.common_lines,
            "left_out": plain(asdict(self.left_out)) if self.left_out else None,
        }
