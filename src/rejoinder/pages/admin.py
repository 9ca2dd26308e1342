"""The page of whoever runs the study: progress, links, agreement, comments; behind a password."""

from __future__ import annotations

import hmac
import time
from collections import deque
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Literal

from fastapi import APIRouter, Cookie, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from rejoinder.annotation.rows import export_rows
from rejoinder.annotation.study import Study, add_raters
from rejoinder.pages.app import Sent, TheStudy, page, text_in
from rejoinder.pages.guard import ROOT, signed
from rejoinder.pages.overview import overview

router = APIRouter(prefix="/admin")
_SESSION = 12 * 3600  # seconds
_ATTEMPTS, _WITHIN = 10, 60  # wrong passwords in so many seconds
_SEE_OTHER = 303
_failed: deque[float] = deque(maxlen=_ATTEMPTS)


def _session(study: TheStudy, session: Annotated[str, Cookie(max_length=100)] = "") -> str:
    """The session of whoever has given the password; "" where nobody has, or too long ago."""
    until, _, signature = session.partition(".")
    right = _signature(study, until)
    fresh = until.isascii() and until.isdigit() and int(until) > time.time()
    return session if fresh and hmac.compare_digest(signature.encode(), right.encode()) else ""


def _signature(study: Study, until: str) -> str:
    """What makes a session valid; another password ends all sessions."""
    return signed(study.plan.secret, "session", study.password, until)


Session = Annotated[str, Depends(_session)]


def _inside(session: Session) -> str:
    """A valid session.

    Raises:
        HTTPException: there is none.
    """
    if not session:
        raise HTTPException(403)
    return session


Inside = Annotated[str, Depends(_inside)]


@router.get("")
def look(request: Request, study: TheStudy, session: Session) -> HTMLResponse:
    """How the study goes, or the form for the password."""
    if not session:
        return page("login", study=study)
    mark = signed(study.plan.secret, "admin", session)
    base = str(request.app.state.url or request.base_url).rstrip("/")
    return page("admin", study=study, mark=mark, base=base, found=overview(study))


@router.post("/login")
def login(request: Request, study: TheStudy, form: Sent) -> Response:
    """Begin a session, where the password is right."""
    now = time.time()
    if len(_failed) == _ATTEMPTS and now - _failed[0] < _WITHIN:
        raise HTTPException(429)
    if not hmac.compare_digest(text_in(form, "password").encode(), study.password.encode()):
        _failed.append(now)
        return page("login", 403, study=study, said="That is not the password.")
    until = str(int(now) + _SESSION)
    answer = RedirectResponse(f"{ROOT.get()}/admin", _SEE_OTHER)
    secure = str(request.app.state.url or request.base_url).startswith("https:")
    answer.set_cookie(
        "session",
        f"{until}.{_signature(study, until)}",
        max_age=_SESSION,
        path=f"{ROOT.get()}/admin",
        httponly=True,
        samesite="strict",
        secure=secure,
    )
    return answer


@router.get("/rows.{suffix}")
def download(study: TheStudy, _session: Inside, suffix: Literal["csv", "jsonl"]) -> Response:
    """All answers, a row each."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / f"rows.{suffix}"
        export_rows(study, file)
        content = file.read_bytes()
    kind = "text/csv; charset=utf-8" if suffix == "csv" else "application/jsonl; charset=utf-8"
    name = f'attachment; filename="rows.{suffix}"'
    return Response(content, headers={"Content-Type": kind, "Content-Disposition": name})


@router.post("/raters")
def more_raters(study: TheStudy, session: Inside, form: Sent) -> Response:
    """One rater more."""
    right = signed(study.plan.secret, "admin", session)
    if not hmac.compare_digest(text_in(form, "mark").encode(), right.encode()):
        raise HTTPException(403)
    add_raters(study, 1)
    return RedirectResponse(f"{ROOT.get()}/admin", _SEE_OTHER)
