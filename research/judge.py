"""The judge in the box: fitted, asked about data sets that it never saw, attacked, and asked how sure it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rejoinder.analysis.analyses import agreement
from rejoinder.analysis.study import study
from rejoinder.auditing.run import LIMIT, audit
from rejoinder.errors import MissingAsset, UsageError
from rejoinder.estimates import Estimate
from rejoinder.example import Example
from rejoinder.judges.augmentation import AugmentedExample, augment, written
from rejoinder.judges.rated import RatedLines, rated_lines
from rejoinder.judges.regression.learner import FeatureLearner
from rejoinder.judges.train import TrainedJudge, fit_judge
from rejoinder.report.results import Results
from rejoinder.scorer import FloatArray, Scorer, Scores, Signature
from rejoinder.stats.correlation import CORRELATIONS, mean_correlation
from rejoinder.stats.resamples import IntArray, Resamples
from research.asked import RELEVANCE, Asked, Takes, files_of
from research.domain import Measured, measure
from research.judge_folds import LeftOut, blind, left_out, seen, undefended, with_references, within_systems
from research.judge_material import CORPORA, material_from
from research.relevance import read_reply_sets, relevance

TAKES = Takes(("files", "encoders", "data", "seed"))
# The licence of the repository that each set was released in.
SETS = {
    "dstc7": "O-UDA 1.0",
    "conture_turn": "CC BY 4.0",
    "engage_dailydialog": "MIT (its dialogues: CC BY-NC-SA 4.0)",
    "zhao_dailydialog": "GPL-3.0 and MIT (its dialogues: CC BY-NC-SA 4.0)",
    "zhao_personachat": "GPL-3.0",
    "gupta_dailydialog": "none stated (its dialogues: CC BY-NC-SA 4.0)",
    "usr_personachat": "none stated",
    "grade_dailydialog": "none stated (its dialogues: CC BY-NC-SA 4.0)",
    "grade_empathetic": "none stated (its dialogues: CC BY-NC 4.0)",
    "deriu_convai2": "none stated",
    "deriu_dailydialog": "none stated (its dialogues: CC BY-NC-SA 4.0)",
    "deriu_empathetic": "none stated (its dialogues: CC BY-NC 4.0)",
    "fed_turn": "none stated",
    "holistic_context": "none stated",
}
# Metrics that need a reference, on the same lines; those over word vectors read the ones in the box.
BESIDE = ("bleu-2", "bleu-4", "rouge-l", "meteor", "chrf", "embedding-average", "embedding-greedy", "embedding-extrema")
ATTACKED = ("conture_turn", "gupta_dailydialog")
TAUGHT, RELEVANT = "dailydialogpp_dev", "dailydialogpp_test"
MOST_CONTEXTS = 10_000  # all of them
RESAMPLES = 1000
AGREEMENT = ((agreement, None),)


class Unseen(NamedTuple):
    """A data set, asked of judges that were fitted on all others.

    Attributes:
        name: of the set.
        spearman: of the judge that reads no references, with the ratings.
        pearson: the same.
        within: mean Spearman within systems, NaN where none has 30 lines.
        referring: Spearman of the judge that reads references, on lines that have some; None where the set has none.
        metrics: Spearman of the metrics on these lines, by name.
        held: share of ratings inside the intervals of the judge that reads no references.
        spread: standard deviation of its scores over that of the ratings.
        unlike: share of lines said to be unlike what it was fitted on.
    """

    name: str
    spearman: Estimate | None
    pearson: Estimate | None
    within: float
    referring: Estimate | None
    metrics: Mapping[str, float]
    held: float
    spread: float
    unlike: float


@dataclass(frozen=True)
class Found:
    """All that was found.

    Attributes:
        trained: the judge that ships, fitted on 85 % of the conversations of all sets.
        written: replies that people wrote to fit or not to fit, of DailyDialog++, which judges learn from besides.
        corpora: names of what its encoder was trained on.
        unseen: one a set.
        mean: mean Spearman over sets, no references read.
        undefended: the same without attacked rows.
        seen: the same of judges that saw other conversations of the set.
        attacks: by left-out set, what the battery did to the judge that never saw it.
        relevance: replies that people wrote to fit or not to fit.
        domain: the share of replies that are out of the domain of the judge that ships, by data set.
    """

    trained: TrainedJudge
    written: int
    corpora: Sequence[str]
    unseen: Sequence[Unseen]
    mean: Estimate
    undefended: Estimate
    seen: Estimate
    attacks: Mapping[str, Results]
    relevance: Sequence[Estimate]
    domain: Measured


def find(asked: Asked) -> Found:
    """The judge fitted on all sets, and what is known of it.

    Raises:
        UsageError: what it stands on is not named, or was trained on corpora, or the judge would be fitted on sets,
            whose licence is not known here.
    """
    material, corpora = material_from(asked.encoders)
    examples = asked.examples(tuple(SETS))
    sets = [str(name) for name in dict.fromkeys(example.dataset for example in examples)]
    if unknown := [*(set(corpora) - set(CORPORA)), *(set(sets) - set(SETS))]:
        raise UsageError(f"the licence of {', '.join(sorted(unknown))} is not known. Add it to SETS or CORPORA")
    apart = taught(asked, examples)
    learner = FeatureLearner(material, lambda given: [*augment(given), *apart])
    with asked.stage("reading", None):
        lines = rated_lines(examples, learner)
    with asked.stage("fitting", learner.steps) as advance:
        trained = fit_judge(lines, seed=asked.seed, advance=advance)
    return _found(asked, lines, trained, len(apart), corpora)


def _found(asked: Asked, lines: RatedLines, trained: TrainedJudge, apart: int, corpora: Sequence[str]) -> Found:
    """What is known of a judge and of those fitted like it."""
    count, encoded = len(lines.sets), lines.encoded
    with asked.stage("leaving out", 3 * count + 5) as advance:
        plain = left_out(lines, blind(encoded), asked.seed, advance)
        weak = left_out(lines, undefended(blind(encoded)), asked.seed, advance)
        referring = left_out(lines, with_references(encoded), asked.seed, advance)
        known = seen(lines, blind(encoded), asked.seed, advance)
    with asked.stage("attacking", None):
        attacks = {name: attacked(lines, plain, name, asked.seed) for name in ATTACKED if name in plain.fits}
    judge = trained.judge
    return Found(
        trained,
        apart,
        corpora,
        _unseen(lines, plain, referring, asked.seed),
        mean_over_sets(lines, plain.scores, asked.seed),
        mean_over_sets(lines, weak.scores, asked.seed),
        mean_over_sets(lines, known, asked.seed),
        attacks,
        _relevance(asked, judge),
        _domain(asked),
    )


def taught(asked: Asked, examples: Sequence[Example], every: int = 1) -> list[AugmentedExample]:
    """Replies that people wrote to fit or not to fit contexts of no example; of each `every`-th of these contexts.

    Where the data have none, that is said: judges that learn from none are others than those that ship.
    """
    if not (files := there(asked, TAUGHT, RELEVANCE)):
        asked.note(f"no {RELEVANCE}/{TAUGHT}.jsonl.gz among the data: judges learn from no reply written not to fit")
    return written(read_reply_sets(*files), examples, every)


def mean_over_sets(lines: RatedLines, scores: FloatArray, seed: int) -> Estimate:
    """The mean over data sets of Spearman's correlation inside each; copies of a reference left out."""
    kept = ranked(lines) & np.isfinite(scores)
    return mean_correlation("spearman", scores[kept], lines.ratings[kept], *_resampled(lines, kept, seed))


