"""What every analysis of one data set is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from rejoinder.humans.ceiling import People, people_of
from rejoinder.data.rated import RatedSet
from rejoinder.meta.agreement import Agreement
from rejoinder.meta.yardsticks import Kind
from rejoinder.scorer import FloatArray
from rejoinder.stats.resamples import Sampling

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class ScoredSet:
    """A rated set and what scorers say of its N lines.

    Attributes:
        rated: the lines.
        scores: [N] by scorer, NaN where unscored: those asked for, then the yardsticks.
        kinds: what each of them is.
        agreements: of each with the ratings.
        asked: the scorers that were asked for; the others came along.
        sampling: resamples and seed.
        members: of a pool, the data sets in it.
        outside: by scorer that cannot judge the lines, why: more than a tenth are out of its domain.
    """

    rated: RatedSet
    scores: Mapping[str, FloatArray]
    kinds: Mapping[str, Kind]
    agreements: tuple[Agreement, ...]
    asked: tuple[str, ...]
    sampling: Sampling
    members: tuple[ScoredSet, ...] = ()
    outside: Mapping[str, str] = field(default_factory=dict)
    _known: dict[Callable[..., Any], Any] = field(default_factory=dict, init=False, repr=False)

    def result(self, analysis: Callable[[ScoredSet], T]) -> T:
        """What an analysis says of this set.

        It is worked out once, however many ask: so an analysis that rests on another asks for it by its function, and
        the order in which analyses run is nobody's concern.
        """
        if analysis not in self._known:
            self._known[analysis] = analysis(self)
        found: T = self._known[analysis]
        return found

    @property
    def blind(self) -> dict[str, FloatArray]:
        """The scores of those that read no ratings and can judge the lines; only these are compared and recommended."""
        return {
            name: values
            for name, values in self.scores.items()
            if self.kinds[name] != "reads ratings" and name not in self.outside
        }


def people_of_set(scored: ScoredSet) -> People:
    """How far the people who rated the set agree with each other."""
    return people_of(scored.rated, scored.sampling.seed)
