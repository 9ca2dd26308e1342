"""What a person sees: on a terminal of 60 or 100 columns, with and without colour, home and a known language."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from conftest import PROJECT, Run
from rejoinder.auditing.attack import listing
from rejoinder.cli.help import COMMANDS
from rejoinder.report.terminal import narrowed, prose, text_table
from samples import few

pyte: Any = pytest.importorskip("pyte", reason="needs the terminal of the extra dev")

FEW = "dstc7.jsonl"
STUDY = ("study", FEW, "-s", "bleu-2", "-s", "length", "--resamples", "100")
CALLS = [(), ("list",), ("show", "bleu-2"), ("score", "--help"), ("score", "@dstc7", "-s", "length"), STUDY]
BAD = ("study", FEW, "-s", "bleu-2", "-s", "a-scorer-that-nobody-ever-heard-of", "--resamples", "100")


@pytest.fixture(autouse=True)
def where_few_lines_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few("@dstc7", 60, tmp_path)
    monkeypatch.chdir(tmp_path)


def environment(**changed: str | None) -> dict[str, str]:
    """Ours without what says how a terminal is, but for what is `changed`; None takes a variable away."""
    given = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    return {name: value for name, value in ({**given, "TERM": "xterm"} | changed).items() if value is not None}


def on_terminal(*arguments: str, columns: int, **changed: str | None) -> tuple[int, tuple[str, ...], bytes]:
    """Exit code, the lines that stand on the screen when all is done, and what was sent to it."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 1000, columns, 0, 0))
    call = [sys.executable, "-m", "rejoinder", *arguments]
    with subprocess.Popen(call, stdin=slave, stdout=slave, stderr=slave, env=environment(**changed)) as process:
        os.close(slave)
        sent = b""
        while chunk := _read(master):
            sent += chunk
    os.close(master)
    screen = pyte.Screen(columns, 1000)
    pyte.ByteStream(screen).feed(sent)
    return process.returncode, tuple(line.rstrip() for line in screen.display[: screen.cursor.y]), sent


def _read(master: int) -> bytes:
    """What was written since; nothing when the other side is gone."""
    try:
        return os.read(master, 65536)
    except OSError:
        return b""


@cache
def into_a_pipe(*arguments: str, columns: int) -> tuple[str, ...]:
    """The lines of standard output and then of standard error, as wide as a terminal."""
    call = [sys.executable, "-m", "rejoinder", *arguments]
    ran = subprocess.run(call, capture_output=True, encoding="utf-8", env=environment(COLUMNS=str(columns)))
    return tuple((ran.stdout + ran.stderr).splitlines())


@pytest.mark.parametrize(
    ("call", "columns"),
    [
        pytest.param(
            call,
            columns,
            id=f"{' '.join(call[:2]) or 'rejoinder'}-{columns}",
            # A study takes seconds, so that by default it is drawn once, and all else at the width that breaks more.
            marks=[pytest.mark.slow] if columns == (60 if call is STUDY else 100) else [],
        )
        for call in CALLS
        for columns in (60, 100)
    ],
)
def test_a_terminal_shows_the_output_and_nothing_else(call: tuple[str, ...], columns: int) -> None:
    """What stands there at the end is what a file would hold: no progress, no line broken by the terminal."""
    wanted = call if call[:1] != ("score",) or "--help" in call else (*call, "--format", "table")
    code, shown, _ = on_terminal(*call, columns=columns)
    assert code == 0
    assert shown == into_a_pipe(*wanted, columns=columns)
    assert max(map(len, shown)) <= columns


def test_progress_is_drawn_and_taken_back() -> None:
    _, shown, sent = on_terminal(*STUDY, columns=60)
    assert b"scoring" in sent and not any("scoring" in line for line in shown)
    assert shown[0].startswith("bleu-2 shows no significant agreement")


