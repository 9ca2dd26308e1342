"""Scoring a stream: records with their scores, a chunk in memory at a time, and what they come to in the end."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rejoinder.data.examples import to_record
from rejoinder.data.scored_keys import EXPLAINED, INTERVALS, NOTES, SCORED, WORST, of_scoring
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
from rejoinder.scoring.explained import require_explained
from rejoinder.scoring.parts import Scoring, here, in_parts
from rejoinder.scoring.unscored import nothing_scored, unread
from rejoinder.scoring.withholding import INSTEAD, OutOfDomain, require_choice, withhold

CHUNK = 2048


@dataclass
class Tally:
    """What the scores of one scorer come to over a stream; grows chunk by chunk.

    Attributes:
        scorer: whose scores.
        scored: how many lines have one.
        total: their sum.
        squares: the sum of their squares.
        reasons: why lines are unscored, counted.
        notes: what the scorer cannot judge, counted in lines.
        statistics: [K] summed statistics, for scorers whose corpus score is not the mean.
        combine: from summed statistics to the corpus score.
        unread: columns of text that were not read, of the first lines.
    """

    scorer: Scorer
    scored: int = 0
    total: float = 0.0
    squares: float = 0.0
    reasons: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    statistics: FloatArray | None = None
    combine: Callable[[FloatArray], float] | None = None
    unread: Sequence[str] = ()

    def add(self, scores: Scores) -> None:
        """Count the scores of one chunk."""
        values = scores.values[scores.scored]
        self.scored += len(values)
        self.total += float(values.sum())
        self.squares += float((values**2).sum())
        self.reasons.update(scores.reasons.values())
        self.notes.update(scores.warning_counts)
        self.combine = self.combine or scores.combine
        if scores.statistics is not None:
            added = scores.statistics[scores.scored].sum(axis=0)
            self.statistics = added if self.statistics is None else self.statistics + added

    @property
    def signature(self) -> Signature:
        """Where the scores came from."""
        return signature_of(self.scorer)

    @property
    def unscored(self) -> int:
        """How many lines have no score."""
        return self.reasons.total()

    @property
    def withheld(self) -> int:
        """How many scores are withheld because the reply is out of the scorer's domain."""
        return self.reasons[OUT_OF_DOMAIN]

    @property
    def mean(self) -> float:
        """The mean score; NaN where nothing was scored."""
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


def score_stream(
    examples: Iterable[Example],
    tallies: Mapping[str, Tally],
    *,
    explain: bool = False,
    out_of_domain: OutOfDomain = "withhold",
    chunk: int = CHUNK,
    scoring: Scoring | None = None,
    begun: bool = False,
    advance: Advance = ignore,
) -> Iterator[dict[str, Any]]:
    """Yield one record a line, in order: id, scores, reasons for missing ones, notes, signatures, the input's keys.

    `intervals` are there too, where a scorer says how sure it is of each score, and `explained` where that was asked
    for; of scores of whole conversations `worst_turns`. A key of the user's own that is called so is written back as
    `input_notes` and so on.

    Args:
        examples: any iterable; `chunk` of them are in memory at a time. Scores that they carry from an earlier run
            stay, but for those that are given anew.
        tallies: one fresh `Tally` a scorer, by the name it has in the records; filled as the stream is read.
        explain: whether records say what moved each score, of the scorers that can tell.
        out_of_domain: `withhold` leaves out scores of replies that a scorer cannot judge, with the reason
            `out of domain`; `keep` writes them. Their notes are there either way.
        chunk: lines scored together; no score depends on it.
        scoring: what scores by these scorers somewhere else (`streams.parts.elsewhere`); None scores here.
        begun: whether an earlier call scored lines already, so that there may be none left.
        advance: called with the number of lines of each chunk when it is done.

    Raises:
        DataError: there is not a single line.
        UsageError: no scorer says what moves its scores, and `explain` asks for it; or `out_of_domain` is another word.
    """
    require_choice(out_of_domain)
    scorers = {name: tally.scorer for name, tally in tallies.items()}
    if explain:
        require_explained(scorers)
    for judged in (scoring or here(scorers, explain=explain))(in_parts(examples, chunk)):
        results = {
            name: withhold(scores) if out_of_domain == "withhold" else scores for name, scores in judged.scores.items()
        }
        for name, scores in results.items():
            tallies[name].add(scores)
            tallies[name].unread = tallies[name].unread or unread(judged.examples)
        signatures = {name: str(scores.signature) for name, scores in results.items()}
        for row, example in enumerate(judged.examples):
            yield _scored_record(example, row, results, signatures, _explained(judged.told, results, row))
        advance(len(judged.examples))
    if not begun and not any(tally.scored or tally.unscored for tally in tallies.values()):
        raise DataError("no line is left to score", "Correct those that were skipped")


