"""What a feature is, blocks of features, and all features of a judge side by side. Shapes: N examples, F features.

A feature that lacks the side of an example that it needs is NaN, never an error and never a guess.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from rejoinder.errors import DataError
from rejoinder.example import Example
from rejoinder.judges.features.extent import Pieces, Shown, shown
from rejoinder.models.threads import one_thread

Features = NDArray[np.float32]
T = TypeVar("T")
Group = Literal[
    "fluency",
    "specificity",
    "repetition",
    "context overlap",
    "form",
    "context fit",
    "reference fit",
    "other",
    "language model",
]
"""What a feature tells about a reply, in the words of explanations."""
WIDE: Group = "language model"
"""The group of the numbers of one long vector: a single one has no meaning, and no tree reads it."""
NONSENSE = "lexical.senseless"
"""The feature that is 1 for a reply that nobody can read as English, and 0 for others."""
RULE, VECTOR = 1, 2
_BATCH = 512  # examples at a time, which bounds the memory for their texts


class Feature(NamedTuple, Generic[T]):
    """A feature of an example."""

    name: str  # in its block
    group: Group
    compute: Callable[[T], float] | None  # from the parsed example; None if its block computes all together
    low: float
    high: float


@dataclass(frozen=True)
class FeatureBlock:
    """F features that are computed together."""

    name: str  # in folders: `lexical`
    features: Sequence[Feature[Any]]
    compute: Callable[[Sequence[Example]], Features]  # from N examples to [N, F]
    needs_reference: bool = False  # whether they are NaN without a reference


def joint_features(group: Group, low: float, high: float, *names: str) -> tuple[Feature[Any], ...]:
    """Return features that their block computes together."""
    return tuple(Feature(name, group, None, low, high) for name in names)


def feature_rows(features: Sequence[Feature[T]], items: Iterable[T]) -> Features:
    """Return [N, F] features of N items, each computed by itself."""
    computes = [feature.compute for feature in features if feature.compute is not None]
    rows = [[compute(item) for compute in computes] for item in items]
    return np.array(rows, dtype=np.float32).reshape(len(rows), len(computes))


@dataclass(frozen=True)
class FeatureSet:
    """Several blocks of features."""

    blocks: tuple[FeatureBlock, ...]
    pieces: Pieces = str.split  # of a text, the subwords that tell how much of it is read

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """[F] the names that folders hold: `lexical.words`."""
        return tuple(f"{block.name}.{feature.name}" for block in self.blocks for feature in block.features)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """[F] what each feature tells."""
        return tuple(feature.group for block in self.blocks for feature in block.features)

    @cached_property
    def plain(self) -> NDArray[np.intp]:
        """The places of the features that need no reference."""
        needs_reference = [block.needs_reference for block in self.blocks for _ in block.features]
        return np.flatnonzero(~np.array(needs_reference, np.bool_))

    @cached_property
    def readers(self) -> NDArray[np.intp]:
        """[F] what reads each feature of a head: trees and kernel (0), a rule (`RULE`), a linear probe (`VECTOR`).

        Contrasts read all features but that of the rule.
        """
        pairs = zip(self.columns, self.groups, strict=True)
        return np.array(
            [RULE if name == NONSENSE else VECTOR if group == WIDE else 0 for name, group in pairs], np.intp
        )

    def places(self, names: Sequence[str]) -> NDArray[np.intp]:
        """Return the place of each named feature, such as those of a folder; raises `DataError` for unknown names."""
        places = {name: place for place, name in enumerate(self.columns)}
        unknown = [name for name in names if name not in places]
        if unknown:
            problem = f"this version has no feature {unknown[0]!r:.60}"
            raise DataError(f"it was made with other features: {problem}", "Train it again")
        return np.array([places[name] for name in names], np.intp)

    @one_thread()
    def compute(self, examples: Sequence[Example]) -> Features:
        """Return [N, F] all features, those without a reference (see `plain`) and those with one."""
        features = np.empty((len(examples), len(self.columns)), np.float32)
        for start in range(0, len(examples), _BATCH):
            batch = [self.shown(example).example for example in examples[start : start + _BATCH]]
            np.concatenate([block.compute(batch) for block in self.blocks], 1, features[start : start + len(batch)])
        return features

    def shown(self, example: Example) -> Shown:
        """Return what is read of an example; what was returned before is returned unchanged."""
        return shown(example, self.pieces)
