"""The training loop: stretches of updates with a validation and a checkpoint after each, resumable to the last bit.

A stretch is what Lightning calls an epoch: a fixed number of updates. Which batches it holds, which words are dropped
and which noise is drawn follow from the seed and the number of the update alone, never from what ran before in the
process; so a run that was killed and resumed from its last checkpoint gives the same losses as one that was not.
"""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, Protocol
from zipfile import BadZipFile, ZipFile

import lightning
import torch
from lightning.fabric.utilities.exceptions import MisconfigurationException
from lightning.pytorch.callbacks import Callback, EarlyStopping, ModelCheckpoint
from lightning.pytorch.plugins.io import TorchCheckpointIO
from torch.utils.data import DataLoader, IterableDataset

from rejoinder.data.outputs import atomic_file
from rejoinder.errors import DataError, UsageError
from rejoinder.pretraining.curves import Curves
from rejoinder.pretraining.recipe import Run
from rejoinder.scorer import Advance, ignore

LAST, BEST = "last.ckpt", "best.ckpt"
MONITORED = "validation_loss"
_AGAIN = f"Remove {LAST} and {BEST} in its folder, and call again: training begins anew"
_WARM_UP, _LEAST_RATE = 200, 0.02


@dataclass(frozen=True)
class Fitted:
    """What a run came to.

    Attributes:
        rows: the figures after each stretch, the updates so far among them.
        best: the row whose weights were kept.
    """

    rows: list[dict[str, float]]
    best: dict[str, float]


class BatchSource(Protocol):
    """Where batches come from. Both methods must give the same batches whenever they are asked the same."""

    def training(self, first: int, count: int, rank: int, world: int) -> Iterator[Any]:
        """The batches of updates `first` ... `first + count - 1` for one of `world` processes."""
        ...

    def validation(self, rank: int, world: int) -> Iterator[Any]:
        """The batches of the validation part for one of `world` processes."""
        ...


