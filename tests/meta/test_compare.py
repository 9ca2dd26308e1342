"""`compare`: pairs, figures against scipy, verdicts, the gate, and all that can be missing."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import rejoinder
from conftest import Run, refused
from rejoinder.errors import DataError, NothingScored, UsageError
from rejoinder.example import Example
from rejoinder.meta import Comparison, compare
from rejoinder.meta.compare_answer import verdict
from rejoinder.documents.compare import comparison
from rejoinder.documents.terminal import terminal
from rejoinder.scorer import Card, Scores


@dataclass(frozen=True)
class Worth:
    """Scores a response with the number that it is; an empty one and a question mark are unscored."""

    name: str = "worth"
    higher: bool | None = True
    range: tuple[float | None, float | None] = (None, None)
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def card(self) -> Card:
        return Card(self.name, "worth", "metric", frozenset(), self.range, "none", higher_is_better=self.higher)

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        numbers = [not (one.unanswered or one.response == "?") for one in examples]
        values = [float(one.response) if known else math.nan for one, known in zip(examples, numbers, strict=True)]
        return Scores(np.array(values), {n: "no number" for n, known in enumerate(numbers) if not known})


def side(values: Sequence[float | str], **keys: Any) -> list[Example]:
    """One response a context."""
    return [Example((f"turn {n}",), str(value), where=f"a.jsonl:{n + 1}", **keys) for n, value in enumerate(values)]


def drawn(n: int, shift: float, spread: float = 1.0) -> tuple[list[Example], list[Example]]:
    rng = np.random.default_rng(3)
    first = rng.normal(size=n)
    return side(first.tolist()), side((first + shift + spread * rng.normal(size=n)).tolist())


def only(found: Comparison) -> rejoinder.meta.Contrast:
    (one,) = found.contrasts
    return one


def test_the_better_one_is_named_whichever_comes_first() -> None:
    a, b = drawn(60, 1.0)
    ahead, behind = only(compare(a, b, [Worth()])), only(compare(b, a, [Worth()]))
    assert (ahead.verdict, behind.verdict) == ("B is better", "A is better")
    assert ahead.value == pytest.approx(ahead.mean_b - ahead.mean_a) and behind.value == -ahead.value
    assert ahead.low < ahead.value < ahead.high and ahead.low > 0 and (ahead.needed, ahead.more) == (None, None)
    assert 0 < ahead.p == ahead.p_adjusted < 0.01
    assert only(compare(a, b, [Worth(higher=False)])).verdict == "A is better"
    assert only(compare(a, b, [Worth(higher=None)])).verdict == "B is higher"
    assert only(compare(b, a, [Worth(higher=None)])).verdict == "A is higher"


def test_lines_that_are_conversations_are_compared_as_such() -> None:
    """What was said last is better on the second side, the whole is better on the first."""

    def talks(*turns: str) -> list[Example]:
        return [
            Example((f"hi {n}", turns[0], "so"), turns[1], id=str(n), extra={"level": "dialogue"}) for n in range(12)
        ]

    found = only(compare(talks("9", "5"), talks("1", "6"), [Worth()]))
    assert found.mean_a == (7 + 5) / 2 and found.mean_b == (3.5 + 1) / 2 and found.value < 0
    whole = compare(talks("9", "5"), talks("9", ""), [Worth(range=(0, 10))])
    assert only(whole).mean_b == (4.5 + 0) / 2 and whole.empty == (0, 0), "no empty reply for its last turn"


def test_one_conversation_among_replies_takes_no_references_away() -> None:
    given = [replace(one, references=(one.response,)) for one in side([f"{n} words here" for n in range(14)])]
    talk = Example(("hi", "a b c", "so"), "d e f", extra={"level": "dialogue"})
    found = only(compare([*given, talk], [*given, talk], ["bleu-2"], design="unpaired"))
    assert found.n_a == found.n_b == 14


def test_interval_and_p_agree_with_scipy() -> None:
    a, b = drawn(80, 0.25)
    one = only(compare(a, b, [Worth()], resamples=4000))
    differences = np.array([float(y.response) - float(x.response) for x, y in zip(a, b, strict=True)])
    expected = stats.ttest_1samp(differences, 0)
    assert (one.n, one.contexts) == (80, 80)
    assert one.p == pytest.approx(expected.pvalue, abs=0.02)
    assert (one.low, one.high) == pytest.approx(tuple(expected.confidence_interval()), abs=0.04)


def test_what_cannot_be_told_says_how_many_pairs_would_tell() -> None:
    a, b = drawn(60, 0.1)
    one = only(compare(a, b, [Worth()]))
    assert one.verdict == "not separable" and one.needed is not None and one.more == one.needed - 60
    differences = np.array([float(y.response) - float(x.response) for x, y in zip(a, b, strict=True)])
    expected = (2.8 * differences.std(ddof=1) / differences.mean()) ** 2
    assert one.needed == pytest.approx(expected, rel=0.05)
    assert re.fullmatch(r"not separable; about [\d,]+ more pairs would tell", verdict(one))


def test_no_number_is_forecast_that_nobody_can_collect() -> None:
    a, b = drawn(60, 0.0)
    b = [
        replace(line, response=str(float(other.response) + (-1) ** number + 0.0004))
        for number, (line, other) in enumerate(zip(b, a, strict=True))
    ]
    one = only(compare(a, b, [Worth()]))
    assert one.value == pytest.approx(0.0004) and one.needed is None
    assert verdict(one) == "not separable; no number of pairs can be forecast"


def test_many_scorers_are_not_many_chances() -> None:
    a, b = drawn(30, 0.6)
    alone = only(compare(a, b, [Worth()]))
    assert alone.verdict == "B is better" and 0.005 < alone.p < 0.05
    many = compare(a, b, [Worth(f"worth-{n}") for n in range(10)])
    assert {one.p for one in many.contrasts} == {alone.p}
    assert {one.verdict for one in many.contrasts} == {"not separable"}
    assert many.contrasts[0].p_adjusted == pytest.approx(10 * alone.p)


def test_responses_to_one_context_stand_together() -> None:
    a, b = drawn(20, 0.5)
    once = only(compare(a, b, [Worth()]))
    doubled, too = ([replace(one, id=f"{c}-{n}") for n, one in enumerate(lines) for c in "xy"] for lines in (a, b))
    twice = only(compare(doubled, too, [Worth()]))
    assert (twice.n, twice.contexts) == (40, 20)
    assert (twice.value, twice.p) == pytest.approx((once.value, once.p))
    assert (twice.low, twice.high) == pytest.approx((once.low, once.high))


def test_without_shared_ids_contexts_pair_and_several_lines_count_as_their_mean() -> None:
    a = [replace(one, id=f"a{n}") for n, one in enumerate(side([1, 2, 3, 9]))]
    b = [*side([2, 2, 2]), Example(("turn 0",), "4"), Example(("elsewhere",), "7")]
    found = compare(a, b, [Worth()], design="paired")
    one = only(found)
    assert (found.aligned, found.pairs, found.only_a, found.only_b) == ("context", 3, 1, 1)
    assert found.why == "as was asked for; 3 of the 4 lines of A have a partner by context"
    assert (one.n, one.mean_a) == (3, 2.0) and one.mean_b == pytest.approx(7 / 3)
    by_id = compare(
        [replace(one, id="x", context_id="c") for one in a[:1]], [Example(a[0].context, "5", id="x")], [Worth()]
    )
    assert (by_id.aligned, by_id.pairs) == ("id", 1)


def test_turns_win_over_the_dialogue_they_stand_in() -> None:
    a = [replace(one, extra={"dialogue_id": 1}) for one in side([1, 2, 3])]
    found = compare(a, a[::-1], [Worth()])
    assert (found.pairs, only(found).value, only(found).contexts) == (3, 0.0, 1)
    assert only(found).reason == "1 context; three or more are needed"


def talks(name: str, kind: str) -> list[Example]:
    """Two systems' replies to the turns of 20 conversations, an id each, or three replies to one context."""
    rng, found = np.random.default_rng(len(name)), list[Example]()
    for n in range(20):
        before: tuple[str, ...] = ()
        for turn in range(3):
            asked = {"samples": f"question {n}", "users": f"{name} {n} {turn}"}.get(kind, f"question {n} {turn}")
            reply = str(3 * rng.integers(1, 9) + turn)
            before = (asked,) if kind == "samples" else (*before, asked)
            found.append(Example(before, reply, id=f"talk {n}", where=f"{name}:{len(found)}"))
            before = (*before, reply if kind == "own words" else "so")
    return found


