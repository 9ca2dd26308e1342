"""Dialogues of corpora, contexts to answer, and what pretraining leaves out."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rejoinder.auditing.pool import read_replies
from rejoinder.data import dialogues as corpus
from rejoinder.data.dialogues import Dialogue, corpus_files, read_contexts, read_dialogues
from rejoinder.errors import DataError, MissingAsset, UsageError
from rejoinder.pretraining.corpus import split


def file_of(folder: Path, *lines: Any, name: str = "a.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return path


CHAT = [
    {"role": "system", "content": "be kind"},
    {"role": "user", "content": "hi"},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
    {"role": "tool", "content": "42"},
    {"role": "assistant", "content": [{"type": "text", "text": "it is "}, {"type": "text", "text": "42"}]},
]
SHARED = [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "it is 42"}]


@pytest.mark.parametrize(
    ("name", "line", "turns"),
    [
        ("a.jsonl", {"turns": ["a", "b", "a"], "topic": 3}, ("a", "b", "a")),
        ("a.ndjson", {"context": ["a", "b"], "response": "c"}, ("a", "b", "c")),
        ("a.jsonl", {"messages": CHAT}, ("hi", "it is 42")),
        ("a.jsonl", CHAT, ("hi", "it is 42")),
        ("a.jsonl", {"conversations": SHARED}, ("hi", "it is 42")),
        ("a.txt", "hi\thow are you\tfine", ("hi", "how are you", "fine")),
        ("a.txt", "hi __eou__ how are you __eou__ fine", ("hi", "how are you", "fine")),
        ("a.txt", "hi\thow are you\tfine\t", ("hi", "how are you", "fine")),
        ("a.txt", "hi __eou__ fine __eou__", ("hi", "fine")),
    ],
)
def test_a_line_is_a_dialogue(tmp_path: Path, name: str, line: Any, turns: tuple[str, ...]) -> None:
    path = file_of(tmp_path, "", line, name=name)
    packed = path.with_name(f"{name}.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert list(read_dialogues(path, packed)) == [Dialogue(turns, f"{path}:2"), Dialogue(turns, f"{packed}:2")]


BAD: list[tuple[Any, str]] = [
    ("{", ""),
    ("[" * 100_000, ""),
    ("1" * 5000, ""),
    ('{"turns": ["\\ud800", "b"]}', "turns"),
    (3, ""),
    ({}, ""),
    ({"text": "a"}, ""),
    ({"turns": "a"}, "turns"),
    ({"turns": ["a", None]}, "turns"),
    ({"turns": []}, ""),
    ({"turns": ["a"]}, ""),
    ({"turns": ["a", " ", "b"]}, ""),
    ({"turns": ["a", "a", "a"]}, ""),
    ({"turns": ["a", "b" * 1_000_001]}, ""),
    ({"turns": ["a", "b"], "judged": "no"}, "judged"),
    ({"messages": "a"}, "messages"),
    (["a", "b"], "messages"),
]


def test_bad_lines_are_skipped_and_listed(tmp_path: Path) -> None:
    path = file_of(tmp_path, {"turns": ["a", "b"]}, *(line for line, _ in BAD), {"turns": ["c", "d"]})
    skipped: list[DataError] = []
    assert [dialogue.turns for dialogue in read_dialogues(path, on_error=skipped.append)] == [("a", "b"), ("c", "d")]
    assert [(error.where, error.field) for error in skipped] == [
        (f"{path}:{number}", field) for number, (_, field) in enumerate(BAD, start=2)
    ]


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("a.txt", b"hi there\n", DataError),
        ("a.txt", b"caf\xe9\tb\n", DataError),
        ("a.jsonl", b"", DataError),
        ("a.csv", b"context,response\na,b\n", UsageError),
        ("a", b"a\tb\n", UsageError),
        ("gone.jsonl", None, MissingAsset),
        ("gone.txt", None, MissingAsset),
    ],
)
def test_files_without_dialogues_are_refused(
    tmp_path: Path, name: str, content: bytes | None, error: type[Exception]
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(error) as caught:
        list(read_dialogues(tmp_path / name))
    assert name in str(caught.value)


def test_reading_is_a_stream(tmp_path: Path) -> None:
    assert next(read_dialogues(file_of(tmp_path, {"turns": ["a", "b"]}, "broken"))).turns == ("a", "b")


def test_folders_of_corpora(tmp_path: Path) -> None:
    for name in ("b.txt", "a.jsonl.gz", "notes.md"):
        (tmp_path / name).touch()
    assert corpus_files(["x.txt", "-", tmp_path]) == ["x.txt", "-", tmp_path / "a.jsonl.gz", tmp_path / "b.txt"]
    (tmp_path / "inner").mkdir()
    with pytest.raises(UsageError):
        corpus_files([tmp_path / "inner"])


@given(st.lists(st.text(min_size=1).filter(str.strip), min_size=2))
def test_texts_of_json_come_back(turns: list[str]) -> None:
    assume(len(set(turns)) > 1)
    assert corpus._dialogue(json.loads(json.dumps({"turns": turns})), "here").turns == tuple(turns)


def test_the_released_corpora_can_be_read(shared: Path) -> None:
    skipped: list[DataError] = []
    files = [shared / f"data/corpora/{name}.jsonl.gz" for name in ("casino", "taskmaster4", "ubuntu_irc")]
    dialogues = list(read_dialogues(*files, on_error=skipped.append))
    assert (len(dialogues), len(skipped)) == (1030 + 3686 + 5126 - 4, 4)


@pytest.mark.parametrize(
    ("more", "judged"),
    [
        ({}, False),
        ({"rating": None, "stars": "", "ratings": {}, "quality": {}}, False),
        ({"rating": 4, "judged": False}, False),
        ({"topic": 4, "title": "a", "rated_by": "x"}, False),
        *(({name: 4}, True) for name in ("rating", "stars", "score", "overall", "human_rating", "feedback", "grade")),
        *(({name: 0}, True) for name in ("rating", "Human rating (0-5)", "mean_score", "rating_2", "vote", "label")),
        ({"ratings": {"overall": [2, 3]}}, True),
        ({"quality": {"overall": 3.5}}, True),
        ({"feedback": "thumbs_up"}, True),
        ({"human_label": "bad"}, True),
        ({"judged": True}, True),
    ],
)
def test_names_of_ratings_make_a_line_judged(tmp_path: Path, more: dict[str, Any], judged: bool) -> None:
    message = {"role": "assistant", "content": "No.", **{key: value for key, value in more.items() if key != "judged"}}
    chat = [{"role": "user", "content": "Tea?"}, message]
    lines = [{"context": ["Tea?"], "response": "No.", **more}, {"turns": ["a", "b"], **more}, {"messages": chat}]
    found = [dialogue.judged for dialogue in read_dialogues(file_of(tmp_path, *lines[: 2 if "judged" in more else 3]))]
    assert set(found) == {judged}


def test_rated_dialogues_are_left_out_of_training_and_counted(tmp_path: Path) -> None:
    lines = [
        {"context": [f"Question {n}?"], "response": f"Answer {n}.", **({"stars": 3} if n else {})} for n in range(4)
    ]
    notes: list[str] = []
    (left,) = split([file_of(tmp_path, *lines)], 0.0, log=notes.append)[0]
    assert left.turns == ("Question 0?", "Answer 0.") and len(notes) == 1 and "3" in notes[0]
    assert len(list(split([tmp_path / "a.jsonl"], 0.0, keep_judged=True, log=notes.append)[0])) == 4


@pytest.mark.parametrize(
    ("line", "context", "response", "references"),
    [
        ({"context": ["hi"], "response": "ho", "references": ["hello"]}, ("hi",), "ho", ("hello",)),
        ({"context": ["waiting"]}, ("waiting",), "", ()),
        ({"question": "hi"}, ("hi",), "", ()),
        ({"question": "hi", "answer": "ho"}, ("hi",), "ho", ()),
        ({"context": []}, (), "", ()),
        ({"turns": ["one", "two", "three"]}, ("one", "two"), "", ("three",)),
        ({"messages": CHAT[:2]}, ("hi",), "", ()),
        (CHAT[:2], ("hi",), "", ()),
        ([CHAT[1], CHAT[-1]], ("hi",), "it is 42", ()),
    ],
)
def test_a_line_is_a_context(
    tmp_path: Path, line: Any, context: tuple[str, ...], response: str, references: tuple[str, ...]
) -> None:
    (example,) = read_contexts(file_of(tmp_path, line))
    assert (example.context, example.response, example.references) == (context, response, references)
    assert example.id == f"{tmp_path}/a.jsonl:1"


def test_contexts_of_text_and_tables(tmp_path: Path) -> None:
    talk = file_of(tmp_path, "one\ttwo\tthree", name="talk.txt")
    table = file_of(tmp_path, "context,topic", "hi,greeting", '"[""a"", ""b""]",', name="table.csv")
    assert [example.context for example in read_contexts(talk, table)] == [("one", "two"), ("hi",), ("a", "b")]
    assert [example.context for example in read_contexts(talk, cut=lambda _: 1)] == [("one",)]
    assert not list(read_contexts(talk, wanted=lambda dialogue: len(dialogue.turns) > 3))


@pytest.mark.parametrize(
    ("line", "field"),
    [
        *(({"text": "hi"}, "context"), ({}, "context"), ({"turns": ["alone"]}, ""), ({"turns": "hi"}, "turns")),
        *(({"contxt": ["hi"], "response": "ho"}, "contxt"), ({"context": 5}, "context"), (5, "")),
        ({"messages": 5}, "messages"),
    ],
)
def test_lines_without_a_context_are_refused(tmp_path: Path, line: Any, field: str) -> None:
    path = file_of(tmp_path, line, {"context": ["hi"]})
    skipped: list[DataError] = []
    assert [example.context for example in read_contexts(path, on_error=skipped.append)] == [("hi",)]
    assert [(error.where, error.field) for error in skipped] == [(f"{path}:1", field)]


def test_pools_of_replies(tmp_path: Path) -> None:
    assert read_replies(file_of(tmp_path, "yes", "", " no", "yes", name="a.txt")) == ("yes", "no")
    assert read_replies(file_of(tmp_path, {"turns": ["hi", "hello", "bye", "hello"]})) == ("hello", "bye")
    with pytest.raises(DataError):
        read_replies(file_of(tmp_path, " ", name="empty.txt"))


def test_a_map_that_names_nothing_leaves_a_field_out(tmp_path: Path) -> None:
    chat = [{"role": "user", "content": "hi"}]
    path = file_of(tmp_path, {"context": ["a"], "id": "1"})
    (example,) = read_contexts(path, map={"id": ""})
    assert example.id == f"{path}:1"
    with pytest.raises(DataError):
        list(read_contexts(file_of(tmp_path, {"messages": chat}), map={"messages": ""}))
