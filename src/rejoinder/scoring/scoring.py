"""Scoring a stream: lines with their scores, few of them in memory at a time, and a summary of each scorer."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rejoinder.data.examples import to_record
from rejoinder.data.scored_keys import (
    EXPLAINED,
    INTERVALS,
    NOTES,
    WARNINGS,
    WORST,
    are_earlier_notes,
    of_scoring,
)
from rejoinder.errors import DataError
from rejoinder.example import ROW, Example
from rejoinder.scorer import (
    OUT_OF_DOMAIN,
    Advance,
    Explanation,
    FloatArray,
    Scorer,
    Scores,
    Signature,
    ignore,
    signature_of,
)
from rejoinder.scoring.domain import INSTEAD, OutOfDomain, require_choice, withhold
from rejoinder.scoring.explained import require_explained
from rejoinder.scoring.unscored import nothing_scored, unread
from rejoinder.scoring.workers import Asked, Workers

_IF_ANY = (INTERVALS, EXPLAINED, WORST)  # keys that are left out of a line without them


@dataclass
class Summary:
    """The scores of one scorer over a stream, in sums; grows part by part.

    Attributes:
        scorer: the scorer.
        scored: number of lines with a score.
        total: sum of the scores.
        squares: sum of their squares.
        reasons: why lines are unscored, counted.
        warnings: the warnings, counted in lines.
        statistics: [K] summed statistics, for scorers whose corpus score is not the mean.
        combine: from summed statistics to the corpus score.
        unread: columns of text that were not read, of the first lines.
    """

    scorer: Scorer
    scored: int = 0
    total: float = 0.0
    squares: float = 0.0
    reasons: Counter[str] = field(default_factory=Counter)
    warnings: Counter[str] = field(default_factory=Counter)
    statistics: FloatArray | None = None
    combine: Callable[[FloatArray], float] | None = None
    unread: Sequence[str] = ()

    def add(self, scores: Scores) -> None:
        """Add the scores of one part."""
        values = scores.values[scores.scored]
        self.scored += len(values)
        self.total += float(values.sum())
        self.squares += float((values**2).sum())
        self.reasons.update(scores.reasons.values())
        self.warnings.update(scores.warning_counts)
        self.combine = self.combine or scores.combine
        if scores.statistics is not None:
            added = scores.statistics[scores.scored].sum(axis=0)
            self.statistics = added if self.statistics is None else self.statistics + added

    @property
    def signature(self) -> Signature:
        """The origin of the scores."""
        return signature_of(self.scorer)

    @property
    def unscored(self) -> int:
        """Number of lines without a score."""
        return self.reasons.total()

    @property
    def withheld(self) -> int:
        """Number of scores that are withheld because the reply is out of the scorer's domain."""
        return self.reasons[OUT_OF_DOMAIN]

    @property
    def mean(self) -> float:
        """The mean score; NaN without any."""
        return self.total / self.scored if self.scored else math.nan

    @property
    def deviation(self) -> float:
        """The standard deviation (n - 1) of the scores; NaN for fewer than two."""
        if self.scored < 2:
            return math.nan
        return math.sqrt(max(self.squares - self.scored * self.mean**2, 0.0) / (self.scored - 1))

    @property
    def corpus(self) -> float:
        """The score of all scored lines together: from summed statistics where the scorer has them, else the mean."""
        if not self.scored or self.statistics is None or self.combine is None:
            return self.mean
        return float(self.combine(self.statistics))


