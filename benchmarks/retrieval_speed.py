"""How fast retrieval answers from many candidates, beside a search that works out all there is.

Usage: python benchmarks/retrieval_speed.py [--candidates 500000] [--width 256] [--words 12] [--vocabulary 50000]
       [--queries 64] [--count 10] [--rounds 3] [--seed 0] [--write]

The dual encoder's search is given random vectors of its width, in single precision; the reading of contexts by its
network is not in it. TF-IDF is given responses of words whose frequencies fall as in Zipf's law, and reads contexts of
three such turns itself. Brute force is numpy: for each context by itself all products with the candidates, all sorted.
Of TF-IDF these are the products of all numbers that are not zero. Both sides must find the same scores.
`--write` puts the table into benchmarks/results/retrieval_speed.md. Fails where an answer takes half a second or more.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rejoinder.models.reply_bank import ReplyBank
from rejoinder.models.retrieval import BY_RESPONSE, DualEncoderResponder, TfidfResponder, Towers, fit_tfidf
from rejoinder.report.markdown import markdown_table
from rejoinder.responder import Context, Request

RESULT = Path(__file__).parent / "results" / "retrieval_speed.md"
MOST_SECONDS = 0.5
Scores = NDArray[np.float32]


@dataclass(frozen=True)
class Side:
    """One way to search.

    Attributes:
        search: [queries, count] the scores of the best, for some of the queries.
        together: how many queries it is given at once.
        megabytes: what it searches in.
    """

    search: Callable[[slice], Scores]
    together: int
    megabytes: float


def dual_sides(asked: argparse.Namespace) -> dict[str, Side]:
    """The dual encoder's search, many queries together and one by one, and brute force."""
    rng = np.random.default_rng(asked.seed)
    vectors = rng.standard_normal((asked.candidates, asked.width), dtype=np.float32)
    contexts = rng.standard_normal((asked.queries, asked.width), dtype=np.float32)
    size = vectors.nbytes / 1e6

    class Known(Towers):
        """Contexts are numbers of vectors that are there."""

        def __init__(self) -> None:
            """Take no network."""

        def contexts(self, numbers: Sequence[Context]) -> Scores:
            return contexts[[int(number) for (number,) in numbers]]

    bank = ReplyBank(list(map(str, range(asked.candidates))), np.arange(asked.candidates + 1))
    responder = DualEncoderResponder(Known(), bank, vectors)
    requests = [Request((str(number),)) for number in range(asked.queries)]

    def ours(part: slice) -> Scores:
        answers = responder.respond_batch(requests[part], asked.count)
        return np.array([[reply.score for reply in answer.replies] for answer in answers], np.float32)

    def brute(part: slice) -> Scores:
        found = [vectors @ context for context in contexts[part]]
        return np.stack([products[np.argsort(-products)[: asked.count]] for products in found])

    return {
        "dual encoder, together": Side(ours, asked.queries, size),
        "dual encoder, one by one": Side(ours, 1, size),
        "brute force": Side(brute, 1, size),
    }


def tfidf_sides(asked: argparse.Namespace) -> dict[str, Side]:
    """R-TFIDF and brute force over the same vectors."""
    rng = np.random.default_rng(asked.seed)
    chances = 1 / np.arange(1, asked.vocabulary + 1)

    def turns(count: int) -> list[str]:
        words = rng.choice(asked.vocabulary, (count, asked.words), p=chances / chances.sum())
        return [" ".join(f"w{word}" for word in turn) for turn in words.tolist()]

    bank = ReplyBank(turns(asked.candidates), np.arange(asked.candidates + 1))
    weights, _, vectors = fit_tfidf(bank, [()] * asked.candidates, smooth=False)
    responder = TfidfResponder(bank, weights, vectors.tocsc(), BY_RESPONSE)
    contexts: list[Context] = [tuple(turns(3)) for _ in range(asked.queries)]
    rows = np.repeat(np.arange(asked.candidates), np.diff(vectors.indptr))
    size = (vectors.data.nbytes + vectors.indices.nbytes + vectors.indptr.nbytes) / 1e6

    def ours(part: slice) -> Scores:
        found = responder.respond_batch([Request(context) for context in contexts[part]], asked.count)
        return np.array([[reply.score for reply in answer.replies] for answer in found], dtype=np.float32)

    def brute(part: slice) -> Scores:
        best = []
        for context in weights.vectors(contexts[part]).toarray():
            cosines = np.bincount(rows, vectors.data * context[vectors.indices], asked.candidates)
            best.append(cosines[np.argsort(-cosines)[: asked.count]])
        return np.array(best, dtype=np.float32)

    return {"r-tfidf": Side(ours, asked.queries, size), "brute force": Side(brute, 1, size)}


