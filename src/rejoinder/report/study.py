"""A study of scorers against people, as tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby

from rejoinder.meta import Agreement, Study
from rejoinder.report.tables import markdown_table, number, p_value, text_table

Row = list[str]


def study_text(study: Study, width: int) -> str:
    """The study for a terminal: one table a data set and level, best scorer first, with what to read it by."""
    parts = []
    for title, header, rows in _tables(study):
        right = range(1, len(header))
        parts.append(text_table(header, rows, width, right=right, title=title) + "\n")
    reasons = dict.fromkeys(f"{a.dataset}, {a.scorer}: {a.reason}" for a in _first_of_each(study) if a.reason)
    copies = "left out" if study.drop_copies else "counted in"
    notes = [
        *reasons,
        f"{study.examples:,} lines, {study.rated:,} of them rated and used; {study.copies:,} responses that equal a "
        f"reference word for word are {copies}.",
        f"[low, high]: 95 % percentile interval over {study.resamples:,} resamples of contexts, seed {study.seed}; "
        "p: two-sided, takes lines as independent.",
    ]
    return "".join(parts) + "".join(f"{note}\n" for note in notes)


def study_markdown(study: Study, *, dataset: str | None = None, level: str | None = None) -> str:
    """The same tables in Markdown; of one data set or one level, where they are given."""
    return "\n".join(
        f"**{title}**\n\n{markdown_table(header, rows, right=range(1, len(header)))}"
        for title, header, rows in _tables(study, dataset, level)
    )


def _tables(study: Study, only: str | None = None, at: str | None = None) -> Iterator[tuple[str, Row, list[Row]]]:
    """(title, header, rows) for each data set and level."""
    for (dataset, level), group in groupby(_ordered(study), key=lambda a: (a.dataset, a.level)):
        if dataset != (only or dataset) or level != (at or level):
            continue
        by_scorer = [list(rows) for _, rows in groupby(group, key=lambda a: a.scorer)]
        statistics = [agreement.statistic.capitalize() for agreement in by_scorer[0]]
        header = ["scorer", "n", *(text for name in statistics for text in (f"{name} [low, high]", "p"))]
        contexts = max(mine[0].contexts for mine in by_scorer)
        yield (
            f"{dataset}, {level} level, {contexts:,} contexts",
            header,
            [_row(mine) for mine in sorted(by_scorer, key=_worst_last)],
        )


def _ordered(study: Study) -> list[Agreement]:
    """Agreements with those of one data set and level together, scorers in the order given."""
    places = {dataset: place for place, dataset in enumerate(dict.fromkeys(a.dataset for a in study.agreements))}
    return sorted(study.agreements, key=lambda a: (places[a.dataset], a.level != "turn"))


def _row(mine: Sequence[Agreement]) -> Row:
    """One scorer's row: n, then value, interval and p of each statistic."""
    cells = [mine[0].scorer, f"{mine[0].n:,}"]
    for agreement in mine:
        has_interval = not math.isnan(agreement.low)
        interval = f" [{number(agreement.low, 2)}, {number(agreement.high, 2)}]" if has_interval else ""
        cells += [number(agreement.value) + interval, p_value(agreement.p)]
    return cells


def _worst_last(mine: Sequence[Agreement]) -> float:
    """Sorting key: the second statistic (Spearman) from high to low, scorers without a value last."""
    value = mine[min(1, len(mine) - 1)].value
    return math.inf if math.isnan(value) else -value


def _first_of_each(study: Study) -> Iterator[Agreement]:
    """The first statistic of each data set, scorer and level; the others lack a value for the same reason."""
    for _, group in groupby(_ordered(study), key=lambda a: (a.dataset, a.level, a.scorer)):
        yield next(group)
