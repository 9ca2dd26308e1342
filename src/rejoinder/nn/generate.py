"""Turns from a trained dialogue model, one word after the other."""

from __future__ import annotations

from collections.abc import Collection

import torch
from torch import Tensor

from rejoinder.nn.dialogue import DialogueModel


@torch.inference_mode()
def greedy(
    model: DialogueModel, condition: Tensor, *, end: int, forbidden: Collection[int], longest: int
) -> list[list[int]]:
    """The most probable next word at each step, for n conditions [n, K] (see `DialogueModel.condition_after`).

    Args:
        model: in evaluation mode.
        condition: [n, K] what each turn is generated from.
        end: the piece that ends a turn; it is not part of what comes back.
        forbidden: pieces that may not be said.
        longest: most pieces of a turn.
    """
    state = model.decoder.start(condition)
    embedded = model.first_words(len(condition))
    barred = torch.tensor(sorted(forbidden), dtype=torch.long, device=condition.device)
    said: list[Tensor] = []
    for _ in range(longest):
        features, state = model.decoder.features(embedded, condition, state)
        logits = model.decoder.words(features[:, 0]).index_fill(1, barred, float("-inf"))
        said.append(logits.argmax(-1))
        embedded = model.embedding(said[-1])[:, None]
    rows = torch.stack(said, 1).tolist()
    return [row[: row.index(end)] if end in row else row for row in rows]
