"""What a turn is about, in a few tokens: its tense and its nouns.

Source: Serban et al. 2017 (MrRNN), the noun representation: one token for the tense of the turn, then each of its
nouns once, without stop words. A placeholder replaces missing tenses or nouns. The released program uses a
part-of-speech tagger for tweets; this module uses the lexicon of textblob, which needs no download.
"""

from __future__ import annotations

from rejoinder.text.parts_of_speech import tagger

# Placeholders, which the byte-pair encoding does not take apart.
NO_NOUNS, NO_TENSES = "<no_nouns>", "<no_tenses>"
_PAST, _PRESENT = {"VBD", "VBN"}, {"VBP", "VBZ", "VBG"}
# The tagger takes "we'll" and "won't" apart into "we ' ll" and "wo n ' t".
_FUTURE = {"will", "shall", "ll", "gonna", "wo"}
# Function words that the lexicon takes for nouns, and pieces of contractions.
_NO_TOPIC = "i ll n s t m re ve d y im dont didnt doesnt cant thats its one ones lot lots way thing things"


def coarse_text(text: str) -> str:
    """Return the coarse sequence of a turn in lower case: a tense token, then its nouns by first occurrence.

    Tense tokens are `<past>`, `<present>` and `<future>`, those that occur joined in this order (`<past_future>`), or
    `<no_tenses>`.

    Raises:
        MissingExtra: textblob is not installed.
    """
    tagged = [(word.lower(), kind) for word, kind in tagger("A MrRNN")(text)]
    tenses = {
        "past": any(kind in _PAST for _, kind in tagged),
        "present": any(kind in _PRESENT for _, kind in tagged),
        "future": any(word in _FUTURE for word, _ in tagged),
    }
    found = "_".join(name for name, there in tenses.items() if there)
    nouns = dict.fromkeys(word for word, kind in tagged if kind.startswith("NN") and _counts(word))
    return " ".join([f"<{found}>" if found else NO_TENSES, *(nouns or [NO_NOUNS])])


def _counts(word: str) -> bool:
    """Whether a word that is tagged as a noun says what a turn is about."""
    return word not in _NO_TOPIC.split() and any(map(str.isalpha, word))
