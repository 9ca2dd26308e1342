"""Scoring in the processes of a Ray cluster: on this machine, or on as many as the cluster has.

Parts of examples go there and scores come back. Each process loads the scorers once, by their names: no scorer travels,
so what a process scores with is what is installed and lies on its own machine, and its signature has to be the same.
Ray's report of its use is off; a cluster that is started here keeps to this machine (`one_machine`), has no dashboard,
and is gone with its files when the work ends.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import socket
import tempfile
import textwrap
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rejoinder.data.joins import Note
from rejoinder.data.read import silent
from rejoinder.errors import MissingAsset, MissingExtra, RejoinderError
from rejoinder.example import Example
from rejoinder.scorer import Scorer, Scores, signature_of
from rejoinder.scoring.crew import Crew, Lost
from rejoinder.scoring.one_machine import NOWHERE, give_back, one_machine, own_token, require_loopback
from rejoinder.scoring.parts import Asked, Judged, Scoring, judge

LOCAL = "local"
_REACH = 5.0  # seconds for a cluster to answer
_WAIT = 20.0  # seconds until whoever waits for the first worker is told so
_STORE = 256 * 2**20  # bytes of shared memory on this machine: parts are small, and few at a time
_LONGEST = 40  # characters of a folder that Ray can make its sockets in
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_USAGE_STATS_REPORT_URL": NOWHERE,  # Ray reports that its report is off
    "RAY_enable_metrics_collection": "0",
    "RAY_enable_open_telemetry": "0",
    "RAY_SCHEDULER_EVENTS": "0",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # else Ray prints what it notices among our results on standard output
}


class _Scorers:
    """What a worker process holds: the scorers, loaded once.

    Args:
        asked: which.
        folder: where names of files are meant from, where there is such a folder.
        expected: their signatures where they were asked for.
    """

    def __init__(self, asked: Asked, folder: str, expected: Mapping[str, str]) -> None:
        self._asked, self._folder, self._expected = asked, folder, expected
        self._scorers: Mapping[str, Scorer] = {}

    def load(self) -> None:
        """Load the scorers.

        Raises:
            MissingAsset: one cannot be loaded here, or is another than where it was asked for.
        """
        give_back()
        if Path(self._folder).is_dir():
            os.chdir(self._folder)
        host = socket.gethostname()
        try:
            self._scorers = self._asked.load()
        except RejoinderError as error:
            remedy = "Files that a scorer is named by have to lie at the same place on every machine"
            raise MissingAsset(f"on the Ray worker {host} in {Path.cwd()}: {error}. {remedy}") from error
        for name, scorer in self._scorers.items():
            if (own := str(signature_of(scorer))) != self._expected[name]:
                what = f"{name} is {own} on the Ray worker {host} and {self._expected[name]} here"
                raise MissingAsset(f"{what}. Install the same rejoinder, and put the same files, on every machine")

    def score(self, part: Sequence[Example]) -> tuple[Mapping[str, Scores], Mapping[str, Any]]:
        """What the scorers say of a part, in what can go from one process to another."""
        found = judge(self._scorers, part, explain=self._asked.explain)
        return found.scores, found.told


@contextmanager
def on_ray(address: str = LOCAL, *, workers: int | None = None, note: Note = silent) -> Iterator[RayWorkers]:
    """Yield the workers of a Ray cluster, for `score_stream`, `study` and whatever else takes workers.

    A program that is connected to a cluster stays so, and that is the one that is used. One that imports Ray before
    this has Ray's own ways, and may print on standard output.

    Args:
        address: `local` starts a cluster on this machine that ends with the block; else where one can be reached, as
            `ray.init` takes it: `HOST:PORT`, `auto`, `ray://HOST:PORT`.
        workers: how many processes, of a core each; None takes as many as the cluster has cores.
        note: is told what whoever waits should know: that there is no core free, that a worker ended.

    Raises:
        MissingExtra: Ray is not installed.
        MissingAsset: there is no cluster at the address.
        RejoinderError: other machines could reach the cluster that was started here.
    """
    os.environ.update(_QUIET)  # Ray reads them as it is imported
    try:
        import ray
    except ImportError as error:
        raise MissingExtra("ray", "ray", "Scoring on a cluster") from error
    if ray.is_initialized():
        yield RayWorkers(ray, _count(ray, workers), note)
        return
    if address != LOCAL:
        _require_answer(address)
    with _started(ray, workers) if address == LOCAL else _connected(ray, address):
        yield RayWorkers(ray, _count(ray, workers), note)


@dataclass(frozen=True)
class RayWorkers:
    """The workers of a cluster that this process is connected to (`parts.Workers`).

    Attributes:
        ray: the library.
        size: how many there are.
        note: see `on_ray`.
    """

    ray: Any
    size: int
    note: Note = silent

    def scoring(self, asked: Asked, expected: Mapping[str, str]) -> Scoring:
        """What scores parts in these workers, which load the scorers when it begins and end with it."""

        def score(parts: Iterable[list[Example]]) -> Iterator[Judged]:
            actor = self.ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(_Scorers)
            engine = _RayEngine(self.ray, lambda: actor.remote(asked, str(Path.cwd()), dict(expected)))
            yield from Crew(engine, self.size, say=self.note, where=_where).through(parts)

        return score


class _RayEngine:
    """Ray's actors as the workers of a crew.

    Args:
        ray: the library.
        actor: starts one.
    """

    def __init__(self, ray: Any, actor: Callable[[], Any]) -> None:
        self._ray, self._actor = ray, actor
        self._parts: dict[Any, list[Example]] = {}

    def hire(self) -> tuple[Any, Any]:
        """A process, and the task that is done when it has loaded the scorers."""
        worker = self._actor()
        return worker, worker.load.remote()

    def give(self, worker: Any, part: list[Example]) -> Any:
        """Send a part."""
        task = worker.score.remote(part)
        self._parts[task] = part
        return task

    def wait(self, tasks: Sequence[Any]) -> Any | None:
        """One of the tasks that is done; None where none is for a while."""
        done, _ = self._ray.wait(list(tasks), num_returns=1, timeout=_WAIT)
        return done[0] if done else None

    def result(self, task: Any) -> Judged:
        """The part with its scores; of the task that a worker begins with, nothing."""
        ended = self._ray.exceptions
        try:
            found = self._ray.get(task)
        except (ended.RayActorError, ended.ObjectLostError, ended.WorkerCrashedError) as error:
            raise Lost(_reason(error)) from error
        except ended.RayTaskError as error:
            raise error.cause from error
        finally:
            part = self._parts.pop(task, [])
        scores, told = found or ({}, {})
        return Judged(part, scores, told)

    def dismiss(self, worker: Any) -> None:
        """End a process."""
        self._ray.kill(worker)


@contextmanager
def _started(ray: Any, workers: int | None) -> Iterator[None]:
    """A cluster on this machine, which ends with the block and leaves nothing behind."""
    place = tempfile.gettempdir()
    folder = tempfile.mkdtemp(prefix="ray-", dir=place if len(place) <= _LONGEST else "/tmp")  # noqa: S108 - see _LONGEST
    try:
        how = {"num_cpus": workers, "include_dashboard": False, "object_store_memory": _STORE, "_temp_dir": folder}
        with own_token(ray), _connected(ray, LOCAL, **how):
            require_loopback(ray)
            yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _connected(ray: Any, address: str, **how: Any) -> Iterator[None]:
    """A connection for the block; Ray says nothing on the terminal meanwhile, and answers no signal for us.

    Raises:
        MissingAsset: there is no cluster at the address, or none that this one can talk with.
    """
    answer = signal.getsignal(signal.SIGTERM)
    try:
        try:
            with one_machine(ray) if address == LOCAL else nullcontext():
                ray.init(address, log_to_driver=False, logging_level=logging.CRITICAL, **how)
        except SystemExit as stop:  # Ray's own answer to SIGTERM, until it is put back
            raise KeyboardInterrupt from stop
        except Exception as error:
            said = " ".join(str(error).split())
            raise MissingAsset(
                f"{address}: no Ray cluster can be used there ({said}). Check the address; --ray local starts one here"
            ) from error
        finally:
            if threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGTERM, answer)
        yield
    finally:
        ray.shutdown()


def _require_answer(address: str) -> None:
    """Raise where nothing listens at HOST:PORT; Ray itself would try for half a minute, and end the program."""
    host, colon, port = address.rpartition(":")
    if not colon or "://" in address or not port.isdigit():
        return
    try:
        socket.create_connection((host, int(port)), _REACH).close()
    except (OSError, OverflowError) as error:
        raise MissingAsset(
            f"{address}: no Ray cluster answers there ({error}). Check the address; --ray local starts one here"
        ) from error


def _count(ray: Any, workers: int | None) -> int:
    """How many workers there will be."""
    return workers or max(1, int(ray.cluster_resources().get("CPU", 1)))


def _where(part: list[Example]) -> str:
    """What a part is called in a message."""
    first, last = (one.where or one.id or "a line" for one in (part[0], part[-1]))
    return f"the part from {first} to {last}"


def _reason(error: Exception) -> str:
    """Why a worker ended, in a few words of Ray's many."""
    said = " ".join(str(error).split())
    kind = re.search(r"Worker exit type: (\w+)", said)
    return kind[1].lower().replace("_", " ") if kind else textwrap.shorten(said, 120)
