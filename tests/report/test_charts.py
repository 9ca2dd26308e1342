"""Charts: what they show, how large they are, and that they are drawn only when needed."""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from example_results import LONG, estimates, results

from page import Page
from rejoinder.estimates import Estimate
from rejoinder.report.charts import NARROW, WIDE, curve, histogram, inline_svg, intervals, scatter
from rejoinder.report.layout import Chart


def svg(chart: Chart | None, width: int = WIDE) -> str:
    """Return a chart as inline SVG, which is well formed."""
    assert chart is not None
    text = inline_svg(chart.draw(width), chart.label, chart.name)
    assert not Page(text).open
    return text


def texts(drawn: str) -> list[str]:
    """Return the texts of a chart."""
    return [said for tag, said in Page(drawn).texts if tag in ("text", "tspan") and said.strip()]


def test_matplotlib_is_loaded_only_to_draw() -> None:
    code = (
        "import sys; sys.path.insert(0, 'tests/report'); from example_results import results; str(results()); "
        "import rejoinder.report.html; sys.exit('matplotlib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.parametrize(("scorers", "most"), [(5, 15_000), (20, 30_000)])
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_chart_of_intervals_is_small_and_follows_the_style_sheet(scorers: int, most: int, width: int) -> None:
    drawn = svg(results("a", scorers, pictures=True).layout.chart, width)
    assert len(drawn) < most
    assert "var(--judge)" in drawn and "var(--paper)" in drawn and "#0067a5" not in drawn and "font-family" not in drawn
    assert f'width="{width * 0.75:g}pt"' in drawn


def test_a_chart_has_names_values_marks_and_a_legend_and_says_them() -> None:
    chart = results("a", 5, pictures=True).layout.chart
    assert chart is not None
    found = texts(svg(chart))
    assert {"a", "scorer-2", "0.60", "one rater 0.35", "noise ceiling 0.71", "learned judge", "metric"} <= set(found)
    assert "95 % of unrelated scorers" in found and "Pearson correlation with human ratings" in found
    assert chart.label.startswith("Pearson correlation with human ratings: a 0.60 [0.52, 0.67]; ")
    assert chart.label.endswith("noise ceiling 0.71 [0.60, 0.80]")


@pytest.mark.parametrize(("width", "longest"), [(WIDE, 26), (NARROW, 17)])
def test_long_names_are_wrapped_and_whole(width: int, longest: int) -> None:
    names = [LONG, "x" * 60, "a name with words and spaces", "日本語の名前", "<b> & $x_1$"]
    found = texts(svg(intervals("c", estimates(names)), width))
    assert all(len(text.strip()) <= longest for text in found)
    whole = re.sub(r"\s", "", "".join(found))
    assert all(re.sub(r"\s", "", name) in whole for name in names)


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_labels_do_not_overlap(width: int) -> None:
    chart = results("a", 20, pictures=True).layout.chart
    assert chart is not None
    figure = chart.draw(width)
    figure.draw_without_rendering()
    axes = figure.axes[0]
    renderer = figure._get_renderer()  # type: ignore[attr-defined]
    labels = [*axes.get_yticklabels(), *axes.texts]
    boxes = [label.get_window_extent(renderer) for label in labels if label.get_text().strip()]
    boxes += [legend.get_window_extent(renderer) for legend in figure.legends]
    boxes += filter(None, [axes.xaxis.get_tightbbox(renderer)])
    pairs = [(a, b) for place, a in enumerate(boxes) for b in boxes[:place]]
    assert not [1 for a, b in pairs if a.x0 < b.x1 - 1 and b.x0 < a.x1 - 1 and a.y0 < b.y1 - 1 and b.y0 < a.y1 - 1]
    assert min(box.x0 for box in boxes) >= 0 and max(box.x1 for box in boxes) <= figure.bbox.x1 + 1


def test_kinds_differ_in_shape_or_fill() -> None:
    """Also without colours."""
    kinds = ["judge", "metric", "baseline", "oracle baseline"]
    chart = intervals("c", estimates(kinds), kinds={kind: kind for kind in kinds})
    assert chart is not None
    lines = [line for line in chart.draw(WIDE).axes[0].lines if np.size(line.get_xdata()) == 1]
    looks = {(line.get_marker(), line.get_markerfacecolor() == "#ffffff") for line in lines}
    assert len(looks) == 4


def test_many_points_are_one_path() -> None:
    rng = np.random.default_rng(0)
    chart = scatter("lines", *rng.normal(size=(2, 5000)).tolist(), xlabel="rating", ylabel="s", jitter=0.1)
    drawn = svg(chart)
    assert chart is not None and "400 of 5,000 points" in chart.label and len(drawn) < 40_000
    assert max(path.count("M") for path in re.findall(r' d="([^"]*)"', drawn)) == 400
    assert svg(chart) == drawn, "the same points and bytes each time"
    assert chart.draw(WIDE).get_figwidth() == chart.draw(NARROW).get_figwidth(), "one drawing serves both"


def test_named_points_are_numbered() -> None:
    chart = scatter("systems", [1, 2, float("nan"), 3], [1, 3, 2, 2], labels=["a", "b", "c", "d"], caption="Seen.")
    assert chart is not None and chart.caption == "Seen. 1 a, 2 b, 4 d." and "2 b: 2, 3" in chart.label
    assert {"1", "2", "4"} <= set(texts(svg(chart)))


def test_series_differ_in_stroke() -> None:
    outlines = svg(histogram("h", [0, 1, 2], {"A": [1, 2], "B": [2, 1]}, xlabel="score", ylabel="replies"))
    assert "stroke-dasharray" in outlines and {"A", "B", "score", "replies"} <= set(texts(outlines))
    points = [Estimate(scorer=name, group=str(n), value=n / 100, low=0, high=1) for name in "ab" for n in (9, 50)]
    assert "stroke-dasharray" in svg(curve("c", points, xlabel="ratings", ylabel="Pearson"))
    days = [Estimate(scorer="a", group=f"2026-0{month}-01", value=0.1) for month in (1, 3, 5)]
    assert "Mar" in texts(svg(curve("c", days, x=date.fromisoformat)))


def test_nothing_known_is_no_chart() -> None:
    nan = float("nan")
    assert intervals("c", [Estimate(scorer="a")]) is None and curve("c", [Estimate(group="1")]) is None
    assert scatter("c", [nan], [1.0]) is None and histogram("c", [0, 1], {"a": [0]}) is None
    alone = intervals("c", [Estimate(scorer="a", value=0.0)], null=nan)
    assert "nan" not in svg(alone).lower().replace("dominant", "")


def test_figures_are_saved_in_three_formats_under_safe_names(tmp_path: Path) -> None:
    made = results("a", pictures=True)
    made.save_figures(tmp_path / "new")
    names = {path.name for path in (tmp_path / "new").iterdir()}
    stems = ("scorers", "lines", "systems", "scores", "curve")
    assert names == {f"study-{stem}.{suffix}" for stem in stems for suffix in ("svg", "png", "pdf")}
    first = {path.name: path.read_bytes() for path in (tmp_path / "new").iterdir()}
    made.save_figures(tmp_path / "new")
    assert first == {path.name: path.read_bytes() for path in (tmp_path / "new").iterdir()}, "the same bytes"
    assert b"#0067a5" in first["study-scorers.svg"]
