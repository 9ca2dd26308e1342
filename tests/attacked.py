"""The results of an audit, attack by attack, for the pages of papers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rejoinder.auditing.layout import SHARE, word
from rejoinder.estimates import Estimate, pick
from rejoinder.report.results import Results


@dataclass(frozen=True, slots=True)
class Attacked:
    """One attack.

    Attributes:
        family: its name.
        facts: goal, description, replies skipped and failed, and so on.
        share: replies that fool the scorer.
        rows: the other estimates by statistic.
    """

    family: str
    facts: Mapping[str, Any]
    share: Estimate
    rows: dict[str, Estimate]

    @property
    def about(self) -> str:
        """What it does."""
        return str(self.facts["about"])

    @property
    def goal(self) -> str:
        """Its goal."""
        return str(self.facts["goal"])

    @property
    def n(self) -> int:
        """The number of usable replies."""
        return self.share.n

    @property
    def verdict(self) -> str:
        """The verdict in words."""
        return word(self.share)

    @property
    def better(self) -> float:
        """The share that scores better than the original."""
        return self.value("share scored better")

    def value(self, statistic: str) -> float:
        """Return the value of a statistic; NaN without one."""
        return self.rows.get(statistic, Estimate()).value


def by_attack(results: Results) -> dict[str, Attacked]:
    """Return the attacks of an audit by name."""
    facts: dict[str, Any] = {each["attack"]: each for each in results.about.data}
    rows = {name: {row.statistic: row for row in pick(results.estimates, by="attack", group=name)} for name in facts}
    return {name: Attacked(name, each, rows[name].pop(SHARE), rows[name]) for name, each in facts.items()}


def scorer_of(results: Results) -> str:
    """Return the name of the scorer that was attacked."""
    return next(iter(results.about.scorers))
