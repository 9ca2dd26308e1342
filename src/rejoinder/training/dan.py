"""Training the dual encoder: which response of a batch answers which context."""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Mapping
from typing import Any

import torch

from rejoinder.nn.dan import DanModel, DanSizes, Match, context_rows
from rejoinder.nn.dialogue import Dialogues
from rejoinder.training.fit import RunOptions, Task

GRAPH = "model.onnx"


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


def exported(model: DanModel) -> bytes:
    """The network as an ONNX graph, its table in half precision; inputs and outputs as in `DanModel.forward`."""
    for library in ("onnxscript", "torch.onnx"):
        logging.getLogger(library).setLevel(logging.ERROR)
    small = DanModel(model.sizes).eval()
    small.load_state_dict(model.state_dict())
    small.table.half()
    any_size = torch.export.Dim.DYNAMIC
    example = (
        torch.tensor([[3, 3, 2], [3, 2, 0], [3, 2, 0]]),
        torch.tensor([3, 2, 2]),
        torch.tensor([[0, *[-1] * model.sizes.earlier], [1, *[-1] * model.sizes.earlier]]),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program: Any = torch.onnx.export(
            small,
            example,
            input_names=["tokens", "lengths", "rows"],
            output_names=["responses", "contexts"],
            dynamic_shapes=({0: any_size, 1: any_size}, {0: any_size}, {0: any_size}),
            dynamo=True,
            verbose=False,
        )
    return _bare(program.model_proto)


def _bare(model: Any) -> bytes:
    """An ONNX model as bytes, without the names of source files and lines that the exporter notes at every node."""
    graph = model.graph
    for part in (model, graph, *graph.node, *graph.initializer, *graph.value_info, *graph.input, *graph.output):
        del part.metadata_props[:]
        part.doc_string = ""
    packed: bytes = model.SerializeToString()
    return packed
