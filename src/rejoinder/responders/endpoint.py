"""Any OpenAI-compatible chat endpoint as a responder.

rejoinder does not reach the network unless it is asked to; naming an endpoint is asking. Contexts are sent there as
they are. The key is read from the environment variable OPENAI_API_KEY where that is set, and sent to no other address.
"""

from __future__ import annotations

import json
import os
import textwrap
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request as Post
from urllib.request import urlopen

from rejoinder.errors import DataError, MissingAsset, UsageError
from rejoinder.io.values import require_whole_characters
from rejoinder.responder import Answer, Context, Decoding, Request
from rejoinder.responders.plain import plain_answer

KEY = "OPENAI_API_KEY"
PATIENCE = 120.0
"""Seconds that the endpoint has for an answer."""

_PATH = "/chat/completions"
_PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0)
_LONGEST_PAUSE = 60.0
_LONGEST_BODY = 10_000_000
_AT_ONCE = 4
_TOO_MANY = 429
_SEEDS = 2**31  # what every server takes for a seed
_REMEDIES = {
    400: "Check what the model allows; --longest and --method decide what is asked",
    401: f"Set the environment variable {KEY}",
    403: f"Set the environment variable {KEY} to a key that may use the model",
    404: "Check the address, which ends before /chat/completions, and the model",
    _TOO_MANY: "Wait, or ask for less",
}


@dataclass(frozen=True)
class EndpointResponder:
    """Answers contexts with what a chat model behind an address says; the last turn goes as the user's.

    Greedy and beam decoding both ask for temperature 0, because such endpoints know no beam; replies of more tokens
    than `decoding.longest` are cut off. An answer of 429 or 5xx is waited out: five times, up to a minute each.

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
    pause: Callable[[float], None] = time.sleep

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model

    @property
    def options(self) -> Mapping[str, Any]:
        """Address and decoding."""
        return {"endpoint": self.address, **self._decoding}

    @property
    def _decoding(self) -> dict[str, Any]:
        """The decoding in the endpoint's words."""
        sampled = {"temperature": self.decoding.temperature, "top_p": self.decoding.top_p}
        chosen = sampled if self.decoding.method == "sample" else {"temperature": 0.0}
        return {**chosen, "max_tokens": self.decoding.longest}

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
        pool = ThreadPoolExecutor(_AT_ONCE)
        try:
            return list(pool.map(lambda request: self._answer(request, count), requests))
        finally:
            pool.shutdown(cancel_futures=True)

    def _answer(self, request: Request, count: int) -> Answer:
        """The answer to one request."""
        if not any(turn.strip() for turn in request.context):
            return Answer((), "no context")
        body: dict[str, Any] = {"model": self.model, "messages": _messages(request.context), **self._decoding}
        if self.decoding.method == "sample":
            body["seed"] = request.seed % _SEEDS
        if count > 1:
            body["n"] = count
        return plain_answer(self._texts(self._post(json.dumps(body).encode())), count, "the endpoint has no reply")

    def _post(self, body: bytes) -> bytes:
        """What the endpoint answers to `body`, in the end."""
        post = Post(f"{self.address}{_PATH}", body, {"Content-Type": "application/json"})  # noqa: S310 (http alone, see `load`)
        if key := os.environ.get(KEY):
            post.add_unredirected_header("Authorization", f"Bearer {key}")
        pauses = iter(_PAUSES)
        while True:
            try:
                with urlopen(post, timeout=self.patience) as answer:  # noqa: S310 (as above)
                    return bytes(answer.read(_LONGEST_BODY))
            except HTTPError as error:
                with error:
                    pause = next(pauses, None) if error.code == _TOO_MANY or error.code >= 500 else None
                    if pause is None:
                        raise self._refusal(error) from error
                    wait = max(pause, _asked_for(error))
            except (OSError, HTTPException) as error:
                raise self._out_of_reach(error) from error
            self.pause(wait)

    def _refusal(self, error: HTTPError) -> MissingAsset:
        """What to say of an answer that is an error."""
        try:
            said = json.loads(error.read(_LONGEST_BODY))["error"]
            said = said["message"] if isinstance(said, dict) else said
        except (ValueError, KeyError, TypeError, OSError, HTTPException):
            said = error.reason
        remedy = _REMEDIES.get(error.code, "Look at the endpoint's own log")
        return MissingAsset(f"{self.address}: answered {error.code} ({textwrap.shorten(str(said), 200)}). {remedy}")

    def _out_of_reach(self, error: OSError | HTTPException) -> MissingAsset:
        """What to say where there is no answer."""
        reason = error.reason if isinstance(error, URLError) else error
        if isinstance(reason, TimeoutError):
            return MissingAsset(f"{self.address}: no answer in {self.patience:g} s. Is the model still loading?")
        why = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
        return MissingAsset(f"{self.address}: cannot be reached ({why}). Check the address; does the server run?")

    def _texts(self, answer: bytes) -> list[str]:
        """The texts of all choices in an answer."""
        where, remedy = self.address, "Is this an OpenAI-compatible endpoint?"
        try:
            text = answer.decode()
            record = json.loads(text)
            found = [choice["message"]["content"] for choice in record["choices"]]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            shown = textwrap.shorten(answer.decode(errors="replace"), 80)
            raise DataError(
                f"answered {repr(shown) if shown else 'nothing'}, expected a chat completion", remedy, where=where
            ) from error
        require_whole_characters(text, record, where)
        return [content.strip() for content in found if isinstance(content, str)]


def load(rest: str, decoding: Decoding) -> EndpointResponder:
    """The model behind an endpoint; nothing is sent before the first context.

    Args:
        rest: `URL#MODEL`, the address without `/chat/completions`, which may stand there too: `http://localhost:8000/v1#llama3`.
        decoding: how it is asked to decode.

    Raises:
        UsageError: it is not of this form.
    """
    address, _, model = rest.partition("#")
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None and bool(model)
    except ValueError:
        usable = False
    if not usable:
        raise UsageError(
            f"{rest}: not an endpoint. Write openai:URL#MODEL, such as openai:http://localhost:8000/v1#llama3"
        )
    return EndpointResponder(address.rstrip("/").removesuffix(_PATH), model, decoding)


def _messages(context: Context) -> list[dict[str, str]]:
    """The turns as messages of which the last is the user's."""
    ends = len(context) - 1
    return [
        {"role": "assistant" if (ends - place) % 2 else "user", "content": turn} for place, turn in enumerate(context)
    ]


def _asked_for(error: HTTPError) -> float:
    """The seconds that the endpoint asks to wait, a minute at most; 0 where it does not say."""
    try:
        return min(float(error.headers.get("Retry-After") or 0), _LONGEST_PAUSE)
    except ValueError:  # a date
        return 0.0
