"""What a study concludes: the facts that the sentences of its answer and its warnings are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rejoinder.analysis.baselines import SYSTEM_MEAN
from rejoinder.analysis.contrasts import ahead
from rejoinder.analysis.disagreements import BAD_AS_GOOD, GOOD_AS_BAD
from rejoinder.analysis.leave_one_out import LEFT_OUT, SAME_SET
from rejoinder.analysis.pooled import OVER_SETS, SAME_LINES, sets_of
from rejoinder.analysis.scored import RATERS, ScoredSet
from rejoinder.data.rated import FEWEST_EQUAL, equal_scores
from rejoinder.estimates import Estimate, one, pick
from rejoinder.report.sentences import sentences
from rejoinder.scorer import OUT_OF_DOMAIN


def ranked(scored: ScoredSet, estimates: Sequence[Estimate]) -> list[Estimate]:
    """Return the Pearson correlations that a headline may name, best first.

    Scorers that were asked for and can judge the lines; baselines only if there is no other.
    """
    dataset = OVER_SETS if scored.members else scored.name
    rows = pick(estimates, dataset=dataset, scorer=scored.asked, statistic="pearson", level=scored.level, group="")
    known = [row for row in rows if row.known and row.scorer not in scored.outside]
    known.sort(key=lambda row: -row.value)
    return [row for row in known if scored.kinds[row.scorer] != "baseline"] or known


def answer(
    scored: ScoredSet, estimates: Sequence[Estimate], scorers: Mapping[str, Mapping[str, Any]]
) -> tuple[str, ...]:
    """Return the answer for one data set, or for all of them, in sentences; the first is the headline."""
    rows = ranked(scored, estimates)
    dataset = OVER_SETS if scored.members else scored.name
    sets = [member.name for member in scored.members]

    def measured(statistic: str, scorer: str, **labels: str) -> Estimate:
        return one(
            estimates,
            **{
                "dataset": dataset,
                "group": "",
                "versus": "",
                "level": scored.level,
                **labels,
                "scorer": scorer,
                "statistic": statistic,
            },
        )

    facts: dict[str, Any] = {
        "rows": rows,
        "lead": None,
        "sets": len(sets),
        "reason": next((row.reason for row in pick(estimates, dataset=dataset, statistic="pearson") if row.reason), ""),
        "outside": [_outside(scored, estimates, scorers, name) for name in scored.asked if name in scored.outside],
        "outside_in": _outside_in_sets(scored),
        "judged": any(scored.kinds[row.scorer] != "baseline" for row in rows),
        "one_rater": measured("pearson of one rater", RATERS),
        "ceiling": measured("ceiling of pearson", RATERS),
        "system_mean": measured("pearson", SYSTEM_MEAN),
        "mistakes": [],
        "same_lines": None,
        "left_out": measured("pearson", LEFT_OUT),
        "same_set": measured("pearson", SAME_SET),
        "difference": measured("difference of pearson", SAME_SET, versus=LEFT_OUT),
    }
    if sets and len(set(map(sets_of(scored, estimates).get, [row.scorer for row in rows]))) > 1:
        same_lines = pick(estimates, dataset=OVER_SETS, scorer=scored.asked, statistic="pearson", **SAME_LINES)
        facts["same_lines"] = max((row for row in same_lines if row.known), key=lambda row: row.value, default=None)
    if rows:
        lead = rows[0]
        contrasts = pick(estimates, dataset=scored.name, statistic="difference of pearson")
        between = pick(estimates, dataset=scored.name, statistic=("difference of pearson", "difference of spearman"))
        named = {row.scorer for row in rows}
        trivial = [name for name, kind in scored.kinds.items() if kind == "baseline" and name not in named]
        trivial = [
            name for name in trivial if any({row.scorer, row.versus} == {lead.scorer, name} for row in contrasts)
        ]
        others = [row.scorer for row in rows[1:] if not ahead(between, lead.scorer, row.scorer)]
        gap = next((row for row in contrasts if others and {row.scorer, row.versus} == {lead.scorer, others[0]}), None)
        facts |= {
            "lead": lead,
            "lead_sets": sum(measured("pearson", lead.scorer, dataset=name).known for name in sets),
            "is_baseline": scored.kinds[lead.scorer] == "baseline",
            "tried": sum(row.known and row.scorer not in scored.outside for row in _asked(scored, estimates)),
            "behind": [name for name in trivial if ahead(between, name, lead.scorer)],
            "unbeaten": [name for name in trivial if not ahead(between, lead.scorer, name)],
            "undecided": others,
            "to_separate": gap.needed if gap else None,
            "share": measured("share of the ceiling", lead.scorer),
            "within": measured("pearson within systems", lead.scorer),
            "mistakes": [
                row
                for row in pick(estimates, dataset=dataset, scorer=lead.scorer, statistic=(BAD_AS_GOOD, GOOD_AS_BAD))
                if row.n
            ],
        }
    return sentences("analysis", "study", **facts)


def warnings(
    sets: Sequence[ScoredSet],
    estimates: Sequence[Estimate],
    scorers: Mapping[str, Mapping[str, Any]],
    **facts: Any,
) -> tuple[str, ...]:
    """Return what to know before you trust the answer.

    Args:
        sets: the data sets, and then their pool if there is one.
        estimates: of all of them.
        scorers: what is known of each.
        facts: `facts_warning`, `shared_ids`, `withheld`, `replies`.
    """
    whole = sets[-1]
    equal = {
        name: sum(equal_scores(one.scores[name], one.rated.ratings) for one in sets if not one.members)
        for name in whole.asked
    }
    correlations = {row.scorer: row for row in ranked(whole, estimates)}
    reversed_names = [
        name for name, row in correlations.items() if row.verdict == "below" and whole.kinds[name] != "baseline"
    ]
    column = next((name.partition(":")[2] for name in reversed_names if name.startswith("column:")), "")
    counted: dict[tuple[int, str], list[str]] = {}
    for name in whole.asked:
        for text, count in scorers[name]["warnings"].items():
            if name not in whole.outside or text != OUT_OF_DOMAIN:  # else its share is reported already
                counted.setdefault((count, text), []).append(name)
    return sentences(
        "analysis",
        "study_warnings",
        equal={name: count for name, count in equal.items() if count >= FEWEST_EQUAL},
        reversed=reversed_names,
        any_above=any(row.verdict == "above" for row in correlations.values()),
        turned=(column[1:] if column.startswith("-") else f"-{column}") if column else "",
        fitted={name: about["fitted_on"] for name, about in scorers.items() if about["fitted_on"]},
        clusters=list(dict.fromkeys(scored.rated.note for scored in sets if scored.rated.note)),
        counted=sorted(counted.items(), key=lambda item: (-item[0][0], item[0][1])),
        **facts,
    )


def _asked(scored: ScoredSet, estimates: Sequence[Estimate]) -> list[Estimate]:
    """Return the Pearson correlations of the scorers that were asked for."""
    dataset = OVER_SETS if scored.members else scored.name
    return pick(estimates, dataset=dataset, scorer=scored.asked, statistic="pearson", level=scored.level, group="")


def _outside(
    scored: ScoredSet, estimates: Sequence[Estimate], scorers: Mapping[str, Mapping[str, Any]], name: str
) -> dict[str, Any]:
    """Return which share of the replies a scorer cannot judge; of a pool the mean over data sets if that is larger."""
    shares = pick(estimates, scorer=name, statistic="share out of domain", dataset=[one.name for one in scored.members])
    own = one(estimates, dataset=scored.name, scorer=name, statistic="share out of domain")
    mean = sum(row.value for row in shares) / len(shares) if shares else 0.0
    return {
        "name": name,
        "share": max(own.value, mean),
        "sets": len(shares) if mean > own.value else 0,
        "n": own.n,
        "count": round(own.value * own.n),
        "domain": scorers[name].get("domain", ""),
    }


def _outside_in_sets(scored: ScoredSet) -> dict[str, list[str]]:
    """Return, by scorer that can judge all lines together, the data sets of which it cannot."""
    names = [name for name in scored.asked if name not in scored.outside]
    titles = {name: [one.rated.title for one in scored.members if name in one.outside] for name in names}
    return {name: sets for name, sets in titles.items() if sets}
