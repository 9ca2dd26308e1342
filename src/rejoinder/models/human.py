"""A file of human responses as a responder, so that tables can have the row of the humans."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rejoinder.data.dialogues import read_contexts
from rejoinder.errors import DataError
from rejoinder.example import Example
from rejoinder.models.decoding import Decoding
from rejoinder.models.plain import plain_answer
from rejoinder.responder import Answer, Context, Request


@dataclass(frozen=True)
class HumanResponder:
    """Answers a context with what people said in the same context, turn for turn; it has no answer to any other.

    Attributes:
        responses: what was said, by context, in the order of the file.
        name: what it is called in tables.
    """

    responses: Mapping[Context, tuple[str, ...]]
    name: str = "human"

    @property
    def options(self) -> Mapping[str, Any]:
        """A digest of the responses."""
        text = json.dumps(list(self.responses.items()))
        return {"digest": hashlib.sha256(text.encode()).hexdigest()[:12]}

    def respond_batch(self, requests: Sequence[Request], count: int) -> list[Answer]:
        """The first `count` responses to each context; one occurrence of the withheld response is left out."""
        return [self._answer(request, count) for request in requests]

    def _answer(self, request: Request, count: int) -> Answer:
        """The answer to one request."""
        said = list(self.responses.get(request.context, ()))
        reason = "no other human response to this context" if said else "no human response to this context"
        if request.withheld in said:
            said.remove(request.withheld)
        return plain_answer(said, count, reason)


def load(rest: str, _decoding: Decoding) -> HumanResponder:
    """The human responses in a file.

    Args:
        rest: `FILE` or `FILE#SYSTEM`: a file of examples or dialogues (see `read_contexts`), and the `system` of the
            lines to take, where the file holds those of several. What a line's person said is its `response`; where it
            has none, its `references`, or the last turn of its dialogue.

    Raises:
        DataError: a line is bad, the file holds responses of several systems, or none of the one that was named.
        MissingAsset: the file is not there.
    """
    file, mark, wanted = rest.rpartition("#") if "#" in rest and not Path(rest).exists() else (rest, "", "")
    said: dict[Context, list[str]] = {}
    systems: set[str] = set()
    for example in read_contexts(file):
        texts = [text for text in _said(example) if text.strip()]
        if texts and (not mark or example.system == wanted):
            said.setdefault(example.context, []).extend(texts)
            systems.add(example.system or "unnamed")
    if len(systems) > 1:
        found = f"responses of several systems ({', '.join(sorted(systems)[:6])})"
        raise DataError(found, f"Name the one that is human: human:{file}#NAME", where=file)
    if not said:
        raise DataError(f"no response{f' of {wanted!r}' if mark else ''}", "Give a file of human responses", where=file)
    return HumanResponder({context: tuple(texts) for context, texts in said.items()})


def _said(example: Example) -> tuple[str, ...]:
    """What people said in the context of `example`."""
    return (example.response,) if example.response.strip() else example.references
