"""What a user adds as features: a model of sentence vectors, a causal language model, the scores of another scorer.

A judge's folder stores what finds them again. No feature is a program or an endpoint, because a stranger's folder would
run it; scores of those are read from the lines (`column:KEY`). Shapes: N examples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from rejoinder.data.folders import AGAIN, Parts
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example
from rejoinder.external import EXTERNAL
from rejoinder.judges import BUNDLED
from rejoinder.judges.features.language_model import causal_block
from rejoinder.judges.features.meaning import meaning_block, reference_meaning_block
from rejoinder.judges.features.table import FeatureBlock, Features, joint_features
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


@dataclass(frozen=True)
class NamedScorer:
    """A scorer that is found again by its name: a metric, the bundled judge, or `column:KEY`."""

    name: str
    scorer: Scorer

    @property
    def options(self) -> Mapping[str, Any]:
        """The options that its scores follow from."""
        return {"scorer": self.name, "version": self.scorer.card.version, **self.scorer.options}

    @property
    def parts(self) -> Parts:
        """All that `source_from_parts` needs to find it again."""
        options = {key: str(value) for key, value in self.options.items()}
        return Parts({"kind": SCORE, "name": self.name, "options": options}, {})

    @property
    def reads_line(self) -> bool:
        """Whether it reads more of an example than its texts."""
        return self.scorer.card.reads_line

    def compute(self, examples: Sequence[Example]) -> Features:
        """Return [N, 1] scores of the scorer; NaN for a missing score."""
        return run(self.scorer, examples).values.astype(np.float32)[:, None]


Source = PortableEncoder | CausalModel | NamedScorer
"""What a user adds."""


def blocks_of(source: Source, name: str) -> list[FeatureBlock]:
    """Return the blocks of features of what a user added, under a name."""
    if isinstance(source, CausalModel):
        return [causal_block(name, source)]
    if isinstance(source, NamedScorer):
        score = joint_features("other", -inf, inf, SCORE)
        return [FeatureBlock(name, score, source.compute, "reference" in source.scorer.card.needs)]
    encoder = CachedEncoder(source)
    return [meaning_block(encoder, name), reference_meaning_block(encoder, f"{name}_reference")]


def load_source(name: str) -> Source:
    """Return what `--view NAME` stands for.

    Args:
        name: `sentence:MODEL`, the folder of an encoder, `lm:MODEL`, a metric's name, or `column:KEY`.

    Raises:
        UsageError: it is a program or an endpoint, or nothing has this name.
        MissingAsset, MissingExtra, UnusableModel, DataError: it cannot be loaded.
    """
    kind, _, model = name.partition(":")
    if kind == causal.KIND:
        return causal.causal_model(model)
    if _is_scorer(name):
        return NamedScorer(name, _scorer(name))
    if kind in _OUTSIDE:
        raise UsageError(
            f"a judge's folder may name no program and no endpoint, whose view {name!r:.60} would be. Score with it "
            "first (rejoinder score FILE -s NAME -o scored.jsonl), then --view column:scores.NAME"
        )
    return load_encoder(name)


def source_from_parts(parts: Parts) -> Source:
    """Return what a judge's folder names.

    Raises:
        DataError: it names a program, an endpoint or nothing, or something that has changed since.
        MissingAsset, MissingExtra, UnusableModel: it cannot be loaded.
    """
    kind, name = parts.config.get("kind"), parts.config.get("name")
    if kind == causal.KIND:
        return causal.from_parts(parts)
    if kind != SCORE:
        return encoder_of(parts)
    if not isinstance(name, str) or not _is_scorer(name):
        raise DataError(f"is {name!r:.40}, expected a metric, or column:KEY", AGAIN, field="name")
    source = NamedScorer(name, _scorer(name))
    if source.parts.config["options"] != parts.config.get("options"):
        raise DataError(f"{name} gives other scores by now", AGAIN, field="name")
    return source


def _is_scorer(name: str) -> bool:
    """Return whether a name is that of a column, a metric or the bundled judge."""
    return name.startswith(f"{COLUMN}:") or name.partition("/")[0] in _SCORERS


def _scorer(name: str) -> Scorer:
    """Return a column, a metric or the bundled judge; `UsageError` where no metric has this name."""
    return (_COLUMNS if name.startswith(f"{COLUMN}:") else _SCORERS).find(name).load(name)
