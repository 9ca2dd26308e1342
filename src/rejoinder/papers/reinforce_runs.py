"""Policies that are rewarded, and what they come to on contexts that they were not rewarded on.

Shapes: N replies.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from rejoinder.improve.degenerate import account, flaws
from rejoinder.improve.episodes import Rewards
from rejoinder.improve.policy import Policy
from rejoinder.improve.reinforce import Practice, Run
from rejoinder.io.atomic import atomic_file
from rejoinder.io.folders import read_folder
from rejoinder.learner import PREDICTED
from rejoinder.papers.reinforce_judges import Ratings, Several
from rejoinder.responder import Context
from rejoinder.scorer import FloatArray, ignore

MEASURED, SHOWN = "measured.json", "shown.json"
_RATED, _LOOKED = 2, 10  # replies to each context that judges rate, and that are looked at without one
_SHOWN_EACH = 24  # replies that are kept each time
_DRAWS = 7  # seed of the numbers that decide them: the same for all policies, so that these are compared on equal luck


class Way(NamedTuple):
    """One way of rewarding.

    Attributes:
        name: what it is called.
        ratings: what rewards.
        practice: how; its updates are the budget.
        bounded: whether ratings are brought to 0 to 1 and an empty reply is worth nothing, else they count as they are.
        floor: whether a reply that shows by itself that it is degenerate is worth nothing (see `flaws`).
        seeds: with how many seeds.
    """

    name: str
    ratings: Callable[[], Ratings]
    practice: Practice
    bounded: bool = True
    floor: bool = False
    seeds: int = 1


@dataclass(frozen=True)
class Measures:
    """What measures policies.

    Attributes:
        contexts: that they reply to.
        ratings: by several judges.
        start: where policies started.
    """

    contexts: Sequence[Context]
    ratings: Several
    start: Policy

    def of(self, policy: Policy) -> tuple[dict[str, float], list[tuple[Context, str]]]:
        """Means over replies of a policy, and those that were rated; what needs no judge is told of more replies."""
        draws = torch.rand(
            _LOOKED * len(self.contexts), policy.longest, generator=torch.Generator().manual_seed(_DRAWS)
        )
        contexts = list(self.contexts) * _LOOKED
        replies = policy.say(contexts, draws)
        texts = [policy.vocabulary.decode(one) for one in replies]
        with torch.no_grad():
            rows = slice(_RATED * len(self.contexts))
            told = policy.tell(contexts[rows], replies[rows], self.start)
        each = rated(self.ratings, contexts[rows], texts[rows])
        figures = {
            "kl": told.divergence.mean().item(),
            "entropy": told.entropy.mean().item(),
            "length": float(np.mean([len(one) for one in replies])),
            **{name: float(values.mean()) for name, values in each.items()},
            **account(contexts, texts)._asdict(),
        }
        return figures, list(zip(contexts[rows], texts[rows], strict=True))


def rated(ratings: Several, contexts: Sequence[Context], texts: Sequence[str]) -> dict[str, FloatArray]:
    """[N] ratings by each judge, each pair of context and reply rated once.

    A reply that has none, such as an empty one, has the lowest of the scale.
    """
    pairs = list(zip(contexts, texts, strict=True))
    places = {pair: place for place, pair in enumerate(dict.fromkeys(pairs))}
    rows = [places[pair] for pair in pairs]
    found = ratings(*map(list, zip(*places, strict=True)))
    return {name: np.where(np.isnan(one), PREDICTED[0], one)[rows] for name, one in found.items()}


def rewards(ratings: Ratings, *, bounded: bool, floor: bool = False) -> Rewards:
    """Rewards of ratings, from 0 to 1, or as they are; see `Way`."""
    low, high = PREDICTED

    def reward(contexts: Sequence[Context], texts: Sequence[str]) -> list[float | None]:
        found = ratings(contexts, texts)
        if bounded:
            silent = [not text.strip() for text in texts]
            found = np.where(silent, 0.0, np.clip((found - low) / (high - low), 0, 1))
        if floor:
            found = np.where(np.logical_or.reduce(list(flaws(contexts, texts).values())), 0.0, found)
        return [None if np.isnan(one) else float(one) for one in found]

    return reward


def run_of(
    way: Way, seed: int, folder: Path, start: Path, contexts: Sequence[Context], measures: Measures
) -> list[dict[str, float]]:
    """Figures of a policy at its start and after every few updates; a run that was cut goes on where it was.

    Args:
        way: how it is rewarded.
        seed: what is drawn.
        folder: what is kept of it.
        start: the model that it starts from.
        contexts: that its conversations begin with.
        measures: what measures it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    found: list[dict[str, float]] = _read(folder / MEASURED)
    whole = replace(way.practice, seed=seed)
    if found and (found[-1]["updates"] >= whole.updates or found[-1].get("ended")):
        return found
    parts = read_folder(start)
    run = Run(Policy(parts, whole.longest), measures.start, whole, folder)
    reward = rewards(way.ratings(), bounded=way.bounded, floor=way.floor)
    shown: list[dict[str, Any]] = _read(folder / SHOWN)
    while not found or (found[-1]["updates"] < whole.updates and not found[-1].get("ended")):
        number = 0 if not found else int(found[-1]["updates"]) + whole.every
        run.practice = replace(whole, updates=number) if number else whole
        why = run.go(contexts, reward, lambda _: None, ignore) if number else ""
        figures, said = measures.of(run.policy)
        done = len(run.progress.rows)
        found.append({"updates": done, "ended": float(bool(number) and done < number), **figures})
        shown.append(
            {"updates": done, "why": why, "said": [[context[-1], text] for context, text in said[:_SHOWN_EACH]]}
        )
        _write(folder / SHOWN, shown)
        _write(folder / MEASURED, found)
    (folder / "last.ckpt").unlink(missing_ok=True)
    return found


def _read(file: Path) -> list[Any]:
    """What a file holds; nothing where there is none."""
    return list(json.loads(file.read_text(encoding="utf-8"))) if file.is_file() else []


def _write(file: Path, found: Sequence[Any]) -> None:
    """Write it whole."""
    with atomic_file(file) as partial:
        partial.write_text(json.dumps(found, ensure_ascii=False) + "\n", encoding="utf-8")
