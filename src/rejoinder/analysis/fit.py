"""A judge adapted to a user's own ratings or choices, and how much better it is.

Every figure about the adapted judge comes from cross-validation: conversations are divided into five to ten folds, and
each fold is scored by a judge that was adapted to the others. Shapes: N rated lines or pairs, B resamples.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from rejoinder.analysis.verdicts import agreed
from rejoinder.data.clusters import clusters_of, sorted_clusters
from rejoinder.data.rated_lines import UNNAMED
from rejoinder.data.read import lines_of
from rejoinder.data.scales import Scale, in_words, with_scale
from rejoinder.errors import DataError, UsageError
from rejoinder.estimates import Estimate, Verdict, decide, estimate_of, pick, plain
from rejoinder.example import NO_SET, Example, Given, Pair
from rejoinder.judges.protocol import Rows
from rejoinder.judges.rated import MAPPED, UNREAD, normalised_ratings, why_unlearnable
from rejoinder.judges.regression import adaptation
from rejoinder.judges.regression.adaptation import AdaptationInput
from rejoinder.judges.regression.judge import FeatureJudge
from rejoinder.judges.scales import answer_scale
from rejoinder.metrics.baselines import words
from rejoinder.report.charts import curve, intervals
from rejoinder.report.layout import KeyFigure, Layout, Section
from rejoinder.report.results import About, Results
from rejoinder.report.tables import Column, pivot
from rejoinder.report.written import count, interval, sentences
from rejoinder.scorer import Advance, FloatArray, ScorerLike, ignore, signature_of
from rejoinder.scoring.catalog import DEFAULT, load_scorer
from rejoinder.stats.correlation import Statistic, mean_correlations
from rejoinder.stats.resamples import IntArray, Sampling, percentile_interval, renumbered, two_sided
from rejoinder.stats.splits import parts_of

JUDGE, ADAPTED, CURVE, WITHIN, BY_LENGTH = "judge", "adapted judge", "lines", " within systems", "preferred reply"
FOLDS = 10
FEWEST_CONVERSATIONS = 10
SIZES = (25, 50, 100, 200, 400)
DRAWS = 2  # samples of the lines for each point of the learning curve
STEPS = 2 + DRAWS * len(SIZES)
_UNREAD = f"no reply, or {UNREAD}"
_NO_SYSTEM = -1
_STATISTICS: tuple[Statistic, ...] = ("spearman", "pearson")
Measure = Callable[[FloatArray, FloatArray, Rows, Sampling], Iterator[Estimate]]
"""From [N] scores before and after and [N] folds to estimates: of each quantity before, after and the gain.

