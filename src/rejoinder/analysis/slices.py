"""Where a judge errs: its two shares by system, length, tools, sources, refusals, turn, and keys of the lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from rejoinder.analysis.labels import KINDS, Judged, judges_of, two_shares
from rejoinder.analysis.scored import ScoredSet
from rejoinder.data.examples import to_record
from rejoinder.data.values import under
from rejoinder.estimates import LEVEL, NAN, Estimate, adjusted, pick
from rejoinder.example import Example
from rejoinder.metrics.baselines import words
from rejoinder.report.tables import Column, Table, pivot
from rejoinder.report.written import interval, p_value
from rejoinder.stats.resamples import BoolArray, FloatArray, IntArray, renumbered

FEWEST_LINES = 5
"""Replies of one kind that a slice needs for a share."""
SLICES = ("system", "length", "tool call", "sources", "refusal", "turn")
"""The properties by which the shares are always given."""
_REFUSAL = re.compile(
    r"\b(?:can(?:no|['’])t|(?:am|are|['’]m|['’]re) (?:unable|not able) to|won['’]t|will not) (?:\w+ )?(?:help|"
    r"assist|do that|provide|answer|fulfil|comply|share)",
    re.IGNORECASE,
)
_MOST_VALUES = 20  # of a key of the lines: more are names, not kinds


def slices(scored: ScoredSet) -> list[Estimate]:
    """Return the two shares of each judge in each part of its labelled lines, tested against the other lines.

    Of fewer than five replies there are only counts. p are adjusted for all parts that were tried (Holm).
    """
    estimates = []
    for name in judges_of(scored):
        judge = Judged.of(scored, name)
        lines = [scored.rated.examples[row] for row in judge.rows[judge.judged].tolist()]
        lengths = np.array([len(words(line.response)) for line in lines])
        tried, tests = list[Estimate](), list[tuple[str, ...]]()
        every = _values(judge.lines, scored.judging.by) if scored.judging.chosen == "verdict" else {}
        for by, values in _values(lines, scored.judging.by).items():
            groups = [group for group in dict.fromkeys(values) if group]
            for group in groups if 1 < len(groups) <= _MOST_VALUES else ():
                passed = judge.passed(np.array(every[by]) == group) if every else None
                inside = np.array(values) == group
                shares = _of_part(judge, inside, lengths if by == "length" else inside, passed)
                tried += [replace(row, by=by, group=group) for row in shares]
                # The two parts of a property with two values are one test, and so is the length.
                tests += [(by, row.statistic, "" if len(groups) == 2 or by == "length" else group) for row in shares]
        p = {test: row.p for test, row in zip(tests, tried, strict=True) if not np.isnan(row.p)}
        corrected = dict(zip(p, adjusted(list(p.values())), strict=True))
        estimates += [replace(row, p_adjusted=corrected.get(test, NAN)) for row, test in zip(tried, tests, strict=True)]
    return estimates


def worst(estimates: Sequence[Estimate]) -> Estimate | None:
    """Return the part in which a judge is significantly worse than elsewhere, the worst of several; or None."""
    rows = pick(estimates, statistic=tuple(KINDS))
    whole = {row.statistic: row.value for row in rows if not row.by}
    worse = [row for row in rows if row.p_adjusted < LEVEL and row.known and row.value < whole[row.statistic]]
    return min(worse, key=lambda row: (row.p_adjusted, row.value), default=None)


def _of_part(judge: Judged, inside: BoolArray, tested: BoolArray | IntArray, passed: float | None) -> list[Estimate]:
    """Return the two shares of a part of the labelled lines with a verdict.

    The test is whether the shares depend on `tested`: whether a line is inside, or its length. `passed` is the share
    of all lines of this part that the judge passes, where labels were chosen by verdict; such shares are not tested.
    """
    estimates = []
    for row in two_shares(judge, judge.judged[inside], passed):
        kind = judge.labels[judge.judged] == KINDS[row.statistic]
        places = judge.judged[kind]
        right = ~judge.wrong[places]
        enough = min(row.n, len(places) - row.n) >= FEWEST_LINES
        p = apart(right.astype(np.float64), tested[kind], judge.contexts(places)) if enough and passed is None else NAN
        if row.n < FEWEST_LINES:
            few = f"{right[inside[kind]].sum()} of {row.n}: under {FEWEST_LINES} replies, so no share"
            row = replace(row, value=NAN, low=NAN, high=NAN, reason=few if row.n else row.reason)
        estimates.append(replace(row, p=p))
    return estimates


def apart(right: FloatArray, tested: BoolArray | IntArray, clusters: IntArray) -> float:
    """Return the p of `right` [N], 0 or 1, being unrelated to whether a line is in a part, or to a number of each line.

    The larger of Fisher's exact p (of a number: Mann and Whitney's), which takes lines as independent, and that of a
    score test over clusters.
    """
    from scipy.special import stdtr
    from scipy.stats import fisher_exact, mannwhitneyu, rankdata

    if tested.dtype == bool:
        table = [[int((right[part] == value).sum()) for value in (1, 0)] for part in (tested, ~tested)]
        alone = float(fisher_exact(table).pvalue)
    else:
        alone = float(mannwhitneyu(tested[right == 1], tested[right == 0]).pvalue) if 0 < right.mean() < 1 else 1.0
        tested = rankdata(tested)
    parts = np.bincount(renumbered(clusters), weights=(right - right.mean()) * (tested - tested.mean()))
    if len(parts) == len(right):
        return alone
    error = float(np.sqrt(parts @ parts))
    return max(alone, float(2 * stdtr(len(parts) - 1, -abs(parts.sum()) / error)) if error else 1.0)


def _values(lines: Sequence[Example], keys: Sequence[str]) -> Mapping[str, list[str]]:
    """Return the value of each line by property, "" without one."""
    lengths = np.array([len(words(line.response)) for line in lines])
    ends = np.quantile(lengths, [1 / 3, 2 / 3]) if len(lengths) else np.zeros(2)
    thirds = ["short" if size <= ends[0] else "long" if size >= ends[1] else "middle" for size in lengths.tolist()]
    properties: dict[str, Callable[[Example], str]] = {
        "tool call": lambda line: "tool call" if _calls_tool(line) else "no tool call",
        "sources": lambda line: "sources" if line.sources else "no sources",
        "refusal": lambda line: "refusal" if _REFUSAL.search(line.response) else "no refusal",
        "turn": lambda line: "later turn" if len(line.context) > 1 else "first turn",
        **{key: partial(_of_key, key) for key in keys},
    }
    values = {"system": [line.system or "" for line in lines], "length": thirds}
    return values | {name: [read(line) for line in lines] for name, read in properties.items()}


def _of_key(key: str, line: Example) -> str:
    """Return the value of a key of a line; in objects of the line, such as `metadata`, too."""
    record = to_record(line)
    value = under(record, key)
    return str(under(record, f"metadata.{key}") or "" if value is None else value)


def _calls_tool(line: Example) -> bool:
    """Return whether a tool was called before the reply."""
    messages = line.extra.get("messages")
    calls = ("tool_calls", "function_call")
    return isinstance(messages, list) and any(
        isinstance(message, Mapping) and (message.get("role") == "tool" or any(map(message.get, calls)))
        for message in messages
    )


def slices_table(estimates: list[Estimate]) -> Table | None:
    """Return the two shares by part."""
    rows = [row for row in pick(estimates, statistic=tuple(KINDS)) if row.by not in ("", "cutoff", "split")]
    several = len({row.scorer for row in rows}) > 1
    columns = []
    for statistic, title in (("TNR", "bad replies caught"), ("TPR", "good replies passed")):
        labels = {"statistic": statistic}
        columns += [
            Column(title, labels, partial(interval, share=True)),
            Column(f"n, {title}", labels, lambda row: f"{row.n:,}", spare=True),
            Column(f"p, {title}", labels, lambda row: p_value(row.p_adjusted)),
        ]
    return pivot(
        rows,
        lambda row: f"{f'{row.scorer}, ' if several else ''}{row.by}: {row.group}",
        columns,
        title="Where judges err",
        caption="p: the same share on the other lines, of length whatever it is; adjusted for all (Holm). Under five "
        "replies: a dash with the counts.",
        heading="part",
        in_order=True,
    )
