"""A language model behind an endpoint as a scorer, `openai:URL#MODEL`: it is asked for a number about each reply."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from threading import Event, Lock
from typing import Any, NamedTuple

import numpy as np

from rejoinder.errors import DataError, MissingAsset, UsageError
from rejoinder.example import Example
from rejoinder.llm.endpoint import AT_ONCE, PATIENCE, Completion, Endpoint, Refused, place_of
from rejoinder.llm.kept import Kept
from rejoinder.llm.prompt import SCALE, Prompt, prompt_in
from rejoinder.llm.spent import SPENT, Spent
from rejoinder.scorer import Card, FloatArray, Scores

_GIVE_UP = 5  # failures in a row
_PAUSE = 60.0  # seconds; the fault may lie in what one client of a service has sent, and others ask too
_BAD_REQUEST = 400  # which may be the fault of one example
_LONGEST = 512
_OPTION = re.compile(r",(?=[a-z-]+=)")
_ALLOWED = "Check what the model allows; temperature= and longest=, empty, leave these to it"
_KEYS = ("prompt", "low", "high", "repeats", "temperature", "longest", "cache", "at-once", "patience", "price", "name")


class Asking(NamedTuple):
    """How a model is asked.

    Attributes:
        prompt: the question, with its scale.
        repeats: answers to each question.
        temperature: of sampling; None leaves it to the endpoint.
        longest: most tokens of an answer; None leaves it to the endpoint.
        at_once: questions that are open at a time.
    """

    prompt: Prompt = Prompt()
    repeats: int = 1
    temperature: float | None = 0.0
    longest: int | None = _LONGEST
    at_once: int = AT_ONCE


class ChatJudge:
    """The number that a chat model gives a reply; the mean of several answers where it is asked several times.

    Then the lowest and highest answer stand beside it as its interval. Where an answer holds no number, or there is
    none, the example is unscored. After five failures of the endpoint in a row what comes within a minute
    is unscored too.

    Args:
        name: what the scorer is called.
        endpoint: whom to ask.
        asking: how.
        kept: answers from before; None keeps none.
        price: of a million tokens read and of a million written.
        stopped: is set where scoring was interrupted.
    """

    trained_on: frozenset[str] = frozenset()

    def __init__(
        self,
        name: str,
        endpoint: Endpoint,
        asking: Asking | None = None,
        kept: Kept | None = None,
        price: tuple[float, float] | None = None,
        stopped: Event | None = None,
    ) -> None:
        self._endpoint, self._asking, self._kept = endpoint, asking or Asking(), kept
        self._name = name
        self._lock, self._failed, self._failed_at, self._given_up = Lock(), 0, 0.0, ""
        self._stopped = stopped or Event()
        self.spent = SPENT.setdefault(name, Spent(price=price, repeats=self._asking.repeats))

    @cached_property
    def card(self) -> Card:
        """The card."""
        return Card(
            name=self._name,
            summary=f"what {self._endpoint.model} says, asked for a number",
            kind="judge",
            needs=frozenset(),
            range=self.scale,
            source=f"the endpoint {self._endpoint.address}",
            notes=f"Sends context, response and references to {self._endpoint.address}. The model there may change "
            "under the same name, and need not answer the same twice.",
            batch_size=4 * self._asking.at_once,
        )

    @property
    def scale(self) -> tuple[float, float]:
        """The lowest and highest number that it is asked for."""
        return self._asking.prompt.scale

    @property
    def options(self) -> Mapping[str, Any]:
        """Address, model and what it is asked."""
        asking, (low, high) = self._asking, self.scale
        return {
            "endpoint": self._endpoint.address,
            "model": self._endpoint.model,
            "prompt": asking.prompt.digest,
            "asks_for": f"{low:g}..{high:g}",
            "repeats": asking.repeats,
            **self._endpoint.taken(self._decoding),
        }

    @property
    def _decoding(self) -> dict[str, Any]:
        """What is asked of the endpoint beside the question."""
        told = {"temperature": self._asking.temperature, "max_tokens": self._asking.longest}
        return {name: value for name, value in told.items() if value is not None}

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """The model's score of each example."""
        repeats = self._asking.repeats
        pool = ThreadPoolExecutor(self._asking.at_once)
        self._stopped.clear()
        try:
            jobs = [(one, repeat) for one in examples for repeat in range(repeats)]
            answers = list(pool.map(lambda job: self._answer(*job), jobs))
        except BaseException:
            self._stopped.set()  # an answer that is under way is paid for and waited for, a busy endpoint is not
            raise
        finally:
            pool.shutdown(cancel_futures=True)
        own = [answers[start : start + repeats] for start in range(0, len(answers), repeats)]
        for found in map(_numbers, own if repeats > 1 else []):
            if len(found) == repeats:
                self.spent.hear(found)
        return _outcome(own)

    def _answer(self, example: Example, repeat: int) -> float | str:
        """One score of one example, or why there is none."""
        if self._given_up and time.monotonic() - self._failed_at < _PAUSE:
            return self._given_up
        try:
            answer = self._asked(self._asking.prompt.filled(example), repeat)
        except (MissingAsset, DataError) as error:
            self._failure(error)
            return str(error)
        with self._lock:
            self._failed, self._given_up = 0, ""
        found = self._asking.prompt.score(answer.texts[0]) if answer.texts else "the endpoint has no answer"
        if isinstance(found, str) and answer.cut:
            return f"the answer was cut off at {self._asking.longest} tokens; longest= allows more"
        return found

    def _asked(self, question: str, repeat: int) -> Completion:
        """The answer to a question, from before where there is one that holds a score."""
        options = self._decoding | ({"seed": repeat} if self._asking.repeats > 1 else {})
        messages = [{"role": "user", "content": question}]
        key = [self._endpoint.address, self._endpoint.model, messages, options]
        if self._kept and (before := self._kept.get(key)) and self._scored(before):
            self.spent.add(before, kept=True)
            return before
        answer = self._endpoint.chat(messages, options)
        self.spent.add(answer, kept=False)
        if self._kept and self._scored(answer):
            self._kept.put(key, answer)
        return answer

    def _scored(self, answer: Completion) -> bool:
        """Whether an answer holds a score; one that does not may hold one when it is asked for again."""
        return bool(answer.texts) and not isinstance(self._asking.prompt.score(answer.texts[0]), str)

    def _failure(self, error: MissingAsset | DataError) -> None:
        """Count a failure that may be the endpoint's."""
        if isinstance(error, Refused) and error.code == _BAD_REQUEST:
            return
        with self._lock:
            self._failed, self._failed_at = self._failed + 1, time.monotonic()
            if self._failed >= _GIVE_UP:
                self._given_up = f"not asked after {_GIVE_UP} failures in a row: {error}"


