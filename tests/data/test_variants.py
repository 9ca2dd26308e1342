"""Shapes of the shared cases in other clothes: each is read as it should be, or refused."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from rejoinder.data.examples import to_record
from rejoinder.data.read import read_lines
from rejoinder.errors import DataError
from rejoinder.example import Pair

TURNS = ["Hi there.", "Hello, how are you?", "Tired."]
REPLY = "Get some sleep."


def read(tmp_path: Path, record: dict[str, Any], suffix: str = "jsonl") -> tuple[list[dict[str, Any]], list[str]]:
    path, notes = tmp_path / f"lines.{suffix}", list[str]()
    if suffix == "jsonl":
        path.write_text(json.dumps(record), encoding="utf-8")
    else:
        with path.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows([[*record], [*record.values()]])
    lines = list(read_lines(path, note=notes.append))
    return [to_record(reply) for line in lines for reply in (line.replies if isinstance(line, Pair) else [line])], notes


@pytest.mark.parametrize("mark", ["__EOS__", "<EOS>", "<sep>", "[EOT]", "<|im_end|>", "</s>", " EOS ", "|||"])
def test_a_mark_separates_turns(tmp_path: Path, mark: str) -> None:
    (record,), _ = read(tmp_path, {"context": mark.join(TURNS), "response": REPLY})
    assert record["context"] == TURNS


@pytest.mark.parametrize(
    "form", ["<|im_start|>{}\n{}<|im_end|>\n", "<start_of_turn>{}\n{}<end_of_turn>\n", "**{}:** {}\n"]
)
def test_a_template_is_turns(tmp_path: Path, form: str) -> None:
    names = ["user", "assistant", "user"]
    text = "".join(form.format(*both) for both in zip(names, TURNS, strict=True))
    (record,), _ = read(tmp_path, {"context": text, "response": f"Assistant: {REPLY}"})
    assert (record["context"], record["response"]) == (TURNS, REPLY)


@pytest.mark.parametrize("context", [" | ".join(TURNS), "Ann: Hi\nBob: Hello\nAnn: Tired", "User: Hi\nBot: Hello"])
def test_what_may_be_turns_is_noted(tmp_path: Path, context: str) -> None:
    (record,), notes = read(tmp_path, {"context": context, "response": REPLY})
    assert record["context"] == [context] and len(notes) == 1


@pytest.mark.parametrize("text", ["My Canon EOS 5D is broken.", "What is the </s> token?", "Use <s>a</s> b."])
def test_prose_about_marks_is_one_turn(tmp_path: Path, text: str) -> None:
    (record,), _ = read(tmp_path, {"context": text, "response": REPLY})
    assert record["context"] == [text]


THOUGHTS = [
    "<think>hm</think>",
    "hm</think>\n",
    "[THINK]hm[/THINK]",
    "<analysis>hm</analysis>",
    "<|think|>hm<|/think|>",
]


@pytest.mark.parametrize("thought", THOUGHTS)
def test_thoughts_are_no_part_of_a_reply(tmp_path: Path, thought: str) -> None:
    single = {"context": ["Hi", f"{thought}Hello", "Tired"], "response": thought + REPLY}
    (record,), _ = read(tmp_path, single)
    assert (record["context"][1], record["response"]) == ("Hello", REPLY)
    pair, _ = read(tmp_path, {"prompt": "Hi", "chosen": thought + REPLY, "rejected": "No."}, "csv")
    assert [reply["response"] for reply in pair] == [REPLY, "No."]


@pytest.mark.parametrize("cell", ["('Hi', 'Tea?')", json.dumps(json.dumps(["Hi", "Tea?"])), "['Hi', 'Tea?']"])
def test_a_list_in_a_cell_is_its_texts(tmp_path: Path, cell: str) -> None:
    (record,), _ = read(tmp_path, {"context": cell, "response": REPLY}, "csv")
    assert record["context"] == ["Hi", "Tea?"]


LOST = [
    "['Hi' 'Tea?']",
    "array(['Hi', 'Tea?'], dtype='<U4')",
    "list(['Hi', 'Tea?'])",
    "[u'Hi', u'Tea?']",
    '{"Hi","Tea?"}',
]


@pytest.mark.parametrize("cell", LOST)
def test_a_list_in_another_form_is_refused(tmp_path: Path, cell: str) -> None:
    with pytest.raises(DataError) as raised:
        read(tmp_path, {"context": cell, "response": REPLY}, "csv")
    assert raised.value.field == "context"


@pytest.mark.parametrize("ratings", [["yes", "3"], ["3", "yes"], ["01.05", "2"], ["3/5", "7"]])
def test_unlike_ratings_of_one_column_are_refused(tmp_path: Path, ratings: list[str]) -> None:
    path = tmp_path / "rated.csv"
    path.write_text("context,response,rating\n" + "".join(f"Q{n},A,{cell}\n" for n, cell in enumerate(ratings)))
    with pytest.raises(DataError) as raised:
        list(read_lines(path))
    assert raised.value.field == "rating"


@pytest.mark.parametrize("name", ["when", "event_time", "Uhrzeit"])
def test_times_under_another_name_are_not_passed_over(tmp_path: Path, name: str) -> None:
    path = tmp_path / "chat.csv"
    path.write_text(f"chat_id,sender,message,{name}\n1,bot,Hello,10:01\n1,user,Hi,10:00\n")
    with pytest.raises(DataError) as raised:
        list(read_lines(path))
    assert raised.value.field == name


def test_names_have_one_spelling(tmp_path: Path) -> None:
    rows = "".join(
        f"1,Q,A,{rating},{rater},GPT 4\u200b\n" for rating, rater in (("3", "ann"), ("3", "ann "), ("4", "bob"))
    )
    path = tmp_path / "rated.csv"
    path.write_text("id,prompt,response,rating,rater,model\n" + rows, encoding="utf-8")
    (line,) = read_lines(path)
    assert isinstance(line, Pair) or ([rating.rater for rating in line.ratings], line.system) == (
        ["ann", "bob"],
        "GPT 4",
    )
