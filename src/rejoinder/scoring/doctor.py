"""What is installed, what is missing, and how to get it."""

from __future__ import annotations

import platform
import re
from collections.abc import Sequence
from importlib import metadata
from typing import NamedTuple

from rejoinder.assets import VECTORS, samples
from rejoinder.errors import MissingAsset
from rejoinder.report.terminal import text_table
from rejoinder.text.wordnet import REMEDY, find_wordnet
from rejoinder.version import __version__


class Finding(NamedTuple):
    """A part of the installation.

    Attributes:
        what: its name.
        found: its version or place, or "missing".
        needed_for: what does not work without it.
        remedy: how to get it; empty if it is there.
    """

    what: str
    found: str
    needed_for: str
    remedy: str = ""


def doctor() -> list[Finding]:
    """Return everything that rejoinder may need, in the order of importance; nothing is imported or fetched."""
    findings = [
        Finding("rejoinder", __version__, "everything"),
        Finding("python", platform.python_version(), "everything"),
    ]
    for requirement in metadata.requires("rejoinder") or []:
        name = re.split(r"[^A-Za-z0-9_.-]", requirement, maxsplit=1)[0]
        extra = re.search(r"extra == ['\"]([^'\"]+)['\"]", requirement)
        if extra is None:
            findings.append(_library(name, "core", "pip install --force-reinstall rejoinder"))
        elif extra[1] != "dev":
            findings.append(_library(name, f"extra {extra[1]}", f"pip install 'rejoinder[{extra[1]}]'"))
    return [*findings, _wordnet(), *_bundled()]


def doctor_table(findings: Sequence[Finding], width: int) -> str:
    """Return the findings as a table, and a last line with the verdict."""
    missing = [finding.what for finding in findings if finding.remedy]
    verdict = f"{len(missing)} missing: {', '.join(missing)}" if missing else "nothing is missing"
    table = text_table(["what", "found", "needed for", "how to get it"], findings, width, folded=(1, 2, 3))
    return f"{table}\n{verdict}\n"


def _library(name: str, needed_for: str, remedy: str) -> Finding:
    """Return a Python library by its distribution name."""
    try:
        return Finding(name, metadata.version(name), needed_for)
    except metadata.PackageNotFoundError:
        return Finding(name, "missing", needed_for, remedy)


def _wordnet() -> Finding:
    """Return WordNet's data, where METEOR finds synonyms."""
    try:
        return Finding("WordNet data", str(find_wordnet()), "meteor")
    except MissingAsset:
        return Finding("WordNet data", "missing", "meteor", REMEDY)


def _bundled() -> list[Finding]:
    """Return the samples and word vectors of the package."""
    files = [Finding(f"@{name}", f"{path.stat().st_size // 1024} KiB", "samples") for name, path in samples().items()]
    size = f"{VECTORS.stat().st_size // 1024} KiB" if VECTORS.is_file() else "missing"
    remedy = "" if VECTORS.is_file() else "pip install --force-reinstall rejoinder"
    return [*files, Finding("word vectors", size, "embedding metrics, adem", remedy)]
