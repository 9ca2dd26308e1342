"""Withholding scores that a scorer cannot stand for: a step of every output, and of no analysis.

A scorer always returns its value, with the note `OUT_OF_DOMAIN` on a reply that it cannot judge. Outputs of single
scores leave such a value out unless the user asks for it. Analyses call scorers directly and judge by the share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from rejoinder.errors import require_one_of
from rejoinder.scorer import OUT_OF_DOMAIN, Card, FloatArray, Scores

OutOfDomain = Literal["withhold", "keep"]
"""What an output does with out-of-domain scores: leave them out, or write them with the warning."""

INSTEAD = "Use a language model as judge, human ratings, or a judge fitted on your own ratings (rejoinder fit)"
"""What to use in place of a judge that cannot judge the replies."""


def require_choice(out_of_domain: object) -> None:
    """Raise `UsageError` for anything but `withhold` and `keep`."""
    require_one_of("out_of_domain", out_of_domain, get_args(OutOfDomain))


def withhold(scores: Scores) -> Scores:
    """Return the scores without those of replies out of the scorer's domain; these are unscored for that reason.

    The notes stay. What has no score for another reason keeps that reason.
    """
    outside = [row for row, notes in scores.warnings.items() if OUT_OF_DOMAIN in notes and scores.scored[row]]
    if not outside:
        return scores
    return replace(
        scores,
        values=_without(scores.values, outside, np.nan),
        reasons=dict(sorted({**scores.reasons, **dict.fromkeys(outside, OUT_OF_DOMAIN)}.items())),
        statistics=None if scores.statistics is None else _without(scores.statistics, outside, 0.0),
        low=None if scores.low is None else _without(scores.low, outside, np.nan),
        high=None if scores.high is None else _without(scores.high, outside, np.nan),
        details={row: details for row, details in scores.details.items() if row not in outside},
    )


def withheld_reason(card: Card, notes: Sequence[str]) -> str:
    """Return why one score is withheld, and what to use instead: for people who look at this reply alone."""
    details = [note for note in notes if note != OUT_OF_DOMAIN]
    why = f" ({', '.join(details)})" if details else ""
    judged = f"{card.name} judges {card.domain}" if card.domain else f"{card.name} cannot judge this reply"
    return f"{OUT_OF_DOMAIN}{why}: {judged}. {INSTEAD}"


def _without(values: FloatArray, rows: Sequence[int], empty: float) -> FloatArray:
    """Return a copy with `empty` in these rows."""
    kept = values.copy()
    kept[rows] = empty
    return kept
