"""Clusters: which lines and pairs are not independent, in every script."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rejoinder.data.clusters import clusters_of, sorted_clusters
from rejoinder.data.read import read
from rejoinder.example import Example, Pair

LONG = "do you have any plans for the weekend"
TOPICS = ("boats", "trains", "cheese", "gardens", "winter", "violins", "bread", "glass", "rivers", "chess")


def numbers(*items: Example | Pair) -> list[int]:
    """The clusters of items, beside so many unlike them that no cluster holds half."""
    others = [Example((f"tell me about {topic}",), "no", context_id=topic, dataset="z") for topic in TOPICS]
    found: list[int] = clusters_of([*items, *others]).numbers.tolist()
    return found[: len(items)]


def of_references(*references: str, context: tuple[str, ...] = (), place: int = 0) -> Example:
    return Example(context, "yes", references, id=f"{references}{place}")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("hi",), ("Hi!",)),
        (("hi", "how are you"), ("HI", "how  are you ?")),
        (("😀",), ("😀",)),
        ((LONG,), (f"{LONG.upper()} ?",)),
        (("hi", LONG), ("no", "why", LONG)),
        (("hi", LONG, "yes"), ("well", LONG, "no", "why")),
        (("hi", "there you are again then", "late again"), ("hi", "there you are again then", "no")),
        (("你今天过得怎么样？我很想你。",), ("你今天过得怎么样，我很想你",)),
        (("你 好 吗",), ("你好吗?",)),
        (("ありがとう、とても楽しかったです。", "a"), ("b", "ありがとう とても楽しかったです")),
        (("ありがとうとても楽しかったです", "a"), ("ありがとうとても楽しかったです", "b")),
        (("คุณสบายดีไหมวันนี้", "a"), ("คุณสบายดีไหมวันนี้", "b")),
        (("ＡＢＣ company ｏｆ　the year，２０２０！", "a"), ("ABC company of the year, 2020!", "b")),
        (("आप कैसे हैं आज मेरे दोस्त", "a"), ("आप कैसे हैं , आज मेरे दोस्त", "b")),
    ],
)
def test_lines_with_a_shared_context_or_long_turn_are_tied(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    first, second = numbers(Example(one, "x", dataset="a"), Example(other, "y", dataset="b"))
    same = clusters_of([Example(one, "x"), Example(other, "y")]).numbers.tolist()
    assert first == second and same == [0, 0], "among others, and by themselves"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("hi", "boats"), ("hi", "trains")),
        (("how are you", "a"), ("how are you", "b")),
        (("我很好谢谢你呢", "一"), ("我很好谢谢你呢", "二")),
        (("क ख ग घ ङ", "a"), ("क ख ग घ ङ", "b")),
        (("我今天去了市场买菜，天气很好", "一"), ("我今天去了市场买菜，天气不好", "二")),
        ((), ()),
    ],
)
def test_short_turns_tie_nothing(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    first, second = numbers(Example(one, "x", id="1"), Example(other, "y", id="2"))
    assert first != second


def test_ids_tie_inside_a_data_set_only() -> None:
    def line(name: str, **more: object) -> Example:
        extra = {"dialogue_id": more["dialogue"]} if "dialogue" in more else {}
        return Example((f"about {more.get('topic')}",), "x", dataset=name, context_id=more.get("id"), extra=extra)  # type: ignore[arg-type]

    found = numbers(line("a", id="1", topic=1), line("a", id="1", topic=2), line("b", id="1", topic=3))
    assert found == [0, 0, 1]
    found = numbers(line("a", dialogue=7, topic=1), line("a", dialogue=7, topic=2), line("b", dialogue=7, topic=3))
    assert found == [0, 0, 1]
    assert numbers(line("a", id="1", dialogue=7, topic=1), line("a", id="2", dialogue=7, topic=2)) == [0, 0]
    assert numbers(line("a", id="1", topic=4), line("b", id="2", topic=4)) == [0, 0], "an equal context always ties"


def test_references_tie() -> None:
    assert numbers(of_references("yes"), of_references("Yes .", place=1)) == [0, 0], "any, where there is no context"
    assert numbers(of_references("a b", "yes"), of_references("yes", "c")) == [0, 0], "one of several"
    assert numbers(of_references("yes", context=("hi",)), of_references("yes", context=("no",))) == [0, 1]
    assert numbers(of_references("yes"), of_references("yes", context=("no",))) == [0, 1]
    assert numbers(of_references(LONG, context=("hi",)), of_references(LONG + "!", context=("no",))) == [0, 0]
    assert numbers(of_references(LONG), Example(("hi", LONG, "no"), "x")) == [0, 0], "a reference is a turn elsewhere"


def test_pairs_are_tied_by_what_both_replies_share() -> None:
    def pair(one: str, other: str, references: tuple[str, ...] = (), context: tuple[str, ...] = ()) -> Pair:
        replies = (Example(context, one, references), Example(context, other, references))
        return Pair(replies, 0, id=f"{one}{other}{references}{context}")

    assert numbers(pair("a", "b"), replace(pair("b", "a"), id="2"), pair("a", "c")) == [0, 0, 1]
    assert numbers(pair("a", "b", ("yes",)), pair("c", "d", ("yes",))) == [0, 0]
    assert numbers(pair("a", "b", context=(LONG,)), pair("c", "d", context=("hi", LONG))) == [0, 0]


def test_where_one_cluster_would_hold_over_half_contexts_alone_decide() -> None:
    greeting = "hello, how can I help you today?"
    lines = [
        Example((greeting, *(f"{topic} {place} of mine" for place in range(turns))), "x")
        for topic in TOPICS
        for turns in (2, 3)
    ]
    found = clusters_of(lines)
    assert found.numbers.tolist() == [place // 2 for place in range(20)], "the turns after the greeting tell"
    assert found.note
    shared = [Example((topic,), "x", (LONG,)) for topic in TOPICS for _ in range(2)]
    found = clusters_of([*shared, Example((), "x", ("no",), id="1"), Example((), "x", ("no",), id="2")])
    assert found.numbers.tolist() == [place // 2 for place in range(22)] and found.note
    one = clusters_of([Example(("hi",), str(place)) for place in range(40)])
    assert one.numbers.tolist() == [0] * 40 and not one.note, "there is one context"


def test_the_order_of_lines_changes_no_number() -> None:
    lines = [Example((topic,), "x", id=str(place)) for place, topic in enumerate(TOPICS * 2)]
    numbers = dict(zip((line.id for line in lines), sorted_clusters(lines).numbers.tolist(), strict=True))
    turned = sorted_clusters(lines[::-1]).numbers.tolist()
    assert [numbers[line.id] for line in lines[::-1]] == turned and len(set(turned)) == len(TOPICS)


def test_instructions_to_a_model_tie_nothing(tmp_path: Path) -> None:
    prompt = "You are a helpful assistant of a shop for garden tools. Be brief and polite."
    rows = [
        {
            "messages": [
                {"role": "system", "content": prompt},
                {"role": "user", "content": f"Do you sell {topic}?"},
                {"role": "assistant", "content": "No."},
            ]
        }
        for topic in TOPICS
    ]
    file = tmp_path / "chats.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert clusters_of(list(read(file))).numbers.tolist() == list(range(len(TOPICS)))
    plain = [Example((prompt, f"Do you sell {topic}?"), "No.") for topic in TOPICS]
    assert clusters_of(plain).numbers.tolist() == list(range(len(TOPICS))), "nor as a first turn of all"


def test_turns_of_dialogues_without_ids_are_told() -> None:
    """Each turn a line, its context all turns before it, or the last three; in words and in characters."""
    characters = list("车市场天气朋友音乐书山水花园狗猫茶饭船桥")
    rng = np.random.default_rng(0)
    for known, blank, length in ((characters, "", 14), (list(TOPICS), " ", 7)):
        lines = []
        for _ in range(20):
            turns = [blank.join(rng.choice(known, length)) + "." for _ in range(8)]
            lines += [Example(tuple(turns[:end]), turns[end]) for end in range(2, 8)]
            shortened = [Example(tuple(turns[end - 3 : end]), turns[end]) for end in range(3, 8)]
            assert len(set(clusters_of(shortened).numbers.tolist())) == 1
        assert clusters_of(lines).numbers.tolist() == [place // 6 for place in range(120)]


def test_a_greeting_does_not_tie_dialogues_that_have_ids() -> None:
    def dialogue(topic: str) -> list[Example]:
        turns = ("Hi!", "Hello.", f"About {topic}?")
        return [Example(turns[:end], "x", dataset="a", context_id=topic) for end in (1, 3)]

    lines = [line for topic in TOPICS for line in dialogue(topic)]
    assert clusters_of(lines).numbers.tolist() == [place // 2 for place in range(20)]
    questions = [Example(("two and two ?",), str(place), context_id=f"row {place}") for place in range(4)]
    assert numbers(*questions) == [0, 0, 0, 0], "an id that names no dialogue does not part them"
