"""Counts of choices over a stream; they grow chunk by chunk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from rejoinder.errors import DataError
from rejoinder.improve.choosing import Choice
from rejoinder.improve.measuring import UNNAMED, Measuring, own_replies
from rejoinder.scorer import Scorer
from rejoinder.scoring.domain import NO_REPLIES, DomainShare
from rejoinder.scoring.unscored import nothing_scored


@dataclass
class Wins:
    """How often one system had a reply, was chosen (`won`), and was chosen with its first reply (`kept`)."""

    offered: int = 0
    won: int = 0
    kept: int = 0


@dataclass
class Winnings:
    """Counts of choices.

    Attributes:
        chooser: the scorer that chooses, with its name.
        measuring: the scorer that measures, with its name; None without one.
        contexts: how many there were.
        several: those with two candidates or more.
        candidates: in all of them.
        answered: contexts with a chosen reply.
        reasons: why the others have none, counted.
        unscored: why candidates could not be chosen, counted.
        noted: warnings of `chooser` about chosen replies, counted.
        share: how many of the candidates are out of its domain.
        wins: by the name of the system.
    """

    chooser: tuple[str, Scorer]
    measuring: tuple[str, Measuring] | None = None
    contexts: int = 0
    several: int = 0
    candidates: int = 0
    answered: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    unscored: Counter[str] = field(default_factory=Counter)
    noted: Counter[str] = field(default_factory=Counter)
    share: DomainShare = NO_REPLIES
    wins: dict[str, Wins] = field(default_factory=dict)

    def add(self, choices: Sequence[Choice]) -> list[float]:
        """Count choices, and return the measured score of each chosen reply, NaN without one."""
        for choice in choices:
            self._count(choice)
        return [float("nan")] * len(choices) if self.measuring is None else self.measuring[1].add(choices)

    def _count(self, choice: Choice) -> None:
        """Count one choice."""
        self.contexts += 1
        self.candidates += len(choice.pool.candidates)
        self.several += len(choice.pool.candidates) > 1
        self.unscored.update(choice.reasons.values())
        self.noted.update(choice.notes)
        self.share = self.share.with_more(choice.share)
        self.reasons.update([choice.reason] if choice.place is None else [])
        self.answered += choice.place is not None
        for name, first in own_replies(choice.pool).items():
            own = self.wins.setdefault(name, Wins())
            own.offered += 1
            own.kept += first is choice.reply
        if choice.reply is not None:
            self.wins[choice.reply.system or UNNAMED].won += 1

    def require_choice(self, *, bar: bool) -> None:
        """Check that there was something to choose, and that it could be chosen.

        Args:
            bar: whether replies have to reach a score, so that one candidate is a choice too.

        Raises:
            DataError: there is not a single context, or no context has two candidates.
            NothingScored: no candidate of any context has a score.
        """
        if not self.contexts:
            raise DataError("no line is left to choose in", "Correct those that were skipped")
        if sum(self.unscored.values()) == self.candidates:
            why = ", ".join(reason for reason, _ in (self.unscored or self.reasons).most_common(2))
            raise nothing_scored(f"none of {self.candidates:,} candidates can be chosen by {self.chooser[0]}: {why}")
        if not self.several and not bar:
            found = f"no context has two candidates ({self.candidates:,} in {self.contexts:,} contexts)"
            raise DataError(found, "List them under candidates, give a line a system, or name responders (-r)")

    @property
    def sorted_wins(self) -> dict[str, Wins]:
        """The wins by system, most wins first."""
        return dict(sorted(self.wins.items(), key=lambda item: -item[1].won))
