"""The share of replies out of a scorer's domain, from which on it has no verdict."""

from __future__ import annotations

import numpy as np
import pytest

from judges_of_domain import DOMAIN, NarrowJudge, replies
from rejoinder.scorer import OUT_OF_DOMAIN, Scores, Signature, run
from rejoinder.scoring.domain import domain_share, out_of_domain

LOW = [1 + place % 4 for place in range(40)]


@pytest.mark.parametrize(("outside", "beyond"), [(0, False), (4, False), (5, True), (40, True)])
def test_a_tenth_of_the_scored_replies_may_be_out_of_domain(outside: int, beyond: bool) -> None:
    judge = NarrowJudge()
    lines = [*replies(LOW, outside), *replies(["none at all, says support"] * 40)]  # these have no score
    share = domain_share(run(judge, lines), judge)
    assert (share.outside, share.scored, share.too_large) == (outside, 40, beyond)
    reason = out_of_domain("narrow", judge.card, share)
    assert bool(reason) == beyond
    assert not beyond or (f"{outside} of 40 replies" in reason and DOMAIN in reason)


def test_a_scorer_without_a_domain_is_never_out_of_it() -> None:
    judge = NarrowJudge(domain="")
    assert not domain_share(run(judge, replies(LOW, 40)), judge).too_large


def test_scores_that_were_withheld_count_and_some_lines_may_be_chosen() -> None:
    values = np.array([1.0, 2.0, np.nan, np.nan])
    reasons = {2: OUT_OF_DOMAIN, 3: "the response is empty"}
    scores = Scores(values, reasons, Signature({}), warnings=dict.fromkeys((0, 2, 3), (OUT_OF_DOMAIN,)))
    assert domain_share(scores)[:2] == (2, 3)
    assert domain_share(scores, places=[1, 2])[:2] == (1, 2)
