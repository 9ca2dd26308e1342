"""Outputs are complete or absent, leave nothing else, and replace neither an input nor a foreign file."""

from __future__ import annotations

import errno
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

import rejoinder
from rejoinder.cli.terminal import EscapedStream, escaped_streams
from rejoinder.data.outputs import atomic_file, atomic_folder, data_output
from rejoinder.errors import RejoinderError, UsageError, WriteError
from rejoinder.example import Example

EXAMPLE = Example(("Hi!",), "Hello 🙂", id="a1")
NAMES = ["a.jsonl", "a.jsonl.gz", "a.csv", "a.tsv", "a.parquet", "a.xlsx"]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("stop", [RuntimeError, KeyboardInterrupt])
def test_a_failure_leaves_no_file_and_keeps_the_old_one(tmp_path: Path, name: str, stop: type[BaseException]) -> None:
    def broken() -> Iterator[Example]:
        yield EXAMPLE
        raise stop

    with pytest.raises(stop):
        rejoinder.write(broken(), tmp_path / name)
    assert names(tmp_path) == []
    (tmp_path / name).write_text("old")
    with pytest.raises(stop):
        rejoinder.write(broken(), tmp_path / name)
    assert names(tmp_path) == [name] and (tmp_path / name).read_text() == "old"


def test_refused_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "thesis.tex").touch()
    long = tmp_path / ("n" * 256)
    calls: list[tuple[type[RejoinderError], Callable[[], object]]] = [
        (WriteError, lambda: rejoinder.write([EXAMPLE], tmp_path / "none" / "a.jsonl")),
        (UsageError, lambda: rejoinder.write([EXAMPLE], tmp_path / "folder.jsonl")),
        (UsageError, lambda: rejoinder.write([EXAMPLE], tmp_path / "a.txt")),
        (UsageError, lambda: rejoinder.write([EXAMPLE], "-", format="parquet")),
        (UsageError, lambda: rejoinder.write([EXAMPLE], "-", format="xlsx")),
        (UsageError, lambda: rejoinder.write([EXAMPLE], tmp_path / "a.xlsx.gz")),
        (UsageError, lambda: rejoinder.write([EXAMPLE], tmp_path / "pipe", format="parquet")),
        (UsageError, lambda: rejoinder.write([EXAMPLE], long.with_suffix(".jsonl"))),
        (UsageError, lambda: filled(atomic_file(long))),
        (UsageError, lambda: filled(atomic_folder(long, ours=()))),
        (UsageError, lambda: filled(atomic_folder(tmp_path / "file", ours=()))),
        (UsageError, lambda: filled(atomic_folder(tmp_path / "foreign", ours={"a"}))),
        (WriteError, lambda: filled(atomic_folder(tmp_path / "none" / "a", ours=()))),
    ]
    before = names(tmp_path)
    for kind, call in calls:
        with pytest.raises(kind) as raised:
            call()
        assert type(raised.value) is kind and "\n" not in str(raised.value)
    assert names(tmp_path) == before and names(tmp_path / "foreign") == ["thesis.tex"]

    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "touch", refuse)
    with pytest.raises(WriteError):
        rejoinder.write([EXAMPLE], tmp_path / "b.jsonl")


def filled(place: AbstractContextManager[Path]) -> None:
    with place:
        pytest.fail("the block must not run")


def test_links_modes_and_pipes(tmp_path: Path) -> None:
    (tmp_path / "real.jsonl").write_text("old")
    (tmp_path / "real.jsonl").chmod(0o600)
    (tmp_path / "link.jsonl").symlink_to("real.jsonl")
    rejoinder.write([EXAMPLE], tmp_path / "link.jsonl")
    assert (tmp_path / "link.jsonl").is_symlink()
    assert list(rejoinder.read(tmp_path / "real.jsonl")) == [EXAMPLE]
    assert (tmp_path / "real.jsonl").stat().st_mode & 0o777 == 0o600
    pipe, got = tmp_path / "pipe.jsonl", list[str]()
    os.mkfifo(pipe)
    thread = threading.Thread(target=lambda: got.append(pipe.read_text()), daemon=True)
    thread.start()
    rejoinder.write([EXAMPLE], pipe)
    thread.join(10)
    assert pipe.is_fifo() and json.loads(got[0])["id"] == "a1"


@pytest.mark.parametrize("name", ["n" * 249, "ü" * 124 + "n"], ids=["letters", "bytes"])
@pytest.mark.parametrize("end", [".jsonl", ".csv.gz", ".parquet", ".xlsx"])
def test_a_name_as_long_as_the_system_allows(tmp_path: Path, name: str, end: str) -> None:
    target = tmp_path / f"{name[: 255 - len(end) - (len(name.encode()) - len(name))]}{end}"
    rejoinder.write([EXAMPLE], target)
    assert names(tmp_path) == [target.name]


def test_a_file_or_folder_appears_only_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    with atomic_file(tmp_path / "a") as partial:
        partial.write_text("new")
        assert (tmp_path / "a").read_text() == "old"
    assert (tmp_path / "a").read_text() == "new"
    (tmp_path / "model").mkdir()
    for text in ("one", "two"):
        with atomic_folder(tmp_path / "model", ours={"config"}) as partial:
            (partial / "config").write_text(text)
        assert (tmp_path / "model" / "config").read_text() == text
    with pytest.raises(RuntimeError), atomic_folder(tmp_path / "model", ours={"config"}):
        raise RuntimeError
    assert (tmp_path / "model" / "config").read_text() == "two" and names(tmp_path) == ["a", "model"]


def test_what_appears_in_the_meantime_is_kept(tmp_path: Path) -> None:
    with pytest.raises(UsageError), atomic_folder(tmp_path / "new", ours=()) as partial:
        (partial / "a").touch()
        (tmp_path / "new").mkdir()
        (tmp_path / "new" / "other").touch()
    with atomic_folder(tmp_path / "old", ours={"a"}) as partial:
        (partial / "a").write_text("old")
    with pytest.raises(UsageError), atomic_folder(tmp_path / "old", ours={"a"}) as partial:
        (tmp_path / "old" / "notes").touch()
    assert names(tmp_path / "new") == ["other"] and names(tmp_path / "old") == ["a", "notes"]


def test_control_characters_are_escaped_on_both_streams_but_not_in_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (tmp_path / "a").open("w+", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        with escaped_streams():
            sys.stdout.writelines(["\x1b[1m\tü\u202e", "\n"])
            assert sys.stdout.write("a\x9b\n") == 3
            assert isinstance(sys.stderr, EscapedStream) and data_output() is stream
            data_output().write("\x1b\n")
        assert sys.stdout is stream
    assert (tmp_path / "a").read_text(encoding="utf-8") == "\\u001b[1m\tü\\u202e\na\\u009b\n\x1b\n"


def test_messages_go_on_after_their_reader_has_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w", encoding="utf-8") as stream:
        escaped = EscapedStream(stream)
        escaped.write("x" * 100_000)
        escaped.flush()
        escaped.write("more")
