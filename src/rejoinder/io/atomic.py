"""Outputs that are whole or not there: written beside their place under another name, renamed when complete."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from rejoinder.errors import RejoinderError, UsageError


@contextmanager
def atomic_file(target: Path) -> Iterator[Path]:
    """Yield a path to write to; it becomes `target` when the block ends well and vanishes when it does not.

    A link stays and what it points to is replaced. A pipe or a device is written to as it is.

    Raises:
        UsageError: the folder of `target` does not exist or cannot be written to, or `target` is a folder.
    """
    target = target.resolve()
    require_place(target)
    if target.exists() and not target.is_file():
        yield target
        return
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
    with _placing(target):
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".partial")
    os.close(handle)
    partial = Path(name)
    try:
        yield partial
        partial.chmod(mode)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def atomic_folder(target: Path, *, ours: Collection[str]) -> Iterator[Path]:
    """Yield a folder to fill; it takes the place of `target` when the block ends well and vanishes when it does not.

    Args:
        target: the folder to make or to replace.
        ours: see `require_replaceable`.

    Raises:
        UsageError: see `require_replaceable`; or the parent of `target` cannot be written to.
    """
    target = target.resolve()
    require_replaceable(target, ours)
    with _placing(target):
        partial = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.", suffix=".partial"))
    aside = partial.with_suffix(".old")
    try:
        yield partial
        partial.chmod(0o777 & ~_umask())
        if target.exists():
            target.rename(aside)
        partial.rename(target)
    except RejoinderError:  # a missing asset is an OSError too, and not of ours
        raise
    except OSError as error:
        if aside.exists() and not target.exists():
            aside.rename(target)
        raise UsageError(f"{target}: cannot be replaced ({error.strerror}). Does another run write there?") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        shutil.rmtree(aside, ignore_errors=True)


def require_replaceable(target: Path, ours: Collection[str]) -> None:
    """Raise where a folder cannot be made or replaced at `target`.

    Args:
        target: the folder.
        ours: the names that an existing `target` may hold, and no others, so that nobody loses a file of his own.

    Raises:
        UsageError: `target` is there and is not a folder of ours, or its parent does not exist.
    """
    if not target.absolute().parent.is_dir():
        raise UsageError(f"{target}: its folder does not exist. Make it first: mkdir -p {target.parent}")
    if not target.exists():
        return
    if not target.is_dir():
        raise UsageError(f"{target}: is a file. Choose another name.")
    if foreign := sorted({entry.name for entry in target.iterdir()} - set(ours)):
        raise UsageError(
            f"{target}: exists and holds what rejoinder did not write there ({', '.join(foreign[:3])}), so it is not "
            "replaced. Choose another name."
        )


@contextmanager
def _placing(target: Path) -> Iterator[None]:
    """Turn the system's refusal to write beside `target` into an error that names it."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"{target}: cannot be written ({error.strerror}). Choose another place.") from error


def require_place(target: Path) -> None:
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
