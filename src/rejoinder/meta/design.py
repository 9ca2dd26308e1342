"""Whether two files hold replies to the same contexts, or to the contexts of different users.

Chance makes pairs too: files that both count their lines from 1 share ids, and conversations that begin with "hi" share
a context. So pairs are a design only where nearly all lines have a partner, and as many of them each.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from rejoinder.errors import DataError
from rejoinder.humans.lines import given_twice
from rejoinder.io.names import plain
from rejoinder.io.parse import to_record
from rejoinder.io.values import inside
from rejoinder.meta.compared import Pairs
from rejoinder.records import FOLLOWED, UNANSWERED, Example
from rejoinder.stats.cluster_means import FEWEST_CLUSTERS

ENOUGH = 0.8  # of the lines of the smaller side that have a partner, for pairs to be a design
SEVERAL = 1.25  # conversations a user, for them to be worth a word
_USERS = frozenset(f"{who}_id" for who in ("user", "customer", "visitor", "client", "account", "member", "contact"))
NO_VALUE = "(none)"
Wanted = Literal["auto", "paired", "unpaired"]
Key = tuple[str, ...]


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
    """Pairs by id or by context where nearly all lines have a partner, else two independent samples.

    Args:
        a: lines of the first system.
        b: lines of the second.
        wanted: "paired" takes what pairs there are, "unpaired" none.

    Raises:
        DataError: a side has no line; pairs are wanted and there is none; ids pair the files, but one names different
            contexts.
    """
    if not a or not b:
        raise DataError("no line is left to compare", "Correct those that were skipped", where="A" if not a else "B")
    if wanted == "unpaired":
        return Choice(None, "as was asked for")
    by_id, by_context = _by_id(a, b), _by_context(a, b)
    several = bool(_several(a) | _several(b))
    for found in (by_id, by_context):
        part, whole, side = _share(found, a, b)
        alike = len(found.pairs.a) < FEWEST_CLUSTERS and all(one.is_dialogue for one in (*a, *b))
        enough = part and part >= ENOUGH * whole
        if enough and (found is by_id or (_even(found.pairs) and not alike)):  # chats that all begin alike
            _refuse_clashes(found, a, b)
            said = f"{part:,} of the {whole:,} lines of {side} have a partner by {found.pairs.aligned}"
            bare = found is by_id and not any(any(one.context) for one in a)
            said += ", and where an id has several lines, by what the user said there" * (found is by_id and several)
            return Choice(found.pairs, said + ", with no context to show that an id means the same twice" * bare)
    if wanted == "paired":
        return _forced(by_id, by_context, a, b)
    return Choice(None, _why_not(by_id, by_context, a, b))


def with_silence(a: Sequence[Example], b: Sequence[Example]) -> tuple[list[Example], list[Example]]:
    """The lines of both sides; a chat that the user ended is without a reply where the other side replies to that."""
    return _with_silence(a, b), _with_silence(b, a)


def _with_silence(side: Sequence[Example], other: Sequence[Example]) -> list[Example]:
    """The lines of one side."""
    answered = {one.context for one in other}
    found = []
    for one in side:
        after = one.extra.get(FOLLOWED)
        turns = (*one.context, one.response, *after) if isinstance(after, list) else ()
        if turns and turns in answered:
            rest = {key: value for key, value in one.extra.items() if key != FOLLOWED}
            one = replace(one, context=turns, response="", extra={**rest, UNANSWERED: "the other side has one"})
        found.append(one)
    return found


def of_conversations(side: Sequence[Example]) -> list[Example]:
    """The lines of a side; where one id stands at several contexts it is a conversation's, so their `dialogue_id` too.

    Raises:
        DataError: a line is given twice; an id is of two systems, or of contexts that do not continue each other, as
            where ids begin anew with each topic.
    """
    several = [places for places in _places(side, _id).values() if len(places) > 1]
    for places in several:
        _refuse_other_ids(side, places)
    talks = {place for places in several if len({side[n].context for n in places}) > 1 for place in places}
    return [_in_dialogue(one) if place in talks else one for place, one in enumerate(side)]


def _refuse_other_ids(side: Sequence[Example], places: Sequence[int]) -> None:
    """Raise `DataError` where the lines of an id are neither a conversation's nor several replies to one context."""
    first: dict[tuple[Hashable, ...], int] = {}
    for place in places:
        one = side[place]
        earlier = first.setdefault((one.context, one.response), place)
        if earlier != place:
            raise given_twice(side, earlier, place)
    by_length = sorted(places, key=lambda place: len(side[place].context))
    for shorter, longer in pairwise(by_length):
        if not _continues(side[shorter], side[longer]):
            raise given_twice(side, *sorted((shorter, longer)))


