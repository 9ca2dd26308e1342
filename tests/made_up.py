"""Made-up ratings for the pages of papers, what is prepared of them, and how a page is read."""

from __future__ import annotations

import random
from functools import cache

from rejoinder.example import Example
from research import lowe2017
from research.encodings import Prepared, prepare
from research.material import Material, collect

WORDS = (  # noqa: SIM905 - shorter to read
    "i you we like love hate play music games movies dogs cats food pizza work school today tomorrow friend family "
    "really very good bad great nice home car city travel beach water coffee tea book read write run walk happy sad"
).split()
SYSTEMS = {"alpha": 0.7, "beta": 0.4, "gamma": 0.1}  # how often each keeps a word of the reference
CONTEXTS = 90


def made_up() -> list[Example]:
    """90 contexts in two sets, three systems each; people like what keeps the words of the reference."""
    rng = random.Random(0)
    examples = []
    for number in range(CONTEXTS):
        context, reference = (" ".join(rng.choices(WORDS, k=rng.randint(6, 10))) for _ in range(2))
        for system, kept in SYSTEMS.items():
            words = [word if rng.random() < kept else rng.choice(WORDS) for word in reference.split()]
            copies = system == "alpha" and number % 15 == 0
            examples.append(
                Example(
                    (context,),
                    reference if copies else " ".join(words),
                    (reference,),
                    id=f"{number}-{system}",
                    system=system,
                    dataset="first" if number < 60 else "second",
                    quality={"overall": min(5.0, max(1.0, 1 + 4 * kept + rng.gauss(0, 0.8)))},
                    scales={"overall": (1, 5)},
                )
            )
    return examples


@cache
def collected() -> Material:
    """What an experiment takes of them."""
    return collect(made_up(), ("context", "reference"))


@cache
def encoded() -> Prepared:
    """The same with its vectors."""
    return prepare(made_up(), [], lowe2017.NEEDS)


def row(page: str, *start: str) -> list[str]:
    """The cells of the first table row that begins with `start`."""
    lines = (line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| "))
    return next(cells for cells in lines if tuple(cells[: len(start)]) == start)
