"""Policy gradient on a dialogue model with a judge as reward: as published, or held to where it started.

Source: Deriu and Cieliebak 2019 (the gradient is that of the summed log-probabilities of an episode's replies, by its
return); Shao et al. 2024, DeepSeekMath (returns relative to a group from one start); Jaques et al. 2017, Sequence Tutor
(KL divergence from the starting policy).
"""

from __future__ import annotations

import io
import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, get_args
from zipfile import BadZipFile, ZipFile

import numpy as np
import torch

from rejoinder.data.folders import Parts, write_folder
from rejoinder.data.outputs import atomic_file
from rejoinder.errors import DataError, UsageError, require_one_of
from rejoinder.improve.critic import Critic
from rejoinder.improve.episodes import Baseline, Episode, Rewards, advantages, looks, play
from rejoinder.improve.policy import Policy
from rejoinder.pretraining.loop import draw_curves, tensors_of, write_table
from rejoinder.responder import Context
from rejoinder.scorer import Advance

LAST, SAMPLES = "last.ckpt", "samples.jsonl"
_TOGETHER = 64  # replies whose gradient is worked out at once
_SHOWN = 3  # conversations that are logged each time
_DRAWN = ("return", "kl", "entropy", "length", "degenerate", "different")
_NORM = 1.0  # of the gradient at most


@dataclass(frozen=True, slots=True)
class Practice:
    """How a policy is reinforced.

    Attributes:
        updates: most of them.
        episodes: conversations of one update.
        turns: replies of one conversation.
        group: conversations from one context; divides `episodes`.
        baseline: see `advantages`; `critic` sets the rewards from each reply on against what a critic expected.
        kl: weight of the divergence from the starting policy, per nat.
        entropy: weight of the entropy, per nat.
        step: of Adam.
        longest: most pieces of a reply.
        every: updates between two checkpoints, each with samples.
        minutes: to stop after; None has no such budget.
        most_kl: nats per reply from the starting policy at which to stop; None has no such budget.
        seed: decides what is drawn.

    Raises:
        UsageError: one of them is out of range.
    """

    updates: int = 100
    episodes: int = 32
    turns: int = 4
    group: int = 8
    baseline: Baseline = "group"
    kl: float = 0.05
    entropy: float = 0.0
    step: float = 1e-4
    longest: int = 30
    every: int = 10
    minutes: float | None = None
    most_kl: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("updates", "episodes", "turns", "group", "longest", "every"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}, expected 1 or more")
        require_one_of("baseline", self.baseline, get_args(Baseline))
        if self.episodes % self.group or (self.baseline == "group" and self.group < 2):
            found = f"{self.episodes} episodes in groups of {self.group}"
            raise UsageError(f"{found}: expected groups of two or more that leave none over. Choose both anew")
        for name in ("kl", "entropy", "step", "minutes", "most_kl"):
            value = getattr(self, name)
            least = "over 0" if name in ("step", "minutes", "most_kl") else "of 0 or more"
            if value is not None and not (math.isfinite(value) and (value > 0 or (value == 0 and least != "over 0"))):
                raise UsageError(f"{name} is {value}, expected a number {least}")


@dataclass
class Progress:
    """How far a run has come; what its checkpoint holds beside the weights.

    Attributes:
        rows: figures of every update.
        samples: conversations, a few from time to time.
        seconds: how long it took so far.
    """

    rows: list[dict[str, float]] = field(default_factory=list)
    samples: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0


