"""Scored lines and the summary of each scorer, for the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from rejoinder.data.scored_keys import EXPLAINED, INTERVALS, WARNINGS, WORST, are_explained, are_intervals
from rejoinder.report.tables import Table, table
from rejoinder.report.terminal import text_table
from rejoinder.report.written import number
from rejoinder.scorer import OUT_OF_DOMAIN, Explanation
from rejoinder.scoring.domain import INSTEAD
from rejoinder.scoring.explained import facts_warning
from rejoinder.scoring.noted import noted
from rejoinder.scoring.scoring import Summary

SHOWN = 20
_LONGEST, _REASONS, _WORST = 48, 3, 3


def lines_table(records: Iterable[Mapping[str, Any]], scorers: Sequence[str], width: int) -> str:
    """Return the first twenty scored lines; the others are read and counted.

    Explanations and warnings have columns of their own, if there are any.
    """
    stream = iter(records)
    shown = list(islice(stream, SHOWN))
    more = sum(1 for _ in stream)
    if not shown:
        return ""
    rows = [[record["id"], _short(record["response"]), *(_cell(record, name) for name in scorers)] for record in shown]
    header, folded = ["id", "response", *scorers], [1]
    more_columns: dict[str, list[str]] = {}
    for what, write in (("moved by", _moved), ("worst turns", _worst)):
        for name in scorers:
            title = f"{name}: {what}" if len(scorers) > 1 else what
            more_columns[title] = [write(record, name) for record in shown]
    more_columns["warnings"] = [_warnings(record[WARNINGS], scorers) for record in shown]
    for name, cells in more_columns.items():
        if any(cells):
            folded.append(len(header))
            header, rows = [*header, name], [[*row, cell] for row, cell in zip(rows, cells, strict=True)]
    text = text_table(header, rows, width, folded=folded)
    return text + (f"... and {more:,} more lines; --format jsonl shows all\n\n" if more else "\n")


def summary_table(summaries: Mapping[str, Summary], width: int) -> str:
    """Return how many scores are out of domain, a row for each scorer, the other warnings, and the signatures."""
    rows = summary_rows(summaries)
    text = text_table(rows.header, rows.texts, width)
    below = [*warning_lines(summaries), *(str(summary.signature) for summary in summaries.values())]
    domain = "".join(f"{line}\n" for line in domain_lines(summaries))
    return f"{domain}\n" * bool(domain) + text + "\n" + "".join(f"{line}\n" for line in below)


def summary_rows(summaries: Mapping[str, Summary]) -> Table:
    """Return a table with a row for each scorer: lines, mean, spread and corpus score."""
    rows = [
        [name, f"{s.scored:,}", f"{s.unscored:,}", *(number(value, 3) for value in (s.mean, s.deviation, s.corpus))]
        for name, s in summaries.items()
    ]
    return table(["scorer", "scored", "unscored", "mean", "sd", "corpus"], rows)


def warning_lines(summaries: Mapping[str, Summary]) -> list[str]:
    """Return that facts were not checked, why lines are unscored, and the warnings but for the domain."""
    scorers: dict[str, list[str]] = {}
    for name, summary in summaries.items():
        others = Counter({reason: count for reason, count in summary.reasons.items() if reason != OUT_OF_DOMAIN})
        for reason, count in others.most_common(_REASONS):
            scorers.setdefault(f"{count:,} unscored: {reason}", []).append(name)
    reasons = [f"{reason} ({', '.join(names)})" for reason, names in scorers.items()]
    lines = max((summary.scored + summary.unscored for summary in summaries.values()), default=0)
    warnings = {
        name: {warning: count for warning, count in summary.warnings.items() if warning != OUT_OF_DOMAIN}
        for name, summary in summaries.items()
    }
    facts = facts_warning({name: summary.scorer for name, summary in summaries.items()})
    return [*filter(None, [facts]), *reasons, *noted(warnings, lines)]


def domain_lines(summaries: Mapping[str, Summary]) -> list[str]:
    """Return a line for each scorer that could not judge some replies: how many, and what to do."""
    lines = []
    for name, summary in summaries.items():
        of = f"{summary.scored + summary.unscored:,} scores"
        domain = f" (it judges {summary.scorer.card.domain})" if summary.scorer.card.domain else ""
        why = f"out of domain, {name} cannot judge these replies{domain}. {INSTEAD}."
        if summary.withheld:
            keep = "--out-of-domain keep writes these scores with this warning."
            lines.append(f"{summary.withheld:,} of {of} withheld: {why} {keep}")
        elif count := summary.warnings[OUT_OF_DOMAIN]:
            lines.append(f"{count:,} of {of} with a warning: {why}")
    return lines


def worst_turns(turns: Sequence[Mapping[str, Any]]) -> str:
    """Return the worst turns of a conversation, with their scores."""
    return "; ".join(f"{turn['turn']} ({number(turn['score'])}): {_short(turn['response'])}" for turn in turns[:_WORST])


def _warnings(by_scorer: Mapping[str, Sequence[str]], scorers: Sequence[str]) -> str:
    """Return the warnings about one line, each once."""
    return ", ".join(dict.fromkeys(warning for name in scorers for warning in by_scorer.get(name, ())))


def _moved(record: Mapping[str, Any], scorer: str) -> str:
    """Return the explanation of a score, or ""."""
    explained = record.get(EXPLAINED)
    return Explanation(**explained[scorer]).words if are_explained(explained) and scorer in explained else ""


def _worst(record: Mapping[str, Any], scorer: str) -> str:
    """Return the worst turns of a conversation by one scorer, or ""."""
    return worst_turns(record.get(WORST, {}).get(scorer, ()))


def _cell(record: Mapping[str, Any], scorer: str) -> str:
    """Return a score, with its interval if the scorer gives one, or a dash."""
    score, ends = record["scores"][scorer], record.get(INTERVALS)
    text = number(float("nan") if score is None else score, 3)
    if not are_intervals(ends) or scorer not in ends:
        return text
    return f"{text} [{', '.join(number(end) for end in ends[scorer])}]"


def _short(text: str) -> str:
    """Return a text cut to fit a cell."""
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONGEST else flat[: _LONGEST - 3] + "..."
