"""`compare`: values against scipy, verdicts, the gate, empty replies, columns, domains, files and exit codes."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import rejoinder
from conftest import Run, refused
from judges_of_domain import NarrowJudge, replies
from rejoinder.analysis.compare import compare
from rejoinder.errors import DataError, NothingScored, UsageError
from rejoinder.estimates import Estimate
from rejoinder.example import Example
from rejoinder.report.html import html
from rejoinder.report.results import Results
from rejoinder.report.terminal import terminal
from rejoinder.scorer import FACTS_NOT_CHECKED, Card, Scores
from samples import write_weeks


@dataclass(frozen=True)
class Worth:
    """Scores a reply with the number that it is; an empty one and a question mark are unscored."""

    name: str = "worth"
    higher: bool | None = True
    range: tuple[float | None, float | None] = (None, None)
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def card(self) -> Card:
        return Card(self.name, "worth", "metric", frozenset(), self.range, "none", higher_is_better=self.higher)

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        known = [not (one.unanswered or one.response == "?") for one in examples]
        return Scores.from_values(
            [float(one.response) if is_number else "no number" for one, is_number in zip(examples, known, strict=True)]
        )


def side(values: Sequence[float | str], **keys: Any) -> list[Example]:
    """One reply to each context."""
    return [Example((f"turn {n}",), str(value), where=f"a.jsonl:{n + 1}", **keys) for n, value in enumerate(values)]


def drawn(n: int, shift: float) -> tuple[list[Example], list[Example]]:
    rng = np.random.default_rng(3)
    first = rng.normal(size=n)
    return side(first.tolist()), side((first + shift + rng.normal(size=n)).tolist())


def logs(n: int, shift: float, seed: int, *, easy: float = 0.5, worse: str = "") -> list[Example]:
    """Conversations with users of their own, about an easy or a hard matter."""
    rng, lines = np.random.default_rng(seed), list[Example]()
    for talk in range(n):
        matter = "easy" if rng.random() < easy else "hard"
        mood = rng.normal() + (2 if matter == "easy" else 0) - (2 if matter == worse else 0)
        turns = ["hi" if rng.random() < 0.5 else f"my question {seed}-{talk}"]
        for _ in range(int(rng.integers(1, 5))):
            extra = {"dialogue_id": f"{seed}-{talk}", "ask": {"matter": matter}}
            score = str(round(mood + rng.normal() + shift, 4))
            lines.append(Example(tuple(turns), score, id=str(len(lines) + 1), extra=extra))
            turns += [f"answer {seed}-{talk}", f"more {len(turns)}"]
    return lines


def gap(results: Results, group: str = "", **labels: str) -> Estimate:
    return results.one(statistic="difference", group=group, **labels)


def numbers(lines: Sequence[Example]) -> list[float]:
    return [float(line.response) for line in lines]


# pairs


def test_the_better_one_is_named_whichever_comes_first() -> None:
    a, b = drawn(60, 1.0)
    ahead, behind = compare(a, b, [Worth()]), compare(b, a, [Worth()])
    assert ahead.answer[0].startswith("B is better than A by worth: +") and "paired by context" in ahead.answer[0]
    assert behind.answer[0].startswith("A is better than B by worth: -")
    one = gap(ahead)
    means = [ahead.one(statistic="mean score", system=system).value for system in "AB"]
    assert (one.verdict, one.needed, one.n, one.contexts) == ("above", None, 60, 60)
    assert one.value == pytest.approx(means[1] - means[0]) and one.value == -gap(behind).value
    assert compare(a, b, [Worth(higher=False)]).answer[0].startswith("A is better than B")
    assert compare(a, b, [Worth(higher=None)]).answer[0].startswith("B is higher than A")


def test_interval_and_p_agree_with_scipy() -> None:
    a, b = drawn(80, 0.25)
    one = gap(compare(a, b, [Worth()], resamples=4000))
    expected = stats.ttest_1samp(np.subtract(numbers(b), numbers(a)), 0)
    assert one.p == pytest.approx(expected.pvalue, abs=0.02)
    assert one.ends == pytest.approx(tuple(expected.confidence_interval()), abs=0.04)


def test_small_differences_are_no_rounding() -> None:
    a, b = drawn(40, 0.5)
    first, second = ([replace(one, response=repr(1e-9 * float(one.response))) for one in lines] for lines in (a, b))
    assert gap(compare(first, second, [Worth()])).p == gap(compare(a, b, [Worth()])).p


def test_an_inconclusive_difference_says_what_these_pairs_would_show() -> None:
    a, b = drawn(60, 0.1)
    results = compare(a, b, [Worth()])
    differences = np.subtract(numbers(b), numbers(a))
    assert gap(results).verdict == "inconclusive"
    assert gap(results).needed is None, "no forecast where the interval holds 0"
    quantiles = stats.t(59).ppf(0.975) + stats.t(59).ppf(0.8)
    least = quantiles * differences.std(ddof=1) / math.sqrt(60)
    assert results.one(statistic="detectable difference").value == pytest.approx(least)
    assert any("More pairs may or may not confirm" in line for line in results.answer)


def test_many_scorers_are_not_many_chances() -> None:
    a, b = drawn(30, 0.6)
    alone = gap(compare(a, b, [Worth()]))
    many = compare(a, b, [Worth(f"worth-{n}") for n in range(10)]).pick(statistic="difference")
    assert alone.verdict == "above" and {one.p for one in many} == {alone.p}
    assert {one.verdict for one in many} == {"inconclusive"} and {one.needed for one in many} == {None}
    assert many[0].p_adjusted == pytest.approx(10 * alone.p)


def test_rates_of_wins_losses_and_ties() -> None:
    results = compare(side([1, 2, 3, 4]), side([2, 2, 1, 9]), [Worth()])
    shares = [results.one(statistic=f"share of {name}").value for name in ("wins", "ties", "losses")]
    assert results.one(statistic="win rate").value == 0.625 and shares == [0.5, 0.25, 0.25]
    assert any("(50 % wins, 25 % ties, 25 % losses)" in line for line in results.answer)


def test_mean_and_win_rate_that_point_apart_are_reported() -> None:
    a = side([5.0] * 40)
    results = compare(a, side([5.5] * 32 + [1.0] * 8), [Worth()])
    assert gap(results).value < 0 and results.one(statistic="win rate").value == 0.8
    assert any("A is ahead by the mean, B wins more often" in line for line in results.answer)
    assert not any("point apart" in line for line in compare(a, side([5.5] * 40), [Worth()]).answer)


def test_replies_to_one_context_belong_together() -> None:
    a, b = drawn(20, 0.5)
    once = gap(compare(a, b, [Worth()]))
    doubled, too = ([replace(one, id=f"{c}-{n}") for n, one in enumerate(lines) for c in "xy"] for lines in (a, b))
    twice = gap(compare(doubled, too, [Worth()]))
    assert (twice.n, twice.contexts) == (40, 20)
    assert (twice.value, twice.p, *twice.ends) == pytest.approx((once.value, once.p, *once.ends))
    by_context = compare(doubled, a, [Worth()], pair_by="context")
    assert gap(by_context).n == 20 and gap(by_context).value == pytest.approx(0), "several lines count as their mean"


def test_whole_conversations_are_scored_as_such() -> None:
    def talks(*turns: str) -> list[Example]:
        extra = {"level": "dialogue"}
        return [Example((f"hi {n}", turns[0], "so"), turns[1], id=str(n), extra=extra) for n in range(12)]

    results = compare(talks("9", "5"), talks("1", "6"), [Worth()])
    assert results.one(statistic="mean score", system="A").value == 6
    assert results.one(statistic="mean score", system="B").value == 2.25
    silent = compare(talks("9", "5"), talks("9", ""), [Worth(range=(0, 10))])
    assert silent.about.counts["empty"] == [0, 0], "a last turn without a reply is no empty reply"


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ([1, 2, 3, 4], [1, 2, 3, 4], ""),
        ([1, 2], [3, 5], "2 contexts; 4 or more are needed"),
        ([1], [3], "1 context"),
    ],
)
def test_degenerate_pairs_have_an_outcome(a: list[float], b: list[float], reason: str) -> None:
    results = compare(side(a), side(b), [Worth()])
    assert gap(results).verdict == "inconclusive" and gap(results).reason.startswith(reason)
    assert math.isnan(gap(results).low) is bool(reason) and reason in " ".join(results.answer)
    json.dumps(results.to_dict(), allow_nan=False)


def test_unscored_pairs_are_left_out_and_counted() -> None:
    results = compare(side([1, "?", 3, 4, 5]), side([2, 3, 4, 4, "?"]), [Worth()])
    assert (gap(results).n, gap(results).unscored) == (3, 2)
    assert "2 of 5 pairs could not be compared by worth." in results.answer
    with pytest.raises(NothingScored, match="^worth: none of 2 pairs has two scores; most often: no number$"):
        compare(side(["?", "?"]), side([1, 2]), [Worth()])


def test_references_count_only_if_both_systems_have_them() -> None:
    with_them = [one for one in rejoinder.read("@dstc7") if one.references][:60]
    assert gap(compare(with_them, with_them, ["bleu-2"])).n == len(with_them)
    talk = [replace(one, references=("a film with friends",)) for one in rejoinder.read("@conture")][:60]
    bare = [replace(one, references=()) for one in talk]
    assert gap(compare(talk, bare, ["rejoinder"])).value == 0
    with pytest.raises(NothingScored):
        compare(with_them, [replace(one, references=()) for one in with_them], ["bleu-2"])


# independent samples


def test_conversations_with_different_users_are_independent_samples() -> None:
    a, b = logs(120, 0.0, 1), logs(110, 0.9, 2)
    results, turned = compare(a, b, [Worth()]), compare(b, a, [Worth()])
    one, wins = gap(results), results.one(statistic="win rate")
    assert (one.contexts, one.verdict, results.about.options["pair_by"]) == (230, "above", "none")
    assert one.value == pytest.approx(np.mean(numbers(b)) - np.mean(numbers(a))) and one.low > 0
    expected = stats.mannwhitneyu(numbers(b), numbers(a)).statistic / (len(a) * len(b))
    assert wins.value == pytest.approx(expected) and wins.low < wins.value < wins.high
    assert turned.one(statistic="win rate").value == pytest.approx(1 - wins.value)
    assert results.answer[0].endswith(", independent samples.")
    first, second = ([replace(line, extra={}) for line in lines] for lines in (a, b))
    assert gap(compare(first, second, [Worth()], pair_by="none")).contexts > 230, (
        "the words alone do not name the conversations"
    )


def test_like_is_compared_with_like() -> None:
    """B answers more of the easy matters, and each kind a little worse."""
    a, b = logs(250, 0.0, 1, easy=0.2), logs(250, -0.5, 2, easy=0.8)
    assert gap(compare(a, b, [Worth()])).verdict == "above"
    results = compare(a, b, [Worth()], by="ask.matter")
    groups = results.pick(statistic="difference", by="ask.matter")
    assert gap(results).verdict == "below" and [one.group for one in groups] == ["easy", "hard"]
    assert gap(results).n == sum(one.n for one in groups) == len(a) + len(b)
    assert gap(results).value == pytest.approx(sum(one.n * one.value for one in groups) / gap(results).n)


def test_a_column_shows_where_it_got_worse() -> None:
    results = compare(logs(200, 0.0, 1), logs(200, 0.0, 2, worse="hard"), [Worth()], by="ask.matter")
    hard = gap(results, "hard")
    assert (hard.verdict, hard.needed) == ("below", None)
    said = f"By ask.matter: B is worse for hard ({hard.value:+.2f}); no significant difference for the other 1."
    assert said in results.answer
    shown = str(results).partition("By ask.matter\n")[2]
    assert shown.index("hard") < shown.index("easy")
    twins = compare(logs(200, 0.0, 1), logs(200, 0.0, 2), [Worth(), Worth("twin")], by="ask.matter")
    family = twins.pick(statistic="difference", by="ask.matter")
    assert min(one.p_adjusted for one in family) == pytest.approx(min(1, 4 * min(one.p for one in family)))


def test_rare_values_of_a_column_are_left_out_and_named() -> None:
    a, b = logs(60, 0.0, 1), logs(60, 0.0, 2)
    odd = [replace(one, extra={**one.extra, "ask": {"matter": "rare"}}) if n < 3 else one for n, one in enumerate(a)]
    results = compare(odd, b, [Worth()], by="ask.matter")
    assert results.about.scorers["worth"]["values_left_out"] == ["rare"] and gap(results).unscored == 3
    assert " by worth for 2 of 3 values of ask.matter: " in results.answer[0]
    assert any("under five conversations on a side is left out (rare)" in line for line in results.answer)
    every = [replace(one, extra={**one.extra, "n": n}) for n, one in enumerate(a)]
    with pytest.raises(NothingScored, match="no value of the column has five conversations on both sides"):
        compare(every, b, [Worth()], by="n")
    with pytest.raises(DataError, match=r'^no line has "intent"\. Name one of ask, dialogue_id$'):
        compare(a, b, [Worth()], by="intent")


def test_pairs_have_values_of_a_column_too() -> None:
    a = [replace(one, extra={"kind": n % 3}) for n, one in enumerate(side(range(30)))]
    b = [replace(one, response=str(float(one.response) - (2 if one.extra["kind"] == 0 else 0))) for one in a]
    results = compare(a, b, [Worth()], by="kind")
    assert [(one.group, one.n) for one in results.pick(statistic="difference", by="kind")] == [
        ("0", 10),
        ("1", 10),
        ("2", 10),
    ]


def test_users_with_several_conversations_are_pointed_out() -> None:
    def of_users(lines: list[Example], users: int) -> list[Example]:
        named = [{**one.extra, "user_id": f"u{int(one.extra['dialogue_id'].split('-')[1]) % users}"} for one in lines]
        return [replace(one, extra=extra) for one, extra in zip(lines, named, strict=True)]

    a, b = logs(60, 0.0, 1), logs(60, 0.0, 2)
    (warning,) = compare(of_users(a, 20), of_users(b, 20), [Worth()]).warnings
    assert warning.startswith("120 conversations are of 40 users by user_id")
    for users in (1, 60):
        assert not compare(of_users(a, users), of_users(b, users), [Worth()]).warnings


@given(st.integers(1, 4), st.integers(1, 4))
def test_no_sizes_break_it(first: int, second: int) -> None:
    a, b = ([Example((f"{name}{n}",), str(n)) for n in range(count)] for name, count in (("a", first), ("b", second)))
    results = compare(a, b, [Worth()], resamples=100)
    assert math.isnan(gap(results).low) is (min(first, second) < 4)
    json.dumps(results.to_dict(), allow_nan=False)
    terminal(results, 60)


# empty replies


def test_empty_replies_are_the_worst() -> None:
    a, _ = drawn(60, 0.0)
    for nothing in ("", " \n\t", "\u200b\u2060"):
        b = [replace(one, response=nothing) if n >= 6 else one for n, one in enumerate(a)]
        results = compare(a, b, [Worth()], fail_under=0)
        assert (gap(results).n, gap(results).verdict) == (60, "below") and results.gate and not results.gate.passed
        assert results.about.scorers["worth"]["worst"] == min(numbers(a))
        assert any(line.startswith("Empty replies: 0 of 60 of A and 54 of 60 of B; each") for line in results.answer)
    gate = compare(b, a, [Worth()], fail_under=0).gate
    assert gate and gate.passed


def test_an_empty_reply_loses_even_if_scores_tie() -> None:
    results = compare(side([1, 1, 1, 1]), side([1, "", "", ""]), [Worth()])
    assert gap(results).value == 0 and results.one(statistic="win rate").value == 0.125


@pytest.mark.parametrize(
    ("scorer", "worst"),
    [
        (Worth(), 1),
        (Worth(higher=False), 5),
        (Worth(range=(0, None)), 0),
        (Worth(range=(3, 9)), 1),
        (Worth(higher=False, range=(0, 9)), 9),
        (Worth(higher=None), None),
    ],
)
def test_what_the_worst_is(scorer: Worth, worst: float | None) -> None:
    assert compare(side([1, 2, 3, 4]), side([2, "", 4, 5]), [scorer]).about.scorers["worth"]["worst"] == worst


def test_empty_replies_lose_to_all_others_without_pairs() -> None:
    a, b = logs(60, 0.0, 1), logs(60, 0.0, 2)
    silent = [replace(one, response="") if n % 10 else one for n, one in enumerate(b)]
    results = compare(a, silent, [Worth()])
    spoken = [float(line.response) for line in silent if line.response]
    beaten = np.mean([own < other for other in spoken for own in numbers(a)])
    assert results.one(statistic="win rate").value == pytest.approx(beaten * len(spoken) / len(b))
    assert results.cases[0].replies[0] == ("B", "(empty)")
    assert results.cases[0].values["times"] == results.about.counts["empty"][1]


def spotty(n: int, seed: int, *, scored: float, empty: float = 0.0) -> list[dict[str, Any]]:
    """Lines of which a share is empty, and a share of the others has a score in a column."""
    rng, lines = np.random.default_rng(seed), []
    for place in range(n):
        line: dict[str, Any] = {"context": [f"{seed} asks {place}"], "response": "" if rng.random() < empty else "yes"}
        if line["response"] and rng.random() < scored:
            line["mine"] = 3 + int(rng.integers(0, 3))
        lines.append({**line, "topic": "ab"[place % 2]})
    return lines


@pytest.mark.parametrize("by", [None, "topic"])
def test_empty_replies_weigh_no_more_than_others_of_which_few_have_a_score(by: str | None) -> None:
    a, b = spotty(1000, 1, scored=0.1), spotty(1000, 2, scored=0.1, empty=0.2)
    results = compare(a, b, ["column:mine"], by=by)
    scores = [line["mine"] for line in b if "mine" in line]
    all_empty, spared = results.about.counts["empty"][1], results.about.scorers["column:mine"]["empty_left_out"]
    assert all_empty - spared == pytest.approx(all_empty * len(scores) / (1000 - all_empty), abs=1)
    assert results.one(statistic="mean score", system="B", group="").n == len(scores) + all_empty - spared


def test_empty_replies_of_pairs_weigh_no_more_than_others() -> None:
    a = [{**line, "mine": 4} if n % 10 == 0 else line for n, line in enumerate(spotty(600, 1, scored=0))]
    b = [{**line, "response": "" if n % 3 else "no"} for n, line in enumerate(a)]
    b = [{key: value for key, value in line.items() if key != "mine" or line["response"]} for line in b]
    assert gap(compare(a, b, ["column:mine"])).n == 20 + 40, "each of these contexts has a score of A"
    mute = [{key: value for key, value in line.items() if key != "mine"} | {"response": ""} for line in b[:300]]
    both = compare([*mute, *a[300:]], [*mute, *b[300:]], ["column:mine"])
    assert (gap(both).n, both.about.scorers["column:mine"]["empty_left_out"]) == (10 + 20 + 30, 270)


CHAT = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "5"}]


def test_chats_without_an_answer_to_the_last_question_lose_and_other_last_words_are_counted() -> None:
    question, thanks = ({"role": "user", "content": text} for text in ("Where is it?", "Thanks!"))
    answer = {"role": "assistant", "content": "2"}
    a = [[{"role": "user", "content": f"Hi {n}"}, CHAT[1], question, answer] for n in range(40)]
    b = [[{"role": "user", "content": f"Ho {n}"}, CHAT[1], question] for n in range(40)]
    results = compare(a, b, [Worth(range=(0, None))])
    assert (gap(results).verdict, results.about.counts["empty"]) == ("below", [0, 40])
    ended = compare(a, [[*chat, thanks] for chat in a], [Worth()])
    assert ended.warnings == ('40 of 40 replies of B have the warning "the user spoke last" (worth).',)


def test_scores_of_whole_chats_in_the_file_stay(run: Run, tmp_path: Path) -> None:
    question = {"role": "user", "content": "Where is it?"}
    for name, last in (("a", CHAT[1]), ("b", question)):
        chats = [[{"role": "user", "content": f"Hi {name} {n}"}, CHAT[1], question, last] for n in range(30)]
        lines = [{"messages": chat, "csat": 1 + n % 5} for n, chat in enumerate(chats)]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = json.loads(run("compare", tmp_path / "a.jsonl", tmp_path / "b.jsonl", "-s", "column:csat", "--json").out)
    assert [row["value"] for row in found["results"] if row["statistic"] == "mean score"] == [3, 3]
    assert found["scorers"]["column:csat"]["worst"] is None and found["counts"]["empty"] == [0, 30]


# what got worse


def test_pairs_that_lost_most_come_first_and_equal_replies_once() -> None:
    a, b = side([5, 5, 5, 5, 5]), side([4, 6, 1, 5, 1])

    def scores(scorer: Worth) -> list[tuple[float, float, int]]:
        cases = (case.values for case in compare(a, b, [scorer]).cases)
        return [(case["score_a"], case["score_b"], case["times"]) for case in cases]

    assert scores(Worth()) == [(5, 1, 2), (5, 4, 1)] and scores(Worth(higher=False)) == [(5, 6, 1)]
    assert not scores(Worth(higher=None)), "no direction, no worse reply"
    lowest = compare(logs(40, 0.0, 1), logs(40, 0.0, 2), [Worth()]).cases
    assert [case.values["score_b"] for case in lowest] == sorted(case.values["score_b"] for case in lowest)


# domain


@pytest.mark.parametrize("name", ["A", "B"])
def test_no_winner_on_replies_out_of_domain(name: str) -> None:
    low, high = [1 + n % 4 for n in range(40)], [5 + n % 4 for n in range(40)]
    a, b = replies(low, 5 * (name == "A")), replies(high, 5 * (name == "B"))
    results = compare(a, b, [NarrowJudge()], fail_under=-100)
    assert gap(results).p < 0.01 and {one.verdict for one in results.estimates} == {"out of domain"}
    assert f"5 of 40 replies of {name} " in results.answer[0] and "rejoinder fit" in " ".join(results.answer)
    assert results.warnings[0] == FACTS_NOT_CHECKED
    assert results.gate and not results.gate.passed and "5 of 40" in results.gate.text
    assert results.layout.chart is None and not results.layout.keys and not results.cases
    for text in (terminal(results, 200), " ".join(results.answer)):
        assert "is better" not in text and f"{gap(results).value:.2f}" not in text


def test_a_tenth_may_be_out_of_domain_and_other_scorers_keep_their_verdicts() -> None:
    low, high = [1 + n % 4 for n in range(40)], [5 + n % 4 for n in range(40)]
    few = compare(replies(low, 4), replies(high, 4), [NarrowJudge()])
    assert gap(few).verdict == "above"
    assert '4 of 40 replies of A have the warning "out of domain" (narrow).' in few.warnings
    wide = NarrowJudge("wide", domain="", unread=())
    both = compare(replies(low, 40), replies(high, 40), [NarrowJudge(), wide])
    assert [one.verdict for one in both.pick(statistic="difference")] == ["out of domain", "above"]
    assert "B is better by wide; out of domain for narrow" in both.answer[0]
    assert gap(both, scorer="wide").p_adjusted == gap(both, scorer="wide").p, "the other is not in the family"
    assert both.warnings[0] == f"narrow: {FACTS_NOT_CHECKED}"


def test_values_of_a_column_have_their_own_domain() -> None:
    low, high = [1 + n % 4 for n in range(40)], [5 + n % 4 for n in range(40)]
    a, b = (
        [replace(one, extra={"topic": "odd" if n < 4 else "chat"}) for n, one in enumerate(lines)]
        for lines in (replies(low, 4), replies(high, 4))
    )
    results = compare(a, b, [NarrowJudge()], by="topic")
    assert (gap(results).verdict, gap(results, "chat").verdict) == ("above", "above")
    assert (gap(results, "odd").verdict, gap(results, "odd").needed) == ("out of domain", None)
    assert any("no verdict for odd" in line for line in results.answer)


# gate


def test_a_gate_asks_for_a_difference_by_the_unfavourable_end() -> None:
    a, b = drawn(60, 0.5)
    low, high = gap(compare(a, b, [Worth()])).ends

    def passes(fail_under: float, scorer: Worth, **keys: Any) -> bool:
        gate = compare(a, b, [scorer], fail_under=fail_under, **keys).gate
        assert gate is not None and gate.text.startswith(f"gate {fail_under:+g}: ")
        return gate.passed

    assert passes(low, Worth()) and not passes(low + 1e-9, Worth())
    assert passes(-high, Worth(higher=False)) and not passes(-high + 1e-9, Worth(higher=False))
    few = compare(side([1, 2]), side([5, 6]), [Worth()], fail_under=-100).gate
    assert few and not few.passed and "worth has no interval" in few.text
    with pytest.raises(UsageError, match=r"^worth claims no direction, so it has no gate. Name other scorers$"):
        compare(a, b, [Worth(higher=None)], fail_under=0)
    for number in (math.nan, math.inf, "0"):
        with pytest.raises(UsageError, match="^fail_under is "):
            compare(a, b, [Worth()], fail_under=number)  # type: ignore[arg-type]
    for share in (math.nan, 1.1, None):
        with pytest.raises(UsageError, match="^min_scored is "):
            compare(a, b, [Worth()], min_scored=share)  # type: ignore[arg-type]


def test_a_gate_asks_for_enough_scores() -> None:
    a, b = drawn(60, 2.0)
    few = [replace(one, response="?") if n < 4 else one for n, one in enumerate(b)]
    for other in (few, b[4:]):  # a reply that is missing is not forgiven
        strict, mild = (compare(a, other, [Worth()], fail_under=0, min_scored=share).gate for share in (0.95, 0.9))
        assert strict and not strict.passed and "56 of 60 pairs, under 95 %" in strict.text and mild and mild.passed
    first, second = logs(60, 0.0, 1), logs(60, 2.0, 2)
    some = [replace(one, response="?") if n < len(second) / 10 else one for n, one in enumerate(second)]
    gate = compare(first, some, [Worth()], fail_under=0).gate
    assert gate and not gate.passed and "replies of B, under 95 %" in gate.text


# on the command line


@pytest.fixture
def weeks(tmp_path: Path) -> list[Path]:
    write_weeks(tmp_path)
    return [tmp_path / "week1.csv", tmp_path / "week2.csv"]


def test_every_output(run: Run, weeks: list[Path], tmp_path: Path) -> None:
    call = ["compare", *weeks, "-s", "column:judged", "-s", "length", "--by", "intent", "--resamples", "200"]
    suffixes = ("html", "md", "tex", "csv", "json", "jsonl")
    outs = [word for suffix in suffixes for word in ("-o", tmp_path / f"ab.{suffix}")]
    ran = run(*call, *outs, "--figures", tmp_path / "charts")
    assert (ran.code, ran.out) == (0, run(*call, *outs, "--figures", tmp_path / "charts").out)
    found = {suffix: (tmp_path / f"ab.{suffix}").read_text(encoding="utf-8") for suffix in suffixes}
    results = json.loads(run(*call, "--json").out)
    assert json.loads(found["json"]) == results and (results["version"], results["command"]) == (2, "compare")
    assert results["options"]["a"] == "week1.csv" and results["options"]["b"] == "week2.csv"
    for suffix in ("html", "md"):
        assert results["answer"][0] in found[suffix] and "What got worse" in found[suffix]
    rows = [row for row in csv.DictReader(io.StringIO(found["csv"])) if row["statistic"] == "difference"]
    assert {row["group"] for row in rows} == {"", "account", "delivery", "refund"}
    lines = [json.loads(line) for line in found["jsonl"].splitlines()]
    assert len(lines) == sum(results["counts"]["replies"]) and {"side", "conversation", "group"} <= set(lines[0])
    assert (tmp_path / "charts").is_dir() and "<svg" in found["html"]


def test_single_lines_of_pairs() -> None:
    lines = [{"id": str(n), "context": [f"turn {n}"], "response": "yes", "worth": n} for n in range(3)]
    results = compare(lines, [{**line, "worth": 2} for line in lines], ["column:worth"])
    first = next(iter(results.layout.lines or ()))
    assert (first["a"], first["scores_b"], first["difference"]) == (["yes"], {"column:worth": 2}, {"column:worth": 2})


def test_gate_and_exit_codes(run: Run, weeks: list[Path], tmp_path: Path) -> None:
    call = ["compare", *weeks, "-s", "column:judged", "--resamples", "100"]
    passed, failed = run(*call, "--fail-under", "-1.5"), run(*call, "--fail-under", "0", "--json")
    assert passed.code == 0 and passed.err.splitlines()[-1] == "gate -1.5: passed"
    assert failed.code == 6 and json.loads(failed.out)["gate"]["passed"] is False
    refused(run(*call, "--min-scored", "0.5"), 2, "--min-scored belongs to the gate. Give --fail-under too, or omit it")
    older = tmp_path / "older.html"
    older.write_text("older")
    assert run("compare", *weeks, "-s", "length", "--fail-under", "0", "-o", older).code == 2
    assert older.read_text() == "older", "a refused call writes nothing"
    assert run(*call, "--pair-by", "id").code == 3
    assert run("compare", weeks[0], tmp_path / "gone.csv").code == 4
    assert run(*call, "-o", tmp_path / "ab.doc").code == 2 and run(*call, "-o", tmp_path / "no" / "ab.html").code == 7
    assert run("compare", *weeks, "-s", "bleu-2").code == 5


def test_which_way_a_column_counts_is_printed() -> None:
    lines = [replace(one, extra={"seconds": float(one.response)}) for one in side(range(1, 41))]
    for name, printed in (("seconds", True), ("-seconds", False)):
        text = str(compare(lines, lines, [f"column:{name}"]))
        assert ("Higher values of column:seconds count as better." in text) is printed


def test_replies_are_quoted_and_never_run() -> None:
    lines = side([1, 2, 3, 4, 5])
    bad = [replace(one, extra={"worth": 1}, context=("<b>what</b>",), id=str(n)) for n, one in enumerate(lines)]
    page = html(compare(bad, [replace(one, response="<b>no</b>", extra={"worth": 0}) for one in bad], ["column:worth"]))
    assert "<b>no</b>" not in page and "&lt;b&gt;no" in page


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_the_headline_is_short(count: int) -> None:
    a, b = drawn(60, 0.5)
    scorers = [Worth(f"worth-{n}", higher=[True, False, None][n % 3]) for n in range(count)]
    assert all(len(compare(*sides, scorers).answer[0].split()) <= 20 for sides in ((a, b), (b, a), (a, a)))


def test_equal_replies_tie_whatever_the_batch() -> None:
    """The last bits of a judge's score depend on the other replies of a batch: they decide no comparison."""
    lines = [{"id": str(row), "context": [f"hi {row}"], "response": f"I like dog {row} and cats"} for row in range(40)]
    results = rejoinder.compare(lines, lines[::-1], ["rejoinder"])
    assert results.one(statistic="share of ties").value == 1
    assert results.one(statistic="difference").value == 0
