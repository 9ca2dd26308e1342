"""Outputs are whole or not there, nothing is left beside them, and nothing of a stranger is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rejoinder
from rejoinder.data import outputs as atomic
from rejoinder.data.folders import Parts, read_folder, write_folder
from rejoinder.data.outputs import atomic_file, atomic_folder
from rejoinder.errors import UsageError, WriteError
from rejoinder.example import Example

EXAMPLE = Example(("Hi!",), "Hello 🙂", id="a1")


def leftovers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.csv", "a.tsv", "a.parquet"])
@pytest.mark.parametrize("stop", [RuntimeError, KeyboardInterrupt])
def test_a_failure_in_the_middle_leaves_no_file_and_keeps_the_old_one(
    tmp_path: Path, name: str, stop: type[BaseException]
) -> None:
    def broken() -> Iterator[Example]:
        yield EXAMPLE
        raise stop

    with pytest.raises(stop):
        rejoinder.write(broken(), tmp_path / name)
    assert leftovers(tmp_path) == []
    (tmp_path / name).write_text("old")
    with pytest.raises(stop):
        rejoinder.write(broken(), tmp_path / name)
    assert leftovers(tmp_path) == [name]
    assert (tmp_path / name).read_text() == "old"


def test_where_no_file_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        WriteError, match=r"nowhere/a.jsonl: its folder does not exist. Make it first: mkdir -p .*nowhere"
    ):
        rejoinder.write([EXAMPLE], tmp_path / "nowhere" / "a.jsonl")
    (tmp_path / "a.jsonl").mkdir()
    with pytest.raises(UsageError, match=r"a.jsonl: is a folder. Name a file."):
        rejoinder.write([EXAMPLE], tmp_path / "a.jsonl")
    with pytest.raises(UsageError, match=r"a.txt: unknown output format .txt. Known: .jsonl, .ndjson, .csv"):
        rejoinder.write([EXAMPLE], tmp_path / "a.txt")
    with pytest.raises(UsageError, match="Parquet goes to a file"):
        rejoinder.write([EXAMPLE], "-", format="parquet")

    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "touch", refuse)
    with pytest.raises(WriteError, match=r"b.jsonl: cannot be written \(Permission denied\). Choose another place."):
        rejoinder.write([EXAMPLE], tmp_path / "b.jsonl")


def test_a_link_stays_a_link_and_a_private_file_private(tmp_path: Path) -> None:
    (tmp_path / "real.jsonl").write_text("old")
    (tmp_path / "real.jsonl").chmod(0o600)
    (tmp_path / "link.jsonl").symlink_to("real.jsonl")
    rejoinder.write([EXAMPLE], tmp_path / "link.jsonl")
    assert (tmp_path / "link.jsonl").is_symlink()
    assert list(rejoinder.read(tmp_path / "real.jsonl")) == [EXAMPLE]
    assert (tmp_path / "real.jsonl").stat().st_mode & 0o777 == 0o600


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe, got = tmp_path / "pipe.jsonl", []
    os.mkfifo(pipe)
    thread = threading.Thread(target=lambda: got.append(pipe.read_text()), daemon=True)
    thread.start()
    rejoinder.write([EXAMPLE], pipe)
    thread.join(10)
    assert pipe.is_fifo() and json.loads(got[0])["id"] == "a1"
    with pytest.raises(UsageError, match="Parquet goes to a file"):
        rejoinder.write([EXAMPLE], pipe, format="parquet")


def test_a_file_replaces_its_elder_at_the_end_only(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    with atomic_file(tmp_path / "a") as partial:
        partial.write_text("new")
        assert (tmp_path / "a").read_text() == "old"
    assert (tmp_path / "a").read_text() == "new"
    assert leftovers(tmp_path) == ["a"]


def test_a_folder_is_made_replaced_or_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "model"
    for text in ("one", "two"):
        with atomic_folder(target, ours={"config.json"}) as partial:
            (partial / "config.json").write_text(text)
        assert (target / "config.json").read_text() == text
    with pytest.raises(RuntimeError), atomic_folder(target, ours={"config.json"}) as partial:
        raise RuntimeError
    assert (target / "config.json").read_text() == "two"
    assert leftovers(tmp_path) == ["model"]


def test_a_strangers_folder_is_not_replaced(tmp_path: Path) -> None:
    target = tmp_path / "project"
    target.mkdir()
    (target / "config.json").write_text("{}")
    (target / "thesis.tex").write_text("years of work")
    with (
        pytest.raises(
            UsageError, match=r"project: exists .*\(thesis.tex\), so it is not replaced. Choose another name."
        ),
        atomic_folder(target, ours={"config.json"}),
    ):
        pytest.fail("the block must not run")
    assert (target / "thesis.tex").read_text() == "years of work"
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(UsageError, match=r"file: is a file. Choose another name."),
        atomic_folder(tmp_path / "file", ours=()),
    ):
        pytest.fail("the block must not run")
    with (
        pytest.raises(WriteError, match="its folder does not exist. Make it first: mkdir -p"),
        atomic_folder(tmp_path / "no" / "where", ours=()),
    ):
        pytest.fail("the block must not run")


def test_a_full_disk_that_a_library_tells_in_its_own_way_is_one_too(tmp_path: Path) -> None:
    class Odd(Exception):
        pass

    with (
        pytest.raises(WriteError, match=r"out: cannot be written \(No space left on device\)"),
        atomic_file(tmp_path / "out"),
    ):
        raise Odd("parquet: underlying IO error: No space left on device (os error 28)")
    with pytest.raises(Odd), atomic_file(tmp_path / "out"):
        raise Odd("another")
    assert not list(tmp_path.iterdir())


def test_of_two_calls_into_one_new_folder_the_second_to_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import safetensors.numpy

    place, save = tmp_path / "judge", safetensors.numpy.save
    first, second = (Parts({"kind": "a", "number": number}, {"w": np.zeros(2)}) for number in (1, 2))

    def meanwhile(tensors: Any) -> bytes:
        monkeypatch.setattr(safetensors.numpy, "save", save)
        write_folder(place, first, "the first")
        return save(tensors)

    monkeypatch.setattr(safetensors.numpy, "save", meanwhile)
    with pytest.raises(UsageError, match=r"judge: a trained model is there already. .* replace it with --force"):
        write_folder(place, second, "the second")
    assert read_folder(place).digest == first.digest and leftovers(tmp_path) == ["judge"]
    place = tmp_path / "judge-2"
    monkeypatch.setattr(safetensors.numpy, "save", meanwhile)
    write_folder(place, second, "the second", force=True)
    assert read_folder(place).digest == second.digest and leftovers(tmp_path) == ["judge", "judge-2"]


def test_what_is_put_into_an_older_folder_meanwhile_is_kept(tmp_path: Path) -> None:
    target = tmp_path / "talk"
    with atomic_folder(target, ours={"a"}) as partial:
        (partial / "a").write_text("old")
    with pytest.raises(UsageError, match=r"talk: exists .*\(notes\)"), atomic_folder(target, ours={"a"}) as partial:
        (target / "notes").write_text("mine")
    assert leftovers(target) == ["a", "notes"] and leftovers(tmp_path) == ["talk"]


@pytest.mark.parametrize("name", ["n" * 249, "ü" * 124 + "n"], ids=["letters", "bytes"])
@pytest.mark.parametrize("end", [".jsonl", ".csv.gz", ".parquet"])
def test_a_name_may_be_as_long_as_the_system_allows(tmp_path: Path, name: str, end: str) -> None:
    target = tmp_path / f"{name[: 255 - len(end) - (len(name.encode()) - len(name))]}{end}"
    rejoinder.write([EXAMPLE], target)
    assert [one.response for one in rejoinder.read(target)] == [EXAMPLE.response]
    left = tmp_path / f"{atomic._hidden(target)}0123abcd.partial"
    left.write_text("half")
    os.utime(left, (0, 0))
    rejoinder.write([EXAMPLE], target)
    assert leftovers(tmp_path) == [target.name], "what a killed call has left is found"


def test_a_name_that_is_too_long_is_said_in_one_line(tmp_path: Path) -> None:
    said = r"is no name of a file or folder: too long, or with a NUL in it$"
    with pytest.raises(UsageError, match=said):
        rejoinder.write([EXAMPLE], tmp_path / f"{'n' * 256}.jsonl")
    with pytest.raises(UsageError, match=said), atomic_file(tmp_path / ("n" * 256)):
        pass
    with pytest.raises(UsageError, match=said), atomic_folder(tmp_path / ("n" * 256), ours=()):
        pass


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    with atomic_folder(tmp_path / "new", ours=()) as partial:
        (partial / "a").write_text("")
    assert leftovers(tmp_path / "new") == ["a"] and leftovers(tmp_path) == ["new"]


WRITING = """
import sys, time
from pathlib import Path
from rejoinder.data.outputs import atomic_file, atomic_folder
place = Path(sys.argv[1])
with atomic_file(place / "file") as one, atomic_folder(place / "folder", ours={"a"}) as two:
    one.write_text("half")
    (two / "a").write_text("half")
    print("there", flush=True)
    time.sleep(60)
