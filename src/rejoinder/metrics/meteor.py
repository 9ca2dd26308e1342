"""METEOR as nltk computes it: words aligned by form, stem and WordNet synonym, with a penalty for broken order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from rejoinder.errors import DataError, MissingAsset
from rejoinder.example import Example
from rejoinder.metrics import metric_cards
from rejoinder.metrics.counting import TextBatch, split_texts
from rejoinder.scorer import Card, Scores
from rejoinder.text.wordnet import find_wordnet, load_wordnet

TOKENS = "words-2"
ALPHA, BETA, GAMMA = 0.9, 3.0, 0.5  # weight of recall, exponent and weight of the penalty
PROGRAM = "nltk 3.10.4"  # whose values these are

Places = list[tuple[int, str]]
"""Words that are not aligned yet, with their positions in the text."""


@dataclass(frozen=True, slots=True)
class Meteor:
    """METEOR by nltk's definition with its defaults and Porter stems, the best over the references.

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
        """Tokenizer, WordNet's version, treatment of several references, and nltk's version."""
        release = load_wordnet(self.wordnet).get_version() if self.wordnet else "none"
        return {"tokenizer": TOKENS, "wordnet": release, "references": "best", "program": PROGRAM}

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """Return METEOR of N examples, 0 where nothing matches; all are unscored without WordNet."""
        values = np.zeros(len(examples))
        if self.wordnet is None:
            return Scores(values + math.nan, dict.fromkeys(range(len(examples)), self.absence))
        batch = TextBatch.of(examples)
        words = split_texts(batch, TOKENS)
        scores = [
            meteor(words[row], reference, self.wordnet)
            for row, reference in zip(batch.owners.tolist(), words[batch.size :], strict=True)
        ]
        np.maximum.at(values, batch.owners, scores)
        return Scores(values)


def meteor(response: Sequence[str], reference: Sequence[str], wordnet: Path) -> float:
    """Return the score of lower-cased words against those of a reference, in [0, 1]."""
    matches = align(response, reference, wordnet)
    if not matches:
        return 0.0
    precision, recall = len(matches) / len(response), len(matches) / len(reference)
    mean = precision * recall / (ALPHA * precision + (1 - ALPHA) * recall)
    matches.sort()
    chunks = 1 + sum(after != (place + 1, other + 1) for (place, other), after in pairwise(matches))
    return float((1 - GAMMA * (chunks / len(matches)) ** BETA) * mean)


def align(response: Sequence[str], reference: Sequence[str], wordnet: Path) -> list[tuple[int, int]]:
    """Return the positions of words that match: equal ones, then those of equal stems, then synonyms of stems.

    Words are taken from the last to the first, each with the last free word of the reference that it matches.
    """
    matches, left, free = _match(list(enumerate(response)), list(enumerate(reference)))
    if left and free:
        stem = _stemmer()
        left, free = [(place, stem(word)) for place, word in left], [(place, stem(word)) for place, word in free]
        more, left, free = _match(left, free)
        matches += more
    places = _places(free)
    for position, word in reversed(left) if places else ():
        options = [others for other in _synonyms(word, wordnet) & places.keys() if (others := places[other])]
        if options:
            matches.append((position, max(options, key=lambda others: others[-1]).pop()))
    return matches


def _match(left: Places, free: Places) -> tuple[list[tuple[int, int]], Places, Places]:
    """Return the positions of equal words, and the words of both texts that are left."""
    places = _places(free)
    matches, rest = [], []
    for position, word in reversed(left):
        if others := places.get(word):
            matches.append((position, others.pop()))
        else:
            rest.append((position, word))
    taken = {other for _, other in matches}
    return matches, rest[::-1], [place for place in free if place[0] not in taken]


def _places(words: Places) -> dict[str, list[int]]:
    """Return the positions of each word, ascending."""
    places: dict[str, list[int]] = {}
    for position, word in words:
        places.setdefault(word, []).append(position)
    return places


@cache
def _stemmer() -> Any:
    """Return nltk's Porter stemmer as a function that remembers stems: the same words come again and again."""
    from nltk.stem.porter import PorterStemmer

    return lru_cache(maxsize=50_000)(PorterStemmer().stem)


@lru_cache(maxsize=20_000)
def _synonyms(word: str, wordnet: Path) -> frozenset[str]:
    """Return a word and the single words that share a sense with it."""
    senses = load_wordnet(wordnet).synsets(word)
    return frozenset([word, *(name for sense in senses for name in sense.lemma_names() if "_" not in name)])


def load(name: str, vectors: str | Path | None) -> Meteor:  # noqa: ARG001 - every metric's `load` takes vectors
    """Return the METEOR scorer; `vectors` is ignored. Without WordNet it scores nothing and each example says why."""
    try:
        place = find_wordnet()
        load_wordnet(place)
        return Meteor(metric_cards()[name], place)
    except (DataError, MissingAsset) as error:
        return Meteor(metric_cards()[name], None, str(error))
