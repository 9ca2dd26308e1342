"""Any OpenAI-compatible chat endpoint as a responder; contexts are sent there as they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from time import sleep
from typing import Any

from rejoinder.errors import UsageError
from rejoinder.llm.endpoint import AT_ONCE, PATIENCE, SEEDS, Endpoint
from rejoinder.responder import Answer, Reply, Request, plain_answer

LONGEST = 1024
"""Most tokens of a reply by default: a chat model often needs hundreds."""
_ALLOWED = "Check what the model allows; --longest and --method decide what is asked"


@dataclass(frozen=True)
class EndpointResponder:
    """Answers contexts with the replies of a chat model behind an address; the last turn goes as the user's.

    A reply of more than `longest` tokens is cut and marked; one that is empty, because the model spent all tokens on
    its thoughts, is none. A refusal is a reply, thoughts are no part of one.

    Attributes:
        address: up to and without `/chat/completions`.
        model: its name at the endpoint.
        sample: whether to sample; else the temperature is 0.
        temperature: of sampling.
        top_p: of sampling.
        longest: most tokens of a reply; None: `LONGEST`.
        patience: seconds that it has for an answer.
        pause: waits for a number of seconds.
    """

    address: str
    model: str
    sample: bool = False
    temperature: float = 1.0
    top_p: float = 1.0
    longest: int | None = None
    patience: float = PATIENCE
    pause: Callable[[float], None] = sleep

    @cached_property
    def _endpoint(self) -> Endpoint:
        return Endpoint(self.address, self.model, _ALLOWED, self.patience, self.pause)

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.model

    @property
    def options(self) -> Mapping[str, Any]:
        """Address and decoding."""
        return {"endpoint": self.address, **self._endpoint.taken(self._decoding)}

    @property
    def _decoding(self) -> dict[str, Any]:
        sampling = {"temperature": self.temperature, "top_p": self.top_p} if self.sample else {"temperature": 0.0}
        return {**sampling, "max_tokens": self.longest or LONGEST}

    def respond_batch(self, requests: Sequence[Request], count: int) -> list[Answer]:
        """Return the answer of the model to each request; a few requests are under way at once.

        Raises:
            UsageError: several replies without sampling, which would all be the same.
            MissingAsset: the endpoint cannot be reached, is silent for too long, or refuses.
            DataError: it sends something other than a chat completion.
        """
        if count > 1 and not self.sample:
            raise UsageError(
                f"{self.model}: an endpoint has several replies only where it samples. Add --method sample"
            )
        pool = ThreadPoolExecutor(AT_ONCE)
        try:
            return list(pool.map(lambda request: self._answer(request, count), requests))
        finally:
            pool.shutdown(cancel_futures=True)

    def _answer(self, request: Request, count: int) -> Answer:
        turns = request.context
        if not any(turn.strip() for turn in turns):
            return Answer((), "no context")
        options = self._decoding
        if self.sample:
            options["seed"] = request.seed % SEEDS
        if count > 1:
            options["n"] = count
        roles = ["user" if (len(turns) - place) % 2 else "assistant" for place in range(len(turns))]
        messages = [{"role": role, "content": turn} for role, turn in zip(roles, turns, strict=True)]
        completion = self._endpoint.chat(messages, options)
        answer = plain_answer(completion.texts, count, completion.reason)
        replies = tuple(Reply(reply.text, cut=reply.text in completion.halves) for reply in answer.replies)
        return Answer(replies, answer.reason)
