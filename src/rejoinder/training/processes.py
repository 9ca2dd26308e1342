"""Training on several devices, for each of which the program is started once more."""

from __future__ import annotations

import os


def is_first_process() -> bool:
    """Whether this is the process that was called, and not one that it started for a further device."""
    return os.environ.get("LOCAL_RANK", "0") == "0"
