"""Peak memory of `rejoinder pretrain` with a corpus and with one ten times as large.

Usage: python benchmarks/corpus_memory.py [--megabytes 3 30] [--seed 0] [--write]

Writes made-up dialogues into a temporary folder, trains a small VHRED on them with the real command in a process of its
own (vocabulary, tokens, two stretches of updates with their validations), and reads the largest resident memory that
the system saw for that process, when the vocabulary was trained and in the end. Words follow a Zipf law without an end,
so a larger corpus has more different words, as real ones have: training the vocabulary counts them in memory. `--write`
keeps the table in benchmarks/results/corpus_memory.md.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

RESULT = Path(__file__).parent / "results" / "corpus_memory.md"
MOST_GROWTH = 1.2
LETTERS = "etaoinshrdlcumwfgypbvkjxqz"
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
    words: int
    vocabulary: float
    megabytes: float
    seconds: float


def spelled(rank: int) -> str:
    """A word of its own for each rank; the frequent ones are short."""
    word = ""
    while rank >= 0:
        rank, letter = divmod(rank, len(LETTERS))
        word += LETTERS[letter]
        rank -= 1
    return word


def words(generator: np.random.Generator, known: dict[int, str]) -> Iterator[str]:
    """Words without end, each kept in `known`: the one of rank r is rarer than r to the power of -1.5, roughly."""
    while True:
        ranks = 30 * ((1 - generator.random(100_000)) ** -2 - 1)
        for rank in np.minimum(ranks, 1e15).astype(np.int64).tolist():
            if rank not in known:
                known[rank] = spelled(rank)
            yield known[rank]


def write_dialogues(path: Path, size: int, seed: int) -> tuple[int, int]:
    """Write about `size` bytes of dialogues of 2 to 8 turns; returns how many there are, and how many words differ."""
    generator, known, count, written = np.random.default_rng(seed), dict[int, str](), 0, 0
    stream = words(generator, known)
    with path.open("w", encoding="utf-8") as lines:
        while written < size:
            lengths = generator.integers(2, 16, generator.integers(2, 9)).tolist()
            turns = [" ".join(next(stream) for _ in range(length)) for length in lengths]
            written += lines.write(json.dumps({"turns": turns}) + "\n")
            count += 1
    return count, len(known)


def measure(place: Path, size: int, seed: int) -> Peak:
    """Pre-train in a process of its own. `ru_maxrss` of a waited-for child is its peak, in KiB on Linux."""
    recipe, corpus = place / "recipe.toml", place / f"{size}.jsonl"
    recipe.write_text(RECIPE, encoding="utf-8")
    count, different = write_dialogues(corpus, size, seed)
    start = time.perf_counter()
    files = [str(path) for path in (recipe, corpus, place / f"{size}")]
    command = [sys.executable, "-m", "rejoinder", "pretrain", *files[:2], "-o", files[2]]
    # One thread, because models this small only wait for a second one, for minutes where the machine is busy.
    surroundings = {**os.environ, "OMP_NUM_THREADS": "1"}
    child = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=surroundings, encoding="utf-8"
    )
    first = 0.0
    for line in child.stderr or ():
        if line.startswith("writing the tokens of the train part"):
            first = peak_so_far(child.pid)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"rejoinder pretrain failed on {size} bytes")
    return Peak(corpus.stat().st_size, count, different, first, usage.ru_maxrss / 1024, time.perf_counter() - start)


def peak_so_far(process: int) -> float:
    """The largest resident memory of a running process, MiB; Linux tells it."""
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def page(peaks: list[Peak], asked: argparse.Namespace) -> str:
    """The result as Markdown."""
    rows = "".join(
        f"| {peak.bytes / 1e6:.0f} | {peak.dialogues:,} | {peak.words:,} | {peak.vocabulary:.0f} "
        f"| {peak.megabytes:.0f} | {peak.seconds:.0f} |\n"
        for peak in peaks
    )
    first, last = peaks[0], peaks[-1]
    words = (last.vocabulary - first.vocabulary) / max(last.words - first.words, 1) * 100_000
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    return f"""# Memory of `rejoinder pretrain` as the corpus grows

A small VHRED, 20 updates: training the vocabulary, writing the tokens, training, validating. Peak resident memory of
the whole process, torch included, up to the end of the vocabulary's training and up to the end; the seconds are of the
same run. The larger the corpus, the more different words it has; training the vocabulary keeps them in memory.

| corpus, MB | dialogues | different words | vocabulary's peak, MiB | peak, MiB | seconds |
| ---: | ---: | ---: | ---: | ---: | ---: |
{rows}
The largest over the smallest: {growth(peaks):.2f} (at most {MOST_GROWTH} allowed). Training the vocabulary takes
{words:.0f} MiB more for each 100,000 different words more; with enough of them it decides the peak, not the training.

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
