"""How BLEU splits texts: at white space, by `13a` for a whole batch at once, and by sacreBLEU's other tokenizers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import chain
from typing import Any

import numpy as np

from rejoinder.metrics import counting
from rejoinder.metrics.counting import IntArray, TextBatch, Tokens

WHITE_SPACE, PLAIN = "none", "13a"
MAX_WORDS = 100_000  # that are remembered with their tokens: some 20 MiB

# The rules of 13a: the script `mteval-v13a.pl` of NIST, as sacreBLEU has it.
_ENTITIES = ((b"&quot;", b'"'), (b"&amp;", b"&"), (b"&lt;", b"<"), (b"&gt;", b">"))
_SPACED = [(sign.encode(), f" {sign} ".encode()) for sign in '!"#$%&()*+/:;<=>?@[\\]^_`{|}~']
_RULES = (
    (re.compile(r"([^0-9])([\.,])"), r"\1 \2 "),
    (re.compile(r"([\.,])([^0-9])"), r" \1 \2"),
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
)


@counting.keep_results
def bleu_counts(batch: TextBatch, longest: int, tokenizer: str) -> IntArray:
    """Return [N, 2 + 2K] the counts that BLEU is made of.

    A row has the length of the response, the length of the closest reference (of two the shorter one), the n-grams
    of each size that the response shares with its references, and all n-grams of each size in the response. Rows of
    several examples may be summed.

    Args:
        batch: N responses and their references.
        longest: K, the size of the longest n-grams.
        tokenizer: sacreBLEU's name of a tokenizer; `none` splits at white space.
    """
    return np.concatenate([_count(part, longest, tokenizer) for part in batch.parts()])


def _count(batch: TextBatch, longest: int, tokenizer: str) -> IntArray:
    """Return [N, 2 + 2K] the counts of a part of a batch."""
    n, owners = batch.size, batch.owners
    tokens = _number_13a(batch.texts) if tokenizer == PLAIN else counting.number_tokens(split(batch.texts, tokenizer))
    response, reference = tokens.lengths[:n], tokens.lengths[n:]
    order = np.lexsort((reference, np.abs(reference - response[owners]), owners))
    closest = reference[order][np.searchsorted(owners, np.arange(n))]
    shared = counting.shared_ngrams(tokens, owners, longest, together=True)
    return np.column_stack((response, closest, shared, counting.ngram_totals(response, longest)))


def split(texts: Sequence[str], tokenizer: str) -> list[list[str]]:
    """Return the tokens of T texts by the tokenizer of this name."""
    if tokenizer == WHITE_SPACE:
        return [text.split() for text in texts]
    if tokenizer == PLAIN:
        return [[*chain.from_iterable(map(_split_word, _space_signs([text]).split()))] for text in texts]
    tokenize = _sacrebleu_tokenizer(tokenizer)
    tokens = [tokenize(text.rstrip()).split() for text in texts]
    # They keep 65,536 texts each; these memories are emptied, or they would grow with the file.
    for part in (tokenize, *getattr(tokenize, "__dict__", {}).values()):
        if clear := getattr(type(part).__call__, "cache_clear", None):
            clear()
    return tokens


@cache
def _sacrebleu_tokenizer(name: str) -> Any:
    """Return a tokenizer of sacreBLEU."""
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(tokenize=name).tokenizer


def _number_13a(texts: Sequence[str]) -> Tokens:
    """Return the 13a tokens of T texts; the texts are split at once, and each word's own tokens are remembered."""
    joined = _space_signs(texts)
    end = "\0"
    while end in joined:
        end += "\0"
    words = joined.replace("\n", f" {end} ").split()
    if len(_vocabulary()) > MAX_WORDS:
        _vocabulary.cache_clear()
    vocabulary = _vocabulary()
    ids = np.fromiter(map(vocabulary.__getitem__, words), np.int64, len(words))
    if len(several := np.flatnonzero(ids < 0)):
        tokens = [vocabulary.several[~word] for word in ids[several].tolist()]
        repeats = np.ones(len(ids), np.int64)
        repeats[several] = counting.lengths_of(tokens)
        ids = np.repeat(ids, repeats)
        ids[ids < 0] = list(chain.from_iterable(tokens))
    ends = np.flatnonzero(ids == vocabulary[end])
    lengths = np.diff(ends, prepend=-1, append=len(ids)) - 1
    ids, distinct = counting.close_gaps(np.delete(ids, ends))
    return Tokens(ids, lengths[: len(texts)], len(distinct))


class _Vocabulary(dict[str, int]):
    """Words with the number of their token; a word of several tokens has the number ~n of its row in `several`."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens: dict[str, int] = {}
        self.several: list[list[int]] = []

    def __missing__(self, word: str) -> int:
        tokens = [self.tokens.setdefault(token, len(self.tokens)) for token in _split_word(word)]
        if len(tokens) > 1:
            self.several.append(tokens)
        self[word] = number = tokens[0] if len(tokens) == 1 else ~(len(self.several) - 1)
        return number


@cache
def _vocabulary() -> _Vocabulary:
    """Return the words that this process remembers."""
    return _Vocabulary()


def _space_signs(texts: Sequence[str]) -> str:
    """Return texts, a line each, with spaces around signs other than points, commas, dashes and apostrophes."""
    texts = [text.rstrip() for text in texts]
    joined = "\n".join(texts)
    if joined.count("\n") >= len(texts) or "<skipped>" in joined:
        texts = [text.replace("<skipped>", "").replace("-\n", "").replace("\n", " ") for text in texts]
        joined = "\n".join(texts)
    line = joined.encode()  # bytes are replaced faster
    for sign, spaced in (*_ENTITIES, *_SPACED) if b"&" in line else _SPACED:
        line = line.replace(sign, spaced)
    return line.decode()


def _split_word(word: str) -> list[str]:
    """Split a word without other signs at points, commas and dashes; the rules never look past a space."""
    if "." not in word and "," not in word and "-" not in word:
        return [word]
    line = f" {word} "
    for pattern, replacement in _RULES:
        line = pattern.sub(replacement, line)
    return line.split()
