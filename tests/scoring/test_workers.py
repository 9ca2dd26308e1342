"""Scoring in other processes: the same to the last byte, whoever is killed."""

from __future__ import annotations

import json
import logging
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rejoinder
from conftest import Run, refused
from rejoinder.errors import DataError, MissingAsset, MissingExtra, NothingScored, UsageError, WorkersLost
from rejoinder.example import Example
from rejoinder.scorer import Scores, run, signature_of
from rejoinder.scoring import engines
from rejoinder.scoring import workers as module
from rejoinder.scoring.catalog import SCORERS, load_scorer
from rejoinder.scoring.engines import Asked, Job, Lost, asked_of, in_parts, score_there
from rejoinder.scoring.scoring import Summary, score_lines
from rejoinder.scoring.workers import AHEAD, Workers, joined, scored

SAMPLE = list(rejoinder.read("@dstc7"))[:60]
# A scorer that ends its own process, the first time it meets each reply that says so, or every time.
DEADLY = """
import os, pathlib, signal

HERE = {here}

def score(examples):
    for one in examples:
        met = pathlib.Path(one.response)
        if os.getpid() != HERE and (
            one.response == "always" or (one.response.startswith("once") and not met.exists())
        ):
            met.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    return [len(one.response) for one in examples]
"""


class InProcess:
    """An engine without processes: all that goes to a worker and comes from it goes through bytes."""

    def __init__(self, size: int = 2) -> None:
        self.size, self.submitted, self.cancelled, self.closed = size, 0, 0, list[bool]()
        self.lose: set[int] = set()

    def submit(self, job: Job, part: list[Example]) -> tuple[int, bytes]:
        self.submitted += 1
        return self.submitted, pickle.dumps((job, part))

    def result(self, ticket: tuple[int, bytes]) -> Any:
        number, sent = ticket
        if number in self.lose:
            raise Lost("killed")
        return pickle.loads(pickle.dumps(score_there(*pickle.loads(sent))))

    def cancel(self, _: object) -> None:
        self.cancelled += 1

    def close(self, *, now: bool) -> None:
        self.closed.append(now)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "PART", 9)


def records(asked: Asked, given: list[Example], workers: Workers) -> list[str]:
    """What is written of the lines, and the sums of their scores."""
    scorers = asked.load()
    summaries = {name: Summary(scorer) for name, scorer in scorers.items()}
    lines = score_lines(given, summaries, workers=workers, asked=asked)
    written = [json.dumps(line.record()) for line in lines]
    return [*written, *(repr((one.scored, one.total, one.corpus, one.warnings)) for one in summaries.values())]


# parts


@pytest.mark.parametrize("size", [1, 7, 60, 100])
def test_parts_are_the_whole(size: int) -> None:
    parts = list(in_parts(iter(SAMPLE), size))
    assert [example for part in parts for example in part] == SAMPLE
    assert {len(part) for part in parts[:-1]} <= {size}


@pytest.mark.parametrize("name", [name for name in SCORERS if name != "meteor"])
def test_scores_of_parts_are_those_of_the_whole(name: str) -> None:
    scorer = load_scorer(name)
    given = [*SAMPLE, Example((), ""), Example(("hi",), "hello"), *SAMPLE[:3]]
    whole, parts = run(scorer, given), scored({name: scorer}, given)[name]
    for kind in ("values", "statistics", "low", "high"):
        first, second = getattr(parts, kind), getattr(whole, kind)
        assert (first is None and second is None) or np.allclose(first, second, 0, 1e-6, equal_nan=True), kind
    for kind in ("reasons", "warnings", "details", "signature", "combine"):
        assert getattr(parts, kind) == getattr(whole, kind), kind
    assert parts.corpus() == pytest.approx(whole.corpus(), abs=1e-6, nan_ok=True)


def test_a_part_without_intervals_leaves_the_others_theirs() -> None:
    def part(values: list[float], low: list[float] | None) -> Scores:
        ends = None if low is None else np.array(low)
        return replace(run(scorer, SAMPLE[: len(values)]), values=np.array(values), low=ends, high=ends)

    scorer = load_scorer("length")
    whole = joined([part([1, 2], None), part([3], [2.5])], scorer)
    assert whole.low is not None and np.array_equal(whole.low, [np.nan, np.nan, 2.5], equal_nan=True)
    assert joined([], scorer).values.shape == (0,)


