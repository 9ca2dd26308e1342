"""All views of a judge side by side. Shapes: N examples, F features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rejoinder.example import Example
from rejoinder.judges.features.extent import Pieces, Shown, shown
from rejoinder.judges.features.lexical import SENSELESS
from rejoinder.judges.features.view import WIDE, Features, Group, View
from rejoinder.models.threads import one_thread

RULE, VECTOR = 1, 2
_TOGETHER = 512  # examples at a time, so that what is known of their texts is kept no longer than needed


@dataclass(frozen=True)
class Views:
    """Several views.

    Attributes:
        each: the views.
        pieces: cuts a text into the subwords that tell how much of it is read.
    """

    each: tuple[View, ...]
    pieces: Pieces = str.split

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """[F] `view.column` of each feature."""
        return tuple(f"{view.name}.{column}" for view in self.each for column in view.columns)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """[F] what each feature tells."""
        return tuple(group for view in self.each for group in view.groups)

    @cached_property
    def plain(self) -> NDArray[np.intp]:
        """The features that need no reference."""
        needs = [("reference" in view.needs) for view in self.each for _ in view.columns]
        return np.flatnonzero(~np.array(needs, np.bool_))

    @cached_property
    def readers(self) -> NDArray[np.intp]:
        """[F] what reads each feature of a head: trees and kernel (0), a rule (`RULE`), a straight line (`VECTOR`).

        Contrasts read all but what the rule reads.
        """
        told = zip(self.columns, self.groups, strict=True)
        return np.array(
            [RULE if name == SENSELESS else VECTOR if group == WIDE else 0 for name, group in told], np.intp
        )

    @cached_property
    def options(self) -> Mapping[str, Any]:
        """What decides the features."""
        return {name: value for view in self.each for name, value in view.options.items()}

    def features(self, examples: Sequence[Example]) -> Features:
        """[N, F] all features."""
        found = np.empty((len(examples), len(self.columns)), np.float32)
        for start in range(0, len(examples), _TOGETHER):
            part = [self.shown(example).example for example in examples[start : start + _TOGETHER]]
            with one_thread():
                found[start : start + _TOGETHER] = np.concatenate([view.features(part) for view in self.each], axis=1)
        return found

    def shown(self, example: Example) -> Shown:
        """Return what is read of an example; of what is read already the same again."""
        return shown(example, self.pieces)
