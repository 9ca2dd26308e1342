"""JSON lines in and out: the same records as of a body, in order; what is wrong with a line is told in its place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from rejoinder.scoring.catalog import load_scorers
from rejoinder.serving.app import make_app
from rejoinder.serving.limits import Limits


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(make_app(load_scorers(["length", "bleu-2"]), limits=Limits(body=2_000))) as client:
        yield client


def stream(client: TestClient, body: bytes | Iterator[bytes], query: str = "") -> list[dict[str, Any]]:
    answer = client.post(f"/v1/score/stream{query}", content=body)
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("application/x-ndjson")
    return [json.loads(line) for line in answer.text.splitlines()]


def test_lines_come_back_in_order_whatever_they_are_cut_into(client: TestClient) -> None:
    lines = [{"context": ["hi"], "response": "word " * (n % 7), "id": f"n{n}"} for n in range(300)]
    body = "\n".join(map(json.dumps, lines)).encode()
    cut = (body[start : start + 777] for start in range(0, len(body), 777))
    found = stream(client, cut)
    whole = client.post("/v1/score", content=json.dumps(lines[:20])).json()["results"]
    assert [one["id"] for one in found] == [line["id"] for line in lines]
    assert found[:20] == whole


def test_a_bad_line_is_an_error_and_the_others_go_on(client: TestClient) -> None:
    lines = [
        b'\xef\xbb\xbf{"response": "a b", "id": "x"}\r',
        b"",
        b"{broken",
        b'{"response": "\xff"}',
        b'{"prompt": "hi", "chosen": "hello !", "rejected": "go away"}',
        b"[" * 1_900,
        b'{"response": "' + b"x" * 3_000 + b'"}',
        b'{"response": 3}',
        b'{"response": "a", "\\ud83d": 1}',
        b'{"response": "a", "text": "b", "answer": "c"}',
        b'{"response": "c"}',
    ]
    found = stream(client, b"\n".join(lines))
    assert [one["error"]["line"] if "error" in one else one["scores"]["length"] for one in found] == [
        2, 3, 4, 5, 6, 7, 8, 9, 1, 1,
    ]  # fmt: skip
    said = [one["error"]["message"] for one in found if "error" in one]
    assert said[0] == "body:3: broken JSON (Expecting property name enclosed in double quotes at column 2). " + (
        "Write one JSON object a line"
    )
    assert "body:4: byte 0xff" in said[1] and "nested too deep" in said[3]
    assert said[4] == "body:7: the line has more than 2,000 bytes. Shorten it"
    assert said[6].startswith('body:9: field "\\ud83d": holds \\ud83d, half a character')


def test_a_line_without_an_end_is_not_held_in_memory(client: TestClient) -> None:
    parts = (b'{"response": "' if n == 0 else b"x" * 1_500 for n in range(50))
    (found,) = stream(client, parts)
    assert found["error"]["message"].startswith("body:1: the line has more than 2,000 bytes")
    after = iter([b"x" * 3_000, b"y" * 3_000 + b'\n{"response": "a"}\n'])
    assert ["error" in one for one in stream(client, after)] == [True, False]


def test_scorers_are_chosen_as_for_a_body(client: TestClient) -> None:
    (found,) = stream(client, b'{"response": "a"}', "?scorer=bleu-2")
    assert found["unscored"] == {"bleu-2": "no reference"}
    assert client.post("/v1/score/stream?scorer=x", content=b"{}").status_code == 400
    assert stream(client, b"") == []
