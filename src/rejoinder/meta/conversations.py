"""Which lines are of one conversation, and what the user said in it.

Turns are compared as a reader sees them: two files may write one context with other line ends, accents or markup.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise, takewhile

from rejoinder.data.columns import plain
from rejoinder.errors import DataError
from rejoinder.example import FOLLOWED, UNANSWERED, Example
from rejoinder.data.rated_lines import given_twice
from rejoinder.text.normalize import visible_text

SEVERAL = 1.25  # conversations a user, for them to be worth a word
_USERS = frozenset(f"{who}_id" for who in ("user", "customer", "visitor", "client", "account", "member", "contact"))
Key = tuple[str, ...]


def with_silence(a: Sequence[Example], b: Sequence[Example]) -> tuple[list[Example], list[Example]]:
    """The lines of both sides; a chat that the user ended is without a reply where the other side replies to that."""
    return _with_silence(a, b), _with_silence(b, a)


def _with_silence(side: Sequence[Example], other: Sequence[Example]) -> list[Example]:
    """The lines of one side."""
    answered = {turns_of(one) for one in other}
    found = []
    for one in side:
        after = one.extra.get(FOLLOWED)
        turns = (*one.context, one.response, *after) if isinstance(after, list) else ()
        if turns and tuple(map(_seen, turns)) in answered:
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
    several = [places for places in places_of(side, id_of).values() if len(places) > 1]
    for places in several:
        _refuse_other_ids(side, places)
    talks = {place for places in several if len({turns_of(side[n]) for n in places}) > 1 for place in places}
    return [_in_dialogue(one) if place in talks else one for place, one in enumerate(side)]


def _refuse_other_ids(side: Sequence[Example], places: Sequence[int]) -> None:
    """Raise `DataError` where the lines of an id are neither a conversation's nor several replies to one context."""
    first: dict[tuple[Hashable, ...], int] = {}
    for place in places:
        one = side[place]
        earlier = first.setdefault((turns_of(one), one.response), place)
        if earlier != place:
            raise given_twice(side, earlier, place)
    by_length = sorted(places, key=lambda place: len(side[place].context))
    apart = [two for two in pairwise(by_length) if not _continues(side[two[0]], side[two[1]])]
    if apart and not _slide([side[place] for place in places]):
        error = given_twice(side, *sorted(apart[0]))
        remedy = f"{error.remedy}; where they name conversations, say so: --map dialogue_id=id"
        raise DataError(error.problem, remedy, where=error.where, field=error.field)


def _continues(shorter: Example, longer: Example) -> bool:
    """Whether a line of the same id goes on where another stops, or replies to the same, by what the user said."""
    first, second = of_user(shorter), of_user(longer)
    turns = turns_of(shorter)
    begins = first == second[: len(first)] or turns == turns_of(longer)[: len(turns)]
    known = context_of(shorter) is not None or context_of(longer) is not None
    named = [one.extra.get("dialogue_id") for one in (shorter, longer)]
    return begins and known and shorter.system == longer.system and named[0] == named[1]


def _slide(lines: Sequence[Example]) -> bool:
    """Whether lines of one id are the turns of a conversation in their order, each context cut to its last turns."""
    if len({(one.system, one.extra.get("dialogue_id")) for one in lines}) > 1:
        return False
    return all(
        turns_of(later) == turns_of(one) != ()
        or _ends(turns_of(one), turns_of(later)[:-2])
        or _ends((*turns_of(one), _seen(one.response)), turns_of(later)[:-1])
        for one, later in pairwise(lines)
    )


def _ends(turns: Sequence[str], part: Sequence[str]) -> bool:
    """Whether turns end with a part, which is not empty."""
    return bool(part) and turns[-len(part) :] == part


def of_user(one: Example) -> tuple[str, ...]:
    """The user's turns of a context, first to last, as a reader sees them."""
    return turns_of(one)[-1::-2][::-1]


def turns_of(one: Example) -> tuple[str, ...]:
    """Return the turns of a context as a reader sees them, for comparing them with others."""
    return tuple(map(_seen, one.context))


@lru_cache(maxsize=1 << 14)
def _seen(text: str) -> str:
    """Return a turn as a reader sees it; the turns of a conversation stand in many lines."""
    return visible_text(text)


def begun_alike(one: Example, other: Example) -> tuple[str, ...]:
    """The user's turns that two contexts begin with."""
    both = zip(of_user(one), of_user(other), strict=False)
    return tuple(said for said, _ in takewhile(lambda turns: turns[0] == turns[1], both))


def _in_dialogue(one: Example) -> Example:
    """A line whose id is that of its conversation, unless it names another."""
    return one if one.extra.get("dialogue_id") is not None else replace(one, extra={**one.extra, "dialogue_id": one.id})


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


def id_of(example: Example) -> Key | None:
    """The id that the data gave; a reader's own name for a line without one is its place, and pairs nothing."""
    own = example.id and example.id != example.where
    return (example.dataset or "", example.id) if own else None


def talk_of(example: Example) -> Key | None:
    """The conversation that the data names."""
    talk = example.extra.get("dialogue_id")
    return None if talk is None else (example.dataset or "", str(talk))


def places_of(examples: Sequence[Example], key: Callable[[Example], Key | None]) -> dict[Key, list[int]]:
    """The positions of the lines of each key; lines without one are left out."""
    places: dict[Key, list[int]] = {}
    for place, example in enumerate(examples):
        if (found := key(example)) is not None:
            places.setdefault(found, []).append(place)
    return places


def several_of(side: Sequence[Example], key: Callable[[Example], Key | None]) -> set[Key]:
    """The keys that stand on several lines."""
    return {found for found, places in places_of(side, key).items() if len(places) > 1}


def context_of(example: Example) -> Key | None:
    """What tells the context from others; the turns win over the dialogue, which holds many contexts."""
    if example.context_id is None and any(turns := turns_of(example)):
        return ("turns", *turns)
    return example.context_key if example.context_key[1] != "line" else None
