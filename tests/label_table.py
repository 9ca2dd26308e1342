"""How precise labels are: the tables at the end of two pages; `python tests/label_table.py` writes them again."""

from __future__ import annotations

import re
from math import sqrt
from pathlib import Path

from scipy.special import ndtri, stdtrit

from rejoinder.stats.shares import wilson
from worlds import TNR, TPR

PAGES = tuple(
    Path(__file__).resolve().parent.parent / "docs" / page
    for page in ("howto/check-a-judge.md", "tutorials/llm-bot.md")
)
LABELS = (30, 60, 120, 250, 500)
GAPS = (0.10, 0.05, 0.02)
GOOD = 0.82
POWER = 0.8
TABLE = re.compile(r"^\| (?:labels \| bad|difference \| labels).*?\n(?=\n|\Z)", re.MULTILINE | re.DOTALL)


def variance(*, judge: bool) -> float:
    """Return the variance of a pass rate times the number of labels, with or without the verdicts on all lines."""
    passed = GOOD * TPR + (1 - GOOD) * (1 - TNR)
    good = (GOOD * TPR / passed, GOOD * (1 - TPR) / (1 - passed))  # among those passed, and those failed
    within = sum(weight * rate * (1 - rate) for weight, rate in zip((passed, 1 - passed), good, strict=True))
    return within if judge else GOOD * (1 - GOOD)


def half_widths(labels: int) -> tuple[float, float, float, float]:
    """Return half the intervals of bad replies caught, good ones passed, and the pass rate without and with a judge."""
    bad = bad_among(labels)
    shares = [_half(share, count) for share, count in ((TNR, bad), (TPR, labels - bad))]
    t = float(stdtrit(labels - 1, 0.975))
    return (*shares, *(t * sqrt(variance(judge=judge) / labels) for judge in (False, True)))  # type: ignore[return-value]


def bad_among(labels: int) -> int:
    """Return how many labelled replies are bad, on average."""
    return round(labels * (1 - GOOD))


def labels_each(gap: float) -> int:
    """Return the labels of each version that show a difference in 80 % of cases, rounded to two digits."""
    needed = 2 * variance(judge=True) * float(ndtri(0.975) + ndtri(POWER)) ** 2 / gap**2
    return round(float(f"{needed:.1e}"))


def tables() -> tuple[str, str]:
    """Return the table of half widths, and that of differences."""
    lines = [
        "| labels | bad among them | bad ones caught | good ones passed | pass rate, labels alone | with the judge |",
        "| ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for labels in LABELS:
        widths = " | ".join(f"± {100 * half:.0f}" for half in half_widths(labels))
        lines.append(f"| {labels} | {bad_among(labels)} | {widths} |")
    gaps = ["| difference | labels of each version |", "| ---: | ---: |"]
    gaps += [f"| {100 * gap:.0f} points | {labels_each(gap):,} |" for gap in GAPS]
    return "\n".join(lines) + "\n", "\n".join(gaps) + "\n"


def filled(page: str) -> str:
    """Return a page with these tables."""
    widths, gaps = tables()
    return TABLE.sub(lambda table: gaps if table[0].startswith("| difference") else widths, page)


def _half(share: float, count: int) -> float:
    """Return half of Wilson's interval."""
    estimate = wilson(share, share * (1 - share) / count, count, count - 1)
    return (estimate.high - estimate.low) / 2


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(filled(path.read_text(encoding="utf-8")), encoding="utf-8")
