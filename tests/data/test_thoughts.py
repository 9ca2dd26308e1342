"""Thoughts of language models are no part of what they say, however they are marked."""

from __future__ import annotations

import pytest

from rejoinder.data.thoughts import without_thoughts

THOUGHTS = [
    "<think>The user wants tea.</think>\n\n",
    "<THINK>\nTea?\n</THINK> ",
    "<thinking>tea</thinking>",
    "\n<thought>tea</thought>\n",
    "<thoughts>tea</thoughts>",
    "<reasoning>tea</reasoning>\n",
    "<reflection>tea</reflection>\n",
    "<scratchpad>tea</scratchpad>\n",
    "<seed:think>tea</seed:think>",
    '<think signature="a b">tea</think>',
    "<think></think>\n\n",
    "<think>a</think>\n<think>b</think>\n",
    "<thinking>a <reflection>b</reflection> c</thinking>",
    "<think>in code: ```x = 1</think>",
    "<think>I write `</think>` at the end.</think>",
    "[THINK]tea[/THINK]",
    "◁think▷tea◁/think▷",
    "<|begin_of_thought|>tea<|end_of_thought|>\n",
    "<|START_THINKING|>tea<|END_THINKING|>",
    "<|channel>thought\ntea<channel|>",
    '<details type="reasoning" done="true" duration="3">\n<summary>Thought for 3 seconds</summary>\ntea\n</details>\n',
    "They ask for tea.\n</think>\n\n",
    "They ask for tea.</think>",
    "tea</thinking>\n",
    "```a```\n</think>\n",
    "<|channel|>analysis<|message|>They want tea.<|end|><|start|>assistant<|channel|>final<|message|>",
    "<|start|>assistant<|channel|>analysis<|message|>tea<|end|><|channel|>final <|constrain|>x<|message|>",
    "<|channel|>final<|message|>",
    "analysisThe user wants tea.assistantfinal",
]


@pytest.mark.parametrize("anywhere", [False, True])
@pytest.mark.parametrize("thought", THOUGHTS)
def test_thoughts_before_a_reply(thought: str, anywhere: bool) -> None:
    assert without_thoughts(f"{thought}Tea it is.\n\nOr not?", anywhere=anywhere) == "Tea it is.\n\nOr not?"
    assert without_thoughts(thought, anywhere=anywhere) == ""


@pytest.mark.parametrize(
    ("text", "spoken", "anywhere"),
    [
        ("<think>tea", "", ""),
        ("\n <thinking>tea\n\nOr coffee", "", ""),
        ("[THINK]tea", "", ""),
        ("<|channel|>analysis<|message|>They want", "", ""),
        ("Sure.\n<think>tea</think>\n\nTea.", "Sure.\nTea.", "Sure.\nTea."),
        ("Sure. <think>tea</think> Tea.", "Sure. <think>tea</think> Tea.", "Sure. Tea."),
        ("<think>a</think> b <think>c</think>", "b <think>c</think>", "b "),
        ("Sure.\n<think>tea", "Sure.\n<think>tea", "Sure.\n"),
        ("<think>a</think><answer>Tea.</answer>", "Tea.", "Tea."),
        ("<|channel|>final<|message|>Tea.<|return|>", "Tea.", "Tea."),
        ("<|START_THINKING|>a<|END_THINKING|><|START_RESPONSE|>Tea.<|END_RESPONSE|>", "Tea.", "Tea."),
    ],
)
def test_thoughts_elsewhere(text: str, spoken: str, anywhere: str) -> None:
    assert (without_thoughts(text), without_thoughts(text, anywhere=True)) == (spoken, anywhere)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  I think so. ",
        "a < b, thinking > doing",
        "The tag `<think>` begins, `</think>` ends a thought.",
        'Write "</think>" behind it.',
        "```html\n<think>a</think>\n```\nSo it goes.",
        "<details><summary>More</summary>x</details>",
        "<answer>Tea.</answer>",
        "I use <think> to begin.",
        "analysis of the assistant final report",
    ],
)
def test_who_speaks_of_tags_thinks_nothing(text: str) -> None:
    assert without_thoughts(text) == without_thoughts(text, anywhere=True) == text


def test_many_tags_are_read_once() -> None:
    assert without_thoughts("<think>" * 50_000) == ""
    assert without_thoughts("x" + "</think>" * 50_000).startswith("</think>")
