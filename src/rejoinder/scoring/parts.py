"""Parts of a stream, and what another process needs to score them."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from rejoinder.encoders.threads import one_thread
from rejoinder.errors import MissingAsset, RejoinderError
from rejoinder.example import Example
from rejoinder.judges.answers import answering
from rejoinder.scorer import Explanation, Scorer, ScorerLike, Scores, run, signature_of
from rejoinder.scoring.catalog import load_scorers
from rejoinder.scoring.dialogue import of_dialogues
from rejoinder.scoring.explained import explanations, is_explained

PART = 512  # lines: a second or less of the bundled judge's work, under a megabyte of text


class ScoredPart(NamedTuple):
    """Some examples with their scores.

    Attributes:
        examples: N examples.
        scores: by scorer.
        explained: [N] explanations of the scores, by scorer, if they were asked for.
    """

    examples: Sequence[Example]
    scores: Mapping[str, Scores]
    explained: Mapping[str, Sequence[Explanation | None]]


Scoring = Callable[[Iterable[list[Example]]], Iterator[ScoredPart]]
"""What scores parts of a stream, in their order."""


@dataclass(frozen=True)
class Asked:
    """Which scorers to run, and how: all that another process needs to do the same.

    Attributes:
        names: what `load_scorer` takes; an object or a function has the name "" and is never sent.
        vectors: file of word vectors.
        scale: the lowest and highest rating that judges answer with.
        level: `turn` scores replies, `dialogue` whole conversations, `rated` what each line says that it is.
        explain: whether to explain the scores.
    """

    names: tuple[str, ...]
    vectors: str | None = None
    scale: tuple[float, float] | None = None
    level: Literal["turn", "dialogue", "rated"] = "turn"
    explain: bool = False

    def load(self) -> Mapping[str, Scorer]:
        """Return the scorers, by name.

        Raises:
            UsageError, MissingAsset, DataError: see `load_scorer`.
        """
        return self.of(load_scorers(self.names, vectors=self.vectors))

    def of(self, scorers: Mapping[str, Scorer]) -> Mapping[str, Scorer]:
        """Return the scorers as they are asked to answer.

        Raises:
            UsageError: a scale is asked for, and none of them predicts ratings.
        """
        if self.scale is not None:
            scorers = answering(scorers, self.scale)
        if self.level == "turn":
            return scorers
        return {name: of_dialogues(scorer, every=self.level == "dialogue") for name, scorer in scorers.items()}


def asked_of(
    scorers: Iterable[ScorerLike], vectors: str | Path | None = None, examples: Iterable[Example] = ()
) -> Asked:
    """Return what to ask for, to score these examples as each says that it is rated."""
    names = (str(scorer) if isinstance(scorer, (str, Path)) else "" for scorer in scorers)
    level: Literal["rated", "turn"] = "rated" if any(example.is_dialogue for example in examples) else "turn"
    return Asked(tuple(names), None if vectors is None else str(vectors), level=level)


@dataclass(frozen=True)
class Job:
    """What is sent to a worker, once.

    Attributes:
        asked: the scorers.
        folder: where relative names of files start.
        signatures: of the scorers here; a worker whose scorers have others is refused.
    """

    asked: Asked
    folder: str
    signatures: tuple[str, ...]


class Engine(Protocol):
    """The processes that score parts."""

    size: int

    def submit(self, job: Job, part: list[Example]) -> Any:
        """Send a part, and return a ticket for its result."""

    def result(self, ticket: Any) -> tuple[Any, ...]:
        """Wait for the result of `score_there`; raise `Lost` if the worker ended."""

    def cancel(self, ticket: Any) -> None:
        """Leave out a part that is not needed any more."""

    def close(self, *, now: bool) -> None:
        """End the processes; `now` does not wait for what they do."""


class Lost(Exception):
    """A worker ended before its part was done."""


def in_parts(examples: Iterable[Example], size: int = 0) -> Iterator[list[Example]]:
    """Yield the examples `size` at a time (by default `PART`), read as they are asked for."""
    stream = iter(examples)
    while part := list(islice(stream, size or PART)):
        yield part


def score_part(
    scorers: Mapping[str, Scorer],
    part: Sequence[Example],
    *,
    explain: bool = False,
    last: bool = False,
    several: bool = False,
) -> ScoredPart:
    """Return the scores of a part.

    Args:
        scorers: by name.
        part: the examples.
        explain: whether to explain the scores.
        last: see `run`.
        several: whether it is one of several parts; a full part may be.
    """
    with one_thread() if several or len(part) >= PART else nullcontext():
        scores = {name: run(scorer, part, last=last) for name, scorer in scorers.items()}
        explained = {
            name: explanations(scorer, part) for name, scorer in scorers.items() if explain and is_explained(scorer)
        }
    return ScoredPart(part, scores, explained)


def score_there(job: Job, part: list[Example]) -> tuple[list[Scores], list[Sequence[Explanation | None] | None]]:
    """Return scores and explanations in another process, in the order of the job's scorers."""
    found = score_part(_loaded(job), part, explain=job.asked.explain, last=True, several=True)
    # `combine` is a method of a scorer, which stays where it is.
    scores = [replace(scores, combine=None) for scores in found.scores.values()]
    return scores, [found.explained.get(name) for name in found.scores]


@lru_cache(maxsize=1)
def _loaded(job: Job) -> Mapping[str, Scorer]:
    """Return the scorers of a job, loaded once in each process.

    Raises:
        MissingAsset: one cannot be loaded, or is another one than where the job came from.
    """
    if Path(job.folder).is_dir():
        os.chdir(job.folder)
    host = socket.gethostname()
    try:
        scorers = job.asked.load()
    except RejoinderError as error:
        remedy = "Files that a scorer is named by must be at the same place on every machine"
        raise MissingAsset(f"on the worker {host} in {Path.cwd()}: {error}. {remedy}") from error
    for (name, scorer), expected in zip(scorers.items(), job.signatures, strict=True):
        if (signature := str(signature_of(scorer))) != expected:
            problem = f"{name} is {signature} on the worker {host} and {expected} here"
            raise MissingAsset(f"{problem}. Install the same rejoinder, and put the same files, on every machine")
    return scorers
