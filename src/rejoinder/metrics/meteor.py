"""METEOR as nltk computes it: words aligned by form, stem and WordNet synonym, with a penalty for broken order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from rejoinder.errors import DataError, MissingAsset
from rejoinder.example import Example
from rejoinder.scorer import Card, Scorer, Scores
from rejoinder.text import tokenizer
from rejoinder.text.wordnet import find_wordnet, load_wordnet

TOKENS = "words-2"


@dataclass(frozen=True, slots=True)
class Meteor:
    """METEOR by nltk with its defaults (alpha 0.9, beta 3, gamma 0.5, Porter stems), the best over the references.

    Attributes:
        card: the card.
        wordnet: folder or zip file of WordNet, or None.
        absence: the reason why there is no WordNet, and how to get it.
    """

    card: Card
    wordnet: Path | None
    absence: str = ""

    @property
    def options(self) -> Mapping[str, Any]:
        """Tokenizer, WordNet's version, what becomes of several references, and nltk's version."""
        release = load_wordnet(self.wordnet).get_version() if self.wordnet else "none"
        program = f"nltk {version('nltk')}"
        return {"tokenizer": TOKENS, "wordnet": release, "references": "best", "program": program}

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """METEOR of N examples, 0 where nothing matches; all unscored without WordNet."""
        if self.wordnet is None:
            return Scores(np.full(len(examples), math.nan), dict.fromkeys(range(len(examples)), self.absence))
        from nltk.stem.porter import PorterStemmer
        from nltk.translate.meteor_score import meteor_score

        split, synonyms = tokenizer(TOKENS), SimpleNamespace(synsets=cache(load_wordnet(self.wordnet).synsets))
        # Three quarters of the time go into stemming, and the same words come again and again.
        stemmer = SimpleNamespace(stem=cache(PorterStemmer().stem))
        values = [
            meteor_score(
                [split(reference) for reference in example.references],
                split(example.response),
                stemmer=stemmer,
                wordnet=synonyms,
            )
            for example in examples
        ]
        return Scores(np.array(values, dtype=np.float64))


CARDS: dict[str, Card] = {
    "meteor": Card(
        name="meteor",
        summary="words aligned with the nearest reference by form, stem and synonym, weighted to recall",
        kind="metric",
        needs=frozenset({"reference", "wordnet"}),
        range=(0.0, 1.0),
        source="Lavie and Agarwal 2007; nltk, meteor_score with its defaults",
        version=2,
        notes="Lower-cased words, of scripts without spaces characters, punctuation included. Stems and synonyms are "
        "English: in another language words that are equal match, and few others. nltk looks synonyms up on stems, so "
        "film and movie do not meet (movie's stem is movi). The order penalty never vanishes: an identical one-word "
        "reply scores 0.5. Not the Java METEOR 1.5 behind most published figures, which has paraphrases and other "
        "weights.",
    ),
}


def load(name: str, vectors: str | Path | None) -> Scorer:  # noqa: ARG001 - every metric's `load` takes vectors
    """The METEOR scorer; `vectors` is ignored. Without WordNet it scores nothing and says why at every example."""
    try:
        place = find_wordnet()
        load_wordnet(place)
        return Meteor(CARDS[name], place)
    except (DataError, MissingAsset) as error:
        return Meteor(CARDS[name], None, str(error))
