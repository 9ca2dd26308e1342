"""Dialogues as one sequence of tokens each, for models that read them so.

Shapes: B dialogues, U turns, N turns of all dialogues together, T tokens.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from rejoinder.models.networks.dialogue import Dialogues
from rejoinder.models.networks.recurrent import masked


class Sequences(NamedTuple):
    """B dialogues, the tokens of all turns of each one after the other.

    Attributes:
        tokens: [B, T] ids, padding behind.
        lengths: [B] ids of each dialogue.
        ends: [B, U] place of the last token of each turn, that of the last turn where a dialogue has fewer.
    """

    tokens: Tensor
    lengths: Tensor
    ends: Tensor


def in_sequence(dialogues: Dialogues) -> Sequences:
    """The dialogues of a batch, each as one sequence; padding is 0."""
    longest = max(chunk.tokens.shape[1] for chunk in dialogues.chunks)
    turns = torch.cat(
        [functional.pad(chunk.tokens, (0, longest - chunk.tokens.shape[1])) for chunk in dialogues.chunks]
    )
    sizes = torch.cat([chunk.lengths for chunk in dialogues.chunks])
    rows, there = dialogues.rows.clamp(min=0), dialogues.rows >= 0
    stream = masked(turns[rows[there]], sizes[rows[there]])  # all tokens, dialogue after dialogue
    ends = (sizes[rows] * there).cumsum(1)  # [B, U]
    lengths = ends[:, -1]
    tokens = turns.new_zeros(len(rows), int(lengths.max()))
    tokens[torch.arange(tokens.shape[1], device=tokens.device) < lengths[:, None]] = stream
    return Sequences(tokens, lengths, ends - 1)