def require_some(tallies: Sequence[Tally]) -> None:
    """Raise where there were lines and not one scorer could score a single one of them.

    Raises:
        NothingScored: with the most frequent reasons.
    """
    if any(tally.scored for tally in tallies) or not any(tally.unscored for tally in tallies):
        return
    why = ", ".join(dict.fromkeys(reason for tally in tallies for reason, _ in tally.reasons.most_common(1)))
    if any(tally.withheld for tally in tallies):
        why += f". {INSTEAD}; --out-of-domain keep writes the scores of replies that a judge cannot judge"
    raise nothing_scored(f"none of {tallies[0].unscored} lines has a score: {why}", tallies[0].unread)


def _intervals(results: Mapping[str, Scores], row: int) -> dict[str, Any]:
    """The interval of one line's score, of the scorers that give one."""
    return {
        name: [float(scores.low[row]), float(scores.high[row])]
        for name, scores in results.items()
        if scores.low is not None and scores.high is not None and math.isfinite(scores.low[row])
    }


def _worst(results: Mapping[str, Scores], row: int) -> dict[str, Any]:
    """The worst turns of one line, where the score is of a conversation."""
    return {
        name: [turn._asdict() for turn in scores.details[row][WORST]]
        for name, scores in results.items()
        if WORST in scores.details.get(row, ())
    }


def _explained(
    found: Mapping[str, Sequence[Explanation | None]], results: Mapping[str, Scores], row: int
) -> dict[str, Any]:
    """Return the explanations of one line's scores, by scorer; a withheld score has none."""
    return {
        name: {"base": explanation.base, "moved": dict(explanation.moved)}
        for name, rows in found.items()
        if (explanation := rows[row]) and results[name].reasons.get(row) != OUT_OF_DOMAIN
    }


def _scored_record(
    example: Example,
    row: int,
    results: Mapping[str, Scores],
    signatures: Mapping[str, str],
    explained: dict[str, Any],
) -> dict[str, Any]:
    """The output line of one example; what an earlier run wrote stays, but for scorers of this run."""
    record = to_record(example)
    table_row: Mapping[str, Any] | None = record.pop(ROW, None)
    beside = {INTERVALS: _intervals(results, row), EXPLAINED: explained, WORST: _worst(results, row)}
    for key in (NOTES, *(key for key, own in beside.items() if own)):
        if record.get(key) is not None and not of_scoring(key, record[key]):
            record[f"input_{key}"] = record.pop(key)
    written = [key for key, own in beside.items() if own or of_scoring(key, record.get(key))]
    earlier = {key: record.pop(key, None) or {} for key in (*SCORED, NOTES, *written)}
    for key in ("unscored", NOTES, *written):
        earlier[key] = {name: found for name, found in earlier[key].items() if name not in results}
    values = {name: float(scores.values[row]) for name, scores in results.items()}
    reasons = {name: scores.reasons[row] for name, scores in results.items() if row in scores.reasons}
    notes = {name: list(scores.warnings[row]) for name, scores in results.items() if row in scores.warnings}
    added = {
        "scores": earlier["scores"] | {name: None if math.isnan(value) else value for name, value in values.items()},
        "unscored": earlier["unscored"] | reasons,
        NOTES: earlier[NOTES] | notes,
        **{key: earlier[key] | beside[key] for key in written},
        "signatures": earlier["signatures"] | dict(signatures),
    }
    if table_row is not None:
        return _with_row(_without_details(table_row, results), added, record)
    return {"id": record.pop("id"), **added, **record}


def _without_details(row: Mapping[str, Any], scorers: Iterable[str]) -> Mapping[str, Any]:
    """Return a row with empty cells for the intervals and explanations that an earlier run of these scorers wrote."""
    if not {"unscored", "signatures"} <= row.keys():
        return row
    begins = tuple(f"{EXPLAINED}.{name}." for name in scorers)
    ends = {f"{end}.{name}" for name in scorers for end in ("low", "high")}
    return {key: None if key in ends or key.startswith(begins) else cell for key, cell in row.items()}


def _with_row(row: Mapping[str, Any], added: Mapping[str, Any], record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of a table as it was read, with what scoring adds behind it.

    A column that an earlier run added is written anew. A column of the user's own that has such a name stays, and what
    scoring adds goes under `rejoinder_NAME`.
    """
    scored_before = {"unscored", "signatures"} <= row.keys()
    names = {key: f"rejoinder_{key}" for key in added}
    own = {key for key in added if key in row and (names[key] in row or not scored_before)}
    renamed = {names[key] if key in own else key: value for key, value in added.items()}
    kept = {name: cell for name, cell in row.items() if name in own or name not in renamed}
    file = {"file": record["file"]} if "file" in record and "file" not in row else {}
    return {**kept, **renamed, **file}