@pytest.mark.parametrize(
    ("kind", "design", "pairs", "contexts"),
    [
        ("fixed", "paired", 60, 20),
        ("own words", "paired", 60, 20),
        ("samples", "paired", 20, 20),
        ("users", "unpaired", 0, 40),
    ],
)
def test_an_id_may_be_of_a_conversation(kind: str, design: str, pairs: int, contexts: int) -> None:
    found = compare(talks("a", kind), talks("bb", kind), [Worth()])
    assert (found.design, found.pairs) == (design, pairs)
    if pairs:
        assert (found.aligned, only(found).n, only(found).contexts) == ("id", pairs, contexts)
        assert found.why.endswith(
            "have a partner by id, and where an id has several lines, by what the user said there"
        )
        of = "" if pairs == contexts else f" of {contexts} conversations"
        assert f"({pairs} pairs{of})" in found.answer[0]
    else:
        assert f"(120 replies of {contexts} conversations)" in found.answer[0]


@pytest.mark.parametrize("last", [2, 3, 4])
def test_the_turns_of_one_id_may_be_cut_to_the_last(last: int) -> None:
    """Then no context begins as a shorter one does, and the lines follow each other by what is left."""
    a, b = ([replace(one, context=one.context[-last:]) for one in talks(name, "own words")] for name in ("a", "bb"))
    found = compare(a, b, [Worth()])
    assert (found.aligned, found.pairs, only(found).contexts) == ("id", 60, 20)
    a[:3] = [a[1], a[0], a[2]]
    if last < 4:
        with pytest.raises(DataError, match="already given at a:.*say so: --map dialogue_id=id"):
            compare(a, b, [Worth()])


