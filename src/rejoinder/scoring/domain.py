"""What happens to replies that a scorer cannot judge, which are out of its domain.

A scorer always returns its value, with the warning `OUT_OF_DOMAIN`. Outputs of single scores withhold such a value
unless the user asks for it. Analyses take all values, and have no verdict if more than a tenth of the replies are out
of the domain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, get_args

import numpy as np

from rejoinder.errors import require_one_of
from rejoinder.report.written import percent
from rejoinder.scorer import OUT_OF_DOMAIN, Card, FloatArray, Scorer, Scores

MOST_OUTSIDE = 0.1
"""The largest share of scored replies out of a scorer's domain with which its verdict counts."""
INSTEAD = "Use a language model as judge, human ratings, or a judge fitted on your own ratings (rejoinder fit)"
"""What to use instead of a judge that cannot judge the replies."""
OutOfDomain = Literal["withhold", "keep"]
"""What an output does with out-of-domain scores: leave them out, or write them with the warning."""


# single scores


def require_choice(out_of_domain: object) -> None:
    """Raise `UsageError` for anything but `withhold` and `keep`."""
    require_one_of("out_of_domain", out_of_domain, get_args(OutOfDomain))


def withhold(scores: Scores) -> Scores:
    """Return the scores without those of replies out of the scorer's domain; these are unscored for that reason.

    The warnings stay. What has no score for another reason keeps that reason.
    """
    outside = [row for row, warnings in scores.warnings.items() if OUT_OF_DOMAIN in warnings and scores.scored[row]]
    if not outside:
        return scores
    emptied: dict[str, FloatArray] = {}
    for name in ("values", "statistics", "low", "high"):
        if (array := getattr(scores, name)) is not None:
            emptied[name] = array.copy()
            emptied[name][outside] = 0.0 if name == "statistics" else np.nan
    return replace(
        scores,
        reasons=dict(sorted({**scores.reasons, **dict.fromkeys(outside, OUT_OF_DOMAIN)}.items())),
        details={row: details for row, details in scores.details.items() if row not in outside},
        **emptied,  # type: ignore[arg-type]
    )


def withheld_reason(card: Card, warnings: Sequence[str]) -> str:
    """Return why one score is withheld, and what to use instead: for people who look at this reply alone."""
    details = ", ".join(warning for warning in warnings if warning != OUT_OF_DOMAIN)
    judged = f"{card.name} judges {card.domain}" if card.domain else f"{card.name} cannot judge this reply"
    return f"{OUT_OF_DOMAIN}{f' ({details})' if details else ''}: {judged}. {INSTEAD}"


# all replies of a data set


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
        places: the lines that count; by default all.
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
    share = next((share for share in shares if share.too_large), None)
    if share is None:
        return ""
    part, are = percent(share.outside / share.scored), "is" if share.outside == 1 else "are"
    of = f"{share.outside:,} of {share.scored:,} replies{share.whose} ({part}) {are}"
    return f"{name} cannot judge these replies: {of} out of its domain{_domain(card)}"


def out_on_average(name: str, card: Card | None, shares: Sequence[DomainShare]) -> str:
    """Return why a scorer has no verdict on a mean over data sets of equal weight; "" if it has a verdict."""
    parts = [share.outside / share.scored for share in shares if share.scored]
    if not parts or (average := sum(parts) / len(parts)) <= MOST_OUTSIDE:
        return ""
    of = f"{percent(average)} of them, on average over {len(parts)} data sets,"
    return f"{name} cannot judge these replies: {of} are out of its domain{_domain(card)}"


def _domain(card: Card | None) -> str:
    """Return the domain of a scorer in brackets; "" if it declares none."""
    return f" ({card.domain})" if card and card.domain else ""


def advice(reason: str) -> str:
    """Return the sentences for people: why a scorer has no verdict, and what to use instead."""
    return f"{reason}. {INSTEAD}."


def without_domain(warnings: Mapping[str, Mapping[str, int]], outside: Iterable[str]) -> dict[str, Mapping[str, int]]:
    """Return the counted warnings without that of the domain, for the scorers `outside`, whose share is known."""
    names = set(outside)
    return {
        name: {text: count for text, count in counts.items() if name not in names or text != OUT_OF_DOMAIN}
        for name, counts in warnings.items()
    }
