"""From files to examples: chats, cells, rows of messages, errors, and memory."""

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from reading_tables import chat, read_from, written
from rejoinder.data.read import read, read_lines
from rejoinder.data.summary import describe
from rejoinder.errors import ColumnError, DataError, UsageError
from rejoinder.example import ROW, Example

TALK = chat("Hi!", "Hello.", "Tea?", "No.")
UNANSWERED = "the user's last question has no answer"

READ: list[tuple[str, str, Any, dict[str, Any], list[dict[str, Any]]]] = [
    # what it is, name, content, how it is read, what comes of it
    (
        "our own line",
        "a.jsonl",
        [{"id": 1, "dataset": "d", "context": ["a", "b"], "response": "c", "references": "r", "quality": 3, "x": [1]}],
        {},
        [
            {
                "id": "1",
                "dataset": "d",
                "context": ["a", "b"],
                "response": "c",
                "references": ["r"],
                "quality": {"overall": 3},
                "x": [1],
            }
        ],
    ),
    ("messages alone", "a.jsonl", [TALK], {}, [{"context": ["Hi!", "Hello.", "Tea?"], "response": "No."}]),
    (
        "messages in a cell",
        "a.csv",
        f'messages\n"{json.dumps(TALK).replace(chr(34), chr(34) * 2)}"\n',
        {},
        [{"context": ["Hi!", "Hello.", "Tea?"], "response": "No."}],
    ),
    (
        "messages under the name of a conversation",
        "a.jsonl",
        [{"conversation": TALK, "rating": 3}],
        {},
        [{"context": ["Hi!", "Hello.", "Tea?"], "response": "No.", "ratings": {"overall": [3]}}],
    ),
    (
        "a response beside messages",
        "a.jsonl",
        [{"messages": chat("Tea?"), "completion": "No."}, {"messages": chat("Tea?", "No."), "response": "No."}],
        {},
        [{"context": ["Tea?"], "response": "No."}] * 2,
    ),
    (
        "every turn, with the ratings of the last",
        "a.jsonl",
        [{"id": "c", "rating": 4, "messages": TALK}],
        {"turns": "all"},
        [
            {"id": "c#1", "context": ["Hi!"], "response": "Hello.", "dialogue_id": "c"},
            {
                "id": "c#2",
                "context": ["Hi!", "Hello.", "Tea?"],
                "response": "No.",
                "ratings": {"overall": [4]},
                "dialogue_id": "c",
            },
        ],
    ),
    (
        "every turn, the last beside the messages",
        "a.jsonl",
        [{"id": "c", "messages": TALK[:3], "response": "No."}],
        {"turns": "all"},
        [
            {"id": "c#1", "context": ["Hi!"], "response": "Hello.", "dialogue_id": "c"},
            {"id": "c#2", "context": ["Hi!", "Hello.", "Tea?"], "response": "No.", "dialogue_id": "c"},
        ],
    ),
    (
        "every turn of a transcript",
        "a.jsonl",
        [{"id": "c", "context": "User: Hi!\nBot: Hello.\nUser: Tea?", "response": "No."}],
        {"turns": "all"},
        [
            {"id": "c#1", "context": ["Hi!"], "response": "Hello.", "dialogue_id": "c"},
            {"id": "c#2", "context": ["Hi!", "Hello.", "Tea?"], "response": "No.", "dialogue_id": "c"},
        ],
    ),
    (
        "a last question, and last words",
        "a.jsonl",
        [
            {"messages": chat("Tea?", "No.", "Why?")},
            {"messages": chat("Tea?", "No.", "Bye!")},
            {"messages": chat("Tea?", "No.", "Why?"), "unanswered": False},
            {"context": ["Tea?"], "response": "", "unanswered": "timed out"},
        ],
        {},
        [
            {"context": ["Tea?", "No.", "Why?"], "response": "", "unanswered": UNANSWERED},
            {"context": ["Tea?"], "response": "No.", "followed_by": ["Bye!"]},
            {"context": ["Tea?"], "response": "No.", "unanswered": False},
            {"context": ["Tea?"], "response": "", "unanswered": "timed out"},
        ],
    ),
    (
        "speakers that do not take turns",
        "a.jsonl",
        [{"context": [*chat("Hi!"), *chat("Tea?")], "response": "No."}],
        {},
        [{"context": ["Hi!", "Tea?"], "response": "No.", "speakers": ["user", "user", "assistant"]}],
    ),
    (
        "texts that are messages, in any field",
        "a.jsonl",
        [{"prompt": json.dumps(chat("Tea?")), "completion": json.dumps(chat("", "No.")[1])}],
        {},
        [{"context": ["Tea?"], "response": "No."}],
    ),
    (
        "replies in JSON and lists that are none stay",
        "a.csv",
        'context,response\n[laughs] Tea?,"{""answer"": 3}"\n',
        {},
        [{"context": ["[laughs] Tea?"], "response": '{"answer": 3}'}],
    ),
    (
        "lists in cells",
        "a.csv",
        'context,response,references\n"[\'Hi!\', \'Tea?\']",No.,"[""a"", ""b""]"\n[],No.,\n',
        {},
        [{"context": ["Hi!", "Tea?"], "response": "No.", "references": ["a", "b"]}, {"context": [], "response": "No."}],
    ),
    (
        "empty cells",
        "a.csv",
        "prompt,answer,system,topic\nTea?,NaN,NULL,\nTea?,None,m,x\n",
        {},
        [{"context": ["Tea?"], "response": ""}, {"context": ["Tea?"], "response": "None", "system": "m", "topic": "x"}],
    ),
    (
        "thoughts before a reply",
        "a.csv",
        'prompt,answer\nTea?,"<think>hm</think>\n\nNo."\nTea?,I like </b> tags\n',
        {},
        [{"context": ["Tea?"], "response": "No."}, {"context": ["Tea?"], "response": "I like </b> tags"}],
    ),
    (
        "pairs of turns, and a chat before a question",
        "a.jsonl",
        [
            {"context": [["Hi!", "Hello."], ["Tea?", "No."]], "response": "Why?"},
            {"history": chat("Hi!", "Hello."), "query": "Tea?", "reply": "No."},
        ],
        {},
        [
            {"context": ["Hi!", "Hello.", "Tea?", "No."], "response": "Why?"},
            {"context": ["Hi!", "Hello.", "Tea?"], "response": "No."},
        ],
    ),
    (
        "documents",
        "a.jsonl",
        [{"question": "W?", "answer": "F.", "documents": [{"page_content": "d1", "metadata": {}}, "d2"]}],
        {},
        [{"context": ["W?"], "response": "F.", "sources": ["d1", "d2"]}],
    ),
    (
        "columns that scoring wrote",
        "a.csv",
        "context,response,scores.a,low.a,high.a,explained.a.base,explained.a.form\nA,B,3,2,4,1,2\nA,C,,,,,\n",
        {},
        [
            {
                "context": ["A"],
                "response": "B",
                "scores": {"a": 3},
                "intervals": {"a": [2, 4]},
                "explained": {"a": {"base": 1, "moved": {"form": 2}}},
            },
            {"context": ["A"], "response": "C"},
        ],
    ),
    (
        "a row a message, in order of time",
        "a.csv",
        "chat,time,sender,text,csat\n7,10:00,customer,A?,4\n7,10:04,bot,D.,4\n8,9:00,user,E?,1\n"
        "7,10:01,bot,B.,4\n7,10:03,customer,C?,4\n8,9:01,bot,F.,1\n",
        {},
        [
            {"id": "7", "context": ["A?", "B.", "C?"], "response": "D.", "csat": "4"},
            {"id": "8", "context": ["E?"], "response": "F.", "csat": "1"},
        ],
    ),
    (
        "a format that is named",
        "a.json",
        json.dumps([{"context": "User: Hi!", "response": "System: Hello.", "annotations": {"Overall": [4]}}]),
        {"input_format": "fed"},
        [{"context": ["Hi!"], "response": "Hello.", "ratings": {"overall": [4]}}],
    ),
    (
        "columns that a scorer reads",
        "a.csv",
        "prompt,answer,rating,stars\nTea?,No.,3,pass\n",
        {"keep": ["stars"]},
        [{"context": ["Tea?"], "response": "No.", "ratings": {"overall": [3]}, "stars": "pass"}],
    ),
]


