"""Charts by matplotlib: inline SVG in the colours of a page, and files of their own.

Each function returns None if there is nothing to draw. `name` is that of the chart's file, `xlabel` and `ylabel` name
the axes, `caption` says what there is to see. Kinds and series differ in shape or stroke as well as in colour.
"""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from rejoinder.data.outputs import atomic_file
from rejoinder.estimates import Estimate
from rejoinder.report.layout import Chart
from rejoinder.report.written import interval, number
from rejoinder.text.normalize import escape_controls

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rejoinder.report.results import Results

_Numbers = Sequence[float]
_Estimates = Sequence[Estimate]

WIDE, NARROW = 640, 343  # CSS pixels: of a page, and of a phone without its margins
_SQUARE, _POINTS = 320, 400  # pixels of a side of a scatter chart, and its points
_LINE, _ROW = 17, 27  # pixels of a line of text, and of a row
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
}  # fmt: skip
# Colour, marker, fill and meaning of each kind of scorer.
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
_SERIES = ("metric", "judge", "reads", "trivial")
_MARKERS, _STROKES = "osD^", ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 2, 1, 2)))


def intervals(
    name: str,
    estimates: Sequence[Estimate],
    *,
    row: str | Callable[[Estimate], str] = "scorer",
    kinds: Mapping[str, str] | None = None,
    bands: Mapping[str, float] | None = None,
    marks: Mapping[str, Estimate] | None = None,
    apart: Sequence[str] = (),
    null: float = 0.0,
    xlabel: str = "",
    caption: str = "",
    scale: tuple[float, float] | None = None,
    write: Callable[[float], str] = number,
) -> Chart | None:
    """Return a chart with a row for each scorer, in the order of the estimates: its value with its interval.

    `row` is a label or a function from an estimate to the name of its row; a second estimate of a row is drawn hollow,
    such as the value before a change. `kinds` gives by row "metric", "judge", "baseline", "oracle baseline" or nothing,
    `bands` the half width of the band around `null` where scorers fall by chance. `marks` are dashed lines through all
    rows, such as the noise ceiling; rows that are `apart` are below a gap. `null` is the value by chance (NaN: none),
    `scale` gives the ends of the axis (None fits the values), `write` says how a value is written.
    """
    rows: dict[str, list[Estimate]] = {}
    for estimate in filter(lambda estimate: estimate.known, estimates):
        rows.setdefault(str(getattr(estimate, row) if isinstance(row, str) else row(estimate)), []).append(estimate)
    if not rows:
        return None
    rows = {key: rows[key] for key in sorted(rows, key=lambda key: key in apart)}
    lines = {text: mark for text, mark in (marks or {}).items() if mark.known}
    half = {key: width for key, width in (bands or {}).items() if key in rows and math.isfinite(width)}

    @_settings()
    def draw(width: int) -> Figure:
        wide = width >= WIDE
        texts = {key: _wrapped(key, 26 if wide else 17) for key in rows}
        heights = np.array([max(_ROW, _LINE * (text.count("\n") + 1) + 6) for text in texts.values()])
        gaps = np.cumsum([14 * (place > 0 and key in apart) for place, key in enumerate(rows)]).clip(0, 14)
        middles, bottom, top = np.cumsum(heights) - heights / 2 + gaps, heights.sum() + gaps[-1], -20 * len(lines)
        looks = [_KINDS[(kinds or {}).get(key, "")] for key in rows]
        entries = {look[3] for look in looks if look[3]} | ({"band"} if half else set())
        columns = (3 if wide else 1) if len(entries) > 1 else 0
        below = 44 + (_LINE * math.ceil(len(entries) / columns) + 12 if columns else 0)
        figure, axes = _axes(width, bottom - top + below)
        axes.vlines(null, 0, bottom, color=_COLORS["soft"], linewidth=0.9)
        for y, key, group, (color, marker, fill, meaning) in zip(middles, rows, rows.values(), looks, strict=True):
            if key in half:
                axes.barh(y, 2 * half[key], 18, null - half[key], color=_COLORS["chance"], zorder=0.4)
            for place, estimate in reversed([*enumerate(group)]):
                style: dict[str, Any] = {
                    "color": _COLORS[color],
                    "mfc": _COLORS["paper" if place else fill],
                    "zorder": 3,
                }
                if not place:
                    axes.plot(estimate.ends, [y, y], **style)
                named = meaning in axes.get_legend_handles_labels()[1]
                axes.plot(estimate.value, y, marker, **style, label="_" if place or named else meaning or "_")
            at, frame = (1, y), axes.get_yaxis_transform()
            axes.annotate(write(group[0].value), at, (8, 0), frame, "offset points", va="center")
        for place, mark in enumerate(lines.values()):
            if mark.has_interval:
                axes.fill_betweenx([0, bottom], *mark.ends, color=_COLORS["band"], linewidth=0, zorder=0.2)
            axes.vlines(mark.value, top + 20 * place, bottom, _COLORS["limit"], (0, (3, 2)), linewidth=1.1)
        axes.set(xlim=scale or axes.get_xlim(), ylim=(bottom, top))
        axes.set_xlabel(escape_controls(xlabel), loc="right")
        for place, (text, mark) in enumerate(lines.items()):
            left = mark.value > sum(axes.get_xlim()) / 2
            side, box = "right" if left else "left", {"facecolor": _COLORS["paper"], "edgecolor": "none", "pad": 1}
            spot, away = (mark.value, top + 20 * place + 9), (-5 if left else 5, 0)
            shown = f"{escape_controls(text)} {write(mark.value)}"
            axes.annotate(shown, spot, away, textcoords="offset points", va="center", ha=side, bbox=box)
        axes.grid(axis="x", linewidth=0.75)
        _ticks(axes, 6 if wide else 3, 0)
        axes.set_yticks(middles, list(texts.values()))
        for tick, key in zip(axes.get_yticklabels(), rows, strict=True):
            tick.set_color(_COLORS["soft" if key in apart else "ink"])
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        if columns:
            axes.plot([], [], color=_COLORS["chance"], linewidth=10, label="95 % of unrelated scorers" if half else "_")
            figure.legend(loc="outside lower left", ncols=columns, handlelength=1.4)
        return figure

    values = [f"{key} {' and '.join(map(interval, group))}" for key, group in rows.items()]
    return Chart(
        name, draw, _seen(xlabel, [*values, *(f"{text} {interval(mark)}" for text, mark in lines.items())]), caption
    )


