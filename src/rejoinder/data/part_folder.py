"""Output folders that are filled part by part from a folder of part files.

Each part in the folder is complete. `_rejoinder.jsonl` records the call and the finished parts, so that an interrupted
call continues, and parts of different calls never mix.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from rejoinder.data.files import parts_of
from rejoinder.data.outputs import unwritten
from rejoinder.data.write import Put, open_writer
from rejoinder.errors import UsageError
from rejoinder.example import Example

LOG = "_rejoinder.jsonl"


class PartFolder:
    """An output folder, with the names of its finished parts in `done` and the number of all parts in `count`."""

    def __init__(self, folder: Path, source: Path, noted: Mapping[str, Mapping[str, Any]], writing: ExitStack) -> None:
        self._folder, self._source, self._noted, self._writing = folder, source, noted, writing
        self.parts = parts_of(source)
        self.count = len(self.parts)
        self.done = frozenset(  # of files that have not changed since, and whose part is still there unless empty
            part.name
            for part in self.parts
            if (line := noted.get(part.name)) and line.items() >= _state(part).items()
            if (folder / part.name).exists() == bool(line["rows"])
        )
        self.written = set[str]()
        self._sources: deque[str] = deque()  # part of each example that was read and is not written yet
        self._name, self._rows = "", 0
        self._put: Put

    def noting(self, examples: Iterable[Example]) -> Iterator[Example]:
        """Yield the examples as they are read, and remember the part of each."""
        for example in examples:
            self._sources.append(Path(example.where.rpartition(":")[0]).name)
            yield example

    def put(self, record: Mapping[str, Any]) -> None:
        """Write the record of the next example to the part with the same name as its source."""
        if (name := self._sources.popleft()) != self._name:
            self.finish()
            self._name, self._put = name, self._writing.enter_context(open_writer(self._folder / name))
        self._put(record)
        self._rows += 1

    def finish(self) -> None:
        """Complete the current part and record it."""
        if self._name:
            self._writing.close()
            self.note(self._name, self._rows)
            self._name, self._rows = "", 0

    def note(self, name: str, rows: int) -> None:
        """Record a part as finished; without rows it has no file."""
        if not rows:
            (self._folder / name).unlink(missing_ok=True)
        _append(self._folder, {"part": name, "rows": rows, **_state(self._source / name)})
        self.written.add(name)

    def orphans(self) -> list[str]:
        """Return parts whose source file is gone."""
        gone = {*self._noted} - {part.name for part in self.parts}
        return sorted(name for name in gone if (self._folder / name).exists())


@contextmanager
def open_parts(folder: Path, source: Path, call: Mapping[str, Any]) -> Iterator[PartFolder]:
    """Yield a folder to fill with one part for each part of `source`.

    Args:
        folder: the output, made if missing.
        source: the folder that is read.
        call: all that determines the records; one call makes all parts of a folder.

    Raises:
        UsageError: `folder` holds something else than parts of this call.
        WriteError: it cannot be written.
    """
    call = json.loads(json.dumps({"source": str(source.resolve()), **call}))
    lines = _lines(folder)
    try:
        if lines is None:
            folder.mkdir(exist_ok=True)
            (folder / LOG).unlink(missing_ok=True)
            _append(folder, call)
        elif lines[0] != call:
            raise UsageError(f"{folder}: holds parts of another call. Choose another folder, or remove this one")
        with ExitStack() as writing:
            parts = PartFolder(folder, source, {line["part"]: line for line in (lines or [])[1:]}, writing)
            yield parts
            parts.finish()
        for part in parts.parts:
            if part.name not in parts.done | parts.written:
                parts.note(part.name, 0)
    except OSError as error:
        if error.filename is None or folder not in (Path(error.filename), Path(error.filename).parent):
            raise
        raise unwritten(folder, error) from error


def _lines(folder: Path) -> list[dict[str, Any]] | None:
    """Return the call and the finished parts of a folder, without a line that was cut off; None for a new folder."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: is a file. Name a folder for parts, or one file with its suffix")
    names = {path.name for path in folder.iterdir()} if folder.exists() else set()
    if names and LOG not in names:
        raise UsageError(f"{folder}: exists and holds what rejoinder did not write there. Choose another folder")
    lines: list[dict[str, Any]] = []
    for line in (folder / LOG).read_text(encoding="utf-8", errors="replace").splitlines() if names else ():
        with suppress(ValueError):
            lines.append(json.loads(line))
    return None if names <= {LOG} and not lines else lines or [{}]


def _append(folder: Path, line: Mapping[str, Any]) -> None:
    with (folder / LOG).open("a", encoding="utf-8") as log:
        log.write(json.dumps(line) + "\n")


def _state(part: Path) -> dict[str, int]:
    """Return size and time of a source file, by which a change is noticed."""
    stat = part.stat()
    return {"size": stat.st_size, "modified": stat.st_mtime_ns}
