"""How measured numbers are written, in sentences as in tables: one way for all."""

from __future__ import annotations

import math

from rejoinder.stats.figure import Figure

DASH = "–"


def number(value: float, digits: int = 3) -> str:
    """A number with a fixed number of digits, without a minus sign before zero; an en dash where there is none."""
    return DASH if math.isnan(value) else f"{value:z.{digits}f}"


def percent(value: float) -> str:
    """A share in whole percent; an en dash where there is none."""
    return DASH if math.isnan(value) else f"{100 * value:.0f} %"


def interval(one: Figure, digits: int = 3, *, ends: int = 2, share: bool = False, signed: bool = False) -> str:
    """A value with its interval, `0.123 [0.01, 0.22]`; the value alone where no interval is known.

    Args:
        one: what was measured.
        digits: of the value.
        ends: digits of the ends of its interval.
        share: written in whole percent.
        signed: a plus sign stands before what is not negative.
    """
    said = percent(one.value) if share else number(one.value, digits)
    said = f"+{said}" if signed and one.value >= 0 else said
    if not one.has_interval:
        return said
    low, high = (f"{100 * end:.0f}" if share else number(end, ends) for end in one.ends)
    return f"{said} [{low}, {high}]"


def p_value(p: float) -> str:
    """A p-value: three digits, and below .001 only that."""
    return DASH if math.isnan(p) else "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def rounded(count: int) -> int:
    """A forecast to two digits, because it knows no more."""
    return count if count < 100 else int(float(f"{count:.1e}"))


def so_many(count: int, what: str = "pair", several: str = "") -> str:
    """A number of something, in words; `several` is what more or none of it are called where an s does not do."""
    return f"{count:,} {what if count == 1 else several or f'{what}s'}"
