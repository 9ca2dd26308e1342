"""The records that everything passes around: `Example`, `Rating`, `Pair` and `ReplySet`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, takewhile
from math import isfinite
from numbers import Real
from typing import Any, Literal

from rejoinder.errors import UsageError, shown
from rejoinder.text.normalize import visible

OVERALL = "overall"
Given = Any
"""Examples, or anything that holds them: dicts, chat messages, a data frame, a file's name (`io.given.examples_of`)."""
Choice = Literal[0, 1]
"""The first or the second of two replies."""
ROW = "rejoinder row"
"""The key under which an example keeps the row of the table it was read from, where an output gives the row back."""
UNANSWERED = "unanswered"
"""The key under which a line without a reply says why; `respond` writes it."""
FOLLOWED = "followed_by"
"""The key under which a line lists what the user said after the reply; the reader of chats writes it."""
LEVEL, DIALOGUE = "level", "dialogue"
"""The key under which a line says what was rated, and what stands there where that is the whole conversation."""

NO_SET = "files that name no data set"
"""What a judge says it was fitted on where the lines named no data set."""


def unread(examples: Iterable[Example]) -> list[str]:
    """The keys of texts that the first examples have beside what was read."""
    rows = (example.extra for example in islice(examples, 100))
    return [*dict.fromkeys(key for row in rows for key, value in row.items() if isinstance(value, str))]


@dataclass(frozen=True, slots=True)
class Rating:
    """One person's rating of one response in one dimension.

    Attributes:
        value: the number given, inside the example's scale for that dimension.
        dimension: what was rated; `overall` unless the data says otherwise.
        rater: a stable name for the person, or None where it was not released.
    """

    value: float
    dimension: str = OVERALL
    rater: str | None = None

    def __post_init__(self) -> None:
        """Refuse what is no rating.

        Raises:
            UsageError: a field is not of its type, or `value` is NaN or infinite.
        """
        _require_number("value of a rating", self.value)
        _require_text("dimension of a rating", self.dimension)
        _require_text("rater", self.rater, or_none=True)


def _person(rating: Rating) -> str:
    """The name of a rater with single blanks inside and none around; "" for no name."""
    return " ".join((rating.rater or "").split())


