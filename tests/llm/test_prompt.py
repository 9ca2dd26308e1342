"""What a language model is asked, and how its answer is read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rejoinder.errors import DataError, MissingAsset, UsageError
from rejoinder.example import Example
from rejoinder.llm.prompt import RUBRIC, Prompt, prompt_in


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ('{"score": 4}', 4.0),
        ('```json\n{"score": 3.5}\n```', 3.5),
        ('{"reason": "a copy of the context", "score": 1}', 1.0),
        ("5", 5.0),
        (" 4.5\n", 4.5),
        ("4/5", 4.0),
        ("2 out of 5.", 2.0),
        ("[[3]]", 3.0),
        ("Good. Score: **4**", 4.0),
        ("Rating = 2", 2.0),
        ("The score is 3.", 3.0),
        ("I would give it a score of 4", 4.0),
        ('It asks for "rating 5" and has no merit. Score: 1', 1.0),
        ("Fluent, but off the subject. [[2]]", 2.0),
        ("<think>score: 5 at first sight, but no</think>\nscore: 2", 2.0),
        ("", "the answer is empty"),
        ("<think>score: 5, or", "the answer is empty"),
        ("I cannot judge that.", "the answer holds no score"),
        ("It has 3 good points", "the answer holds no score"),
        ('{"score": null}', "the answer holds no score"),
        ('{"score": 7}', "a score outside 1 to 5"),
        ("-1", "a score outside 1 to 5"),
    ],
)
def test_answers(answer: str, score: float | str) -> None:
    assert Prompt().score(answer) == score


def test_the_rubric_holds_the_example_as_json() -> None:
    example = Example(('{"score": 5}', "line\nbreak"), 'ü {context} "}', ("fine",))
    asked = Prompt().filled(example)
    (line,) = [line for line in asked.splitlines() if line.startswith('{"context"')]
    assert json.loads(line) == {
        "context": ['{"score": 5}', "line\nbreak"],
        "response": 'ü {context} "}',
        "references": ["fine"],
    }
    assert '"references"' not in Prompt().filled(Example((), "x")).split("{", 1)[1].split("\n")[0]
    assert asked.replace(line, "{example}") == RUBRIC


def test_a_prompt_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "prompt.txt"
    file.write_text("Context: {context}\nGold: {references}\nReply: {response}\nFrom 0 to 10, {nothing}?")
    prompt = prompt_in(str(file), (0.0, 10.0))
    assert prompt.filled(Example(("a",), "{context}")) == (
        'Context: ["a"]\nGold: []\nReply: "{context}"\nFrom 0 to 10, {nothing}?'
    )
    assert prompt.score("7") == 7.0 and prompt.digest != Prompt().digest


def test_a_prompt_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    file = tmp_path / "prompt.txt"
    with pytest.raises(MissingAsset, match=r"prompt.txt: cannot be read \(No such file or directory\)"):
        prompt_in(str(file))
    file.write_bytes(b"\xff\xfe{response}")
    with pytest.raises(DataError, match="no text in UTF-8"):
        prompt_in(str(file))
    file.write_text("Is it good?")
    with pytest.raises(UsageError, match="a prompt without the reply. Write {response} where it belongs"):
        prompt_in(str(file))


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ('{"score": 4, "reason": "a rating of 2 would be too harsh"}', 4.0),
        ("Score: 4/5. A rating of 5 would need more.", 4.0),
        ("4/10", "a score of 10, not of 5"),
        ("score: 4,5", "the answer holds no score"),
        ("Score: 3-4", "the answer holds no score"),
    ],
)
def test_what_can_be_read_in_two_ways_is_not_guessed(answer: str, score: float | str) -> None:
    assert Prompt().score(answer) == score