def _continues(shorter: Example, longer: Example) -> bool:
    """Whether a line of the same id goes on where another stops, or replies to the same, by what the user said."""
    first, second = _of_user(shorter), _of_user(longer)
    begins = first == second[: len(first)] or shorter.context == longer.context[: len(shorter.context)]
    known = context_of(shorter) is not None or context_of(longer) is not None
    named = [one.extra.get("dialogue_id") for one in (shorter, longer)]
    return begins and known and shorter.system == longer.system and named[0] == named[1]


def _of_user(one: Example) -> tuple[str, ...]:
    """The user's turns of a context, first to last."""
    return one.context[-1::-2][::-1]


def _in_dialogue(one: Example) -> Example:
    """A line whose id is that of its conversation, unless it names another."""
    return one if one.extra.get("dialogue_id") is not None else replace(one, extra={**one.extra, "dialogue_id": one.id})


def _forced(by_id: _Found, by_context: _Found, a: Sequence[Example], b: Sequence[Example]) -> Choice:
    """The pairs that there are, few as they may be."""
    found = max(by_id, by_context, key=lambda one: len(one.pairs.a))
    _refuse_clashes(by_id if not found.pairs.a else found, a, b)
    if not found.pairs.a:
        raise DataError(
            "the two files share neither an id nor a context, so there are no pairs",
            "Give the two responses to one context the same id, or the same context, or compare unpaired",
            where=", ".join(side[0].where.rpartition(":")[0] for side in (a, b) if side),
        )
    part, whole, side = _share(found, a, b)
    said = f"{part:,} of the {whole:,} lines of {side} have a partner by {found.pairs.aligned}"
    return Choice(found.pairs, f"as was asked for; {said}")


def _why_not(by_id: _Found, by_context: _Found, a: Sequence[Example], b: Sequence[Example]) -> str:
    """Why the lines are no pairs."""
    (ids, whole, side), (contexts, *_) = (_share(found, a, b) for found in (by_id, by_context))
    said = [f"{part:,} by {what}" for part, what in ((ids, "id"), (contexts, "context")) if part]
    parts = [f"only {' and '.join(said)} of the {whole:,} lines of {side} have a partner"] if said else []
    if contexts >= ENOUGH * whole:
        parts = [
            f"{contexts:,} of the {whole:,} lines of {side} share a context, but some recur as users' questions do"
        ]
    parts += [f"{len(by_id.clashes):,} ids are in both files with different contexts"] if by_id.clashes else []
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
    several = _several(a) | _several(b)

    def key_of(one: Example) -> Key | None:
        own = _id(one)
        return own if own not in several or own is None else (*own, *_of_user(one))

    sides = _places(a, key_of), _places(b, key_of)
    first = {key: (sides[0][key][0], sides[1][key][0]) for key in sides[0] if key in sides[1]}
    alike = {key for key, (one, other) in first.items() if _id(a[one]) in several or _alike(a[one], b[other])}
    clashes = [places for key, places in first.items() if key not in alike]
    agree = {_id(a[one]) for one, _ in first.values()}
    mine, others = _places(a, _id), _places(b, _id)
    clashes += [(mine[own][0], others[own][0]) for own in mine if own in several and own in others and own not in agree]
    return _found("id", sides, [key for key in first if key in alike], clashes)


