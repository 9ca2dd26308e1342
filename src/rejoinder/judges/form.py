"""Features of the form of a reply and of the turns before it, which separate replies of assistants from short chat.

They count words, sentences, lines, lists, links and words of vocabularies (`assets/form.json`). No model is read, and a
reply takes some hundredths of a millisecond. Case and spaces before a full stop are ignored, because they depend on the
data set.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from math import log1p
from typing import Any

from rejoinder.assets import FORM as WORDS

READ = 500
"""Characters that are read of the reply, and of the turn that it answers."""
READ_EARLIER = 300
"""Characters that are read of each turn before that turn."""
_TURNS = 3  # before the last turn

_DATA = json.loads(WORDS.read_text(encoding="utf-8"))
VOCABULARIES: Mapping[str, frozenset[str]] = {
    name: frozenset(words.split()) for name, words in _DATA["vocabularies"].items()
}
COUNTED: Sequence[str] = _DATA["counted"]
"""Vocabularies of which the number of words is a feature too, not only their share."""
_EARLIER = (*COUNTED, *(f"any {name}" for name in COUNTED), "first person", "second person", "refusal")
_WE, _I = frozenset(_DATA["we"].split()), frozenset(_DATA["I"].split())
_OWNED = frozenset().union(*(VOCABULARIES[name] for name in ("orders", "money", "contracts", "technical", "service")))
_IMPERATIVES = VOCABULARIES["instructions"] | set(_DATA["imperatives"].split())
_BEFORE_IMPERATIVES = frozenset(_DATA["before imperatives"].split()) | {"\n"}

_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)*")
_TOKEN = re.compile(r"[a-z]+(?:['’][a-z]+)*|[.!?:,\n]")
_CAPITAL = re.compile(r"[A-Z]")
_NUMBER = re.compile(r"\d+")
_MONEY = re.compile(r"[€£$]\s?\d|\d\s?[€£$%]")
_LONG_NUMBER = re.compile(r"\d{4}")
_SENTENCE_END = re.compile(r"[.!?]+(?=\s|$)")
_LIST_LINE = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s", re.MULTILINE)
_LINK = re.compile(r"https?:|www\.|<url>|\burl\b|\blinks?\b")
_REQUEST, _QUESTION = re.compile(_DATA["request"]), re.compile(_DATA["question"])


def _index(items: Iterable[tuple[str, Any]]) -> dict[str, tuple[Any, ...]]:
    """Return the values of each key."""
    index: dict[str, tuple[Any, ...]] = {}
    for key, value in items:
        index[key] = (*index.get(key, ()), value)
    return index


_INSIDE = _index((word, name) for name, words in VOCABULARIES.items() for word in words)
_PHRASES = _index(
    (words[0], (name, words[1:])) for name, phrases in _DATA["phrases"].items() for words in map(str.split, phrases)
)


def _phrases(words: Sequence[str]) -> dict[str, float]:
    """Count phrases of chat, of assistants and of customers in a text; `my order` is a customer's."""
    counts = dict.fromkeys(_DATA["phrases"], 0)
    for place, word in enumerate(words):
        for name, rest in _PHRASES.get(word, ()):
            counts[name] += not rest or words[place + 1 : place + 1 + len(rest)] == rest
        if word in ("my", "your"):
            counts["trouble"] += not _OWNED.isdisjoint(words[place + 1 : place + 3])
    return {name: log1p(count) for name, count in counts.items()}


def _vocabularies(words: Sequence[str]) -> dict[str, float]:
    """Return the share of the words in each vocabulary, and for `COUNTED` their number."""
    counts = dict.fromkeys(VOCABULARIES, 0)
    for word in words:
        for name in _INSIDE.get(word, ()):
            counts[name] += 1
    total = len(words) or 1
    return {
        **{name: count / total for name, count in counts.items()},
        **{f"any {name}": log1p(counts[name]) for name in COUNTED},
    }


