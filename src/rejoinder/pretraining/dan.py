"""Training the dual encoder: which response of a batch answers which context."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch

from rejoinder.models.dan import DanModel, DanSizes, Match, context_rows
from rejoinder.models.networks.dialogue import Dialogues
from rejoinder.pretraining.fit import RunOptions, Task


class DanTask(Task):
    """The dual encoder in training.

    All turns of a batch are encoded once, each as an answer and as part of contexts, so the negatives of a context are
    responses of like length from other dialogues, and other turns of its own, the one it ends with among them.

    Args:
        sizes: the network's.
        options: the run's.
    """

    def __init__(self, sizes: DanSizes, options: RunOptions) -> None:
        super().__init__(options)
        with torch.random.fork_rng():
            torch.manual_seed(options.seed)
            self.model = DanModel(sizes)

    def loss(self, batch: Dialogues, generator: torch.Generator) -> torch.Tensor:
        """Cross-entropy of a pair, mean of both directions, nats."""
        match = self._match(batch, generator)
        return match.loss / match.pairs

    def tally(self, batch: Dialogues, generator: torch.Generator) -> dict[str, torch.Tensor]:  # noqa: ARG002
        """Sums over a batch."""
        match = self._match(batch, None)
        return {
            "loss": match.loss.cpu().double(),
            "pairs": torch.tensor(match.pairs, dtype=torch.float64),
            "first": match.first.cpu().double(),
        }

    def figures(self, totals: Mapping[str, torch.Tensor]) -> dict[str, float]:
        """Loss a pair and the share of contexts that rank their response first in their batch."""
        pairs = float(totals["pairs"]) or math.nan
        return {
            "validation_loss": float(totals["loss"]) / pairs,
            "found_first": float(totals["first"]) / pairs,
        }

    def _match(self, batch: Dialogues, generator: torch.Generator | None) -> Match:
        bags = torch.cat([self.model.bags(chunk.tokens, chunk.lengths) for chunk in batch.chunks])
        return self.model.match(bags, *context_rows(batch.rows, self.model.sizes.earlier), generator)
