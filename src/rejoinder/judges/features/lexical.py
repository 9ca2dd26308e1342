"""The view `lexical`: what can be told of a reply by its words, those of its context, and how rare words are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rejoinder.example import Example
from rejoinder.judges.features import answering, overlap, repetition, specificity, wording
from rejoinder.judges.features.reading import Reading
from rejoinder.judges.features.table import Features, Group
from rejoinder.judges.features.view import Column, groups_of, names_of, table
from rejoinder.judges.protocol import Side
from rejoinder.models.phrases import Phrases

COLUMNS: tuple[Column[Reading], ...] = (
    *wording.COLUMNS,
    *specificity.COLUMNS,
    *repetition.COLUMNS,
    *overlap.COLUMNS,
    *answering.COLUMNS,
)


NAME = "lexical"


@dataclass(frozen=True)
class LexicalView:
    """Form, fluency, specificity, repetition, overlap with the context and answers in kind, every text read to its end.

    Attributes:
        phrases: what words are worth.
    """

    phrases: Phrases
    name: str = NAME
    needs: tuple[Side, ...] = ()
    columns: tuple[str, ...] = names_of(COLUMNS)
    groups: tuple[Group, ...] = groups_of(COLUMNS)

    @property
    def options(self) -> Mapping[str, Any]:
        """The digest of what words are worth, and the version of the columns."""
        return {"phrases": self.phrases.parts.digest, "version": 2}

    def compute(self, examples: Sequence[Example]) -> Features:
        """[N, F] the features, finite for every text; of an empty context all overlap is 0."""
        return table(COLUMNS, (Reading.of(example, self.phrases) for example in examples))
