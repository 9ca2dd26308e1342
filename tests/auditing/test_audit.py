"""The verdicts of an audit, on scorers that deserve them, and what is counted on the way."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import rejoinder
from attacked import Attacked, by_attack
from rejoinder.auditing.attack import ATTACKS, Attack, best_for_all
from rejoinder.auditing.fooling import Measured, estimates_of
from rejoinder.auditing.run import select_originals
from rejoinder.errors import DataError, NothingScored, UsageError
from rejoinder.estimates import Estimate
from rejoinder.example import Example
from rejoinder.perturbations import Goal
from rejoinder.report.html import html
from rejoinder.report.markdown import markdown
from rejoinder.report.results import Results
from rejoinder.report.terminal import terminal
from rejoinder.scorer import FACTS_NOT_CHECKED, OUT_OF_DOMAIN, Card, Scores
from rejoinder.stats.resamples import Sampling

WHO = ("my sister", "the old dog", "our neighbour in Boston", "a friend of mine")
DOES = ("doesn't like", "is looking for", "will buy", "has sold")
WHAT = ("a small red house", "the new film", "some fresh bread", "an old car")


def lines(count: int = 160, *, rated: bool = True) -> list[Example]:
    """Replies with context and references, each context with one that people found good and one that they did not."""
    found = []
    for number in range(count):
        parts = [WHO[number % 4], DOES[number // 4 % 4], WHAT[number // 16 % 4]]
        text = f'I think {" ".join(parts)}, and that\'s {number} "reasons" to be happy about it, you café owner.'
        found.append(
            Example(
                (f"Hello number {number}.", f"What do you know about case {number} of them?"),
                text,
                references=(f"Nobody knows case {number} well enough to say.", f"Why, {parts[0]} of case {number}."),
                id=str(number),
                dataset="made up",
                quality={"overall": 2.0 + 2 * (number % 2)} if rated else {},
                scales={"overall": (1.0, 5.0)},
            )
        )
    return found


def jumbled(measured: Measured) -> Estimate:
    """Return the share of replies that fool a scorer, of one attack."""
    return estimates_of(ATTACKS["jumbled"], measured, 1, 1.0, 0.1, "")[0]


def passed(results: Results) -> bool:
    """Return whether a gate was passed."""
    return results.gate is not None and results.gate.passed


def oracle(examples: list[Example]) -> list[float]:
    """What people said; the worst where they said nothing."""
    return [1.0 if (rating := one.rating()) is None else rating for one in examples]


def longest(examples: list[Example]) -> list[float]:
    """A constant, and the length."""
    return [3 + len(one.response) / 100 for one in examples]


def constant(examples: list[Example]) -> list[float]:
    """Always the same."""
    return [3.0 for _ in examples]


def each(*arguments: Any, **options: Any) -> list[Attacked]:
    """Return the attacks of an audit."""
    return [*by_attack(rejoinder.audit(*arguments, **options)).values()]


class Blind:
    """Knows the ratings, and cannot judge the first originals and all attacked replies."""

    options: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, outside: int) -> None:
        self.card = Card(
            "blind", "", "judge", frozenset(), (1, 5), "", higher_is_better=True, domain="chat", unread=("facts",)
        )
        self.originals = {one.response for one in lines()[outside:]}

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        odd = (row for row, one in enumerate(examples) if one.response not in self.originals)
        return Scores(np.array(oracle(list(examples))), warnings=dict.fromkeys(odd, (OUT_OF_DOMAIN, "not English")))


def test_an_audit_has_no_verdict_on_originals_out_of_domain() -> None:
    found = rejoinder.audit(lines(), Blind(17), families=["jumbled", "spaces"], fail_over=0.1)
    assert "17 of 160 replies" in found.answer[0] and found.warnings[0] == FACTS_NOT_CHECKED
    assert not any("fooled" in said or "holds against" in said for said in found.answer)
    assert '17 of 160 replies have the warning "not English" (blind).' in found.warnings
    assert [one.verdict for one in [*by_attack(found).values()]] == ["out of domain", "out of domain"]
    assert found.gate is not None and "17 of 160 replies" in found.gate.text and not found.gate.passed
    assert found.to_dict()["scorers"]["blind"]["warnings"] == {"out of domain": 17, "not English": 17}
    assert not found.layout.keys and found.layout.chart is None and "<svg" not in html(found)
    assert "out of domain" in terminal(found, 200)


def test_attacked_replies_may_be_out_of_domain() -> None:
    found = rejoinder.audit(lines(), Blind(16), families=["jumbled"], fail_over=0.1)
    assert by_attack(found)["jumbled"].verdict == "holds" and passed(found)
    assert found.answer[0].startswith("blind is fooled by 0 of 1 attack") and FACTS_NOT_CHECKED in found.warnings
    assert passed(rejoinder.audit(lines(), oracle, families=["jumbled"], fail_over=0.1))


def test_ratings_that_count_from_the_best_down_are_told() -> None:
    class Grader:
        """Who says the opposite of the ratings, in a range of its own."""

        card = Card("grader", "", "judge", frozenset(), (1, 5), "", higher_is_better=True)
        options: Mapping[str, Any] = MappingProxyType({})

        def score_batch(self, examples: Sequence[Example]) -> Scores:
            return Scores(6 - np.array(oracle(list(examples))))

    def told(scorer: Any, families: Sequence[str] = ("jumbled",)) -> list[str]:
        return [one for one in rejoinder.audit(lines(), scorer, families=families).answer if "run against" in one]

    (said,) = told(Grader())
    assert said.startswith("The ratings run against grader (Pearson -1.00). If low ratings are the good ones")
    down = Grader()
    down.card = replace(Grader.card, higher_is_better=False)
    bare = [replace(one, scales={}) for one in lines()]
    assert any("run against grader" in one for one in rejoinder.audit(bare, Grader(), families=["jumbled"]).answer)
    assert told(oracle) == told(longest) == told(down) == []


def test_who_knows_the_ratings_cannot_be_fooled() -> None:
    found = rejoinder.audit(lines(), oracle, fail_over=0.1)
    verdicts = {one.family: one.verdict for one in [*by_attack(found).values()] if one.n >= 30}
    assert set(verdicts.values()) == {"holds"} and len(verdicts) >= 45, verdicts
    few = sum(one.n < 30 for one in by_attack(found).values())
    assert all(one.share.value == 0 for one in by_attack(found).values() if one.n) and found.cases == ()
    assert passed(found) and found.answer[0].startswith(f"oracle is fooled by 0 of {len(verdicts) + few} attacks")


def test_who_counts_characters_is_fooled_by_all_that_adds_some() -> None:
    found = rejoinder.audit(lines(), longest)
    results = by_attack(found)
    longer = {"said-twice", "padding", "insult-added", "prompt-added", "contradiction", "words-repeated"}
    moves = {"spaces", "unseen-characters"}
    shorter = {"no-stop-words", "no-common-words"}
    assert {name for name in longer | moves | shorter if results[name].verdict != "fooled"} == set()
    assert {results[name].share.value for name in longer | moves} == {1.0}
    # It cannot tell a reply from its words in another order, so that a coin decides; and it sees what is gone.
    for name in ("jumbled", "reversed"):
        assert (results[name].share.value, results[name].better, results[name].verdict) == (0.5, 0.0, "fooled")
    assert {results[name].verdict for name in ("empty", "near-empty", "truncated", "dull", "quotes")} == {"holds"}
    worst = [case.values for case in found.cases if case.values["attack"] == "said-twice"]
    assert len(worst) == 3
    assert all(case["after"] > case["before"] and case["original"] in case["attacked"] for case in worst)


def test_a_constant_tells_nothing_from_anything() -> None:
    found = rejoinder.audit(lines(), constant)
    for one in [*by_attack(found).values()]:
        if one.n >= 30:
            assert (one.share.value, one.verdict) == ((0.5, "fooled") if one.goal == Goal.WORSE else (0.0, "holds")), (
                one.family
            )
            correlation = one.rows["pearson with the original score"]
            assert math.isnan(correlation.value) and correlation.reason
    assert any("same score" in said for said in found.answer)


def test_lower_may_be_better() -> None:
    class Turned:
        """Fewer characters are worse here, and its scores are turned round."""

        card = Card("turned", "s", "metric", frozenset(), (None, None), "none", higher_is_better=False)
        options: Mapping[str, Any] = MappingProxyType({})

        def score_batch(self, examples: Sequence[Example]) -> Scores:
            return Scores(-np.array(longest(list(examples))))

    names = ["said-twice", "truncated", "no-stop-words", "spaces"]
    lower = each(lines(), Turned(), families=names)
    higher = each(lines(), longest, families=names)
    for turned, straight in zip(lower, higher, strict=True):
        assert (turned.share.value, turned.verdict, turned.better) == (
            straight.share.value,
            straight.verdict,
            straight.better,
        )


@pytest.mark.parametrize(
    ("goal", "moved", "expected"),
    [
        (Goal.WORSE, 0.1, 1.0),
        (Goal.WORSE, 0.0, 0.5),
        (Goal.WORSE, -0.1, 0.0),
        (Goal.NOT_WORSE, -1.1, 1.0),
        (Goal.NOT_WORSE, -0.9, 0.0),
        (Goal.NOT_WORSE, 3.0, 0.0),
        (Goal.SAME, 0.3, 1.0),
        (Goal.SAME, -0.3, 1.0),
        (Goal.SAME, 0.1, 0.0),
    ],
)
def test_when_a_scorer_is_fooled(goal: Goal, moved: float, expected: float) -> None:
    found = Measured(np.array([3.0]), np.array([3.0 + moved]), np.array([0]))
    assert found.fooled(goal, 1, 2.0).tolist() == [expected]
    turned = Measured(-found.before, -found.after, found.clusters)
    assert turned.fooled(goal, -1, 2.0).tolist() == [expected]


@pytest.mark.parametrize(
    ("wrong", "n", "verdict"),
    [
        (0, 29, "inconclusive"),
        (29, 29, "inconclusive"),
        (0, 100, "holds"),
        (9, 100, "inconclusive"),
        (40, 100, "fooled"),
    ],
)
def test_the_verdict(wrong: int, n: int, verdict: str) -> None:
    before, after = np.zeros(n), np.where(np.arange(n) < wrong, 1.0, -1.0)
    share = jumbled(Measured(before, after, np.arange(n)))
    one = Attacked("jumbled", {}, share, {})
    assert (one.verdict, one.n) == (verdict, n) and share.value == pytest.approx(wrong / n)
    assert bool(share.reason) == (verdict == "inconclusive")
    assert n >= 30 or f"{n} usable replies, 30 are needed" in share.reason


def test_examples_of_one_context_are_one_piece_of_evidence() -> None:
    before, after = np.zeros(100), np.where(np.arange(100) < 25, 1.0, -1.0)
    apart = jumbled(Measured(before, after, np.arange(100)))
    together = jumbled(Measured(before, after, np.arange(100) // 25))
    assert apart.value == together.value and together.high - together.low > 2 * (apart.high - apart.low)


def test_moments_are_those_of_the_scores() -> None:
    (one,) = each(lines(), longest, families=["said-twice"])
    good = [example for example in lines() if (example.rating() or 0) >= 4]
    scores = np.array(longest(good))
    twice = np.array(longest([replace(example, response=f"{example.response} {example.response}") for example in good]))
    told = [one.value(f"{name} score, {key}") for name in ("original", "attacked") for key in ("mean", "sd")]
    assert one.n == 80 and np.allclose(told, (scores.mean(), scores.std(), twice.mean(), twice.std()))
    assert one.value("AUC") == pytest.approx(np.mean([(a > b) + (a == b) / 2 for a in scores for b in twice]))
    assert one.value("attacked score, within 1 sd") == pytest.approx(
        np.mean(np.abs(twice - twice.mean()) <= twice.std())
    )
    assert one.value("pearson with the original score") == pytest.approx(1.0) and one.better == 1.0
    assert one.value("spearman with the original score") == pytest.approx(1.0)


# which replies


def test_bad_replies_stand_beside_good_ones_alone() -> None:
    found = rejoinder.audit(lines(), oracle, families=["empty", "upper-case"])
    assert [(one.n, one.facts["skipped"]) for one in by_attack(found).values()] == [(80, 0), (160, 0)]
    assert found.about.counts["good"] == 80
    low = [replace(one, quality={"overall": one.quality["overall"] - 1.5}) for one in lines()]  # 0.5 and 2.5 of 1 to 5
    assert not select_originals(low, 500, Sampling(0, 0)).good.any()


def test_without_a_scale_the_card_says_what_counts_as_good() -> None:
    bare = [replace(one, scales={}) for one in lines()]
    low = [replace(one, quality={"overall": one.quality["overall"] - 1.5}) for one in bare]
    found = rejoinder.audit(low, longest, families=["empty"])
    assert [found.about.counts[name] for name in ("rated", "scaled", "good")] == [160, 0, 80]
    assert any("160 ratings came without a scale" in said for said in found.answer)
    assert "in the upper half of ratings." in markdown(found)
    scaled = [replace(one, dataset="scaled") for one in lines()[80:120]]
    mixed = [*bare[:80], *scaled, *(replace(one, quality={}) for one in bare[120:])]
    page = markdown(rejoinder.audit(mixed, longest, families=["empty"]))
    assert "in the upper half of ratings and of the scale, or unrated." in page
    whole = rejoinder.audit(lines(), longest, families=["empty"])
    assert "in the upper half of ratings and of the scale." in markdown(whole)
    assert not any("without a scale" in said for said in whole.answer)


def test_without_ratings_a_persons_reply_is_taken_where_it_is_not_the_only_one() -> None:
    plain = [replace(one, references=()) for one in lines(40, rated=False)]
    assert select_originals(plain, 500, Sampling(0, 0)).examples == tuple(plain)
    found = select_originals(lines(40, rated=False), 500, Sampling(0, 0))
    assert found.counts["references_as_replies"] == 40 and found.good.all() and found.counts["rated"] == 0
    assert all(
        one.response == given.references[0] and one.references == given.references[1:]
        for one, given in zip(found.examples, lines(40), strict=True)
    )
    assert any("No reply is rated" in said for said in rejoinder.audit(plain, longest, families=["empty"]).answer)


def test_what_people_said_is_not_said_of_a_bad_reply() -> None:
    seen: list[Example] = []

    def watching(examples: list[Example]) -> list[float]:
        seen.extend(examples)
        return [float(len(one.response)) for one in examples]

    rejoinder.audit(lines(), watching, families=["gibberish", "upper-case"])
    shouted = [one for one in seen if one.response.isupper()]
    nonsense = [one for one in seen if not set(one.response.lower()) & set("aeiou")]
    assert len(shouted) == 160 and all(one.rating() is not None for one in shouted)
    assert len(nonsense) == 80 and all(one.rating() is None and not one.ratings for one in nonsense)


def test_the_limit_draws_by_the_seed() -> None:
    def drawn(seed: int) -> list[str]:
        return [one.id for one in select_originals(lines(), 50, Sampling(0, seed)).examples]

    assert len(drawn(0)) == 50 and drawn(0) == drawn(0) != drawn(1)
    found = rejoinder.audit(lines(), longest, limit=50, families=["upper-case"])
    assert [found.about.counts[name] for name in ("replies", "lines")] == [50, 160]
    assert by_attack(found)["upper-case"].n == 50


def test_one_family_changes_no_other() -> None:
    alone_, among = (
        by_attack(rejoinder.audit(lines(), longest, families=names, seed=3))["jumbled"]
        for names in (["jumbled"], ["other-random", "jumbled", "gibberish"])
    )
    assert alone_ == among
    backwards = by_attack(rejoinder.audit(lines()[::-1], longest, families=["jumbled"], seed=3))["jumbled"]
    assert (backwards.share.value, backwards.share.low) == (alone_.share.value, alone_.share.low)


def test_a_judge_that_knows_the_data_set_is_told() -> None:
    found = rejoinder.audit("@dstc7", families=["upper-case"], limit=40)
    assert found.about.scorers["rejoinder"]["fitted_on"] == ["dstc7"]
    assert any("was fitted on lines of dstc7" in said for said in found.warnings)
    assert not any(
        "was fitted on lines of" in said for said in rejoinder.audit(lines(40), families=["upper-case"]).warnings
    )


def test_empty_replies_are_left_out() -> None:
    found = rejoinder.audit([*lines(40), Example(("hello",), " ")], longest, families=["empty"])
    assert [found.about.counts[name] for name in ("replies", "empty")] == [40, 1]


# what goes wrong


def test_a_scorer_that_fails_on_some_replies_is_counted() -> None:
    def fragile(examples: list[Example]) -> list[float]:
        if any("and so on" in one.response for one in examples):
            raise ValueError("too long for me")
        return longest(examples)

    results = by_attack(rejoinder.audit(lines(), fragile, families=["padding", "said-twice"]))
    assert (results["padding"].n, results["padding"].facts["failed"], results["padding"].verdict) == (
        0,
        80,
        "inconclusive",
    )
    assert "too long for me" in results["padding"].share.reason
    assert (results["said-twice"].n, results["said-twice"].verdict) == (80, "fooled")


def test_unscored_and_skipped_are_counted_apart() -> None:
    def choosy(examples: list[Example]) -> list[float | None]:
        return [None if one.response.isupper() and one.id == "7" else 1.0 for one in examples]

    given = [replace(lines()[0], response="!", context=(f"hm {n}",), id=f"x{n}") for n in range(5)]
    (one,) = each([*lines(), *given], choosy, families=["upper-case"])
    assert (one.n, one.facts["skipped"], one.facts["failed"]) == (159, 5, 1)
    assert one.facts["why_failed"] == "choosy gave None"


def test_a_scorer_that_scores_nothing_is_told() -> None:
    with pytest.raises(NothingScored, match="none of 160 replies has a score"):
        rejoinder.audit(lines(), lambda examples: [None] * len(examples))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: rejoinder.audit(lines(), "column:stars"), "has no scores for other replies"),
        (lambda: rejoinder.audit(lines(), longest, families=["jumbeld"]), "Nearest: jumbled"),
        (lambda: rejoinder.audit(lines(), longest, families=["dull", "dull"]), "named twice"),
        (lambda: rejoinder.audit(lines(), longest, families=[]), "no attack was named"),
        (lambda: rejoinder.audit(lines(), longest, families=[3]), "not int"),  # type: ignore[list-item]
        (lambda: rejoinder.audit(lines(), longest, limit=0), "limit is 0"),
        (lambda: rejoinder.audit(lines(), longest, fail_over=1.0), "the share that is allowed is 1.0"),
        (lambda: rejoinder.audit(lines(), longest, seed=-1), "seed is -1"),
    ],
)
def test_wrong_calls(call: Callable[[], object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        call()


def test_no_reply_is_no_audit() -> None:
    with pytest.raises(DataError, match="no example has a reply"):
        rejoinder.audit([Example(("hello",), "")], longest)


def test_a_line_given_twice_is_told() -> None:
    with pytest.raises(DataError, match="id '3' of data set 'made up' was already given"):
        rejoinder.audit([*lines(), lines()[3]], longest)


def test_what_a_family_takes_and_is_not_there_leaves_it_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REJOINDER_WORDNET", "/nowhere")
    found = rejoinder.audit(lines(40), longest, families=["synonyms", "upper-case"])
    left_out = found.about.options["left_out"]
    assert list(left_out) == ["synonyms"] and "/nowhere" in left_out["synonyms"]
    assert list(by_attack(found)) == ["upper-case"] and "synonyms" not in found.about.signatures["longest"]
    assert any("Left out" in said and "synonyms" in said for said in found.answer)


# attacks of one's own


def test_an_attack_of_ones_own_is_a_function() -> None:
    def flattery(one: Example, rng: np.random.Generator) -> Example | None:
        """What a flatterer adds.

        More is not said.
        """
        return replace(one, response=f"{one.response} What a clever question!") if rng.random() < 2 else None

    (one,) = each(lines(), longest, families=[flattery])
    assert (one.family, one.about, one.goal, one.verdict) == ("flattery", "What a flatterer adds", Goal.WORSE, "fooled")


def test_an_attack_of_ones_own_has_a_goal() -> None:
    def shout(one: Example, _: object) -> Example | None:
        return None if one.id == "3" else replace(one, response=one.response.upper())

    own = Attack.of(shout, name="shout-short", goal=Goal.NOT_WORSE)
    (one,) = each(lines(), longest, families=[own])
    assert (one.family, one.goal, one.n, one.verdict) == ("shout-short", Goal.NOT_WORSE, 159, "holds")
    assert one.facts["skipped"] == 1


def test_a_function_that_gives_something_else_is_told() -> None:
    def wrong(one: Example, _: object) -> str:
        return one.response

    with pytest.raises(UsageError, match="the attack wrong returned str"):
        rejoinder.audit(lines(), longest, families=[wrong])  # type: ignore[list-item]


# search


def test_a_search_measures_on_one_half_what_it_chose_on_the_other() -> None:
    scores = np.array([[5.0, 1.0, 5.0, 1.0], [2.0, 3.0, 2.0, 3.0], [np.nan] * 4])
    assert best_for_all(scores, np.array([0, 1, 2, 3])).tolist() == [1, 0, 1, 0]
    assert best_for_all(scores, np.array([0, 0, 0, 0])).tolist() == [0, 0, 0, 0]
    assert best_for_all(scores[2:], np.array([0, 1, 2, 3])).tolist() == [0, 0, 0, 0]


def test_the_best_sentence_of_a_pool_is_found() -> None:
    def loves_thanks(examples: list[Example]) -> list[float]:
        return [5.0 if one.response.startswith("Thank you") else 2.0 for one in examples]

    (one,) = each(lines(), loves_thanks, families=["fixed-sentence"])
    assert one.facts["chosen"] == {"Thank you so much!": 80} and one.verdict == "fooled" and one.share.value == 1.0


# what comes out


@pytest.mark.slow
def test_results_as_json_and_frames() -> None:
    found = rejoinder.audit(lines(), longest)
    record = json.loads(found.to_json())
    assert record["version"] == 2 and record["command"] == "audit" and len(record["results"]) > 600
    shares = [row for row in record["results"] if row["statistic"] == "share fooled"]
    assert [row["group"] for row in shares] == [each["attack"] for each in record["data"]]
    worst = record["cases"][0]
    assert worst["attacked"] != worst["original"]
    assert record["signature"]["longest"]["attacks"] == 2
    assert len(found.to_frame()) == len(record["results"])
    assert rejoinder.audit(lines(), longest).to_dict() == found.to_dict()


def test_a_gate_is_not_passed_without_a_verdict() -> None:
    def gate(families: Sequence[str], fail_over: float = 0.1, count: int = 160) -> Any:
        return rejoinder.audit(lines(count), longest, families=families, fail_over=fail_over).gate

    assert not gate(["said-twice"], count=20).passed
    assert "no attack has a verdict" in gate(["said-twice"], count=20).text
    closed = gate(["said-twice", "quotes"])
    assert not closed.passed and "said-twice fools it 100 % of the time" in closed.text
    assert not gate(["said-twice"], 0.999).passed and gate(["quotes"]).passed
