"""What cannot be written, and what is interrupted at any moment: one line, an exit code, nothing left, nothing lost."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

import rejoinder
from conftest import Ran, Run
from rejoinder.cli.stops import _stop
from rejoinder.data.outputs import atomic_file, atomic_folder
from rejoinder.example import Example

INTERRUPTED = "rejoinder: interrupted; every output file is whole or as it was\n"
FULL = Path("/dev/full")
OURS = str(Path(rejoinder.__file__).parent)


@pytest.fixture
def rated(tmp_path: Path) -> Path:
    """A folder with 40 rated lines; `out` in it is empty."""
    examples = [
        Example(
            (f"what about {number}?",),
            "well " * (number % 6 + 1),
            quality={"overall": number % 5 + 1},
            scales={"overall": (1, 5)},
        )
        for number in range(40)
    ]
    rejoinder.write(examples, tmp_path / "rated.jsonl")
    (tmp_path / "out").mkdir()
    (tmp_path / "bot").write_text(
        f'#!{sys.executable}\nfor _ in open(0): print(\'{{"response": "yes"}}\', flush=True)\n'
    )
    (tmp_path / "bot").chmod(0o755)
    return tmp_path


def onto_full(*arguments: object) -> Ran:
    """Run a command as a process whose standard output is a device that is full."""
    if not FULL.exists():
        pytest.skip("needs /dev/full")
    with FULL.open("wb") as device:
        done = subprocess.run(
            [sys.executable, "-m", "rejoinder", *map(str, arguments)],
            stdout=device,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env=dict(os.environ),  # what the C library of pytest's own terminal adds, such as COLUMNS, stays away
            timeout=120,
            check=False,
        )
    return Ran(done.returncode, "", done.stderr)


@contextmanager
def at_most(size: int) -> Iterator[None]:
    """Let this process write files of at most `size` bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


OUTPUTS = {
    "score-jsonl": "score {0}/rated.jsonl -s length -o {0}/out/a.jsonl",
    "score-csv": "score {0}/rated.jsonl -s length -o {0}/out/a.csv",
    "score-gz": "score {0}/rated.jsonl -s length -s context-overlap -o {0}/out/a.jsonl.gz",
    "score-parquet": "score {0}/rated.jsonl -s length -o {0}/out/a.parquet",
    "study-html": "study {0}/rated.jsonl -s length --resamples 100 -o {0}/out/a.html",
    "study-csv": "study {0}/rated.jsonl -s length --resamples 100 -o {0}/out/a.csv",
    "estimate-html": "estimate {0}/rated.jsonl -s length -o {0}/out/a.html",
    "audit-html": "audit {0}/rated.jsonl -s length --family jumbled --family other-nearest -o {0}/out/a.html",
    "rerank": "rerank {0}/rated.jsonl -s column:quality.overall --at-least 1 -o {0}/out/a.jsonl",
    "respond": "respond {0}/rated.jsonl -r command:{0}/bot -o {0}/out/a.jsonl",
    "selftalk": "selftalk {0}/rated.jsonl -r command:{0}/bot --add 2 --contexts 40 -o {0}/out/talk",
    "train": "train c-adem {0}/rated.jsonl --epochs 2 -o {0}/out/judge",
}


@pytest.mark.parametrize("call", OUTPUTS.values(), ids=OUTPUTS)
def test_a_full_disk_is_one_line_and_leaves_nothing(run: Run, rated: Path, call: str) -> None:
    with at_most(400):
        done = run(*call.format(rated).split())
    assert (done.code, done.out) == (7, ""), done.err
    assert done.err.startswith("rejoinder: ") and done.err.count("\n") == 1
    assert (
        "cannot be written (File too large). Make room, also for temporary files, or choose another place." in done.err
    )
    assert ".partial" not in done.err
    assert list((rated / "out").iterdir()) == []


@pytest.mark.parametrize(
    "call", ["list", "show length", "score @conture -s length", "score @conture -s length -o /dev/full --format jsonl"]
)
def test_a_full_device_is_told_too(call: str) -> None:
    done = onto_full(*call.split())
    assert (done.code, done.err.count("\n")) == (7, 1), done.err
    assert "cannot be written (No space left on device)" in done.err


@pytest.mark.parametrize("name", ["a.jsonl", "judge"])
def test_an_older_output_is_kept(run: Run, rated: Path, name: str) -> None:
    train = ("train", "c-adem", rated / "rated.jsonl", "--epochs", 2, "-o", rated / "out" / name, "--force")
    score = ("score", rated / "rated.jsonl", "-s", "length", "-o", rated / "out" / name)
    call = train if name == "judge" else score
    assert run(*call).code == 0
    before = contents(rated / "out")
    with at_most(400):
        assert run(*call).code == 7
    assert contents(rated / "out") == before


