"""The records that everything passes around: `Example`, `Rating` and `Pair`."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from math import isfinite
from numbers import Real
from typing import Any, Literal

from rejoinder.errors import UsageError, shown
from rejoinder.text.normalize import visible

OVERALL = "overall"
Given = Any
"""Examples in any form that `examples_of` takes: dicts, chat messages, a data frame, the name of a file."""
Choice = Literal[0, 1]
"""The first or the second of two replies."""
ROW = "rejoinder row"
"""The key of the row of the table that an example was read from, for outputs that give the row back."""
UNANSWERED = "unanswered"
"""The key of the reason why a line has no reply; `respond` writes it."""
FOLLOWED = "followed_by"
"""The key of the user's turns after the reply; the reader of chats writes it."""
LEVEL, DIALOGUE = "level", "dialogue"
"""The key of the level of a rating, and its value for a rating of the whole conversation."""
_OMIT = "Omit it, or write str(...)"
NO_SET = "files that name no data set"
"""The data set of lines that name none, in the training record of a judge."""


def same_text(text: str) -> str:
    """Return a form of a text for comparisons: NFC with white space collapsed. It is never written."""
    return " ".join((text if text.isascii() else unicodedata.normalize("NFC", text)).split())


@dataclass(frozen=True, slots=True)
class Rating:
    """The rating of one response by one person in one dimension.

    Attributes:
        value: the number, inside the example's scale for that dimension.
        dimension: `overall` unless the data names another.
        rater: a stable name for the person, or None if it is unknown.
    """

    value: float
    dimension: str = OVERALL
    rater: str | None = None

    def __post_init__(self) -> None:
        """Raise `UsageError` if a field is not of its type, or `value` is NaN or infinite."""
        _require_number("value of a rating", self.value)
        _require_text("dimension of a rating", self.dimension, "Write a name")
        if self.rater is not None:
            _require_text("rater", self.rater, _OMIT)


def _person(rating: Rating) -> str:
    return " ".join((rating.rater or "").split())


