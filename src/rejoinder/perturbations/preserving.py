"""Perturbations that make a response as good as before, or change nothing that a reader sees."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container
from dataclasses import replace

from rejoinder.example import Example
from rejoinder.perturbations.degrading import PURPOSE, SAI3, SAI4, TAGGER
from rejoinder.perturbations.perturbation import LISTS, WORD, Corpus, Goal, Rng, choice, perturbation, without_spans
from rejoinder.text.parts_of_speech import Word, tagged
from rejoinder.text.wordnet import find_wordnet, load_wordnet

STOP_WORDS = frozenset(LISTS["stop_words"])
COMMON_WORDS = frozenset(LISTS["common_words"])

WORDNET = (("synonyms", lambda: f"wordnet-{load_wordnet(find_wordnet()).get_version()}"),)
WHOLE = {"can't": "cannot", "ca n't": "cannot", "won't": "will not", "wo n't": "will not", "let's": "let us"}
ENDINGS = {"n't": " not", "'re": " are", "'ve": " have", "'ll": " will", "'m": " am"}
CONTRACTION = re.compile(r"\b(?:let['’]s|\w+?\s?(?:n['’]t|['’]re|['’]ve|['’]ll|['’]m))\b", re.IGNORECASE)
FIRST_PERSON = {"i", "i'm", "i've", "i'll", "i'd"}
HOMOGLYPHS = str.maketrans("aceopxyABCEHKMOPTX", "асеорхуАВСЕНКМОРТХ")
STRAIGHT = str.maketrans("’“”", '\'""')
HARDLY = "unchanged, or hardly lower"


@perturbation(Goal.NOT_WORSE, source=SAI3, ideal="not lower")
def reference(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """a reference itself"""
    texts = [text for text in example.references if text.strip()]
    return choice(texts, rng) if texts else None


@perturbation(Goal.NOT_WORSE, source=SAI3, ideal="not lower")
def swapped(example: Example, rng: Rng, corpus: Corpus) -> Example | None:
    """reference and reply swapped"""
    other = reference(example, rng, corpus)
    if other is None or not example.response.strip():
        return None
    return replace(example, response=other, references=(example.response,))


@perturbation(Goal.NOT_WORSE, source=SAI4)
def no_punctuation(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """punctuation removed"""
    left = "".join(sign for sign in example.response if not unicodedata.category(sign).startswith("P"))
    left = " ".join(left.split())
    return left if left and left != " ".join(example.response.split()) else None


@perturbation(Goal.NOT_WORSE, source=SAI4, ideal=HARDLY)
def no_stop_words(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """nltk's stop words removed"""
    return without_words(example.response, STOP_WORDS)


