"""Any program as a responder: contexts go to its standard input, replies come from its standard output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rejoinder.external.program import PATIENCE, Program
from rejoinder.responder import Answer, Request, plain_answer

_EXPECTED = 'expected {"response": "..."} or {"responses": ["...", "..."]}'


class CommandResponder:
    """Answers contexts with the replies of a program, which is started without a shell with the first context.

    For each context it reads one line of JSON, `{"context": [turns, oldest first], "seed": n, "count": n}`, and must
    write one before it gets the next: `{"response": "..."}`, or `{"responses": [...]}`, best first. Null or an empty
    list is no answer, with an optional `reason`. If it fails, its last line on standard error is shown.

    Args:
        command: the program and its arguments, quoted as for a shell.
        patience: seconds that it has for a reply.

    Raises:
        UsageError: `command` is empty or has a quote that does not end.
    """

    def __init__(self, command: str, *, patience: float = PATIENCE) -> None:
        self.name = command
        self.options: Mapping[str, Any] = {"kind": "command"}
        self._program = Program(command, patience=patience)

    def respond_batch(self, requests: Sequence[Request], count: int) -> list[Answer]:
        """Return the answer of the program to each request.

        Raises:
            MissingAsset: it cannot be started.
            DataError: it ended, was silent for too long, or wrote something other than an answer.
        """
        return [self._answer(request, count) for request in requests]

    def finish_answers(self) -> None:
        """Let the program end.

        Raises:
            OutOfStep: it wrote more lines than there were contexts.
        """
        self._program.finish()

    def _answer(self, request: Request, count: int) -> Answer:
        question = {"context": request.context, "seed": request.seed, "count": count}
        record = self._program.ask(question, _EXPECTED)
        if not isinstance(record, dict) or not ("response" in record or "responses" in record):
            raise self._program.refused(record, _EXPECTED)
        texts = record["responses"] if "responses" in record else [record["response"]]
        texts = [text for text in texts if text is not None] if isinstance(texts, list) else [texts]
        if not all(isinstance(text, str) for text in texts):
            raise self._program.refused(record, _EXPECTED)
        reason = record.get("reason")
        return plain_answer(texts, count, reason if isinstance(reason, str) and reason else "the command has no reply")
