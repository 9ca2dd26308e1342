"""Learned scorers: text to score, fit, save, load."""

from pathlib import Path

from rejoinder.errors import DataError
from rejoinder.io.folders import read_folder
from rejoinder.judges import adem
from rejoinder.scorer import Scorer

LOADERS = dict.fromkeys(adem.TERMS, adem.load_folder)


def load(folder: Path) -> Scorer:
    """The trained judge saved in `folder`.

    Raises:
        MissingAsset: the folder holds no judge, or a part of it is missing.
        DataError: a part is damaged, or the judge is of a kind that this version does not know.
    """
    kind = read_folder(folder).config.get("kind")
    if kind not in LOADERS:
        known = ", ".join(LOADERS)
        raise DataError(f"a model of kind {kind!r}, expected one of {known}", "Update rejoinder", where=str(folder))
    return LOADERS[kind](folder)
