"""The counts that every flavour of BLEU is made of, and the texts that nothing cuts into words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from rejoinder.example import Example
from rejoinder.scorer import FloatArray
from rejoinder.text import unspaced_reason, unspaced_script

REMEMBERED = 8_000_000  # characters of texts whose counts are remembered: some 20 MiB
ENTRY = 400  # characters that an entry counts beside those of its texts, for the room it takes
_LONGEST = 4
Row = tuple[float, ...]
_PRESET_FOR = {"Chinese": "zh", "Japanese": "ja-mecab"}


def count_ngrams(examples: Sequence[Example], order: int, tokens: str) -> FloatArray:
    """[N, 2 + 2 * order] counts that BLEU is made of, counted by sacreBLEU.

    A row holds the length of the response, the length of the closest reference, the matching n-grams by order, and the
    n-grams in the response by order. Rows of several examples may be summed. Blank references are left out where
    another reference has text.

    Args:
        examples: N examples with at least one reference.
        order: the longest n-gram counted, up to four.
        tokens: sacreBLEU's name of a tokenizer; `none` splits on white space.
    """
    rows = np.array(_counter(tokens)(examples), np.float64).reshape(len(examples), 2 + 2 * _LONGEST)
    matches, possible = range(2, 2 + order), range(2 + _LONGEST, 2 + _LONGEST + order)
    return np.ascontiguousarray(rows[:, [0, 1, *matches, *possible]])


@lru_cache(maxsize=4)
def _counter(tokens: str) -> Callable[[Sequence[Example]], list[Row]]:
    """A function from examples to their counts up to the longest n-gram, which holds those of all shorter ones.

    It remembers: BLEU-1 to BLEU-4 are often asked together. What it remembers is bounded by characters, since texts
    differ a thousandfold in length; when full it starts anew.
    """
    from sacrebleu.metrics.bleu import BLEU

    counter = BLEU(tokenize=tokens, smooth_method="none", effective_order=True, max_ngram_order=_LONGEST)
    known: dict[tuple[str, ...], Row] = {}
    room = REMEMBERED

    def counted(texts: tuple[str, ...]) -> Row:
        nonlocal room
        if (row := known.get(texts)) is None:
            response, *references = texts
            found = counter.sentence_score(response, [text for text in references if text.strip()] or [""])
            row = known[texts] = (found.sys_len, found.ref_len, *found.counts, *found.totals)
            room -= sum(map(len, texts)) + ENTRY
        return row

    def count(examples: Sequence[Example]) -> list[Row]:
        nonlocal room
        if room < 0:
            known.clear()
            room = REMEMBERED
        rows = [counted((example.response, *example.references)) for example in examples]
        forget(counter.tokenizer)
        return rows

    return count


def unread(examples: Sequence[Example], order: int, tokens: str) -> dict[int, str]:
    """Why examples cannot be scored with these tokens, which leave sentences whole; a blank response shares nothing."""
    found = {}
    for place, example in enumerate(examples):
        script = _left_whole(" ".join((example.response, *example.references)), tokens)
        if script is not None and example.response.strip():
            found[place] = f"{unspaced_reason(script)}: use bleu-{order}/{_PRESET_FOR.get(script, 'char')}"
    return found


def _left_whole(text: str, tokens: str) -> str | None:
    """What `text` is where these tokens do not cut it into words, or None where they do."""
    script = unspaced_script(text)
    if script is None or tokens == "none":
        return script
    from sacrebleu.metrics.bleu import BLEU

    tokenize = BLEU(tokenize=tokens).tokenizer
    cut = tokenize(text)
    forget(tokenize)
    return unspaced_script(cut)


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
