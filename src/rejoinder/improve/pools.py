"""Contexts with the replies to choose among: listed in a line, said by responders, or a line each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from rejoinder.data.examples import example_of, to_record
from rejoinder.data.files import OnError
from rejoinder.data.read import raise_error
from rejoinder.data.values import decoded, kind_of
from rejoinder.errors import DataError
from rejoinder.example import UNANSWERED, Example
from rejoinder.responder import answer, request, signature_of
from rejoinder.scorer import finish
from rejoinder.scoring.replies import BATCH, CUT_OFF, Tally, with_response

CANDIDATES = "candidates"
REPLIES = "replies"  # what `respond --count` writes
_SAYS_WHICH = 'Write "candidates": ["...", {"response": "...", "system": "..."}]'


@dataclass(frozen=True, slots=True)
class Pool:
    """A context and the replies to choose among.

    Attributes:
        context: the line; its own response is not among the replies, and counts for nothing.
        candidates: the context's line with each reply in turn, and who said it.
        reason: why there is not one candidate; "" where nobody says.
    """

    context: Example
    candidates: tuple[Example, ...]
    reason: str = ""


def pools_in(contexts: Iterable[Example], on_error: OnError = raise_error) -> Iterator[Pool]:
    """Yield the pools in lines that hold their candidates already.

    A line with a list, under `candidates` or as `respond --count` writes it, is a pool by itself. Of all other lines
    those with one context are one pool, wherever they stand; so they are held in memory, and come last.

    Args:
        contexts: lines; those with a response and no list are candidates.
        on_error: what to do with the error of a list that holds something else than replies.
    """
    rows: dict[tuple[Any, ...], list[Example]] = {}
    for line in contexts:
        key = next((key for key in (CANDIDATES, REPLIES) if line.extra.get(key) is not None), None)
        if key is None:
            rows.setdefault((line.dataset, *line.context) if line.context else line.context_key, []).append(line)
            continue
        try:
            pool = _listed(line, key)
        except DataError as error:
            on_error(error)
        else:
            yield pool
    for lines in rows.values():
        said = tuple(line for line in lines if line.response or line.system or line.extra.get(UNANSWERED))
        yield Pool(with_response(lines[0], "", None), said, "" if said else "no candidate in the line")


def pools_by(
    contexts: Iterable[Example], tallies: Mapping[str, Tally], *, count: int = 1, seed: int = 0, withhold: bool = False
) -> Iterator[Pool]:
    """Yield the pools of what responders say.

    Args:
        contexts: any iterable; a batch of them is in memory at a time.
        tallies: one fresh `Tally` a responder, by its name; filled as the stream is read.
        count: replies of each.
        seed: decides what is random in them.
        withhold: see `streams.replies.reply_stream`.
    """
    stream = iter(contexts)
    while part := list(islice(stream, BATCH)):
        requests = [
            request(line.context, seed, (*line.references, line.response)[0] if withhold else None) for line in part
        ]
        answers = {name: list(answer(tally.responder, requests, count=count)) for name, tally in tallies.items()}
        signatures = {name: str(signature_of(tally.responder)) for name, tally in tallies.items()}
        for row, line in enumerate(part):
            bare = without_lists(line)
            said = []
            for name, tally in tallies.items():
                found = answers[name][row]
                tally.add(found)
                by = {**bare.extra, "responder": signatures[name]}
                said += [
                    replace(bare, response=one.text, system=name, extra=by | ({CUT_OFF: True} if one.cut else {}))
                    for one in found.replies
                ]
            why = "" if said else ", ".join(dict.fromkeys(answers[name][row].reason for name in tallies))
            yield Pool(bare, tuple(said), why)
    for tally in tallies.values():
        finish(tally.responder)


def without_lists(line: Example) -> Example:
    """The line of a context, without any response, or list of them, that it came with."""
    bare = with_response(line, "", None)
    return replace(bare, extra={key: value for key, value in bare.extra.items() if key != CANDIDATES})


def _listed(line: Example, key: str) -> Pool:
    """The pool of a line with a list of replies: texts, or objects with a response."""
    given = line.extra[key]
    if isinstance(given, str):
        given = _from_cell(given, key, line.where)
    if not isinstance(given, list):
        raise DataError(f"is {kind_of(given)}, expected a list of replies", _SAYS_WHICH, where=line.where, field=key)
    bare = without_lists(line)
    record = to_record(bare) | {"system": line.system}
    said = tuple(_candidate(record, one, key, line.where) for one in given)
    return Pool(bare, said, "" if said else "the list of candidates is empty")


def _from_cell(text: str, key: str, where: str) -> Any:
    """What a cell of a table holds, where lists are text."""
    try:
        return decoded(text, where)
    except (ValueError, RecursionError) as error:
        raise DataError("is text that holds no JSON list", _SAYS_WHICH, where=where, field=key) from error


def _candidate(record: Mapping[str, Any], given: Any, key: str, where: str) -> Example:
    """One reply of a list, with all that the list says of it."""
    own = {"response": given} if isinstance(given, str) else given
    if not isinstance(own, Mapping) or not isinstance(own.get("response"), str):
        found = kind_of(given) if not isinstance(own, Mapping) else 'an object without a "response"'
        raise DataError(f"holds {found}, expected texts", _SAYS_WHICH, where=where, field=key)
    return example_of({**record, **own, "id": record["id"]}, where)