@pytest.mark.parametrize("last", [2, 3, 9])
def test_lines_of_one_conversation_pair_by_what_the_user_said(last: int) -> None:
    """The systems go on with their own words, so that no context but the first is the same twice."""
    a, b = (
        [
            replace(one, id="", context=one.context[-last:], extra={"dialogue_id": one.id})
            for one in talks(name, "own words")
        ]
        for name in ("a", "bb")
    )
    found = compare(a, b, [Worth()])
    assert (found.aligned, found.pairs, only(found).contexts) == ("conversation", 60, 20)
    assert found.why == (
        "60 of the 60 lines of A have a partner by conversation, and where an id has several lines, by what the user "
        "said there"
    )
    others = [replace(one, context=(*one.context[:-1], f"else {n}")) for n, one in enumerate(b)]
    assert compare(a, others, [Worth()]).design == "unpaired", "users of their own"


def chats(name: str, opening: str = "hi {n}", **extra: Any) -> list[Example]:
    """A system's chats with simulated users, who go on as it takes them."""
    rng = np.random.default_rng(len(name))
    return [
        Example((opening.format(n=n), "3", f"{name} {n}"), str(rng.integers(9)), extra={"dialogue_id": n, **extra})
        for n in range(20)
    ]


def test_whole_chats_of_one_conversation_are_pairs() -> None:
    found = compare(chats("a"), chats("bb"), [Worth()])
    assert (found.aligned, found.pairs, only(found).contexts) == ("conversation", 20, 20)
    assert found.why == "20 of the 20 lines of A have a partner by conversation"
    assert compare(chats("a"), chats("bb", "hello {n}"), [Worth()]).design == "unpaired", "they begin otherwise"
    a, b = chats("a", level="dialogue"), chats("bb", "hello {n}", level="dialogue")
    found = compare(a, b, [Worth()])
    assert (found.aligned, found.pairs, only(found).contexts) == ("conversation", 20, 20)
    assert found.why.endswith("by conversation, with no context to show that an id means the same twice")
    forced = compare(a[:1], b, [Worth()], design="paired")
    assert (forced.aligned, forced.pairs) == ("conversation", 1)


