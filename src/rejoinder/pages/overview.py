"""How a study goes: who has done how much, how far raters agree so far, what they wrote."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

import numpy as np

from rejoinder.annotation.answers import Answer, all_answers, all_raters, assigned
from rejoinder.annotation.collected import RaterRecord, rater_records
from rejoinder.annotation.design import Question
from rejoinder.annotation.study import Study
from rejoinder.estimates import Estimate
from rejoinder.stats.agreement import krippendorff_alpha, reliability

_COMMENTS = 50  # the last of them


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a rater is.

    Attributes:
        record: what is known of the rater.
        token: the secret part of the link; None where the answers were imported.
        done: how many answers, checks too.
        total: how many there will be.
        seconds: the median time of a reply, or None.
        last: when the last answer came, in seconds since 1970, or None.
    """

    record: RaterRecord
    token: str | None
    done: int
    total: int
    seconds: float | None
    last: float | None


class Agreed(NamedTuple):
    """How far raters agree about a question so far.

    Attributes:
        alpha: Krippendorff's, of ranks; of yes and no, and of two replies, of names.
        mean: how reliable the mean rating of a reply is, from 0 to 1.
        ratings: how many there are.
        items: of how many replies.
    """

    alpha: Estimate
    mean: float
    ratings: int
    items: int


@dataclass(frozen=True, slots=True)
class Overview:
    """How a study goes.

    Attributes:
        progress: one a rater.
        agreement: by question.
        coverage: how many replies have so many ratings.
        comments: rater, line, what was written; the last first.
    """

    progress: list[Progress]
    agreement: dict[str, Agreed]
    coverage: list[tuple[int, int]]
    comments: list[tuple[str, str, str]]

    @property
    def done(self) -> int:
        """How many answers there are."""
        return sum(one.done for one in self.progress)

    @property
    def total(self) -> int:
        """How many answers there will be."""
        return sum(one.total for one in self.progress)


def overview(study: Study) -> Overview:
    """How a study goes at this moment."""
    answers, tasks = all_answers(study), assigned(study)
    by_rater: dict[int, list[Answer]] = {}
    for answer in answers:
        by_rater.setdefault(answer.rater, []).append(answer)
    progress = []
    for row, record in zip(all_raters(study), rater_records(study), strict=True):
        own = by_rater.get(row.number, [])
        total = tasks.get(row.number, len(own))
        middle = median(record.seconds) if record.seconds else None
        progress.append(
            Progress(record, row.token, len(own), total, middle, max((one.at for one in own), default=None))
        )
    rated = [answer for answer in answers if study.plan.item(answer.item).block is not None]
    numbers = Counter(answer.item for answer in rated)
    coverage = Counter(numbers.get(item.number, 0) for item in study.plan.rated)
    comments = [(record.name, *comment) for record in (one.record for one in progress) for comment in record.comments]
    agreement = {question.name: _agreement(rated, question) for question in study.design.questions}
    return Overview(progress, agreement, sorted(coverage.items()), comments[::-1][:_COMMENTS])


def _agreement(answers: list[Answer], question: Question) -> Agreed:
    """How far raters agree so far; a tie of two replies stands halfway between them."""
    rows: dict[int, list[float]] = {}
    for answer in answers:
        value = answer.values[question.name]
        rows.setdefault(answer.item, []).append(0.5 if value is None else float(value))
    table = np.full((len(rows), max(map(len, rows.values()), default=1)), np.nan)
    for place, values in enumerate(rows.values()):
        table[place, : len(values)] = values
    alpha = krippendorff_alpha(table, "nominal" if isinstance(question.scale, str) else "ordinal")
    return Agreed(alpha, float(reliability(table).mean[0]), len(answers), len(rows))
