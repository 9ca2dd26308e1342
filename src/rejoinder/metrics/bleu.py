"""BLEU of a sentence and of a corpus, in the flavours of three programs.

All flavours count alike: matching n-grams, clipped by the largest count in any one reference, against the reference of
the closest length (the shorter one of two). They differ in tokens, smoothing and short sentences, and so much that two
BLEU figures mean nothing beside each other before the flavours agree.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from rejoinder.errors import MissingExtra
from rejoinder.example import Example
from rejoinder.metrics.baselines import words
from rejoinder.metrics.ngram_counts import count_ngrams, unpack, unread
from rejoinder.scorer import Card, FloatArray, Scorer, Scores

ORDERS = (1, 2, 3, 4)
NLTK_METHODS = range(8)
SUMMABLE_METHODS = range(5)  # 5 to 7 look at the text of one sentence, so no sum of counts stands for a corpus
FIRST_ORDER_OF_METHOD_6 = 3  # nltk reads the third precision whatever the order is, and fails below
TINY, SMALL = 1e-15, 1e-9  # what pycocoevalcap adds to every numerator and denominator
PLAIN, MECAB = "13a", "ja-mecab"
# sacreBLEU's tokenizers, the preset of each, and what it is for.
TOKENS = {
    PLAIN: "13a tokens",
    "intl": "Signs of every script are tokens of their own: for languages with spaces between words",
    "zh": "Every Chinese character is a token, the rest is cut as by 13a",
    "char": "Every character is a token, spaces are none: for every script",
    MECAB: "Japanese words by MeCab with the IPA dictionary",
}
NO_STOP_WORDS = "no-stop-words"


@dataclass(frozen=True, slots=True)
class SacreBleu:
    """BLEU by sacreBLEU's formula, divided by 100.

    Attributes:
        card: the preset's card.
        order: the longest n-gram counted.
        tokens: sacreBLEU's name of a tokenizer; `none` takes text that is tokenised already.
        smoothing: sacreBLEU's name of a smoothing method.
        effective_order: whether a sentence shorter than `order` is scored on the orders it has; never so for a corpus.
        content: whether stop words and punctuation are taken out of responses and references first.
    """

    card: Card
    order: int
    tokens: str = "13a"
    smoothing: str = "exp"
    effective_order: bool = True
    content: bool = False

    @property
    def options(self) -> Mapping[str, Any]:
        """Tokenizer, smoothing, what becomes of several references, and sacreBLEU's version."""
        effective = "yes" if self.effective_order else "no"
        found = {"tokenizer": self.tokens, "smoothing": self.smoothing, "effective-order": effective}
        if self.tokens == MECAB:
            found["mecab"] = f"{version('mecab-python3')} ipadic {version('ipadic')}"
        if self.content:
            found["words"] = "no stop words (scikit-learn), no punctuation"
        return found | _by("sacrebleu")

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """Sentence BLEU and counts of N examples; 0 for a response without words."""
        examples = [_of_content(one) for one in examples] if self.content else examples
        counts = count_ngrams(examples, self.order, self.tokens)
        values = np.array([self._score(row, self.effective_order) for row in counts])
        reasons = unread(examples, self.order, self.tokens)
        if self.content:
            bare = [place for place, one in enumerate(examples) if not any(one.references)]
            reasons |= dict.fromkeys(bare, "no reference holds a word that is no stop word")
        return _scores(values, reasons, counts, self._corpus_score)

    def _corpus_score(self, totals: FloatArray) -> float:
        """Corpus BLEU from summed counts, as `sacrebleu.corpus_bleu` has it (no effective order)."""
        return self._score(totals, effective_order=False)

    def _score(self, counts: FloatArray, effective_order: bool) -> float:
        from sacrebleu.metrics.bleu import BLEU

        response_length, reference_length, matches, possible = unpack(counts)
        found = BLEU.compute_bleu(
            matches,
            possible,
            response_length,
            reference_length,
            smooth_method=self.smoothing,
            effective_order=effective_order,
            max_ngram_order=self.order,
        )
        return min(found.score / 100, 1.0)  # exp(log(100)) is 100.00000000000004


