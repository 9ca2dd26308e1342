"""Charts by matplotlib: inline SVG in the colours of a page, and files of their own.

Each function returns None if there is nothing to draw. `name` is that of the chart's file, `xlabel` and `ylabel` name
the axes, `caption` says what there is to see. Kinds and series differ in shape or stroke as well as in colour.
"""

from __future__ import annotations

import atexit
import io
import math
import os
import re
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from html import escape
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from rejoinder.data.outputs import atomic_file
from rejoinder.estimates import Estimate
from rejoinder.report.layout import Chart
from rejoinder.report.tables import grouped
from rejoinder.report.written import interval, number
from rejoinder.text.normalize import escape_controls

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rejoinder.report.record import Record

_Numbers = Sequence[float]

WIDE, NARROW = 640, 343  # CSS pixels: of a page, and of a phone without its margins
_SQUARE, _POINTS = 320, 400  # pixels of a side of a scatter chart, and its points
_LINE = 17  # pixels of a line of text
# Colours of the charts, and the style sheet's names for them.
_COLORS = {
    "metric": "#0067a5", "judge": "#c04f00", "trivial": "#5b636d", "reads": "#8e3b86", "limit": "#8a5a00",
    "band": "#f6e3bf", "chance": "#e6e9ed", "soft": "#545c66", "ink": "#1b1f24", "line": "#dde1e6", "paper": "#ffffff",
}  # fmt: skip
_SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none", "pdf.fonttype": 42, "text.parse_math": False, "font.size": 9.75, "lines.markersize": 6.5,
    "lines.markeredgewidth": 1.6, "lines.linewidth": 1.8, "text.color": _COLORS["ink"], "legend.borderaxespad": 0.2,
    "axes.edgecolor": _COLORS["soft"], "axes.labelcolor": _COLORS["soft"], "xtick.color": _COLORS["soft"],
    "ytick.color": _COLORS["soft"], "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False,
    "grid.color": _COLORS["line"], "legend.fontsize": 9.75, "axes.axisbelow": True, "axes.formatter.useoffset": False,
    "date.converter": "concise", "axes.unicode_minus": False, "path.simplify": False, "axes.prop_cycle":
    f"cycler(color={[_COLORS[name] for name in ('metric', 'judge', 'reads', 'trivial')]}, marker={[*'osD^']}, "
    "linestyle=['-', '--', ':', '-.'])",
}  # fmt: skip
# Colour, marker, fill and meaning of each kind of scorer, and of each outcome of an attack.
_KINDS = {
    "judge": ("judge", "s", "judge", "learned judge"),
    "metric": ("metric", "o", "metric", "metric"),
    "baseline": ("trivial", "o", "paper", "baseline"),
    "oracle baseline": ("reads", "D", "paper", "baseline that reads ratings"),
    "fooled": ("judge", "s", "judge", "fooled"),
    "holds": ("metric", "o", "metric", "holds"),
    "inconclusive": ("trivial", "o", "paper", "inconclusive"),
    "": ("metric", "o", "metric", ""),
}


