"""Verdicts that a judge cannot give: replies out of its domain, and facts that it does not check."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from conftest import Run
from judges_of_domain import DOMAIN, NarrowJudge, replies
from rejoinder.example import Choice, Example, Pair
from rejoinder.integrations.pytest_plugin import assert_reply_quality
from rejoinder.meta import compare, study_pairs
from rejoinder.scoring.domain import domain_share, out_of_domain
from rejoinder.meta.preference_results import PairStudy, Preference
from rejoinder.meta.quality import quality
from rejoinder.meta.quality_answer import answer
from rejoinder.documents.compare import comparison
from rejoinder.documents.html import html
from rejoinder.documents.preferences import preferences
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


# compare


@pytest.mark.parametrize("side", ["A", "B"])
def test_compare_names_no_winner_on_replies_out_of_domain(side: str) -> None:
    a, b = replies(LOW, 5 * (side == "A")), replies(HIGH, 5 * (side == "B"))
    found = compare(a, b, [NarrowJudge()])
    (one,) = found.contrasts
    assert (one.verdict, one.needed) == ("out of domain", None) and one.p < 0.01
    assert f"5 of 40 replies of {side} " in found.answer[0] and "rejoinder fit" in found.answer[0]
    assert found.answer[1] == FACTS_NOT_CHECKED
    assert found.to_dict()["results"][0]["verdict"] == "out of domain"
    gate = found.gate(-100)
    assert not gate.passed and len(gate.reasons) == 1 and "5 of 40" in gate.reasons[0]
    document = comparison(found, ("a", "b"))
    assert document.picture is None and not document.keys
    for text in (terminal(document, 200), " ".join(found.answer)):
        assert "is better" not in text and "would tell" not in text and f"{one.value:.3f}" not in text
    assert "out of domain" in terminal(document, 200)
    assert "<svg" not in html(document).partition("<h2")[0]


def test_compare_judges_where_at_most_a_tenth_is_out_of_domain() -> None:
    found = compare(replies(LOW, 4), replies(HIGH, 4), [NarrowJudge()])
    assert found.contrasts[0].verdict == "B is better" and found.gate(0).passed
    assert found.answer[0].startswith("B is better than A") and found.answer[1] == FACTS_NOT_CHECKED
    assert '4 of 40 replies of A are noted as "out of domain" (narrow).' in found.answer


def test_compare_keeps_the_verdicts_of_the_scorers_that_can_judge() -> None:
    wide = NarrowJudge("wide", domain="", unread=())
    found = compare(replies(LOW, 40), replies(HIGH, 40), [NarrowJudge(), wide])
    assert [one.verdict for one in found.contrasts] == ["out of domain", "B is better"]
    assert "narrow there is no verdict" in found.answer[0] and "y wide B is better" in found.answer[0]
    assert sum(FACTS_NOT_CHECKED in sentence for sentence in found.answer) == 1
    assert len(found.gate(-1).reasons) == 1
    assert found.answer[1] == f"narrow: {FACTS_NOT_CHECKED}"
    assert FACTS_NOT_CHECKED not in " ".join(compare(replies(LOW), replies(HIGH), [wide]).answer)


def test_compare_of_values_of_a_field_has_no_verdict_out_of_domain() -> None:
    a, b = (
        [
            Example(one.context, one.response, id=one.id, extra={"topic": "xy"[place % 2]})
            for place, one in enumerate(side)
        ]
        for side in (replies(LOW, 40), replies(HIGH, 40))
    )
    found = compare(a, b, [NarrowJudge()], by="topic")
    assert {one.verdict for one in found.contrasts[0].strata} == {"out of domain"}
    assert not any("By topic" in sentence for sentence in found.answer)
    assert "<svg" not in html(comparison(found, ("a", "b")))


def test_compare_has_no_verdict_for_a_value_of_a_field_that_is_out_of_domain() -> None:
    a, b = (
        [replace(one, extra={"topic": "odd" if place < 4 else "chat"}) for place, one in enumerate(side)]
        for side in (replies(LOW, 4), replies(HIGH, 4))
    )
    found = compare(a, b, [NarrowJudge()], by="topic")
    (judged,) = found.contrasts
    verdicts = {stratum.name: (stratum.verdict, stratum.needed) for stratum in judged.strata}
    assert judged.verdict == "B is better" and verdicts["odd"] == ("out of domain", None)
    assert verdicts["chat"][0] == "B is better" and any("no verdict for odd" in said for said in found.answer)
    assert ">odd<" not in "".join(_drawings(html(comparison(found, ("a", "b")))))


QUESTIONS = [
    "Can I get my money back for the blue jacket?",
    "How long do I have to return the headphones?",
    "Do you ship to Norway?",
    "My parcel is late. What can I do?",
    "Can I change the address of my order?",
    "Is the warranty two years?",
    "Can I pay by invoice?",
    "Do I have to pay for the return?",
]
TRUE = [
    "I do not know, ask my boss.",
    "You only have 14 days.",
    "No, we do not do that.",
    "I do not know. Wait three more days.",
    "It is too late for that now.",
    "It is one year only.",
    "No, you need a card for that.",
    "Yes, you have to pay 5 euros.",
]
FALSE = [
    "Yes, of course! You can get your money back for the jacket at any time.",
    "You can return the headphones whenever you want, even after a year.",
    "Yes, we ship to Norway for free, and it takes one day.",
    "I am so sorry to hear that, we will pay you 100 dollars for it today.",
    "Yes, you can change the address, even when the parcel is at your door.",
    "Yes, and after two years you get a new one for free.",
    "Yes, you can pay by invoice and take a year for it.",
    "No, the return is free, and you get 20 dollars for your time.",
]


def support(folder: Path, name: str, texts: list[str]) -> Path:
    """24 replies of a support bot: each to three customers."""
    lines = [
        {"context": [f"Hi, I am customer {number}. {question}"], "response": text}
        for number in range(3)
        for question, text in zip(QUESTIONS, texts, strict=True)
    ]
    path = folder / f"{name}.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def test_false_policies_never_pass_without_the_warning_about_facts(run: Run, tmp_path: Path) -> None:
    ran = run("compare", support(tmp_path, "a", TRUE), support(tmp_path, "b", FALSE), "--threshold", "0", "--json")
    found = json.loads(ran.out)
    if found["results"][0]["verdict"] == "out of domain":
        assert ran.code == 6 and not found["gate"]["passed"]
    assert FACTS_NOT_CHECKED in found["answer"][:2]
    assert FACTS_NOT_CHECKED in run("compare", tmp_path / "a.jsonl", tmp_path / "b.jsonl").words


def assistant(place: int, *, better: bool) -> str:
    """A long answer in markdown, as language models write them."""
    steps = "\n".join(
        f"{step}. **Step {step}:** open the settings of your account, choose the entry for device {place}, and confirm "
        "the change with the code that was sent to your phone."
        for step in range(1, 7)
    )
    return f"## How to change device {place}\n\nHere is an overview:\n\n{steps}\n\n" + (
        "- Let me know if you have any further questions!" if better else "- Go away."
    )


def test_compare_of_long_markdown_answers_ends_the_gate_with_exit_6(run: Run, tmp_path: Path) -> None:
    for name, better in (("a", False), ("b", True)):
        lines = [
            {"context": [f"How do I change device {place}?"], "response": assistant(place, better=better)}
            for place in range(24)
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    files = (tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    ran = run("compare", *files, "--threshold", "-100", "--json")
    found = json.loads(ran.out)
    assert ran.code == 6 and found["gate"]["passed"] is False
    assert found["results"][0]["verdict"] == "out of domain"
    assert "rejoinder cannot judge these replies" in found["answer"][0]
    assert found["answer"][1] == FACTS_NOT_CHECKED
    plain = run("compare", *files, "-o", tmp_path / "page.html")
    assert plain.code == 0 and "is better" not in plain.words
    assert "<svg" not in (tmp_path / "page.html").read_text(encoding="utf-8")


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


def _drawings(page: str) -> list[str]:
    return re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)


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
