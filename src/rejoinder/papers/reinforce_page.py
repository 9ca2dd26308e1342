"""The page of the experiment on rewards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan, sqrt
from typing import Any, NamedTuple

import numpy as np

from rejoinder.catalogue import DEFAULT
from rejoinder.papers.page import About, paper, table
from rejoinder.papers.plots import Trace, divergence_figure
from rejoinder.papers.reinforce import DEFENDED, ENDLESS, FLOOR, NONE, POOL, POOLED, PUBLISHED, SECOND, Found
from rejoinder.papers.reinforce_judges import ADEM, AUTOJUDGE, GOLD, OTHER, VIEWS
from rejoinder.papers.reinforce_pool import best_of, divergence
from rejoinder.report.cells import count, nothing, plain, share
from rejoinder.report.document import Cell, Document, Prose, Table

OF_PEAK, FEW = 0.95, 0.01
"""What was asked for: this share of the peak at the end, and so few degenerate replies."""
_OWN = {PUBLISHED: AUTOJUDGE, ENDLESS: AUTOJUDGE, AUTOJUDGE: AUTOJUDGE, ADEM: ADEM, VIEWS: VIEWS, DEFAULT: DEFAULT}
_OWN |= {DEFENDED: DEFENDED}
_KINDS = ("empty", "short", "parrot", "repeated", "favourite")
_FIGURES = ("start", "peak", "end", "kept")
_DRAWN = (AUTOJUDGE, ADEM, VIEWS, DEFAULT)
_SIZES = (1, 4, 16, 64, 256, POOL)
_LEFT_OUT = (
    "without the members",
    "without the lower end",
    "without attacked rows",
    "without the price of distance",
    "without any",
)
_SAID = (*_LEFT_OUT, NONE, SECOND, FLOOR, DEFENDED, VIEWS)
_EVERY = 10  # updates between two rows of the collapse
_QUOTED = 5
Run = Sequence[Mapping[str, float]]


class Outcome(NamedTuple):
    """What a policy came to, by the judge that measures.

    Attributes:
        start: before the first update.
        peak: the highest of all times that it was measured.
        end: at the last of them.
        degenerate: share of replies at the end.
    """

    start: float
    peak: float
    end: float
    degenerate: float

    @property
    def kept(self) -> float:
        """The share of its peak."""
        return self.end / self.peak

    @property
    def keeps(self) -> bool:
        """Whether it is above its start at the end, and near its peak."""
        return self.kept >= OF_PEAK and self.end > self.start

    @property
    def holds(self) -> bool:
        """Whether it is all that was asked for."""
        return self.keeps and self.degenerate <= FEW


def outcome(run: Run) -> Outcome:
    """What a policy came to."""
    gold = [row[GOLD] for row in run]
    return Outcome(gold[0], max(gold), gold[-1], run[-1]["degenerate"])


def page(found: Found, about: About) -> Document:
    """The page."""
    main = _ways(found)
    training, measured = found.contexts
    return paper(
        "reinforce",
        about,
        {
            "judges": _judges(found),
            "table": main,
            "seeds": _seeds(found),
            "collapse": _collapse(found),
            "endless": _endless(found.runs[ENDLESS][0]),
            "pool": _pool(found),
            "shown": [one for name, rows in found.shown.items() for one in _quoted(name, rows)],
        },
        [main],
        pictures={"divergence": divergence_figure({name: _traces(found, name) for name in _DRAWN})},
        held=_held(found.runs[FLOOR]),
        held_second=_held(found.runs[SECOND]),
        kept=_held([run for name in (SECOND, FLOOR) for run in found.runs[name]], "keeps"),
        silence=f"{found.silence[0]:.2f}",
        said=f"{found.silence[1]:.2f}",
        training=training,
        measured=measured,
        pooled=POOLED,
        size=f"{POOL:,}",
        first=f"{found.returns[0]['return']:.1f}",
        **{
            name.replace(" ", "_"): _degenerate(found, name)
            for name in (*_LEFT_OUT, NONE, SECOND, FLOOR, DEFENDED, VIEWS)
        },
        best=f"{max(row['return'] for row in found.returns):.1f}",
    )


def _held(runs: Sequence[Run], what: str = "holds") -> str:
    """In how many runs that is so which was asked for."""
    return f"{sum(getattr(outcome(run), what) for run in runs)} of {len(runs)}"


def _degenerate(found: Found, name: str) -> str:
    """The share of degenerate replies at the end, mean over seeds."""
    return _percent(float(np.mean([run[-1]["degenerate"] for run in found.runs[name]])))


def _percent(one: float) -> str:
    """A share with one decimal: differences of less than a percent count here."""
    return f"{100 * one:.1f} %"


def _judges(found: Found) -> Table:
    """The judges; the members stand together."""
    rows = [
        [one.name, "measures" if one.measures else "rewards", count(one.lines), len(one.sets), plain(one.unseen, 2)]
        for one in found.judges
    ]
    return table(["judge", "does", "fitted on lines", "of data sets", "Spearman on the other side's"], rows)


def _ways(found: Found) -> Table:
    """A row a way: means over its seeds."""
    header = ["reward", "seeds", "updates", "KL", "own rating", "gold at start", "peak", "end", "end / peak"]
    header += ["views, other sets", "degenerate", "which form"]
    return table(header, [_way(name, runs) for name, runs in found.runs.items()])


def _way(name: str, runs: Sequence[Run]) -> list[Cell | str]:
    """The row of one way."""
    ends = [run[-1] for run in runs]
    outcomes = [outcome(run) for run in runs]
    own = _OWN.get(name)
    start, end = (nan, nan) if own is None else (runs[0][0][own], float(np.mean([row[own] for row in ends])))
    more, form = max((float(np.mean([row[kind] for row in ends])) - runs[0][0][kind], kind) for kind in _KINDS)
    shown = Cell(f"{form} ({_percent(float(np.mean([row[form] for row in ends])))})")
    return [
        name,
        count(len(runs)),
        plain(float(np.mean([row["updates"] for row in ends])), 0),
        plain(float(np.mean([row["kl"] for row in ends])), 1),
        nothing() if own is None else Cell(f"{start:.2f} to {end:.2f}"),
        *(
            plain(float(np.mean([getattr(one, key) for one in outcomes])), 2)
            for key in ("start", "peak", "end", "kept")
        ),
        plain(float(np.mean([row[OTHER] for row in ends])), 2),
        _percent(float(np.mean([one.degenerate for one in outcomes]))),
        shown if more > 0 else nothing("none more than at the start"),
    ]


def _seeds(found: Found) -> Table:
    """A row a seed of the defended ways."""
    rows = [
        [
            name,
            count(seed),
            plain(run[-1]["kl"], 1),
            *(plain(getattr(one, key), 2) for key in _FIGURES),
            _percent(one.degenerate),
            "yes" if one.holds else "no",
        ]
        for name in (DEFENDED, SECOND, FLOOR)
        for seed, run in enumerate(found.runs[name])
        for one in (outcome(run),)
    ]
    return table(["reward", "seed", "KL", "gold at start", "peak", "end", "end / peak", "degenerate", "holds"], rows)


def _collapse(found: Found) -> Table:
    """AutoJudge as published, update by update."""
    rows = [row for row in found.returns if row["updates"] % _EVERY == 0 or row["updates"] == 1]
    cells = [
        [count(int(row["updates"])), plain(row["return"], 2), plain(row["length"], 1), plain(row["distinct_2"], 2)]
        + [share(row[kind]) for kind in _KINDS]
        + [share(row["degenerate"])]
        for row in rows
    ]
    return table(["update", "return", "pieces", "distinct-2", *_KINDS, "degenerate"], cells)


def _endless(run: Run) -> Table:
    """AutoJudge's policy, by the reward and by judges that measure, as far as it went."""
    rows = [
        [
            count(int(row["updates"])),
            plain(row["kl"], 1),
            *(plain(row[name], 2) for name in (AUTOJUDGE, GOLD, OTHER, "distinct_2")),
            *(share(row[name]) for name in ("repeated", "degenerate")),
        ]
        for row in run
    ]
    return table(["update", "KL", "autojudge", "gold", OTHER, "distinct-2", "repeated", "degenerate"], rows)


