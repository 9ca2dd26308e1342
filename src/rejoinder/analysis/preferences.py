"""Preference pairs: how often scorers choose the reply that people prefer.

A scorer is right if it gives the preferred reply the higher score, and half right if it gives both the same score.
Ties between people are in no accuracy. The length-balanced accuracy, the mean of the accuracies where people prefer the
longer reply and where they prefer the shorter one, decides: it is .5 for a scorer that knows nothing but length. An
empty reply that a scorer cannot score is the worse one. A pair that several lines hold, for example because people were
asked in both orders, is one pair: its lines are averaged.

Shapes: N lines, P pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from rejoinder.analysis.baselines import most_frequent, scorer_facts
from rejoinder.analysis.scored import RATERS
from rejoinder.analysis.verdicts import agreement_word
from rejoinder.data.clusters import sorted_clusters
from rejoinder.data.rated_lines import UNNAMED, numbered, refuse_duplicates, title_of
from rejoinder.data.read import pairs_of
from rejoinder.errors import DataError, UsageError
from rejoinder.estimates import NAN, Estimate, Verdict, decide, estimate_of, pick, replaced
from rejoinder.example import Choice, Given, Pair
from rejoinder.report.charts import intervals
from rejoinder.report.layout import Chart, KeyFigure, Layout, Prose, Section
from rejoinder.report.results import About, Results
from rejoinder.report.tables import Column, Table, pivot, table
from rejoinder.report.written import count, interval, number, p_value, percent, pluralize, sentences
from rejoinder.scorer import Advance, FloatArray, Scorer, ScorerLike, Scores, ignore
from rejoinder.scoring.catalog import choose_scorers, load_scorer, load_scorers
from rejoinder.scoring.domain import advice, domain_share, out_of_domain, without_domain
from rejoinder.scoring.engines import asked_of
from rejoinder.scoring.explained import facts_warning
from rejoinder.scoring.noted import noted
from rejoinder.scoring.unscored import nothing_scored
from rejoinder.scoring.workers import Count, Workers, scored
from rejoinder.stats.agreement import Votes, highest_agreement, votes
from rejoinder.stats.permutation import FLIPS, cluster_means
from rejoinder.stats.resamples import IntArray, Sampling, number_of
from rejoinder.text.normalize import visible

ACCURACY, BALANCED, DIFFERENCE = "accuracy", "length-balanced accuracy", "difference of accuracy"
WITH_VOTES, HIGHEST = "agreement with single votes", "highest agreement with single votes"
LENGTH, CHANCE = "length", 0.5
_DECIDED_BY = (ACCURACY, BALANCED, DIFFERENCE)
_TOTAL = {"statistic": ACCURACY, "by": ""}
_COUNTS = {"ties": "ties", "contexts": "contexts", "votes": "single votes", "longer": "longer preferred"}
_COUNTS |= {"shorter": "shorter preferred", "empty": "empty reply"}
OVERLAP, FIRST = "context-overlap", "first reply"


def study_pairs(
    data: Given,
    scorers: Iterable[ScorerLike] | ScorerLike | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
    vectors: str | Path | None = None,
    workers: Workers | Count = 1,
    progress: Advance = ignore,
) -> Results:
    """Return the accuracy of each scorer against human choices between two replies.

    For each data set, and also for baselines: the longer reply, the one that shares more words with the context, the
    first one. If there are single votes, also how often people and scorers agree with them. Intervals come from
    resampled contexts. The same seed gives the same numbers, whatever the order of pairs and scorers.

    For the arguments see `study`. `data` are N pairs in any form that `pairs_of` takes, of which some have a
    preference; `progress` counts replies, 2 N for each scorer.

    Raises:
        DataError: no pair has a preference, or two have the same id.
        NothingScored: no scorer could score both replies of a single pair.
        UsageError: `data` are no pairs; no scorer, or two with the same name; a number is out of range.
    """
    sampling = Sampling.checked(resamples, seed)
    pairs = pairs_of(data)
    refuse_duplicates(pairs)
    if all(pair.preferred is None for pair in pairs):
        remedy = 'Say for some pairs which reply people prefer: "preferred": 0 or 1'
        raise DataError(f"none of {len(pairs)} pairs has a preferred reply", remedy)
    choice = choose_scorers(scorers, [pair.dataset for pair in pairs])
    loaded = load_scorers(choice.scorers, vectors=vectors)
    if not loaded:
        raise UsageError("no scorer was named; a study needs at least one")
    asked, notes = tuple(loaded), {facts_warning(loaded): None}
    replies = list(chain.from_iterable(pair.replies for pair in pairs))
    baselines = {name: load_scorer(name) for name in (LENGTH, OVERLAP) if name not in loaded}
    scores = scored(loaded, replies, asked_of(choice.scorers, vectors), workers, progress) | scored(baselines, replies)
    loaded |= baselines
    choices = _choices(pairs, scores, loaded)
    reasons = {name: most_frequent(scores[name].reasons.values()) or "no reason given" for name in loaded}
    decided = np.array([pair.preferred is not None for pair in pairs])
    if not any(np.isfinite(choices[name][decided]).any() for name in asked):
        problem = f"none of {len(pairs)} pairs has two scores; most often: {reasons[asked[0]]}"
        raise nothing_scored(f"{asked[0]}: {problem}")
    datasets, data, estimates = np.array([pair.dataset or UNNAMED for pair in pairs]), [], []
    for dataset in dict.fromkeys(datasets.tolist()):
        places = np.flatnonzero(datasets == dataset)
        sides = [2 * place + side for place in places.tolist() for side in (0, 1)]  # both replies of each pair
        shares = {name: domain_share(scores[name], loaded[name], sides) for name in loaded}
        why = {name: out_of_domain(name, loaded[name].card, share) for name, share in shares.items()}
        outside = {name: reason for name, reason in why.items() if reason}
        inside = {name: values[places] for name, values in choices.items()}
        facts, rows, note = _measured(dataset, [pairs[place] for place in places], inside, reasons, sampling)
        data.append({**facts, "out_of_domain": outside})
        estimates += _decided(rows, asked, outside)
        notes[note] = None
    of_scorers = {
        name: scorer_facts(scorer.card.kind, scores[name], asked=name in asked)
        | {"fitted_on": choice.fitted.get(name, [])}
        for name, scorer in loaded.items()
    }
    about = About(
        data=data,
        scorers=of_scorers | ({FIRST: {"kind": "baseline", "asked": False}} if FIRST in choices else {}),
        options={"resamples": resamples, "seed": seed, "scorers": asked},
        counts={"lines": len(pairs), "pairs": sum(facts["pairs"] for facts in data)},
    )
    return Results(
        command="study",
        estimates=tuple(estimates),
        answer=text("answer", estimates, about),
        warnings=text("warnings", estimates, about, notes=notes, withheld=choice.withheld),
        about=about,
        layout=layout(estimates, about),
    )


_SIGNS: Mapping[Choice | None, float] = {0: 1.0, 1: -1.0, None: 0.0}


def _choices(
    pairs: Sequence[Pair], scores: Mapping[str, Scores], scorers: Mapping[str, Scorer]
) -> dict[str, FloatArray]:
    """Return [N] the choice of each scorer, and the first reply unless people always or never prefer it.

    1 for the first reply, -1 for the second, 0 for neither; NaN without a choice.
    """
    empty = np.array([[not visible(reply.response) for reply in pair.replies] for pair in pairs])
    choices: dict[str, FloatArray] = {}
    for name, scorer in scorers.items():
        direction = -1 if scorer.card.higher_is_better is False else 1
        values = direction * scores[name].values.reshape(-1, 2)
        values[np.isnan(values) & empty & np.isfinite(values[:, ::-1])] = -np.inf
        choices[name] = np.sign(values[:, 0] - values[:, 1])
    if len({pair.preferred for pair in pairs} - {None}) > 1:
        choices[FIRST] = np.ones(len(pairs))
    return choices


def _votes(pairs: Sequence[Pair]) -> Votes:
    table = np.full((len(pairs), max((len(pair.votes) for pair in pairs), default=0)), NAN)
    for row, pair in zip(table, pairs, strict=True):
        row[: len(pair.votes)] = [_SIGNS[vote] for vote in pair.votes]
    return votes(table)


# one data set


def _measured(
    dataset: str,
    pairs: Sequence[Pair],
    choices: Mapping[str, FloatArray],
    reasons: Mapping[str, str],
    sampling: Sampling,
) -> tuple[dict[str, Any], list[Estimate], str]:
    """Return the facts about a data set, its estimates without verdicts, and a note about its clusters."""
    numbers, clusters = numbered([_key(pair) for pair in pairs]), sorted_clusters(pairs)
    contexts = clusters.numbers[np.unique(numbers, return_index=True)[1]]  # [P]
    preferred = np.array([_SIGNS[pair.preferred] or NAN for pair in pairs])
    decided, of_longer = np.isfinite(preferred), choices[LENGTH] * preferred
    empty = np.array([any(not visible(reply.response) for reply in pair.replies) for pair in pairs])
    groups = {"longer": of_longer == 1, "shorter": of_longer == -1, "empty": decided & empty}
    facts = {
        "dataset": dataset,
        "title": title_of(dataset, pairs),
        "pairs": len(contexts),
        "lines": len(pairs),
        "ties": len(contexts) - len(np.unique(numbers[decided])),
        "contexts": number_of(contexts),
        "votes": sum(len(pair.votes) for pair in pairs),
        **{group: len(np.unique(numbers[lines])) for group, lines in groups.items()},
    }
    given = _votes(pairs)
    questions = [item for name, own in choices.items() for item in _questions(name, own, preferred, of_longer)]
    balanced = [(place - 1, place) for place, (labels, _) in enumerate(questions) if labels.get("group") == "shorter"]
    if np.isfinite(given.persons).any():
        agreeing = {name: given.scorer(own) for name, own in choices.items()} | {RATERS: given.persons}
        questions += [({"scorer": name, "statistic": WITH_VOTES}, values) for name, values in agreeing.items()]
    null = np.array([_null(labels["statistic"]) for labels, _ in questions])
    values, rng = np.stack([values for _, values in questions]), sampling.generator(dataset, "choices")
    means = cluster_means(_averaged(values, numbers), contexts, null, sampling.resamples, rng, balanced=balanced)
    labelled = [labels for labels, _ in questions]
    labelled += [{"scorer": labelled[place]["scorer"], "statistic": BALANCED} for place, _ in balanced]
    method = (
        f"mean over pairs; 95 % expanded percentile interval, {sampling.resamples} resamples of contexts; "
        f"p: {FLIPS} sign flips of contexts"
    )
    about = {"dataset": dataset, "level": "pair", "method": method, "seed": sampling.seed}
    estimates = []
    for labels, mean in zip(labelled, means, strict=True):
        scorer, reason = labels["scorer"], mean.reason
        without = decided & np.isnan(choices.get(scorer, preferred))  # raters have no choices
        if unscored := len(np.unique(numbers[without])):
            reason = f"{pluralize(unscored, 'pair')} without two scores, most often: {reasons.get(scorer)}"
        if labels["statistic"] == BALANCED and not mean.known:
            reason = "people prefer the longer reply, or the shorter one, in none of the pairs"
        estimate = estimate_of(mean, **about, **labels, unscored=unscored, reason=reason)
        if labels.get("group") or labels["statistic"] == WITH_VOTES:
            estimate = estimate_of(estimate, p=NAN)  # a scorer that reads length alone differs from .5 as well
        estimates.append(estimate)
    estimates += [_bound(row) for row in estimates if row.scorer == RATERS]
    return facts, estimates, clusters.note


def _bound(person: Estimate) -> Estimate:
    """Return the highest agreement with single votes to expect of a scorer, from that of one person."""
    value, low, high = map(highest_agreement, (person.value, *person.ends))
    return estimate_of(person, statistic=HIGHEST, value=value, low=low, high=high)


def _key(pair: Pair) -> tuple[str, ...]:
    """Return what distinguishes a pair: its context and the two replies, in either order."""
    replies = ("\n".join((*reply.context, reply.response, reply.system or "")) for reply in pair.replies)
    return (*pair.context_key, *sorted(replies))


def _averaged(values: FloatArray, numbers: IntArray) -> FloatArray:
    """Return [R, P] the means of values [R, N] over the lines of each pair; NaN for a pair without a value."""
    known = np.isfinite(values)
    sums, counts = (
        np.stack([np.bincount(numbers, row) for row in part]) for part in (np.where(known, values, 0.0), known)
    )
    with np.errstate(invalid="ignore"):
        return sums / counts


def _questions(
    name: str, choice: FloatArray, preferred: FloatArray, of_longer: FloatArray
) -> Iterator[tuple[dict[str, str], FloatArray]]:
    """Yield the labels and [N] values of the accuracies of a scorer.

    `of_longer` is 1 where people prefer the longer reply, -1 where they prefer the shorter one.
    """
    labels, right = {"scorer": name, "statistic": ACCURACY}, (1 + choice * preferred) / 2
    yield labels, right
    for group, is_longer in (("longer", 1), ("shorter", -1)):
        yield {**labels, "by": "preferred reply", "group": group}, np.where(of_longer == is_longer, right, NAN)
    if name != LENGTH:
        yield {"scorer": name, "statistic": DIFFERENCE, "versus": LENGTH}, right - (1 + of_longer) / 2


def _null(statistic: str) -> float:
    return 0.0 if statistic == DIFFERENCE else CHANCE


def _decided(rows: Sequence[Estimate], asked: Sequence[str], outside: Mapping[str, str]) -> list[Estimate]:
    """Return the estimates with verdicts for the scorers that were asked for; of parts of the pairs there are none."""
    families = {statistic: pick(rows, statistic=statistic, group="", scorer=asked) for statistic in _DECIDED_BY}
    decided = (decide(family, null=_null(statistic), outside=outside) for statistic, family in families.items())
    return replaced(rows, chain(*decided))


# sentences, tables and charts


def text(part: str, estimates: Sequence[Estimate], about: About, **facts: Any) -> tuple[str, ...]:
    """Return the sentences of a part of the template: "answer", "warnings" or "made"."""
    outside = [name for data in about.data for name in data["out_of_domain"]]
    warnings = {name: scorer.get("warnings", {}) for name, scorer in about.scorers.items()}
    return sentences(
        "analysis",
        "preferences",
        part=part,
        estimates=estimates,
        about=about,
        ranked={data["dataset"]: _ranked(estimates, about, data["dataset"]) for data in about.data},
        noted=noted(without_domain(warnings, outside), 2 * about.counts["lines"]),
        advice=advice,
        **facts,
    )


def layout(estimates: Sequence[Estimate], about: About) -> Layout:
    """Return the report of a study of pairs."""
    sections = [_section(facts, pick(estimates, dataset=facts["dataset"]), about) for facts in about.data]
    chart, *blocks = sections[0].blocks
    sections[0] = sections[0]._replace(blocks=blocks)
    first, made = about.data[0], text("made", estimates, about)
    keys = [KeyFigure(percent(CHANCE), "", "chance", "chooses at random")]
    for lead in _ranked(estimates, about, first["dataset"])[:1]:
        note = f"{lead.statistic}, {'' if lead.verdict == Verdict.ABOVE else 'not '}significantly above chance"
        keys.insert(0, KeyFigure.of(lead, lead.scorer, note, share=True))
    person = pick(estimates, dataset=first["dataset"], scorer=RATERS, statistic=WITH_VOTES)
    keys += [KeyFigure.of(row, "one person", "agrees with the vote of another", share=True) for row in person]
    keys.append(KeyFigure(count(first["pairs"]), "", "pairs of replies", f"of {count(first['contexts'])} contexts"))
    rows = [(facts["title"], *(count(facts[name]) for name in ("pairs", *_COUNTS))) for facts in about.data]
    tables = [block for section in sections for block in section.blocks if isinstance(block, Table)]
    return Layout(
        title=f"Scorers and human choices between two replies: {', '.join(facts['title'] for facts in about.data)}",
        keys=keys,
        chart=chart if isinstance(chart, Chart) else None,
        sections=[*sections, Section("Data", [table(("data set", "pairs", *_COUNTS.values()), rows)])],
        brief=[*(block for block in tables if "agreement" in block.header), Prose(made)],
        every=[*tables, Prose(made)],
        made=made,
    )


def _deciding(rows: Sequence[Estimate]) -> list[Estimate]:
    """Return the figure to decide by of each scorer: length-balanced accuracy, else accuracy."""
    balanced = {row.scorer: row for row in pick(rows, statistic=BALANCED) if row.known}
    return [balanced.get(row.scorer, row) for row in pick(rows, **_TOTAL)]


def _ranked(estimates: Iterable[Estimate], about: About, dataset: str) -> list[Estimate]:
    """Return the figures to decide by of the scorers that were asked for and can judge the replies, the best first.

    Baselines are left out if there are other scorers.
    """
    rows = _deciding(pick(estimates, dataset=dataset))
    rows = [row for row in rows if about.scorers[row.scorer]["asked"] and row.n]
    rows = [row for row in rows if row.verdict != Verdict.OUT_OF_DOMAIN]
    rows.sort(key=lambda row: (row.statistic != BALANCED, -row.value))
    return [row for row in rows if about.scorers[row.scorer]["kind"] != "baseline"] or rows


def _section(facts: Mapping[str, Any], rows: Sequence[Estimate], about: About) -> Section:
    """Return the chart of accuracies and the tables of one data set."""
    prefix = f"{facts['title']}: " if len(about.data) > 1 else ""
    outside = {row.scorer for row in rows if row.verdict == Verdict.OUT_OF_DOMAIN}
    able = [row for row in rows if row.scorer not in outside]
    kinds = {name: scorer["kind"] for name, scorer in about.scorers.items()}
    deciding, balanced, difference = _deciding(rows), {"statistic": BALANCED}, {"statistic": DIFFERENCE}
    agrees = {row.scorer: agreement_word(row) for row in deciding}

    def agreement(row: Estimate) -> str:
        return "baseline" if kinds[row.scorer] == "baseline" else agrees[row.scorer]

    def value(row: Estimate) -> str:
        return number(row.value)

    accuracies = pivot(
        rows,
        "scorer",
        [
            Column("length-balanced [low, high]", balanced),
            Column("accuracy [low, high]", _TOTAL),
            Column("n", _TOTAL, lambda row: count(row.n), spare=True),
            Column("longer preferred", {"statistic": ACCURACY, "group": "longer"}, value, spare=True),
            Column("shorter preferred", {"statistic": ACCURACY, "group": "shorter"}, value, spare=True),
            Column("with votes", {"statistic": WITH_VOTES}, value),
            Column("agreement", _TOTAL, agreement),
        ],
        title=f"{prefix}Accuracy against human choices",
        caption="Accuracy: share of pairs in which a scorer chooses the reply that people prefer; by chance .50. "
        "Length-balanced: mean of the accuracy where people prefer the longer reply, in words, and where they prefer "
        "the shorter one; .50 for a scorer that knows length alone. With votes: agreement with the vote of one person, "
        "a tie on either side half; of raters, of two people.",
        notes=[
            f"No scorer can be expected to agree with single votes in more than {interval(row)}."
            for row in pick(rows, statistic=HIGHEST)
        ],
    )
    tests = pivot(
        able,
        "scorer",
        [
            Column("length-balanced [low, high]", balanced),
            Column("p, chance", balanced, lambda row: p_value(row.p)),
            Column("p by Holm", balanced, lambda row: p_value(row.p_adjusted)),
            Column("accuracy less that of the longer reply [low, high]", difference),
            Column("p, longer reply", difference, lambda row: p_value(row.p)),
        ],
        title=f"{prefix}Tests against chance and against the longer reply",
        caption="p: two-sided, by sign flips of whole contexts; by Holm: for the number of scorers asked for.",
    )
    shown = sorted((row for row in deciding if row.known and row in able), key=lambda row: -row.value)
    by_length = all(row.statistic == BALANCED for row in shown)
    chart = intervals(
        f"accuracy-{facts['dataset']}",
        shown,
        kinds={row.scorer: kinds[row.scorer] for row in shown},
        marks={"chance": Estimate(value=CHANCE)},
        apart=[name for name in kinds if kinds[name] == "baseline" or not about.scorers[name]["asked"]],
        null=CHANCE,
        xlabel="Length-balanced accuracy" if by_length else "Accuracy",
        caption=f"Share of pairs of {facts['title']} in which the preferred reply is chosen"
        f"{', the mean of pairs whose longer and whose shorter reply is preferred' if by_length else ''}.",
    )
    return Section(facts["title"], [chart, accuracies, tests])
