"""The experiments of the papers, run anew on the rated dialogues that there are."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from rejoinder.errors import MissingAsset, UsageError
from rejoinder.judges.bilinear.head import Terms
from rejoinder.papers.encodings import STATES, Prepared, Source
from rejoinder.scorer import Advance

__all__ = ["EXPERIMENTS", "TABLE2", "Experiment", "experiment", "files_of", "source"]

# What each is called, and the module that runs it; the module of the same name with `_page` behind it writes its page.
EXPERIMENTS = {
    "lowe2017": "rejoinder.papers.lowe2017",
    "deriu2019": "rejoinder.papers.deriu2019",
}
# The one that asks responders instead of fitting judges.
TABLE2 = "liu2016-table2"
SHARED = "REJOINDER_SHARED"


class Experiment(Protocol):
    """What a module of `EXPERIMENTS` has.

    Attributes:
        SETS: the data sets it runs on by default, as patterns of file names.
        NEEDS: what a line must have.
        SEEDS: how many splits or rounds, where nobody says.
    """

    SETS: Sequence[str]
    NEEDS: Terms
    SEEDS: int

    def steps(self, prepared: Prepared, seeds: int) -> int:
        """How often `compute` advances."""
        ...

    def compute(self, prepared: Prepared, seeds: int, advance: Advance) -> Any:
        """All that was found."""
        ...


def experiment(name: str) -> Experiment:
    """The experiment with judges that is called `name`.

    Raises:
        UsageError: there is none; the message holds the nearest names.
    """
    if name not in EXPERIMENTS:
        known = [*EXPERIMENTS, TABLE2]
        near = difflib.get_close_matches(name.lower(), known, n=2, cutoff=0.6)
        hint = f" Nearest: {', '.join(near)}." if near else ""
        raise UsageError(f"no experiment is called {name!r}.{hint} All of them: {', '.join(known)}")
    return cast("Experiment", import_module(EXPERIMENTS[name]))


def files_of(sets: Sequence[str], data: Path | None) -> list[Path]:
    """The files of data sets below the folder `data`, or else below the data folder in $REJOINDER_SHARED.

    Raises:
        MissingAsset: there is no such folder, or none of the sets in it.
    """
    wanted = "Give FILES of rated examples, or --data with a folder that holds judgements/*.jsonl.gz"
    if data is None:
        if not os.environ.get(SHARED):
            raise MissingAsset(f"no rated examples to run on. {wanted}, or set {SHARED}")
        data = Path(os.environ[SHARED]) / "data"
    found = [file for pattern in sets for file in sorted((data / "judgements").glob(f"{pattern}.jsonl.gz"))]
    if not found:
        raise MissingAsset(f"{data / 'judgements'}: none of {', '.join(sets)} is here. {wanted}")
    return found


def source(text: str) -> Source:
    """The encoder that NAME=FOLDER or NAME=FOLDER:STATE names.

    Raises:
        UsageError: it has another form.
    """
    name, equals, place = text.partition("=")
    folder, colon, state = place.rpartition(":")
    if not colon or "/" in state:  # a colon may also stand in the folder's name
        folder, state = place, ""
    if not (name and equals and folder) or state not in ("", *STATES):
        raise UsageError(f"-e {text}: expected NAME=FOLDER, NAME=FOLDER:context or NAME=FOLDER:utterance")
    return Source(name, Path(folder), state if state in STATES else None)
