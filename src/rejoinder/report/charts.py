"""Charts by matplotlib: inline SVG that follows the colours of a page, and files of their own."""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
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

WIDE, NARROW = 640, 343  # CSS pixels: of a page, and of a phone with margins
_SQUARE = 320  # side of a scatter chart
_POINTS = 400  # of a scatter chart
_NAME, _SHORT_NAME = 26, 17  # characters of a line of a name, on a page and on a phone
_LINE, _ROW, _GAP = 17, 27, 14  # pixels of a line of text, of a row, and between groups of rows
# Colours of the charts, and the style sheet's names for them.
_COLORS = {
    "metric": "#0067a5", "judge": "#c04f00", "trivial": "#5b636d", "reads": "#8e3b86", "limit": "#8a5a00",
    "band": "#f6e3bf", "chance": "#e6e9ed", "soft": "#545c66", "ink": "#1b1f24", "line": "#dde1e6", "paper": "#ffffff",
}  # fmt: skip
_SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none", "pdf.fonttype": 42, "text.parse_math": False, "font.size": 9.75,
    "axes.edgecolor": _COLORS["soft"], "axes.labelcolor": _COLORS["soft"], "axes.spines.top": False,
    "axes.spines.right": False, "xtick.color": _COLORS["soft"], "ytick.color": _COLORS["soft"],
    "text.color": _COLORS["ink"], "legend.frameon": False, "legend.fontsize": 9.75,
}  # fmt: skip


class _Look(NamedTuple):
    """How a kind of scorer is drawn: told apart by shape and fill as well as by colour."""

    color: str
    shape: str
    hollow: bool = False
    text: str = ""


