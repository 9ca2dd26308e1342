"""Which parts are installed, which are missing, and how to get them."""

from __future__ import annotations

import platform
import re
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from rejoinder.assets import VECTORS, samples
from rejoinder.errors import MissingAsset
from rejoinder.report.terminal import text_table
from rejoinder.text.wordnet import REMEDY, find_wordnet
from rejoinder.version import __version__

_REINSTALL = "pip install --force-reinstall rejoinder"


class Finding(NamedTuple):
    """A part of the installation.

    Attributes:
        what: its name.
        found: its version or place, or "missing".
        needed_for: which features do not work without it.
        remedy: how to get it; empty if it is there.
    """

    what: str
    found: str
    needed_for: str
    remedy: str = ""


def doctor() -> list[Finding]:
    """Return everything that rejoinder may need, the most important parts first; nothing is imported or downloaded."""
    versions = {"rejoinder": __version__, "python": platform.python_version()}
    findings = [Finding(name, version, "everything") for name, version in versions.items()]
    for requirement in metadata.requires("rejoinder") or []:
        name = re.split(r"[^A-Za-z0-9_.-]", requirement, maxsplit=1)[0]
        extra = re.search(r"extra == ['\"]([^'\"]+)['\"]", requirement)
        if extra is None:
            findings.append(_library(name, "core", _REINSTALL))
        elif extra[1] != "dev":
            findings.append(_library(name, f"extra {extra[1]}", f"pip install 'rejoinder[{extra[1]}]'"))
    files = [Finding(f"@{name}", _size(path), "samples") for name, path in samples().items()]
    needed_for, has_vectors = "embedding metrics, adem", VECTORS.is_file()
    vectors = Finding("word vectors", _size(VECTORS), needed_for, "" if has_vectors else _REINSTALL)
    return [*findings, _wordnet(), *files, vectors]


def doctor_table(findings: Sequence[Finding], width: int) -> str:
    """Return the findings as a table, and a last line with the verdict."""
    missing = [finding.what for finding in findings if finding.remedy]
    verdict = f"{len(missing)} missing: {', '.join(missing)}" if missing else "nothing is missing"
    table = text_table(["what", "found", "needed for", "how to get it"], findings, width, folded=(1, 2, 3))
    return f"{table}\n{verdict}\n"


def _library(name: str, needed_for: str, remedy: str) -> Finding:
    """Return a Python library, by the name of its distribution."""
    try:
        return Finding(name, metadata.version(name), needed_for)
    except metadata.PackageNotFoundError:
        return Finding(name, "missing", needed_for, remedy)


def _wordnet() -> Finding:
    """Return the data of WordNet, from which METEOR takes synonyms."""
    try:
        return Finding("WordNet data", str(find_wordnet()), "meteor")
    except MissingAsset:
        return Finding("WordNet data", "missing", "meteor", REMEDY)


def _size(path: Path) -> str:
    """Return the size of a file, or that it is missing."""
    return f"{path.stat().st_size // 1024} KiB" if path.is_file() else "missing"
