"""The page at `/`: a person types a conversation and sees the service's own answers move.

It knows nothing that the service does not tell everybody: its script asks the same addresses as any program. All that
people write goes into it as text, and a browser is told to run and to load nothing but the files beside it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request

from rejoinder.judges.domain import (
    CODE,
    CONTEXT_CUT,
    CONTEXT_NOT_ENGLISH,
    CUT,
    NO_WORDS,
    NOT_ENGLISH,
    UNLIKE,
    UNLIKE_CHAT,
)
from rejoinder.judges.features.table import Group
from rejoinder.scorer import FACTS_NOT_CHECKED, OUT_OF_DOMAIN
from rejoinder.scoring.domain import INSTEAD
from rejoinder.serving.bodies import body_of
from rejoinder.serving.pasted import pasted
from rejoinder.serving.service import TheService
from rejoinder.serving.shapes import problems, takes
from rejoinder.version import __version__

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_SCRIPT = "text/javascript; charset=utf-8"
_FILES = {"page.css": "text/css; charset=utf-8", "page.js": _SCRIPT, "shown.js": _SCRIPT}


class Sample(NamedTuple):
    """A conversation to click.

    Attributes:
        name: what it shows.
        turns: oldest first.
        replies: to judge, side by side.
        said: what to look at.
        reference: what a person replied; "" for none.
    """

    name: str
    turns: tuple[str, ...]
    replies: tuple[str, ...]
    said: str
    reference: str = ""


_WEEKEND = ("Hi, what are you doing this weekend?", "I am going hiking with my sister. How about you?")
_HOLIDAY = (
    "Hey, how was your trip to the sea?",
    "It was great, we swam every day.",
    "Lucky you! Was the water warm?",
    "A bit cold in the morning, but lovely at noon.",
    "Did your brother come along too?",
    "The capital of France is Paris.",
    "Haha, what? I asked about your brother.",
)
SAMPLES = (
    Sample(
        "a good reply",
        _WEEKEND,
        ("That sounds lovely! I will stay home and finally finish my novel.",),
        "It answers what was said. Change a word and watch.",
    ),
    Sample(
        "off the subject",
        _WEEKEND,
        ("The engine of this bus needs new oil.",),
        "A flawless sentence that answers nothing: above all its fit to the context pulls it down.",
    ),
    Sample(
        "two to compare",
        ("I burnt the lasagne again. Third time this month.",),
        ("Oh no! Did you forget it in the oven?", "I have a third lasagne of this month."),
        "Both speak of lasagne; one of them says something.",
    ),
    Sample(
        "a lapse in a long talk",
        _HOLIDAY,
        ("Oh, I am sorry! My brother stayed at home with his new dog.",),
        "Each turn of the assistant is judged; one is not like the others.",
    ),
    Sample(
        "what it cannot see",
        ("What is the capital of Australia?",),
        ("It is Sydney.", "It is Canberra."),
        "It knows no facts, so it cannot tell these two apart.",
    ),
)
GROUPS: Mapping[Group, str] = {
    "language model": "what a language model makes of it",
    "fluency": "words that follow each other",
    "specificity": "says what few replies say",
    "repetition": "says nothing twice",
    "context overlap": "takes up what was said",
    "form": "length, beginning and end",
    "context fit": "answers what was said",
    "reference fit": "close to the reference",
    "other": "what has no other name",
}
"""What each part of an explanation tells, for somebody who has read nothing."""
_OF_CHAT = "The judge learnt from short English chat."
WARNINGS: Mapping[str, str] = {
    OUT_OF_DOMAIN: "This judge cannot judge this reply.",
    UNLIKE: "It is not like the replies that the judge learnt from.",
    NO_WORDS: "There are no words in it.",
    CODE: f"This looks like code. {_OF_CHAT}",
    NOT_ENGLISH: f"This does not look like English. {_OF_CHAT}",
    UNLIKE_CHAT: f"This is longer than talk. {_OF_CHAT}",
    CONTEXT_NOT_ENGLISH: f"The conversation does not look like English. {_OF_CHAT}",
    CUT: "It is too long for the judge, which did not read it to its end.",
    CONTEXT_CUT: "The conversation is too long for the judge, which did not read all of it.",
}
"""The warnings beside a score, in sentences; one that is not here is shown as it is."""
WORDS: Mapping[str, str] = {"outside": OUT_OF_DOMAIN, "instead": f"{INSTEAD}.", "facts": FACTS_NOT_CHECKED}
"""What the script needs of the package's own words: a reason, a remedy, a warning."""


class Turns(BaseModel):
    """A pasted dialogue."""

    context: list[str] = Field(description="The turns before the reply, oldest first.")
    replies: list[str] = Field(description="The last turn; or all replies to that context, where there are several.")
    references: list[str] = Field(description="What people replied in its place.")
    sure: bool = Field(description="Whether the text says where turns end; else each of its lines is one.")


router = APIRouter()


@router.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
async def front() -> HTMLResponse:
    """The page."""
    return HTMLResponse(_rendered(), headers=HEADERS)


@router.get("/static/{name}", include_in_schema=False)
async def static(name: str) -> Response:
    """Its style and scripts."""
    if name not in _FILES:
        raise HTTPException(404)
    return Response(_content(name), headers={**HEADERS, "Content-Type": _FILES[name]})


@router.post(
    "/v1/turns",
    tags=["look"],
    response_model=Turns,
    openapi_extra=takes({"type": "string", "examples": ["A: Tea?\nB: Yes, please."]}, "text/plain"),
    responses=problems(400, 401, 408, 413, 415, 422, 503),
)
async def turns(request: Request, service: TheService) -> Turns:
    """A dialogue that somebody pasted, as its turns: chat messages, `A: ...` and `B: ...` on lines, or one a line."""
    text = await body_of(request, service.limits)
    found = await asyncio.to_thread(pasted, text, service.limits)  # a megabyte of short lines takes a second
    return Turns(**found._asdict())


@cache
def _content(name: str) -> bytes:
    """A file beside this one."""
    return files("rejoinder.serving").joinpath(name).read_bytes()


@cache
def _rendered() -> str:
    """The page as it is sent; nothing in it depends on who asks."""
    from jinja2 import Environment, PackageLoader

    made = Environment(loader=PackageLoader("rejoinder.serving", "."), autoescape=True, trim_blocks=True)
    samples = [sample._asdict() for sample in SAMPLES]
    words = {"groups": GROUPS, "warnings": WARNINGS, "words": WORDS}
    return made.get_template("page.html.jinja").render(version=__version__, samples=samples, **words)
