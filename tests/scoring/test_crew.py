"""Parts through workers, with workers that are made up: order, what is in flight, what is lost and done again."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.errors import DataError, WorkersLost
from rejoinder.scoring.crew import AHEAD, QUEUE, Crew, Lost


class Task(NamedTuple):
    """A part in the hands of a worker; the part -1 is its coming to work."""

    number: int
    worker: int
    part: int


@dataclass
class Made:
    """Workers that finish in any order, each its own tasks in theirs.

    Attributes:
        source: decides who finishes next.
        dying: how often the worker of each part ends with it.
        broken: parts that raise.
        never: whether no worker ever comes to work, each ending before it.
        absent: workers that never come.
    """

    source: random.Random = field(default_factory=lambda: random.Random(0))
    dying: dict[int, int] = field(default_factory=dict)
    broken: tuple[int, ...] = ()
    never: bool = False
    absent: tuple[int, ...] = ()
    hired: int = 0
    given: list[Task] = field(default_factory=list)
    alive: set[int] = field(default_factory=set)
    dead: set[int] = field(default_factory=set)
    most: int = 0

    def hire(self) -> tuple[int, Task]:
        self.hired += 1
        self.alive.add(self.hired)
        return self.hired, self.give(self.hired, -1)

    def give(self, worker: int, part: int) -> Task:
        self.given.append(Task(len(self.given), worker, part))
        return self.given[-1]

    def wait(self, tasks: Sequence[Task]) -> Task | None:
        assert tasks
        self.most = max([self.most, *(sum(one.worker == own and one.part >= 0 for one in tasks) for own in self.alive)])
        first = {one.worker: one for one in sorted(tasks, reverse=True)}  # a worker takes its tasks in their order
        ready = [one for worker, one in sorted(first.items()) if worker not in self.absent]
        return self.source.choice(ready) if ready else None

    def result(self, task: Task) -> int:
        if task.part == -1:
            if self.never:
                raise Lost("no rejoinder there")
            return 0
        if task.worker in self.dead or self.dying.get(task.part, 0) > 0:
            if task.worker not in self.dead:
                self.dying[task.part] -= 1
            self.dead.add(task.worker)
            self.alive.discard(task.worker)
            raise Lost("killed")
        if task.part in self.broken:
            raise DataError(f"part {task.part}", "Mend it")
        return task.part * 10

    def dismiss(self, worker: int) -> None:
        self.alive.remove(worker)


def crew_of(made: Made, size: int, said: list[str] | None = None) -> Crew[int, int, Task, int]:
    told = [] if said is None else said
    return Crew(made, size, say=told.append, where=lambda part: f"part {part}")


@given(
    parts=st.integers(0, 40),
    size=st.integers(1, 5),
    seed=st.integers(0, 99),
    dying=st.dictionaries(st.integers(0, 39), st.integers(1, 2), max_size=6),
)
def test_all_come_in_their_order_whoever_ends(parts: int, size: int, seed: int, dying: dict[int, int]) -> None:
    made = Made(random.Random(seed), dict(dying))
    crew = crew_of(made, size)
    assert list(crew.through(range(parts))) == [10 * part for part in range(parts)]
    assert made.most <= QUEUE and not made.alive
    assert crew.lost == len(made.dead) == sum(times for part, times in dying.items() if part < parts)
    assert made.hired == size + crew.lost


def test_no_more_is_read_than_the_workers_can_do_soon() -> None:
    read = 0

    def counted() -> Iterator[int]:
        nonlocal read
        for part in range(200):
            read += 1
            yield part

    for taken, _ in enumerate(crew_of(Made(), 3).through(counted()), start=1):
        assert read <= taken + 3 * AHEAD
    assert read == 200


def test_nothing_is_read_ahead_of_the_first_worker() -> None:
    made, said = Made(absent=(1, 2)), list[str]()
    reader = iter(range(100))
    through = crew_of(made, 2, said).through(reader)

    def patience(_tasks: Sequence[Task]) -> None:
        if said:
            made.absent = ()
            del made.wait

    made.wait = patience  # type: ignore[method-assign, assignment]
    assert next(through) == 0
    assert said == ["waiting for the first worker: the cluster has no core free, or is still starting it"]


def test_workers_that_never_come_hold_nothing_up() -> None:
    made = Made(absent=(2, 3))
    assert list(crew_of(made, 3).through(range(20))) == list(range(0, 200, 10))
    assert not made.alive


def test_what_is_lost_is_said_each_time() -> None:
    said = list[str]()
    crew = crew_of(Made(dying={2: 1, 5: 2}), 2, said)
    assert list(crew.through(range(9))) == list(range(0, 90, 10))
    assert crew.lost == 3
    assert said == 3 * ["a worker ended (killed); another does again what it had"]


def test_a_part_that_ends_every_worker_ends_the_work() -> None:
    made = Made(dying={4: 99})
    found = list[int]()
    with pytest.raises(WorkersLost, match="part 4 ended 3 workers, one after the other .killed.. Do they have enough"):
        found.extend(crew_of(made, 2).through(range(9)))
    assert not made.alive


def test_workers_that_cannot_begin_end_the_work() -> None:
    made = Made(never=True)
    with pytest.raises(WorkersLost, match="3 workers in a row ended before they could begin: no rejoinder there"):
        list(crew_of(made, 2).through(range(9)))


@pytest.mark.parametrize("seed", range(5))
def test_an_error_comes_where_it_would_in_one_process(seed: int) -> None:
    made, found = Made(random.Random(seed), broken=(6, 3)), list[int]()
    through = crew_of(made, 4).through(range(9))
    with pytest.raises(DataError, match="part 3"):
        for one in through:
            found.append(one)
    assert found == [0, 10, 20]
    assert not made.alive


def test_an_error_of_the_stream_comes_after_what_was_read_before() -> None:
    def cut() -> Iterator[int]:
        yield from range(5)
        raise DataError("line 5", "Mend it")

    made, found = Made(), list[int]()
    with pytest.raises(DataError, match="line 5"):
        for one in crew_of(made, 3).through(cut()):
            found.append(one)
    assert found == [0, 10, 20, 30, 40]
    assert not made.alive


def test_who_stops_asking_dismisses_them() -> None:
    made = Made()
    through = crew_of(made, 3).through(range(100))
    next(through)
    through.close()  # type: ignore[attr-defined]
    assert not made.alive
