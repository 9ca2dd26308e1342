"""BLEU on content words: whether it is more than shared stop words and punctuation that agrees with people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rejoinder.catalogue import load_scorer
from rejoinder.metrics.bleu import NO_STOP_WORDS, ORDERS
from rejoinder.records import Example
from rejoinder.scorer import Scores, run

BLEU = frozenset(f"bleu-{order}" for order in ORDERS)


def content_bleu(examples: Sequence[Example], given: Mapping[str, Scores]) -> dict[str, Scores]:
    """Beside every plain BLEU among the scores `given` the same without stop words, where it was not asked for.

    Source: Liu et al. (2016), table 4.
    """
    plain = [name for name in given if name in BLEU and given[name].signature.fields.get("scorer") == name]
    without = [f"{name}/{NO_STOP_WORDS}" for name in plain]
    return {name: run(load_scorer(name), examples) for name in without if name not in given}
