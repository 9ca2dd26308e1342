"""Reading and writing: every format, round trips, streaming."""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import json
import os
import sys
import threading
import tracemalloc
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rejoinder
from conftest import drawn
from rejoinder.assets import samples
from rejoinder.data.write import open_writer
from rejoinder.example import Example, Rating
from rejoinder.io.blanks import ERRORS, is_sign
from rejoinder.io.flat import LISTS, OBJECTS
from rejoinder.io.names import is_known
from rejoinder.io.parse import FIELDS, _nearest, parse_record
from rejoinder.io.totals import is_label

RECORD: dict[str, Any] = {
    "id": "a1",
    "dataset": "toy",
    "context": ["Hi!", "Hello, how are you?"],
    "response": 'Fine, "thanks"\nand you? 🙂',
    "references": ["Good.", "Très bien; merci"],
    "system": "s1",
    "context_id": "c1",
    "ratings": {"overall": [4, 5], "fluency": [2]},
    "raters": {"overall": ["ann", "bob"]},
    "quality": {"overall": 4.5},
    "scale": [1, 5],
    "scales": {"fluency": [0, 2], "overall": [1, 5]},
}
EXAMPLE = Example(
    context=("Hi!", "Hello, how are you?"),
    response='Fine, "thanks"\nand you? 🙂',
    references=("Good.", "Très bien; merci"),
    id="a1",
    system="s1",
    dataset="toy",
    context_id="c1",
    ratings=(Rating(4, rater="ann"), Rating(5, rater="bob"), Rating(2, "fluency")),
    quality={"overall": 4.5},
    scales={"overall": (1, 5), "fluency": (0, 2)},
)


def one(path: Path | str) -> Example:
    (example,) = rejoinder.read(path)
    return example


def feed(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


# Reading


def test_json_lines_plain_packed_and_from_stdin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = json.dumps(RECORD).encode() + b"\n"
    (tmp_path / "a.jsonl").write_bytes(b"\n" + line + b"  \r\n" + line)
    assert list(rejoinder.read(tmp_path / "a.jsonl")) == [EXAMPLE, EXAMPLE]
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(line) + gzip.compress(line))
    assert list(rejoinder.read(tmp_path / "a.jsonl.gz")) == [EXAMPLE, EXAMPLE]
    (tmp_path / "packed.ndjson").write_bytes(gzip.compress(line))
    assert one(tmp_path / "packed.ndjson") == EXAMPLE, "gzip is told by its bytes, not by its name"
    for data in (line, gzip.compress(line), line.rstrip(b"\n")):
        feed(monkeypatch, data)
        assert one("-") == EXAMPLE
    feed(monkeypatch, b'{"response": "x"}')
    assert one("-").id == "stdin:1"


def test_several_files_come_in_the_order_given(tmp_path: Path) -> None:
    (tmp_path / "b.jsonl").write_text('{"response": "1"}\n{"response": "2"}\n')
    (tmp_path / "a.csv").write_text("response\n3\n")
    found = list(rejoinder.read(tmp_path / "b.jsonl", tmp_path / "a.csv"))
    assert [example.response for example in found] == ["1", "2", "3"]
    assert [example.where for example in found] == [
        f"{tmp_path}/b.jsonl:1",
        f"{tmp_path}/b.jsonl:2",
        f"{tmp_path}/a.csv:2",
    ]


def test_lines_without_an_id_get_ids_that_differ_between_files_of_one_name(tmp_path: Path) -> None:
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "test.jsonl").write_text('{"response": "a"}\n')
    first, second = rejoinder.read(tmp_path / "x" / "test.jsonl", tmp_path / "y" / "test.jsonl")
    assert first.id != second.id


def test_tables_of_texts(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        "id,context,response,references,quality,ratings,note\n"
        '7,Hi,"a, b",One,4.5,3,"x ""y"""\n8,"[""u"", ""v""]",,,,,\n'
    )
    first, second = rejoinder.read(tmp_path / "a.csv")
    assert (first.id, first.context, first.response, first.references) == ("7", ("Hi",), "a, b", ("One",))
    assert first.quality == {"overall": 4.5} and first.ratings == (Rating(3),) and first.extra == {"note": 'x "y"'}
    assert (second.context, second.response, second.references, second.extra) == (("u", "v"), "", (), {})
    (tmp_path / "b.TSV").write_text("response\tsystem\na, b\ts 1\n")
    assert (one(tmp_path / "b.TSV").response, one(tmp_path / "b.TSV").system) == ("a, b", "s 1")
    (tmp_path / "c.csv.gz").write_bytes(gzip.compress(b'response\n"two\nlines"\n'))
    assert one(tmp_path / "c.csv.gz").response == "two\nlines"


