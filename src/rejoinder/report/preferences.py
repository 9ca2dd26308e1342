"""A study of preference pairs, for a terminal and as tables that pages are made of."""

from __future__ import annotations

import math
from collections.abc import Iterable

from rejoinder.meta.noted import noted
from rejoinder.meta.preference_answer import shown, so_many
from rejoinder.meta.preference_results import (
    CHANCE,
    LENGTH,
    LESS_LENGTH,
    OF_LONGER,
    OF_SHORTER,
    PairCard,
    PairStudy,
    Preference,
)
from rejoinder.report.sections import Cell, Table
from rejoinder.report.tables import text_table
from rejoinder.stats.written import number, p_value

_NAMES = {LENGTH: "the longer reply (length)"}
_CHANCE = "chance"


def preferences_text(study: PairStudy, width: int, *, every: bool = False) -> str:
    """The answer in words, one table a data set, and what they rest on; with `every` all figures."""
    parts = [*study.answer, ""]
    for card in study.cards:
        wanted = tables_of(study, card) if every else [_first_table(study, card)]
        name = f"{card.title}: " if len(study.cards) > 1 else ""
        for table in wanted:
            rows = [[cell.text for cell in row] for row in table.rows]
            parts.append(text_table(table.header, rows, width, folded=(0,), title=f"{name}{table.title}"))
    return "\n".join([*parts, *notes_of(study), ""])


def notes_of(study: PairStudy) -> list[str]:
    """What was counted, what was not, and how."""
    said = []
    for card in study.cards:
        name = f"{card.title}: " if len(study.cards) > 1 else ""
        ties = f"; {card.ties:,} of them, ties between people, not counted" if card.ties else ""
        empty = f"; an empty reply is the worse one ({so_many(card.empty)})" if card.empty else ""
        said.append(f"{name}{so_many(card.pairs)} of {so_many(card.contexts, 'context')}{ties}{empty}.")
        said += _unscored(study, card, name)
    replies = 2 * sum(card.pairs for card in study.cards)
    return [
        *said,
        *(f"{line}." for line in noted(study.notes, replies)),
        "Right: the preferred reply has the higher score; the same score for both is half right. [low, high]: 95 % "
        f"interval over {study.resamples:,} resamples of contexts, seed {study.seed}.",
    ]


def _unscored(study: PairStudy, card: PairCard, name: str) -> list[str]:
    """Which scorers lack scores, and why."""
    reasons: dict[str, list[str]] = {}
    for row in study.results:
        if row.dataset == card.dataset and row.statistic == "accuracy" and row.reason:
            reasons.setdefault(row.reason, []).append(row.scorer)
    return [f"{name}{reason} ({', '.join(scorers)})." for reason, scorers in reasons.items()]


def tables_of(study: PairStudy, card: PairCard) -> list[Table]:
    """The tables of one data set."""
    return [_first_table(study, card), _tests(study, card)]


def data_table(cards: Iterable[PairCard]) -> Table:
    """What the pairs are, one row a data set."""
    rows = tuple(
        (
            Cell(card.title),
            *(
                Cell(f"{count:,}", value=count)
                for count in (card.pairs, card.ties, card.contexts, card.votes, card.longer, card.shorter, card.empty)
            ),
        )
        for card in cards
    )
    counts = ("pairs", "ties", "contexts", "single votes", "longer preferred", "shorter preferred", "empty reply")
    caption = "Longer and shorter in words; of the other pairs without a tie the replies are of one length."
    return Table("data", "Data", caption, ("data set", *counts), rows)


def _first_table(study: PairStudy, card: PairCard) -> Table:
    """Everyone who chooses, best first, with chance among them."""
    found = study.rows(card.dataset)
    rows = [_first_row(study, row) for row in found]
    below = (place for place, row in enumerate(found) if row.kind != "people" and row.value < CHANCE)
    at = next(below, len(rows))
    rows.insert(at, (Cell(_CHANCE), Cell("–"), Cell(number(CHANCE), value=CHANCE), *[Cell("–")] * 3))
    header = ("takes", "n", "right [low, high]", "longer preferred", "shorter preferred", "agrees?")
    caption = (
        "How often each takes the reply that people prefer: on all pairs with a preferred reply, and on those where it "
        "is the longer one, in words, or the shorter one; by chance half of them. One person: a vote that is "
        "that of most of the others."
    )
    return Table("choices", "Who takes the reply that people prefer", caption, header, tuple(rows))


def _first_row(study: PairStudy, row: Preference) -> tuple[Cell, ...]:
    """One who chooses."""
    parts = [_other(study, row, statistic) for statistic in (OF_LONGER, OF_SHORTER)]
    return (
        Cell(_name(row)),
        Cell(f"{row.n:,}", value=row.n),
        figure(row),
        *(Cell("–") if part is None else Cell(number(part.value), _note(part), part.value) for part in parts),
        Cell(_agrees(row) if row.scorer in study.asked else "–"),
    )


def _agrees(row: Preference) -> str:
    """Whether agreement is shown."""
    if not shown(row):
        return "not shown"
    return "yes" if row.value > CHANCE else "the reverse"


def _tests(study: PairStudy, card: PairCard) -> Table:
    """Tests against chance and against the longer reply."""
    rows = []
    for row in study.rows(card.dataset):
        ahead = _other(study, row, LESS_LENGTH)
        less = (Cell("–"), Cell("–")) if ahead is None else (figure(ahead), _p(ahead.p))
        rows.append((Cell(_name(row)), Cell(row.kind), _p(row.p), _p(row.p_adjusted), *less))
    header = ("takes", "kind", "p, chance", "p by Holm", "right less the longer reply [low, high]", "p, longer reply")
    caption = (
        "Whether each is right more or less often than chance, and than taking the longer reply; p: two-sided, by "
        "sign flips of whole contexts; by Holm: for the number of scorers asked for."
    )
    return Table("tests", "Against chance and against the longer reply", caption, header, tuple(rows))


def _other(study: PairStudy, row: Preference, statistic: str) -> Preference | None:
    """Another figure of the same scorer and data set."""
    same = (one for one in study.results if (one.dataset, one.scorer) == (row.dataset, row.scorer) and one.n)
    return next((one for one in same if one.statistic == statistic), None)


def _name(row: Preference) -> str:
    """What a row is called."""
    return _NAMES.get(row.scorer, row.scorer)


def figure(row: Preference) -> Cell:
    """A figure and its interval."""
    ends = "" if math.isnan(row.low) else f" [{number(row.low, 2)}, {number(row.high, 2)}]"
    return Cell(number(row.value) + ends, _note(row), row.value)


def _p(p: float) -> Cell:
    """A p-value."""
    return Cell(p_value(p), value=None if math.isnan(p) else p)


def _note(row: Preference) -> str:
    """How a figure came about."""
    return f"n = {row.n:,}, {row.contexts:,} contexts; {row.method}" + (f"; {row.reason}" if row.reason else "")
