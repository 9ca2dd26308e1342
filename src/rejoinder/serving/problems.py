"""What is said where something cannot be done: one shape for all, with the message that the command line would give."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from rejoinder.errors import DataError, MissingAsset, MissingExtra, NothingScored, RejoinderError, UsageError
from rejoinder.serving.batching import Busy
from rejoinder.serving.limits import TooLong
from rejoinder.serving.waiting import TooSlow

BUSY = "more is asked for than can be scored now. Ask again in a moment"
_LATER = {"Retry-After": "1"}
_STATUS: dict[type[RejoinderError], int] = {  # the first that fits
    UsageError: 400,
    TooLong: 413,
    DataError: 422,
    NothingScored: 422,
    MissingAsset: 501,
    MissingExtra: 501,
}
_LINE = re.compile(r":(?:item )?(\d+)$")


def handled(app: FastAPI) -> None:
    """Let the application answer every error in this shape."""
    app.add_exception_handler(RejoinderError, _refused)
    app.add_exception_handler(Busy, _busy)
    app.add_exception_handler(TooSlow, _too_slow)
    app.add_exception_handler(ClientDisconnect, _left)
    app.add_exception_handler(HTTPException, _status)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(Exception, _fault)


def problem(message: str, *, where: str = "", field: str = "") -> dict[str, Any]:
    """The record of an error.

    Args:
        message: one line: where, what was found, what was expected, what to do.
        where: the place in the body, such as `body:item 3`.
        field: the key at fault.
    """
    line = _LINE.search(where)
    told = {"message": message, "where": where or None, "line": int(line[1]) if line else None, "field": field or None}
    return {"error": told}


def problem_of(error: RejoinderError) -> dict[str, Any]:
    """The record of an error that rejoinder raised."""
    if isinstance(error, DataError):
        return problem(str(error), where=error.where, field=error.field)
    return problem(str(error))


def answered(status: int, record: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> JSONResponse:
    """The answer that says an error."""
    return JSONResponse(record, status, headers)


def _refused(_request: Request, error: Exception) -> JSONResponse:
    """An error that rejoinder raised on purpose: the input's, not ours."""
    status = next((status for kind, status in _STATUS.items() if isinstance(error, kind)), 422)
    return answered(status, problem_of(error) if isinstance(error, RejoinderError) else problem(str(error)))


def _busy(_request: Request, _error: Exception) -> JSONResponse:
    """There is no room."""
    return answered(503, problem(BUSY), _LATER)


def _too_slow(_request: Request, error: Exception) -> JSONResponse:
    """The request took longer than its time limit; no `Retry-After`, because asking again would take as long."""
    return answered(504, problem(str(error)))


def _left(_request: Request, _error: Exception) -> Response:
    """The client left; the status is for the counts alone."""
    return Response(status_code=499)


def _status(_request: Request, error: Exception) -> JSONResponse:
    """What a route refuses, and what there is no route for."""
    if not isinstance(error, HTTPException):
        raise error
    return answered(error.status_code, problem(str(error.detail)), error.headers)


def _invalid(_request: Request, error: Exception) -> JSONResponse:
    """A parameter that is none, or not of its form."""
    if not isinstance(error, RequestValidationError):
        raise error
    first = error.errors()[0]
    place = [str(part) for part in first["loc"]]
    name = place[1] if len(place) > 1 else ""
    said = "there is no such parameter" if first["type"] == "extra_forbidden" else first["msg"]
    return answered(400, problem(f"parameter {name}: {said}. See /openapi.json", field=name))


def _fault(_request: Request, error: Exception) -> JSONResponse:
    """A fault of ours; what was sent is no part of what is said."""
    return answered(500, problem(f"{type(error).__name__}: this is a fault of rejoinder"))
