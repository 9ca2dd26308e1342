"""Any OpenAI-compatible chat endpoint.

rejoinder does not reach the network unless it is asked to; naming an endpoint is asking. The key is read from the
environment variable OPENAI_API_KEY where that is set, and sent to no other address.
"""

from __future__ import annotations

import json
import os
import re
import textwrap
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request as Post
from urllib.request import urlopen

from rejoinder.data.chat import read_content
from rejoinder.data.thoughts import without_thoughts
from rejoinder.data.values import require_whole_characters
from rejoinder.errors import DataError, MissingAsset, UsageError

KEY = "OPENAI_API_KEY"
PATIENCE = 120.0
"""Seconds that an endpoint has for an answer."""
AT_ONCE = 4
"""Questions that are open at a time."""
SEEDS = 2**31
"""What every server takes for a seed lies under this."""

REFUSING: dict[str, Endpoint] = {}
"""The endpoints that refused an option, by address and model, for whoever says so in the end."""

_PATH = "/chat/completions"
_PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0)
_LONGEST_PAUSE = 60.0
_LONGEST_BODY = 10_000_000
_TOO_MANY = 429
_BAD_REQUESTS = (400, 422)
_FILTERED = "content_filter"
_CUT = frozenset(("length", "max_tokens", "max_output_tokens", "model_length", "max_length", "incomplete"))
_BROKEN_OFF = frozenset((_FILTERED, "safety", "recitation", "error", "abort", "insufficient_system_resource"))
_INSTEAD = frozenset(("refusal", "reasoning_content", "reasoning", "tool_calls"))  # with them content may lack
RENAMED = {"max_tokens": "max_completion_tokens"}
"""What newer endpoints call a parameter."""
_OPTIONAL = ("temperature", "top_p", "seed", "max_tokens", "max_completion_tokens")
_OUT_OF_RANGE = re.compile(
    r"too (?:large|long|big|high|many)|exceed|at most|less than|greater than|between|out of range|context length",
    re.IGNORECASE,
)
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
        parameters: the options that it names of a request that it would not take, the first to leave out first.
    """

    def __init__(self, code: int, message: str, parameters: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.code, self.parameters = code, parameters


class Completion(NamedTuple):
    """What a chat model answered.

    Attributes:
        texts: of all its choices that have one, without thoughts; a refusal is one too.
        read: tokens that it read, 0 where the endpoint does not say.
        written: tokens that it wrote.
        cut: whether it was cut off, having written as many tokens as it may.
        halves: those of the texts that were cut off.
        reason: why there is no text; "" where there is one.
    """

    texts: list[str]
    read: int = 0
    written: int = 0
    cut: bool = False
    halves: frozenset[str] = frozenset()
    reason: str = ""


@dataclass(frozen=True)
class Endpoint:
    """A chat model behind an address. An answer of 429 or 5xx is waited out: five times, up to a minute each.

    Where it refuses a request and names an option (`temperature`, `max_tokens`), the option is left out from then on,
    or renamed where newer endpoints have another name for it.

    Attributes:
        address: up to and without `/chat/completions`.
        model: as the endpoint calls it.
        allowed: what to do where it refuses what is asked (400).
        patience: seconds that it has for an answer.
        pause: waits so many seconds.
        refused: what it calls an option that it refused under our name; None where it takes none.
    """

    address: str
    model: str
    allowed: str = "Check what the model allows"
    patience: float = PATIENCE
    pause: Callable[[float], None] = time.sleep
    refused: dict[str, str | None] = field(default_factory=dict, compare=False)

    @property
    def left_out(self) -> list[str]:
        """The options that it takes under no name."""
        return [name for name in (*self.refused,) if name not in RENAMED.values() and not self.taken({name: 0})]

    def taken(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return those of the options that it takes, under its names."""
        found = {}
        for option, value in options.items():
            name: str | None = option
            while name is not None and name in self.refused:
                name = self.refused[name]
            if name is not None:
                found[name] = value
        return found

    def chat(self, messages: list[dict[str, str]], options: Mapping[str, Any]) -> Completion:
        """What the model says after `messages`, asked with `options`.

        Raises:
            MissingAsset: the endpoint cannot be reached, is silent for too long, or refuses.
            DataError: it sends something else than a chat completion.
        """
        while True:
            asked = self.taken(options)
            body = {"model": self.model, "messages": messages, **asked}
            try:
                answer = self._post(json.dumps(body).encode())
            except Refused as refusal:
                name = next((name for name in refusal.parameters if name in asked), None)
                if name is None:
                    raise
                self.refused.setdefault(name, RENAMED.get(name))
                REFUSING[f"{self.address}#{self.model}"] = self
            else:
                return self._completion(answer)

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
            record = json.loads(error.read(_LONGEST_BODY))
        except (ValueError, RecursionError, OSError, HTTPException):
            record = None
        fault = record.get("error", record) if isinstance(record, dict) else record
        fault = fault if isinstance(fault, dict) else {"message": fault or error.reason}
        said = fault.get("message") or fault.get("detail") or fault.get("msg") or error.reason
        parameters = _parameters(fault, str(said)) if error.code in _BAD_REQUESTS else []
        remedy = _REMEDIES.get(error.code, self.allowed if error.code == 400 else "Look at the endpoint's own log")
        message = f"{self.address}: answered {error.code} ({textwrap.shorten(str(said), 200)}). {remedy}"
        return Refused(error.code, message, parameters)

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
            found = [(_text(choice["message"]), choice) for choice in record["choices"]]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            shown = textwrap.shorten(answer.decode(errors="replace"), 80)
            raise DataError(
                f"answered {repr(shown) if shown else 'nothing'}, expected a chat completion", remedy, where=where
            ) from error
        require_whole_characters(text, record, where)
        read = [(content, _spoken(content), _is_cut(choice), choice) for content, choice in found]
        texts, why = list[str](), ""
        for content, spoken, cut, choice in read:
            if spoken is None or (not spoken and (cut or content)):
                why = why or _reason(choice, cut=cut, thoughts=bool(content and content.strip()))
            else:
                texts.append(spoken)
        return Completion(
            texts,
            _tokens(record, "prompt_tokens"),
            _tokens(record, "completion_tokens"),
            any(cut for _, _, cut, _ in read),
            frozenset(spoken for _, spoken, cut, _ in read if cut and spoken),
            "" if texts else why or "the endpoint has no reply",
        )


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