_LOOKS = {
    "judge": _Look("judge", "s", text="learned judge"),
    "metric": _Look("metric", "o", text="metric"),
    "baseline": _Look("trivial", "o", hollow=True, text="baseline"),
    "oracle baseline": _Look("reads", "D", hollow=True, text="baseline that reads ratings"),
    "": _Look("metric", "o"),
}
_SERIES = (_Look("metric", "o"), _Look("judge", "s"), _Look("reads", "D"), _Look("trivial", "^", hollow=True))
_STROKES = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 2, 1, 2)))


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
    """Return a chart with a row for each scorer: its value and interval; None without a known value.

    Args:
        name: of the chart.
        estimates: in the order of the rows. A second estimate of a row is drawn hollow, such as the value before.
        row: a label, or a function from an estimate to the name of its row.
        kinds: by row: "metric", "judge", "baseline", "oracle baseline" or nothing.
        bands: by row, the half width of the band around `null` that chance explains.
        marks: dashed lines through all rows, such as the noise ceiling.
        apart: rows below a gap.
        null: the value by chance.
        xlabel: what is measured.
        caption: what there is to see.
        scale: ends of the axis; None fits the values.
        write: how a value is written.
    """
    named = (lambda estimate: getattr(estimate, row)) if isinstance(row, str) else row
    rows: dict[str, list[Estimate]] = {}
    for estimate in estimates:
        if estimate.known:
            rows.setdefault(str(named(estimate)), []).append(estimate)
    if not rows:
        return None
    rows = {key: rows[key] for key in sorted(rows, key=lambda key: key in apart)}
    lines = {text: mark for text, mark in (marks or {}).items() if mark.known}
    half = {key: width for key, width in (bands or {}).items() if key in rows and math.isfinite(width)}
    looks = {key: _LOOKS[(kinds or {}).get(key, "")] for key in rows}

    def draw(width: int) -> Figure:
        wide = width >= WIDE
        texts = {key: _wrapped(key, _NAME if wide else _SHORT_NAME) for key in rows}
        places, height = _places(texts, apart)
        above, handles = 20 * len(lines), _legend({look.text: look for look in looks.values()}, bool(half))
        columns = 3 if wide else 1
        below = 46 + _LINE * math.ceil(len(handles) / columns) + 6 * bool(handles)
        figure, axes = _axes(width, height + above + below)
        everything = [estimate for group in rows.values() for estimate in group] + [*lines.values()]
        ends = scale or _limits(
            [null, *_ends(everything), *(null + sign * w for w in half.values() for sign in (-1, 1))]
        )
        axes.set(xlim=ends, ylim=(height, -above))
        axes.xaxis.set_major_locator(_ticks(6 if wide else 3))
        axes.vlines(axes.get_xticks(), 0, height, color=_COLORS["line"], linewidth=0.75, zorder=0)
        axes.vlines(null, 0, height, color=_COLORS["soft"], linewidth=0.9, zorder=1)
        for place, (text, mark) in enumerate(lines.items()):
            _mark(axes, f"{_plain(text)} {write(mark.value)}", mark, height, 20 * place + 10 - above)
        for key, group in rows.items():
            if key in half:
                axes.barh(places[key], 2 * half[key], 18, null - half[key], color=_COLORS["chance"], zorder=0.5)
            for estimate in reversed(group):
                _point(axes, estimate, places[key], looks[key], hollow=estimate is not group[0])
            axes.annotate(
                write(group[0].value),
                (1, places[key]),
                (8, 0),
                axes.get_yaxis_transform(),
                "offset points",
                va="center",
            )
        axes.set_yticks([places[key] for key in rows], [texts[key] for key in rows])
        for label, key in zip(axes.get_yticklabels(), rows, strict=True):
            label.set_color(_COLORS["soft" if key in apart else "ink"])
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        axes.set_xlabel(_plain(xlabel))
        if handles:
            figure.legend(handles=handles, loc="outside lower left", ncols=columns, handlelength=1.6, borderpad=0)
        return figure

    values = [f"{key} {' and '.join(map(interval, group))}" for key, group in rows.items()]
    values += [f"{text} {interval(mark)}" for text, mark in lines.items()]
    return Chart(name, _settled(draw), _label(xlabel, values), caption)


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
    """Return a square chart of points, of which at most 400 are drawn; None without any.

    Args:
        name: of the chart; decides the jitter and which points are drawn.
        x: [N].
        y: [N]; a point without both is left out.
        xlabel: what x is.
        ylabel: what y is.
        caption: what there is to see.
        labels: a name for each point; they are numbered in the chart, and the caption lists them.
        diagonal: draw a line from corner to corner of equal axes.
        jitter: standard deviation of the noise added to x, as a share of its range, so that equal ratings do not hide
            each other.
    """
    points = np.column_stack([np.asarray(x, dtype=float), np.asarray(y, dtype=float)])
    usable = np.flatnonzero(np.isfinite(points).all(axis=1))
    if not len(usable):
        return None
    rng = np.random.default_rng(crc32(name.encode("utf-8", "backslashreplace")))
    shown = (np.sort(rng.choice(usable, _POINTS, replace=False)) if len(usable) > _POINTS else usable).tolist()
    span = np.ptp(points[shown], axis=0) + (np.ptp(points[shown], axis=0) == 0)
    drawn = points[shown] + [jitter, 0.0] * span * rng.normal(size=(len(shown), 1))

    def draw(width: int) -> Figure:
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path as Outline

        side = min(width, _SQUARE)
        figure, axes = _axes(side, side)
        size = 0.022 if labels else 0.011
        corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]]) * span * size
        squares = (drawn[:, None] + corners).reshape(-1, 2)
        axes.add_patch(  # one path: 400 markers would take 65 KB
            PathPatch(Outline(squares, [1, 2, 2, 2, 79] * len(drawn)), color=_COLORS["metric"], lw=0, alpha=0.5)
        )
        if diagonal:
            ends = _limits([*drawn[:, 0], *drawn[:, 1]])
            axes.set(xlim=ends, ylim=ends)
            axes.plot(ends, ends, color=_COLORS["soft"], linewidth=0.8, linestyle=_STROKES[1], zorder=0)
        else:
            axes.autoscale_view()
        _number_points(axes, drawn, [str(place + 1) for place in shown] if labels else [])
        axes.set(xlabel=_plain(xlabel), ylabel=_plain(ylabel))
        axes.xaxis.set_major_locator(_ticks(4))
        axes.yaxis.set_major_locator(_ticks(4))
        return figure

    listed = [f"{place + 1} {labels[place]}" for place in shown] if labels else []
    texts = [f"{text}: {a:.3g}, {b:.3g}" for text, (a, b) in zip(listed, points[shown], strict=True)] if labels else []
    seen = _label(f"{ylabel} against {xlabel}", texts or [f"{len(shown):,} of {len(usable):,} points"])
    return Chart(
        name, _settled(draw), seen, " ".join(filter(None, [caption, f"{', '.join(listed)}." if listed else ""]))
    )


