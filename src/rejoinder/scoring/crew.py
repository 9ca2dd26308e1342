"""Parts of a stream through many workers: few in flight at a time, their order kept, none lost with its worker.

What a worker is, and how it is asked, says an `Engine`: Ray has one (`streams.on_ray`), and so has any test.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar, cast

from rejoinder.errors import WorkersLost

Part = TypeVar("Part")
Worker = TypeVar("Worker")
Task = TypeVar("Task")
Result = TypeVar("Result")
Given_contra = TypeVar("Given_contra", contravariant=True)
Made_co = TypeVar("Made_co", covariant=True)

AHEAD = 4  # parts that are read, on their way or waiting for their turn, for each worker
QUEUE = 2  # parts that a worker has: one in work, the next at hand
PATIENCE = 3  # workers that a part may take with it, or that end one after the other before they can work


class Lost(Exception):
    """A worker ended before its task was done; the message says why."""


class Engine(Protocol[Given_contra, Worker, Task, Made_co]):
    """What workers are and how they are asked."""

    def hire(self) -> tuple[Worker, Task]:
        """A new worker, and the task that is done when it can work."""
        ...

    def give(self, worker: Worker, part: Given_contra) -> Task:
        """Give a worker a part, behind those that it has; returns at once."""
        ...

    def wait(self, tasks: Sequence[Task]) -> Task | None:
        """One of the tasks that is done, or None where that takes long."""
        ...

    def result(self, task: Task) -> Made_co:
        """What came of a task that is done.

        Raises:
            Lost: its worker ended.
            Exception: what the task raised.
        """
        ...

    def dismiss(self, worker: Worker) -> None:
        """End a worker, whatever it does."""
        ...


@dataclass(eq=False)
class _Errand(Generic[Part, Result]):
    """A part on its way: what came of it stands in `result` once it is `done`, or in `error`."""

    part: Part
    done: bool = False
    result: Result | None = None
    error: Exception | None = None
    lost: int = 0

    def answer(self) -> Result:
        """What came of it; raises what it raised."""
        if self.error is not None:
            raise self.error
        return cast("Result", self.result)


@dataclass(eq=False)
class _Member(Generic[Worker, Part, Result]):
    """A worker with the errands it has, in the order in which it does them."""

    worker: Worker
    errands: list[_Errand[Part, Result]] = field(default_factory=list)


class Crew(Generic[Part, Worker, Task, Result]):
    """Workers that a stream of parts goes through.

    Args:
        engine: what they are.
        size: how many.
        say: is told, in a sentence, what whoever waits should know.
        where: what a part is called in a message.
    """

    def __init__(
        self,
        engine: Engine[Part, Worker, Task, Result],
        size: int,
        *,
        say: Callable[[str], None],
        where: Callable[[Part], str],
    ) -> None:
        self._engine, self._size, self._say, self._where = engine, size, say, where
        self._coming: dict[Task, _Member[Worker, Part, Result]] = {}
        self._staff: list[_Member[Worker, Part, Result]] = []
        self._tasks: dict[Task, tuple[_Member[Worker, Part, Result], _Errand[Part, Result]]] = {}
        self._line: deque[_Errand[Part, Result]] = deque()  # in the order of the stream
        self._idle: deque[_Errand[Part, Result]] = deque()  # those of them that no worker has
        self._missed, self._told = 0, False
        self.lost = 0

    def through(self, parts: Iterable[Part]) -> Iterator[Result]:
        """Yield what comes of each part, in their order; the workers end with it.

        An error, of a worker or of the stream, comes where it would come in one process: after all before it.

        Raises:
            WorkersLost: a part ends each worker that it is given to, or no worker can begin.
        """
        stream = iter(parts)
        failed: Exception | None = None
        try:
            for _ in range(self._size):
                self._hire()
            while True:
                try:
                    self._fill(stream if failed is None else iter(()))
                except Exception as error:  # noqa: BLE001 - raised below, in its turn
                    failed = error
                if not self._line:
                    break
                if self._line[0].done:
                    yield self._line.popleft().answer()
                else:
                    self._settle(self._engine.wait([*self._tasks, *self._coming]))
            if failed is not None:
                raise failed
        finally:
            for member in [*self._staff, *self._coming.values()]:
                self._engine.dismiss(member.worker)

    def _hire(self) -> None:
        """Ask for one worker more."""
        worker, task = self._engine.hire()
        self._coming[task] = _Member(worker)

    def _fill(self, stream: Iterator[Part]) -> None:
        """Read parts while there is room ahead, and give workers what they can take."""
        self._give()
        while len(self._line) < max(1, AHEAD * len(self._staff)):
            for part in stream:
                errand = _Errand[Part, Result](part)
                break
            else:
                return
            self._line.append(errand)
            self._idle.append(errand)
            self._give()

    def _give(self) -> None:
        """Give errands that nobody has to the workers that have least to do."""
        while self._idle and self._staff:
            member = min(self._staff, key=lambda one: len(one.errands))
            if len(member.errands) >= QUEUE:
                return
            errand = self._idle.popleft()
            member.errands.append(errand)
            self._tasks[self._engine.give(member.worker, errand.part)] = member, errand

    def _settle(self, task: Task | None) -> None:
        """Take what came of a task that is done."""
        if task is None:
            if not self._staff and not self._told:
                self._told = True
                self._say("waiting for the first worker: the cluster has no core free, or is still starting it")
        elif task in self._coming:
            self._welcome(self._coming.pop(task), task)
        else:
            member, errand = self._tasks.pop(task)
            try:
                errand.result = self._engine.result(task)
            except Lost as reason:
                self._lose(member, reason)
                return
            except Exception as error:  # noqa: BLE001 - raised when its turn comes
                errand.error = error
            errand.done = True
            member.errands.remove(errand)

    def _welcome(self, member: _Member[Worker, Part, Result], task: Task) -> None:
        """Count a worker in, or ask for another where it ended before it could begin."""
        try:
            self._engine.result(task)
        except Lost as reason:
            self._missed += 1
            if self._missed >= PATIENCE:
                raise WorkersLost(
                    f"{self._missed} workers in a row ended before they could begin: {reason}"
                ) from reason
            self._hire()
        else:
            self._missed = 0
            self._staff.append(member)

    def _lose(self, member: _Member[Worker, Part, Result], reason: Lost) -> None:
        """Ask for a worker in the place of one that ended, and keep what it had for others."""
        self.lost += 1
        self._staff.remove(member)
        self._tasks = {task: own for task, own in self._tasks.items() if own[0] is not member}
        first = member.errands[0]  # which it worked at; the others only lay there
        first.lost += 1
        if first.lost >= PATIENCE:
            what = f"{self._where(first.part)} ended {first.lost} workers, one after the other ({reason})"
            raise WorkersLost(f"{what}. Do they have enough memory?") from reason
        self._idle.extendleft(reversed(member.errands))
        self._say(f"a worker ended ({reason}); another does again what it had")
        self._hire()
