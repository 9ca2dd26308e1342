"""Views that a user adds: a model of sentence vectors, a causal language model, the scores of any other scorer.

A judge's folder keeps what finds them again, and no view is a program or an endpoint: a stranger's folder would run it.
Their scores are a view once they stand in the lines (`column:KEY`). Shapes: N examples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rejoinder.data.folders import AGAIN, Parts
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example
from rejoinder.external import EXTERNAL
from rejoinder.judges import BUNDLED
from rejoinder.judges.features.likelihood import LikelihoodView
from rejoinder.judges.features.meaning import MeaningView, ReferenceMeaningView
from rejoinder.judges.features.table import FeatureBlock, Features, Group
from rejoinder.judges.protocol import Side
from rejoinder.llm import causal
from rejoinder.llm.causal import CausalModel
from rejoinder.metrics import METRICS
from rejoinder.models import encoder_of, load_encoder
from rejoinder.models.encoders import CachedEncoder, PortableEncoder
from rejoinder.registry import Registry
from rejoinder.scorer import Scorer, run

SCORE, COLUMN = "score", "column"
_OUTSIDE = ("command", "openai", "python")
_SCORERS: Registry[Scorer] = Registry("scorer", BUNDLED, METRICS.values())
_COLUMNS: Registry[Scorer] = Registry("scorer", EXTERNAL)
_SIDES: tuple[Side, ...] = ("context", "reference")


@dataclass(frozen=True)
class NamedScorer:
    """A scorer that is found again by its name.

    Attributes:
        name: of a metric, or `column:KEY`.
        scorer: the scorer.
    """

    name: str
    scorer: Scorer

    @property
    def options(self) -> Mapping[str, Any]:
        """What decides its scores."""
        return {"scorer": self.name, "version": self.scorer.card.version, **self.scorer.options}

    @property
    def parts(self) -> Parts:
        """What `source_from_parts` needs to find it again."""
        return Parts(
            {"kind": SCORE, "name": self.name, "options": {key: str(one) for key, one in self.options.items()}}, {}
        )

    @property
    def reads_line(self) -> bool:
        """Whether it reads more of an example than its texts."""
        return self.scorer.card.reads_line


Source = PortableEncoder | CausalModel | NamedScorer
"""What views that a user adds are made of."""


@dataclass(frozen=True)
class ScoreView:
    """The score of another scorer.

    Attributes:
        source: the scorer.
        name: what the view is called.
    """

    source: NamedScorer
    name: str
    columns: tuple[str, ...] = (SCORE,)
    groups: tuple[Group, ...] = ("other",)

    @property
    def needs(self) -> tuple[Side, ...]:
        """What the scorer needs."""
        return tuple(side for side in _SIDES if side in self.source.scorer.card.needs)

    @property
    def options(self) -> Mapping[str, Any]:
        """The scorer's."""
        return {f"{self.name}_{key}": value for key, value in self.source.options.items()}

    def compute(self, examples: Sequence[Example]) -> Features:
        """[N, 1]; NaN where it gives no score."""
        return run(self.source.scorer, examples).values.astype(np.float32)[:, None]


def blocks_of(source: Source, name: str) -> list[FeatureBlock]:
    """The views that are made of a source, under a name."""
    if isinstance(source, CausalModel):
        return [LikelihoodView(source, name)]
    if isinstance(source, NamedScorer):
        return [ScoreView(source, name)]
    known = CachedEncoder(source)
    return [MeaningView(known, name), ReferenceMeaningView(known, f"{name}_reference")]


def load_source(name: str) -> Source:
    """What `--view NAME` stands for.

    Args:
        name: `sentence:MODEL`, the folder of an encoder, `lm:MODEL`, a metric's name, or `column:KEY`.

    Raises:
        UsageError: it is a program or an endpoint, or there is nothing of that name.
        MissingAsset, MissingExtra, UnusableModel, DataError: it cannot be loaded.
    """
    before, _, rest = name.partition(":")
    if before == causal.KIND:
        return causal.causal_model(rest)
    if before == COLUMN or name.partition("/")[0] in _SCORERS:
        return NamedScorer(name, _scorer(name))
    if before in _OUTSIDE:
        raise UsageError(
            f"a judge's folder may name no program and no endpoint, whose view {name!r:.60} would be. Score with it "
            "first (rejoinder score FILE -s NAME -o scored.jsonl), then --view column:scores.NAME"
        )
    return load_encoder(name)


def source_from_parts(parts: Parts) -> Source:
    """What a judge's folder names.

    Raises:
        DataError: it names a program, an endpoint or nothing, or what has other weights by now.
        MissingAsset, MissingExtra, UnusableModel: it cannot be loaded.
    """
    kind, name = parts.config.get("kind"), parts.config.get("name")
    if kind == causal.KIND:
        return causal.from_parts(parts)
    if kind != SCORE:
        return encoder_of(parts)
    if not isinstance(name, str) or not (name.startswith(f"{COLUMN}:") or name.partition("/")[0] in _SCORERS):
        raise DataError(f"is {name!r:.40}, expected a metric, or column:KEY", AGAIN, field="name")
    found = NamedScorer(name, _scorer(name))
    if found.parts.config["options"] != parts.config.get("options"):
        raise DataError(f"{name} gives other scores by now", AGAIN, field="name")
    return found


def _scorer(name: str) -> Scorer:
    """Return a column, a metric or the bundled judge.

    Raises:
        UsageError: there is no metric with this name.
    """
    return (_COLUMNS if name.startswith(f"{COLUMN}:") else _SCORERS).find(name).load(name)
