"""Learned scorers: text to score, fit, save, load."""

from importlib import import_module
from pathlib import Path

from rejoinder.data.folders import in_folder, read_card, read_folder
from rejoinder.errors import DataError
from rejoinder.judges import boxed, plus
from rejoinder.judges.learner import PortableJudge
from rejoinder.kinds import KINDS, Kind, makers


def load(folder: Path) -> PortableJudge:
    """The trained judge saved in `folder`.

    Raises:
        MissingAsset: the folder holds no judge, or a part of it is missing.
        MissingExtra: a library that its encoder needs is not installed.
        DataError: a part is damaged, or the folder holds no judge that this version knows.
    """
    parts = read_folder(folder)
    kind = str(parts.config.get("kind"))
    made = KINDS.get(kind, Kind())
    if not made.judge:
        raise DataError(*_no_judge(kind, made, folder), where=str(folder))
    with in_folder(folder):
        judge: PortableJudge = import_module(made.judge).from_parts(parts)
    return judge


def _no_judge(kind: str, made: Kind, folder: Path) -> tuple[str, str]:
    """What is wrong with a folder that holds no judge, and what to do with it."""
    if made.encoder:
        remedy = f"Train a judge over it: rejoinder train adem FILE -e {folder} -o FOLDER"
        return f"a pre-trained encoder ({kind}), not a judge", remedy
    if made.responder:
        remedy = f"Let it answer, and score what it says: rejoinder respond FILE -r {folder} -o REPLIES.jsonl"
        return f"a responder ({kind}), not a judge", remedy
    found = f"a model of kind {kind!r}, expected {' or '.join(makers('judge'))}"
    return found, "Update rejoinder, or train the judge again"


def written_card(name: str) -> str:
    """The card that stands in the folder of the judge `name`, a folder or the judge in the box; "" where none does."""
    if name.startswith(f"{plus.PREFIX}:"):
        return read_card(plus.FOLDER)
    return read_card(boxed.FOLDER if name == boxed.NAME else name)
