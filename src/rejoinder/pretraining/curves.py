"""The figures of a run after each stretch, as a table and as a picture."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lightning
from lightning.pytorch.callbacks import Callback
from matplotlib import rc_context
from matplotlib.figure import Figure

from rejoinder.data.outputs import atomic_file


class Curves(Callback):
    """Keeps the figures of every validation, in the checkpoint and as `curves.csv` and `curves.svg` in the folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows: list[dict[str, float]] = []

    def on_train_epoch_end(self, trainer: lightning.Trainer, _module: lightning.LightningModule) -> None:
        """Add the stretch that ended."""
        figures = {name: float(value) for name, value in trainer.callback_metrics.items()}
        self.rows.append({"updates": float(trainer.global_step), **figures})
        if trainer.is_global_zero:
            write_curves(self.rows, self.folder)

    def state_dict(self) -> dict[str, Any]:
        """The rows so far."""
        return {"rows": self.rows}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """The rows up to the checkpoint."""
        self.rows = list(state_dict["rows"])


def write_curves(rows: list[dict[str, float]], folder: Path) -> None:
    """The figures as `curves.csv` and `curves.svg`, each written whole."""
    write_table(rows, folder)
    draw_curves(rows, folder)


def write_table(rows: list[dict[str, float]], folder: Path) -> None:
    """The figures as `curves.csv`, written whole."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = io.StringIO()
    writer = csv.DictWriter(table, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    with atomic_file(folder / "curves.csv") as partial:
        partial.write_text(table.getvalue(), encoding="utf-8")


def draw_curves(rows: list[dict[str, float]], folder: Path, shown: Sequence[str] | None = None) -> None:
    """The figures that are `shown`, or all, over updates as `curves.svg`, written whole."""
    if shown is None:
        shown = [name for name in dict.fromkeys(name for row in rows for name in row) if name != "updates"]
    width, height = 7, 2.2 * len(shown)
    figure = Figure(figsize=(width, height))
    # Margins in inches; a layout that matplotlib works out takes as long as all else together, after each stretch.
    figure.subplots_adjust(1 / width, 0.5 / height, 1 - 0.1 / width, 1 - 0.2 / height, hspace=0.2)
    for axes, name in zip(figure.subplots(len(shown), 1, squeeze=False, sharex=True)[:, 0], shown, strict=True):
        axes.plot([row["updates"] for row in rows], [row.get(name, float("nan")) for row in rows], marker=".")
        axes.set_ylabel(name.replace("_", " "))
    axes.set_xlabel("updates")
    # Salted, because matplotlib would name the parts of the picture at random, and the same run not give the same file.
    with atomic_file(folder / "curves.svg") as partial, rc_context({"svg.hashsalt": "rejoinder"}):
        figure.savefig(partial, format="svg", metadata={"Date": None})
