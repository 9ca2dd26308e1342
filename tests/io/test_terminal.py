"""What data holds is shown on a terminal and never done by it: colours, titles, moved cursors, turned writing."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rejoinder
from conftest import Run
from rejoinder.cli.terminal import EscapedStream, escape_controls
from rejoinder.example import Example

EVIL = "\x1b]0;owned\x07\x1b[31mred\x9b2J\rover\x08\x7f\u202egnp.exe\u2066"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
pty = pytest.importorskip("pty", reason="needs a system with pseudo-terminals")


@given(st.text())
def test_nothing_that_a_terminal_obeys_is_left_and_json_means_the_same(text: str) -> None:
    assert not OBEYED.search(escape_controls(text))
    assert json.loads(escape_controls(json.dumps(text, ensure_ascii=False))) == text
    assert escape_controls(escape_controls(text)) == escape_controls(text)


def test_what_is_no_control_character_stays() -> None:
    text = "tab\tline\nשלום عربي 🙂 e\u0301 \u200d‍ “quotes” –"
    assert escape_controls(text) == text
    assert escape_controls("\x1b[1m") == "\\u001b[1m"


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """Two systems' rated replies in which every text is evil, and other files that go wrong in evil ways."""
    for system in ("a", "b"):
        examples = [
            Example(
                (f"{EVIL} {number}",),
                f"{EVIL} {system} {number % 7}",
                references=(f"{EVIL} fine",),
                id=f"{EVIL}{number}",
                system=f"{EVIL}{system}",
                dataset=f"{EVIL}set",
                context_id=f"{EVIL}{number}",
                quality={"overall": number % 5},
                scales={"overall": (0, 4)},
                extra={EVIL: EVIL},
            )
            for number in range(30)
        ]
        rejoinder.write(examples, tmp_path / f"{system}.jsonl")
    (tmp_path / "bad.jsonl").write_text(json.dumps({"responses": EVIL, EVIL: 1}) + "\n")
    (tmp_path / f"{EVIL.replace('/', '')}.jsonl").write_text("{\n")
    return {
        "a": str(tmp_path / "a.jsonl"),
        "b": str(tmp_path / "b.jsonl"),
        "bad": str(tmp_path / "bad.jsonl"),
        "evil": str(tmp_path / f"{EVIL}.jsonl"),
        "judge": str(tmp_path / "judge"),
    }


CALLS = {
    "score {a} -s length --format table": 0,
    "score {a} -s {a}" + EVIL: 2,
    "score {bad} -s length": 3,
    "score {bad} {a} -s length --on-error skip --format table": 0,
    "score {evil} -s length": 3,
    "score {a} -s length -o /nowhere/" + EVIL + ".jsonl": 7,
    "score {a} -s length --" + EVIL: 2,
    "score {a} -s rejoinder --format " + EVIL: 2,
    "study {a} -s length -s context-overlap --resamples 100 --all": 0,
    "study {a} -s length --resamples 100 --json": 0,
    "study {a} -s length --dimension " + EVIL: 3,
    "compare {a} {b} -s length --resamples 100": 0,
    "compare {a} {b} -s length --resamples 100 --json": 0,
    "show " + EVIL: 2,
    EVIL: 2,
}


@pytest.mark.parametrize(("call", "code"), CALLS.items(), ids=range(len(CALLS)))
def test_no_command_hands_a_terminal_what_data_holds(run: Run, files: dict[str, str], call: str, code: int) -> None:
    done = run(*(part.format_map(files) for part in call.split(" ")))
    assert done.code == code, done.err
    for name, said in (("output", done.out), ("messages", done.err)):
        assert not OBEYED.search(said), f"{name}: {said!r}"


def test_the_card_of_a_strange_judge_does_nothing(run: Run, files: dict[str, str]) -> None:
    assert run("train", "c-adem", files["a"], files["b"], "-o", files["judge"]).code == 0
    (Path(files["judge"]) / "card.md").write_text(f"# {EVIL}\n", encoding="utf-8")
    shown = run("show", files["judge"])
    assert "]0;owned" in shown.out and not OBEYED.search(shown.out + shown.err)


def onto_a_terminal(arguments: Sequence[str]) -> tuple[str, str]:
    """What a command writes to a terminal of 100 columns: standard output, standard error."""
    outer, inner = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "rejoinder", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=inner,
        stderr=subprocess.PIPE,
        env={**os.environ, "COLUMNS": "100"},
    ) as process:
        os.close(inner)
        written = b""
        while True:
            try:
                part = os.read(outer, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            written += part
        os.close(outer)
        said = process.stderr.read().decode() if process.stderr else ""
    return written.decode(), said


@pytest.mark.parametrize("wanted", ["table", "jsonl", "csv"])
def test_records_on_a_terminal_do_nothing_and_in_a_pipe_are_whole(files: dict[str, str], wanted: str) -> None:
    arguments = ["score", files["a"], "-s", "length", "--format", wanted]
    shown, _ = onto_a_terminal(arguments)
    assert "owned" in shown and not OBEYED.search(shown.replace("\r\n", "\n"))
    if wanted == "table":
        return
    piped = subprocess.run(
        [sys.executable, "-m", "rejoinder", *arguments], capture_output=True, encoding="utf-8", check=True
    ).stdout
    assert "\x9b2J" in piped, "a program that reads it gets every character"


def test_writing_behind_it_counts_as_before(tmp_path: Path) -> None:
    with (tmp_path / "a").open("w", encoding="utf-8") as stream:
        covered = EscapedStream(stream)
        assert covered.write("a\x1b") == 2
        covered.writelines(["b\n", "\x9b"])
        assert covered.name == stream.name
    assert (tmp_path / "a").read_text(encoding="utf-8") == "a\\u001bb\n\\u009b"
