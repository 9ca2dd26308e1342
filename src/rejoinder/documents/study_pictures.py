"""What a study draws: the scorers beside what people allow, scores against ratings, systems; and what to see there."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from zlib import crc32

import numpy as np

from rejoinder.meta.agreement import Agreement
from rejoinder.meta.answer import headline_rows, lead_of
from rejoinder.meta.findings import Findings
from rejoinder.meta.full_study import FullStudy
from rejoinder.meta.over_sets import CEILING, ONE_RATER
from rejoinder.meta.verdict import Verdict
from rejoinder.documents.chart import Mark, Point, chart
from rejoinder.documents.document import Gallery, KeyFigure, Picture
from rejoinder.documents.looks import KINDS
from rejoinder.documents.svg import scatter, systems
from rejoinder.stats.correlation import FEWEST
from rejoinder.stats.figure import Figure, interval, number

_TREND = {0.1: "hardly a trend", 0.3: "a weak trend", 0.5: "a clear trend", 1.01: "a strong trend"}  # up to this size
_SHOWN: Mapping[Verdict, str] = {
    "agrees": "shown to agree with people",
    "not shown": "not shown to agree with people",
    "reversed": "goes against people",
}
_LIMITS = {
    "chance": "where 95 % of scorers fall that have nothing to do with the ratings",
    "mark": "one person against the others; the ceiling that people's disagreement leaves",
}
_CEILING = "what people's disagreement leaves to any scorer"
_PERSON = "against the other people"


def key_figures(study: FullStudy) -> list[KeyFigure]:
    """The best scorer asked for, what people's disagreement leaves, one person, and how many ratings that rests on."""
    lead, people = lead_of(study), study.whole.people
    figures = [] if lead is None else [KeyFigure.of(lead, lead.scorer, _SHOWN[study.verdicts[lead.scorer]])]
    if study.over_sets:
        means = {one.scorer: one.pearson for one in study.nearness if one.kind == "people"}
        for name, what, note in ((CEILING, "ceiling", _CEILING), (ONE_RATER, "one person", _PERSON)):
            if name in means:
                figures.append(KeyFigure.of(means[name], what, note))
    elif not people.reason:
        figures.append(KeyFigure.of(people.ceiling, "ceiling", _CEILING))
        figures.append(KeyFigure.of(people.one_rater, "one person", _PERSON))
    contexts = sum(one.card.contexts for one in study.sets)
    sets = f" in {len(study.sets)} data sets" if study.over_sets else ""
    return [*figures, KeyFigure(f"{study.study.rated:,}", "", "rated responses", f"to {contexts:,} contexts{sets}")]


# scorers


def of_scorers(study: FullStudy) -> Picture | None:
    """All scorers: over all data sets where there are several, else on the one."""
    last = study.whole
    if not study.over_sets:
        return of_set(last, study, {**_LIMITS, "band": "interval of the ceiling"})
    kinds = {one.scorer: one.kind for one in last.standings}
    rows = [row for row in study.over_sets if row.scorer not in last.out_of_domain]
    points = [_point(row, kinds[row.scorer], study.chance[row.scorer], study) for row in rows]
    known = [found.people for found in study.findings if not found.people.reason]
    marks = [
        Mark(name, Figure(value=float(np.mean([getattr(people, key).value for people in known]))))
        for name, key in (("one person", "one_rater"), ("ceiling", "ceiling"))
        if known
    ]
    ceiling = marks[-1].figure.value if marks else math.nan
    seen = _seen(study.over_sets, last, study, study.verdicts, ceiling)
    return _picture("Scorers against people, mean over data sets", points, marks, seen, study, _LIMITS)


def of_set(found: Findings, study: FullStudy, limits: Mapping[str, str] | None = None) -> Picture | None:
    """The scorers of one data set against the ceiling, with a key where `limits` are given."""
    people = found.people
    judged = [one for one in found.standings if one.verdict != "out of domain"]
    points = [_point(one.pooled, one.kind, one.chance.high, study) for one in judged]
    marks = [Mark("one person", Figure(value=people.one_rater.value)), Mark("ceiling", people.ceiling)]
    verdicts = {one.scorer: one.verdict for one in found.standings}
    seen = _seen([one.pooled for one in found.standings], found, study, verdicts, people.ceiling.value)
    return _picture(f"Scorers against people on {found.card.title}", points, marks, seen, study, limits)


