"""Learned scorers: text to score, fit, save, load."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal, get_args

from rejoinder import encoders
from rejoinder.errors import DataError
from rejoinder.io.folders import Parts, in_folder, read_card, read_folder
from rejoinder.judges import boxed
from rejoinder.judges.bilinear import judge, panel
from rejoinder.scorer import Scorer

LOADERS: dict[str, Callable[[Parts], Scorer]] = {judge.FAMILY: judge.from_folder, panel.FAMILY: panel.from_folder}


def load(folder: Path) -> Scorer:
    """The trained judge saved in `folder`.

    Raises:
        MissingAsset: the folder holds no judge, or a part of it is missing.
        MissingExtra: a library that its encoder needs is not installed.
        DataError: a part is damaged, or the folder holds no judge that this version knows.
    """
    parts = read_folder(folder)
    kind = str(parts.config.get("kind"))
    if kind in encoders.KINDS:
        remedy = f"Train a judge over it: rejoinder train adem FILE -e {folder} -o FOLDER"
        raise DataError(f"a pre-trained encoder ({kind}), not a judge", remedy, where=str(folder))
    if kind not in LOADERS:
        from rejoinder.training.recipe import Kind, RetrievalKind

        if kind in get_args(Literal[Kind, RetrievalKind]):
            remedy = f"Let it answer, and score what it says: rejoinder respond FILE -r {folder} -o REPLIES.jsonl"
            raise DataError(f"a responder ({kind}), not a judge", remedy, where=str(folder))
        found = f"a model of kind {kind!r}, expected {' or '.join(LOADERS)}"
        raise DataError(found, "Update rejoinder, or train the judge again", where=str(folder))
    with in_folder(folder):
        return LOADERS[kind](parts)


def written_card(name: str) -> str:
    """The card that stands in the folder of the judge `name`, a folder or the judge in the box; "" where none does."""
    return read_card(boxed.FOLDER if name == boxed.NAME else name)
