"""What a text is that is no English chat: another language, code, a long piece of writing, no words at all.

These tests look at a text for some hundredths of a millisecond and would rather miss than cry wolf: what is noted is
hardly ever plain English chat (`docs/notes.md` has the figures).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import regex  # type: ignore[import-untyped]

LEAST_WORDS = 4  # of fewer, names and typing errors among them, only words that are plainly foreign tell the language
LEAST_WORTH = 0.42  # words of English chat are worth so much or more on average
LONGEST_CHAT = 120  # words; of 70,685 rated replies of chatbots 17 have more
READ = 500  # characters that tell what a longer text is

# Words among the commonest in English dialogues that stand there for names, or are as common in another language.
ELSEWHERE = frozenset(
    "al ben bin co da de del der die dir du due een el em en er era es et han hat ich il io ja je jag kde la "  # noqa: SIM905 - words
    "las le les lo los men met na non och os per por que se si su te ti tu um un van var vi war ya yo".split()
)
# Words of the commonest short replies in German, French and Spanish that are no English, and hardly ever names.
PLAINLY_FOREIGN = frozenset(
    "aber auch bis bitte danke das dein doch eine genau gerne geht guten heute ich ist kein keine klingt "  # noqa: SIM905 - words
    "leider mein mir nein nicht schön sehr stimmt und vielleicht weiss wie wir wirklich "
    "aussi beaucoup bien bonjour bonne bonsoir ça demain mais merci moi nous oui où pas pourquoi quoi sais "
    "suis sûr toi très vous vrai "
    "buenas buenos cómo cuándo dónde eres está estoy gracias gusta gustan mañana mucho muchas muy pero puedo "
    "qué quiero sé sí soy supuesto también tengo verdad".split()
)
_WORDS = regex.compile(r"(?<![#@\p{Latin}])\p{Latin}[\p{Latin}\p{M}]+")  # no hashtags, no names of users
_OTHER_LETTERS = regex.compile(r"(?:[\p{L}--\p{Latin}]\p{M}*){2,}", flags=regex.V1)  # a single one may be a face
_LETTER_OR_DIGIT = regex.compile(r"[\p{L}\p{N}]")
_LIST_ITEM = re.compile(r"^\s*(?:[-*•]|\d+[.)]|#+) +\S", re.MULTILINE)
_CODE = re.compile(
    r"""
    ^[ \t]*```                                                              # a fence
    | ^[ \t]*(?:def|fn|func|function|class|struct)\s\w+\s*[(:{<]            # definitions
    | ^[ \t]*(?:for|while|if|elif|with|try|except)\b[^?!]*\)?:\s*\n\s+\S    # a Python block
    | ^[ \t]*(?:from\s[\w.]+\s)?import\s[\w.*]+(?:\sas\s\w+)?;?\s*$         # imports
    | ^\#include\s*<
    | \b(?:const|let|var|int|float|double|char|bool)\s\w+\s*=[^=]
    | \bpublic\s(?:static|class|void|int)\b
    | \bfunction\s*\w*\([^)]*\)\s*\{
    | \w\([^()\n]*\)\s*(?:=>|[;{]\s*(?:$|\w+[ =(.]|\}))                     # f(x); f(x) {
    | \w+\.\w+\([^()\n]*\)(?:\.\w+|;|\s*$)                                  # a.f(x)
    | \b\w+\s?(?:==|!=|<=|>=|\+=|<-|&&|\|\|)\s?[\w"'(]
    | \bSELECT\s.+\sFROM\s | \bINSERT\sINTO\s\w | \bCREATE\sTABLE\s\w
    | </(?:a|b|p|div|span|li|ul|ol|td|tr|table|html|head|body|script|style|h\d)>
    | ["']\w+["']\s*:\s*["'\d\[{]                                           # JSON
    | \{\s*[\w-]+\s*:[^{}\n]+;\s*\}?                                        # style sheets
    | ^[ \t]*(?:\$|>>>|\#!)\s?[a-z/][\w./-]*(?:\s\S+)+$                     # a shell
    | \s\|\s(?:awk|grep|head|sed|sort|tail|wc|xargs)\b
    | \bTraceback\s\(most\srecent
    """,
    re.MULTILINE | re.VERBOSE,
)
_CODE_SIGNS = re.compile(r"[(){}\[\]<>=;`$#|&]")


def is_foreign(text: str, english: Mapping[str, float]) -> bool:
    """Whether a text is in another language than English, or in another script than Latin.

    Another script is told by two letters in a row or more, which outnumber the Latin ones. In Latin script a text is
    foreign where its words (of two letters or more) are worth less than 0.42 on average; of fewer than four words one
    must be plainly foreign besides.

    Args:
        text: what to look at; its first 500 characters decide.
        english: what an English word is worth, from 0 to 1, the commoner the more; another is worth nothing.
    """
    words = _WORDS.findall(text[:READ].casefold())
    if not text.isascii():
        others = sum(map(len, _OTHER_LETTERS.findall(text[:READ])))
        if others > sum(map(len, words)):
            return True
    if len(words) < LEAST_WORDS and PLAINLY_FOREIGN.isdisjoint(words):
        return False
    return sum(english.get(word, 0.0) for word in words) < LEAST_WORTH * len(words)


def is_code(text: str) -> bool:
    """Whether a text holds lines of a program, markup or structured data."""
    start = text[:READ]
    return len(_CODE_SIGNS.findall(start)) > 1 and _CODE.search(start) is not None


def is_wordless(text: str) -> bool:
    """Whether a text has signs but neither a letter nor a digit; an empty one has no signs."""
    return bool(text.strip()) and _LETTER_OR_DIGIT.search(text) is None


def is_long(text: str) -> bool:
    """Whether a text is longer than people write in a chat, or laid out as they do not: two list items or headings."""
    return len(text.split(None, LONGEST_CHAT)) > LONGEST_CHAT or ("\n" in text and len(_LIST_ITEM.findall(text)) > 1)
