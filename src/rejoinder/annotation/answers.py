"""What raters do: their next task, their answers, and how far they are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rejoinder.annotation import database as db
from rejoinder.annotation.database import sql
from rejoinder.annotation.items import Item
from rejoinder.annotation.study import Study

if TYPE_CHECKING:
    from sqlalchemy import Connection

Values = Mapping[str, int | None]
"""Answers by question; of two replies 0 or 1 is the better one, None a tie."""
LONGEST_COMMENT = 2000  # characters


@dataclass(frozen=True, slots=True)
class Rater:
    """Someone with a link.

    Attributes:
        number: from 1.
        name: what the rater is called in results.
        token: the secret part of the link.
    """

    number: int
    name: str
    token: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What a rater said of an item.

    Attributes:
        rater: number of the rater.
        item: number of the item.
        values: answers by question.
        seconds: how long it took, or None where that is not known.
        at: when, seconds since 1970.
        comment: what the rater wrote, or "".
    """

    rater: int
    item: int
    values: Values
    seconds: float | None
    at: float
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """One screen of a rater.

    Attributes:
        place: from 1.
        total: how many there are.
        done: how many have an answer.
        item: what is rated.
        flipped: of two replies the second stands first.
        again: whether the context is that of the task before.
        answer: what the rater has said of it before, or None.
    """

    place: int
    total: int
    done: int
    item: Item
    flipped: bool
    again: bool
    answer: Answer | None


def rater_of(study: Study, token: str) -> Rater | None:
    """Whose link it is, or None."""
    with study.engine.connect() as connection:
        found = connection.execute(sql.select(db.raters).where(db.raters.c.token == token)).one_or_none()
    return Rater(found.number, found.name, found.token) if found else None


def counts(study: Study, rater: Rater) -> tuple[int, int]:
    """How many tasks a rater has done, and how many there are."""
    with study.engine.connect() as connection:
        return _counts(connection, rater.number)


def _counts(connection: Connection, rater: int) -> tuple[int, int]:
    """As `counts`."""
    total = sql.select(sql.func.count()).where(db.tasks.c.rater == rater).scalar_subquery()
    done = sql.select(sql.func.count()).where(db.answers.c.rater == rater).scalar_subquery()
    row = connection.execute(sql.select(done, total)).one()
    return int(row[0]), int(row[1])


def next_place(study: Study, rater: Rater) -> int | None:
    """The first place without an answer, or None where all is done."""
    tasks, given = db.tasks, db.answers
    both = sql.and_(given.c.rater == tasks.c.rater, given.c.item == tasks.c.item)
    wanted = (
        sql.select(sql.func.min(tasks.c.place))
        .select_from(tasks.outerjoin(given, both))
        .where(tasks.c.rater == rater.number, given.c.item.is_(None))
    )
    with study.engine.connect() as connection:
        found = connection.execute(wanted).scalar()
    return None if found is None else int(found)


def task_at(study: Study, rater: Rater, place: int) -> Task | None:
    """The task at a place, or None where there is none."""
    near = sql.and_(db.tasks.c.rater == rater.number, db.tasks.c.place.in_((place - 1, place)))
    with study.engine.connect() as connection:
        rows = {row.place: row for row in connection.execute(sql.select(db.tasks).where(near))}
        if place not in rows:
            return None
        number, flipped = rows[place].item, rows[place].flipped
        given = sql.select(db.answers).where(db.answers.c.rater == rater.number, db.answers.c.item == number)
        answer = connection.execute(given).one_or_none()
        done, total = _counts(connection, rater.number)
    item, before = study.plan.item(number), rows.get(place - 1)
    again = before is not None and item.block is not None and item.block == study.plan.item(before.item).block
    return Task(place, total, done, item, flipped, again, _answer(answer) if answer else None)


def save(study: Study, answer: Answer) -> None:
    """Keep an answer, in the place of the rater's earlier one to that item; when this returns it is on the disk."""
    row = stored(answer)
    same = sql.and_(db.answers.c.rater == answer.rater, db.answers.c.item == answer.item)
    change = db.answers.update().where(same).values(**row)
    with study.engine.begin() as connection:
        if connection.execute(change).rowcount:
            return
    try:
        with study.engine.begin() as connection:
            connection.execute(db.answers.insert().values(rater=answer.rater, item=answer.item, **row))
    except sql.exc.IntegrityError:  # the same form was sent twice at once
        with study.engine.begin() as connection:
            connection.execute(change)


def stored(answer: Answer) -> dict[str, Any]:
    """What the table keeps of an answer, beside who said it of what."""
    return {
        "answers": json.dumps(answer.values),
        "seconds": answer.seconds,
        "at": answer.at,
        "comment": answer.comment,
    }


def all_answers(study: Study) -> list[Answer]:
    """Every answer, by rater, in the order in which they were given."""
    with study.engine.connect() as connection:
        rows = connection.execute(sql.select(db.answers).order_by(db.answers.c.rater, db.answers.c.at)).all()
    return [_answer(row) for row in rows]


def all_raters(study: Study) -> list[Any]:
    """The rows of all raters."""
    with study.engine.connect() as connection:
        return list(connection.execute(sql.select(db.raters).order_by(db.raters.c.number)).all())


def assigned(study: Study) -> dict[int, int]:
    """How many tasks each rater has."""
    wanted = sql.select(db.tasks.c.rater, sql.func.count()).group_by(db.tasks.c.rater)
    with study.engine.connect() as connection:
        return {int(rater): int(count) for rater, count in connection.execute(wanted)}


def _answer(row: Any) -> Answer:
    """A row as an answer."""
    return Answer(row.rater, row.item, json.loads(row.answers), row.seconds, row.at, row.comment)
