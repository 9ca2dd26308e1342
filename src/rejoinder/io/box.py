"""The files in the box: samples of rated dialogues and word vectors that come with the package."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from rejoinder.errors import MissingAsset, UsageError

_FOLDER = Path(__file__).resolve().parent.parent / "data"
JUDGE, PLUS, DOMAIN = _FOLDER / "judge", _FOLDER / "plus", _FOLDER / "domain.json"
_LONGEST_NAME = 255  # bytes


def box() -> dict[str, Path]:
    """The data files in the box by the name that `@NAME` takes."""
    return {path.name.partition(".")[0]: path for path in sorted(_FOLDER.glob("*.jsonl.gz"))}


def as_path(given: Any) -> Path:
    """The path that a name of a file or folder stands for.

    Raises:
        UsageError: it is no name, or one that no system takes.
    """
    if not isinstance(given, (str, os.PathLike)):
        raise UsageError(f"{given!r:.40} is given as the name of a file or folder, expected a text or a path")
    path = Path(given)
    if "\0" in str(path) or any(len(os.fsencode(part)) > _LONGEST_NAME for part in path.parts):
        raise UsageError(f"{str(path)[:40]!r}... is no name of a file or folder: too long, or with a NUL in it")
    return path


def in_the_box(path: str | Path) -> str | Path:
    """`path` itself, or for `@NAME` the file in the box of that name.

    Raises:
        MissingAsset: nothing in the box has that name.
    """
    text = str(as_path(path))
    if not text.startswith("@") or Path(text).exists():
        return path
    files = box()
    if text[1:] not in files:
        raise MissingAsset(
            f"{text}: nothing in the box is called so. There are: {', '.join('@' + name for name in files)}"
        )
    return files[text[1:]]
