"""How a training went, as text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from rejoinder.report.tables import number, text_table


def training_table(training: Mapping[str, Any]) -> str:
    """What the judge was trained on and how far it agrees with people on what it did not see.

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
    left_out = "".join(f"left out, {reason}: {count:,}\n" for reason, count in training["left_out"].items())
    return f"{table}best epoch by validation error: {training['best_epoch']} of {training['epochs']}\n{left_out}"