The first quantity decides whether the correction is kept.
"""
_Task = tuple[Sequence[Any], AdaptationInput, Measure, Mapping[str, int], str]
"""The lines, what adapts the judge to them, a measure, the number of lines left out by reason, a note on clusters."""


def fit(
    data: Given,
    judge: ScorerLike = DEFAULT,
    *,
    scale: Scale | None = None,
    resamples: int = 1000,
    seed: int = 0,
    sizes: Sequence[int] = SIZES,
    progress: Advance = ignore,
) -> tuple[FeatureJudge, Results]:
    """Return a judge adapted to 50 to 500 ratings, or choices between two replies, and how much better it is.

    Args:
        data: rated examples, or pairs of which people prefer one reply, in any form that `examples_of` or `pairs_of`
            takes.
        judge: the bundled judge or the folder of another one that reads features. A judge that was adapted before
            starts again from what it was before that.
        scale: lowest and highest possible rating, for ratings that state none; the judge then answers on it.
        resamples: of contexts, for the intervals.
        seed: of the folds and draws.
        sizes: of the points of the learning curve, which takes most of the time.
        progress: called with 1 after each of `STEPS`.

    Raises:
        DataError: there are too few lines, all ratings are equal or no scale is known; or ratings and pairs are mixed.
        UsageError: the judge cannot be adapted; a number is out of range.
    """
    sampling = Sampling.checked(resamples, seed)
    loaded = judge if isinstance(judge, FeatureJudge) else load_scorer(judge)
    if not isinstance(loaded, FeatureJudge):
        name = loaded.card.name
        raise UsageError(f"{name} cannot be adapted. Use rejoinder, or a judge by rejoinder train judge (-s FOLDER)")
    given = lines_of(data)
    pairs, examples = ([line for line in given if isinstance(line, kind)] for kind in (Pair, Example))
    if pairs and examples:
        problem = f"a pair of replies, and {examples[0].where or 'another line'} is a single one"
        raise DataError(problem, "Call fit once for each", where=pairs[0].where)
    lines, able, measure, left_out, note = (_of_pairs if pairs else _of_ratings)(loaded, pairs or examples, scale)
    rng = sampling.generator("fit", "fit")
    # Ten folds, or fewer if one would hold fewer than ten lines: too few for a correlation.
    folds = adaptation.folds_of(able.groups, min(FOLDS, max(adaptation.MIN_FOLDS, len(able.groups) // FOLDS)), rng)
    before, after = able.before(), able.left_out(folds, rng)
    progress(1)
    measured = list(measure(before, after, folds, sampling))
    corrected = is_kept(measured[2])
    curve = list(_curve(able, measure, folds, before, after, rng, sizes, progress, sampling))
    datasets, read = Counter(line.dataset or NO_SET for line in lines), np.isfinite(before)
    options = {"fitted_to": "choices" if pairs else "ratings", "resamples": resamples, "seed": seed}
    record = {"to": options["fitted_to"], "lines": int(read.sum()), "datasets": dict(datasets), "corrected": corrected}
    record |= {"seed": seed, **_before_and_after(measured)}
    answers = loaded.scale if pairs else answer_scale(lines, scale)
    adapted = able.adapted(folds, rng, record, answers, corrected=corrected)
    progress(1)
    counts = [{"dataset": UNNAMED if name == NO_SET else name, "lines": n} for name, n in datasets.items()]
    about = About(
        data=counts,
        scorers={
            JUDGE: {"kind": "judge", "name": loaded.card.name, "signature": signature_of(loaded).fields},
            ADAPTED: {"kind": "judge", "corrected": corrected, "scale": adapted.scale},
        },
        options=options,
        counts={"lines": record["lines"], "contexts": len(np.unique(able.groups[read])), "left_out": left_out},
    )
    dataset = counts[0]["dataset"] if len(counts) == 1 else "pooled"
    estimates = tuple(estimate_of(estimate, dataset=dataset) for estimate in [*measured, *curve])
    seen = sorted(loaded.trained_on & datasets.keys())
    return adapted, Results(
        command="fit",
        estimates=estimates,
        answer=text("answer", estimates, about),
        warnings=text("warnings", estimates, about, seen=seen, note=note),
        about=about,
        layout=layout(estimates, about),
    )


def is_kept(gain: Estimate) -> bool:
    """Return whether the correction is kept: unless it is shown to lose.

    The gain is noisy, and the penalty was already chosen by cross-validation. To ask for a significant gain as well
    would lose good corrections from few lines.
    """
    return math.isfinite(gain.value) and not gain.high < 0


def _before_and_after(measured: Sequence[Estimate]) -> dict[str, Any]:
    """Return values and intervals for the record in the judge's folder."""
    ends = [{name: plain(getattr(row, name)) for name in ("value", "low", "high")} for row in measured]
    return {quantity(measured[k]): {"before": ends[k], "after": ends[k + 1]} for k in range(0, len(ends), 3)}


# what is fitted