def test_an_id_names_a_chat_whatever_the_systems_said_in_it() -> None:
    a, b = ([Example(("hi", f"{name} {n}", f"how is {n}"), str(n % 5), id=str(n)) for n in range(20)] for name in "ab")
    found = compare(a, b, [Worth()])
    assert (found.aligned, found.pairs, only(found).contexts) == ("id", 20, 20)
    a, b = ([replace(one, context=("hi",), extra={"level": "dialogue"}) for one in side] for side in (a, b))
    found = compare(a, b, [Worth()])
    assert (found.aligned, found.pairs, only(found).contexts) == ("id", 20, 20), "though all begin alike"


def test_replies_of_two_systems_are_not_one_side() -> None:
    a = [replace(one, system=f"s{place % 2}") for place, one in enumerate(talks("a", "samples"))]
    with pytest.raises(DataError, match="was already given at a:0"):
        compare(a, talks("bb", "samples"), [Worth()])


def by_topic(name: str) -> list[Example]:
    """Replies to 30 questions, whose ids begin anew in each of ten topics."""
    return [
        Example((f"question {n % 3} on topic {n // 3}?",), str(n % 7), id=str(n % 3), where=f"{name}:{n}")
        for n in range(30)
    ]


def test_ids_that_begin_anew_in_each_topic_are_no_conversations() -> None:
    a, b = by_topic("a"), by_topic("b")
    with pytest.raises(DataError, match=r"id '0' .* already given at a:0.*only number the lines.*--map id="):
        compare(a, b, [Worth()])
    a, b = ([replace(one, id="") for one in lines] for lines in (a, b))
    found = compare(a, b, [Worth()])
    assert (found.aligned, found.pairs, only(found).contexts) == ("context", 30, 30)


@pytest.mark.parametrize("keys", [{"context": ()}, {"context": ("hi",)}], ids=["no context", "one opening"])
def test_nothing_shows_that_lines_of_one_id_belong_together(keys: dict[str, Any]) -> None:
    a = [
        replace(one, **keys, extra={"dialogue_id": place} if keys["context"] else {}, response=str(place))
        for place, one in enumerate(by_topic("a"))
    ]
    with pytest.raises(DataError, match="id '0' .* already given at a:0"):
        compare(a, by_topic("b")[:3], [Worth()])


def test_a_copy_is_refused_where_other_ids_have_several_replies_too() -> None:
    a = talks("a", "samples")
    with pytest.raises(DataError, match="already given at a:0.*Give each line once"):
        compare([*a, replace(a[0], where="a:60")], talks("bb", "samples"), [Worth()])


def test_the_turns_of_one_id_are_of_one_system() -> None:
    a = [replace(one, system=f"s{place % 2}") for place, one in enumerate(talks("a", "own words"))]
    with pytest.raises(DataError, match="already given at a:0"):
        compare(a, talks("bb", "own words"), [Worth()])


def test_an_id_of_several_lines_may_clash_too() -> None:
    a, b = talks("a", "fixed"), talks("bb", "fixed")
    b[:3] = [replace(one, context=("else",)) for one in b[:3]]
    with pytest.raises(DataError, match="^bb:0: .*id 'talk 0' has another context in a:0"):
        compare(a, b, [Worth()])


def test_two_whole_chats_of_equal_ids_are_pairs() -> None:
    a, b = ([Example((f"hi {n}",), str(n), id=str(n), extra={"level": "dialogue"}) for n in range(2)] for _ in "ab")
    found = compare(a, b, [Worth()])
    assert (found.design, found.aligned, found.pairs) == ("paired", "id", 2)


def test_files_that_share_nothing() -> None:
    with pytest.raises(DataError, match=r"^a.jsonl, b.jsonl: the two files share neither an id nor a context"):
        compare(side([1]), [Example(("else",), "1", where="b.jsonl:1")], [Worth()], design="paired")
    with pytest.raises(DataError, match="share neither an id nor a context"):
        compare(
            [Example((), "1", id="x", where="a.jsonl:1")],
            [Example((), "1", where="b.jsonl:1")],
            [Worth()],
            design="paired",
        )
    for one, other, empty in (([], side([1]), "A"), (side([1]), [], "B")):
        with pytest.raises(DataError, match=f"^{empty}: no line is left to compare"):
            compare(one, other, [Worth()])


