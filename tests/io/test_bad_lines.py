"""Bad input: each kind gives one line with file, line, field and remedy, and reading can go on past it."""

from __future__ import annotations

import gzip
import io
import json
import random
import re
import sys
from pathlib import Path
from typing import Any

import polars
import pytest

import rejoinder
from rejoinder.errors import DataError, MissingAsset, MissingExtra, UsageError
from rejoinder.io.lines import SAVE_AS_UTF8
from rejoinder.io.parse import parse_record

NO_RESPONSE = 'Give every line a "response": "...", or say which is: --map response=NAME'
GOOD = b'{"id": "g", "context": ["a"], "response": "b"}\n'


def problem(path: Path | str) -> DataError:
    """The error of a file, after a check of its form and of its place."""
    with pytest.raises(DataError) as caught:
        list(rejoinder.read(path))
    message = str(caught.value)
    assert "\n" not in message and message.startswith(str(path))
    assert caught.value.exit_code == 3
    return caught.value


def survivors(path: Path) -> tuple[list[str], list[str]]:
    """What is read of a file and what is skipped, where bad lines are kept aside."""
    skipped: list[DataError] = []
    responses = [example.response for example in rejoinder.read(path, on_bad=skipped.append)]
    return responses, [str(error).removeprefix(str(path)) for error in skipped]


