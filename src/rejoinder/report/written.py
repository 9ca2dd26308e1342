"""Numbers as text: in tables, sentences and charts; sentences of results by text templates next to the analysis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from rejoinder.estimates import Estimate, one, pick

if TYPE_CHECKING:
    from jinja2 import Environment

DASH = "–"


def number(value: float, digits: int = 2) -> str:
    """Return a number with a fixed number of digits, without a minus sign before zero; a dash for NaN."""
    return DASH if math.isnan(value) else f"{value:z.{digits}f}"


def percent(value: float) -> str:
    """Return a share in whole percent; a dash for NaN."""
    return DASH if math.isnan(value) else f"{100 * value:z.0f} %"


def interval(
    estimate: Estimate, digits: int = 2, *, ends: int | None = None, share: bool = False, signed: bool = False
) -> str:
    """Return a value with its interval if it has one, `0.12 [0.01, 0.22]`; a dash without a value.

    `digits` are those of the value, and of the `ends` unless these have their own. A `share` is written in whole
    percent, a `signed` value with a plus sign unless it is negative.
    """
    text = percent(estimate.value) if share else number(estimate.value, digits)
    text = f"+{text}" if signed and estimate.value >= 0 else text
    if not estimate.has_interval:
        return text
    width = digits if ends is None else ends
    low, high = (f"{100 * end:z.0f}" if share else number(end, width) for end in estimate.ends)
    return f"{text} [{low}, {high}]"


def ends(estimate: Estimate) -> str:
    """Return an interval alone, `0.01 to 0.22`; a dash if there is none."""
    return " to ".join(map(number, estimate.ends)) if estimate.has_interval else DASH


def p_value(p: float) -> str:
    """Return a p-value with three digits, `< .001` below that; a dash for NaN."""
    return DASH if math.isnan(p) else "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def count(value: int) -> str:
    """Return a whole number with commas between thousands."""
    return f"{value:,}"


def rounded(value: int) -> str:
    """Return a forecast, rounded to two digits."""
    return f"{value if value < 100 else int(float(f'{value:.1e}')):,}"


def forecast(row: Estimate, noun: str = "rated response") -> str:
    """Return how many items may be needed to confirm a value, `between the 120 at hand and about 2,000 conversations`.

    Counted are contexts, which are called by `noun` if each is a single line. Rounded up to one digit; a dash if there
    is no forecast.
    """
    if row.needed is None:
        return DASH
    step = 10 ** (len(str(row.needed)) - 1)
    most = -(-row.needed // step) * step
    return (
        f"between the {row.contexts:,} at hand and about {most:,} {noun if row.contexts == row.n else 'conversation'}s"
    )


def lines_scored(row: Estimate) -> str:
    """Return the number of lines, with their share if that is not all of them: `328 (82 %)`."""
    share = percent(row.n / max(row.n + row.unscored, 1))
    return count(row.n) if share == "100 %" else f"{row.n:,} ({share})"


def pluralize(value: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun; `plural` is the plural of nouns that do not just take an s."""
    return f"{value:,} {noun if value == 1 else plural or f'{noun}s'}"


def listed(names: Sequence[str], word: str = "and") -> str:
    """Return names as a list in a sentence: `a`, `a and b`, `a, b and c`."""
    *first, last = names or [""]
    return f"{', '.join(first)} {word} {last}" if first else last


def one_line(text: str) -> str:
    """Return `text` without line ends."""
    return " ".join(text.split())


@cache
def environment(package: str, folder: str) -> Environment:
    """Return the environment for the templates in a folder of a package."""
    from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

    templates = Environment(
        loader=PackageLoader(f"rejoinder.{package}", folder), autoescape=select_autoescape(["html.jinja"]),
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    filters = (count, ends, forecast, interval, listed, number, percent, pluralize, rounded)
    templates.filters |= {function.__name__: function for function in filters} | {"p": p_value}
    templates.globals |= {"one": one, "pick": pick}
    return templates


def sentences(package: str, template: str, **facts: Any) -> tuple[str, ...]:
    """Return the sentences that a template makes of `facts`: one for each line that is not empty.

    `template` is a file in the folder `answers` of the package, without `.txt.jinja`. All it names must be in `facts`.
    """
    text = environment(package, "answers").get_template(f"{template}.txt.jinja").render(**facts)
    return tuple(one_line(line) for line in text.splitlines() if line.strip())