@dataclass(frozen=True, slots=True)
class Example:
    """A response to judge, with what is known about it. Every loader makes it, every scorer takes it.

    Attributes:
        context: the turns before the response, oldest first; may be empty.
        response: the text to judge; may be the empty string.
        references: human responses to the same context; none, one or many.
        sources: texts that the system had at hand (retrieved documents, results of tools), oldest first.
        id: names the line; "" where the input had none and nobody gave one.
        system: who responded, or None.
        dataset: the set the line belongs to, or None.
        context_id: groups lines of one context, or None (see `context_key`).
        ratings: single ratings by people.
        quality: mean rating by dimension, where the data gives means.
        scales: lowest and highest possible rating by dimension.
        extra: keys of the input that rejoinder does not know; kept and written back.
        where: `file:line` the example was read from, for messages; no part of its identity.
    """

    context: tuple[str, ...]
    response: str
    references: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    id: str = ""
    system: str | None = None
    dataset: str | None = None
    context_id: str | None = None
    ratings: tuple[Rating, ...] = ()
    quality: Mapping[str, float] = field(default_factory=dict)
    scales: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    where: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        """Make tuples of lists; refuse what no reader would let through, so that nothing fails on it later.

        Raises:
            UsageError: a field is not of its type; a text stands where a list of texts belongs, which would be read
                letter by letter; a number is NaN or infinite.
        """
        for name in ("context", "references", "sources"):
            object.__setattr__(self, name, _texts(name, getattr(self, name)))
        _require_text("response", self.response, 'an empty reply is ""')
        _require_text("id", self.id)
        for name in ("system", "dataset", "context_id"):
            _require_text(name, getattr(self, name), or_none=True)
        object.__setattr__(self, "ratings", _ratings(self.ratings))
        for dimension, value in _mapping("quality", self.quality, "numbers by dimension").items():
            _require_number(f"quality of {dimension!r}", value)
        for dimension, bounds in _mapping("scales", self.scales, "(lowest, highest) by dimension").items():
            _require_bounds(dimension, bounds)
        _mapping("extra", self.extra, "values by key")

    @property
    def context_key(self) -> tuple[str, ...]:
        """What tells this example's context from others, within its dataset.

        `context_id` where there is one; else the dialogue (`dialogue_id` among the extra keys), because the contexts of
        its turns overlap; else the turns themselves. An example with none of them shares nothing and gets its own key,
        its id or its place in the file.
        """
        name = self.dataset or ""
        if self.context_id is not None:
            return (name, "id", self.context_id)
        if self.extra.get("dialogue_id") is not None:
            return (name, "dialogue", str(self.extra["dialogue_id"]))
        if any(turn.strip() for turn in self.context):
            return (name, "turns", *self.context)
        return (name, "line", self.id or self.where or self.response)

    @property
    def unanswered(self) -> bool:
        """Whether nothing was replied: no character that can be seen, or a line that is marked as without a reply."""
        return not visible(self.response) or bool(self.extra.get(UNANSWERED))

    @property
    def is_dialogue(self) -> bool:
        """Whether the line says that its rating is of the whole conversation."""
        return self.extra.get(LEVEL) == DIALOGUE

    def rating(self, dimension: str = OVERALL) -> float | None:
        """The mean rating people gave in `dimension`, or None where nobody rated it.

        A mean that the data states (`quality`) wins over the mean of the single ratings, of which those count that
        `counted` gives.
        """
        if dimension in self.quality:
            return self.quality[dimension]
        values = [rating.value for rating in self.counted(dimension)]
        return sum(values) / len(values) if values else None

    def counted(self, dimension: str = OVERALL) -> tuple[Rating, ...]:
        """The single ratings in `dimension` that analyses count: of each person who is named, the first."""
        ratings = tuple(rating for rating in self.ratings if rating.dimension == dimension)
        named = [_person(rating) for rating in ratings if rating.rater is not None]
        if len(set(named)) == len(named):
            return ratings
        first = {id(rating) for rating in {_person(rating): rating for rating in reversed(ratings)}.values()}
        return tuple(rating for rating in ratings if rating.rater is None or id(rating) in first)

    def scale(self, dimension: str = OVERALL) -> tuple[float, float] | None:
        """Lowest and highest possible rating of `dimension`, or None where the data does not say."""
        return self.scales.get(dimension)

    @property
    def copies_reference(self) -> bool:
        """Whether the response equals one of the references word for word, case and spacing aside."""
        words = self.response.casefold().split()
        return any(words == reference.casefold().split() for reference in self.references)


def majority(votes: Sequence[Choice | None]) -> Choice | None:
    """What most of the votes say; None, a tie, where no choice has the most."""
    (most, count), *others = Counter(votes).most_common() or [(None, 0)]
    return None if others and others[0][1] == count else most


@dataclass(frozen=True, slots=True)
class Pair:
    """Two replies, and which of them people prefer.

    Attributes:
        replies: the two, each with the context that it answers; usually the same.
        preferred: 0 or 1, the place of the preferred reply, or None for a tie.
        votes: single judgements, where they were released; each 0, 1 or None.
        id: names the line.
        where: `file:line` the pair was read from, for messages; no part of its identity.
    """

    replies: tuple[Example, Example]
    preferred: Choice | None
    votes: tuple[Choice | None, ...] = ()
    id: str = ""
    where: str = field(default="", compare=False)

    @property
    def dataset(self) -> str | None:
        """The set that the pair belongs to, or None."""
        return self.replies[0].dataset

    @property
    def context_key(self) -> tuple[str, ...]:
        """What tells this pair's context from others; of two conversations, the turns that both begin with.

        Without a context it is the replies, in whatever order: a pair that was asked about again is no other one.
        """
        key = replace(self.replies[0], context=self.shared_turns, id=self.id).context_key
        return (key[0], "replies", *sorted(reply.response for reply in self.replies)) if key[1] == "line" else key

    @property
    def shared_turns(self) -> tuple[str, ...]:
        """The turns that both conversations begin with."""
        both = zip(*(reply.context for reply in self.replies), strict=False)
        return tuple(one for one, _ in takewhile(lambda turns: turns[0] == turns[1], both))


