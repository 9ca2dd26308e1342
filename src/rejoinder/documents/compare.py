"""Two systems compared, as a document: the answer, the tables, how often B wins, and what got worse."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rejoinder.meta.compare_answer import units, verdict
from rejoinder.meta.compared import Case
from rejoinder.meta.comparison import Comparison, Contrast, Gate
from rejoinder.meta.gap import Gap
from rejoinder.documents.cells import count, measured, nothing, p, plain, share
from rejoinder.documents.chart import Point, chart
from rejoinder.documents.document import Cell, Document, KeyFigure, Picture, Prose, Section, Table
from rejoinder.stats.figure import interval, number, p_value, rounded

_TITLE = "Is B better than A?"
_MORE = "more to tell"
_SPARE = (_MORE, "mean A", "mean B")
_SHOWN = 3  # cases on a terminal
CASES = 20  # in a report
_SAID = 70  # characters of a text in a line
_ROWS = 40  # of the picture
_NO_VERDICT = "The scorer cannot judge these replies"
# The looks of the picture's points, and what they mean here.
_KINDS = {"metric": "B is shown to be better", "judge": "A is shown to be better", "baseline": "no difference is shown"}
_LOOKS = {"B is better": "metric", "A is better": "judge"}
# What a result says of all its lines alone, and nothing of those under one value of a field.
_WHOLE = (
    "scorer",
    "name",
    "weight",
    "unscored",
    "higher_is_better",
    "worst",
    "spared",
    "strata",
    "left_out",
    "level",
    "more",
)


def comparison(found: Comparison, files: tuple[str, str], command: str = "") -> Document:
    """The document.

    Args:
        found: the comparison.
        files: what A and B are called.
        command: the call that made it.
    """
    names, record, how_made = f"A is {files[0]}, B is {files[1]}.", found.to_dict(), _how(found)
    by_scorer, strata = _by_scorer(found), _by_stratum(found)
    sections = [
        Section("By scorer", [by_scorer]),
        Section(f"By {found.by}", strata),
        Section("What got worse", _worse_tables(found)),
    ]
    signatures = Prose([str(signature) for signature in found.signatures.values()])
    return Document(
        title=f"{_TITLE} {names}",
        question=_TITLE,
        answer=found.answer,
        about=names,
        keys=_key_figures(found),
        picture=_win_rates(found),
        sections=[section for section in sections if section.blocks],
        made=how_made,
        command=command,
        signatures=found.signatures,
        brief=[by_scorer._replace(title=""), *strata, *_worse_lines(found), Prose([*how_made, *signatures.said])],
        results=list(_results(record)),
        record=record,
        lines=found.compared.rows(),
    )


def gate_text(gate: Gate) -> str:
    """Whether a gate was passed, and why not."""
    said = f"gate {gate.threshold:+g}: {'passed' if gate.passed else 'not passed, exit code 6'}"
    return f"{said} ({'; '.join(gate.reasons)})" if gate.reasons else said


def _how(found: Comparison) -> list[str]:
    """How the figures came about, in sentences."""
    several = len(found.contrasts) > 1
    holm = f", by Holm for {len(found.contrasts)} scorers" if several else ""
    unit, dealt = ("contexts", "A and B exchanged in random contexts")
    if found.design == "unpaired":
        unit, dealt = ("conversations", "conversations dealt anew to A and B")
    return [
        "Better is what a scorer says; how far it agrees with people on such replies: rejoinder study.",
        *_columns(found),
        f"[low, high]: 95 % expanded percentile interval over {found.resamples:,} resamples of {unit}, seed "
        f"{found.seed}; for how often B wins, Wilson's, with {unit} as trials; p: two-sided, {dealt}{holm}.",
    ]


def _columns(found: Comparison) -> list[str]:
    """Which way numbers of the user's own are taken, and what turns them round: they may be costs or seconds."""
    names = [one.scorer for one in found.contrasts if one.scorer.startswith("column:")]
    names = [name for name in names if not name.startswith("column:-")]
    turn = "where the lower is, put a minus before the key (column:-KEY)"
    return [f"Of {', '.join(names)} the higher counts as better; {turn}."] if names else []


