"""Scoring of parts in other processes: what they are sent, those of this machine, and those of a Ray cluster."""

from __future__ import annotations

import logging
import multiprocessing
import os
import re
import signal
import socket
import textwrap
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from multiprocessing.context import SpawnContext, SpawnProcess
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from threadpoolctl import threadpool_limits

from rejoinder.data.joins import Note
from rejoinder.data.read import silent
from rejoinder.errors import MissingAsset, MissingExtra, RejoinderError, UsageError
from rejoinder.example import Example
from rejoinder.judges.scales import rescale
from rejoinder.models.encoders import clear_caches
from rejoinder.scorer import Explanation, Scorer, ScorerLike, Scores, run, signature_of
from rejoinder.scoring.catalog import load_scorers
from rejoinder.scoring.dialogue import of_dialogues
from rejoinder.scoring.explained import explanations, is_explained

PART = 512  # lines: a second or less of the bundled judge's work, under a megabyte of text
_PATIENCE = 5.0  # seconds for a process to end
_REACH = 5.0  # seconds for a cluster to answer
_WAIT = 20.0  # seconds until a message that no worker has begun
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_USAGE_STATS_REPORT_URL": "http://127.0.0.1:9",  # Ray reports that its report is off
    "RAY_enable_metrics_collection": "0",
    "RAY_enable_open_telemetry": "0",
    "RAY_SCHEDULER_EVENTS": "0",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # else Ray prints among our results on standard output
}


# parts


@dataclass(frozen=True)
class Asked:
    """Which scorers to run, and how: everything that another process needs to do the same."""

    names: tuple[str, ...]  # as for `load_scorer`; an object or a function has the name "" and is never sent
    vectors: str | None = None
    scale: tuple[float, float] | None = None
    level: Literal["turn", "dialogue", "rated"] = "turn"  # `rated`: of each line whichever it says
    explain: bool = False

    def load(self) -> Mapping[str, Scorer]:
        """Return the scorers, by name; for errors see `load_scorer`."""
        return self.of(load_scorers(self.names, vectors=self.vectors))

    def of(self, scorers: Mapping[str, Scorer]) -> Mapping[str, Scorer]:
        """Return the scorers with this scale and level.

        Raises:
            UsageError: there is a scale, and none of them predicts ratings.
        """
        if self.scale is not None:
            scorers = rescale(scorers, self.scale)
        if self.level == "turn":
            return scorers
        return {name: of_dialogues(scorer, every=self.level == "dialogue") for name, scorer in scorers.items()}


def asked_of(
    scorers: Iterable[ScorerLike], vectors: str | Path | None = None, examples: Iterable[Example] = ()
) -> Asked:
    """Return what to run, to score each of these examples as the reply or the conversation that it is."""
    names = tuple(str(scorer) if isinstance(scorer, (str, Path)) else "" for scorer in scorers)
    level: Literal["rated", "turn"] = "rated" if any(example.is_dialogue for example in examples) else "turn"
    return Asked(names, None if vectors is None else str(vectors), level=level)


class ScoredPart(NamedTuple):
    """N examples with their scores, and the [N] explanations of these if there are any, by scorer."""

    examples: Sequence[Example]
    scores: Mapping[str, Scores]
    explained: Mapping[str, Sequence[Explanation | None]]


def in_parts(examples: Iterable[Example], size: int = 0) -> Iterator[list[Example]]:
    """Yield the examples `size` at a time (by default `PART`), read as they are needed."""
    stream = iter(examples)
    while part := list(islice(stream, size or PART)):
        yield part


def score_part(
    scorers: Mapping[str, Scorer],
    part: Sequence[Example],
    *,
    explain: bool = False,
    last: bool = False,
    several: bool = False,
) -> ScoredPart:
    """Return the scores of a part, which is one of `several`, or may be if it is full; for `last` see `run`.

    The scores of one of several parts are the same, to the bit, whatever the process scored before, and where.
    """
    with _as_anywhere() if several or len(part) >= PART else nullcontext():
        scores = {name: run(scorer, part, last=last) for name, scorer in scorers.items()}
        explained = {
            name: explanations(scorer, part) for name, scorer in scorers.items() if explain and is_explained(scorer)
        }
    return ScoredPart(part, scores, explained)


