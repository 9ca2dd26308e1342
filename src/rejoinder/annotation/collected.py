"""What people said, out of a study's folder: examples with the ratings of each rater, and records of the raters."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from rejoinder.annotation.answers import Answer, all_answers, all_raters, assigned
from rejoinder.annotation.items import Item
from rejoinder.annotation.study import Study, opened
from rejoinder.data.examples import example_of
from rejoinder.example import Choice, Example, Pair, Rating, majority


@dataclass(frozen=True, slots=True)
class RaterRecord:
    """What is known of a rater.

    Attributes:
        name: as in `Rating.rater`.
        answered: how many replies, or pairs of replies, the rater has rated; checks do not count.
        assigned: how many the rater was given; 0 where the answers were imported.
        passed: checks of attention that the rater passed.
        failed: checks of attention that the rater failed.
        seconds: time spent on each reply, in the order of rating, without those of which it is not known.
        comments: what the rater wrote, with the id of the line.
    """

    name: str
    answered: int
    assigned: int
    passed: int
    failed: int
    seconds: tuple[float, ...]
    comments: tuple[tuple[str, str], ...] = ()


class Collected(NamedTuple):
    """What a study has collected so far.

    Attributes:
        lines: the lines to be rated, those of the same texts together: examples with a `Rating` of each rater by
            question, or pairs with a vote of each; also those that nobody has rated yet.
        raters: one record a rater, also of those who have not begun.
    """

    lines: list[Example | Pair]
    raters: list[RaterRecord]


def load_study(folder: str | Path) -> Collected:
    """What people have said in a study so far; it may be running meanwhile. Nobody is left out, whatever checks say.

    Args:
        folder: where `annotate` has put the study.

    Raises:
        UsageError: there is no study.
        DataError: it is damaged.
        MissingExtra: sqlalchemy is not installed.
        WriteError: its database cannot be reached.
    """
    with opened(folder) as study:
        return collected(study)


def collected(study: Study) -> Collected:
    """As `load_study`, of a study that is open."""
    names = {row.number: str(row.name) for row in all_raters(study)}
    by_item: dict[int, list[Answer]] = {}
    for answer in all_answers(study):
        by_item.setdefault(answer.item, []).append(answer)
    lines = [
        _rated(study, item, record, by_item.get(item.number, []), names)
        for item in study.plan.rated
        for record in item.lines
    ]
    return Collected(lines, rater_records(study))


def rater_records(study: Study) -> list[RaterRecord]:
    """What is known of each rater."""
    given = assigned(study)
    answers: dict[int, list[Answer]] = {}
    for answer in all_answers(study):
        answers.setdefault(answer.rater, []).append(answer)
    return [_record(study, row, answers.get(row.number, []), given.get(row.number, 0)) for row in all_raters(study)]


def passes(study: Study, answer: Answer) -> bool:
    """Whether the answer to a check is one that passes."""
    first = study.design.questions[0].name
    return answer.values[first] in (study.plan.item(answer.item).passes or ())


def line_id(item: Item) -> str:
    """The id of the first line of an item."""
    line: Any = item.lines[0]
    return str((line[0] if isinstance(line, list) else line).get("id", ""))


def _record(study: Study, row: Any, answers: list[Answer], tasks: int) -> RaterRecord:
    """What is known of one rater."""
    rated = [answer for answer in answers if study.plan.item(answer.item).passes is None]
    checked = [passes(study, answer) for answer in answers if study.plan.item(answer.item).passes is not None]
    passed, failed = (sum(checked), len(checked) - sum(checked)) if row.checks is None else json.loads(row.checks)
    return RaterRecord(
        name=str(row.name),
        answered=len(rated),
        assigned=max(0, tasks - len(study.plan.checks)),
        passed=passed,
        failed=failed,
        seconds=tuple(answer.seconds for answer in rated if answer.seconds is not None),
        comments=tuple((line_id(study.plan.item(one.item)), one.comment) for one in rated if one.comment),
    )


def _rated(study: Study, item: Item, record: Any, answers: list[Answer], names: dict[int, str]) -> Example | Pair:
    """A line with what was said of it."""
    where = f"{study.folder}:{item.number}"
    if study.design.pairwise:
        first, second = (example_of(one, where) for one in record)
        votes = tuple(_vote(value) for answer in answers for value in answer.values.values())
        return Pair((first, second), majority(votes), votes, id=str(record[0]["id"]), where=where)
    ratings = tuple(
        Rating(float(value), question, names[answer.rater])
        for answer in answers
        for question, value in answer.values.items()
        if value is not None
    )
    scales = {question.name: question.bounds for question in study.design.questions}
    return replace(example_of(record, where), ratings=ratings, scales=scales)


def _vote(value: int | None) -> Choice | None:
    """An answer about two replies as a vote."""
    return None if value is None else 0 if value == 0 else 1
