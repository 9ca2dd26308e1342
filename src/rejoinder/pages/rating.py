"""The pages of a rater: what to do, one reply after the other, and thanks."""

from __future__ import annotations

import math
import time
from typing import Annotated

from fastapi import APIRouter, Path
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from rejoinder.annotation.answers import (
    LONGEST_COMMENT,
    Answer,
    Rater,
    Task,
    Values,
    counts,
    next_place,
    rater_of,
    save,
    task_at,
)
from rejoinder.annotation.items import voices_of
from rejoinder.annotation.study import Study
from rejoinder.pages.app import Sent, TheStudy, page, text_in
from rejoinder.pages.guard import ROOT, shown_at, stamped

router = APIRouter(prefix="/r/{token}")
_SEE_OTHER = 303
_STICKY = 2  # questions that stay in sight below a long reply


Token = Annotated[str, Path(max_length=64)]
Place = Annotated[int, Path(ge=1, le=1_000_000)]


@router.get("")
def begin(study: TheStudy, token: Token) -> HTMLResponse:
    """What this is about, and how far the rater is."""
    rater = _rater(study, token)
    done, total = counts(study, rater)
    return page("begin", study=study, rater=rater, done=done, total=total)


@router.get("/next")
def go_on(study: TheStudy, token: Token) -> Response:
    """To the first reply without an answer, or to thanks."""
    rater = _rater(study, token)
    return _on(study, rater)


@router.get("/done")
def done(study: TheStudy, token: Token) -> Response:
    """Thanks, where all is done."""
    rater = _rater(study, token)
    finished, total = counts(study, rater)
    if finished < total:
        return _to(rater, "next")
    return page("done", study=study, rater=rater, total=total)


@router.get("/{place}")
def ask(study: TheStudy, token: Token, place: Place) -> HTMLResponse:
    """One reply, and the questions about it."""
    rater = _rater(study, token)
    return _asked(study, rater, _task(study, rater, place))


@router.post("/{place}")
def take(study: TheStudy, token: Token, place: Place, form: Sent) -> Response:
    """Keep an answer, then on to the next."""
    rater = _rater(study, token)
    now = time.time()
    shown = shown_at(study.plan.secret, text_in(form, "mark"), rater.token, place)
    if shown is None:
        raise HTTPException(403)
    task = _task(study, rater, place)
    values, lacking = _values(study, {name: text_in(form, name) for name in form})
    comment = "".join(one for one in text_in(form, "comment") if one.isprintable() or one in "\n\t").strip()
    if lacking or len(comment) > LONGEST_COMMENT:
        said = lacking or f"Please shorten the comment to {LONGEST_COMMENT:,} characters."
        return _asked(study, rater, task, values=values, comment=comment, said=said)
    seconds = _seconds(text_in(form, "seconds"), now - shown) + ((task.answer and task.answer.seconds) or 0)
    kept = comment if study.design.comments else ""
    save(study, Answer(rater.number, task.item.number, values, round(seconds, 2), now, kept))
    return _on(study, rater)


def _rater(study: Study, token: str) -> Rater:
    """Whose link it is. Asked for here and not by the framework, which would do so in a thread of its own.

    Raises:
        HTTPException: nobody's.
    """
    if (rater := rater_of(study, token)) is None:
        raise HTTPException(404)
    return rater


def _task(study: Study, rater: Rater, place: int) -> Task:
    """The task at a place.

    Raises:
        HTTPException: there is none.
    """
    if (task := task_at(study, rater, place)) is None:
        raise HTTPException(404)
    return task


def _asked(
    study: Study, rater: Rater, task: Task, *, values: Values | None = None, comment: str = "", said: str = ""
) -> HTMLResponse:
    """The page of a task, with what was answered so far."""
    before = task.answer
    given: Values = values if values is not None else before.values if before else {}
    replies = task.item.replies[::-1] if task.flipped else task.item.replies
    voices = voices_of(task.item, study.plan.rated)
    mark = stamped(study.plan.secret, time.time(), rater.token, task.place)
    return page(
        "rate",
        422 if said else 200,
        study=study,
        rater=rater,
        task=task,
        replies=replies,
        voices=voices,
        several=max(voices, default=0) > 1,
        options=[options_of(study, task, number) for number in range(len(study.design.questions))],
        chosen={name: "tie" if value is None else str(value) for name, value in given.items()},
        comment=comment or (before.comment if before else ""),
        longest=LONGEST_COMMENT,
        mark=mark,
        said=said,
        sticky=len(study.design.questions) <= _STICKY,
    )


def options_of(study: Study, task: Task, number: int) -> list[tuple[str, str, str]]:
    """Code, label and key of each answer to a question, in the order in which they are shown.

    Of two replies that which stands first is A, so where they are exchanged the codes are, and labels and keys are not.
    """
    options = study.design.questions[number].options
    codes = [option.code for option in options]
    if task.flipped:
        codes = codes[::-1]
    return [(code, option.label, option.key) for code, option in zip(codes, options, strict=True)]


def _values(study: Study, form: dict[str, str]) -> tuple[Values, str]:
    """The answers in a form by question, and what to say where one lacks."""
    values, lacking = {}, ""
    for number, question in enumerate(study.design.questions):
        option = question.option(form.get(f"answer-{number}", ""))
        if option is None:
            lacking = (
                "Please choose an answer." if len(study.design.questions) == 1 else "Please answer every question."
            )
        else:
            values[question.name] = option.value
    return values, lacking


def _seconds(said: str, most: float) -> float:
    """How long the page was in sight, as the browser says, but no longer than since it was shown; else that."""
    most = max(0.0, most)
    try:
        seen = float(said)
    except ValueError:
        return most
    return min(max(seen, 0.0), most) if math.isfinite(seen) else most


def _on(study: Study, rater: Rater) -> RedirectResponse:
    """On to the first reply without an answer."""
    place = next_place(study, rater)
    return _to(rater, "done" if place is None else place)


def _to(rater: Rater, place: int | str) -> RedirectResponse:
    """On to another page of the rater."""
    return RedirectResponse(f"{ROOT.get()}/r/{rater.token}/{place}", _SEE_OTHER)
