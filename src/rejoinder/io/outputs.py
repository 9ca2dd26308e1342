"""The one guard of everything that is written: no output takes the place of an input, or of another output."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path

from rejoinder.assets import as_path
from rejoinder.errors import UsageError

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
