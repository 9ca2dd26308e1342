"""The judge over views with models of the user's beside its own views: what each adds on data sets it never saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, combinations
from typing import NamedTuple, cast

import numpy as np

from rejoinder.auditing.attack import ATTACKS
from rejoinder.errors import UsageError
from rejoinder.estimates import Estimate
from rejoinder.judges.augmentation import NO_LINE, AugmentedExample, augment
from rejoinder.judges.features.added import load_source
from rejoinder.judges.features.resources import Resources, default_resources
from rejoinder.judges.features.table import FeatureSet
from rejoinder.judges.rated import RatedLines, rated_lines
from rejoinder.judges.regression.learner import FeatureLearner, TrainingLines
from rejoinder.judges.train import TrainedJudge, fit_judge
from rejoinder.report.results import Results
from rejoinder.scorer import FloatArray, Scorer
from research.asked import RELEVANCE, Asked, Takes, named
from research.judge import ATTACKED, RELEVANT, SETS, agreements, attacked, mean_over_sets, taught, there
from research.judge_folds import blind, left_out, mean_within, undefended
from research.relevance import read_reply_sets, relevance

TAKES = Takes(
    ("files", "encoders", "data", "seed"),
    must=("encoders",),
    why="asks what models add: -e sentence=FOLDER, -e lm=FOLDER, or -e NAME=FOLDER of an encoder",
)
LIBRARIES = ("sentence", "lm")
"""Names of models that a library of others reads; any other is the folder of an encoder."""
TOO_MANY = "dstc7"  # more lines than all other sets together, and its replies are ranked by their references
RELEVANT_CONTEXTS = 100
EACH = 3  # attacked replies of a line, of which the judge in the box sees six: reading them takes hours
EVERY = 2  # each so many-eth context of the replies that people wrote
HEAVIER = 2.0  # each weighs so much more than in the judge in the box, where there are more of them
HARMLESS = 2.0  # and a harmless change so much more again: a language model finds it as unlikely as nonsense
WRITTEN = 4 / 3  # and so a reply that people wrote to fit a context or to mislead
LIMIT = 100  # replies of a set that are attacked
SEARCHES = ("climbed", "fixed-sentence")


class Compared(NamedTuple):
    """Judges that read the same, each on the data set that it never saw.

    Attributes:
        added: the models whose views they read beside their own.
        mean: mean Spearman over data sets.
        within: mean over sets of the mean Spearman within systems.
        each: by data set, Spearman and Pearson.
        defended: whether attacked replies were among what they are fitted on.
    """

    added: tuple[str, ...]
    mean: Estimate
    within: float
    each: dict[str, tuple[Estimate, Estimate]]
    defended: bool = False


@dataclass(frozen=True)
class Found:
    """All that was found.

    Attributes:
        names: the models.
        compared: judges without any, with each, and with all of them; last these with attacked replies to learn from.
        lines: rated lines.
        attacks: by left-out set, what the battery did to the last kind of judge.
        trained: a judge of that kind, fitted on 85 % of the conversations of all sets.
        relevance: replies that people wrote to fit or not to fit, by that one; None where not there.
    """

    names: Sequence[str]
    compared: Sequence[Compared]
    lines: int
    attacks: Mapping[str, Results]
    trained: TrainedJudge
    relevance: Sequence[Estimate]


def find(asked: Asked) -> Found:
    """What models add to the judge, on rated sets without references.

    Raises:
        UsageError: a model is named twice.
    """
    sources = dict(named(text, "-e") for text in asked.encoders)
    if len(sources) < len(asked.encoders):
        raise UsageError("two models have the same name. Name each once")
    own = tuple(load_source(f"{name}:{place}" if name in LIBRARIES else place) for name, place in sources.items())
    examples = asked.examples([name for name in SETS if name != TOO_MANY])
    apart = taught(asked, examples, every=EVERY)
    learner = FeatureLearner(
        replace(default_resources(), added=own),
        lambda given: [heavier(one) for one in (*augment(given, each=EACH), *apart)],
    )
    with asked.stage("reading", None):
        lines = rated_lines(examples, learner)
    lines = replace(lines, encoded=blind(cast("TrainingLines", lines.encoded)))
    names = tuple(sources)
    asks = [chosen for count in sorted({0, 1, len(names)}) for chosen in combinations(range(len(names)), count)]
    with asked.stage("leaving out", (len(asks) + 1) * len(lines.sets)) as advance:
        compared = []
        for chosen in asks:
            part = reading(lines, chosen)
            plain = left_out(part, undefended(cast("TrainingLines", part.encoded)), asked.seed, advance)
            compared.append(_compared(lines, plain.scores, tuple(names[place] for place in chosen), asked.seed))
        whole = left_out(lines, cast("TrainingLines", lines.encoded), asked.seed, advance)
        compared.append(_compared(lines, whole.scores, names, asked.seed)._replace(defended=True))
    with asked.stage("attacking", None):
        attacks = {
            name: attacked(lines, whole, name, asked.seed, quick_attacks(), LIMIT)
            for name in ATTACKED
            if name in whole.fits
        }
    with asked.stage("replies that people wrote", None):
        trained = fit_judge(lines, seed=asked.seed)
        judged = _relevance(asked, trained.judge)
    return Found(names, compared, len(lines.ratings), attacks, trained, judged)


def heavier(one: AugmentedExample) -> AugmentedExample:
    """An attacked reply, or one that people wrote, with what it weighs here."""
    more = WRITTEN if one.row == NO_LINE else HARMLESS if one.is_harmless else 1.0
    return one._replace(weight=one.weight * HEAVIER * more)


def quick_attacks() -> list[str]:
    """The attacks that ask a scorer for one score a reply: a search asks for dozens, of a model that takes long."""
    return [name for name in ATTACKS if name not in SEARCHES]


def _compared(lines: RatedLines, scores: FloatArray, added: tuple[str, ...], seed: int) -> Compared:
    """What judges that read the views of some models beside their own say of sets that they never saw."""
    found = {name: one for (name, _), one in agreements(lines, {"plain": scores}, seed).items()}
    return Compared(
        added,
        mean_over_sets(lines, scores, seed),
        mean_within(lines, scores),
        {name: (found[name]["spearman"], found[name]["pearson"]) for name in lines.sets if name in found},
    )


def reading(lines: RatedLines, chosen: Sequence[int]) -> RatedLines:
    """The lines as judges read them that have some of the models only."""
    learner = cast("FeatureLearner", lines.learner)
    own, encoded = learner.resources.added, cast("TrainingLines", lines.encoded)
    without = len(replace(learner.resources, added=()).features.columns)
    widths = [_width(learner.resources, place) for place in range(len(own))]
    ends = list(accumulate(widths, initial=without))
    columns = np.concatenate(
        [np.arange(without), *(np.arange(ends[place], ends[place + 1]) for place in chosen)]
    ).astype(np.intp)
    fewer = replace(learner.resources, added=tuple(own[place] for place in chosen))
    return replace(
        lines,
        learner=replace(learner, resources=fewer),
        encoded=replace(
            encoded,
            features=encoded.features[:, columns],
            augmented=encoded.augmented._replace(features=encoded.augmented.features[:, columns]),
        ),
    )


def _width(material: Resources, place: int) -> int:
    """How many features the views of one model have."""
    views: FeatureSet = replace(material, added=(material.added[place],)).features
    return len(views.columns) - len(replace(material, added=()).features.columns)


def _relevance(asked: Asked, judge: Scorer) -> Sequence[Estimate]:
    """Return how well a judge distinguishes replies that fit from others; nothing without the data."""
    files = there(asked, RELEVANT, RELEVANCE)
    return relevance(read_reply_sets(*files), judge, limit=RELEVANT_CONTEXTS, seed=asked.seed) if files else []


if __name__ == "__main__":
    from research.run import main

    main("plus")
