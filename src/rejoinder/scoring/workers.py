"""Scoring in parts: in this process, in one process for each core, or in a Ray cluster.

A stream is scored in parts of 512 lines. Wherever it has more than one part, matrices are multiplied on one thread. So
scores do not depend on where a part is scored. A worker loads the scorers by name; no scorer and no code is sent.
Results come in the order of the input, and few parts are in memory at a time.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import accumulate, chain, islice
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np

from rejoinder.data.joins import Note
from rejoinder.data.read import silent
from rejoinder.errors import UsageError, WorkersLost
from rejoinder.example import Example
from rejoinder.judges.protocol import is_judge
from rejoinder.llm import ENDPOINTS
from rejoinder.scorer import Advance, FloatArray, Scorer, Scores, finish, ignore, run, signature_of
from rejoinder.scoring.catalog import PREFIXES
from rejoinder.scoring.dialogue import DialogueScorer
from rejoinder.scoring.engines import Asked as Asked
from rejoinder.scoring.engines import Engine, Job, Lost, ProcessPool, ScoredPart, in_parts, score_part
from rejoinder.scoring.engines import asked_of as asked_of

AHEAD = 4  # parts for each worker that are read and not written yet
ATTEMPTS = 3  # workers that a part may end
MOST = 8  # processes, unless the user asks for more: each takes 160 MB with the bundled judge
PAYS = 0.5  # seconds for the first part; below that, reading and writing take most of the time
FOLLOWING = 3  # parts after it; for fewer, starting a process takes longer than scoring them here

Count = int | Literal["auto"]


class Workers:
    """Where parts are scored. As a context manager it ends its processes.

    The first part is always scored in this process, so that few lines never wait for a process to start.

    Args:
        count: how many processes. `auto` takes one for each core, at most eight, if the first part took half a second
            or more and three parts follow, and only for scorers that have a name without a prefix. 1 scores here.
        engine: other processes, instead of those of this machine.
        note: gets a message when a worker ended.

    Raises:
        UsageError: `count` is no number from 1 on.
    """

    def __init__(self, count: Count = 1, *, engine: Engine | None = None, note: Note = silent) -> None:
        if count != "auto" and (not isinstance(count, int) or count < 1):
            raise UsageError(f"workers is {count!r}. Use a number from 1 on, or auto")
        self.count, self._engine, self._note = count, engine, note
        self._asked_for = engine is not None or count != "auto"

    def __enter__(self) -> Self:
        """Return itself; processes start when the first part has shown that they pay."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """End the processes, at once after an error."""
        if self._engine is not None:
            self._engine.close(now=kind is not None)
            self._engine = None

    def score(
        self, scorers: Mapping[str, Scorer], examples: Iterable[Example], asked: Asked | None = None
    ) -> Iterator[ScoredPart]:
        """Yield the examples in parts with their scores, in order.

        Args:
            scorers: as they are here, by name.
            examples: any iterable.
            asked: the same scorers as other processes load them, in this order; None scores here.
        """
        asked, stream = asked or Asked(()), in_parts(examples)
        names = zip(scorers, asked.names, strict=False)
        sent = {label: name for label, name in names if _is_sent(name, asked_for=self._asked_for)}
        seconds = 0.0
        for part in islice(stream, 1):
            began = time.monotonic()
            first = score_part(scorers, part, explain=asked.explain)
            seconds = time.monotonic() - began  # before the caller does anything with it
            yield first
        least = 1 if self._asked_for else FOLLOWING
        ahead = list(islice(stream, least)) if sent and (self._asked_for or seconds >= PAYS) else []
        engine = self._processes() if len(ahead) == least else None
        rest = chain(ahead, stream)
        if engine is None:
            yield from (score_part(scorers, part, explain=asked.explain, several=True) for part in rest)
        else:
            yield from self._elsewhere(engine, scorers, sent, asked, rest)
        for scorer in scorers.values():
            finish(scorer)

    def _processes(self) -> Engine | None:
        """Return the processes, started if need be; None if one is enough, or if this system has none."""
        count = min(cores(), MOST) if self.count == "auto" else self.count
        if self._engine is None and count > 1:
            try:
                self._engine = ProcessPool(count)
            except (ImportError, NotImplementedError, OSError):  # no shared memory for locks, as in some containers
                if self._asked_for:
                    raise
        return self._engine

    def _elsewhere(
        self,
        engine: Engine,
        scorers: Mapping[str, Scorer],
        sent: Mapping[str, str],
        asked: Asked,
        stream: Iterator[list[Example]],
    ) -> Iterator[ScoredPart]:
        """Score parts in other processes, and here by the scorers that are not sent."""
        local = {label: scorer for label, scorer in scorers.items() if label not in sent}
        away = {label: scorers[label] for label in sent}
        inner = [scorer.scorer if isinstance(scorer, DialogueScorer) else scorer for scorer in away.values()]
        vectors = asked.vectors if any("vectors" in scorer.card.needs for scorer in away.values()) else None
        scale = asked.scale if any(map(is_judge, inner)) else None
        signatures = tuple(str(signature_of(scorer)) for scorer in away.values())
        job = Job(replace(asked, names=tuple(sent.values()), vectors=vectors, scale=scale), str(Path.cwd()), signatures)
        for part, (results, reasons) in in_order(engine, job, stream, self._note):
            here = score_part(local, part, explain=asked.explain, several=True)
            there = zip(away, results, strict=True)
            scores = {**here.scores, **{label: _combining(away[label], result, part) for label, result in there}}
            explained = {**here.explained, **dict(zip(away, reasons, strict=True))}
            yield ScoredPart(
                part,
                {label: scores[label] for label in scorers},
                {label: rows for label in scorers if (rows := explained.get(label)) is not None},
            )


def _is_sent(name: str, *, asked_for: bool) -> bool:
    """Return whether other processes can use a scorer.

    A language model at an endpoint stays here: it waits for the answers, and counts their costs. Others with a prefix
    may have a state, a program or gigabytes of weights, so they are sent only if the user asks for workers.
    """
    prefix = name.partition(":")[0] if ":" in name else ""
    if not name or prefix in {entry.key for entry in ENDPOINTS}:
        return False
    return asked_for or prefix not in PREFIXES


def _combining(scorer: Scorer, scores: Scores, part: Sequence[Example]) -> Scores:
    """Return scores of another process with the function that makes a corpus score of their statistics."""
    if scores.statistics is None or not scores.scored.any():
        return scores
    row = int(np.flatnonzero(scores.scored)[0])
    return replace(scores, combine=run(scorer, [part[row]], last=False).combine)


def cores() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_order(
    engine: Engine, job: Job, parts: Iterator[list[Example]], note: Note
) -> Iterator[tuple[list[Example], tuple[Any, ...]]]:
    """Yield each part with its result, in order; at most `AHEAD` parts for each worker are in memory.

    An error of the input is raised after the results of all parts before it, as in one process.

    Raises:
        WorkersLost: a part ended three workers.
    """
    waiting: deque[tuple[list[Example], Any]] = deque()
    failed: Exception | None = None
    try:
        while True:
            while failed is None and len(waiting) < AHEAD * engine.size:
                try:
                    part = next(parts)
                except StopIteration:
                    break
                except Exception as error:  # noqa: BLE001 - raised below, after the parts before it
                    failed = error
                    break
                waiting.append((part, engine.submit(job, part)))
            if not waiting:
                break
            part, ticket = waiting[0]
            result = _result(engine, job, part, ticket, note)
            waiting.popleft()
            yield part, result
    finally:
        for _, ticket in waiting:
            engine.cancel(ticket)
    if failed is not None:
        raise failed


def _result(engine: Engine, job: Job, part: list[Example], ticket: Any, note: Note) -> tuple[Any, ...]:
    """Return the result of a part; it is sent again if its worker ended."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return engine.result(ticket)
        except Lost as reason:
            if attempt == ATTEMPTS:
                first, last = (example.where or example.id or "a line" for example in (part[0], part[-1]))
                problem = f"the part from {first} to {last} ended {ATTEMPTS} workers, one after the other ({reason})"
                raise WorkersLost(f"{problem}. Do they have enough memory?") from reason
            if str(reason):
                note(f"a worker ended ({reason}); another one scores its lines again")
            ticket = engine.submit(job, part)
    raise AssertionError("unreachable")