def load(name: str) -> ChatJudge:
    """The scorer that `openai:URL#MODEL` names; nothing is sent before the first example.

    Args:
        name: behind the model may stand `,KEY=VALUE` several times: `prompt` a file with a question of one's own, `low`
            and `high` the scale that it asks for, `repeats`, `temperature`, `longest` in tokens, `cache` a file that
            keeps answers, `at-once`, `patience` in seconds, `price` as READ+WRITTEN of a million tokens,
            `name` what it is called in tables.

    Raises:
        UsageError: it is not of this form.
        MissingAsset, DataError, WriteError: the prompt cannot be read, or answers cannot be kept.
    """
    place, *options = _OPTION.split(name.partition(":")[2])
    address, model = place_of(name, place)
    given = dict(option.split("=", 1) for option in options)
    if unknown := next((key for key in given if key not in _KEYS), None):
        raise UsageError(f"{name}: no option is called {unknown!r}. There are: {', '.join(_KEYS)}")
    scale = _number(name, given, "low", SCALE[0]), _number(name, given, "high", SCALE[1])
    if scale[0] >= scale[1]:
        raise UsageError(f"{name}: low is {scale[0]:g} and high is {scale[1]:g}, expected the lower first")
    if scale != SCALE and "prompt" not in given:
        raise UsageError(f"{name}: the question that comes along asks for 1 to 5. Another scale needs a prompt=FILE")
    repeats = _whole(name, given, "repeats", 1)
    asking = Asking(
        prompt=prompt_in(given["prompt"], scale) if "prompt" in given else Prompt(scale=scale),
        repeats=repeats,
        temperature=None
        if given.get("temperature") == ""
        else _number(name, given, "temperature", float(repeats > 1), least=0.0),
        longest=None if given.get("longest") == "" else _whole(name, given, "longest", _LONGEST),
        at_once=_whole(name, given, "at-once", AT_ONCE),
    )
    called = given.get("name", name)
    if not called.strip() or not called.isprintable():
        raise UsageError(f"{name}: name= is {called!r}, expected a name that can be seen")
    stopped, patience = Event(), _number(name, given, "patience", PATIENCE, least=0.001)
    endpoint = Endpoint(address, model, _ALLOWED, patience, pause=lambda seconds: _wait(stopped, seconds))
    price = _price(name, given["price"]) if "price" in given else None
    return ChatJudge(called, endpoint, asking, Kept(given["cache"]) if "cache" in given else None, price, stopped)


