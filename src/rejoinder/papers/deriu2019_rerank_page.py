"""The page of five systems that talk to themselves, and of judges that choose among them."""

from __future__ import annotations

from collections.abc import Sequence

from rejoinder.papers.deriu2019_rerank import AUTOJUDGE, CHANCE, OTHER, VIEWS, Judged, Measured, Reranked
from rejoinder.papers.page import About, paper, table
from rejoinder.papers.published import DERIU_RERANKED, DERIU_SYSTEMS
from rejoinder.records import Example
from rejoinder.report.cells import count, measured, nothing, plain
from rejoinder.report.document import Cell, Document, Prose, Table
from rejoinder.stats.written import interval

_SHOWN = 10  # turns of a dialogue
_MEASURED = ("mean", "over the best single", "over chance")


def page(found: Reranked, about: About) -> Document:
    """The page."""
    main = _measured(found)
    return paper(
        "deriu2019-rerank",
        about,
        {
            "judges": _judges(found.judges),
            "table": main,
            "looks": _looks(found),
            "won": _won(found),
            "shown": [_dialogue(name, said) for name, said in found.turns.items() if name in found.won],
        },
        [main],
        contexts=found.contexts,
        turns=max(len(said) for said in found.turns.values()) // found.contexts,
        verdict=_verdict(found),
    )


def _verdict(found: Reranked) -> str:
    """Whether AutoJudge's choice is better than the best single system by the judge that agrees more with people."""
    chosen = next(row for row in found.rows if row.name == f"chosen by {AUTOJUDGE}")
    gain = chosen.measured[VIEWS].gain
    assert gain is not None  # noqa: S101 - of a choice it is there
    figure = f"{interval(gain, 2, signed=True)} over {found.best[VIEWS]}"
    if not gain.excludes(0):
        return f"AutoJudge's choice is not shown to be better than the best single system: {figure}."
    return f"AutoJudge's choice is {'better' if gain.value > 0 else 'worse'} than the best single system: {figure}."


def _measured(found: Reranked) -> Table:
    """A row a system or choice, three columns a judge that measures, and what people gave in the paper."""
    header = ["system", *(f"{what} ({_short(by)})" for by in (VIEWS, OTHER) for what in _MEASURED), "people, published"]
    rows = [
        [
            row.name,
            *(cell for by in (VIEWS, OTHER) for cell in _cells(row.measured[by])),
            plain(_published(row.name), 2),
        ]
        for row in found.rows
    ]
    best = ", ".join(f"by {_short(by)} {found.best[by]}" for by in (VIEWS, OTHER))
    return table(header, rows)._replace(notes=[f"The best single system is {best}."])


def _cells(one: Measured) -> list[Cell]:
    """Mean and gains by one judge."""
    gains = (nothing() if gain is None else measured(gain, 2, signed=True) for gain in (one.gain, one.over_chance))
    return [measured(one.mean, 2), *gains]


def _looks(found: Reranked) -> Table:
    """What needs no judge to be seen."""
    rows = [[row.name, f"{row.again:.0%}", plain(row.distinct), plain(row.length, 1)] for row in found.rows]
    return table(["system", "said before", "distinct-2", "length"], rows)


def _won(found: Reranked) -> Table:
    """How often each choice took each system."""
    systems = [row.name for row in found.rows if row.name not in found.won]
    rows = []
    for name, won in found.won.items():
        turns = sum(won.values())
        shares = [Cell(f"{won.get(system, 0) / turns:.0%}") if turns else nothing() for system in systems]
        rows.append([name, count(turns), *shares])
    return table(["", "turns", *systems], rows)


def _judges(judges: Sequence[Judged]) -> Table:
    """The judges."""
    rows = [
        [one.name, one.does, one.reads, f"{len(one.sets)}: {', '.join(one.sets)}", plain(one.unseen, 2)]
        for one in judges
    ]
    return table(["judge", "does", "stands on", "fitted on data sets", "Spearman on the other side's"], rows)


def _published(name: str) -> float:
    """What people gave dialogues of a system, or of AutoJudge's choice, in the paper."""
    return DERIU_RERANKED if name == f"chosen by {AUTOJUDGE}" else DERIU_SYSTEMS.get(name, float("nan"))


def _short(by: str) -> str:
    """A judge that measures, in a column's head."""
    return by.partition(",")[0]


def _dialogue(name: str, turns: Sequence[Example]) -> Prose:
    """The first dialogue as a list, the last turn of what it began with first."""
    own = [turn for turn in turns if turn.extra["start_id"] == turns[0].extra["start_id"]]
    title = f"{name} at random" if name.endswith(CHANCE) else name
    return Prose([own[0].context[-1], *(turn.response for turn in own[:_SHOWN])], title, listed=True)
