"""Outputs that are whole or not there, and that never replace an input."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import shutil
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import combinations
from pathlib import Path

from rejoinder.assets import as_path
from rejoinder.errors import UsageError, WriteError

# What the system says where nothing more fits: the disk, a quota, the largest file; or the disk may only be read.
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}
_UNFINISHED: set[Path] = set()
_PARTIAL, _OLDER = "partial", "older"
_YOUNG = 60.0  # seconds
_LONGEST = 200  # bytes of a name, of which systems allow 255, that leave room for what is put around it


@contextmanager
def atomic_file(target: Path) -> Iterator[Path]:
    """Yield a path to write to; it becomes `target` when the block ends well and vanishes when it does not.

    A link stays and what it points to is replaced. A pipe or a device is written to as it is.

    Raises:
        WriteError: the folder of `target` does not exist or cannot be written to, or the disk is full.
        UsageError: `target` is a folder.
    """
    target = target.resolve()
    require_place(target)
    if target.exists() and not target.is_file():
        with _filling(target):
            yield target
        return
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
    with _beside(target) as partial, _filling(target):
        with _placing(target):
            partial.touch(mode=0o600, exist_ok=False)
        with _held(partial):
            yield partial
            with _placing(target):
                partial.chmod(mode)
                partial.replace(target)


@contextmanager
def atomic_folder(
    target: Path, *, ours: Collection[str], there: str = "is there already. Choose another name."
) -> Iterator[Path]:
    """Yield a folder to fill; it takes the place of `target` when the block ends well and vanishes when it does not.

    Args:
        target: the folder to make or to replace.
        ours: see `require_replaceable`; where there are none, nothing is replaced, also not what came meanwhile.
        there: what to say of something that came meanwhile.

    Raises:
        WriteError: the parent of `target` does not exist or cannot be written to, or the disk is full.
        UsageError: see `require_replaceable`; or nothing is to be replaced, and something came meanwhile.
    """
    target = target.resolve()
    require_replaceable(target, ours)
    with _beside(target) as partial, _filling(target, partial):
        with _placing(target):
            partial.mkdir(mode=0o700)
        with _held(partial):
            yield partial
            with _placing(target):
                partial.chmod(0o777 & ~_umask())
                if _moved(partial, target):
                    return
                if not ours:
                    raise UsageError(f"{target}: {there}")
                require_replaceable(target, ours)  # whoever put a file of his own there meanwhile
                _exchange(partial, target)


def remove_unfinished() -> None:
    """Remove what an interrupted output has left, for a process that was stopped even while it cleaned up."""
    for partial in [*_UNFINISHED]:
        _remove(partial)


@contextmanager
def _beside(target: Path, kind: str = _PARTIAL) -> Iterator[Path]:
    """Yield a free name beside `target`; what stands there when the block ends is removed.

    It is known before anything stands there, so there is no moment at which an interruption leaves it behind.
    """
    _remove_left(target)
    partial = target.with_name(f"{_hidden(target)}{secrets.token_hex(4)}.{kind}")
    _UNFINISHED.add(partial)
    try:
        yield partial
    finally:
        _remove(partial)
        _UNFINISHED.discard(partial)


def _hidden(target: Path) -> str:
    """What the names of all that is put beside `target` begin with."""
    name = os.fsencode(target.name)
    return f".{hashlib.sha256(name).hexdigest() if len(name) > _LONGEST else target.name}."


def _remove_left(target: Path) -> None:
    """Remove what calls that were killed have left of `target`; what a call is writing is locked, and stays.

    An older folder that was put aside stays where nothing is at `target`: it may be all there is.
    """
    kinds = f"{_PARTIAL}|{_OLDER}" if target.exists() else _PARTIAL
    begin, rest = _hidden(target), re.compile(rf"[0-9a-f]{{8}}\.(?:{kinds})")
    with suppress(OSError):
        with os.scandir(target.parent) as entries:  # in half the time that paths of 50,000 files take
            names = [one.name for one in entries if one.name.startswith(begin)]
        for left in [target.with_name(name) for name in names if rest.fullmatch(name, len(begin))]:
            if time.time() - left.stat().st_mtime <= _YOUNG:
                continue  # whoever has just made it may be about to lock it
            with _held(left) as held:
                if held:
                    _remove(left)


@contextmanager
def _held(path: Path) -> Iterator[bool]:
    """Lock a file or folder for as long as the block lasts; yields whether that could be done.

    Where another process has it, or the system or the place knows no locks, it could not.
    """
    opened = -1
    try:
        import fcntl

        opened = os.open(path, os.O_RDONLY)
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):  # Windows; or see above
        held = False
    else:
        held = True
    try:
        yield held
    finally:
        if opened >= 0:
            os.close(opened)


def _remove(partial: Path) -> None:
    """Remove an unfinished file or folder, where it is there."""
    with suppress(OSError):
        if partial.is_dir():
            shutil.rmtree(partial, ignore_errors=True)
        else:
            partial.unlink(missing_ok=True)


def _moved(partial: Path, target: Path) -> bool:
    """Whether the folder `partial` could be put at `target`, where nothing is: no folder of another call either."""
    with suppress(OSError):
        target.rmdir()  # an empty folder, whose place not every system lets another one take
    try:
        partial.rename(target)
    except OSError:
        if not (target.is_dir() and any(target.iterdir())):
            raise
        return False
    return True


def _exchange(partial: Path, target: Path) -> None:
    """Put the folder `partial` in the place of `target`; the old one comes back where that fails or is interrupted."""
    with _held(target), _beside(target, _OLDER) as aside:
        try:
            target.rename(aside)
            partial.rename(target)
        finally:
            if not target.exists():
                aside.rename(target)


def require_replaceable(target: Path, ours: Collection[str]) -> None:
    """Raise where a folder cannot be made or replaced at `target`.

    Args:
        target: the folder.
        ours: the names that an existing `target` may hold, and no others, so that nobody loses a file of his own.

    Raises:
        UsageError: `target` is there and is not a folder of ours.
        WriteError: its parent does not exist.
    """
    _require_parent(target)
    if not target.exists():
        return
    if not target.is_dir():
        raise UsageError(f"{target}: is a file. Choose another name.")
    if foreign := sorted({entry.name for entry in target.iterdir()} - set(ours)):
        raise UsageError(
            f"{target}: exists and holds what rejoinder did not write there ({', '.join(foreign[:3])}), so it is not "
            "replaced. Choose another name."
        )


def require_place(target: Path) -> None:
    """Raise where a file cannot be written at `target`."""
    _require_parent(target)
    if target.is_dir():
        raise UsageError(f"{target}: is a folder. Name a file.")


def is_full(error: OSError) -> bool:
    """Whether the system says that no more can be written."""
    return error.errno in _FULL


def is_unwritable(error: OSError) -> bool:
    """Whether what was written to is closed, or was opened for reading alone: standard output after `>&-`."""
    return error.errno == errno.EBADF


def unwritten(target: object, error: OSError) -> WriteError:
    """The error of an output that the system does not take."""
    remedy = (
        "Make room, also for temporary files, or choose another place" if is_full(error) else "Choose another place"
    )
    reason = "it is closed" if is_unwritable(error) else error.strerror
    return WriteError(f"{target}: cannot be written ({reason}). {remedy}.")


def _require_parent(target: Path) -> None:
    """Raise where there is no folder for `target` to stand in, or its name is too long."""
    as_path(target)
    if not target.absolute().parent.is_dir():
        raise WriteError(f"{target}: its folder does not exist. Make it first: mkdir -p {target.parent}")


@contextmanager
def _placing(target: Path) -> Iterator[None]:
    """Turn whatever the system refuses to do at `target` into an error that names it."""
    try:
        yield
    except OSError as error:
        raise unwritten(target, error) from error


@contextmanager
def _filling(target: Path, partial: Path | None = None) -> Iterator[None]:
    """Turn a full disk into an error that names `target`; other errors may be those of something that is read.

    What could not be written in the folder `partial` is named as what it would have become.
    """
    try:
        yield
    except WriteError as error:
        if partial is None:
            raise
        raise WriteError(str(error).replace(str(partial), str(target))) from error
    except OSError as error:
        if not is_full(error):
            raise
        raise unwritten(target, error) from error
    except Exception as error:
        full = os.strerror(errno.ENOSPC)
        if full not in str(error):  # a library that writes by itself says it in an error of its own
            raise
        raise unwritten(target, OSError(errno.ENOSPC, full)) from error


def _umask() -> int:
    """The process's file mode mask; the temporary files are private until they are complete."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


