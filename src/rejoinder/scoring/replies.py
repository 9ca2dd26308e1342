"""A stream of contexts to lines of replies, a batch in memory at a time, and how many were answered in the end."""

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
from rejoinder.responder import Answer, Responder, answer, request, signature_of
from rejoinder.responders.decoding import Decoding
from rejoinder.scorer import Advance, finish, ignore
from rejoinder.scoring.catalog import load_responders
from rejoinder.scoring.unscored import nothing_scored
from rejoinder.training.corpora import is_held_out

BATCH = 64
ResponderLike = str | Path | Responder
GivenContext = Example | Mapping[str, Any] | Sequence[str]

# What a line says of the response that it came with.
CUT_OFF = "cut_off"
"""The key of a line whose response was cut off, as long as it might be."""
_OF_THE_OLD = (*SCORED, UNANSWERED, FOLLOWED, CUT_OFF, "messages", "replies", "responder")


@dataclass
class Tally:
    """What one responder did over a stream; grows batch by batch.

    Attributes:
        responder: whose replies.
        answered: how many contexts have one.
        reasons: why contexts have none, counted.
        cut: how many of the replies were cut off.
    """

    responder: Responder
    answered: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    cut: int = 0

    def add(self, found: Answer) -> None:
        """Count one answer."""
        if found.replies:
            self.answered += 1
            self.cut += found.replies[0].cut
        else:
            self.reasons[found.reason] += 1


@dataclass(frozen=True)
class Replies:
    """Lines of replies, one after the other as they are made, and how many contexts each responder has answered so far.

    Attributes:
        lines: one mapping a context and responder; see `reply_stream`.
        tallies: by the name of the responder; complete when all lines were taken.
    """

    lines: Iterator[dict[str, Any]]
    tallies: Mapping[str, Tally]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The lines that were not taken yet."""
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
        responders: one or more; see `load_responder`.
        decoding: how a model that writes replies word by word chooses the words; None takes the usual way.
        count: replies to each, 1 or more; the best is the response.
        seed: decides what is random in them.
        withhold: whether a retrieval model leaves out among its candidates the first reference, or where there is none
            the response.
        advance: called with the number of contexts of each batch when it is done.

    Raises:
        UsageError: there is no such responder, or two have one name; or a context is a text and not its turns.
        MissingAsset: a file that a responder needs is not there.
        DataError: such a file is damaged; or, once lines are taken, there is not a single context.
    """
    loaded = load_responders(several(responders), decoding=decoding)
    tallies = {name: Tally(found) for name, found in loaded.items()}
    lines = reply_stream(as_examples(contexts), tallies, count=count, seed=seed, withhold=withhold, advance=advance)
    return Replies(lines, tallies)


def several(responders: ResponderLike | Sequence[ResponderLike]) -> Sequence[ResponderLike]:
    """The responders that were named; one by itself is a list of one."""
    return responders if isinstance(responders, Sequence) and not isinstance(responders, str) else [responders]


def as_examples(contexts: Iterable[GivenContext]) -> Iterator[Example]:
    """Contexts as examples: turns as the context of one, a dict by the keys of an input line.

    Raises:
        UsageError: they are a text, one record or a data frame; once they are taken: one is a text.
        DataError: once they are taken: a dict cannot be used.
    """
    wanted = f"contexts are given as {type(contexts).__name__}, expected a list of examples, dicts or turns"
    if isinstance(contexts, (str, Path)):
        raise UsageError(f"{wanted}. Of a file say rejoinder.contexts_of({str(contexts)[:40]!r})")
    if isinstance(contexts, (Mapping, Example)):
        raise UsageError(f"{wanted}. Put it into a list")
    if hasattr(contexts, "columns"):
        raise UsageError(f"{wanted}. Of a data frame say rejoinder.examples_of(FRAME)")
    if not isinstance(contexts, Iterable):
        raise UsageError(f"{wanted}. Give one")
    return (_as_example(context, number) for number, context in enumerate(contexts, start=1))


def _as_example(given: GivenContext, number: int) -> Example:
    """One context as an example, with `number` in its id where it has none."""
    if isinstance(given, Example):
        return given
    if isinstance(given, Mapping):
        return context_in(given, f"contexts:item {number}")
    if isinstance(given, str):
        raise UsageError(f"the context {given[:40]!r} is a text, expected its turns: [{given[:40]!r}]")
    if not isinstance(given, Iterable):
        raise UsageError(f"context {number} is given as {type(given).__name__}, expected an example, a dict or turns")
    return Example(tuple(given), "", id=f"context:{number}")


