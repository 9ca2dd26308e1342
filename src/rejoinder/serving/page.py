"""GET /: the way to what is served, for whoever opens the address in a browser."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse

router = APIRouter(include_in_schema=False)


@router.get("/")
async def front() -> PlainTextResponse:
    """Where to go on."""
    return PlainTextResponse(
        "rejoinder serve: POST /v1/score, GET /v1/scorers, GET /health; described at /openapi.json\n"
    )