def histogram(
    name: str,
    edges: Sequence[float],
    groups: Mapping[str, Sequence[float]],
    *,
    xlabel: str = "",
    ylabel: str = "",
    caption: str = "",
) -> Chart | None:
    """Return a histogram; None without any count. Several groups are outlines, told apart by colour and stroke.

    Args:
        name: of the chart.
        edges: [bins + 1].
        groups: by name, [bins] counts.
        xlabel: what was counted.
        ylabel: unit of the counts.
        caption: what there is to see.
    """
    known = {text: np.asarray(counts, dtype=float) for text, counts in groups.items() if np.nansum(counts) > 0}
    if not known:
        return None

    def draw(width: int) -> Figure:
        figure, axes = _axes(width, 240 + _LINE * (len(known) if len(known) > 1 else 0))
        for place, (text, counts) in enumerate(known.items()):
            look, stroke = _SERIES[place % len(_SERIES)], _STROKES[place % len(_STROKES)]
            if len(known) == 1:
                axes.stairs(counts, edges, fill=True, color=_COLORS["metric"], edgecolor=_COLORS["paper"])
            else:
                axes.stairs(
                    counts, edges, color=_COLORS[look.color], linewidth=1.8, linestyle=stroke, label=_plain(text)
                )
        axes.set(xlabel=_plain(xlabel), ylabel=_plain(ylabel), xlim=(edges[0], edges[-1]), ylim=(0, None))
        axes.xaxis.set_major_locator(_ticks(8 if width >= WIDE else 4))
        axes.yaxis.set_major_locator(_ticks(4))
        if len(known) > 1:
            figure.legend(loc="outside lower left", borderpad=0)
        return figure

    values = [
        " ".join(
            [
                text,
                *(f"{low:.3g} to {high:.3g}: {n:g}," for low, high, n in zip(edges, edges[1:], counts, strict=False)),
            ]
        )
        for text, counts in known.items()
    ]
    return Chart(name, _settled(draw), _label(xlabel, values), caption)


def curve(
    name: str,
    estimates: Sequence[Estimate],
    *,
    xlabel: str = "",
    ylabel: str = "",
    null: float | None = None,
    caption: str = "",
) -> Chart | None:
    """Return values with intervals over the numbers in `group`, a line for each scorer; None without a known value.

    Args:
        name: of the chart.
        estimates: whose `group` is a number.
        xlabel: what the numbers are.
        ylabel: what is measured.
        null: the value by chance.
        caption: what there is to see.
    """
    series: dict[str, list[Estimate]] = {}
    for estimate in sorted(estimates, key=lambda estimate: float(estimate.group)):
        if estimate.known:
            series.setdefault(estimate.scorer, []).append(estimate)
    if not series:
        return None

    def draw(width: int) -> Figure:
        figure, axes = _axes(width, 280 + _LINE * (len(series) if len(series) > 1 else 0))
        for place, (text, points) in enumerate(series.items()):
            look, at = _SERIES[place % len(_SERIES)], [float(point.group) for point in points]
            color, fill = _COLORS[look.color], _COLORS["paper" if look.hollow else look.color]
            axes.fill_between(at, *np.transpose([point.ends for point in points]), color=color, alpha=0.15, linewidth=0)
            axes.plot(
                at, [point.value for point in points], f"-{look.shape}", color=color, mfc=fill, label=_plain(text)
            )
        if null is not None:
            axes.axhline(null, color=_COLORS["soft"], linewidth=0.9, linestyle=_STROKES[1])
        axes.set(xlabel=_plain(xlabel), ylabel=_plain(ylabel))
        axes.xaxis.set_major_locator(_ticks(8 if width >= WIDE else 4))
        if len(series) > 1:
            figure.legend(loc="outside lower left", borderpad=0)
        return figure

    values = [
        f"{text} {', '.join(f'{point.group}: {interval(point)}' for point in points)}"
        for text, points in series.items()
    ]
    return Chart(name, _settled(draw), _label(xlabel, values), caption)


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


def _settled(draw: Callable[[int], Figure]) -> Callable[[int], Figure]:
    """Return `draw` with our settings."""

    def drawn(width: int) -> Figure:
        with _settings():
            return draw(width)

    return drawn


def _axes(width: int, height: float) -> tuple[Figure, Axes]:
    """Return a figure of so many CSS pixels, of which 96 are an inch, and its axes."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    layout = ConstrainedLayoutEngine(w_pad=0.02, h_pad=0.02)
    figure = Figure(figsize=(width / 96, height / 96), layout=layout)
    return figure, figure.subplots()


def _plain(text: str) -> str:
    """Return `text` with characters that are obeyed and not seen as escapes."""
    return escape_controls(text).encode("utf-8", "backslashreplace").decode()


def _wrapped(name: str, width: int) -> str:
    """Return a name in lines, broken behind the signs of addresses and paths where it can be."""
    lines = [""]
    for part in re.findall(rf"[^\s/:#_.?&=-]{{1,{width - 1}}}[\s/:#_.?&=-]?|.", _plain(name)):
        if len(lines[-1] + part.rstrip()) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(line.strip() for line in lines)


def _places(texts: Mapping[str, str], apart: Sequence[str]) -> tuple[dict[str, float], float]:
    """Return the middles of the rows and the height of all, in pixels from the top; a gap is above those apart."""
    places, top, before = dict[str, float](), 0.0, False
    for key, text in texts.items():
        top += _GAP * (key in apart and not before and bool(places))
        before = key in apart
        height = max(_ROW, _LINE * (text.count("\n") + 1) + 4)
        places[key], top = top + height / 2, top + height
    return places, top


def _ends(estimates: Sequence[Estimate]) -> list[float]:
    """Return the values of estimates and the ends of their intervals."""
    return [value for estimate in estimates for value in (estimate.value, *estimate.ends) if math.isfinite(value)]


def _limits(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of an axis that shows `values`."""
    low, high = min(values), max(values)
    margin = 0.04 * ((high - low) or abs(high) or 1.0)
    return low - margin, high + margin


