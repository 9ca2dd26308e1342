"""BLEU-2 on content words: whether it is more than shared stop words and punctuation that agrees with people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rejoinder.catalogue import load_scorer
from rejoinder.metrics.baselines import words
from rejoinder.records import Example
from rejoinder.scorer import Scores, Signature, run

BLEU = "bleu-2"
WITHOUT = "bleu-2 without stop words"


def content_bleu(examples: Sequence[Example], given: Mapping[str, Scores]) -> dict[str, Scores]:
    """BLEU-2 with stop words and punctuation taken out of responses and references, where BLEU-2 was asked for.

    The stop words are scikit-learn's; Liu et al. name no list. Source: Liu et al. (2016), table 4.
    """
    if BLEU not in given or given[BLEU].signature.fields.get("scorer") != BLEU:
        return {}
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    def content(text: str) -> str:
        return " ".join(word for word in words(text) if word.lower() not in ENGLISH_STOP_WORDS)

    stripped = [
        replace(one, response=content(one.response), references=tuple(map(content, one.references))) for one in examples
    ]
    found = run(load_scorer(BLEU), stripped)
    fields = {**found.signature.fields, "scorer": BLEU, "words": "no stop words (scikit-learn), no punctuation"}
    return {WITHOUT: replace(found, signature=Signature(fields))}