@pytest.mark.parametrize(
    "changed",
    [
        {"NO_COLOR": "1"},
        {"TERM": "dumb"},
        {"LANG": "C", "LC_ALL": "C"},
        {"LANG": "C", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
        {"HOME": None},
        {"HOME": "/nowhere"},
    ],
    ids=lambda changed: " ".join(f"{name}={value}" for name, value in changed.items()),
)
def test_the_same_on_odd_machines(changed: dict[str, str | None]) -> None:
    call = ("score", "@dstc7", "-s", "length")
    code, shown, sent = on_terminal(*call, columns=100, **changed)
    assert code == 0 and shown == into_a_pipe(*call, "--format", "table", columns=100)
    if changed.keys() & {"NO_COLOR", "TERM"}:
        assert b"\x1b[3" not in sent, "no colour"


def test_results_that_stream_to_a_terminal_have_no_bar_among_them() -> None:
    code, _, sent = on_terminal("score", "@dstc7", "-s", "length", "--format", "csv", columns=100)
    assert code == 0 and b"\x1b[" not in sent and sent.startswith(b"id,scores.length,")


def test_a_message_is_broken_between_words() -> None:
    code, shown, _ = on_terminal(*BAD, columns=60)
    assert code == 2 and shown == into_a_pipe(*BAD, columns=60) and len(shown) > 1
    assert " ".join(shown).startswith("rejoinder: no scorer and no folder is called 'a-scorer-that-")


# help and tables, whatever the width


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_cuts_no_word(run: Run, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    said = {}
    for columns in (40, 60, 100, 300):
        monkeypatch.setenv("COLUMNS", str(columns))
        ran = run(*filter(None, [command]), "--help")
        assert (ran.code, ran.err) == (0, "")
        said[columns] = ran
    assert len({ran.words for ran in said.values()}) == 1
    assert max(map(len, said[60].out.splitlines())) <= 60
    assert not any(typed in said[60].out for typed in ("<str>", "<int", "<path", "list[", "{FILE"))


def test_the_program_alone_tells_its_commands_by_task(run: Run) -> None:
    ran = run()
    assert (ran.code, ran.err) == (0, "") and ran == run("--help")
    tasks = [line for line in ran.out.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert tasks == [
        *("Score and compare:", "Study agreement:", "Ask people:", "Train:", "Systems that reply:"),
        *("Serve:", "Look around:", "Begin with:"),
    ]
    assert all(f"\n  {command} " in ran.out for command in COMMANDS)


@pytest.mark.parametrize("width", range(12, 120, 9))
def test_a_table_keeps_every_cell_at_every_width(width: int) -> None:
    rows = [["one", "0.107 [-0.01, 0.22]", "words that may be folded"], ["another", "–", ""]]
    text = text_table(["scorer", "Pearson [low, high]", "what comes back"], rows, width, folded=(2,))
    words = text.split()
    assert all(word in words for row in rows for cell in row for word in cell.split() if word != "–")
    if width >= 30:
        assert max(map(len, text.splitlines())) <= width
        assert "0.107 [-0.01, 0.22]" in text, "an interval is not torn apart"


def test_columns_go_one_by_one() -> None:
    header, rows = ["a", "b", "c"], [["1" * 10, "2" * 10, "3" * 10]]
    assert narrowed(header, rows, 34, ("c", "b", "none"))[0] == ["a", "b", "c"]
    assert narrowed(header, rows, 33, ("none", "c", "b")) == (["a", "b"], [["1" * 10, "2" * 10]])
    assert narrowed(header, rows, 5, ("c", "b"))[0] == ["a"]


def test_prose_goes_on_below_where_it_began() -> None:
    text = "  notes      one two three four\na line that is short\n  scorer:a|version:1|tokenizer:words-1|rejoinder:1"
    assert prose(text, 24).splitlines() == [
        *("  notes      one two", "             three four", "a line that is short"),
        *("  scorer:a|version:1|", "  tokenizer:words-1|", "  rejoinder:1"),
    ]
    assert prose(text, 200) == text


# interruption


def test_what_resumes_says_how_to_go_on(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("rejoinder.pretraining.pretrain._trained", stop)
    recipe = PROJECT / "recipes" / "vhred-tiny.toml"
    ran = run("pretrain", recipe, "@conture", "-o", tmp_path / "encoder")
    assert (ran.code, ran.out, ran.err) == (130, "", "rejoinder: interrupted; call again to go on\n")


@pytest.mark.parametrize("width", [*range(40, 130, 6), 200])
def test_no_word_of_the_list_is_lost(run: Run, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    told = set(re.split(r"\s+", run("list").out))
    for entries in listing().values():
        missing = {
            word for entry in entries for cell in entry.record.values() for word in cell.split() if len(word) < 20
        } - told
        assert not missing
