"""Scoring by the processes of a Ray cluster on this machine: the same to the last byte, whoever is killed."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

import rejoinder
from conftest import Run
from rejoinder.errors import MissingAsset, WorkersLost
from rejoinder.example import Example
from rejoinder.scorer import signature_of
from rejoinder.scoring.on_ray import RayWorkers, on_ray
from rejoinder.scoring.parts import Asked, Workers, elsewhere
from rejoinder.scoring.scoring import Tally, score_stream

WORKERS = 2
# A scorer that ends its own process, the first time it meets each reply that says so, or every time.
DEADLY = """
import os, pathlib, signal

def score(examples):
    for one in examples:
        met = pathlib.Path(one.response)
        if one.response == "always" or (one.response.startswith("once") and not met.exists()):
            met.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    return [len(one.response) for one in examples]
"""


def require_ray() -> None:
    """Skip where it is not installed; nothing is imported, because Ray reads its settings then."""
    if find_spec("ray") is None:
        pytest.skip("needs the extra ray")


@pytest.fixture(scope="module")
def workers() -> Iterator[RayWorkers]:
    """A cluster with two workers."""
    require_ray()
    with on_ray(workers=WORKERS) as found:
        yield found


def records(asked: Asked, given: list[Example], workers: Workers | None) -> list[str]:
    """What is written of the lines, and what their scores come to."""
    scorers = asked.load()
    far = None if workers is None else elsewhere(workers, asked, scorers)
    tallies = {name: Tally(one) for name, one in scorers.items()}
    found = [json.dumps(one) for one in score_stream(given, tallies, explain=asked.explain, chunk=100, scoring=far)]
    return [*found, *(repr((one.scored, one.total, one.corpus, one.notes)) for one in tallies.values())]


@pytest.mark.slow
def test_a_cluster_scores_as_one_process_does(workers: RayWorkers) -> None:
    asked = Asked(("rejoinder", "bleu-2", "column:quality.overall"), explain=True)
    given = list(rejoinder.read("@dstc7"))
    assert workers.size == WORKERS
    assert records(asked, given, workers) == records(asked, given, None)


@pytest.mark.slow
def test_the_command_writes_the_same_bytes(
    workers: RayWorkers, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    call = ("score", "@dstc7", "@conture", "-s", "embedding-greedy", "-s", "length", "--level", "dialogue")
    one, many = run(*call, "-o", "one.jsonl"), run(*call, "-o", "many.jsonl", "--ray", "local")
    assert (one.code, many.code, many.err) == (0, 0, one.err)
    assert many.out == one.out
    assert Path("many.jsonl").read_bytes() == Path("one.jsonl").read_bytes()
    assert run(*call, "--ray", "local").out.encode() == Path("one.jsonl").read_bytes(), (
        "nothing else on standard output"
    )


@pytest.mark.slow
def test_a_study_is_the_same(workers: RayWorkers, run: Run) -> None:
    call = ("study", "@dstc7", "-s", "bleu-2", "-s", "length", "--resamples", "100", "--json")
    assert run(*call, "--ray", "local").out == run(*call).out


@pytest.mark.slow
def test_a_killed_worker_loses_nothing(
    workers: RayWorkers, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("deadly.py").write_text(DEADLY)
    given = [f"once{n}" if n in {70, 1300} else f"reply {n}" for n in range(1600)]
    Path("given.jsonl").write_text(
        "".join(json.dumps({"id": str(n), "response": one}) + "\n" for n, one in enumerate(given))
    )
    call = ("score", "given.jsonl", "-s", "python:deadly:score", "-s", "length", "-o")
    killed = run(*call, "killed.jsonl", "--ray", "local")
    time.sleep(1.0)  # until Ray has noticed too, which says so wherever it can
    assert (killed.code, killed.out) == (0, run(*call, "one.jsonl").out)
    assert Path("killed.jsonl").read_bytes() == Path("one.jsonl").read_bytes()
    lines = killed.err.splitlines()
    assert len(lines) == 2 and all("another does again what it had" in one for one in lines)


@pytest.mark.slow
def test_a_line_that_ends_every_worker_ends_the_work(
    workers: RayWorkers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("deadly.py").write_text(DEADLY)
    given = [Example(("hi",), "always", where="a.jsonl:1"), Example(("hi",), "reply", where="a.jsonl:2")]
    with pytest.raises(WorkersLost, match="the part from a.jsonl:1 to a.jsonl:2 ended 3 workers, one after the other"):
        records(Asked(("python:deadly:score",)), given, workers)


@pytest.mark.slow
def test_a_worker_needs_the_same_scorer_at_the_same_place(workers: RayWorkers, tmp_path: Path) -> None:
    part = [[Example(("hi",), "hello")]]
    gone = Asked((str(tmp_path / "judge"),))
    with pytest.raises(MissingAsset, match="on the Ray worker .*no folder is called .*judge.* the same place on every"):
        list(workers.scoring(gone, {gone.names[0]: ""})(part))
    length = Asked(("length",))
    other = str(signature_of(length.load()["length"])).replace("version:", "version:9")
    with pytest.raises(MissingAsset, match="length is scorer:length.* on the Ray worker .* and .*version:9.* here"):
        list(workers.scoring(length, {"length": other})(part))


@pytest.mark.slow
def test_nothing_listens_to_other_machines(workers: RayWorkers) -> None:
    assert [node["NodeManagerAddress"] for node in workers.ray.nodes()] == ["127.0.0.1"]
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"


@pytest.mark.slow
def test_an_interruption_leaves_nothing_behind(tmp_path: Path) -> None:
    """The command starts its own cluster; a terminal sends its interruption to every process of the group."""
    require_ray()
    out, place = tmp_path / "out", Path(tempfile.mkdtemp(dir="/tmp"))
    out.mkdir()
    (tmp_path / "slow.py").write_text(
        "import time\ndef score(examples):\n    time.sleep(0.3)\n    return [1] * len(examples)\n"
    )
    (tmp_path / "given.jsonl").write_text((json.dumps({"response": "word " * 20}) + "\n") * 50_000)
    call = ["score", "given.jsonl", "-s", "python:slow:score", "-o", "out/scored.jsonl", "--ray", "local"]
    with subprocess.Popen(
        [sys.executable, "-m", "rejoinder", *call],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(place)},
        encoding="utf-8",
        start_new_session=True,
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        until = time.monotonic() + 300
        while not any(path.stat().st_size for path in out.glob(".*.partial")):
            assert process.poll() is None and time.monotonic() < until, "scoring did not begin"
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        assert (process.wait(60), process.stdout.read()) == (130, "")
        assert process.stderr.read() == "rejoinder: interrupted; every output file is whole or as it was\n"
    assert list(out.iterdir()) == [] and list(place.iterdir()) == []
    place.rmdir()


def test_where_nothing_listens_one_line_says_so() -> None:
    require_ray()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        call = [sys.executable, "-m", "rejoinder", "score", "@dstc7", "-s", "length", "--ray", address]
        # A process of its own: one that is connected to the cluster of the other tests would stay with it.
        ran = subprocess.run(call, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (4, "")
    assert " ".join(ran.stderr.split()).startswith(f"rejoinder: {address}: no Ray cluster answers there")
