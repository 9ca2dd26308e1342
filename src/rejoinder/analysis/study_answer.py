"""The answer of a study, and its warnings: the facts for their templates."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from rejoinder.analysis.contrasts import ahead
from rejoinder.analysis.disagreements import BAD_AS_GOOD, GOOD_AS_BAD
from rejoinder.analysis.pooled import range_of_sets, sets_of
from rejoinder.analysis.scored import ScoredSet
from rejoinder.analysis.standings import OVER_SETS, best_first, standings
from rejoinder.data.rated import FEWEST_EQUAL, equal_scores
from rejoinder.estimates import Estimate, one, pick
from rejoinder.report.results import About
from rejoinder.report.written import sentences
from rejoinder.scorer import OUT_OF_DOMAIN

_MISTAKES = (BAD_AS_GOOD, GOOD_AS_BAD)
Scorers = Mapping[str, Mapping[str, Any]]
"""What is known of each scorer."""


def correlations(scored: ScoredSet, estimates: Sequence[Estimate], scorers: Sequence[str]) -> list[Estimate]:
    """Return the Pearson correlations of these scorers, of a pool the means over data sets."""
    dataset = OVER_SETS if scored.members else scored.name
    return pick(estimates, dataset=dataset, scorer=scorers, statistic="pearson", level=scored.level, group="")


def ranked(scored: ScoredSet, estimates: Sequence[Estimate]) -> list[Estimate]:
    """Return the Pearson correlations that a headline may name, best first on the lines that all ranked ones score.

    Scorers that were asked for and can judge the lines; baselines only if there is no other.
    """
    rows = [row for row in correlations(scored, estimates, scored.asked) if row.known]
    rows = [row for row in rows if row.scorer not in scored.outside]
    if not scored.members:  # those over data sets are in order
        order = best_first(estimates, dataset=scored.name, level=scored.level)
        rows.sort(key=lambda row: order.index(row.scorer))
    return [row for row in rows if scored.kinds[row.scorer] != "baseline"] or rows


def answer(scored: ScoredSet, estimates: Sequence[Estimate], scorers: Scorers) -> tuple[str, ...]:
    """Return the answer for one data set, or for all of them, in sentences; the first is the headline."""
    rows, sets = ranked(scored, estimates), [member.name for member in scored.members]
    dataset, lead_sets = OVER_SETS if sets else scored.name, sets_of(scored, estimates) if sets else {}
    labels = {"dataset": dataset, "group": "", "versus": "", "level": scored.level}
    lead, named = rows[0].scorer if rows else "", [row.scorer for row in rows]
    gaps = pick(estimates, dataset=scored.name, scorer=scored.compared, versus=scored.compared)
    known = [row for row in pick(gaps, statistic="difference of pearson") if row.known]
    trivial = [row.versus for row in known if row.versus not in named]
    others = [name for name in named[1:] if not ahead(gaps, lead, name)]
    inside = range_of_sets(scored, estimates, lead)
    fewer = standings(scored).fewer
    return sentences(
        "analysis",
        "study",
        rows=rows,
        sets=sets,
        scored=scored,
        lead=rows[0] if rows else None,
        lead_sets=lead_sets.get(lead, 1),
        behind=[name for name in trivial if ahead(gaps, name, lead)],
        unbeaten=[name for name in trivial if not ahead(gaps, lead, name)],
        undecided=others,
        to_separate=one(gaps, scorer=lead, versus=others[0], statistic="difference of pearson") if others else None,
        fewer=[row for row in rows if row.scorer in fewer and row.unscored],
        inside=inside,
        verdicts=Counter(row.verdict.value for row in inside),
        titles={member.name: member.rated.title for member in scored.members},
        mistakes=[row for row in pick(estimates, dataset=dataset, scorer=[lead], statistic=_MISTAKES) if row.n],
        reason=next((row.reason for row in correlations(scored, estimates, list(scored.scores)) if row.reason), ""),
        measured=lambda statistic, scorer, **more: one(estimates, **labels | more, scorer=scorer, statistic=statistic),
        outside=[_outside(scored, estimates, scorers, name) for name in scored.asked if name in scored.outside],
    )


def warnings(sets: Sequence[ScoredSet], estimates: Sequence[Estimate], about: About, **facts: Any) -> tuple[str, ...]:
    """Return what to know before you trust the answer; the last of `sets` is their pool if there is one."""
    whole, members = sets[-1], [scored for scored in sets if not scored.members]
    equal = {name: sum(equal_scores(own.scores[name], own.rated.ratings) for own in members) for name in whole.asked}
    counted: defaultdict[tuple[int, str], list[str]] = defaultdict(list)
    for name in whole.asked:
        for text, count in about.scorers[name]["warnings"].items():
            if name not in whole.outside or text != OUT_OF_DOMAIN:  # else its share is reported already
                counted[-count, text].append(name)
    return sentences(
        "analysis",
        "study_warnings",
        equal={name: count for name, count in equal.items() if count >= FEWEST_EQUAL},
        rows=ranked(whole, estimates),
        kinds=whole.kinds,
        scorers=about.scorers,
        replies=about.counts["examples"],
        clusters=list(dict.fromkeys(scored.rated.note for scored in sets if scored.rated.note)),
        counted=sorted(counted.items()),
        **facts,
    )


def _outside(scored: ScoredSet, estimates: Sequence[Estimate], scorers: Scorers, name: str) -> dict[str, Any]:
    """Return which share of the replies a scorer cannot judge; of a pool the mean over data sets if that is larger."""
    shares = pick(estimates, scorer=name, statistic="share out of domain", dataset=[own.name for own in scored.members])
    row = one(estimates, dataset=scored.name, scorer=name, statistic="share out of domain")
    mean = sum(share.value for share in shares) / len(shares) if shares else 0.0
    sets = len(shares) if mean > row.value else 0
    return {"row": row, "share": max(row.value, mean), "sets": sets, "domain": scorers[name].get("domain", "")}
