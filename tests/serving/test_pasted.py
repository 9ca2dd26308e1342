"""A pasted dialogue becomes its turns, whatever form it has."""

from __future__ import annotations

import json

import pytest

from rejoinder.serving.limits import Limits
from rejoinder.serving.pasted import Pasted, pasted

ASKED, REPLY = ["Tea or coffee?", "Tea, please."], "With milk?"
SAID = [*ASKED, REPLY]
CHAT = [{"role": role, "content": text} for role, text in zip(("assistant", "user", "assistant"), SAID, strict=True)]


def of(text: str) -> Pasted:
    return pasted(text, Limits())


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(SAID),
        json.dumps(CHAT, indent=2),
        json.dumps([{"role": "system", "content": "Be kind."}, *CHAT]),
        json.dumps({"messages": CHAT}),
        json.dumps({"context": ASKED, "response": REPLY}),
        json.dumps({"history": ASKED[:1], "prompt": ASKED[1], "answer": REPLY}),
        "A: Tea or coffee?\nB: Tea, please.\nA: With milk?",
        "\n A : Tea or coffee?\n\nB:\tTea, please.\r\nA: With milk?\n\n",
        "Bot: Tea or coffee?\nUser: Tea, please.\nBot: With milk?",
        "System: Be kind.\nBot: Tea or coffee?\nUser: Tea, please.\nBot: With milk?",
        "[10:01] Ann Lee: Tea or coffee?\n[10:02] Bob: Tea, please.\n[10:02] Ann Lee: With milk?",
        "Tea or coffee? __eou__ Tea, please. __eou__ With milk?",
    ],
)
def test_what_says_where_turns_end(text: str) -> None:
    assert of(text) == (ASKED, [REPLY], [], True)


def test_what_one_says_at_a_stretch_is_one_turn() -> None:
    assert of("Ann: Tea?\nBob: Yes.\nBob: And sugar.").replies == ["Yes.\nAnd sugar."]


def test_references_and_other_replies_come_along() -> None:
    first = {"context": ASKED, "response": REPLY, "reference": "Sugar?"}
    lines = [first, {"context": ASKED, "response": "No."}, {"context": [], "response": "Elsewhere."}]
    found = (ASKED, [REPLY, "No."], ["Sugar?"], True)
    assert of(json.dumps(lines)) == of("\n".join(map(json.dumps, lines))) == found
    assert of(json.dumps({"prompt": "Tea?", "chosen": "Yes.", "rejected": "No."})).replies == ["Yes.", "No."]


def test_lines_without_names_are_a_guess() -> None:
    assert of("Tea or coffee?\n\n  Tea, please.\nWith milk?\n") == (ASKED, [REPLY], [], False)


@pytest.mark.parametrize(
    "text",
    ["Time: ten minutes\nServes: four\nNeeds: an oven", "Look: it rains\nand it will go on", '{"a": 1}', "[waves] Hi!"],
)
def test_a_colon_or_a_bracket_makes_no_dialogue(text: str) -> None:
    found = of(text)
    assert ([*found.context, *found.replies], found.sure) == (text.splitlines(), False)


@pytest.mark.parametrize(
    "text", ["", " \n ", "[]", '["", " "]', "A:\nB: \nA: ", "\ud800: a", "\0", ": a\n: b", "[{}", "[1, 2]", "null"]
)
def test_no_turn_is_empty(text: str) -> None:
    assert all(turn.strip() for turn in [*of(text).context, *of(text).replies])


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "a: b\n" * 20_000, "a" * 200_000 + ":"])
def test_a_long_text_takes_no_time(text: str) -> None:
    assert of(text).replies
