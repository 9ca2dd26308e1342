"""How much one request may ask for, and all of them together."""

from __future__ import annotations

from dataclasses import dataclass, fields

from rejoinder.errors import DataError, UsageError


class TooLong(DataError):
    """A line has more characters than the service takes."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What the service takes; of more it says so, with a status of its own.

    Attributes:
        body: bytes of a body, and of one line of a stream (413).
        lines: lines of a body; a stream may have any number (413).
        waiting: lines that may wait to be scored before requests are sent away (503).
        requests: requests at once (503).
        timeout: seconds that a client has for its body, or for the next piece of a stream (408), and that it waits for
            its scores (504).
        analysis: seconds that it waits for a comparison or an audit (504).
        characters: characters of one line: its reply, context and references together (413).
    """

    body: int = 1_048_576
    lines: int = 1_000
    waiting: int = 512
    requests: int = 256
    timeout: float = 30.0
    analysis: float = 300.0
    characters: int = 100_000

    @property
    def stalled(self) -> float:
        """Seconds that a portion may wait or be scored before the service calls itself not ready."""
        return self.timeout / 3

    def __post_init__(self) -> None:
        """Refuse what would let nothing through.

        Raises:
            UsageError: a limit is not above 0.
        """
        for field in fields(self):
            if not getattr(self, field.name) > 0:
                raise UsageError(f"the limit {field.name} is {getattr(self, field.name)}, expected a number above 0")
