"""Scores made elsewhere: a column of the input (`column:KEY`), or any Python function (`python:MODULE:FUNCTION`).

Both read what they like of an example, so that two with the same texts may have different scores: `Card.reads_line`.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

from rejoinder.data.examples import to_record
from rejoinder.data.values import kind_of, number_in, under
from rejoinder.errors import RejoinderError, UsageError
from rejoinder.example import Example
from rejoinder.scorer import Card, ScoreFunction, Scorer, Scores

COLUMN = "column"
_WORD = re.compile(r"(?!inf|nan)[^\W\d][\w -]{1,39}", re.IGNORECASE)  # a verdict in words


@dataclass(frozen=True, slots=True)
class Column:
    """The number under a key of the example's line.

    Attributes:
        card: the card.
        path: the key; dots lead into objects, where no key has them in its name.
        sign: -1 where lower is better; the score is the number times this.
    """

    card: Card
    path: str
    sign: int = 1

    @property
    def options(self) -> Mapping[str, Any]:
        """The column, with a minus where it is turned round."""
        return {"column": self.path if self.sign > 0 else f"-{self.path}"}

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """The numbers of N examples; a line without the key or with anything but a finite number is unscored."""
        return Scores.from_values([self._found(example) for example in examples])

    def _found(self, example: Example) -> float | str:
        """The score of one example, or why there is none."""
        record = to_record(example)
        value = under(record, self.path)
        if value is None:
            return _untold(self.path, record)
        number = _finite(value)
        if number is not None:
            return self.sign * number
        if isinstance(value, str) and _WORD.fullmatch(value.strip()):
            return f'"{self.path}" is a word, but none for pass or fail (study takes --positive WORD)'
        return f'"{self.path}" is {"text" if isinstance(value, str) else kind_of(value)}, not a finite number'


@dataclass(frozen=True, slots=True)
class Function:
    """A Python function from examples to numbers.

    Attributes:
        card: the card.
        function: what is called, once with all examples, in their order.
    """

    card: Card
    function: ScoreFunction

    @property
    def options(self) -> Mapping[str, Any]:
        """Where the function is defined."""
        place = getattr(self.function, "__qualname__", type(self.function).__qualname__)
        return {"function": f"{getattr(self.function, '__module__', '?')}:{place}"}

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """What the function gives for N examples; None, NaN and infinity leave an example unscored.

        Raises:
            UsageError: it raises, or does not give one number or None an example.
        """
        name = self.card.name
        try:
            given = self.function(list(examples))
            several = isinstance(given, Iterable) and not isinstance(given, (str, bytes, Mapping))
            values = list(given) if several else None  # a generator works, and fails, only now
        except RejoinderError:
            raise
        except Exception as error:
            said = f"{type(error).__name__}: {error}".removesuffix(": ")
            raise UsageError(f"the function {name} failed on {len(examples)} examples ({said}). Mend it") from error
        if values is None:
            raise UsageError(f"the function {name} gave an object of type {type(given).__name__}. {_ONE_EACH}")
        if len(values) != len(examples):
            raise UsageError(f"the function {name} gave {len(values)} scores for {len(examples)} examples. {_ONE_EACH}")
        return Scores.from_values([self._number(value) for value in values])

    def _number(self, value: Any) -> float | str:
        """One returned value, or why it is no score."""
        if value is None:
            return f"{self.card.name} gave None"
        try:
            number = float(value) if not isinstance(value, str) else None
        except (TypeError, ValueError, OverflowError):
            number = None
        if number is None:
            raise UsageError(f"the function {self.card.name} gave {value!r} among its scores. {_ONE_EACH}")
        return number if math.isfinite(number) else f"{self.card.name} gave {number}"


_ONE_EACH = "Return a list with a number (or None) for each example, in their order"


def load(name: str) -> Scorer:
    """The scorer called `name`: `column:KEY`, `column:-KEY` (lower is better) or `python:MODULE:FUNCTION`.

    Raises:
        UsageError: nothing stands behind the colon; there is no such module or function.
    """
    prefix, _, rest = name.partition(":")
    if prefix == COLUMN:
        return _column(name, rest)
    found = _imported(name, rest)
    return own(found) if hasattr(found, "score_batch") else of_function(found, name)


def own(given: Any) -> Scorer:
    """The scorer that a program gives: an object as it is, a function as a scorer.

    Raises:
        UsageError: it is neither, or the object lacks what every scorer has.
    """
    kind = type(given).__name__
    if isinstance(given, type) and hasattr(given, "score_batch"):
        raise UsageError(f"{given.__name__} is a class, expected a scorer. Give an object of it: {given.__name__}()")
    if hasattr(given, "score_batch"):
        if not isinstance(getattr(given, "card", None), Card) or not hasattr(given, "options"):
            remedy = "Give its class card = rejoinder.Card(...) and options = {}, or name a function"
            raise UsageError(f"a {kind} has score_batch, but not the card and the options of a scorer. {remedy}")
        scorer: Scorer = given
        return scorer
    if not callable(given):
        raise UsageError(f"a scorer is a name, a folder, a function or an object with score_batch, not a {kind}")
    return of_function(given)


def of_function(function: ScoreFunction, name: str = "") -> Function:
    """The scorer that calls `function`, under its own name unless another is given."""
    name = name or getattr(function, "__name__", type(function).__name__)
    said = (getattr(function, "__doc__", None) or "").strip().partition("\n")[0]
    return Function(_card(name, said or "what a Python function gives", "a Python function"), function)


def _column(name: str, rest: str) -> Column:
    """The scorer of a column; a minus before its name turns it round."""
    path = rest.removeprefix("-")
    if not path:
        raise UsageError(f"{name} names no column. Write column:KEY, or column:-KEY where lower is better")
    negated = rest != path
    summary = f"{'minus ' if negated else ''}the number under {path!r} in the line"
    # A chat that ends without a reply may have been rated as a whole.
    return Column(_card(name, summary, "the input", reads_unanswered=True), path, -1 if negated else 1)


def _card(name: str, summary: str, source: str, *, reads_unanswered: bool = False) -> Card:
    """The card of scores whose making is not known here."""
    return Card(
        name=name,
        summary=summary,
        kind="judge",
        needs=frozenset(),
        range=(None, None),
        source=source,
        notes="Made elsewhere; taken as it is, higher as better.",
        reads_line=True,
        reads_unanswered=reads_unanswered,
    )


def _imported(name: str, rest: str) -> Callable[..., Any]:
    """The function at `MODULE:FUNCTION`; modules in the current folder are found too, after installed ones."""
    module, _, attribute = rest.partition(":")
    if not module or not attribute:
        raise UsageError(f"{name} names no function. Write python:MODULE:FUNCTION")
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)
    try:
        found = import_module(module)
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        raise UsageError(f"{name}: {module} cannot be imported ({said}). Name a module on Python's path") from error
    function = getattr(found, attribute, None)
    if not callable(function):
        what = "no name" if function is None else f"of type {type(function).__name__}, no function,"
        raise UsageError(f"{name}: {attribute} is {what} in {module}. Name a function f(examples) -> list of numbers")
    return function  # type: ignore[no-any-return]


def _finite(value: Any) -> float | None:
    """A finite number, or one that a cell of a table holds as text; None for anything else."""
    if isinstance(value, (bool, str)):
        read = number_in(value)
        return None if read is None else read[0]
    try:
        number = float(value)  # of numpy too
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _untold(path: str, record: Mapping[str, Any]) -> str:
    """Why nothing stands under `path`: what whoever made the score said of that, else that it is not there."""
    made, _, name = path.partition(".")
    reason = under(record, f"unscored.{name}") if made == "scores" else None
    return reason if isinstance(reason, str) else f'no "{path}"{_nearest(path, record)}'


def _nearest(path: str, record: Mapping[str, Any]) -> str:
    """A hint at the key that may have been meant."""
    found = get_close_matches(path, [*map(str, record)], n=1, cutoff=0.7)
    return f', but "{found[0]}"' if found and found[0] != path else ""
