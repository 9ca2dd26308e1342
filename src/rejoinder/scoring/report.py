"""The report of scored lines, made in one pass: mean scores, histograms, and the lowest lines with explanations."""

from __future__ import annotations

import heapq
import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rejoinder.data.columns import ALIASES, field_of
from rejoinder.data.values import under
from rejoinder.estimates import Estimate
from rejoinder.example import Example
from rejoinder.report.layout import Chart, KeyFigure, Layout, Section
from rejoinder.report.results import About, Results
from rejoinder.report.tables import Column, Table, pivot
from rejoinder.report.written import sentences
from rejoinder.scorer import Scorer
from rejoinder.scoring.dialogue import DialogueScorer
from rejoinder.scoring.explained import explanations, is_explained
from rejoinder.scoring.scoring import ScoredLine, Summary
from rejoinder.scoring.sums import DATE, Histogram, Means
from rejoinder.scoring.terminal import domain_lines, summary_rows, warning_lines, worst_turns

if TYPE_CHECKING:
    from markupsafe import Markup

SHOWN = 20
"""Lines that the first sentence is about."""
LOWEST = 1_000
"""Lines that a report quotes."""
_LISTED_GROUPS, _PERIODS = 50, 60
_NO_VALUE = "(none)"


class QuotedLine(NamedTuple):
    """A line of the report, with its values in the columns that the report has means by."""

    example: Example
    values: Mapping[str, float]
    intervals: Mapping[str, Sequence[float]]
    warnings: Sequence[str]
    worst: str
    groups: Sequence[str]
    moved: Mapping[str, str] = {}  # the explanations of the scores, by scorer

    @property
    def reply(self) -> Markup:
        """The reply as HTML: its Markdown without elements, images and anything that a browser would load."""
        from markdown_it import MarkdownIt
        from markupsafe import Markup

        reader = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
        tokens = reader.parse(self.example.response)
        for link in (child for token in tokens for child in token.children or () if child.type == "link_open"):
            link.attrSet("rel", "noreferrer nofollow")
        return Markup(reader.renderer.render(tokens, reader.options, {}))  # noqa: S704 - it escapes elements