@pytest.mark.skipif(not os.path.ismount("/sys"), reason="needs a folder that nobody may write to")
@pytest.mark.parametrize("call", OUTPUTS.values(), ids=OUTPUTS)
def test_no_right_to_write_is_one_line(run: Run, rated: Path, call: str) -> None:
    done = run(*(part.replace("{0}/out", "/sys").format(rated) for part in call.split()))
    assert (done.code, done.out) == (7, ""), done.err
    assert done.err.startswith("rejoinder: /sys/") and done.err.count("\n") == 1
    assert "cannot be written (" in done.err


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@contextmanager
def at_call(number: int, within: str = OURS) -> Iterator[Callable[[], int]]:
    """Interrupt at the call of that number of a function of ours; yields how many calls there were."""
    seen, sent = 0, list[int]()

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal seen
        if event == "call" and frame.f_code.co_filename.startswith(within):
            seen += 1
            if seen >= number > 0 and not sent and signal.getsignal(signal.SIGINT) is _stop:
                sent.append(seen)
                signal.raise_signal(signal.SIGINT)

    sys.setprofile(count)
    try:
        yield lambda: seen
    finally:
        sys.setprofile(None)


def interrupted(run: Run, call: list[str], number: int, within: str = OURS) -> Ran:
    with at_call(number, within):
        return run(*call)


@pytest.mark.parametrize(
    "call", [OUTPUTS[name] for name in ("study-html", "study-csv", "score-csv", "audit-html", "train")]
)
def test_an_interruption_at_any_moment_leaves_nothing(
    run: Run, rated: Path, call: str, request: pytest.FixtureRequest
) -> None:
    arguments = call.format(rated).split()
    out = rated / "out"
    with at_call(0) as calls:
        assert run(*arguments).code == 0
        total = calls()
    whole = contents(out)
    steps, ends = (12, 4) if request.config.getoption("--slow") else (5, 1)
    moments = {*range(1, ends), *range(1, total, max(total // steps, 1)), *range(total - ends, total)}
    for number in sorted(moments):
        clear(out)
        done = interrupted(run, arguments, number)
        assert (done.code, done.err) in ((130, INTERRUPTED), (0, "")), number
        assert contents(out) in ({}, whole) if done.code else contents(out) == whole, number
        assert len(list(out.iterdir())) <= 1, number


@pytest.mark.parametrize("name", ["study-html", "score-jsonl", pytest.param("train", marks=pytest.mark.slow)])
@pytest.mark.parametrize("old", [False, True])
def test_an_interruption_while_writing_leaves_all_as_it_was(run: Run, rated: Path, name: str, old: bool) -> None:
    arguments = [*OUTPUTS[name].format(rated).split(), *(["--force"] if name == "train" else [])]
    within, out = f"{OURS}/data/outputs.py", rated / "out"
    with at_call(0, within) as calls:
        assert run(*arguments).code == 0
        total = calls()
    whole = contents(out)
    assert total > 4
    for number in range(1, total + 1):
        if not old:
            clear(out)
        done = interrupted(run, arguments, number, within)
        assert (done.code, done.err) in ((130, INTERRUPTED), (0, "")), number
        assert contents(out) in ([whole] if old else [{}, whole]), number
        assert len(list(out.iterdir())) <= 1, number


def clear(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


def test_a_replaced_folder_comes_back_where_the_exchange_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "model"
    with atomic_folder(target, ours=("a",)) as partial:
        (partial / "a").write_text("old")
    rename, done = Path.rename, []

    def stop(self: Path, other: Path) -> Path:
        done.append(other)
        if len(done) == 2:
            raise KeyboardInterrupt
        return rename(self, other)

    monkeypatch.setattr(Path, "rename", stop)
    with pytest.raises(KeyboardInterrupt), atomic_folder(target, ours=("a",)) as partial:
        (partial / "a").write_text("new")
    assert contents(tmp_path) == {"model/a": b"old"}


def test_a_file_that_cannot_be_read_is_not_taken_for_a_full_disk(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), atomic_file(tmp_path / "a"):
        (tmp_path / "gone").read_text()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_json_of_a_study_goes_nowhere_on_a_full_device(rated: Path) -> None:
    done = onto_full("study", rated / "rated.jsonl", "-s", "length", "--resamples", 100, "--json")
    assert done.code == 7 and done.err.count("\n") == 1
    assert json.loads((rated / "rated.jsonl").read_text().splitlines()[0])


def test_an_interruption_while_the_program_loads_is_one_too() -> None:
    program = (
        "import builtins, sys\n"
        "from rejoinder.__main__ import main\n"
        "load = builtins.__import__\n"
        "def stopped(name, *given):\n"
        "    if name == 'typer': raise KeyboardInterrupt\n"
        "    return load(name, *given)\n"
        "builtins.__import__ = stopped\n"
        "sys.argv = ['rejoinder', 'list']\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "rejoinder: interrupted; nothing was begun\n")
