"""Small studies for tests."""

from __future__ import annotations

from rejoinder.annotation.answers import Answer, Rater, all_raters, next_place, save, task_at
from rejoinder.annotation.study import Study
from rejoinder.example import Example


def replies(contexts: int = 6, systems: int = 2) -> list[Example]:
    """Replies of some systems to some contexts."""
    return [
        Example(
            (f"Hello, what about {context}?", "Which one?", f"The one with {context}."),
            f"Reply of kind {system} to {context}.",
            id=f"{context}-{system}",
            system=f"system-{system}",
        )
        for context in range(contexts)
        for system in range(systems)
    ]


def raters(study: Study) -> list[Rater]:
    """The people who have a link."""
    return [Rater(row.number, row.name, row.token) for row in all_raters(study) if row.token]


def rate_all(study: Study, rater: Rater, value: int = 4, *, heed: bool = True) -> int:
    """Let a rater answer everything alike, checks as they ask or not; how many tasks there were."""
    done = 0
    while (place := next_place(study, rater)) is not None:
        task = task_at(study, rater, place)
        assert task is not None
        wanted = task.item.passes[0] if task.item.passes and heed else None if task.item.passes else value
        values = {question.name: wanted for question in study.design.questions}
        save(study, Answer(rater.number, task.item.number, values, 1.5, 1000.0 + place))
        done += 1
    return done
