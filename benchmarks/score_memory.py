"""Peak memory of `rejoinder score`, or of reading alone, as the file grows: 10,000 and 1,000,000 lines.

Usage: python benchmarks/score_memory.py [--lines 10000 1000000] [--write]
       python benchmarks/score_memory.py --read [--lines 1000 1000000] [--write]

Writes files of made-up lines into a temporary folder, scores each with the real command in a process of its own, and
reads the largest resident memory that the system saw for that process. `--write` keeps the table in
benchmarks/results/score_memory.md, of reading in read_memory.md.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from rejoinder.scoring.catalog import SCORERS as CATALOGUE
from rejoinder.text.vectors import read_vectors

RESULT = Path(__file__).parent / "results" / "score_memory.md"
SCORERS = tuple(name for name in CATALOGUE if name != "meteor")  # which takes milliseconds a line
MOST_GROWTH = 50.0  # MiB
READ = """
import resource, sys
from pathlib import Path
from rejoinder.data.read import read
count = sum(1 for _ in read(sys.argv[1]))
usage = resource.getrusage(resource.RUSAGE_SELF)
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(count, peak.split()[1], usage.ru_utime + usage.ru_stime)
"""
MOST_READING, MOST_READING_GROWTH = 40.0, 3.0  # MiB


class Peak(NamedTuple):
    """What one run took."""

    lines: int
    megabytes: float
    seconds: float


def phrases(source: random.Random) -> list[str]:
    """20,000 runs of 3 to 12 of the box's 12,000 words, by a Zipf law."""
    words = list(read_vectors().index)
    weights = list(accumulate(1.0 / (rank + 3.0) for rank in range(len(words))))
    return [" ".join(source.choices(words, cum_weights=weights, k=source.randint(3, 12))) for _ in range(20_000)]


def write_lines(path: Path, count: int, seed: int) -> None:
    """`count` lines with a context of two turns, a response and a reference of 6 to 60 words each.

    A text is two to five phrases, most often two: quick to draw, and hardly one of them comes twice.
    """
    source = random.Random(seed)  # noqa: S311 - no secret
    ready = phrases(source)
    sizes = source.choices(range(2, 6), weights=(70, 18, 8, 4), k=10_000)

    def text() -> str:
        return " ".join(source.choices(ready, k=source.choice(sizes)))

    with path.open("w", encoding="utf-8") as lines:
        for number in range(count):
            record = {"id": str(number), "context": [text(), text()], "response": text(), "references": [text()]}
            lines.write(json.dumps(record) + "\n")


def measure(path: Path, out: Path, count: int) -> Peak:
    """Score the file in a process of its own. `ru_maxrss` of a waited-for child is its peak, in KiB on Linux."""
    options = [part for name in SCORERS for part in ("-s", name)]
    start = time.perf_counter()
    child = subprocess.Popen(
        [sys.executable, "-m", "rejoinder", "score", path, *options, "-o", out], stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"rejoinder score failed on {count} lines")
    with out.open("rb") as scored:
        found = sum(1 for _ in scored)
    if found != count:
        sys.exit(f"{found} lines came back for {count}")
    return Peak(count, usage.ru_maxrss / 1024, time.perf_counter() - start)


def measure_reading(path: Path, count: int) -> Peak:
    """Read the file in a process of its own; the time is that of the processor.

    The peak is `VmHWM`: `ru_maxrss` begins with the size of this process.
    """
    done = subprocess.run([sys.executable, "-c", READ, path], capture_output=True, text=True, check=True)
    lines, peak, seconds = done.stdout.split()
    if int(lines) != count:
        sys.exit(f"{lines} lines were read of {count}")
    return Peak(count, int(peak) / 1024, float(seconds))


def require_flat(peaks: list[Peak]) -> None:
    """Print what reading takes; exit if it takes too much memory, or more for a larger file."""
    for peak in peaks:
        print(f"{peak.lines:,} lines: {peak.megabytes:.1f} MiB, {peak.seconds:.2f} s")
    if peaks[-1].megabytes > MOST_READING or peaks[-1].megabytes - peaks[0].megabytes > MOST_READING_GROWTH:
        sys.exit("reading takes too much memory")


def page(peaks: list[Peak], seed: int) -> str:
    """The result as Markdown."""
    growth = peaks[-1].megabytes - peaks[0].megabytes
    rows = "".join(f"| {peak.lines:,} | {peak.megabytes:.0f} | {peak.lines / peak.seconds:,.0f} |\n" for peak in peaks)
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    sizes = " ".join(str(peak.lines) for peak in peaks)
    return f"""# Memory of `rejoinder score` as the file grows

Scorers: {", ".join(SCORERS)}; JSON lines in and out. Peak resident memory of the whole process, start included.
Texts of 6 to 60 words out of 12,000; hardly one of them comes twice.

| lines | peak, MiB | lines a second |
| ---: | ---: | ---: |
{rows}
From the smallest to the largest: {growth:+.0f} MiB (at most {MOST_GROWTH:.0f} allowed).

{today}, {os.cpu_count()} CPUs, Python {platform.python_version()}

`python benchmarks/score_memory.py --lines {sizes} --seed {seed} --write`
"""


def reading_page(peaks: list[Peak], seed: int) -> str:
    """Return the page of reading alone."""
    rows = "".join(f"| {peak.lines:,} | {peak.megabytes:.1f} | {peak.seconds:.1f} |\n" for peak in peaks)
    sizes = " ".join(str(peak.lines) for peak in peaks)
    return f"""# Memory of reading as the file grows

`rejoinder.read` of JSON lines to examples. Peak resident memory of the whole process; time of the processor.

| lines | peak, MiB | CPU, s |
| ---: | ---: | ---: |
{rows}
At most {MOST_READING:.0f} MiB, and {MOST_READING_GROWTH:.0f} MiB more for the larger file, are allowed.

{datetime.datetime.now(tz=datetime.UTC).date()}, {os.cpu_count()} CPUs, Python {platform.python_version()}

`python benchmarks/score_memory.py --read --lines {sizes} --seed {seed} --write`
"""


def main() -> None:
    """Measure, print, and with --write keep; fails where memory grows with the file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--lines", type=int, nargs="+")
    parser.add_argument("--read", action="store_true", help="measure reading alone")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help=f"write {RESULT.name} into benchmarks/results")
    asked = parser.parse_args()
    peaks = []
    with tempfile.TemporaryDirectory() as place:
        for count in asked.lines or [1_000 if asked.read else 10_000, 1_000_000]:
            path = Path(place) / f"{count}.jsonl"
            write_lines(path, count, asked.seed)
            peaks.append(
                measure_reading(path, count) if asked.read else measure(path, Path(place) / "out.jsonl", count)
            )
            path.unlink()
    if asked.read:
        require_flat(peaks)
        if asked.write:
            RESULT.with_name("read_memory.md").write_text(reading_page(peaks, asked.seed), encoding="utf-8")
        return
    found = page(peaks, asked.seed)
    print(found)
    if asked.write:
        RESULT.parent.mkdir(parents=True, exist_ok=True)
        RESULT.write_text(found, encoding="utf-8")
    if peaks[-1].megabytes - peaks[0].megabytes > MOST_GROWTH:
        sys.exit("memory grows with the file")


if __name__ == "__main__":
    main()