def _as_anywhere() -> threadpool_limits:
    """Let nothing but the lines decide the last bits of scores: no cached vectors, and one thread for products."""
    clear_caches()
    return threadpool_limits(limits=1, user_api="blas")


# messages to a worker


@dataclass(frozen=True)
class Job:
    """The message to a worker: which scorers, in which folder names of files start, and the signatures to expect."""

    asked: Asked
    folder: str
    signatures: tuple[str, ...]


class Engine(Protocol):
    """The processes that score parts."""

    size: int

    def submit(self, job: Job, part: list[Example]) -> Any:
        """Send a part, and return a ticket for its result."""

    def result(self, ticket: Any) -> tuple[Any, ...]:
        """Wait for the result of `score_there`; raise `Lost` if the worker ended."""

    def cancel(self, ticket: Any) -> None:
        """Drop a part that is not needed any more."""

    def close(self, *, now: bool) -> None:
        """End the processes; `now` does not wait for what they do."""


class Lost(Exception):
    """A worker ended before its part was done."""


def score_there(job: Job, part: list[Example]) -> tuple[list[Scores], list[Sequence[Explanation | None] | None]]:
    """Return scores and explanations in another process, in the order of the job's scorers."""
    scored_part = score_part(_loaded(job), part, explain=job.asked.explain, last=True, several=True)
    # `combine` is a method of a scorer, which stays where it is.
    scores = [replace(scores, combine=None) for scores in scored_part.scores.values()]
    return scores, [scored_part.explained.get(name) for name in scored_part.scores]


@lru_cache(maxsize=1)
def _loaded(job: Job) -> Mapping[str, Scorer]:
    """Return the scorers of a job, loaded once in each process.

    Raises:
        MissingAsset: one cannot be loaded, or differs from the one where the job came from.
    """
    if Path(job.folder).is_dir():
        os.chdir(job.folder)
    host = socket.gethostname()
    try:
        scorers = job.asked.load()
    except RejoinderError as error:
        remedy = "Files that a scorer is named by must be at the same place on every machine"
        raise MissingAsset(f"on the worker {host} in {Path.cwd()}: {error}. {remedy}") from error
    for (name, scorer), expected in zip(scorers.items(), job.signatures, strict=True):
        if (signature := str(signature_of(scorer))) != expected:
            problem = f"{name} is {signature} on the worker {host} and {expected} here"
            raise MissingAsset(f"{problem}. Install the same rejoinder, and put the same files, on every machine")
    return scorers


# this machine


class _Context(SpawnContext):
    """Starts processes, and remembers them."""

    def __init__(self) -> None:
        super().__init__()
        self.started: list[SpawnProcess] = []

    def Process(self, *args: Any, **more: Any) -> SpawnProcess:  # type: ignore[override]  # noqa: N802 - as in the library
        self.started.append(SpawnProcess(*args, **more))
        return self.started[-1]


class ProcessPool:
    """`size` processes of this machine (see `Engine`). A pool that lost a process is replaced."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._start()

    def _start(self) -> None:
        self._context = _Context()
        self._pool = ProcessPoolExecutor(self.size, self._context, _begin)

    def submit(self, job: Job, part: list[Example]) -> tuple[Future[Any], ProcessPoolExecutor]:
        """Send a part, and start a process for it if there are fewer than `size`."""
        with _uninterrupted():
            try:
                return self._pool.submit(score_there, job, part), self._pool
            except BrokenProcessPool:
                self._start()
                return self._pool.submit(score_there, job, part), self._pool

    def result(self, ticket: tuple[Future[Any], ProcessPoolExecutor]) -> tuple[Any, ...]:
        """Wait for the result of a part."""
        future, pool = ticket
        try:
            return future.result()  # type: ignore[no-any-return]
        except BrokenProcessPool as error:
            if pool is not self._pool:
                raise Lost from error  # the first part of this pool has reported it
            codes = _exit_codes(self._context.started)  # the library ends those that are left
            self._start()
            raise Lost("killed" if -signal.SIGKILL in codes else "crashed") from error

    def cancel(self, ticket: tuple[Future[Any], ProcessPoolExecutor]) -> None:
        """Drop a part unless a process works on it."""
        ticket[0].cancel()

    def close(self, *, now: bool) -> None:
        """End the processes."""
        self._pool.shutdown(wait=not now, cancel_futures=True)
        for process in self._context.started if now else ():
            process.kill()
            process.join()


def _exit_codes(processes: Sequence[SpawnProcess]) -> list[int | None]:
    """Wait until processes have ended, at most `_PATIENCE`, and return their exit codes.

    A thread of the library waits for them too. If it comes first, the code is unknown here until it has stored it.
    """
    until = time.monotonic() + _PATIENCE
    while None in (codes := [process.exitcode for process in processes]) and time.monotonic() < until:
        time.sleep(0.01)
    return codes


def _begin() -> None:
    """Leave Ctrl-C to the caller, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when the one that started it has ended; else it would wait for a part for ever."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back for the block, so that a process that starts does not answer it before it can ignore it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# a Ray cluster


