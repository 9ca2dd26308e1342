"""Language models: behind endpoints, and on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rejoinder.registry import Entry

if TYPE_CHECKING:
    from rejoinder.scorer import Scorer


def _endpoint(name: str) -> Scorer:
    from rejoinder.llm.chat import load

    return load(name)


ENDPOINTS: tuple[Entry[Scorer], ...] = (
    Entry("openai:URL#MODEL", "a language model behind an endpoint", _endpoint, needs="the network, to that URL"),
)
