"""Everything that has a name: what can be trained or chosen, and the attacks."""

from __future__ import annotations

from typing import Any

from rejoinder.auditing.battery import entries
from rejoinder.registry import Entry
from rejoinder.scoring.catalog import list_entries


def listing() -> dict[str, list[Entry[Any]]]:
    """Return everything that can be trained or named, and the attacks, by group.

    The groups are `judges`, `encoders`, `responders`, `material` and `attacks`. `rejoinder train` and
    `rejoinder pretrain` make a folder, whose path is the name of the model from then on.
    """
    return {**list_entries(), "attacks": entries()}