def scatter(
    name: str,
    x: Sequence[float],
    y: Sequence[float],
    *,
    xlabel: str = "",
    ylabel: str = "",
    caption: str = "",
    labels: Sequence[str] = (),
    diagonal: bool = False,
    jitter: float = 0.0,
) -> Chart | None:
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
    span = np.ptp(points, axis=0) + (np.ptp(points, axis=0) == 0)
    noisy = points + [jitter, 0.0] * span * rng.normal(size=(len(shown), 1))

    @_settings()
    def draw(width: int) -> Figure:
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path as Outline

        figure, axes = _axes(min(width, _SQUARE), min(width, _SQUARE))
        if labels:
            axes.plot(*noisy.T, "o", color=_COLORS["metric"], markersize=4)
        else:  # one path, because 400 markers would take 65 KB
            corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]]) * span * 0.011
            outline = Outline((noisy[:, None] + corners).reshape(-1, 2), [1, 2, 2, 2, 79] * len(noisy))
            axes.add_patch(PathPatch(outline, color=_COLORS["metric"], linewidth=0, alpha=0.5))
        if diagonal:
            axes.plot(
                [noisy.min(), noisy.max()], [noisy.min(), noisy.max()], color=_COLORS["soft"], lw=0.8, ls=_STROKES[1]
            )
        axes.autoscale_view()
        axes.set(xlabel=escape_controls(xlabel), ylabel=escape_controls(ylabel))
        _ticks(axes, 4, 4)
        figure.draw_without_rendering()
        _number(axes, noisy if labels else noisy[:0], [str(place + 1) for place in shown])
        return figure

    texts = [f"{place + 1} {labels[place]}" for place in shown] if labels else []
    values = [f"{text}: {a:.3g}, {b:.3g}" for text, (a, b) in zip(texts, points, strict=False)]
    label = _seen(f"{ylabel} against {xlabel}", values or [f"{len(shown):,} of {len(usable):,} points"])
    return Chart(name, draw, label, " ".join([caption, f"{', '.join(texts)}." if texts else ""]).strip())


