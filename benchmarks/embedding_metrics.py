"""How fast the embedding metrics are beside a plain loop over pairs.

Usage: python benchmarks/embedding_metrics.py [--pairs 10000] [--rounds 3] [--seed 0] [--write]

All sides get the same pairs, tokenizer and vectors in memory, in one run on one machine, and must give the same scores
to 1e-9. Three loops over pairs, all ours:

    plain   Python and nothing else: lists of numbers, the definitions word by word and number by number
    script  the shape of the script released with Liu et al. 2016: each metric cuts both texts anew (greedy twice),
            looks words up in a dictionary, stacks greedy's columns one by one, visits the numbers of extrema one by one
    tidy    the loop that a careful person would write with numpy: one array a text, one product a pair

`--write` puts the table into benchmarks/results/embedding_metrics.md.
"""

from __future__ import annotations

import argparse
import datetime
import math
import os
import platform
import random
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rejoinder.example import Example
from rejoinder.metrics import metric_cards
from rejoinder.metrics.counting import clear_caches
from rejoinder.metrics.embedding import EmbeddingMetric, EmbeddingOptions
from rejoinder.scorer import run
from rejoinder.text import tokenizer
from rejoinder.text.vectors import WordVectors, read_vectors, word_vectors

Array = NDArray[Any]
Table = Mapping[str, Any]  # word to vector: an array, for `plain` a list
Numbers = list[float]
Split = Callable[[str], list[str]]
PairScore = Callable[[str, str, Table, Split], float]
Seconds = dict[str, dict[str, float]]
METRICS = ("embedding-average", "embedding-greedy", "embedding-extrema")
RESULT = Path(__file__).parent / "results" / "embedding_metrics.md"
NOTHING = 1e-11


def plain_words(text: str, table: Table, split: Split) -> list[Numbers]:
    """Vectors of the known words."""
    return [table[token] for token in split(text) if token in table]


def plain_dot(one: Numbers, other: Numbers) -> float:
    """Dot product."""
    return sum(a * b for a, b in zip(one, other, strict=True))


def plain_cosine(one: Numbers, other: Numbers) -> float:
    """Cosine of two vectors."""
    norms = math.sqrt(plain_dot(one, one) * plain_dot(other, other))
    return float(plain_dot(one, other) / norms) if norms else float("nan")


def plain_average(reference: str, response: str, table: Table, split: Split) -> float:
    """Cosine of the summed vectors."""
    one, other = (
        [sum(numbers) for numbers in zip(*plain_words(text, table, split), strict=True)]
        for text in (reference, response)
    )
    return plain_cosine(one, other)


def plain_greedy(reference: str, response: str, table: Table, split: Split) -> float:
    """Both directions averaged; `table` holds vectors of length 1."""
    one, other = plain_words(reference, table, split), plain_words(response, table, split)
    if not one or not other:
        return float("nan")
    similarity = [[plain_dot(a, b) for b in other] for a in one]
    forth: float = sum(map(max, similarity)) / len(one)
    back: float = sum(map(max, zip(*similarity, strict=True))) / len(other)
    return (forth + back) / 2.0


def plain_extrema(reference: str, response: str, table: Table, split: Split) -> float:
    """Cosine of the extremes."""
    sides = []
    for text in (reference, response):
        dimensions = zip(*plain_words(text, table, split), strict=True)
        extremes = ((max(numbers), min(numbers)) for numbers in dimensions)
        sides.append([low if -low > high else high for high, low in extremes])
    return plain_cosine(sides[0], sides[1])


def script_average(reference: str, response: str, table: Table, split: Split) -> float:
    """Cosine of the summed vectors."""
    width = len(next(iter(table.values())))
    one, other = np.zeros(width), np.zeros(width)
    for token in split(reference):
        if token in table:
            one += table[token]
    for token in split(response):
        if token in table:
            other += table[token]
    if np.linalg.norm(one) < NOTHING or np.linalg.norm(other) < NOTHING:
        return float("nan")
    return float(np.dot(one, other) / np.linalg.norm(one) / np.linalg.norm(other))


