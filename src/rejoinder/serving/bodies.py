"""From what a client sends to examples, by the rules that files are read by."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request

from rejoinder.data.examples import both_replies
from rejoinder.data.files import Row
from rejoinder.data.format import detect
from rejoinder.data.messages import is_chat
from rejoinder.data.read import read_rows
from rejoinder.data.values import decoded as json_value
from rejoinder.errors import DataError
from rejoinder.example import Example, Pair
from rejoinder.serving.batching import characters_of
from rejoinder.serving.limits import Limits, TooLong

BODY = "body"
"""What a body is called in messages, and in the ids of lines that have none."""
_PAIRS = ("votes", "rated-pairs")  # formats of two replies
A_BODY = "Send one line as a JSON object, or several as a JSON array"


async def body_of(request: Request, limits: Limits) -> str:
    """The text of a body.

    Raises:
        HTTPException: it is too large, too slow, or packed.
        DataError: it is not UTF-8.
    """
    require_plain(request)
    if int(request.headers.get("content-length") or 0) > limits.body:
        raise too_large(limits)
    parts: list[bytes] = []
    taken = 0
    async with _soon(limits):
        async for part in request.stream():
            taken += len(part)
            if taken > limits.body:
                raise too_large(limits)
            parts.append(part)
    return decoded(b"".join(parts), BODY)


@asynccontextmanager
async def _soon(limits: Limits) -> AsyncIterator[None]:
    """Give the block as long as a client has for its body.

    Raises:
        HTTPException: it takes longer.
    """
    try:
        async with asyncio.timeout(limits.timeout):
            yield
    except TimeoutError as error:
        raise HTTPException(408, f"the body did not come within {limits.timeout:g} seconds. Send it again") from error


def require_plain(request: Request) -> None:
    """Refuse a body that is packed: what it comes to is known only when it is unpacked.

    Raises:
        HTTPException: so it is.
    """
    if (packed := request.headers.get("content-encoding", "identity")) != "identity":
        raise HTTPException(415, f"the body is packed ({packed[:40]}). Send it as it is")


def too_large(limits: Limits) -> HTTPException:
    """The refusal of a body."""
    return HTTPException(413, f"the body has more than {limits.body:,} bytes. Send fewer lines at once")


def decoded(raw: bytes, where: str) -> str:
    """The text of bytes in UTF-8.

    Raises:
        DataError: they are not.
    """
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problem = f"byte {error.object[error.start]:#04x} at column {error.start + 1} is not UTF-8"
        raise DataError(problem, "Send UTF-8", where=where) from error


def lines_in(text: str, limits: Limits, keep: Collection[str] = ()) -> list[Example]:
    """The reply in each line of a body, of one or of several, in their order.

    Args:
        text: JSON.
        limits: how many lines may be there.
        keep: keys that stay what they are, because a scorer reads them.

    Raises:
        DataError: it is no JSON, it holds nothing, or a line cannot be used.
        HTTPException: there are too many lines.
        TooLong: a line has too many characters.
    """
    examples = replies_of(_rows(values_in(text), BODY, limits), keep)
    return require_short(_some(examples, BODY), limits)


def values_in(text: str) -> list[Any]:
    """Return the values of a JSON array, or the one value that a text holds.

    Raises:
        DataError: it is no JSON.
    """
    return items(json_value(text, BODY, A_BODY, document=True))


def items(value: Any) -> list[Any]:
    """Return the items of an array; a conversation in messages is one item."""
    return value if isinstance(value, list) and not is_chat(value) else [value]


def replies_of(rows: Sequence[Row], keep: Collection[str] = ()) -> list[Example]:
    """Return the reply in each row, in order: who asks puts results beside lines by their place.

    Raises:
        DataError: a row cannot be used, or does not hold one reply by itself.
    """
    if pair := next((row.where for row in rows if (kind := detect(row)) and kind.name in _PAIRS), ""):
        raise _not_one(pair)
    lines = list(read_rows([(BODY, rows)], join=False, keep=keep))
    count = Counter(line.where for line in lines if isinstance(line, Example))
    if odd := next((row.where for row in rows if count[row.where] != 1), ""):
        raise _not_one(odd)
    return [line for line in lines if isinstance(line, Example)]


def _not_one(where: str) -> DataError:
    """The refusal of a line with two replies, or with a part of one."""
    return DataError("holds not one reply, and each line has one result", "Send each reply as a line", where=where)


def replies_in(text: str, limits: Limits) -> list[Example]:
    """The replies in a text, as a file would hold them: a pair is two, and lines of several raters are one.

    Raises:
        DataError, HTTPException: see `lines_in`.
    """
    lines = read_rows([(BODY, _rows(values_in(text), BODY, limits))])
    return _some([one for line in lines for one in (both_replies(line) if isinstance(line, Pair) else [line])], BODY)


def examples_in(values: Sequence[Any], name: str, limits: Limits) -> list[Example]:
    """The examples in decoded values; a pair of replies is none.

    Args:
        values: decoded JSON.
        name: what they are called in messages.
        limits: how many there may be.

    Raises:
        DataError, HTTPException: see `lines_in`.
    """
    lines = list(read_rows([(name, _rows(values, name, limits))]))
    if pair := next((line for line in lines if isinstance(line, Pair)), None):
        raise DataError("a pair of replies, expected one reply", "Send each reply as a line", where=pair.where)
    return require_short(_some([line for line in lines if isinstance(line, Example)], name), limits)


def require_short(examples: list[Example], limits: Limits) -> list[Example]:
    """The examples, none of which would hold up the others.

    Raises:
        TooLong: one has more characters than a line may have.
    """
    for example in examples:
        if (characters := characters_of(example)) > limits.characters:
            problem = f"{characters:,} characters in one line, and {limits.characters:,} are taken"
            remedy = "Shorten its texts, or start the service with a higher --max-characters"
            raise TooLong(problem, remedy, where=example.where)
    return examples


def _rows(values: Sequence[Any], name: str, limits: Limits) -> list[Row]:
    """Return values as rows.

    Raises:
        HTTPException: there are too many.
    """
    if len(values) > limits.lines:
        raise HTTPException(413, f"{name} has {len(values):,} lines, and {limits.lines:,} are taken. Send parts")
    return [Row(f"{name}:item {number}", value) for number, value in enumerate(values, start=1)]


def _some(examples: list[Example], name: str) -> list[Example]:
    """The examples, which are there."""
    if not examples:
        raise DataError("holds no line", A_BODY, where=name)
    return examples