def intervals(
    name: str, estimates: Sequence[Estimate], *, row: str | Callable[[Estimate], str] = "scorer",
    kinds: Mapping[str, str] | None = None, bands: Mapping[str, float] | None = None,
    marks: Mapping[str, Estimate] | None = None, apart: Sequence[str] = (), null: float = 0.0,
    xlabel: str = "", caption: str = "", scale: tuple[float, float] | None = None,
    write: Callable[[float], str] = number,
) -> Chart | None:  # fmt: skip
    """Return a chart with a row for each scorer, in the order of the estimates: its value with its interval.

    `row` is a label or a function from an estimate to the name of its row; a second estimate of a row is drawn hollow,
    such as the value before a change. `kinds` gives by row "metric", "judge", "baseline", "oracle baseline" or nothing,
    `bands` the half width of the band around `null` where scorers fall by chance. `marks` are dashed lines through all
    rows, such as the noise ceiling; rows that are `apart` are below a gap. `null` is the value by chance (NaN: none),
    `scale` gives the ends of the axis (None fits the values), `write` says how a value is written.
    """
    rows = grouped((estimate for estimate in estimates if estimate.known), row)
    rows = {key: rows[key] for key in sorted(rows, key=lambda key: key in apart)}
    lines = {text: mark for text, mark in (marks or {}).items() if mark.known}
    half = {key: width for key, width in (bands or {}).items() if key in rows and math.isfinite(width)}
    looks = {key: _KINDS[(kinds or {}).get(key, "")] for key in rows}
    entries = {look[3] for look in looks.values() if look[3]} | ({"95 % of unrelated scorers"} if half else set())

    @_settings()
    def draw(width: int) -> Figure:
        wide = width >= WIDE
        wrapper = textwrap.TextWrapper(26 if wide else 17, break_on_hyphens=False)
        wrapper.wordsep_simple_re = re.compile(r"(\s+|(?<=[/:#_.?&=-]))")  # also after the signs of addresses
        names = ["\n".join(wrapper.wrap(escape_controls(key))) for key in rows]
        heights = np.array([max(27, _LINE * (text.count("\n") + 1) + 6) for text in names])
        gaps = np.cumsum([14 * (place > 0 and key in apart) for place, key in enumerate(rows)]).clip(0, 14)
        middles, bottom = np.cumsum(heights) - heights / 2 + gaps, heights.sum() + gaps[-1]
        columns = 3 if wide else 1
        legend = _LINE * math.ceil(len(entries) / columns) + 12 if len(entries) > 1 else 0
        label = textwrap.fill(escape_controls(xlabel), width // 8)
        figure, axes = _axes(width, bottom + 48 + legend + _LINE * (len(lines) + label.count("\n")))
        axes.set_xlabel(label, loc="right")
        axes.axvline(null, color=_COLORS["soft"], linewidth=0.9)
        for y, (key, group) in zip(middles, rows.items(), strict=True):
            color, marker, fill, _ = looks[key]
            if key in half:
                axes.barh(y, 2 * half[key], 18, null - half[key], color=_COLORS["chance"], zorder=0.4)
            for place, estimate in reversed([*enumerate(group)]):
                style: dict[str, Any] = {"color": _COLORS[color], "mfc": _COLORS["paper" if place else fill]}
                axes.plot(estimate.ends, [y, y], "-", **style, alpha=0 if place else 1)
                axes.plot(estimate.value, y, marker, **style, zorder=3)
            frame = axes.get_yaxis_transform()
            axes.annotate(write(group[0].value), (1, y), (8, 0), frame, "offset points", va="center")
        for place, (text, mark) in enumerate(lines.items()):  # their names one above the other
            axes.axvline(mark.value, color=_COLORS["limit"], linestyle=(0, (3, 2)), linewidth=1.1)
            if mark.has_interval:
                axes.axvspan(*mark.ends, color=_COLORS["band"], linewidth=0, zorder=0.2)
            named, frame = f"{escape_controls(text)} {write(mark.value)}", axes.get_xaxis_transform()
            axes.annotate(named, (mark.value, 1), (0, 2 + 13 * place), frame, "offset points", va="bottom", ha="center")
        axes.grid(axis="x", linewidth=0.75)
        axes.locator_params("x", nbins=6 if wide else 4, steps=[1, 2, 5, 10])
        axes.set_yticks(middles, names)
        axes.set(ylim=(bottom, 0), xlim=scale)
        for tick, key in zip(axes.get_yticklabels(), rows, strict=True):
            tick.set_color(_COLORS["soft" if key in apart else "ink"])
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        if legend:
            for color, marker, fill, meaning in dict.fromkeys(look for look in looks.values() if look[3]):
                axes.plot([], [], f"{marker}-", color=_COLORS[color], mfc=_COLORS[fill], label=meaning)
            if half:
                axes.plot([], [], "-", color=_COLORS["chance"], linewidth=10, label="95 % of unrelated scorers")
            figure.legend(loc="outside lower left", ncols=columns, handlelength=1.4)
        return figure

    values = [f"{key} {' and '.join(map(interval, group))}" for key, group in rows.items()]
    values += [f"{text} {interval(mark)}" for text, mark in lines.items()]
    return Chart(name, draw, _words(xlabel, values), caption) if rows else None


def scatter(
    name: str, x: _Numbers, y: _Numbers, *, xlabel: str = "", ylabel: str = "", caption: str = "",
    labels: Sequence[str] = (), diagonal: bool = False, jitter: float = 0.0,
) -> Chart | None:  # fmt: skip
    """Return a square chart of the points [N] that have x and y; of more than 400, 400 are drawn.

    `labels` names each point: the chart shows its number, the caption lists the names. `jitter` is the standard
    deviation of the noise on x, as a share of its range, so that equal ratings stay visible.
    """
    points = np.column_stack([np.asarray(x, dtype=float), np.asarray(y, dtype=float)])
    usable = np.flatnonzero(np.isfinite(points).all(axis=1))
    if not len(usable):
        return None
    rng = np.random.default_rng(crc32(name.encode("utf-8", "backslashreplace")))
    shown = np.sort(rng.choice(usable, min(_POINTS, len(usable)), replace=False)).tolist()
    points = points[shown]
    span = np.ptp(points[:, 0]) or 1.0
    noisy = points + [jitter * span, 0.0] * rng.normal(size=(len(shown), 1))

    @_settings()
    def draw(width: int) -> Figure:
        figure, axes = _axes(min(width, _SQUARE), min(width, _SQUARE), xlabel, ylabel)
        if labels:
            axes.plot(*noisy.T, "o", color=_COLORS["chance"], markersize=13)
            for place, point in zip(shown, noisy, strict=True):
                axes.annotate(f"{place + 1}", point, ha="center", va="center_baseline", fontsize=9)
        else:  # one line with gaps, because 400 markers would take 65 KB
            ends = noisy[:, :1] + span * np.array([-0.011, 0.011, math.nan])
            style: dict[str, Any] = {"linewidth": 4, "solid_capstyle": "butt", "alpha": 0.5}
            axes.plot(ends.ravel(), noisy[:, 1].repeat(3), "-", color=_COLORS["metric"], **style)
        if diagonal:
            axes.plot(
                [noisy.min(), noisy.max()], [noisy.min(), noisy.max()], "--", color=_COLORS["soft"], linewidth=0.8
            )
        axes.locator_params(nbins=4)
        return figure

    texts = [f"{place + 1} {labels[place]}" for place in shown] if labels else []
    values = [f"{text}: {a:.3g}, {b:.3g}" for text, (a, b) in zip(texts, points, strict=False)]
    label = _words(f"{ylabel} against {xlabel}", values or [f"{len(shown):,} of {len(usable):,} points"])
    return Chart(name, draw, label, " ".join([caption, f"{', '.join(texts)}." if texts else ""]).strip())


def histogram(
    name: str, edges: _Numbers, groups: Mapping[str, _Numbers], *, xlabel: str = "", ylabel: str = "", caption: str = ""
) -> Chart | None:
    """Return a histogram of counts [bins] by group, between edges [bins + 1]; several groups are outlines."""
    known = {text: [*counts] for text, counts in groups.items() if np.nansum(counts) > 0}

    def add(axes: Axes, text: str, counts: list[float]) -> None:
        if len(known) == 1:
            axes.stairs(counts, edges, fill=True, color=_COLORS["metric"], linewidth=0)
        else:
            axes.step(edges, [*counts, 0], where="post", marker="", label=text)
        axes.set(xlim=(edges[0], edges[-1]), ylim=(0, None))

    bins = [f"{low:.3g} to {high:.3g}" for low, high in pairwise(edges)]
    values = [", ".join(map("{}: {:g}".format, bins, counts)) for counts in known.values()]
    return _series(name, known, add, map("{} {}".format, known, values), caption, xlabel=xlabel, ylabel=ylabel)


def curve(
    name: str, estimates: Sequence[Estimate], *, xlabel: str = "", ylabel: str = "", caption: str = "",
    x: Callable[[str], Any] = float,
) -> Chart | None:  # fmt: skip
    """Return a line for each scorer over the number in `group`, with intervals.

    `x` turns `group` into a place on the axis: `date.fromisoformat` for dates.
    """
    ordered = sorted((estimate for estimate in estimates if estimate.known), key=lambda estimate: x(estimate.group))
    series = grouped(ordered, "scorer")

    def add(axes: Axes, text: str, group: list[Estimate]) -> None:
        at = [x(point.group) for point in group]
        (line,) = axes.plot(at, [point.value for point in group], label=text)
        low, high = np.transpose([point.ends for point in group])
        axes.vlines(at, low, high, line.get_color(), linewidth=1.4)

    values = [f"{text} {', '.join(f'{one.group}: {interval(one)}' for one in group)}" for text, group in series.items()]
    return _series(name, series, add, values, caption, xlabel=xlabel, ylabel=ylabel)


# drawing


@cache
def _keep_fonts_apart() -> None:
    """Keep matplotlib's list of fonts in a temporary folder: a command writes nothing but its outputs."""
    if "MPLCONFIGDIR" not in os.environ:
        folder = TemporaryDirectory(prefix="rejoinder-")
        os.environ["MPLCONFIGDIR"] = folder.name
        atexit.register(folder.cleanup)


@contextmanager
def _settings(**more: Any) -> Iterator[None]:
    """Draw with our settings, whatever the user's are, and without warnings about letters that no font has."""
    _keep_fonts_apart()
    import matplotlib as mpl
    import matplotlib.style

    with mpl.rc_context(), warnings.catch_warnings():
        mpl.style.use("default")
        mpl.rcParams.update(_SETTINGS | more)  # type: ignore[arg-type]
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        yield


def _axes(width: int, height: float, xlabel: str = "", ylabel: str = "") -> tuple[Figure, Axes]:
    """Return a figure, its size in CSS pixels (96 are an inch), and its axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width / 96, height / 96), layout="constrained")
    axes = figure.subplots()
    axes.set(xlabel=escape_controls(xlabel), ylabel=escape_controls(ylabel))
    return figure, axes


def _series(
    name: str, series: Mapping[str, Any], add: Callable[[Axes, str, Any], None], values: Iterable[str], caption: str,
    **labels: str,
) -> Chart | None:  # fmt: skip
    """Return a chart to which `add` draws each series, in its colour and stroke, with a legend if there are several."""

    @_settings()
    def draw(width: int) -> Figure:
        figure, axes = _axes(width, 240 + _LINE * len(series), **labels)
        for text, points in series.items():
            add(axes, escape_controls(text), points)
        axes.locator_params("y", nbins=4)
        if len(series) > 1:
            figure.legend(loc="outside lower left")
        return figure

    return Chart(name, draw, _words(labels["xlabel"], values), caption) if series else None


def _words(what: str, values: Iterable[str]) -> str:
    """Return what a chart shows in words, for those who cannot see it."""
    return f"{what}: {'; '.join(values)}" if what else "; ".join(values)


# output


def inline_svg(figure: Figure, label: str, salt: str = "rejoinder") -> str:
    """Return an SVG for a page, in its font and colours, the same bytes each time.

    `label` says what it shows; `salt` makes its identifiers different from those of other charts of the page.
    """
    out = io.StringIO()
    with _settings(**{"svg.hashsalt": salt}):
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    text = out.getvalue()
    text = re.sub(r"(?s)<metadata>.*?</metadata>|<!--.*?-->|<style.*?</style>", "", text[text.index("<svg") :])
    text = re.sub(r"\s+", " ", text).replace("> <", "><")
    text = re.sub(r'(?<=<g) id="[^"]*"| transform="rotate\(-0 [^"]*"', "", text)
    text = re.sub(r"-?\d+\.\d{3,}(?=[^<>]*>)", lambda digits: f"{round(float(digits[0]), 2):g}", text)
    text = re.sub(r"font: ([\d.]+px)[^;\"]*", r"font-size: \1", text)
    text = re.sub(r"font-family: [^;\"]*;? ?|font-size: 9.75px;? ?", "", text)
    for name, color in _COLORS.items():
        text = text.replace(color, f"var(--{name})")
    return text.replace("<svg ", f'<svg role="img" aria-label="{escape(escape_controls(label))}" ', 1)


def save_charts(results: Record, folder: Path) -> None:
    """Write every chart of `results` as SVG, PNG and PDF to COMMAND-CHART.SUFFIX in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    taken: set[str] = set()
    for chart in results.layout.charts:
        stem = re.sub(r"[^\w.-]+", "-", f"{results.command}-{chart.name}", flags=re.ASCII)
        while stem in taken:
            stem += "-more"
        taken.add(stem)
        figure = chart.draw(WIDE)
        for suffix, facts in (("svg", {"Date": None}), ("png", {"Software": None}), ("pdf", {"CreationDate": None})):
            with atomic_file(folder / f"{stem}.{suffix}") as partial, _settings(**{"svg.hashsalt": stem}):
                figure.savefig(partial, format=suffix, dpi=192, metadata=facts)
