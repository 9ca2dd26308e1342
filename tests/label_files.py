"""A log with verdicts and labels, as files: the replies of a simulated judge with known truth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from worlds import World, world, wrong_labels

SCALE = [0, 1]
_TOPICS = ("delivery", "refund", "warranty")


def records(
    seed: int = 7, *, people: int = 60, labelled: int = 120, errors: tuple[float, float] = (0.04, 0.08)
) -> tuple[World, list[dict[str, Any]]]:
    """Return a world of 800 replies and its lines; `labelled` have labels, `people` of them by two people.

    `errors` are the shares of wrong labels of the two.
    """
    rng = np.random.default_rng(seed)
    truth = world(rng)
    chosen = truth.by_chance(labelled, rng)
    labels = {name: wrong_labels(truth.truth, error, rng) for name, error in zip(("alice", "bob"), errors, strict=True)}
    lines: list[dict[str, Any]] = []
    for place, (version, verdict, words) in enumerate(zip(truth.versions, truth.verdicts, truth.words, strict=True)):
        lines.append(
            {
                "id": f"r{place:04d}",
                "context": [f"Where is my order {place} of {_TOPICS[place % 3]}?"],
                "response": " ".join([f"Order {place}", *["is on its way"] * (int(words) // 4)]),
                "system": f"v{version + 1}",
                "topic": _TOPICS[place % 3],
                "judge": int(verdict),
                "reason": f"reason {place}",
            }
        )
    for number, place in enumerate(np.random.default_rng(seed).permutation(chosen).tolist()):
        names = ["alice", "bob"] if number < people else ["alice"] if number % 2 else ["bob"]
        lines[place]["ratings"] = {"overall": [labels[name][place] for name in names]}
        lines[place]["raters"] = {"overall": names}
        lines[place]["scale"] = SCALE
    return truth, lines


def write_records(path: Path, lines: list[dict[str, Any]]) -> Path:
    """Write lines to a file and return its path."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path
