"""Bundled files: samples of rated dialogues, word vectors and the judges that come with the package."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from rejoinder.errors import MissingAsset, UsageError

_FOLDER = Path(__file__).resolve().parent
JUDGE, PLUS, DOMAIN = _FOLDER / "judge", _FOLDER / "plus", _FOLDER / "domain.json"
FORM = _FOLDER / "form.json"
VECTORS = _FOLDER / "word_vectors.npz"
_LONGEST_NAME = 255  # bytes


def samples() -> dict[str, Path]:
    """Return the bundled samples by the name that `@NAME` takes."""
    return {path.name.partition(".")[0]: path for path in sorted(_FOLDER.glob("*.jsonl.gz"))}


def as_path(given: Any) -> Path:
    """Return the path with a name.

    Raises:
        UsageError: no file or folder can have this name.
    """
    if not isinstance(given, (str, os.PathLike)):
        raise UsageError(f"{given!r:.40} is given as the name of a file or folder, expected a text or a path")
    path = Path(given)
    if "\0" in str(path) or any(len(os.fsencode(part)) > _LONGEST_NAME for part in path.parts):
        raise UsageError(f"{str(path)[:40]!r}... is no name of a file or folder: too long, or with a NUL in it")
    return path


def asset(path: str | Path) -> str | Path:
    """Return `path`, or for `@NAME` the bundled sample of that name, unless there is a file `@NAME`.

    Raises:
        MissingAsset: no sample has that name.
    """
    text = str(as_path(path))
    if not text.startswith("@") or Path(text).exists():
        return path
    files = samples()
    if text[1:] not in files:
        raise MissingAsset(
            f"{text}: no bundled sample has this name. Use one of {', '.join('@' + name for name in files)}"
        )
    return files[text[1:]]