def _results(record: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """One result a scorer, and one for each value of the field under it."""
    for one in record["results"]:
        for part in ({**one, "name": "", "weight": 1.0}, *one["strata"]):
            figures = {key: value for key, value in part.items() if key not in _WHOLE}
            about = {"scorer": one["scorer"], "stratum": part["name"], "weight": part["weight"]}
            yield {**about, **figures, "method": one["method"], "seed": one["seed"]}


# the first screen


def _key_figures(found: Comparison) -> list[KeyFigure]:
    """How often B wins, how far apart the means are, and what that rests on, by the first scorer with a verdict."""
    if not found.judged:
        return []
    one = found.judged[0]
    figures = [KeyFigure.of(one.win, "B wins", f"by {one.scorer}", share=True)] if one.win.known else []
    if one.known:
        figures.append(KeyFigure.of(one, "B less A", f"mean score by {one.scorer}", signed=True))
    clusters = "contexts" if found.design == "paired" else "conversations"
    return [*figures, KeyFigure(f"{one.n:,}", "", units(found), f"of {one.contexts:,} {clusters}")]


def _win_rates(found: Comparison) -> Picture | None:
    """How often B wins: of many rows the first 40; None where no scorer has a win rate."""
    rows = _wins(found)
    points = [
        Point(
            name,
            gap.win,
            _LOOKS.get(gap.verdict, "baseline"),
            f"{interval(gap.win, share=True)}, {gap.n:,} compared",
        )
        for name, gap in rows[:_ROWS]
    ]
    if not points:
        return None
    drawn = chart("How often B wins", points, axis="How often a reply of B beats one of A", percent=True)
    return Picture(drawn, _seen([gap for _, gap in rows]), _KINDS)


def _seen(wins: Sequence[Gap]) -> str:
    """What to see in the picture."""
    right, left = (sum(gap.verdict == verdict for gap in wins) for verdict in _LOOKS)
    if not right and not left:
        return "No row is shown to lie on either side of the middle, where a reply of B is as likely to win as to lose."
    return f"B is shown to be better in {right} of {len(wins)} rows, A in {left}; in the middle neither wins."


def _wins(found: Comparison) -> list[tuple[str, Gap]]:
    """Scorers, and the values of the field under each, with their win rates."""
    several = len(found.contrasts) > 1
    return [
        (name, gap)
        for one in found.judged
        for name, gap in [
            (one.scorer, one),
            *((f"{kind.name} ({one.scorer})" if several else kind.name, kind) for kind in one.strata),
        ]
        if gap.win.known and gap.verdict != "out of domain"
    ]


# tables


def _by_scorer(found: Comparison) -> Table:
    """One row a scorer."""
    rows = tuple((Cell(one.scorer), *_cells(one, found, one.method)) for one in found.contrasts)
    return Table("A and B", _how(found)[1], ("scorer", *_header(found)), rows, _SPARE)


def _by_stratum(found: Comparison) -> list[Table]:
    """One table a scorer, one row a value of the field, the largest loss first."""
    caption = "Weight: share of the pairs. p is by Holm for the number of rows of all such tables."
    if found.design == "unpaired":
        caption = (
            "Weight: share of all replies, with which the rows make up the difference over all. p is by Holm for the "
            "number of rows of all such tables."
        )
    return [
        Table(
            f"By {found.by}, {one.scorer}",
            caption,
            (found.by, "weight", *_header(found)),
            tuple(
                (Cell(kind.name), share(kind.weight), *_cells(kind, found, one.method))
                for kind in sorted(
                    one.strata, key=lambda kind: kind.value * (-1 if one.higher_is_better is False else 1)
                )
            ),
            _SPARE,
        )
        for one in found.judged
        if found.by is not None and one.strata
    ]


def _header(found: Comparison) -> tuple[str, ...]:
    """The columns of figures."""
    counted = ("pairs",) if found.design == "paired" else ("n A", "n B")
    return (*counted, "mean A", "mean B", "B less A [low, high]", "p", "B wins", "verdict", _MORE)


def _cells(one: Gap, found: Comparison, method: str) -> tuple[Cell, ...]:
    """The figures of one row."""
    counts = (one.n,) if found.design == "paired" else (one.n_a, one.n_b)
    if one.verdict == "out of domain":
        return (*map(count, counts), *[nothing(_NO_VERDICT)] * 5, Cell(one.verdict, _NO_VERDICT), nothing(_NO_VERDICT))
    told = one.verdict != "not separable"
    return (
        *map(count, counts),
        plain(one.mean_a),
        plain(one.mean_b),
        measured(one, note=method, why=one.reason, ends=3),
        p(one.p_adjusted, f"not adjusted {p_value(one.p)}"),
        measured(one.win, share=True),
        Cell(one.verdict if told else "inconclusive", verdict(one, units(found)), strong=told),
        nothing() if one.more is None else Cell(f"{rounded(one.more):,}", "", one.more),
    )


# what got worse


def _worse_title(found: Comparison) -> str:
    """What the list of cases holds."""
    return "The pairs that B lost by most" if found.design == "paired" else "The lowest replies of B"


def _worse(found: Comparison, one: Contrast, most: int) -> list[Case]:
    """The cases of one scorer; none where it claims no direction or cannot judge the replies."""
    if one.higher_is_better is None or one.verdict == "out of domain":
        return []
    return found.compared.worse(one.scorer, 1 if one.higher_is_better else -1, most)


def _worse_tables(found: Comparison) -> list[Table]:
    """What got worse, one table a scorer with a direction."""
    columns = _case_columns(found)
    return [
        Table(
            f"{_worse_title(found)}, {one.scorer}",
            "What B says several times stands here once, with how often.",
            ("line", *(name for name, _ in columns)),
            tuple((Cell(case.id or "–"), *(cell(case) for _, cell in columns)) for case in cases),
        )
        for one in found.contrasts
        if (cases := _worse(found, one, CASES))
    ]


def _case_columns(found: Comparison) -> list[tuple[str, Callable[[Case], Cell]]]:
    """The columns of a table of cases, each with what makes its cell."""
    paired = found.design == "paired"
    columns: list[tuple[str, Callable[[Case], Cell]]] = []
    if paired:
        columns.append(("score of A", lambda one: plain(one.score_a)))
    columns.append(("score of B", lambda one: plain(one.score_b)))
    if paired:
        columns.append(("B less A", lambda one: plain(one.score_b - one.score_a)))
    columns.append(("times", lambda one: count(one.times)))
    if paired:
        columns.append(("reply of A", lambda one: Cell(one.a.strip() or "(empty)")))
    columns.append(("reply of B", lambda one: Cell(one.b.strip() or "(empty)")))
    columns.append(("replied to", lambda one: Cell(one.last_turn or "–")))
    if found.by:
        columns.append((found.by, lambda one: Cell(one.stratum)))
    return columns


def _worse_lines(found: Comparison) -> list[Prose]:
    """The first cases of the first scorer that has some, for a terminal."""
    for one in found.contrasts:
        if cases := _worse(found, one, _SHOWN):
            return [Prose([f"{_worse_title(found)}, by {one.scorer}:", *map(_line, cases)])]
    return []


def _line(one: Case) -> str:
    """A case in a line or two."""
    score = f"{number(one.score_b)}"
    if not math.isnan(one.score_a):
        score = f"{number(one.score_a)} → {score}"
    times = f" ({one.times:,} times)" if one.times > 1 else ""
    told = "" if math.isnan(one.score_a) else f"; A: {_short(one.a)}"
    to = f" to {_short(one.last_turn)}" if one.last_turn else ""
    return f"  {score}  {one.id}{to}{told}; B: {_short(one.b)}{times}"


def _short(text: str) -> str:
    """A text in quotes, cut for a line of a terminal."""
    said = textwrap.shorten(text, _SAID, placeholder=" ...") if text.strip() else ""
    return f'"{said}"' if said else "(empty)"
