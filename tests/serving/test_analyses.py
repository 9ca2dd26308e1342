"""Comparisons and audits over HTTP: what the commands say of the same lines."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from conftest import Run
from rejoinder.assets import JUDGE
from rejoinder.errors import UsageError
from rejoinder.scoring.catalog import load_scorers
from rejoinder.serving.app import make_app
from rejoinder.serving.aside import Aside
from rejoinder.serving.batching import Busy
from rejoinder.serving.limits import Limits
from rejoinder.serving.run import without_commands, without_places
from rejoinder.serving.workers import Workers

A: list[dict[str, Any]] = [
    {"context": [f"what about {n}?"], "response": "well " * (1 + n % 3), "id": f"{n}"} for n in range(30)
]
B = [{**line, "response": f"{line['response']}so it is"} for line in A]


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(make_app(load_scorers(["length", "context-overlap"]), limits=Limits(lines=40))) as client:
        yield client


def lines(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


def test_a_comparison_is_that_of_the_command(client: TestClient, tmp_path: Path, run: Run) -> None:
    answer = client.post("/v1/compare?resamples=200&seed=3", content=json.dumps({"a": A, "b": B}))
    a, b = lines(tmp_path / "a.jsonl", A), lines(tmp_path / "b.jsonl", B)
    printed = run("compare", a, b, "-s", "length", "--resamples", "200", "--seed", "3", "--json").out
    names = {"files": ["a", "b"], "a": "a", "b": "b"}
    expected = json.loads(printed)
    assert answer.status_code == 200 and answer.json() == {**expected, "options": {**expected["options"], **names}}


def test_an_audit_is_that_of_the_command(client: TestClient, tmp_path: Path, run: Run) -> None:
    query = "scorer=context-overlap&family=irrelevant-random&family=no-stop-words&limit=20"
    answer = client.post(f"/v1/audit?{query}", content=json.dumps(A))
    families = ("--family", "irrelevant-random", "--family", "no-stop-words", "--limit", "20")
    told = run("audit", lines(tmp_path / "a.jsonl", A), "-s", "context-overlap", *families, "--json")
    assert answer.json() == json.loads(told.out)


@pytest.mark.parametrize(
    ("path", "body", "status", "said"),
    [
        ("compare", A, 422, "body: a list, expected an object with a and b"),
        ("compare", {"a": A}, 422, "body: an object with 'a', expected an object with a and b"),
        ("compare", {"a": A, "b": "/etc/passwd"}, 422, "b:item 1: "),
        ("compare", {"a": A, "b": []}, 422, "b: holds no line"),
        ("compare", {"a": A * 2, "b": A}, 413, "a has 60 lines, and 40 are taken"),
        ("compare", {"a": [A[0]] * 2, "b": A}, 422, "was already given at a:item 1"),
        ("compare?resamples=7", {"a": A, "b": A}, 400, "parameter resamples: "),
        ("compare?seed=-1", {"a": A, "b": A}, 400, "parameter seed: "),
        ("compare?pair_by=line", {"a": A, "b": A}, 400, "parameter pair_by: "),
        ("compare?by=nothing", {"a": A, "b": B}, 422, "nothing"),
        ("compare?vectors=/etc/passwd", {"a": A, "b": A}, 400, "parameter vectors: there is no such parameter"),
        ("audit?pool=/etc/passwd", A, 400, "parameter pool: there is no such parameter"),
        ("audit?family=/etc/passwd", A, 400, "/etc/passwd"),
        ("audit?scorer=/etc", A, 400, "no scorer '/etc' is served here"),
        ("audit", {"prompt": "hi", "chosen": "a", "rejected": "b"}, 422, "body:item 1: "),
    ],
)
def test_what_cannot_be_analysed(client: TestClient, path: str, body: Any, status: int, said: str) -> None:
    answer = client.post(f"/v1/{path}", content=json.dumps(body))
    assert answer.status_code == status and said in answer.json()["error"]["message"], answer.text


def test_more_than_there_is_room_for_is_sent_away() -> None:
    """One works, one waits, the third is sent away; an error is whose work it was, and makes room."""
    gate = threading.Event()

    def slow() -> str:
        assert gate.wait(10)
        return "done"

    def wrong() -> str:
        raise KeyError("no")

    async def all_of_them() -> list[Any]:
        aside = Aside(workers, room=2)
        first, second = asyncio.create_task(aside.done(slow)), asyncio.create_task(aside.done(wrong))
        await asyncio.sleep(0)
        with pytest.raises(Busy):
            await aside.done(slow)
        gate.set()
        found = await asyncio.gather(first, second, return_exceptions=True)
        return [*found, await aside.done(slow)]

    with Workers("analysing") as workers:
        first, second, third = asyncio.run(all_of_them())
    assert first == third == "done" and isinstance(second, KeyError)


def test_a_folder_is_called_by_its_name_and_its_place_is_told_nobody(tmp_path: Path) -> None:
    places = [tmp_path / "hidden" / name for name in ("mine", "other/mine", "third")]
    for place in places:
        shutil.copytree(JUDGE, place)
    served = without_places(load_scorers([*map(str, places), "length"]))
    assert list(served) == ["hidden/mine", "other/mine", "hidden/third", "length"]
    with pytest.raises(UsageError, match="named twice"):
        without_places(load_scorers([str(places[0]), f"{places[0]}/"]))
    with TestClient(make_app(without_places(load_scorers(str(places[0]))))) as client:
        shutil.rmtree(tmp_path / "hidden")  # what was loaded answers, whatever came of its folder
        answers = [
            client.get("/v1/scorers"),
            client.post("/v1/score", json=A[:2]),
            client.post("/v1/score?scorer=gone", json=A[:2]),
            client.post("/v1/compare?scorer=mine&resamples=200", json={"a": A, "b": B}),
            client.post("/v1/audit?family=empty", json=A),
        ]
    assert [answer.status_code for answer in answers] == [200, 200, 400, 200, 200]
    assert not [answer.text for answer in answers if "hidden" in answer.text or str(tmp_path) in answer.text]
    assert answers[3].json()["results"][0]["scorer"] == "mine"


def test_a_program_is_told_nobody(tmp_path: Path) -> None:
    program = tmp_path / "secret.py"
    program.write_text("import sys\nfor n, _ in enumerate(sys.stdin):\n    print(n) if n < 2 else sys.exit('secret')\n")
    named = [f"command:{sys.executable} {program} --key secret", "command:secret-gone", "length"]
    loaded = without_places(without_commands(load_scorers(named)))
    assert list(loaded) == ["command", "command-2", "length"]
    with TestClient(make_app(loaded)) as client:
        answers = [
            client.get("/v1/scorers"),
            client.post("/v1/score", json=A[:1]),
            client.post("/v1/score", json=A[:9]),
            client.post("/v1/score?scorer=command-2", json=A[:1]),
            client.post("/v1/score?scorer=gone", json=A[:1]),
            client.post(f"/v1/score?scorer={named[1]}", json=A[:1]),
            client.post("/v1/compare?scorer=command&resamples=200", json={"a": A, "b": B}),
            client.post("/v1/audit?family=empty&scorer=command", json=A),
            client.post("/v1/score/stream?scorer=command-2", content=json.dumps(A[0])),
        ]
    assert answers[1].json()["results"][0]["scores"] == {"command": 0.0}
    assert answers[3].json()["error"]["message"].startswith("command-2: cannot be started")
    assert not [answer.text for answer in answers if "secret" in answer.text.replace(repr(named[1]), "")]


def test_a_program_takes_no_name_of_another_scorer(tmp_path: Path) -> None:
    shutil.copytree(JUDGE, tmp_path / "command")
    loaded = load_scorers(["command:cat", str(tmp_path / "command")])
    assert list(without_places(without_commands(loaded))) == ["command", f"{tmp_path.name}/command"]
    scorer = loaded["command:cat"]
    assert list(without_commands({"command:cat": scorer, "command": loaded[str(tmp_path / "command")]})) == [
        "command-2",
        "command",
    ]
