"""The latent variable of VHRED: diagonal Gaussians, a prior from the context, a posterior that also sees the turn.

Shapes: N turns, C width of what conditions, Z latent width.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

_VARIANCE_SCALE = 0.1  # the released program's: starts the posterior narrow
_LEAST_VARIANCE, _MOST_VARIANCE = 1e-4, 10.0


class Gaussian(NamedTuple):
    """Diagonal Gaussians, mean and variance [N, Z] each."""

    mean: Tensor
    variance: Tensor

    def sample(self, noise: Tensor) -> Tensor:
        """[N, Z] from standard normal `noise` [N, Z]; differentiable in mean and variance."""
        return self.mean + self.variance.sqrt() * noise


class GaussianNet(nn.Module):
    """Two tanh layers of latent width, then linear mean and softplus variance, as in the released VHRED."""

    def __init__(self, inputs: int, latent: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, latent), nn.Tanh(), nn.Linear(latent, latent), nn.Tanh())
        self.mean, self.spread = nn.Linear(latent, latent), nn.Linear(latent, latent)

    def forward(self, inputs: Tensor) -> Gaussian:
        """The Gaussian for each row of `inputs` [N, C]."""
        hidden = self.body(inputs)
        # In full precision whatever the network computes in: a small KL term is a difference of nearly equal numbers.
        variance = functional.softplus(self.spread(hidden).float()) * _VARIANCE_SCALE
        return Gaussian(self.mean(hidden).float(), variance.clamp(_LEAST_VARIANCE, _MOST_VARIANCE))


def divergence(posterior: Gaussian, prior: Gaussian) -> Tensor:
    """[N, Z] Kullback-Leibler divergence of the posterior from the prior, nats, by dimension."""
    ratio = posterior.variance / prior.variance
    distance = (posterior.mean - prior.mean).square() / prior.variance
    return 0.5 * (ratio + distance - 1.0 - torch.log(ratio))
