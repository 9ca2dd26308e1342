"""Which views a judge reads, what they are made of, and how these are found again in its folder."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from rejoinder.encoders import INSIDE, PortableEncoder
from rejoinder.encoders import from_parts as encoder_of
from rejoinder.encoders.remembered import Remembered
from rejoinder.encoders.selector import Selector
from rejoinder.encoders.selector import from_parts as selector_of
from rejoinder.encoders.student import StudentEncoder
from rejoinder.errors import DataError
from rejoinder.io.checks import AGAIN
from rejoinder.io.folders import Parts
from rejoinder.judges.views.alignment import AlignmentView
from rejoinder.judges.views.language import LanguageView
from rejoinder.judges.views.lexical import LexicalView
from rejoinder.judges.views.meaning import MeaningView, ReferenceMeaningView
from rejoinder.judges.views.reference import ReferenceView
from rejoinder.judges.views.selection import SelectionView
from rejoinder.judges.views.view import View
from rejoinder.judges.views.views import Views
from rejoinder.training.phrases import Phrases
from rejoinder.training.phrases import from_parts as phrases_of

PHRASES = "phrases"
SELECTOR = "selector"
OWN = "own"
"""The names under which a judge's folder keeps corpus statistics, the selector, and an encoder that a user added."""


@dataclass(frozen=True)
class Material:
    """What views are made of.

    Attributes:
        phrases: what a corpus says of words.
        student: the small encoder.
        selector: which reply answers which context, over its vectors.
        own: another encoder that a user chose, or None.
    """

    phrases: Phrases
    student: StudentEncoder
    selector: Selector
    own: PortableEncoder | None = None

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
        if self.own is not None:
            own = Remembered(self.own)
            each += [MeaningView(own, OWN), ReferenceMeaningView(own, f"{OWN}_reference")]
        return Views(tuple(each))

    def inside(self, parts: Parts) -> Parts:
        """A judge's parts with all of this held inside."""
        parts = parts.holding(PHRASES, self.phrases.parts).holding(INSIDE, self.student.parts)
        parts = parts.holding(SELECTOR, self.selector.parts)
        return parts if self.own is None else parts.holding(OWN, self.own.parts)


def material_of(parts: Parts) -> Material:
    """What `Material.inside` put into a judge's parts.

    Raises:
        DataError: it is not there, or is something else.
        MissingExtra: a library that an encoder of the user's needs is not installed.
    """
    student = encoder_of(parts.inner(INSIDE))
    if not isinstance(student, StudentEncoder):
        raise DataError("its encoder is no student", AGAIN, field=INSIDE)
    own = encoder_of(parts.inner(OWN)) if OWN in parts.config else None
    return Material(phrases_of(parts.inner(PHRASES)), student, selector_of(parts.inner(SELECTOR)), own)