@pytest.mark.parametrize(
    ("name", "content", "how", "wanted"), [case[1:] for case in READ], ids=[case[0] for case in READ]
)
def test_a_file_is_read(
    name: str, content: Any, how: dict[str, Any], wanted: list[dict[str, Any]], tmp_path: Path
) -> None:
    found = read_from(tmp_path, name, content, **how)
    assert [
        {key: value for key, value in one.items() if key in want or key != "scale"}
        for one, want in zip(found, wanted, strict=True)
    ] == wanted


BAD: list[tuple[str, str, Any, type[Exception], str, str]] = [
    # what it is, name, content, the class of the error, the end of its place, its field
    ("no response", "a.jsonl", [{"context": ["a"]}], DataError, ":1", "response"),
    ("a null response", "a.jsonl", [{"response": "a"}, {"response": None}], DataError, ":2", "response"),
    ("a number", "a.jsonl", [{"response": 3}], DataError, ":1", "response"),
    ("no object", "a.jsonl", "3\n", DataError, ":1", ""),
    ("a list of records", "a.jsonl", '[{"response": "a"}]\n', DataError, ":1", ""),
    ("another reply", "a.jsonl", [{"messages": chat("a", "b"), "response": "c"}], DataError, ":1", "response"),
    ("no assistant", "a.jsonl", [{"messages": chat("a")}], DataError, ":1", "messages"),
    ("a number among turns", "a.jsonl", [{"context": ["a", 3], "response": "b"}], DataError, ":1", "context"),
    (
        "an array of numpy",
        "a.csv",
        "context,response\n\"array(['a', 'b'], dtype=object)\",c\n",
        DataError,
        ":2",
        "context",
    ),
    ("messages of numpy", "a.csv", "messages\n\"[{'role': 'user'}\n {'role': 'x'}]\"\n", DataError, ":2", "messages"),
    ("a piece of a stream", "a.jsonl", [{"model": "m", "response": "a", "done": False}], ColumnError, ":1", ""),
    ("a time", "a.csv", "chat,time,role,text\n1,soon,user,a\n1,now,bot,b\n", ColumnError, ":2", "time"),
    ("midnight", "a.csv", "chat,time,role,text\n1,23:58,user,a\n1,0:02,bot,b\n", ColumnError, ":2", "time"),
    ("a message of no chat", "a.csv", "chat,role,text\n1,user,a\n,bot,b\n", ColumnError, ":3", "chat"),
    ("a rated message", "a.csv", "chat,role,text,rating\n1,user,a,\n1,bot,b,3\n", ColumnError, ":2", "rating"),
    ("half a character", "a.jsonl", '{"response": "\\ud83d"}\n', DataError, ":1", "response"),
    ("a key twice", "a.jsonl", '{"response": "a", "response": "b"}\n', DataError, ":1", "response"),
    ("a score in words", "a.csv", "response,scores.a\nb,good\n", DataError, ":2", "scores.a"),
]


