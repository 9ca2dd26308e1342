"""Lines of systems whose mean ratings are known, some of them rated."""

from __future__ import annotations

import csv
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rejoinder.example import Example

MEANS = {"good": 4.0, "poor": 2.5}


def replies(count: int = 400, *, known: float = 0.8, means: dict[str, float] | None = None) -> list[Example]:
    """Lines of two systems in the same contexts, all rated, with a column `guess` that knows much of the ratings."""
    rng = random.Random(5)
    lines = []
    for number in range(count):
        for name, mean in (means or MEANS).items():
            rating = min(5, max(1, round(rng.gauss(mean, 1.0))))
            guess = 100 * (known * rating + (1 - known) * rng.gauss(0, 2))
            lines.append(
                Example(
                    (f"question {number}?",),
                    f"answer {number} of {name}",
                    id=f"{name}-{number}",
                    system=name,
                    quality={"overall": rating},
                    scales={"overall": (1, 5)},
                    extra={"guess": guess},
                )
            )
    return lines


def parted(lines: Sequence[Example], count: int) -> tuple[list[Example], list[Example]]:
    """All lines without ratings, and some with them, chosen by chance."""
    bare = [replace(line, quality={}, scales={}) for line in lines]
    return bare, random.Random(6).sample(list(lines), count)


def truth(lines: Sequence[Example], system: str) -> float:
    own = [line.quality["overall"] for line in lines if line.system == system]
    return sum(own) / len(own)


def write_bots(folder: Path) -> None:
    """What docs/estimate.md takes for granted: replies of two bots with somebody's scores, and 120 of them rated."""
    rng = random.Random(8)
    lines = []
    for number in range(600):
        for bot, mean in (("old", 3.1), ("new", 3.5)):
            stars = min(5, max(1, round(rng.gauss(mean, 1.1))))
            score = round(12 * stars + rng.gauss(20, 11), 1)
            lines.append([f"{bot}-{number}", bot, f"where is order {number} ?", f"order {number} {bot}", score, stars])
    header = ["id", "system", "prompt", "answer", "score"]
    for name, columns, rows in (
        ("replies.csv", header, [line[:-1] for line in lines]),
        ("rated.csv", [*header, "stars"], rng.sample(lines, 120)),
    ):
        with (folder / name).open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream).writerows([columns, *rows])
