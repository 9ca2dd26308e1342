"""A measured number, its JSON form, its rows in a table, and its text form.

A record that is one measured number about something derives from `Figure`; a record with several of them holds them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from typing import Any, Self

NONE = float("nan")
CONFIDENCE = 0.95  # of every interval
DASH = "–"
COLUMNS = (
    *("dataset", "scorer", "level", "statistic", "n", "unscored", "contexts"),
    *("value", "low", "high", "p", "method", "seed", "reason"),
)
"""The columns of a row; those that a record may state for the figures that it holds are `_ABOUT`."""
_OWN = ("value", "low", "high", "p", "reason")
_ABOUT = tuple(column for column in COLUMNS if column not in _OWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A measured number.

    Attributes:
        value: NaN if undefined.
        low: lower end of its 95 % interval; NaN if undefined.
        high: upper end.
        n: the number of items that it was measured on; 0 if unknown.
        p: of the null hypothesis that `method` or the record names; never 0; NaN if undefined.
        method: how value, interval and p were computed.
        seed: of the draws; None if nothing was drawn, or if the record that holds the figure states it.
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
        """Return a record of this type with the fields that it shares with `figure`, and those given in `about`."""
        shared = {key.name for key in fields(cls)} & {key.name for key in fields(figure)}
        return cls(**{**{name: getattr(figure, name) for name in shared}, **about})

    def __neg__(self) -> Self:
        """Return the figure with the opposite sign."""
        return replace(self, value=-self.value, low=-self.high, high=-self.low)

    def __truediv__(self, whole: float) -> Self:
        """Return the figure as a share of `whole`, taken as known; NaN unless `whole` is positive."""
        whole = whole if whole > 0 else NONE
        return replace(self, value=self.value / whole, low=self.low / whole, high=self.high / whole)

    def between(self, least: float, most: float) -> Self:
        """Return the figure with its interval cut off at the ends of a scale.

        A figure whose value is outside the scale stays as it is, so that you see it.
        """
        if not self.has_interval or not least <= self.value <= most:
            return self
        return replace(self, low=min(max(self.low, least), most), high=min(max(self.high, least), most))

    @property
    def known(self) -> bool:
        """Whether there is a value."""
        return not math.isnan(self.value)

    @property
    def ends(self) -> tuple[float, float]:
        """Lower and upper end of the interval."""
        return self.low, self.high

    @property
    def has_interval(self) -> bool:
        """Whether there is an interval."""
        return not math.isnan(self.low)

    def excludes(self, null: float = 0.0) -> bool:
        """Return whether there is an interval without `null`."""
        return self.low > null or self.high < null


NOTHING = Figure()


# JSON and rows


def written_as(name: str | None = None, *, default: Any = MISSING, called: str = "", **parts: str) -> Any:
    """Declare a field that has the JSON key `name`, or keys for some parts of its figure, or none.

    `called` is the statistic of its figure in a table of rows, if that is not the name of the field.
    """
    return field(default=default, metadata={"written": {"": name} if name else parts, "called": called})


def plain(value: Any) -> Any:
    """Return `value` as JSON values.

    Numbers that are not finite become None, tuples lists, records mappings, and a bare figure a mapping of its value
    and interval; any other object becomes text.
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
    """Return the fields of a record by JSON key; those of `Figure` come last."""
    values: dict[str, Any] = {}
    measured = {key.name for key in fields(Figure)} if isinstance(record, Figure) else set()
    for key in sorted(fields(record), key=lambda key: key.name in measured):
        value = getattr(record, key.name)
        for part, name in key.metadata.get("written", {"": key.name}).items():
            values[name] = plain(getattr(value, part) if part else value)
    return values


def rows_of(tree: Any, **about: Any) -> Iterator[dict[str, Any]]:
    """Yield a row of plain values for each figure in a tree of records; each dataset, scorer, level and statistic once.

    Records are walked field by field, or through their method `figures` if they have one. A column that a figure does
    not state comes from the record around it: a field, a property or a constant. The statistic is the `called` of
    `written_as`, else that of the record, else the name of the field. Figures without value and reason are left out.
    `about` holds the columns that no record states.
    """
    seen = set()
    for row in _walked(tree, {"level": "turn", **about}):
        key = tuple(row[column] for column in COLUMNS[:4])
        if key not in seen:
            seen.add(key)
            yield row


def _walked(tree: Any, about: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a tree; `about` holds the columns that are known from above."""
    if isinstance(tree, (Mapping, list, tuple)):
        for item in tree.values() if isinstance(tree, Mapping) else tree:
            yield from _walked(item, about)
    elif is_dataclass(tree):
        columns = {**about, **_stated(tree, about)}
        if isinstance(tree, Figure) and (tree.known or tree.reason):
            yield {name: plain(getattr(tree, name) if name in _OWN else columns.get(name)) for name in COLUMNS}
        if hasattr(tree, "figures"):
            yield from _walked(tuple(tree.figures()), columns)
            return
        for key in fields(tree):
            value, own = getattr(tree, key.name), columns
            if isinstance(value, Figure) and not hasattr(value, "statistic"):
                name = key.metadata.get("called") or getattr(tree, "statistic", "") or key.name.replace("_", " ")
                own = {**columns, "statistic": name}
            yield from _walked(value, own)


def _stated(record: Any, about: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns that a record states; the record around a bare figure knows its method better."""
    values = {name: value for name in _ABOUT if (value := getattr(record, name, None)) not in (None, "")}
    if type(record) is Figure:
        hidden = {"n"} if not record.n else set()
        hidden |= {"method"} if about.get("method") else set()
        values = {name: value for name, value in values.items() if name not in hidden}
    return values


# text


def number(value: float, digits: int = 3) -> str:
    """Return a number with a fixed number of digits, without a minus sign before zero; a dash for NaN."""
    return DASH if math.isnan(value) else f"{value:z.{digits}f}"


def percent(value: float) -> str:
    """Return a share in whole percent; a dash for NaN."""
    return DASH if math.isnan(value) else f"{100 * value:.0f} %"


def interval(figure: Figure, digits: int = 3, *, ends: int = 2, share: bool = False, signed: bool = False) -> str:
    """Return a value with its interval if it has one, `0.123 [0.01, 0.22]`.

    The value has `digits`, the ends of the interval have `ends` digits; a `share` is in whole percent, a `signed` value
    has a plus sign unless it is negative.
    """
    text = percent(figure.value) if share else number(figure.value, digits)
    text = f"+{text}" if signed and figure.value >= 0 else text
    if not figure.has_interval:
        return text
    low, high = (f"{100 * end:.0f}" if share else number(end, ends) for end in figure.ends)
    return f"{text} [{low}, {high}]"


def p_value(p: float) -> str:
    """Return a p-value with three digits, `< .001` below that; a dash for NaN."""
    return DASH if math.isnan(p) else "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def rounded(count: int) -> int:
    """Return a forecast rounded to two digits."""
    return count if count < 100 else int(float(f"{count:.1e}"))


def pluralize(count: int, noun: str = "pair", plural: str = "") -> str:
    """Return a number with its noun; `plural` is the plural of nouns that do not just take an s."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"
