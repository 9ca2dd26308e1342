"""How a training went, as text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from rejoinder.judges.bilinear.panel import Panel
from rejoinder.meta.training import Training
from rejoinder.report.tables import text_table
from rejoinder.report.trial import trial_table
from rejoinder.stats.written import number

LEVEL = 0.05


def training_text(done: Training, width: int) -> str:
    """Whether to use the new judge, how it was fitted, and what it stands beside."""
    said = ["".join(f"{sentence}\n" for sentence in done.answer)]
    if isinstance(done.judge, Panel):
        said.append("".join(f"no {absent}: {why}\n" for absent, why in done.judge.absent.items()))
    for one in done.members:
        title = f"{one.judge.kind.upper()}\n" if isinstance(done.judge, Panel) else ""
        said.append(title + training_table(one.judge.training))
    return "\n".join([*filter(None, said), trial_table(done.trial, width)])


def training_table(training: Mapping[str, Any]) -> str:
    """What the judge was trained on and how, and how far it agrees with people on what it did not see.

    Args:
        training: the record a trained judge carries (`BilinearJudge.training`).
    """
    lines = training["lines"]
    rows = [["train", f"{lines['train']:,}", "", ""]]
    for part in ("validation", "test"):
        agreement = training[part]
        values = (agreement[name] for name in ("pearson", "spearman"))
        cells = [number(math.nan if value is None else value) for value in values]
        rows.append([part, f"{lines[part]:,}", *cells])
    table = text_table(["part", "lines", "Pearson", "Spearman"], rows, 80)
    left_out = [f"left out, {reason}: {count:,}" for reason, count in training["left_out"].items()]
    said = [_recipe(training), *_over_sampled(training), *_ended(training), *_doubt(training)]
    return table + "".join(f"{line}\n" for line in (*said, *left_out))


def _recipe(training: Mapping[str, Any]) -> str:
    """How the head was fitted, in one line."""
    components = "all" if training["components"] is None else training["components"]
    weight = training["penalty_weight"]
    penalty = f"{training['penalty']} norm times {weight:g}" if weight else "no penalty"
    unit = ", vectors of length 1" if training["normalise"] == "l2" else ""
    return (
        f"fitted with {components} components{unit}, {penalty}, step {training['learning_rate']:g}, "
        f"batch {training['batch_size']}; best epoch by validation error: {training['best_epoch']} of "
        f"{training['epochs']}"
    )


def _over_sampled(training: Mapping[str, Any]) -> list[str]:
    """What over-sampling made of the training lines, where there was any."""
    if training["oversample"] is None:
        return []
    left_out = training["over_sampling_left_out"]
    lost = f"; {left_out:,} training lines are too short or too long for it and were left out" if left_out else ""
    return [f"over-sampled to {training['fitted_rows']:,} lines{lost}"]


def _ended(training: Mapping[str, Any]) -> list[str]:
    """That the head before training was the best, or the last one, where it was, and what may help."""
    if not training["epochs"]:
        return []
    if training["best_epoch"] == training["epochs"]:
        return ["the validation error was still falling at the last epoch: more --epochs or a longer --step may help"]
    if training["best_epoch"]:
        return []
    return [
        "best epoch 0: no step of the training lowered the validation error, so what is saved is the head as it was "
        "before training and has learnt nothing from these ratings. What may help: ratings that spread over the whole "
        "scale, another encoder (-e), a smaller --step, another --penalty-weight, more rated lines"
    ]


def _doubt(training: Mapping[str, Any]) -> list[str]:
    """That the test part shows no agreement, where it shows none."""
    p = training["test"].get("p")
    if p is not None and p < LEVEL:
        return []
    few = training["test"]["n"]
    return [f"not shown to agree with people on the {few:,} lines of the test part"]
