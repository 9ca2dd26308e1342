"""How long the plain views of the judge take for an example: lexical, language, reference.

Usage: python benchmarks/views_speed.py [--examples 500] [--rounds 5] [--write]

Reads distinct examples of the sample in the box, each with another response of the sample as its reference, in batches
and one by one; phrases are counted in the sample too. What was read before is forgotten before each round. Time of the
processor is counted, so that other work on the machine hardly matters; the best of the rounds counts. At last one
example whose texts have 2,000 words. `--write` puts the table into benchmarks/results/views_speed.md.
"""

from __future__ import annotations

import argparse
import datetime
import platform
import statistics
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import rejoinder
from rejoinder.example import Example
from rejoinder.judges.features.language_model import trigram_block
from rejoinder.judges.features.reference import reference_block
from rejoinder.judges.features.resources import lexical_block
from rejoinder.judges.features.table import FeatureBlock
from rejoinder.judges.features.text import clear_cache
from rejoinder.pretraining.recipe import Counts
from rejoinder.pretraining.statistics import count_phrases
from rejoinder.report.markdown import markdown_table

RESULT = Path(__file__).parent / "results" / "views_speed.md"
MOST = 0.7  # milliseconds that all of them together may take for an example
LONG = 2000


def examples_of(count: int) -> list[Example]:
    """Distinct examples of the sample in the box, each with the response of the next one as its reference."""
    told = list({(one.context, one.response): one for one in rejoinder.read("@conture")}.values())[: count + 1]
    return [Example(one.context, one.response, (other.response,)) for one, other in pairwise(told)]


def taken(view: FeatureBlock, examples: Sequence[Example]) -> float:
    """Milliseconds of the processor for some examples at once."""
    clear_cache()
    start = time.process_time()
    view.compute(examples)
    return 1000 * (time.process_time() - start)


def measured(view: FeatureBlock, examples: Sequence[Example], rounds: int) -> list[float]:
    """Milliseconds an example: in a batch, one by one (median), and of one with long texts."""
    words = " ".join(word for one in examples for word in one.response.split())
    text = " ".join((words.split() * LONG)[:LONG])
    long = Example((text, text, text), text, (text,))
    view.compute(examples[:1])  # what is made on first use
    return [
        min(taken(view, examples) for _ in range(rounds)) / len(examples),
        statistics.median(taken(view, [example]) for example in examples),
        min(taken(view, [long]) for _ in range(rounds)),
    ]


def main() -> None:
    """Measure and print, or write, the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true", help=f"write {RESULT.name}")
    given = parser.parse_args()
    examples = examples_of(given.examples)
    phrases = count_phrases((turn for one in examples for turn in (*one.context, one.response)), Counts())
    views = (lexical_block(phrases), trigram_block(phrases), reference_block(phrases))
    times = {view.name: measured(view, examples, given.rounds) for view in views}
    times["together"] = [sum(one) for one in zip(*times.values(), strict=True)]
    rows = [[name, *(f"{value:.2f}" for value in found)] for name, found in times.items()]
    table = markdown_table(("view", "in a batch, ms", "one by one, p50, ms", f"{LONG:,} words, ms"), rows)
    print(table)
    if given.write:
        command = f"python benchmarks/views_speed.py --rounds {given.rounds} --write"
        about = (
            f"Made by `{command}` on {datetime.date.today()}, {platform.machine()}, Python "
            f"{platform.python_version()}.\n\nTime of the processor for an example, {len(examples)} examples of the "
            f"sample in the box with one reference each. Together they may take {MOST} ms."
        )
        RESULT.write_text(f"# Speed of the plain views\n\n{about}\n\n{table}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
