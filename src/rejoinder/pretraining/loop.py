"""One training loop for every network.

    for update in range(start, run.updates):
        loss of the batch -> gradients -> clip -> step
        every `run.stretch` updates: validate, write checkpoints and curves, stop after `run.patience` without a gain

The seed and the number of the update determine every random choice: the batch (`Batches`), the dropped words and the
noise (`generator_for`). So a run that was killed and started again gives the same weights as an uninterrupted run, bit
for bit on the CPU. Several processes (torchrun) take turns at the batches and average their gradients.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import torch
import torch.distributed as dist
from matplotlib import rc_context
from matplotlib.figure import Figure
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from rejoinder.data.outputs import atomic_file
from rejoinder.errors import DataError, UsageError
from rejoinder.pretraining.recipe import Run
from rejoinder.scorer import Advance, ignore

LAST, BEST = "last.safetensors", "best.safetensors"
_AGAIN = f"Remove {LAST} and {BEST} in its folder, and call again: training begins anew"

Row = dict[str, float]


class Batches(Protocol):
    """The batches of a corpus. The same arguments always give the same batches."""

    def training(self, update: int, rank: int, world: int) -> Iterator[Any]:
        """Yield the batches of process `rank` of `world` from an update on, pass after pass, without end."""

    def validation(self) -> Iterable[Any]:
        """Return all batches of the validation part."""


class Task(Protocol):
    """A network with its loss and the figures that it is validated by."""

    model: nn.Module

    @property
    def comparable_from(self) -> int:
        """The update from which on validation losses may be compared; before, the loss itself still changes."""

    def optimizer(self) -> torch.optim.Optimizer:
        """Return the optimizer, with the recipe's learning rate."""

    def rate(self, update: int) -> float | list[float]:
        """Return what the learning rate is multiplied with at an update: one number, or one for each group."""

    def loss(self, batch: Any, update: int, generator: torch.Generator) -> Tensor:
        """Return the training loss of a batch."""

    def sums(self, batch: Any, generator: torch.Generator) -> Mapping[str, Tensor]:
        """Return what a validation batch adds to the totals, in double precision on the CPU."""

    def figures(self, totals: Mapping[str, Tensor]) -> Row:
        """Return named figures of the totals; `validation_loss` decides which weights are kept."""


@dataclass(frozen=True)
class Trained:
    """The figures at every validation, and those of the weights that were kept, which the model holds."""

    rows: list[Row]
    best: Row


def train(task: Task, batches: Batches, run: Run, folder: Path, progress: Advance = ignore) -> Trained:
    """Train `task.model` in `folder`, from the last checkpoint there if there is one; the model gets the best weights.

    Args:
        task: the network and its loss.
        batches: the corpus.
        run: how.
        folder: where checkpoints and curves go.
        progress: called with the number of updates done.

    Raises:
        UsageError: the loss is not finite, or this machine lacks the device.
        DataError: a checkpoint is damaged, or not of this run.
    """
    rank, world = process()
    device = device_of(run.accelerator)
    model = task.model.to(device).train()
    optimizer = task.optimizer()
    base_rates = [group["lr"] for group in optimizer.param_groups]
    autocast = torch.autocast(device.type, torch.bfloat16) if run.precision == "bf16-mixed" else nullcontext()
    rows = load_checkpoint(folder / LAST, model, optimizer) if (folder / LAST).is_file() else []
    update = int(rows[-1]["updates"]) if rows else 0
    progress(update)
    stream = batches.training(update, rank, world)

    while update < run.updates and patience_left(rows, task.comparable_from, run.patience):
        losses = []
        for batch in islice(stream, min(run.stretch, run.updates - update)):
            rates = task.rate(update)
            for number, group in enumerate(optimizer.param_groups):
                group["lr"] = base_rates[number] * (rates[number] if isinstance(rates, list) else rates)
            with autocast:
                loss = task.loss(to(batch, device), update, generator_for(run.seed, update, rank))
            loss.backward()  # type: ignore[no-untyped-call]
            if world > 1:
                average_gradients(model, world)
            nn.utils.clip_grad_norm_(model.parameters(), run.clip)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            losses.append(loss.detach())
            update += 1
            progress(1)

        row = {"updates": float(update), **validate(task, batches, run.seed, device, autocast)}
        row["training_loss"] = mean_loss(losses, world)
        if not math.isfinite(row["validation_loss"]):  # what is in the folder stays as it was
            remedy = f"Lower run.learning_rate in the recipe, and remove {folder}"
            raise UsageError(f"{folder}: after {update:,} updates the loss is not finite. {remedy}")
        rows.append(row)
        if rank == 0:
            # The best weights first: a run that is killed in between makes the same ones again.
            if row is best_row(rows, task.comparable_from):
                save_checkpoint(folder / BEST, model, rows)
            save_checkpoint(folder / LAST, model, rows, optimizer)
            write_table(rows, folder)
        if world > 1:
            dist.barrier()

    best = best_row(rows, task.comparable_from)
    kept = folder / (BEST if best else LAST)
    if (done := load_checkpoint(kept, model)[-1]) != (best or rows[-1]):
        problem = f"holds the weights after {done['updates']:g} updates, expected {(best or rows[-1])['updates']:g}"
        raise DataError(problem, _AGAIN, where=str(kept))
    if rank == 0:
        write_table(rows, folder)
        draw_curves(rows, folder)
    return Trained(rows, best or rows[-1])


