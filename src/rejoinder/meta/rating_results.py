"""The records of `ratings`: what people's ratings are worth, data set by data set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from rejoinder.example import Example
from rejoinder.humans.aggregation import Aggregation
from rejoinder.humans.agreement import RaterAgreement
from rejoinder.humans.exclusion import ByChance, Excluded
from rejoinder.data.rated import PEOPLE
from rejoinder.meta.frames import FORMAT_VERSION, results_frame
from rejoinder.meta.replacement import Alternative
from rejoinder.scorer import Signature
from rejoinder.stats.figure import Figure, plain, rows_of


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedSystem(Figure):
    """The mean rating of a system, over n lines, after aggregation.

    Attributes:
        system: its name.
        spread: standard deviation of its ratings.
        shares: share of each value among the single ratings of its lines, in the order of `SetRatings.values`.
    """

    system: str
    spread: float
    shares: tuple[float, ...]

    level: ClassVar = "system"

    @property
    def statistic(self) -> str:
        """What is measured."""
        return f"mean rating of {self.system}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How long a rater took.

    Attributes:
        rater: the name.
        n: replies of which it is known.
        median: seconds.
        quickest: seconds that a tenth of the replies took at most.
    """

    rater: str
    n: int
    median: float
    quickest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """A line on which raters are far apart.

    Attributes:
        id: of the line.
        system: who responded.
        context: the turns.
        response: the response.
        given: what each rater gave, lowest first.
        rating: what was made of it.
    """

    id: str
    system: str | None
    context: tuple[str, ...]
    response: str
    given: tuple[tuple[str, float], ...]
    rating: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SetRatings:
    """What the ratings of a data set are worth.

    Attributes:
        dataset: its name.
        title: what people call it.
        agreement: of all raters.
        kept: of those that count; None where nobody is excluded.
        excluded: whose ratings stand aside, and why.
        chance: what the rule by kappa does by chance alone; None where it was not asked for.
        values: those that ratings take, where they are few.
        rated: lines that have a rating after aggregation.
        unsure: lines left without one because the model was not sure enough.
        competence: by rater, from a model of raters; empty where there is none.
        systems: best first; none where fewer than two are named.
        pace: of each rater; none where no times are known.
        disagreements: the lines on which those who count are furthest apart.
        alternatives: whether each scorer that was asked for may stand in for a rater; last the mean rating of other
            contexts, which knows nothing of a reply.
    """

    dataset: str
    title: str
    agreement: RaterAgreement
    kept: RaterAgreement | None = None
    excluded: tuple[Excluded, ...] = ()
    chance: ByChance | None = None
    values: tuple[float, ...] = ()
    rated: int = 0
    unsure: int = 0
    competence: Mapping[str, float] = field(default_factory=dict)
    systems: tuple[RatedSystem, ...] = ()
    pace: tuple[Pace, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    alternatives: tuple[Alternative, ...] = ()

    scorer: ClassVar = PEOPLE

    @property
    def counting(self) -> RaterAgreement:
        """The agreement of those who count."""
        return self.kept or self.agreement

    def figures(self) -> Iterator[Any]:
        """Yield the records that hold figures; of all raters where some are excluded, under names that say so."""
        yield replace(self.counting, by_rater=(), by_pair=())
        yield self.systems
        yield self.alternatives


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingStudy:
    """What people's ratings are worth.

    Attributes:
        sets: one a data set.
        dimension: which ratings.
        aggregation: how several ratings become one.
        resamples: behind each interval.
        seed: of all that is drawn.
        checks: lines that are attention checks, which are in no figure.
        unrated: lines without a single rating, which are in no figure.
        answer: what follows, in sentences, the main thing first.
        fitted: the judges that were fitted on lines of the data sets, and of which of them.
        signatures: where the scores came from, by scorer.
        names: what was made of names of raters that are all but the same.
        lines: all lines but the checks: those with single ratings carry what was made of them, and those who do not
            count stand aside.
    """

    sets: tuple[SetRatings, ...]
    dimension: str
    aggregation: Aggregation
    resamples: int
    seed: int
    checks: int
    unrated: int
    answer: tuple[str, ...]
    fitted: Mapping[str, Sequence[str]] = field(default_factory=dict)
    signatures: Mapping[str, Signature] = field(default_factory=dict)
    names: Sequence[str] = ()
    lines: Sequence[Example] = field(repr=False, default=())

    def to_dict(self) -> dict[str, Any]:
        """Plain values: `results`, one a figure, and the sets with all that is known of them."""
        about = {"dimension": self.dimension, "aggregation": self.aggregation, "resamples": self.resamples}
        return {
            "version": FORMAT_VERSION,
            "answer": list(self.answer),
            **about,
            "seed": self.seed,
            "checks": self.checks,
            "unrated": self.unrated,
            "names": list(self.names),
            "results": list(rows_of(self.sets, seed=self.seed)),
            "sets": [plain(one) for one in self.sets],
            "fitted": plain(self.fitted),
            "signature": {name: plain(signature.fields) for name, signature in self.signatures.items()},
        }

    def to_pandas(self) -> Any:
        """A data frame with one row a figure.

        Raises:
            MissingExtra: pandas is not installed.
        """
        return results_frame(self.to_dict())