@pytest.mark.parametrize(
    ("name", "content", "kind", "where", "field"), [case[1:] for case in BAD], ids=[case[0] for case in BAD]
)
def test_a_bad_line_is_refused_with_its_place(
    name: str, content: Any, kind: type[DataError], where: str, field: str, tmp_path: Path
) -> None:
    with pytest.raises(kind) as caught:
        read_from(tmp_path, name, content)
    assert caught.value.where.endswith(where)
    assert not field or caught.value.field == field
    assert caught.value.remedy
    skipped: list[DataError] = []
    if kind is DataError:
        read_from(tmp_path, name, content, on_error=skipped.append)
        assert [error.where[-len(where) :] for error in skipped] == [where]


def test_bad_lines_are_passed_over(tmp_path: Path) -> None:
    skipped: list[DataError] = []
    content = '{"response": "a"}\n{"response": 3}\nnot JSON\n\n{"response": "b"}\n'
    found = read_from(tmp_path, "a.jsonl", content, on_error=skipped.append)
    assert [one["response"] for one in found] == ["a", "b"]
    assert [error.where.rpartition(":")[2] for error in skipped] == ["2", "3"]


def test_a_pair_is_no_example(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", [{"prompt": "a", "chosen": "b", "rejected": "c"}, {"response": "d"}])
    assert len(list(read_lines(path))) == 2
    skipped: list[DataError] = []
    assert [one.response for one in read(path, on_error=skipped.append)] == ["d"]
    assert skipped[0].where.endswith(":1")


def test_rows_of_tables_are_kept_for_outputs(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "Prompt,Answer,Empty\nTea?,No.,\n")
    (example,) = read(path, rows=True)
    assert example.extra[ROW] == {"Prompt": "Tea?", "Answer": "No.", "Empty": ""}


def test_a_format_that_a_row_is_not_of(tmp_path: Path) -> None:
    with pytest.raises(DataError):
        read_from(tmp_path, "a.jsonl", [{"response": "a"}], input_format="langfuse")
    with pytest.raises(UsageError):
        read_from(tmp_path, "a.jsonl", [{"response": "a"}], input_format="docx")


def test_memory_does_not_grow_with_lines(tmp_path: Path) -> None:
    def peak(count: int) -> int:
        path = written(
            tmp_path, "a.jsonl", [{"id": str(n), "context": ["a" * 50], "response": "b" * 50} for n in range(count)]
        )
        tracemalloc.start()
        assert sum(1 for _ in read(path)) == count
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(10)
    assert peak(20_000) < peak(200) + 300_000


def test_a_summary_of_files(tmp_path: Path) -> None:
    lines = [
        {"context": ["a"], "response": "b", "system": "m", "ratings": {"overall": [1]}, "references": ["r"]},
        {"context": ["a"], "response": "c", "system": "n", "sources": ["s"], "score": 3},
        {"prompt": "a", "chosen": "b", "rejected": "c"},
        {"response": 3},
        {"context": ["a"], "response": "d", "ratings": {"overall": [3]}},
    ]
    seen: list[Any] = []
    skipped: list[DataError] = []
    path = written(tmp_path, "a.jsonl", lines)
    found = describe([path], each=seen.append, on_error=skipped.append)
    assert (found.examples, found.pairs, found.rated, found.labelled, found.skipped) == (3, 1, 2, 0, 1)
    assert (found.systems, found.with_references, found.with_sources) == (("m", "n"), 1, 1)
    assert len(seen) == 4
    assert len(found.first) == 3
    assert isinstance(found.first[0], Example)
    assert found.format
    assert 0 < len(found.calls) <= 3
    assert all(call.startswith("rejoinder ") and "a.jsonl" in call for call in found.calls)
    with pytest.raises(DataError):
        describe([path])
