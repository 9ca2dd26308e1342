"""People and functions as responders."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rejoinder.data.dialogues import read_contexts
from rejoinder.errors import DataError, UsageError
from rejoinder.responder import Answer, Context, Request, plain_answer

if TYPE_CHECKING:
    from rejoinder.models.decoding import Decoding


@dataclass(frozen=True)
class HumanResponder:
    """Answers a context with the responses of people to exactly the same turns; it has no answer to any other."""

    responses: Mapping[Context, tuple[str, ...]]
    name: str = "human"

    @property
    def options(self) -> Mapping[str, Any]:
        """A digest of the responses."""
        text = json.dumps(list(self.responses.items()))
        return {"digest": hashlib.sha256(text.encode()).hexdigest()[:12]}

    def respond_batch(self, requests: Sequence[Request], count: int) -> list[Answer]:
        """Return the first `count` responses to each context, without one occurrence of the withheld response."""
        return [self._answer(request, count) for request in requests]

    def _answer(self, request: Request, count: int) -> Answer:
        texts = list(self.responses.get(request.context, ()))
        reason = "no other human response to this context" if texts else "no human response to this context"
        if request.withheld in texts:
            texts.remove(request.withheld)
        return plain_answer(texts, count, reason)


def load_human(rest: str, _decoding: Decoding) -> HumanResponder:
    """Return the human responses of `FILE` or `FILE#SYSTEM`, which names the `system` of the lines to take.

    The text of a line (see `read_contexts`) is its `response`; if that is empty, its `references`, or the last turn of
    its dialogue. Raises `MissingAsset`, or `DataError` if a line is bad or no system, or several, would be taken.
    """
    file, mark, wanted = rest.rpartition("#") if "#" in rest and not Path(rest).exists() else (rest, "", "")
    responses: dict[Context, list[str]] = {}
    systems: set[str] = set()
    for example in read_contexts(file):
        texts = (example.response,) if example.response.strip() else example.references
        texts = tuple(text for text in texts if text.strip())
        if texts and (not mark or example.system == wanted):
            responses.setdefault(example.context, []).extend(texts)
            systems.add(example.system or "unnamed")
    if len(systems) > 1:
        problem = f"responses of several systems ({', '.join(sorted(systems)[:6])})"
        raise DataError(problem, f"Name the one that is human: human:{file}#NAME", where=file)
    if not responses:
        problem = f"no response{f' of {wanted!r}' if mark else ''}"
        raise DataError(problem, "Give a file of human responses", where=file)
    return HumanResponder({context: tuple(texts) for context, texts in responses.items()})


@dataclass(frozen=True)
class FunctionResponder:
    """Answers with a function of the turns, oldest first, which returns a reply or None; its `options` are signed."""

    function: Callable[[Context], str | None]
    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def respond_batch(self, requests: Sequence[Request], count: int) -> list[Answer]:
        """Return one reply to each request, whatever `count` is.

        Raises:
            UsageError: the function returned something other than a text.
        """
        return [plain_answer(self._texts(request.context), count, "the function has no reply") for request in requests]

    def _texts(self, context: Context) -> list[str]:
        reply: object = self.function(context)
        if reply is not None and not isinstance(reply, str):
            raise UsageError(f"{self.name} returned a {type(reply).__name__}, expected a text. Return the reply alone")
        return [] if reply is None else [reply]
