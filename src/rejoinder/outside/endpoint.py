"""Any OpenAI-compatible chat endpoint.

rejoinder does not reach the network unless it is asked to; naming an endpoint is asking. The key is read from the
environment variable OPENAI_API_KEY where that is set, and sent to no other address.
"""

from __future__ import annotations

import json
import os
import textwrap
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request as Post
from urllib.request import urlopen

from rejoinder.errors import DataError, MissingAsset, UsageError
from rejoinder.io.values import require_whole_characters

KEY = "OPENAI_API_KEY"
PATIENCE = 120.0
"""Seconds that an endpoint has for an answer."""
AT_ONCE = 4
"""Questions that are open at a time."""
SEEDS = 2**31
"""What every server takes for a seed lies under this."""

_PATH = "/chat/completions"
_PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0)
_LONGEST_PAUSE = 60.0
_LONGEST_BODY = 10_000_000
_TOO_MANY = 429
_REMEDIES = {
    401: f"Set the environment variable {KEY}",
    403: f"Set the environment variable {KEY} to a key that may use the model",
    404: "Check the address, which ends before /chat/completions, and the model",
    _TOO_MANY: "Wait, or ask for less",
}


class Refused(MissingAsset):
    """An endpoint would not answer.

    Attributes:
        code: of HTTP.
    """

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Completion(NamedTuple):
    """What a chat model answered.

    Attributes:
        texts: of all its choices that have one.
        read: tokens that it read, 0 where the endpoint does not say.
        written: tokens that it wrote.
        cut: whether it was cut off, having written as many tokens as it may.
    """

    texts: list[str]
    read: int = 0
    written: int = 0
    cut: bool = False


@dataclass(frozen=True)
class Endpoint:
    """A chat model behind an address. An answer of 429 or 5xx is waited out: five times, up to a minute each.

    Attributes:
        address: up to and without `/chat/completions`.
        model: as the endpoint calls it.
        allowed: what to do where it refuses what is asked (400).
        patience: seconds that it has for an answer.
        pause: waits so many seconds.
    """

    address: str
    model: str
    allowed: str = "Check what the model allows"
    patience: float = PATIENCE
    pause: Callable[[float], None] = time.sleep

    def chat(self, messages: list[dict[str, str]], options: Mapping[str, Any]) -> Completion:
        """What the model says after `messages`, asked with `options`.

        Raises:
            MissingAsset: the endpoint cannot be reached, is silent for too long, or refuses.
            DataError: it sends something else than a chat completion.
        """
        body = {"model": self.model, "messages": messages, **options}
        return self._completion(self._post(json.dumps(body).encode()))

    def _post(self, body: bytes) -> bytes:
        """What the endpoint answers to `body`, in the end."""
        post = Post(f"{self.address}{_PATH}", body, {"Content-Type": "application/json"})  # noqa: S310 (http alone, see `place_of`)
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

    def _refusal(self, error: HTTPError) -> Refused:
        """What to say of an answer that is an error."""
        try:
            said = json.loads(error.read(_LONGEST_BODY))["error"]
            said = said["message"] if isinstance(said, dict) else said
        except (ValueError, KeyError, TypeError, OSError, HTTPException):
            said = error.reason
        remedy = _REMEDIES.get(error.code, self.allowed if error.code == 400 else "Look at the endpoint's own log")
        message = f"{self.address}: answered {error.code} ({textwrap.shorten(str(said), 200)}). {remedy}"
        return Refused(error.code, message)

    def _out_of_reach(self, error: OSError | HTTPException) -> MissingAsset:
        """What to say where there is no answer."""
        reason = error.reason if isinstance(error, URLError) else error
        if isinstance(reason, TimeoutError):
            return MissingAsset(f"{self.address}: no answer in {self.patience:g} s. Is the model still loading?")
        why = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
        return MissingAsset(f"{self.address}: cannot be reached ({why}). Check the address; does the server run?")

    def _completion(self, answer: bytes) -> Completion:
        """The texts of all choices in an answer, and what it cost."""
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
        texts = [content.strip() for content in found if isinstance(content, str)]
        cut = any(choice.get("finish_reason") == "length" for choice in record["choices"])
        return Completion(texts, _tokens(record, "prompt_tokens"), _tokens(record, "completion_tokens"), cut)


def place_of(name: str, rest: str) -> tuple[str, str]:
    """Address and model of an endpoint that is written `URL#MODEL`.

    Args:
        name: what the whole is called, for messages.
        rest: the address without `/chat/completions`, which may stand there too: `http://localhost:8000/v1#llama3`.

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
            f"{name}: not an endpoint. Write openai:URL#MODEL, such as openai:http://localhost:8000/v1#llama3"
        )
    return address.rstrip("/").removesuffix(_PATH), model


def _tokens(record: Any, name: str) -> int:
    """How many tokens an answer says that it took; 0 where it says nothing."""
    usage = record.get("usage")
    found = usage.get(name) if isinstance(usage, dict) else None
    return found if isinstance(found, int) and not isinstance(found, bool) and found > 0 else 0


def _asked_for(error: HTTPError) -> float:
    """The seconds that the endpoint asks to wait, a minute at most; 0 where it does not say."""
    try:
        return min(float(error.headers.get("Retry-After") or 0), _LONGEST_PAUSE)
    except ValueError:  # a date
        return 0.0
