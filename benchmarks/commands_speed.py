"""How long whole commands take beside an earlier version: study, fit, audit, and the start of a command.

`python benchmarks/performance.py --only commands --earlier PYTHON` measures it.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from judge_speed import examples_of
from timing import EARLIER, OURS, Row, Section, in_turn, rows_of, run_time

import rejoinder
from rejoinder.example import Example

SCORERS = ("bleu-4", "chrf", "rouge-l", "rejoinder")
LINES, REPLIES = 10_000, 300
HEADER = ("command", "program", "seconds", "CPU seconds", "rejoinder is faster by", "by CPU time")


class Command(NamedTuple):
    """A command.

    Attributes:
        what: in words.
        arguments: of Python; `{many}`, `{few}` and `{ten}` are files of rated lines, `{folder}` is a folder.
        bar: how many times as fast as the earlier version it should be; 0 for what is only shown.
        rounds: the most rounds that are measured.
        warm: rounds before them that warm up.
    """

    what: str
    arguments: Sequence[str]
    bar: float
    rounds: int
    warm: int = 0


STUDY = ("study", "{many}", *(word for name in SCORERS for word in ("-s", name)), "--json")
FIT = ("fit", "{few}", "-o", "{folder}/judge", "--force", "--json")
SCORE = ("score", "{ten}", "-s", "rouge-l", "-o", "{folder}/scores.jsonl")
MODULE = ("-m", "rejoinder")
COMMANDS = (
    Command(f"study, {LINES:,} lines", (*MODULE, *STUDY), 2.0, 2),
    Command(f"fit, {REPLIES} ratings", (*MODULE, *FIT), 1.25, 5, 1),
    Command(f"audit, {REPLIES} replies", (*MODULE, "audit", "{few}", "--json"), 1 / 0.85, 3),
    Command("score, 10 lines, rouge-l", (*MODULE, *SCORE), 0, 7, 1),
    Command("rejoinder --help", (*MODULE, "--help"), 0, 7, 1),
    Command("import rejoinder", ("-c", "import rejoinder"), 0, 7, 1),
)


def write_lines(path: Path, lines: int, seed: int) -> None:
    """Write made-up rated lines with distinct contexts of four turns and one reference."""
    rng, texts = random.Random(seed), (example.response for example in examples_of(seed))  # noqa: S311 - no secret
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


def section(options: argparse.Namespace) -> Section:
    """Measure, and return the section."""
    pythons = {OURS: sys.executable} | ({EARLIER: options.earlier} if options.earlier else {})
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        places = {name: f"{folder}/{name}.jsonl" for name in ("many", "few", "ten")} | {"folder": folder}
        write_lines(Path(places["many"]), int(LINES * options.scale), 0)
        rejoinder.write(islice(rejoinder.read("@conture"), REPLIES), places["few"])
        rejoinder.write(islice(rejoinder.read("@dstc7"), 10), places["ten"])
        for command in COMMANDS:
            words = [word.format(**places) for word in command.arguments]
            calls = {name: partial(run_time, python, *words) for name, python in pythons.items()}
            times = in_turn(calls, min(command.rounds, options.rounds), command.warm)
            rows += rows_of(command.what, times, command.bar)
    return Section("Commands", TEXT, HEADER, rows)


TEXT = f"""
Whole commands, from start to end, on all cores. `study` compares {", ".join(SCORERS)} on rated lines, each with four \
turns of context that no other line has and one reference; `fit` and `audit` read {REPLIES} lines of the sample \
@conture. The bars are half the time of the earlier version for `study`, 0.8 of it for `fit`, 0.85 of it for `audit`.
"""
