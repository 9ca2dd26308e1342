"""Features of how a reply is worded: length and form, clean writing, specificity, and whether it answers in kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from math import fsum, inf, log, log1p

from rejoinder.judges.features.table import Feature, Group
from rejoinder.judges.features.text import WORDS, WORDS_IN_KIND, ReadExample, share
from rejoinder.text.detect import is_code

_FEW, _MANY = 4, 25  # words: fewer are few, more are many
_TURNS = 6  # higher counts of context turns are clipped to this
_UNKNOWN = 4  # unknown words that make nonsense: fewer may be names and technical terms
_YES_NO = "yes or no"
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_SIGN_RUN = re.compile(r"[^\w\s]{2,}")
_VOWELLESS = re.compile(r"\b[b-df-hj-np-tv-xz]{4,}\b")
_MARKUP = re.compile(
    r"</?\w[^<>]{0,40}>|https?:|www\.|&#?\w{2,8};|__\w+|\b_\w+_\b|[{}\\|~^]|\[/?\w{1,12}\]|\ufffd|â€|Ã.", re.IGNORECASE
)
_ASCII: dict[Callable[[str], bool], bytes] = {
    kind: bytes(code for code in range(128) if kind(chr(code)))
    for kind in (str.isupper, str.isalpha, str.isdigit, str.isspace)
}


def _count(text: str, kind: Callable[[str], bool]) -> int:
    """Return the number of characters of a kind."""
    if text.isascii():
        return len(text) - len(text.encode().translate(None, _ASCII[kind]))
    return sum(map(kind, text))


def _foreign_letters(text: str) -> float:
    """Return the share of letters that English does not have."""
    return 0.0 if text.isascii() else sum(not sign.isascii() and sign.isalpha() for sign in text) / len(text)


def _per_word(pattern: re.Pattern[str], text: str) -> float:
    """Return how often a pattern occurs for each word."""
    return share(len(pattern.findall(text)), len(text.split()))


def _begins(read: ReadExample, name: str) -> bool:
    """Return whether a reply begins with a word of a list."""
    return read.reply.first in WORDS[name]


def _ends(read: ReadExample, name: str) -> bool:
    """Return whether a reply ends in a word of a list."""
    return (read.reply.words or ("",))[-1] in WORDS[name]


def _content_words(read: ReadExample) -> int:
    """Return the number of words that say what a reply is about."""
    return sum(map(read.reply.topics.__contains__, read.reply.words))


def _unknown_words(read: ReadExample) -> float:
    """Return the share of words that the corpus does not have."""
    known = read.phrases.rarity
    return sum(word not in known for word in read.reply.words) / read.reply.size


def _nonsense(read: ReadExample) -> bool:
    """Return whether a reply is a program, or most of its words are unknown words in small letters."""
    words, known = _WORD.findall(read.text), read.phrases.rarity
    unknown = sum(word.islower() and word.replace("’", "'") not in known for word in words)
    return (unknown >= _UNKNOWN and 2 * unknown > len(words)) or is_code(read.text)


def question_kind(turn: Sequence[str]) -> str:
    """Return the kind of answer that the last question of a turn asks for, by the words that the question begins with.

    It is "" where there is no question, or one of no kind that is known.
    """
    if "?" not in turn:
        return ""
    end = len(turn) - 1 - turn[::-1].index("?")
    breaks = (place for place in range(end - 1, -1, -1) if turn[place] in WORDS["stops"])
    question = turn[next(breaks, -1) + 1 : end]
    begins = (place for place, before in enumerate((",", *question[:-1])) if before in WORDS["fillers"])
    return next(filter(None, (_kind(question[place : place + 2]) for place in begins)), "")


def _kind(question: Sequence[str]) -> str:
    """Return the kind of a question by its first two words; "" where they show none."""
    first, second = [*question, "", ""][:2]
    if first == "what" and second == "time":
        return "when"
    if first in ("how", "what") and second in WORDS["measured"]:
        return "how many" if first == "how" else "when"
    if first in WORDS["begin_yes_no"]:
        return _YES_NO
    return first if first in WORDS_IN_KIND else ""


def _in_kind(read: ReadExample) -> int:
    """Return 1 for a reply with a word of the kind that is asked for, -1 for one without, 0 where no kind is known."""
    kind, reply = question_kind(read.last.words), read.reply
    if not kind:
        return 0
    number = kind in ("when", "how many") and (
        not reply.kinds.isdisjoint(WORDS["numbers"]) or any(word[0].isdigit() for word in reply.kinds)
    )
    return 1 if number or not reply.kinds.isdisjoint(WORDS_IN_KIND[kind]) else -1


def _form(
    name: str, compute: Callable[[ReadExample], float], low: float = 0, high: float = inf
) -> Feature[ReadExample]:
    return Feature(name, "form", compute, low, high)


def _flag(name: str, compute: Callable[[ReadExample], float], group: Group = "form") -> Feature[ReadExample]:
    return Feature(name, group, compute, 0, 1)


def _fluency(name: str, compute: Callable[[str], float], high: float = 1) -> Feature[ReadExample]:
    return Feature(name, "fluency", lambda read: compute(read.text), 0, high)


FORM: tuple[Feature[ReadExample], ...] = (
    _form("words", lambda read: len(read.reply.words)),
    _form("log_words", lambda read: log(read.reply.size)),
    _flag("few_words", lambda read: len(read.reply.words) < _FEW),
    _flag("many_words", lambda read: len(read.reply.words) > _MANY),
    _form("word_length", lambda read: sum(map(len, read.reply.words)) / read.reply.size),
    _flag("last_asks", lambda read: "?" in read.last.kinds),
    _flag("asks", lambda read: "?" in read.reply.kinds),
    _flag("asks_back", lambda read: "?" in read.last.kinds and "?" in read.reply.kinds),
    _flag("begins_as_answer", lambda read: _begins(read, "answers")),
    _flag("answers_question", lambda read: "?" in read.last.kinds and _begins(read, "answers")),
    _flag("first_person", lambda read: read.reply.share(WORDS["first_person"])),
    _flag("second_person", lambda read: read.reply.share(WORDS["second_person"])),
    _flag("first_person_to_you", lambda read: ("you" in read.last.kinds) * read.reply.share(WORDS["first_person"])),
    _flag(
        "does_not_know", lambda read: "know" in read.reply.kinds and not read.reply.kinds.isdisjoint(WORDS["not_known"])
    ),
    _form("exclamations", lambda read: read.reply.words.count("!")),
    _form("commas", lambda read: read.reply.words.count(",")),
    _flag("greets", lambda read: _begins(read, "greetings")),
    _flag("sorry", lambda read: "sorry" in read.reply.kinds),
    _flag("thanks", lambda read: not read.reply.kinds.isdisjoint(WORDS["thanks"])),
    _flag("rude_words", lambda read: read.reply.share(WORDS["rude"])),
    _flag("begins_as_question", lambda read: _begins(read, "question_words")),
    _form("context_turns", lambda read: min(_TURNS, len(read.context)), high=_TURNS),
    _form("last_words", lambda read: len(read.last.words)),
    _form("length_ratio", lambda read: log((len(read.reply.words) + 1) / (len(read.last.words) + 1)), low=-inf),
    _flag("signs", lambda read: sum(not word[0].isalnum() for word in read.reply.words) / read.reply.size, "fluency"),
    _flag("ends_sentence", lambda read: _ends(read, "stops"), "fluency"),
    _flag("unfinished", lambda read: _ends(read, "going_on"), "fluency"),
    Feature("longest_word", "fluency", lambda read: max(map(len, read.reply.words), default=0), 0, inf),
    _fluency("capitals", lambda text: share(_count(text, str.isupper), _count(text, str.isalpha)), inf),
    _fluency("digits", lambda text: share(_count(text, str.isdigit), len(text))),
    _fluency("no_letters", lambda text: 1.0 - share(_count(text, str.isalpha) + _count(text, str.isspace), len(text))),
    _fluency("foreign_letters", _foreign_letters),
    _fluency("sign_runs", lambda text: _per_word(_SIGN_RUN, text), inf),
    _fluency("vowelless", lambda text: _per_word(_VOWELLESS, text.lower()), inf),
    _fluency("markup", lambda text: _per_word(_MARKUP, text), inf),
)
SPECIFICITY: tuple[Feature[ReadExample], ...] = (
    Feature("idf_mean", "specificity", lambda read: fsum(read.rarities) / read.reply.size, -inf, inf),
    Feature("idf_max", "specificity", lambda read: max(read.rarities, default=0.0), -inf, inf),
    Feature("idf_sum", "specificity", lambda read: fsum(read.rarities), -inf, inf),
    Feature("content_words", "specificity", _content_words, 0, inf),
    Feature("content_share", "specificity", lambda read: _content_words(read) / read.reply.size, 0, 1),
    Feature("unknown_words", "specificity", _unknown_words, 0, 1),
    _flag("senseless", _nonsense, "fluency"),
    Feature("usual_reply", "specificity", lambda read: log1p(read.phrases.reply_count(read.reply.words)), 0, inf),
    Feature("last_idf_mean", "specificity", lambda read: read.weight(read.last.words) / read.last.size, -inf, inf),
)
ANSWERS: tuple[Feature[ReadExample], ...] = (
    _flag("asked_yes_or_no", lambda read: question_kind(read.last.words) == _YES_NO),
    Feature("answers_in_kind", "context fit", _in_kind, -1, 1),
)