def test_functions_and_columns_get_all_lines_at_once_in_a_study() -> None:
    sizes = []

    def ranks(examples: list[Example]) -> list[float]:
        sizes.append(len(examples))
        return [float(len(example.response)) for example in examples]

    rejoinder.study(SAMPLE, [ranks, "length"], resamples=0, workers=Workers(engine=InProcess()))
    assert sizes == [len(SAMPLE)]


# other processes, without any


@pytest.mark.parametrize("level", ["turn", "dialogue"])
def test_records_from_elsewhere_are_the_same(level: str) -> None:
    asked = Asked(("rejoinder", "bleu-2", "column:quality.overall"), scale=(0, 10), explain=level == "turn")
    asked = replace(asked, level="turn" if level == "turn" else "dialogue")
    assert records(asked, SAMPLE, Workers(engine=InProcess())) == records(asked, SAMPLE, Workers())


def test_a_study_with_workers_is_the_same() -> None:
    engine, moved = InProcess(), list[int]()
    here = rejoinder.study(SAMPLE, ["length", "bleu-2"], resamples=100)
    there = rejoinder.study(
        SAMPLE, ["length", "bleu-2"], resamples=100, workers=Workers(engine=engine), progress=moved.append
    )
    assert there.to_dict() == here.to_dict()
    assert engine.submitted == 6 and sum(moved) == 4 * len(SAMPLE), "two scorers and two baselines"


def test_conversations_are_scored_as_such_elsewhere_too() -> None:
    whole = [replace(example, extra={**example.extra, "level": "dialogue"}) for example in SAMPLE]
    asked = asked_of(["length"], None, whole)
    assert asked.level == "rated" and asked_of(["length"], None, SAMPLE).level == "turn"
    scorers = asked.load()
    there = scored(scorers, whole, asked, Workers(engine=InProcess()))["length"]
    assert there.details and np.array_equal(there.values, scored(scorers, whole)["length"].values)


def test_what_cannot_be_sent_stays_here() -> None:
    scorers = {"f": load_scorer(lambda given: [1.0] * len(given)), "length": load_scorer("length")}
    asked, engine = asked_of([lambda given: [1.0] * len(given), "length"]), InProcess()
    parts = list(Workers(engine=engine).score(scorers, SAMPLE, asked))
    assert engine.submitted == 6 and all(list(part.scores) == ["f", "length"] for part in parts)
    assert not module._is_sent("openai:http://127.0.0.1:9/v1#m", asked_for=True)
    assert not module._is_sent("python:a:b", asked_for=False) and module._is_sent("python:a:b", asked_for=True)
    assert module._is_sent("bleu-4", asked_for=False) and module._is_sent("C:/judge", asked_for=False)


def test_few_parts_are_in_memory_and_the_first_is_scored_here() -> None:
    engine, read = InProcess(size=2), count()
    endless = (replace(SAMPLE[0], id=str(next(read))) for _ in count())
    scorers, asked = {"length": load_scorer("length")}, Asked(("length",))
    stream = Workers(engine=engine).score(scorers, endless, asked)
    next(stream)
    assert next(read) == engines.PART and engine.submitted == 0
    list(islice(stream, 3))
    assert engine.submitted <= 3 + 2 * AHEAD
    stream.close()  # type: ignore[attr-defined]
    assert engine.cancelled == engine.submitted - 3


def test_lines_before_a_bad_line_come_first() -> None:
    def given() -> Iterator[Example]:
        yield from SAMPLE
        raise DataError("is null", "Write text", where="f:61", field="id")

    scorers, rows = {"length": load_scorer("length")}, 0
    with pytest.raises(DataError, match="f:61"):
        for part in Workers(engine=InProcess()).score(scorers, given(), Asked(("length",))):
            rows += len(part.examples)
    assert rows == 54, "all whole parts before it"


def test_a_part_whose_worker_ends_is_scored_again() -> None:
    engine, notes = InProcess(), list[str]()
    engine.lose = {2, 8}
    workers = Workers(engine=engine, note=notes.append)
    asked = Asked(("length", "bleu-2"))
    assert records(asked, SAMPLE, workers) == records(asked, SAMPLE, Workers())
    assert len(notes) == 1 + (engine.submitted >= 8) and "scores its lines again" in notes[0]


