"""Relevant replies against irrelevant ones."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import rejoinder
from rejoinder.auditing.relevance import _pairs, _Replies
from rejoinder.errors import DataError, NothingScored, UsageError
from rejoinder.example import Example, ReplySet
from rejoinder.documents.relevance import relevance_document
from rejoinder.scorer import FACTS_NOT_CHECKED, OUT_OF_DOMAIN, Card, Scores


def sets(count: int = 40, relevant: int = 2) -> list[ReplySet]:
    """Relevant replies begin with good, random ones with far, misleading ones with near; they end with numbers."""
    return [
        ReplySet(
            (f"context {number}",),
            tuple(f"good {number} {place}" for place in range(relevant)),
            tuple(f"far {number} {place}" for place in range(2)),
            tuple(f"near {number} {place}" for place in range(3)),
            str(number),
        )
        for number in range(count)
    ]


def knowing(examples: list[Example]) -> list[float]:
    """Knows everything."""
    return [5.0 if one.response.startswith("good") else 1.0 for one in examples]


def misled(examples: list[Example]) -> list[float]:
    """Knows random replies, and is taken in by misleading ones."""
    return [{"good": 3.0, "far": 1.0, "near": 4.0}[one.response.split()[0]] for one in examples]


def values(found: Any) -> dict[tuple[str, str], float]:
    return {(one.irrelevant, one.statistic): one.value for one in found.results}


def test_what_few_contexts_have_is_no_surer_for_all_the_others() -> None:
    """Random replies in five of two hundred contexts, all told: five contexts' worth of evidence."""
    few = [replace(one, random=one.random if place < 5 else ()) for place, one in enumerate(sets(200))]
    found = {(one.irrelevant, one.statistic): one for one in rejoinder.relevance(few, knowing).results}
    for name in ("auc", "single replies"):
        assert found["random", name].value == 1 and found["random", name].low < 0.5
        assert found["misleading", name].low > 0.95
    bare = [replace(one, random=one.random if place < 2 else ()) for place, one in enumerate(few)]
    lone = {(one.irrelevant, one.statistic): one for one in rejoinder.relevance(bare, knowing).results}
    assert all("too few contexts" in lone["random", name].reason for name in ("auc", "single replies"))


def test_who_knows_and_who_is_misled() -> None:
    found = rejoinder.relevance(sets(), knowing)
    assert set(values(found).values()) == {1.0} and not any(found.worst.values())
    assert [one.n for one in found.results] == [160, 160, 160, 240, 200, 200]
    found = rejoinder.relevance(sets(), misled)
    got = values(found)
    assert {got["random", name] for name in ("pairs", "auc", "single replies")} == {1.0}
    assert (got["misleading", "pairs"], got["misleading", "auc"]) == (0.0, 0.0)
    assert len(found.worst["misleading"]) == 3 and not found.worst["random"]
    worst = found.worst["misleading"][0]
    assert worst.original.startswith("good") and worst.attacked.startswith("near") and worst.after > worst.before
    assert any("is not shown to be better than chance" in said for said in found.answer)


def test_a_coin_is_a_coin() -> None:
    found = rejoinder.relevance(sets(), lambda examples: [2.0] * len(examples))
    got = values(found)
    assert {got[kind, name] for kind in ("random", "misleading") for name in ("pairs", "auc")} == {0.5}
    assert got["random", "single replies"] == 0.5  # all called relevant, which half of them are


def test_pairs_are_of_one_context_and_the_area_is_of_all() -> None:
    """Scores that tell contexts apart more than replies: each pair is right, across contexts most is luck."""

    def by_context(examples: list[Example]) -> list[float]:
        return [10 * int(one.id) + one.response.startswith("good") for one in examples]

    got = values(rejoinder.relevance(sets(), by_context))
    assert got["random", "pairs"] == 1.0 and got["random", "auc"] == pytest.approx(0.5 + 0.5 / 40)


