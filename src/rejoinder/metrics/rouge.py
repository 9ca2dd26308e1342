"""ROUGE-L: the longest common subsequence of words, as plain F1 (rouge-score) or weighted to recall (pycocoevalcap)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from rejoinder.example import Example
from rejoinder.scorer import Card, Scorer, Scores
from rejoinder.text import Tokenize, tokenizer, unspaced_reason, unspaced_script

BETA = 1.2  # recall counts 1.44 times as much as precision
LEAST_READ = (
    0.75  # the share of a text's letters and digits that are a-z and 0-9; what is cut at the others are no words
)
WORDS = "words-2"
MOST_CELLS = 4_000_000  # of rouge-score's table, a cell for each pair of words: about a second and 100 MiB

_UNREAD = "rouge-score reads a-z and digits alone, and {} in these: use rouge-l/words"

Words = Sequence[str]


class Overlap(NamedTuple):
    """What a response shares with one reference, each in [0, 1]."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class RougeL:
    """ROUGE-L F1 by rouge-score, the best over the references.

    Attributes:
        card: the preset's card.
        tokens: name of a tokenizer; None takes rouge-score's own.
    """

    card: Card
    tokens: str | None = None

    @property
    def options(self) -> Mapping[str, Any]:
        """Tokenizer, what becomes of several references, and rouge-score's version."""
        found = {"tokenizer": self.tokens or "rouge-score", "stemmer": "no", "references": "best"}
        return found | {"program": _release()}

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """F1 of N examples, 0 for a blank response.

        Unscored where rouge-score's tokenizer reads no reference, or a response that is not blank, for the most part
        not, and where texts are too long for its table.
        """
        return Scores.from_values([self._score(example) for example in examples])

    def _score(self, example: Example) -> float | str:
        """F1, or the reason why there is none."""
        cut, own = _cutter(self.tokens), self.tokens is None
        references = [kept for text in example.references if (not own or _is_read(text)) and (kept := cut(text))]
        if not references:
            return _UNREAD.format("no reference is") if own else "no reference holds a word"
        if own and example.response.strip() and not _is_read(example.response):
            return _UNREAD.format("the response is not")
        response = cut(example.response)
        return _too_long(response, references) or max(one.f1 for one in _shared(response, references))


@dataclass(frozen=True, slots=True)
class CocoRougeL:
    """ROUGE-L as pycocoevalcap and nlg-eval compute it.

    Attributes:
        card: the preset's card.
    """

    card: Card

    @property
    def options(self) -> Mapping[str, Any]:
        """Tokenizer, weight of recall, what becomes of several references, and rouge-score's version, which counts."""
        references = "best-precision-and-best-recall"
        return {"tokenizer": "space-1", "beta": BETA, "references": references, "program": _release()}

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """F of N examples, from the largest precision and the largest recall over the references.

        Unscored where sentences have no spaces, and where texts are too long for rouge-score's table. Source:
        `rouge.py` in pycocoevalcap and nlg-eval; the two maxima may come from different references.
        """
        return Scores.from_values([self._score(example) for example in examples])

    def _score(self, example: Example) -> float | str:
        """F, or the reason why there is none."""
        cut = _cutter("space-1")
        references = [cut(reference) for reference in example.references if reference.strip()] or [cut("")]
        response = cut(example.response)
        if (script := unspaced_script(" ".join((example.response, *example.references)))) and response != [""]:
            return f"{unspaced_reason(script)}: use rouge-l/words"
        if reason := _too_long(response, references):
            return reason
        found = _shared(response, references)
        precision, recall = max(one.precision for one in found), max(one.recall for one in found)
        if not precision or not recall:
            return 0.0
        return (1 + BETA**2) * precision * recall / (recall + BETA**2 * precision)


def _is_read(text: str) -> bool:
    """Whether there are letters and digits in `text`, and most of them such as rouge-score reads."""
    found = [character.isascii() for character in text if character.isalnum()]
    return sum(found) >= max(LEAST_READ * len(found), 1)


def _cutter(tokens: str | None) -> Tokenize:
    """The tokenizer called `tokens`, or rouge-score's own."""
    if tokens is not None:
        return tokenizer(tokens)
    from rouge_score.tokenize import tokenize

    return partial(tokenize, stemmer=None)


def _shared(response: Words, references: Sequence[Words]) -> list[Overlap]:
    """What the words of `response` share with those of each of the references."""
    scorer = _rouge_scorer()
    found = [scorer.score(reference, response)["rougeL"] for reference in references]
    return [Overlap(one.precision, one.recall, one.fmeasure) for one in found]


@cache
def _rouge_scorer() -> Any:
    """rouge-score's scorer, for texts that are cut into words already."""
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(["rougeL"], tokenizer=SimpleNamespace(tokenize=list))


def _too_long(response: Words, references: Sequence[Words]) -> str | None:
    """Why rouge-score's table would not do, or None where it does; one long reference is enough."""
    longest = max(map(len, references))
    if len(response) * longest <= MOST_CELLS:
        return None
    return (
        f"too long for rouge-score: {len(response):,} words in the response times {longest:,} in a reference is more "
        f"than {MOST_CELLS:,}, and it keeps a table of all pairs"
    )


def _release() -> str:
    return f"rouge-score {version('rouge-score')}"


CARDS: dict[str, Card] = {
    "rouge-l": Card(
        name="rouge-l",
        summary="longest common subsequence of words with the nearest reference, F1",
        kind="metric",
        needs=frozenset({"reference"}),
        range=(0.0, 1.0),
        source="Lin 2004; rouge-score, rougeL fmeasure, no stemmer",
        version=2,
        notes="Lower case. Only a-z and 0-9 make words: letters with accents split them, other scripts and emoji "
        "vanish; unscored where these are more than a quarter of a text's letters. Precision and recall weigh the "
        "same; pycocoevalcap's do not. Unscored where the words of both texts multiply to more than 4,000,000.",
    ),
    "rouge-l/words": Card(
        name="rouge-l/words",
        summary="longest common subsequence of words with the nearest reference, F1, in every language",
        kind="metric",
        needs=frozenset({"reference"}),
        range=(0.0, 1.0),
        source="Lin 2004; rouge-score, rougeL fmeasure, with words of every script",
        notes="Lower-cased words, of scripts without spaces characters, single signs and emoji. Unscored where the "
        "words of both texts multiply to more than 4,000,000.",
    ),
    "rouge-l/coco": Card(
        name="rouge-l/coco",
        summary="longest common subsequence of words with the references, weighted to recall",
        kind="metric",
        needs=frozenset({"reference"}),
        range=(0.0, 1.0),
        source="Lin 2004; pycocoevalcap and nlg-eval, rouge.py, beta 1.2",
        version=2,
        notes="Split on single spaces, so two spaces in a row make an empty word that matches others; case counts. "
        "Precision and recall may come from different references. The flavour behind many published tables of dialogue "
        "metrics. Unscored where sentences have no spaces, and where the words of both texts multiply to more than "
        "4,000,000.",
    ),
}


def load(name: str, vectors: str | Path | None) -> Scorer:  # noqa: ARG001 - every metric's `load` takes vectors
    """The ROUGE scorer called `name`, a name in `CARDS`; `vectors` is ignored."""
    if name.endswith("/coco"):
        return CocoRougeL(CARDS[name])
    return RougeL(CARDS[name], WORDS if name.endswith("/words") else None)
