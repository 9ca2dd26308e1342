"""Outputs that are whole or not there: written beside their place under another name, renamed when complete."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rejoinder.errors import UsageError


@contextmanager
def atomic_file(target: Path) -> Iterator[Path]:
    """Yield a path to write to; it becomes `target` when the block ends well and vanishes when it does not.

    Raises:
        UsageError: the folder of `target` does not exist, or `target` is a folder.
    """
    _require_place(target)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".partial")
    os.close(handle)
    partial = Path(name)
    try:
        yield partial
        partial.chmod(0o666 & ~_umask())
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def atomic_folder(target: Path, *, belongs: str) -> Iterator[Path]:
    """Yield a folder to fill; it takes the place of `target` when the block ends well and vanishes when it does not.

    Args:
        target: the folder to make or to replace.
        belongs: a file that an existing `target` must hold to be replaced, so that no stranger's folder is lost.

    Raises:
        UsageError: `target` is there and is not a folder of ours, or its parent does not exist.
    """
    target = target.absolute()
    if not target.parent.is_dir():
        raise UsageError(f"{target}: its folder does not exist. Make it first: mkdir -p {target.parent}")
    if target.exists() and (not target.is_dir() or (any(target.iterdir()) and not (target / belongs).is_file())):
        raise UsageError(f"{target}: exists and holds no {belongs}, so it is not replaced. Choose another name.")
    partial = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.", suffix=".partial"))
    try:
        yield partial
        partial.chmod(0o777 & ~_umask())
        if target.exists():
            aside = partial.with_suffix(".old")
            target.rename(aside)
            partial.rename(target)
            shutil.rmtree(aside)
        else:
            partial.rename(target)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _require_place(target: Path) -> None:
    """Raise where a file cannot be written at `target`."""
    if target.is_dir():
        raise UsageError(f"{target}: is a folder. Name a file.")
    if not target.parent.is_dir():
        raise UsageError(f"{target}: its folder does not exist. Make it first: mkdir -p {target.parent}")


def _umask() -> int:
    """The process's file mode mask; the temporary files are private until they are complete."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
