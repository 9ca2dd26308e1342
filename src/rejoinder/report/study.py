"""A study of scorers against people, as tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import NamedTuple

from rejoinder.meta import Agreement, FullStudy, Study
from rejoinder.meta.noted import noted
from rejoinder.meta.yardsticks import Kind
from rejoinder.report.markdown import markdown_table
from rejoinder.report.tables import narrowed, text_table
from rejoinder.stats.written import number, p_value

ALL_STATISTICS = 105  # characters that a table with all three statistics needs


_SPARE = ("Spearman [low, high]", "n", "sets")  # columns that a narrow window does without
_AGREES = {"agrees": "yes", "not shown": "not shown", "reversed": "the reverse"}


class _Section(NamedTuple):
    """One data set at one level: its title, and each scorer's agreements, best scorer first."""

    title: str
    scorers: list[list[Agreement]]


def answer_text(study: FullStudy, width: int) -> str:
    """The answer in words, one table of people and of the scorers asked for, and what both rest on."""
    header, rows = _over_sets(study) if study.over_sets else _one_set(study)
    lines = [row for row in study.study.agreements if row.level == "turn"]
    notes = [*_unscored(lines, study.titles), *_lines(study.study)]
    table = [text_table(*narrowed(header, rows, width, _SPARE), width)] if rows else []
    return "\n".join([*study.answer, "", *table, *notes, ""])


def _one_set(study: FullStudy) -> tuple[list[str], list[list[str]]]:
    """People, then the scorers, best first."""
    (found,) = study.findings
    people, rows = found.people, list[list[str]]()
    if not people.reason:
        n = f"{people.items:,}"
        rows.append(["people: ceiling", n, _figure(people.ceiling.value, *people.ceiling.ends), "–", "–"])
        rows.append(
            ["people: one rater", n, number(people.one_rater.value, 2), number(people.one_rater_spearman.value, 2), "–"]
        )
    for one in found.standings:
        if _shown(study, one.scorer, one.kind) and not math.isnan(one.pooled.value):
            row, spearman = one.pooled, one.spearman
            figures = [_figure(row.value, row.low, row.high), _figure(spearman.value, spearman.low, spearman.high)]
            rows.append([_name(one.scorer, one.kind), f"{row.n:,}", *figures, _AGREES[one.verdict]])
    return ["scorer", "n", "Pearson [low, high]", _SPARE[0], "agrees?"], rows


def _over_sets(study: FullStudy) -> tuple[list[str], list[list[str]]]:
    """People, then the scorers, best first by their mean over data sets."""
    rows = [
        [f"people: {one.scorer}", str(one.sets), f"{one.n:,}", _figure(one.pearson.value, *one.pearson.ends), "–"]
        for one in study.nearness
        if one.kind == "people"
    ]
    kinds = {one.scorer: one.kind for one in study.findings[-1].standings}
    for row in study.over_sets:
        if _shown(study, row.scorer, kinds[row.scorer]) and not math.isnan(row.value):
            figures = [str(study.sets_of(row.scorer)), f"{row.n:,}", _figure(row.value, row.low, row.high)]
            rows.append([_name(row.scorer, kinds[row.scorer]), *figures, _AGREES[study.verdicts[row.scorer]]])
    return ["scorer", "sets", "n", "Pearson [low, high]", "agrees?"], rows


def _shown(study: FullStudy, scorer: str, kind: Kind) -> bool:
    """Whether a scorer was asked for or is a yardstick."""
    return scorer in study.asked or kind == "baseline"


def _name(scorer: str, kind: Kind) -> str:
    """The scorer's name; of a yardstick, that it is one."""
    return f"{scorer} (trivial)" if kind == "baseline" else scorer


def _figure(value: float, low: float, high: float) -> str:
    """A value and its interval."""
    return number(value, 2) + ("" if math.isnan(low) else f" [{number(low, 2)}, {number(high, 2)}]")