def test_a_part_that_ends_three_workers_ends_the_work() -> None:
    engine = InProcess()
    engine.lose = set(range(100))
    given = [replace(example, where=f"a.jsonl:{row}") for row, example in enumerate(SAMPLE)]
    with pytest.raises(WorkersLost, match="the part from a.jsonl:9 to a.jsonl:17 ended 3 workers"):
        records(Asked(("length",)), given, Workers(engine=engine))


def test_a_worker_needs_the_same_scorer_at_the_same_place(tmp_path: Path) -> None:
    with pytest.raises(MissingAsset, match="no folder is called .*judge.* the same place on every"):
        score_there(Job(Asked((str(tmp_path / "judge"),)), str(Path.cwd()), ("",)), SAMPLE[:1])
    other = str(signature_of(load_scorer("length"))).replace("version:", "version:9")
    with pytest.raises(MissingAsset, match="length is scorer:length.* and .*version:9.* here"):
        score_there(Job(Asked(("length",)), str(Path.cwd()), (other,)), SAMPLE[:1])


@pytest.mark.parametrize("workers", [0, -1, 2.5, "many"])
def test_a_number_of_workers_is_checked(workers: object) -> None:
    with pytest.raises(UsageError, match="Use a number from 1 on, or auto"):
        rejoinder.study(SAMPLE, ["length"], workers=workers)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("seconds", "cores", "lines", "starts"),
    [(1, 4, 60, True), (0.1, 4, 60, False), (1, 1, 60, False), (1, 4, 27, False)],
)
def test_processes_start_only_if_they_pay(
    monkeypatch: pytest.MonkeyPatch, seconds: float, cores: int, lines: int, starts: bool
) -> None:
    started = []

    def pool(size: int) -> InProcess:
        started.append(size)
        return InProcess(size)

    clock = count(0, seconds)
    monkeypatch.setattr(module, "ProcessPool", pool)
    monkeypatch.setattr(module, "cores", lambda: cores)
    monkeypatch.setattr("rejoinder.scoring.workers.time.monotonic", lambda: next(clock))
    records(Asked(("length",)), SAMPLE[:lines], Workers("auto"))
    assert started == [4] * starts


@pytest.mark.parametrize(
    "error",
    [
        DataError("is null", "Write text", where="f:3", field="id"),
        MissingExtra("polars", "parquet", "Reading Parquet"),
        NothingScored("adem: none of 3 lines has a score"),
    ],
)
def test_an_error_comes_from_elsewhere_as_it_was(error: Exception) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error) and str(copy) == str(error) and copy.__dict__ == error.__dict__


