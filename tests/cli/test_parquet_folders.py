"""Folders of Parquet files in and out of `score`: the order of names, part by part, on where it was, nothing mixed."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars
import pytest

import rejoinder
from conftest import Run, refused
from rejoinder.assets import JUDGE
from rejoinder.data.part_folder import LOG

LINES = {"part-00000": 3, "part-00001": 0, "part-00002": 5, "part-00010": 2}
HINT = "Name a file; each scorer or responder needs its own -s or -r"


@pytest.fixture
def turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder as Spark leaves it: an empty part, and files that are no data."""
    monkeypatch.chdir(tmp_path)
    folder = Path("turns")
    folder.mkdir()
    for name, count in LINES.items():
        rows = {"id": [f"{name}-{n}" for n in range(count)], "response": ["word " * (n + 1) for n in range(count)]}
        polars.DataFrame(rows, schema={"id": polars.String, "response": polars.String}).write_parquet(
            folder / f"{name}.parquet"
        )
    (folder / "_SUCCESS").touch()
    (folder / ".part-00000.parquet.crc").touch()
    return folder


IDS = [f"{name}-{n}" for name, count in LINES.items() for n in range(count)]


def ids(folder: Path) -> list[str]:
    return [one for part in sorted(folder.glob("*.parquet")) for one in polars.read_parquet(part)["id"].to_list()]


def test_a_folder_is_read_in_the_order_of_its_parts(turns: Path) -> None:
    found = list(rejoinder.read(turns))
    assert [one.id for one in found] == IDS
    assert found[3].where == "turns/part-00002.parquet:row 1"


def test_a_folder_to_one_file(turns: Path, run: Run) -> None:
    assert run("score", "turns", "-s", "length", "-o", "scored.parquet").code == 0
    assert polars.read_parquet("scored.parquet")["id"].to_list() == IDS
    assert [one["id"] for one in run("score", "turns", "-s", "length").records] == IDS


def test_a_folder_to_a_folder_of_the_same_parts(turns: Path, run: Run) -> None:
    ran = run("score", "turns", "-s", "length", "-o", "scored")
    assert ran.code == 0 and ran.words.startswith("scorer scored unscored")
    out = Path("scored")
    assert sorted(path.name for path in out.iterdir()) == [LOG, *(f"{name}.parquet" for name in LINES if LINES[name])]
    assert ids(out) == IDS
    assert polars.read_parquet(out / "part-00002.parquet")["scores.length"].to_list() == [1, 2, 3, 4, 5]


def test_a_call_goes_on_where_it_was_and_does_again_what_changed(turns: Path, run: Run) -> None:
    call = ("score", "turns", "-s", "length", "-o", "scored")
    run(*call)
    out = Path("scored")
    (out / "part-00010.parquet").unlink()
    kept = (out / "part-00000.parquet").stat().st_mtime_ns
    polars.DataFrame({"id": ["new"], "response": ["a b"]}).write_parquet(turns / "part-00002.parquet")
    ran = run(*call)
    assert (ran.code, ran.err) == (0, "2 of 4 parts are there already and are left as they are\n")
    assert ids(out) == [*IDS[:3], "new", *IDS[-2:]]
    assert (out / "part-00000.parquet").stat().st_mtime_ns == kept


def test_a_finished_folder_can_be_asked_for_again(turns: Path, run: Run) -> None:
    for _ in range(2):
        ran = run("score", "turns", "-s", "length", "-o", "scored")
        assert ran.code == 0, ran.err
        assert ids(Path("scored")) == IDS


def test_a_part_that_became_empty_has_no_scores_any_more(turns: Path, run: Run) -> None:
    call = ("score", "turns", "-s", "length", "-o", "scored")
    run(*call)
    full, hollow = turns / "part-00002.parquet", turns / "part-00001.parquet"
    rows = full.read_bytes()
    full.write_bytes(hollow.read_bytes())
    assert run(*call).code == 0
    assert ids(Path("scored")) == [*IDS[:3], *IDS[-2:]]
    again = run(*call)
    assert (again.code, again.err) == (0, "4 of 4 parts are there already and are left as they are\n")
    full.write_bytes(rows)
    assert run(*call).code == 0 and ids(Path("scored")) == IDS
    (Path("scored") / full.name).unlink()  # it was empty once, and is not now
    assert run(*call).code == 0 and ids(Path("scored")) == IDS