@torch.no_grad()
def validate(task: Task, batches: Batches, seed: int, device: torch.device, autocast: Any) -> Row:
    """Return the figures of the validation part; the noise is the same every time."""
    task.model.eval()
    totals: dict[str, Tensor] = {}
    for number, batch in enumerate(batches.validation()):
        with autocast:
            sums = task.sums(to(batch, device), generator_for(seed, number, 0))
        totals = {name: value + totals.get(name, 0) for name, value in sums.items()}
    task.model.train()
    return task.figures(totals)


def generator_for(seed: int, number: int, rank: int) -> torch.Generator:
    """Return a new generator for each update and process; on the CPU, so that all devices draw alike."""
    return torch.Generator().manual_seed(((seed * 1_000_003 + number) * 4_099 + rank) % 2**63)


def best_row(rows: Sequence[Row], comparable_from: int) -> Row | None:
    """Return the row with the lowest validation loss, the first of equals; None if none may be compared yet."""
    comparable = [row for row in rows if row["updates"] >= comparable_from]
    return min(comparable, key=lambda row: row["validation_loss"], default=None)


def patience_left(rows: Sequence[Row], comparable_from: int, patience: int) -> bool:
    """Return whether fewer than `patience` validations have passed since the best one."""
    best = best_row(rows, comparable_from)
    return best is None or sum(row["updates"] > best["updates"] for row in rows) < patience


