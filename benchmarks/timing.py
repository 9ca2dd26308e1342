"""What the scripts behind docs/results/performance.md share: times of programs that take turns, rows, sections.

Programs that do the same work take turns in every round, so that other work on the machine disturbs all alike. A ratio
is taken within a round; shown is the median of all rounds, with the lowest and the highest.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from rejoinder.report.markdown import markdown_table

OURS = "rejoinder"
EARLIER = "earlier version"


class Took(NamedTuple):
    """The seconds of a piece of work.

    Attributes:
        wall: on the clock.
        cpu: of all processors, in all threads and processes.
    """

    wall: float
    cpu: float


class Row(NamedTuple):
    """A row of a table.

    Attributes:
        cells: the text of its first columns.
        ratio: how many times as fast rejoinder is.
        bar: how many times as fast it should be at least; 0 for what is only shown.
    """

    cells: Sequence[str]
    ratio: float = 0.0
    bar: float = 0.0

    @property
    def texts(self) -> list[str]:
        """All columns; the last two are the bar, and whether it is reached."""
        reached = "yes" if self.ratio >= self.bar else "**no**"
        return [*self.cells, *((f"{self.bar:.3g}", reached) if self.bar else ("", ""))]


class Section(NamedTuple):
    """A section of the page.

    Attributes:
        title: its heading.
        text: what is compared, and how, in Markdown.
        header: the names of the columns but the last two.
        rows: the rows.
    """

    title: str
    text: str
    header: Sequence[str]
    rows: Sequence[Row]

    def markdown(self, made: str) -> str:
        """Return the section; `made` says when and how it was measured."""
        table = markdown_table((*self.header, "bar", "reached"), [row.texts for row in self.rows])
        return f"## {self.title}\n\n{self.text.strip()}\n\n{table}\n{made}\n"


def spread(numbers: Sequence[float]) -> str:
    """Return the median of rounds with the lowest and the highest."""
    return f"{statistics.median(numbers):.2f} [{min(numbers):.2f}, {max(numbers):.2f}]"


def ratios(numbers: Sequence[float], others: Sequence[float]) -> list[float]:
    """Return the ratio of two numbers in each round."""
    return [number / other for number, other in zip(numbers, others, strict=True)]


def in_turn(calls: Mapping[str, Callable[[], Took]], rounds: int, warm: int = 1) -> dict[str, list[Took]]:
    """Return the seconds of each call in every round, without those of the first rounds, which warm up."""
    times: dict[str, list[Took]] = {name: [] for name in calls}
    for turn in range(warm + rounds):
        for name, call in calls.items():
            took = call()
            if turn >= warm:
                times[name].append(took)
    return times


def cpu_time(call: Callable[[], object]) -> Took:
    """Return the seconds of a call in this process."""
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return Took(time.perf_counter() - wall, time.process_time() - cpu)


def run_time(python: str, *arguments: str) -> Took:
    """Return the seconds of `python ARGUMENTS`, from start to end.

    Raises:
        CalledProcessError: it fails.
    """
    wall, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([python, *arguments], check=True, capture_output=True, env=environment(python))
    seconds, after = time.perf_counter() - wall, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Took(seconds, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def environment(python: str, *, threads: int = 0) -> dict[str, str]:
    """Return the environment variables for a Python; another one must not find this version of rejoinder.

    Args:
        python: the Python.
        threads: how many threads numpy's BLAS uses; 0 for as many as by default.
    """
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH" or python == sys.executable}
    return variables | ({"OPENBLAS_NUM_THREADS": str(threads)} if threads else {})


def rows_of(
    what: str, times: Mapping[str, Sequence[Took]], bar: float, scale: float = 1, *, cpu: bool = False
) -> list[Row]:
    """Return a row for rejoinder, which comes first in `times`, and one for each other program.

    Columns: what, program, time on the clock, CPU time, how many times as fast rejoinder is by each of them.

    Args:
        what: the work.
        times: the seconds of each round, by program.
        bar: how many times as fast as the earlier version rejoinder should be.
        scale: what seconds are multiplied with.
        cpu: whether the bar is for CPU time.
    """
    rows = []
    for name, took in times.items():
        medians = [f"{scale * statistics.median(numbers):.2f}" for numbers in zip(*took, strict=True)]
        if name == OURS:
            rows.append(Row((what, name, *medians, "", "")))
            continue
        by_wall = ratios([one.wall for one in took], [one.wall for one in times[OURS]])
        by_cpu = ratios([one.cpu for one in took], [one.cpu for one in times[OURS]])
        cells = (what, name, *medians, spread(by_wall), spread(by_cpu))
        rows.append(Row(cells, statistics.median(by_cpu if cpu else by_wall), bar if name == EARLIER else 0))
    return rows
