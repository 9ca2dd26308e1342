"""Whether a scorer can judge the replies of a data set: at most a tenth of them may be out of its domain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from rejoinder.report.written import percent
from rejoinder.scorer import OUT_OF_DOMAIN, Card, Scorer, Scores
from rejoinder.scoring.withholding import INSTEAD as INSTEAD

MOST_OUTSIDE = 0.1
"""The largest share of scored replies out of a scorer's domain with which its verdict counts."""


class DomainShare(NamedTuple):
    """How many replies a scorer cannot judge.

    Attributes:
        outside: scored replies out of its domain.
        scored: all replies that it scored.
        whose: what they are the replies of, in words behind the number (" of A"); may be empty.
    """

    outside: int
    scored: int
    whose: str = ""

    @property
    def too_large(self) -> bool:
        """Whether the scorer has no verdict on these replies."""
        return self.outside > MOST_OUTSIDE * self.scored

    def with_more(self, other: DomainShare) -> DomainShare:
        """Return the share of these replies and the other ones together."""
        return self._replace(outside=self.outside + other.outside, scored=self.scored + other.scored)


NO_REPLIES = DomainShare(0, 0)


def domain_share(
    scores: Scores, scorer: Scorer | None = None, places: Iterable[int] | None = None, whose: str = ""
) -> DomainShare:
    """Count the scored replies that are out of the scorer's domain.

    Args:
        scores: the scores. A score that was withheld as out of domain counts as a scored reply.
        scorer: what gave them; one that declares no domain is never out of it. None if it is unknown.
        places: the lines that count; None takes all.
        whose: see `DomainShare`.
    """
    rows, has_score = range(len(scores.values)) if places is None else places, scores.scored
    scored = [row for row in rows if has_score[row] or scores.reasons.get(row) == OUT_OF_DOMAIN]
    if scorer is not None and not scorer.card.domain:
        return DomainShare(0, len(scored), whose)
    return DomainShare(sum(OUT_OF_DOMAIN in scores.warnings.get(row, ()) for row in scored), len(scored), whose)


def out_of_domain(name: str, card: Card | None, *shares: DomainShare) -> str:
    """Return why a scorer has no verdict, with what to use instead; "" where it can judge these replies.

    Args:
        name: of the scorer.
        card: its card, or None if it is unknown.
        shares: of each data set, or each side; the first that is too large decides.
    """
    share = next((one for one in shares if one.too_large), None)
    if share is None:
        return ""
    of, domain = f"{share.scored:,} replies{share.whose}", _domain(card)
    part = percent(share.outside / share.scored)
    are = "is" if share.outside == 1 else "are"
    return f"{name} cannot judge these replies: {share.outside:,} of {of} ({part}) {are} out of its domain{domain}"


def out_on_average(name: str, card: Card | None, shares: Sequence[DomainShare]) -> str:
    """Return why a scorer has no verdict on a mean over data sets of equal weight; "" if it has a verdict."""
    parts = [one.outside / one.scored for one in shares if one.scored]
    if not parts or (average := sum(parts) / len(parts)) <= MOST_OUTSIDE:
        return ""
    said = f"{percent(average)} of them, on average over {len(parts)} data sets"
    return f"{name} cannot judge these replies: {said}, are out of its domain{_domain(card)}"


def _domain(card: Card | None) -> str:
    """Return the domain of a scorer in brackets; "" if it declares none."""
    return f" ({card.domain})" if card and card.domain else ""


def advice(reason: str) -> str:
    """Return the sentences for people: why a scorer has no verdict, and what to use instead."""
    return f"{reason}. {INSTEAD}."


def without_domain(notes: Mapping[str, Mapping[str, int]], outside: Iterable[str]) -> dict[str, Mapping[str, int]]:
    """Return the counted notes without that of the domain, for scorers whose share is given already."""
    names = set(outside)
    return {
        name: {note: count for note, count in counts.items() if name not in names or note != OUT_OF_DOMAIN}
        for name, counts in notes.items()
    }
