"""Two systems compared: the answer in words, the tables, and what got worse, for a terminal."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable

from rejoinder.meta.compare_answer import percent, rounded, units, verdict
from rejoinder.meta.compared import Case
from rejoinder.meta.comparison import Comparison, Contrast, Gate
from rejoinder.meta.gap import Gap
from rejoinder.report.sections import Cell, Table
from rejoinder.report.tables import narrowed, text_table
from rejoinder.stats.written import number, p_value

_MORE = "more to tell"
_SHOWN = 3  # cases on a terminal
CASES = 20  # in a report
_SAID = 70  # characters of a text in a line


def compare_text(found: Comparison, files: tuple[str, str], width: int) -> str:
    """The comparison for a terminal: the answer in words, a row a scorer, strata, what got worse, how it was made."""
    tables = (contrast_table(found), *strata_tables(found))
    parts = [
        "\n".join([*found.answer, f"A: {files[0]}; B: {files[1]}."]),
        *(_fitted(table, width) for table in tables),
        *_worse_lines(found),
        "\n".join(how(found)),
    ]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def _fitted(table: Table, width: int) -> str:
    """A table for a terminal, without what can be spared where it is wider than that."""
    cells = [[cell.text for cell in row] for row in table.rows]
    header, rows = narrowed(table.header, cells, width, (_MORE, "mean A", "mean B"))
    return text_table(header, rows, width, title=table.title if table.key.startswith("strata") else "")


def gate_text(gate: Gate) -> str:
    """Whether a gate was passed, and why not."""
    said = f"gate {gate.threshold:+g}: {'passed' if gate.passed else 'not passed, exit code 6'}"
    return f"{said} ({'; '.join(gate.reasons)})" if gate.reasons else said


def contrast_table(found: Comparison) -> Table:
    """One row a scorer."""
    rows = tuple((Cell(one.scorer), *_cells(one, found, one.method)) for one in found.contrasts)
    return Table("scorers", "A and B", _caption(found), ("scorer", *_header(found)), rows)


def strata_tables(found: Comparison) -> list[Table]:
    """One table a scorer, one row a value of the field, the largest loss first."""
    if found.by is None:
        return []
    return [
        Table(
            f"strata-{place}",
            f"By {found.by}, {one.scorer}",
            _strata_caption(found),
            (found.by, "weight", *_header(found)),
            tuple(
                (Cell(kind.name), Cell(f"{100 * kind.weight:.0f} %", "", kind.weight), *_cells(kind, found, one.method))
                for kind in sorted(
                    one.strata, key=lambda kind: kind.value * (-1 if one.higher_is_better is False else 1)
                )
            ),
        )
        for place, one in enumerate(found.contrasts)
        if one.strata
    ]


def worse_tables(found: Comparison) -> list[Table]:
    """What got worse, one table a scorer with a direction."""
    return [
        Table(
            f"worse-{place}",
            f"{worse_title(found)}, {one.scorer}",
            "What B says several times stands here once, with how often.",
            ("line", *(name for name, _ in _case_columns(found))),
            tuple((Cell(case.id or "–"), *(cell(case) for _, cell in _case_columns(found))) for case in cases),
        )
        for place, one in enumerate(found.contrasts)
        if (cases := worse(found, one, CASES))
    ]


def worse_title(found: Comparison) -> str:
    """What the list of cases holds."""
    return "The pairs that B lost by most" if found.design == "paired" else "The lowest replies of B"


def worse(found: Comparison, one: Contrast, most: int) -> list[Case]:
    """The cases of one scorer; none where it claims no direction."""
    if one.higher_is_better is None:
        return []
    return found.compared.worse(one.scorer, 1 if one.higher_is_better else -1, most)


def how(found: Comparison) -> list[str]:
    """How the figures came about, in sentences."""
    several = len(found.contrasts) > 1
    holm = f", by Holm for {len(found.contrasts)} scorers" if several else ""
    unit, dealt = ("contexts", "A and B exchanged in random contexts")
    if found.design == "unpaired":
        unit, dealt = ("conversations", "conversations dealt anew to A and B")
    return [
        "Better is what a scorer says; how far it agrees with people on such replies: rejoinder study.",
        f"[low, high]: 95 % expanded percentile interval over {found.resamples:,} resamples of {unit}, seed "
        f"{found.seed}; for how often B wins, Wilson's, with {unit} as trials; p: two-sided, {dealt}{holm}.",
        *(str(signature) for signature in found.signatures.values()),
    ]


def _header(found: Comparison) -> tuple[str, ...]:
    """The columns of figures."""
    count = ("pairs",) if found.design == "paired" else ("n A", "n B")
    return (*count, "mean A", "mean B", "B less A [low, high]", "p", "B wins", "verdict", _MORE)


def _cells(one: Gap, found: Comparison, method: str) -> tuple[Cell, ...]:
    """The figures of one row."""
    counts = (one.n,) if found.design == "paired" else (one.n_a, one.n_b)
    return (
        *(Cell(f"{count:,}", "", count) for count in counts),
        _figure(one.mean_a),
        _figure(one.mean_b),
        Cell(_difference(one), method, _sortable(one.value)),
        Cell(p_value(one.p_adjusted), f"not adjusted {p_value(one.p)}", _sortable(one.p_adjusted)),
        Cell(percent(one), "", _sortable(one.win)),
        Cell("not shown" if one.verdict == "not separable" else one.verdict, verdict(one, units(found))),
        Cell("–" if one.more is None else f"{rounded(one.more):,}", "", one.more),
    )


def _case_columns(found: Comparison) -> list[tuple[str, Callable[[Case], Cell]]]:
    """The columns of a table of cases, each with what makes its cell."""
    paired = found.design == "paired"
    columns: list[tuple[str, Callable[[Case], Cell]]] = []
    if paired:
        columns.append(("score of A", lambda one: _figure(one.score_a)))
    columns.append(("score of B", lambda one: _figure(one.score_b)))
    if paired:
        columns.append(("B less A", lambda one: _figure(one.score_b - one.score_a)))
    columns.append(("times", lambda one: Cell(f"{one.times:,}", "", one.times)))
    if paired:
        columns.append(("reply of A", lambda one: Cell(one.a.strip() or "(empty)")))
    columns.append(("reply of B", lambda one: Cell(one.b.strip() or "(empty)")))
    columns.append(("replied to", lambda one: Cell(one.last_turn or "–")))
    if found.by:
        columns.append((found.by, lambda one: Cell(one.stratum)))
    return columns


def _figure(value: float) -> Cell:
    """A number."""
    return Cell(number(value), "", _sortable(value))


def _worse_lines(found: Comparison) -> list[str]:
    """The first cases of the first scorer that has some."""
    for one in found.contrasts:
        if cases := worse(found, one, _SHOWN):
            return ["".join([f"{worse_title(found)}, by {one.scorer}:\n", *map(_line, cases)])]
    return []


def _line(one: Case) -> str:
    """A case in a line or two."""
    score = f"{number(one.score_b)}"
    if not math.isnan(one.score_a):
        score = f"{number(one.score_a)} → {score}"
    times = f" ({one.times:,} times)" if one.times > 1 else ""
    told = "" if math.isnan(one.score_a) else f"; A: {_short(one.a)}"
    to = f" to {_short(one.last_turn)}" if one.last_turn else ""
    return f"  {score}  {one.id}{to}{told}; B: {_short(one.b)}{times}\n"


def _short(text: str) -> str:
    """A text in quotes, cut for a line of a terminal."""
    said = textwrap.shorten(text, _SAID, placeholder=" ...") if text.strip() else ""
    return f'"{said}"' if said else "(empty)"


def _caption(found: Comparison) -> str:
    """What the table of scorers shows."""
    return " ".join(how(found)[1:2])


def _strata_caption(found: Comparison) -> str:
    """What a table of strata shows."""
    if found.design == "paired":
        return "Weight: share of the pairs. p is by Holm for the number of rows of all such tables."
    return (
        "Weight: share of all replies, with which the rows make up the difference over all. p is by Holm for the "
        "number of rows of all such tables."
    )


def _difference(one: Gap) -> str:
    """The difference and its interval."""
    return number(one.value) if math.isnan(one.low) else f"{number(one.value)} [{number(one.low)}, {number(one.high)}]"


def _sortable(value: float) -> float | None:
    """What a column is sorted by; None where there is no number."""
    return None if math.isnan(value) else value