@dataclass(frozen=True, slots=True)
class CocoBleu:
    """BLEU as pycocoevalcap and nlg-eval compute it, with the closest reference length.

    Attributes:
        card: the preset's card.
        order: the longest n-gram counted.
    """

    card: Card
    order: int

    @property
    def options(self) -> Mapping[str, Any]:
        """Tokenizer, the two constants that stand in for smoothing, and the release of sacreBLEU, which counts."""
        return {"tokenizer": "whitespace", "smoothing": f"{TINY}/{SMALL}", **_by("sacrebleu")}

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """Sentence BLEU and counts of N examples; 0 for a response without words."""
        counts = count_ngrams(examples, self.order, "none")
        values = np.array([self._corpus_score(row) for row in counts])
        return _scores(values, unread(examples, self.order, "none"), counts, self._corpus_score)

    def _corpus_score(self, totals: FloatArray) -> float:
        """BLEU from counts, of one sentence or summed over many: the program has one formula for both.

        Source: `bleu_scorer.py` in pycocoevalcap and nlg-eval, `compute_score(option="closest")`.
        """
        response_length, reference_length, matches, possible = unpack(totals)
        precisions = [(match + TINY) / (total + SMALL) for match, total in zip(matches, possible, strict=True)]
        ratio = (response_length + TINY) / (reference_length + SMALL)
        penalty = math.exp(1 - 1 / ratio) if ratio < 1 else 1.0
        return float(math.prod(precisions) ** (1 / self.order) * penalty)


@dataclass(frozen=True, slots=True)
class NltkBleu:
    """BLEU over white-space tokens with one of nltk's smoothing methods (Chen and Cherry 2014).

    Attributes:
        card: the preset's card.
        order: the longest n-gram counted.
        method: 0 to 7, the number in the name of nltk's method.
    """

    card: Card
    order: int
    method: int

    @property
    def options(self) -> Mapping[str, Any]:
        """Tokenizer, smoothing, and the releases of nltk, whose formula it is, and of sacreBLEU, which counts."""
        counts = f"sacrebleu {version('sacrebleu')}"
        return {"tokenizer": "whitespace", "smoothing": f"method{self.method}", **_by("nltk"), "counts": counts}

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """Sentence BLEU of N examples, 0 where not one word matches; counts for methods 0 to 4.

        Method 6 leaves examples without a matching trigram unscored: it divides by that precision's neighbours.
        """
        counts = count_ngrams(examples, self.order, "none")
        possible = counts[:, 2 + self.order :]
        np.maximum(possible, 1, out=possible)  # so does nltk, for each sentence; it shows in corpus BLEU
        reasons = {place: reason for place, row in enumerate(counts) if (reason := self._why_not(row))}
        values = [
            math.nan if place in reasons else self._score(row, example)
            for place, (row, example) in enumerate(zip(counts, examples, strict=True))
        ]
        reasons |= unread(examples, self.order, "none")
        return _scores(
            np.array(values), reasons, counts if self.method in SUMMABLE_METHODS else None, self._corpus_score
        )

    def _corpus_score(self, totals: FloatArray) -> float:
        """Corpus BLEU from summed counts, as `nltk.translate.bleu_score.corpus_bleu` has it (methods 0 to 4)."""
        return self._score(totals, Example((), ""))

    def _why_not(self, counts: FloatArray) -> str | None:
        """Why nltk's method fails on these counts, or None where it does not."""
        matches = unpack(counts)[2]
        if self.method == 6 and matches[0] and not matches[FIRST_ORDER_OF_METHOD_6 - 1]:
            return "nltk's smoothing method 6 needs a matching trigram"
        return None

    def _score(self, counts: FloatArray, example: Example) -> float:
        from nltk.translate.bleu_score import brevity_penalty

        response_length, reference_length, matches, possible = unpack(counts)
        if not matches[0]:
            return 0.0
        logarithms = [
            math.log(value) for value in self._smooth(matches, possible, response_length, example) if value > 0
        ]
        penalty = brevity_penalty(reference_length, response_length)
        return float(penalty * math.exp(math.fsum(logarithms) / self.order))

    def _smooth(self, matches: list[int], possible: list[int], length: int, example: Example) -> list[float]:
        """The smoothed precisions, by order."""
        from nltk.translate.bleu_score import Fraction, SmoothingFunction

        if self.method == 0:  # by hand, since nltk's method 0 warns at every missing order
            return [match / total or sys.float_info.min for match, total in zip(matches, possible, strict=True)]
        precisions = [Fraction(match, total, _normalize=False) for match, total in zip(matches, possible, strict=True)]
        response = example.response.split()
        references = [reference.split() for reference in example.references]
        smooth = getattr(SmoothingFunction(), f"method{self.method}")
        smoothed: list[float] = smooth(precisions, references=references, hypothesis=response, hyp_len=length)
        return smoothed


def _of_content(example: Example) -> Example:
    """`example` with the content words of response and references alone; the stop words are English."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    def content(text: str) -> str:
        return " ".join(word for word in words(text) if word not in ENGLISH_STOP_WORDS)

    return replace(example, response=content(example.response), references=tuple(map(content, example.references)))


def _scores(
    values: FloatArray, reasons: Mapping[int, str], counts: FloatArray | None, combine: Callable[[FloatArray], float]
) -> Scores:
    """Return the scores of N examples; one with a reason is unscored."""
    values[list(reasons)] = math.nan
    return Scores(values, reasons, statistics=counts, combine=combine)


def _by(program: str) -> dict[str, str]:
    """Options of all flavours: an example's references count together, as the paper has it; which release computes."""
    return {"references": "native", "program": f"{program} {version(program)}"}