def _wait(stopped: Event, seconds: float) -> None:
    """Wait so long, unless scoring is interrupted meanwhile.

    Raises:
        MissingAsset: it is.
    """
    if stopped.wait(seconds):
        raise MissingAsset("the endpoint was busy when this was interrupted. Call again to go on")


def files_in(name: str, *keys: str) -> list[str]:
    """The files that the name of such a scorer holds, or those under some keys."""
    options = dict(option.split("=", 1) for option in _OPTION.split(name)[1:])
    return [options[key] for key in keys or ("prompt", "cache") if options.get(key)]


def _number(name: str, given: Mapping[str, str], key: str, usual: float, least: float = -math.inf) -> float:
    """The number under a key."""
    try:
        found = float(given.get(key, usual))
    except ValueError:
        found = math.nan
    if not math.isfinite(found) or found < least:
        at_least = "" if least == -math.inf else f", {least:g} or more"
        raise UsageError(f"{name}: {key} is {given[key]!r}, expected a number{at_least}")
    return found


def _price(name: str, text: str) -> tuple[float, float]:
    """What a million tokens read and a million written cost, of `0.15+0.60`."""
    parts = dict(zip(("read", "written"), text.split("+"), strict=False))
    if text.count("+") != 1:
        raise UsageError(f"{name}: price is {text!r}, expected READ+WRITTEN of a million tokens, such as 0.15+0.60")
    return _number(name, parts, "read", 0.0, least=0.0), _number(name, parts, "written", 0.0, least=0.0)


def _whole(name: str, given: Mapping[str, str], key: str, usual: int) -> int:
    """The whole number over 0 under a key."""
    text = given.get(key, str(usual))
    if not (text.isascii() and text.isdigit() and int(text)):
        raise UsageError(f"{name}: {key} is {text!r}, expected a whole number, 1 or more")
    return int(text)


def _outcome(answers: Sequence[Sequence[float | str]]) -> Scores:
    """N examples with R answers each, numbers or reasons."""
    known = [_numbers(own) for own in answers]
    reasons = {place: str(own[0]) for place, own in enumerate(answers) if not known[place]}
    if all(len(own) < 2 for own in answers):
        return Scores(_each(known, np.mean), reasons)
    return Scores(_each(known, np.mean), reasons, low=_each(known, np.min), high=_each(known, np.max))


def _numbers(answers: Sequence[float | str]) -> list[float]:
    """The answers that hold a score."""
    return [one for one in answers if not isinstance(one, str)]


def _each(known: Sequence[Sequence[float]], function: Any) -> FloatArray:
    """[N] what a function makes of the numbers of each example; NaN where there are none."""
    return np.array([function(own) if own else math.nan for own in known], dtype=np.float64)