def test_a_cell_longer_than_the_csv_modules_default_limit(tmp_path: Path) -> None:
    text = "word " * 100_000
    (tmp_path / "a.csv").write_text(f"response\n{text}\n")
    assert one(tmp_path / "a.csv").response == text


def test_parquet_with_native_types(tmp_path: Path) -> None:
    path = tmp_path / "odd[1]*.parquet"
    frame = {
        "response": ["a"],
        "context": [["x", "y"]],
        "quality": [{"overall": 3.5, "fluency": None}],
        "at": [datetime.datetime(2020, 1, 2)],
        "share": [float("nan")],
        "raw": [b"\xff"],
        "id": [12],
    }
    polars.DataFrame(frame).write_parquet(path)
    example = one(path)
    assert (example.context, example.quality, example.id) == (("x", "y"), {"overall": 3.5}, "12")
    assert example.extra == {"at": "2020-01-02 00:00:00", "share": None, "raw": "b'\\xff'"}
    assert rejoinder.write([example], tmp_path / "out.jsonl") == 1
    assert one(tmp_path / "out.jsonl") == example


def test_many_parquet_rows_keep_their_order(tmp_path: Path) -> None:
    texts = [str(number) for number in range(9000)]
    polars.DataFrame({"response": texts}).write_parquet(tmp_path / "a.parquet")
    found = list(rejoinder.read(tmp_path / "a.parquet"))
    assert [example.response for example in found] == texts
    assert found[5000].where == f"{tmp_path}/a.parquet:row 5001"


def test_json_arrays(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([RECORD, {"response": "b"}], indent=2))
    assert list(rejoinder.read(path)) == [EXAMPLE, Example((), "b", id=f"{path}:item 2")]
    path.write_text(json.dumps(RECORD))
    assert one(path) == EXAMPLE
    path.write_text(json.dumps([{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]))
    assert (one(path).context, one(path).response) == (("q",), "a")


CHAT = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "image"}, {"type": "text", "text": "two"}]},
    {"role": "assistant", "content": "first"},
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": "more"},
    {"role": "assistant", "content": None, "tool_calls": [{"id": 1}]},
    {"role": "tool", "content": None},
    {"role": "assistant", "content": "second"},
    {"role": "user", "content": "thanks"},
]


@pytest.mark.parametrize("record", [CHAT, {"messages": CHAT}], ids=["array", "object"])
def test_chat_messages(record: Any) -> None:
    example = parse_record(record, "f:1")
    assert example.context == ("one\ntwo", "first", "more")
    assert example.response == "second", "the last turn of the assistant, whatever the user said after it"
    assert example.extra == {"messages": CHAT, "followed_by": ["thanks"]}


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_chat_messages_come_back_exactly(tmp_path: Path, suffix: str) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "1", "messages": CHAT, "mood": "grim"}) + "\n")
    rejoinder.write(rejoinder.read(tmp_path / "a.jsonl"), tmp_path / f"b.{suffix}")
    examples = list(rejoinder.read(tmp_path / f"b.{suffix}"))
    assert examples == list(rejoinder.read(tmp_path / "a.jsonl"))
    rejoinder.write(examples, tmp_path / "c.jsonl", format="chat")
    assert json.loads((tmp_path / "c.jsonl").read_text()) == {"id": "1", "messages": CHAT, "mood": "grim"}


@pytest.mark.parametrize("messages", [CHAT, CHAT[:2], "a user's own"])
def test_messages_beside_another_response_are_both_kept(tmp_path: Path, messages: Any) -> None:
    record = {"id": "1", "context": ["q"], "response": "mine", "messages": messages}
    example = parse_record(record, "f:1")
    assert (example.context, example.response, example.extra) == (("q",), "mine", {"messages": messages})
    rejoinder.write([example], tmp_path / "a.jsonl", format="chat")
    assert json.loads((tmp_path / "a.jsonl").read_text()) == record


