"""How fast the judge in the box scores on a Ray cluster beside one process, and where the next limit is.

Usage: python benchmarks/scale_out.py [--lines 8192] [--workers 2] [--price 0.04] [--seed 0] [--write]

A file of made-up short turns is scored several times, from JSON lines to JSON lines:

    one process        as `rejoinder score` does
    1 worker, N ...    the same through a cluster on this machine; what it takes to start is told apart
    the caller alone   with a scorer that costs nothing, in seconds of the caller's own processor: reading, sending,
                       taking and writing, which is what one caller can keep up with; also from a folder of Parquet
                       files to another

The cost of a million and of a billion turns follows from the rate of a worker and the price of a core for an hour.
`--write` puts the page into benchmarks/results/scale_out.md.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from judge_speed import examples_of
from rejoinder.scoring.on_ray import on_ray
from rejoinder.scoring.parts import PART, Asked, Scoring, elsewhere

import rejoinder
from rejoinder.data.part_folder import open_parts
from rejoinder.data.write import open_writer
from rejoinder.report.markdown import markdown_table
from rejoinder.scorer import Scorer
from rejoinder.scoring.scoring import CHUNK, Tally, score_stream

RESULT = Path(__file__).parent / "results" / "scale_out.md"
JUDGE = Asked(("rejoinder",))
FREE = Asked(("length",))  # costs next to nothing: then the caller is what takes time
PARTS = 4
MORE = 8  # times as many lines where scoring costs nothing
Work = Callable[[Path, Path, Mapping[str, Scorer], Scoring | None], int]


class Took(NamedTuple):
    """What a run took.

    Attributes:
        lines: scored.
        seconds: on the clock.
        own: of the caller's processor.
        start: on the clock, until the workers were there; not in `seconds`.
    """

    lines: int
    seconds: float
    own: float
    start: float = 0.0

    @property
    def rate(self) -> float:
        """Lines a second."""
        return self.lines / self.seconds

    @property
    def most(self) -> float:
        """Lines a second that the caller could keep up with."""
        return self.lines / self.own


def timed(work: Callable[[], int]) -> Took:
    """What it takes to score."""
    clock, own = time.perf_counter(), time.process_time()
    lines = work()
    return Took(lines, time.perf_counter() - clock, time.process_time() - own)


def to_file(source: Path, out: Path, scorers: Mapping[str, Scorer], far: Scoring | None) -> int:
    """Score a file into another, as the command does; the number of lines."""
    tallies = {name: Tally(one) for name, one in scorers.items()}
    with open_writer(out) as put:
        for record in score_stream(rejoinder.read(source), tallies, chunk=PART if far else CHUNK, scoring=far):
            put(record)
    return sum(tally.scored + tally.unscored for tally in tallies.values())


def to_parts(source: Path, out: Path, scorers: Mapping[str, Scorer], far: Scoring | None) -> int:
    """Score a folder of Parquet files into another, as the command does; the number of lines."""
    tallies = {name: Tally(one) for name, one in scorers.items()}
    with tempfile.TemporaryDirectory(dir=out.parent) as place, open_parts(Path(place) / "out", source, {}) as parts:
        for record in score_stream(parts.noting(rejoinder.read(source)), tallies, chunk=PART, scoring=far):
            parts.put(record)
    return sum(tally.scored + tally.unscored for tally in tallies.values())


def on_cluster(work: Work, asked: Asked, source: Path, first: Path, workers: int) -> Took:
    """What it takes through so many workers on this machine; `first` is a single line, by which the start is told."""
    scorers, out = asked.load(), source.parent / "out.jsonl"
    begun = time.perf_counter()
    with on_ray(workers=workers, note=lambda said: print(said, file=sys.stderr)) as found:
        scoring = elsewhere(found, asked, scorers)
        small = timed(lambda: to_file(first, out, scorers, scoring))
        start = time.perf_counter() - begun
        took = timed(lambda: work(source, out, scorers, scoring))
    return Took(took.lines, took.seconds - small.seconds, took.own - small.own, start)


def write_inputs(place: Path, lines: int, seed: int) -> None:
    """Write `first.jsonl`, `few.jsonl`, `many.jsonl` and the folder `parts`, of short turns."""
    made = list(islice(examples_of(seed), lines))
    for name, some in (("first", made[:1]), ("few", made), ("many", made * MORE)):
        with (place / f"{name}.jsonl").open("w", encoding="utf-8") as stream:
            for number, one in enumerate(some):
                record = {"id": str(number), "context": one.context, "response": one.response}
                stream.write(json.dumps(record) + "\n")
    (place / "parts").mkdir()
    for number in range(PARTS):
        rejoinder.write(made * (MORE // PARTS), place / "parts" / f"part-{number:05}.parquet")


def measured(asked: argparse.Namespace) -> dict[str, Took]:
    """What every run took, by its name in the table."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        write_inputs(place, asked.lines, asked.seed)
        first, few, many = (place / f"{name}.jsonl" for name in ("first", "few", "many"))
        scorers = JUDGE.load()
        to_file(first, place / "out.jsonl", scorers, None)  # reads the judge
        found = {"one process": timed(lambda: to_file(few, place / "out.jsonl", scorers, None))}
        for workers in sorted({1, asked.workers}):
            found[_named(workers)] = on_cluster(to_file, JUDGE, few, first, workers)
        found["caller, JSON lines"] = on_cluster(to_file, FREE, many, first, asked.workers)
        found["caller, Parquet folders"] = on_cluster(to_parts, FREE, place / "parts", first, asked.workers)
    return found


