"""Training the Dual Encoder: right responses against wrong ones."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch

from rejoinder.models.networks.dialogue import Dialogues
from rejoinder.models.networks.dual_encoder import DualEncoder, Pairs
from rejoinder.models.sizes import DualEncoderSizes
from rejoinder.pretraining.fit import Task
from rejoinder.pretraining.recipe import Run

# Recall is measured on one right response among ten, as in Lowe et al. 2015.
OTHERS = 9


class DualTask(Task):
    """The Dual Encoder in training.

    Args:
        sizes: the model's.
        options: the run's.
    """

    def __init__(self, sizes: DualEncoderSizes, options: Run) -> None:
        super().__init__(options)
        with torch.random.fork_rng():
            torch.manual_seed(options.seed)
            self.model = DualEncoder(sizes)

    def loss(self, batch: Dialogues, generator: torch.Generator) -> torch.Tensor:
        """Cross-entropy of a right response and its wrong ones, nats a pair."""
        pairs: Pairs = self.model(batch, generator, self.model.sizes.negatives)
        return pairs.loss / max(len(pairs.right), 1)

    def tally(self, batch: Dialogues, generator: torch.Generator) -> dict[str, torch.Tensor]:
        """Sums over a batch, each response among nine others of its batch."""
        pairs: Pairs = self.model(batch, generator, OTHERS)
        ahead = (pairs.wrong >= pairs.right[:, None]).sum(1)
        return {
            "loss": pairs.loss.cpu().double(),
            "pairs": torch.tensor(len(pairs.right), dtype=torch.float64),
            **{f"within_{k}": (ahead < k).sum().cpu().double() for k in (1, 2, 5)},
        }

    def figures(self, totals: Mapping[str, torch.Tensor]) -> dict[str, float]:
        """Loss a pair, with nine negatives, and Recall@1, 2 and 5 of ten, the nine from the same batch."""
        pairs = float(totals["pairs"]) or math.nan
        recalls = {f"recall_at_{k}": float(totals[f"within_{k}"]) / pairs for k in (1, 2, 5)}
        return {"validation_loss": float(totals["loss"]) / pairs, **recalls}
