"""What format a file is of: by its first bytes where they tell, else by its suffix."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from rejoinder.assets import asset
from rejoinder.errors import UsageError
from rejoinder.io.evaluations.inspect_log import is_log_file
from rejoinder.io.lines import STDIN, UTF_16, open_bytes

Format = Literal["jsonl", "json", "csv", "tsv", "xlsx", "parquet", "eval"]
_SUFFIXES: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".eval": "eval",
}
# Formats that are told by their first bytes, whatever the name says.
_ZIP = b"PK\x03\x04"
_BEGINNINGS: dict[bytes, Format] = {_ZIP: "xlsx", b"PAR1": "parquet"}


def format_of(path: str | Path) -> Format:
    """The format of a file: by its first bytes where they tell, else by its suffix; JSON lines for standard input.

    Raises:
        UsageError: the suffix is of no known format.
        MissingAsset: there is no such file.
    """
    if str(path) == STDIN:
        return "jsonl"
    name = Path(asset(path))
    suffix = (Path(name.stem) if name.suffix == ".gz" else name).suffix.lower()
    first = _first_bytes(name)
    if first == _ZIP and (suffix == ".eval" or is_log_file(name)):
        return "eval"
    if first in _BEGINNINGS:
        return _BEGINNINGS[first]
    if suffix == ".txt" and first[:2] in UTF_16:  # what Excel calls "Unicode text"
        return "tsv"
    if suffix not in _SUFFIXES:
        with open_bytes(path):  # a file that is not there has no format
            pass
        raise UsageError(
            f"{path}: unknown format {suffix or '(no suffix)'}. Known: {', '.join(_SUFFIXES)}, the text formats also "
            "with .gz. Of a file by another name say what it is: --input-format csv"
        )
    return _SUFFIXES[suffix]


def _first_bytes(file: Path) -> bytes:
    """How a file begins; a pipe is not touched, and what cannot be read is for its reader to tell."""
    try:
        if not file.is_file():
            return b""
        with file.open("rb") as stream:
            return stream.read(4)
    except OSError:
        return b""
