"""Attacks on the words of a reply: their order, their number, which of them stay.

Each function gives the changed text, or None where there is nothing to change. A word is what stands between spaces; in
a script that puts none between words, it is a character.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

from rejoinder.auditing.attack import Rng
from rejoinder.auditing.stop_words import COMMON, NLTK
from rejoinder.text.scripts import unspaced_script

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_LETTERS = "bcdfghjklmnpqrstvwxz"
_LONG = 200  # words
_FILLER = "and so on"
_SHORTEST_TYPO = 4  # letters of a word
_LONG_WORD, _SEVERAL = 5, 3  # letters of a word that says something; words of a reply of which one is little
_PERSONS = {
    "i am": "you are",
    "i'm": "you're",
    "i was": "you were",
    "you are": "I am",
    "you're": "I'm",
    "you were": "I was",
    "i": "you",
    "you": "I",
    "me": "you",
    "my": "your",
    "your": "my",
    "mine": "yours",
    "yours": "mine",
    "myself": "yourself",
    "yourself": "myself",
}
_PERSON = re.compile(
    r"\b(?:i am|you are|i was|you were|" + "|".join(one for one in _PERSONS if " " not in one) + r")\b(?!['’])",
    re.IGNORECASE,
)
_AUXILIARY = re.compile(
    r"\b(am|is|are|was|were|do|does|did|can|could|will|would|should|have|has|had|must)\b(?!['’])(\s+not\b)?",
    re.IGNORECASE,
)
_WHOLE = {"can't": "cannot", "ca n't": "cannot", "won't": "will not", "wo n't": "will not", "let's": "let us"}
_ENDINGS = {"n't": " not", "'re": " are", "'ve": " have", "'ll": " will", "'m": " am"}
# Contractions as they are written, and as some corpora have them: do n't.
_CONTRACTION = re.compile(r"\b(?:let['’]s|\w+?\s?(?:n['’]t|['’]re|['’]ve|['’]ll|['’]m))\b", re.IGNORECASE)


def units(text: str) -> tuple[list[str], str]:
    """The words of a text, and what stands between them."""
    return (list("".join(text.split())), "") if unspaced_script(text) else (text.split(), " ")


def one_word(text: str, rng: Rng, usual: Sequence[str]) -> str | None:
    """One of the longer words of a text of three words or more, and a full stop; or as often one that fits anywhere."""
    own = [word for word in _WORD.findall(text) if len(word) >= _LONG_WORD]
    if len(units(text)[0]) < _SEVERAL:
        return None
    chosen = own if own and rng.random() < 0.5 else usual
    word = chosen[int(rng.integers(len(chosen)))]
    return f"{word}." if chosen is own else word


def jumbled(text: str, rng: Rng) -> str | None:
    """The words in random order, which is another one."""
    words, between = units(text)
    if len(set(words)) < 2:
        return None
    order = [words[place] for place in rng.permutation(len(words))]
    while order == words:
        order = [words[place] for place in rng.permutation(len(words))]
    return between.join(order)


def turned_round(text: str) -> str | None:
    """The words from the last to the first."""
    words, between = units(text)
    return None if words == words[::-1] else between.join(words[::-1])


def repeated(text: str, rng: Rng) -> str | None:
    """Half of the words, drawn at random, each said twice in a row.

    Where the copy stands is not told by Sai et al.; beside the word is our reading.
    """
    words, between = units(text)
    drawn = set(rng.choice(len(words), len(words) // 2, replace=False).tolist()) if words else set()
    said = [word for place, word in enumerate(words) for _ in range(1 + (place in drawn))]
    return between.join(said) if drawn else None


def half(text: str) -> str | None:
    """About the first half of the words, cut inside a sentence; None where it has no inside.

    What ends where a sentence does may be the better reply, so no judge is wrong that likes it.
    """
    words, between = units(text)
    inside = [place for place in range(1, len(words)) if _goes_on(words[place - 1], words[place])]
    cut = min(inside, key=lambda place: abs(place - len(words) // 2), default=0)
    return between.join(words[:cut]) if cut else None


def _goes_on(word: str, after: str) -> bool:
    """Whether a sentence goes on from a word to the next: no sign stands between them."""
    return word[-1].isalnum() and after[0].isalnum()


def twice(text: str) -> str | None:
    """The whole said again."""
    return f"{text} {text}" if text.strip() else None


def padded(text: str) -> str | None:
    """The reply, and 200 words of nothing after it."""
    return f"{text} {' '.join([_FILLER] * (_LONG // 3 + 1))}" if text.strip() else None


def gibberish(text: str, rng: Rng) -> str | None:
    """Random consonants in words as long as those of the reply."""
    words, between = units(text)
    drawn = ["".join(_LETTERS[int(place)] for place in rng.integers(len(_LETTERS), size=len(word))) for word in words]
    return between.join(drawn) or None


def without(text: str, words: Container[str]) -> str | None:
    """The text without some words; None where it holds none of them, or nothing else."""
    dropped = [match.span() for match in _WORD.finditer(text) if match[0].lower().replace("’", "'") in words]
    return cut(text, dropped)


def cut(text: str, spans: Sequence[tuple[int, int]]) -> str | None:
    """The text without some stretches; None where there are none, or no word is left."""
    if not spans:
        return None
    kept, place = "", 0
    for start, end in spans:
        kept, place = kept + text[place:start], end
    left = re.sub(r"\s+(?=[.,!?;:])", "", " ".join((kept + text[place:]).split()))
    return left if _WORD.search(left) else None


def without_stop_words(text: str) -> str | None:
    """The text without nltk's stop words."""
    return without(text, NLTK)


def without_common_words(text: str) -> str | None:
    """The text without the 25 commonest words."""
    return without(text, COMMON)


def wrong_speaker(text: str) -> str | None:
    """I said for you, and you for I."""
    said = _PERSON.sub(lambda match: _PERSONS[match[0].lower()], text)
    return said if said.casefold() != text.casefold() else None


def contradicted(text: str) -> str | None:
    """The reply, and after it the same with a `not` more or less; None where no verb takes one."""

    def turned(match: re.Match[str]) -> str:
        return match[1] if match[2] else f"{match[1]} not"

    said, changes = _AUXILIARY.subn(turned, text, count=1)
    return f"{text} {said}" if changes else None


def spelled_out(text: str) -> str | None:
    """Contractions written out: do not for don't."""

    def long(match: re.Match[str]) -> str:
        short = match[0].replace("’", "'")
        if whole := _WHOLE.get(short.lower()):
            return whole if short[0].islower() else whole.capitalize()
        ending = next(one for one in _ENDINGS if short.lower().endswith(one))
        begun = short[: -len(ending)].rstrip()
        return ("I" if begun == "i" else begun) + _ENDINGS[ending]

    said, changes = _CONTRACTION.subn(long, text)
    return said if changes else None


def mistyped(text: str, rng: Rng) -> str | None:
    """Two neighbouring letters inside a word of four letters or more, in the other order."""
    places = [
        place
        for match in re.finditer(rf"[^\W\d_]{{{_SHORTEST_TYPO},}}", text)
        for place in range(match.start() + 1, match.end() - 2)
        if text[place] != text[place + 1]
    ]
    if not places:
        return None
    place = places[int(rng.integers(len(places)))]
    return text[:place] + text[place + 1] + text[place] + text[place + 2 :]