def test_an_id_of_two_contexts_pairs_nothing() -> None:
    a, b = ([replace(one, id=str(n), where=f"{name}.jsonl:{n}") for n, one in enumerate(side([1, 2]))] for name in "ab")
    b[1] = replace(b[1], context=("another",))
    message = (
        "b.jsonl:1: field \"id\": id '1' has another context in a.jsonl:1. "
        "Give one id to the two responses to one context, or leave ids out to pair by context"
    )
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        compare(a, b, [Worth()], design="paired")
    with pytest.raises(DataError, match="was already given at"):
        compare([*a, a[0]], a, [Worth()])


@pytest.mark.parametrize(
    ("a", "b", "words", "p"),
    [
        ([1, 2, 3, 4], [1, 2, 3, 4], "not separable: no difference at all", 1.0),
        ([1, 1, 1, 1], [1, 1, 1, 1], "not separable: no difference at all", 1.0),
        ([1, 2], [3, 5], "not separable: 2 contexts; three or more are needed", math.nan),
        ([1], [3], "not separable: 1 context; three or more are needed", math.nan),
        ([1, 2, 3, 4], [2, 3, 4, 5], "not separable; no number of pairs can be forecast", None),
    ],
)
def test_degenerate_pairs_have_an_outcome(a: list[float], b: list[float], words: str, p: float | None) -> None:
    found = compare(side(a), side(b), [Worth()])
    one = only(found)
    assert verdict(one) == words and (p is None or one.p == pytest.approx(p, nan_ok=True))
    assert math.isfinite(one.value) and math.isnan(one.low) is (len(a) < 3)
    assert words.removeprefix("not separable").lstrip(":; ") in found.answer[0]
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["results"][0]["verdict"] == "not separable"


def test_unscored_pairs_are_left_out_and_counted() -> None:
    a, b = side([1, "?", 3, 4, 5]), side([2, 3, 4, 4, "?"])
    found = compare(a, b, [Worth()])
    one = only(found)
    assert (one.n, one.unscored) == (3, 2) and (one.mean_a, one.mean_b) == pytest.approx((8 / 3, 10 / 3))
    assert "2 of 5 pairs could not be compared by worth." in found.answer
    with pytest.raises(NothingScored, match=r"^worth: none of 2 pairs has two scores; most often: no number$"):
        compare(side(["?", "?"]), side([1, 2]), [Worth()])


def test_a_gate_asks_for_a_gain_by_the_unfavourable_end() -> None:
    a, b = drawn(60, 0.5)
    found = compare(a, b, [Worth()])
    low, high = only(found).low, only(found).high
    assert found.gate(low).passed and not found.gate(low + 1e-9).passed
    down = compare(a, b, [Worth(higher=False)])
    assert down.gate(-high).passed and not down.gate(-high + 1e-9).passed
    closed = compare(side([1, 2]), side([5, 6]), [Worth()]).gate(-100.0)
    assert not closed.passed and closed.reasons == ("worth has no interval",)
    with pytest.raises(UsageError, match=r"^worth claims no direction, so there is no gain to ask for. Leave it out$"):
        compare(a, b, [Worth(higher=None)]).gate(0)
    for threshold, share in ((math.nan, 0.5), (math.inf, 0.5), (0.0, math.nan), (0.0, 1.1)):
        with pytest.raises(UsageError, match="expected to be a finite number and the least share scored to be from 0 "):
            found.gate(threshold, share)


# empty replies


def test_a_side_that_says_nothing_loses() -> None:
    a, _ = drawn(60, 0.0)
    for nothing in ("", " \n\t", "\u200b\u2060"):
        b = [replace(one, response=nothing) if n >= 6 else one for n, one in enumerate(a)]
        found = compare(a, b, [Worth()])
        one = only(found)
        lowest = min(float(x.response) for x in a)
        assert (one.n, one.unscored, one.verdict, one.worst) == (60, 0, "A is better", lowest)
        assert found.empty == (0, 54) and not found.gate(0).passed
        assert "Empty replies: 0 of 60 of A and 54 of 60 of B; each counts as the worst reply (" in words(found)
    assert compare(b, a, [Worth()]).gate(0).passed


def words(found: Comparison) -> str:
    return " ".join(terminal(comparison(found, ("a", "b")), 100).split())


