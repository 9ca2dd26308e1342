"""What is installed, what is missing, and how to get it."""

from __future__ import annotations

import platform
import re
from collections.abc import Sequence
from importlib import metadata
from typing import NamedTuple

from rejoinder.assets import VECTORS, samples
from rejoinder.documents.tables import text_table
from rejoinder.errors import MissingAsset
from rejoinder.text.wordnet import REMEDY, find_wordnet
from rejoinder.version import __version__


class Finding(NamedTuple):
    """One thing that was looked at.

    Attributes:
        what: its name.
        found: its version or place, or "missing".
        needed_for: what does not work without it.
        remedy: how to get it; "" where it is there.
    """

    what: str
    found: str
    needed_for: str
    remedy: str = ""


def doctor() -> list[Finding]:
    """Everything that rejoinder may need, in the order of importance; nothing is imported or fetched."""
    found = [
        Finding("rejoinder", __version__, "everything"),
        Finding("python", platform.python_version(), "everything"),
    ]
    for requirement in metadata.requires("rejoinder") or []:
        name = re.split(r"[^A-Za-z0-9_.-]", requirement, maxsplit=1)[0]
        extra = re.search(r"extra == ['\"]([^'\"]+)['\"]", requirement)
        if extra is None:
            found.append(_library(name, "core", "pip install --force-reinstall rejoinder"))
        elif extra[1] != "dev":
            found.append(_library(name, f"extra {extra[1]}", f"pip install 'rejoinder[{extra[1]}]'"))
    return [*found, _wordnet(), *_boxed()]


def doctor_table(found: Sequence[Finding], width: int) -> str:
    """The findings as a table, then one line with the verdict."""
    missing = [finding for finding in found if finding.remedy]
    verdict = "nothing is missing" if not missing else f"{len(missing)} missing: {', '.join(f.what for f in missing)}"
    rows = [[finding.what, finding.found, finding.needed_for, finding.remedy] for finding in found]
    return (
        text_table(["what", "found", "needed for", "how to get it"], rows, width, folded=(1, 2, 3)) + f"\n{verdict}\n"
    )


def _library(name: str, needed_for: str, remedy: str) -> Finding:
    """A Python library by its distribution name."""
    try:
        return Finding(name, metadata.version(name), needed_for)
    except metadata.PackageNotFoundError:
        return Finding(name, "missing", needed_for, remedy)


def _wordnet() -> Finding:
    """WordNet's data, which METEOR looks synonyms up in."""
    try:
        return Finding("WordNet data", str(find_wordnet()), "meteor")
    except MissingAsset:
        return Finding("WordNet data", "missing", "meteor", REMEDY)


def _boxed() -> list[Finding]:
    """The samples and word vectors that come with the package."""
    files = [Finding(f"@{name}", f"{path.stat().st_size // 1024} KiB", "samples") for name, path in samples().items()]
    there = f"{VECTORS.stat().st_size // 1024} KiB" if VECTORS.is_file() else "missing"
    remedy = "" if VECTORS.is_file() else "pip install --force-reinstall rejoinder"
    return [*files, Finding("word vectors", there, "embedding metrics, adem", remedy)]