def _texture(text: str, low: str, words: Sequence[str]) -> dict[str, float]:
    """Return the features of a reply and of the turn that it answers."""
    count = len(words) or 1
    ends = max(1, len(_SENTENCE_END.findall(text)))
    lengths = [len(word) for word in words]
    return {
        "words": log1p(len(words)),
        "sentences": log1p(ends),
        "words a sentence": log1p(len(words) / ends),
        "letters a word": sum(lengths) / count,
        "long words": sum(length > 8 for length in lengths) / count,
        "different words": len(set(words)) / count,
        "numbers": log1p(len(_NUMBER.findall(text))),
        "commas": text.count(",") / count,
        "brackets": float("(" in text),
        "colon": float(":" in text),
        "quotes": float('"' in text or "“" in text),
        "asks": float("?" in text),
        "exclaims": float("!" in text),
        "capital first": float(text[:1].isupper()),
        "capitals": len(_CAPITAL.findall(text)) / (len(text) or 1),
        "money": float(bool(_MONEY.search(text))),
        "long numbers": float(bool(_LONG_NUMBER.search(text))),
        "lines": log1p(text.count("\n")),
        "link": float(bool(_LINK.search(low))),
        "question at the end": float(text[-1:] == "?"),
        **_vocabularies(words),
        **_phrases(words),
    }


def _reply(text: str) -> dict[str, float]:
    """Return the features of a reply."""
    low = text.lower()
    tokens = _TOKEN.findall(low)
    words = [token for token in tokens if token[0].isalpha()]
    # Verbs that ask for something to be done: at the start of a sentence, or after `please`.
    imperatives = sum(
        token in _IMPERATIVES and last in _BEFORE_IMPERATIVES
        for last, token in zip(["\n", *tokens], tokens, strict=False)
    )
    return {
        **_texture(text, low, words),
        "paragraphs": float("\n\n" in text),
        "list lines": log1p(len(_LIST_LINE.findall(text))),
        "full stop": float(text[-1:] == "."),
        "imperatives": log1p(imperatives),
        "please": float("please" in words),
        "we": float(not _WE.isdisjoint(words)),
        "your": float("your" in words),
        "I": float(not _I.isdisjoint(words)),
        "short words": sum(len(word) < 4 for word in words) / (len(words) or 1),
        "contractions": sum("'" in word or "’" in word for word in words) / (len(words) or 1),
    }


def _prompt(text: str) -> dict[str, float]:
    """Return the features of the turn that the reply answers."""
    low = text.lower()
    words = _WORD.findall(low)
    return {
        **_texture(text, low, words),
        "request": float(bool(_REQUEST.match(low))),
        "question": float(bool(_QUESTION.match(low))),
        "I": float(not _I.isdisjoint(words)),
        "my": float("my" in words),
        "your": float("your" in words),
    }


def _earlier(turns: Sequence[str]) -> dict[str, float]:
    """Return the features of the turns before that turn."""
    texts = [turn[:READ_EARLIER].lower() for turn in turns]
    words_by_turn = [_WORD.findall(text) for text in texts]
    words = [word for turn in words_by_turn for word in turn]
    vocabularies = _vocabularies(words)
    return {
        "words a turn": log1p(len(words) / (len(turns) or 1)),
        "longest turn": log1p(max(map(len, words_by_turn), default=0)),
        "lines": log1p(sum(text.count("\n") for text in texts)),
        "list lines": log1p(sum(len(_LIST_LINE.findall(text)) for text in texts)),
        **_phrases(words),
        "requests": log1p(sum(bool(_REQUEST.match(text)) for text in texts)),
        **{name: vocabularies[name] for name in _EARLIER},
    }


def _sides(context: Sequence[str], reply: str) -> dict[str, dict[str, float]]:
    """Return the features by name of the reply, of the turn that it answers and of the turns before that."""
    last = _start(context[-1]) if context else ""
    return {"reply": _reply(_start(reply)), "prompt": _prompt(last), "earlier": _earlier(context[-1 - _TURNS : -1])}


def _start(text: str) -> str:
    """Return the part of a text that is read."""
    return text.replace("\r\n", "\n").strip()[:READ].strip()


def form_of(context: Sequence[str], reply: str) -> list[float]:
    """Return the features of a reply and its context, ordered as `FORM`."""
    return [*chain.from_iterable(side.values() for side in _sides(context, reply).values()), log1p(len(context))]


FORM = (*(f"{side}: {name}" for side, names in _sides((), "").items() for name in names), "turns")
"""Names of the features of `form_of`."""
