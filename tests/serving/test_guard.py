"""Who may ask, how much at once, and what is counted."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from conftest import Run
from rejoinder.errors import UsageError
from rejoinder.example import Example
from rejoinder.scorer import Card, Scores
from rejoinder.scoring.catalog import load_scorers
from rejoinder.serving.app import make_app
from rejoinder.serving.batching import CHARACTERS, PORTION, Asked, Batcher, portions
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
        self.begun = 0
        self.batches: list[int] = []

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        self.begun += 1
        assert self.gate.wait(10)
        if any(one.response == "boom" for one in examples):
            raise ZeroDivisionError(examples[0].response)
        self.batches.append(len(examples))
        return Scores(np.array([float(len(one.response)) for one in examples]))


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
    """Lines in the queue count: one request is scored, two wait, and the others are refused."""
    slow = Slow()
    limits = Limits(waiting=20, requests=30)
    body = json.dumps([{"response": "x" * n} for n in range(10)])
    with TestClient(make_app({"slow": slow}, limits=limits)) as client, ThreadPoolExecutor(8) as pool:
        sent = [pool.submit(client.post, "/v1/score", content=body)]
        while not slow.begun:
            pass
        sent += [pool.submit(client.post, "/v1/score", content=body) for _ in range(7)]
        while client.get("/health").status_code == 200:
            pass
        assert client.get("/health").json()["live"] and client.get("/health").json()["waiting"] == 20
        while sum(request.done() for request in sent) < 5:
            pass
        slow.gate.set()
        answers = [request.result() for request in sent]
        assert sorted(answer.status_code for answer in answers) == [200] * 3 + [503] * 5
        for answer in answers:
            if answer.status_code == 503:
                assert answer.headers["retry-after"] == "1" and "Ask again" in answer.json()["error"]["message"]
            else:
                assert [line["scores"]["slow"] for line in answer.json()["results"]] == list(range(10))
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


def test_a_request_that_takes_too_long_by_itself_is_told_so_and_its_other_portions_are_dropped() -> None:
    slow = Slow()
    with TestClient(make_app({"slow": slow}, limits=Limits(timeout=0.05))) as client:
        answer = client.post("/v1/score", content=json.dumps([json.loads(LINE)] * 100))
        assert answer.status_code == 504 and "retry-after" not in answer.headers
        message = answer.json()["error"]["message"]
        assert "0.05 seconds" in message and "fewer lines" in message and "--timeout" in message
        assert client.get("/health").json()["waiting"] == 0
        slow.gate.set()
        while client.get("/health").json()["oldest_seconds"]:
            pass
        assert client.post("/v1/score", content=LINE).status_code == 200
    assert slow.batches == [1, 1], "one portion of the first request, whose equal lines are scored once, and the second"


def test_health_tells_the_age_of_the_oldest_portion() -> None:
    slow = Slow()
    with TestClient(make_app({"slow": slow}, limits=Limits(timeout=0.3))) as client:
        assert client.get("/health").json()["oldest_seconds"] == 0
        assert client.post("/v1/score", content=LINE).status_code == 504
        health = client.get("/health")  # the scorer still hangs, though nobody waits for it
        assert health.status_code == 503 and not health.json()["ready"] and health.json()["oldest_seconds"] > 0.2
        slow.gate.set()
        while client.get("/health").status_code == 503:
            pass


def test_a_fault_is_the_fault_of_one_request_alone() -> None:
    """A batch that fails is scored request by request; and what was sent does not stand in what is said."""
    slow = Slow()
    app = make_app({"slow": slow})
    with TestClient(app, raise_server_exceptions=False) as client, ThreadPoolExecutor(4) as pool:
        sent = [pool.submit(client.post, "/v1/score", content=LINE)]
        while not slow.begun:
            pass
        texts = ["first", "boom", "third"]
        sent += [pool.submit(client.post, "/v1/score", content=json.dumps({"response": text})) for text in texts]
        while client.get("/health").json()["waiting"] < 3:
            pass
        slow.gate.set()
        answers = [request.result() for request in sent]
    assert [answer.status_code for answer in answers] == [200, 200, 500, 200]
    assert answers[2].json()["error"]["message"] == "ZeroDivisionError: this is a fault of rejoinder"


def test_one_line_of_too_many_characters_is_refused_with_its_place() -> None:
    limits = Limits(characters=1_000)
    long = {"context": ["a" * 500], "response": "b" * 499, "references": ["cc"], "id": "x"}
    with TestClient(make_app(load_scorers("length"), limits=limits)) as client:
        answer = client.post("/v1/score", content=json.dumps([json.loads(LINE), long]))
        assert answer.status_code == 413 and answer.json()["error"]["line"] == 2
        assert "1,001 characters" in answer.json()["error"]["message"]
        streamed = client.post("/v1/score/stream", content=f"{json.dumps(long)}\n{LINE}").text.splitlines()
        assert [json.loads(line).get("error", {}).get("line") for line in streamed] == [1, None]
        assert client.post("/v1/audit?family=empty", content=json.dumps([long])).status_code == 413
        assert client.post("/v1/compare", content=json.dumps({"a": [long], "b": [long]})).status_code == 413


def test_a_portion_is_bounded_in_lines_and_in_characters() -> None:
    lines = [Example((), "x" * size) for size in [1] * 40 + [CHARACTERS // 2] * 3 + [CHARACTERS * 3, 1]]
    found = list(portions(lines))
    assert [example for portion in found for example in portion] == lines
    assert [len(portion) for portion in found] == [16, 16, 9, 2, 1, 1]


def test_a_large_request_delays_small_ones_by_two_portions_at_most() -> None:
    sizes: list[int] = []
    order: list[str] = []

    def score(asked: Asked, examples: Sequence[Example]) -> list[Any]:
        sizes.append(len(examples))
        return [example.response for example in examples]

    async def ask(batcher: Batcher, name: str, count: int) -> list[Any]:
        found = await batcher.results(Asked(("x",)), [Example((), f"{name}{n}") for n in range(count)])
        order.append(name)
        return found

    async def all_of_them() -> list[list[Any]]:
        workers = Workers("scoring")
        batcher = Batcher(score, workers)
        running = asyncio.create_task(batcher.run())
        large = asyncio.create_task(ask(batcher, "large", 150))
        await asyncio.sleep(0)
        small = [asyncio.create_task(ask(batcher, f"small{n}.", 1)) for n in range(9)]
        with workers:
            found = await asyncio.gather(large, *small)
        running.cancel()
        assert batcher.queued == 0 and batcher.age == 0
        return found

    large, *small = asyncio.run(all_of_them())
    assert large == [f"large{n}" for n in range(150)]
    assert [line for (line,) in small] == [f"small{n}.0" for n in range(9)]
    assert order[-1] == "large" and max(sizes) <= PORTION and sizes[:2] == [PORTION, 9]


def test_no_single_line_is_refused_beside_a_client_of_large_requests() -> None:
    """Counted: a client posts 1,000-line requests back to back, others post single lines, of which none is refused."""

    class Steady(Slow):
        def score_batch(self, examples: Sequence[Example]) -> Scores:
            self.batches.append(len(examples))
            time.sleep(0.001 * len(examples))
            return Scores(np.array([float(len(example.response)) for example in examples]))

    large = json.dumps([{"response": f"x {n}"} for n in range(1_000)])
    with TestClient(make_app({"steady": Steady()})) as client, ThreadPoolExecutor(9) as pool:
        ended = threading.Event()

        def post_large() -> list[int]:
            statuses: list[int] = []
            while not ended.is_set():
                statuses.append(client.post("/v1/score", content=large).status_code)
            return statuses

        def post_small(number: int) -> int:
            return client.post("/v1/score", content=json.dumps({"response": f"y {number}"})).status_code

        beside = pool.submit(post_large)
        while not client.get("/health").json()["waiting"]:
            pass
        small = Counter(pool.map(post_small, range(200)))
        ended.set()
        assert small == {200: 200} and set(beside.result()) == {200}


def test_a_slow_program_delays_nobody_who_does_not_ask_for_it() -> None:
    class Program(Slow):
        card = replace(Slow.card, batch_size=4)

    program, quick = Program(), Slow()
    quick.gate.set()
    with TestClient(make_app({"quick": quick, "program": program})) as client, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(client.post, "/v1/score?scorer=program", content=LINE)
        while not program.begun:
            pass
        assert client.post("/v1/score", content=LINE).status_code == 200
        program.gate.set()
        assert waiting.result().status_code == 200


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
    for file, code in (("token", 3), ("none", 4)):
        done = run("serve", "-s", "length", "--token-file", tmp_path / file)
        assert done.code == code and f"{tmp_path / file}: " in done.err


def test_what_is_served_needs_no_files_of_the_user() -> None:
    names = default_scorers()
    assert names[0] == "rejoinder" and {"bleu-2", "rouge-l", "chrf", "length"} <= set(map(str, names))
    assert not {"meteor", "embedding-average"} & set(map(str, names))
