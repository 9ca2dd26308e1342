"""Replies to a stream of contexts, a batch in memory at a time, and counts of those that were answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Unpack

from rejoinder.data.dialogues import Cut, Dialogue, before_the_last, context_in, read_contexts
from rejoinder.data.examples import to_record
from rejoinder.data.files import OnError
from rejoinder.data.read import How, raise_error
from rejoinder.data.scored_keys import NOTES, SCORED, are_earlier_notes, of_scoring
from rejoinder.errors import DataError, UsageError
from rejoinder.example import FOLLOWED, UNANSWERED, Example
from rejoinder.models.decoding import Decoding
from rejoinder.pretraining.corpus import is_held_out
from rejoinder.responder import Answer, Responder, answer, request, signature_of
from rejoinder.scorer import Advance, finish, ignore
from rejoinder.scoring.catalog import load_responders
from rejoinder.scoring.unscored import nothing_scored

BATCH = 64
ResponderLike = str | Path | Responder
GivenContext = Example | Mapping[str, Any] | Sequence[str]

CUT_OFF = "cut_off"
"""The key of a line whose response was cut off at the greatest length."""
_OF_THE_OLD = (*SCORED, UNANSWERED, FOLLOWED, CUT_OFF, "messages", "replies", "responder")


@dataclass
class Tally:
    """Counts of one responder over a stream: contexts with an answer, reasons for none, and replies cut off."""

    responder: Responder
    answered: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    cut: int = 0

    def add(self, result: Answer) -> None:
        """Count an answer."""
        if result.replies:
            self.answered += 1
            self.cut += result.replies[0].cut
        else:
            self.reasons[result.reason] += 1


@dataclass(frozen=True)
class Replies:
    """Lines of replies as they are made, see `reply_stream`, and the counts of each responder so far, by its name."""

    lines: Iterator[dict[str, Any]]
    tallies: Mapping[str, Tally]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Return the lines that were not taken yet."""
        return self.lines


def respond(
    contexts: Iterable[GivenContext],
    responders: ResponderLike | Sequence[ResponderLike],
    *,
    decoding: Decoding | None = None,
    count: int = 1,
    seed: int = 0,
    withhold: bool = False,
    advance: Advance = ignore,
) -> Replies:
    """Answer contexts: lines that `score` and `examples_of` take, made as they are read.

    Args:
        contexts: each an example or a dict with the keys of an input line, whose context is answered, or turns, oldest
            first; a batch of them is in memory at a time. `contexts_of` reads them from files.
        responders: one or more; see `load_responder`, for errors too.
        decoding: how a model that writes replies word by word chooses the words; by default the usual way.
        count: replies to each context, 1 or more; the best is the response.
        seed: of everything random in them.
        withhold: whether a retrieval model excludes the first reference from its candidates, or the response if there
            are no references.
        advance: called with the number of contexts of each batch when it is done.

    Raises:
        UsageError: two responders have one name; or a context is a text and not its turns.
        DataError: once lines are taken: there is not a single context.
    """
    loaded = load_responders(several(responders), decoding=decoding)
    tallies = {name: Tally(responder) for name, responder in loaded.items()}
    lines = reply_stream(as_examples(contexts), tallies, count=count, seed=seed, withhold=withhold, advance=advance)
    return Replies(lines, tallies)


def several(responders: ResponderLike | Sequence[ResponderLike]) -> Sequence[ResponderLike]:
    """Return the responders in a list; a single one is a list of one."""
    return responders if isinstance(responders, Sequence) and not isinstance(responders, str) else [responders]


def as_examples(contexts: Iterable[GivenContext]) -> Iterator[Example]:
    """Yield contexts as examples: turns as the context of an example, a dict by the keys of an input line.

    Raises:
        UsageError: they are a text, a single record or a data frame; once they are taken: a context is a text.
        DataError: once they are taken: a dict cannot be used.
    """
    problem = f"contexts is of type {type(contexts).__name__}, expected a list of examples, dicts or turns"
    if isinstance(contexts, (str, Path)):
        raise UsageError(f"{problem}. For a file use rejoinder.contexts_of({str(contexts)[:40]!r})")
    if isinstance(contexts, (Mapping, Example)):
        raise UsageError(f"{problem}. Put it into a list")
    if hasattr(contexts, "columns"):
        raise UsageError(f"{problem}. For a data frame use rejoinder.examples_of(FRAME)")
    if not isinstance(contexts, Iterable):
        raise UsageError(f"{problem}. Pass one")
    return (_as_example(context, number) for number, context in enumerate(contexts, start=1))


