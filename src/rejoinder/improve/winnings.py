"""What choices come to over a stream; grows chunk by chunk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from rejoinder.errors import DataError
from rejoinder.improve.choosing import Choice
from rejoinder.improve.measuring import UNNAMED, Measured, Measuring, own_replies
from rejoinder.improve.result import Reranking, System
from rejoinder.improve.result_answer import answer
from rejoinder.scorer import Scorer, signature_of
from rejoinder.scoring.domain import NO_REPLIES, DomainShare, out_of_domain
from rejoinder.scoring.explained import facts_warning
from rejoinder.scoring.unscored import nothing_scored
from rejoinder.stats.figure import NOTHING, Figure
from rejoinder.stats.resamples import Sampling
from rejoinder.stats.shares import FEWEST, wilson

_METHOD = "share of the contexts with a chosen reply; Wilson's 95 % interval"


@dataclass
class Wins:
    """How often one system had a reply, won, and kept what it would have said by itself."""

    offered: int = 0
    won: int = 0
    kept: int = 0


@dataclass
class Winnings:
    """What choices come to.

    Attributes:
        chooser: what chose, and what it is called.
        measuring: what measures, and what it is called; None where nothing does.
        contexts: how many there were.
        several: those with two candidates or more.
        candidates: in all of them.
        answered: contexts with a chosen reply.
        reasons: why the others have none, counted.
        unscored: why candidates could not be chosen, counted.
        noted: what `chooser` cannot judge of chosen replies, counted.
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
        """Count choices; the measured score of each chosen reply, NaN where there is none."""
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
        """Raise where there was nothing to choose, or nothing could be.

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

    def result(self, sampling: Sampling) -> Reranking:
        """The record of all that was counted so far."""
        name, scorer = self.chooser
        signatures = {name: signature_of(scorer)}
        scorers, shares = {name: scorer}, {name: self.share}
        chosen: Figure = NOTHING
        measured: Mapping[str, Measured] = {}
        by, direction, shared, unmeasured = None, None, frozenset[str](), Counter[str]()
        if self.measuring is not None:
            by, measuring = self.measuring
            signatures[by] = signature_of(measuring.scorer)
            scorers[by], shares[by] = measuring.scorer, measuring.share
            chosen, measured = measuring.figures(sampling)
            direction, unmeasured = measuring.scorer.card.higher_is_better, measuring.reasons
            shared = _fitted_on(scorer) & _fitted_on(measuring.scorer)
        found = Reranking(
            answer=(),
            scorer=name,
            measured_by=by,
            higher_is_better=direction,
            contexts=self.contexts,
            several=self.several,
            candidates=self.candidates,
            answered=self.answered,
            unanswered=dict(self.reasons.most_common()),
            unscored=dict(self.unscored.most_common()),
            unmeasured=dict(unmeasured.most_common()),
            noted=dict(self.noted.most_common()),
            out_of_domain={
                one: reason for one, share in shares.items() if (reason := out_of_domain(one, scorers[one].card, share))
            },
            facts=facts_warning(scorers),
            systems=self._systems(measured),
            chosen=chosen,
            shared=tuple(sorted(shared)),
            references="reference" in scorer.card.needs,
            signatures=signatures,
            resamples=sampling.resamples,
            seed=sampling.seed,
        )
        return replace(found, answer=answer(found))

    def _systems(self, measured: Mapping[str, Measured]) -> tuple[System, ...]:
        """The systems, most wins first."""
        rows = []
        for name, own in sorted(self.wins.items(), key=lambda one: -one[1].won):
            mean, gain = measured.get(name, (NOTHING, NOTHING))
            share = _share(own.won, self.answered)
            rows.append(System(name=name, **vars(own), share=share, mean=mean, gain=gain))
        return tuple(rows)


def _fitted_on(scorer: Scorer) -> frozenset[str]:
    """The data sets that a judge was fitted on; of any other scorer, none."""
    return frozenset(getattr(scorer, "trained_on", ()))


def _share(won: int, of: int) -> Figure:
    """How often something happened, with contexts as trials."""
    if of < FEWEST:
        return Figure(value=won / of if of else float("nan"), n=of, reason="no interval: under three contexts")
    return replace(wilson(won / of, 0.0, of, of - 1), n=of, method=_METHOD)