class ScoredLine(NamedTuple):
    """A line with its scores, signatures and explanations, by scorer."""

    example: Example
    row: int  # in the part that it belongs to
    results: Mapping[str, Scores]  # of this part
    signatures: Mapping[str, str]
    explained: Mapping[str, Explanation]

    def value(self, scorer: str) -> float:
        """Return a score; NaN without one."""
        return float(self.results[scorer].values[self.row])

    def interval(self, scorer: str) -> list[float] | None:
        """Return the interval of a score, if the scorer gives one."""
        scores = self.results[scorer]
        if scores.low is None or scores.high is None or not math.isfinite(scores.low[self.row]):
            return None
        return [float(scores.low[self.row]), float(scores.high[self.row])]

    def warnings(self, scorer: str) -> tuple[str, ...]:
        """Return the warnings of a scorer about this line."""
        return self.results[scorer].warnings.get(self.row, ())

    def record(self, *, table: bool = True) -> dict[str, Any]:
        """Return the line to write: id, scores, reasons for missing ones, warnings, signatures, the input's keys.

        `intervals`, `explained` and `worst_turns` are there too if there are any. What an earlier run wrote stays, but
        for scorers of this run; its `notes`, as earlier versions called the warnings, become `warnings`. A key of the
        user with one of these names is written back as `input_NAME`.

        Args:
            table: whether a row of a table keeps its own columns.
        """
        record = to_record(self.example)
        row: Mapping[str, Any] | None = record.pop(ROW, None)
        before = record.pop(NOTES) if are_earlier_notes(record) else None
        added = self._added()
        for key in (WARNINGS, *_IF_ANY):
            if (added[key] or key == WARNINGS) and record.get(key) is not None and not of_scoring(key, record[key]):
                record[f"input_{key}"] = record.pop(key)
        for key in _IF_ANY:
            if not added[key] and not of_scoring(key, record.get(key)):
                del added[key]
        for key, by_scorer in added.items():
            earlier = record.pop(key, None) or {}
            if key == WARNINGS and before:
                earlier = {**before, **earlier}
            if key not in ("scores", "signatures"):  # these two keep their order
                earlier = {name: value for name, value in earlier.items() if name not in self.results}
            added[key] = earlier | by_scorer
        if row is None or not table:
            return {"id": record.pop("id"), **added, **record}
        if before is not None:
            row = {key: cell for key, cell in row.items() if key != NOTES}
        return _with_row(_without_details(row, self.results), added, record)

    def _added(self) -> dict[str, dict[str, Any]]:
        """Return what scoring adds to the line."""
        row, scores = self.row, self.results
        values = {name: self.value(name) for name in scores}
        ends = {name: self.interval(name) for name in scores}
        return {
            "scores": {name: None if math.isnan(value) else value for name, value in values.items()},
            "unscored": {name: part.reasons[row] for name, part in scores.items() if row in part.reasons},
            WARNINGS: {name: list(part.warnings[row]) for name, part in scores.items() if part.warnings.get(row)},
            INTERVALS: {name: both for name, both in ends.items() if both is not None},
            EXPLAINED: {name: {"base": why.base, "moved": dict(why.moved)} for name, why in self.explained.items()},
            WORST: self.worst(),
            "signatures": dict(self.signatures),
        }

    def worst(self) -> dict[str, Any]:
        """Return the worst turns by scorer, where the score is of a conversation."""
        return {
            name: [turn._asdict() for turn in scores.details[self.row][WORST]]
            for name, scores in self.results.items()
            if WORST in scores.details.get(self.row, ())
        }


def score_lines(
    examples: Iterable[Example],
    summaries: Mapping[str, Summary],
    *,
    out_of_domain: OutOfDomain = "withhold",
    workers: Workers | None = None,
    asked: Asked | None = None,
    begun: bool = False,
    advance: Advance = ignore,
) -> Iterator[ScoredLine]:
    """Yield the examples with their scores, in order; see `score_stream`, and `Workers.score` for `asked`."""
    require_choice(out_of_domain)
    scorers = {name: summary.scorer for name, summary in summaries.items()}
    for part in (workers or Workers()).score(scorers, examples, asked):
        results = {
            name: withhold(scores) if out_of_domain == "withhold" else scores for name, scores in part.scores.items()
        }
        for name, scores in results.items():
            summaries[name].add(scores)
            summaries[name].unread = summaries[name].unread or unread(part.examples)
        signatures = {name: str(scores.signature) for name, scores in results.items()}
        for row, example in enumerate(part.examples):
            explained = {  # a score that is withheld has no explanation
                name: explanation
                for name, explanations in part.explained.items()
                if (explanation := explanations[row]) and results[name].reasons.get(row) != OUT_OF_DOMAIN
            }
            yield ScoredLine(example, row, results, signatures, explained)
        advance(len(part.examples))
    if not begun and not any(summary.scored or summary.unscored for summary in summaries.values()):
        raise DataError("no line is left to score", "Correct those that were skipped")


