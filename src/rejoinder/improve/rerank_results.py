"""Results of re-ranking: shares of the chosen replies, and whether they are better than those of each system."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rejoinder.estimates import Estimate, Verdict, decide, estimate_of, one, pick
from rejoinder.improve.winnings import Winnings
from rejoinder.report.charts import intervals
from rejoinder.report.layout import Layout, Prose, Section
from rejoinder.report.results import About, Results
from rejoinder.report.tables import Cell, Table, table
from rejoinder.report.written import count, interval, sentences
from rejoinder.scorer import OUT_OF_DOMAIN, signature_of
from rejoinder.scoring.domain import INSTEAD, out_of_domain
from rejoinder.scoring.explained import facts_warning
from rejoinder.stats.resamples import FEWEST_CLUSTERS, Sampling
from rejoinder.stats.shares import wilson

CHOSEN = "chosen"
"""The group of estimates about the chosen replies."""
FIRST = "first reply"
"""The group of estimates about the first reply of a system, its reply without a choice."""
_SHARE = "share of the contexts with a chosen reply; Wilson's 95 % interval"


def results_of(winnings: Winnings, sampling: Sampling) -> Results:
    """Return the results of everything that was counted so far."""
    name, scorer = winnings.chooser
    measured_by, measuring = winnings.measuring or ("", None)
    scorers, shares, reasons = {name: scorer}, {name: winnings.share}, {name: winnings.unscored}
    shared: list[str] = []  # data sets that both scorers were fitted on
    if measuring is not None:
        scorers[measured_by], shares[measured_by] = measuring.scorer, measuring.share
        reasons[measured_by] = measuring.reasons
        fitted = [frozenset[str](getattr(each, "trained_on", ())) for each in scorers.values()]
        shared = sorted(frozenset.intersection(*fitted))
    outside = {label: out_of_domain(label, scorers[label].card, share) for label, share in shares.items()}
    outside = {label: reason for label, reason in outside.items() if reason}
    direction = 1 if measuring is None or measuring.scorer.card.higher_is_better else -1
    measured, best = _measured(winnings, sampling, direction, outside)
    estimates = [*_shares(winnings, outside), *measured]
    about: dict[str, dict[str, Any]] = {}
    for label, each in scorers.items():
        fields = {"kind": each.card.kind, "asked": True, "signature": signature_of(each).fields, "fitted_on": shared}
        fields |= {"warnings": dict(winnings.noted.most_common())} if label == name else {}
        unscored = dict(reasons[label].most_common())
        about[label] = {**fields, "unscored": sum(unscored.values()), "unscored_reasons": unscored}
    counts = {key: getattr(winnings, key) for key in ("contexts", "several", "candidates", "answered")}
    unanswered = dict(winnings.reasons.most_common())
    draws = {"resamples": sampling.resamples, "seed": sampling.seed}
    facts: dict[str, Any] = {
        **counts,
        **draws,
        "estimates": estimates,
        "scorer": name,
        "measured_by": measured_by,
        "best": best,
        "direction": direction,
        "wins": winnings.sorted_wins,
        "outside": outside,
        "instead": INSTEAD,
        "domain": OUT_OF_DOMAIN,
        "unanswered": unanswered,
        "unscored": about[name]["unscored_reasons"],
        "unmeasured": about[measured_by]["unscored_reasons"] if measured_by else {},
        "warnings": about[name]["warnings"],
        "facts": facts_warning(scorers),
        "shared": shared,
        "references": "reference" in scorer.card.needs,
    }
    answer, warnings, made = (
        sentences("improve", "rerank", part=part, **facts) for part in ("answer", "warnings", "made")
    )
    return Results(
        command="rerank",
        estimates=tuple(estimates),
        answer=answer,
        warnings=warnings,
        about=About(
            data=[{"system": system, **vars(wins)} for system, wins in winnings.sorted_wins.items()],
            scorers=about,
            options={"scorer": name, "measured_by": measured_by or None, **draws},
            counts={**counts, "unanswered": unanswered, "out_of_domain": outside},
        ),
        layout=_layout(facts, made),
    )


def _shares(winnings: Winnings, outside: Mapping[str, str]) -> list[Estimate]:
    """Return how often each system's replies were chosen, the most frequent first."""
    name, trials = winnings.chooser[0], winnings.answered
    verdict = Verdict.OUT_OF_DOMAIN if name in outside else Verdict.UNDEFINED
    estimates = []
    for system, wins in winnings.sorted_wins.items():
        about: dict[str, Any] = {"scorer": name, "system": system, "statistic": "share won", "n": trials}
        if trials < FEWEST_CLUSTERS:
            value = wins.won / trials if trials else math.nan
            share = Estimate(**about, value=value, reason="no interval: under four contexts")
        else:
            share = estimate_of(wilson(wins.won / trials, 0.0, trials, trials - 1), **about, method=_SHARE)
        estimates.append(replace(share, verdict=verdict))
    return estimates