class ScoreReport:
    """A report of scored lines, made in one pass. Memory does not grow with their number.

    Args:
        summaries: by scorer; the first one orders the lines.
        by: columns to show means by. Dots lead into objects.
    """

    def __init__(self, summaries: Mapping[str, Summary], by: Sequence[str] = ()) -> None:
        self._summaries, self._by = summaries, list(dict.fromkeys(["system", *by]))
        self._name = next(iter(summaries))
        self._first = summaries[self._name]
        self._sign = -1 if self._first.scorer.card.higher_is_better is False else 1
        self._histograms = {name: Histogram(_scale(summary.scorer)) for name, summary in summaries.items()}
        self._means, self._dates = Means(), Counter[str]()
        self._lowest: list[tuple[float, int, QuotedLine]] = []
        self._order = count()

    def added(self, line: ScoredLine) -> ScoredLine:
        """Add a line, and return it."""
        values = {name: value for name in self._summaries if math.isfinite(value := line.value(name))}
        example = line.example
        groups = {by: _group(example, by) for by in self._by}
        dates = _dates(example)
        self._dates.update(dates)
        if values:
            self._means.add(example, {"": "", **groups, **{f"{DATE}{key}": day for key, day in dates.items()}}, values)
        for name, value in values.items():
            self._histograms[name].add(value)
        key = -self._sign * values[self._name] if self._name in values else None
        if key is not None and (len(self._lowest) < LOWEST or key > self._lowest[0][0]):
            ends = {name: ends for name in values if (ends := line.interval(name)) is not None}
            warnings = list(dict.fromkeys(warning for name in self._summaries for warning in line.warnings(name)))
            worst = worst_turns(line.worst().get(self._name, ()))
            quoted = QuotedLine(example, values, ends, warnings, worst, [*groups.values()])
            push = heapq.heappush if len(self._lowest) < LOWEST else heapq.heapreplace
            push(self._lowest, (key, -next(self._order), quoted))
        return line

    @property
    def lines(self) -> list[QuotedLine]:
        """The lowest lines by the first scorer, the lowest first, with the explanations of their scores."""
        lines = [line for *_, line in sorted(self._lowest, key=lambda item: (-item[0], -item[1]))]
        moved: list[dict[str, str]] = [{} for _ in lines]
        for name, summary in self._summaries.items():
            if is_explained(summary.scorer):
                for place, why in enumerate(explanations(summary.scorer, [line.example for line in lines])):
                    if why is not None and name in lines[place].values:
                        moved[place][name] = why.words
        return [line._replace(moved=words) for line, words in zip(lines, moved, strict=True)]

    def results(self, files: Sequence[str] = ()) -> Results:
        """Return the mean scores, the sentences and the layout of the report of these files."""
        for histogram in self._histograms.values():
            histogram.settle()
        has_systems = not self._means.sums["system"].keys() <= {_NO_VALUE}
        columns = ["", *(by for by in self._by if by != "system" or has_systems)]
        estimates = [self._inside(estimate) for by in columns for estimate in self._means.estimates(by)]
        over_time, dated = self._over_time()
        scorers = {
            name: {
                "kind": summary.scorer.card.kind,
                "signature": summary.signature.fields,
                "warnings": dict(summary.warnings),
                "unscored": dict(summary.reasons),
            }
            for name, summary in self._summaries.items()
        }
        absent = [f'No line has "{by}".' for by in self._by[1:] if self._means.sums[by].keys() <= {_NO_VALUE}]
        return Results(
            command="score",
            estimates=(*estimates, *dated),
            answer=self._answer(),
            warnings=(*domain_lines(self._summaries), *warning_lines(self._summaries), *absent),
            about=About(
                scorers=scorers, options={"by": self._by, "files": files}, counts={"scored": self._first.scored}
            ),
            layout=self._layout(estimates, over_time),
        )

    def _answer(self) -> tuple[str, ...]:
        shown, scale = sorted(-key for key, *_ in self._lowest)[:SHOWN], _scale(self._first.scorer)
        return sentences(
            "scoring",
            "score",
            scorer=self._name,
            scored=self._first.scored,
            unscored=self._first.unscored,
            mean=self._first.mean,
            few=self._first.scored < 2 * SHOWN,
            count=SHOWN,
            bound=self._sign * shown[-1] if shown else math.nan,
            highest_first=self._sign < 0,
            top=f"{scale[1]:g}" if scale else "",
        )

    def _inside(self, estimate: Estimate) -> Estimate:
        """Return a mean with its interval inside the scale of its scorer."""
        low, high = _ends(self._summaries[estimate.scorer].scorer)
        return estimate.between(-math.inf if low is None else low, math.inf if high is None else high)

    def _layout(self, estimates: Sequence[Estimate], over_time: Chart | None) -> Layout:
        charts = [*filter(None, map(self._histogram, self._summaries))]
        mean = next((e for e in estimates if e.scorer == self._name and not (e.system or e.by)), Estimate())
        scored, lines = self._first.scored, self._first.scored + self._first.unscored
        keys = [
            KeyFigure.of(mean, f"mean score by {self._name}", mean.method or mean.reason),
            KeyFigure(f"{scored:,}", "", "replies with a score", f"of {lines:,}"),
        ]
        sections = [
            Section("Scorers", [summary_rows(self._summaries), *charts[1:]]),
            Section("Means by group", [self._group_table(estimates, by) for by in self._by]),
            Section("Over time", [over_time]),
        ]
        made = ["Intervals of means: 95 % by t, contexts as clusters."] if self._means.by_context else []
        return Layout(title="Scores", keys=keys, chart=charts[0] if charts else None, sections=sections, made=made)

    def _histogram(self, scorer: str) -> Chart | None:
        from rejoinder.report.charts import histogram

        bars = self._histograms[scorer]
        beyond = f" The bars at the ends hold {bars.outside:,} scores beyond them too." if bars.outside else ""
        return histogram(
            f"scores-{scorer}",
            bars.edges,
            {scorer: bars.counts},
            xlabel=f"score by {scorer}",
            ylabel="replies",
            caption=f"Scores by {scorer}: {sum(bars.counts):,} replies.{beyond}",
        )

    def _group_table(self, estimates: Sequence[Estimate], by: str) -> Table | None:
        """Return the table of the groups with the most lines."""
        label = "system" if by == "system" else "group"
        rows = [e for e in estimates if (e.system if by == "system" else e.by == by)]
        sizes = Counter({getattr(e, label): e.n for e in rows})
        if len(sizes) < 2 and by == "system":
            return None
        kept = {group for group, _ in sizes.most_common(_LISTED_GROUPS)}
        notes = []
        if more := len(sizes) - len(kept):
            notes.append(f"The {len(kept)} groups with the most lines; {more:,} others are not shown.")
        if more := self._means.left_out[by]:
            notes.append(f"{more:,} lines of other groups are not in this table.")
        ends = " [low, high]" if self._means.by_context else ""
        columns = [Column(f"{name}{ends}", {"scorer": name}) for name in self._summaries]
        columns.append(Column("replies", {"scorer": self._name}, lambda e: f"{e.n:,}"))
        rows = [e for e in rows if getattr(e, label) in kept]
        return pivot(rows, label, columns, title=f"Mean score by {by}", heading=by, notes=notes)

    def _over_time(self) -> tuple[Chart | None, list[Estimate]]:
        """Return the means over the days, weeks, months or years of the column with the most dates."""
        from rejoinder.report.charts import curve

        if not self._dates:
            return None, []
        key = self._dates.most_common(1)[0][0]
        for unit, start in _UNITS.items():  # the first with few periods
            by = f"{key} by {unit}"
            periods = {day: start(date.fromisoformat(day)).isoformat() for day in self._means.sums[f"{DATE}{key}"]}
            if len({*periods.values()}) <= _PERIODS:
                break
        if len({*periods.values()}) < 2:
            return None, []
        estimates = self._means.estimates(f"{DATE}{key}", periods)
        means = [self._inside(replace(e, by=by)) for e in estimates]
        caption = f"Mean score by {self._name} for each {unit}; bands are 95 % intervals."
        of_first = [e for e in means if e.scorer == self._name]
        chart = curve("over-time", of_first, xlabel=key, ylabel="mean score", caption=caption, x=date.fromisoformat)
        return chart, means

    def save(self, *paths: Path, command_line: str = "", files: Sequence[str] = ()) -> None:
        """Write the report as HTML pages, whole or not at all."""
        from rejoinder.data.outputs import atomic_file
        from rejoinder.report.html import page
        from rejoinder.report.record import made

        results, lines = self.results(files), self.lines
        text = page(
            "scores",
            script="scores.js",
            title="Scores",
            made=made(results, command_line),
            results=results,
            layout=results.layout,
            parts=[section for section in results.layout.sections if any(section.blocks)],
            lines=lines,
            scorers=list(self._summaries),
            lead=self._name,
            highest=self._sign < 0,
            more=self._first.scored > len(lines),
            columns=[(place, by, sorted({line.groups[place] for line in lines})) for place, by in enumerate(self._by)],
        )
        for path in paths:
            with atomic_file(path) as partial:
                partial.write_text(text, encoding="utf-8", errors="backslashreplace")


