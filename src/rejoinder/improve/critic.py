"""A critic: what a policy's state after a context promises of the rewards to come.

Source: Mnih et al. 2016, Asynchronous Methods for Deep Reinforcement Learning (advantage actor-critic). Shapes: n
replies, K width of a state.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

_STEP = 1e-2  # of Adam; a straight line of few numbers takes larger steps than a policy
_PASSES = 10  # over the replies of an update


class Critic:
    """A straight line from a policy's state to the sum of the rewards from there on; learns beside the policy.

    The state is taken as it is: the critic's error moves no weight of the policy.

    Args:
        width: K.
    """

    def __init__(self, width: int) -> None:
        self.line = nn.Linear(width, 1)
        nn.init.zeros_(self.line.weight)  # so that nothing is drawn, and the first advantages are the rewards
        nn.init.zeros_(self.line.bias)
        self.optimiser = torch.optim.Adam(self.line.parameters(), lr=_STEP)

    def advantages(self, states: Tensor, to_go: Tensor) -> Tensor:
        """[n] rewards from each reply on beyond what was expected; then learns from them.

        Args:
            states: [n, K] the policy's states that were replied to.
            to_go: [n] sums of the rewards from each reply on.
        """
        with torch.no_grad():
            beyond: Tensor = to_go - self.line(states)[:, 0]
        for _ in range(_PASSES):
            self.optimiser.zero_grad()
            loss = (self.line(states)[:, 0] - to_go).square().mean()
            loss.backward()
            self.optimiser.step()
        return beyond

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint holds of it."""
        return {"line": self.line.state_dict(), "optimiser": self.optimiser.state_dict()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a checkpoint."""
        self.line.load_state_dict(state["line"])
        self.optimiser.load_state_dict(state["optimiser"])
