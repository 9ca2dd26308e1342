"""How the fitting of a bilinear judge went, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def account_of(record: Mapping[str, Any]) -> Sequence[str]:
    """A sentence each on recipe, over-sampling and end of a fit, from its record."""
    return [_recipe(record), *_over_sampled(record), *_ended(record)]


def _recipe(record: Mapping[str, Any]) -> str:
    """How the head was fitted, in one line."""
    components = "all" if record["components"] is None else record["components"]
    weight = record["penalty_weight"]
    penalty = f"{record['penalty']} norm times {weight:g}" if weight else "no penalty"
    unit = ", vectors of length 1" if record["normalise"] == "l2" else ""
    return (
        f"fitted with {components} components{unit}, {penalty}, step {record['learning_rate']:g}, "
        f"batch {record['batch_size']}; best epoch by validation error: {record['best_epoch']} of "
        f"{record['epochs']}"
    )


def _over_sampled(record: Mapping[str, Any]) -> list[str]:
    """What over-sampling made of the training lines, where there was any."""
    if record["oversample"] is None:
        return []
    left_out = record["over_sampling_left_out"]
    lost = f"; {left_out:,} training lines are too short or too long for it and were left out" if left_out else ""
    return [f"over-sampled to {record['fitted_rows']:,} lines{lost}"]


def _ended(record: Mapping[str, Any]) -> list[str]:
    """That the head before training was the best, or the last one, where it was, and what may help."""
    if not record["epochs"]:
        return []
    if record["best_epoch"] == record["epochs"]:
        return ["the validation error was still falling at the last epoch: more --epochs or a longer --step may help"]
    if record["best_epoch"]:
        return []
    return [
        "best epoch 0: no step of the training lowered the validation error, so what is saved is the head as it was "
        "before training and has learnt nothing from these ratings. What may help: ratings that spread over the whole "
        "scale, another encoder (-e), a smaller --step, another --penalty-weight, more rated lines"
    ]
