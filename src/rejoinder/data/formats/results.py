"""Values that the files of several tools have in common: scores of judges, ratings of people, prompts."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rejoinder.data.chat import is_chat, turns
from rejoinder.data.columns import plain, words
from rejoinder.data.values import from_cell, number, number_in
from rejoinder.errors import ColumnError, DataError

_OVERALL = frozenset(words("overall rating ratings stars score quality human_rating user_rating human_score"))


def scores_of(values: Mapping[str, Any], reasons: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return `scores` and `unscored` of judges; a value in an object or list is a score of its own (`judge.clarity`).

    Args:
        values: the value of each judge.
        reasons: why a judge has no score.
    """
    scores, unscored, reasons = dict[str, float | None](), dict[str, str](), reasons or {}
    for name, value in _single(values):
        read = number_in(value)
        scores[name] = read[0] if read else None
        if read is None:
            reason = reasons.get(name) or reasons.get(name.partition(".")[0])
            unscored[name] = short(reason or f"{shown(value)} in place of a number")
    return {key: held for key, held in (("scores", scores), ("unscored", unscored)) if held}


def ratings_of(answers: Iterable[tuple[Any, Any, Any]]) -> dict[str, Any]:
    """Return `ratings`, `raters` and `scales` of what people answered.

    The same answer by the same person counts once. Answers of which one is a word stay under the name of their
    question; `--map rating=NAME` with `--scale` reads them. A question called `rating` or the like is `overall`.

    Args:
        answers: question, value and person of each answer.
    """
    asked: dict[str, list[tuple[Any, str | None]]] = {}
    for name, value, person in answers:
        answer = (value, None if person is None else str(person))
        held = asked.setdefault(str(name), [])
        if answer[1] is None or answer not in held:
            held.append(answer)
    found: dict[str, Any] = {"ratings": {}, "raters": {}, "scales": {}}
    for name, held in asked.items():
        dimension = "overall" if plain(name) in _OVERALL else name
        try:
            read = [(number(value, "", name), person) for value, person in held]
        except ColumnError:
            found[name] = [value for value, _ in held]
            continue
        rated = [(*value, person) for value, person in read if value]
        if rated:
            found["ratings"][dimension] = [value for value, _, _ in rated]
            found["raters"][dimension] = [person for *_, person in rated]
        if top := max((top for _, top, _ in rated if top), default=0):
            found["scales"][dimension] = [0 if top in (1, 100) else 1, top]
    return {name: held for name, held in found.items() if held}


def ratings_alone(answers: Iterable[tuple[Any, Any, Any]]) -> dict[str, Any]:
    """Return `ratings`, `raters` and `scales` of what people answered, without answers in words."""
    return ratings_of(answer for answer in answers if number_in(answer[1]) is not None)


def prompt_turns(prompt: Any, where: str) -> list[str]:
    """Return the turns of a prompt: chat messages, their JSON in a text, or one text."""
    if isinstance(prompt, list) and len(prompt) == 1 and isinstance(prompt[0], str):
        prompt = prompt[0]
    chat = from_cell(prompt, where, "prompt")
    if is_chat(chat):
        return [turn.text for turn in turns(chat, where) if turn.text is not None]
    return [prompt] if isinstance(prompt, str) and prompt else []


def peek(cell: Any) -> Any:
    """Return the list or object in a cell, or the cell where it cannot be read; for looking at, not for reading."""
    try:
        return from_cell(cell, "", "")
    except DataError:
        return cell


def short(text: Any, length: int = 120) -> str:
    """Return the beginning of a text, in one line."""
    return textwrap.shorten(str(text), length, placeholder=" ...")


def shown(value: Any) -> str:
    """Return a value as JSON, in one short line."""
    return short(json.dumps(value, ensure_ascii=False, default=str), 40)


def _single(values: Mapping[Any, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        inner = dict(enumerate(value, start=1)) if isinstance(value, list) else value
        if isinstance(inner, Mapping):
            yield from _single(inner, f"{before}{name}.")
        else:
            yield f"{before}{name}", value
