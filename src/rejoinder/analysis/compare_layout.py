"""Tables, cases and single lines of a comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from rejoinder.analysis.compare_labels import ALONE
from rejoinder.analysis.differences import SIDES, Lines, Outcome, mean_of
from rejoinder.estimates import Estimate, Verdict, one, pick, plain
from rejoinder.report.charts import intervals
from rejoinder.report.layout import Case, Cases, Chart, KeyFigure, Layout, Prose, Section
from rejoinder.report.results import About
from rejoinder.report.tables import Column, Table, pivot
from rejoinder.report.written import DASH, count, interval, number, p_value, percent, pluralize, sentences

MOST_CASES = 20
_BRIEF_CASES, _MOST_ROWS = 3, 40


def layout_of(
    lines: Lines, outcomes: Sequence[Outcome], estimates: Sequence[Estimate], about: About, cases: Sequence[Case]
) -> Layout:
    """Return the content of a report."""
    names = f"A is {about.options['a']}, B is {about.options['b']}."
    directions = {outcome.name: outcome.upward for outcome in outcomes}
    columns = _columns(lines, estimates, directions)
    whole = pivot(pick(estimates, group=""), "scorer", columns, in_order=True, title="By scorer", heading="scorer")
    several = len(outcomes) > 1
    tables = (_strata(lines, outcome, estimates, columns, several=several) for outcome in outcomes)
    strata = [table for table in tables if table]
    untitled = [table._replace(title="") for table in strata] if not several else strata
    methods = {row.method for row in pick(estimates, statistic="mean rating")}
    made = sentences("analysis", "compare_made", lines=lines, about=about, methods=methods)
    title = "The pairs in which B lost most" if lines.pairs.paired else "The lowest replies of B"
    brief = [case._replace(context=case.context[-1:]) for case in cases if case.group == cases[0].group]
    return Layout(
        title=f"Is B better than A? {names}",
        keys=_keys(lines, pick(estimates, group="")),
        chart=_chart(estimates, several=several),
        sections=[
            Section("By scorer", [whole and whole._replace(title="")]),
            *([Section(f"By {lines.by}", untitled)] if strata else []),
            *([Section("What got worse", [Cases(title, cases)])] if cases else []),
        ],
        brief=[whole, *strata, Cases(title, brief[:_BRIEF_CASES]) if brief else None, Prose(made)],
        made=made,
        lines=list(_rows(lines, outcomes)),
    )


def verdict_of(difference: Estimate, higher_is_better: bool | None) -> str:
    """Return a verdict in words: which system is better, or only higher if the scorer has no direction."""
    if difference.verdict not in (Verdict.ABOVE, Verdict.BELOW):
        return str(difference.verdict)
    above = difference.verdict is Verdict.ABOVE
    if higher_is_better is None:
        return f"{'B' if above else 'A'} is higher"
    return f"{'B' if above is higher_is_better else 'A'} is better"


def _columns(lines: Lines, estimates: Sequence[Estimate], directions: Mapping[str, bool | None]) -> list[Column]:
    """Return the columns of every table; a scorer that cannot judge the replies shows no numbers."""

    def known(write: Callable[[Estimate], str]) -> Callable[[Estimate], str]:
        return lambda estimate: DASH if estimate.verdict is Verdict.OUT_OF_DOMAIN else write(estimate)

    def parts(wins: Estimate) -> str:
        others = (shares[wins.scorer, wins.group, f"share of {name}"] for name in ("ties", "losses"))
        return " / ".join(percent(share) for share in (wins.value, *others))

    shares = {(row.scorer, row.group, row.statistic): row.value for row in estimates}
    difference = {"statistic": "difference"}
    means = {side: {"statistic": "mean score", "system": side} for side in "AB"}
    counts = [Column("pairs", difference, lambda estimate: count(estimate.n))]
    if not lines.pairs.paired:
        counts = [Column(f"n {side}", means[side], lambda estimate: count(estimate.n)) for side in "AB"]
    return [
        *counts,
        *(Column(f"mean {side}", means[side], known(lambda mean: number(mean.value)), spare=True) for side in "AB"),
        Column("difference B - A", difference, known(lambda estimate: interval(estimate, signed=True))),
        Column("by the scorer alone", {"statistic": ALONE}, known(lambda estimate: interval(estimate, signed=True))),
        Column("p", difference, known(lambda estimate: p_value(estimate.p_adjusted))),
        Column(
            "win rate of B",
            {"statistic": "win rate"},
            known(partial(interval, share=True)),
            spare=bool(pick(estimates, statistic=ALONE)),
        ),
        Column("wins / ties / losses", {"statistic": "share of wins"}, known(parts), spare=True),
        Column("verdict", difference, lambda estimate: verdict_of(estimate, directions[estimate.scorer])),
        Column(
            "detectable", {"statistic": "detectable difference"}, known(lambda least: number(least.value)), spare=True
        ),
    ]


def _strata(
    lines: Lines, outcome: Outcome, estimates: Sequence[Estimate], columns: Sequence[Column], *, several: bool
) -> Table | None:
    """Return a row for each value of the column, the largest loss first."""
    whole, *differences = pick(estimates, scorer=outcome.name, statistic="difference")
    if whole.verdict is Verdict.OUT_OF_DOMAIN:
        return None
    sign = -1 if outcome.upward is False else 1
    differences.sort(key=lambda estimate: sign * estimate.value if estimate.known else np.inf)
    ordered = [row for first in differences for row in pick(estimates, scorer=outcome.name, group=first.group)]
    size = sum(difference.n for difference in differences) or 1
    share = Column("share", {"statistic": "difference"}, lambda estimate: percent(estimate.n / size))
    title = f"By {lines.by}, {outcome.name}" if several else f"By {lines.by}"
    units = "pairs" if lines.pairs.paired else "replies"
    caption = f"Share: of all {units} that are compared. p: adjusted for all rows of these tables (Holm)."
    return pivot(ordered, "group", [share, *columns], in_order=True, title=title, caption=caption, heading=lines.by)


def _keys(lines: Lines, estimates: Sequence[Estimate]) -> list[KeyFigure]:
    """Return how often B wins, the difference, and the size, by the first scorer with a verdict."""
    differences = pick(estimates, statistic="difference")
    first = next((gap for gap in differences if gap.known and gap.verdict is not Verdict.OUT_OF_DOMAIN), None)
    if first is None:
        return []
    wins = one(estimates, scorer=first.scorer, statistic="win rate")
    size = pluralize(first.n, lines.unit, "replies" if lines.unit == "reply" else "")
    by = f"mean score by {first.scorer}"
    if pick(estimates, scorer=first.scorer, statistic=ALONE):
        by = f"mean rating by labels and {first.scorer}"
    return [
        KeyFigure.of(wins, "win rate of B", f"by {first.scorer}, ties counted half; 50 % is neither", share=True),
        KeyFigure.of(first, "difference B - A", by, signed=True),
        KeyFigure(count(first.n), "", size.partition(" ")[2], f"in {pluralize(first.contexts, lines.cluster)}"),
    ]


def _chart(estimates: Sequence[Estimate], *, several: bool) -> Chart | None:
    """Return how often B wins, by scorer and value of the column."""
    wins = [rate for rate in pick(estimates, statistic="win rate") if rate.verdict is not Verdict.OUT_OF_DOMAIN]

    def row(rate: Estimate) -> str:
        return (f"{rate.group} ({rate.scorer})" if several else rate.group) if rate.group else rate.scorer

    caption = "How often a reply of B beats one of A, ties counted half. In the middle neither wins."
    return intervals(
        "wins",
        wins[:_MOST_ROWS],
        row=row,
        null=0.5,
        scale=(0, 1),
        write=percent,
        xlabel="win rate of B",
        caption=caption,
    )


def cases_of(lines: Lines, outcomes: Sequence[Outcome]) -> tuple[Case, ...]:
    """Return, by scorer with a direction, the pairs in which B lost most, or without pairs the lowest replies of B.

    A reply that B gives several times is there once, with how often.
    """
    return tuple(
        case
        for outcome in outcomes
        if outcome.card.higher_is_better is not None and "" not in outcome.outside
        for case in _worst(lines, outcome)
    )


def _worst(lines: Lines, outcome: Outcome) -> list[Case]:
    """Return the cases of one scorer."""
    sign, paired = 1 if outcome.card.higher_is_better else -1, lines.pairs.paired
    means = [
        np.array([mean_of(scores, of_pair) for of_pair in places])
        for scores, places in zip(outcome.values, lines.places, strict=True)
    ]
    gains = means[1] - means[0] if paired else np.where(outcome.empty[1], -sign * np.inf, means[1])
    losses: list[float] = (sign * gains).tolist()
    order = sorted((n for n, loss in enumerate(losses) if loss < (0 if paired else np.inf)), key=losses.__getitem__)
    texts = {n: lines.sides[1][lines.places[1][n][0]].response.strip() for n in order}
    times, chosen = Counter(texts.values()), dict[str, int]()
    for n in order:
        chosen.setdefault(texts[n], n)
    scores = means if paired else means[1:]
    return [
        _case(lines, outcome.name, n, [float(side[n]) for side in scores], times[text])
        for text, n in list(chosen.items())[:MOST_CASES]
    ]


def _case(lines: Lines, scorer: str, n: int, scores: Sequence[float], times: int) -> Case:
    """Return one pair, or one reply of B."""
    rows = [side[places[n][0]] for side, places in zip(lines.sides, lines.places, strict=True) if n < len(places)]
    line, written, replies = rows[-1], number(scores[-1]), [("B", rows[-1].response.strip() or "(empty)")]
    values: dict[str, Any] = {"scorer": scorer, "id": line.id or line.where, "score_b": scores[-1], "times": times}
    if lines.pairs.paired:
        replies.append(("A", rows[0].response.strip() or "(empty)"))
        values |= {"score_a": scores[0], "a": replies[1][1]}
        written = f"{number(scores[0])} (A), {written} (B)"
    values |= {"b": replies[0][1], "context": list(line.context)}
    facts = [f"score {written}", line.id or line.where, f"{times:,} times" if times > 1 else ""]
    if lines.by:
        values["group"] = lines.values[1][lines.places[1][n][0]]
        facts.append(f"{lines.by} {values['group']}")
    why = "worse than A" if lines.pairs.paired else "low"
    return Case(why, ", ".join(filter(None, facts)), line.context, replies, scorer, values)


def _rows(lines: Lines, outcomes: Sequence[Outcome]) -> Iterator[dict[str, Any]]:
    """Yield one record for each pair, or without pairs for each reply, those of A first."""
    (a, b), by = lines.sides, bool(lines.by)
    for n, (first, second) in enumerate(zip(*lines.places, strict=True) if lines.pairs.paired else ()):
        line = b[second[0]]
        scores = [
            {each.name: mean_of(each.values[which], places) for each in outcomes}
            for which, places in enumerate((first, second))
        ]
        yield {
            "id": line.id or line.where,
            "context": list(line.context),
            **({"group": lines.kinds[0][n]} if by else {}),
            "a": [a[place].response for place in first],
            "b": [b[place].response for place in second],
            "scores_a": plain(scores[0]),
            "scores_b": plain(scores[1]),
            "difference": plain({name: scores[1][name] - scores[0][name] for name in scores[0]}),
        }
    for which, side in enumerate(lines.sides if not lines.pairs.paired else ()):
        for place, line in enumerate(side):
            yield {
                "side": SIDES[which],
                "id": line.id or line.where,
                "conversation": lines.conversations[which][place],
                **({"group": lines.values[which][place]} if by else {}),
                "context": list(line.context),
                "response": line.response,
                "scores": plain({each.name: float(each.values[which][place]) for each in outcomes}),
            }
