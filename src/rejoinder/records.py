"""The records that everything passes around: `Example`, `Rating` and `Pair`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any, Literal

from rejoinder.errors import UsageError

OVERALL = "overall"
Given = Any
"""Examples, or anything that holds them: dicts, chat messages, a data frame, a file's name (`io.given.examples_of`)."""
Choice = Literal[0, 1]
"""The first or the second of two replies."""
UNANSWERED = "unanswered"
"""The key under which a line without a reply says why; `respond` writes it."""


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


@dataclass(frozen=True, slots=True)
class Example:
    """A response to judge, with what is known about it. Every loader makes it, every scorer takes it.

    Attributes:
        context: the turns before the response, oldest first; may be empty.
        response: the text to judge; may be the empty string.
        references: human responses to the same context; none, one or many.
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
        """Make tuples of lists; refuse a text where a list of texts belongs, which would be read letter by letter.

        Raises:
            UsageError: `context` or `references` is a text.
        """
        for name in ("context", "references"):
            texts = getattr(self, name)
            if isinstance(texts, str):
                raise UsageError(f"{name} is a text, expected a tuple of texts. Write {name}=({texts!r},)")
            if not isinstance(texts, tuple):
                object.__setattr__(self, name, tuple(texts))

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
        seen = any(character.isprintable() and not character.isspace() for character in self.response)
        return not seen or bool(self.extra.get(UNANSWERED))

    def rating(self, dimension: str = OVERALL) -> float | None:
        """The mean rating people gave in `dimension`, or None where nobody rated it.

        A mean that the data states (`quality`) wins over the mean of the single ratings.
        """
        if dimension in self.quality:
            return self.quality[dimension]
        values = [rating.value for rating in self.ratings if rating.dimension == dimension]
        return sum(values) / len(values) if values else None

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
        """What tells this pair's context from others; of two conversations, the turns that both begin with."""
        return replace(self.replies[0], context=self.shared_turns, id=self.id).context_key

    @property
    def shared_turns(self) -> tuple[str, ...]:
        """The turns that both conversations begin with."""
        both = zip(*(reply.context for reply in self.replies), strict=False)
        return tuple(one for one, _ in takewhile(lambda turns: turns[0] == turns[1], both))
