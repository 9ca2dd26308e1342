"""What features are computed from, which blocks of features there are, and how a judge's folder holds both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, count, takewhile
from typing import Any

from rejoinder.assets import JUDGE
from rejoinder.data.folders import AGAIN, Parts, read_folder
from rejoinder.errors import DataError
from rejoinder.judges.features.added import Source, blocks_of, source_from_parts
from rejoinder.judges.features.alignment import alignment_block
from rejoinder.judges.features.language_model import trigram_block
from rejoinder.judges.features.meaning import meaning_block, mood_block, reference_meaning_block, selection_block
from rejoinder.judges.features.overlap import OVERLAP, REPETITION
from rejoinder.judges.features.reference import reference_block
from rejoinder.judges.features.table import Feature, FeatureBlock, FeatureSet, feature_rows
from rejoinder.judges.features.text import ReadExample
from rejoinder.judges.features.wording import ANSWERS, FORM, SPECIFICITY
from rejoinder.llm.causal import CausalModel
from rejoinder.models import INSIDE, encoder_of
from rejoinder.models.encoders import CachedEncoder, TruncatingEncoder
from rejoinder.models.mood import Mood
from rejoinder.models.mood import from_parts as mood_of
from rejoinder.models.phrases import Phrases
from rejoinder.models.phrases import from_parts as phrases_of
from rejoinder.models.selector import Selector
from rejoinder.models.selector import from_parts as selector_of
from rejoinder.models.student import StudentEncoder

PHRASES, SELECTOR, MOOD, ADDED = "phrases", "selector", "mood", "own"
"""The names under which a judge's folder holds its resources; those that a user added are `own`, `own_2` and so on."""
LEXICAL: tuple[Feature[ReadExample], ...] = (*FORM, *SPECIFICITY, *REPETITION, *OVERLAP, *ANSWERS)


@dataclass(frozen=True)
class Resources:
    """What features are computed from."""

    phrases: Phrases  # counts of words and phrases of a corpus
    student: StudentEncoder  # the small sentence encoder
    selector: Selector  # which reply answers which context, over the vectors of the student
    mood: Mood | None = None  # the mood of turns and reactions, over these vectors; older judges have none
    added: tuple[Source, ...] = ()  # what a user added

    @cached_property
    def features(self) -> FeatureSet:
        """All features."""
        encoder = CachedEncoder(self.student)  # several blocks encode the same turns
        blocks = [
            lexical_block(self.phrases),
            trigram_block(self.phrases),
            alignment_block(self.student),
            meaning_block(encoder),
            selection_block(self.selector, encoder),
            reference_block(self.phrases),
            reference_meaning_block(encoder),
        ]
        if self.mood is not None:
            blocks.append(mood_block(self.mood, encoder))
        for name, source in zip(_added_names(), self.added, strict=False):
            blocks += blocks_of(source, name)
        return FeatureSet(tuple(blocks), self.student.pieces)

    @cached_property
    def options(self) -> Mapping[str, Any]:
        """The digests of all resources."""
        return {name: resource.parts.digest for name, resource in self._named.items()}

    def store(self, parts: Parts) -> Parts:
        """Return the parts of a judge with all of this in them."""
        for name, resource in self._named.items():
            parts = parts.holding(name, resource.parts)
        return parts

    @property
    def _named(self) -> dict[str, Phrases | Selector | Mood | Source]:
        """The resources by the names that they have in a folder."""
        named: dict[str, Phrases | Selector | Mood | Source] = {PHRASES: self.phrases, INSIDE: self.student}
        named[SELECTOR] = self.selector
        if self.mood is not None:
            named[MOOD] = self.mood
        return {**named, **dict(zip(_added_names(), self.added, strict=False))}

    def truncated(self, replies: Sequence[str]) -> frozenset[int]:
        """Return the places of the replies that something a user added does not read to their end."""
        readers = [source for source in self.added if isinstance(source, (CausalModel, TruncatingEncoder))]
        return frozenset(place for reader in readers for place in reader.truncated(replies))

    @property
    def reads_line(self) -> bool:
        """Whether a feature depends on more of an example than its texts."""
        return any(getattr(source, "reads_line", False) for source in self.added)


def lexical_block(phrases: Phrases) -> FeatureBlock:
    """Return the features of words, finite for every text."""
    return FeatureBlock(
        "lexical", LEXICAL, lambda examples: feature_rows(LEXICAL, (ReadExample(line, phrases) for line in examples))
    )


def _added_names() -> Iterator[str]:
    """Yield the names of what a user added, in order."""
    return chain([ADDED], (f"{ADDED}_{place}" for place in count(2)))


def load_resources(parts: Parts) -> Resources:
    """Return what `Resources.store` put into the parts of a judge.

    Raises:
        DataError: it is not there, or is something else.
        MissingAsset, MissingExtra: something that a user added is not installed here.
    """
    student = encoder_of(parts.inner(INSIDE))
    if not isinstance(student, StudentEncoder):
        raise DataError("its encoder is no student", AGAIN, field=INSIDE)
    names = takewhile(lambda name: name in parts.config, _added_names())
    added = tuple(source_from_parts(parts.inner(name)) for name in names)
    mood = mood_of(parts.inner(MOOD)) if MOOD in parts.config else None
    return Resources(phrases_of(parts.inner(PHRASES)), student, selector_of(parts.inner(SELECTOR)), mood, added)


def default_resources() -> Resources:
    """Return the resources of the bundled judge, which depend on no rating."""
    return replace(load_resources(read_folder(JUDGE)), added=())
