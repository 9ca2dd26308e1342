"""How a training went, as text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from rejoinder.report.tables import number, text_table

LEVEL = 0.05


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
    epochs = f"best epoch by validation error: {training['best_epoch']} of {training['epochs']}\n"
    p = training["test"].get("p")
    doubt = "" if p is not None and p < LEVEL else "not shown to agree with people at all on the test part; rate more\n"
    return f"{table}{epochs}{doubt}{left_out}"
