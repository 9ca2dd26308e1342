"""What shows degenerate replies without a judge: they are empty, short, said before, the same for all, or repeat.

Shapes: N replies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import nan
from typing import NamedTuple

import numpy as np

from rejoinder.improve.diversity import distinct
from rejoinder.responder import Context
from rejoinder.stats.resamples import BoolArray
from rejoinder.text import tokenizer

SHORT = 3
"""Tokens, below which a reply is short."""
COMMON = 0.05
"""Share of all replies above which the most frequent one is one sentence for all."""
_PHRASE = 3  # tokens of a phrase that is repeated


class Account(NamedTuple):
    """Shares of N replies, 0 to 1, NaN for none of them.

    Attributes:
        empty: without a token.
        short: with one or two.
        parrot: that stand word for word in their context.
        favourite: that are the most frequent one, whatever their context.
        repeated: in which three tokens come twice.
        degenerate: with any of these; the most frequent one counts where it is more than a twentieth of all.
        distinct_1: different tokens among all tokens.
        distinct_2: different pairs of tokens among all pairs.
    """

    empty: float
    short: float
    parrot: float
    favourite: float
    repeated: float
    degenerate: float
    distinct_1: float
    distinct_2: float


def flaws(contexts: Sequence[Context], texts: Sequence[str]) -> dict[str, BoolArray]:
    """[N] by kind, which of N replies to N contexts show by themselves that they are degenerate; see `Account`."""
    tokens = [_tokens(text) for text in texts]
    heard = [set(map(_tokens, context)) for context in contexts]
    return {
        "empty": np.array([not one for one in tokens], np.bool_),
        "short": np.array([0 < len(one) < SHORT for one in tokens], np.bool_),
        "parrot": np.array([bool(one) and one in turns for one, turns in zip(tokens, heard, strict=True)], np.bool_),
        "repeated": np.array([distinct([one], _PHRASE) < 1 for one in tokens], np.bool_),
    }


def account(contexts: Sequence[Context], texts: Sequence[str]) -> Account:
    """What N replies to N contexts look like; what a reply says is compared without regard to case and spacing."""
    if not texts:
        return Account(*[nan] * len(Account._fields))
    tokens, kinds = [_tokens(text) for text in texts], flaws(contexts, texts)
    favourite, times = Counter(tokens).most_common(1)[0]
    common = np.array([one == favourite for one in tokens]) & (times > 1 and times > COMMON * len(tokens))
    return Account(
        **{name: float(share.mean()) for name, share in kinds.items()},
        favourite=times / len(tokens),
        degenerate=float(np.logical_or.reduce([*kinds.values(), common]).mean()),
        distinct_1=distinct(tokens, 1),
        distinct_2=distinct(tokens, 2),
    )


@lru_cache(maxsize=4096)
def _tokens(text: str) -> tuple[str, ...]:
    """What a text says, without regard to case and spacing."""
    return tuple(word.casefold() for word in tokenizer("words-1")(text))
