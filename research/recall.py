"""How often a retrieval model finds the true response among others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rejoinder.errors import DataError, UsageError
from rejoinder.estimates import Estimate
from rejoinder.example import Example
from rejoinder.models.reply_bank import Retriever
from rejoinder.responder import request
from rejoinder.scorer import Advance, FloatArray, ignore
from rejoinder.stats.resamples import Resamples, number_of, percentile_interval
from research.figures import extended

OTHERS = 9
RESAMPLES = 1000
_TOGETHER = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall(Estimate):
    """The share of n contexts whose true response is among the `k` best of all that were given, in [0, 1].

    The interval resamples dialogues.

    Attributes:
        k: how many may stand ahead of it, itself among them.
        among: responses given with each context, the true one among them.
        dialogues: how many the contexts are from.
    """

    k: int
    among: int
    dialogues: int


def recall_at(
    responder: Retriever,
    examples: Sequence[Example],
    ks: Sequence[int] = (1, 2, 5),
    *,
    seed: int = 0,
    others: int = OTHERS,
    advance: Advance = ignore,
) -> list[Recall]:
    """Recall@k of a retrieval model for each of `ks`, the true response among `others` from other dialogues.

    The same seed and examples give the same others, whatever the responder. Of responses with equal scores each is as
    likely to come first, so a model that cannot tell gets k / (`others` + 1), not 0 or 1.

    Args:
        responder: whom to ask.
        examples: contexts with their true responses, of dialogues that the responder was not made from. Those with the
            same `context_key` are of one dialogue.
        ks: each from 1 to `others`.
        seed: decides the others, what is random in the scores, and the resamples.
        others: false responses beside each true one; different from it and from each other.
        advance: called with the number of examples done.

    Raises:
        UsageError: one of `ks` is out of range.
        DataError: there are too few different responses in other dialogues.

    Source: Lowe et al. 2015, section 4.1 (1 in 10 R@k).
    """
    if others < 1 or not all(1 <= k <= others for k in ks):
        raise UsageError(f"k is expected to be from 1 to the number of other responses, which is {others}")
    _, dialogues = np.unique([repr(example.context_key) for example in examples], return_inverse=True)
    rng = np.random.default_rng(seed)
    found = []
    for start in range(0, len(examples), _TOGETHER):
        batch = range(start, min(start + _TOGETHER, len(examples)))
        given = [[examples[row].response, *_others(examples, dialogues, row, others, rng)] for row in batch]
        requests = [request(examples[row].context, seed, examples[row].response) for row in batch]
        found.append(responder.rank(requests, given))
        advance(len(batch))
    scores = np.concatenate(found) if found else np.empty((0, others + 1))
    return [_recall(chances_within(scores, k), k, others + 1, dialogues, seed) for k in ks]


def chances_within(scores: FloatArray, k: int) -> FloatArray:
    """[N] how likely the first of K responses is among the `k` best, given scores [N, K]; ties in any order."""
    ahead = (scores[:, 1:] > scores[:, :1]).sum(axis=1)
    level = (scores[:, 1:] == scores[:, :1]).sum(axis=1)
    chances: FloatArray = np.clip((k - ahead) / (level + 1), 0.0, 1.0)
    return chances


def _others(
    examples: Sequence[Example], dialogues: NDArray[np.int64], row: int, count: int, rng: np.random.Generator
) -> list[str]:
    """`count` different responses that are not that of example `row`, of other dialogues."""
    own, chosen = examples[row].response, dict[str, None]()
    for place in rng.permutation(len(examples)):
        if dialogues[place] != dialogues[row] and examples[place].response != own:
            chosen[examples[place].response] = None
            if len(chosen) == count:
                return list(chosen)
    raise DataError(
        f"{len(chosen)} different responses in other dialogues, expected {count}",
        "Give more dialogues",
        where=examples[row].where,
    )


def _recall(chances: FloatArray, k: int, of: int, dialogues: NDArray[np.int64], seed: int) -> Recall:
    """The mean of the chances [N] with its interval."""
    count = number_of(dialogues)
    if not count:
        return Recall(k=k, among=of, dialogues=0, reason="no contexts")
    resamples = Resamples.draw(dialogues, RESAMPLES, np.random.default_rng(seed))
    found = percentile_interval(resamples.means(chances, np.zeros_like(dialogues))[0], count, unit="dialogue")
    return extended(Recall, found, k=k, among=of, dialogues=count, n=len(chances), seed=seed)
