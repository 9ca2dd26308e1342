"""How long `rejoinder study` takes on all cores, beside one process and beside an earlier version.

Usage: python benchmarks/study_speed.py [--lines 10000] [--rounds 1] [--earlier PYTHON] [--seed 0] [--write]

Rated lines, each with a context of its own, four turns and one reference, go through three metrics and the bundled
judge. The whole command is timed, in turn: what counts is the ratio within a run. `--earlier` names the Python of an
environment with an earlier version. `--write` writes the page to benchmarks/results/study_speed.md.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import random
import resource
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from judge_speed import examples_of

import rejoinder
from rejoinder.example import Example
from rejoinder.scoring.workers import cores

RESULT = Path(__file__).parent / "results" / "study_speed.md"
SCORERS = ("bleu-4", "chrf", "rouge-l", "rejoinder")


def write_lines(path: Path, lines: int, seed: int) -> None:
    """Write rated lines with distinct contexts of four turns and one reference."""
    rng, texts = random.Random(seed), (example.response for example in examples_of(seed))  # noqa: S311 - made-up ratings
    rejoinder.write(
        (
            Example(
                tuple(islice(texts, 4)),
                next(texts),
                references=(next(texts),),
                id=str(number),
                system=f"system {number % 5}",
                quality={"overall": rng.randint(1, 5)},
                scales={"overall": (1, 5)},
            )
            for number in range(lines)
        ),
        path,
    )


class Took(NamedTuple):
    """Seconds of a study.

    Attributes:
        wall: on the clock.
        cpu: of all processors, in all processes.
    """

    wall: float
    cpu: float


def timed(python: str, path: Path, *more: str) -> Took:
    """Return the seconds of one study."""
    call = [python, "-m", "rejoinder", "study", str(path), *(word for name in SCORERS for word in ("-s", name)), *more]
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*call, "--json"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Took(wall, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def main() -> None:
    """Measure, and print or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--earlier", default="", metavar="PYTHON")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    calls: dict[str, tuple[str, ...]] = {
        "one process": (sys.executable, "--workers", "1"),
        f"all {cores()} cores": (sys.executable, "--workers", "auto"),
    }
    if options.earlier:
        calls["earlier version"] = (options.earlier,)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rated.jsonl"
        write_lines(path, options.lines, options.seed)
        times = dict.fromkeys(calls, Took(float("inf"), float("inf")))
        loads = [os.getloadavg()[0]]
        for _ in range(options.rounds):
            for name, (python, *more) in calls.items():
                times[name] = min(times[name], timed(python, path, *more))
            loads.append(os.getloadavg()[0])
    earlier = times.get("earlier version")
    rows = [
        f"| {name} | {took.wall:.1f} | {took.cpu:.1f} | {took.wall / times['one process'].wall:.2f} | "
        f"{f'{took.wall / earlier.wall:.2f}' if earlier else '–'} |"
        for name, took in times.items()
    ]
    text = _PAGE.format(
        command=" ".join(["python", "benchmarks/study_speed.py", *(["--earlier PYTHON"] if options.earlier else [])]),
        date=datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        cores=cores(),
        machine=platform.machine(),
        python=platform.python_version(),
        lines=options.lines,
        scorers=", ".join(SCORERS),
        rounds=options.rounds,
        load=f"{min(loads):.1f} to {max(loads):.1f}",
        rows="\n".join(rows),
    )
    if options.write:
        RESULT.write_text(text, encoding="utf-8")
    sys.stdout.write(text)


_PAGE = """\
# A study on all cores

Made by `{command}` on {date}: {cores} cores, {machine}, Python {python}, load average {load}.

`rejoinder study` of {lines:,} rated lines, each with a context of its own, four turns and one reference, by {scorers}.
The whole command is timed, from its start to its JSON; the best of {rounds} in turn.

| | seconds | CPU seconds | share of the time of one process | of the earlier version |
| --- | ---: | ---: | ---: | ---: |
{rows}

Other programs ran on the machine if the load was above the number of cores; the ratio of one run is what to read.
"""

if __name__ == "__main__":
    main()