def test_options_of_the_command(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    refused(
        run("score", "@dstc7", "-s", "length", "--workers", "none"),
        2,
        "--workers none. Write a number from 1 on, or auto",
    )
    refused(
        run("score", "@dstc7", "-s", "length", "--ray", "auto", "--workers", "2"),
        2,
        "--ray uses the cores of the cluster. Leave --workers out",
    )
    refused(
        run("score", "@dstc7", "-s", "length", "--ray", "local"),
        2,
        "--ray local is no longer there. Use --workers auto, which takes all cores without Ray",
    )
    monkeypatch.setitem(sys.modules, "ray", None)
    refused(
        run("study", "@dstc7", "-s", "length", "--ray", "auto"),
        4,
        "Scoring on a cluster needs ray. Install it: pip install 'rejoinder[ray]'",
    )


# processes of this machine


def deadly(folder: Path, replies: list[str]) -> Path:
    """Write the deadly scorer, and lines with these replies."""
    (folder / "deadly.py").write_text(DEADLY.format(here=os.getpid()))
    lines = folder / "given.jsonl"
    lines.write_text("".join(json.dumps({"id": str(n), "response": one}) + "\n" for n, one in enumerate(replies)))
    return lines


@pytest.mark.slow
def test_the_command_writes_the_same_bytes_and_a_killed_worker_loses_nothing(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    deadly(tmp_path, [f"once{n}" if n in {70, 400} else f"reply {n}" for n in range(500)])
    call = ("score", "given.jsonl", "-s", "python:deadly:score", "-s", "length", "-s", "rejoinder", "-o")
    many, alone = run(*call, "many.jsonl", "--workers", "2"), run(*call, "alone.jsonl", "--workers", "1")
    assert (many.code, alone.code, many.out) == (0, 0, alone.out)
    assert Path("many.jsonl").read_bytes() == Path("alone.jsonl").read_bytes()
    told = many.err.splitlines()
    assert told and all("a worker ended (killed); another one scores its lines again" in line for line in told)


@pytest.mark.slow
def test_a_line_that_ends_every_worker_ends_the_call(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    deadly(tmp_path, [*map(str, range(20)), "always"])
    ran = run("score", "given.jsonl", "-s", "python:deadly:score", "-o", "out.jsonl", "--workers", "2")
    assert ran.code == WorkersLost("").exit_code and "the part from given.jsonl:19 to given.jsonl:21" in ran.err
    assert not Path("out.jsonl").exists()


@pytest.mark.slow
def test_an_interruption_is_answered_once_and_leaves_nothing(tmp_path: Path) -> None:
    """A terminal sends an interruption to every process of the group."""
    (tmp_path / "slow.py").write_text(
        "import os, time\ndef score(examples):\n    open(f'{os.getpid()}.pid', 'w').close()\n    time.sleep(0.3)\n"
        "    return [1] * len(examples)\n"
    )
    (tmp_path / "given.jsonl").write_text((json.dumps({"response": "word " * 20}) + "\n") * 50_000)
    call = ["score", "given.jsonl", "-s", "python:slow:score", "-o", "scored.jsonl", "--workers", "2"]
    with subprocess.Popen(
        [sys.executable, "-m", "rejoinder", *call],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        encoding="utf-8",
        start_new_session=True,
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        until = time.monotonic() + 120
        while len(pids := list(tmp_path.glob("*.pid"))) < 3:
            assert process.poll() is None and time.monotonic() < until, "scoring did not begin"
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        assert (process.wait(60), process.stdout.read()) == (130, "")
        assert process.stderr.read() == "rejoinder: interrupted; every output file is whole or as it was\n"
    assert not [path for path in tmp_path.iterdir() if "scored" in path.name]
    until = time.monotonic() + 20
    while [path for path in pids if Path(f"/proc/{path.stem}").exists()]:
        assert time.monotonic() < until, "a worker is left"
        time.sleep(0.05)


# a Ray cluster


@pytest.fixture(scope="module")
def cluster() -> Iterator[object]:
    """A cluster with two cores; without Ray the test is skipped."""
    if find_spec("ray") is None:
        pytest.skip("needs the extra ray")
    from rejoinder.scoring.engines import _QUIET

    os.environ.update(_QUIET, RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0")  # it listens on this machine alone
    import ray

    ray.init(
        address="local",
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        object_store_memory=256 * 2**20,
        logging_level=logging.CRITICAL,
    )
    yield ray
    ray.shutdown()


@pytest.mark.slow
def test_a_cluster_scores_as_one_process_does_whoever_is_killed(
    cluster: object, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    deadly(tmp_path, [f"once{n}" if n == 70 else f"reply {n}" for n in range(200)])
    call = ("score", "given.jsonl", "-s", "python:deadly:score", "-s", "bleu-2", "-s", "rejoinder", "-o")
    many, alone = run(*call, "many.jsonl", "--ray", "auto"), run(*call, "alone.jsonl")
    assert (many.code, alone.code, many.out) == (0, 0, alone.out)
    assert Path("many.jsonl").read_bytes() == Path("alone.jsonl").read_bytes()
    lost = [line for line in many.err.splitlines() if not line.startswith("waiting for")]  # a slow machine waits first
    assert len(lost) == 1 and "another one scores its lines again" in lost[0]
    deadly(tmp_path, [*map(str, range(20)), "always"])
    ran = run(*call, "out.jsonl", "--ray", "auto")
    assert ran.code == WorkersLost("").exit_code and "to given.jsonl:21 ended 3 workers" in ran.err


def test_where_nothing_listens_one_line_says_so() -> None:
    if find_spec("ray") is None:
        pytest.skip("needs the extra ray")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        call = [sys.executable, "-m", "rejoinder", "score", "@dstc7", "-s", "length", "--ray", address]
        # A process of its own: one that is connected to the cluster of the other tests would stay with it.
        ran = subprocess.run(call, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (4, "")
    assert " ".join(ran.stderr.split()).startswith(f"rejoinder: {address}: no Ray cluster answers there")
