"""Training on several devices, for each of which the program is started once more."""

from __future__ import annotations

import os
from pathlib import Path

from rejoinder.errors import UsageError

_HELD: dict[Path, int] = {}


def is_first_process() -> bool:
    """Whether this is the process that was called, and not one that it started for a further device."""
    return os.environ.get("LOCAL_RANK", "0") == "0"


def hold(run: Path) -> None:
    """Keep other calls out of a run's folder until this process ends, where the system can.

    Raises:
        UsageError: another call is at work there.
    """
    if not is_first_process() or run.resolve() in _HELD:
        return
    try:
        import fcntl
    except ImportError:  # Windows
        return
    opened = os.open(run, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(opened)
        raise UsageError(f"{run}: another call trains there now. Wait until it ends, or choose another -o") from error
    except OSError:  # a file system without locks
        os.close(opened)
    else:
        _HELD[run.resolve()] = opened
