"""Folders of Parquet files, as other programs write large tables: read as one input, in the order of their names."""

from __future__ import annotations

from pathlib import Path

from rejoinder.assets import asset
from rejoinder.errors import MissingAsset, UsageError
from rejoinder.io.lines import STDIN

SUFFIX = ".parquet"
_HIDDEN = (".", "_")  # what programs that read such folders pass over


def is_folder(path: str | Path) -> bool:
    """Whether an input is a folder: no file, not standard input, no sample of the box."""
    return str(path) != STDIN and Path(asset(path)).is_dir()


def parts_of(folder: str | Path) -> list[Path]:
    """The part files of a folder, in the order of their names; those that begin with `.` or `_` are none.

    Raises:
        MissingAsset: there is none.
        UsageError: there is something else, which whoever names the folder may take for part of the input.
    """
    visible = sorted(path for path in Path(folder).iterdir() if not path.name.startswith(_HIDDEN))
    parts = [path for path in visible if path.suffix == SUFFIX and path.is_file()]
    if not parts:
        found = f"is a folder without {SUFFIX} files"
        raise MissingAsset(f"{folder}: {found}. Name a file; each scorer or responder needs its own -s or -r")
    if other := [path.name for path in visible if path not in parts]:
        found = f"holds {', '.join(other[:3])} beside its {SUFFIX} files"
        raise UsageError(f"{folder}: {found}. Name the files that are meant, or move the others away")
    return parts