def test_a_conversation_keeps_its_other_keys() -> None:
    example = parse_record({"id": 3, "messages": CHAT[1:3], "quality": {"overall": 2}, "mood": "grim"}, "f:1")
    assert (example.id, example.quality) == ("3", {"overall": 2})
    assert example.extra == {"messages": CHAT[1:3], "mood": "grim"}


def test_a_byte_order_mark_is_no_part_of_the_data(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'\xef\xbb\xbf{"response": "a"}')
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbfresponse\na\n")
    (tmp_path / "a.json").write_bytes(b'\xef\xbb\xbf[{"response": "a"}]')
    for name in ("a.jsonl", "a.csv", "a.json"):
        assert one(tmp_path / name).response == "a"


def test_nulls_are_absent_and_numbers_that_json_lacks_become_null() -> None:
    nothing = dict.fromkeys(("context", "references", "system", "quality", "ratings", "raters", "scale", "scales"))
    assert parse_record({"response": "", **nothing}, "f:1") == Example((), "", id="f:1")
    extra = {"x": float("nan"), "y": {"z": [float("-inf"), 1]}}
    assert parse_record({"response": "", **extra}, "f:1").extra == {"x": None, "y": {"z": [None, 1]}}


@pytest.mark.parametrize("name", [" ", "3.0", "nan", "NaN"])
def test_a_rater_may_have_any_name(tmp_path: Path, name: str) -> None:
    given_one = Example((), "a", id="1", ratings=(Rating(3, rater=name), Rating(4, rater="b")))
    for file in ("a.jsonl", "a.csv", "a.parquet"):
        rejoinder.write([given_one], tmp_path / file)
        assert list(rejoinder.read(tmp_path / file)) == [given_one]


def test_the_samples_in_the_box() -> None:
    assert set(samples()) >= {"conture", "dstc7"}
    for name in ("conture", "dstc7"):
        examples = list(rejoinder.read(f"@{name}"))
        assert len(examples) > 300
        assert len({example.id for example in examples}) == len(examples)
        assert all(example.rating() is not None for example in examples)
        assert examples[2].where == f"@{name}:3", "as the user gave it"


def test_the_sample_of_pairs() -> None:
    pairs = list(rejoinder.read_pairs("@pandalm"))
    assert len(pairs) == 999 and sum(pair.preferred is None for pair in pairs) == 105
    assert all(len(pair.votes) == 3 for pair in pairs)
    replies = [reply for pair in pairs for reply in pair.replies]
    assert sum(not reply.response.strip() for reply in replies) == 54
    assert "True" in {reply.response for reply in replies}, "a JSON boolean in the source"
    assert sum("gpt-3.5" in pair.replies[0].extra for pair in pairs) == 974


