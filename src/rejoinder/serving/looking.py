"""What can be asked without a body: which scorers there are, and whether the service is well."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response

from rejoinder.judges.protocol import is_judge
from rejoinder.scorer import Scorer, signature_of
from rejoinder.scoring.cards import card_record
from rejoinder.scoring.explained import is_explained
from rejoinder.serving.counting import MEDIA
from rejoinder.serving.service import TheService
from rejoinder.serving.shapes import Health, Scorers, problems
from rejoinder.version import __version__

router = APIRouter(tags=["look"])


@router.get("/v1/scorers", response_model=Scorers, responses=problems(401))
async def scorers(service: TheService) -> JSONResponse:
    """The scorers that can be asked for, the default first: what each gives, what it needs, where it comes from."""
    return JSONResponse({"version": 1, "results": [_card(*one) for one in service.scorers.items()]})


@router.get("/health", response_model=Health, responses={503: {"model": Health, "description": "Busy."}})
async def health(service: TheService) -> JSONResponse:
    """Whether the service is alive, and whether it would take a request and score it in time (503 where not)."""
    load = {"ready": service.ready, "waiting": service.waiting, "oldest_seconds": round(service.age, 3)}
    return JSONResponse({"live": True, **load, "version": __version__}, 200 if load["ready"] else 503)


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}, **problems(401)},
)
async def metrics(service: TheService) -> Response:
    """What Prometheus reads: requests, how long they took, lines, batches, memory."""
    return Response(service.counts.text(), media_type=MEDIA)


def _card(name: str, scorer: Scorer) -> dict[str, Any]:
    """What is told of a scorer."""
    told = {"explains": is_explained(scorer), "signature": dict(signature_of(scorer).fields)}
    return {"name": name, **card_record(scorer.card), "scale": scorer.scale if is_judge(scorer) else None, **told}