def _card(name: str, summary: str, source: str, notes: str, highest: float | None = 1.0) -> Card:
    source = f"Papineni et al. 2002; {source}"
    return Card(name, summary, "metric", frozenset({"reference"}), (0.0, highest), source, version=2, notes=notes)


def _sacrebleu_card(order: int, tokens: str) -> Card:
    plain = tokens == PLAIN
    return _card(
        f"bleu-{order}" if plain else f"bleu-{order}/{tokens}",
        f"n-grams up to {order} shared with the references, by sacreBLEU" + f" with {tokens} tokens" * (not plain),
        "sacreBLEU, sentence_score / 100",
        f"{TOKENS[tokens]}; case counts. A sentence: exponential smoothing and effective order, so a one-word match "
        "scores 1. A corpus: summed counts, no effective order. Unscored where the tokens are whole sentences.",
    )


def _content_card(order: int) -> Card:
    return _card(
        f"bleu-{order}/{NO_STOP_WORDS}",
        f"n-grams up to {order} of content words shared with the references, by sacreBLEU",
        "sacreBLEU, sentence_score / 100; Liu et al. 2016, table 4, which names no list of stop words",
        "Lower-cased words without punctuation and without scikit-learn's English stop words: whether it is more than "
        "shared stop words that agrees with people. Otherwise as the plain preset.",
    )


def _coco_card(order: int) -> Card:
    return _card(
        f"bleu-{order}/coco",
        f"n-grams up to {order} shared with the references, by pycocoevalcap",
        "pycocoevalcap and nlg-eval, bleu_scorer.py with the closest reference length",
        "White-space tokens, case counts. No smoothing but 1e-15 and 1e-9: BLEU-4 falls to about 1e-4 where no 4-gram "
        "matches, and to 0.03 where an identical response has three words. The flavour behind many published tables of "
        "dialogue metrics.",
    )


def _nltk_card(order: int, method: int) -> Card:
    notes = "White-space tokens, case counts. 0 where not one word matches."
    if method == 0:
        notes += (
            " A missing order counts as the smallest positive number, so most BLEU-4 lie between 1e-231 and 1e-77 and "
            "an identical short reply scores near 0; the figures in Liu et al. 2016 behave so."
        )
    if method == 6:
        notes += " Unscored without a matching trigram."
    if method not in SUMMABLE_METHODS:
        notes += " The corpus score is the mean: nltk's own depends on which sentence comes last."
    return _card(
        f"bleu-{order}/nltk-{method}",
        f"n-grams up to {order} shared with the references, by nltk's smoothing method {method}",
        f"Chen and Cherry 2014; nltk, sentence_bleu with SmoothingFunction().method{method}",
        notes + (" May exceed 1." if method in (5, 6, 7) else ""),
        # Method 5 averages p + 1, p and p, that is 4/3 at most; 7 is 5 after 4; 6 has no simple bound.
        {5: 4 / 3, 6: None, 7: 4 / 3}.get(method, 1.0),
    )


def _scorers() -> dict[str, Scorer]:
    """All scorers of this file, by name."""
    made: list[Scorer] = []
    for order in ORDERS:
        made += [SacreBleu(_sacrebleu_card(order, tokens), order, tokens) for tokens in TOKENS]
        made.append(SacreBleu(_content_card(order), order, content=True))
        made.append(CocoBleu(_coco_card(order), order))
        for method in NLTK_METHODS:
            if method != 6 or order >= FIRST_ORDER_OF_METHOD_6:
                made.append(NltkBleu(_nltk_card(order, method), order, method))
    return {scorer.card.name: scorer for scorer in made}


_SCORERS = _scorers()
CARDS: dict[str, Card] = {name: scorer.card for name, scorer in _SCORERS.items()}


def load(name: str, vectors: str | Path | None) -> Scorer:  # noqa: ARG001 - every metric's `load` takes vectors
    """The BLEU scorer called `name`, a name in `CARDS`; `vectors` is ignored.

    Raises:
        MissingExtra: it cuts Japanese, and what does that is not installed.
    """
    if name.endswith(f"/{MECAB}") and not all(map(find_spec, ("MeCab", "ipadic"))):
        raise MissingExtra("mecab-python3 with ipadic", "ja", f"{name}, BLEU over Japanese words,")
    return _SCORERS[name]
