"""Logs of the usual chat interfaces: one conversation each, whatever the dialect; and every turn of the assistant."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

import rejoinder
from conftest import Run
from rejoinder.errors import DataError
from rejoinder.example import Example, Rating

ASKED = [{"role": "user", "content": "Tea or coffee?"}]
COMPLETION = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "model": "gpt-x",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Tea."}, "finish_reason": "stop"}],
    "usage": {"total_tokens": 9},
}
RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "model": "gpt-x",
    "output": [
        {"type": "reasoning", "summary": []},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Tea.", "annotations": []}],
        },
    ],
}
CLAUDE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-x",
    "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Tea."}],
}
GEMINI = {"candidates": [{"content": {"role": "model", "parts": [{"text": "hm", "thought": True}, {"text": "Tea."}]}}]}

LOGS: dict[str, Any] = {
    "messages": [*ASKED, {"role": "assistant", "content": "Tea."}],
    "messages under their name": {"messages": [*ASKED, {"role": "assistant", "content": "Tea."}]},
    "parts": {"messages": [{"role": "user", "content": [{"type": "text", "text": "Tea or coffee?"}]}, CLAUDE]},
    "a refusal": {"messages": [*ASKED, {"role": "assistant", "content": None, "refusal": "Tea."}]},
    "instructions": [{"role": "developer", "content": "Be brief."}, *ASKED, {"role": "assistant", "content": "Tea."}],
    "a request and its completion": {"request": {"model": "gpt-x", "messages": ASKED, "n": 1}, "response": COMPLETION},
    "a batch": {
        "custom_id": "7",
        "request": {"url": "/v1/chat/completions", "body": {"model": "gpt-x", "messages": ASKED}},
        "response": {"status_code": 200, "body": COMPLETION},
    },
    "messages beside the completion": {"messages": ASKED, **COMPLETION},
    "messages beside the reply": {"messages": ASKED, "completion": "Tea."},
    "messages beside the response": {"messages": ASKED, "response": COMPLETION},
    "OpenAI's responses": {"request": {"model": "gpt-x", "input": "Tea or coffee?"}, "response": RESPONSE},
    "its items": {
        "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Tea or coffee?"}]}],
        "output": RESPONSE["output"],
    },
    "its whole response": {"input": "Tea or coffee?", **RESPONSE},
    "Anthropic": {"request": {"system": "Be brief.", "max_tokens": 9, "messages": ASKED}, "response": CLAUDE},
    "Anthropic, a system of blocks": {
        "system": [{"type": "text", "text": "Be brief."}],
        "max_tokens": 9,
        "messages": [*ASKED, {"role": "assistant", "content": CLAUDE["content"]}],
    },
    "Gemini": {"request": {"contents": [{"role": "user", "parts": [{"text": "Tea or coffee?"}]}]}, "response": GEMINI},
    "Gemini's history": {
        "contents": [
            {"role": "user", "parts": [{"text": "Tea or coffee?"}]},
            {"role": "model", "parts": [{"text": "Tea."}]},
        ]
    },
    "ShareGPT": {
        "system": "Be brief.",
        "conversations": [{"from": "human", "value": "Tea or coffee?"}, {"from": "gpt", "value": "Tea."}],
    },
    "Cohere": {"chat_history": [], "message": "Tea or coffee?", "response": "Tea."},
    "LangChain": {
        "messages": [
            {"type": "system", "content": "Be brief."},
            {"type": "human", "content": "Tea or coffee?"},
            {"type": "ai", "content": "Tea.", "tool_calls": []},
        ]
    },
    "LangChain, as saved": [
        {"type": "human", "data": {"content": "Tea or coffee?", "type": "human"}},
        {"type": "ai", "data": {"content": "", "tool_calls": [{"name": "shop"}]}},
        {"type": "tool", "data": {"content": "[]"}},
        {"type": "ai", "data": {"content": "Tea.", "type": "ai"}},
    ],
    "LangChain, input and output": {"input": [{"type": "human", "content": "Tea or coffee?"}], "output": "Tea."},
    "LMSYS": {"conversation": [*ASKED, {"role": "assistant", "content": "Tea."}], "model": "gpt-x"},
    "prompt and completion": {"prompt": "Tea or coffee?", "completion": "Tea."},
    "prompt and completion in messages": {"prompt": ASKED, "completion": [{"role": "assistant", "content": "Tea."}]},
    "Alpaca": {"instruction": "Tea or coffee?", "input": "", "output": "Tea."},
    "completions": {"prompt": "Tea or coffee?", "choices": [{"text": "Tea.", "index": 0}]},
}


def read_all(path: Path, *records: Any, **how: Any) -> list[Example]:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return list(rejoinder.read(path, **how))


@pytest.mark.parametrize("record", LOGS.values(), ids=LOGS)
def test_every_dialect_says_the_same(tmp_path: Path, record: Any) -> None:
    (example,) = read_all(tmp_path / "a.jsonl", record)
    assert (example.context, example.response) == (("Tea or coffee?",), "Tea.")
    assert example.system in (None, "gpt-x", "claude-x"), "instructions are nobody's name"


@pytest.mark.parametrize("record", LOGS.values(), ids=LOGS)
def test_every_dialect_survives_being_written(tmp_path: Path, record: Any) -> None:
    found = read_all(tmp_path / "a.jsonl", record)
    for name in ("b.jsonl", "b.csv"):
        rejoinder.write(found, tmp_path / name)
        (again,) = rejoinder.read(tmp_path / name)
        assert (again.context, again.response, again.system) == (("Tea or coffee?",), "Tea.", found[0].system)


def test_what_a_log_knows_beside_is_kept(tmp_path: Path) -> None:
    call = {"request": {"model": "m", "messages": ASKED, "temperature": 1}, "response": COMPLETION, "user_id": 3}
    (example,) = read_all(tmp_path / "a.jsonl", call)
    assert example.system == "gpt-x" and example.extra["user_id"] == 3
    assert example.extra["request"] == {"model": "m", "temperature": 1}
    assert example.extra["reply"]["usage"] == {"total_tokens": 9}
    (example,) = read_all(tmp_path / "a.jsonl", LOGS["Anthropic, a system of blocks"])
    assert example.extra["system_prompt"] == [{"type": "text", "text": "Be brief."}]
    (example,) = read_all(tmp_path / "a.jsonl", COMPLETION)
    assert (example.context, example.response, example.system) == ((), "Tea.", "gpt-x")


CALLS: dict[str, list[dict[str, Any]]] = {
    "OpenAI": [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": {"name": "shop"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "[]"},
    ],
    "OpenAI's items": [
        {"type": "function_call", "name": "shop", "arguments": "{}", "call_id": "1"},
        {"type": "function_call_output", "call_id": "1", "output": "[]"},
    ],
    "Anthropic": [
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "Let me see."}, {"type": "tool_use", "name": "shop"}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "[]"}]},
    ],
    "Gemini": [
        {"role": "model", "parts": [{"functionCall": {"name": "shop"}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "shop"}}]},
    ],
    "ShareGPT": [{"from": "function_call", "value": "shop()"}, {"from": "observation", "value": "[]"}],
}


@pytest.mark.parametrize("calls", CALLS.values(), ids=CALLS)
def test_what_an_assistant_and_its_tools_say_to_each_other_is_no_turn(
    tmp_path: Path, calls: list[dict[str, Any]]
) -> None:
    record = {"messages": [*ASKED, *calls, {"role": "assistant", "content": "Tea."}]}
    (example,) = read_all(tmp_path / "a.jsonl", record)
    assert (example.context, example.response) == (("Tea or coffee?",), "Tea.")


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (
            {"messages": ASKED, "choices": [*COMPLETION["choices"], *COMPLETION["choices"]]},
            '"choices": 2 choices, expected',
        ),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "message 1 has no text content"),
        ({"messages": ["hi"]}, "message 1 is text."),
        ({"messages": [{"role": "narrator", "content": "hi"}]}, "message 1 has role 'narrator'"),
        ({"request": {"messages": ASKED}, "response": {"error": "busy"}}, '"response": is an object, expected text'),
    ],
)
def test_logs_that_cannot_be_read(tmp_path: Path, record: Any, message: str) -> None:
    with pytest.raises(DataError, match=message.replace("(", r"\(")):
        read_all(tmp_path / "a.jsonl", record)


def test_a_question_with_choices_is_no_log(tmp_path: Path) -> None:
    (example,) = read_all(tmp_path / "a.jsonl", {"question": "Which?", "choices": ["a", "b"], "answer": "a"})
    assert (example.context, example.response, example.extra) == (("Which?",), "a", {"choices": ["a", "b"]})


ANSWERED = [*ASKED, {"role": "assistant", "content": "Tea."}]


@pytest.mark.parametrize("name", ["response", "output", "answer"])
def test_a_reply_that_stands_in_the_messages_too_is_judged_once(tmp_path: Path, name: str) -> None:
    for turns in ("last", "all"):
        (example,) = read_all(tmp_path / "a.jsonl", {"messages": ANSWERED, name: "Tea."}, turns=turns)
        assert (example.context, example.response) == (("Tea or coffee?",), "Tea.")


@pytest.mark.parametrize(
    ("name", "remedies"),
    [
        ("response", [{"response": ""}, {"messages": ""}]),
        ("answer", [{"references": "answer"}, {"response": ""}, {"messages": "", "response": "answer"}]),
    ],
)
@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_two_last_replies_are_refused_with_the_remedy(
    tmp_path: Path, name: str, remedies: list[dict[str, str]], suffix: str
) -> None:
    path = tmp_path / f"a.{suffix}"
    cells = {"messages": json.dumps(ANSWERED), name: "Coffee."}
    if suffix == "csv":
        with path.open("w", newline="") as stream:
            csv.writer(stream).writerows([cells.keys(), cells.values()])
    else:
        path.write_text(json.dumps({**cells, "messages": ANSWERED}))
    with pytest.raises(DataError, match="messages end with"):
        list(rejoinder.read(path))
    replies = [next(iter(rejoinder.read(path, map=remedy))).response for remedy in remedies]
    assert replies == [*["Tea."] * (len(remedies) - 1), "Coffee."]


def test_messages_in_a_cell_may_wait_for_the_reply_beside_them(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([["messages", "answer"], [json.dumps([*ANSWERED, *ASKED]), "Coffee."]])
    (example,) = rejoinder.read(path)
    assert (example.context, example.response) == (("Tea or coffee?", "Tea.", "Tea or coffee?"), "Coffee.")


CAME_IN, WENT_OUT = [{"role": "user", "content": "Tea?"}], {"role": "assistant", "content": "No."}


REPLIES = [WENT_OUT, [WENT_OUT], {"choices": [{"message": WENT_OUT}]}, {"messages": [*CAME_IN, WENT_OUT]}, "No."]


@pytest.mark.parametrize("asked", [CAME_IN, {"messages": CAME_IN}, CAME_IN[0], {"messages": CAME_IN, "tools": []}])
@pytest.mark.parametrize("said", REPLIES)
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_traces_hold_messages_in_lines_and_in_cells(tmp_path: Path, asked: Any, said: Any, name: str) -> None:
    path = tmp_path / name
    if name == "a.csv":
        with path.open("w", newline="") as file:
            cells = [one if isinstance(one, str) else json.dumps(one) for one in (asked, said)]
            csv.writer(file).writerows([["input", "output"], cells])
    else:
        path.write_text(json.dumps({"input": asked, "output": said}))
    (found,) = rejoinder.read(path)
    assert (found.context, found.response) == (("Tea?",), "No.")


@pytest.mark.parametrize(
    "reply",
    [
        *('{"text": "Hi", "mood": "glad"}', '{"message": "Booked.", "success": true}', '{"content": "Hi"}'),
        *('{"name": "Ann", "role": "Engineer"}', '[{"name": "Ann", "role": "Engineer"}]', '{"role": "assistant"}'),
        *('{"question": "2+2?", "choices": [{"text": "3"}, {"text": "4"}]}', '{"candidates": [{"name": "Ann"}]}'),
        *("{not json}", "{}", '{"mood": "glad"}', "[1]", "[laughs] hi", "{" * 2000 + "}" * 2000),
    ],
)
def test_a_reply_that_only_looks_like_a_message_stays_as_it_is(tmp_path: Path, reply: str) -> None:
    path = tmp_path / "a.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["input", "output"], ["Tea?", reply], [reply.lstrip("["), "No."]])
    first, second = rejoinder.read(path)
    assert (first.response, second.context) == (reply, (reply.lstrip("["),))
    rejoinder.write([Example(("Tea?",), reply)], tmp_path / "b.csv")
    assert next(iter(rejoinder.read(tmp_path / "b.csv"))).response == reply


def test_a_reply_inside_an_object_is_told_and_can_be_named(tmp_path: Path) -> None:
    path, said = tmp_path / "a.csv", list[str]()
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["question", "output"], *([["Tea?", '{"answer": "No.", "cost": 1}']] * 2)])
    assert {one.response for one in rejoinder.read(path, note=said.append)} == {'{"answer": "No.", "cost": 1}'}
    held = "output holds JSON, which is judged as it stands"
    remedy = "If the reply is one text in it, say which: --map response=output.KEY"
    assert said[1:] == [f"{path}: {held}. {remedy}"]
    named = list(rejoinder.read(path, map={"response": "output.answer"}, note=said.append))
    assert [one.response for one in named] == ["No.", "No."] and len(said) == 3


def test_where_a_reply_may_be_inside_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"inputs": {"question": "Tea?"}, "outputs": {"answer": "No."}}')
    with pytest.raises(DataError, match=r"NAME may be one inside an object \(inputs.question, outputs.answer\)$"):
        list(rejoinder.read(path))


def test_the_history_of_cohere_tells_who_spoke(tmp_path: Path) -> None:
    said = [
        {"role": "USER", "message": "Hi."},
        {"role": "CHATBOT", "message": "Hello."},
        {"role": "CHATBOT", "message": "?"},
    ]
    call = {"chat_history": said, "message": "Tea?", "response": "No."}
    (example,) = read_all(tmp_path / "a.jsonl", call)
    assert (example.context, example.response) == (("Hi.", "Hello.", "?", "Tea?"), "No.")
    assert example.extra["speakers"] == ["user", "assistant", "assistant", "user", "assistant"]


# Every turn

TALK = {
    "id": "t1",
    "rating": 4,
    "references": ["Bye."],
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello"},
        {"role": "user", "content": "Tea?"},
        *CALLS["OpenAI"],
        {"role": "assistant", "content": "No."},
        {"role": "user", "content": "Bye"},
    ],
}


def test_every_turn_of_the_assistant_is_an_example(tmp_path: Path) -> None:
    first, second = read_all(tmp_path / "a.jsonl", TALK, turns="all")
    assert (first.id, first.context, first.response) == ("t1#1", ("Hi",), "Hello")
    assert (second.id, second.context, second.response) == ("t1#2", ("Hi", "Hello", "Tea?"), "No.")
    assert first.extra["dialogue_id"] == second.extra["dialogue_id"] == "t1"
    assert first.context_key == second.context_key, "contexts of one conversation are not independent"
    assert (first.ratings, first.references) == ((), ())
    assert (second.ratings, second.references) == ((Rating(4),), ("Bye.",))
    assert (first.extra.get("followed_by"), second.extra["followed_by"]) == (None, ["Bye"])
    rejoinder.write([first, second], tmp_path / "b.jsonl", format="chat")
    assert [example.response for example in rejoinder.read(tmp_path / "b.jsonl")] == ["Hello", "No."]


@pytest.mark.parametrize("reply", [{"completion": "Bye."}, {"response": COMPLETION}, {"response": "Bye."}])
def test_every_turn_is_judged_where_the_last_stands_beside_the_messages(tmp_path: Path, reply: dict[str, Any]) -> None:
    first, second, third = read_all(tmp_path / "a.jsonl", {**TALK, **reply}, turns="all")
    assert [one.response for one in (first, second)] == ["Hello", "No."] and third.response in ("Bye.", "Tea.")
    assert (third.id, third.context) == ("t1#3", ("Hi", "Hello", "Tea?", "No.", "Bye"))
    assert (second.ratings, third.ratings) == ((), (Rating(4),)), "the rating is of the last turn"


def test_the_last_turn_is_the_usual_and_lines_without_messages_stay(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "a.jsonl"
    (last, other) = read_all(path, TALK, {"id": "2", "context": ["x"], "response": "y"})
    assert (last.id, last.response) == ("t1", "No.")
    done = run("score", path, "-s", "length", "--turns", "all")
    assert [record["id"] for record in done.records] == ["t1#1", "t1#2", other.id]


def test_every_turn_of_a_context_that_tells_who_spoke(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "a.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        said = "User: Hi\nBot: Hello\nBot: How are you?\nUser: Tea?"
        rows = [["c", said, "No.", "4"], ["d", "Hi __eou__ Hello __eou__ Tea?", "Yes.", "5"]]
        csv.writer(stream).writerows([["id", "context", "response", "rating"], *rows])
    first, second, third, other = rejoinder.read(path, turns="all")
    assert [one.response for one in (first, second, third)] == ["Hello", "How are you?", "No."]
    assert (third.id, third.context) == ("c#3", ("Hi", "Hello", "How are you?", "Tea?"))
    assert (first.ratings, third.ratings) == ((), (Rating(4),)) and first.context_key == third.context_key
    assert "messages" not in first.extra
    assert (other.id, other.context, other.response) == ("d", ("Hi", "Hello", "Tea?"), "Yes."), "nobody says who spoke"
    line = {"context": [*ASKED, {"role": "assistant", "content": "Hm."}], "response": "Tea."}
    assert [one.response for one in rejoinder.examples_of([line], turns="all")] == ["Hm.", "Tea."]


def ended(*last: dict[str, Any]) -> dict[str, Any]:
    """A chat with something behind its only reply."""
    asked = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    return {"id": "c", "messages": [*asked, *last]}


@pytest.mark.parametrize("asked", ["Where is my parcel?", "哪里？", 'Is it "gone"?!', "Hello?? :-)"])
@pytest.mark.parametrize("call", [[], CALLS["OpenAI"]], ids=["nothing", "a call"])
def test_a_last_question_without_an_answer_has_no_reply(tmp_path: Path, asked: str, call: list[Any]) -> None:
    chat = ended({"role": "user", "content": asked}, *call)
    (found,) = read_all(tmp_path / "a.jsonl", chat)
    assert (found.context, found.response, found.unanswered) == (("Hi", "Hello", asked), "", True)
    first, second = read_all(tmp_path / "a.jsonl", chat, turns="all")
    assert (first.id, first.response, first.unanswered) == ("c#1", "Hello", False)
    assert (second.id, second.context, second.unanswered) == ("c#2", found.context, True)


@pytest.mark.parametrize("last", ["Thanks, bye!", "My parcel has not arrived."])
def test_a_reply_before_the_users_last_words_is_noted(tmp_path: Path, run: Run, last: str) -> None:
    path = tmp_path / "a.jsonl"
    (found,) = read_all(path, ended({"role": "user", "content": last}))
    assert (found.response, found.unanswered, found.extra["followed_by"]) == ("Hello", False, [last])
    scored = run("score", path, "-s", "length", "-o", tmp_path / "b.csv")
    assert '1 of 1 replies is noted as "the user spoke last" (length)' in scored.out
    again = run("score", tmp_path / "b.csv", "-s", "length").records[0]
    assert again["notes"] == {"length": ["the user spoke last"]} and again["followed_by"] == [last]


def test_a_person_who_took_over_is_not_judged_as_the_bot(tmp_path: Path) -> None:
    said = [("customer", "Tea?"), ("bot", "I like turtles."), ("customer", "A person, please"), ("agent", "Any sugar?")]
    (found,) = read_all(tmp_path / "a.jsonl", {"messages": [{"role": role, "content": text} for role, text in said]})
    assert (found.context, found.response, found.unanswered) == (("Tea?",), "I like turtles.", False)
    assert found.extra["followed_by"] == ["A person, please", "Any sugar?"]
    alone = [{"role": role, "content": text} for role, text in (said[0], said[3])]
    (found,) = read_all(tmp_path / "a.jsonl", {"messages": alone})
    assert found.response == "Any sugar?", "where no bot speaks they are who is judged"
    line = {"context": "Customer: Hi\nBot: Hello\nAgent: Ann here.\nCustomer: Tea?", "response": "No."}
    assert read_all(tmp_path / "a.jsonl", line)[0].extra["speakers"] == [
        "user",
        "assistant",
        "user",
        "user",
        "assistant",
    ]


def test_a_chat_that_says_that_nobody_answered(tmp_path: Path, run: Run) -> None:
    chat = {**ended({"role": "user", "content": "My parcel has not arrived."}), "unanswered": "timed out"}
    (found,) = read_all(tmp_path / "a.jsonl", chat)
    assert (found.context[-1], found.response) == ("My parcel has not arrived.", "")
    whole = run("score", tmp_path / "a.jsonl", "-s", "length").records[0]
    assert whole["unscored"] == {"length": "no response (timed out)"}
    first, second = read_all(tmp_path / "a.jsonl", chat, turns="all")
    assert (first.unanswered, second.unanswered) == (False, True)


def test_a_column_that_says_of_each_line_whether_it_was_answered(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("prompt,response,unanswered\nTea?,No.,false\nTea?,No.,0\nTea?,Sorry.,true\nTea?,Sorry.,timed out\n")
    assert [one.unanswered for one in rejoinder.read(path)] == [False, False, True, True]


def test_a_pair_of_conversations_stays_one_pair(tmp_path: Path) -> None:
    talk: list[dict[str, Any]] = TALK["messages"]  # type: ignore[assignment]
    worse = [*talk[:2], {"role": "assistant", "content": "x"}]
    pair = {"messages": talk, "chosen": talk[:3], "rejected": worse}
    (tmp_path / "a.jsonl").write_text(json.dumps(pair))
    assert len(list(rejoinder.read_pairs(tmp_path / "a.jsonl", turns="all"))) == 1


def test_turns_of_a_conversation_without_an_id_and_with_one_for_its_dialogue(tmp_path: Path) -> None:
    chat = {"messages": TALK["messages"]}
    found = read_all(tmp_path / "a.jsonl", chat, {**chat, "id": "m", "conversation_id": "c"}, turns="all")
    assert [example.id for example in found] == [f"{tmp_path}/a.jsonl:1#1", f"{tmp_path}/a.jsonl:1#2", "m#1", "m#2"]
    assert [example.extra["dialogue_id"] for example in found] == [f"{tmp_path}/a.jsonl:1"] * 2 + ["c"] * 2


def test_several_files_say_which_a_line_is_from(tmp_path: Path, run: Run) -> None:
    one, two = tmp_path / "a.jsonl", tmp_path / "b.csv"
    read_all(one, {"response": "x"}, {"response": "y", "file": "own"})
    two.write_text("response\nz\n")
    done = run("score", one, two, "-s", "length", "-o", tmp_path / "out.csv")
    assert done.code == 0, done.err
    assert [example.extra["file"] for example in rejoinder.read(tmp_path / "out.csv")] == [str(one), "own", str(two)]
    assert "file" not in run("score", two, "-s", "length").records[0]


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("<think>Tea or none?\n\nTea.</think>\n\nTea, please.", "Tea, please."),
        ("\n<THINKING>a</THINKING>Tea.", "Tea."),
        ("<think>a</think> b <think>c</think>", "b <think>c</think>"),
        ("<think>never done", ""),
        ("I write <think>a</think>.", "I write <think>a</think>."),
        ("They want tea.\n</think>\n\nTea, please.", "Tea, please."),
        ([{"type": "reasoning", "text": "Tea?"}, {"type": "text", "text": "Tea, please."}], "Tea, please."),
        ([{"type": "thinking", "thinking": "Tea?"}, {"type": "text", "text": "Tea, please."}], "Tea, please."),
    ],
)
def test_a_thought_before_a_reply_is_no_part_of_it(said: Any, read: str) -> None:
    messages = [{"role": "user", "content": "Tea?"}, {"role": "assistant", "content": said}]
    (example,) = rejoinder.examples_of([{"messages": messages}])
    assert example.response == read and example.extra["messages"] == messages


CALL = {"id": "c", "type": "function", "function": {"name": "end_chat", "arguments": "{}"}}


@pytest.mark.parametrize(
    "call",
    [
        {"content": "It is done.", "tool_calls": [CALL]},
        {"content": "It is done.", "function_call": {"name": "end_chat"}},
        {"content": [{"type": "text", "text": "It is done."}, {"type": "tool_use", "name": "end_chat"}]},
        {"parts": [{"text": "It is done."}, {"functionCall": {"name": "end_chat"}}]},
        {"type": "ai", "data": {"content": "It is done.", "tool_calls": [CALL]}},
    ],
)
def test_the_text_beside_a_call_is_the_reply_where_no_other_follows(call: dict[str, Any]) -> None:
    person = {"role": "user", "content": "Cancel it."}
    beside = call if "type" in call else {"role": "assistant", **call}
    result = {"role": "tool", "content": "ok"}
    later = [{"role": "assistant", "content": "Anything else?"}]
    for messages, context, response in (
        ([person, beside], ("Cancel it.",), "It is done."),
        ([person, beside, result], ("Cancel it.",), "It is done."),
        ([person, beside, result, *later], ("Cancel it.",), "Anything else?"),
        ([person, beside, person, *later], ("Cancel it.", "It is done.", "Cancel it."), "Anything else?"),
    ):
        (example,) = rejoinder.examples_of([{"messages": messages}])
        assert (example.context, example.response) == (context, response)