"""


def test_what_a_killed_call_has_left_is_removed_by_the_next_and_what_is_being_written_is_not(tmp_path: Path) -> None:
    def begun() -> subprocess.Popen[str]:
        found = subprocess.Popen([sys.executable, "-c", WRITING, tmp_path], stdout=subprocess.PIPE, text=True)
        assert found.stdout is not None and found.stdout.readline() == "there\n"
        return found

    def aged() -> set[str]:
        for path in tmp_path.iterdir():
            os.utime(path, (0, 0))
        return {*leftovers(tmp_path)}

    def write() -> None:
        with atomic_file(tmp_path / "file") as one, atomic_folder(tmp_path / "folder", ours={"a"}) as two:
            one.write_text("whole")
            (two / "a").write_text("whole")

    killed, running = begun(), begun()
    killed.kill()
    killed.communicate()
    left = aged()
    write()
    kept = {*leftovers(tmp_path)} - {"file", "folder"}
    assert len(left) == 4 and len(kept) == 2 and kept < left, "the other call still writes"
    running.kill()
    running.communicate()
    for name in kept:
        os.utime(tmp_path / name)
    write()
    assert leftovers(tmp_path) == [*sorted(kept), "file", "folder"], "too young: a call may be about to lock it"
    aged()
    (tmp_path / ".file.mine.partial").write_text("")
    (tmp_path / ".other.0123abcd.partial").write_text("")
    write()
    assert leftovers(tmp_path) == [".file.mine.partial", ".other.0123abcd.partial", "file", "folder"]


def test_an_older_folder_that_was_put_aside_stays_while_it_may_be_all_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(atomic, "_YOUNG", 0.0)
    aside = tmp_path / ".talk.0123abcd.older"
    aside.mkdir()
    (aside / "a").write_text("old")
    time.sleep(0.01)
    with atomic_folder(tmp_path / "talk", ours={"a"}) as partial:
        (partial / "a").write_text("new")
    assert leftovers(tmp_path) == [aside.name, "talk"]
    with atomic_folder(tmp_path / "talk", ours={"a"}) as partial:
        (partial / "a").write_text("newer")
    assert leftovers(tmp_path) == ["talk"] and (tmp_path / "talk" / "a").read_text() == "newer"