_UNITS: Mapping[str, Callable[[date], date]] = {
    "day": lambda day: day,
    "week": lambda day: date.fromordinal(day.toordinal() - day.weekday()),
    "month": lambda day: day.replace(day=1),
    "year": lambda day: day.replace(month=1, day=1),
}


def _ends(scorer: Scorer) -> tuple[float | None, float | None]:
    """Return the lowest and the highest possible score; None for an end that does not exist."""
    inner = scorer.scorer if isinstance(scorer, DialogueScorer) else scorer
    return getattr(inner, "scale", None) or inner.card.range


def _scale(scorer: Scorer) -> tuple[float, float] | None:
    """Return the ends of a scorer's scale; None if it has none."""
    low, high = _ends(scorer)
    return None if low is None or high is None or not low < high else (float(low), float(high))


def _group(example: Example, by: str) -> str:
    """Return what a line has in a column, as text; a column that was read as a field has the value of the field."""
    value: Any = example.system if by == "system" else under(example.extra, by)
    if value is None:
        later = "system" if by.lower() in ALIASES["system"][1].split() else ""
        value = getattr(example, field_of(by) or later, None)
    if value is None or value == "":
        return _NO_VALUE
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _dates(example: Example) -> dict[str, str]:
    """Return the days of the columns that hold dates by ISO 8601; other dates are not read."""
    days = {}
    for key, value in example.extra.items():
        if isinstance(value, str) and 10 <= len(value) <= 40 and value[4] == value[7] == "-":
            with suppress(ValueError):
                days[key] = datetime.fromisoformat(value).date().isoformat()
    return days