def _measured(
    winnings: Winnings, sampling: Sampling, direction: int, outside: Mapping[str, str]
) -> tuple[list[Estimate], Estimate | None]:
    """Return the measured means and differences, if any, and the difference from the best single system.

    That system has a first reply in at least half of the measured contexts.
    """
    if winnings.measuring is None:
        return [], None
    name, measuring = winnings.measuring
    chosen, by_system = measuring.figures(sampling)
    about: dict[str, Any] = {"scorer": name, "seed": sampling.seed}
    mean: dict[str, Any] = {**about, "statistic": "mean score", "p": math.nan}
    estimates = [estimate_of(chosen, **mean, group=CHOSEN)]
    differences = []
    for system in winnings.sorted_wins:
        if system in by_system:
            own, gain = by_system[system]
            estimates.append(estimate_of(own, **mean, system=system, group=FIRST))
            labels = {"statistic": "difference", "versus": system, "group": CHOSEN}
            differences.append(estimate_of(gain, **about, **labels))
    candidates = [row for row in differences if row.known and 2 * row.n >= chosen.n]
    best = min(candidates, key=lambda row: direction * row.value, default=None)
    # One test decides whether choosing helped; the differences from other systems are a family of their own.
    others, tested = [row for row in differences if row is not best], [best] if best else []
    decided = {row.versus: row for family in (others, tested) for row in decide(family, outside=outside)}
    return [*estimates, *(decided[row.versus] for row in differences)], decided[best.versus] if best else None


def _layout(facts: Mapping[str, Any], made: Sequence[str]) -> Layout:
    """Return the table of systems and the chart of differences."""
    estimates = facts["estimates"]
    measured = bool(facts["measured_by"]) and facts["measured_by"] not in facts["outside"]
    systems = _systems(facts, measured=measured)
    differences = pick(estimates, statistic="difference") if measured else []
    label = f"{facts['measured_by']}: chosen replies - first replies"
    return Layout(
        title="Re-ranked replies",
        chart=intervals("differences", differences, row="versus", xlabel=label),
        sections=[Section("Systems", [systems])],
        brief=[systems, Prose(made)],
        made=made,
    )


def _systems(facts: Mapping[str, Any], *, measured: bool) -> Table:
    """Return a table with a row for each system, the most frequently chosen first."""
    estimates, outside = facts["estimates"], facts["outside"].get(facts["scorer"], "")
    rows = []
    for system, wins in facts["wins"].items():
        share = one(estimates, statistic="share won", system=system)
        row = [Cell(system), *(Cell(count(number)) for number in (wins.offered, wins.won, wins.kept))]
        row.append(Cell(OUT_OF_DOMAIN, outside) if outside else Cell(interval(share, share=True), share.reason))
        if measured:
            mean = one(estimates, statistic="mean score", system=system)
            gain = one(estimates, statistic="difference", versus=system)
            row += [Cell(interval(mean), mean.method), Cell(interval(gain, signed=gain.known), gain.reason)]
        rows.append(row)
    header = ["system", "contexts", "chosen", "first chosen", "share"]
    if measured:
        chosen = one(estimates, statistic="mean score", group=CHOSEN)
        rows.append([Cell("chosen"), *[Cell("")] * 4, Cell(interval(chosen), chosen.reason), Cell("")])
        header += ["mean of first", "difference"]
    return table(header, rows)._replace(spare=("first chosen", "contexts"))
