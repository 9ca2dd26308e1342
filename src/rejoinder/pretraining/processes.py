"""Who is at work in the folder of a run: one call, of which training on several devices starts further processes."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

from rejoinder.data.outputs import atomic_file
from rejoinder.errors import UsageError

MARK = "recipe.json"
"""The file of a run's folder that says what decides the run."""
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


def claim_run(run: Path, what: dict[str, Any]) -> None:
    """Make the run's folder, or see that the run in it is the same one; what a killed run left half written goes.

    Args:
        run: the folder.
        what: decides the run, JSON values.

    Raises:
        UsageError: something of another run is there, or another call is at work there.
    """
    stated = json.dumps(what, indent=2)
    mark = run / MARK
    try:
        run.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{run}: no folder can be made here ({error.strerror}). Choose another -o") from error
    hold(run)
    left = list(run.glob(f".{MARK}.*.partial")) if not mark.is_file() else list(run.glob(".*.partial"))
    if any(path != mark and path not in left for path in run.iterdir()):
        if not mark.is_file():
            raise UsageError(f"{run}: exists and holds no run ({MARK} is missing). Remove it, or choose another -o")
        if mark.read_text(encoding="utf-8", errors="replace") != stated:
            raise UsageError(f"{run}: holds a run of another recipe or other files. Remove it, or choose another -o")
    for one in left:
        shutil.rmtree(one) if one.is_dir() else one.unlink()
    with atomic_file(mark) as partial:  # the run may be killed at any moment
        partial.write_text(stated, encoding="utf-8")