def test_scores_of_a_part_that_is_gone_are_told(turns: Path, run: Run) -> None:
    call = ("score", "turns", "-s", "length", "-o", "scored")
    run(*call)
    (turns / "part-00002.parquet").unlink()
    said = "scored has scores of parts that are not in turns any more (part-00002.parquet): remove them\n"
    assert run(*call).err.endswith(said)


def test_a_call_goes_on_that_had_no_room_for_its_first_line(turns: Path, run: Run) -> None:
    out = Path("scored")
    out.mkdir()
    (out / LOG).write_text('{"sour')
    assert run("score", "turns", "-s", "length", "-o", "scored").code == 0
    assert ids(out) == IDS and (out / LOG).read_text().startswith('{"source": ')
    (out / LOG).write_text('{"sour')
    assert run("score", "turns", "-s", "length", "-o", "scored").code == 2, "there are parts of who knows what"


def test_a_bad_part_leaves_the_whole_ones_before_it(turns: Path, run: Run) -> None:
    (turns / "part-00002.parquet").write_bytes(b"PAR1 and no more")
    ran = run("score", "turns", "-s", "length", "-o", "scored")
    assert ran.code == 3 and "part-00002.parquet: not a readable Parquet file" in ran.err
    assert not list(Path("scored").glob(".*"))
    (turns / "part-00002.parquet").unlink()
    assert run("score", "turns", "-s", "length", "-o", "scored").code == 0
    assert len(ids(Path("scored"))) == 5


def test_no_parts_of_two_calls_in_one_folder(turns: Path, run: Run) -> None:
    run("score", "turns", "-s", "length", "-o", "scored")
    before = {path: path.read_bytes() for path in Path("scored").iterdir()}
    assert run("score", "turns", "-s", "length", "-o", "scored", "--out-of-domain", "keep").code == 2
    other = run("score", "turns", "-s", "bleu-1", "-o", "scored")
    refused(other, 2, "scored: holds parts of another call. Choose another folder, or remove this one")
    assert {path: path.read_bytes() for path in Path("scored").iterdir()} == before


def test_no_parts_with_other_names_of_scores_in_one_folder(turns: Path, run: Run) -> None:
    shutil.copytree(JUDGE, "judge")
    assert run("score", "turns", "-s", "judge", "-o", "scored").code == 5  # nothing was said before these replies
    (Path("scored") / "part-00010.parquet").unlink()
    other = run("score", "turns", "-s", "./judge", "-o", "scored")
    refused(other, 2, "scored: holds parts of another call. Choose another folder, or remove this one")


def test_an_output_that_could_destroy_is_refused(turns: Path, run: Run) -> None:
    Path("own").mkdir()
    (Path("own") / "thesis.txt").write_text("mine")
    said = "own: exists and holds what rejoinder did not write there. Choose another folder"
    refused(run("score", "turns", "-s", "length", "-o", "own"), 2, said)
    Path("file").write_text("mine")
    said = "file: is a file. Name a folder for parts, or one file with its suffix"
    refused(run("score", "turns", "-s", "length", "-o", "file"), 2, said)
    for place in ("turns", "turns/out"):
        assert run("score", "turns", "-s", "length", "-o", place).code == 2
    assert ids(turns) == IDS
    assert run("score", "turns", "-s", "length", "-o", "gone/out").code == 7


def test_a_folder_of_other_things_is_refused(turns: Path, run: Run) -> None:
    (turns / "year=2024").mkdir()
    ran = run("score", "turns", "-s", "length")
    assert (ran.code, ran.out) == (2, "") and ran.err.startswith("rejoinder: turns: holds year=2024 ")
    Path("empty").mkdir()
    refused(run("score", "empty", "-s", "length"), 4, f"empty: is a folder without .parquet files. {HINT}")


def test_of_files_no_folder_is_made(turns: Path, run: Run) -> None:
    assert run("score", "@dstc7", "-s", "length", "-o", "scored").code == 2
    assert run("score", "turns", "turns", "-s", "length", "-o", "scored").code == 2
    assert not Path("scored").exists()
