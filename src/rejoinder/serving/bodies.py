"""From what a client sends to examples, by the rules that files are read by."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request

from rejoinder.errors import DataError
from rejoinder.example import Example, Pair
from rejoinder.io.columns import Names
from rejoinder.io.json_rows import Found, of_array
from rejoinder.io.lines import Row, no_text, raise_bad
from rejoinder.io.pairs import form_of, parse_either, parse_single, singly
from rejoinder.io.read import each_row, parsed_rows
from rejoinder.serving.batching import characters_of
from rejoinder.serving.limits import Limits, TooLong

BODY = "body"
"""What a body is called in messages, and in the ids of lines that have none."""
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
        raise no_text(error, where) from error


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
    examples = replies_of(_rows(of_array(text, BODY, A_BODY), BODY, limits), Names(keep=keep))
    return require_short(_some(examples, BODY), limits)


def replies_of(rows: Sequence[Row], names: Names) -> list[Example]:
    """The reply in each row, in their order: who asks puts results beside lines by their place.

    Raises:
        DataError: a row cannot be used, or does not hold one reply by itself.
    """
    found = list(each_row(rows, _reply, names, raise_bad))
    count = Counter(one.where for one in found)
    if odd := next((row.where for row in rows if count[row.where] != 1), ""):
        raise _not_one(odd)
    return found


def _reply(record: Any, where: str) -> Example:
    """The example that a JSON value describes, unless it is a pair."""
    if form_of(record):
        raise _not_one(where)
    return parse_single(record, where)


def _not_one(where: str) -> DataError:
    """The refusal of a line with two replies, or with a part of one."""
    return DataError("holds not one reply, and each line has one result", "Send each reply as a line", where=where)


def replies_in(text: str, limits: Limits) -> list[Example]:
    """The replies in a text, as a file would hold them: a pair is two, and lines of several raters are one.

    Raises:
        DataError, HTTPException: see `lines_in`.
    """
    rows = _rows(of_array(text, BODY, A_BODY), BODY, limits)
    found = parsed_rows(rows, parse_either, Names(), raise_bad)
    return _some([one for line in found for one in (singly(line) if isinstance(line, Pair) else [line])], BODY)


def examples_in(found: Sequence[Found], name: str, limits: Limits) -> list[Example]:
    """The examples in decoded values; a pair of replies is none.

    Args:
        found: the values.
        name: what they are called in messages.
        limits: how many there may be.

    Raises:
        DataError, HTTPException: see `lines_in`.
    """
    examples = list(parsed_rows(_rows(found, name, limits), parse_single, Names(), raise_bad))
    return require_short(_some(examples, name), limits)


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


def _rows(found: Sequence[Found], name: str, limits: Limits) -> list[Row]:
    """Values as rows that are still to be understood."""
    if len(found) > limits.lines:
        raise HTTPException(413, f"{name} has {len(found):,} lines, and {limits.lines:,} are taken. Send parts")
    return [Row(where, record, flat=False) for where, record in found]


def _some(examples: list[Example], name: str) -> list[Example]:
    """The examples, which are there."""
    if not examples:
        raise DataError("holds no line", A_BODY, where=name)
    return examples
