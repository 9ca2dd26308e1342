"""The judge in the box: what `rejoinder score` scores with where nothing else is said."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from rejoinder.assets import JUDGE
from rejoinder.data.folders import read_folder
from rejoinder.judges.answers import SHORT_CHAT, UNREAD
from rejoinder.judges.domain import bundled_rule
from rejoinder.judges.features.resources import default_resources
from rejoinder.judges.learner import PREDICTED, Choices
from rejoinder.judges.regression.judge import FeatureJudge, from_parts
from rejoinder.judges.regression.learner import FeatureLearner
from rejoinder.scorer import Card

NAME = "rejoinder"
VERSION = 4  # a judge over views, its scores inside the scale
FOLDER = JUDGE

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
        unread=UNREAD,
    )
}


@cache
def bundled_judge() -> FeatureJudge:
    """The judge in the box, read once in a process: who scores reply after reply by its name asks for it each time."""
    # Its own name and version, because a signature must tell it from a judge of the user's.
    judge = from_parts(read_folder(FOLDER))
    return replace(judge, name=NAME, version=VERSION, domain=SHORT_CHAT, form=bundled_rule())


def learner(name: str, choices: Choices) -> FeatureLearner:
    """What learns judges like the one in the box quickly enough to leave each data set out: without attacked replies.

    These cost hardly any agreement with people (docs/results/judge.md), and take most of the time.
    """
    choices.only(name)
    return FeatureLearner(default_resources(), name=name)