def study_text(full: FullStudy, width: int) -> str:
    """All tables for a terminal: one a data set and level, best scorer first, and what to read it by.

    Where the terminal is too narrow for one table with all statistics, there is one a statistic.
    """
    study, parts = full.study, []
    for title, scorers in _sections(study, titles=full.titles):
        kinds = len(scorers[0]) if scorers else 0
        groups = [range(kinds)] if width >= ALL_STATISTICS else [range(one, one + 1) for one in range(kinds)]
        parts += [text_table(*_table(scorers, shown), width, title=title) + "\n" for shown in groups]
    method = (
        f"[low, high]: 95 % expanded percentile interval over {study.resamples:,} resamples of contexts, "
        f"seed {study.seed}; p: two-sided, takes lines as independent."
    )
    notes = [*_unscored(study.agreements, full.titles), *_noted(study), *_lines(study), method]
    return "".join(parts) + "".join(f"{note}\n" for note in notes)


def study_markdown(study: Study, *, dataset: str | None = None, level: str | None = None) -> str:
    """The same tables in Markdown; of one data set or one level, where they are given."""
    found = _sections(study, dataset, level)
    return "\n".join(
        f"**{title}**\n\n{markdown_table(*_table(scorers, range(len(scorers[0]))))}" for title, scorers in found
    )


def _sections(
    study: Study, dataset: str | None = None, level: str | None = None, titles: Mapping[str, str] = MappingProxyType({})
) -> Iterator[_Section]:
    """The sections that have a figure, those of one data set together, called by `titles` where it names them."""
    places = {name: place for place, name in enumerate(dict.fromkeys(a.dataset for a in study.agreements))}
    ordered = sorted(study.agreements, key=lambda a: (places[a.dataset], a.level != "turn"))
    for (name, at), group in groupby(ordered, key=lambda a: (a.dataset, a.level)):
        if name != (dataset or name) or at != (level or at):
            continue
        scorers = [list(rows) for _, rows in groupby(group, key=lambda a: a.scorer)]
        scorers = sorted((mine for mine in scorers if not _empty(mine)), key=_spearman, reverse=True)
        if scorers:
            contexts = max(mine[0].contexts for mine in scorers)
            yield _Section(f"{titles.get(name, name)}, {at} level, {contexts:,} contexts", scorers)


def _table(scorers: Sequence[Sequence[Agreement]], shown: range) -> tuple[list[str], list[list[str]]]:
    """Header and rows: scorer, n, then value, interval and p of the statistics `shown`."""
    header, rows = ["scorer", "n"], [[mine[0].scorer, f"{mine[0].n:,}"] for mine in scorers]
    for place in shown:
        header += [f"{scorers[0][place].statistic.capitalize()} [low, high]", "p"]
        for row, mine in zip(rows, scorers, strict=True):
            row += [_with_interval(mine[place]), p_value(mine[place].p)]
    return header, rows


def _with_interval(agreement: Agreement) -> str:
    """A value and its interval."""
    if math.isnan(agreement.low):
        return number(agreement.value)
    return f"{number(agreement.value)} [{number(agreement.low, 2)}, {number(agreement.high, 2)}]"


def _noted(study: Study) -> list[str]:
    """What the scorers cannot judge, counted."""
    return [f"{line}." for line in noted(study.notes, study.examples)]


def _unscored(rows: Sequence[Agreement], titles: Mapping[str, str]) -> list[str]:
    """What is not in the tables, and why."""
    several = len({row.dataset for row in rows}) > 1
    levels = len({row.level for row in rows}) > 1
    scorers: dict[str, list[str]] = {}
    for row in rows:
        if row.reason:
            where = [titles.get(row.dataset, row.dataset)] * several + [f"{row.level} level"] * levels
            mine = scorers.setdefault(": ".join(filter(None, [", ".join(where), row.reason])), [])
            if row.scorer not in mine:
                mine.append(row.scorer)
    return [f"{reason} ({', '.join(names)})" for reason, names in scorers.items()]


def _lines(study: Study) -> list[str]:
    """What the lines were."""
    copies = "left out" if study.drop_copies else "counted in"
    said = f"; {study.copies:,} responses that equal a reference word for word are {copies}" if study.copies else ""
    return [f"{study.examples:,} lines, {study.rated:,} of them rated and used{said}."]


def _empty(mine: Sequence[Agreement]) -> bool:
    """Whether a scorer has no figure at all here."""
    return all(math.isnan(agreement.value) for agreement in mine)


def _spearman(mine: Sequence[Agreement]) -> float:
    """The Spearman correlation, which the rows are sorted by; those without one come last."""
    values = [agreement.value for agreement in mine if agreement.statistic == "spearman"]
    return -math.inf if not values or math.isnan(values[0]) else values[0]
