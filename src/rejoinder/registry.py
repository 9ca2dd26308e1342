"""Names of things and how to load them. The tables are in the packages that own the things."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from rejoinder.errors import UsageError

if TYPE_CHECKING:
    from rejoinder.scorer import Card

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Entry(Generic[T]):
    """A line of a table of scorers, encoders, responders, judges or attacks.

    Attributes:
        name: its name as users write it (`bleu-4`, `human:FILE`); of a trained model, its kind.
        about: a short description.
        load: makes it. It imports its module inside, so that a list of names loads no library.
        made: the command that makes it, or another origin.
        needs: anything else that it needs to be made and used, "" for nothing.
        cards: the cards of a family of scorers by name, presets included.
    """

    name: str
    about: str
    load: Callable[..., T]
    made: str = ""
    needs: str = ""
    cards: Callable[[], Mapping[str, Card]] = dict

    @property
    def key(self) -> str:
        """The part of the name before a colon."""
        return self.name.partition(":")[0]

    @property
    def record(self) -> dict[str, str]:
        """The line as JSON values."""
        return {"name": self.name, "about": self.about, "made": self.made, "needs": self.needs}


class Registry(dict[str, Entry[T]]):
    """Tables of entries of one kind, by `Entry.key`."""

    def __init__(self, kind: str, *tables: Iterable[Entry[T]]) -> None:
        super().__init__((entry.key, entry) for table in tables for entry in table)
        self.kind = kind

    def find(self, name: str) -> Entry[T]:
        """Return the entry for a name, `NAME:...` or `NAME/PRESET`.

        Raises:
            UsageError: there is none; the message holds the nearest names.
        """
        if entry := self.entry(name):
            return entry
        raise UsageError(f"no {self.kind} is called {name!r}.{self.hint(name)} There are: {', '.join(self)}")

    def entry(self, name: str) -> Entry[T] | None:
        """Return the entry for a name, or None."""
        before, colon, _ = name.partition(":")
        entry = self.get(before if colon else name.partition("/")[0])
        if entry is None or bool(colon) != (":" in entry.name):
            return None
        return entry if name in (cards := entry.cards()) or not cards else None

    def cards(self) -> dict[str, Card]:
        """Return the cards of all entries by name, presets included, in the order of the tables."""
        return {
            name: card
            for key, entry in self.items()
            for name, card in entry.cards().items()
            if name.partition("/")[0] == key
        }

    def hint(self, name: str) -> str:
        """Return " Nearest: a, b." for a name that is misspelt; "" if no name is near."""
        names: Iterable[Any] = [known for known in self.cards() or self if ("/" in known) == ("/" in name)]
        near = difflib.get_close_matches(name.lower(), names, n=3, cutoff=0.6)
        return f" Nearest: {', '.join(near)}." if near else ""
