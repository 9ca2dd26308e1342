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

import polars
import pytest

import rejoinder
from rejoinder.cli.terminal import EscapedStream, escaped_streams
from rejoinder.data import outputs
from rejoinder.data.outputs import atomic_file, atomic_folder, data_output, require_apart
from rejoinder.data.part_folder import LOG, open_parts
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


def test_what_appears_in_the_meantime_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError), atomic_folder(tmp_path / "new", ours=()) as partial:
        (partial / "a").touch()
        (tmp_path / "new").mkdir()
        (tmp_path / "new" / "other").touch()
    with atomic_folder(tmp_path / "old", ours={"a"}) as partial:
        (partial / "a").write_text("old")
    with pytest.raises(UsageError), atomic_folder(tmp_path / "old", ours={"a"}) as partial:
        (tmp_path / "old" / "notes").touch()
    assert names(tmp_path / "new") == ["other"] and names(tmp_path / "old") == ["a", "notes"]
    (tmp_path / "old" / "notes").unlink()
    rename, calls = Path.rename, list[Path]()

    def interrupted(source: Path, target: Path) -> Path:
        calls.append(source)
        if len(calls) == 3:  # the old folder is aside, the new one not yet in its place
            raise KeyboardInterrupt
        return rename(source, target)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt), atomic_folder(tmp_path / "old", ours={"a"}) as partial:
        (partial / "a").write_text("new")
    assert (tmp_path / "old" / "a").read_text() == "old" and names(tmp_path) == ["new", "old"]


def test_a_full_disk_is_named_and_other_errors_pass(tmp_path: Path) -> None:
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    for error in (full, RuntimeError(f"parquet: {full.strerror} (os error 28)")):
        with pytest.raises(WriteError) as raised, atomic_file(tmp_path / "out"):
            raise error
        assert str(tmp_path / "out") in str(raised.value)
    for error in (FileNotFoundError(errno.ENOENT, "of an input"), RuntimeError("another")):
        with pytest.raises(type(error)) as other, atomic_file(tmp_path / "out"):
            raise error
        assert other.value is error
    assert names(tmp_path) == []


def test_unfinished_outputs_are_removed_after_an_interruption(tmp_path: Path) -> None:
    with atomic_file(tmp_path / "a") as file, atomic_folder(tmp_path / "b", ours=()) as folder:
        file.write_text("half")
        (folder / "c").write_text("half")
        outputs.remove_unfinished()
        assert names(tmp_path) == []
        file.touch()
        folder.mkdir()
    assert names(tmp_path) == ["a", "b"]


def test_no_output_takes_the_place_of_an_input_or_another_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("in", "out"):
        Path(folder).mkdir()
    Path("in/a").touch()
    Path("link").symlink_to("in/a")
    Path("door").symlink_to("in")
    os.link("in/a", "hard")
    apart = [(["out/a"], ["in/a", "none"]), (["-", "/dev/null"], ["-"]), (["out/a", "out/b"], ["in"]), (["a"], ["ab"])]
    for outs, ins in apart:
        require_apart(outs, ins)
    together = [
        *((["in/a"], ["in/a"]), (["link"], ["in/a"]), (["in/a"], ["link"]), (["hard"], ["in/a"])),
        *((["door/a"], ["in/a"]), (["in/b"], ["in"]), (["in"], ["in/a"]), (["door"], ["in/a"])),
        *((["out/a", "out/a"], []), (["out", "out/a"], []), (["out/a", "out"], []), (["none/a", "none"], [])),
    ]
    for outs, ins in together:
        with pytest.raises(UsageError):
            require_apart(outs, ins)
    monkeypatch.setattr(os, "fstat", lambda _: Path("in/a").stat())
    with pytest.raises(UsageError):
        require_apart(["in/a"], ["-"])


def test_a_folder_of_parts_continues_and_repeats_what_changed(tmp_path: Path) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    source.mkdir()
    for name, texts in (("a", ["1", "2"]), ("b", ["3", "4"]), ("c", [])):
        polars.DataFrame({"id": texts, "response": texts}, schema_overrides={"id": polars.String}).write_parquet(
            source / f"{name}.parquet"
        )

    def fill(stop: int = 99, **call: str) -> set[str]:
        with open_parts(out, source, call) as parts:
            before = {*parts.done}
            todo = [path for path in parts.parts if path.name not in before]
            examples = (example for path in todo for example in rejoinder.read(path, on_bad=lambda _: None))
            for count, example in enumerate(parts.noting(examples)):
                if count == stop:
                    raise KeyboardInterrupt
                parts.put({"id": example.id})
        return before

    with pytest.raises(KeyboardInterrupt):
        fill(3)
    assert names(out) == [LOG, "a.parquet"], "the second part was not finished"
    assert fill() == {"a.parquet"} and names(out) == [LOG, "a.parquet", "b.parquet"]
    (out / "b.parquet").unlink()
    polars.DataFrame({"id": ["9"], "response": ["9"]}).write_parquet(source / "a.parquet")
    assert fill() == {"c.parquet"}
    assert polars.read_parquet(out / "*.parquet")["id"].to_list() == ["9", "3", "4"]
    (source / "b.parquet").unlink()
    with open_parts(out, source, {}) as parts:
        assert (parts.done, parts.count, parts.orphans()) == ({"a.parquet", "c.parquet"}, 2, ["b.parquet"])
    with pytest.raises(UsageError):
        fill(model="another")
    (out / LOG).unlink()
    with pytest.raises(UsageError):
        fill()


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
