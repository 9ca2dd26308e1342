"""What the first screen of a page shows beside the answer: the key figures, and a sentence on each picture."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from rejoinder.meta.agreement import Agreement
from rejoinder.meta.answer import headline_rows
from rejoinder.meta.findings import Findings
from rejoinder.meta.full_study import FullStudy, lead_of
from rejoinder.meta.over_sets import CEILING, ONE_RATER
from rejoinder.meta.verdict import Verdict

_TREND = {0.1: "hardly a trend", 0.3: "a weak trend", 0.5: "a clear trend", 1.01: "a strong trend"}  # up to this size
_SHOWN: dict[Verdict, str] = {
    "agrees": "shown to agree with people",
    "not shown": "not shown to agree with people",
    "reversed": "goes against people",
}


# The looks of the points in pictures of scorers.
KINDS = {
    "judge": "learned judge",
    "metric": "metric",
    "baseline": "trivial baseline",
    "reads": "knows ratings of other contexts, reads no reply",
}


class KeyFigure(NamedTuple):
    """A figure to remember.

    Attributes:
        value: the figure.
        interval: its interval, or "".
        what: what it is of.
        note: how it may be read.
    """

    value: str
    interval: str
    what: str
    note: str


def key_figures(study: FullStudy) -> list[KeyFigure]:
    """The best scorer asked for, what people's disagreement leaves, one person, and how many ratings that rests on."""
    lead, found = lead_of(study), study.findings[-1]
    figures = []
    if lead is not None:
        figures.append(KeyFigure(*_texts(lead), lead.scorer, _SHOWN[study.verdicts[lead.scorer]]))
    if study.over_sets:
        people = {one.scorer: one.pearson for one in study.nearness if one.kind == "people"}
        for name, what, note in ((CEILING, "ceiling", _CEILING), (ONE_RATER, "one person", _PERSON)):
            if name in people:
                one = people[name]
                figures.append(KeyFigure(*_text(one.value, one.low, one.high), what, note))
    elif not found.people.reason:
        people_ = found.people
        figures.append(KeyFigure(*_text(people_.ceiling.value, *people_.ceiling.ends), "ceiling", _CEILING))
        figures.append(KeyFigure(*_text(people_.one_rater.value, math.nan, math.nan), "one person", _PERSON))
    contexts = sum(one.card.contexts for one in study.findings[: -1 if study.over_sets else None])
    sets = f" in {len(study.findings) - 1} data sets" if study.over_sets else ""
    figures.append(KeyFigure(f"{study.study.rated:,}", "", "rated responses", f"to {contexts:,} contexts{sets}"))
    return figures


_CEILING = "what people's disagreement leaves to any scorer"
_PERSON = "against the other people"


def seen_of_scorers(study: FullStudy) -> str:
    """What to see in the picture of all scorers."""
    last = study.findings[-1]
    return _seen(study.over_sets or _rows(last), last, study, study.verdicts, _ceiling(study))


def seen_of_set(found: Findings, study: FullStudy) -> str:
    """What to see in the picture of the scorers on one data set."""
    verdicts = {one.scorer: one.verdict for one in found.standings}
    return _seen(_rows(found), found, study, verdicts, found.people.ceiling.value)


def seen_of_scores(name: str, pooled: Agreement) -> str:
    """What to see in the picture of scores against ratings."""
    if math.isnan(pooled.value):
        return f"{name}: no correlation, {pooled.reason}."
    strength = next(word for edge, word in _TREND.items() if abs(pooled.value) < edge)
    way = "" if strength.startswith("hardly") else " upwards" if pooled.value > 0 else " downwards"
    return f"{name}: {strength}{way}, {pooled.value:z.2f}."


def seen_of_systems(name: str, row: Agreement | None) -> str:
    """What to see in the picture of systems' mean scores against their mean ratings."""
    if row is None or math.isnan(row.value):
        return f"{name}: no correlation over systems."
    order = "no order of systems is shown"
    if row.low > 0 or row.high < 0:
        order = "people's order of systems, by and large" if row.low > 0 else "people's order of systems, reversed"
    return f"{name}: {order}, {' '.join(_texts(row))}."


def _seen(
    rows: Sequence[Agreement], found: Findings, study: FullStudy, verdicts: Mapping[str, Verdict], ceiling: float
) -> str:
    """How many are shown to agree, and how far the best is from what can be reached."""
    named = headline_rows(rows, found, study.asked)
    if not named:
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
    return f"{said}; {best} {f'stands {below:.2f} below' if below > 0 else 'reaches'} the ceiling."


def _rows(found: Findings) -> list[Agreement]:
    """The correlations of all scorers on one data set."""
    return [one.pooled for one in found.standings]


def _ceiling(study: FullStudy) -> float:
    """The ceiling, or the mean of those that are known; NaN without."""
    known = [found.people.ceiling.value for found in study.findings if not found.people.reason]
    return float(np.mean(known)) if known else math.nan


def _texts(row: Agreement) -> tuple[str, str]:
    """Value and interval."""
    return _text(row.value, row.low, row.high)


def _text(value: float, low: float, high: float) -> tuple[str, str]:
    """Value and interval, each "" where it is unknown."""
    return f"{value:z.2f}", "" if math.isnan(low) else f"[{low:z.2f}, {high:z.2f}]"
