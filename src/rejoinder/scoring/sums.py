"""Sums of scores over a stream: histograms, and means by group with intervals over contexts."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace

from rejoinder.estimates import Estimate
from rejoinder.example import Example

CONTEXTS = 100_000
"""Different contexts up to which means have intervals."""
DATE = "date:"
"""Begins the name of a column of dates."""
_GROUPS = 2_000  # of a column
_BINS, _FIRST = 40, 10_000  # of a histogram; scores that set its ends if the scorer has no scale
_Cells = dict[int, tuple[float, int]]  # sum and number of scores by context


class Histogram:
    """Counts of scores in equal bins over a scale; scores outside it are in the bins at its ends."""

    def __init__(self, scale: tuple[float, float] | None) -> None:
        self.scale, self.counts, self._first = scale, [0] * _BINS, list[float]()
        self.outside = 0

    def add(self, value: float) -> None:
        """Count a score."""
        if self.scale is None:
            self._first.append(value)
            if len(self._first) == _FIRST:
                self.settle()
            return
        low, high = self.scale
        self.outside += not low <= value <= high
        self.counts[min(max(int((value - low) / (high - low) * _BINS), 0), _BINS - 1)] += 1

    def settle(self) -> None:
        """Set the ends by the first scores, unless there is a scale."""
        if self.scale is None and self._first:
            low, high = min(self._first), max(self._first)
            self.scale = (low, high) if high > low else (low - 0.5, high + 0.5)
            for value in self._first:
                self.add(value)

    @property
    def edges(self) -> list[float]:
        """The ends of the bins."""
        low, high = self.scale or (0.0, 1.0)
        return [low + (high - low) * place / _BINS for place in range(_BINS + 1)]


class Means:
    """Sums of scores by column, group and scorer, and by context while there are at most `CONTEXTS`."""

    def __init__(self) -> None:
        self.sums: dict[str, dict[str, dict[str, _Cells]]] = defaultdict(dict)
        self.left_out = Counter[str]()
        self._contexts: set[int] | None = set()

    @property
    def by_context(self) -> bool:
        """Whether sums are kept for each context."""
        return self._contexts is not None

    def add(self, example: Example, groups: Mapping[str, str], values: Mapping[str, float]) -> None:
        """Add the scores of a line, `groups` by column."""
        context = 0
        if self._contexts is not None:
            context = hash(example.order_key)
            self._contexts.add(context)
            if len(self._contexts) > CONTEXTS:
                self._contexts, context = None, 0
                self._merge_contexts()
        for by, group in groups.items():
            column = self.sums[by]
            if group not in column and len(column) >= _GROUPS and not by.startswith(DATE):
                self.left_out[by] += 1
                continue
            scorers = column.setdefault(group, {})
            for scorer, value in values.items():
                cells = scorers.setdefault(scorer, {})
                total, lines = cells.get(context, (0.0, 0))
                cells[context] = total + value, lines + 1

    def _merge_contexts(self) -> None:
        for scorers in (scorers for column in self.sums.values() for scorers in column.values()):
            scorers.update({scorer: {0: _total(cells)} for scorer, cells in scorers.items()})

    def estimates(self, by: str, periods: Mapping[str, str] | None = None) -> list[Estimate]:
        """Return the mean score by each scorer of each group of a column; `periods` puts groups together."""
        merged: dict[tuple[str, str], _Cells] = defaultdict(dict)
        for group, scorers in self.sums[by].items():
            for scorer, cells in scorers.items():
                whole = merged[periods[group] if periods else group, scorer]
                for context, (total, lines) in cells.items():
                    before = whole.get(context, (0.0, 0))
                    whole[context] = before[0] + total, before[1] + lines
        return [self._mean(by, group, scorer, cells) for (group, scorer), cells in merged.items()]

    def _mean(self, by: str, group: str, scorer: str, cells: _Cells) -> Estimate:
        total, n = _total(cells)
        mean, clusters = total / n, len(cells)
        labels = {"system": group} if by == "system" else {"by": by, "group": group} if by else {}
        estimate = Estimate(scorer=scorer, statistic="mean score", value=mean, n=n, **labels)  # type: ignore[arg-type]
        if not self.by_context:
            return replace(estimate, reason=f"no interval over more than {CONTEXTS:,} contexts")
        if clusters < 2:
            return replace(estimate, contexts=clusters, reason="no interval of a single context")
        from scipy.stats import t

        squares = math.fsum((part - mean * lines) ** 2 for part, lines in cells.values())
        half = float(t.ppf(0.975, clusters - 1)) * math.sqrt(clusters / (clusters - 1) * squares) / n
        method = f"mean of n = {n:,} replies; 95 % t interval over {clusters:,} contexts"
        return replace(estimate, contexts=clusters, low=mean - half, high=mean + half, method=method)


def _total(cells: _Cells) -> tuple[float, int]:
    """Return sum and number of the scores of all contexts."""
    return math.fsum(total for total, _ in cells.values()), sum(lines for _, lines in cells.values())