def ahead_over_sets(lines: RatedLines, first: FloatArray, second: FloatArray, seed: int) -> Estimate:
    """How much higher that mean is of the `first` scores than of the `second`, on the same lines and resamples."""
    kept = ranked(lines) & np.isfinite(first) & np.isfinite(second)
    resampled = _resampled(lines, kept, seed)
    return mean_correlation("spearman", first[kept], lines.ratings[kept], *resampled, versus=second[kept])


def ranked(lines: RatedLines) -> NDArray[np.bool_]:
    """[N] which lines correlations are taken over: those whose reply is no copy of a reference."""
    return np.array([not example.copies_reference for example in lines.examples], np.bool_)


def _resampled(lines: RatedLines, kept: NDArray[np.bool_], seed: int) -> tuple[IntArray, Resamples]:
    """Return the number of the data set of each line that is kept, and resamples of its context."""
    sets = np.array([example.dataset or "" for example in lines.examples], np.str_)
    contexts = np.unique(lines.contexts[kept], return_inverse=True)[1]
    resamples = Resamples.draw(contexts, RESAMPLES, np.random.default_rng(seed))
    return np.unique(sets[kept], return_inverse=True)[1], resamples


def _unseen(lines: RatedLines, plain: LeftOut, referring: LeftOut, seed: int) -> list[Unseen]:
    """What judges and metrics reach on each set."""
    found = agreements(lines, {"plain": plain.scores}, seed)
    places = np.flatnonzero(np.isfinite(referring.scores)).tolist()
    own = [lines.examples[place] for place in places]
    given = _scores({"judge": referring.scores[places]})
    beside = turn_level(study(own, BESIDE, seed=seed, drop_copies=True, resamples=0, analyses=AGREEMENT))
    with_them = turn_level(study(own, given, seed=seed, drop_copies=True, analyses=AGREEMENT))
    return [
        Unseen(
            name,
            (found.get((name, "plain")) or {}).get("spearman"),
            (found.get((name, "plain")) or {}).get("pearson"),
            within_systems(plain.scores[rows], lines.ratings[rows], [lines.examples[row].system for row in rows]),
            (with_them.get((name, "judge")) or {}).get("spearman"),
            {one: beside[name, one]["spearman"].value for one in BESIDE if (name, one) in beside},
            *_doubt(lines, plain, rows),
        )
        for name, rows in lines.sets.items()
    ]


