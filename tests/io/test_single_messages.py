"""Tables with a row for each message: what is said of them, and that what is said helps."""

from __future__ import annotations

from pathlib import Path

import pytest

import rejoinder
from conftest import PROJECT, Run, refused
from rejoinder.errors import DataError
from rejoinder.io.single_messages import REMEDY, is_one_message


def table(path: Path, *rows: str) -> Path:
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "header",
    [
        "conversation_id,speaker,text",
        "conversation id,Role,Content",
        "chat_id,sender_name,message",
        "thread,Message Author,Body",
        "session_id,from,utterance",
        "id,senderType,message text",
    ],
)
def test_a_row_for_each_message_is_refused_with_the_form_that_is_read(tmp_path: Path, header: str) -> None:
    path = table(tmp_path / "log.csv", header, "7,user,Hi!", "7,bot,Hello.")
    with pytest.raises(DataError) as refusal:
        list(rejoinder.read(path, turns="all"))
    message = str(refusal.value)
    assert message.startswith(
        f'{path}:2: field "response": missing: this looks like one message of a conversation (found:'
    )
    assert message.endswith(f"{REMEDY}. Where each row is a reply by itself, say --map response=NAME")


OTHERS = ["text,label", "role,title", "prompt,label", "author,title", "conversation_id,text", "fromage,text"]


@pytest.mark.parametrize("header", OTHERS)
def test_other_rows_without_a_reply_are_told_the_usual(tmp_path: Path, header: str) -> None:
    assert not is_one_message(header.split(","))
    with pytest.raises(DataError, match=r"missing \(found: .*\), expected text\. Give every line a"):
        list(rejoinder.read(table(tmp_path / "a.csv", header, "1,hi")))


def test_rows_with_a_reply_are_read_whoever_speaks() -> None:
    (example,) = rejoinder.examples_of([{"speaker": "bot", "text": "x", "message": "Hi!", "reply": "Hello."}])
    assert (example.context, example.response) == (("Hi!",), "Hello.")


def test_a_message_as_a_line_of_json_is_refused_so_too(tmp_path: Path, run: Run) -> None:
    path = table(tmp_path / "log.jsonl", '{"role": "user", "content": "Hi!"}')
    problem = "missing: this looks like one message of a conversation (found: role, content)"
    remedy = f"{REMEDY}. Where each row is a reply by itself, say --map response=NAME"
    refused(run("score", path, "-s", "length"), 3, f'{path}:1: field "response": {problem}. {remedy}')


def test_whoever_says_that_all_messages_are_replies_is_told_what_that_means(tmp_path: Path) -> None:
    path, said = table(tmp_path / "log.csv", "thread,sender,text", "7,customer,Hi!"), list[str]()
    assert len(list(rejoinder.read(path, map={"response": "text"}, note=said.append))) == 1
    assert said == [
        f"{path}: nothing was read as context, and not read at all: thread and sender. "
        f"Where sender says who speaks, messages of all speakers are judged. {REMEDY}"
    ]


def test_what_is_named_is_there() -> None:
    page = (PROJECT / "docs" / "formats.md").read_text(encoding="utf-8")
    section = page.partition("\n## A row for each message\n")[2].partition("\n## ")[0]
    command = REMEDY.rpartition("then: ")[2]
    assert "```python\n" in section and f"`{command}`" in section
