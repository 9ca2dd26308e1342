"""POST /v1/score/stream: JSON lines in, JSON lines out, each as soon as it is scored."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse
from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope, Send

from rejoinder.data.files import Row
from rejoinder.data.values import as_json
from rejoinder.data.values import decoded as json_value
from rejoinder.errors import DataError, RejoinderError
from rejoinder.example import Example
from rejoinder.serving.batching import Asked, Line
from rejoinder.serving.bodies import BODY, decoded, replies_of, require_plain, require_short
from rejoinder.serving.limits import Limits
from rejoinder.serving.problems import problem_of
from rejoinder.serving.service import Service, TheService
from rejoinder.serving.shapes import ScoreQuery, problems, takes

router = APIRouter(prefix="/v1", tags=["score"])
MEDIA = "application/x-ndjson"
_DESCRIBED = {
    200: {
        "description": "A line for each line, in order: as in /v1/score, or `error`.",
        "content": {MEDIA: {"schema": {"type": "string"}}},
    },
    **problems(400, 401, 415, 503),
}


class Piece(NamedTuple):
    """A line as it came.

    Attributes:
        number: from 1.
        raw: its bytes, or why it is none that can be read.
    """

    number: int
    raw: bytes | DataError


class Lines(StreamingResponse):
    """An answer while the body still comes. It does not listen for the end of the client: it would take its lines."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        """Send all."""
        await self.stream_response(send)


@router.post(
    "/score/stream",
    response_class=Lines,
    openapi_extra=takes({"type": "string"}, MEDIA),
    responses=_DESCRIBED,
)
async def score_stream(request: Request, service: TheService, query: Annotated[ScoreQuery, Query()]) -> Lines:
    """JSON lines in, JSON lines out, in order, while they come; a bad line gives an error, and the others go on."""
    asked = service.asked(query)
    require_plain(request)
    service.batcher(asked).require_room()
    return Lines(_answers(request, service, asked), media_type=MEDIA)


async def _answers(request: Request, service: Service, asked: Asked) -> AsyncIterator[str]:
    """What is answered to each piece of a body."""
    keep = service.keep(asked)
    try:
        async for pieces in pieces_of(request, service.limits):
            yield await _answer(pieces, keep, service, asked)
    except TimeoutError:
        seconds = f"{service.limits.timeout:g} seconds"
        yield _error(DataError(f"no more came within {seconds}", "Send the rest again", where=BODY))
    except ClientDisconnect:
        return


async def pieces_of(request: Request, limits: Limits) -> AsyncIterator[list[Piece]]:
    """The lines of a body, those together that came together; blank ones are passed over.

    Raises:
        TimeoutError: nothing came for too long.
    """
    rest, number, skipping = b"", 0, False
    stream = aiter(request.stream())
    more = True
    while more:
        try:
            async with asyncio.timeout(limits.timeout):
                part = await anext(stream)
        except StopAsyncIteration:
            part, more = b"\n", False  # ends the last line
        *whole, rest = (rest + part).split(b"\n")
        found = []
        for raw in whole:
            number += 1
            if not skipping and raw.strip():
                found.append(Piece(number, _checked(raw, number, limits)))
            skipping = False
        if skipping or len(rest) > limits.body:
            if not skipping:
                found.append(Piece(number + 1, _checked(rest, number + 1, limits)))
            rest, skipping = b"", True
        if found:
            yield found


def _checked(raw: bytes, number: int, limits: Limits) -> bytes | DataError:
    """A line, unless it is too long."""
    if len(raw) <= limits.body:
        return raw
    problem = f"the line has more than {limits.body:,} bytes"
    return DataError(problem, "Shorten it", where=f"{BODY}:{number}")


async def _answer(pieces: Sequence[Piece], keep: Collection[str], service: Service, asked: Asked) -> str:
    """The lines that answer some lines."""
    examples: list[Example] = []
    wrong: list[RejoinderError | None] = []  # with each line
    for piece in pieces:
        try:
            examples.append(_example(piece, keep, service.limits))
        except RejoinderError as error:
            wrong.append(error)
        else:
            wrong.append(None)
    try:
        lines = iter(await service.batcher(asked).results(asked, examples, admitted=True))
    except RejoinderError as error:
        wrong = [one or error for one in wrong]
        lines = iter(())
    return "".join(_written(wrong, lines))


def _written(wrong: Sequence[RejoinderError | None], lines: Iterator[Line]) -> Iterator[str]:
    """Records and errors in the order of the lines that they belong to."""
    for error in wrong:
        line = error or next(lines)
        yield f"{line}\n" if isinstance(line, str) else _error(line)


def _example(piece: Piece, keep: Collection[str], limits: Limits) -> Example:
    """The reply in a line.

    Raises:
        RejoinderError: it cannot be used.
    """
    if isinstance(piece.raw, DataError):
        raise piece.raw
    where = f"{BODY}:{piece.number}"
    record = json_value(decoded(piece.raw, where).rstrip(), where)
    (example,) = require_short(replies_of([Row(where, record)], keep), limits)
    return example


def _error(error: RejoinderError) -> str:
    """The line that says an error."""
    return f"{as_json(problem_of(error), BODY)}\n"