def histogram(
    name: str, edges: _Numbers, groups: Mapping[str, _Numbers], *, xlabel: str = "", ylabel: str = "", caption: str = ""
) -> Chart | None:
    """Return a histogram of counts [bins] by group, between edges [bins + 1]; several groups are outlines."""
    known = {text: np.asarray(counts, dtype=float) for text, counts in groups.items() if np.nansum(counts) > 0}
    if not known:
        return None

    @_settings()
    def draw(width: int) -> Figure:
        figure, axes = _axes(width, 220 + _LINE * len(known))
        for place, (text, counts) in enumerate(known.items()):
            style: dict[str, Any] = {"facecolor": _COLORS["metric"], "edgecolor": _COLORS["paper"], "linewidth": 0}
            if len(known) > 1:
                style = {
                    "color": _COLORS[_SERIES[place % 4]],
                    "linestyle": _STROKES[place % 4],
                    "label": escape_controls(text),
                }
            axes.stairs(counts, edges, fill=len(known) == 1, **style)
        axes.set(
            xlabel=escape_controls(xlabel), ylabel=escape_controls(ylabel), xlim=(edges[0], edges[-1]), ylim=(0, None)
        )
        return _finished(figure, axes, width, len(known))

    values = [
        " ".join(
            [
                text,
                *(f"{low:.3g} to {high:.3g}: {n:g}," for low, high, n in zip(edges, edges[1:], counts, strict=False)),
            ]
        )
        for text, counts in known.items()
    ]
    return Chart(name, draw, _seen(xlabel, values), caption) if known else None


