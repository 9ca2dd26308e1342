"""What asking a language model cost, and how far it answers the same when it is asked the same again."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import NamedTuple

import numpy as np

from rejoinder.llm.endpoint import Completion
from rejoinder.stats.agreement import two_way

_A_MILLION, _A_THOUSAND = 1_000_000, 1000
_ENOUGH = 10_000  # replies, to tell how far answers agree


class Repeatability(NamedTuple):
    """How far a model that is asked the same again answers the same.

    Attributes:
        replies: about how many replies all answers held a score.
        apart: the standard deviation of answers to one question.
        single: ICC(2, 1), of one answer.
        mean: ICC(2, k), of the mean of all.
    """

    replies: int
    apart: float
    single: float
    mean: float


@dataclass
class Spent:
    """What asking has cost.

    Attributes:
        asked: answers that the endpoint gave.
        kept: answers that were kept from before, and cost nothing.
        read: tokens that the model read for those asked; 0 where the endpoint does not say.
        written: tokens that it wrote.
        price: of a million tokens read and of a million written, in whatever money; None where nobody told.
        repeats: answers to each question.
        heard: answers to the first questions whose several answers all held a score.
    """

    asked: int = 0
    kept: int = 0
    read: int = 0
    written: int = 0
    price: tuple[float, float] | None = None
    repeats: int = 1
    heard: list[list[float]] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock, repr=False, compare=False)

    def add(self, answer: Completion, *, kept: bool) -> None:
        """Count an answer."""
        with self._lock:
            self.kept += kept
            self.asked += not kept
            self.read += 0 if kept else answer.read
            self.written += 0 if kept else answer.written

    def hear(self, answers: list[float]) -> None:
        """Note the several answers to one question."""
        with self._lock:
            if len(self.heard) < _ENOUGH:
                self.heard.append(answers)

    @property
    def cost(self) -> float | None:
        """What was paid; None where no price was told, or no tokens."""
        if self.price is None or not self.read + self.written:
            return None
        return (self.read * self.price[0] + self.written * self.price[1]) / _A_MILLION

    @property
    def repeatability(self) -> Repeatability | None:
        """How far answers to one question agree; None where that cannot be told."""
        found = two_way(np.array(self.heard, dtype=np.float64)) if self.heard else None
        if found is None or found.reason:
            return None
        apart = float(np.sqrt(np.var(self.heard, axis=1, ddof=1).mean()))
        return Repeatability(found.items, apart, float(found.agreement[0]), float(found.agreement_mean[0]))

    def __str__(self) -> str:
        """In words."""
        tokens = (
            f"{self.read:,} tokens read, {self.written:,} written" if self.read + self.written else "tokens not told"
        )
        told = [f"{self.asked:,} answers asked for ({tokens}), {self.kept:,} kept from before"]
        if (cost := self.cost) is not None and self.asked:
            each = cost / self.asked * self.repeats * _A_THOUSAND
            told.append(f"at the price given {cost:.4g}, {each:.4g} per 1,000 replies")
        if (same := self.repeatability) is not None:
            told.append(
                f"answers to one question lie {same.apart:.2f} apart (standard deviation): one answer is reliable by "
                f"{same.single:.2f}, the mean of {self.repeats} by {same.mean:.2f} (ICC, {same.replies:,} replies)"
            )
        return "; ".join(told)


SPENT: dict[str, Spent] = {}
"""By scorer what this process has spent, for the command line to say."""
