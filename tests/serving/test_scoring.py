"""Scores over HTTP: what comes back is what the command line writes, and bad input is told in its words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from conftest import Run
from rejoinder.scorer import OUT_OF_DOMAIN
from rejoinder.scoring.catalog import load_scorers
from rejoinder.serving.app import make_app
from rejoinder.serving.limits import Limits

LINES = [
    {"context": ["do you like films?"], "response": "yes , old ones .", "id": "a", "mine": [1, None, {"x": "ä"}]},
    {"context": ["do you like films?"], "response": "", "references": ["i do ."]},
    {"prompt": "where is my parcel?", "answer": "on its way .", "reference": "it is on its way ."},
    {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello there !"}]},
    {"response": "nothing before it"},
]
SCORERS = ["rejoinder", "bleu-2", "length"]


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(make_app(load_scorers(SCORERS), limits=Limits(body=20_000, lines=50))) as client:
        yield client


def ask(client: TestClient, body: Any, **query: Any) -> Any:
    answer = client.post("/v1/score", content=body if isinstance(body, bytes) else json.dumps(body), params=query)
    assert answer.headers["content-type"] == "application/json"
    return answer.json()


def test_scores_are_those_of_the_command_line(client: TestClient, tmp_path: Path, run: Run) -> None:
    """Every key and every value, for all scorers at once, with what moved them; ids of lines without one aside."""
    file = tmp_path / "lines.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in LINES))
    written = run("score", file, *(word for name in SCORERS for word in ("-s", name)), "--explain").records
    found = ask(client, LINES, scorer=SCORERS, explain=True)["results"]
    assert len(found) == len(written) == len(LINES)
    for ours, theirs in zip(found, written, strict=True):
        for record in (ours, theirs):
            record["id"] = record["id"].replace("body:item ", "").replace(f"{file}:", "")
        assert ours == theirs


GERMAN = {"context": ["do you have any pets ?"], "response": "Ja, ich habe zwei Hunde und eine Katze.", "id": "g"}


@pytest.mark.parametrize("path", ["/v1/score", "/v1/score/stream"])
def test_scores_out_of_the_domain_are_withheld_unless_asked_for(client: TestClient, path: str) -> None:
    def asked(**query: str) -> dict[str, Any]:
        text = client.post(path, content=json.dumps(GERMAN), params={"explain": "true", **query}).text
        record: dict[str, Any] = json.loads(text)
        return record["results"][0] if "results" in record else record

    withheld, kept = asked(), asked(out_of_domain="keep")
    assert withheld["scores"] == {"rejoinder": None} and withheld["unscored"] == {"rejoinder": OUT_OF_DOMAIN}
    assert "intervals" not in withheld and "explained" not in withheld
    assert withheld["warnings"] == kept["warnings"] and kept["warnings"]["rejoinder"][0] == OUT_OF_DOMAIN
    assert kept["scores"]["rejoinder"] > 0 and kept["unscored"] == {} and "rejoinder" in kept["intervals"]
    assert asked(out_of_domain="withhold") == withheld


def test_requests_that_ask_for_other_things_share_no_batch(client: TestClient) -> None:
    """A request that keeps such scores does not make another one show them."""
    with ThreadPoolExecutor(8) as pool:
        ways = ["keep", "withhold"] * 8
        found = list(pool.map(lambda way: ask(client, [GERMAN] * 3, out_of_domain=way)["results"], ways))
    assert [result["scores"]["rejoinder"] is None for results in found for result in results] == [
        way == "withhold" for way in ways for _ in range(3)
    ]


def test_a_scorer_says_its_domain_and_what_it_does_not_read(client: TestClient) -> None:
    judge, bleu, _ = client.get("/v1/scorers").json()["results"]
    assert judge["domain"] == "short English chat" and "facts" in judge["unread"]
    assert (bleu["domain"], bleu["unread"]) == ("", [])


def test_one_line_comes_back_as_one_result(client: TestClient) -> None:
    (found,) = ask(client, LINES[0])["results"]
    assert found["id"] == "a" and found["mine"] == [1, None, {"x": "ä"}]
    low, high = found["intervals"]["rejoinder"]
    assert low < high and low <= found["scores"]["rejoinder"] <= high


def test_each_line_has_one_result_whoever_rated_it(client: TestClient) -> None:
    said = [("tea ?", "yes .", "ann"), ("tea ?", "yes .", "bob"), ("tea ?", "no thanks .", "ann")]
    lines = [{"context": [turn], "response": reply, "rater": who, "rating": 3} for turn, reply, who in said]
    found = ask(client, lines, scorer="length")["results"]
    assert [(one["response"], one["raters"]["overall"]) for one in found] == [(reply, [who]) for _, reply, who in said]


@pytest.mark.parametrize(
    "odd",
    [
        {"prompt": "hi", "chosen": "hello !", "rejected": "go away"},
        {"context": ["hi"], "response_a": "hello !", "response_b": "go away"},
        {"context": ["hi"], "response_a": "hello !", "response_b": "go away", "rating_a": 3, "rating_b": 1},
    ],
)
def test_a_line_with_two_replies_is_refused(client: TestClient, odd: dict[str, Any]) -> None:
    said = "holds not one reply, and each line has one result. Send each reply as a line"
    assert ask(client, [LINES[0], odd, LINES[0]])["error"]["message"] == f"body:item 2: {said}"
    streamed = client.post("/v1/score/stream", content="\n".join(map(json.dumps, [LINES[0], odd, LINES[0]]))).text
    assert [json.loads(line).get("error", {}).get("line") for line in streamed.splitlines()] == [None, 2, None]


def test_rows_of_single_messages_are_refused(client: TestClient) -> None:
    rows = [{"conversation_id": "c", "speaker": who, "text": "hi"} for who in ("user", "bot", "user", "bot")]
    assert "each line has one result" in ask(client, rows)["error"]["message"]


def test_what_cannot_be_scored_says_why(client: TestClient) -> None:
    (found,) = ask(client, LINES[4], scorer="bleu-2")["results"]
    assert found["scores"] == {"bleu-2": None} and found["unscored"] == {"bleu-2": "no reference"}


@pytest.mark.parametrize(
    ("body", "status", "said", "line"),
    [
        (b'{"response": "a"', 422, "body:1: broken JSON (Expecting ',' delimiter at column 17, where it ends)", 1),
        (b"", 422, "body:1: broken JSON", 1),
        (b"[]", 422, "body: holds no line", None),
        (b"7", 422, "body:item 1: ", 1),
        (b'"/etc/passwd"', 422, "body:item 1: ", 1),
        (b'[{"response": "a"}, {"response": 3}]', 422, 'body:item 2: field "response"', 2),
        (b'{"response": "a", "response": "b"}', 422, "the key stands twice", None),
        (b'{"response": "\\ud800"}', 422, "half a character", None),
        (b'{"response": "a", "\\ud83d": 1}', 422, 'body: field "\\ud83d": holds \\ud83d, half a character', None),
        (b'{"response": "a", "\\ud83d": 1, "\\ud83d": 2}', 422, 'field "\\ud83d": the key stands twice', None),
        (b'{"response": "\xff"}', 422, "body: byte 0xff at column 15 is not UTF-8", None),
        (b"[" * 15_000, 422, "nested too deep", None),
        (b'{"response": ' + b"9" * 15_000 + b"}", 422, "", None),
        (b'{"response": "' + b"x" * 30_000 + b'"}', 413, "more than 20,000 bytes", None),
        (b"[" + b'{"response": "a"},' * 50 + b'{"response": "a"}]', 413, "body has 51 lines, and 50 are taken", None),
    ],
)
def test_bad_input_is_told_in_the_words_of_the_command_line(
    client: TestClient, body: bytes, status: int, said: str, line: int | None
) -> None:
    answer = client.post("/v1/score", content=body)
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert said in error["message"] and error["line"] == line
    assert set(error) == {"message", "where", "line", "field"}


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("scorer=blue", "no scorer 'blue' is served here. There are: rejoinder, bleu-2, length"),
        ("scorer=/etc", "no scorer '/etc' is served here"),
        ("scorer=command:cat", "no scorer 'command:cat' is served here"),
        ("scorer=length&scorer=length", "the scorer 'length' was named twice"),
        ("scorer=length&explain=true", "length does not explain scores"),
        ("explain=perhaps", "parameter explain: "),
        ("out_of_domain=drop", "parameter out_of_domain: "),
        ("scorers=length", "parameter scorers: there is no such parameter"),
    ],
)
def test_a_wrong_call(client: TestClient, query: str, said: str) -> None:
    answer = client.post(f"/v1/score?{query}", content=json.dumps(LINES[0]))
    assert answer.status_code == 400 and said in answer.json()["error"]["message"]


def test_a_packed_body_is_refused(client: TestClient) -> None:
    answer = client.post("/v1/score", content=b"\x1f\x8b", headers={"Content-Encoding": "gzip"})
    assert answer.status_code == 415 and "the body is packed (gzip)" in answer.json()["error"]["message"]


def test_what_is_not_there(client: TestClient) -> None:
    for method, path, status in (("GET", "/v2", 404), ("GET", "/v1/score", 405), ("GET", "/docs", 404)):
        answer = client.request(method, path)
        assert answer.status_code == status and answer.json()["error"]["message"]


def test_scorers_and_health(client: TestClient) -> None:
    found = client.get("/v1/scorers").json()["results"]
    assert [one["name"] for one in found] == SCORERS
    assert [one["explains"] for one in found] == [True, False, False]
    assert found[1]["needs"] == ["reference"] and found[0]["signature"]["scorer"] == "rejoinder"
    health = client.get("/health")
    assert health.status_code == 200 and health.json()["live"] and health.json()["ready"]