class Cluster:
    """The processes of the Ray cluster that `ray` is connected to (see `Engine`)."""

    def __init__(self, ray: Any, note: Note = silent) -> None:
        self._ray, self._note, self._begun = ray, note, False
        self._task = ray.remote(num_cpus=1, max_retries=0)(score_there)
        self._jobs: dict[Job, Any] = {}
        self.size = max(1, int(ray.cluster_resources().get("CPU", 1)))

    def submit(self, job: Job, part: list[Example]) -> Any:
        """Send a part; the job is sent once."""
        if job not in self._jobs:
            self._jobs[job] = self._ray.put(job)
        return self._task.remote(self._jobs[job], part)

    def result(self, ticket: Any) -> tuple[Any, ...]:
        """Wait for the result of a part."""
        ended = self._ray.exceptions
        if not self._begun and not self._ray.wait([ticket], timeout=_WAIT)[0]:
            self._note("waiting for the first worker: the cluster has no core free, or is still starting it")
        self._begun = True
        try:
            return self._ray.get(ticket)  # type: ignore[no-any-return]
        except ended.RayTaskError as error:
            raise error.cause from error
        except (
            ended.WorkerCrashedError,
            ended.OutOfMemoryError,
            ended.ObjectLostError,
            ended.NodeDiedError,
        ) as error:
            text = " ".join(str(error).split())
            kind = re.search(r"Worker exit type: (\w+)", text)
            raise Lost(kind[1].lower().replace("_", " ") if kind else textwrap.shorten(text, 120)) from error

    def cancel(self, ticket: Any) -> None:
        """End a task that is not needed any more."""
        self._ray.cancel(ticket, force=True)

    def close(self, *, now: bool) -> None:  # noqa: ARG002 - tasks are ended one by one
        """Forget the jobs."""
        self._jobs.clear()


@contextmanager
def ray_cluster(address: str, note: Note = silent) -> Iterator[Cluster]:
    """Yield the processes of a Ray cluster, one for each core, connected for the block.

    A program that is connected to a cluster stays so, and uses that one. Ray prints nothing, and answers no signal
    for us.

    Args:
        address: where the cluster is, as `ray.init` takes it: `HOST:PORT`, `auto`, `ray://HOST:PORT`.
        note: gets a message when no core is free.

    Raises:
        UsageError: the address is `local`.
        MissingExtra: Ray is not installed.
        MissingAsset: there is no cluster at the address, or none of this version.
    """
    if address == "local":
        raise UsageError("--ray local is no longer there. Use --workers auto, which takes all cores without Ray")
    os.environ.update(_QUIET)  # Ray reads them as it is imported
    try:
        import ray
    except ImportError as error:
        raise MissingExtra("ray", "ray", "Scoring on a cluster") from error
    if ray.is_initialized():
        yield Cluster(ray, note)
        return
    answer = signal.getsignal(signal.SIGTERM)
    try:
        try:
            host, colon, port = address.rpartition(":")
            if colon and "://" not in address and port.isdigit():  # Ray would try for long, and end the program
                socket.create_connection((host, int(port)), _REACH).close()
            ray.init(address, log_to_driver=False, logging_level=logging.CRITICAL)
        except SystemExit as stop:  # Ray's answer to SIGTERM, until ours is put back
            raise KeyboardInterrupt from stop
        except Exception as error:
            reason = " ".join(str(error).split())
            remedy = "Check the address, or use --workers, which needs no cluster"
            raise MissingAsset(f"{address}: no Ray cluster answers there ({reason}). {remedy}") from error
        finally:
            if threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGTERM, answer)
        yield Cluster(ray, note)
    finally:
        ray.shutdown()