def _of_ratings(judge: FeatureJudge, examples: Sequence[Any], scale: Scale | None) -> _Task:
    given = list(with_scale(examples, scale))
    lines = [line for line in given if not why_unlearnable(line)]
    ratings, lost = normalised_ratings(lines), Counter(filter(None, map(why_unlearnable, given)))
    _require_enough(len(lines), "rated lines", lost)
    if (ratings == ratings[0]).all():
        raise DataError("all ratings are equal", "Give ratings that differ; there is nothing to learn from these")
    clusters = clusters_of(lines)
    able = adaptation.of_ratings(judge, lines, ratings, clusters.numbers)
    left_out = _left_out(able, "rated lines", lost)
    names = [None if line.system is None else (line.dataset or "", line.system) for line in lines]
    known = {name: number for number, name in enumerate(dict.fromkeys(names))} | {None: _NO_SYSTEM}
    systems = np.array([known[name] for name in names], dtype=np.int64)
    sets = renumbered(np.array([line.dataset or "" for line in lines]))
    measure = partial(correlations, ratings, sets, sorted_clusters(lines).numbers, systems)
    return lines, able, measure, left_out, clusters.note


def _of_pairs(judge: FeatureJudge, given: Sequence[Any], scale: Scale | None) -> _Task:
    if scale is not None:
        raise UsageError(f"--scale is for ratings, and {given[0].where or 'the first line'} is a pair. Remove it")
    pairs = [pair for pair in given if pair.preferred is not None]
    what, ties = "pairs with a preferred reply", {"a tie": len(given) - len(pairs)}
    _require_enough(len(pairs), what, ties)
    clusters, lengths = clusters_of(pairs), np.array([_longer(pair) for pair in pairs])
    able = adaptation.of_preferences(judge, pairs, clusters.numbers, lengths)
    left_out = _left_out(able, what, ties)
    return pairs, able, partial(shares, lengths, sorted_clusters(pairs).numbers), left_out, clusters.note


def _left_out(able: AdaptationInput, what: str, before: Mapping[str, int]) -> Mapping[str, int]:
    """Return the number of lines that nothing is learned from, by reason, if enough are left."""
    groups = [group for group, way in zip(able.groups.tolist(), able.used, strict=True) if way is not None]
    left_out = {**before, _UNREAD: len(able.used) - len(groups)}
    _require_enough(len(groups), what, left_out)
    if len(set(groups)) < FEWEST_CONVERSATIONS:
        problem = f"{len(set(groups))} conversations, expected {FEWEST_CONVERSATIONS} or more"
        raise DataError(problem, "Have replies to other contexts rated too")
    return +Counter(left_out)


def _require_enough(usable: int, what: str, left_out: Mapping[str, int]) -> None:
    if usable >= adaptation.MIN_ITEMS:
        return
    why = ", ".join(f"{lost:,} left out: {reason}" for reason, lost in left_out.items() if lost)
    problem = f"{usable:,} {what}, expected {adaptation.MIN_ITEMS} or more" + (f" ({why})" if why else "")
    unread = usable + left_out.get(_UNREAD, 0) >= adaptation.MIN_ITEMS
    raise DataError(problem, MAPPED if unread else "Give more; 50 to 500 are recommended")


def _longer(pair: Pair) -> float:
    """Return 1 if the longer reply is preferred, -1 if the shorter is, 0 if both have the same number of words."""
    first, second = (len(words(reply.response)) for reply in pair.replies)
    return float(np.sign(second - first if pair.preferred == 1 else first - second))


# how much better the judge becomes


