"""The choice of tokens by models that write replies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rejoinder.errors import UsageError

LONGEST = 40
"""Most tokens of a reply by default."""
Method = Literal["greedy", "beam", "sample"]


@dataclass(frozen=True, slots=True)
class Decoding:
    """The choice of tokens by a model that writes replies token by token.

    Attributes:
        method: `greedy`, the most probable token each time; `beam` search, by log-probability per token; or `sample`.
        beam: width of the beam; at least the number of replies.
        temperature: divides the logits before sampling; under 1 sharpens.
        top_p: sampling is from the fewest tokens that have this much probability together.
        longest: most tokens of a reply; None: 40, of an endpoint more.
        shortest: fewest tokens of a reply without its end.

    Raises:
        UsageError: one of them is out of range.
    """

    method: Method = "beam"
    beam: int = 5
    temperature: float = 1.0
    top_p: float = 1.0
    longest: int | None = None
    shortest: int = 1

    def __post_init__(self) -> None:
        """Check the ranges."""
        if self.method not in ("greedy", "beam", "sample"):
            raise UsageError(f"method is {self.method!r}, expected greedy, beam or sample")
        if self.beam < 1 or self.most < 1 or not 0 <= self.shortest <= self.most:
            raise UsageError("beam and longest are expected to be 1 or more, shortest from 0 to longest")
        if not self.temperature > 0 or not 0 < self.top_p <= 1:
            raise UsageError("temperature is expected to be above 0, top_p above 0 and at most 1")

    @property
    def most(self) -> int:
        """Most tokens of a reply of a model on this machine."""
        return LONGEST if self.longest is None else self.longest
