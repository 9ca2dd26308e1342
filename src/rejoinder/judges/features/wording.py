"""Columns of how a reply is worded: its length and form, whether it asks or answers, and how cleanly it is written."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import log

from rejoinder.judges.features.reading import Reading, share
from rejoinder.judges.features.table import Group
from rejoinder.judges.features.view import Column

_FEW, _MANY = 4, 25  # words: fewer are few, more are many
_MOST_TURNS = 6  # so many turns of context are many
_ANSWERS = frozenset("yes yeah no yep nope sure ok okay well".split())  # noqa: SIM905 - words
_FIRST_PERSON = frozenset("i i'm i've my me i'll i'd".split())  # noqa: SIM905 - words
_SECOND_PERSON = frozenset("you your you're".split())  # noqa: SIM905 - words
_QUESTION_WORDS = frozenset("what how why where when who which".split())  # noqa: SIM905 - words
_GREETINGS, _THANKS = frozenset(("hi", "hello", "hey")), frozenset(("thanks", "thank"))
_RUDE = frozenset(
    "stupid idiot idiots idiotic moron morons dumb fool loser losers shut ugly fat bastard bitch asshole ass dick crap "  # noqa: SIM905 - words
    "shit bullshit fuck fucking fucked damn hell jerk retard retarded pig pathetic worthless useless disgusting hate "
    "kill die whore slut scum trash creep freak coward lame suck sucks stfu wtf".split()
)
_NOT, _STOPS = frozenset(("don't", "not")), frozenset(".?!")
# Words that a sentence goes on after: articles, pronouns that own, prepositions, conjunctions, auxiliaries; a comma.
_GOING_ON = frozenset(
    "the a an i my your his her our their its to of and or but if because with at from for into than as by on in about "  # noqa: SIM905 - words
    "between is are was were am be been has have had can could will would should may might must does i'm i've i'll "
    "i'd you're you'll they're we're it's that's very ,".split()
)
_SIGN_RUN = re.compile(r"[^\w\s]{2,}")
_VOWELLESS = re.compile(r"\b[b-df-hj-np-tv-xz]{4,}\b")
_MARKUP = re.compile(
    r"</?\w[^<>]{0,40}>|https?:|www\.|&#?\w{2,8};|__\w+|\b_\w+_\b|[{}\\|~^]|\[/?\w{1,12}\]|\ufffd|â€|Ã.", re.IGNORECASE
)


def _form(name: str, of: Callable[[Reading], float], group: Group = "form") -> Column[Reading]:
    return Column(name, group, of)


def _fluency(name: str, of: Callable[[str], float]) -> Column[Reading]:
    """A column of the reply as it is written."""
    return Column(name, "fluency", lambda read: of(read.text))


def _count(text: str, which: Callable[[str], bool]) -> int:
    """How many characters of a text are so."""
    return sum(map(which, text))


def _is_foreign(character: str) -> bool:
    """Whether a character is a letter that English does not have."""
    return not character.isascii() and character.isalpha()


def _says_dont_know(read: Reading) -> bool:
    """Whether the reply says that one does not know."""
    return "know" in read.reply.kinds and bool(read.reply.kinds & _NOT)


def _length_ratio(read: Reading) -> float:
    """The logarithm of how much longer the reply is than the turn it answers."""
    return log((len(read.reply.words) + 1) / (len(read.last.words) + 1))


def _ends_in(read: Reading, words: frozenset[str]) -> bool:
    """Whether the last word of the reply is among some."""
    return bool(read.reply.words) and read.reply.words[-1] in words


COLUMNS: tuple[Column[Reading], ...] = (
    _form("words", lambda read: len(read.reply.words)),
    _form("log_words", lambda read: log(read.reply.size)),
    _form("few_words", lambda read: len(read.reply.words) < _FEW),
    _form("many_words", lambda read: len(read.reply.words) > _MANY),
    _form("word_length", lambda read: share(sum(map(len, read.reply.words)), len(read.reply.words))),
    _form("last_asks", lambda read: "?" in read.last.kinds),
    _form("asks", lambda read: "?" in read.reply.kinds),
    _form("asks_back", lambda read: "?" in read.last.kinds and "?" in read.reply.kinds),
    _form("begins_as_answer", lambda read: read.reply.first in _ANSWERS),
    _form("answers_question", lambda read: "?" in read.last.kinds and read.reply.first in _ANSWERS),
    _form("first_person", lambda read: read.reply.share(_FIRST_PERSON)),
    _form("second_person", lambda read: read.reply.share(_SECOND_PERSON)),
    _form("first_person_to_you", lambda read: ("you" in read.last.kinds) * read.reply.share(_FIRST_PERSON)),
    _form("does_not_know", _says_dont_know),
    _form("exclamations", lambda read: read.reply.words.count("!")),
    _form("commas", lambda read: read.reply.words.count(",")),
    _form("greets", lambda read: read.reply.first in _GREETINGS),
    _form("sorry", lambda read: "sorry" in read.reply.kinds),
    _form("thanks", lambda read: bool(read.reply.kinds & _THANKS)),
    _form("rude_words", lambda read: read.reply.share(_RUDE)),
    _form("begins_as_question", lambda read: read.reply.first in _QUESTION_WORDS),
    _form("context_turns", lambda read: min(_MOST_TURNS, len(read.context))),
    _form("last_words", lambda read: len(read.last.words)),
    _form("length_ratio", _length_ratio),
    _form("signs", lambda read: sum(not word[0].isalnum() for word in read.reply.words) / read.reply.size, "fluency"),
    _form("ends_sentence", lambda read: _ends_in(read, _STOPS), "fluency"),
    _form("unfinished", lambda read: _ends_in(read, _GOING_ON), "fluency"),
    _form("longest_word", lambda read: max(map(len, read.reply.words), default=0), "fluency"),
    _fluency("capitals", lambda text: share(_count(text, str.isupper), _count(text, str.isalpha))),
    _fluency("digits", lambda text: share(_count(text, str.isdigit), len(text))),
    _fluency("no_letters", lambda text: 1.0 - share(_count(text, str.isalpha) + _count(text, str.isspace), len(text))),
    _fluency("foreign_letters", lambda text: share(0 if text.isascii() else _count(text, _is_foreign), len(text))),
    _fluency("sign_runs", lambda text: share(len(_SIGN_RUN.findall(text)), len(text.split()))),
    _fluency("vowelless", lambda text: share(len(_VOWELLESS.findall(text.lower())), len(text.split()))),
    _fluency("markup", lambda text: share(len(_MARKUP.findall(text)), len(text.split()))),
)
