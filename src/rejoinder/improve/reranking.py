"""`rerank`: the best of several replies to each context, and whether the chosen replies are better."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rejoinder.data.examples import to_record
from rejoinder.data.files import OnError
from rejoinder.data.read import raise_error
from rejoinder.errors import UsageError
from rejoinder.example import UNANSWERED
from rejoinder.improve.choosing import Choice, choose, require_direction
from rejoinder.improve.measuring import Measuring
from rejoinder.improve.pools import CANDIDATES, Pool, pools_by, pools_in
from rejoinder.improve.rerank_results import results_of
from rejoinder.improve.winnings import Winnings
from rejoinder.models.decoding import Decoding
from rejoinder.report.results import Results
from rejoinder.scorer import Advance, ScorerLike, finish, ignore, signature_of
from rejoinder.scoring.catalog import DEFAULT, load_responders, load_scorers
from rejoinder.scoring.replies import GivenContext, ResponderLike, Tally, as_examples, several
from rejoinder.stats.resamples import Sampling

CHUNK = 2048
"""Candidates that are scored together."""


@dataclass(frozen=True)
class Reranked:
    """Lines of chosen replies, made as they are read, and their results.

    Attributes:
        lines: one mapping a context, which `score` and `examples_of` take.
        tallies: counts of each responder, by its name; complete when all lines were read.
    """

    lines: Iterator[dict[str, Any]]
    tallies: Mapping[str, Tally]
    _winnings: Winnings
    _sampling: Sampling

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Return the lines that were not read yet."""
        return self.lines

    @property
    def results(self) -> Results:
        """The results of the lines that were read so far.

        Raises:
            UsageError: no line was read.
        """
        if not self._winnings.contexts:
            raise UsageError(
                "no line was read yet, so nothing was chosen. Read the lines first: lines = list(reranked)"
            )
        return results_of(self._winnings, self._sampling)


def rerank(
    contexts: Iterable[GivenContext],
    responders: ResponderLike | Sequence[ResponderLike] = (),
    scorer: ScorerLike = DEFAULT,
    *,
    measure_by: ScorerLike | None = None,
    at_least: float | None = None,
    every: bool = False,
    count: int = 1,
    decoding: Decoding | None = None,
    withhold: bool = False,
    resamples: int = 1000,
    seed: int = 0,
    on_error: OnError = raise_error,
    advance: Advance = ignore,
) -> Reranked:
    """Choose the best of several replies to each context, by a scorer; lines that `score` takes, made as they are read.

    Args:
        contexts: examples or dicts with the keys of an input line, or turns, oldest first. Without responders each has
            its replies under `candidates`, or is one of the replies to its context (those are held in memory).
        responders: see `load_responder`; none if the lines hold their candidates.
        scorer: what chooses; references are hidden from it unless it reads nothing else. See `load_scorer`.
        measure_by: a scorer that did not choose, to measure whether the chosen replies are better.
        at_least: the score that the chosen reply needs; if no candidate has it, the line is unanswered.
        every: whether each line also holds all `candidates` with their scores.
        count: replies of each responder, 1 or more.
        decoding: how a model that writes replies word by word chooses the words; default: its own way.
        withhold: whether a retrieval model leaves out the first reference, or without references the response.
        resamples: of contexts, for the intervals.
        seed: of the replies and the resamples.
        on_error: called with the error of a list that holds something other than replies.
        advance: called with the number of contexts that are done.

    Raises:
        UsageError: there is no such scorer or responder, or one that measures has chosen too; a scorer claims no
            direction; a number is out of range.
        DataError: once lines are taken: a list holds something else than replies, or there is nothing to choose.
        NothingScored: once lines are taken: no candidate has a score.
    """
    sampling = Sampling.checked(resamples, seed)
    if at_least is not None and not math.isfinite(at_least):
        raise UsageError(f"at_least is {at_least}, expected a finite number")
    winnings = Winnings(*_scorers(scorer, measure_by))
    tallies = {name: Tally(one) for name, one in load_responders(several(responders), decoding=decoding).items()}
    lines = as_examples(contexts)
    pools = (
        pools_by(lines, tallies, count=count, seed=seed, withhold=withhold) if tallies else pools_in(lines, on_error)
    )
    found = _stream(pools, winnings, at_least=at_least, every=every, advance=advance)
    return Reranked(found, tallies, winnings, sampling)


def _scorers(scorer: ScorerLike, measure_by: ScorerLike | None) -> tuple[Any, ...]:
    """What chooses and what measures, each with its name."""
    ((name, chooser),) = load_scorers([scorer]).items()
    require_direction(chooser, "choose")
    if measure_by is None:
        return (name, chooser), None
    ((by, measure),) = load_scorers([measure_by]).items()
    require_direction(measure, "measure")
    if by == name or str(signature_of(measure)) == str(signature_of(chooser)):
        raise UsageError(f"{by} chose the replies, and finds them better for that. Measure by another scorer")
    return (name, chooser), (by, Measuring(measure))


def _stream(
    pools: Iterable[Pool], winnings: Winnings, *, at_least: float | None, every: bool, advance: Advance
) -> Iterator[dict[str, Any]]:
    """Yield the line of each pool; a chunk of candidates is scored together."""
    for part in _chunks(pools):
        choices = choose(winnings.chooser[1], part, at_least)
        measured = winnings.add(choices)
        for choice, value in zip(choices, measured, strict=True):
            yield _record(choice, winnings, value, every=every)
        advance(len(part))
    finish(winnings.chooser[1])
    if winnings.measuring is not None:
        finish(winnings.measuring[1].scorer)
    winnings.require_choice(bar=at_least is not None)


def _chunks(pools: Iterable[Pool]) -> Iterator[list[Pool]]:
    """Pools, as many together as have some `CHUNK` candidates."""
    part, size = list[Pool](), 0
    for pool in pools:
        part.append(pool)
        size += len(pool.candidates) + 1
        if size >= CHUNK:
            yield part
            part, size = [], 0
    if part:
        yield part


def _record(choice: Choice, winnings: Winnings, measured: float, *, every: bool) -> dict[str, Any]:
    """The line of one context."""
    name, scorer = winnings.chooser
    record = to_record(choice.pool.context if choice.reply is None else choice.reply)
    if choice.place is None:
        record[UNANSWERED] = choice.reason
    else:
        scores, signatures = {name: float(choice.values[choice.place])}, {name: str(signature_of(scorer))}
        if winnings.measuring is not None and math.isfinite(measured):
            by, measuring = winnings.measuring
            scores[by], signatures[by] = measured, str(signature_of(measuring.scorer))
        for key, own in (("scores", scores), ("signatures", signatures)):
            record[key] = {**(record.get(key) or {}), **own}
        if "score" not in choice.pool.context.extra:
            record.pop("score", None)  # of a list that says what its responder gave for each reply
    return {**record, CANDIDATES: [_candidate(choice, place) for place in choice.order]} if every else record


def _candidate(choice: Choice, place: int) -> dict[str, Any]:
    """One candidate with its score, or why it could not be chosen."""
    one, value = choice.pool.candidates[place], float(choice.values[place])
    found: dict[str, Any] = {"response": one.response}
    if one.system is not None:
        found["system"] = one.system
    found["score"] = value if math.isfinite(value) else None
    return {**found, "unscored": choice.reasons[place]} if place in choice.reasons else found
