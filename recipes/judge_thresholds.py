"""Move thresholds of the judges in the box that split cosines of 1 by their last bit.

    python recipes/judge_thresholds.py

A cosine of two equal texts is 1, give or take a last bit that depends on the processor. Trees that were grown on such
cosines have thresholds between 1 and its neighbours, so the same reply had other scores on another processor. Here
every threshold within 2e-6 of 1 on a feature of `alignment`, `meaning`, `selection` or `reference_meaning` becomes
.99995. Nothing else of a folder changes but its digest. Doing it again changes nothing; a judge that is fitted anew
needs it again. docs/results/judge.md lists the lines whose scores moved.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from rejoinder.assets import JUDGE, PLUS
from rejoinder.data.folders import Parts, read_card, read_folder, write_folder
from rejoinder.judges.regression.head import SIDES

VIEWS = ("alignment", "meaning", "selection", "reference_meaning")
NEAR, MOVED_TO = 2e-6, 0.99995


def main() -> None:
    """Move the thresholds of both folders, and say how many."""
    for folder in (JUDGE, PLUS):
        parts, count = moved(read_folder(folder))
        if count:
            write_folder(folder, parts, read_card(folder), force=True)
        print(f"{Path(folder).name}: {count} thresholds moved, digest {parts.digest}")


def moved(parts: Parts) -> tuple[Parts, int]:
    """Return a judge's parts with its thresholds moved, and how many those are."""
    columns, tensors, total = parts.config["columns"], dict(parts.tensors), 0
    for way in SIDES:
        if way not in parts.config:
            continue
        read = [columns[column].partition(".")[0] in VIEWS for column in tensors[f"{way}.columns"].tolist()]
        feature, threshold = tensors[f"{way}.trees.feature"], tensors[f"{way}.trees.threshold"]
        # What contrasts say are features behind those of the views, where the rule and the long vector stand here.
        plain = len(tensors[f"{way}.likeness.centre"])
        cosine = np.array([*read[:plain], *[False] * (int(feature.max()) + 1)], np.bool_)[feature]
        inner = tensors[f"{way}.trees.left"] != np.arange(len(threshold))
        near = inner & cosine & (np.abs(threshold - 1.0) <= NEAR)
        tensors[f"{way}.trees.threshold"] = np.where(near, MOVED_TO, threshold)
        total += int(near.sum())
    return replace(parts, tensors=tensors), total


if __name__ == "__main__":
    main()