def rates(sides: dict[str, Side], asked: argparse.Namespace) -> dict[str, float]:
    """Queries per second of each side, the median of rounds in which each has its turn.

    Raises:
        AssertionError: two sides found different scores.
    """
    times: dict[str, list[float]] = {name: [] for name in sides}
    for turn in range(asked.rounds + 1):
        found = []
        for name, side in sides.items():
            start = time.perf_counter()
            parts = [slice(at, at + side.together) for at in range(0, asked.queries, side.together)]
            found.append(np.concatenate([side.search(part) for part in parts]))
            if turn:  # the first is to warm up
                times[name].append(asked.queries / (time.perf_counter() - start))
        for other in found[1:]:
            np.testing.assert_allclose(found[0], other, rtol=1e-3, atol=1e-4)
    return {name: statistics.median(measured) for name, measured in times.items()}


def main() -> None:
    """Measure, print, and with --write keep; fails where an answer takes too long."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    whole = {"candidates": 500_000, "width": 256, "words": 12, "vocabulary": 50_000, "queries": 64, "count": 10}
    for option, default in {**whole, "rounds": 3, "seed": 0}.items():
        parser.add_argument(f"--{option}", type=int, default=default)
    parser.add_argument("--write", action="store_true", help=f"write {RESULT.name} into benchmarks/results")
    asked = parser.parse_args()
    rows, slowest = [], 0.0
    for make in (dual_sides, tfidf_sides):
        sides = make(asked)
        found = rates(sides, asked)
        slowest = max(slowest, *(1 / rate for name, rate in found.items() if name != "brute force"))
        for name, rate in found.items():
            ratio = rate / found["brute force"]
            rows.append([name, f"{rate:,.1f}", f"{1000 / rate:,.1f}", f"{ratio:.1f}", f"{sides[name].megabytes:,.0f}"])
    header = ["search", "queries per second", "ms a query", "times brute force", "index, MB"]
    page = _PAGE.format(
        table=markdown_table(header, rows),
        peak=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        today=datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        machine=f"{os.cpu_count()} CPUs, Python {platform.python_version()}, numpy {np.__version__}",
        command=" ".join(["python", "benchmarks/retrieval_speed.py", *sys.argv[1:]]),
        **vars(asked),
    )
    print(page)
    if asked.write:
        RESULT.write_text(page, encoding="utf-8")
    if slowest > MOST_SECONDS:
        sys.exit(f"{slowest:.2f} s for an answer that should take less than {MOST_SECONDS} s")


_PAGE = """\
# Speed of retrieval

{count} best of {candidates:,} candidates, for {queries} queries. The dual encoder's search has random vectors of width
{width}, single precision, without the reading of contexts by its network; one by one is a query at a time. R-TFIDF has
responses of {words} words out of {vocabulary:,}, whose frequencies fall as in Zipf's law, and reads contexts of three
such turns itself. Brute force is numpy, a query at a time: all products with all candidates, all sorted. Medians of
{rounds} rounds, in turns; both sides found the same scores.

{table}
Largest memory of the process, both indexes and the texts among them: {peak:,.0f} MiB.

{today}, {machine}

`{command}`
"""

if __name__ == "__main__":
    main()
