"""Episodes: a policy talks to itself, every reply is rewarded, and what each is worth beside the others.

Source: Deriu and Cieliebak 2019: the return of an episode is the sum of the rewards of its replies, without discount.
Shapes: E episodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import torch

from rejoinder.improve.degenerate import account
from rejoinder.improve.policy import Policy
from rejoinder.responder import Context
from rejoinder.scorer import FloatArray

Baseline = Literal["none", "batch", "group", "critic"]
Rewards = Callable[[Sequence[Context], Sequence[str]], Sequence[float | None]]
_TINY = 1e-6


@dataclass
class Episode:
    """One conversation of a policy with itself.

    Attributes:
        said: the turns, those that it began with too; grows.
        contexts: what each reply answered.
        replies: pieces of each reply.
        rewards: of each reply; None where it has none.
    """

    said: list[str]
    contexts: list[Context] = field(default_factory=list)
    replies: list[list[int]] = field(default_factory=list)
    rewards: list[float | None] = field(default_factory=list)

    @property
    def worth(self) -> float:
        """The return: the sum of the rewards; replies without one count for nothing."""
        return float(sum(one for one in self.rewards if one is not None))

    @property
    def to_go(self) -> list[float]:
        """The sum of the rewards from each reply on."""
        known = [one or 0.0 for one in self.rewards]
        return [sum(known[place:]) for place in range(len(known))]

    @property
    def texts(self) -> list[str]:
        """What the replies say."""
        return self.said[len(self.said) - len(self.replies) :]


def play(
    policy: Policy, starts: Sequence[Context], turns: int, generator: torch.Generator, reward: Rewards
) -> list[Episode]:
    """An episode from each of E contexts; all grow turn by turn together.

    Args:
        policy: who speaks.
        starts: what the conversations begin with.
        turns: replies of each episode.
        generator: what is drawn.
        reward: rewards of all replies, from what they answered and what they say.
    """
    episodes = [Episode(list(start)) for start in starts]
    for _ in range(turns):
        contexts = [tuple(one.said) for one in episodes]
        for one, context, pieces in zip(episodes, contexts, policy.say(contexts, generator), strict=True):
            one.contexts.append(context)
            one.replies.append(pieces)
            one.said.append(policy.vocabulary.decode(pieces))
    contexts = [context for one in episodes for context in one.contexts]
    texts = [text for one in episodes for text in one.texts]
    found = iter(reward(contexts, texts))
    for one in episodes:
        one.rewards = [next(found) for _ in range(turns)]
    return episodes


def advantages(worth: FloatArray, baseline: Literal["none", "batch", "group"], group: int) -> FloatArray:
    """[E] what each episode is worth beside others.

    Args:
        worth: [E] returns.
        baseline: `none` leaves the return as it is, as in the paper; `batch` takes the mean of all from it; `group`
            that of the episodes from the same context, in units of their standard deviation.
        group: episodes from one context, which stand together.
    """
    if baseline == "none":
        return worth
    if baseline == "batch":
        return np.asarray(worth - worth.mean())
    rows = worth.reshape(-1, group)
    relative: FloatArray = (rows - rows.mean(1, keepdims=True)) / (rows.std(1, keepdims=True) + _TINY)
    return relative.reshape(-1)


def looks(episodes: Sequence[Episode]) -> dict[str, float]:
    """What episodes come to, without a judge but for the return: means over replies, shares of them."""
    replies = [reply for one in episodes for reply in one.replies]
    rewards = [one for episode in episodes for one in episode.rewards]
    known = [one for one in rewards if one is not None]
    contexts = [context for one in episodes for context in one.contexts]
    texts = [text for one in episodes for text in one.texts]
    return {
        "return": float(np.mean([one.worth for one in episodes])),
        "reward": float(np.mean(known)) if known else float("nan"),
        "length": float(np.mean([len(reply) for reply in replies])),
        "different": len(set(map(tuple, replies))) / len(replies),
        "unrewarded": float(len(rewards) - len(known)),
        **account(contexts, texts)._asdict(),
    }