def test_what_the_worst_is() -> None:
    a, b = side([1, 2, 3, 4]), side([2, "", 4, 5])
    assert only(compare(a, b, [Worth()])).worst == 1
    assert only(compare(a, b, [Worth(higher=False)])).worst == 5
    assert only(compare(a, b, [Worth(range=(0, None))])).worst == 0
    assert only(compare(a, b, [Worth(range=(3, 9))])).worst == 1, "a scorer may go beyond its own range"
    assert only(compare(a, b, [Worth(higher=False, range=(0, 9))])).worst == 9
    neutral = only(compare(a, b, [Worth(higher=None)]))
    assert math.isnan(neutral.worst) and (neutral.n, neutral.unscored) == (3, 1)
    none_empty = only(compare(a, a, [Worth()]))
    assert math.isnan(none_empty.worst) and "Empty" not in words(compare(a, a, [Worth()]))


def test_a_score_that_a_scorer_gives_to_nothing_is_not_believed(run: Run, tmp_path: Path) -> None:
    lines = [{"id": str(n), "context": [f"turn {n}"], "response": "yes", "mine": n % 5} for n in range(40)]
    silent = [{**line, "response": "", "mine": 5} for line in lines]
    for name, side_ in (("a", lines), ("b", silent)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in side_))
    ran = run("compare", tmp_path / "a.jsonl", tmp_path / "b.jsonl", "-s", "column:mine", "--threshold", "0")
    assert ran.code == 6 and "A is better" in ran.out and "40 of 40 of B" in ran.out


def test_an_unanswered_line_is_an_empty_reply() -> None:
    a, b = drawn(40, 0.0)
    silent = [replace(one, response="", extra={"unanswered": "no candidate"}) for one in b]
    one = only(compare(a, silent, [Worth()]))
    assert (one.n, one.verdict) == (40, "A is better")


CHAT = [
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "5"},
    {"role": "user", "content": "It has not arrived."},
]


def test_a_bot_that_leaves_chats_unanswered_does_not_win_by_what_it_said_before() -> None:
    """Chats of different users: a question is due an answer, other last words are noted."""
    answer = {"role": "assistant", "content": "2"}
    a = [[{"role": "user", "content": f"Hi {n}"}, *CHAT[1:], answer] for n in range(40)]
    question = {"role": "user", "content": "Where is it?"}
    b = [[{"role": "user", "content": f"Hi there {n}"}, CHAT[1], question] for n in range(40)]
    found = compare(a, b, [Worth(range=(0, None))])
    assert only(found).verdict == "A is better" and found.empty == (0, 40) and found.design == "unpaired"
    thanks = [[*chat, {"role": "user", "content": "Thanks!"}] for chat in a]
    found = compare(a, thanks, [Worth()])
    assert '40 of 40 replies of B are noted as "the user spoke last" (worth).' in words(found)
    due = ", if the user's last words wanted no answer (they end 0 of 40 chats of A and 40 of 40 of B)"
    assert f" by worth{due}: mean " in found.answer[0]
    assert compare(a, thanks, [Worth(), Worth("twin")]).answer[0].endswith(f"{due}.")
    (reason,) = found.gate(-1).reasons
    assert reason.startswith(
        "the user ends 0 of 40 chats of A and 40 of 40 of B. Say of these whether an answer was due"
    )
    told = compare(a, [{"messages": chat, "unanswered": False} for chat in thanks], [Worth()])
    assert told.gate(-1).passed and "the user" not in " ".join(told.answer)
    both = compare(thanks, [[{"role": "user", "content": "Ho"}, *chat[1:]] for chat in thanks], [Worth()])
    assert "wanted no answer" not in both.answer[0], "where both sides have as many that tells nothing"


def test_a_rating_of_a_chat_stays_where_its_last_question_has_no_answer(run: Run, tmp_path: Path) -> None:
    """People rated the whole of it; of a judge's scores it is the worst."""
    question = {"role": "user", "content": "Where is it?"}
    for name, last in (("a", CHAT[1]), ("b", question)):
        chats = [[{"role": "user", "content": f"Hi {name} {n}"}, CHAT[1], question, last] for n in range(30)]
        lines = [{"messages": chat, "csat": 1 + n % 5} for n, chat in enumerate(chats)]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    ran = run("compare", *files, "-s", "column:csat", "-s", "length", "--json")
    rated, length = json.loads(ran.out)["results"]
    assert (rated["mean_a"], rated["mean_b"], rated["worst"]) == (3, 3, None)
    assert (length["n_a"], length["n_b"]) == (30, 0), "what reads the reply has none to read"
    assert "Empty replies: 0 of 30 of A and 30 of 30 of B. " in run("compare", *files, "-s", "column:csat").words
    assert run("score", files[1], "-s", "column:csat").records[1]["scores"] == {"column:csat": 2}