def script_one_way(source: str, target: str, table: Table, split: Split) -> float:
    """Mean over the words of `source` of the best cosine with a word of `target`; `table` holds vectors of length 1."""
    width = len(next(iter(table.values())))
    columns = np.empty((width, 0))
    for token in split(target):
        if token in table:
            columns = np.hstack((columns, table[token].reshape((width, 1))))
    total, count = 0.0, 0
    for token in split(source):
        if token in table and columns.shape[1]:
            total += np.max(table[token].reshape((1, width)).dot(columns))
            count += 1
    return total / count if count else float("nan")


def script_greedy(reference: str, response: str, table: Table, split: Split) -> float:
    """Both directions averaged."""
    forth, back = script_one_way(reference, response, table, split), script_one_way(response, reference, table, split)
    return (forth + back) / 2.0


def script_extremes(text: str, table: Table, split: Split) -> list[float]:
    """The most extreme number of each dimension; none for a text without a known word."""
    found = [table[token] for token in split(text) if token in table]
    if not found:
        return []
    high, low = np.max(found, 0), np.min(found, 0)
    return [low[place] if np.abs(low[place]) > high[place] else high[place] for place in range(len(high))]


def script_extrema(reference: str, response: str, table: Table, split: Split) -> float:
    """Cosine of the extremes."""
    one, other = (np.array(script_extremes(text, table, split)) for text in (reference, response))
    if len(one) == 0 or len(other) == 0:
        return float("nan")
    return float(np.dot(one, other) / np.linalg.norm(one) / np.linalg.norm(other))


def tidy_words(text: str, table: Table, split: Split) -> Array:
    """[L, D] vectors of the known words."""
    return np.array([table[token] for token in split(text) if token in table])


def tidy_cosine(one: Array, other: Array) -> float:
    """Cosine of two vectors."""
    norms = np.sqrt(one.dot(one) * other.dot(other))
    return float(one.dot(other) / norms) if norms else float("nan")


def tidy_average(reference: str, response: str, table: Table, split: Split) -> float:
    """Cosine of the summed vectors."""
    one, other = tidy_words(reference, table, split), tidy_words(response, table, split)
    return tidy_cosine(one.sum(0), other.sum(0)) if len(one) and len(other) else float("nan")


def tidy_greedy(reference: str, response: str, table: Table, split: Split) -> float:
    """One product a pair, both directions from it; `table` holds vectors of length 1."""
    one, other = tidy_words(reference, table, split), tidy_words(response, table, split)
    if not len(one) or not len(other):
        return float("nan")
    similarity = one @ other.T
    return float(similarity.max(1).mean() + similarity.max(0).mean()) / 2.0


def tidy_extrema(reference: str, response: str, table: Table, split: Split) -> float:
    """Cosine of the extremes."""
    one, other = tidy_words(reference, table, split), tidy_words(response, table, split)
    if not len(one) or not len(other):
        return float("nan")
    sides = []
    for words in (one, other):
        high, low = words.max(0), words.min(0)
        sides.append(np.where(-low > high, low, high))
    return tidy_cosine(sides[0], sides[1])


LOOPS: dict[str, dict[str, PairScore]] = {
    "plain": dict(zip(METRICS, (plain_average, plain_greedy, plain_extrema), strict=True)),
    "script": dict(zip(METRICS, (script_average, script_greedy, script_extrema), strict=True)),
    "tidy": dict(zip(METRICS, (tidy_average, tidy_greedy, tidy_extrema), strict=True)),
}


def pairs(count: int, seed: int) -> list[Example]:
    """`count` examples of a response and a reference of 5 to 25 words, drawn by a Zipf law from the box's words."""
    words = list(read_vectors().index)
    source = random.Random(seed)  # noqa: S311 - no secret
    weights = list(np.cumsum(1.0 / (np.arange(len(words)) + 3.0)))

    def text() -> str:
        return " ".join(source.choices(words, cum_weights=weights, k=source.randint(5, 25)))

    return [Example((), text(), (text(),)) for _ in range(count)]


def ours(name: str, examples: list[Example], vectors: WordVectors, tokens: str) -> Array:
    """Scores by the package."""
    metric = EmbeddingMetric(metric_cards()[name], replace(EmbeddingOptions.of(name), tokenizer=tokens), vectors)
    return run(metric, examples).values


def looped(loop: PairScore, examples: list[Example], table: Table, tokens: str) -> Array:
    """Scores by a loop over pairs."""
    split = tokenizer(tokens)
    return np.array([loop(example.references[0], example.response, table, split) for example in examples])