@dataclass(frozen=True, slots=True)
class ReplySet:
    """A context with replies that fit and replies that do not, as people wrote or chose them.

    Attributes:
        context: the turns before them, oldest first.
        relevant: replies that fit.
        random: replies to other contexts.
        misleading: replies that do not fit and were written to look as if they did.
        id: names the line.
        where: `file:line` it was read from, for messages; no part of its identity.
    """

    context: tuple[str, ...]
    relevant: tuple[str, ...]
    random: tuple[str, ...] = ()
    misleading: tuple[str, ...] = ()
    id: str = ""
    where: str = field(default="", compare=False)


def _texts(name: str, given: Any) -> tuple[str, ...]:
    """The texts of a field that holds several."""
    if isinstance(given, str):
        raise UsageError(f"{name} is a text, expected a tuple of texts. Write {name}=({given!r},)")
    if not isinstance(given, Iterable) or isinstance(given, (bytes, Mapping)):
        raise UsageError(f"{name} is {shown(given)}, expected a tuple of texts. Write {name}=() where there is none")
    texts = given if isinstance(given, tuple) else tuple(given)
    for text in texts:
        if not isinstance(text, str):
            raise UsageError(f"{name} holds {shown(text)}, expected texts only. Leave it out, or write str(...)")
        _require_whole(name, text)
    return texts


def _ratings(given: Any) -> tuple[Rating, ...]:
    """The single ratings of an example."""
    ratings = tuple(given) if isinstance(given, Iterable) else (given,)
    for rating in ratings:
        if not isinstance(rating, Rating):
            raise UsageError(f"ratings hold {shown(rating)}, expected Rating. Write ratings=[Rating(4), Rating(5)]")
    return ratings


def _require_text(name: str, given: Any, hint: str = "", *, or_none: bool = False) -> None:
    """Raise where a field is no text."""
    if isinstance(given, str):
        _require_whole(name, given)
    elif not (or_none and given is None):
        hint = hint or ("leave it out, or write str(...)" if given is not None else "leave it out")
        raise UsageError(f"{name} is {shown(given)}, expected a text; {hint}")


def _require_whole(name: str, text: str) -> None:
    """Raise where a text holds half a character, one surrogate without the other: no file in UTF-8 can hold that."""
    if text.isascii():
        return
    try:
        text.encode()
    except UnicodeEncodeError as error:
        found = f"\\u{ord(text[error.start]):04x}, half a character"
        raise UsageError(f"{name} holds {found}. Write the whole character or none") from error


def _require_number(name: str, given: Any) -> None:
    """Raise where a field is no finite number; true and false are none."""
    if isinstance(given, bool) or not isinstance(given, Real) or not isfinite(given):
        raise UsageError(f"{name} is {shown(given)}, expected a finite number. Leave a missing rating out")


def _require_bounds(dimension: str, bounds: Any) -> None:
    """Raise where a scale is not a lowest and a highest rating."""
    try:
        low, high = bounds
    except (TypeError, ValueError) as error:
        found = f"the scale of {dimension!r} is {shown(bounds)}, expected (lowest, highest)"
        raise UsageError(f"{found}. Write scales={{{dimension!r}: (1, 5)}}") from error
    for bound in (low, high):
        _require_number(f"a bound of the scale of {dimension!r}", bound)
    if low > high:
        raise UsageError(f"the scale of {dimension!r} is ({low!r}, {high!r}), expected the lowest rating first")


def _mapping(name: str, given: Any, expected: str) -> Mapping[Any, Any]:
    """A field that holds values by name."""
    if not isinstance(given, Mapping):
        raise UsageError(f"{name} is {shown(given)}, expected {expected}. Write {name}={{...}} or leave it out")
    return given
