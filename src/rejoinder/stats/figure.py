"""One type for a number that was measured, and what it looks like as JSON.

A record that is one measured number about something derives from `Figure` and adds what it is about; a record that has
several holds them. So whoever writes, draws or prints figures needs to know this type alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from typing import Any, Self

NONE = float("nan")
CONFIDENCE = 0.95  # of every interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number that was measured.

    Attributes:
        value: NaN where there is none.
        low: lower end of its 95 % interval; NaN where there is none.
        high: upper end.
        n: how many things it was measured on; 0 where nobody says.
        p: of the null hypothesis that `method` or the record names; never 0; NaN where there is none.
        method: how value, interval and p were worked out.
        seed: of what was drawn; None where nothing was, or the record that holds this one says.
        reason: why value or interval is missing, else "".
    """

    value: float = NONE
    low: float = NONE
    high: float = NONE
    n: int = 0
    p: float = NONE
    method: str = ""
    seed: int | None = None
    reason: str = ""

    @classmethod
    def of(cls, figure: Figure, **about: Any) -> Self:
        """The record of this type that has the parts of `figure`.

        Args:
            figure: what was measured; where it is a record itself, all that both types say is taken over.
            about: what the record adds, or says differently.
        """
        shared = {key.name for key in fields(cls)} & {key.name for key in fields(figure)}
        return cls(**{**{name: getattr(figure, name) for name in shared}, **about})

    def __neg__(self) -> Self:
        """The same, measured the other way round."""
        return replace(self, value=-self.value, low=-self.high, high=-self.low)

    def __truediv__(self, whole: float) -> Self:
        """The figure as a share of a `whole` over 0 that is taken as known; NaN where the whole is not over 0."""
        whole = whole if whole > 0 else NONE
        return replace(self, value=self.value / whole, low=self.low / whole, high=self.high / whole)

    def between(self, least: float, most: float) -> Self:
        """The figure with no end of its interval below `least` or over `most`, where its true value cannot be.

        One that lies beyond itself stays as it is, so that it is seen: what it was worked out by does not hold there.
        """
        if not least <= self.value <= most:
            return self
        low, high = (min(max(one, least), most) for one in self.ends)
        return replace(self, low=low, high=high) if self.has_interval else self

    @property
    def known(self) -> bool:
        """Whether there is a value."""
        return not math.isnan(self.value)

    @property
    def ends(self) -> tuple[float, float]:
        """Lower and upper end."""
        return self.low, self.high

    @property
    def has_interval(self) -> bool:
        """Whether there is an interval."""
        return not math.isnan(self.low)

    def excludes(self, null: float = 0.0) -> bool:
        """Whether there is an interval that does not hold `null`."""
        return self.low > null or self.high < null


NOTHING = Figure()


def written_as(name: str | None = None, *, default: Any = MISSING, called: str = "", **parts: str) -> Any:
    """A field that stands in JSON under another name than its own, under several, or not at all.

    Args:
        name: of the field as a whole.
        default: of the field.
        called: the statistic of its figure in a table of rows, where the field's own name does not say it.
        parts: of a figure that has no JSON object of its own, because its parts stand in that of the record; parts
            that are not named are left out.
    """
    return field(default=default, metadata={"written": {"": name} if name else parts, "called": called})


def plain(value: Any) -> Any:
    """`value` as JSON knows it.

    None for numbers that are not finite, lists for tuples, a mapping for a record, with value, low and high alone for
    a figure that is no record (the one that holds it says how it was made); text for anything else.
    """
    if type(value) is Figure:
        return {part: plain(getattr(value, part)) for part in ("value", "low", "high")}
    if is_dataclass(value) and not isinstance(value, type):
        return _record(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value if value is None or isinstance(value, (str, int)) else str(value)


def _record(record: Any) -> dict[str, Any]:
    """The fields of a record by name, those made by `written_as` under the names that they say."""
    found: dict[str, Any] = {}
    measured = {key.name for key in fields(Figure)} if isinstance(record, Figure) else set()
    # What a figure is about comes first, because a table that is made of such records begins with it.
    for key in sorted(fields(record), key=lambda key: key.name in measured):
        value = getattr(record, key.name)
        for part, name in key.metadata.get("written", {"": key.name}).items():
            found[name] = plain(getattr(value, part) if part else value)
    return found
