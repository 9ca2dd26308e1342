"""Best of n: what judges say of the reply that a reward finds best among n of one policy.

Source: Gao et al. 2023, Scaling Laws for Reward Model Overoptimization (the estimator over all subsets of a pool, and
the divergence of the best of n, log n - (n - 1) / n). Shapes: C contexts, N replies in the pool of each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from scipy.special import gammaln

from rejoinder.improve.policy import Policy
from rejoinder.io.atomic import atomic_file
from rejoinder.papers.reinforce_judges import Several
from rejoinder.papers.reinforce_runs import rated
from rejoinder.responder import Context
from rejoinder.scorer import FloatArray

_AT_ONCE = 256


def divergence(n: float) -> float:
    """Nats of the best of n from one."""
    return float(np.log(n) - (n - 1) / n)


def best_of(reward: FloatArray, measured: FloatArray, n: int) -> FloatArray:
    """[C] the expected measure of the reply with the highest reward among n of the pool, over all subsets of n.

    Args:
        reward: [C, N] of each reply.
        measured: [C, N] of the same replies.
        n: N at most.
    """
    size = reward.shape[1]
    order = np.argsort(-reward, axis=1, kind="stable")
    below = np.arange(size - 1, -1, -1)  # replies that the best of a subset leaves to choose the others from
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = _choose(below, n - 1) - _choose(np.array([size]), n)
    weights = np.where(below >= n - 1, np.exp(logs), 0.0)
    found: FloatArray = (np.take_along_axis(measured, order, axis=1) * weights).sum(axis=1)
    return found


def _choose(of: FloatArray, n: int) -> FloatArray:
    """Logarithm of the number of subsets of n; whatever for fewer than n."""
    found: FloatArray = gammaln(of + 1) - gammaln(n + 1) - gammaln(np.maximum(of - n, 0) + 1)
    return found


def pool(policy: Policy, contexts: Sequence[Context], size: int, seed: int) -> list[list[str]]:
    """`size` replies of a policy to each of C contexts."""
    generator = torch.Generator().manual_seed(seed)
    found = []
    for context in contexts:
        texts: list[str] = []
        while len(texts) < size:
            count = min(_AT_ONCE, size - len(texts))
            draws = torch.rand(count, policy.longest, generator=generator)
            texts += [policy.vocabulary.decode(one) for one in policy.say([context] * count, draws)]
        found.append(texts)
    return found


def rated_pool(
    file: Path, contexts: Sequence[Context], replies: Callable[[], Sequence[Sequence[str]]], ratings: Several
) -> dict[str, FloatArray]:
    """[C, N] ratings of a pool by each judge; kept in a file, context by context, so that a cut run goes on.

    Args:
        file: where they are kept.
        contexts: [C].
        replies: [C, N], asked for where any is to be rated.
        ratings: by several judges.
    """
    kept: dict[str, FloatArray] = dict(np.load(file)) if file.is_file() else {}
    done = min(map(len, kept.values()), default=0)
    said = replies() if done < len(contexts) else []
    for context, texts in zip(contexts[done:], said[done:], strict=True):
        found = rated(ratings, [context] * len(texts), texts)
        kept = {name: np.concatenate([kept.get(name, row[None][:0]), row[None]]) for name, row in found.items()}
        with atomic_file(file) as partial, partial.open("wb") as stream:
            np.savez(stream, allow_pickle=False, **kept)
    return {name: one[: len(contexts)] for name, one in kept.items()}