def test_the_rated_data_sets_are_read_without_an_error(shared: Path) -> None:
    files = sorted((shared / "data" / "judgements").glob("*.jsonl.gz"))
    assert files
    for path in files:
        assert len(list(islice(rejoinder.read(path), 100))) == 100


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_the_separator_of_a_table_is_that_of_its_header(tmp_path: Path, mark: str, suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    rows = [["id", "context", "response", "a,b;c\td;;,,\t\t"], ["1", "one, two; three", 'a\tb, c; d "e"', "x"]]
    with path.open("w", newline="") as stream:
        stream.write("\r\n")
        csv.writer(stream, delimiter=mark).writerows(rows)
    example = one(path)
    assert (example.context, example.response) == (("one, two; three",), 'a\tb, c; d "e"')
    assert (example.extra, example.where) == ({rows[0][3]: "x"}, f"{path}:3")


def test_names_in_a_header_are_matched_without_regard_to_case_and_blanks(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(" Response ,CONTEXT,Note ,Context_ID\na,b,c,d\n")
    assert one(path) == Example(("b",), "a", id=f"{path}:2", context_id="d", extra={"Note ": "c"})
    path.write_text("response,Response,id\na,b,1\n")
    assert one(path) == Example((), "a", id="1", extra={"Response": "b"})


def test_cells_of_overall_ratings(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("response;quality;ratings;scale\na;3.5;[3, 4];[1, 5]\n")
    example = one(tmp_path / "a.csv")
    assert (example.quality, example.scales) == ({"overall": 3.5}, {"overall": (1, 5)})
    assert example.ratings == (Rating(3), Rating(4))


def test_an_empty_cell_is_an_empty_reply(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,response\n1,\n")
    assert one(tmp_path / "a.csv").response == ""


# Round trips

TEXT = st.text(max_size=30)
NAME = st.text(min_size=1, max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
KNOWN = {*FIELDS, *LISTS, *OBJECTS}
KEY = NAME.filter(lambda key: key not in KNOWN and not key.startswith("scores.") and _nearest(key) is None)
KEY = KEY.filter(lambda key: not is_known(key))  # as other people call what we know: `bot` for `system`


@st.composite
def examples(draw: st.DrawFn, extras: st.SearchStrategy[Any]) -> Example:
    ratings: list[Rating] = []
    for dimension in draw(st.lists(NAME, unique=True, max_size=2)):
        named = draw(st.booleans())
        values = draw(st.lists(st.integers(1, 5) | st.floats(1, 5), min_size=1, max_size=3))
        ratings += [Rating(value, dimension, draw(NAME) if named else None) for value in values]
    return Example(
        context=tuple(draw(st.lists(TEXT, max_size=3))),
        response=draw(TEXT),
        references=tuple(draw(st.lists(TEXT, max_size=2))),
        id=draw(NAME),
        system=draw(st.none() | NAME),
        dataset=draw(st.none() | NAME),
        context_id=draw(st.none() | NAME),
        ratings=tuple(ratings),
        quality=draw(st.dictionaries(NAME, st.floats(1, 5), max_size=2)),
        scales=draw(st.dictionaries(st.just("overall") | NAME, st.tuples(st.just(0), st.integers(6, 9)), max_size=2)),
        extra=draw(st.dictionaries(KEY, extras, max_size=2)),
    )


QUICK = drawn(60)


@QUICK
@given(given_ones=st.lists(examples(JSON), min_size=1, max_size=3))
@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_json_lines_come_back_as_they_were(tmp_path: Path, name: str, given_ones: list[Example]) -> None:
    assert rejoinder.write(given_ones, tmp_path / name) == len(given_ones)
    assert list(rejoinder.read(tmp_path / name)) == given_ones


@QUICK
@given(given_ones=st.lists(examples(JSON), min_size=1, max_size=3))
def test_chats_come_back_with_their_messages(tmp_path: Path, given_ones: list[Example]) -> None:
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    assert rejoinder.write(given_ones, first, format="chat") == len(given_ones)
    found = list(rejoinder.read(first))
    extras = [{key: value for key, value in example.extra.items() if key != "messages"} for example in found]
    assert [replace(example, extra=extra) for example, extra in zip(found, extras, strict=True)] == given_ones
    rejoinder.write(found, second, format="chat")
    one_way, there_and_back = (path.read_bytes().splitlines() for path in (first, second))
    assert list(map(json.loads, there_and_back)) == list(map(json.loads, one_way))


WORDS = st.text(min_size=1, max_size=30)


def is_itself_in_a_table(one: Example) -> bool:
    """Whether none of its texts says in a table that a cell is empty, a reply lost, or a row one of totals."""
    texts = (*one.context, one.response, *one.references, one.id, one.system, one.dataset, one.context_id)
    return not any(is_sign(text) or is_label(text) or str(text).strip() in ERRORS for text in texts)


@QUICK
@given(given_ones=st.lists(examples(WORDS).filter(is_itself_in_a_table), min_size=1, max_size=3))
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz"])
def test_tables_come_back_as_they_were(tmp_path: Path, name: str, given_ones: list[Example]) -> None:
    rejoinder.write(given_ones, tmp_path / name)
    assert list(rejoinder.read(tmp_path / name)) == given_ones


@drawn(20)
@given(given_ones=st.lists(examples(WORDS).filter(is_itself_in_a_table), min_size=1, max_size=3))
def test_parquet_comes_back_as_it_was(tmp_path: Path, given_ones: list[Example]) -> None:
    rejoinder.write(given_ones, tmp_path / "a.parquet")
    assert list(rejoinder.read(tmp_path / "a.parquet")) == given_ones


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.csv", "a.tsv", "a.parquet"])
def test_scores_survive_every_format(tmp_path: Path, name: str) -> None:
    signatures = {"adem": "scorer:adem|version:1"}
    record = {"id": "1", "scores": {"bleu-4/coco": 0.25, "adem": None}, "unscored": {"adem": "no context"}}
    record["signatures"] = signatures
    with open_writer(tmp_path / name) as put:
        put({**record, "context": ["a"], "response": "b"})
        put({"id": "2", "scores": {"bleu-4/coco": 0.5, "adem": 1.5}, "unscored": {}, "context": [], "response": "c"})
    first, second = rejoinder.read(tmp_path / name)
    assert first.extra == {key: record[key] for key in ("scores", "unscored", "signatures")}
    assert second.extra == {"scores": {"bleu-4/coco": 0.5, "adem": 1.5}, "unscored": {}}


def test_scores_that_are_no_numbers_are_one_column(tmp_path: Path) -> None:
    example = Example((), "a", id="1", extra={"scores": {"ours": "good"}})
    for name in ("a.csv", "a.parquet"):
        rejoinder.write([example], tmp_path / name)
        assert one(tmp_path / name) == example
    (tmp_path / "b.csv").write_text('response,scores.x,scores,scores.y\na,1,"{""z"": 3}",\n')
    assert one(tmp_path / "b.csv").extra == {"scores": {"z": 3, "x": 1.0, "y": None}}


def test_rows_that_differ_in_keys_share_one_header(tmp_path: Path) -> None:
    two = [Example((), "a", id="1", extra={"x": "1"}), Example((), "b", id="2", extra={"y": "2"})]
    rejoinder.write(two, tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == "id,context,response,x,y\n1,[],a,1,\n2,[],b,,2\n"
    assert list(rejoinder.read(tmp_path / "a.csv")) == two


def test_chat_roles_alternate_and_end_with_the_assistant(tmp_path: Path) -> None:
    rejoinder.write(
        [Example(("a", "b", "c"), "d", id="1", extra={"instructions": ["a user's own"]})],
        tmp_path / "a.jsonl",
        format="chat",
    )
    record = json.loads((tmp_path / "a.jsonl").read_text())
    assert [message["role"] for message in record["messages"]] == ["user", "assistant", "user", "assistant"]
    assert set(record) == {"messages", "id", "instructions"}


def test_equal_data_gives_equal_bytes(tmp_path: Path) -> None:
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        rejoinder.write([EXAMPLE], tmp_path / name)
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()


def test_writing_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert rejoinder.write([EXAMPLE], "-") == 1
    assert json.loads(capsys.readouterr().out)["response"] == EXAMPLE.response


# Streaming


def test_the_first_example_of_a_pipe_comes_before_the_pipe_ends(tmp_path: Path) -> None:
    pipe, had = tmp_path / "pipe.jsonl", threading.Event()
    os.mkfifo(pipe)

    def pour() -> None:
        with pipe.open("w") as stream:
            stream.write('{"response": "first"}\n')
            stream.flush()
            had.wait(10)

    thread = threading.Thread(target=pour, daemon=True)
    thread.start()
    examples = rejoinder.read(pipe)
    assert next(examples).response == "first"
    assert not had.is_set()
    had.set()
    thread.join(10)
    assert list(examples) == []


FLAT = {
    "a.jsonl": lambda text: json.dumps({"response": text}) + "\n",
    "logs.jsonl": lambda text: json.dumps([{"role": "assistant", "content": text}]) + "\n",
    "names.jsonl": lambda text: json.dumps({"prompt": "hi", "completion": text, "stars": 3}) + "\n",
    "names.csv": lambda text: f"hi,{text},3\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FLAT)
def test_memory_does_not_grow_with_the_file(tmp_path: Path, name: str) -> None:
    head = "prompt,answer,stars\n" if name.endswith("csv") else ""
    (tmp_path / name).write_text(head + FLAT[name]("word " * 200) * 2000)
    tracemalloc.start()
    assert rejoinder.write(rejoinder.read(tmp_path / name), tmp_path / "out.jsonl") == 2000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000 < (tmp_path / name).stat().st_size