# all scores of some examples


@contextmanager
def opened(workers: Workers | Count) -> Iterator[Workers]:
    """Yield workers: those in the call, or new ones that end with the block."""
    if isinstance(workers, Workers):
        yield workers
        return
    with Workers(workers) as pool:
        yield pool


def scored(
    scorers: Mapping[str, Scorer],
    examples: Sequence[Example],
    asked: Asked | None = None,
    workers: Workers | Count = 1,
    advance: Advance = ignore,
) -> dict[str, Scores]:
    """Return the scores of all examples by scorer; they do not depend on the workers.

    Args:
        scorers: by name.
        examples: N of them.
        asked: the same scorers as other processes load them, see `asked_of`; None scores here.
        workers: how many processes, `auto`, or open `Workers`.
        advance: called with the number of examples done, N in all for each scorer.
    """
    # A function of the user's that reads lines may compare them with each other: it gets all of them in one call.
    whole = {
        name: run(scorer, examples, progress=advance)
        for name, scorer in scorers.items()
        if scorer.card.reads_line and not isinstance(scorer, DialogueScorer)
    }
    others = {name: scorer for name, scorer in scorers.items() if name not in whole}
    if asked is not None:
        names = zip(scorers, asked.names, strict=True)
        asked = replace(asked, names=tuple(name for label, name in names if label not in whole))
    parts: dict[str, list[Scores]] = {name: [] for name in others}
    if others:
        with opened(workers) as pool:
            for part in pool.score(others, examples, asked):
                for name, scores in part.scores.items():
                    parts[name].append(scores)
                advance(len(part.examples) * len(others))
    return {name: whole[name] if name in whole else joined(parts[name], scorers[name]) for name in scorers}


def joined(parts: Sequence[Scores], scorer: Scorer) -> Scores:
    """Return the scores of parts that follow each other as those of the whole, by `scorer`."""
    sizes = [len(part.values) for part in parts]
    starts = [0, *accumulate(sizes)][:-1]
    by_position: dict[str, dict[int, Any]] = {
        name: {
            start + row: value
            for start, part in zip(starts, parts, strict=True)
            for row, value in getattr(part, name).items()
        }
        for name in ("reasons", "warnings", "details")
    }
    arrays: dict[str, FloatArray] = {"values": np.empty(0)}
    for name in ("values", "statistics", "low", "high"):
        known = [getattr(part, name) for part in parts]
        if (first := next((array for array in known if array is not None), None)) is not None:
            # As in `run`: statistics of unscored examples are 0, a missing end is NaN.
            empty = np.full((1, *first.shape[1:]), 0.0 if name == "statistics" else np.nan)
            pairs = zip(known, sizes, strict=True)
            arrays[name] = np.concatenate([empty.repeat(n, axis=0) if array is None else array for array, n in pairs])
    combine = next((part.combine for part in parts if part.combine), None)
    return Scores(signature=signature_of(scorer), combine=combine, **by_position, **arrays)  # type: ignore[arg-type]
