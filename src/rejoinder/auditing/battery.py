"""The battery: every family of attacks, in the order of the table.

A family of your own is a function, or an `Attack`, in place of a name. Sources: Sai et al. (2019), tables 3 to 6; newer
families come from the weaknesses of learned judges and of language models as judges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rejoinder.auditing.attack import BAD, Attack, Transformation, attack_from, each_of
from rejoinder.auditing.climbing import climbing
from rejoinder.auditing.neighbours import exact_index
from rejoinder.auditing.pool import Pool, best_of, one_for_all, white_box
from rejoinder.auditing.search import best_for_all
from rejoinder.example import Example
from rejoinder.perturbations import PERTURBATIONS, Corpus
from rejoinder.perturbations.degrading import common_replies
from rejoinder.registry import Entry

VERSION = 2
"""Goes up when an attack changes what it makes."""
_SAI6 = "Sai et al. 2019, table 6"
# Attacks that ask the scorer; their perturbations give the start.
_SEARCHES: Mapping[str, dict[str, Any]] = {
    "climbed": {"seek": climbing()},
    "fixed-sentence": {
        "candidates": each_of(lambda examples: common_replies(Corpus(examples))),
        "search": best_for_all,
    },
}
ATTACKS: tuple[Attack, ...] = tuple(
    attack_from(perturbation, **_SEARCHES.get(name, {})) for name, perturbation in PERTURBATIONS.items()
)

POOL_ATTACKS: Mapping[str, str] = {
    "white-box": "the best of a pool's replies that lie where the gradient leads",
    "pool-best": "the best of a pool's replies, by brute force",
    "pool-fixed": "one of a pool's replies for all contexts",
}
"""Attacks that take a pool, and what each does."""


def pool_attacks(pool: Pool) -> dict[str, Attack]:
    """The attacks that look for replies in a pool, by name.

    Args:
        pool: where the replies come from.
    """

    def nothing_done(examples: Sequence[Example]) -> list[Transformation]:  # noqa: ARG001 - as all candidates are called
        return [lambda example, _: example]

    ways: list[tuple[str, str, dict[str, Any]]] = [
        ("white-box", _SAI6, {"seek": white_box(pool, exact_index), "inside": True}),
        ("pool-best", _SAI6, {"seek": best_of(pool)}),
        ("pool-fixed", "", {"seek": one_for_all(pool)}),
    ]
    return {
        name: Attack(
            name=name,
            goal=BAD,
            about=POOL_ATTACKS[name],
            ideal="lower",
            candidates=nothing_done,
            source=source,
            tools={"pool": lambda: pool.signature},
            **how,
        )
        for name, source, how in ways
    }


def battery() -> dict[str, Attack]:
    """All families by name, in the order of the table."""
    return {attack.name: attack for attack in ATTACKS}


def entries() -> list[Entry[dict[str, Attack]]]:
    """Return all families for a list, with the goal of each and its tools."""
    attacks = [Entry(one.name, one.about, battery, one.goal, ", ".join(one.tools)) for one in ATTACKS]
    return [*attacks, *(Entry(name, about, pool_attacks, BAD, "--pool") for name, about in POOL_ATTACKS.items())]