def test_pairs_take_no_table_of_all_replies_by_all() -> None:
    few, sets = 3, 20_000
    kinds = np.tile(["relevant"] * few + ["random"] * few, sets)
    numbers = np.repeat(np.arange(sets), 2 * few)
    replies = _Replies([], kinds, numbers, numbers)
    values = np.random.default_rng(0).normal(size=len(kinds)).round(1)
    good, bad = np.flatnonzero(kinds == "relevant"), np.flatnonzero(kinds == "random")
    won, contexts = _pairs(good, bad, values, replies)  # a table of them all would be 3.6 GB
    assert len(won) == few * few * sets and np.bincount(contexts).tolist() == [few * few] * sets
    own = values[6:12]
    assert won[9:18].tolist() == [0.5 + 0.5 * np.sign(one - other) for one in own[:3] for other in own[3:]]


def test_a_threshold_is_not_measured_where_it_was_chosen() -> None:
    """One half of the contexts scores low, the other high: the threshold of one misses the other."""
    given = sets()
    # contexts are numbered in the order of their keys
    order = sorted(range(40), key=lambda number: f"context {number}")
    half = {str(number): place % 2 for place, number in enumerate(order)}

    def apart(examples: list[Example]) -> list[float]:
        return [10.0 * half[one.id] + one.response.startswith("good") for one in examples]

    found = rejoinder.relevance(given, apart)
    one = found.of("random", "single replies")
    assert one is not None and one.value == 0.5 and one.thresholds == (10.5, 0.5)
    assert one.published == 0.8827 and all(math.isnan(row.published) for row in found.results if row is not one)


def test_an_interval_is_over_contexts() -> None:
    def luck(examples: list[Example]) -> list[float]:
        return [float(np.random.default_rng(len(one.id) + 7 * int(one.id)).integers(2)) for one in examples]

    one = rejoinder.relevance(sets(), luck).of("random", "auc")
    same = rejoinder.relevance([one for one in sets() for _ in range(4)], luck).of("random", "auc")
    assert one is not None and same is not None and one.value == same.value
    assert one.high - one.low == pytest.approx(same.high - same.low)


def test_references_go_to_those_that_need_them_and_never_the_reply_itself() -> None:
    class Watching:
        options: Mapping[str, Any] = MappingProxyType({})

        def __init__(self, *needs: Any) -> None:
            self.card = Card("watching", "s", "metric", frozenset(needs), (None, None), "none")
            self.seen: list[Example] = []

        def score_batch(self, examples: Sequence[Example]) -> Scores:
            self.seen += examples
            return Scores(np.ones(len(examples)))

    without, needing = Watching("context"), Watching("reference")
    rejoinder.relevance(sets(relevant=3), without)
    rejoinder.relevance(sets(relevant=3), needing)
    assert {len(one.references) for one in without.seen} == {0}
    assert {len(one.references) for one in needing.seen} == {2}
    assert not any(one.copies_reference for one in needing.seen)


def test_what_length_alone_tells_is_said() -> None:
    """Relevant replies are shorter than misleading ones, and as long as random ones."""
    given = [ReplySet((f"c {n}",), ("good one",), ("far two",), ("near and much longer",), str(n)) for n in range(40)]
    found = rejoinder.relevance(given, knowing)
    assert {kind: one.value for kind, one in found.shorter.items()} == {"random": 0.5, "misleading": 1.0}
    said = "is right in 50 % of those with replies to other contexts and 100 % of those with replies that people wrote"
    assert any(said in line for line in found.answer)
    assert found.to_dict()["shorter"]["misleading"]["value"] == 1.0


def test_lower_may_be_better() -> None:
    class Turned:
        card = Card("turned", "s", "metric", frozenset(), (None, None), "none", higher_is_better=False)
        options: Mapping[str, Any] = MappingProxyType({})

        def score_batch(self, examples: Sequence[Example]) -> Scores:
            return Scores(-np.array(misled(list(examples))))

    turned, straight = rejoinder.relevance(sets(), Turned()), rejoinder.relevance(sets(), misled)
    assert values(turned) == values(straight)
    assert turned.worst["misleading"][0].before == -straight.worst["misleading"][0].before


