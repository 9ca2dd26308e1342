"""Codes for "no answer" among ratings: 99, 999, -1, 9 or 0, which questionnaires write where nobody rated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

_FAR = frozenset((77, 88, 98, 99, 777, 888, 998, 999, 9999, -8, -9, -77, -88, -99, -999, -9999))
_ENDS = (3, 4, 5, 7)  # where scales from 1 that 9 and 0 are no rating of may end
_STARS = 5  # beside 1 to 7, 0 is as often the end of 0 to 10
_LEAST, _SEVERAL = 20, 3  # other ratings, and different ones, from which on codes can be told
_PLAIN = 10  # the highest rating of scales on which 99 is no slip of a slider


class Code(NamedTuple):
    """A value that looks as if it stood for no answer.

    Attributes:
        value: the value.
        times: of how many ratings.
        among: of how many in all.
        low: the lowest other rating.
        high: the highest.
        sure: whether it can be no rating: else the scale may well hold it.
    """

    value: float
    times: int
    among: int
    low: float
    high: float
    sure: bool

    def __str__(self) -> str:
        """As a sentence has it."""
        are = "is" if self.times == 1 else "are"
        others = f"all others lie between {self.low:g} and {self.high:g}"
        return f"{self.times:,} of {self.among:,} ratings {are} {self.value:g}, {others}"


def code_among(ratings: Iterable[float]) -> Code | None:
    """The code for no answer among ratings of which no scale is known; None where there seems to be none."""
    counts = Counter(ratings)
    others = {value for value in counts if value not in _FAR and value not in (-1, 9, 0)}
    for value in sorted(counts.keys() - others, key=abs, reverse=True):
        rest = (counts.keys() - {value}) if value in (-1, 9, 0) else (counts.keys() - _FAR)
        number = sum(counts[one] for one in rest)
        if number < _LEAST or len(rest) < _SEVERAL or counts[value] > number:
            continue
        low, high = min(rest), max(rest)
        sure = _is_far(value, low, high)
        if sure or _is_doubtful(value, rest):
            return Code(value, counts[value], counts.total(), low, high, sure)
    return None


def _is_far(value: float, low: float, high: float) -> bool:
    """Whether a value can be no rating beside those from `low` to `high`."""
    if value == -1:
        return low >= 1 and high >= min(_ENDS)
    if value not in _FAR:
        return False
    return min(abs(value - low), abs(value - high)) > high - low and (value < 0 <= low or high <= _PLAIN)


def _is_doubtful(value: float, rest: Iterable[float]) -> bool:
    """Whether a value may be no rating: 0 and 9 where all of 1 to 5 or so are used, -1 below 0 to 4 and more."""
    used = sorted(rest)
    if value == -1:
        return used[0] == 0 and used[-1] > min(_ENDS)
    whole = used == list(range(1, len(used) + 1)) and len(used) in _ENDS
    return whole and (value == 9 or (value == 0 and len(used) == _STARS))
