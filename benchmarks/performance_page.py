"""The page of `performance.py`: how fast rejoinder is beside others, and what is asked of it."""

from __future__ import annotations

import io
import os
import platform
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from performance_systems import ALONE, RIVALS

from rejoinder.estimates import Estimate, estimate_of
from rejoinder.report import markdown
from rejoinder.report.layout import Prose, Section
from rejoinder.report.record import Made, today
from rejoinder.report.tables import Table, table
from rejoinder.report.written import interval, number
from rejoinder.version import __version__

if TYPE_CHECKING:
    from performance import Found

PLOT = "performance-rates.svg"
Tasks = Mapping[str, Mapping[str, "Found"]]


class Demand(NamedTuple):
    """What is asked of rejoinder, and what it does.

    Attributes:
        what: in words.
        figure: as it was measured.
        limit: what is asked for.
        most: whether that is the most there may be; else it is the least.
        digits: of the figure.
    """

    what: str
    figure: Estimate
    limit: float
    most: bool = False
    digits: int = 2

    @property
    def kept(self) -> bool:
        """Whether the figure does what is asked."""
        return self.figure.value <= self.limit if self.most else self.figure.value >= self.limit


def page(found: Tasks, measured: Mapping[str, Estimate], asked: Mapping[str, Any], command: str) -> str:
    """Return the page in Markdown; it shows the figure `PLOT` of `plot`."""
    demands = demands_of(found, measured)
    short = [one.what for one in demands if not one.kept]
    fastest = min(
        (one.times.value, name) for task in RIVALS for name, one in found[task].items() if name != "rejoinder"
    )
    answer = (
        f"Of {len(demands)} speeds that are asked of it, rejoinder reaches {len(demands) - len(short)}"
        f"{'; short of it: ' + '; '.join(short) if short else ''}. The program that comes nearest to it, or goes "
        f"ahead, is {fastest[1]}: rejoinder does {fastest[0]:.2f} times what it does."
    )
    made = (
        f"Made on {today()} with rejoinder {__version__}, Python {platform.python_version()}, {os.cpu_count()} cores, "
        f"{platform.machine()}."
    )
    figure = f"![{_SEEN}]({PLOT})"
    sections = [
        Section("Beside other programs", [Prose([_HOW.format(**asked)]), _rivals(found), Prose([figure], marked=True)]),
        Section("What is asked of it", [_demands(demands)]),
    ]
    return markdown.page("How fast rejoinder is", sections, Made([made], command), [answer])


_SEEN = "How many times as fast rejoinder is, with the lowest and the highest round; right of the line it is faster."
_HOW = (
    "Every system has a process of its own and gets the same texts, new ones in every round, one system after the "
    "other: {pairs:,} pairs of a response and a reference of 20 words at most, or {replies:,} replies with up to three "
    "turns before them. Median of {rounds} rounds, in brackets the lowest and the highest; above 1 rejoinder is "
    "faster. Scores of rejoinder come with checks, reasons and a signature through the one way to run a scorer; the "
    "others are called in a loop, or with all at once where they take that. Start-up is from the start of the process "
    "to the first score, memory the most that the process took. minilm and bert-score use all cores, all else one."
)


def demands_of(found: Tasks, measured: Mapping[str, Estimate]) -> list[Demand]:
    """What is asked, line by line."""
    shared, (classic,) = found["shared counts"], found["all together"].values()
    together = shared["BLEU-1 to -4 together"].times
    return [
        Demand("BLEU-1 to -4 asked together: times the time of BLEU-4 alone", together, 2.0, most=True),
        Demand("the classic metrics but METEOR, all together: pairs a second", classic.rate, 10_000, digits=0),
        Demand("retrieval of one context at a time: times as fast as brute force", measured["retrieval"], 1.0),
        Demand("top-p of 20,000 words: times as fast as by sorting them", measured["sampling"], 1.0),
        Demand("the judge in the box, one example by itself: ms, p50", measured["single"], 3.0, most=True),
        Demand("import rejoinder, neither torch nor scipy loaded: s", measured["import"], 0.15, most=True),
        Demand("rejoinder --help, neither torch nor scipy loaded: s", measured["help"], 0.3, most=True),
    ]


def _demands(demands: list[Demand]) -> Table:
    """What is asked, and what it comes to."""
    rows = [
        [
            one.what,
            interval(estimate_of(one.figure), one.digits),
            f"{'at most' if one.most else 'at least'} {one.limit:,g}",
            "yes" if one.kept else "no",
        ]
        for one in demands
    ]
    return table(("what", "measured", "asked for", "reached"), rows)


def _rivals(found: Tasks) -> Table:
    """All systems by what they do."""
    rows = [
        [
            task,
            name,
            interval(estimate_of(one.rate), 0),
            interval(estimate_of(one.times)) if name != "rejoinder" else "1",
            number(one.memory, 0),
            interval(estimate_of(one.start)),
        ]
        for task in (*RIVALS, *ALONE)
        for name, one in found[task].items()
    ]
    return table(("what", "system", "examples a second", "the first is faster by", "memory, MiB", "start-up, s"), rows)


def plot(found: Tasks) -> str:
    """Return as SVG how much faster rejoinder is than each other system: a point and its spread."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure as Drawing

    rows = [
        (f"{name}: {task}", one.times) for task in RIVALS for name, one in found[task].items() if name != "rejoinder"
    ]
    drawing, out = Drawing(figsize=(7, 0.4 * len(rows) + 0.8), layout="constrained"), io.StringIO()
    axes = drawing.subplots()
    for place, (_, times) in enumerate(reversed(rows)):
        axes.plot([times.low, times.high], [place, place], color="C0", linewidth=2)
        axes.plot(times.value, place, marker="o", color="C0")
    axes.axvline(1, color="gray", linewidth=1)
    axes.set_xscale("log")
    axes.set_yticks(range(len(rows)), [name for name, _ in reversed(rows)])
    axes.set_xlabel("rejoinder is faster by")
    # Salted, because matplotlib would name the parts of the picture at random.
    with rc_context({"svg.hashsalt": "rejoinder", "svg.fonttype": "none"}):
        drawing.savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    return text[text.index("<svg") :]
