"""Chat messages of all providers to context, response and sources; turns in one text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rejoinder.data.chat import (
    as_chat,
    exchange,
    is_call,
    is_chat,
    messages_in,
    replies,
    spoken,
    turns,
    turns_in,
    without_thoughts,
)
from rejoinder.errors import DataError

ASKED = {"role": "user", "content": "Tea or coffee?"}
CALL = {"id": "c", "type": "function", "function": {"name": "shop", "arguments": "{}"}}


def said(content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **more}


def lc(name: str, **kwargs: Any) -> dict[str, Any]:
    return {"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", name], "kwargs": kwargs}


def last(messages: Any, **record: Any) -> dict[str, Any]:
    *_, reply = replies(messages, "a:1", record=record)
    return reply


CHATS = Path(__file__).parent / "chats"
DIALECTS: dict[str, Any] = json.loads((CHATS / "dialects.json").read_text())
CALLS: dict[str, Any] = json.loads((CHATS / "calls.json").read_text())


@pytest.mark.parametrize("messages", DIALECTS.values(), ids=DIALECTS)
def test_every_dialect_says_the_same(messages: list[Any]) -> None:
    assert is_chat(messages) and messages_in({"messages": messages}) == messages
    reply = last(messages)
    assert (reply["context"], reply["response"], reply["messages"]) == (["Tea or coffee?"], "Tea.", messages)
    assert as_chat(reply) == {"messages": messages}


@pytest.mark.parametrize("calls", CALLS.values(), ids=CALLS)
def test_calls_are_no_turns_and_their_results_are_sources(calls: list[dict[str, Any]]) -> None:
    reply = last([ASKED, *calls, said("Coffee.")])
    assert (reply["context"], reply["response"]) == (["Tea or coffee?"], "Coffee.")
    response = {"content": [{"text": "no tea"}]}
    assert reply["sources"] in (["no tea"], [json.dumps(response)])
    assert last([ASKED, *calls, said("Coffee.")], sources=["a", "no tea"])["sources"][:2] == ["a", "no tea"]
    assert is_call(calls[:1], "") and not is_call([*calls, said("Coffee.")], "")
    again = last([ASKED, said("Hm."), {"role": "user", "content": "So?"}, *calls])
    assert (again["response"], again["unanswered"]) == ("", "the user's last question has no answer")


@pytest.mark.parametrize(
    "beside",
    [
        said("It is done.", tool_calls=[CALL]),
        said("It is done.", function_call={"name": "end"}),
        said([{"type": "text", "text": "It is done."}, {"type": "tool_use", "name": "end"}]),
        {"role": "model", "parts": [{"text": "It is done."}, {"functionCall": {"name": "end"}}]},
        {"type": "ai", "data": {"content": "It is done.", "tool_calls": [CALL]}},
    ],
)
def test_text_beside_a_call_is_a_turn(beside: dict[str, Any]) -> None:
    result, later = {"role": "tool", "content": "ok"}, said("More?")
    assert last([ASKED, beside])["response"] == last([ASKED, beside, result])["response"] == "It is done."
    assert "sources" not in last([ASKED, beside, result]), "the result came after the reply"
    reply = last([ASKED, beside, result, later])
    assert (reply["context"], reply["response"], reply["sources"]) == (
        ["Tea or coffee?", "It is done."],
        "More?",
        ["ok"],
    )


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ([], ""),
        ("<think>never done", ""),
        ([{"type": "thinking", "thinking": "hm"}], ""),
        ([{"type": "text", "text": "Grass is "}, {"type": "text", "text": "green", "citations": []}], "Grass is green"),
        ([{"type": "text", "text": "I look."}, {"type": "tool_use"}, {"type": "text", "text": "So."}], "I look.\nSo."),
        ([{"type": "text", "text": "<think>hm"}, {"type": "text", "text": "</think>Tea."}], "Tea."),
        ([{"type": "image", "source": {}}], "[image]"),
        ([{"inlineData": {"mimeType": "audio/mp3", "data": "x"}}], "[audio]"),
        ([{"type": "file", "mediaType": "application/pdf"}, {"type": "image_url"}], "[file] [image]"),
    ],
)  # fmt: skip
def test_what_a_message_says(content: Any, text: str) -> None:
    assert last([ASKED, said(content)])["response"] == text


def test_blocks_of_a_user_are_lines() -> None:
    assert last([ASKED, said(None, refusal=True, audio={"transcript": ["x"]})])["response"] == ""
    asked = {"role": "user", "content": [{"type": "text", "text": "Tea?"}, {"type": "text", "text": "Or not?"}]}
    assert last([asked, said("No.")])["context"] == ["Tea?\nOr not?"]
    assert last([{"role": "user", "content": "<think> is a tag"}, said("Yes.")])["context"] == ["<think> is a tag"]


TALK = [{"role": "user", "content": "Hi"}, said("Hello"), {"role": "user", "content": "Tea?"}, said("No.")]


@pytest.mark.parametrize(
    ("after", "record", "response", "more"),
    [
        ([], {}, "No.", {}),
        (["Why not?"], {}, "", {"unanswered": "the user's last question has no answer"}),
        (["哪里？"], {}, "", {"unanswered": "the user's last question has no answer"}),
        (["Hello?? :-)"], {"unanswered": None}, "", {"unanswered": "the user's last question has no answer"}),
        (["Bye!"], {}, "No.", {"followed_by": ["Bye!"]}),
        (["Bye!"], {"unanswered": "timed out"}, "", {"unanswered": "timed out"}),
        (["Why not?"], {"unanswered": False}, "No.", {}),
        (["Why not?"], {"unanswered": "false"}, "No.", {}),
    ],
)
def test_the_users_last_words(after: list[str], record: dict[str, Any], response: str, more: dict[str, Any]) -> None:
    messages = [*TALK, *({"role": "user", "content": text} for text in after)]
    reply = last(messages, **record)
    assert (reply["response"], reply["messages"]) == (response, messages)
    assert {key: reply[key] for key in ("unanswered", "followed_by") if key in reply} == more
    every = list(replies(messages, "", every=True, record=record))
    assert [part["response"] for part in every] == ["Hello", "No.", *([""] if response == "" else [])]
    assert [len(part["messages"]) for part in every[:1]] == [2] and every[-1] == reply


def test_a_person_who_took_over_is_not_judged_as_the_bot() -> None:
    lines = [("customer", "Tea?"), ("bot", "I like turtles."), ("customer", "A person?"), ("agent", "Any sugar?")]
    messages = [{"role": role, "content": text} for role, text in lines]
    reply = last(messages)
    assert (reply["response"], reply["followed_by"]) == ("I like turtles.", ["A person?", "Any sugar?"])
    assert "unanswered" not in reply, "a person answered"
    assert [turn.role for turn in turns(messages, "")] == ["user", "assistant", "user", "staff"]
    assert [role for role, _ in spoken(messages, "")] == ["user", "assistant", "user", "user"]


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ([], "messages"),
        ("hi", "messages"),
        (["hi"], "messages"),
        ([{"role": "narrator", "content": "hi"}], "messages"),
        ([ASKED], "messages"),
        ([{"role": "assistant", "tool_calls": [CALL]}], "messages"),
    ],
)
def test_messages_that_cannot_be_read(value: Any, field: str) -> None:
    with pytest.raises(DataError) as error:
        last(value)
    assert (error.value.where, error.value.field) == ("a:1", field)


@pytest.mark.parametrize(
    ("asked", "answered", "context", "response"),
    [
        ("Tea?", "No.", ["Tea?"], "No."),
        ({"question": "Tea?"}, {"answer": "No.", "cost": 1}, ["Tea?"], "No."),
        ({"messages": [[lc("HumanMessage", content="Tea?")]]}, {"generations": [[{"text": "No."}]]}, ["Tea?"], "No."),
        ({"input": "Tea?", "chat_history": TALK[:2]}, {"output": "No."}, ["Hi", "Hello", "Tea?"], "No."),
        ({"messages": TALK[:3]}, {"messages": TALK}, ["Hi", "Hello", "Tea?"], "No."),
        (TALK[2], {"choices": [{"message": said("No.")}]}, ["Tea?"], "No."),
        (None, None, [], ""),
    ],
)
def test_what_came_in_and_went_out(asked: Any, answered: Any, context: list[str], response: str) -> None:
    chat = exchange(asked, answered, "")
    assert chat is not None
    reply = last(chat["messages"])
    assert (reply["context"], reply["response"]) == (context, response)


def test_what_could_be_several_texts_is_left_to_the_user() -> None:
    asked, answered = {"question": "Tea?", "tone": "kind"}, {"answer": "No."}
    assert exchange(asked, answered, "") == {"context": asked, "response": answered}
    with pytest.raises(DataError):
        exchange("Tea?", {"choices": [{"message": said("No.")}, {"message": said("Yes.")}]}, "")


@pytest.mark.parametrize(
    "value",
    [{"role": "assistant"}, {"name": "Ann", "role": "Engineer"}, {"choices": [{"text": "3"}, {"text": "4"}]}, {}, [1]],
)
def test_what_only_looks_like_a_message(value: Any) -> None:
    assert messages_in(value) is None and not is_chat([value])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("User: Hi!\nBot: Hello.\nUser: Tea?", ["Hi!", "Hello.", "Tea?"]),
        ("USER: Hi!\nSYSTEM: Hello.\nUSER: Tea?\nSYSTEM:", ["Hi!", "Hello.", "Tea?"]),
        ("System: Welcome.\nUser: Hi!\nSystem: Tea?", ["Welcome.", "Hi!", "Tea?"]),
        ("System: Be kind.\nUser: Hi!\nBot: Hello.\nUser: Tea?", ["Hi!", "Hello.", "Tea?"]),
        ("Hi! __eou__ Hello. __eou__ Tea?", ["Hi!", "Hello.", "Tea?"]),
        ("Hi! __eou__ __eot__ Tea? __eou__ __eot__", ["Hi!", "Tea?"]),
        ("Hi!|||Tea?", ["Hi!", "Tea?"]),
        ("Hi! EOS Tea? EOS", ["Hi!", "Tea?"]),
        ("Hi!</s>Tea?</s>", ["Hi!", "Tea?"]),
        *((text, [text]) for text in ("", "Tea?", "User: Tea?", "User: Hi!\nBot: Hello.", "Model: X\nSupport: -")),
        *((text, [text]) for text in ("What is the EOS token?", "<s>Tea</s> Coffee", "System: W11\nUser: a\nModel: X")),
        *((text, [text]) for text in ("User: Hi!\nBot: Yes?\nBot: Tea?", "User: a\nBot: b\nAgent: c", "It: User: a")),
    ],
)  # fmt: skip
def test_turns_in_one_text(text: str, found: list[str]) -> None:
    assert turns_in(text) == found


def test_back_to_messages() -> None:
    record = {"context": ["a", "b"], "response": "c", "speakers": ["user", "assistant", "assistant"], "id": "1"}
    assert [message["role"] for message in as_chat(record)["messages"]] == record["speakers"]
    other = {"context": ["x"], "response": "y", "messages": TALK}
    assert as_chat(other) == other, "messages that say something else stay beside it"
    assert without_thoughts("<think>hm</think>Tea.") == "Tea."
