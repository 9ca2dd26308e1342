"""Any program as a scorer, `command:PROGRAM ARGUMENTS`: a line of JSON in for each example, a score out."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

from rejoinder.data.values import is_number
from rejoinder.errors import DataError
from rejoinder.example import Example
from rejoinder.external.program import PATIENCE, NoAnswer, OutOfStep, Program
from rejoinder.scorer import Card, Scores

_EXPECTED = 'expected a number, {"score": ...} or null'
_GIVE_UP = 3  # failures in a row
_PAUSE = 60.0  # seconds; the fault may lie in what one client of a service has sent, and others ask too


class CommandScorer:
    """What a program says of a reply; it runs without a shell and is started with the first example.

    For each distinct example it is given one line of JSON, `{"context": [turns, oldest first], "response": text,
    "references": [texts]}`, and must write one before it is given the next: a number, or `{"score": number}`. Null is
    no score; in `{"score": null, "reason": text}` it says why. Where it ends, is silent for too long or writes
    other JSON, the example is unscored and the program is started anew; after three such failures in a row
    what comes within a minute is unscored too. A line that is not JSON or that nobody asked for is an error: the scores
    may belong to other replies. Ratings are not shown to it.

    Args:
        name: what the scorer is called.
        command: the program and its arguments, quoted as for a shell.
        patience: seconds that it has for a score.
        called: what messages call the program; "" is its command.
        stays: whether it goes on running when all examples of a call are scored, as a service needs it.

    Raises:
        UsageError: `command` is empty or has a quote that does not end.
    """

    def __init__(
        self, name: str, command: str, *, patience: float = PATIENCE, called: str = "", stays: bool = False
    ) -> None:
        self.card = Card(
            name=name,
            summary="what a program says",
            kind="judge",
            needs=frozenset(),
            range=(None, None),
            source="the program",
            notes="Made elsewhere; taken as it is, higher as better.",
            batch_size=32,
        )
        self.options: Mapping[str, Any] = {"kind": "command"}
        self._program = Program(command, patience=patience, called=called)
        self._stays = stays
        self._failed, self._failed_at = 0, 0.0

    def under(self, name: str) -> CommandScorer:
        """The same under a name that tells nobody its command, which may hold a key or where a file lies."""
        return CommandScorer(name, self._program.command, patience=self._program.patience, called=name, stays=True)

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """The program's score of each example.

        Raises:
            MissingAsset: it cannot be started.
            OutOfStep: it wrote a line in excess, or one that is not JSON.
        """
        return Scores.from_values([self._score(example) for example in examples])

    def finish_answers(self) -> None:
        """Let the program end, see `scorer.finish`.

        Raises:
            OutOfStep: it wrote more lines than it was asked for.
        """
        if not self._stays:
            self._program.finish()

    def _score(self, example: Example) -> float | str:
        """The score of one example, or why there is none."""
        if self._failed >= _GIVE_UP and time.monotonic() - self._failed_at < _PAUSE:
            return f"the program failed {_GIVE_UP} times in a row and is left alone for {_PAUSE:g} s"
        question = {"context": example.context, "response": example.response, "references": example.references}
        try:
            found = self._parsed(self._program.ask(question, _EXPECTED))
        except OutOfStep:
            raise
        except DataError as error:
            self._program.stop()
            self._failed, self._failed_at = self._failed + 1, time.monotonic()
            return error.short if isinstance(error, NoAnswer) else error.problem
        self._failed = 0
        return found

    def _parsed(self, answer: Any) -> float | str:
        """The score that an answer holds, or why there is none."""
        record = answer if isinstance(answer, dict) else {"score": answer}
        value, reason = record.get("score", ()), record.get("reason")
        if value is None:
            said = " ".join(reason.split()) if isinstance(reason, str) else ""
            return said or "the program gave no score"
        if isinstance(value, float) and not math.isfinite(value):
            return f"the program gave {value}"
        if not is_number(value):
            raise self._program.refused(answer, _EXPECTED)
        return float(value)


def load(name: str) -> CommandScorer:
    """The scorer that `command:PROGRAM ARGUMENTS` names.

    Raises:
        UsageError: there is no command, or it has a quote that does not end.
    """
    return CommandScorer(name, name.partition(":")[2])
