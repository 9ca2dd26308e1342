"""Output folders that are filled part by part, from folders of part files.

A part that stands there is whole. Beside the parts lies `_rejoinder.jsonl`, which says what call made them and of which
files, so that a call that was ended goes on where it was, and no other call mixes its parts with them.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from rejoinder.data.outputs import unwritten
from rejoinder.data.write import open_writer
from rejoinder.errors import UsageError
from rejoinder.example import Example
from rejoinder.io.parts import parts_of

LOG = "_rejoinder.jsonl"


class PartFolder:
    """An output folder that is filled part by part.

    Args:
        folder: where to; it is there.
        source: the folder that is read.
        done: names of the parts that are there already.
        count: how many parts there will be.
        current: holds the part that is being written.
    """

    def __init__(self, folder: Path, source: Path, done: frozenset[str], count: int, current: ExitStack) -> None:
        self._folder, self._source, self._current = folder, source, current
        self.done, self.count = done, count
        self.made = set[str]()
        self._coming: deque[str] = deque()  # of each record that was read and is not written yet, its part
        self._name, self._rows = "", 0
        self._put: Callable[[Mapping[str, Any]], None]

    def noting(self, examples: Iterable[Example]) -> Iterator[Example]:
        """The examples of the source as they are read; of each it is kept which part it came from."""
        for example in examples:
            self._coming.append(Path(example.where.rpartition(":")[0]).name)
            yield example

    def put(self, record: Mapping[str, Any]) -> None:
        """Write the record of the next example, to a part of the same name as the one it came from."""
        name = self._coming.popleft()
        if name != self._name:
            self.finish()
            self._put = self._current.enter_context(open_writer(self._folder / name))
            self._name = name
        self._put(record)
        self._rows += 1

    def finish(self) -> None:
        """Put the part that is being written in its place, and write down that it is done."""
        if not self._name:
            return
        self._current.close()
        _note(self._folder, {"part": self._name, "rows": self._rows, **_state(self._source / self._name)})
        self.made.add(self._name)
        self._name, self._rows = "", 0

    def orphans(self) -> list[str]:
        """Parts that this call made of files that are gone; whose they are is not ours to decide, so they stay."""
        noted = {line["part"] for line in _lines(self._folder / LOG)[1:]}
        coming = {part.name for part in parts_of(self._source)}
        return sorted(name for name in noted - coming if (self._folder / name).is_file())


@contextmanager
def open_parts(folder: Path, source: Path, call: Mapping[str, Any]) -> Iterator[PartFolder]:
    """Yield an output folder to fill from the folder `source`; its last part is in place when the block ends well.

    Args:
        folder: where to; made where it is not there.
        source: the folder that is read.
        call: what decides the records; the parts of a folder are all made by one.

    Raises:
        UsageError: `folder` holds what this call did not write there.
        WriteError: it cannot be made or written to.
    """
    asked = {"source": str(source.resolve()), **call}
    done = _done(folder, source, asked)
    if done is None:
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise unwritten(folder, error) from error
        _note(folder, asked)
    with ExitStack() as current:
        parts = PartFolder(folder, source, done or frozenset(), len(parts_of(source)), current)
        yield parts
        parts.finish()
    for part in parts_of(source):
        if part.name not in parts.done and part.name not in parts.made:  # it holds nothing, any more
            _remove(folder / part.name)
            _note(folder, {"part": part.name, "rows": 0, **_state(part)})


def _done(folder: Path, source: Path, asked: Mapping[str, Any]) -> frozenset[str] | None:
    """The parts that this call has made in the folder, of files that are as they were; None where it has not begun.

    Raises:
        UsageError: something else was written there.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: is a file. Parts of a folder go to a folder; one file is named with its suffix")
    if not folder.exists() or not any(folder.iterdir()):
        return None
    if not (folder / LOG).is_file():
        raise UsageError(f"{folder}: exists and holds what rejoinder did not write there. Choose another folder")
    called, *lines = _lines(folder / LOG)
    if not called and [path.name for path in folder.iterdir()] == [LOG]:  # the disk was full at once
        (folder / LOG).unlink()
        return None
    if called != json.loads(json.dumps(asked)):
        raise UsageError(f"{folder}: holds parts of another call. Choose another folder, or remove this one")
    made = {line["part"]: line for line in lines}  # the last word about each
    found = {path.name for path in folder.iterdir()}
    return frozenset(
        part.name
        for part in parts_of(source)
        if (line := made.get(part.name)) and line.items() >= _state(part).items()
        if (part.name in found) == bool(line["rows"])
    )


def _lines(log: Path) -> list[dict[str, Any]]:
    """What is written down; a line that was cut off is none, and an empty first one is no call of ours."""
    found: list[dict[str, Any]] = []
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found or [{}]


def _note(folder: Path, line: Mapping[str, Any]) -> None:
    """Write a line into the log.

    Raises:
        WriteError: the system does not take it.
    """
    try:
        with (folder / LOG).open("a", encoding="utf-8") as log:
            log.write(json.dumps(line) + "\n")
    except OSError as error:
        raise unwritten(folder / LOG, error) from error


def _remove(part: Path) -> None:
    """Take away what was made of an earlier file of that name.

    Raises:
        WriteError: the system does not let us.
    """
    try:
        part.unlink(missing_ok=True)
    except OSError as error:
        raise unwritten(part, error) from error


def _state(part: Path) -> dict[str, int]:
    """By what it is told that a file is not the one that was read."""
    found = part.stat()
    return {"size": found.st_size, "modified": found.st_mtime_ns}