@dataclass(frozen=True, slots=True)
class Example:
    """A response with its context. Every reader makes it, every scorer takes it.

    Attributes:
        context: the turns before the response, oldest first; may be empty.
        response: the text to score; may be empty.
        references: human responses to the same context.
        sources: texts that the system had (retrieved documents, results of tools), oldest first.
        id: the name of the line, or "".
        system: the author of the response, or None.
        dataset: the data set of the line, or None.
        context_id: the same for lines of one context, or None; see `context_key`.
        ratings: ratings by single people.
        quality: mean rating by dimension, if the data gives means.
        scales: lowest and highest possible rating by dimension.
        extra: other keys of the input; kept and written back.
        where: `file:line` of the example, for messages; ignored in comparisons.
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
        """Make tuples of lists, and raise `UsageError` for a wrong field.

        One text in place of several would be read letter by letter; NaN and half characters cannot be written.
        """
        for name in ("context", "references", "sources"):
            object.__setattr__(self, name, _texts(name, getattr(self, name)))
        _require_text("response", self.response, 'Write ""')
        _require_text("id", self.id, _OMIT)
        for name in ("system", "dataset", "context_id"):
            if (value := getattr(self, name)) is not None:
                _require_text(name, value, _OMIT)
        if type(self.ratings) is not tuple:
            ratings = self.ratings if isinstance(self.ratings, Iterable) else (self.ratings,)
            object.__setattr__(self, "ratings", tuple(ratings))
        for rating in self.ratings:
            if not isinstance(rating, Rating):
                raise UsageError(f"ratings hold {shown(rating)}, expected Rating. Write ratings=[Rating(4), Rating(5)]")
        for name in ("quality", "scales", "extra"):
            if type(value := getattr(self, name)) is not dict and not isinstance(value, Mapping):
                raise UsageError(f"{name} is {shown(value)}, expected a mapping. Write {name}={{...}} or omit it")
        for dimension, value in self.quality.items():
            _require_number(f"quality of {dimension!r}", value)
        for dimension, bounds in self.scales.items():
            _require_bounds(f"the scale of {dimension!r}", bounds)

    @property
    def context_key(self) -> tuple[str, ...]:
        """A key that examples of one data set have in common if their contexts are the same.

        It is made of `context_id` if there is one; else of the dialogue (`dialogue_id` among the extra keys), because
        the contexts of its turns overlap; else of the turns, see `same_text`. An example without any of them shares
        nothing: its key is its id or its place in the file.
        """
        return self._key([same_text(turn) for turn in self.context])

    @property
    def order_key(self) -> tuple[str, ...]:
        """The same with the turns as written, for the order in which contexts are drawn."""
        return self._key(self.context)

    def _key(self, context: Sequence[str]) -> tuple[str, ...]:
        name = self.dataset or ""
        if self.context_id is not None:
            return (name, "id", self.context_id)
        if self.extra.get("dialogue_id") is not None:
            return (name, "dialogue", str(self.extra["dialogue_id"]))
        if any(turn.strip() for turn in context):
            return (name, "turns", *context)
        return (name, "line", self.id or self.where or self.response)

    @property
    def unanswered(self) -> bool:
        """True for a response without a visible character, and for a line that is marked as without a reply."""
        return not visible(self.response) or bool(self.extra.get(UNANSWERED))

    @property
    def is_dialogue(self) -> bool:
        """True if the rating of the line is of the whole conversation."""
        return self.extra.get(LEVEL) == DIALOGUE

    def rating(self, dimension: str = OVERALL) -> float | None:
        """Return the mean rating in `dimension`, or None if it was not rated.

        A mean in the data (`quality`) wins over the mean of the single ratings, see `counted`.
        """
        if dimension in self.quality:
            return self.quality[dimension]
        values = [rating.value for rating in self.counted(dimension)]
        return sum(values) / len(values) if values else None

    def counted(self, dimension: str = OVERALL) -> tuple[Rating, ...]:
        """Return the single ratings in `dimension` that analyses use: the first by each named person."""
        ratings = tuple(rating for rating in self.ratings if rating.dimension == dimension)
        named = [_person(rating) for rating in ratings if rating.rater is not None]
        if len(set(named)) == len(named):
            return ratings
        first = {id(rating) for rating in {_person(rating): rating for rating in reversed(ratings)}.values()}
        return tuple(rating for rating in ratings if rating.rater is None or id(rating) in first)

    def scale(self, dimension: str = OVERALL) -> tuple[float, float] | None:
        """Return the lowest and highest possible rating of `dimension`, or None if unknown."""
        return self.scales.get(dimension)

    @property
    def copies_reference(self) -> bool:
        """True if the response has the same words as one of the references, except for case and spacing."""
        words = self.response.casefold().split()
        return any(words == reference.casefold().split() for reference in self.references)


def majority(votes: Sequence[Choice | None]) -> Choice | None:
    """Return the choice of most votes; None, a tie, if no choice has the most."""
    (most, count), *others = Counter(votes).most_common() or [(None, 0)]
    return None if others and others[0][1] == count else most


@dataclass(frozen=True, slots=True)
class Pair:
    """Two replies and the preference of people.

    Attributes:
        replies: the two, each with its context; usually the same.
        preferred: 0 or 1, the place of the preferred reply, or None for a tie.
        votes: votes of single people, each 0, 1 or None; may be empty.
        id: the name of the line, or "".
        where: `file:line` of the pair, for messages; ignored in comparisons.
    """

    replies: tuple[Example, Example]
    preferred: Choice | None
    votes: tuple[Choice | None, ...] = ()
    id: str = ""
    where: str = field(default="", compare=False)

    @property
    def dataset(self) -> str | None:
        """The data set of the pair, or None."""
        return self.replies[0].dataset

    @property
    def context_key(self) -> tuple[str, ...]:
        """A key that pairs with the same context have in common; of two conversations, the turns that both begin with.

        Without a context it is made of the replies in any order: a pair with a second vote is the same pair.
        """
        return self._key(self._shared.context_key)

    @property
    def order_key(self) -> tuple[str, ...]:
        """See `Example.order_key`."""
        return self._key(self._shared.order_key)

    @property
    def _shared(self) -> Example:
        return replace(self.replies[0], context=self.shared_turns, id=self.id)

    def _key(self, key: tuple[str, ...]) -> tuple[str, ...]:
        return (key[0], "replies", *sorted(reply.response for reply in self.replies)) if key[1] == "line" else key

    @property
    def shared_turns(self) -> tuple[str, ...]:
        """The turns that both conversations begin with."""
        both = zip(*(reply.context for reply in self.replies), strict=False)
        return tuple(turn for turn, _ in takewhile(lambda turns: same_text(turns[0]) == same_text(turns[1]), both))


def _texts(name: str, values: Any) -> tuple[str, ...]:
    if isinstance(values, str):
        raise UsageError(f"{name} is a text, expected a tuple of texts. Write {name}=({values!r},)")
    if type(values) is not tuple and (not isinstance(values, Iterable) or isinstance(values, (bytes, Mapping))):
        raise UsageError(f"{name} is {shown(values)}, expected a tuple of texts. Write {name}=() for none")
    texts = tuple(values)
    for text in texts:
        if type(text) is not str or not text.isascii():
            _require_text(f"a text of {name}", text, _OMIT)
    return texts


def _require_text(name: str, text: Any, remedy: str) -> None:
    """Raise for anything but a text, and for half a character (a single surrogate), which UTF-8 cannot hold."""
    if not isinstance(text, str):
        raise UsageError(f"{name} is {shown(text)}, expected a text. {remedy}")
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError as error:
        half = f"\\u{ord(text[error.start]):04x}, half a character"
        raise UsageError(f"{name} holds {half}. Write the whole character or none") from error


def _require_number(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, Real) or not isfinite(value):
        raise UsageError(f"{name} is {shown(value)}, expected a finite number. Omit a missing rating")


def _require_bounds(name: str, bounds: Any) -> None:
    try:
        low, high = bounds
    except (TypeError, ValueError) as error:
        raise UsageError(f"{name} is {shown(bounds)}, expected (lowest, highest). Write (1, 5)") from error
    for bound in (low, high):
        _require_number(f"a bound of {name}", bound)
    if low > high:
        raise UsageError(f"{name} is ({low!r}, {high!r}), expected the lowest rating first")
