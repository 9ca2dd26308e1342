"""What a command asks of the system, watched by strace: no socket, no file outside outputs and temporary folder."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

STRACE = shutil.which("strace")
# Every call that makes, changes or removes a file, and every call of the network.
CHANGING = (
    "creat,mkdir,mkdirat,mknod,mknodat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,rmdir,"
    "truncate,chmod,fchmodat,chown,lchown,fchownat,utimensat"
)
OPENING = "open,openat"
FOR_WRITING = re.compile(r"O_(?:WRONLY|RDWR|CREAT|TRUNC|TMPFILE)")
CALL = re.compile(r"(?P<name>\w+)\((?P<given>.*)\) += ")
# `openat(3</a/folder>, "name"`: the name is inside the folder that the number stands for, or inside the present one.
PLACE = re.compile(r'(?:(?:AT_FDCWD|\d+)<(?P<folder>[^>]*)>, )?"(?P<name>[^"]*)"')
DEVICES = {"/dev/null", "/dev/tty"}
# joblib, which comes with nltk and scikit-learn, makes a named semaphore on import to see whether it can.
SEMAPHORES = ("/dev/shm/sem.",)


@dataclass(frozen=True)
class Watched:
    """What a command did: the calls of the network, and every path that it made, changed or removed."""

    code: int
    said: str
    sockets: list[str]
    touched: set[str]


@pytest.fixture(scope="module")
def strace() -> str:
    if STRACE is None:
        pytest.skip("needs strace (Debian: apt-get install strace)")
    tried = subprocess.run([STRACE, "-f", "-o", os.devnull, "true"], capture_output=True, check=False)
    if tried.returncode:
        pytest.skip("strace may not watch processes here")
    return STRACE


def watch(strace: str, place: Path, *arguments: str) -> Watched:
    """Run a command in the folder `place`, with `place/home` as HOME and `place/tmp` for temporary files."""
    for folder in ("home", "tmp", "log"):
        (place / folder).mkdir(exist_ok=True)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(place / "home"),
        "TMPDIR": str(place / "tmp"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    wanted = f"trace=%network,{OPENING},{CHANGING}"
    watching = [strace, "-ff", "-qq", "-y", "-s", "4096", "-e", wanted, "-o", str(place / "log" / "calls")]
    ran = subprocess.run(
        [*watching, sys.executable, "-m", "rejoinder", *arguments],
        cwd=place,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    lines = [line for log in (place / "log").iterdir() for line in log.read_text(errors="replace").splitlines()]
    shutil.rmtree(place / "log")
    calls = [found for line in lines if (found := CALL.match(line))]
    assert any(call["name"] == "openat" for call in calls), "the program itself is read by openat"
    known = {*OPENING.split(","), *CHANGING.split(",")}
    sockets = [call[0] for call in calls if call["name"] not in known]
    return Watched(ran.returncode, ran.stderr, sockets, _touched(place, calls))


def _touched(place: Path, calls: list[re.Match[str]]) -> set[str]:
    """The paths that were opened for writing, made, renamed or removed, whether or not the system let it happen."""
    touched = set()
    for call in calls:
        if call["name"] in OPENING.split(",") and not FOR_WRITING.search(call["given"]):
            continue
        for found in PLACE.finditer(call["given"]):
            path = os.path.normpath(Path(found["folder"] or place) / found["name"])
            if path not in DEVICES:
                touched.add(path)
    return touched


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with two systems' replies to the same contexts, rated."""
    for system, quality in (("a", 2), ("b", 4)):
        with (tmp_path / f"{system}.jsonl").open("w", encoding="utf-8") as lines:
            for number in range(60):
                line = {
                    "context": [f"what do you think of film {number}?"],
                    "response": f"i liked it, {system} said, {'very ' * (number % 5)}much",
                    "references": ["it was a good film"],
                    "quality": {"overall": quality + number % 2},
                    "scale": [1, 5],
                    "system": system,
                }
                lines.write(json.dumps(line) + "\n")
    return tmp_path


COMMANDS = {
    "score": "score a.jsonl -o out/scored.jsonl",
    "score-everything": "score a.jsonl -s rejoinder -s bleu-2 -s rouge-l -s embedding-greedy -o out/scored.csv",
    "study": "study a.jsonl b.jsonl -s rejoinder -s bleu-2 --resamples 100 -o out/study.html -o out/study.csv",
    "train": "train panel a.jsonl b.jsonl -o out/judge",
    "compare": "compare a.jsonl b.jsonl --resamples 100",
    "estimate": "estimate a.jsonl b.jsonl -s bleu-2 --plan 0.1 -o out/estimate.html -o out/estimate.csv",
    "audit": "audit a.jsonl --limit 40 -o out/audit.html -o out/audit.csv",
}


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_no_socket_and_no_file_outside_the_outputs(strace: str, place: Path, command: str) -> None:
    (place / "out").mkdir()
    watched = watch(strace, place, *command.split())
    assert watched.code == 0, watched.said
    assert watched.sockets == []
    allowed = (f"{place}/out/", f"{place}/tmp", *SEMAPHORES)
    assert [path for path in sorted(watched.touched) if not path.startswith(allowed)] == []
    assert list((place / "home").iterdir()) == []
    assert list((place / "tmp").iterdir()) == [], "temporary files go when the command ends"
    assert not [path for path in watched.touched if path.startswith(SEMAPHORES) and Path(path).exists()]


def test_the_watch_sees_what_it_must(strace: str, place: Path) -> None:
    """A socket and a file outside are found, or the tests above prove nothing."""
    replier = place / "replier.py"
    replier.write_text(
        "import json, socket, sys\n"
        "socket.socket().close()\n"
        f"open({str(place / 'home' / 'left')!r}, 'w').close()\n"
        "for line in sys.stdin:\n"
        "    print(json.dumps({'response': 'ok'}), flush=True)\n"
    )
    (place / "out").mkdir()
    program = f"command:{sys.executable} {replier}"
    watched = watch(strace, place, "respond", "a.jsonl", "-r", program, "-o", "out/replies.jsonl")
    assert any("AF_INET" in call for call in watched.sockets), watched
    assert str(place / "home" / "left") in watched.touched