FIELDS: list[tuple[dict[str, Any], str]] = [
    (
        {},
        f': field "response": missing (found: id), expected text. {NO_RESPONSE}',
    ),
    (
        {"response": None},
        ': field "response": is null, expected text. Write "" for an empty reply (in a data frame: fillna("")), '
        "leave the line out, or say --map response=NAME",
    ),
    (
        {"response": 5},
        f': field "response": is a number, expected text. {NO_RESPONSE}',
    ),
    (
        {"response": ["a"]},
        f': field "response": is a list, expected text. {NO_RESPONSE}',
    ),
    (
        {"response": "", "context": 5},
        ': field "context": is a number, expected a list of texts. Write "context": ["...", "..."]',
    ),
    (
        {"response": "", "context": ["hi", 5]},
        ': field "context": is a list that holds a number, expected a list of texts. Write "context": ["...", "..."]',
    ),
    (
        {"response": "", "references": {"a": 1}},
        ': field "references": is an object, expected a list of texts. Write "references": ["...", "..."]',
    ),
    ({"response": "", "id": 1.5}, ': field "id": is a number, expected a name. Write text or a whole number'),
    (
        {"response": "", "system": True},
        ': field "system": is true or false, expected a name. Write text or a whole number',
    ),
    (
        {"response": "", "quality": {"overall": float("nan")}},
        ': field "quality": overall is NaN or infinite, expected a number. Leave a missing rating out',
    ),
    (
        {"response": "", "ratings": {"overall": [3, float("-inf")]}},
        ': field "ratings": overall is NaN or infinite, expected a number. Leave a missing rating out',
    ),
    (
        {"response": "", "quality": {"overall": 10**400}},
        ': field "quality": overall is NaN or infinite, expected a number. Leave a missing rating out',
    ),
    (
        {"response": "", "ratings": {"overall": [3, None]}},
        ': field "ratings": overall is null, expected a number. Leave a missing rating out',
    ),
    (
        {"response": "", "quality": {"fluency": "fine"}},
        ': field "quality": fluency is text, expected a number. Leave a missing rating out',
    ),
    (
        {"response": "", "quality": 4},
        ': field "quality": is a number, expected an object. Write "quality": {"overall": 3.5}',
    ),
    (
        {"response": "", "ratings": [4]},
        ': field "ratings": is a list, expected an object. Write "ratings": {"overall": [3, 4]}',
    ),
    (
        {"response": "", "ratings": {"overall": 4}},
        ': field "ratings": overall is a number, expected a list. Write "ratings": {"overall": [3, 4]}',
    ),
    (
        {"response": "", "quality": {"overall": 5.5}, "scale": [1, 5]},
        ': field "quality": overall is 5.5, outside its scale [1, 5]. Correct the rating or the scale',
    ),
    (
        {"response": "", "ratings": {"fluency": [2, 0]}, "scales": {"fluency": [1, 3]}},
        ': field "ratings": fluency is 0, outside its scale [1, 3]. Correct the rating or the scale',
    ),
    (
        {"response": "", "scale": [5, 1]},
        ': field "scale": overall is [5, 1], expected [lowest, highest]. Write "scale": [1, 5]',
    ),
    ({"response": "", "scale": 5}, ': field "scale": overall is 5, expected [lowest, highest]. Write "scale": [1, 5]'),
    ({"response": "", "scales": [1, 5]}, ': field "scales": is a list, expected an object. Write {"overall": [1, 5]}'),
    (
        {"response": "", "ratings": {"overall": [3, 4]}, "raters": {"overall": ["ann"]}},
        ': field "raters": overall has 2 ratings and 1 names. Name one rater a rating',
    ),
    (
        {"response": "", "ratings": {"overall": [3, 4]}, "raters": "ann"},
        ': field "raters": overall has 2 ratings and text. Name one rater a rating',
    ),
    (
        {"messages": "hi"},
        ': field "messages": text, expected a list of messages. Write [{"role": ..., "content": ...}]',
    ),
    (
        {"messages": [{"role": "user", "content": "q"}]},
        ': field "messages": no turn of the assistant to judge. End with an assistant message, an empty one where '
        "nothing was replied",
    ),
    (
        {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": None}]},
        ': field "messages": message 2 has no text content. Write {"role": "user", "content": "..."}; '
        "roles are user, assistant, system, developer, tool",
    ),
    (
        {"messages": [{"role": "Narrator", "content": "q"}]},
        ': field "messages": message 1 has role \'Narrator\'. Write {"role": "user", "content": "..."}; '
        "roles are user, assistant, system, developer, tool",
    ),
    (
        {"response": "cut \ud83d"},
        ': field "response": holds \\ud83d, half a character. Write the whole character or none',
    ),
    (
        {"response": "", "x": {"\udc00": 1}},
        ': field "x": holds \\udc00, half a character. Write the whole character or none',
    ),
    (
        {"response": "", "\ud83d": 1},
        ': field "\\ud83d": holds \\ud83d, half a character. Write the whole character or none',
    ),
    (
        {"response": "", "references": None, "refernces": ["a"]},
        ': field "refernces": unknown. Did you mean "references"? If not, rename it',
    ),
    (
        {"response": "", "contxt": []},
        ': field "contxt": unknown. Did you mean "context"? If not, rename it',
    ),
    (
        {"responses": ["a"]},
        ': field "responses": unknown. Did you mean "response"? If not, rename it',
    ),
    (
        {"response": "", "scores": [3]},
        ': field "scores": is a list, expected what scoring writes there, an object. Rename it',
    ),
    (
        {"response": "", "unscored": 0},
        ': field "unscored": is a number, expected what scoring writes there, an object. Rename it',
    ),
    (
        {"response": "", "signatures": "a"},
        ': field "signatures": is text, expected what scoring writes there, an object. Rename it',
    ),
]


@pytest.mark.parametrize(("record", "message"), FIELDS, ids=lambda value: value[9:40] if isinstance(value, str) else "")
def test_a_field_that_cannot_be_used(tmp_path: Path, record: dict[str, Any], message: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(GOOD + json.dumps({"id": "x", **record}).encode() + b"\n" + GOOD)
    assert str(problem(path)) == f"{path}:2{message}"
    responses, skipped = survivors(path)
    assert responses == ["b", "b"] and skipped == [f":2{message}"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"response": "b"', ":2: broken JSON (Expecting ',' delimiter at column 17). Write one JSON object a line"),
        (b"hello", ":2: broken JSON (Expecting value at column 1). Write one JSON object a line"),
        (b"[" * 100_000, ":2: broken JSON (nested too deep). Write one JSON object a line"),
        (b"9" * 5000, ":2: broken JSON (a number of thousands of digits). Write one JSON object a line"),
        (b"5", ':2: a number, expected a JSON object. Write one {"context": [...], "response": "..."} a line'),
        (b"null", ':2: null, expected a JSON object. Write one {"context": [...], "response": "..."} a line'),
        (
            b'[{"response": "a"}]',
            ":2: a list of 1 objects without a role, expected one record or its messages. Write one JSON object a "
            "line; of a JSON array say --input-format json",
        ),
        (b"[]", ':2: field "messages": a list, expected a list of messages. Write [{"role": ..., "content": ...}]'),
        (
            '{"response": "café"}'.encode("latin-1"),
            f":2: byte 0xe9 at column 18 is not UTF-8. {SAVE_AS_UTF8}",
        ),
    ],
)
def test_a_line_that_cannot_be_used(tmp_path: Path, line: bytes, message: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(GOOD + line + b"\n" + GOOD)
    assert str(problem(path)) == f"{path}{message}"
    assert survivors(path) == (["b", "b"], [message])


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.jsonl", b"", ": the file is empty. Give a file with at least one line"),
        ("a.csv", b"", ": the file is empty. Give a file with at least one line"),
        ("a.json", b"", ": the file is empty. Give a file with at least one line"),
        ("a.jsonl.gz", gzip.compress(b"", mtime=0), ": the file is empty. Give a file with at least one line"),
        ("a.jsonl", b"\n  \n\r\n", ": holds no record. Give a file with at least one"),
        ("a.jsonl", b"\xef\xbb\xbf", ": holds no record. Give a file with at least one"),
        ("a.csv", b"\n\n", ": holds no record. Give a file with at least one"),
        ("a.csv", b"context,response\n\n", ": holds no record. Give a file with at least one"),
        ("a.json", b" \n", ": holds no record. Give a file with at least one"),
        ("a.json", b"[]", ": holds no record. Give a file with at least one"),
        (
            "a.json",
            b'{"response": "a"}\n{"response": "b"}\n',
            ":2: broken JSON (Extra data at column 1). Write one JSON array; of JSON lines say --input-format jsonl",
        ),
        (
            "a.json",
            b"5",
            ':item 1: a number, expected a JSON object. Write one {"context": [...], "response": "..."} a line',
        ),
        (
            "a.json",
            b'[{"response": "a",\n"x": "\xe9",\n"y": 1}]',
            f":2: byte 0xe9 at column 7 is not UTF-8. {SAVE_AS_UTF8}",
        ),
    ],
)
def test_a_file_that_cannot_be_used(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    assert str(problem(path)) == f"{path}{message}"
    assert survivors(path) == ([], [message])


@pytest.mark.parametrize(
    ("data", "responses", "messages"),
    [
        (
            b"id,response\n1,a\n2,b,c\n3\n4,d\n",
            ["a", "d"],
            [
                ":3: 3 cells, 1 too many; the last is 'c'. Quote cells that hold the separator",
                ":4: 1 cells, 1 too few; none for response. "
                "Leave cells empty, not out; quote those that hold a line end",
            ],
        ),
        (
            b'response\n"two\nlines"\nb\n"never\nclosed\n',
            ["two\nlines", "b"],
            [":5: broken CSV (unexpected end of data). Close every quote; double those inside a cell"],
        ),
        (
            b'response\n"a" b\nc\n',
            ["c"],
            [":2: broken CSV (',' expected after '\"'). Close every quote; double those inside a cell"],
        ),
        (
            b'response\n"one\n\xe9\ntwo"\nb\n\xe8\nc\nd,d\n',
            ["b", "c"],
            [
                f":2: byte 0xe9 in cell 1 is not UTF-8. {SAVE_AS_UTF8}",
                f":6: byte 0xe8 in cell 1 is not UTF-8. {SAVE_AS_UTF8}",
                ":8: 2 cells, 1 too many; the last is 'd'. Quote cells that hold the separator",
            ],
        ),
        (
            b"respons\xe9\na\n",
            [],
            [f":1: byte 0xe9 in cell 1 is not UTF-8. {SAVE_AS_UTF8}"],
        ),
        (b"id,response,id\n1,a,2\n", [], [':1: field "id": the header has this name twice. Rename one column']),
        (
            b'response,scores.adem,quality\na,good,\nb,,"{""overall"": NaN}"\nc,1.5,fine\n',
            [],
            [
                ":2: field \"scores.adem\": 'good', expected a score. Write a number or leave the cell empty",
                ':3: field "quality": overall is NaN or infinite, expected a number. Leave a missing rating out',
                ':4: field "quality": not JSON (Expecting value at column 1). Write JSON in this cell, such as 3.5',
            ],
        ),
        (
            b"response;quality;ratings;scale\na;fine;;\nb;3,5;;\nc;;3 4;\nd;;;1-5\n",
            [],
            [
                ':2: field "quality": not JSON (Expecting value at column 1). Write JSON in this cell, such as 3.5',
                ':3: field "quality": not JSON (Extra data at column 2). Write JSON in this cell, such as 3.5',
                ':4: field "ratings": not JSON (Extra data at column 3). Write JSON in this cell, such as [3, 4]',
                ':5: field "scale": not JSON (Extra data at column 2). Write JSON in this cell, such as [1, 5]',
            ],
        ),
        (
            b"response,scores,scores.x\na,[1],2\n",
            [],
            [':2: field "scores": is a list, expected what scoring writes there, an object. Rename it'],
        ),
        (
            b"text;label\na;b\n",
            [],
            [f':2: field "response": missing (found: text, label), expected text. {NO_RESPONSE}'],
        ),
    ],
)
def test_tables_that_cannot_be_used(tmp_path: Path, data: bytes, responses: list[str], messages: list[str]) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(data)
    assert str(problem(path)) == f"{path}{messages[0]}"
    assert survivors(path) == (responses, messages)


def packed_lines(count: int) -> bytes:
    noise = random.Random(3)
    lines = [json.dumps({"response": f"{number} {noise.random()}"}) for number in range(count)]
    return gzip.compress("\n".join(lines).encode())


def test_a_gzip_that_is_cut_off_gives_the_lines_before_the_cut(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(packed_lines(2000)[:-8000])
    responses, skipped = survivors(path)
    assert 500 < len(responses) < 2000
    assert [response.split()[0] for response in responses] == [str(number) for number in range(len(responses))]
    assert skipped == [f":{len(responses) + 1}: its gzip is cut off after line {len(responses)}. Get the file again"]
    assert str(problem(path)) == f"{path}{skipped[0]}"


def test_a_gzip_that_is_damaged(tmp_path: Path) -> None:
    path, data = tmp_path / "a.jsonl", bytearray(packed_lines(2000))
    data[-6] ^= 1
    path.write_bytes(data)
    responses, skipped = survivors(path)
    assert len(responses) >= 1999
    assert re.fullmatch(
        r":\d+: its gzip is damaged \(CRC check failed .*\) after line \d+. Get the file again", skipped[0]
    )
    data[30] ^= 0xFF
    path.write_bytes(data)
    assert "its gzip is damaged (" in str(problem(path))
    path.write_bytes(b"\x1f\x8b")
    assert str(problem(path)) == f"{path}:1: its gzip is cut off after line 0. Get the file again"


@pytest.mark.parametrize("suffix", [".jsonl", ".json"])
def test_a_key_that_stands_twice(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"twice{suffix}"
    line = '{"context": ["a"], "response": "kept?", "extra": {"a": 1}, "response": "or this?"}\n'
    path.write_text(line if suffix == ".jsonl" else f"[{line}]", "utf-8")
    assert str(problem(path)).endswith('field "response": the key stands twice in one object. Keep one of them')
    path.write_text(line.replace('"a": 1', '"a": 1, "a": 2').replace(', "response": "or this?"', ""), "utf-8")
    assert 'field "a"' in str(problem(path))


def test_broken_parquet(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_text("response\na\n")
    assert re.search(r"a.parquet: not a readable Parquet file \(.*\). Write it again$", str(problem(path)))
    assert len(survivors(path)[1]) == 1
    polars.DataFrame({"response": []}, schema={"response": polars.String}).write_parquet(path)
    assert str(problem(path)) == f"{path}: holds no record. Give a file with at least one"
    polars.DataFrame({"response": ["a", None], "context": [["x"], [None]]}).write_parquet(path)
    assert survivors(path)[1][0].startswith(':row 2: field "response": is null, expected text')
    polars.DataFrame({"response": ["a"], "context": [[None]]}).write_parquet(path)
    assert survivors(path)[1][0].startswith(':row 1: field "context": is a list that holds null')
    polars.DataFrame({"text": ["a"]}).write_parquet(path)
    assert str(problem(path)).startswith(f'{path}:row 1: field "response": missing (found: text)')


def test_parquet_damaged_anywhere_is_never_a_fault_of_ours(tmp_path: Path) -> None:
    noise, path = random.Random(0), tmp_path / "a.parquet"
    texts = [f"{noise.random()}" for _ in range(300)]
    polars.DataFrame({"response": texts}).write_parquet(path)
    whole = path.read_bytes()
    for _ in range(40):
        data = bytearray(whole)
        data[noise.randrange(len(data))] ^= 1 << noise.randrange(8)
        path.write_bytes(data)
        skipped: list[DataError] = []
        read = list(rejoinder.read(path, on_bad=skipped.append))
        assert skipped or len(read) == 300


def test_parquet_without_its_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(
        MissingExtra, match=r"Reading Parquet needs polars. Install it: pip install 'rejoinder\[parquet\]'"
    ):
        list(rejoinder.read(tmp_path / "a.parquet"))
    with pytest.raises(MissingExtra, match="Writing Parquet needs polars"):
        rejoinder.write([], tmp_path / "a.parquet")
    assert list(tmp_path.iterdir()) == []


def test_files_that_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.jsonl", "a.csv", "a.parquet"):
        with pytest.raises(MissingAsset, match=rf"{name}: no such file. Check the name; files in the box begin with @"):
            list(rejoinder.read(tmp_path / name))
    with pytest.raises(
        MissingAsset, match=r"^bleu-2: no such file. Check .* \(rejoinder doctor\); each scorer or responder needs its"
    ):
        list(rejoinder.read("bleu-2"))
    for name in ("b.jsonl", "folder"):
        (tmp_path / name).mkdir()
        with pytest.raises(
            MissingAsset,
            match=rf"{name}: is a folder without .parquet files. Name a file; each scorer or responder needs its own ",
        ):
            list(rejoinder.read(tmp_path / name))
    with pytest.raises(MissingAsset, match="@nothing: no bundled sample has this name. Use one of @conture, @dstc7"):
        list(rejoinder.read("@nothing"))

    def refuse(*_: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(MissingAsset, match=r"c.jsonl: cannot be opened \(Permission denied\). Name a readable file."):
        list(rejoinder.read(tmp_path / "c.jsonl"))


@pytest.mark.parametrize(("name", "suffix"), [("a.txt", ".txt"), ("a", "(no suffix)"), ("a.gz", "(no suffix)")])
def test_an_unknown_suffix(tmp_path: Path, name: str, suffix: str) -> None:
    (tmp_path / name).write_text("")
    with pytest.raises(
        UsageError, match=re.escape(f"{name}: unknown format {suffix}. Known: .jsonl, .ndjson, .json, .csv")
    ):
        list(rejoinder.read(tmp_path / name))


def test_reading_goes_on_with_the_next_file(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_bytes(b"")
    (tmp_path / "good.jsonl").write_bytes(GOOD)
    skipped: list[DataError] = []
    assert len(list(rejoinder.read(tmp_path / "bad.csv", tmp_path / "good.jsonl", on_bad=skipped.append))) == 1
    assert len(skipped) == 1


def test_standard_input_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(GOOD + b"{}\n")))
    with pytest.raises(DataError, match=r'^stdin:2: field "response": missing \(found: nothing\), expected text'):
        list(rejoinder.read("-"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"[\n{}]")))
    message = r"^stdin:1: broken JSON \(.*\). Standard input is read as JSON lines, .* else say --input-format csv$"
    with pytest.raises(DataError, match=message):
        list(rejoinder.read("-"))


def test_an_unknown_key_that_is_only_like_a_field_is_kept() -> None:
    record = {"response": "", "content": 1, "preference": 2, "system_id": 3, "response_id": 4, "responses": 5, "": 6}
    assert parse_record(record, "f:1").extra == {key: value for key, value in record.items() if key != "response"}
