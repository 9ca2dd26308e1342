"""ROUGE-L: the longest common subsequence of words, as plain F1 (rouge-score) or weighted to recall (pycocoevalcap).

Shapes: N examples, M references, T = N + M texts.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rejoinder.example import Example
from rejoinder.metrics import metric_cards
from rejoinder.metrics.counting import IntArray, TextBatch, lengths_of, shared_subsequences, split_texts
from rejoinder.scorer import Card, FloatArray, Scores
from rejoinder.text import unspaced_reason

BETA = 1.2  # pycocoevalcap counts recall 1.44 times as much as precision
MIN_READ = 0.75  # the share of a text's letters and digits that are a-z and 0-9; other letters split words
ROUGE_SCORE, WORDS, SPACES = "rouge-score", "words-2", "space-1"
MAX_CELLS = 4_000_000  # of rouge-score's table, a cell for each pair of words: about a second and 100 MiB
PROGRAM = "rouge-score 0.1.2"  # whose values these are
_LOWER_TO_ASCII = "\u0130\u212a"  # the only letters beyond ASCII with a-z in their lower case: dotted I, Kelvin
_KEPT = string.ascii_letters + string.digits + "\n"
_TABLE = bytes(byte if chr(byte) in _KEPT else 32 for byte in range(256)).lower()
_UNREAD = "rouge-score reads a-z and digits alone, and {} in these: use rouge-l/words"


@dataclass(frozen=True, slots=True)
class RougeL:
    """ROUGE-L.

    Attributes:
        card: the preset's card.
        tokens: name of a tokenizer; `rouge-score` for that of the program, `space-1` for pycocoevalcap's rules.
    """

    card: Card
    tokens: str

    @property
    def options(self) -> Mapping[str, Any]:
        """Tokenizer, weight of recall, treatment of several references, and rouge-score's version."""
        if self.tokens == SPACES:
            references = "best-precision-and-best-recall"
            return {"tokenizer": SPACES, "beta": BETA, "references": references, "program": PROGRAM}
        return {"tokenizer": self.tokens, "stemmer": "no", "references": "best", "program": PROGRAM}

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """Return the best F1 over the references of N examples, 0 for a blank response.

        pycocoevalcap and nlg-eval (`rouge.py`) take the largest precision and the largest recall, which may come from
        different references. Unscored are texts that the tokenizer does not split into words, and very long ones.
        """
        batch = TextBatch.of(examples)
        n, owners = batch.size, batch.owners
        words = rouge_words(batch.texts) if self.tokens == ROUGE_SCORE else split_texts(batch, self.tokens)
        lengths = lengths_of(words)
        read = lengths > 0
        if self.tokens == ROUGE_SCORE:
            read &= np.array([text.isascii() or _is_read(text) for text in batch.texts], np.bool_)
        kept = np.flatnonzero(read[n:])
        longest = np.zeros(n, np.int64)
        np.maximum.at(longest, owners[kept], lengths[n + kept])
        reasons = self._reasons(batch, read[:n], lengths[:n], longest)
        scored = np.ones(n, np.bool_)
        scored[list(reasons)] = False
        kept = kept[scored[owners[kept]]]
        owner = owners[kept]
        shared = shared_subsequences([words[row] for row in owner.tolist()], [words[n + row] for row in kept.tolist()])
        precision, recall = shared / np.maximum(lengths[owner], 1), shared / lengths[n + kept]
        values = np.zeros(n)
        if self.tokens == SPACES:
            best = np.zeros((2, n))
            np.maximum.at(best[0], owner, precision)
            np.maximum.at(best[1], owner, recall)
            values = _f_score(best[0], best[1], BETA)
        else:
            np.maximum.at(values, owner, _f_score(precision, recall, 1.0))
        return Scores(np.where(scored, values, np.nan), reasons)

    def _reasons(
        self, batch: TextBatch, read: NDArray[np.bool_], lengths: IntArray, longest: IntArray
    ) -> dict[int, str]:
        """Return why examples have no score.

        Args:
            batch: N responses and their references.
            read: [N] whether a response can be read.
            lengths: [N] words of the responses.
            longest: [N] words of the longest reference that can be read, 0 without one.
        """
        reasons = {
            row: f"too long for rouge-score: {lengths[row]:,} words in the response times {longest[row]:,} in a "
            f"reference is more than {MAX_CELLS:,}, and it keeps a table of all pairs"
            for row in np.flatnonzero(lengths * longest > MAX_CELLS).tolist()
        }
        missing = np.flatnonzero(longest == 0).tolist()
        if self.tokens == SPACES:
            scripts = batch.unspaced()
            return reasons | {row: f"{unspaced_reason(script)}: use rouge-l/words" for row, script in scripts.items()}
        if self.tokens == WORDS:
            return reasons | dict.fromkeys(missing, "no reference holds a word")
        unread = [row for row in np.flatnonzero(~read).tolist() if batch.texts[row].strip()]
        reasons |= dict.fromkeys(unread, _UNREAD.format("the response is not"))
        return reasons | dict.fromkeys(missing, _UNREAD.format("no reference is"))


def rouge_words(texts: Sequence[str]) -> list[list[bytes]]:
    """Return the words of T texts as rouge-score splits them: lower case, all but a-z and 0-9 is a space."""
    joined = "\n".join(texts)
    if joined.count("\n") >= len(texts):
        joined = "\n".join([text.replace("\n", " ") for text in texts])
    for letter in _LOWER_TO_ASCII:
        joined = joined.replace(letter, letter.lower())
    return [line.split() for line in joined.encode().translate(_TABLE).split(b"\n")[: len(texts)]]


def _is_read(text: str) -> bool:
    """Return whether most letters and digits of a text are such as rouge-score reads."""
    read = [character.isascii() for character in text if character.isalnum()]
    return sum(read) >= MIN_READ * len(read)


def _f_score(precision: FloatArray, recall: FloatArray, beta: float) -> FloatArray:
    """Return the weighted harmonic mean of precision and recall, 0 where one of them is."""
    product, weighted = (1 + beta**2) * precision * recall, recall + beta**2 * precision
    return np.where(product > 0, product / np.where(product > 0, weighted, 1), 0.0)


def load(name: str, vectors: str | Path | None) -> RougeL:  # noqa: ARG001 - every metric's `load` takes vectors
    """Return the ROUGE scorer called `name`; `vectors` is ignored."""
    return RougeL(metric_cards()[name], {"rouge-l": ROUGE_SCORE, "rouge-l/words": WORDS}.get(name, SPACES))