def _by_context(a: Sequence[Example], b: Sequence[Example]) -> _Found:
    """The lines that share a context."""
    sides = _places(a, context_of), _places(b, context_of)
    return _found("context", sides, [key for key in sides[0] if key in sides[1]], [])


def _found(
    aligned: Literal["id", "context"],
    sides: tuple[dict[Key, list[int]], dict[Key, list[int]]],
    shared: list[Key],
    clashes: list[tuple[int, int]],
) -> _Found:
    """The pairs of the shared keys."""
    one, other = ([side[key] for key in shared] for side in sides)
    return _Found(Pairs(aligned, one, other), (sum(map(len, one)), sum(map(len, other))), clashes)


def _alike(one: Example, other: Example) -> bool:
    """Whether two lines of one id can be replies to one context."""
    if any(one.context) or any(other.context):
        return one.context == other.context
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


def _places(examples: Sequence[Example], key: Callable[[Example], Key | None]) -> dict[Key, list[int]]:
    """The positions of the lines of each key; lines without one are left out."""
    places: dict[Key, list[int]] = {}
    for place, example in enumerate(examples):
        if (found := key(example)) is not None:
            places.setdefault(found, []).append(place)
    return places


def _several(side: Sequence[Example]) -> set[Key]:
    """The ids that stand on several lines."""
    return {key for key, places in _places(side, _id).items() if len(places) > 1}


def _id(example: Example) -> Key | None:
    """The id that the data gave; a reader's own name for a line without one is its place, and pairs nothing."""
    own = example.id and example.id != example.where
    return (example.dataset or "", example.id) if own else None


def context_of(example: Example) -> Key | None:
    """What tells the context from others; the turns win over the dialogue, which holds many contexts."""
    if example.context_id is None and any(turn.strip() for turn in example.context):
        return ("turns", *example.context)
    return example.context_key if example.context_key[1] != "line" else None


def conversations_of(side: Sequence[Example]) -> list[str]:
    """The name of the conversation of each line; a line that is a whole one is its own, however many begin alike."""
    alone = (one.is_dialogue and one.extra.get("dialogue_id") is None for one in side)
    return [f"line {place}" if own else _conversation(side[place]) for place, own in enumerate(alone)]


def _conversation(example: Example) -> str:
    """The name of the conversation that a line stands in: its dialogue, where it says one, else its context."""
    dialogue = example.extra.get("dialogue_id")
    if dialogue is None:
        return json.dumps(example.context_key, ensure_ascii=False)
    return f"{example.dataset}/{dialogue}" if example.dataset else str(dialogue)


def users_said(sides: Sequence[Sequence[Example]]) -> str:
    """That users have several conversations each, so that these are not independent; "" where nothing says so.

    A key such as `user_id` is of users where it has five values or more on each side: a tester's one account is none.
    """
    for key in dict.fromkeys(key for side in sides for one in side[:1] for key in one.extra if plain(key) in _USERS):
        known = [[one for one in side if one.extra.get(key) not in (None, "")] for side in sides]
        users = [len({str(one.extra[key]) for one in side}) for side in known]
        talks = [len(set(conversations_of(side))) for side in known]
        if min(users) >= 5 and sum(talks) >= SEVERAL * sum(users):
            return (
                f"{sum(talks):,} conversations are of {sum(users):,} users by {key}, and those of one user are not "
                f"independent: --map dialogue_id={key} makes a user one piece of evidence"
            )
    return ""


def value_of(example: Example, name: str) -> str:
    """What a line says under a key, as text; dots lead into objects."""
    value: Any = inside(to_record(example), name)
    if value is None or value == "":
        return NO_VALUE
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
