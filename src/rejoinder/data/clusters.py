"""Clusters: the lines or pairs that are not independent, for every fold, every resampling interval and every test.

Shapes: N lines or pairs.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rejoinder.example import Example, Pair
from rejoinder.stats.splits import Rows, joined_ties, numbered

# A text of this many words or more is of one conversation; a shorter one ("how are you ?") may be in many.
TELLING_WORDS = 6
_CHARACTERS_A_WORD = 2  # where words are not separated: twelve characters tell as much as six words
_CONTEXT = "context "
LARGEST = 0.5  # share of the lines that one cluster may hold
FEWEST_LINES = 10  # of fewer, over half may well be of one conversation

# Chinese, Japanese, Thai, Lao, Tibetan, Burmese, Khmer, Javanese, Balinese, Tai, Yi: words are not separated.
_UNSEPARATED = (
    r"\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf\u1b00-\u1b7f\u3005-\u3007\u3040-\u312f"
    r"\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua980-\ua9ff\uaa60-\uaadf\uf900-\ufaff"
    r"\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_ONE_UNSEPARATED = re.compile(f"[{_UNSEPARATED}]")
_BLANK_BESIDE = re.compile(f"(?<=[{_UNSEPARATED}]) | (?=[{_UNSEPARATED}])")


class Ties(NamedTuple):
    """The keys that tie a line or a pair to others: lines that share a key are of one cluster.

    Attributes:
        strong: the ids, the whole context, its opening and its last turn, the references.
        turns: every turn that is long enough to tell, the last one among them.
        context: one key, of the context alone, or without a context of the references.
    """

    strong: tuple[str, ...]
    turns: tuple[str, ...]
    context: str


class Clusters(NamedTuple):
    """The clusters of N lines or pairs.

    Attributes:
        numbers: [N] number of each line's cluster, in order of appearance.
        note: a sentence if one cluster would have held over half of the lines, so that less was tied; else "".
    """

    numbers: Rows
    note: str


TURNS_IGNORED = (
    "Some turns stand in so many contexts that they would put over half of the lines into one cluster, so only the "
    "last and the first two turns decided which lines belong together, beside ids and references."
)
CONTEXTS_ALONE = (
    "Shared turns and references would put over half of the lines into one cluster, so equal contexts alone decided "
    "which lines belong together, and equal references where there is no context."
)


def clusters_of(items: Sequence[Example | Pair]) -> Clusters:
    """Return the clusters of lines or pairs.

    Lines belong together that share

    - a `context_id` or `dialogue_id`, within one data set;
    - the whole context, however short, or its opening turns, six words or more; a short context of a dialogue that
      an id names, such as "Hi!", ties nothing;
    - a turn or a reference of six words or more, or any reference where a line has no context.

    Words are compared whatever case, punctuation and white space; where words are not separated, twelve characters
    count as six words. Of pairs the turns count that both conversations begin with, and the references of both replies;
    without a context those of the same two replies belong together.

    Where one cluster would hold over half of ten lines or more, of the turns only the last and the opening ones tie;
    if it still would, contexts alone decide. `Clusters.note` then has a sentence.
    """
    return NumberedTies.of(items).clusters()


class NumberedTies(NamedTuple):
    """The ties of N lines as numbers: texts are compared once, however many splits are made of the lines.

    Attributes:
        strong: [N] arrays of numbers; equal numbers, equal keys, here as in the next two.
        turns: [N] arrays of numbers.
        contexts: [N] numbers.
    """

    strong: Sequence[Rows]
    turns: Sequence[Rows]
    contexts: Rows

    @classmethod
    def of(cls, items: Sequence[Example | Pair]) -> NumberedTies:
        """The ties of lines or pairs."""
        words, known = cache(normalized), dict[str, int]()
        ties = _without_greetings(items, [ties_of(item, words) for item in items])

        def numbers(keys: Sequence[str]) -> Rows:
            return np.array([known.setdefault(key, len(known)) for key in keys], dtype=np.intp)

        contexts = np.array(numbered([tie.context for tie in ties]), dtype=np.intp)
        return cls([numbers(tie.strong) for tie in ties], [numbers(tie.turns) for tie in ties], contexts)

    def at(self, rows: Rows) -> NumberedTies:
        """The ties of some of the lines."""
        places = rows.tolist()
        return NumberedTies(
            [self.strong[place] for place in places], [self.turns[place] for place in places], self.contexts[rows]
        )

    def all_of(self, rows: Rows) -> Rows:
        """The different strong ties of some of the lines, in sorted order."""
        return np.unique(np.concatenate([np.empty(0, dtype=np.intp), *(self.strong[row] for row in rows.tolist())]))

    def sharing(self, ties: Rows) -> NDArray[np.bool_]:
        """[N] whether a line has one of some strong ties."""
        lines = np.repeat(np.arange(len(self.strong)), [len(own) for own in self.strong])
        found = np.zeros(len(self.strong), dtype=np.bool_)
        found[lines[np.isin(np.concatenate([np.empty(0, dtype=np.intp), *self.strong]), ties)]] = True
        return found

    def clusters(self) -> Clusters:
        """The clusters of these lines."""
        every = [np.concatenate(parts) for parts in zip(self.strong, self.turns, strict=True)]
        found = joined_ties(every)
        if len(found) < FEWEST_LINES or _largest(found) <= LARGEST * len(found):
            return Clusters(found, "")
        fewer = joined_ties(self.strong)
        alone = joined_ties(list(self.contexts[:, None]))
        if _largest(fewer) <= LARGEST * len(found) or _largest(fewer) == _largest(alone):
            return Clusters(fewer, TURNS_IGNORED if _largest(fewer) < _largest(found) else "")
        return Clusters(alone, CONTEXTS_ALONE)


def _without_greetings(items: Sequence[Example | Pair], ties: Sequence[Ties]) -> list[Ties]:
    """The ties without short contexts ("Hi!") of lines whose id names a dialogue: one that has several contexts."""
    contexts: dict[tuple[str, ...], set[str]] = {}
    for item, tie in zip(items, ties, strict=True):
        contexts.setdefault(item.context_key, set()).update(key for key in tie.strong if key.startswith(_CONTEXT))
    return [
        tie._replace(strong=tuple(key for key in tie.strong if not _is_short_context(key)))
        if item.context_key[1] in ("id", "dialogue") and len(contexts[item.context_key]) > 1
        else tie
        for item, tie in zip(items, ties, strict=True)
    ]


def _is_short_context(key: str) -> bool:
    """Whether a key is of a whole context that is too short to tell a conversation."""
    return key.startswith(_CONTEXT) and not is_telling(key.removeprefix(_CONTEXT))


def sorted_clusters(items: Sequence[Example | Pair], keys: Sequence[tuple[str, ...]] | None = None) -> Clusters:
    """Return the clusters of lines or pairs, numbered in the sorted order of keys: the order of lines changes nothing.

    Args:
        items: N lines or pairs.
        keys: [N]; the default is those of their contexts.
    """
    found, keys = clusters_of(items), keys or [item.order_key for item in items]
    first: dict[int, tuple[str, ...]] = {}
    for number, key in zip(found.numbers.tolist(), keys, strict=True):
        first[number] = min(first.get(number, key), key)
    places = {number: place for place, number in enumerate(sorted(first, key=first.__getitem__))}
    return found._replace(numbers=np.array([places[number] for number in found.numbers.tolist()], dtype=np.int64))


def ties_of(item: Example | Pair, words: Callable[[str], str]) -> Ties:
    """Return the keys that tie a line or a pair to others; `words` are the normalised words of a text."""
    context = item.shared_turns if isinstance(item, Pair) else item.context
    replies = item.replies if isinstance(item, Pair) else (item,)
    turns = [text for turn in context if (text := words(turn))]
    whole = " ".join(turns) or "\n".join(context).strip()
    references = dict.fromkeys(text for reply in replies for text in reply.references if text.strip())
    known = list(dict.fromkeys(words(reference) or reference.strip() for reference in references))
    key, named = "\n".join(item.context_key), item.context_key[1] in ("id", "dialogue")
    strong = [key, *_dialogue(replies[0])]
    if whole:
        strong += [f"{_CONTEXT}{whole}", *_opening(turns), *(f"text {turn}" for turn in turns[-1:] if is_telling(turn))]
    else:
        strong += [f"reference {reference}" for reference in known]
    strong += [f"text {reference}" for reference in known if is_telling(reference)]
    alone = key if named or not (whole or known) else f"context {whole}" if whole else "\n".join(sorted(known))
    return Ties(tuple(strong), tuple(f"text {turn}" for turn in dict.fromkeys(turns) if is_telling(turn)), alone)


def _dialogue(example: Example) -> Iterator[str]:
    """Yield the key of the dialogue that a line names in addition to its context."""
    if example.context_id is not None and example.extra.get("dialogue_id") is not None:
        yield "\n".join((example.dataset or "", "dialogue", str(example.extra["dialogue_id"])))


def _opening(turns: Sequence[str]) -> Iterator[str]:
    """Yield the key of the first two turns, or of as many more as tell a conversation."""
    for count in range(min(2, len(turns)), len(turns) + 1):
        opening = " ".join(turns[:count])
        if is_telling(opening):
            yield f"opening {opening}"
            return


def is_telling(words: str) -> bool:
    """Whether a text of normalised words is so long that it is of one conversation alone."""
    apart, characters = _ONE_UNSEPARATED.subn(" ", words)
    return characters + _CHARACTERS_A_WORD * len(apart.split()) >= _CHARACTERS_A_WORD * TELLING_WORDS


class _Kept(dict[int, str]):
    """The replacement of each character: letters, their marks and digits stay, all others become a blank."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        kept = self[code] = character if unicodedata.category(character)[0] in "LMN" else " "
        return kept


_KEPT = _Kept()


def normalized(text: str) -> str:
    """The words of a text, whatever case, width, punctuation and white space."""
    words = " ".join(unicodedata.normalize("NFKC", text).casefold().translate(_KEPT).split())
    return words if words.isascii() else _BLANK_BESIDE.sub("", words)


def _largest(numbers: Rows) -> int:
    """The size of the largest cluster."""
    return int(np.bincount(numbers).max(initial=0)) if len(numbers) else 0
