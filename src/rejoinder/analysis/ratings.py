"""`ratings`: how much raters agree, whose ratings count, and one rating a line from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from rejoinder.analysis.aggregation import Aggregated, Aggregation, aggregate
from rejoinder.analysis.agreement_of_raters import SHUFFLES, agreement, by_chance
from rejoinder.analysis.raters import (
    CHECK,
    FEWEST_SHARED,
    Attention,
    Raters,
    attention_of,
    left_out,
    project_ratings,
    unified_names,
)
from rejoinder.analysis.ratings_layout import layout
from rejoinder.analysis.scored import RATERS
from rejoinder.analysis.stand_in import EPSILON, MEAN_RATING, calibrated, stand_in
from rejoinder.data.examples import to_record
from rejoinder.data.formats.annotation import is_project
from rejoinder.data.rated import NO_SYSTEM, RatedSet, rated_sets
from rejoinder.data.rated_lines import may_be_the_rating
from rejoinder.data.read import examples_of
from rejoinder.data.shared_ids import refuse_again
from rejoinder.data.values import is_number
from rejoinder.errors import DataError, UsageError
from rejoinder.estimates import LEVEL, Estimate, Verdict, estimate_of, pick
from rejoinder.example import OVERALL, Example, Given, Rating
from rejoinder.report.layout import Case
from rejoinder.report.results import About, Results
from rejoinder.report.written import sentences
from rejoinder.scorer import Advance, Scorer, ScorerLike, Scores, ignore, run
from rejoinder.scoring.catalog import choose_scorers, columns_of, listed, load_scorers
from rejoinder.scoring.dialogue import as_rated
from rejoinder.scoring.domain import advice, domain_share, out_of_domain
from rejoinder.scoring.explained import facts_warning
from rejoinder.stats.agreement import WEIGHTINGS, Weighting
from rejoinder.stats.resamples import FloatArray, Sampling, percentile_interval, renumbered

ASIDE = "set_aside"
"""The key under which a line keeps the ratings that do not count, each with the reason."""
_FEW_VALUES = 11  # of which shares are shown
_QUOTED = 5  # lines
_DECIDED = (Verdict.ABOVE, Verdict.INCONCLUSIVE)


def ratings(
    examples: Given,
    scorers: Iterable[ScorerLike] | ScorerLike = (),
    *,
    dimension: str = OVERALL,
    aggregation: Aggregation = "mean",
    share: float = 1.0,
    min_kappa: float | None = None,
    kappa: Weighting = "quadratic",
    attention: Mapping[str, Attention] | None = None,
    epsilon: float = EPSILON,
    resamples: int = 1000,
    seed: int = 0,
    vectors: str | Path | None = None,
    progress: Advance = ignore,
) -> Results:
    """Return how much the raters of each data set agree, and the lines with one rating each, as `layout.lines`.

    Raters who miss an attention check (a line with the key `check`, whose rating is known) do not count, nor do those
    whose kappa with the others is below `min_kappa`: they are listed, and their ratings are set aside. Raters without
    names are never left out.

    Args:
        examples: N examples in any form that `examples_of` takes, some with single ratings; or the folder of a rating
            project of `annotate`.
        scorers: as for `study`; the alternative annotator test decides whether each can replace a rater.
        dimension: of the ratings.
        aggregation: how the ratings of a line become one, see `analysis.aggregation.aggregate`.
        share: of the lines, the most certain, that get a rating if a model makes them; 1 for all.
        min_kappa: the least kappa; by default no rater is left out for disagreeing. With it, the results show the
            effect that the rule has by chance alone.
        kappa: how disagreements are weighted in it.
        attention: more checks and times of raters, by name.
        epsilon: how much better than a scorer a rater must be, 0 to 1.
        resamples: number of resamples; 0 gives no intervals.
        seed: of the draws, 0 or more.
        vectors: file of word vectors for scorers that need them; the bundled ones by default.
        progress: called during scoring with the number of lines done.

    Raises:
        DataError: no line has a single rating; an id occurs twice; scales differ and one is missing; no ratings are
            left for a model.
        UsageError: an option is out of range.
    """
    if min_kappa is not None and (not is_number(min_kappa) or not min_kappa <= 1):
        raise UsageError(f"min_kappa is {min_kappa!r}, expected a number up to 1")
    if kappa not in WEIGHTINGS:
        raise UsageError(f"kappa is {kappa!r}, expected one of {', '.join(WEIGHTINGS)}")
    if not is_number(epsilon) or not 0 <= epsilon <= 1:
        raise UsageError(f"epsilon is {epsilon!r}, expected a number from 0 to 1")
    options: dict[str, Any] = {"dimension": dimension, "aggregation": aggregation, "share": share}
    options |= {"min_kappa": min_kappa, "kappa": kappa, "epsilon": epsilon, "resamples": resamples, "seed": seed}
    sampling, scorers = Sampling.checked(resamples, seed), listed(scorers)
    lines, known = _read(examples, scorers)
    known |= attention or {}
    lines, joined, kept = (lines, [], []) if known else unified_names(lines)
    checks, lines = ([line for line in lines if (CHECK in line.extra) is wanted] for wanted in (True, False))
    refuse_again(lines)
    known, means = {**attention_of(checks, dimension), **known}, _single_means(lines, dimension)
    options["files"] = list(dict.fromkeys(Path(line.where.rpartition(":")[0]).name for line in lines if line.where))
    loaded = load_scorers(scorers, vectors=vectors)
    scored = {name: (scorer, run(as_rated(scorer, lines), lines, progress=progress)) for name, scorer in loaded.items()}
    sets = rated_sets(lines, means, dimension).filled
    parts = [_of_set(rated, options, sampling, known, scored) for rated in sets]
    about = About(
        data=[part.data for part in parts],
        scorers=_scorers(scored, choose_scorers(scorers, [line.dataset for line in lines]).fitted),
        options=options,
        counts={"examples": len(lines), "checks": len(checks), "unrated": int(np.isnan(means).sum())},
    )
    for rated, part in zip(sets, parts, strict=True):
        for place, line in zip(rated.places.tolist(), part.lines, strict=True):
            lines[place] = line
    return _results(parts, about, facts_warning(loaded), lines, joined=joined, kept=kept)


def _read(examples: Given, scorers: Sequence[ScorerLike]) -> tuple[list[Example], dict[str, Attention]]:
    """Return the lines, and the attention of the raters of a rating project."""
    if isinstance(examples, (str, Path)) and is_project(examples):
        return project_ratings(examples)
    return list(examples_of(examples, keep=columns_of(scorers))), {}


def _results(parts: Sequence[_OfSet], about: About, warning: str, lines: Sequence[Example], **names: Any) -> Results:
    """Return the results of all data sets together."""
    estimates = tuple(row for part in parts for row in part.estimates)
    cases = tuple(case for part in parts for case in part.cases)
    facts = {"estimates": estimates, "about": about, "upside_down": _upside_down(estimates), **names}
    facts |= {"mean_rating": MEAN_RATING, "shuffles": SHUFFLES}
    more, notes = (sentences("analysis", "ratings_notes", part=part, **facts) for part in ("warnings", "notes"))
    warnings = [*(sentence for part in parts for sentence in part.warnings), warning, *more]
    return Results(
        command="ratings",
        estimates=estimates,
        answer=sentences("analysis", "ratings", **facts),
        warnings=tuple(filter(None, warnings)),
        cases=cases,
        about=about,
        layout=layout(estimates, about, cases, notes, list(map(to_record, lines))),
    )


class _OfSet(NamedTuple):
    """The results of a data set, and its lines with one rating each."""

    estimates: list[Estimate]
    data: dict[str, Any]
    cases: list[Case]
    warnings: list[str]
    lines: list[Example]


def _of_set(
    rated: RatedSet,
    options: Mapping[str, Any],
    sampling: Sampling,
    attention: Mapping[str, Attention],
    scored: Mapping[str, tuple[Scorer, Scores]],
) -> _OfSet:
    """Return the results of a data set."""
    raters, least, weighting = Raters.of(rated), options["min_kappa"], options["kappa"]
    out = left_out(raters, attention, least, weighting)
    counting, counts = raters.without(out), dict(zip(raters.names, raters.counts.tolist(), strict=True))
    rng = sampling.generator(rated.name, "models of raters")
    made = aggregate(counting, options["aggregation"], rng=rng, share=options["share"])
    estimates = agreement(raters, sampling)
    if out:
        of_all = [replace(row, by="raters", group="all") for row in estimates if not row.rater]
        of_raters = [row for row in estimates if row.rater]
        estimates = [*(row for row in agreement(counting, sampling) if not row.rater), *of_all, *of_raters]
    labels: dict[str, Any] = {"dataset": rated.name, "scorer": RATERS}
    if raters.named:
        left = Estimate(**labels, statistic="raters left out", n=len(counts), value=len(out))
        estimates.append(left)
    if raters.named and least is not None:
        number, alpha = by_chance(raters, least, weighting, sampling.generator(rated.name, "raters by chance"))
        chance: dict[str, Any] = {"by": "raters", "group": "by chance", "method": f"mean over {SHUFFLES} shuffles"}
        estimates.append(replace(left, value=number, **chance))
        estimates.append(replace(left, statistic="alpha interval", n=len(rated), value=alpha, **chance))
    for name, value in made.competence.items():
        estimates.append(Estimate(**labels, statistic="competence", rater=name, n=counts[name], value=value))
    for name, seconds in ((name, attention[name].seconds) for name in raters.names if name in attention):
        for share in ("0.5", "0.1") if seconds else ():
            about = {**labels, "statistic": "seconds", "rater": name, "by": "quantile", "group": share}
            estimates.append(Estimate(**about, n=len(seconds), value=float(np.quantile(seconds, float(share)))))
    values = raters.values.tolist() if len(raters.values) <= _FEW_VALUES else []
    estimates += _systems(counting, made, values, sampling)
    replaced, warnings = _replaced(counting, sampling, options["epsilon"], scored)
    data = {
        "dataset": rated.name,
        "title": rated.title,
        **_sizes(raters),
        "counting": _sizes(counting),
        "rated": int(np.isfinite(made.values).sum()),
        "uncertain": made.uncertain,
        "named": raters.named,
        "repeated": raters.repeated,
        "nameless": raters.nameless,
        "contexts": rated.clusters,
        "scale": rated.scale,
        "values": values,
        "left_out": [{"rater": name, "ratings": counts[name], "why": why} for name, why in out.items()],
    }
    of_lines = zip(rated.examples, _on_scales_of_lines(rated, made.values), strict=True)
    lines = [_with_rating(line, value, rated.dimension, out) for line, value in of_lines]
    return _OfSet([*estimates, *replaced], data, _disagreements(counting, made), warnings, lines)


def _sizes(raters: Raters) -> dict[str, int]:
    """Return the numbers of lines, ratings and raters."""
    lines, ratings = int(raters.present.any(axis=1).sum()), int(raters.present.sum())
    return {"lines": lines, "ratings": ratings, "raters": int((raters.counts > 0).sum())}


def _single_means(lines: Sequence[Example], dimension: str) -> FloatArray:
    """Return [N] the mean of the single ratings of each line, NaN without any.

    Raises:
        DataError: no line has a single rating.
    """
    rated = [[rating.value for rating in line.ratings if rating.dimension == dimension] for line in lines]
    if any(rated):
        return np.array([round(sum(values) / len(values), 9) if values else np.nan for values in rated])
    others = ", ".join(sorted({rating.dimension for line in lines for rating in line.ratings}))
    remedy = f"Choose one of the rated dimensions ({others}), or add" if others else "Add"
    remedy += f' "ratings": {{"{dimension}": [3, 4]}}, "raters": ["ann", "bob"] to each rated line'
    where = ", ".join(dict.fromkeys(line.where.rpartition(":")[0] for line in lines if line.where))
    problem = f'none of {len(lines)} lines has a single rating in "{dimension}"'
    raise DataError(problem, remedy + may_be_the_rating(lines), where=where)


def _scorers(
    scored: Mapping[str, tuple[Scorer, Scores]], fitted: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, Any]]:
    """Return the facts about the scorers; the last is the baseline."""
    facts: dict[str, dict[str, Any]] = {
        name: {
            "kind": scorer.card.kind,
            "asked": True,
            "signature": scores.signature.fields,
            "warnings": scores.warning_counts,
            "unscored": int((~scores.scored).sum()),
            "unscored_reason": next((why for why, _ in Counter(scores.reasons.values()).most_common(1)), ""),
            "fitted_on": list(fitted.get(name, ())),
        }
        for name, (scorer, scores) in scored.items()
    }
    return facts | ({MEAN_RATING: {"kind": "oracle baseline", "asked": False}} if facts else {})


def _upside_down(estimates: Iterable[Estimate]) -> list[Estimate]:
    """Return the correlations of raters who rate high what the others rate low: one such rater lowers all agreement.

    Intervals are wider for more raters: of 60 who guess, one or two have an interval below 0 by chance.
    """
    rows = [row for row in pick(estimates, statistic="spearman", versus="") if row.rater and row.known]
    rows = [row for row in rows if row.n >= FEWEST_SHARED]
    tests, edge = Counter(row.dataset for row in rows), NormalDist().inv_cdf
    wider = {name: edge(1 - LEVEL / 2 / count) / edge(1 - LEVEL / 2) for name, count in tests.items()}
    return [row for row in rows if row.value + (row.high - row.value) * wider[row.dataset] < 0]


def _replaced(
    raters: Raters, sampling: Sampling, epsilon: float, scored: Mapping[str, tuple[Scorer, Scores]]
) -> tuple[list[Estimate], list[str]]:
    """Return the alternative annotator test of each scorer and of the baseline, with the warnings of their domains."""
    places, estimates, warnings = raters.rated.places, list[Estimate](), list[str]()
    for name, (scorer, scores) in scored.items():
        values = calibrated(raters, scores.values[places], sampling)
        rows = stand_in(raters, values, name, sampling, epsilon=epsilon)
        why = out_of_domain(name, scorer.card, domain_share(scores, scorer, places.tolist()))
        if why:
            warnings.append(advice(why))
            rows = [replace(row, verdict=Verdict.OUT_OF_DOMAIN) if row.verdict in _DECIDED else row for row in rows]
        estimates += rows
    if scored:
        level = calibrated(raters, np.zeros(len(places)), sampling)
        estimates += stand_in(raters, level, MEAN_RATING, sampling, epsilon=epsilon)
    return estimates, warnings


def _with_rating(line: Example, value: float, dimension: str, out: Mapping[str, str]) -> Example:
    """Return a line with the rating made of its ratings; those that do not count are kept under a key of their own."""
    none = "" if np.isfinite(value) else "the line got no rating: no rater counts, or the model is too uncertain"

    def why(rating: Rating) -> str:
        return "" if rating.dimension != dimension else out.get(rating.rater or "", none)

    aside = [
        {"rater": rating.rater, "value": rating.value, "why": why(rating)} for rating in line.ratings if why(rating)
    ]
    quality = {name: mean for name, mean in line.quality.items() if name != dimension}
    return replace(
        line,
        ratings=tuple(rating for rating in line.ratings if not why(rating)),
        quality=quality if none else {**quality, dimension: float(value)},
        extra={**line.extra, ASIDE: {dimension: aside}} if aside else line.extra,
    )


def _on_scales_of_lines(rated: RatedSet, values: FloatArray) -> list[float]:
    """Return [N] ratings on the scale of each line; they are on [0, 1] if the lines have several scales."""
    if len(rated.scales) < 2:
        return list(map(float, values))
    ends = (line.scale(rated.dimension) or (0.0, 1.0) for line in rated.examples)
    return [round(low + float(value) * (high - low), 9) for value, (low, high) in zip(values, ends, strict=True)]


def _systems(raters: Raters, made: Aggregated, values: Sequence[float], sampling: Sampling) -> list[Estimate]:
    """Return the mean rating of each system, the best first, with the spread and the share of each value."""
    rated = raters.rated
    rows = np.flatnonzero(np.isfinite(made.values) & (rated.systems != NO_SYSTEM))
    numbers, systems = np.unique(rated.systems[rows], return_inverse=True)
    if len(numbers) < 2:
        return []
    contexts = renumbered(rated.contexts[rows])
    draws = sampling.draw(contexts, rated.name, "systems").means(made.values[rows], systems)
    estimates = []
    for system in np.argsort(-draws[:, 0], kind="stable").tolist():
        lines = rows[systems == system]
        single = raters.ratings[lines][raters.present[lines]]
        labels: dict[str, Any] = {"dataset": rated.name, "scorer": RATERS, "level": "system"}
        labels |= {"system": str(rated.examples[lines[0]].system), "n": len(lines)}
        size = len(np.unique(rated.contexts[lines]))
        mean = percentile_interval(draws[system], size)
        seed = sampling.seed if sampling.resamples else None
        estimates.append(estimate_of(mean, **labels, statistic="mean rating", contexts=size, seed=seed))
        spread = float(made.values[lines].std())
        estimates.append(Estimate(**labels, statistic="spread of ratings", value=spread))
        labels |= {"statistic": "share of ratings", "by": "rating", "n": len(single)}
        estimates += [Estimate(**labels, group=f"{value:g}", value=float((single == value).mean())) for value in values]
    return estimates


def _disagreements(raters: Raters, made: Aggregated) -> list[Case]:
    """Return the lines whose ratings are furthest apart; of those with equal spread the most rated, then the first."""
    several = np.flatnonzero(raters.present.sum(axis=1) >= 2)
    if not len(several):
        return []
    spread = np.nanstd(raters.ratings[several], axis=1).round(9)
    order = np.lexsort((several, -raters.present[several].sum(axis=1), -spread))[:_QUOTED]
    cases = []
    for line in several[order[spread[order] > 0]].tolist():
        example, present = raters.rated.examples[line], raters.present[line]
        names = (raters.names[number] for number in raters.raters[line][present].tolist())
        pairs = zip(names, raters.ratings[line][present].tolist(), strict=True)
        by_rater = dict(sorted(pairs, key=lambda pair: pair[1]))
        values = {"dataset": raters.rated.name, "id": example.id, "system": example.system}
        values |= {"response": example.response, "ratings": by_rater, "rating": float(made.values[line])}
        why = f"{min(by_rater.values()):g} to {max(by_rater.values()):g}"
        facts = ", ".join(f"{name} {value:g}" for name, value in by_rater.items())
        reply = [(example.system or "reply", example.response)]
        cases.append(Case(why, facts, example.context, reply, values=values))
    return cases
