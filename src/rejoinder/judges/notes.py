"""What a learned judge cannot judge, noted beside its score.

What a judge was fitted on often is not noted: a judge of German replies says of none that it is not English.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain

from rejoinder.example import Example
from rejoinder.judges.learner import Side
from rejoinder.models.encoders import TruncatingEncoder
from rejoinder.scorer import OUT_OF_DOMAIN, Encoder, Warnings
from rejoinder.text.detect import AMBIGUOUS_WORDS, is_code, is_foreign, is_long, is_wordless
from rejoinder.text.normalize import visible
from rejoinder.text.vectors import common_words

NO_WORDS, CODE, NOT_ENGLISH = "no words", "code", "not English"
UNLIKE_CHAT = "unlike short chat"
CONTEXT_NOT_ENGLISH = "context not English"
CUT, CONTEXT_CUT = "not read to the end", "context not read whole"

UNLIKE = "unlike what it was fitted on"
OUTSIDE = frozenset({CODE, NOT_ENGLISH, NO_WORDS, UNLIKE_CHAT, UNLIKE})
"""Warnings that place a reply outside the domain of the judge."""
FORM_NOTES = frozenset({UNLIKE_CHAT})
"""Warnings that place a reply outside short chat by its form alone."""

USUAL = 0.05
"""A note that so large a share of the lines deserved that a judge was fitted on tells nothing of a new one."""

_COMMON = 4000  # rarer words are half the proof of a language: names and loans stand among them
_LAST_TURNS = 3  # they tell the language of a context


def text_notes(examples: Sequence[Example], terms: Sequence[Side]) -> Warnings:
    """Warnings on what the texts are that a judge with `terms` reads; they do not depend on the judge.

    Arguments as for `notes_on`.
    """
    found = {row: tuple(dict.fromkeys(_of_texts(example, terms))) for row, example in enumerate(examples)}
    return {row: notes for row, notes in found.items() if notes}


def notes_on(examples: Sequence[Example], terms: Sequence[Side], encoder: Encoder, usual: Container[str]) -> Warnings:
    """What a judge cannot judge of N examples: position to notes, for those that deserve some.

    Args:
        examples: N examples.
        terms: which of context and references the judge reads.
        encoder: what reads them for it; says what it cuts where it is a `TruncatingEncoder`.
        usual: notes that are not made, because the judge was fitted on such lines.
    """
    # What a judge was fitted on often it can judge; what it cuts it never saw, so that is noted whatever is usual.
    found: dict[int, list[str]] = {
        row: [note for note in notes if note not in usual] for row, notes in text_notes(examples, terms).items()
    }
    if isinstance(encoder, TruncatingEncoder):
        cut = {CUT: encoder.truncated([example.response for example in examples])}
        if "context" in terms:
            cut[CONTEXT_CUT] = encoder.truncated_contexts([example.context for example in examples])
        for note, rows in cut.items():
            for row in rows:
                found.setdefault(row, []).append(note)
    return {row: with_domain(found[row]) for row in sorted(found) if found[row]}


def with_domain(notes: Sequence[str]) -> tuple[str, ...]:
    """Return the notes on one reply, with `out of domain` first where any of them places it there."""
    return (OUT_OF_DOMAIN, *notes) if not OUTSIDE.isdisjoint(notes) else tuple(notes)


def shares(notes: Warnings, lines: int) -> dict[str, float]:
    """What share of so many lines each note stands at."""
    return {note: count / lines for note, count in sorted(Counter(chain.from_iterable(notes.values())).items())}


def usual_notes(noted: Mapping[str, float]) -> frozenset[str]:
    """The notes that are not made by a judge fitted on lines of which these shares deserved them."""
    return frozenset(note for note, share in noted.items() if share > USUAL)


def usual_share(share: float, lines: int) -> float:
    """Return a share of few lines as the rule of succession estimates it, so that 3 of 60 are more than `USUAL`."""
    return (share * lines + 1) / (lines + 2)


def _of_texts(example: Example, terms: Sequence[Side]) -> Iterable[str]:
    """The notes on one example's texts, some of them twice."""
    reply, english = example.response, english_words()
    if not visible(reply):
        pass
    elif is_wordless(reply):
        yield NO_WORDS
    elif is_code(reply):
        yield CODE
    elif is_foreign(reply, english):
        yield NOT_ENGLISH
    if is_long(reply):
        yield UNLIKE_CHAT
    if "context" in terms and example.context:
        if is_foreign(" ".join(example.context[-_LAST_TURNS:]), english):
            yield CONTEXT_NOT_ENGLISH
        # An empty reply is never out of domain, whatever it answers.
        if visible(reply) and (is_long(example.context[-1]) or is_code(example.context[-1])):
            yield UNLIKE_CHAT


@lru_cache(maxsize=1)
def english_words() -> Mapping[str, float]:
    """The words of English dialogues, and the halves of those with an apostrophe: 1 for a common one, else 0.5."""
    halves = dict.fromkeys(half for word in common_words() for half in word.split("'") if half[:1].isalpha())
    ranked = {word: 1.0 if rank < _COMMON else 0.5 for rank, word in enumerate(halves)}
    return {word: worth for word, worth in ranked.items() if word not in AMBIGUOUS_WORDS}
