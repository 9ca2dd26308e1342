"""The files in the box: samples of rated dialogues and word vectors that come with the package."""

from __future__ import annotations

from pathlib import Path

from rejoinder.errors import MissingAsset

_FOLDER = Path(__file__).resolve().parent.parent / "data"


def box() -> dict[str, Path]:
    """The data files in the box by the name that `@NAME` takes."""
    return {path.name.partition(".")[0]: path for path in sorted(_FOLDER.glob("*.jsonl.gz"))}


def in_the_box(path: str | Path) -> str | Path:
    """`path` itself, or for `@NAME` the file in the box of that name.

    Raises:
        MissingAsset: nothing in the box has that name.
    """
    text = str(path)
    if not text.startswith("@") or Path(text).exists():
        return path
    files = box()
    if text[1:] not in files:
        raise MissingAsset(
            f"{text}: nothing in the box is called so. There are: {', '.join('@' + name for name in files)}"
        )
    return files[text[1:]]
