"""FED: annotated turns and whole dialogues of chatbots, with `User:` or `System:` before each turn.

Source: shikib/fed, fed_data.json: context, response (turns only), system, annotations (lists of numbers and of notes).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.data.chat import without_label
from rejoinder.data.format import Format, each, keys
from rejoinder.data.formats.objects import list_in, object_in, peek
from rejoinder.data.formats.results import add_ratings

_LABEL = re.compile(r"^(User|System|Bot): ?", re.MULTILINE | re.IGNORECASE)


def confirm(row: Mapping[str, Any]) -> bool:
    """Return whether the context is a transcript of user and system, and annotations are lists."""
    labelled = isinstance(row["context"], str) and bool(_LABEL.match(row["context"]))
    return labelled and isinstance(peek(row["annotations"]), Mapping)


def record(row: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    """Return the turn that was judged, or the whole dialogue where no response is given."""
    kept = {key: value for key, value in row.items() if key not in ("context", "response", "annotations")}
    annotations = object_in(peek(row["annotations"]))
    for name, values in annotations.items():  # numbers, and notes such as N/A
        numbers = [(value, None) for value in list_in(values) if isinstance(value, (int, float))]
        add_ratings(kept, name, numbers, where)
    _, *parts = _LABEL.split(row["context"])
    roles = ["user" if label.lower() == "user" else "assistant" for label in parts[::2]]
    texts = [text.strip() for text in parts[1::2]]
    if isinstance(row.get("response"), str):
        response = without_label(row["response"]).strip()
        speakers = [*roles, "assistant"]
        alternate = speakers == ["user", "assistant"] * (len(speakers) // 2)
        yield {**kept, "context": texts, "response": response, **({} if alternate else {"speakers": speakers})}
        return
    messages = [{"role": role, "content": text} for role, text in zip(roles, texts, strict=True)]
    yield {**kept, "messages": messages, "level": "dialogue", "unanswered": False}


FORMAT = Format(
    "fed", "Annotated turns of FED", keys("context system annotations", "context annotations"), each(record), confirm
)