def _picture(
    title: str,
    rows: Sequence[Point],
    marks: Sequence[Mark],
    seen: str,
    study: FullStudy,
    limits: Mapping[str, str] | None,
) -> Picture | None:
    """The picture of those that have a value, the best scorer asked for marked; None where none has."""
    known = [row for row in rows if row.figure.known]
    lead = next((row for row in known if not row.part), None)
    known = [row._replace(part="lead") if row is lead else row for row in known]
    if not known:
        return None
    drawn = chart(title, known, [mark for mark in marks if mark.figure.known])
    if limits is None:
        return Picture(drawn, seen)
    looks = {_look(one.kind) for one in study.whole.standings}
    return Picture(drawn, seen, {look: what for look, what in KINDS.items() if look in looks}, limits)


def _point(row: Agreement, kind: str, chance: float, study: FullStudy) -> Point:
    """A row of the picture; baselines and what came along stand apart."""
    by_chance = "" if math.isnan(chance) else f"; by chance within ±{chance:.2f}"
    note = f"{interval(row)}, n = {row.n:,}; {row.method}{by_chance}"
    part = "" if row.scorer in study.asked and kind != "baseline" else "beside"
    return Point(row.scorer, row, _look(kind), note, chance, part=part)


def _look(kind: str) -> str:
    """How a scorer of a kind is drawn."""
    return kind.partition(" ")[0]


def _seen(
    rows: Sequence[Agreement], found: Findings, study: FullStudy, verdicts: Mapping[str, Verdict], ceiling: float
) -> str:
    """How many are shown to agree, and how far the best is from what can be reached."""
    named = headline_rows(rows, found, study.asked)
    if not named:
        if any(name in found.out_of_domain for name in study.asked):
            return "The scorers that were asked for cannot judge these responses."
        return "No scorer that was asked for has a correlation with people."
    agree = sum(verdicts[row.scorer] == "agrees" for row in named)
    who = f"{agree or 'None'} of {len(named)} scorers {'is' if agree == 1 else 'are'}"
    if len(named) == 1:
        who = f"{named[0].scorer} is{'' if agree else ' not'}"
    said = f"{who} shown to agree with people, clear of the grey band that chance alone reaches"
    if math.isnan(ceiling):
        return f"{said}."
    best = "it" if len(named) == 1 else "the best"
    below = ceiling - named[0].value
    return f"{said}; {best} {f'stands {number(below, 2)} below' if below > 0 else 'reaches'} the ceiling."


# lines and systems


def of_lines(found: Findings) -> Gallery | None:
    """Scores against ratings, a drawing a scorer that reads no ratings; None where none has a correlation."""
    rng = np.random.default_rng(crc32(found.card.title.encode("utf-8", "backslashreplace")))
    pictures = [
        Picture(scatter(row.scorer, found.ratings, found.scores[row.scorer], rng), _trend(row)) for row in blind(found)
    ]
    return Gallery("Scores against ratings", pictures) if pictures else None


def of_systems(found: Findings) -> Gallery | None:
    """Mean scores of systems against their mean ratings, a drawing a scorer that has three systems or more."""
    rows = found.systems.rows
    names, ratings = [row.system for row in rows], np.array([row.rating.value for row in rows])
    known = {row.scorer: row for row in found.systems.agreements}
    pictures = []
    for one in blind(found):
        means = np.array([row.scores[one.scorer] for row in rows])
        if np.isfinite(means).sum() >= FEWEST:
            drawn = systems(one.scorer, names, ratings, means)
            pictures.append(Picture(drawn, _order(one.scorer, known.get(one.scorer))))
    said = (
        "Both from 0 for the lowest to 1 for the highest of the systems shown; an ideal scorer puts all on the "
        "diagonal. Best by people first: " + ", ".join(f"{place} {name}" for place, name in enumerate(names, 1)) + "."
    )
    title = "Mean scores of systems against their mean ratings, normalised"
    return Gallery(title, pictures, said) if pictures else None


def blind(found: Findings) -> list[Agreement]:
    """The correlations of the scorers that read no ratings and can judge the lines, where they have one."""
    rows = [
        one.pooled for one in found.standings if one.kind != "reads ratings" and one.scorer not in found.out_of_domain
    ]
    return [row for row in rows if row.known]


def _trend(row: Agreement) -> str:
    """What to see in the picture of scores against ratings."""
    strength = next(word for edge, word in _TREND.items() if abs(row.value) < edge)
    way = "" if strength.startswith("hardly") else " upwards" if row.value > 0 else " downwards"
    return f"{row.scorer}: {strength}{way}, {number(row.value, 2)}."


def _order(name: str, row: Agreement | None) -> str:
    """What to see in the picture of systems' mean scores against their mean ratings."""
    if row is None or not row.known:
        return f"{name}: no correlation over systems."
    order = "no order of systems is shown"
    if row.excludes(0):
        order = "people's order of systems, by and large" if row.low > 0 else "people's order of systems, reversed"
    return f"{name}: {order}, {interval(row, 2)}."