def _named(workers: int) -> str:
    """What a number of workers is called."""
    return "1 worker" if workers == 1 else f"{workers} workers"


def page(found: Mapping[str, Took], asked: argparse.Namespace) -> str:
    """The page."""
    many = found[_named(asked.workers)]
    each = many.rate / asked.workers
    hours = 1e6 / each / 3600
    limit = found["caller, JSON lines"].most
    rows = [
        [name, f"{took.rate:,.0f}", f"{took.rate / found['one process'].rate:.2f}", f"{took.start:.1f}"]
        for name, took in found.items()
        if "caller" not in name
    ]
    callers = [
        [
            name.removeprefix("caller, "),
            f"{took.most:,.0f}",
            f"{took.most / each:,.0f}",
            f"{1e9 / took.most / 3600:,.1f}",
        ]
        for name, took in found.items()
        if "caller" in name
    ]
    return _PAGE.format(
        date=datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        command=" ".join(["python", "benchmarks/scale_out.py", *sys.argv[1:]]),
        lines=asked.lines,
        more=asked.lines * MORE,
        workers=asked.workers,
        cores=os.cpu_count(),
        machine=platform.machine(),
        python=platform.python_version(),
        table=markdown_table(["", "lines a second", "times one process", "start, s"], rows),
        callers=markdown_table(["from and to", "lines a second", "workers", "hours for a billion"], callers),
        each=each,
        hours=hours,
        price=asked.price,
        million=hours * asked.price,
        thousands=1000 * hours,
        billion=1000 * hours * asked.price,
        limit=limit / each,
    )


def main() -> None:
    """Measure and print, or write, the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=8192)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--price", type=float, default=0.04, help="of a core for an hour, in dollars")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    text = page(measured(asked), asked)
    if asked.write:
        RESULT.write_text(text, encoding="utf-8")
    print(text)


_PAGE = """\
# Scoring on a Ray cluster

Made by `{command}` on {date}, {cores} cores, {machine}, Python {python}.

The judge in the box on {lines:,} short turns (20 words or fewer; a context of up to three), from JSON lines to JSON
lines, through a cluster on this machine. Caller and workers share its cores. No text stands in two lines.

{table}

What one caller can keep up with: {more:,} lines with a scorer that costs next to nothing, by the seconds of the
caller's own processor; and how many workers at {each:,.0f} lines a second keep it busy.

{callers}

On paper, at {price:g} $ for a core for an hour: a million turns take {hours:.2f} hours of a core and cost
{million:.3f} $, a billion {thousands:,.0f} hours and {billion:,.0f} $, as long as the caller is not the limit: up to
some {limit:,.0f} workers.
"""

if __name__ == "__main__":
    main()