def test_a_chat_that_the_user_ended_is_unanswered_where_the_other_side_answers_it() -> None:
    chats = [[{"role": "user", "content": f"Hi {n}"}, *CHAT[1:]] for n in range(40)]
    a = [[*chat, {"role": "assistant", "content": str(1 + n % 3)}] for n, chat in enumerate(chats)]
    found = compare(a, [*chats[:10], *a[10:]], [Worth()])
    assert (found.design, found.pairs, found.empty, only(found).verdict) == ("paired", 40, (0, 10), "A is better")
    assert compare(chats, a, [Worth()]).empty == (40, 0)


def test_nothing_to_read_is_no_fault_of_the_reply() -> None:
    """Without a reference BLEU can score no reply, so an empty one there is unscored as any other is."""
    a = [Example((f"turn {n}",), "yes it is", references=("yes it is",) if n else ()) for n in range(5)]
    b = [replace(one, response="") for one in a]
    (one,) = compare(a, b, ["bleu-1"]).contrasts
    assert (one.n, one.unscored, one.mean_b, one.worst) == (4, 1, 0.0, 0.0)


def test_a_gate_asks_for_enough_scores() -> None:
    a, b = drawn(60, 2.0)
    few = [replace(one, response="?") if n < 4 else one for n, one in enumerate(b)]
    found = compare(a, few, [Worth()])
    assert not found.gate(0).passed and found.gate(0, 0.9).passed
    assert found.gate(0).reasons == ("worth has scores on both sides for 56 of 60 pairs, under 95 %",)
    missing = compare(a, b[4:], [Worth()])
    assert not missing.gate(0).passed and missing.gate(0, 0.9).passed, "a reply that is missing is not forgiven"


def test_numbers_out_of_range() -> None:
    with pytest.raises(UsageError, match="^seed is -1, expected a whole number, 0 or more$"):
        compare(side([1]), side([1]), [Worth()], seed=-1)
    with pytest.raises(UsageError, match="^no scorer was named"):
        compare(side([1]), side([1]), [])


@pytest.mark.parametrize(("threshold", "share"), [("0", 0.9), (0, None), (math.nan, 0.9), (0, 2)])
def test_a_gate_asks_by_numbers(threshold: Any, share: Any) -> None:
    found = compare(side([1, 2]), side([1, 2]), [Worth()], resamples=100)
    with pytest.raises(UsageError, match=f"^the threshold is expected .*, not {threshold!r} and {share!r}$"):
        found.gate(threshold, share)


@pytest.mark.parametrize("design", ["Unpaired", "Paired", "independent", 3, None])
def test_a_design_is_one_of_three(design: Any) -> None:
    with pytest.raises(UsageError, match=f"^design is {design!r}, expected one of auto, paired, unpaired$"):
        compare(side([1]), side([1]), [Worth()], design=design)


# on the command line


@pytest.fixture
def systems(tmp_path: Path) -> dict[str, Path]:
    """The sample of DSTC7, one file a system."""
    lines: dict[str, list[Example]] = {}
    for one in rejoinder.read("@dstc7"):
        lines.setdefault(str(one.system), []).append(one)
    for name, own in lines.items():
        rejoinder.write(own, tmp_path / f"{name}.jsonl")
    return {name: tmp_path / f"{name}.jsonl" for name in lines}


def test_compare_says_what_it_found(run: Run, systems: dict[str, Path]) -> None:
    ran = run("compare", systems["Random"], systems["Human"], "-s", "rouge-l", "-s", "length")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(
        "By rouge-l B is better; by length no difference is shown.\nB is better than A by rouge-l: "
    )
    assert re.search(r"rouge-l 40 [\d. \[\],%-]+ B is better", ran.words)
    assert "more pairs would tell" in ran.words
    assert "Compared in 40 pairs by context: 40 of the 40 lines of A have a partner by context." in ran.words
    again = run("compare", systems["Random"], systems["Human"], "-s", "rouge-l", "-s", "length")
    assert again.out == ran.out


