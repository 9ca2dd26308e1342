"""POST /v1/score: scores of one line or of several."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response
from starlette.requests import Request

from rejoinder.errors import DataError
from rejoinder.serving.bodies import body_of, lines_in
from rejoinder.serving.service import TheService
from rejoinder.serving.shapes import JSON, LINES, Results, ScoreQuery, problems, takes

router = APIRouter(prefix="/v1", tags=["score"])


@router.post(
    "/score",
    response_model=Results,
    openapi_extra=takes(LINES),
    responses=problems(400, 401, 408, 413, 415, 422, 501, 503, 504),
)
async def score(request: Request, service: TheService, query: Annotated[ScoreQuery, Query()]) -> Response:
    """The scores of one line or of several, with intervals and warnings: for each what `rejoinder score` writes."""
    asked = service.asked(query)
    text = await body_of(request, service.limits)
    examples = await asyncio.to_thread(lines_in, text, service.limits, service.keep(asked))
    lines = await service.results(request, asked, examples)
    for line in lines:
        if isinstance(line, DataError):
            raise line
    return Response(f'{{"results": [{", ".join(map(str, lines))}]}}', media_type=JSON)
