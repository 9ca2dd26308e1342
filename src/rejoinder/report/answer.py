"""A full study in words: which scorers may be believed on these data, and how far."""

from __future__ import annotations

import math

from rejoinder.meta.findings import Findings, FullStudy, ScorerContrast, Standing
from rejoinder.meta.known import OF_SYSTEM
from rejoinder.meta.results import Agreement
from rejoinder.report.over_sets import over_sets_said
from rejoinder.report.sections import sets_of
from rejoinder.report.tables import number

LEVEL = 0.05


def answer(study: FullStudy) -> list[str]:
    """The answer as sentences, over all data sets where there are several, else over the one."""
    return [*_answer(study), *_fitted(study)]


def _fitted(study: FullStudy) -> list[str]:
    """What must be known of judges that have seen lines like these."""
    return [
        f"{name} was fitted on lines of {', '.join(sets)}, these or others: on those it does better."
        for name, sets in study.fitted.items()
    ]


def _answer(study: FullStudy) -> list[str]:
    """Who agrees best, and what stands beside it."""
    last = study.findings[-1]
    if not study.over_sets:
        return answer_of(last)
    ranked = [row for row in study.over_sets if _is_scorer(last, row.scorer) and not math.isnan(row.value)]
    if not ranked:
        return ["No scorer has a correlation with people on any of these data sets."]
    lead = ranked[0]
    own, sets = sets_of(study, lead.scorer), len(study.findings) - 1
    where = f"the mean over {sets} data sets" if own == sets else f"the mean over {own} of {sets} data sets"
    said = [f"{lead.scorer} agrees best with people: Pearson {_figure(lead)}, {where}."]
    return [
        *said,
        *_beside(last, lead.scorer),
        *_trivial(last, lead.scorer),
        *over_sets_said(study),
        *_speaker(study.over_sets),
    ]


def answer_of(found: Findings) -> list[str]:
    """The answer for one data set."""
    ranked = [one for one in found.standings if one.kind != "reads ratings" and not math.isnan(one.pooled.value)]
    if not ranked:
        reason = next((one.pooled.reason for one in found.standings if one.pooled.reason), "")
        return [f"No scorer has a correlation with people here: {reason}."]
    lead = ranked[0]
    share = (
        ""
        if math.isnan(lead.share)
        else f", {100 * lead.share:.0f} % of the ceiling of {number(found.people.ceiling, 2)}"
    )
    over = f"over {lead.pooled.n:,} responses"
    said = [f"{lead.scorer} agrees best with people: Pearson {_figure(lead.pooled)} {over}{share}."]
    if not math.isnan(found.people.one_rater):
        said.append(f"One person reaches {number(found.people.one_rater, 2)} against the others.")
    elif found.people.reason:
        said.append(f"How far people agree with each other, and so the ceiling, is not known: {found.people.reason}.")
    rows = [one.pooled for one in found.standings]
    return [
        *said,
        *_beside(found, lead.scorer),
        *_trivial(found, lead.scorer),
        *_inside(lead),
        *_speaker(rows),
        *_nearer(found),
    ]


def _beside(found: Findings, lead: str) -> list[str]:
    """Who cannot be told from the leading scorer, and what would tell."""
    level = [one for one in _against(found, lead) if not one.p_adjusted < LEVEL and not math.isnan(one.value)]
    if not level:
        return ["It is shown to be ahead of every other scorer."] if _against(found, lead) else []
    names = ", ".join(one.second for one in level)
    first = level[0]
    tell = (
        ""
        if first.needed is None
        else f" About {_round(first.needed):,} rated responses would tell it from {first.second}."
    )
    return [f"Not shown to be behind it: {names}.{tell}"]


def _trivial(found: Findings, lead: str) -> list[str]:
    """How the leading scorer stands to the trivial baselines."""
    kinds = {one.scorer: one.kind for one in found.standings}
    if kinds[lead] == "baseline":
        return [
            f"{lead} is a trivial baseline: no scorer here is ahead of it, so none should be believed on these data."
        ]
    undecided = [one for one in _against(found, lead) if kinds[one.second] == "baseline" and not one.p_adjusted < LEVEL]
    if undecided:
        return [f"It is not even shown to beat the trivial {' and '.join(one.second for one in undecided)}."]
    return []


def _inside(lead: Standing) -> list[str]:
    """What is left of the leading scorer inside systems."""
    if math.isnan(lead.within.value):
        return []
    return [f"Inside systems, where knowing who spoke is worth nothing, its correlation is {_figure(lead.within)}."]


def _speaker(rows: tuple[Agreement, ...] | list[Agreement]) -> list[str]:
    """What knowing the system alone is worth."""
    known = next((row for row in rows if row.scorer == OF_SYSTEM and not math.isnan(row.value)), None)
    return [f"Knowing only which system spoke gives {_figure(known)}."] if known else []


def _nearer(found: Findings) -> list[str]:
    """How often the judge is nearer to people than the metric; nothing where either is missing."""
    duel = found.duel
    kinds = {one.scorer: one.kind for one in found.standings}
    if duel is None or math.isnan(duel.share) or {kinds[duel.first], kinds[duel.second]} != {"judge", "metric"}:
        return []
    ends = "" if math.isnan(duel.low) else f" [{100 * duel.low:.0f}, {100 * duel.high:.0f}]"
    share = f"{100 * duel.share:.0f} %{ends} of {duel.n:,} lines"
    return [f"Line by line the judge {duel.first} is nearer to people than the metric {duel.second} on {share}."]


def _against(found: Findings, lead: str) -> list[ScorerContrast]:
    """The contrasts of the leading scorer with the others, in their order."""
    return [one for one in found.contrasts if one.first == lead]


def _is_scorer(found: Findings, name: str) -> bool:
    """Whether `name` is no baseline that reads ratings."""
    return all(one.kind != "reads ratings" for one in found.standings if one.scorer == name)


def _figure(row: Agreement) -> str:
    """A correlation and its interval."""
    ends = "" if math.isnan(row.low) else f" [{number(row.low, 2)}, {number(row.high, 2)}]"
    return number(row.value, 2) + ends


def _round(count: int) -> int:
    """A forecast to two digits, because it knows no more."""
    return count if count < 100 else int(float(f"{count:.1e}"))
