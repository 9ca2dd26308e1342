"""Scoring in a Ray cluster, by plain tasks: parts of examples go there, and scores come back."""

from __future__ import annotations

import logging
import os
import re
import signal
import socket
import textwrap
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rejoinder.data.joins import Note
from rejoinder.data.read import silent
from rejoinder.errors import MissingAsset, MissingExtra, UsageError
from rejoinder.example import Example
from rejoinder.scoring.parts import Job, Lost, score_there
from rejoinder.scoring.workers import Workers

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
    if ray.is_initialized():
        with Workers(engine=Cluster(ray, note), note=note) as workers:
            yield workers
        return
    _require_answer(address)
    with _connected(ray, address), Workers(engine=Cluster(ray, note), note=note) as workers:
        yield workers


class Cluster:
    """The processes of a Ray cluster (see `workers.Engine`).

    Args:
        ray: the library, connected.
        note: gets a message when no core is free.
    """

    def __init__(self, ray: Any, note: Note = silent) -> None:
        self._ray, self._note, self._told = ray, note, False
        self._task = ray.remote(num_cpus=1, max_retries=0)(score_there)
        self._jobs: dict[Job, Any] = {}
        self.size = max(1, int(ray.cluster_resources().get("CPU", 1)))

    def submit(self, job: Job, part: list[Example]) -> Any:
        """Send a part; the job is sent once."""
        if job not in self._jobs:
            self._jobs[job] = self._ray.put(job)
        return self._task.remote(self._jobs[job], part)

    def result(self, ticket: Any) -> tuple[Any, ...]:
        """Wait for the result of a part; see `Engine.result`."""
        ended = self._ray.exceptions
        if not self._told and not self._ray.wait([ticket], timeout=_WAIT)[0]:
            self._note("waiting for the first worker: the cluster has no core free, or is still starting it")
        self._told = True
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
            raise Lost(_reason(error)) from error

    def cancel(self, ticket: Any) -> None:
        """End a task that is not needed any more."""
        self._ray.cancel(ticket, force=True)

    def close(self, *, now: bool) -> None:  # noqa: ARG002 - tasks are ended one by one
        """Forget the jobs."""
        self._jobs.clear()


@contextmanager
def _connected(ray: Any, address: str) -> Iterator[None]:
    """Connect for the block. Ray prints nothing on the terminal meanwhile, and answers no signal for us.

    Raises:
        MissingAsset: there is no cluster at the address, or none of this version.
    """
    answer = signal.getsignal(signal.SIGTERM)
    try:
        try:
            ray.init(address, log_to_driver=False, logging_level=logging.CRITICAL)
        except SystemExit as stop:  # Ray's answer to SIGTERM, until ours is put back
            raise KeyboardInterrupt from stop
        except Exception as error:
            raise _no_cluster(address, error) from error
        finally:
            if threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGTERM, answer)
        yield
    finally:
        ray.shutdown()


def _require_answer(address: str) -> None:
    """Raise if nothing listens at HOST:PORT; Ray itself would try for half a minute, and end the program."""
    host, colon, port = address.rpartition(":")
    if not colon or "://" in address or not port.isdigit():
        return
    try:
        socket.create_connection((host, int(port)), _REACH).close()
    except (OSError, OverflowError) as error:
        raise _no_cluster(address, error) from error


def _no_cluster(address: str, error: Exception) -> MissingAsset:
    """Return the error for an address without a cluster."""
    reason = " ".join(str(error).split())
    remedy = "Check the address, or use --workers, which needs no cluster"
    return MissingAsset(f"{address}: no Ray cluster answers there ({reason}). {remedy}")


def _reason(error: Exception) -> str:
    """Return why a worker ended, in a few words of Ray's many."""
    text = " ".join(str(error).split())
    kind = re.search(r"Worker exit type: (\w+)", text)
    return kind[1].lower().replace("_", " ") if kind else textwrap.shorten(text, 120)