def score_stream(
    examples: Iterable[Example],
    summaries: Mapping[str, Summary],
    *,
    explain: bool = False,
    out_of_domain: OutOfDomain = "withhold",
    advance: Advance = ignore,
) -> Iterator[dict[str, Any]]:
    """Yield one record for each example, in order: what `rejoinder score` writes (see `ScoredLine.record`).

    Args:
        examples: any iterable; 512 of them are in memory at a time. Their scores from an earlier run stay, but for
            those of the same scorers.
        summaries: a fresh `Summary` for each scorer, by its name in the records; filled as the stream is read.
        explain: whether records hold explanations, of the scorers that explain their scores.
        out_of_domain: `withhold` leaves out scores of replies that a scorer cannot judge, with the reason
            `out of domain`; `keep` writes them. Their warnings are there in both cases.
        advance: called with the number of lines of each part when it is done.

    Raises:
        DataError: there is not a single line.
        UsageError: no scorer explains its scores, and `explain` is true; or `out_of_domain` is another word.
    """
    if explain:
        require_explained({name: summary.scorer for name, summary in summaries.items()})
    asked = Asked((), explain=explain)
    lines = score_lines(examples, summaries, out_of_domain=out_of_domain, asked=asked, advance=advance)
    return (line.record() for line in lines)


def require_some(summaries: Sequence[Summary]) -> None:
    """Raise `NothingScored` with the most frequent reasons if there were lines and none of them has a score."""
    if any(summary.scored for summary in summaries) or not any(summary.unscored for summary in summaries):
        return
    why = ", ".join(dict.fromkeys(reason for summary in summaries for reason, _ in summary.reasons.most_common(1)))
    if any(summary.withheld for summary in summaries):
        why += f". {INSTEAD}; --out-of-domain keep writes the scores of replies that a judge cannot judge"
    raise nothing_scored(f"none of {summaries[0].unscored} lines has a score: {why}", summaries[0].unread)


def _without_details(row: Mapping[str, Any], scorers: Iterable[str]) -> Mapping[str, Any]:
    """Return a row with empty cells for the intervals and explanations that an earlier run of these scorers wrote."""
    if not {"unscored", "signatures"} <= row.keys():
        return row
    begins = tuple(f"{EXPLAINED}.{name}." for name in scorers)
    ends = {f"{end}.{name}" for name in scorers for end in ("low", "high")}
    return {key: None if key in ends or key.startswith(begins) else cell for key, cell in row.items()}


def _with_row(row: Mapping[str, Any], added: Mapping[str, Any], record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of a table as it was read, followed by what scoring adds.

    A column that an earlier run added is written again. A column of the user with such a name stays, and what scoring
    adds goes under `rejoinder_NAME`.
    """
    scored_before = {"unscored", "signatures"} <= row.keys()
    names = {key: f"rejoinder_{key}" for key in added}
    of_user = {key for key in added if key in row and (names[key] in row or not scored_before)}
    renamed = {names[key] if key in of_user else key: value for key, value in added.items()}
    kept = {name: cell for name, cell in row.items() if name in of_user or name not in renamed}
    file = {"file": record["file"]} if "file" in record and "file" not in row else {}
    return {**kept, **renamed, **file}
