"""`ratings`: how much raters agree, whose ratings count, and one rating a line from them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rejoinder.analysis.aggregation import Aggregated, Aggregation, aggregate
from rejoinder.analysis.agreement_of_raters import (
    FALSE_SUSPECTS,
    SHUFFLES,
    agreement,
    by_chance,
    suspects,
    upside_down,
)
from rejoinder.analysis.baselines import most_frequent, scorer_facts
from rejoinder.analysis.labelling import left_out_said
from rejoinder.analysis.raters import (
    CHECK,
    Attention,
    Raters,
    attention_of,
    below_kappa,
    missed_checks,
    project_ratings,
    unified_names,
)
from rejoinder.analysis.ratings_layout import layout
from rejoinder.analysis.sample import by_file, joined, rated_lines
from rejoinder.analysis.scored import RATERS
from rejoinder.analysis.stand_in import EPSILON, MEAN_RATING, stand_ins
from rejoinder.data.examples import to_record
from rejoinder.data.formats.annotation import is_project
from rejoinder.data.rated import NO_SYSTEM, RatedSet, labelled, rated_sets
from rejoinder.data.rated_lines import may_be_the_rating
from rejoinder.data.read import examples_of
from rejoinder.data.shared_ids import refuse_again
from rejoinder.data.values import is_number
from rejoinder.errors import DataError, UsageError
from rejoinder.estimates import Estimate, estimate_of
from rejoinder.example import OVERALL, Example, Given
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
_HIGHEST = 1e100  # the squares of larger ratings have no value


def ratings(
    examples: Given,
    scorers: Iterable[ScorerLike] | ScorerLike = (),
    *,
    rated: Given | None = None,
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

    Raters who miss an attention check (a line with the key `check`, whose rating is known) do not count. Those whose
    kappa with the others is below `min_kappa` have no part in the ratings of the lines, but agreement is that of all
    who pass the checks. Both are listed, and their ratings are set aside. Raters without names are never left out.

    Args:
        examples: N examples in any form that `examples_of` takes, some with single ratings; or the folder of a rating
            project of `annotate`.
        scorers: as for `study`; the alternative annotator test decides whether each can replace a rater.
        rated: rated lines or labels, joined to the examples by id or by text; others are examples of their own.
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
    options: dict[str, Any] = {"dimension": dimension, "aggregation": aggregation, "share": share}
    options |= {"min_kappa": min_kappa, "kappa": kappa, "epsilon": epsilon, "resamples": resamples, "seed": seed}
    _require_options(options)
    scorers = listed(scorers)
    unknown: tuple[str, ...] = ()
    if rated is not None:
        keep = columns_of(scorers)
        sample = joined(examples_of(examples, keep=keep), rated_lines(rated, keep), dimension)
        examples, unknown = sample.lines, sample.unknown
    lines, known, names = _read(examples, columns_of(scorers), attention or {})
    checks, lines = ([line for line in lines if (CHECK in line.extra) is wanted] for wanted in (True, False))
    refuse_again(lines)
    known, means = {**attention_of(checks, dimension), **known}, _single_means(lines, dimension)
    options["files"] = list(dict.fromkeys(Path(line.where.rpartition(":")[0]).name for line in lines if line.where))
    loaded = load_scorers(scorers, vectors=vectors)
    scored = {name: (scorer, run(as_rated(scorer, lines), lines, progress=progress)) for name, scorer in loaded.items()}
    fitted = choose_scorers(scorers, [line.dataset for line in lines]).fitted
    counts = {"examples": len(lines), "checks": len(checks), "unrated": int(np.isnan(means).sum())}
    about = About(data=[], scorers=_scorers(scored, fitted), options=options, counts=counts)
    sets = rated_sets(lines, means, dimension).filled
    left_out = left_out_said(labelled((), dimension, unknown=unknown).facts)
    return _results(sets, lines, known, scored, about, {**names, "unread": facts_warning(loaded), "left_out": left_out})


def _require_options(options: Mapping[str, Any]) -> None:
    least, kappa, epsilon = options["min_kappa"], options["kappa"], options["epsilon"]
    Sampling.checked(options["resamples"], options["seed"])
    if least is not None and (not is_number(least) or not least <= 1):
        raise UsageError(f"min_kappa is {least!r}, expected a number up to 1")
    if kappa not in WEIGHTINGS:
        raise UsageError(f"kappa is {kappa!r}, expected one of {', '.join(WEIGHTINGS)}")
    if not is_number(epsilon) or not 0 <= epsilon <= 1:
        raise UsageError(f"epsilon is {epsilon!r}, expected a number from 0 to 1")


def _results(
    sets: Sequence[RatedSet],
    lines: Sequence[Example],
    attention: Mapping[str, Attention],
    scored: Mapping[str, tuple[Scorer, Scores]],
    about: About,
    names: Mapping[str, Any],
) -> Results:
    options, sampling = about.options, Sampling(about.options["resamples"], about.options["seed"])
    estimates, data, cases, warnings = list[Estimate](), list[dict[str, Any]](), list[Case](), list[str]()
    for rated in sets:
        raters, rng = Raters.of(rated), sampling.generator(rated.name, "models of raters")
        missed = missed_checks(raters, attention)
        passing = raters.without(missed)
        low = below_kappa(passing, options["min_kappa"], options["kappa"])
        counting = passing.without(low)
        made = aggregate(counting, options["aggregation"], rng=rng, share=options["share"])
        data.append(_facts(raters, passing, counting, made, {"attention check": missed, "kappa": low}))
        estimates += [*_agreement(raters, passing, counting, options, sampling), *suspects(passing, sampling)]
        estimates += [*_of_raters(raters, made, attention), *_systems(counting, made, data[-1]["values"], sampling)]
        tests, outside = _replaced(passing, sampling, options["epsilon"], scored)
        estimates, warnings = [*estimates, *tests], [*warnings, *outside]
        cases += _disagreements(counting, made)
        lines = _with_ratings(lines, rated, made.values, missed | low)
    about = replace(about, data=data)
    facts = {"estimates": estimates, "about": about, "upside_down": upside_down(estimates), **names}
    facts |= {"mean_rating": MEAN_RATING, "shuffles": SHUFFLES, "false_suspects": FALSE_SUSPECTS}
    more, notes = (sentences("analysis", "ratings_notes", part=part, **facts) for part in ("warnings", "notes"))
    return Results(
        command="ratings",
        estimates=tuple(estimates),
        answer=sentences("analysis", "ratings", **facts),
        warnings=(*names["left_out"], *warnings, *more),
        cases=tuple(cases),
        about=about,
        layout=layout(estimates, about, cases, notes, list(map(to_record, lines))),
    )


def _read(
    examples: Given, keep: Collection[str], attention: Mapping[str, Attention]
) -> tuple[list[Example], Mapping[str, Attention], dict[str, list[list[str]]]]:
    """Return the lines, the attention of the raters, and the names of raters that were joined and kept apart."""
    lines, known = list[Example](), dict[str, Attention]()
    if isinstance(examples, (str, Path)) and is_project(examples):
        lines, known = project_ratings(examples)
    else:
        lines = list(examples_of(examples, keep=keep))
    if known or attention:  # raters of a project, whose names are exact
        return lines, {**known, **attention}, {"joined": [], "kept": []}
    lines, joined, kept = unified_names(by_file(lines) if any(not line.response for line in lines) else lines)
    return lines, {}, {"joined": joined, "kept": kept}


def _agreement(
    raters: Raters, passing: Raters, counting: Raters, options: Mapping[str, Any], sampling: Sampling
) -> list[Estimate]:
    """Return the agreement of the raters who pass the attention checks, and the effect of leaving raters out.

    Rows with a group are those of all raters, and of those left by `min_kappa`; rows with a rater are of all raters.
    """

    def together(part: Raters, **labels: Any) -> list[Estimate]:
        return [replace(row, **labels) for row in agreement(part, sampling) if not row.rater]

    rows = agreement(raters, sampling)
    if passing.sizes != raters.sizes:
        of_all = [replace(row, by="raters", group="all") for row in rows if not row.rater]
        rows = [*together(passing), *of_all, *(row for row in rows if row.rater)]
    if counting.sizes != passing.sizes:
        rows += together(counting, by="raters", group="left")
    if not raters.named:
        return rows
    labels: dict[str, Any] = {"dataset": raters.rated.name, "scorer": RATERS, "statistic": "raters left out"}
    rows.append(Estimate(**labels, n=len(raters.names), value=raters.sizes["raters"] - counting.sizes["raters"]))
    if options["min_kappa"] is not None:
        rng = sampling.generator(raters.rated.name, "raters by chance")
        number, alpha = by_chance(passing, options["min_kappa"], options["kappa"], rng)
        labels |= {"by": "raters", "group": "by chance", "method": f"mean over {SHUFFLES} shuffles"}
        rows.append(Estimate(**labels, n=passing.sizes["raters"], value=number))
        rows.append(Estimate(**labels | {"statistic": "alpha interval"}, n=len(raters.rated), value=alpha))
    return rows


def _of_raters(raters: Raters, made: Aggregated, attention: Mapping[str, Attention]) -> list[Estimate]:
    """Return the competence of each rater by a model, and the median and the tenth of the seconds for a reply."""
    counts = dict(zip(raters.names, raters.counts.tolist(), strict=True))
    labels: dict[str, Any] = {"dataset": raters.rated.name, "scorer": RATERS}
    rows = [
        Estimate(**labels, statistic="competence", rater=name, n=counts[name], value=value)
        for name, value in made.competence.items()
    ]
    labels |= {"statistic": "seconds", "by": "quantile"}
    for name in raters.names:
        seconds = attention[name].seconds if name in attention else ()
        for share in ("0.5", "0.1") if seconds else ():
            value = float(np.quantile(seconds, float(share)))
            rows.append(Estimate(**labels, rater=name, group=share, n=len(seconds), value=value))
    return rows


def _facts(
    raters: Raters, passing: Raters, counting: Raters, made: Aggregated, out: Mapping[str, Mapping[str, str]]
) -> dict[str, Any]:
    rated, counts = raters.rated, dict(zip(raters.names, raters.counts.tolist(), strict=True))
    return {
        "dataset": rated.name,
        "title": rated.title,
        **raters.sizes,
        "passing": passing.sizes,
        "counting": counting.sizes,
        "rated": int(np.isfinite(made.values).sum()),
        "uncertain": made.uncertain,
        "named": raters.named,
        "repeated": raters.repeated,
        "nameless": raters.nameless,
        "contexts": rated.clusters,
        "scale": rated.scale,
        "values": raters.values.tolist() if len(raters.values) <= _FEW_VALUES else [],
        "left_out": [
            {"rater": name, "ratings": counts[name], "rule": rule, "why": why}
            for rule, reasons in out.items()
            for name, why in reasons.items()
        ],
    }


def _single_means(lines: Sequence[Example], dimension: str) -> FloatArray:
    """Return [N] the mean of the single ratings of each line, NaN without any; `DataError` if no line has one."""
    rated = [[rating.value for rating in line.ratings if rating.dimension == dimension] for line in lines]
    for line, values in zip(lines, rated, strict=True):
        if any(abs(value) > _HIGHEST for value in values):
            raise DataError(f"a rating is beyond {_HIGHEST:g}", "Correct or remove it", where=line.where)
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
    facts = dict[str, dict[str, Any]]()
    for name, (scorer, scores) in scored.items():
        unscored = {"unscored": int((~scores.scored).sum()), "unscored_reason": most_frequent(scores.reasons.values())}
        facts[name] = {**scorer_facts(scorer.card.kind, scores), **unscored, "fitted_on": list(fitted.get(name, ()))}
    return facts | ({MEAN_RATING: {"kind": "oracle baseline", "asked": False}} if facts else {})


def _replaced(
    raters: Raters, sampling: Sampling, epsilon: float, scored: Mapping[str, tuple[Scorer, Scores]]
) -> tuple[list[Estimate], list[str]]:
    """Return the alternative annotator test of each scorer and of the baseline, with the warnings of their domains."""
    places, outside = raters.rated.places, dict[str, str]()
    for name, (scorer, scores) in scored.items():
        if why := out_of_domain(name, scorer.card, domain_share(scores, scorer, places.tolist())):
            outside[name] = advice(why)
    values = {name: scores.values[places] for name, (_, scores) in scored.items()}
    rows = stand_ins(raters, values, sampling, epsilon=epsilon, outside=outside) if scored else []
    return rows, list(outside.values())


def _with_ratings(
    lines: Sequence[Example], rated: RatedSet, values: FloatArray, out: Mapping[str, str]
) -> list[Example]:
    """Return the lines, those of a data set with their ratings [N]; what does not count is kept under a key.

    Ratings are put on the scale of each line: they are on [0, 1] if the lines have several scales.
    """
    lines, dimension = list(lines), rated.dimension
    for place, line, value in zip(rated.places.tolist(), rated.examples, values.tolist(), strict=True):
        low, high = line.scale(dimension) or (0.0, 1.0)
        rating = value if len(rated.scales) < 2 else round(low + value * (high - low), 9)
        none = "" if np.isfinite(value) else "the line got no rating: no rater counts, or the model is too uncertain"
        whys = [out.get(each.rater or "", none) if each.dimension == dimension else "" for each in line.ratings]
        reasons = list(zip(line.ratings, whys, strict=True))
        aside = [{"rater": each.rater, "value": each.value, "why": why} for each, why in reasons if why]
        quality = {name: mean for name, mean in line.quality.items() if name != dimension}
        lines[place] = replace(
            line,
            ratings=tuple(each for each, why in reasons if not why),
            quality=quality if none else {**quality, dimension: rating},
            extra={**line.extra, ASIDE: {dimension: aside}} if aside else line.extra,
        )
    return lines


def _systems(raters: Raters, made: Aggregated, values: Sequence[float], sampling: Sampling) -> list[Estimate]:
    """Return the mean rating of each system, the best first, with the spread and the share of each value."""
    rated = raters.rated
    rows = np.flatnonzero(np.isfinite(made.values) & (rated.systems != NO_SYSTEM))
    numbers, systems = np.unique(rated.systems[rows], return_inverse=True)
    if len(numbers) < 2:
        return []
    contexts, seed = renumbered(rated.contexts[rows]), sampling.seed if sampling.resamples else None
    draws = sampling.draw(contexts, rated.name, "systems").means(made.values[rows], systems)
    estimates = []
    for system in np.argsort(-draws[:, 0], kind="stable").tolist():
        lines = rows[systems == system]
        single, size = raters.ratings[lines][raters.present[lines]], len(np.unique(rated.contexts[lines]))
        labels: dict[str, Any] = {"dataset": rated.name, "scorer": RATERS, "level": "system"}
        labels |= {"system": str(rated.examples[lines[0]].system), "n": len(lines)}
        mean = percentile_interval(draws[system], size)
        estimates += [
            estimate_of(mean, **labels, statistic="mean rating", contexts=size, seed=seed),
            Estimate(**labels, statistic="spread of ratings", value=float(made.values[lines].std())),
        ]
        labels |= {"statistic": "share of ratings", "by": "rating", "n": len(single)}
        estimates += [Estimate(**labels, group=f"{value:g}", value=float((single == value).mean())) for value in values]
    return estimates


def _disagreements(raters: Raters, made: Aggregated) -> list[Case]:
    """Return the lines whose ratings are furthest apart; of those with equal spread the most rated, then the first."""
    sizes = raters.present.sum(axis=1)
    several = np.flatnonzero(sizes >= 2)
    spread = np.array([np.nanstd(row) for row in raters.ratings[several]]).round(9)
    order = np.lexsort((several, -sizes[several], -spread))[:_QUOTED]
    cases = []
    for row in several[order[spread[order] > 0]].tolist():
        line, present = raters.rated.examples[row], raters.present[row]
        names = (raters.names[number] for number in raters.raters[row][present].tolist())
        pairs = zip(names, raters.ratings[row][present].tolist(), strict=True)
        by_rater = dict(sorted(pairs, key=lambda pair: pair[1]))
        values = {"dataset": raters.rated.name, "id": line.id, "system": line.system, "response": line.response}
        values |= {"ratings": by_rater, "rating": float(made.values[row])}
        why = f"{min(by_rater.values()):g} to {max(by_rater.values()):g}"
        facts = ", ".join(f"{name} {value:g}" for name, value in by_rater.items())
        reply = [(line.system or "reply", line.response)]
        cases.append(Case(why, facts, line.context, reply, values=values))
    return cases
