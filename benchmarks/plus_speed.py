"""How long the judge with a language model takes beside the judge in the box: to be ready, and for a reply.

Usage: python benchmarks/plus_speed.py [--contexts 12] [--rounds 3] [--write]

Needs the extra `encoders` and the package that carries the model (docs/explain/judge.md). In one run: one reply to each
context; eight replies to each context, which is read once then; and one reply of 100 words. CPU time is counted, so
that other work on the machine hardly matters; the median of the rounds counts. Each round and kind has other contexts
of the bundled sample, and other words of it in a row as replies: what was read before is remembered.
`--write` puts the table into benchmarks/results/plus_speed.md.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path

import rejoinder
from rejoinder.example import Example
from rejoinder.report.markdown import markdown_table
from rejoinder.scorer import Scorer, run

RESULT = Path(__file__).parent / "results" / "plus_speed.md"
BOX, PLUS = "rejoinder", "plus:smollm2"
EACH = 8
SHORT, LONG = 12, 100
_READY = "import rejoinder, time; rejoinder.load_scorer({!r}); print(time.process_time())"


def ready(name: str) -> float:
    """Seconds of the processor until a new process has a scorer at hand."""
    told = subprocess.run([sys.executable, "-c", _READY.format(name)], capture_output=True, check=True, text=True)
    return float(told.stdout)


def taken(scorer: Scorer, examples: Sequence[Example]) -> float:
    """Seconds of the processor a reply."""
    start = time.process_time()
    run(scorer, examples)
    return (time.process_time() - start) / len(examples)


def material(contexts: int, rounds: int) -> list[dict[str, list[Example]]]:
    """For each round, what is scored, by what it is called in the table."""
    told = iter({one.context: one for one in rejoinder.read("@conture")}.values())
    words = cycle(word for one in rejoinder.read("@conture") for word in one.response.split())

    def examples(count: int, each: int, length: int) -> list[Example]:
        """So many contexts that were not asked before, with several replies of so many words each."""
        return [
            Example(one.context, " ".join(islice(words, length))) for one in islice(told, count) for _ in range(each)
        ]

    return [
        {
            f"of {SHORT} words, one to a context": examples(contexts, 1, SHORT),
            f"of {SHORT} words, {EACH} to a context": examples(contexts, EACH, SHORT),
            f"of {LONG} words": examples(3, 1, LONG),
        }
        for _ in range(rounds)
    ]


def main() -> None:
    """Measure and print, or write, the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--contexts", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true", help=f"write {RESULT.name}")
    given = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"  # read when torch is imported: cores that wait for each other count as work
    scorers = {name: rejoinder.load_scorer(name) for name in (BOX, PLUS)}
    told = material(given.contexts, given.rounds)
    for scorer in scorers.values():
        run(scorer, [Example(("Hello.",), "Hello to you.")])  # what is made on first use
    times = {
        kind: {name: statistics.median(taken(scorer, one[kind]) for one in told) for name, scorer in scorers.items()}
        for kind in told[0]
    }
    rows = [
        [f"a reply {kind}, ms", *(f"{1000 * one[name]:.1f}" for name in scorers), f"{one[PLUS] / one[BOX]:.0f}"]
        for kind, one in times.items()
    ]
    start = {name: ready(name) for name in scorers}
    rows.append(["ready, s", *(f"{start[name]:.1f}" for name in scorers), f"{start[PLUS] / start[BOX]:.0f}"])
    table = markdown_table(("time of the processor", BOX, PLUS, "times as long"), rows)
    print(table)
    if given.write:
        command = f"python benchmarks/plus_speed.py --contexts {given.contexts} --rounds {given.rounds} --write"
        about = (
            f"Made by `{command}` on {datetime.date.today()}, one core, {platform.machine()}, Python "
            f"{platform.python_version()}. Contexts of the sample in the box, others each round; the median of rounds."
        )
        RESULT.write_text(f"# Speed of the judge with a language model\n\n{about}\n\n{table}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