STANDARD = "-"


def require_apart(outputs: Iterable[str | Path], inputs: Iterable[str | Path]) -> None:
    """Raise, before any work, where writing the outputs could destroy what is read, or one of them another.

    Links are followed; standard input and output, pipes and devices hold nothing that could be lost.

    Args:
        outputs: files and folders that will be written; they need not exist.
        inputs: files and folders that are read; those that do not exist are passed over.

    Raises:
        UsageError: an output is an input, leads to one, holds one or lies inside one; or two outputs are one place, or
            one lies inside the other.
    """
    outputs, inputs = list(outputs), list(inputs)
    for place in outputs:
        if _is_stream(place):
            raise UsageError(
                f"{place}: writing there could replace what the stream leads to. Choose a file, or leave it out"
            )
    written = [as_path(place) for place in outputs if _can_lose(place)]
    if STANDARD in map(str, inputs) and (lost := next(filter(_is_standard_input, written), None)):
        raise UsageError(f"{lost}: is standard input too and would be replaced. Choose another place for the output")
    read = [Path(place) for place in inputs if _can_lose(place) and Path(place).exists()]
    for out in written:
        for place in read:
            if fault := _fault(out, place):
                raise UsageError(f"{out}: {fault}. Choose another place for the output")
    for first, second in combinations(written, 2):
        if _same(first, second) or _inside(first, second) or _inside(second, first):
            raise UsageError(f"{first} and {second}: two outputs in one place. Choose another for one of them")


