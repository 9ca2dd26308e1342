"""A study of preference pairs as a document."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from rejoinder.scoring.domain import without_domain
from rejoinder.meta.preference_answer import shown
from rejoinder.meta.preference_results import (
    CHANCE,
    LESS_LENGTH,
    OF_LONGER,
    OF_SHORTER,
    PairCard,
    PairStudy,
    Preference,
    Statistic,
)
from rejoinder.documents.cells import count, measured, nothing, p, plain
from rejoinder.documents.chart import Mark, Point, chart
from rejoinder.documents.document import Cell, Document, KeyFigure, Picture, Prose, Section, Table
from rejoinder.documents.looks import KINDS
from rejoinder.scoring.noted import noted
from rejoinder.stats.figure import Figure, percent, pluralize

_FOLDED = ("scorer",)
_AGREEMENT: dict[str | None, str] = {
    "above": "yes",
    "below": "the reverse",
    "inconclusive": "inconclusive",
    "undefined": "undefined",
    "out of domain": "out of domain",
}


def preferences(study: PairStudy, command: str = "") -> Document:
    """The document; `command` is the call that made the study."""
    names = ", ".join(card.title for card in study.cards)
    first, *rest = study.cards
    notes, record = notes_of(study), study.to_dict()
    return Document(
        title=f"Scorers against people's choices between two replies: {names}",
        question=f"Which scorers take the replies that people prefer on {names}?",
        answer=study.answer,
        keys=_key_figures(study),
        picture=_picture(study, first),
        sections=[
            Section(first.title, _tables(study, first)),
            *(Section(card.title, [_picture(study, card), *_tables(study, card)]) for card in rest),
            Section("Data", [_data(study.cards)]),
        ],
        made=notes,
        command=command,
        signatures=study.signatures,
        brief=[*(_named(study, card, _choices(study, card)) for card in study.cards), Prose(notes)],
        every=[*(_named(study, card, one) for card in study.cards for one in _tables(study, card)), Prose(notes)],
        results=record["results"],
        record=record,
    )


def notes_of(study: PairStudy) -> list[str]:
    """What was counted, what was not, and how."""
    said = []
    for card in study.cards:
        name = f"{card.title}: " if len(study.cards) > 1 else ""
        ties = f"; {card.ties:,} of them, ties between people, not counted" if card.ties else ""
        empty = f"; an empty reply is the worse one ({pluralize(card.empty)})" if card.empty else ""
        several = f"; {card.lines:,} lines hold them: what several say of one pair is averaged"
        again = several if card.lines > card.pairs else ""
        said.append(f"{name}{pluralize(card.pairs)} of {pluralize(card.contexts, 'context')}{ties}{empty}{again}.")
        said += _unscored(study, card, name)
    replies = 2 * sum(card.lines for card in study.cards)
    notes = without_domain(study.notes, chain.from_iterable(study.out_of_domain.values()))
    return [
        *said,
        *(f"{line}." for line in noted(notes, replies)),
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


# the first screen


def _key_figures(study: PairStudy) -> list[KeyFigure]:
    """The best scorer asked for, chance, one person, and how many pairs, of the first data set."""
    card = study.cards[0]
    figures = []
    for lead in study.judged(card.dataset)[:1]:
        note = "shown to agree with people" if _agrees(lead) else "not shown to agree with people"
        figures.append(KeyFigure.of(lead, lead.scorer, note, share=True))
    figures.append(KeyFigure(percent(CHANCE), "", "chance", "takes either reply blindly"))
    people = [row for row in study.rows(card.dataset) if _is_person(row)]
    figures += [KeyFigure.of(row, row.scorer, "against the other people", share=True) for row in people]
    return [*figures, KeyFigure(f"{card.pairs:,}", "", "pairs of replies", f"to {card.contexts:,} contexts")]


def _picture(study: PairStudy, card: PairCard) -> Picture:
    """Everyone who chooses, with chance and people as marks."""
    lead = next(iter(study.judged(card.dataset)), None)
    found = [row for row in study.rows(card.dataset) if row.verdict != "out of domain"]
    rows = [_point(study, row, lead=row is lead) for row in found if not _is_person(row)]
    people = [Mark(row.scorer, row) for row in found if _is_person(row)]
    title = f"Scorers against people's choices on {card.title}"
    axis = "Share of pairs in which the preferred reply is taken"
    kinds = {row.kind for row in study.results}
    return Picture(
        chart(title, rows, [Mark("chance", Figure(value=CHANCE)), *people], axis=axis),
        _seen(study, card),
        {look: what for look, what in KINDS.items() if look in kinds},
        {"mark": "chance, and one person against the others"},
    )


def _point(study: PairStudy, row: Preference, *, lead: bool) -> Point:
    """A row of the picture; trivial baselines and what nobody asked for stand apart."""
    part = "lead" if lead else "" if row.scorer in study.asked and row.kind != "baseline" else "beside"
    cell = _figure(row)
    return Point(row.scorer, row, row.kind, f"{cell.text}; {cell.note}", part=part)


def _seen(study: PairStudy, card: PairCard) -> str:
    """What to see in the picture."""
    asked = study.judged(card.dataset)
    if not asked:
        return "The scorers that were asked for cannot judge these replies."
    agree = sum(map(_agrees, asked))
    who = f"{agree or 'None'} of {len(asked)} scorers {'is' if agree == 1 else 'are'}"
    if len(asked) == 1:
        who = f"{asked[0].scorer} is{'' if agree else ' not'}"
    return f"{who} shown to take the preferred reply more often than chance."


def _agrees(row: Preference) -> bool:
    """Whether it is shown to be right more often than chance."""
    return shown(row) and row.value > CHANCE


def _is_person(row: Preference) -> bool:
    """Whether a row is of people themselves."""
    return row.kind == "people"


# tables


def _tables(study: PairStudy, card: PairCard) -> list[Table]:
    """The tables of one data set."""
    return [_choices(study, card), _tests(study, card)]


def _named(study: PairStudy, card: PairCard, table: Table) -> Table:
    """A table that says which data set it is of, where there are several."""
    return table._replace(title=f"{card.title}: {table.title}") if len(study.cards) > 1 else table


def _data(cards: Iterable[PairCard]) -> Table:
    """What the pairs are, one row a data set."""
    rows = tuple(
        (
            Cell(card.title),
            *map(
                count,
                (card.pairs, card.ties, card.contexts, card.votes, card.longer, card.shorter, card.empty),
            ),
        )
        for card in cards
    )
    counts = ("pairs", "ties", "contexts", "single votes", "longer preferred", "shorter preferred", "empty reply")
    caption = "Longer and shorter in words; of the other pairs without a tie the replies are of one length."
    return Table("", caption, ("data set", *counts), rows)


def _choices(study: PairStudy, card: PairCard) -> Table:
    """Everyone who chooses, best first, with chance among them."""
    found = study.rows(card.dataset)
    rows = [_choice(study, row) for row in found]
    below = (place for place, row in enumerate(found) if not _is_person(row) and row.value < CHANCE)
    chance = (Cell("chance"), nothing(), plain(CHANCE), *[nothing()] * 3)
    rows.insert(next(below, len(rows)), chance)
    header = ("scorer", "n", "accuracy [low, high]", "longer preferred", "shorter preferred", "agreement")
    caption = (
        "How often each takes the reply that people prefer: on all pairs with a preferred reply, and on those where it "
        "is the longer one, in words, or the shorter one; by chance half of them. One person: a vote that is "
        "that of most of the others. Length: takes the longer reply."
    )
    return Table("Who takes the reply that people prefer", caption, header, tuple(rows), folded=_FOLDED)


def _choice(study: PairStudy, row: Preference) -> tuple[Cell, ...]:
    """One who chooses."""
    parts = [_other(study, row, statistic) for statistic in (OF_LONGER, OF_SHORTER)]
    return (
        Cell(row.scorer),
        count(row.n),
        _figure(row),
        *(nothing() if part is None else plain(part.value, note=_note(part)) for part in parts),
        _verdict(study, row),
    )


def _verdict(study: PairStudy, row: Preference) -> Cell:
    """Whether who chooses agrees with people; of baselines and people themselves, that they are such."""
    if _is_person(row):
        return Cell("(other measure)", "One vote against the others: not to be subtracted from the rows of scorers")
    if row.kind == "baseline":
        return Cell("baseline")
    return Cell(_AGREEMENT[row.verdict], study.out_of_domain[row.dataset].get(row.scorer, ""))


def _tests(study: PairStudy, card: PairCard) -> Table:
    """Tests against chance and against the longer reply."""
    rows = []
    for row in (one for one in study.rows(card.dataset) if one.verdict != "out of domain"):
        ahead = _other(study, row, LESS_LENGTH)
        less = (nothing(), nothing()) if ahead is None else (_figure(ahead), p(ahead.p))
        rows.append((Cell(row.scorer), Cell(row.kind), p(row.p), p(row.p_adjusted), *less))
    header = ("scorer", "kind", "p, chance", "p by Holm", "right less the longer reply [low, high]", "p, longer reply")
    caption = (
        "Whether each is right more or less often than chance, and than taking the longer reply; p: two-sided, by "
        "sign flips of whole contexts; by Holm: for the number of scorers asked for."
    )
    return Table("Against chance and against the longer reply", caption, header, tuple(rows), folded=_FOLDED)


def _other(study: PairStudy, row: Preference, statistic: Statistic) -> Preference | None:
    """Another figure of the same scorer and data set."""
    return next((one for one in study.rows(row.dataset, statistic) if one.scorer == row.scorer), None)


def _figure(row: Preference) -> Cell:
    """A figure and its interval."""
    return measured(row, note=_note(row), why=_note(row))


def _note(row: Preference) -> str:
    """How a figure came about."""
    return f"n = {row.n:,}, {row.contexts:,} contexts; {row.method}" + (f"; {row.reason}" if row.reason else "")
