"""Two trivial scorers that any metric should beat: the response's length, and the words it shares with the context."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rejoinder.example import Example
from rejoinder.metrics import metric_cards
from rejoinder.scorer import FunctionMetric
from rejoinder.text import tokenizer

TOKENS = "words-2"


def length(example: Example) -> float:
    """Return the number of words in the response; 0 for an empty one."""
    return len(words(example.response))


def context_overlap(example: Example) -> float:
    """Return F1 of the words that response and context share, in [0, 1]; 0 where one of them has no words."""
    return overlap(example.response, example.context)


def words(text: str) -> list[str]:
    """Return the `words-2` tokens of `text` that are no punctuation: words, numbers, symbols, emoji."""
    return [token for token in tokenizer(TOKENS)(text) if not unicodedata.category(token[0]).startswith("P")]


def overlap(response: str, context: Sequence[str]) -> float:
    """Return F1 between the words of `response` and of all turns of `context`, each counted as often as it occurs.

    Source: the F1 of ParlAI (`F1Metric`; Shuster et al. 2021 take it between response and knowledge), with the context
    instead of the reference; ParlAI also leaves out a, an and the.
    """
    in_response, in_context = Counter(words(response)), Counter(words("\n".join(context)))
    shared = (in_response & in_context).total()
    return 2 * shared / (in_response.total() + in_context.total()) if shared else 0.0


def load(name: str, vectors: str | Path | None) -> FunctionMetric:  # noqa: ARG001 - every metric's `load` takes vectors
    """Return the baseline called `name`; `vectors` is ignored."""
    function = length if name == "length" else context_overlap
    return FunctionMetric(metric_cards()[name], function, {"tokenizer": TOKENS})
