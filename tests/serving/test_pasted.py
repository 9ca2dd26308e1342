"""A pasted dialogue becomes its turns, whatever form it has."""

from __future__ import annotations

import json

import pytest

from rejoinder.serving.pasted import pasted

TURNS = ["Tea or coffee?", "Tea, please.", "With milk?"]
CHAT = [{"role": role, "content": text} for role, text in zip(("assistant", "user", "assistant"), TURNS, strict=True)]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(TURNS),
        json.dumps(CHAT, indent=2),
        json.dumps([{"role": "system", "content": "Be kind."}, *CHAT]),
        json.dumps({"messages": CHAT}),
        json.dumps({"context": TURNS[:2], "response": TURNS[2]}),
        "".join(f"{json.dumps({'context': TURNS[:2], 'response': reply})}\n" for reply in (TURNS[2], "No.")),
        "A: Tea or coffee?\nB: Tea, please.\nA: With milk?",
        "\n A : Tea or coffee?\n\nB:\tTea, please.\r\nA: With milk?\n\n",
        "Bot: Tea or coffee?\nUser: Tea, please.\nBot: With milk?",
        "System: Be kind.\nBot: Tea or coffee?\nUser: Tea, please.\nBot: With milk?",
        "[10:01] Ann Lee: Tea or coffee?\n[10:02] Bob: Tea,\nBob: please.\n[10:02] Ann Lee: With milk?",
        "Tea or coffee? __eou__ Tea, please. __eou__ With milk?",
    ],
)
def test_what_says_where_turns_end(text: str) -> None:
    assert pasted(text) == (TURNS, [], True)


def test_references_come_along() -> None:
    line = {"context": TURNS[:2], "response": TURNS[2], "references": ["Sugar?"]}
    assert pasted(json.dumps(line)) == (TURNS, ["Sugar?"], True)


def test_lines_without_names_are_a_guess() -> None:
    assert pasted("Tea or coffee?\n\n  Tea, please.\nWith milk?\n") == (TURNS, [], False)


@pytest.mark.parametrize(
    "text",
    ["Time: ten minutes\nServes: four\nNeeds: an oven", "Look: it rains\nand it will go on", '{"a": 1}', "[waves] Hi!"],
)
def test_a_colon_or_a_bracket_makes_no_dialogue(text: str) -> None:
    assert pasted(text) == (text.splitlines(), [], False)


def test_nothing_is_no_turn() -> None:
    assert pasted(" \n ") == ([], [], False)


@pytest.mark.parametrize(
    "text", ["[]", '["", " "]', "A:\nB: \nA: ", "\ud800: a", "\0", ": a\n: b", "[{}", "[1, 2]", "null"]
)
def test_no_turn_is_empty(text: str) -> None:
    assert all(turn.strip() for turn in pasted(text).turns)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "a: b\n" * 50_000, "a" * 200_000 + ":"])
def test_a_long_text_takes_no_time(text: str) -> None:
    assert pasted(text).turns