def _doubt(lines: RatedLines, plain: LeftOut, rows: Any) -> tuple[float, float, float]:
    """Of a left-out set: how often the interval holds, how far scores spread, what is said to be unlike."""
    own = rows[np.isfinite(plain.scores[rows])]
    if not len(own):
        return float("nan"), float("nan"), float("nan")
    ratings, scores = lines.ratings[own], plain.scores[own]
    held = (plain.low[own] <= ratings) & (ratings <= plain.high[own])
    return float(held.mean()), float(scores.std() / ratings.std()), float(plain.unlike[own].mean())


def turn_level(study: Results) -> dict[tuple[str, str], dict[str, Estimate]]:
    """Return the turn-level correlations of a study by data set and scorer, then by statistic."""
    found: dict[tuple[str, str], dict[str, Estimate]] = {}
    for row in study.pick(level="turn", statistic=CORRELATIONS, group=""):
        found.setdefault((row.dataset, row.scorer), {})[row.statistic] = row
    return found


def agreements(
    lines: RatedLines, scores: Mapping[str, FloatArray], seed: int
) -> dict[tuple[str, str], dict[str, Estimate]]:
    """The turn-level agreement of scores that are there with ratings."""
    places = np.flatnonzero(np.any([np.isfinite(values) for values in scores.values()], axis=0)).tolist()
    own = [lines.examples[place] for place in places]
    given = _scores({name: values[places] for name, values in scores.items()})
    return turn_level(study(own, given, seed=seed, drop_copies=True, analyses=AGREEMENT))


def _scores(values: Mapping[str, FloatArray]) -> dict[str, Scores]:
    """Scores of judges that were fitted for the lines."""
    return {
        name: Scores(
            own, dict.fromkeys(np.flatnonzero(np.isnan(own)).tolist(), "read by no judge"), Signature({"scorer": name})
        )
        for name, own in values.items()
    }


def attacked(
    lines: RatedLines,
    plain: LeftOut,
    name: str,
    seed: int,
    families: Sequence[str] | None = None,
    limit: int = LIMIT,
) -> Results:
    """What the battery does to the judge that never saw a set, on its replies without references.

    Args:
        lines: rated lines.
        plain: the judges.
        name: of the set.
        seed: decides what is drawn.
        families: names of attacks; None takes all.
        limit: how many replies are attacked at most.
    """
    judge = plain.fits[name].judge({}, (1.0, 5.0))
    own = [replace(lines.examples[row], references=()) for row in lines.sets[name].tolist()]
    return audit(own, judge, families=families, limit=limit, seed=seed)


def _relevance(asked: Asked, judge: Scorer) -> Sequence[Estimate]:
    """Return how well it distinguishes replies that fit from others; nothing without the data."""
    files = there(asked, RELEVANT, RELEVANCE)
    return relevance(read_reply_sets(*files), judge, limit=MOST_CONTEXTS, seed=asked.seed) if files else []


def _domain(asked: Asked) -> Measured:
    """What is out of domain on the sets among the data; nothing where files were given instead."""
    with asked.stage("measuring the domain", None):
        return Measured((), (), (), {}) if asked.files else measure(asked)


def there(asked: Asked, name: str, kind: str) -> list[Path]:
    """The file of a data set in the folder of data, or nothing."""
    try:
        return files_of((name,), asked.data, kind)
    except MissingAsset:
        return []


if __name__ == "__main__":
    from research.run import main

    main("judge")