def _text(message: Mapping[str, Any]) -> str | None:
    """What a message says, in one text or in parts; else its refusal."""
    text = read_content(message.get("content") if _INSTEAD.intersection(message) else message["content"], "user").text
    refusal = message.get("refusal")
    return refusal if isinstance(refusal, str) and refusal.strip() and not (text and text.strip()) else text


def _spoken(text: str | None) -> str | None:
    """A text without thoughts and the blanks around it."""
    return None if text is None else without_thoughts(text, anywhere=True).strip()


def _is_cut(choice: Mapping[str, Any]) -> bool:
    """Whether a choice ends before its reply does: at the limit of tokens, by a filter or by a fault."""
    ends = (choice.get(name) for name in ("finish_reason", "stop_reason", "finishReason", "native_finish_reason"))
    return any(isinstance(end, str) and end.lower() in _CUT | _BROKEN_OFF for end in ends)


def _reason(choice: Mapping[str, Any], *, cut: bool, thoughts: bool) -> str:
    """Why a choice has no reply."""
    if choice.get("finish_reason") == _FILTERED:
        return "the endpoint withheld the reply (content_filter)"
    if cut:
        return "cut off before the reply began"
    return "the endpoint has thoughts and no reply" if thoughts else "the endpoint has no reply"


def _parameters(fault: Mapping[str, Any], said: str) -> list[str]:
    """The options that an endpoint refuses; none where it refuses the value alone.

    Of temperature and top_p together top_p comes first, which decides less.
    """
    if _OUT_OF_RANGE.search(said):
        return []
    words = re.findall(r"\w+", f"{fault.get('param') or ''} {said}")
    named = [name for name in dict.fromkeys(words) if name in _OPTIONAL]
    return sorted(named, key=lambda name: name == "temperature" and "top_p" in named)


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