def _as_example(context: GivenContext, number: int) -> Example:
    """Return a context as an example, with `number` in its id if it has none."""
    if isinstance(context, Example):
        return context
    if isinstance(context, Mapping):
        return context_in(context, f"contexts:item {number}")
    if isinstance(context, str):
        raise UsageError(f"the context {context[:40]!r} is a text, expected its turns: [{context[:40]!r}]")
    if not isinstance(context, Iterable):
        raise UsageError(f"context {number} is of type {type(context).__name__}, expected an example, a dict or turns")
    return Example(tuple(context), "", id=f"context:{number}")


def reply_stream(
    examples: Iterable[Example],
    tallies: Mapping[str, Tally],
    *,
    count: int = 1,
    seed: int = 0,
    withhold: bool = False,
    advance: Advance = ignore,
) -> Iterator[dict[str, Any]]:
    """Yield a record for each example and responder, in that order: an example with the reply as its response.

    `system` is the responder's name among `tallies`, `responder` its signature; of several responders, the name is also
    added to the id. References and unknown keys stay; ratings and scores, which belong to another response, go. With a
    `count` above 1, `replies` holds all replies. A response that was cut off has a true `cut_off`. A context without
    an answer has an empty response and the reason under `unanswered`.

    `tallies` holds a fresh `Tally` for each responder, by its name in the records; they are filled as the stream is
    read. For the other arguments see `respond`.

    Raises:
        DataError: there is not a single example.
    """
    stream, is_empty = iter(examples), True
    while part := list(islice(stream, BATCH)):
        is_empty = False
        requests = [
            request(example.context, seed, (*example.references, example.response)[0] if withhold else None)
            for example in part
        ]
        answers = {name: list(answer(tally.responder, requests, count=count)) for name, tally in tallies.items()}
        signatures = {name: str(signature_of(tally.responder)) for name, tally in tallies.items()}
        for row, example in enumerate(part):
            for name, tally in tallies.items():
                tally.add(answers[name][row])
                record = _record(example, answers[name][row], name, several=count > 1) | {"responder": signatures[name]}
                yield {**record, "id": f"{example.id}/{name}"} if len(tallies) > 1 else record
        advance(len(part))
    for tally in tallies.values():
        finish(tally.responder)
    if is_empty:
        raise DataError("no line is left to answer", "Correct those that were skipped")


def contexts_of(
    files: Sequence[str | Path],
    share: float | None = None,
    *,
    cut: Cut = before_the_last,
    on_error: OnError = raise_error,
    **how: Unpack[How],
) -> Iterator[Example]:
    """Yield the contexts in some files, see `read_contexts`.

    Args:
        files: examples and dialogues.
        share: by default all; else only those of dialogues that a training with this share held out does not read
            (see `is_held_out`).
        cut: where to cut a dialogue.
        on_error: what to do with the error of a line that cannot be used.
        how: how to read the files; see `How`.

    Raises:
        DataError: there are lines, and training holds out none of their dialogues; see also `read_contexts`.
    """
    dialogues = contexts = 0

    def wanted(dialogue: Dialogue) -> bool:
        nonlocal dialogues
        dialogues += 1
        return share is None or is_held_out(dialogue, share)

    for example in read_contexts(*files, wanted=wanted, cut=cut, on_error=on_error, **how):
        contexts += 1
        yield example
    if dialogues and not contexts:
        problem = f"none of these dialogues is left out by a training with held_out = {share:g}"
        raise DataError(problem, "Give more dialogues, or the share of the recipe")


def with_response(example: Example, response: str, system: str | None) -> Example:
    """Return the example with another response, and without the keys of its line that are about the earlier one."""
    gone = {*_OF_THE_OLD, *([NOTES] if are_earlier_notes(example.extra) else [])}
    kept = {key: value for key, value in example.extra.items() if key not in gone and not of_scoring(key, value)}
    return replace(example, response=response, system=system, ratings=(), quality={}, scales={}, extra=kept)


def require_answers(tallies: Sequence[Tally]) -> None:
    """Raise `NothingScored` with the most frequent reasons if no responder answered a single context."""
    if not any(tally.answered for tally in tallies):
        why = ", ".join(dict.fromkeys(reason for tally in tallies for reason, _ in tally.reasons.most_common(1)))
        raise nothing_scored(f"none of {tallies[0].reasons.total()} contexts has an answer: {why}")


def _record(example: Example, result: Answer, name: str, *, several: bool) -> dict[str, Any]:
    """Return the line of an example and its answer, without the signature."""
    record = to_record(with_response(example, result.replies[0].text if result.replies else "", name))
    if several:
        record["replies"] = [
            {"response": reply.text, "score": reply.score, **({CUT_OFF: True} if reply.cut else {})}
            for reply in result.replies
        ]
    if not result.replies:
        record[UNANSWERED] = result.reason
    elif result.replies[0].cut:
        record[CUT_OFF] = True
    return record
