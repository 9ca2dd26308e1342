"""Outputs that are complete or absent, and that never replace an input."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import shutil
import sys
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import combinations
from pathlib import Path
from typing import TextIO, cast

from rejoinder.assets import as_path
from rejoinder.errors import UsageError, WriteError

STANDARD = "-"
# Errors of the system when nothing more fits (disk, quota, largest file) or the disk is read-only.
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}
_UNFINISHED: set[Path] = set()
_LONGEST = 200  # bytes of a name; systems allow 255, and the name of an unfinished output is longer


def data_output() -> TextIO:
    """Return standard output for records: unchanged into a file or a pipe, escaped on a terminal."""
    # `cli.terminal` puts the stream behind one that escapes, which has the attribute `unescaped`.
    return sys.stdout if sys.stdout.isatty() else cast("TextIO", getattr(sys.stdout, "unescaped", sys.stdout))


@contextmanager
def atomic_file(target: Path) -> Iterator[Path]:
    """Yield a path to write to; it becomes `target` if the block succeeds and is removed if it fails.

    Links are followed, and the mode of an existing file is kept. A pipe or a device is written to directly.

    Raises:
        WriteError: the folder of `target` does not exist or is not writable, or the disk is full.
        UsageError: `target` is a folder.
    """
    target = target.resolve()
    require_place(target)
    if target.exists() and not target.is_file():
        with _errors(target, target):
            yield target
        return
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
    with _unfinished(target) as partial, _errors(target, partial):
        with _errors(target):
            partial.touch(mode=0o600, exist_ok=False)
        yield partial
        with _errors(target):
            partial.chmod(mode)
            partial.replace(target)


@contextmanager
def atomic_folder(
    target: Path, *, ours: Collection[str], there: str = "already exists. Choose another name."
) -> Iterator[Path]:
    """Yield a folder to fill; it becomes `target` if the block succeeds and is removed if it fails.

    Args:
        target: the folder to make or to replace.
        ours: see `require_replaceable`; if empty, nothing is replaced, not even what appeared during the block.
        there: problem and remedy if something appeared during the block.

    Raises:
        WriteError: the parent of `target` does not exist or is not writable, or the disk is full.
        UsageError: see `require_replaceable` and `ours`.
    """
    target = target.resolve()
    require_replaceable(target, ours)
    with _unfinished(target) as partial, _errors(target, partial):
        with _errors(target):
            partial.mkdir(mode=0o700)
        yield partial
        with _errors(target):
            partial.chmod(0o777 & ~_umask())
            with suppress(OSError):
                target.rmdir()  # an empty folder; not every system lets another folder replace it
            if not (target.is_dir() and any(target.iterdir())):
                partial.rename(target)
                return
            if not ours:
                raise UsageError(f"{target}: {there}")
            require_replaceable(target, ours)  # a foreign file may have appeared during the block
            with _unfinished(target, "older") as aside:
                try:
                    target.rename(aside)
                    partial.rename(target)
                finally:
                    if not target.exists():
                        aside.rename(target)


def remove_unfinished() -> None:
    """Remove unfinished outputs after an interruption, even one that came during cleaning up."""
    for partial in [*_UNFINISHED]:
        _remove(partial)


def require_replaceable(target: Path, ours: Collection[str]) -> None:
    """Check that a folder can be made or replaced: an existing one holds only names in `ours`.

    Raises:
        UsageError: `target` is a file, or a folder with other names in it.
        WriteError: its parent does not exist.
    """
    _require_parent(target)
    if not target.exists():
        return
    if not target.is_dir():
        raise UsageError(f"{target}: is a file. Choose another name.")
    if foreign := sorted({entry.name for entry in target.iterdir()} - set(ours)):
        names = ", ".join(foreign[:3])
        problem = f"exists and holds what rejoinder did not write there ({names}), so it is not replaced"
        raise UsageError(f"{target}: {problem}. Choose another name.")


def require_place(target: Path) -> None:
    """Check that a file can be written at `target`."""
    _require_parent(target)
    if target.is_dir():
        raise UsageError(f"{target}: is a folder. Name a file.")


def require_apart(outputs: Iterable[str | Path], inputs: Iterable[str | Path]) -> None:
    """Check, before any work, that no output would replace an input or another output.

    Links are followed. Standard input and output, pipes and devices hold nothing to lose.

    Raises:
        UsageError: an output is an input, leads to it, holds it or is inside it; or two outputs share a place.
    """
    outputs, inputs = list(outputs), list(inputs)
    for out in map(as_path, outputs):  # `/dev/stdout` may lead to a file
        if str(out).startswith(("/dev/", "/proc/")) and not out.resolve().is_relative_to("/dev"):
            raise UsageError(f"{out}: writing there could replace a file behind the stream. Choose a file")
    written = [as_path(place) for place in outputs if _can_lose(place)]
    read = [Path(place) for place in inputs if _can_lose(place) and Path(place).exists()]
    problems = [(out, problem) for out in written for place in read if (problem := _clash(out, place))]
    for out in written if STANDARD in map(str, inputs) else ():
        with suppress(OSError):  # standard input may be closed, and the output missing
            if os.path.samestat(os.fstat(0), out.stat()):
                problems.append((out, "is standard input too and would be replaced"))
    for out, problem in problems:
        raise UsageError(f"{out}: {problem}. Choose another place for the output")
    for first, second in combinations(written, 2):
        if _clash(first, second):
            raise UsageError(f"{first} and {second}: two outputs in one place. Choose another for one of them")


def _clash(out: Path, place: Path) -> str:
    """Return why an output cannot be written next to another file or folder, or an empty text."""
    if out.resolve() == place.resolve() or (out.exists() and place.exists() and out.samefile(place)):
        other = "" if out.absolute() == place.absolute() else f" ({place})"
        return f"is an input too{other} and would be replaced"
    if out.resolve() in place.resolve().parents:
        return f"holds the input {place}"
    return f"lies inside the input {place}" if place.resolve() in out.resolve().parents else ""


def is_full(error: OSError) -> bool:
    """Check whether the system refuses because nothing more fits."""
    return error.errno in _FULL


def is_unwritable(error: OSError) -> bool:
    """Check whether the output is closed, or open only for reading: standard output after `>&-`."""
    return error.errno == errno.EBADF


def unwritten(target: object, error: OSError) -> WriteError:
    """Make the error of an output that the system refuses."""
    room = "Make room, also for temporary files, or choose another place"
    reason = "it is closed" if is_unwritable(error) else error.strerror
    return WriteError(f"{target}: cannot be written ({reason}). {room if is_full(error) else 'Choose another place'}.")


@contextmanager
def _unfinished(target: Path, kind: str = "partial") -> Iterator[Path]:
    """Yield a free name next to `target`, registered before it exists and removed after the block."""
    name = os.fsencode(target.name)
    hidden = hashlib.sha256(name).hexdigest() if len(name) > _LONGEST else target.name
    partial = target.with_name(f".{hidden}.{secrets.token_hex(4)}.{kind}")
    _UNFINISHED.add(partial)
    try:
        yield partial
    finally:
        _remove(partial)
        _UNFINISHED.discard(partial)


def _remove(partial: Path) -> None:
    with suppress(OSError):
        shutil.rmtree(partial, ignore_errors=True) if partial.is_dir() else partial.unlink()


@contextmanager
def _errors(target: Path, partial: Path | None = None) -> Iterator[None]:
    """Turn refusals of the system into errors that name `target`.

    With `partial`, only a full disk is one: other errors may come from an input that the block reads.
    """
    try:
        yield
    except WriteError as error:
        raise WriteError(str(error).replace(str(partial), str(target))) from error
    except Exception as error:
        if isinstance(error, OSError) and (partial is None or is_full(error)):
            raise unwritten(target, error) from error
        full = os.strerror(errno.ENOSPC)
        if full in str(error):  # a library that writes the file itself has its own class of error
            raise unwritten(target, OSError(errno.ENOSPC, full)) from error
        raise


def _require_parent(target: Path) -> None:
    if not as_path(target).absolute().parent.is_dir():
        raise WriteError(f"{target}: its folder does not exist. Make it first: mkdir -p {target.parent}")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _can_lose(place: str | Path) -> bool:
    """Check whether `place` is a file or folder, or free for one: no stream, pipe or device."""
    path = as_path(place)
    return str(place) != STANDARD and (not path.exists() or path.is_file() or path.is_dir())
