"""The counts that every flavour of BLEU is made of, and the texts that nothing cuts into words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rejoinder.records import Example
from rejoinder.scorer import FloatArray
from rejoinder.text import uncut, without_spaces

_PRESET_FOR = {"Chinese": "zh", "Japanese": "ja-mecab"}


def count_ngrams(examples: Sequence[Example], order: int, tokens: str) -> FloatArray:
    """[N, 2 + 2 * order] counts that BLEU is made of, counted by sacreBLEU.

    A row holds the length of the response, the length of the closest reference, the matching n-grams by order, and the
    n-grams in the response by order. Rows of several examples may be summed. Blank references are left out where
    another reference has text.

    Args:
        examples: N examples with at least one reference.
        order: the longest n-gram counted.
        tokens: sacreBLEU's name of a tokenizer; `none` splits on white space.
    """
    from sacrebleu.metrics.bleu import BLEU

    counter = BLEU(tokenize=tokens, smooth_method="none", effective_order=True, max_ngram_order=order)
    rows = np.zeros((len(examples), 2 + 2 * order))
    for row, example in zip(rows, examples, strict=True):
        references = [reference for reference in example.references if reference.strip()] or [""]
        found = counter.sentence_score(example.response, references)
        row[:] = [found.sys_len, found.ref_len, *found.counts, *found.totals]
    forget(counter.tokenizer)
    return rows


def unread(examples: Sequence[Example], order: int, tokens: str) -> dict[int, str]:
    """Why examples cannot be scored with these tokens, which leave sentences whole; a blank response shares nothing."""
    found = {}
    for place, example in enumerate(examples):
        script = _left_whole(" ".join((example.response, *example.references)), tokens)
        if script is not None and example.response.strip():
            found[place] = f"{without_spaces(script)}: use bleu-{order}/{_PRESET_FOR.get(script, 'char')}"
    return found


def _left_whole(text: str, tokens: str) -> str | None:
    """What `text` is where these tokens do not cut it into words, or None where they do."""
    script = uncut(text)
    if script is None or tokens == "none":
        return script
    from sacrebleu.metrics.bleu import BLEU

    tokenize = BLEU(tokenize=tokens).tokenizer
    cut = tokenize(text)
    forget(tokenize)
    return uncut(cut)


def forget(tokenize: Any) -> None:
    """Empty what sacreBLEU's tokenizer, and those it is made of, remember: 65,536 texts each, for good.

    The texts are stored with the tokenizer object, so no later batch would find them anyway.
    """
    for part in (tokenize, *getattr(tokenize, "__dict__", {}).values()):
        clear = getattr(type(part).__call__, "cache_clear", None)  # no release promises one
        if clear is not None:
            clear()


def unpack(counts: FloatArray) -> tuple[int, int, list[int], list[int]]:
    """Length of the response, length of the reference, matches by order, n-grams in the response by order."""
    whole = [int(count) for count in counts]
    order = (len(whole) - 2) // 2
    return whole[0], whole[1], whole[2 : 2 + order], whole[2 + order :]
