"""Verdicts that a judge cannot give: replies out of its domain, and facts that it does not check."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest

from judges_of_domain import DOMAIN, NarrowJudge, replies
from rejoinder.example import Choice, Example, Pair
from rejoinder.integrations.pytest_plugin import assert_reply_quality
from rejoinder.meta import full_study, study_pairs
from rejoinder.scoring.domain import domain_share, out_of_domain
from rejoinder.meta.preference_results import PairStudy, Preference
from rejoinder.meta.quality import quality
from rejoinder.meta.quality_answer import answer
from rejoinder.documents.html import html
from rejoinder.documents.preferences import preferences
from rejoinder.documents.study import study as study_document
from rejoinder.documents.terminal import terminal
from rejoinder.scorer import FACTS_NOT_CHECKED, OUT_OF_DOMAIN, Scores, Signature, run

LOW, HIGH = [1 + place % 4 for place in range(40)], [5 + place % 4 for place in range(40)]


# the share


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


# quality


def test_quality_has_no_verdict_on_replies_out_of_domain() -> None:
    for outside in (5, 40):
        found = quality(replies(HIGH, outside), 1, NarrowJudge())
        assert found.low > 1 and found.verdict == "out of domain"
        first, second, *_ = answer(found).splitlines()
        assert f"{outside} of 40 replies" in first and FACTS_NOT_CHECKED in second
    assert quality(replies(HIGH, 40), 9, NarrowJudge()).verdict == "out of domain"
    judged = quality(replies(HIGH, 4), 1, NarrowJudge())
    assert judged.verdict == "passes" and FACTS_NOT_CHECKED in answer(judged).splitlines()[1]
    assert quality(replies(HIGH, 40), 1, NarrowJudge(domain="", unread=())).verdict == "passes"


@pytest.mark.parametrize("unsure", ["fail", "warn"])
def test_pytest_fails_on_replies_out_of_domain(unsure: Literal["fail", "warn"]) -> None:
    with pytest.raises(AssertionError, match="cannot judge these replies"):
        assert_reply_quality(replies(HIGH, 40), at_least=1, scorer=NarrowJudge(), unsure=unsure)


# study of ratings


def rated(outside: int, dataset: str = "") -> list[Example]:
    """80 rated replies with numbers near the ratings, of two systems."""
    rng = np.random.default_rng(0)
    ratings = rng.uniform(1, 5, 80)
    values = np.clip(ratings + rng.normal(0, 0.3, 80), 0, 10)
    return [
        replace(
            one,
            id=f"{dataset}{place}",
            context=(f"{dataset} {place}",),
            dataset=dataset,
            system="xy"[place % 2],
            quality={"overall": float(ratings[place])},
            scales={"overall": (1.0, 5.0)},
        )
        for place, one in enumerate(replies([f"{value:.4f}" for value in values], outside))
    ]


def test_a_study_has_no_verdict_on_replies_out_of_domain() -> None:
    found = full_study(rated(9), [NarrowJudge()], resamples=200)
    assert found.verdicts["narrow"] == "out of domain"
    assert "9 of 80 replies" in found.answer[0] and "rejoinder fit" in found.answer[0]
    assert found.answer[1] == FACTS_NOT_CHECKED
    said = " ".join(found.answer)
    assert "agrees with people" not in said and "would show it" not in said
    document = study_document(found)
    shown = terminal(document, 200)
    assert "out of domain" in shown and "  yes" not in shown
    assert not any("narrow" in figure.what for figure in document.keys)
    assert not any(">narrow<" in drawing for drawing in _drawings(html(document)))
    (row,) = [one for one in found.sets[0].standings if one.scorer == "narrow"]
    assert row.pooled.value > 0.9 and row.cluster == 0
    assert "narrow" not in {name for one in found.sets[0].contrasts for name in (one.first, one.second)}


def _drawings(page: str) -> list[str]:
    return re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)


def test_a_study_judges_where_at_most_a_tenth_is_out_of_domain() -> None:
    found = full_study(rated(8), [NarrowJudge()], resamples=200)
    assert found.verdicts["narrow"] == "agrees"
    assert found.answer[0].startswith("narrow agrees with people") and found.answer[1] == FACTS_NOT_CHECKED


def test_a_study_names_the_scorer_that_can_judge_and_says_that_the_other_cannot() -> None:
    wide = NarrowJudge("wide", domain="", unread=())
    found = full_study(rated(80), [NarrowJudge(), wide], resamples=200)
    assert found.verdicts == {**found.verdicts, "narrow": "out of domain", "wide": "agrees"}
    assert found.answer[0].startswith("wide agrees with people") and found.answer[1] == f"narrow: {FACTS_NOT_CHECKED}"
    assert "80 of 80 replies" in found.answer[2]
    assert sum("out of its domain" in sentence for sentence in found.answer) == 1
    with_baseline = full_study(rated(80), [NarrowJudge(), "length"], resamples=200)
    assert "80 of 80 replies" in with_baseline.answer[0]


def test_a_study_of_several_sets_judges_each_by_its_own_share() -> None:
    few = full_study([*rated(0, "a"), *rated(0, "b"), *rated(12, "c")], [NarrowJudge()], resamples=200)
    assert [one.standings[0].verdict for one in few.sets] == ["agrees", "agrees", "out of domain"]
    assert few.verdicts["narrow"] == "agrees" and any("includes c," in sentence for sentence in few.answer)
    many = full_study([*rated(0, "a"), *rated(80, "b")], [NarrowJudge()], resamples=200)
    assert many.verdicts["narrow"] == "out of domain" and "80 of 160 replies" in many.answer[0]
    assert not any(one.scorer == "narrow" for one in many.nearness)


def test_a_mean_over_sets_counts_the_share_of_each_set_alike() -> None:
    small = rated(80, "a")[:7]  # 7 of 87 lines, and half of the mean
    found = full_study([*small, *rated(0, "b")], [NarrowJudge()], resamples=200)
    assert found.verdicts["narrow"] == "out of domain" and "50 % of them" in found.answer[0]
    assert not any("narrow agrees" in sentence or "includes a" in sentence for sentence in found.answer)
    assert not any("narrow" in figure.what for figure in study_document(found).keys)


def test_a_study_of_given_scores_goes_by_their_notes() -> None:
    lines = rated(40)
    scores = run(NarrowJudge(), lines)
    values = np.where([row in scores.warnings for row in range(80)], np.nan, scores.values)
    withheld = replace(scores, values=values, reasons=dict.fromkeys(scores.warnings, OUT_OF_DOMAIN))
    for given in (scores, withheld):
        assert full_study(lines, {"narrow": given}, resamples=50).verdicts["narrow"] == "out of domain"


# study of preference pairs


def pairs(outside: int, dataset: str | None = None) -> list[Pair]:
    """60 pairs; in five of six the reply with the higher number is preferred. `outside` first replies are odd."""
    rng = np.random.default_rng(1)
    lines = []
    for place in range(60):
        preferred = int(rng.integers(2))
        higher = preferred if place % 6 else 1 - preferred
        texts = [f"{5 if side == higher else 2} {'word ' * int(rng.integers(1, 9))}" for side in (0, 1)]
        texts[0] += "support" * (place < outside)
        first, second = (
            Example((f"{dataset} {place}",), text, id=f"{dataset}{place}/{side}", dataset=dataset)
            for side, text in enumerate(texts)
        )
        choice: Choice = 1 if preferred else 0
        lines.append(Pair((first, second), choice, votes=(0, 1, 1), id=f"{dataset}{place}"))
    return lines


def accuracy(study: PairStudy, scorer: str, dataset: str = "all") -> Preference:
    (row,) = (one for one in study.rows(dataset) if one.scorer == scorer)
    return row


def test_a_study_of_pairs_counts_both_replies() -> None:
    found = study_pairs(pairs(13), [NarrowJudge()], resamples=200)
    row = accuracy(found, "narrow")
    assert (row.verdict, round(row.value, 2)) == ("out of domain", 0.83) and math.isnan(row.p_adjusted)
    assert "13 of 120 replies" in found.answer[0] and found.answer[1] == FACTS_NOT_CHECKED
    assert not any("narrow agrees" in sentence or "narrow takes" in sentence for sentence in found.answer)
    document = preferences(found)
    shown = terminal(document, 200)
    assert re.search(r"narrow +60 +0\.833 .* out of domain", shown)
    assert not any("narrow" in figure.what for figure in document.keys)
    assert not any(">narrow<" in drawing for drawing in _drawings(html(document)))
    few = study_pairs(pairs(12), [NarrowJudge()], resamples=200)
    assert accuracy(few, "narrow").verdict == "above"
    assert few.answer[0].startswith("narrow agrees with people's choices") and few.answer[1] == FACTS_NOT_CHECKED


def test_a_study_of_pairs_says_baseline_and_other_measure_in_place_of_a_verdict() -> None:
    for scorers in list[list[Any]]([[NarrowJudge()], [NarrowJudge(), "length"], ["length"]]):
        shown = terminal(preferences(study_pairs(pairs(0), scorers, resamples=100)), 200)
        assert re.search(r"length +60 .* baseline\n", shown)
        assert re.search(r"one person +60 .* \(other measure\)\n", shown)


def test_a_study_of_pairs_names_the_scorer_that_can_judge() -> None:
    wide = NarrowJudge("wide", domain="", unread=())
    found = study_pairs(pairs(60), [NarrowJudge(), wide], resamples=200)
    assert found.answer[0].startswith("wide agrees with people's choices")
    assert found.answer[1] == f"narrow: {FACTS_NOT_CHECKED}" and "60 of 120 replies" in found.answer[2]
    assert accuracy(found, "wide").p_adjusted == accuracy(found, "wide").p, "no scorer but this one was tried"
    with_baseline = study_pairs(pairs(60), [NarrowJudge(), "length"], resamples=200)
    assert "60 of 120 replies" in with_baseline.answer[0]


def test_a_study_of_pairs_judges_each_data_set_by_its_own_share() -> None:
    found = study_pairs([*pairs(0, "a"), *pairs(60, "b")], [NarrowJudge()], resamples=200)
    assert accuracy(found, "narrow", "a").verdict == "above"
    assert accuracy(found, "narrow", "b").verdict == "out of domain"
    assert list(found.to_dict()["out_of_domain"]) == ["b"]
    assert sum(FACTS_NOT_CHECKED in sentence for sentence in found.answer) == 1
