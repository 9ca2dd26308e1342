"""Scorers against human choices between two replies."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rejoinder
from judges_of_domain import NarrowJudge
from rejoinder import Example, Pair
from rejoinder.analysis.preferences import BALANCED, FIRST, study_pairs
from rejoinder.analysis.scored import RATERS
from rejoinder.errors import DataError, NothingScored, UsageError
from rejoinder.estimates import Estimate
from rejoinder.example import Choice
from rejoinder.report.html import html
from rejoinder.report.results import Results
from rejoinder.report.terminal import terminal
from rejoinder.scorer import FACTS_NOT_CHECKED
from samples import records

DIFFERENCE = "difference of accuracy"


def made(
    number: int, scores: Sequence[float | None], preferred: Choice | None, words: Sequence[int] = (2, 1), **keys: Any
) -> Pair:
    first, second = (
        Example((f"prompt {number}",), "word " * count, id=f"{number}/{place}", extra={"x": score})
        for place, (count, score) in enumerate(zip(words, scores, strict=True))
    )
    return Pair((first, second), preferred, id=str(number), **keys)


def drawn(count: int, seed: int, right: float) -> list[Pair]:
    """Pairs of which a scorer is right on about the share `right`."""
    rng = random.Random(seed)
    pairs = []
    for number in range(count):
        preferred: Choice = 1 if rng.random() < 0.5 else 0
        best = preferred if rng.random() < right else 1 - preferred
        pairs.append(made(number, (1 - best, best), preferred, (rng.randrange(1, 9), rng.randrange(1, 9))))
    return pairs


def accuracy(results: Results, scorer: str = "column:x", **labels: str) -> Estimate:
    return results.one(**{"scorer": scorer, "statistic": "accuracy", "by": "", **labels})


def mirrored(pair: Pair) -> Pair:
    turn: dict[Choice | None, Choice | None] = {0: 1, 1: 0, None: None}
    votes = tuple(turn[vote] for vote in pair.votes)
    return replace(pair, replies=(pair.replies[1], pair.replies[0]), preferred=turn[pair.preferred], votes=votes)


def test_accuracy_by_hand() -> None:
    pairs = [
        made(1, (3, 1), 0),  # right, the longer
        made(2, (3, 1), 1),  # wrong, the shorter
        made(3, (2, 2), 1, (1, 2)),  # half, the longer
        made(4, (0, 9), 1, (1, 1)),  # right, of one length
        made(5, (9, 0), None),  # a tie
        made(6, (9, None), 0),  # unscored
    ]
    results = study_pairs(pairs, ["column:x"], resamples=100)
    total = accuracy(results)
    assert (total.value, total.n, total.unscored, total.contexts, total.level) == (2.5 / 4, 4, 1, 4, "pair")
    assert total.reason == '1 pair without two scores, most often: no "x"'
    by_length = [accuracy(results, by="preferred reply", group=group) for group in ("longer", "shorter")]
    assert [(row.value, row.n) for row in by_length] == [(0.75, 2), (0, 1)]
    assert all(math.isnan(row.p) and row.verdict == "undefined" for row in by_length)
    balanced = results.one(scorer="column:x", statistic=BALANCED)
    assert (balanced.value, balanced.n, balanced.contexts) == (0.375, 3, 1)
    assert accuracy(results, "length").value == (1 + 0 + 1 + 0.5 + 1) / 5
    assert results.one(scorer="column:x", versus="length", statistic=DIFFERENCE).value == (0 + 0 - 0.5 + 0.5) / 4
    (facts,) = results.about.data
    assert [facts[name] for name in ("pairs", "ties", "longer", "shorter", "empty")] == [6, 1, 3, 1, 0]
    assert results.about.scorers["length"]["kind"] == "baseline" and not results.about.scorers["length"]["asked"]


def test_an_empty_reply_that_cannot_be_scored_loses() -> None:
    pairs = [made(n, (None, 1), 1, (0, 3)) for n in range(4)] + [made(9, (None, 1), 1, (2, 3))]
    total = accuracy(study_pairs(pairs, ["column:x"], resamples=100))
    assert (total.value, total.n, total.unscored) == (1, 4, 1)


@pytest.mark.parametrize(
    ("votes", "person", "scorer"),
    [
        ((0, 0, 0), 1, 1),
        ((0, 0, 1), 1 / 3, 2 / 3),
        ((0, 0, 0, None), 3 / 4, 7 / 8),  # half of the pairs of votes hold the tie, which is half right
        ((0, 1), 0, 0.5),
        ((0, None), 0.5, 0.75),
        ((None, None, None), 0.5, 0.5),
        ((0,), None, None),
        ((), None, None),
    ],
)
def test_a_person_and_a_scorer_meet_the_same_votes(
    votes: tuple[Choice | None, ...], person: float | None, scorer: float | None
) -> None:
    """Each pair counts once; the other pair has the agreements 1 and 1."""
    pairs = [made(1, (1, 0), 0, votes=(0, 0)), made(2, (1, 0), 0, votes=votes)]
    results = study_pairs(pairs, ["column:x"], resamples=100)
    for name, expected in ((RATERS, person), ("column:x", scorer)):
        row = results.one(scorer=name, statistic="agreement with single votes")
        assert row.n == (1 if expected is None else 2)
        assert row.value == pytest.approx(1 if expected is None else (1 + expected) / 2)
    both = 1 if person is None else (1 + person) / 2
    highest = results.one(statistic="highest agreement with single votes")
    assert highest.value == pytest.approx((1 + math.sqrt(2 * both - 1)) / 2)
    assert not study_pairs([replace(pair, votes=()) for pair in pairs], ["column:x"], resamples=9).pick(scorer=RATERS)


def test_length_alone_decides_nothing() -> None:
    """A scorer that takes the longer reply in most pairs, and nothing else, is no better than .5 balanced."""
    rng = random.Random(1)
    pairs = []
    for number in range(300):
        longer = int(rng.random() < 0.8)  # people prefer the longer reply, the scorer too
        words = (4, 2) if longer else (2, 4)
        takes_first = (rng.random() < 0.9) == (words == (4, 2))
        pairs.append(made(number, (int(takes_first), int(not takes_first)), 0, words))
    results = study_pairs(pairs, ["column:x", "length"], resamples=200)
    assert accuracy(results).verdict == "above" and accuracy(results).value > 0.7
    balanced = results.one(scorer="column:x", statistic=BALANCED)
    assert balanced.verdict == "inconclusive" and balanced.value == pytest.approx(0.5, abs=0.06)
    length = results.one(scorer="length", statistic=BALANCED)
    assert (length.value, length.low, length.high, length.p) == (0.5, 0.5, 0.5, 1.0)
    assert results.answer[0].startswith("column:x shows no significant agreement")


@given(st.integers(0, 10**6), st.sampled_from([0.3, 0.5, 0.9]))
def test_order_of_pairs_replies_and_scorers_does_not_matter(seed: int, right: float) -> None:
    pairs = drawn(30, seed, right)
    results = study_pairs(pairs, ["column:x", "column:-x"], resamples=100)
    shuffled = [mirrored(pair) for pair in random.Random(seed).sample(pairs, 30)]
    again = study_pairs(shuffled, ["column:-x", "column:x"], resamples=100)
    assert len(again.estimates) == len(results.estimates)
    for row in results.estimates:
        if row.scorer == FIRST:
            continue
        labels = {name: getattr(row, name) for name in ("scorer", "versus", "statistic", "by", "group")}
        other = again.one(**labels)
        for name in ("n", "value", "low", "high", "p", "p_adjusted"):
            assert getattr(other, name) == pytest.approx(getattr(row, name), nan_ok=True)
    assert accuracy(again, FIRST).value == pytest.approx(1 - accuracy(results, FIRST).value)


def test_the_headline_claims_only_what_is_significant() -> None:
    cases = [
        (study_pairs(drawn(60, 1, 0.5), ["column:x"]), "inconclusive", "column:x shows no significant agreement"),
        (study_pairs(drawn(200, 2, 0.9), ["column:x"]), "above", "column:x agrees with human choices: "),
        (study_pairs(drawn(200, 3, 0.1), ["column:x"]), "below", "column:x disagrees with human choices"),
    ]
    for results, verdict, start in cases:
        assert results.one(scorer="column:x", statistic=BALANCED).verdict == verdict
        assert results.answer[0].startswith(start) and len(results.answer[0].split()) <= 20
    # where the longer reply is always preferred there is no balanced accuracy, and accuracy decides
    longer = study_pairs([made(n, (int(n % 9 > 0), 0), 0, (4, 2)) for n in range(90)], ["column:x"])
    assert longer.answer[0].startswith("column:x agrees with human choices: accuracy 94 %")
    assert "significantly worse" in longer.answer[1]
    assert longer.one(scorer="column:x", statistic=DIFFERENCE).verdict == "below"
    several = study_pairs(drawn(60, 1, 0.5), ["column:x", "column:-x"])
    assert (
        several.answer[0].startswith("No scorer shows significant agreement") and len(several.answer[0].split()) <= 20
    )
    assert "baseline" in study_pairs(drawn(60, 1, 0.5), ["length"]).answer[1]


@pytest.mark.parametrize("context", [[], ["Tea?"]])
def test_a_pair_in_both_orders_is_one(context: list[str]) -> None:
    once: list[dict[str, Any]] = [
        {"context": [*context, str(n)] if context else [], "responses": ["a " * n, "b"], "preferred": n % 3 % 2}
        for n in range(2, 40)
    ]
    turned = [{**line, "responses": line["responses"][::-1], "preferred": 1 - int(line["preferred"])} for line in once]
    single, both = (study_pairs(lines, ["length"]) for lines in (once, [*once, *turned]))
    facts = both.about.data[0]
    assert (facts["contexts"], facts["pairs"], facts["lines"]) == (38, 38, 76)
    first, second = accuracy(single, "length"), accuracy(both, "length")
    assert (first.n, second.n) == (38, 38) and second.value == first.value
    assert second.ends == pytest.approx(first.ends, abs=0.02)


def test_the_first_reply_is_a_baseline_only_where_it_varies() -> None:
    always = study_pairs([made(n, (1, 0), 0) for n in range(9)], ["column:x"], resamples=100)
    assert not always.pick(scorer=FIRST) and FIRST not in always.about.scorers
    assert study_pairs(drawn(9, 0, 0.5), ["column:x"], resamples=100).pick(scorer=FIRST)


@pytest.mark.parametrize(
    ("pairs", "scorer", "more", "error"),
    [
        ([made(1, (1, 0), None)], "length", {}, DataError),
        ([Example((), "a")], "length", {}, DataError),
        ([made(1, (1, 0), 0)] * 2, "length", {}, DataError),
        ([made(1, (1, 0), 0)], "column:y", {}, NothingScored),
        ([made(1, (1, 0), 0)], "length", {"resamples": -1}, UsageError),
    ],
)
def test_pairs_that_cannot_be_studied(pairs: list[Any], scorer: str, more: dict[str, int], error: type) -> None:
    with pytest.raises(error):
        study_pairs(pairs, [scorer], **more)  # type: ignore[arg-type]


def test_study_takes_pairs_too_but_not_with_ratings() -> None:
    pairs = drawn(20, 1, 0.9)
    whole, part = (function(pairs, ["column:x"], resamples=100) for function in (rejoinder.study, study_pairs))
    assert whole.to_dict() == part.to_dict()
    with pytest.raises(DataError, match="a pair of replies"):
        rejoinder.study([*pairs, Example((), "a", quality={"overall": 1})], ["column:x"])
    with pytest.raises(UsageError):
        rejoinder.study(pairs, ["column:x"], dimension="fun")


def test_every_format_holds_the_same(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records(30)))
    results = study_pairs(rejoinder.read_pairs(path), ["column:gpt4"], resamples=100, seed=3)
    out = [tmp_path / f"study.{suffix}" for suffix in ("html", "md", "tex", "csv", "json")]
    results.save(*out)
    assert all("column:gpt4" in file.read_text() for file in out)
    printed = json.loads(out[-1].read_text())
    row = next(row for row in printed["results"] if row["scorer"] == "column:gpt4")
    assert (row["level"], row["n"], row["seed"], row["value"]) == (
        "pair",
        24,
        3,
        accuracy(results, "column:gpt4").value,
    )
    text = terminal(results, 100)
    assert "Tests against chance" not in text and "Tests against chance" in terminal(results, 100, every=True)
    assert "30 pairs of 30 contexts; 6 ties are left out." in results.layout.made[0]


@pytest.mark.slow
def test_the_shared_sets_give_the_figures_of_their_datasheet(shared: Path) -> None:
    files = [shared / f"data/preferences/{name}.jsonl.gz" for name in ("pandalm", "hh_harmless")]
    results = study_pairs(rejoinder.read_pairs(*files), ["length"], resamples=100)
    first, second = (accuracy(results, "length", dataset=name) for name in ("pandalm", "hh_harmless"))
    assert first.value == pytest.approx(0.67, abs=0.01) and first.n == 784  # 894 lines with a choice
    assert second.value == pytest.approx(0.44, abs=0.005) and second.n == 2303


# out of domain


def odd_pairs(outside: int, dataset: str | None = None) -> list[Pair]:
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


def test_a_judge_out_of_domain_has_no_verdict() -> None:
    results = study_pairs(odd_pairs(13), [NarrowJudge()], resamples=200)
    row = accuracy(results, "narrow")
    assert (row.verdict, round(row.value, 2)) == ("out of domain", 0.83) and math.isnan(row.p_adjusted)
    assert results.one(scorer="narrow", statistic=DIFFERENCE).verdict == "out of domain"
    assert "cannot judge" in results.answer[0] and "13 of 120 replies" in results.warnings[0]
    assert results.warnings.count(FACTS_NOT_CHECKED) == 1
    assert not any("narrow agrees" in sentence for sentence in results.answer)
    assert not any("narrow" in key.what for key in results.layout.keys)
    assert "narrow" not in html(results).partition("<svg")[2].partition("</svg>")[0]
    few = study_pairs(odd_pairs(12), [NarrowJudge()], resamples=200)
    assert accuracy(few, "narrow").verdict == "above" and few.answer[0].startswith("narrow agrees")


def test_a_scorer_that_can_judge_leads() -> None:
    wide = NarrowJudge("wide", domain="", unread=())
    results = study_pairs(odd_pairs(60), [NarrowJudge(), wide], resamples=200)
    assert results.answer[0].startswith("wide agrees with human choices")
    assert "60 of 120 replies" in results.warnings[0] and results.warnings[1] == f"narrow: {FACTS_NOT_CHECKED}"
    assert accuracy(results, "wide").p_adjusted == accuracy(results, "wide").p, "no other scorer is in the family"
    with_baseline = study_pairs(odd_pairs(60), [NarrowJudge(), "length"], resamples=200)
    assert "cannot judge" in with_baseline.answer[0]


def test_each_data_set_has_its_own_share_out_of_domain() -> None:
    results = study_pairs([*odd_pairs(0, "a"), *odd_pairs(60, "b")], [NarrowJudge()], resamples=200)
    assert accuracy(results, "narrow", dataset="a").verdict == "above"
    assert accuracy(results, "narrow", dataset="b").verdict == "out of domain"
    assert [list(facts["out_of_domain"]) for facts in results.about.data] == [[], ["narrow"]]
    assert sum(FACTS_NOT_CHECKED in sentence for sentence in results.warnings) == 1


def test_a_judge_that_was_fitted_on_the_data_is_left_out() -> None:
    seen = list(rejoinder.read("@conture"))[:6]
    pairs = [Pair((line, replace(line, response="yes")), 0) for line in seen]
    results = study_pairs(pairs, resamples=0)
    assert "rejoinder" not in results.about.scorers and not results.pick(scorer="rejoinder")
    named = study_pairs(pairs, ["rejoinder"], resamples=0)
    assert named.about.scorers["rejoinder"]["fitted_on"] == ["conture_turn"]
    assert any("conture_turn" in line for line in results.warnings) and any("conture_turn" in w for w in named.warnings)
