"""The attacked examples of an audit: which attacks there are to be, whether they can be run, and what each makes.

Shapes: N originals, K candidates of an attack.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from rejoinder.auditing.attack import BAD, Attack, Transformation, attack_of
from rejoinder.auditing.battery import POOL_ATTACKS, battery, pool_attacks
from rejoinder.auditing.originals import Originals
from rejoinder.auditing.pool import Pool
from rejoinder.auditing.search import Seek, Target
from rejoinder.errors import MissingAsset, MissingExtra, UsageError
from rejoinder.example import Example
from rejoinder.judges.differentiable import is_differentiable
from rejoinder.scorer import Scorer
from rejoinder.stats.resamples import Sampling

_NO_INSIDE = "it needs the vectors and gradients of a judge over an encoder, and {} shows none"


def chosen(families: Sequence[str | Attack | Transformation] | None, pool: Pool | None) -> list[Attack]:
    """The attacks that were asked for.

    Args:
        families: names, attacks or functions; None for the battery, and those on the pool where there is one.
        pool: where attacks look for replies.

    Raises:
        UsageError: there is no such attack, it was named twice, or it takes a pool that is not there.
    """
    if isinstance(families, str):
        families = [families]
    known = battery() | ({} if pool is None else pool_attacks(pool))
    found = list(known.values()) if families is None else [_attack(one, known) for one in families]
    names = [attack.name for attack in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"the attack {twice!r} was named twice. Name each once")
    if not found:
        raise UsageError("no attack was named. Name one, or leave them out for all")
    return found


def _attack(named: str | Attack | Transformation, known: Mapping[str, Attack]) -> Attack:
    """One attack, by its name or as it is."""
    if isinstance(named, Attack):
        return named
    if not isinstance(named, str):
        return attack_of(named)
    if named in known:
        return known[named]
    if named in POOL_ATTACKS:
        raise UsageError(f"{named} looks for replies in a pool. Give a file of them: --pool FILE (pool=)")
    from difflib import get_close_matches

    near = ", ".join(get_close_matches(named, [*known, *POOL_ATTACKS], n=3, cutoff=0.5))
    hint = f" Nearest: {near}." if near else ""
    raise UsageError(f"no attack is called {named!r}.{hint} All of them: rejoinder list")


def equipped(
    attacks: Sequence[Attack], name: str, scorer: Scorer
) -> tuple[list[Attack], dict[str, str], dict[str, str]]:
    """The attacks that can be run on a scorer, what their tools are called, and why the others are left out."""
    usable, tools, left_out = [], dict[str, str](), dict[str, str]()
    for attack in attacks:
        if attack.inside and not is_differentiable(scorer):
            left_out[attack.name] = _NO_INSIDE.format(name)
            continue
        try:
            tools |= {purpose: load() for purpose, load in attack.tools.items()}
        except (MissingAsset, MissingExtra) as missing:
            left_out[attack.name] = str(missing)
        else:
            usable.append(attack)
    return usable, tools, left_out


def made(attack: Attack, found: Originals, sampling: Sampling, target: Target) -> list[Example | None]:
    """[K N] the attacked examples, candidate by candidate; None where there is none of an original."""
    attacked: list[Example | None] = []
    for transformation in attack.candidates(found.examples):
        generators = [_generator(attack, one, sampling) for one in found.examples]
        own = [
            None if attack.goal == BAD and not good else transformation(one, rng)
            for one, good, rng in zip(found.examples, found.good, generators, strict=True)
        ]
        if attack.seek is not None:
            own = _sought(attack.seek, [one and _handed_over(attack, one) for one in own], generators, target)
        attacked += [
            _handed_over(attack, now) if now is not None and attack.constraint(one, now) else None
            for one, now in zip(found.examples, own, strict=True)
        ]
    return attacked


def _generator(attack: Attack, example: Example, sampling: Sampling) -> np.random.Generator:
    """What an attack draws from for an example, whatever else is attacked."""
    return sampling.generator("\n".join((attack.name, *example.context, example.response)), "attack")


def _sought(
    seek: Seek, starts: Sequence[Example | None], generators: Sequence[np.random.Generator], target: Target
) -> list[Example | None]:
    """What a seek finds from the starts that are there."""
    found: list[Example | None] = [None] * len(starts)
    rows = [row for row, start in enumerate(starts) if start is not None]
    there = [start for start in starts if start is not None]
    if rows:
        for row, one in zip(rows, seek(there, [generators[row] for row in rows], target), strict=True):
            found[row] = one
    return found


def _handed_over(attack: Attack, attacked: Example) -> Example:
    """The example as a scorer gets it: what people said of a good reply is not said of a bad one made of it."""
    return replace(attacked, ratings=(), quality={}) if attack.goal == BAD else attacked