def reply_stream(
    examples: Iterable[Example],
    tallies: Mapping[str, Tally],
    *,
    count: int = 1,
    seed: int = 0,
    withhold: bool = False,
    advance: Advance = ignore,
) -> Iterator[dict[str, Any]]:
    """Yield one record for each example and responder, in that order: an example with the reply as its response.

    `system` is the responder's name among `tallies`, `responder` its signature; where there are several responders,
    the name is also added to the id. References and keys that rejoinder does not know stay; ratings and scores, which
    belong to another response, go. Where `count` is above 1, `replies` holds all that came back. A response that was
    cut off has a true `cut_off`. A context without an answer has an empty response and the reason under `unanswered`.

    Args:
        examples: any iterable; a batch of them is in memory at a time.
        tallies: one fresh `Tally` a responder, by the name it has in the records; filled as the stream is read.
        count: replies to each.
        seed: decides what is random in them.
        withhold: whether a retrieval model leaves out among its candidates the first reference, or where there is none
            the response.
        advance: called with the number of examples of each batch when it is done.

    Raises:
        DataError: there is not a single example.
    """
    stream, met = iter(examples), False
    while part := list(islice(stream, BATCH)):
        met = True
        requests = [
            request(example.context, seed, (*example.references, example.response)[0] if withhold else None)
            for example in part
        ]
        answers = {name: list(answer(tally.responder, requests, count=count)) for name, tally in tallies.items()}
        signatures = {name: str(signature_of(tally.responder)) for name, tally in tallies.items()}
        for row, example in enumerate(part):
            for name, tally in tallies.items():
                found = answers[name][row]
                tally.add(found)
                record = _record(example, found, name, several=count > 1) | {"responder": signatures[name]}
                yield {**record, "id": f"{example.id}/{name}"} if len(tallies) > 1 else record
        advance(len(part))
    for tally in tallies.values():
        finish(tally.responder)
    if not met:
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
        share: None takes all; else only those whose dialogue a training that holds `share` out does not see (see
            `is_held_out`).
        cut: where a dialogue is cut.
        on_error: what to do with the error of a line that cannot be used.
        how: how the files are to be read; see `How`.

    Raises:
        DataError: there are lines, and training leaves none of their dialogues out; see also `read_contexts`.
    """
    met = found = False

    def wanted(dialogue: Dialogue) -> bool:
        nonlocal met
        met = True
        return share is None or is_held_out(dialogue, share)

    for example in read_contexts(*files, wanted=wanted, cut=cut, on_error=on_error, **how):
        found = True
        yield example
    if met and not found:
        problem = f"none of these dialogues is left out by a training with held_out = {share:g}"
        raise DataError(problem, "Give more dialogues, or the share of the recipe")


def with_response(example: Example, response: str, system: str | None) -> Example:
    """The example with another response, and without what its line said of the one that it came with."""
    gone = {*_OF_THE_OLD, *([NOTES] if are_earlier_notes(example.extra) else [])}
    kept = {key: value for key, value in example.extra.items() if key not in gone and not of_scoring(key, value)}
    return replace(example, response=response, system=system, ratings=(), quality={}, scales={}, extra=kept)


def require_answers(tallies: Sequence[Tally]) -> None:
    """Raise where not one responder had an answer to a single context.

    Raises:
        NothingScored: with the most frequent reasons.
    """
    if not any(tally.answered for tally in tallies):
        why = ", ".join(dict.fromkeys(reason for tally in tallies for reason, _ in tally.reasons.most_common(1)))
        raise nothing_scored(f"none of {tallies[0].reasons.total()} contexts has an answer: {why}")


def _record(example: Example, found: Answer, name: str, *, several: bool) -> dict[str, Any]:
    """The line of one example and one answer, but for the signature."""
    record = to_record(with_response(example, found.replies[0].text if found.replies else "", name))
    if several:
        record["replies"] = [
            {"response": reply.text, "score": reply.score, **({CUT_OFF: True} if reply.cut else {})}
            for reply in found.replies
        ]
    if not found.replies:
        record[UNANSWERED] = found.reason
    elif found.replies[0].cut:
        record[CUT_OFF] = True
    return record
