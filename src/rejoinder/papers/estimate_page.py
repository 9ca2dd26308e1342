"""The page of what a scorer is worth beside few ratings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from rejoinder.papers.estimate import JUDGE, MOST_LINES, Found, Outcome
from rejoinder.papers.page import About, paper, table
from rejoinder.papers.plots import widths_figure
from rejoinder.report.cells import count, measured, plain
from rejoinder.report.document import Document, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_HEADER = (
    "set",
    "estimate of",
    "ratings",
    "scorer",
    "holds, alone",
    "holds, with it",
    "±, alone",
    "±, with it",
    "widest",
    "worth",
)


def page(found: Found, about: About) -> Document:
    """The page."""
    outcomes = table(_HEADER, map(_row, found.outcomes))
    held = [one.powered.value for one in found.outcomes]
    alone = [one.alone.value for one in found.outcomes]
    judged = [one for one in found.outcomes if one.scorer == JUDGE]
    return paper(
        "estimate",
        about,
        {"sets": _sets(found), "outcomes": outcomes},
        [outcomes],
        pictures=_pictures(found),
        draws=found.draws,
        most_lines=MOST_LINES,
        least=f"{min(held):.1%}",
        most=f"{max(held):.1%}",
        mean=f"{np.mean(held):.1%}",
        mean_alone=f"{np.mean(alone):.1%}",
        widest=f"{max(one.widest for one in found.outcomes):.3f}",
        narrowest=f"{1 - min((one.half / one.half_alone for one in judged), default=1.0):.0%}",
        usual=f"{1 - np.mean([one.half / one.half_alone for one in judged] or [1.0]):.0%}",
        worth=f"{max((one.worth for one in judged), default=0.0):.0f}",
        without=f"{max(one.without for one in found.outcomes):.1%}",
    )


def _sets(found: Found) -> Table:
    """What was drawn from, and how near each scorer comes to people on it."""
    return table(
        ("set", "lines", "contexts", "systems", "scorer", "Pearson with people", "fitted on"),
        (
            [
                one.name,
                count(len(one.ratings)),
                count(len(one.rows)),
                count(len(one.means)),
                scorer,
                plain(agreement.value),
                f"{found.fitted_on[one.name]:,} lines of other sets" if scorer == JUDGE else "–",
            ]
            for one in found.sets
            for scorer, agreement in one.agreement.items()
        ),
    )


def _row(one: Outcome) -> list[object]:
    """One outcome."""
    return [
        one.dataset,
        one.target,
        count(one.ratings),
        one.scorer,
        measured(one.alone, 3),
        measured(one.powered, 3),
        plain(one.half_alone),
        plain(one.half),
        plain(one.widest, 2),
        plain(max(one.worth, 0.0), 0),
    ]


def _pictures(found: Found) -> Mapping[str, Figure]:
    """How wide intervals of the mean of all lines are, by the number of ratings."""
    panels: dict[str, dict[str, list[tuple[int, float]]]] = {}
    for one in found.outcomes:
        if one.target == "all lines":
            curves = panels.setdefault(one.dataset, {"ratings alone": []})
            if (one.ratings, one.half_alone) not in curves["ratings alone"]:
                curves["ratings alone"].append((one.ratings, one.half_alone))
            curves.setdefault(f"with {one.scorer}", []).append((one.ratings, one.half))
    return {"widths": widths_figure(panels)} if panels else {}