class AdamTask:
    """A network that Adam trains, with its usual constants, as in the papers."""

    model: Any
    comparable_from: int = 0

    def __init__(self, make: type[nn.Module], sizes: Any, run: Run) -> None:
        self.run = run
        with torch.random.fork_rng():  # the first weights depend on the seed alone
            torch.manual_seed(run.seed)
            self.model = make(sizes)

    def optimizer(self) -> torch.optim.Optimizer:
        """See `Task`."""
        return torch.optim.Adam(self.model.parameters(), self.run.learning_rate)

    def rate(self, update: int) -> float | list[float]:
        """Return 1, or by a linear schedule a rise over 200 updates and then a fall to a fiftieth."""
        updates = self.run.updates
        if self.run.schedule == "constant":
            return 1.0
        return min(1.0, (update + 1) / min(200, -(-updates // 10))) * max(0.02, 1 - update / updates)


def tensors_of(model: nn.Module) -> dict[str, NDArray[Any]]:
    """Return the weights of a network."""
    return {name: tensor.detach().cpu().numpy() for name, tensor in model.state_dict().items()}


# Checkpoints: one safetensors file (weights, moments of the optimizer, figures so far), no pickle. ------------------


def save_checkpoint(
    file: Path, model: nn.Module, rows: list[Row], optimizer: torch.optim.Optimizer | None = None
) -> None:
    """Write a checkpoint whole or not at all."""
    tensors = {f"model.{name}": tensor.contiguous() for name, tensor in model.state_dict().items()}
    for number, state in (optimizer.state_dict()["state"] if optimizer else {}).items():
        tensors |= {f"optimizer.{number}.{name}": torch.as_tensor(value) for name, value in state.items()}
    # One key: safetensors writes several in an order of its own, and equal checkpoints are to be equal files.
    about = {"about": json.dumps({"rows": rows, "digest": _digest(rows, tensors)})}
    with atomic_file(file) as partial:  # in one write: of a full disk `save_file` says nothing clear
        partial.write_bytes(save(tensors, about))


def load_checkpoint(file: Path, model: nn.Module, optimizer: torch.optim.Optimizer | None = None) -> list[Row]:
    """Load a checkpoint into model and optimizer; return the figures up to there.

    Raises:
        DataError: it is damaged, or that of another network.
    """
    try:
        with safe_open(file, "pt") as packed:
            about = json.loads(packed.metadata()["about"])
            tensors = {name: packed.get_tensor(name) for name in packed.keys()}  # noqa: SIM118 - no dict
        rows: list[Row] = about["rows"]
        if _digest(rows, tensors) != about["digest"]:  # safetensors does not notice a changed number
            raise ValueError("its numbers have changed")
        model.load_state_dict(_part(tensors, "model."))
        if optimizer is not None:
            states: dict[int, dict[str, Tensor]] = {}
            for name, tensor in _part(tensors, "optimizer.").items():
                number, _, key = name.partition(".")
                states.setdefault(int(number), {})[key] = tensor
            optimizer.load_state_dict({**optimizer.state_dict(), "state": states})
    except (SafetensorError, OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
        raise DataError(f"this checkpoint is damaged ({error!s:.80})", _AGAIN, where=str(file)) from error
    return rows


def _digest(rows: list[Row], tensors: Mapping[str, Tensor]) -> str:
    """Return the SHA-256 of figures and tensors."""
    total = hashlib.sha256(json.dumps(rows).encode())
    for name in sorted(tensors):
        flat = tensors[name].detach().cpu().contiguous().reshape(-1).view(torch.uint8)
        total.update(name.encode() + flat.numpy().tobytes())
    return total.hexdigest()


def _part(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """Return the tensors whose names begin with `prefix`, without it."""
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


# Devices and processes ----------------------------------------------------------------------------------------------


def process() -> tuple[int, int]:
    """Return the number of this process and how many torchrun has started: (0, 1) without it."""
    return int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))


def device_of(accelerator: str) -> torch.device:
    """Return the device of this process. Raises `UsageError` if there is no GPU and one is demanded."""
    gpu = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    if accelerator == "gpu" and gpu is None:
        raise UsageError("run.accelerator is gpu, but torch finds no GPU. Set it to cpu in the recipe")
    if accelerator == "cpu" or gpu is None:
        return torch.device("cpu")
    return torch.device(gpu.type, int(os.environ.get("LOCAL_RANK", "0")))


@contextmanager
def process_group(accelerator: str) -> Iterator[None]:
    """Connect the processes that torchrun has started, for the block."""
    device, several = device_of(accelerator), process()[1] > 1 and not dist.is_initialized()
    if several:
        if device.type == "cuda":
            torch.cuda.set_device(device)
        # The first process may prepare a corpus for hours while the others wait.
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo", timeout=timedelta(days=2))
    try:
        yield
    finally:
        if several:
            dist.destroy_process_group()


@contextmanager
def first_process_first() -> Iterator[None]:
    """Run the block in the first process, then in all others, which find what the first has written."""
    rank, world = process()
    if rank:
        dist.barrier()
    yield
    if world > 1 and not rank:
        dist.barrier()


def average_gradients(model: nn.Module, world: int) -> None:
    """Replace the gradients of all processes by their mean, in one exchange."""
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    gradients = [p.grad if p.grad is not None else torch.zeros_like(p) for p in parameters]
    flat = torch.cat([gradient.reshape(-1) for gradient in gradients])
    dist.all_reduce(flat)
    means = torch.split(flat / world, [parameter.numel() for parameter in parameters])
    for parameter, mean in zip(parameters, means, strict=True):
        parameter.grad = mean.view_as(parameter)


def mean_loss(losses: Sequence[Tensor], world: int) -> float:
    """Return the mean training loss over updates and processes."""
    mean = torch.stack(list(losses)).cpu().double().mean()
    if world > 1:
        total = mean.float().to(losses[0].device)
        dist.all_reduce(total)
        return float(total) / world
    return float(mean)


def to(batch: Any, device: torch.device) -> Any:
    """Return a batch on a device: a tensor, or named tuples and lists of them."""
    if isinstance(batch, Tensor):
        return batch.to(device)
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(to(item, device) for item in batch))
    return type(batch)(to(item, device) for item in batch) if isinstance(batch, (tuple, list)) else batch


# Curves -------------------------------------------------------------------------------------------------------------


def write_table(rows: Sequence[Row], folder: Path) -> None:
    """Write the figures as `curves.csv`."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = io.StringIO()
    writer = csv.DictWriter(table, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    with atomic_file(folder / "curves.csv") as partial:
        partial.write_text(table.getvalue(), encoding="utf-8")


def draw_curves(rows: Sequence[Row], folder: Path, shown: Sequence[str] | None = None) -> None:
    """Draw the figures that are `shown`, or all, over updates as `curves.svg`."""
    if shown is None:
        shown = [name for name in dict.fromkeys(name for row in rows for name in row) if name != "updates"]
    width, height = 7, 2.2 * len(shown)
    figure = Figure(figsize=(width, height))
    figure.subplots_adjust(1 / width, 0.5 / height, 1 - 0.1 / width, 1 - 0.2 / height, hspace=0.2)  # margins in inches
    for axes, name in zip(figure.subplots(len(shown), 1, squeeze=False, sharex=True)[:, 0], shown, strict=True):
        axes.plot([row["updates"] for row in rows], [row.get(name, float("nan")) for row in rows], marker=".")
        axes.set_ylabel(name.replace("_", " "))
    axes.set_xlabel("updates")
    # Salted and without a date: the same run gives the same file.
    with atomic_file(folder / "curves.svg") as partial, rc_context({"svg.hashsalt": "rejoinder"}):
        figure.savefig(partial, format="svg", metadata={"Date": None})