def curve(
    name: str,
    estimates: _Estimates,
    *,
    xlabel: str = "",
    ylabel: str = "",
    null: float | None = None,
    caption: str = "",
    x: Callable[[str], Any] = float,
) -> Chart | None:
    """Return a line for each scorer over the number in `group`, with intervals; `null` is the value by chance.

    `x` makes a place on the axis of the group: `date.fromisoformat` for dates.
    """
    series: dict[str, list[Estimate]] = {}
    estimates = sorted(estimates, key=lambda estimate: x(estimate.group))
    for estimate in estimates:
        if estimate.known:
            series.setdefault(estimate.scorer, []).append(estimate)
    if not series:
        return None

    @_settings()
    def draw(width: int) -> Figure:
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        figure, axes = _axes(width, 260 + _LINE * len(series))
        for place, (text, group) in enumerate(series.items()):
            moved = 0.008 * place * (x(estimates[-1].group) - x(estimates[0].group))
            at = [x(point.group) + moved for point in group]
            style: dict[str, Any] = {"color": _COLORS[_SERIES[place % 4]]}
            axes.plot(
                at,
                [e.value for e in group],
                marker=_MARKERS[place % 4],
                ls=_STROKES[place % 4],
                label=escape_controls(text),
                **style,
            )
            axes.vlines(at, *np.transpose([estimate.ends for estimate in group]), **style, linewidth=1.2)
        if null is not None:
            axes.axhline(null, color=_COLORS["soft"], linewidth=0.9)
        if x is not float:
            locator = AutoDateLocator(minticks=2, maxticks=8 if width >= WIDE else 4)  # type: ignore[no-untyped-call]
            axes.xaxis.set(major_locator=locator, major_formatter=ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
        axes.set(xlabel=escape_controls(xlabel), ylabel=escape_controls(ylabel))
        return _finished(figure, axes, width, len(series))

    values = [f"{text} {', '.join(f'{one.group}: {interval(one)}' for one in group)}" for text, group in series.items()]
    return Chart(name, draw, _seen(xlabel, values), caption)


# drawing


@contextmanager
def _settings(**more: Any) -> Iterator[None]:
    """Draw with our settings, whatever the user's are, and without warnings about letters that no font has."""
    import matplotlib as mpl
    import matplotlib.style

    with mpl.rc_context(), warnings.catch_warnings():
        mpl.style.use("default")
        mpl.rcParams.update(_SETTINGS | more)  # type: ignore[arg-type]
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        yield


def _axes(width: int, height: float) -> tuple[Figure, Axes]:
    """Return a figure of so many CSS pixels, of which 96 are an inch, and its axes."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    layout = ConstrainedLayoutEngine(w_pad=0.03, h_pad=0.03)
    figure = Figure(figsize=(width / 96, height / 96), layout=layout)
    return figure, figure.subplots()


def _finished(figure: Figure, axes: Axes, width: int, series: int) -> Figure:
    """Return a figure with its ticks, and with a legend if there are several series."""
    _ticks(axes, 8 if width >= WIDE else 4, 4)
    if series > 1:
        figure.legend(loc="outside lower left")
    return figure


def _ticks(axes: Axes, across: int, up: int) -> None:
    """Write so many numbers at most beside the axes; 0 leaves an axis as it is."""
    from matplotlib.ticker import MaxNLocator

    for axis, most in ((axes.xaxis, across), (axes.yaxis, up)):
        if most:
            axis.set_major_locator(MaxNLocator(most, steps=[1, 2, 5, 10]))


def _wrapped(name: str, width: int) -> str:
    """Return a name in lines, broken after the signs of addresses and paths where possible."""
    lines = [""]
    for part in re.findall(rf"[^\s/:#_.?&=-]{{1,{width - 1}}}[\s/:#_.?&=-]?|.", escape_controls(name)):
        if len(lines[-1] + part.rstrip()) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(line.strip() for line in lines)


def _number(axes: Axes, points: Any, texts: Sequence[str]) -> None:
    """Write a number beside each point if it hides neither another number nor a point."""
    places = axes.transData.transform(points) * 0.72  # pixels at 100 dpi to points
    taken = [(*place, 6.0, 7.0) for place in places]
    for text, point, (x, y) in zip(texts, points, places, strict=False):
        for right, up in ((9, 0), (0, 9), (-9, 0), (0, -9), (9, 9), (-9, 9), (9, -9), (-9, -9)):
            spot = (x + right, y + up)
            if all(abs(spot[0] - a) >= wide or abs(spot[1] - b) >= high for a, b, wide, high in taken):
                taken.append((*spot, 13.0, 11.0))
                axes.annotate(
                    text, point, (right, up), textcoords="offset points", ha="center", va="center", fontsize=9
                )
                break


def _seen(what: str, values: Sequence[str]) -> str:
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
    text = re.sub(r"<[^>]+>", lambda tag: re.sub(r"-?\d+\.\d{2,}", _short, tag[0]), text)
    text = re.sub(r"font: ([\d.]+px)[^;\"]*", r"font-size: \1", text)
    text = re.sub(r"font-family: [^;\"]*;? ?|font-size: 9.75px;? ?", "", text)
    for name, color in _COLORS.items():
        text = text.replace(color, f"var(--{name})")
    return text.replace("<svg ", f'<svg role="img" aria-label="{escape(escape_controls(label))}" ', 1)


def _short(digits: re.Match[str]) -> str:
    """Return a number of an SVG with two digits at most."""
    return f"{float(digits[0]):.2f}".rstrip("0").rstrip(".")


def save_charts(results: Results, folder: Path) -> None:
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
