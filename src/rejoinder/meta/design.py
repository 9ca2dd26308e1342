"""Whether two files hold replies to the same contexts, or to the contexts of different users.

Chance makes pairs too: files that both count their lines from 1 share ids, and conversations that begin with "hi" share
a context. So pairs are a design only where nearly all lines have a partner, and as many of them each.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

from rejoinder.data.examples import to_record
from rejoinder.data.values import under
from rejoinder.errors import DataError, require_one_of
from rejoinder.example import Example
from rejoinder.meta.compared import Aligned, Pairs
from rejoinder.meta.conversations import Key, begun_alike, context_of, id_of, of_user, places_of, several_of, talk_of
from rejoinder.stats.permutation import FEWEST_CLUSTERS
from rejoinder.text.normalize import visible

ENOUGH = 0.8  # of the lines of the smaller side that have a partner, for pairs to be a design
NO_VALUE = "(none)"
Wanted = Literal["auto", "paired", "unpaired"]


class Choice(NamedTuple):
    """How two sides are compared.

    Attributes:
        pairs: the pairs; None where the sides are two independent samples.
        why: what that rests on, in words.
    """

    pairs: Pairs | None
    why: str


class _Found(NamedTuple):
    """The pairs of one kind.

    Attributes:
        pairs: they themselves.
        lines: how many lines of each side they hold.
        clashes: shared ids that name different contexts, as places in A and B.
    """

    pairs: Pairs
    lines: tuple[int, int]
    clashes: list[tuple[int, int]]


def choose(a: Sequence[Example], b: Sequence[Example], wanted: Wanted = "auto") -> Choice:
    """Pairs by id, context or conversation where nearly all lines have a partner, else two independent samples.

    Args:
        a: lines of the first system.
        b: lines of the second.
        wanted: "paired" takes what pairs there are, "unpaired" none.

    Raises:
        UsageError: `wanted` is no such word.
        DataError: a side has no line; pairs are wanted and there is none; ids pair the files, but one names different
            contexts.
    """
    require_one_of("design", wanted, get_args(Wanted))
    if not a or not b:
        raise DataError("no line is left to compare", "Correct those that were skipped", where="A" if not a else "B")
    if wanted == "unpaired":
        return Choice(None, "as was asked for")
    kinds = _, by_context, _ = _by_id(a, b), _by_context(a, b), _by_conversation(a, b)
    for found in kinds:
        part, whole, _ = _share(found, a, b)
        alike = len(found.pairs.a) < FEWEST_CLUSTERS and all(one.is_dialogue for one in (*a, *b))
        enough = part and part >= ENOUGH * whole and not _by_number_alone(found, a, b)
        if enough and (found is not by_context or (_even(found.pairs) and not alike)):  # chats that all begin alike
            _refuse_clashes(found, a, b)
            return Choice(found.pairs, _why(found, a, b))
    if wanted == "paired":
        return _forced(kinds, a, b)
    return Choice(None, _why_not(kinds, a, b))


def _why(found: _Found, a: Sequence[Example], b: Sequence[Example]) -> str:
    """What pairs rest on."""
    part, whole, side = _share(found, a, b)
    said = f"{part:,} of the {whole:,} lines of {side} have a partner by {found.pairs.aligned}"
    if found.pairs.aligned == "context":
        return said
    name_of = id_of if found.pairs.aligned == "id" else talk_of
    if several_of(a, name_of) | several_of(b, name_of):
        said += ", and where an id has several lines, by what the user said there"
    return said + ", with no context to show that an id means the same twice" * (not _is_shown(found, a, b))


def _is_shown(found: _Found, a: Sequence[Example], b: Sequence[Example]) -> bool:
    """Whether the users of most pairs begin alike; those of chats also otherwise than in other chats."""
    places = [(one[0], other[0]) for one, other in zip(found.pairs.a, found.pairs.b, strict=True)]
    alike = [(talk_of(a[one]) or one, said) for one, other in places if any(said := begun_alike(a[one], b[other]))]
    apart = 2 * len({said for _, said in alike}) > len({talk for talk, _ in alike})
    return 2 * len(alike) >= len(places) and (apart or not _are_chats(found, a))


def _are_chats(found: _Found, a: Sequence[Example]) -> bool:
    """Whether pairs are of conversations, or of lines that are whole ones, by their names."""
    whole = found.pairs.aligned == "id" and any(a[one[0]].is_dialogue for one in found.pairs.a)
    return found.pairs.aligned == "conversation" or whole


def _by_number_alone(found: _Found, a: Sequence[Example], b: Sequence[Example]) -> bool:
    """Whether chats pair by nothing but a name that many of one side do not have: both logs may count from 1."""
    shared = [lines >= ENOUGH * len(side) for lines, side in zip(found.lines, (a, b), strict=True)]
    return _are_chats(found, a) and not all(shared) and not _is_shown(found, a, b)


def _forced(kinds: Sequence[_Found], a: Sequence[Example], b: Sequence[Example]) -> Choice:
    """The pairs that there are, few as they may be."""
    found = max(kinds, key=lambda one: len(one.pairs.a))
    _refuse_clashes(kinds[0] if not found.pairs.a else found, a, b)
    if not found.pairs.a:
        raise DataError(
            "the two files share neither an id nor a context, so there are no pairs",
            "Give the two responses to one context the same id, or the same context, or compare unpaired",
            where=", ".join(side[0].where.rpartition(":")[0] for side in (a, b) if side),
        )
    part, whole, side = _share(found, a, b)
    said = f"{part:,} of the {whole:,} lines of {side} have a partner by {found.pairs.aligned}"
    return Choice(found.pairs, f"as was asked for; {said}")


def _why_not(kinds: tuple[_Found, _Found, _Found], a: Sequence[Example], b: Sequence[Example]) -> str:
    """Why the lines are no pairs."""
    by_id, by_context, by_talk = kinds
    for found in (by_id, by_talk):
        part, whole, side = _share(found, a, b)
        if part >= ENOUGH * whole and _by_number_alone(found, a, b):
            shared = f"{part:,} of the {whole:,} lines of {side} share the id of a conversation"
            return f"{shared}, but what users said does not show that it means the same twice"
    (ids, whole, side), (contexts, *_) = (_share(found, a, b) for found in (by_id, by_context))
    said = [f"{part:,} by {what}" for part, what in ((ids, "id"), (contexts, "context")) if part]
    parts = [f"only {' and '.join(said)} of the {whole:,} lines of {side} have a partner"] if said else []
    if contexts >= ENOUGH * whole:
        parts = [
            f"{contexts:,} of the {whole:,} lines of {side} share a context, but some recur as users' questions do"
        ]
    parts += [f"{len(by_id.clashes):,} ids are in both files with different contexts"] if by_id.clashes else []
    talks = set(places_of(a, talk_of)) & set(places_of(b, talk_of))
    parts += [f"{len(talks):,} conversation ids are in both files with other turns of the user"] if talks else []
    return ", and ".join(parts) + ", as chance brings about" if parts else "the files share neither ids nor contexts"


def _share(found: _Found, a: Sequence[Example], b: Sequence[Example]) -> tuple[int, int, str]:
    """How many lines of the smaller side have a partner, of how many, and which side that is."""
    which = 0 if len(a) <= len(b) else 1
    return found.lines[which], (len(a), len(b))[which], "AB"[which]


def _even(pairs: Pairs) -> bool:
    """Whether nearly all lines stand in pairs of one size, as in a test set; what users ask recurs at random."""
    for places in (pairs.a, pairs.b):
        sizes = Counter(map(len, places))
        lines = [size * count for size, count in sizes.items()]
        if max(lines) < ENOUGH * sum(lines):
            return False
    return True


def _by_id(a: Sequence[Example], b: Sequence[Example]) -> _Found:
    """The lines that share an id and its context; without a context, not those of different dialogues.

    An id of several lines is a conversation's, or of several replies to one context: then those are pairs before which
    the user said the same, whatever the systems replied to it.
    """
    several = several_of(a, id_of) | several_of(b, id_of)

    def key_of(one: Example) -> Key | None:
        own = id_of(one)
        return own if own not in several or own is None else (*own, *of_user(one))

    sides = places_of(a, key_of), places_of(b, key_of)
    first = {key: (sides[0][key][0], sides[1][key][0]) for key in sides[0] if key in sides[1]}
    alike = {key for key, (one, other) in first.items() if id_of(a[one]) in several or _alike(a[one], b[other])}
    clashes = [places for key, places in first.items() if key not in alike]
    agree = {id_of(a[one]) for one, _ in first.values()}
    mine, others = places_of(a, id_of), places_of(b, id_of)
    clashes += [(mine[own][0], others[own][0]) for own in mine if own in several and own in others and own not in agree]
    return _found("id", sides, [key for key in first if key in alike], clashes)


def _by_context(a: Sequence[Example], b: Sequence[Example]) -> _Found:
    """The lines that share a context."""
    sides = places_of(a, context_of), places_of(b, context_of)
    return _found("context", sides, [key for key in sides[0] if key in sides[1]], [])


def _by_conversation(a: Sequence[Example], b: Sequence[Example]) -> _Found:
    """The lines of conversations of one name before which the user said the same, whatever the systems replied.

    Lines that are the only ones of their conversation are chats of one beginning, and whole conversations of any: what
    becomes of a chat is the systems' doing.
    """
    several = several_of(a, talk_of) | several_of(b, talk_of)

    def key_of(one: Example) -> Key | None:
        talk, said = talk_of(one), of_user(one)
        if talk is None or one.is_dialogue:
            return talk
        return (*talk, *(said if talk in several else said[:1])) if any(map(visible, said)) else None

    sides = places_of(a, key_of), places_of(b, key_of)
    return _found("conversation", sides, [key for key in sides[0] if key in sides[1]], [])


def _found(
    aligned: Aligned,
    sides: tuple[dict[Key, list[int]], dict[Key, list[int]]],
    shared: list[Key],
    clashes: list[tuple[int, int]],
) -> _Found:
    """The pairs of the shared keys."""
    one, other = ([side[key] for key in shared] for side in sides)
    return _Found(Pairs(aligned, one, other), (sum(map(len, one)), sum(map(len, other))), clashes)


def _alike(one: Example, other: Example) -> bool:
    """Whether two lines of one id can be replies to one context, by what the user said, or are whole conversations."""
    if one.is_dialogue and other.is_dialogue:
        return True
    if any(one.context) or any(other.context):
        return of_user(one) == of_user(other)
    dialogues = [dialogue for line in (one, other) if (dialogue := line.extra.get("dialogue_id")) is not None]
    return len(dialogues) < 2 or dialogues[0] == dialogues[1]


def _refuse_clashes(found: _Found, a: Sequence[Example], b: Sequence[Example]) -> None:
    """Raise `DataError` where a shared id names different contexts."""
    for first, second in found.clashes[:1]:
        raise DataError(
            f"id {a[first].id!r} has another context in {a[first].where or 'A'}",
            "Give one id to the two responses to one context, or leave ids out to pair by context",
            where=b[second].where,
            field="id",
        )


def value_of(example: Example, name: str) -> str:
    """What a line says under a key, as text; dots lead into objects."""
    value: Any = under(to_record(example), name)
    if value is None or value == "":
        return NO_VALUE
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
