"""The record of a study with everything beside it that says how its figures may be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rejoinder.meta.agreement import Agreement, Study
from rejoinder.meta.findings import Findings
from rejoinder.meta.frames import results_frame
from rejoinder.meta.leave_one_out import LeftOut
from rejoinder.meta.over_sets import Nearness
from rejoinder.meta.verdict import Verdict
from rejoinder.stats.figure import plain


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
        facts: the warning that facts were not checked, or "".
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
    facts: str = ""
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

    def figures(self) -> Iterator[Any]:
        """Yield the records that hold figures, what is asked of all scorers first."""
        yield self.agreements
        yield self.over_sets
        yield self.left_out
        yield self.nearness
        yield self.findings

    def sets_of(self, scorer: str) -> int:
        """The number of data sets inside which a scorer has a correlation."""
        own = (row.pooled for one in self.sets for row in one.standings if row.scorer == scorer)
        return sum(row.known for row in own)

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
            "withheld": {name: list(sets) for name, sets in self.withheld.items()},
            "chance": plain(self.chance),
            "verdicts": dict(self.verdicts),
            "nearness": plain(self.nearness),
            "common": list(self.common),
            "common_lines": self.common_lines,
            "left_out": plain(self.left_out),
        }
