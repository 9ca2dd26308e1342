"""Processes that score parts: those of this machine, and those of a Ray cluster."""

from __future__ import annotations

import logging
import multiprocessing
import os
import re
import signal
import socket
import textwrap
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any

from rejoinder.data.joins import Note
from rejoinder.data.read import silent
from rejoinder.errors import MissingAsset, MissingExtra, UsageError
from rejoinder.example import Example
from rejoinder.scoring.workers import Job, Lost, Workers, score_there

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
    """`size` processes of this machine (see `workers.Engine`). A pool that lost a process is replaced."""

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
            for process in self._context.started:  # the library ends those that are left
                process.join(_PATIENCE)
            killed = any(process.exitcode == -9 for process in self._context.started)
            self._start()
            raise Lost("killed" if killed else "crashed") from error

    def cancel(self, ticket: tuple[Future[Any], ProcessPoolExecutor]) -> None:
        """Drop a part unless a process works on it."""
        ticket[0].cancel()

    def close(self, *, now: bool) -> None:
        """End the processes."""
        self._pool.shutdown(wait=not now, cancel_futures=True)
        for process in self._context.started if now else ():
            process.kill()
            process.join()


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


@contextmanager
def ray_workers(address: str, *, note: Note = silent) -> Iterator[Workers]:
    """Yield the workers of a Ray cluster, one for each core.

    A program that is connected to a cluster stays so, and uses that one.

    Args:
        address: where the cluster is, as `ray.init` takes it: `HOST:PORT`, `auto`, `ray://HOST:PORT`.
        note: gets a message when no core is free, and when a worker ended.

    Raises:
        UsageError: the address is `local`.
        MissingExtra: Ray is not installed.
        MissingAsset: there is no cluster at the address.
    """
    if address == "local":
        raise UsageError("--ray local is no longer there. Use --workers auto, which takes all cores without Ray")
    os.environ.update(_QUIET)  # Ray reads them as it is imported
    try:
        import ray
    except ImportError as error:
        raise MissingExtra("ray", "ray", "Scoring on a cluster") from error
    with _connected(ray, address), Workers(engine=Cluster(ray, note), note=note) as workers:
        yield workers


class Cluster:
    """The processes of the Ray cluster that `ray` is connected to (see `workers.Engine`)."""

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
def _connected(ray: Any, address: str) -> Iterator[None]:
    """Connect for the block, unless the program is connected. Ray prints nothing, and answers no signal for us.

    Raises:
        MissingAsset: there is no cluster at the address, or none of this version.
    """
    if ray.is_initialized():
        yield
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
        yield
    finally:
        ray.shutdown()
