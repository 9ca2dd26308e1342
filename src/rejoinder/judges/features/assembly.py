"""Which views a judge reads, what they are made of, and how these are found again in its folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count, takewhile

from rejoinder.data.folders import AGAIN, Parts
from rejoinder.errors import DataError
from rejoinder.judges.features.alignment import AlignmentView
from rejoinder.judges.features.language import LanguageView
from rejoinder.judges.features.lexical import LexicalView
from rejoinder.judges.features.meaning import MeaningView, ReferenceMeaningView
from rejoinder.judges.features.mood import MoodView
from rejoinder.judges.features.own import Source, source_of, views_of
from rejoinder.judges.features.reference import ReferenceView
from rejoinder.judges.features.selection import SelectionView
from rejoinder.judges.features.view import View
from rejoinder.judges.features.views import Views
from rejoinder.llm.causal import CausalModel
from rejoinder.models.encoders import INSIDE, Limited
from rejoinder.models.encoders import from_parts as encoder_of
from rejoinder.models.mood import Mood
from rejoinder.models.mood import from_parts as mood_of
from rejoinder.models.phrases import Phrases
from rejoinder.models.phrases import from_parts as phrases_of
from rejoinder.models.remembered import Remembered
from rejoinder.models.selector_encoder import Selector
from rejoinder.models.selector_encoder import from_parts as selector_of
from rejoinder.models.student import StudentEncoder

PHRASES = "phrases"
SELECTOR = "selector"
MOOD = "mood"
OWN = "own"
"""The names under which a judge's folder keeps corpus statistics, the selector, the moods, and what a user added (own_2
...)."""


@dataclass(frozen=True)
class Material:
    """What views are made of.

    Attributes:
        phrases: what a corpus says of words.
        student: the small encoder.
        selector: which reply answers which context, over its vectors.
        mood: what turns are like and what replies take them for, over its vectors; older judges read none.
        own: what the views that a user added are made of.
    """

    phrases: Phrases
    student: StudentEncoder
    selector: Selector
    mood: Mood | None = None
    own: tuple[Source, ...] = ()

    @cached_property
    def views(self) -> Views:
        """All views, in the order in which heads know their features."""
        student = Remembered(self.student)  # several views ask for the same turns
        each: list[View] = [
            LexicalView(self.phrases),
            LanguageView(self.phrases),
            AlignmentView(self.student),
            MeaningView(student),
            SelectionView(self.selector, student),
            ReferenceView(self.phrases),
            ReferenceMeaningView(student),
        ]
        if self.mood is not None:
            each.append(MoodView(self.mood, student))
        for name, source in zip(_names(), self.own, strict=False):
            each += views_of(source, name)
        return Views(tuple(each), self.student.pieces)

    def inside(self, parts: Parts) -> Parts:
        """A judge's parts with all of this held inside."""
        parts = parts.holding(PHRASES, self.phrases.parts).holding(INSIDE, self.student.parts)
        parts = parts.holding(SELECTOR, self.selector.parts)
        if self.mood is not None:
            parts = parts.holding(MOOD, self.mood.parts)
        for name, source in zip(_names(), self.own, strict=False):
            parts = parts.holding(name, source.parts)
        return parts

    def cuts(self, replies: Sequence[str]) -> frozenset[int]:
        """The positions of replies that something a user added does not read to their end."""
        readers = [source for source in self.own if isinstance(source, (CausalModel, Limited))]
        return frozenset(place for reader in readers for place in reader.cuts(replies))

    @property
    def reads_line(self) -> bool:
        """Whether a view reads more of an example than its texts."""
        return any(getattr(source, "reads_line", False) for source in self.own)


def _names() -> Iterator[str]:
    """The names of what a user added, in order."""
    return chain([OWN], (f"{OWN}_{place}" for place in count(2)))


def material_of(parts: Parts) -> Material:
    """What `Material.inside` put into a judge's parts.

    Raises:
        DataError: it is not there, or is something else.
        MissingAsset, MissingExtra: what a view of the user's needs is not here.
    """
    student = encoder_of(parts.inner(INSIDE))
    if not isinstance(student, StudentEncoder):
        raise DataError("its encoder is no student", AGAIN, field=INSIDE)
    names = takewhile(lambda name: name in parts.config, _names())
    own = tuple(source_of(parts.inner(name)) for name in names)
    mood = mood_of(parts.inner(MOOD)) if MOOD in parts.config else None
    return Material(phrases_of(parts.inner(PHRASES)), student, selector_of(parts.inner(SELECTOR)), mood, own)