@perturbation(Goal.NOT_WORSE, source=SAI4, ideal=HARDLY)
def no_common_words(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """25 common words removed"""
    return without_words(example.response, COMMON_WORDS)


@perturbation(Goal.NOT_WORSE, source=SAI4, tools=TAGGER)
def no_entities(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """names removed"""
    text = example.response
    return without_spans(text, [(word.start, word.end) for word in tagged(text, PURPOSE) if is_name(word, text)])


@perturbation(Goal.NOT_WORSE, source=SAI4, tools=(*TAGGER, *WORDNET))
def synonyms(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """words replaced by synonyms"""
    text, made, place = example.response, "", 0
    for word in tagged(text, PURPOSE):
        if word.text.lower() in STOP_WORDS or is_name(word, text) or not (other := synonym(word.text)):
            continue
        made, place = made + text[place : word.start] + other, word.end
    return made + text[place:] if place else None


@perturbation(Goal.NOT_WORSE)
def spelled_out(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """contractions written out"""
    made, changes = CONTRACTION.subn(spell_out, example.response)
    return made if changes else None


@perturbation(Goal.NOT_WORSE)
def typing_error(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """two letters of a word swapped"""
    text = example.response
    places = [
        place
        for match in re.finditer(r"[^\W\d_]{4,}", text)
        for place in range(match.start() + 1, match.end() - 2)
        if text[place] != text[place + 1]
    ]
    if not places:
        return None
    place = places[int(rng.integers(len(places)))]
    return text[:place] + text[place + 1] + text[place] + text[place + 2 :]


@perturbation(Goal.NOT_WORSE)
def upper_case(example: Example, rng: Rng, corpus: Corpus) -> str:
    """all in upper case"""
    return example.response.upper()


@perturbation(Goal.NOT_WORSE)
def lower_case(example: Example, rng: Rng, corpus: Corpus) -> str:
    """all in lower case"""
    return example.response.lower()


@perturbation(Goal.NOT_WORSE)
def final_stop(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """the sign at the end dropped, or a full stop put there"""
    text = example.response.rstrip()
    left = text.rstrip(".!?…").rstrip()
    return None if not left else left if left != text else f"{text}."


@perturbation(Goal.NOT_WORSE)
def emoji(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """an emoji at the end"""
    return f"{example.response.rstrip()} 🙂" if example.response.strip() else None


@perturbation(Goal.NOT_WORSE)
def speaker_tag(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """“Bot:” before the reply"""
    return f"Bot: {example.response}" if example.response.strip() else None


# A change of nothing


@perturbation(Goal.SAME)
def look_alikes(example: Example, rng: Rng, corpus: Corpus) -> str:
    """letters that look the same"""
    return example.response.translate(HOMOGLYPHS)


@perturbation(Goal.SAME)
def unseen_characters(example: Example, rng: Rng, corpus: Corpus) -> str:
    """spaces of no width inside words"""
    return re.sub(r"(\w)(?=\w)(?<!\w\w)", "\\1\u200b", example.response)


@perturbation(Goal.SAME)
def spaces(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """two spaces for one"""
    return f" {re.sub(' +', '  ', example.response.strip())} " if example.response.strip() else None


@perturbation(Goal.SAME)
def quotes(example: Example, rng: Rng, corpus: Corpus) -> str:
    """round quotes for straight ones"""
    text = example.response
    if (straight := text.translate(STRAIGHT)) != text:
        return straight
    return re.sub(r'(?<!\S)"', "“", text).replace('"', "”").replace("'", "’")


@perturbation(Goal.SAME)
def decomposed(example: Example, rng: Rng, corpus: Corpus) -> str:
    """accents as signs of their own"""
    apart = unicodedata.normalize("NFD", example.response)
    return apart if apart != example.response else unicodedata.normalize("NFC", example.response)


def without_words(text: str, words: Container[str]) -> str | None:
    """Return the text without some words; None if it holds none of them, or nothing else."""
    return without_spans(text, [m.span() for m in WORD.finditer(text) if m[0].lower().replace("’", "'") in words])


def spell_out(match: re.Match[str]) -> str:
    """Return a contraction written out."""
    short = match[0].replace("’", "'")
    if whole := WHOLE.get(short.lower()):
        return whole if short[0].islower() else whole.capitalize()
    ending = next(one for one in ENDINGS if short.lower().endswith(one))
    begun = short[: -len(ending)].rstrip()
    return ("I" if begun == "i" else begun) + ENDINGS[ending]


def is_name(word: Word, text: str) -> bool:
    """Return whether a word is tagged as a name, or capitalised inside a sentence that is not all in capitals."""
    if word.text.lower().replace("’", "'") in FIRST_PERSON or not word.text[0].isupper():
        return False
    begins = text[: word.start].rstrip()[-1:] in ("", *".!?:;\"'”“")
    return (not begins and not text.isupper()) or word.kind.startswith("NNP")


def synonym(word: str) -> str | None:
    """Return the first other word of the first sense that holds `word` itself, in its case."""
    lower = word.lower()
    for sense in load_wordnet(find_wordnet()).synsets(word):
        names = sense.lemma_names()
        if lower in map(str.lower, names):
            other: str | None = next((name for name in names if name.lower() != lower and "_" not in name), None)
            if other is not None:
                return other.capitalize() if word[0].isupper() else other
    return None
