"""How long the white-box attack looks for nearest replies in a big pool: exactly, and by an index that is nearly so.

Usage: python benchmarks/pool_search.py [CORPUS...] [--pool 300000] [--queries 300] [--count 400] [--rounds 3]
       [--seed 0] [--write]

The pool is drawn from the replies of the corpora, or made up of common words where there are none, and encoded before
the clock runs. Searched is the space in which a judge compares vectors: a C-ADEM with 50 components over the word
vectors in the box, fitted on the sample @conture. Queries are where its gradient leads from replies of that sample, as
in the attack. Recall is the share of the exact neighbours that are found; what is lost is told in points of the judge.
Processor time of one thread, because others may share the machine.
`--write` puts the table into benchmarks/results/pool_search.md. Needs the extra faiss.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

import rejoinder
from rejoinder.auditing.pool import AIM, NEAR, Pool, toward
from rejoinder.auditing.reply_corpus import read_replies
from rejoinder.judges.bilinear.fit import FitOptions
from rejoinder.judges.differentiable import Space, is_differentiable
from rejoinder.judges.learner import PREDICTED
from rejoinder.report.markdown import markdown_table
from rejoinder.stats.arrays import FloatArray, IntArray
from rejoinder.stats.neighbours import Index, approximate_index, exact_index, faiss_version
from rejoinder.text.vectors import read_vectors

RESULT = Path(__file__).parent / "results" / "pool_search.md"


class Case(NamedTuple):
    """What is searched.

    Attributes:
        space: of the judge.
        points: [P, K] the pool in it.
        queries: [Q, K] where gradients lead.
        rows: [Q] the examples that they lead from.
    """

    space: Space
    points: FloatArray
    queries: FloatArray
    rows: IntArray


class Timed(NamedTuple):
    """What came of one way to search: seconds to make the index and to answer all queries, and the places [Q, K]."""

    made: float
    answered: float
    found: IntArray


def replies(asked: argparse.Namespace) -> tuple[str, ...]:
    """The pool: of the corpora, or twelve words each, whose frequencies fall as in Zipf's law."""
    rng = np.random.default_rng(asked.seed)
    if not asked.corpora:
        words = np.array(list(read_vectors().index))
        chances = 1 / np.arange(1, len(words) + 1)
        drawn = rng.choice(len(words), (asked.pool, 12), p=chances / chances.sum())
        return tuple(map(" ".join, words[drawn].tolist()))
    texts = list(dict.fromkeys(text for file in asked.corpora for text in read_replies(file)))
    rows = rng.choice(len(texts), min(asked.pool, len(texts)), replace=False)
    return tuple(texts[row] for row in rows.tolist())


def case(asked: argparse.Namespace) -> Case:
    """Pool and queries."""
    given = list(rejoinder.read("@conture"))
    judge = rejoinder.train_judge(given, "c-adem", options=FitOptions(components=50, epochs=10)).judge
    if not is_differentiable(judge):
        raise TypeError("expected a judge over vectors")
    vectors = Pool(replies(asked)).vectors(judge.encoder)
    examples = given[: asked.queries]
    (space,) = judge.spaces(examples)
    low, high = PREDICTED
    reached, _ = toward(judge, examples, low + AIM * (high - low), NEAR * (high - low))
    queries, points = space.project(reached), space.project(vectors[np.isfinite(vectors).all(axis=1)].astype(float))
    rows = np.flatnonzero(np.isfinite(queries).all(axis=1))
    return Case(space, points, queries[rows], rows)


def timed(make: Callable[[FloatArray], Index], given: Case, count: int, rounds: int) -> Timed:
    """One way to search, medians of rounds after one to warm up."""
    made, answered = [], []
    for _ in range(rounds + 1):
        start = time.process_time()
        index = make(given.points)
        middle = time.process_time()
        found = index(given.queries, count)
        made.append(middle - start)
        answered.append(time.process_time() - middle)
    return Timed(statistics.median(made[1:]), statistics.median(answered[1:]), found)


def best_scores(given: Case, found: IntArray) -> FloatArray:
    """[Q] the best score among the replies that were found for each query."""
    pairs = zip(given.rows.tolist(), found, strict=True)
    return np.array([given.space.scores(given.points[places], np.array([row])).max() for row, places in pairs])


def main() -> None:
    """Measure, print, and with --write keep."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("corpora", nargs="*", help="corpora of dialogues, or text files with a reply a line")
    for option, default in {"pool": 300_000, "queries": 300, "count": 400, "rounds": 3, "seed": 0}.items():
        parser.add_argument(f"--{option}", type=int, default=default)
    parser.add_argument("--write", action="store_true", help=f"write {RESULT.name} into benchmarks/results")
    asked = parser.parse_args()
    given = case(asked)
    with threadpool_limits(limits=1):
        ways = {"exact": timed(exact_index, given, asked.count, asked.rounds)}
        ways["approximate"] = timed(approximate_index, given, asked.count, asked.rounds)
    exact, n = ways["exact"], len(given.queries)
    best = {name: best_scores(given, way.found) for name, way in ways.items()}
    rows = []
    for name, way in ways.items():
        recall = np.mean([np.isin(mine, theirs).mean() for mine, theirs in zip(exact.found, way.found, strict=True)])
        lost = float(np.nanmean(best["exact"] - best[name]))
        total, whole = way.made + way.answered, exact.made + exact.answered
        cells = (f"{1000 * way.answered / n:.2f}", f"{exact.answered / way.answered:.1f}", f"{whole / total:.1f}")
        rows.append([name, f"{way.made:.2f}", *cells, f"{recall:.1%}", f"{lost:.3f}"])
    header = ["search", "seconds to make the index", "ms a query", "times as fast", "index included"]
    page = _PAGE.format(
        table=markdown_table([*header, f"recall of {asked.count}", "points lost"], rows),
        replies=f"{len(given.points):,}",
        n=n,
        width=given.points.shape[1],
        corpora=", ".join(Path(file).name for file in asked.corpora) or "of random words",
        count=asked.count,
        rounds=asked.rounds,
        faiss=faiss_version(),
        today=datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        machine=f"{os.cpu_count()} CPUs, Python {platform.python_version()}, numpy {np.__version__}",
        command=" ".join(["python", "benchmarks/pool_search.py", *(Path(word).name for word in sys.argv[1:])]),
    )
    print(page)
    if asked.write:
        RESULT.write_text(page, encoding="utf-8")


_PAGE = """\
# Search in a pool of replies

The {count} nearest of {replies} replies ({corpora})
for {n} queries, in the {width} components in which a C-ADEM compares averaged word vectors; encoding is not in it.
Queries are where its gradient leads from replies of @conture. Exact is numpy in single precision, approximate an
inverted file of whole vectors ({faiss}). Processor time, one thread; medians of {rounds} rounds. Recall: share of
the exact neighbours that are found; points lost: how much lower the best score among them is, mean over the queries.

{table}
{today}, {machine}

`{command}`
"""

if __name__ == "__main__":
    main()
