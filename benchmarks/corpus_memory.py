"""Peak memory of `rejoinder pretrain` with a corpus and with one ten times as large.

Usage: python benchmarks/corpus_memory.py [--megabytes 3 30] [--write]

Writes made-up dialogues into a temporary folder, trains a small VHRED on them with the real command in a process of its
own (vocabulary, tokens, two stretches of updates with their validations), and reads the largest resident memory that
the system saw for that process. `--write` keeps the table in benchmarks/results/corpus_memory.md.
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

RESULT = Path(__file__).parent / "results" / "corpus_memory.md"
MOST_GROWTH = 1.2
RECIPE = """
kind = "vhred"
tokens_per_batch = 3000

[text]
vocabulary = 4000
longest_turn = 40
most_turns = 8
held_out = 0.002

[model]
embedding = 64
utterance = 64
context = 64
decoder = 64
latent = 16

[run]
updates = 20
stretch = 10
accelerator = "cpu"
"""


class Peak(NamedTuple):
    """What one run took."""

    bytes: int
    dialogues: int
    megabytes: float
    seconds: float


def write_dialogues(path: Path, size: int, seed: int) -> int:
    """Write about `size` bytes of dialogues of 2 to 8 turns, words by a Zipf law; returns how many there are."""
    source, count = random.Random(seed), 0  # noqa: S311 - no secret
    words = ["".join(source.choices("abcdefghijklmnopqrstuvwxyz", k=source.randint(2, 9))) for _ in range(20_000)]
    weights = list(accumulate(1.0 / (rank + 3.0) for rank in range(len(words))))
    phrases = [" ".join(source.choices(words, cum_weights=weights, k=source.randint(2, 8))) for _ in range(20_000)]
    with path.open("w", encoding="utf-8") as lines:
        while lines.tell() < size:
            turns = [" ".join(source.choices(phrases, k=2)) for _ in range(source.randint(2, 8))]
            lines.write(json.dumps({"turns": turns}) + "\n")
            count += 1
    return count


def measure(place: Path, size: int, seed: int) -> Peak:
    """Pre-train in a process of its own. `ru_maxrss` of a waited-for child is its peak, in KiB on Linux."""
    recipe, corpus = place / "recipe.toml", place / f"{size}.jsonl"
    recipe.write_text(RECIPE, encoding="utf-8")
    count = write_dialogues(corpus, size, seed)
    start = time.perf_counter()
    files = [str(path) for path in (recipe, corpus, place / f"{size}")]
    command = [sys.executable, "-m", "rejoinder", "pretrain", *files[:2], "-o", files[2]]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"rejoinder pretrain failed on {size} bytes")
    return Peak(corpus.stat().st_size, count, usage.ru_maxrss / 1024, time.perf_counter() - start)


def page(peaks: list[Peak], asked: argparse.Namespace) -> str:
    """The result as Markdown."""
    rows = "".join(
        f"| {peak.bytes / 1e6:.0f} | {peak.dialogues:,} | {peak.megabytes:.0f} | {peak.seconds:.0f} |\n"
        for peak in peaks
    )
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    return f"""# Memory of `rejoinder pretrain` as the corpus grows

A small VHRED, 20 updates: training the vocabulary, writing the tokens, training, validating. Peak resident memory of
the whole process, torch included; the seconds are of the same run.

| corpus, MB | dialogues | peak, MiB | seconds |
| ---: | ---: | ---: | ---: |
{rows}
The largest over the smallest: {growth(peaks):.2f} (at most {MOST_GROWTH} allowed).

{today}, {os.cpu_count()} CPUs, Python {platform.python_version()}

`python benchmarks/corpus_memory.py --megabytes {" ".join(map(str, asked.megabytes))} --seed {asked.seed} --write`
"""


def growth(peaks: list[Peak]) -> float:
    """The last peak over the first."""
    return peaks[-1].megabytes / peaks[0].megabytes


def main() -> None:
    """Measure, print, and with --write keep; fails where memory grows with the corpus."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--megabytes", type=int, nargs="+", default=[3, 30])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help=f"write {RESULT.name} into benchmarks/results")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        peaks = [measure(Path(place), megabytes * 1_000_000, asked.seed) for megabytes in asked.megabytes]
    found = page(peaks, asked)
    print(found)
    if asked.write:
        RESULT.parent.mkdir(parents=True, exist_ok=True)
        RESULT.write_text(found, encoding="utf-8")
    if growth(peaks) > MOST_GROWTH:
        sys.exit("memory grows with the corpus")


if __name__ == "__main__":
    main()
