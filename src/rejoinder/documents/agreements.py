"""The agreement of scorers with people by every statistic, as tables: one a data set and level."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from rejoinder.meta import Agreement, Study
from rejoinder.documents.cells import count, measured, p
from rejoinder.documents.document import Cell, Table


def agreement_tables(study: Study, titles: Mapping[str, str]) -> Iterator[Table]:
    """Yield those that have a figure, the tables of one data set together, best scorer first.

    Args:
        study: what was found.
        titles: what data sets are called, where not by their names.
    """
    places = {name: place for place, name in enumerate(dict.fromkeys(a.dataset for a in study.agreements))}
    ordered = sorted(study.agreements, key=lambda a: (places[a.dataset], a.level == "system"))
    for (name, at), group in groupby(ordered, key=lambda a: (a.dataset, a.level)):
        scorers = [list(rows) for _, rows in groupby(group, key=lambda a: a.scorer)]
        scorers = sorted((mine for mine in scorers if not _empty(mine)), key=_spearman, reverse=True)
        if scorers:
            contexts = max(mine[0].contexts for mine in scorers)
            yield _table(f"{titles.get(name, name)}, {at} level, {contexts:,} contexts", scorers)


def unscored(rows: Sequence[Agreement], titles: Mapping[str, str]) -> list[str]:
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


def partly_unscored(study: Study) -> list[str]:
    """Which scorers gave no score to some of the rated lines, and why."""
    scorers: dict[str, list[str]] = {}
    for name, said in study.unscored.items():
        scorers.setdefault(said, []).append(name)
    return [f"{said} ({', '.join(names)})." for said, names in scorers.items()]


def _table(title: str, scorers: Sequence[Sequence[Agreement]]) -> Table:
    """Scorer, n, then value, interval and p of each statistic; where they are too wide, a table a statistic."""
    header, rows = ["scorer", "n"], [[Cell(mine[0].scorer), count(mine[0].n)] for mine in scorers]
    for place, one in enumerate(scorers[0]):
        header += [f"{one.statistic.capitalize()} [low, high]", "p"]
        for row, mine in zip(rows, scorers, strict=True):
            row += [measured(mine[place], note=mine[place].method, why=mine[place].reason), p(mine[place].p)]
    return Table(title, "", tuple(header), tuple(map(tuple, rows)), split=(2, 2))


def _empty(mine: Sequence[Agreement]) -> bool:
    """Whether a scorer has no figure at all here."""
    return not any(agreement.known for agreement in mine)


def _spearman(mine: Sequence[Agreement]) -> float:
    """The Spearman correlation, which the rows are sorted by; those without one come last."""
    values = [agreement.value for agreement in mine if agreement.statistic == "spearman"]
    return -math.inf if not values or math.isnan(values[0]) else values[0]