def correlations(
    ratings: FloatArray,
    sets: IntArray,
    contexts: IntArray,
    systems: IntArray,
    before: FloatArray,
    after: FloatArray,
    folds: Rows,
    sampling: Sampling,
) -> Iterator[Estimate]:
    """Yield the agreement with [N] ratings inside folds and data sets, so that their levels do not count.

    Verdicts are those that Spearman and Pearson have in common. `rejoinder study` correlates over all lines instead.
    The arrays hold the numbers of each line's data set, cluster and system (-1 without one). If there are several
    systems, agreement is measured within systems too, over all folds: a fold has too few lines of a system.
    """
    rows = np.flatnonzero(np.isfinite(before) & np.isfinite(after))
    clusters = renumbered(contexts[rows])
    resamples = sampling.draw(clusters, "fit", "fit")
    both = np.stack([before[rows], after[rows]], axis=1)
    parts = parts_of(sets[rows], folds[rows])
    named = np.flatnonzero(systems[rows] != _NO_SYSTEM)
    groups = [(np.arange(len(rows)), parts, "", "inside folds (and data sets)")]
    if len(np.unique(systems[rows[named]])) > 1:
        groups.append((named, systems[rows[named]], WITHIN, WITHIN.strip()))
    for lines, numbers, suffix, where in groups:
        measured = []
        for name in _STATISTICS:
            drawn = mean_correlations(name, both[lines], ratings[rows[lines]], numbers, resamples.at(lines))
            labels = {"statistic": f"{name}{suffix}"}
            measured.append([*_gain(drawn, clusters[lines], sampling, f"mean correlation {where}", labels)])
        yield from chain(*agreed(*measured))


def shares(
    lengths: FloatArray, contexts: IntArray, before: FloatArray, after: FloatArray, _folds: Rows, sampling: Sampling
) -> Iterator[Estimate]:
    """Yield how often the preferred reply has the higher score; `lengths` [N] are by `_longer`."""
    known = np.isfinite(before) & np.isfinite(after)
    for group, kind in {"": known, "longer": known & (lengths > 0), "shorter": known & (lengths < 0)}.items():
        rows = np.flatnonzero(kind)
        clusters = renumbered(contexts[rows])
        right = [0.5 + np.sign(scores[rows]) / 2 for scores in (before, after)]
        sums = sampling.draw(clusters, "fit", "fit").sums(np.stack([*right, np.ones(len(rows))]))
        with np.errstate(invalid="ignore"):
            drawn = (sums[:2] / sums[2]).T
        labels = {"statistic": "accuracy", "level": "pair", "by": BY_LENGTH if group else "", "group": group}
        yield from _gain(drawn, clusters, sampling, "mean over pairs", labels, null=0.5)


def _gain(
    drawn: FloatArray, clusters: IntArray, sampling: Sampling, method: str, labels: dict[str, str], null: float = 0.0
) -> Iterator[Estimate]:
    """Yield the estimates before and after, and their difference, from [1 + B, 2] draws."""
    contexts = len(np.unique(clusters))
    method = f"{method}; 95 % expanded percentile interval, {sampling.resamples} resamples of contexts"
    about = {"n": len(clusters), "contexts": contexts, "seed": sampling.seed, "method": method}
    gained = {**labels, "statistic": f"gain in {labels['statistic']}", "versus": JUDGE}
    before, after = drawn.T
    triple = (JUDGE, before, null, labels), (ADAPTED, after, null, labels), (ADAPTED, after - before, 0.0, gained)
    for scorer, values, chance, named in triple:
        p = two_sided(values - chance, contexts)
        estimate = estimate_of(percentile_interval(values, contexts), scorer=scorer, p=p, **about, **named)
        yield decide([estimate], null=chance)[0]


def _curve(
    able: AdaptationInput,
    measure: Measure,
    folds: Rows,
    before: FloatArray,
    after: FloatArray,
    rng: np.random.Generator,
    sizes: Sequence[int],
    progress: Advance,
    sampling: Sampling,
) -> Iterator[Estimate]:
    """Yield the first quantity after an adaptation to fewer lines: whole conversations, as far as there are enough.

    Last comes the gain of all lines over the largest of these numbers, on the last of its samples.
    """
    parts, gain = int(folds.max()) + 1, None
    for size in sizes:
        drawn, wanted = [], round(size * parts / (parts - 1))
        for _ in range(DRAWS):
            if wanted < len(folds):
                order = rng.permutation(int(able.groups.max()) + 1)[able.groups]
                fewer = able.left_out(folds, rng, np.sort(np.argsort(order, kind="stable")[:wanted]))
                drawn.append(pick(measure(before, fewer, folds, Sampling(0, 0)), scorer=ADAPTED)[0])
                gain = fewer, str(size)
            progress(1)
        if drawn:
            labels = {name: getattr(drawn[0], name) for name in ("scorer", "statistic", "level", "n")}
            value, method = float(np.mean([row.value for row in drawn])), f"mean of {DRAWS} samples of conversations"
            yield Estimate(**labels, by=CURVE, group=str(size), value=value, method=method)
    if gain:
        row = list(measure(gain[0], after, folds, sampling))[2]
        yield estimate_of(row, statistic="gain from more lines", versus=ADAPTED, by=CURVE, group=gain[1])


