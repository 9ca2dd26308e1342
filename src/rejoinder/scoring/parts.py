"""Parts of a stream and what scorers say of them: in this process, or in any other that has the same scorers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from rejoinder.errors import UsageError
from rejoinder.example import Example
from rejoinder.judges.answers import answering
from rejoinder.scorer import (
    Advance,
    Explanation,
    FloatArray,
    Scorer,
    ScorerLike,
    Scores,
    finish,
    ignore,
    run,
    signature_of,
)
from rejoinder.scoring.catalog import load_scorers
from rejoinder.scoring.dialogue import of_dialogues
from rejoinder.scoring.explained import Explained, explanations, is_explained

PART = 512  # lines that go to another process at a time: a second or two of a judge's work, under a megabyte of text


class Judged(NamedTuple):
    """Some examples with what scorers say of them.

    Attributes:
        examples: N of them.
        scores: theirs, by scorer.
        told: [N] what moved each score, by scorer, of those that can tell; empty where nobody asked.
    """

    examples: Sequence[Example]
    scores: Mapping[str, Scores]
    told: Mapping[str, Sequence[Explanation | None]]


Scoring = Callable[[Iterable[list[Example]]], Iterator[Judged]]
"""What scores parts of a stream, in their order."""


@dataclass(frozen=True)
class Asked:
    """Which scorers, and what is asked of them: all that another process needs to do the same.

    Attributes:
        names: what `load_scorer` makes them of; no objects, because nothing that could run travels.
        vectors: file of word vectors for those that need them.
        scale: the lowest and highest rating that judges answer with.
        level: `turn` scores replies, `dialogue` whole conversations, `rated` what each line says that it is.
        explain: whether what moved a score is told, by those that can tell.
    """

    names: tuple[str, ...]
    vectors: str | None = None
    scale: tuple[float, float] | None = None
    level: Literal["turn", "dialogue", "rated"] = "turn"
    explain: bool = False

    def load(self) -> Mapping[str, Scorer]:
        """The scorers, by name.

        Raises:
            UsageError, MissingAsset, DataError: see `load_scorer`.
        """
        return self.of(load_scorers(self.names, vectors=self.vectors))

    def of(self, scorers: Mapping[str, Scorer]) -> Mapping[str, Scorer]:
        """Scorers that answer what is asked.

        Raises:
            UsageError: a scale is asked for, and none of them predicts ratings.
        """
        if self.scale is not None:
            scorers = answering(scorers, self.scale)
        if self.level == "turn":
            return scorers
        return {name: of_dialogues(one, every=self.level == "dialogue") for name, one in scorers.items()}


class Workers(Protocol):
    """Other processes that score, on this machine or on many."""

    def scoring(self, asked: Asked, expected: Mapping[str, str]) -> Scoring:
        """What scores parts in these processes.

        Args:
            asked: the scorers, which each process loads once.
            expected: their signatures here; scores with others are not taken.
        """
        ...


def asked_of(
    scorers: Iterable[ScorerLike], vectors: str | Path | None = None, examples: Iterable[Example] = ()
) -> Asked:
    """What other processes are asked for, to score these examples as each says that it is rated.

    Raises:
        UsageError: one of the scorers is an object or a function.
    """
    names = list(scorers)
    if own := next((one for one in names if not isinstance(one, (str, Path))), None):
        found = f"a {type(own).__name__}, and other processes load scorers by name"
        raise UsageError(f"{found}. Name it, a function as python:MODULE:FUNCTION, or score here")
    level: Literal["rated", "turn"] = "rated" if any(example.is_dialogue for example in examples) else "turn"
    return Asked(tuple(map(str, names)), None if vectors is None else str(vectors), level=level)


def in_parts(examples: Iterable[Example], size: int) -> Iterator[list[Example]]:
    """Yield the examples `size` at a time, read as they are asked for."""
    stream = iter(examples)
    while part := list(islice(stream, size)):
        yield part


def judge(scorers: Mapping[str, Scorer], part: Sequence[Example], *, explain: bool, last: bool = True) -> Judged:
    """What the scorers say of a part, the last one or not."""
    telling: dict[str, Explained] = {name: one for name, one in scorers.items() if explain and is_explained(one)}
    scores = {name: run(scorer, part, last=last) for name, scorer in scorers.items()}
    return Judged(part, scores, {name: explanations(one, part) for name, one in telling.items()})


def here(scorers: Mapping[str, Scorer], *, explain: bool) -> Scoring:
    """What scores parts in this process, one after the other."""

    def scoring(parts: Iterable[list[Example]]) -> Iterator[Judged]:
        for part in parts:
            yield judge(scorers, part, explain=explain, last=False)
        for scorer in scorers.values():
            finish(scorer)

    return scoring


def elsewhere(workers: Workers, asked: Asked, scorers: Mapping[str, Scorer]) -> Scoring:
    """What scores parts by the same scorers in other processes.

    Args:
        workers: the processes.
        asked: the scorers by name.
        scorers: what they are here.

    Raises:
        UsageError: one of them asks an endpoint, which answers no faster for being asked from many places, and whose
            kept answers and costs are counted in one process.
    """
    if far := [name for name in asked.names if name.startswith("openai:")]:
        raise UsageError(f"{far[0]}: an endpoint is asked from one process, which waits for it. Leave --ray out")
    return workers.scoring(asked, {name: str(signature_of(one)) for name, one in scorers.items()})


def scored(
    scorers: Mapping[str, Scorer],
    examples: Sequence[Example],
    scoring: Scoring | None = None,
    advance: Advance = ignore,
) -> dict[str, Scores]:
    """The scores of all examples by scorer.

    Args:
        scorers: by name.
        examples: N of them.
        scoring: what scores parts by these scorers; None scores here.
        advance: called with the number of examples done, N in all for each scorer.
    """
    if scoring is None:
        return {name: run(scorer, examples, progress=advance) for name, scorer in scorers.items()}
    found: dict[str, list[Scores]] = {name: [] for name in scorers}
    for judged in scoring(in_parts(examples, PART)):
        for name, scores in judged.scores.items():
            found[name].append(scores)
        advance(len(judged.examples) * len(scorers))
    return {name: joined(parts, scorers[name]) for name, parts in found.items()}


def joined(parts: Sequence[Scores], scorer: Scorer) -> Scores:
    """The scores of parts that follow each other as those of the whole, by `scorer`."""
    starts = np.cumsum([0, *(len(part.values) for part in parts)]).tolist()

    def placed(name: str) -> dict[int, Any]:
        found = ((start, getattr(part, name)) for start, part in zip(starts, parts, strict=False))
        return {start + place: what for start, own in found for place, what in own.items()}

    return Scores(
        np.concatenate([np.empty(0), *(part.values for part in parts)]),
        placed("reasons"),
        signature_of(scorer),
        statistics=_beside([(part.statistics, len(part.values)) for part in parts], 0.0),
        combine=next((part.combine for part in parts if part.combine), None),
        warnings=placed("warnings"),
        low=_beside([(part.low, len(part.values)) for part in parts], np.nan),
        high=_beside([(part.high, len(part.values)) for part in parts], np.nan),
        details=placed("details"),
    )


def _beside(parts: Sequence[tuple[FloatArray | None, int]], empty: float) -> FloatArray | None:
    """What stands beside the scores of all parts, `empty` on the lines of a part that has none; None where none has."""
    some = next((found for found, _ in parts if found is not None), None)
    if some is None:
        return None
    rows = [np.full((n, *some.shape[1:]), empty) if found is None else found for found, n in parts]
    return np.concatenate(rows)
