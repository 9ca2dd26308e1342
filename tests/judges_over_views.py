"""What tests of judges over views share: made-up ratings, and a judge that is fitted in a moment."""

from __future__ import annotations

import random
from pathlib import Path

import tiny
from examples_for_views import TURNS, phrases
from rejoinder.data.folders import read_folder
from rejoinder.example import Example
from rejoinder.judges.augmentation import augment
from rejoinder.judges.features.resources import Resources
from rejoinder.judges.regression.judge import FeatureJudge
from rejoinder.judges.regression.learner import FeatureLearner
from rejoinder.judges.regression.trees import TreeOptions
from rejoinder.judges.train import train_judge
from rejoinder.models import load_encoder
from rejoinder.models.phrases import from_parts as from_phrases
from rejoinder.models.selector import from_parts as from_selector
from rejoinder.models.student import StudentEncoder

QUICK = TreeOptions(trees=20, learning_rate=0.2, min_leaf=5)


def rated(dataset: str, count: int = 90, *, references: bool = True) -> list[Example]:
    """Replies of one to twelve words to some context; long ones are rated high."""
    source, words = random.Random(dataset), " ".join(TURNS).split()
    found = []
    for number in range(count):
        length = source.randint(1, 12)
        found.append(
            Example(
                tuple(" ".join(source.choices(words, k=9)) for _ in range(source.randint(1, 3))),
                " ".join(source.choices(words, k=length)),
                references=(" ".join(source.choices(words, k=6)),) if references and number % 2 else (),
                id=f"{dataset}{number}",
                dataset=dataset,
                quality={"overall": min(5.0, max(1.0, source.gauss(1 + length / 3, 0.4)))},
                scales={"overall": (1.0, 5.0)},
            )
        )
    return found


def made_material(place: Path) -> Resources:
    """Phrases of ten turns, and a student and a selector of random numbers."""
    encoder = load_encoder(tiny.student_model(place / "student"))
    assert isinstance(encoder, StudentEncoder)
    selector = from_selector(read_folder(tiny.selector_model(place / "selector", encoder)))
    return Resources(from_phrases(phrases().parts), encoder, selector)


def quick_judge(material: Resources) -> FeatureJudge:
    """A judge fitted on two sets."""
    trained = train_judge(rated("one") + rated("two"), FeatureLearner(material, augment, QUICK)).judge
    assert isinstance(trained, FeatureJudge)
    return trained
