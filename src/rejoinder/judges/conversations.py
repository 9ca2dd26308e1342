"""Which rated examples belong to one conversation, so that a split keeps them together."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from rejoinder.learner import Rows
from rejoinder.records import Example
from rejoinder.stats.splits import joined_groups

# A text of so many words or more is one conversation's; a shorter one ("how are you ?") may stand in many.
TELLING_WORDS = 6
TRACES = 4


def conversations(examples: Sequence[Example]) -> Rows:
    """[N] the number of each example's conversation, counted in order of appearance.

    Examples are of one conversation where they share their context's key, or the words of the whole context, of its
    last turn or of its first two turns, six words or more. Data sets took dialogues from one another, and some give
    every turn of a dialogue a context of its own.
    """
    if not examples:
        return np.empty(0, dtype=np.intp)
    return joined_groups(*zip(*map(traces, examples), strict=True))


def traces(example: Example) -> tuple[str, str, str, str]:
    """What examples of a conversation have in common: key, context, last turn, opening; "" where it would not tell."""
    turns = [_words(turn) for turn in example.context]
    whole, last, opening = (" ".join(text) for text in (turns, turns[-1:], turns[:2]))
    return ("\n".join(example.context_key), _telling(whole), _telling(last), _telling(opening))


def _telling(text: str) -> str:
    """The text where it is long enough to stand in one conversation alone, else ""."""
    return text if len(text.split()) >= TELLING_WORDS else ""


def _words(turn: str) -> str:
    """The words of a turn, whatever case and punctuation."""
    return " ".join(re.findall(r"\w+", turn.casefold()))
