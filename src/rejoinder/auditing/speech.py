"""Attacks by part of speech and by meaning: nouns alone, no names, other words for the same.

Parts of speech come from textblob's lexicon, synonyms from WordNet; which, stands in the signature of an audit.
"""

from __future__ import annotations

from collections.abc import Sequence

from rejoinder.auditing.stop_words import NLTK
from rejoinder.auditing.words import cut
from rejoinder.text.parts_of_speech import Word, tagged, tagger_name
from rejoinder.text.wordnet import find_wordnet, load_wordnet

_PURPOSE = "An attack by part of speech"
_NOUN, _PRONOUN, _VERB = ("NN",), ("PRP", "WP"), ("VB", "MD")
_FIRST_PERSON = {"i", "i'm", "i've", "i'll", "i'd"}


def tagger() -> str:
    """The tagger's name; loads it.

    Raises:
        MissingExtra: there is none.
    """
    return tagger_name(_PURPOSE)


def wordnet() -> str:
    """The name and version of WordNet; loads it.

    Raises:
        MissingAsset: there is none.
    """
    return f"wordnet-{load_wordnet(find_wordnet()).get_version()}"


def nouns(text: str) -> str | None:
    """The nouns alone."""
    return _only(text, _NOUN)


def nouns_and_verbs(text: str) -> str | None:
    """Nouns, pronouns and verbs alone."""
    return _only(text, (*_NOUN, *_PRONOUN, *_VERB))


def without_entities(text: str) -> str | None:
    """The text without the names in it."""
    return cut(text, [(word.start, word.end) for word in tagged(text, _PURPOSE) if _is_name(word, text)])


def by_synonyms(text: str) -> str | None:
    """Words replaced by the first other word of their first sense, but for stop words, names and inflected words."""
    known, said, place = load_wordnet(find_wordnet()), "", 0
    for word in tagged(text, _PURPOSE):
        if word.text.lower() in NLTK or _is_name(word, text):
            continue
        senses = [sense.lemma_names() for sense in known.synsets(word.text)]
        if not (other := _synonym(senses, word.text)):
            continue
        said, place = said + text[place : word.start] + other, word.end
    return said + text[place:] if place else None


def _only(text: str, kinds: tuple[str, ...]) -> str | None:
    """The words of some parts of speech; None where these are none or all."""
    words = tagged(text, _PURPOSE)
    kept = [word.text for word in words if word.kind.startswith(kinds)]
    return " ".join(kept) if kept and len(kept) < len(words) else None


def _is_name(word: Word, text: str) -> bool:
    """Whether it is a name: tagged so, or with a capital inside a sentence that is not all in capitals."""
    if word.text.lower().replace("’", "'") in _FIRST_PERSON or not word.text[0].isupper():
        return False
    begins = text[: word.start].rstrip()[-1:] in ("", *".!?:;\"'”“")
    return (not begins and not text.isupper()) or word.kind.startswith("NNP")


def _synonym(senses: Sequence[Sequence[str]], word: str) -> str | None:
    """Return the first other word of its senses, in the case of this word; None for a word that is no entry itself."""
    own = word.lower()
    for names in senses:
        if own in map(str.lower, names):
            other = next((name for name in names if name.lower() != own and "_" not in name), None)
            if other is not None:
                return other.capitalize() if word[0].isupper() else other
    return None
