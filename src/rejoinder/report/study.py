"""A study of scorers against people, as tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from rejoinder.meta import Agreement, Study
from rejoinder.report.tables import markdown_table, number, p_value, text_table

ALL_STATISTICS = 105  # characters that a table with all three statistics needs


class _Section(NamedTuple):
    """One data set at one level: its title, and each scorer's agreements, best scorer first."""

    title: str
    scorers: list[list[Agreement]]


def study_text(study: Study, width: int) -> str:
    """The study for a terminal: a table a data set and level, best scorer first, and what to read it by.

    Where the terminal is too narrow for one table with all statistics, there is one a statistic.
    """
    parts = []
    for title, scorers in _sections(study):
        kinds = len(scorers[0]) if scorers else 0
        groups = [range(kinds)] if width >= ALL_STATISTICS else [range(one, one + 1) for one in range(kinds)]
        parts += [text_table(*_table(scorers, shown), width, title=title) + "\n" for shown in groups]
    return "".join(parts) + "".join(f"{note}\n" for note in _notes(study))


def study_markdown(study: Study, *, dataset: str | None = None, level: str | None = None) -> str:
    """The same tables in Markdown; of one data set or one level, where they are given."""
    found = _sections(study, dataset, level)
    return "\n".join(
        f"**{title}**\n\n{markdown_table(*_table(scorers, range(len(scorers[0]))))}" for title, scorers in found
    )


def _sections(study: Study, dataset: str | None = None, level: str | None = None) -> Iterator[_Section]:
    """The sections that have a figure, those of one data set together."""
    places = {name: place for place, name in enumerate(dict.fromkeys(a.dataset for a in study.agreements))}
    ordered = sorted(study.agreements, key=lambda a: (places[a.dataset], a.level != "turn"))
    for (name, at), group in groupby(ordered, key=lambda a: (a.dataset, a.level)):
        if name != (dataset or name) or at != (level or at):
            continue
        scorers = [list(rows) for _, rows in groupby(group, key=lambda a: a.scorer)]
        scorers = sorted((mine for mine in scorers if not _empty(mine)), key=_spearman, reverse=True)
        if scorers:
            contexts = max(mine[0].contexts for mine in scorers)
            yield _Section(f"{name}, {at} level, {contexts:,} contexts", scorers)


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


def _notes(study: Study) -> list[str]:
    """What is not in the tables and why, what the lines were, how the figures came about."""
    scorers: dict[str, list[str]] = {}
    for agreement in study.agreements:
        if agreement.reason:
            mine = scorers.setdefault(f"{agreement.dataset}, {agreement.level} level: {agreement.reason}", [])
            if agreement.scorer not in mine:
                mine.append(agreement.scorer)
    copies = "left out" if study.drop_copies else "counted in"
    return [
        *(f"{reason} ({', '.join(names)})" for reason, names in scorers.items()),
        f"{study.examples:,} lines, {study.rated:,} of them rated and used; {study.copies:,} responses that equal a "
        f"reference word for word are {copies}.",
        f"[low, high]: 95 % expanded percentile interval over {study.resamples:,} resamples of contexts, "
        f"seed {study.seed}; p: two-sided, takes lines as independent.",
    ]


def _empty(mine: Sequence[Agreement]) -> bool:
    """Whether a scorer has no figure at all here."""
    return all(math.isnan(agreement.value) for agreement in mine)


def _spearman(mine: Sequence[Agreement]) -> float:
    """The Spearman correlation, which the rows are sorted by; those without one come last."""
    values = [agreement.value for agreement in mine if agreement.statistic == "spearman"]
    return -math.inf if not values or math.isnan(values[0]) else values[0]