def _ticks(most: int) -> Any:
    """Return where numbers are written below an axis."""
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(most, steps=[1, 2, 5, 10])


def _mark(axes: Axes, text: str, mark: Estimate, bottom: float, y: float) -> None:
    """Draw an upright line through all rows, with its interval as a band and its name beside its upper end."""
    if mark.has_interval:
        axes.fill_betweenx([0, bottom], *mark.ends, color=_COLORS["band"], linewidth=0, zorder=0.2)
    axes.plot([mark.value] * 2, [y - 8, bottom], color=_COLORS["limit"], linewidth=1.1, linestyle=(0, (3, 2)), zorder=2)
    low, high = axes.get_xlim()
    left = mark.value > (low + high) / 2
    box = {"facecolor": _COLORS["paper"], "edgecolor": "none", "pad": 1}
    axes.annotate(
        text, (mark.value, y), (-5 if left else 5, 0), textcoords="offset points", va="center",
        ha="right" if left else "left", bbox=box, zorder=6,
    )  # fmt: skip


def _point(axes: Axes, estimate: Estimate, y: float, look: _Look, *, hollow: bool) -> None:
    """Draw a value and its interval."""
    color = _COLORS[look.color]
    if estimate.has_interval and not hollow:
        axes.plot(estimate.ends, [y, y], linewidth=1.8, color=color, zorder=3)
    fill = _COLORS["paper"] if hollow or look.hollow else color
    axes.plot([estimate.value], [y], look.shape, markersize=6.5, color=color, mfc=fill, mew=1.6, zorder=4)


def _legend(looks: Mapping[str, _Look], bands: bool) -> list[Any]:
    """Return what the shapes mean, unless there is but one."""
    from matplotlib.lines import Line2D

    named = {text: look for text, look in looks.items() if text}
    handles = [
        Line2D([], [], marker=look.shape, color=_COLORS[look.color], markersize=6.5, mew=1.6, linewidth=1.8,
               mfc=_COLORS["paper" if look.hollow else look.color], label=text)
        for text, look in named.items()
    ]  # fmt: skip
    if bands:
        handles.append(Line2D([], [], color=_COLORS["chance"], linewidth=10, label="95 % of unrelated scorers"))
    return handles if len(handles) > 1 else []


def _number_points(axes: Axes, points: np.ndarray, texts: Sequence[str]) -> None:
    """Write a number beside each point, where it hides no other number; else leave it out."""
    taken: list[tuple[float, float]] = []
    for text, point in zip(texts, points, strict=False):
        x, y = axes.transData.transform(point) / axes.figure.dpi * 96
        for right, up in ((10, 0), (0, 12), (-10, 0), (0, -12), (10, 12), (-10, 12), (10, -12), (-10, -12)):
            if all(abs(x + right - a) > 14 or abs(y + up - b) > 13 for a, b in taken):
                taken.append((x + right, y + up))
                axes.annotate(
                    text, point, (right * 0.75, up * 0.75), textcoords="offset points", ha="center", va="center"
                )
                break


def _label(what: str, values: Sequence[str]) -> str:
    """Return what a chart shows in words."""
    return _plain(f"{what}: {'; '.join(values)}" if what else "; ".join(values))


# output


def inline_svg(figure: Figure, label: str, salt: str = "rejoinder") -> str:
    """Return an SVG for a page: with its font and its colours, the same bytes each time.

    Args:
        figure: what to show.
        label: its content in words.
        salt: makes its identifiers different from those of the other charts of the page.
    """
    out = io.StringIO()
    with _settings(**{"svg.hashsalt": salt}):
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    text = out.getvalue()
    text = re.sub(r"(?s)<metadata>.*?</metadata>|<!--.*?-->|<style.*?</style>", "", text[text.index("<svg") :])
    text = re.sub(r"\s+", " ", text).replace("> <", "><")
    text = re.sub(r'<g id="[^"]*"', "<g", text)
    text = re.sub(r"<[^>]+>", lambda tag: re.sub(r"-?\d+\.\d{2,}", _short, tag[0]), text)
    text = re.sub(r"font: ([\d.]+px)[^;\"]*", r"font-size: \1", text)
    for name, color in _COLORS.items():
        text = text.replace(color, f"var(--{name})")
    return text.replace("<svg ", f'<svg role="img" aria-label="{escape(label)}" ', 1)


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
