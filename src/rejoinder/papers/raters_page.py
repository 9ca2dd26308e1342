"""The page of people who rated."""

from __future__ import annotations

from collections.abc import Sequence

from rejoinder.papers.page import About, paper, table
from rejoinder.papers.raters import (
    EXPECTED,
    LIKELIEST,
    MOST_DIALOGUES,
    MOST_LINES,
    PLAIN,
    ROUNDS,
    Found,
    OfSet,
    Simulated,
)
from rejoinder.report.cells import count, measured, nothing, plain, share
from rejoinder.report.document import Cell, Document, Table

_NAMES = (*PLAIN, *(part for name in LIKELIEST for part in (name, EXPECTED[name])))


def page(found: Found, about: About) -> Document:
    """The page."""
    agreement = _agreement(found.sets)
    passed = [one for one in found.sets if one.judge.passes]
    ahead = [one for one in passed if not one.nothing.passes]
    return paper(
        "raters",
        about,
        {
            "agreement": agreement,
            "errors": _predicted(found.sets, 0),
            "correlations": _predicted(found.sets, 1),
            "stand_ins": _stand_ins(found.sets),
            "simulated": _simulated(found.simulated),
            "labels": _labels(found.simulated),
        },
        [agreement],
        rounds=ROUNDS,
        lines=MOST_LINES,
        dialogues=MOST_DIALOGUES,
        nearest=_best(found.sets, 0),
        ranks=_best(found.sets, 1),
        passed=", ".join(one.name for one in passed) or "none",
        ahead=", ".join(one.name for one in ahead) or "none",
    )


def _agreement(sets: Sequence[OfSet]) -> Table:
    """How far people agree, one row a set."""
    names = (
        "alpha_interval",
        "alpha_ordinal",
        "alpha_nominal",
        "kappa_quadratic",
        "kappa",
        "spearman",
        "icc_1",
        "icc_1k",
    )
    header = (
        *("data set", "lines", "ratings", "raters", "below kappa .2"),
        *("alpha, interval", "ordinal", "nominal", "median kappa, quadratic", "unweighted", "median Spearman"),
        *("ICC(1, 1)", "ICC(1, k)", "halves"),
    )
    rows = [
        [
            one.name,
            count(one.agreement.lines),
            count(one.agreement.ratings),
            count(one.agreement.raters) if one.agreement.named else Cell(f"{one.agreement.raters} places"),
            count(len(one.excluded)) if one.agreement.named else nothing("raters are not named"),
            *(measured(getattr(one.agreement, name), digits=2) for name in (*names, "halves")),
        ]
        for one in sets
    ]
    return table(header, rows)


def _predicted(sets: Sequence[OfSet], part: int) -> Table:
    """How well aggregations predict a rater who was held out, one row a set."""
    rows = [
        [
            one.name,
            count(next(iter(one.predicted.values()))[part].n),
            *(
                measured(one.predicted[name][part], digits=2)
                if name in one.predicted
                else nothing("no people are named")
                for name in _NAMES
            ),
        ]
        for one in sets
    ]
    return table(("data set", "ratings held out", *_NAMES), rows)


def _best(sets: Sequence[OfSet], part: int) -> str:
    """Which aggregation does best on each set with named raters: the lowest error, or the highest correlation."""
    said = []
    for one in sets:
        if one.agreement.named:
            sign = 1 if part else -1
            values = {name: sign * round(found[part].value, 3) for name, found in one.predicted.items()}
            most = max(values.values())
            said.append(f"{one.name} {' and '.join(name for name, value in values.items() if value == most)}")
    return "; ".join(said) or "no set has named raters"


def _stand_ins(sets: Sequence[OfSet]) -> Table:
    """Whether the judge may stand in for a rater, one row a set, with who knows nothing."""
    rows = [
        [
            one.name,
            count(one.scored),
            Cell("yes" if one.fitted else "no"),
            count(one.judge.winning.n),
            share(one.judge.winning.value),
            measured(one.judge.advantage, digits=2),
            share(one.nothing.winning.value),
            measured(one.nothing.advantage, digits=2),
            Cell(_verdict(one)),
        ]
        for one in sets
    ]
    header = (
        *("data set", "lines scored", "judge fitted on it", "raters", "judge beats", "advantage of the judge"),
        *("the mean beats", "advantage of the mean", "may the judge stand in?"),
    )
    return table(header, rows)


def _verdict(one: OfSet) -> str:
    """What the test says."""
    if one.judge.reason:
        return "not known"
    if not one.judge.passes:
        return "no"
    return "yes, and so may the mean" if one.nothing.passes else "yes"


def _simulated(rows: Sequence[Simulated]) -> Table:
    """Whether MACE finds planted spammers, one row a design."""
    header = (
        "simulated: lines",
        "honest raters",
        "spammers",
        "ratings of a line",
        "spammers found",
        "honest taken for such",
    )
    return table(header, [[*map(count, row[:4]), share(row.found), share(row.wronged)] for row in rows])


def _labels(rows: Sequence[Simulated]) -> Table:
    """How often the true rating is given, one row a design."""
    names = list(rows[0].right)
    header = ("simulated: lines", "honest raters", "spammers", "ratings of a line", *names)
    return table(header, [[*map(count, row[:4]), *(plain(row.right[name], 3) for name in names)] for row in rows])
