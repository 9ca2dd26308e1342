"""What all result files have in common: judges and what they said, as a number or as the reason why there is none."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from rejoinder.io import values
from rejoinder.io.chat import is_conversation, spoken
from rejoinder.io.values import kind_of, yes_or_no

Found = tuple[str, dict[str, Any]]
"""(`file:place`, a record with fields of ours)."""
_LONGEST_REASON = 120


def scored(said: Mapping[str, Any], reasons: Mapping[str, str] | None = None) -> dict[str, dict[str, Any]]:
    """The fields `scores` and `unscored` of a record, where there is anything to say in them.

    Args:
        said: by judge a number, true or false, their text, or an object or a list of these, each of which is a score of
            its own: `judge.clarity`, `judge.1`.
        reasons: by judge why it said nothing, where that is known.
    """
    scores, unscored = dict[str, float | None](), dict[str, str]()
    for name, value in _single(said):
        number = number_in(value)
        scores[name] = number
        if number is None:
            reason = (reasons or {}).get(name) or (reasons or {}).get(name.partition(".")[0]) or _odd(value)
            unscored[name] = short(reason)
    return {key: found for key, found in (("scores", scores), ("unscored", unscored)) if found}


def asked(prompt: Any, where: str) -> list[str]:
    """The turns that a prompt puts to a model: those of chat messages, as such or in JSON, else the text alone.

    Raises:
        DataError: messages that cannot be read.
    """
    if isinstance(prompt, str) and prompt.lstrip().startswith("["):
        with suppress(ValueError, RecursionError):
            found = json.loads(prompt)
            prompt = found if is_conversation(found) else prompt
    if is_conversation(prompt):
        return [text for _, text in spoken(prompt, where)]
    return [prompt] if isinstance(prompt, str) and prompt else []


def objects_in(value: Any) -> list[Mapping[str, Any]]:
    """The objects in a list; none where it is no list."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def number_in(value: Any) -> float | None:
    """The number that a judge's word is; yes and no are 1 and 0; None where it is none."""
    answer = yes_or_no(value)
    return values.number_in(value) if answer is None else float(answer)


def short(text: str) -> str:
    """The beginning of a text, in one line."""
    return textwrap.shorten(text, _LONGEST_REASON, placeholder=" ...")


def _single(said: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Each single value with its name; those inside objects and lists by the names on the way to them."""
    for name, value in said.items():
        inner = dict(enumerate(value, start=1)) if isinstance(value, list) else value
        if isinstance(inner, Mapping):
            yield from _single({str(key): one for key, one in inner.items()}, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def _odd(value: Any) -> str:
    """What to say of a value that is no number."""
    return f"{value!r} is no number" if isinstance(value, (str, float)) else f"{kind_of(value)} in place of a number"
