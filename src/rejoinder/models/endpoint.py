"""Any OpenAI-compatible chat endpoint as a responder; contexts are sent there as they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from time import sleep
from typing import Any

from rejoinder.errors import UsageError
from rejoinder.llm.endpoint import AT_ONCE, PATIENCE, SEEDS, Endpoint, place_of
from rejoinder.models.decoding import Decoding
from rejoinder.models.plain import plain_answer
from rejoinder.responder import Answer, Context, Reply, Request

LONGEST = 1024
"""Most tokens of a reply where nobody says more: a chat model often needs hundreds."""
_ALLOWED = "Check what the model allows; --longest and --method decide what is asked"


@dataclass(frozen=True)
class EndpointResponder:
    """Answers contexts with what a chat model behind an address says; the last turn goes as the user's.

    Greedy and beam decoding both ask for temperature 0, because such endpoints know no beam; replies of more tokens
    than `decoding.longest` are cut off. Such a reply is marked; one that is empty, because all went into thoughts, is
    none. A refusal is a reply, thoughts are no part of one.

    Attributes:
        address: up to and without `/chat/completions`.
        model: as the endpoint calls it.
        decoding: how it is asked to decode.
        patience: seconds that it has for an answer.
        pause: waits so many seconds.
    """

    address: str
    model: str
    decoding: Decoding
    patience: float = PATIENCE
    pause: Callable[[float], None] = sleep
    _endpoint: Endpoint = field(init=False)

    def __post_init__(self) -> None:
        """Make what asks."""
        asks = Endpoint(self.address, self.model, _ALLOWED, self.patience, self.pause)
        object.__setattr__(self, "_endpoint", asks)

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model

    @property
    def options(self) -> Mapping[str, Any]:
        """Address and decoding."""
        return {"endpoint": self.address, **self._endpoint.taken(self._decoding)}

    @property
    def _decoding(self) -> dict[str, Any]:
        """The decoding in the endpoint's words."""
        sampled = {"temperature": self.decoding.temperature, "top_p": self.decoding.top_p}
        chosen = sampled if self.decoding.method == "sample" else {"temperature": 0.0}
        return {**chosen, "max_tokens": self.decoding.longest or LONGEST}

    def respond_batch(self, requests: Sequence[Request], count: int) -> list[Answer]:
        """The model's answer to each request; a few are asked for at once.

        Raises:
            UsageError: several replies are asked for without sampling, which would be one and the same.
            MissingAsset: the endpoint cannot be reached, is silent for too long, or refuses.
            DataError: it sends something else than a chat completion.
        """
        if count > 1 and self.decoding.method != "sample":
            raise UsageError(
                f"{self.model}: an endpoint has several replies only where it samples. Add --method sample"
            )
        pool = ThreadPoolExecutor(AT_ONCE)
        try:
            return list(pool.map(lambda request: self._answer(request, count), requests))
        finally:
            pool.shutdown(cancel_futures=True)

    def _answer(self, request: Request, count: int) -> Answer:
        """The answer to one request."""
        if not any(turn.strip() for turn in request.context):
            return Answer((), "no context")
        options = self._decoding
        if self.decoding.method == "sample":
            options["seed"] = request.seed % SEEDS
        if count > 1:
            options["n"] = count
        said = self._endpoint.chat(_messages(request.context), options)
        found = plain_answer(said.texts, count, said.reason)
        return Answer(tuple(Reply(one.text, cut=one.text in said.halves) for one in found.replies), found.reason)


def load(rest: str, decoding: Decoding) -> EndpointResponder:
    """The model behind an endpoint; nothing is sent before the first context.

    Args:
        rest: `URL#MODEL`, see `outside.endpoint.place_of`.
        decoding: how it is asked to decode.

    Raises:
        UsageError: it is not of this form.
    """
    address, model = place_of(rest, rest)
    return EndpointResponder(address, model, decoding)


def _messages(context: Context) -> list[dict[str, str]]:
    """The turns as messages of which the last is the user's."""
    ends = len(context) - 1
    return [
        {"role": "assistant" if (ends - place) % 2 else "user", "content": turn} for place, turn in enumerate(context)
    ]
