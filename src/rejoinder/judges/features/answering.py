"""Columns of whether a reply answers in kind: a place to "where", a number to "how many", yes or no to "do you".

Which kind of answer was asked for is told by the words that the last question of the last turn begins with, whether the
reply has it by words that such answers have. A rough guess in both, and meant so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rejoinder.judges.features.reading import Reading, Words
from rejoinder.judges.features.view import Column

YES_NO = "yes or no"
_ENDS = frozenset(".?!")
# What a question begins behind, where it does not begin a sentence.
_FILLERS = frozenset(", ; - so and but well then oh hey ok okay or no yes yeah wow nice cool great hi hello".split())  # noqa: SIM905 - words
_BEGIN_YES_NO = frozenset(
    "do does did don't doesn't didn't are is was were aren't isn't wasn't weren't am can could can't couldn't will "  # noqa: SIM905 - words
    "would won't wouldn't have has had haven't hasn't should shouldn't may shall".split()
)
_MEASURED = frozenset("many much long old far often big tall fast".split())  # noqa: SIM905 - words
_NUMBERS = frozenset(
    "one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty hundred thousand "  # noqa: SIM905 - words
    "million dozen half few several many lot lots some none couple once twice never always every often".split()
)
# Words of the answers to each kind of question. A number answers "when" and "how many" too.
_ANSWERS: Mapping[str, frozenset[str]] = {
    YES_NO: frozenset(
        "yes yeah yep yup no nope not sure ok okay definitely absolutely certainly maybe perhaps probably never always "  # noqa: SIM905 - words
        "sometimes often rarely usually indeed course little bit i do did am have can will would love like".split()
    ),
    "where": frozenset(
        "in at to from near on by behind next under here there home everywhere nowhere around outside inside "  # noqa: SIM905 - words
        "downtown abroad".split()
    ),
    "when": frozenset(
        "today tomorrow yesterday tonight now soon later ago before after since until last next morning afternoon "  # noqa: SIM905 - words
        "evening night week weekend month year years days hours minutes monday tuesday wednesday thursday friday "
        "saturday sunday january february march april june july august september october november december spring "
        "summer autumn winter never always at".split()
    ),
    "why": frozenset("because since so as for to cause cuz reason just".split()),  # noqa: SIM905 - words
    "who": frozenset(
        "i he she they we it you me him her us them my his their nobody everybody someone friend friends mother father "  # noqa: SIM905 - words
        "mom dad brother sister wife husband boss".split()
    ),
    "how many": _NUMBERS | frozenset("minutes hours days weeks months years miles dollars".split()),  # noqa: SIM905 - words
}


def asked(last: Words) -> str:
    """Which kind of answer a turn asks for in its last question; "" where it asks none, or none that is known."""
    if "?" not in last:
        return ""
    end = len(last) - 1 - last[::-1].index("?")
    breaks = (place for place in range(end - 1, -1, -1) if last[place] in _ENDS)
    question = last[next(breaks, -1) + 1 : end]
    begins = (place for place, before in enumerate((",", *question[:-1])) if before in _FILLERS)
    return next(filter(None, (_kind(question[place : place + 2]) for place in begins)), "")


def _kind(question: Sequence[str]) -> str:
    """The kind of a question by its first words; "" where they tell none."""
    first, second = [*question[:2], "", ""][:2]
    if first in ("how", "what") and (second in _MEASURED or (first, second) == ("what", "time")):
        return "when" if first == "what" else "how many"
    if first in _BEGIN_YES_NO:
        return YES_NO
    return first if first in _ANSWERS else ""


def _in_kind(read: Reading) -> int:
    """1 where the reply has a word of the kind that is asked for, -1 where it has none, 0 where no kind is known."""
    kind = asked(read.last.words)
    if not kind:
        return 0
    number = kind in ("when", "how many") and any(word[0].isdigit() or word in _NUMBERS for word in read.reply.words)
    return 1 if number or read.reply.kinds & _ANSWERS[kind] else -1


COLUMNS: tuple[Column[Reading], ...] = (
    Column("asked_yes_or_no", "form", lambda read: asked(read.last.words) == YES_NO),
    Column("answers_in_kind", "context fit", _in_kind),
)