def _fault(out: Path, place: Path) -> str:
    """What writing `out` would do to the input `place`; "" where nothing."""
    if _same(out, place):
        other = "" if out.absolute() == place.absolute() else f" ({place})"
        return f"is an input too{other} and would be replaced"
    if _inside(place, out):
        return f"holds the input {place}"
    return f"lies inside the input {place}" if _inside(out, place) else ""


def _same(one: Path, other: Path) -> bool:
    """Whether both are one place, through links as well."""
    return one.resolve() == other.resolve() or (one.exists() and other.exists() and one.samefile(other))


def _inside(inner: Path, outer: Path) -> bool:
    """Whether `inner` lies somewhere below `outer`."""
    return outer.resolve() in inner.resolve().parents


def _is_stream(place: str | Path) -> bool:
    """Whether a place is a name of an open stream (`/dev/stdout`) that leads to a file or a pipe."""
    named = str(place).startswith(("/dev/", "/proc/"))
    return named and not Path(place).resolve().is_relative_to("/dev")


def _is_standard_input(out: Path) -> bool:
    """Whether a file is the one that standard input is read from."""
    try:
        return out.is_file() and os.path.samestat(os.fstat(0), out.stat())
    except OSError:  # it is closed
        return False


def _can_lose(place: str | Path) -> bool:
    """Whether something at `place` could be lost: not on a standard stream, a pipe or a device."""
    found = as_path(place)
    return str(place) != STANDARD and (not found.exists() or found.is_file() or found.is_dir())
