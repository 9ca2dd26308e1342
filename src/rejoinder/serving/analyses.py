"""POST /v1/compare and /v1/audit: what the commands of these names say of a small batch."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response
from starlette.requests import Request

from rejoinder.analysis.compare import compare
from rejoinder.auditing import audit
from rejoinder.data.values import as_json, decoded, kind_of
from rejoinder.errors import DataError
from rejoinder.example import Example
from rejoinder.serving.bodies import BODY, body_of, examples_in, items, values_in
from rejoinder.serving.service import Service, TheService
from rejoinder.serving.shapes import JSON, LINES, SIDES, AuditQuery, CompareQuery, Record, problems, takes
from rejoinder.serving.waiting import unless_abandoned, waited_for

router = APIRouter(prefix="/v1", tags=["analyse"])
_SIDES = 'Send {"a": [...], "b": [...]}, the lines of each system'
_STATUSES = problems(400, 401, 408, 413, 415, 422, 501, 503, 504)
_SMALLER = "Send fewer lines, or ask for fewer resamples, families or scorers; the command line has no limit"


@router.post("/compare", response_model=Record, openapi_extra=takes(SIDES), responses=_STATUSES)
async def compare_systems(request: Request, service: TheService, query: Annotated[CompareQuery, Query()]) -> Response:
    """Compare two systems: the JSON of `rejoinder compare --json`."""
    abandoned = threading.Event()
    scorers = service.to_analyse(query.scorer, abandoned)
    a, b = _sides(await body_of(request, service.limits), service)
    options = {"pair_by": query.pair_by, "by": query.by, "resamples": query.resamples, "seed": query.seed}
    return await _analysed(request, service, partial(_compared, a, b, scorers, options), abandoned)


@router.post("/audit", response_model=Record, openapi_extra=takes(LINES), responses=_STATUSES)
async def audit_scorer(request: Request, service: TheService, query: Annotated[AuditQuery, Query()]) -> Response:
    """What fools a scorer, and how often, on these replies: what `rejoinder audit --json` says."""
    abandoned = threading.Event()
    (scorer,) = service.to_analyse([query.scorer] if query.scorer else [], abandoned)
    values = values_in(await body_of(request, service.limits))
    examples = examples_in(values, BODY, service.limits)
    options = {"families": query.family or None, "limit": query.limit, "seed": query.seed}
    return await _analysed(request, service, partial(_audited, examples, scorer, options), abandoned)


def _compared(a: Sequence[Example], b: Sequence[Example], scorers: Sequence[Any], options: dict[str, Any]) -> str:
    """Return a comparison as JSON."""
    return as_json(compare(a, b, scorers, **options).to_dict(), BODY)


def _audited(examples: Sequence[Example], scorer: Any, options: dict[str, Any]) -> str:
    """An audit as JSON."""
    return as_json(audit(examples, scorer, **options).to_dict(), BODY)


async def _analysed(request: Request, service: Service, work: partial[str], abandoned: threading.Event) -> Response:
    """The answer to a request that takes long; where nobody waits for it any more, the work ends soon."""
    task = service.aside.done(unless_abandoned(work, abandoned))
    try:
        return Response(await waited_for(request, task, service.limits.analysis, _SMALLER), media_type=JSON)
    finally:
        abandoned.set()


def _sides(text: str, service: Service) -> tuple[list[Example], list[Example]]:
    """The lines of both systems.

    Raises:
        DataError: there are not two sides, or a line cannot be used.
    """
    value = decoded(text, BODY, _SIDES, document=True)
    if not isinstance(value, dict) or set(value) != {"a", "b"}:
        names = isinstance(value, dict) and ", ".join(repr(name[:40]) for name in list(value)[:5])
        found = f"an object with {names or 'nothing'}" if isinstance(value, dict) else kind_of(value)
        raise DataError(f"{found}, expected an object with a and b", _SIDES, where=BODY)
    first, second = (examples_in(items(value[side]), side, service.limits) for side in ("a", "b"))
    return first, second