def race(examples: list[Example], vectors: WordVectors, tokens: str, rounds: int) -> Seconds:
    """Seconds by side and metric, the quickest of `rounds` rounds in turn; the plain loop has one round."""
    raw = dict(zip(vectors.index, vectors.matrix.astype(np.float64), strict=True))
    unit = {word: row / np.linalg.norm(row) for word, row in raw.items()}
    best: Seconds = {side: dict.fromkeys(METRICS, float("inf")) for side in ("ours", *LOOPS)}
    for turn in range(rounds):
        clear_caches()  # so that ours begins with no text split into words
        for name in METRICS:
            table = unit if name == "embedding-greedy" else raw
            sides: dict[str, Callable[[], Array]] = {"ours": partial(ours, name, examples, vectors, tokens)}
            for side in LOOPS if turn == 0 else ("script", "tidy"):
                rows_of = {word: row.tolist() for word, row in table.items()} if side == "plain" else table
                sides[side] = partial(looped, LOOPS[side][name], examples, rows_of, tokens)
            scores = {}
            for side, action in sides.items():
                start = time.perf_counter()
                scores[side] = action()
                best[side][name] = min(best[side][name], time.perf_counter() - start)
            for side in scores:
                if not np.allclose(scores["ours"], scores[side], rtol=0.0, atol=1e-9, equal_nan=True):
                    sys.exit(
                        f"{name}: ours and {side} differ by up to {np.nanmax(np.abs(scores['ours'] - scores[side]))}"
                    )
    return best


def rows(label: str, count: int, seconds: Seconds) -> list[str]:
    """The lines of the table for one file of vectors and one tokenizer."""
    for times in seconds.values():
        times["all three"] = sum(times.values())
    found = []
    for name in (*METRICS, "all three"):
        us, *others = (seconds[side][name] for side in ("ours", *LOOPS))
        cells = [
            label,
            name,
            *(f"{count / time:,.0f}" for time in (us, *others)),
            *(f"{time / us:.1f}" for time in others),
        ]
        found.append(f"| {' | '.join(cells)} |")
    return found


def measure(count: int, rounds: int, seed: int) -> str:
    """The whole measurement as a Markdown table."""
    examples, box = pairs(count, seed), read_vectors()
    numbers = np.random.default_rng(seed).standard_normal((len(box.index), 300)).astype(np.float32)
    wide = word_vectors(list(box.index), numbers)
    lines = [
        f"| vectors | metric | ours, pairs/s | {' | '.join([*LOOPS, *(f'times {side}' for side in LOOPS)])} |",
        f"| --- | --- | {' | '.join(['---:'] * 7)} |",
    ]
    for title, vectors in ((f"box, {box.matrix.shape[1]} numbers", box), ("random, 300 numbers", wide)):
        lines += rows(title, count, race(examples, vectors, "words-1", rounds))
    return "\n".join(lines)


def page(found: str, count: int, rounds: int, seed: int) -> str:
    """The file of the result."""
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    return f"""# Embedding metrics beside a loop over pairs

{count:,} pairs of 5 to 25 words, the quickest of {rounds} rounds (`plain`: one); equal scores to 1e-9 on every pair.
The loops were written for this comparison: `plain` is Python alone, `script` has the shape of the released script,
which uses numpy inside each pair, `tidy` is the same loop written with care (see the program's first lines). Ours cuts
each text into words once for the three metrics, and that time stands with the first of them. The clock runs from texts
to scores, on our side through `run`; reading the vectors is left out.

{found}

{today}, {os.cpu_count()} CPUs, Python {platform.python_version()}, numpy {np.__version__}

`python benchmarks/embedding_metrics.py --pairs {count} --rounds {rounds} --seed {seed} --write`
"""


def main() -> None:
    """Measure, print, and with --write keep."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help=f"write {RESULT.name} into benchmarks/results")
    arguments = parser.parse_args()
    found = measure(arguments.pairs, arguments.rounds, arguments.seed)
    print(found)
    if arguments.write:
        RESULT.parent.mkdir(parents=True, exist_ok=True)
        RESULT.write_text(page(found, arguments.pairs, arguments.rounds, arguments.seed), encoding="utf-8")


if __name__ == "__main__":
    main()
