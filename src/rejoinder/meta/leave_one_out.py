"""Leave one data set out: a judge on a set that it never saw, and what it gains by seeing other conversations of it.

Shapes: N lines, n of them in one data set, B resamples, S data sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rejoinder.example import Example
from rejoinder.data.rated import RatedSet
from rejoinder.judges import DEFAULT, load_learner
from rejoinder.judges.learner import AnyLearner
from rejoinder.judges.left_out import rated_lines, seen_scores, unseen_scores
from rejoinder.judges.lines import unlearnable
from rejoinder.judges.many import FOLDS
from rejoinder.meta.agreement import Agreement, most_frequent
from rejoinder.scorer import Advance, FloatArray, Scores, Signature, ignore
from rejoinder.stats.correlation import Statistic, pearson, resampled, spearman
from rejoinder.stats.figure import NONE, Figure
from rejoinder.stats.resamples import Sampling, percentile_interval
from rejoinder.version import __version__

UNSEEN, SEEN = "rejoinder, unseen", "rejoinder, seen"
STATISTICS: Mapping[Statistic, Callable[..., Figure]] = {"pearson": pearson, "spearman": spearman}


@dataclass(frozen=True, slots=True)
class Gap:
    """What the two judges reach by one statistic.

    Attributes:
        unseen: the judge fitted on all other data sets.
        seen: the judge fitted on other conversations of this set too.
        gap: `seen` less `unseen`, over the same resamples.
    """

    unseen: Figure
    seen: Figure
    gap: Figure


@dataclass(frozen=True, slots=True)
class LeftOutSet:
    """One data set left out, or the mean over all.

    Attributes:
        dataset: its name.
        n: lines that both judges score.
        contexts: contexts they come from, which are what is resampled.
        pearson: correlations with the ratings.
        spearman: the same, Spearman.
        ceiling: what people's own agreement allows; NaN where it is not known.
        share: `pearson` as a share of the ceiling, which is taken as known; NaN without one.
        reason: why figures are missing, else "".
    """

    dataset: str
    n: int
    contexts: int
    pearson: Gap
    spearman: Gap
    ceiling: float
    share: Gap
    reason: str = ""

    def figures(self) -> Iterator[Agreement]:
        """Yield what the judge that saw other conversations reaches, and the gap; the other judge is a scorer."""
        for name, one in (("pearson", self.pearson), ("spearman", self.spearman)):
            for scorer, figure in ((SEEN, one.seen), (f"{SEEN} less {UNSEEN}", one.gap)):
                yield Agreement.of(
                    figure,
                    dataset=self.dataset,
                    scorer=scorer,
                    level="turn",
                    statistic=name,
                    n=self.n,
                    contexts=self.contexts,
                    method="",
                    reason=self.reason,
                )


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Every data set left out once.

    Attributes:
        sets: one a data set.
        mean: the mean over the sets that have a correlation; its ceiling and share over those that have a ceiling.
        correlated: how many have a correlation.
        ceilings: how many of these have a ceiling.
        folds: parts that the conversations of a set were divided into for the judge that saw the others.
        method: how the figures were worked out.
        seed: of fits and resampling.
    """

    sets: tuple[LeftOutSet, ...]
    mean: LeftOutSet
    correlated: int
    ceilings: int
    folds: int
    method: str
    seed: int


def left_out_scores(
    examples: Sequence[Example], learner: str | AnyLearner = DEFAULT, *, seed: int = 0, advance: Advance = ignore
) -> dict[str, Scores]:
    """Scores of N examples by judges that never saw their data set (`UNSEEN`), or other conversations of it (`SEEN`).

    Args:
        examples: of two data sets or more; those without a rating, or with one of a whole conversation, are unscored.
        learner: what the judges come from, or its name; the usual ones are like the judge in the box.
        seed: of the fits.
        advance: called with 1 after each fit, six a data set.

    Raises:
        UsageError: fewer than two data sets have ratings.
        DataError: a rated line has no scale.
    """
    learner = load_learner(learner)
    lines = rated_lines(examples, learner)
    found = {}
    for name, fitted in ((UNSEEN, unseen_scores), (SEEN, seen_scores)):
        values = np.full(len(examples), np.nan)
        values[lines.places] = fitted(lines, seed=seed, advance=advance)
        reasons = {
            place: unlearnable(examples[place]) or "no judge could be fitted that reads it, or no known word in it"
            for place in np.flatnonzero(np.isnan(values)).tolist()
        }
        fields = {"scorer": name, "version": 1, **learner.options, "seed": seed, "rejoinder": __version__}
        found[name] = Scores(values, reasons, Signature(fields))
    return found


