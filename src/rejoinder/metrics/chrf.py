"""chrF and chrF++: runs of characters (and words) shared with the references; needs no tokens, reads every script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from rejoinder.example import Example
from rejoinder.scorer import Card, FloatArray, Scorer, Scores

CHARACTERS, BETA = 6, 2  # the longest run of characters; recall counts four times as much as precision


@dataclass(frozen=True, slots=True)
class Chrf:
    """chrF by sacreBLEU, divided by 100; of several references the best counts.

    Attributes:
        card: the preset's card.
        words: the longest run of words that counts too; 0 for chrF, 2 for chrF++.
    """

    card: Card
    words: int

    @property
    def options(self) -> Mapping[str, Any]:
        """Longest runs, weight of recall, what becomes of short texts and several references, sacreBLEU's version."""
        return {
            "characters": CHARACTERS,
            "words": self.words,
            "beta": BETA,
            "effective-order": "yes",
            "references": "best",
            "program": f"sacrebleu {version('sacrebleu')}",
        }

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """Sentence chrF and counts of N examples; 0 for a response without a character."""
        counts = np.array([self._count(example) for example in examples], dtype=np.float64)
        counts = counts.reshape(len(examples), 3 * (CHARACTERS + self.words))
        return Scores(
            np.array([self._corpus_score(row) for row in counts]), statistics=counts, combine=self._corpus_score
        )

    def _corpus_score(self, totals: FloatArray) -> float:
        """Score from counts, of one sentence or summed over many: there is one formula for both."""
        found: float = self._scorer._compute_score_from_stats(totals.tolist()).score
        return found / 100

    def _count(self, example: Example) -> list[int]:
        """For each length of run: those in the response, in the best reference, in both. Blank references count not."""
        references = [reference for reference in example.references if reference.strip()] or [""]
        (counts,) = self._scorer._extract_corpus_statistics([example.response], [[text] for text in references])
        found: list[int] = counts
        return found

    @property
    def _scorer(self) -> Any:
        """The scorer of sacreBLEU. Its public calls give scores alone, no counts that could be summed."""
        from sacrebleu.metrics.chrf import CHRF

        return CHRF(char_order=CHARACTERS, word_order=self.words, beta=BETA)


def _card(name: str, what: str, source: str, notes: str) -> Card:
    return Card(
        name=name,
        summary=f"{what} shared with the nearest reference, weighted to recall",
        kind="metric",
        needs=frozenset({"reference"}),
        range=(0.0, 1.0),
        source=source,
        notes=f"Spaces do not count, case does; for every language and script. {notes}A corpus: summed counts.",
    )


CARDS: dict[str, Card] = {
    "chrf": _card("chrf", "runs of up to six characters", "Popović 2015; sacreBLEU, sentence_score / 100", ""),
    "chrf/++": _card(
        "chrf/++",
        "runs of up to six characters and two words",
        "Popović 2017; sacreBLEU with word_order 2, sentence_score / 100",
        "chrF++: words are cut at white space and ASCII punctuation, so a script without spaces has few. ",
    ),
}


def load(name: str, vectors: str | Path | None) -> Scorer:  # noqa: ARG001 - every metric's `load` takes vectors
    """The chrF scorer called `name`, a name in `CARDS`; `vectors` is ignored."""
    return Chrf(CARDS[name], 2 if name.endswith("++") else 0)