def test_unscored_replies_are_counted() -> None:
    def choosy(examples: list[Example]) -> list[float | None]:
        return [
            None if one.response.endswith("0") else value
            for one, value in zip(examples, knowing(examples), strict=True)
        ]

    found = rejoinder.relevance(sets(), choosy)
    assert (found.unscored, found.why_unscored) == (120, "choosy gave None")
    assert found.of("random", "pairs").n == 40  # type: ignore[union-attr]
    assert any("120 replies without a score, most often: choosy gave None" in said for said in found.answer)

    def half(examples: list[Example]) -> list[float | None]:
        return [None if one.response.startswith("near") else 1.0 for one in examples]

    missing = rejoinder.relevance(sets(), half).of("misleading", "auc")
    assert missing is not None and not missing.known and missing.reason == "no such reply has a score"
    with pytest.raises(NothingScored, match="no relevant and irrelevant reply have scores"):
        rejoinder.relevance(sets(), lambda examples: [None] * len(examples))


def test_lines_without_one_kind() -> None:
    plain = [ReplySet(one.context, one.relevant, one.random, (), one.id) for one in sets()]
    found = rejoinder.relevance(plain, knowing)
    assert {one.irrelevant for one in found.results} == {"random"} and found.of("misleading", "auc") is None


def test_the_limit_draws_by_the_seed() -> None:
    found = rejoinder.relevance(sets(), knowing, limit=10)
    assert (found.sets, found.given, found.replies) == (10, 40, 70)
    assert any("10 contexts, drawn of 40" in said for said in found.answer)
    few = rejoinder.relevance(sets(), misled, limit=10, seed=1)
    assert few.to_dict() == rejoinder.relevance(sets(), misled, limit=10, seed=1).to_dict()


def test_the_gate() -> None:
    assert rejoinder.relevance(sets(), knowing, allowed=0.1).gate().passed
    closed = rejoinder.relevance(sets(), misled, allowed=0.1).gate()
    assert not closed.passed and closed.reasons == ("misleading irrelevant replies win 100 % of pairs",)
    few = rejoinder.relevance(sets(2), knowing).gate()
    assert not few.passed and few.reasons == ("nothing could be told",)


def test_as_json_and_frames() -> None:
    found = rejoinder.relevance(sets(), misled)
    record = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert [(one["irrelevant"], one["statistic"]) for one in record["results"]] == list(values(found))
    assert {"value", "low", "high", "n", "scorer", "method", "seed", "published"} <= set(record["results"][0])
    assert list(found.to_pandas()["value"]) == [one.value for one in found.results]


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: rejoinder.relevance(sets(), "column:stars"), UsageError, "says nothing of single replies"),
        (lambda: rejoinder.relevance(sets(), knowing, limit=0), UsageError, "limit is 0"),
        (lambda: rejoinder.relevance(sets(), knowing, allowed=2.0), UsageError, "the share let pass is 2.0"),
        (lambda: rejoinder.relevance([], knowing), DataError, "no line is left"),
        (lambda: rejoinder.relevance([{"response": "hi"}], knowing), DataError, "no replies that fit"),
    ],
)
def test_wrong_calls(call: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        call()


class Narrow:
    """Knows everything, and says of relevant replies of some contexts, and of all others, that it cannot judge them."""

    card = Card("narrow", "", "judge", frozenset(), (1, 5), "", domain="chat", unread=("facts",))
    options: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, outside: int) -> None:
        self.outside = outside

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        words = [one.response.split() for one in examples]
        odd = (row for row, (kind, number, *_) in enumerate(words) if kind != "good" or int(number) < self.outside)
        return Scores(np.array(knowing(list(examples))), notes=dict.fromkeys(odd, (OUT_OF_DOMAIN,)))


def test_nothing_follows_from_relevant_replies_out_of_domain() -> None:
    found = rejoinder.relevance(sets(), Narrow(5))
    assert "10 of 80 replies" in found.answer[0] and found.answer[1] == FACTS_NOT_CHECKED
    assert not any("higher score" in said for said in found.answer)
    assert not found.gate().passed and found.to_dict()["out_of_domain"]
    document = relevance_document(found)
    assert not document.keys and document.picture is None
    few = rejoinder.relevance(sets(), Narrow(4))
    assert few.gate().passed and "higher score" in few.answer[0] and few.answer[1] == FACTS_NOT_CHECKED