def left_out_of(
    rated: Sequence[RatedSet], scores: Mapping[str, Scores], ceilings: Mapping[str, float], sampling: Sampling
) -> LeftOut:
    """How far the two judges agree with people on each data set, and the mean over them.

    Args:
        rated: the data sets.
        scores: of all examples by `UNSEEN` and `SEEN`.
        ceilings: the ceiling of each data set, NaN where it is not known.
        sampling: of contexts.
    """
    sets, drawn = zip(*(_set(one, scores, ceilings[one.name], sampling) for one in rated), strict=True)
    kept = [place for place, one in enumerate(sets) if not one.reason]
    limited = [place for place in kept if not np.isnan(sets[place].ceiling)]
    contexts = sum(sets[place].contexts for place in kept)
    gaps = {name: _mean([drawn[place][name] for place in kept], contexts) for name in STATISTICS}
    shares = [drawn[place]["pearson"] / sets[place].ceiling for place in limited]
    mean = LeftOutSet(
        dataset="mean over data sets",
        n=sum(sets[place].n for place in kept),
        contexts=contexts,
        ceiling=float(np.mean([sets[place].ceiling for place in limited])) if limited else NONE,
        share=_mean(shares, sum(sets[place].contexts for place in limited)),
        reason="" if kept else "no data set has a correlation",
        **gaps,
    )
    method = (
        f"{UNSEEN}: fitted on all other data sets but for lines that share a conversation with it; {SEEN}: on other "
        f"conversations of the set too, in {FOLDS} folds; over the lines that both score; 95% expanded percentile "
        f"interval, {sampling.resamples} resamples of contexts, the same for both"
    )
    return LeftOut(sets, mean, len(kept), len(limited), FOLDS, method, sampling.seed)


def _set(
    rated: RatedSet, scores: Mapping[str, Scores], ceiling: float, sampling: Sampling
) -> tuple[LeftOutSet, dict[Statistic, FloatArray]]:
    """One data set; and by statistic [1 + B, 2] its correlations as they are and over the resamples."""
    both = np.stack([scores[name].values[rated.places] for name in (UNSEEN, SEEN)])
    usable = np.flatnonzero(np.isfinite(both).all(axis=0))
    lines = rated.at(usable)
    x, y, clusters = both[:, usable], lines.ratings, lines.clusters
    whole = {name: [correlate(one, y) for one in x] for name, correlate in STATISTICS.items()}
    reason = next((one.reason for pair in whole.values() for one in pair if one.reason), "")
    reason += _unscored(rated, scores[UNSEEN]) if reason else ""
    drawn = {name: np.array([[one.value for one in pair]]) for name, pair in whole.items()}
    if not reason and sampling.resamples:
        resamples = sampling.draw(lines.contexts, rated.name, "leave one out")
        drawn = {name: np.stack([resampled(name, one, y, resamples) for one in x], axis=1) for name in STATISTICS}
    # Both judges meet the same resamples: what a resample does to both alike is no part of the gap.
    gaps = {name: _gap(drawn[name], clusters) for name in STATISTICS}
    ceiling = ceiling if ceiling > 0 else NONE
    share = _gap(drawn["pearson"] / ceiling, clusters)
    return LeftOutSet(rated.name, len(usable), clusters, **gaps, ceiling=ceiling, share=share, reason=reason), drawn


def _unscored(rated: RatedSet, scores: Scores) -> str:
    """How many lines of a set have no score, and why most of them have none."""
    reasons = [scores.reasons[place] for place in rated.places.tolist() if place in scores.reasons]
    return f"; {len(reasons)} rated lines unscored, most often: {most_frequent(reasons)}" if reasons else ""


def _mean(drawn: Sequence[FloatArray], clusters: int) -> Gap:
    """The mean over data sets, which are resampled each by itself; resamples without a value on a set are left out."""
    return _gap(np.mean(drawn, axis=0) if drawn else np.full((1, 2), NONE), clusters)


def _gap(drawn: FloatArray, clusters: int) -> Gap:
    """Figures and their difference, from values as they are and over resamples, [1 + B, 2]."""
    unseen, seen = drawn.T
    three = (unseen, seen, seen - unseen)
    return Gap(*(percentile_interval(one, clusters) for one in three))
