"""Who may ask, how much at once, and what is counted."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from conftest import Run
from rejoinder.catalogue import load_scorers
from rejoinder.errors import UsageError
from rejoinder.records import Example
from rejoinder.scorer import Card, Outcome
from rejoinder.serving.app import make_app
from rejoinder.serving.batches import PORTION, Asked, Batches, Busy
from rejoinder.serving.limits import Limits
from rejoinder.serving.run import default_scorers, serve
from rejoinder.serving.workers import Workers

TOKEN = "correct horse battery"
LINE = json.dumps({"response": "a b c"})


class Slow:
    """Scores when it is let."""

    card = Card("slow", "", "metric", frozenset(), (None, None), "")
    options: dict[str, Any] = {}  # noqa: RUF012

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.batches: list[int] = []

    def score_batch(self, examples: Sequence[Example]) -> Outcome:
        assert self.gate.wait(10)
        if any(one.response == "boom" for one in examples):
            raise ZeroDivisionError(examples[0].response)
        self.batches.append(len(examples))
        return Outcome(np.array([float(len(one.response)) for one in examples]))


@pytest.fixture
def closed() -> Iterator[TestClient]:
    with TestClient(make_app(load_scorers("length"), token=TOKEN)) as client:
        yield client


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer \xff", TOKEN]
)
def test_a_stranger_is_told_nothing(closed: TestClient, header: str | None) -> None:
    headers = {} if header is None else {b"Authorization": header.encode("latin-1")}
    for method, path in (("POST", "/v1/score"), ("GET", "/v1/scorers"), ("GET", "/metrics"), ("GET", "/v1/x")):
        answer = closed.request(method, path, headers=headers, content=LINE)
        assert answer.status_code == 401 and answer.headers["www-authenticate"] == "Bearer"
        assert answer.json()["error"]["message"].startswith("no token, or not the right one")
    for path in ("/health", "/", "/openapi.json"):
        assert closed.get(path, headers=headers).status_code == 200


@pytest.mark.parametrize("kind", ["Bearer", "bearer", "BEARER "])
def test_who_knows_the_token_is_answered(closed: TestClient, kind: str) -> None:
    answer = closed.post("/v1/score", content=LINE, headers={"Authorization": f"{kind} {TOKEN}"})
    assert answer.json()["results"][0]["scores"] == {"length": 3.0}
    assert answer.headers["cache-control"] == "no-store" and answer.headers["x-content-type-options"] == "nosniff"


def test_a_name_that_is_not_this_machines_is_refused() -> None:
    """A page elsewhere may call this address by a name of its own, to read what its own scripts may not."""
    with TestClient(make_app(load_scorers("length"), hosts=["localhost"])) as client:
        answer = client.get("/health", headers={"Host": "evil.example"})
        said = "the Host header does not name this service. Ask for it as localhost"
        assert answer.status_code == 400 and answer.json()["error"]["message"] == said
        assert client.get("/health", headers={"Host": "localhost:8000"}).status_code == 200


def test_what_there_is_no_room_for_is_sent_away_and_what_was_taken_is_answered() -> None:
    slow = Slow()
    limits = Limits(waiting=20, requests=30)
    body = json.dumps([{"response": "x" * n} for n in range(10)])
    with TestClient(make_app({"slow": slow}, limits=limits)) as client, ThreadPoolExecutor(8) as pool:
        sent = [pool.submit(client.post, "/v1/score", content=body) for _ in range(8)]
        while client.get("/health").status_code == 200:
            pass
        assert client.get("/health").json()["live"] and client.get("/health").json()["waiting"] >= 20
        while sum(one.done() for one in sent) < 6:
            pass
        slow.gate.set()
        answers = [one.result() for one in sent]
        assert sorted(one.status_code for one in answers) == [200] * 2 + [503] * 6
        for one in answers:
            if one.status_code == 503:
                assert one.headers["retry-after"] == "1" and "Ask again" in one.json()["error"]["message"]
            else:
                assert [line["scores"]["slow"] for line in one.json()["results"]] == list(range(10))
        assert client.get("/health").json()["ready"]


def test_too_many_requests_at_once_are_sent_away() -> None:
    slow = Slow()
    with TestClient(make_app({"slow": slow}, limits=Limits(requests=3))) as client, ThreadPoolExecutor(8) as pool:
        sent = [pool.submit(client.post, "/v1/score", content=LINE) for _ in range(8)]
        while sum(one.done() for one in sent) < 5:
            pass
        assert client.get("/health").status_code == 200, "whoever looks after the service is answered always"
        slow.gate.set()
        assert sorted(one.result().status_code for one in sent) == [200] * 3 + [503] * 5


def test_who_waits_too_long_for_a_score_is_sent_away() -> None:
    slow = Slow()
    with TestClient(make_app({"slow": slow}, limits=Limits(timeout=0.05))) as client:
        answer = client.post("/v1/score", content=LINE)
        assert answer.status_code == 503 and client.get("/health").json()["waiting"] == 0
        slow.gate.set()


def test_a_fault_is_the_fault_of_one_request_alone() -> None:
    """A batch that fails is scored request by request; and what was sent does not stand in what is said."""
    slow = Slow()
    app = make_app({"slow": slow})
    with TestClient(app, raise_server_exceptions=False) as client, ThreadPoolExecutor(3) as pool:
        texts = ["first", "boom", "third"]
        sent = [pool.submit(client.post, "/v1/score", content=json.dumps({"response": text})) for text in texts]
        while client.get("/health").json()["waiting"] < 3:
            pass
        slow.gate.set()
        answers = [one.result() for one in sent]
    assert [one.status_code for one in answers] == [200, 500, 200]
    assert answers[1].json()["error"]["message"] == "ZeroDivisionError: this is a fault of rejoinder"


def test_what_waits_is_scored_together_and_a_large_request_keeps_nobody_waiting() -> None:
    """Portions: a request of 150 lines and one of 1 that came after it, which is not the last to be answered."""
    sizes: list[int] = []
    order: list[str] = []

    def score(asked: Asked, examples: Sequence[Example]) -> list[Any]:
        sizes.append(len(examples))
        return [one.response for one in examples]

    async def ask(batches: Batches, name: str, count: int) -> list[Any]:
        with batches.let_in(count):
            found = await batches.scored(Asked(("x",)), [Example((), f"{name}{n}") for n in range(count)])
        order.append(name)
        return found

    async def all_of_them() -> list[list[Any]]:
        workers = Workers("scoring")
        batches = Batches(score, 100, workers)
        running = asyncio.create_task(batches.run())
        large = asyncio.create_task(ask(batches, "large", 150))
        await asyncio.sleep(0)
        with pytest.raises(Busy):
            await ask(batches, "late", 1)
        batches.room = 1_000
        small = [asyncio.create_task(ask(batches, f"small{n}.", 1)) for n in range(9)]
        with workers:
            found = await asyncio.gather(large, *small)
        running.cancel()
        assert batches.waiting == 0
        return found

    large, *small = asyncio.run(all_of_them())
    assert large == [f"large{n}" for n in range(150)]
    assert [one for (one,) in small] == [f"small{n}.0" for n in range(9)]
    assert order[-1] == "large" and max(sizes) <= PORTION and len(sizes) <= 5


def test_requests_are_counted_by_route(closed: TestClient) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    for _ in range(3):
        closed.post("/v1/score", content=LINE, headers=headers)
    closed.post("/v1/score", content="{", headers=headers)
    closed.get("/some/secret", headers=headers)
    found = closed.get("/metrics", headers=headers).text
    for line in (
        'rejoinder_requests_total{path="/v1/score",status="200"} 3.0',
        'rejoinder_requests_total{path="/v1/score",status="422"} 1.0',
        'rejoinder_requests_total{path="other",status="404"} 1.0',
        "rejoinder_batch_lines_count 3.0",
        "rejoinder_waiting_lines 0.0",
    ):
        assert line in found
    assert "secret" not in found and "process_resident_memory_bytes" in found


def test_other_machines_may_not_ask_without_a_token() -> None:
    with pytest.raises(UsageError, match=r"0\.0\.0\.0 can be reached by other machines, and no token is set"):
        serve(["length"], host="0.0.0.0")
    with pytest.raises(UsageError, match="the token has 5 characters, expected 16 or more"):
        serve(["length"], token="short")
    with pytest.raises(UsageError, match="no scorer was named"):
        serve([])
    with pytest.raises(UsageError, match="^port is 'abc', expected a whole number"):
        serve(["length"], port="abc")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="the limit lines is 0, expected a number above 0"):
        Limits(lines=0)


def test_an_empty_token_file_does_not_open_the_door(tmp_path: Path, run: Run) -> None:
    (tmp_path / "token").write_text("\n")
    for file, code, said in (("token", 3, "holds no token"), ("none", 4, "no such file")):
        done = run("serve", "-s", "length", "--token-file", tmp_path / file)
        assert done.code == code and said in done.err


def test_what_is_served_needs_no_files_of_the_user() -> None:
    names = default_scorers()
    assert names[0] == "rejoinder" and {"bleu-2", "rouge-l", "chrf", "length"} <= set(map(str, names))
    assert not {"meteor", "embedding-average"} & set(map(str, names))