class Run:
    """A policy on its way.

    Args:
        policy: what learns.
        start: what it starts from, and is held to.
        practice: how.
        folder: where checkpoints, curves and samples go.
    """

    def __init__(self, policy: Policy, start: Policy, practice: Practice, folder: Path) -> None:
        self.policy, self.start, self.practice, self.folder = policy, start, practice, folder
        self.optimiser = torch.optim.Adam(policy.network.parameters(), lr=practice.step)
        self.critic = Critic(policy.model.sizes.state) if practice.baseline == "critic" else None
        self.progress = Progress()
        if (folder / LAST).is_file():
            self._resume()

    def go(self, contexts: Sequence[Context], reward: Rewards, say: Callable[[str], None], advance: Advance) -> str:
        """Update until a budget is spent, and say which."""
        advance(len(self.progress.rows))
        began = time.perf_counter() - self.progress.seconds
        episodes: Sequence[Episode] = ()
        while not (why := self._spent()):
            number = len(self.progress.rows)
            generator = torch.Generator().manual_seed(hash_of(self.practice.seed, number))
            episodes = play(self.policy, self._starts(contexts, number), self.practice.turns, generator, reward)
            row = {"updates": float(number + 1), **looks(episodes), **self._update(episodes)}
            self.progress.rows.append(row)
            self.progress.seconds = time.perf_counter() - began
            if (number + 1) % self.practice.every == 0:
                self._keep(episodes)
                say(_told(row))
            advance(1)
        if episodes and len(self.progress.rows) % self.practice.every:
            self._keep(episodes)
        return why

    def _starts(self, contexts: Sequence[Context], number: int) -> list[Context]:
        """What the episodes of an update begin with; those of one group stand together."""
        rng = np.random.default_rng([self.practice.seed, number])
        chosen = rng.integers(0, len(contexts), self.practice.episodes // self.practice.group)
        return [contexts[place] for place in chosen for _ in range(self.practice.group)]

    def _update(self, episodes: Sequence[Episode]) -> dict[str, float]:
        """One step along the gradient; divergence and entropy, nats per reply, before it.

        Raises:
            DataError: the gradient is not finite.
        """
        lines = [
            (context, reply, gain if reward is not None else 0.0)
            for one, gains in zip(episodes, self._gains(episodes), strict=True)
            for context, reply, reward, gain in zip(one.contexts, one.replies, one.rewards, gains, strict=True)
        ]
        self.optimiser.zero_grad()
        spread = variety = 0.0
        for start in range(0, len(lines), _TOGETHER):
            contexts, replies, weights = zip(*lines[start : start + _TOGETHER], strict=True)
            told = self.policy.tell(contexts, replies, self.start)
            gained = (torch.tensor(weights) * told.logs).sum()
            kept = self.practice.kl * told.divergence.sum() - self.practice.entropy * told.entropy.sum()
            ((kept - gained) / len(episodes)).backward()  # type: ignore[no-untyped-call]
            spread, variety = spread + told.divergence.sum().item(), variety + told.entropy.sum().item()
        norm = torch.nn.utils.clip_grad_norm_(self.policy.network.parameters(), _NORM)
        if not torch.isfinite(norm):
            raise DataError("the gradient is not finite", "Take a smaller --step, or look at the rewards")
        self.optimiser.step()
        return {"kl": spread / len(lines), "entropy": variety / len(lines)}

    def _gains(self, episodes: Sequence[Episode]) -> list[list[float]]:
        """How much the log-probability of each reply of each episode counts."""
        if self.practice.baseline != "critic":
            worth = np.array([one.worth for one in episodes])
            gains = advantages(worth, self.practice.baseline, self.practice.group)
            return [[gain] * len(one.replies) for one, gain in zip(episodes, gains.tolist(), strict=True)]
        with torch.no_grad():
            states = torch.cat([self.policy.condition(one.contexts) for one in episodes])
        to_go = torch.tensor([one.to_go for one in episodes])  # [E, turns]
        assert self.critic is not None  # noqa: S101 - made for this baseline
        beyond: list[list[float]] = self.critic.advantages(states, to_go.flatten()).view_as(to_go).tolist()
        return beyond

    def _spent(self) -> str:
        """Which budget is spent; "" where none is."""
        own, rows = self.practice, self.progress.rows
        if len(rows) >= own.updates:
            return f"all {own.updates:,} updates are done"
        if own.minutes is not None and rows and self.progress.seconds >= 60 * own.minutes:
            return f"{own.minutes:g} minutes are over"
        if own.most_kl is not None and rows and rows[-1]["kl"] >= own.most_kl:
            return f"the policy is {rows[-1]['kl']:.2f} nats per reply from where it started"
        return ""

    def _keep(self, episodes: Sequence[Episode]) -> None:
        """Write checkpoint, curves and samples."""
        number = len(self.progress.rows)
        if not self.progress.samples or self.progress.samples[-1]["updates"] < number:
            self.progress.samples += [
                {"updates": number, "turns": one.said, "return": one.worth, "rewards": one.rewards}
                for one in episodes[:: self.practice.group][:_SHOWN]
            ]
        state = {"model": self.policy.network.state_dict(), "optimiser": self.optimiser.state_dict()}
        state |= {} if self.critic is None else {"critic": self.critic.state_dict()}
        held = io.BytesIO()  # torch tells a full disk by an error of its own that says nothing
        torch.save({**state, "progress": asdict(self.progress)}, held)
        with atomic_file(self.folder / LAST) as partial:
            partial.write_bytes(held.getbuffer())
        write_table(self.progress.rows, self.folder)
        lines = "".join(json.dumps(sample, ensure_ascii=False) + "\n" for sample in self.progress.samples)
        with atomic_file(self.folder / SAMPLES) as partial:
            partial.write_text(lines, encoding="utf-8")

    def _resume(self) -> None:
        """Go on from the last checkpoint."""
        state = _loaded(self.folder / LAST)
        self.policy.network.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])
        if self.critic is not None:
            self.critic.load_state_dict(state["critic"])
        self.progress = Progress(**state["progress"])

    def save(self, out: Path, about: dict[str, Any]) -> None:
        """Write the folder of the policy as it is now."""
        draw_curves(self.progress.rows, self.folder, _DRAWN)
        parts, last = self.policy.parts, self.progress.rows[-1]
        files = {name: (self.folder / name).read_text(encoding="utf-8") for name in ("curves.csv", "curves.svg")}
        shown = "\n".join(f"- {name.replace('_', ' ')}: {value:.4g}" for name, value in last.items())
        text = f"Reinforced from the model {parts.digest} by {about['reward']}. At its last update:\n\n{shown}\n"
        made = Parts({**parts.config, "reinforced": about}, tensors_of(self.policy.model), {**parts.files, **files})
        write_folder(out, made, f"# {parts.config['kind'].upper()}, reinforced\n\n{text}", force=True)


def _loaded(file: Path) -> dict[str, Any]:
    """Return what a checkpoint holds. Raises `DataError` if it is damaged."""
    try:
        with ZipFile(file) as packed:
            if packed.testzip():  # of numbers that have changed torch says nothing
                raise BadZipFile
        state: dict[str, Any] = torch.load(file, map_location="cpu", weights_only=True)
    except (RuntimeError, EOFError, UnpicklingError, ValueError, KeyError, BadZipFile) as error:
        remedy = "Remove it, and call again: the run begins anew"
        raise DataError("this checkpoint is damaged", remedy, where=str(file)) from error
    return state


def hash_of(seed: int, number: int) -> int:
    """A seed that follows from the run's and the number of an update."""
    return int(np.random.SeedSequence([seed, number]).generate_state(1, np.uint64)[0] >> np.uint64(1))


def _told(row: dict[str, float]) -> str:
    """The figures of an update in a line."""
    return (
        f"update {row['updates']:.0f}: return {row['return']:.2f}, {row['kl']:.2f} nats from the start, "
        f"{row['length']:.1f} pieces, {row['degenerate']:.0%} degenerate ({row['empty']:.0%} empty), "
        f"{row['different']:.0%} different"
    )