# sentences, tables and charts


def quantity(estimate: Estimate) -> str:
    """Return the name of the quantity that is measured before and after."""
    return f"{estimate.group} preferred" if estimate.by == BY_LENGTH else estimate.statistic.removeprefix("gain in ")


def _leading(estimates: Sequence[Estimate]) -> tuple[Estimate, ...]:
    """Return the estimates before, after and of the gain that the answer is about.

    Within systems if lines name several, because differences between systems do not count there.
    """
    measured = pick(estimates, by=["", BY_LENGTH])
    triples = list(zip(measured[::3], measured[1::3], measured[2::3], strict=True))
    within = (triple for triple in triples if triple[0].statistic == f"spearman{WITHIN}" and triple[2].known)
    return next(within, triples[0])


def text(part: str, estimates: Sequence[Estimate], about: About, **facts: Any) -> tuple[str, ...]:
    """Return the sentences of a part of the template: "answer", "warnings" or "made"."""
    lead, scale = _leading(estimates), in_words(about.scorers[ADAPTED]["scale"])
    facts |= {"about": about, "estimates": estimates, "lead": lead, "scale": scale}
    name = quantity(lead[0]).replace("spearman", "Spearman")
    return sentences("analysis", "fit", part=part, name=name, **facts)


def layout(estimates: Sequence[Estimate], about: About) -> Layout:
    """Return the report of an adaptation."""
    options, lead = about.options, _leading(estimates)
    is_share = options["fitted_to"] == "choices"
    write = partial(interval, share=is_share)
    measured, points = pick(estimates, by=["", BY_LENGTH]), pick(estimates, by=CURVE, versus="")
    measured.sort(key=lambda estimate: WITHIN not in estimate.statistic)
    table = pivot(
        measured,
        quantity,
        [
            Column("before", {"scorer": JUDGE}, write),
            Column("after", {"scorer": ADAPTED, "versus": ""}, write),
            Column("gain", {"versus": JUDGE}, partial(write, signed=True)),
            Column("lines", {"versus": JUDGE}, lambda estimate: count(estimate.n), spare=True),
        ],
        heading="measure",
        in_order=True,
        notes=[f"left out, {reason}: {lines:,}" for reason, lines in about.counts["left_out"].items()],
    )
    name = points[0].statistic if points else ""
    learned = pivot(points, "group", [Column(name, {}, write)], heading="fitted on", in_order=True)
    shown = "significant" if lead[2].verdict in (Verdict.ABOVE, Verdict.BELOW) else "not significant"
    contexts = f"of {about.counts['contexts']:,} contexts"
    return Layout(
        title="An adapted judge",
        keys=[
            KeyFigure.of(lead[2], f"gain, {quantity(lead[0])}", shown, share=is_share, signed=True),
            KeyFigure(count(about.counts["lines"]), "", options["fitted_to"], contexts),
        ],
        chart=intervals(
            "gain",
            [*pick(measured, scorer=ADAPTED, versus=""), *pick(measured, scorer=JUDGE)],
            row=quantity,
            null=0.5 if is_share else 0.0,
            xlabel="Accuracy" if is_share else "Agreement with the ratings",
            caption="The adapted judge, and hollow the judge before; each conversation scored without it.",
        ),
        sections=[
            Section("Before and after, by cross-validation", [table]),
            Section("Learning curve", [curve("learning-curve", points, xlabel="fitted on", ylabel=name), learned]),
        ][: 2 if points else 1],
        made=text("made", estimates, about),
    )
