"""Values that files of results and annotations have in common: scores of judges, prompts, ratings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rejoinder.data.chat import is_chat, turns
from rejoinder.data.columns import plain
from rejoinder.data.formats.objects import short, shown, words
from rejoinder.data.values import from_cell, number
from rejoinder.errors import DataError

_OVERALL = frozenset(words("overall rating ratings stars score quality human_rating user_rating human_score"))


def scores_of(values: Mapping[str, Any], reasons: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the fields `scores` and `unscored`, where they are not empty.

    Args:
        values: the value of each judge; each value in an object or list is a score of its own, such as `judge.clarity`.
        reasons: why a judge has no score.
    """
    scores, unscored, reasons = dict[str, float | None](), dict[str, str](), reasons or {}
    for name, value in _single(values):
        scores[name] = as_number(value)
        if scores[name] is None:
            reason = reasons.get(name) or reasons.get(name.partition(".")[0])
            unscored[name] = short(reason or f"{shown(value)} in place of a number")
    return {key: held for key, held in (("scores", scores), ("unscored", unscored)) if held}


def prompt_turns(prompt: Any, where: str) -> list[str]:
    """Return the turns of a prompt: chat messages, their JSON in a text, or one text."""
    if isinstance(prompt, list) and len(prompt) == 1 and isinstance(prompt[0], str):
        prompt = prompt[0]
    chat = from_cell(prompt, where, "prompt") if isinstance(prompt, str) and prompt.lstrip()[:1] == "[" else prompt
    if is_chat(chat):
        return [turn.text for turn in turns(chat, where) if turn.text is not None and turn.role != "tool"]
    return [prompt] if isinstance(prompt, str) and prompt else []


def as_number(value: Any) -> float | None:
    """Return the number that a value is; pass, yes and true are 1; None for anything else."""
    try:
        read = number(value, "", "")
    except DataError:
        return None
    return read[0] if read else None


def add_ratings(record: dict[str, Any], name: Any, answers: Sequence[tuple[Any, Any]], where: str) -> None:
    """Add what people answered to a question as ratings, if every answer is a number, or yes or no.

    The same answer by the same person counts once. Other answers stay under the name of the question;
    `--map rating=NAME` with `--scale` reads them. A question called `rating` or the like is the dimension `overall`.
    """
    answers = [answer for place, answer in enumerate(answers) if answer[1] is None or answer not in answers[:place]]
    dimension = "overall" if plain(str(name)) in _OVERALL else str(name)
    try:
        numbers = [number(value, where, dimension) for value, _ in answers]
    except DataError:
        record.setdefault(str(name), [value for value, _ in answers])
        return
    rated = [(*held, person) for held, (_, person) in zip(numbers, answers, strict=True) if held]
    if rated:
        record.setdefault("ratings", {})[dimension] = [value for value, _, _ in rated]
        record.setdefault("raters", {})[dimension] = [None if person is None else str(person) for *_, person in rated]
    if top := max((top for _, top, _ in rated if top), default=0):
        record.setdefault("scales", {})[dimension] = [0 if top in (1, 100) else 1, top]


def _single(values: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        inner = dict(enumerate(value, start=1)) if isinstance(value, list) else value
        if isinstance(inner, Mapping):
            yield from _single({str(key): held for key, held in inner.items()}, f"{before}{name}.")
        else:
            yield f"{before}{name}", value