def _pool(found: Found) -> Table:
    """The best of n: the reward's own rating and that of those that measure, above one reply."""
    rows = []
    for name in (AUTOJUDGE, ADEM, VIEWS, DEFAULT, DEFENDED):
        for by in (name, GOLD, OTHER):
            gains = [_gain(found, name, by, n) for n in _SIZES]
            label = {name: "itself", GOLD: GOLD}.get(by, "views, other sets")
            rows.append([name, label, *(Cell(f"{gain:+.2f}") for gain in gains)])
    return table(["chooses", "rates", *(f"n = {n:,}" for n in _SIZES)], rows)


def _gain(found: Found, name: str, by: str, n: int) -> float:
    """How much higher the best of n by one judge is rated by another than one reply."""
    pooled = found.pooled
    return float((best_of(pooled[name], pooled[by], n) - pooled[by].mean(axis=1)).mean())


def _traces(found: Found, name: str) -> list[Trace]:
    """Of one reward: policy gradient and best of n, by itself, by gold and by the other judge that measures."""
    traces = []
    sizes = [2**power for power in range(11)]
    for colour, (by, label) in enumerate(((name, "itself"), (GOLD, "gold"), (OTHER, "views, other sets"))):
        for seed, run in enumerate(found.runs[name]):
            x = [sqrt(max(row["kl"], 0)) for row in run]
            y = [row[by] - run[0][by] for row in run]
            traces.append(Trace(f"_{seed}" if seed else f"{label}, policy", x, y, colour, dashed=False))
        x = [sqrt(divergence(n)) for n in sizes]
        traces.append(Trace(f"{label}, best of n", x, [_gain(found, name, by, n) for n in sizes], colour, dashed=True))
    return traces


def _quoted(name: str, rows: Sequence[Mapping[str, Any]]) -> list[Prose]:
    """What a policy says at its start, in the middle and at its end, to the same contexts."""
    chosen = (rows[0], rows[len(rows) // 2], rows[-1])
    return [
        Prose(
            [said or "(nothing)" for _, said in one["said"][:_QUOTED]], f"{name}, update {one['updates']}", listed=True
        )
        for one in chosen
    ]