def test_which_way_a_column_counts_is_said() -> None:
    lines = [replace(one, extra={"seconds": float(one.response)}) for one in side(range(1, 41))]
    slow = [replace(one, extra={"seconds": float(one.response) + 9}) for one in lines]
    for name, counts in (("seconds", True), ("-seconds", False)):
        page = terminal(comparison(compare(lines, slow, [f"column:{name}"]), ("a", "b")), 200)
        assert ("Of column:seconds the higher counts as better; where the lower is, put a minus" in page) is counts


def test_compare_for_machines_and_as_a_gate(run: Run, systems: dict[str, Path]) -> None:
    call = ("compare", systems["Random"], systems["Human"], "-s", "rouge-l", "--json")
    found = json.loads(run(*call).out)
    assert found["version"] == 1 and "gate" not in found
    (one,) = found["results"]
    assert {"scorer", "level", "n", "value", "low", "high", "p", "method", "seed", "verdict", "more"} <= set(one)
    assert found["counts"] == {
        "design": "paired",
        "why": "40 of the 40 lines of A have a partner by context",
        "aligned": "context",
        "pairs": 40,
        "only_a": 0,
        "only_b": 0,
        "replies": [40, 40],
        "empty": [0, 0],
    }
    passed, failed = run(*call, "--threshold", "0"), run(*call, "--threshold", "0.5")
    opened = {"threshold": 0.0, "min_scored": 0.95, "passed": True, "reasons": []}
    assert (passed.code, json.loads(passed.out)["gate"]) == (0, opened)
    closed = json.loads(failed.out)["gate"]
    assert (failed.code, closed["passed"], len(closed["reasons"])) == (6, False, 1)
    told = run(*call[:-1], "--threshold", "0.5")
    assert told.code == 6 and "gate +0.5: not passed, exit code 6 (by rouge-l" in told.out and told.err == ""


def test_compare_that_cannot_be(run: Run, systems: dict[str, Path]) -> None:
    human = systems["Human"]
    refused(
        run("compare", human, human, "-s", "length", "--threshold", "0"),
        2,
        "length claims no direction, so there is no gain to ask for. Leave it out",
    )
    refused(
        run("compare", human, human, "--min-scored", "0.5"),
        2,
        "--min-scored belongs to the gate. Give --threshold too, or leave it out",
    )
    assert run("compare", human, "@conture", "-s", "length", "--design", "paired").code == 3
    assert run("compare", human, human.with_name("gone.jsonl")).code == 4
    assert run("compare", human).code == 2
    older = human.with_name("older.html")
    older.write_text("older")
    assert run("compare", human, human, "-s", "length", "--threshold", "0", "-o", older).code == 2
    assert older.read_text() == "older", "what is refused writes nothing"


def test_references_count_where_both_systems_have_them() -> None:
    """The same replies, with references on one side only, are the same replies."""
    with_them = [one for one in rejoinder.read("@dstc7") if one.references][:60]
    without = [replace(one, references=()) for one in with_them]
    (by_reference,) = rejoinder.compare(with_them, with_them, ["bleu-2"]).contrasts
    assert by_reference.n == len(with_them)
    talk = [replace(one, references=("a film with friends",)) for one in rejoinder.read("@conture")][:60]
    bare = [replace(one, references=()) for one in talk]
    (same,) = rejoinder.compare(talk, bare, ["rejoinder"]).contrasts
    assert same.value == 0.0
    with pytest.raises(NothingScored):
        rejoinder.compare(with_them, without, ["bleu-2"])


@pytest.mark.parametrize("ids", [("1", "2"), ("1", "3")], ids=["pairs", "no pairs"])
def test_a_comparison_of_nothing_is_no_success(run: Run, tmp_path: Path, ids: tuple[str, str]) -> None:
    for name, first in zip("ab", ids, strict=True):
        rows = f"id,answer,theme\n{first},yes,x\n{first}0,no,y\n"
        (tmp_path / f"{name}.csv").write_text(rows, encoding="utf-8")
    done = run("compare", tmp_path / "a.csv", tmp_path / "b.csv")
    assert done.code == 5
    assert "no context and no reference" in done.err + done.out
    assert "a.csv: read answer as response; not read: theme" in done.err and "--map context=" in done.err