class Task(lightning.LightningModule):
    """What the loop trains: a network, its loss on a batch, and its figures on the validation part.

    A subclass gives `loss(batch, generator)` for training, `tally(batch, generator)`, summable figures of a validation
    batch, and `figures(totals)`, which makes them into named numbers, `validation_loss` among them.
    """

    def __init__(self, options: Run) -> None:
        super().__init__()
        self.options = options
        self.totals: Mapping[str, torch.Tensor] = {}

    @property
    def settled(self) -> int:
        """Updates after which validation losses may be compared: before, what is trained on still changes."""
        return 0

    def loss(self, batch: Any, generator: torch.Generator) -> torch.Tensor:
        """The training loss."""
        raise NotImplementedError

    def tally(self, batch: Any, generator: torch.Generator) -> dict[str, torch.Tensor]:
        """Sums over a validation batch."""
        raise NotImplementedError

    def figures(self, totals: Mapping[str, torch.Tensor]) -> dict[str, float]:
        """The figures of the validation part from the sums of its batches."""
        raise NotImplementedError

    def configure_optimizers(self) -> Any:
        """Adam with its usual constants, as in the papers, and the schedule of its step size."""
        optimizer = torch.optim.Adam(self.parameters(), self.options.learning_rate)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, self.rate)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

    def rate(self, update: int) -> float:
        """What the step size is multiplied with at an update."""
        updates = self.options.updates
        if self.options.schedule == "constant":
            return 1.0
        return min(1.0, (update + 1) / min(_WARM_UP, -(-updates // 10))) * max(_LEAST_RATE, 1 - update / updates)

    def training_step(self, batch: Any, _: int) -> torch.Tensor:
        """The loss of one batch, with a generator that depends on seed, update and process alone."""
        loss = self.loss(batch, self._generator(self.global_step, self.global_rank))
        self.log("training_loss", loss.detach(), on_step=False, on_epoch=True, batch_size=1, sync_dist=True)
        return loss

    def on_validation_epoch_start(self) -> None:
        """Begin the sums anew."""
        self.totals = {}

    def validation_step(self, batch: Any, number: int) -> None:
        """Add one batch to the sums; the noise is the same at every validation."""
        found = self.tally(batch, self._generator(number, 0))
        self.totals = {name: value + self.totals.get(name, 0) for name, value in found.items()}

    def on_validation_epoch_end(self) -> None:
        """Make figures of the sums."""
        self.log_dict({name: torch.tensor(value) for name, value in self.figures(self.totals).items()})

    def _generator(self, number: int, rank: int) -> torch.Generator:
        """A generator of its own for every update and process; on the CPU, so that every device draws alike."""
        seed = (self.options.seed * 1_000_003 + number) * 4_099 + rank
        return torch.Generator().manual_seed(seed % 2**63)


class _Stream(IterableDataset[Any]):
    """An iterator behind Lightning's loader; it makes a fresh one each time it is asked."""

    def __init__(self, make: Any) -> None:
        self.make = make

    def __iter__(self) -> Iterator[Any]:
        return iter(self.make())


class _Data(lightning.LightningDataModule):
    """Loads the batches of the stretch that the trainer is at."""

    def __init__(self, source: BatchSource, options: Run) -> None:
        super().__init__()
        self.source, self.options = source, options

    def train_dataloader(self) -> DataLoader[Any]:
        """The batches of the current stretch."""
        trainer, options = self.trainer, self.options
        assert trainer is not None  # noqa: S101 - set by Lightning before it asks
        first = trainer.current_epoch * options.stretch
        count = min(options.stretch, options.updates - first)
        rank, world = trainer.global_rank, trainer.world_size
        return DataLoader(_Stream(lambda: self.source.training(first, count, rank, world)), batch_size=None)

    def val_dataloader(self) -> DataLoader[Any]:
        """The validation part."""
        # Every process goes through all of it, so that no batch is left out and their number changes no figure.
        return DataLoader(_Stream(lambda: self.source.validation(0, 1)), batch_size=None)


class _Patience(EarlyStopping):
    """Early stopping that begins to compare when the task has settled."""

    def on_train_epoch_end(self, trainer: lightning.Trainer, pl_module: lightning.LightningModule) -> None:
        """Compare, if it is time."""
        if not isinstance(pl_module, Task) or trainer.global_step >= pl_module.settled:
            super().on_train_epoch_end(trainer, pl_module)


class _Best(ModelCheckpoint):
    """Keeps the weights of the lowest validation loss since the task has settled."""

    def on_train_epoch_end(self, trainer: lightning.Trainer, pl_module: lightning.LightningModule) -> None:
        """Compare, if it is time."""
        if not isinstance(pl_module, Task) or trainer.global_step >= pl_module.settled:
            super().on_train_epoch_end(trainer, pl_module)


class _StaysStopped(Callback):
    """Ends a run at once that had lost its patience before it was called again; Lightning would go on for a stretch."""

    def __init__(self, stop: EarlyStopping) -> None:
        self.stop = stop

    def on_train_start(self, trainer: lightning.Trainer, _module: lightning.LightningModule) -> None:
        """See whether the checkpoint was the last."""
        trainer.should_stop = self.stop.wait_count >= self.stop.patience


class _WholeFiles(TorchCheckpointIO):
    """Writes a checkpoint beside its place; Lightning's own way goes through /tmp, from where it may be a slow copy."""

    def save_checkpoint(self, checkpoint: dict[str, Any], path: str | Path, storage_options: Any = None) -> None:  # noqa: ARG002
        """Write it whole or not at all."""
        with (
            atomic_file(Path(path)) as partial,
            partial.open("wb") as stream,
        ):  # of a full disk torch itself says nothing clear
            torch.save(checkpoint, stream)

    def load_checkpoint(self, path: str | Path, *_: Any, **__: Any) -> dict[str, Any]:
        """What it holds, and nothing that could run."""
        return loaded(Path(path))


class _Progress(Callback):
    """Moves a progress bar."""

    def __init__(self, advance: Advance) -> None:
        self.advance = advance

    def on_train_start(self, trainer: lightning.Trainer, _module: lightning.LightningModule) -> None:
        """Count what an interrupted run had done."""
        self.advance(trainer.global_step)

    def on_train_batch_end(self, *_: Any) -> None:
        """One update more."""
        self.advance(1)


def fit(task: Task, source: BatchSource, folder: Path, advance: Advance = ignore) -> Fitted:
    """Train `task` in `folder`, from its last checkpoint there if there is one, and load the best weights into it.

    Args:
        task: what is trained; on return it holds the weights of the stretch with the lowest validation loss since the
            task has settled, or of the last stretch if it never did.
        source: the batches.
        folder: where checkpoints and curves go.
        advance: called with the number of updates done.

    Raises:
        UsageError: the machine has no such devices, or the loss went out of bounds.
        DataError: a checkpoint is damaged, or not of this run.
    """
    curves = Curves(folder)
    with _quiet():
        trainer = _trainer(task.options, folder, [curves, _Progress(advance)])
        resume = folder / LAST
        try:
            trainer.fit(task, datamodule=_Data(source, task.options), ckpt_path=resume if resume.is_file() else None)
        except SystemExit as stop:
            # Lightning answers an interruption by leaving the process, without a word and with code 1.
            raise KeyboardInterrupt from stop
        kept = folder / BEST if (folder / BEST).is_file() else resume
        state = loaded(kept)
    task.load_state_dict(state["state_dict"])
    comparable = [row for row in curves.rows if row["updates"] >= task.settled]
    best = min(comparable or curves.rows[-1:], key=lambda row: row[MONITORED])
    if state["global_step"] != best["updates"] and math.isfinite(best[MONITORED]):
        found = (
            f"holds the weights after {state['global_step']} updates, and the best were those after {best['updates']:g}"
        )
        raise DataError(found, _AGAIN, where=str(kept))
    if not math.isfinite(best[MONITORED]):
        remedy = "Lower run.learning_rate in the recipe, and remove the run"
        raise UsageError(f"{folder}: the loss went out of bounds. {remedy}")
    return Fitted(curves.rows, best)


def loaded(file: Path, remedy: str = _AGAIN) -> dict[str, Any]:
    """What a checkpoint holds.

    Raises:
        DataError: it is damaged.
    """
    try:
        with ZipFile(file) as packed:
            bad = packed.testzip()  # of numbers that have changed torch says nothing
        found: dict[str, Any] = {} if bad else torch.load(file, map_location="cpu", weights_only=True)
    except (RuntimeError, EOFError, UnpicklingError, ValueError, KeyError, BadZipFile) as error:
        raise DataError("this checkpoint is damaged", remedy, where=str(file)) from error
    if bad:
        raise DataError("this checkpoint is damaged", remedy, where=str(file))
    return found


def _trainer(options: Run, folder: Path, callbacks: list[Callback]) -> lightning.Trainer:
    """Lightning's trainer with checkpoints in `folder` and early stopping."""
    best = _Best(folder, "best", monitor=MONITORED, enable_version_counter=False, save_on_train_epoch_end=True)
    last = ModelCheckpoint(folder, "last", enable_version_counter=False, save_on_train_epoch_end=True)
    stop = _Patience(MONITORED, patience=options.patience, check_on_train_epoch_end=True)
    try:
        return lightning.Trainer(
            accelerator=options.accelerator,
            devices=1,
            strategy="auto",
            precision=options.precision,
            max_epochs=-(-options.updates // options.stretch),
            gradient_clip_val=options.clip,
            callbacks=[*callbacks, stop, _StaysStopped(stop), best, last],
            plugins=[_WholeFiles()],
            reload_dataloaders_every_n_epochs=1,
            use_distributed_sampler=False,
            num_sanity_val_steps=0,
            logger=False,
            enable_progress_bar=False,
            enable_model_summary=False,
        )
    except MisconfigurationException as error:
        asked = f"{options.accelerator} with precision {options.precision}"
        raise UsageError(f"this machine cannot train on {asked} ({error}). Change the recipe's table run") from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Without Lightning's greetings and its advice on workers and loggers, which do not fit a stream from memory."""
    loggers = [logging.getLogger(name) for name in ("lightning.pytorch", "lightning.fabric")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)
