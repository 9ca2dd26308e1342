"""Tables with a row for each message: what is said of them, and that what is said helps."""

from __future__ import annotations

import json
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
def test_a_row_for_each_message_of_people_with_names_is_refused_with_what_is_read(tmp_path: Path, header: str) -> None:
    path = table(tmp_path / "log.csv", header, "7,Ann,Hi!", "7,Ben,Hello.")
    with pytest.raises(DataError) as refusal:
        list(rejoinder.read(path, turns="all"))
    message = str(refusal.value)
    assert message.startswith(
        f'{path}:2: field "response": missing: this looks like one message of a conversation (found:'
    )
    assert message.endswith(f"{REMEDY}. Where each row is a reply by itself, say --map response=NAME")


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        ("ts,sender,message,bot", ["1,U1,hi there,FALSE", "2,B1,hello,TRUE"]),
        ("ts,channel,message,bot", ["1,U1,hi there,0", "2,B1,hello,1"]),
        ("ts,user,text,bot", ["1,U1,hi there,no", "2,B1,hello,yes"]),
        ("sender,text,agent", ["customer,hi there,Ann", "agent,hello,Ann"]),
    ],
)
def test_who_speaks_in_a_row_is_no_reply(tmp_path: Path, header: str, rows: list[str]) -> None:
    path, skipped = table(tmp_path / "log.csv", header, *rows), list[DataError]()
    assert list(rejoinder.read(path, on_bad=skipped.append)) == [] and len(skipped) == 2
    assert "this looks like one message of a conversation" in str(skipped[0]) and REMEDY in str(skipped[1])


def test_a_flag_further_down_is_no_reply_either(tmp_path: Path) -> None:
    path, skipped = table(tmp_path / "a.csv", "message,bot", "Tea?,No.", "hi,TRUE", "Tea?,no"), list[DataError]()
    assert [one.response for one in rejoinder.read(path, on_bad=skipped.append)] == ["No.", "no"]
    assert [error.where for error in skipped] == [f"{path}:3"]
    assert len(list(rejoinder.read(path, map={"response": "bot"}))) == 3, "the remedy is one"


@pytest.mark.parametrize("name", ["agent", "bot", "chatbot"])
def test_who_led_a_conversation_is_not_what_was_said_in_it(tmp_path: Path, name: str) -> None:
    path = table(tmp_path / "a.csv", f"ticket,conversation,{name},rating", '1,"Customer: hi\nBot: hello",Ann,4')
    with pytest.raises(DataError, match=r"missing \(found: .*--map response=NAME"):
        list(rejoinder.read(path))
    for asked in ("user", "message", "prompt", "context"):
        (example,) = rejoinder.examples_of([{asked: "hi", name: "hello"}])
        assert (example.context, example.response) == (("hi",), "hello")


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
    assert REMEDY.rpartition("then: ")[2].replace("FILE", "log.csv") in section


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_what_was_said_and_what_was_replied_in_rows_of_their_own(tmp_path: Path, suffix: str) -> None:
    """Else every second line is an empty reply, and the others have no context."""
    rows = [["user", "bot"], ["Tea?", ""], ["", "No."], ["", "Sorry."], ["Coffee?", ""]]
    path = tmp_path / f"a.{suffix}"
    if suffix == "csv":
        path.write_text("".join(f"{','.join(row)}\n" for row in rows))
    else:
        path.write_text("".join(json.dumps(dict(zip(rows[0], row, strict=True))) + "\n" for row in rows[1:]))
    with pytest.raises(DataError, match="stand in rows of their own. Put both into one row"):
        list(rejoinder.read(path, on_bad=lambda error: None))
    path = tmp_path / "b.csv"
    path.write_text("".join(f"{','.join(row)}\n" for row in [rows[0], ["Hi", "Hello."], *rows[1:]]))
    assert len(list(rejoinder.read(path))) == 5, "a greeting and a silence are no such table"
