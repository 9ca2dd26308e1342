"""What people would say of systems, as a document."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rejoinder.meta.estimates import Estimate, Estimates
from rejoinder.documents.cells import count, measured, nothing, p
from rejoinder.documents.chart import Point, chart
from rejoinder.documents.document import Cell, Document, KeyFigure, Picture, Prose, Section, Table
from rejoinder.stats.figure import interval, rounded

_QUESTION = "What would people say of these systems?"
_ALONE, _WORTH, _PLAN = "by ratings alone", "worth", "ratings needed"
_SHOWN = 10  # differences on a terminal
_DRAWN = 20  # systems in the picture
_KINDS = {"judge": "by ratings and scores", "baseline": "by ratings alone"}


def estimates(found: Estimates, files: Sequence[str], command: str = "") -> Document:
    """The document.

    Args:
        found: the estimates.
        files: what the lines, and the rated lines, are called.
        command: the call that made it.
    """
    of = ", ".join(files)
    systems, differences, made = _systems(found), _differences(found), Prose(_how(found))
    shown, more = differences._replace(rows=differences.rows[:_SHOWN]), len(differences.rows) - _SHOWN
    if more > 0:
        shown = shown._replace(notes=[f"and {more:,} more: -o report.html"])
    record = found.to_dict()
    sections = [Section("By system", [systems])]
    if differences.rows:
        sections.append(Section("Differences", [differences]))
    return Document(
        title=f"{_QUESTION} {of}",
        question=_QUESTION,
        answer=found.answer,
        about=of,
        keys=_keys(found),
        picture=_picture(found),
        sections=sections,
        made=made.said,
        command=command,
        signatures={found.scorer: found.signature},
        brief=[systems, *([shown] if differences.rows else []), made],
        results=record["results"],
        record=record,
    )


def _how(found: Estimates) -> list[str]:
    """How the figures came about, in sentences."""
    said = [
        "Prediction-powered inference with power tuning (PPI++): right whatever the scores are and on whatever scale, "
        "as long as chance chose which lines were rated. [low, high]: 95 % by Student's t, conversations as clusters.",
        f"Worth: how many more ratings would tell as much without the scorer. {found.signature}",
    ]
    if found.given:
        said.append(f"Of {found.given:,} rated lines {found.matched:,} are among the lines.")
    if any(one.shared for one in found.systems):
        said.append("Systems with under 24 rated conversations share one power.")
    return said


def _keys(found: Estimates) -> list[KeyFigure]:
    """The first systems, and what they rest on."""
    known = [one for one in found.systems if one.known][:2]
    keys = [KeyFigure.of(one, f"mean rating of {one.system}", f"{one.n:,} ratings") for one in known]
    return [*keys, KeyFigure(f"{found.ratings:,}", "", "ratings", f"of {found.lines:,} lines")]


def _systems(found: Estimates) -> Table:
    """One row a system."""
    planned = any(one.plan for one in found.systems)
    header = ("system", "lines", "ratings", "mean rating [low, high]", _ALONE, _WORTH)
    rows = tuple(
        (
            Cell(one.system),
            count(one.lines),
            count(one.n, f"of {one.conversations:,} conversations"),
            _cell(one),
            measured(one.alone, 2, why=one.alone.reason),
            _gain(one),
            *([_needed(one)] if planned else []),
        )
        for one in found.systems
    )
    return Table("", _how(found)[0], (*header, *([_PLAN] if planned else [])), rows, ("lines", _WORTH))


def _differences(found: Estimates) -> Table:
    """One row a pair of systems."""
    several = len(found.differences) > 1
    rows = tuple(
        (
            Cell(f"{one.system} less {one.minus}"),
            _cell(one, signed=True),
            measured(one.alone, 2, signed=True, why=one.alone.reason),
            p(one.p_adjusted, f"not adjusted {one.p:.3g}" if several else ""),
            Cell(one.verdict or "not shown", strong=bool(one.verdict)),
        )
        for one in found.differences
    )
    caption = "p is by Holm for all pairs of systems." if several else ""
    return Table("", caption, ("difference", "[low, high]", _ALONE, "p", "verdict"), rows, (_ALONE,))


def _cell(one: Estimate, *, signed: bool = False) -> Cell:
    """An estimate."""
    return measured(one, 2, f"power {one.power:.3g}", one.reason, signed=signed)


def _gain(one: Estimate) -> Cell:
    """How many ratings the scorer was worth."""
    if math.isnan(one.worth):
        return nothing(one.reason)
    more = max(round(one.worth - one.n), 0)
    return Cell(f"{rounded(more):,}", f"as narrow as by {one.worth:.0f} ratings alone", more)


def _needed(one: Estimate) -> Cell:
    """How many ratings would do."""
    if one.plan is None or one.plan.scored is None:
        return nothing("not to be told from these ratings, or more than there can be")
    alone = "more than can be told" if one.plan.alone is None else f"{rounded(one.plan.alone):,} without the scorer"
    return Cell(f"{rounded(one.plan.scored):,}", alone, one.plan.scored)


def _picture(found: Estimates) -> Picture | None:
    """The mean of each system twice, with the scorer and by ratings alone; None where no line says its scale."""
    known = [one for one in found.systems if one.has_interval][:_DRAWN]
    if found.scale is None or not known:
        return None
    points = [
        Point(name, figure, kind, f"{interval(figure, 2)}, {one.n:,} ratings")
        for one in known
        for name, figure, kind in ((one.system, one, "judge"), (f"{one.system}, ratings alone", one.alone, "baseline"))
    ]
    drawn = chart("Mean ratings", points, axis="Mean rating", scale=found.scale)
    narrower = sum(one.high - one.low < one.alone.high - one.alone.low for one in known)
    return Picture(drawn, f"The scorer narrows the interval of {narrower} of {len(known)}.", _KINDS)
