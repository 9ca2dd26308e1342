"""The command line as a process of its own: exit codes, pipes, signals, encodings, what it loads."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rejoinder import annotate
from studies import rate_all, raters, replies

PROGRAM = (sys.executable, "-m", "rejoinder")
ENVIRONMENT = {**os.environ, "PYTHONWARNINGS": "error"}
LINE = json.dumps({"response": "word " * 20}) + "\n"


def call(*arguments: str | Path, given: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *map(str, arguments)],
        input=given,
        capture_output=True,
        encoding="utf-8",
        env={**ENVIRONMENT, **variables},
        timeout=60,
        check=False,
    )


def test_exit_codes_reach_the_shell(tmp_path: Path) -> None:
    for arguments, given, code in (
        (("score", "-", "-s", "length"), '{"response": "a"}\n', 0),
        (("score", "-", "-s", "blue"), "", 2),
        (("score", "-", "-s", "length"), "{\n", 3),
        (("score", tmp_path / "gone.csv", "-s", "length"), "", 4),
        (("score", "-", "-s", "context-overlap"), '{"response": "a"}\n', 5),
    ):
        ran = call(*arguments, given=given)
        assert ran.returncode == code, ran.stderr
        assert ran.stderr.count("\n") == (code != 0)
        assert "Traceback" not in ran.stderr


def test_nothing_but_results_goes_to_standard_output() -> None:
    ran = call("score", "@dstc7", "-s", "length")
    assert ran.stderr == "", "no progress where standard error is no terminal"
    assert all(set(json.loads(line)) >= {"id", "scores", "unscored"} for line in ran.stdout.splitlines())


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
def test_results_are_utf_8_whatever_the_locale(encoding: str) -> None:
    ran = call("score", "-", "-s", "length", given='{"response": "🙂 é"}\n', PYTHONIOENCODING=encoding)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["response"] == "🙂 é"
    assert "──" in call("list", PYTHONIOENCODING=encoding).stdout


def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(LINE * 5000)
    command = f"'{sys.executable}' -m rejoinder score '{tmp_path}/a.jsonl' -s length | head -1; echo ${{PIPESTATUS[0]}}"
    ran = subprocess.run(["bash", "-c", command], capture_output=True, encoding="utf-8", timeout=60, check=True)
    first, code = ran.stdout.splitlines()
    assert json.loads(first)["scores"] == {"length": 20.0}
    assert (code, ran.stderr) == ("0", "")


def test_an_interruption_while_arguments_are_read_is_told_like_any_other() -> None:
    code = (
        "import rejoinder.cli as c, rejoinder.cli.help as h\n"
        "def stopped(*_): raise KeyboardInterrupt\n"
        "h.Command.parse_args = stopped\n"
        "c.main(['score', '@conture'])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=False)
    assert (ran.returncode, ran.stderr) == (130, "rejoinder: interrupted; every output file is whole or as it was\n")


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A line of bash in a folder, in which `rejoinder` is the program."""
    program = f"rejoinder() {{ '{sys.executable}' -m rejoinder \"$@\"; }}; "
    return subprocess.run(
        ["bash", "-c", program + line], cwd=folder, env=ENVIRONMENT, capture_output=True, encoding="utf-8", check=False
    )


@pytest.fixture
def systems(tmp_path: Path) -> Path:
    """Two systems' replies to the same contexts: b copies the references, a does not."""
    for name, said in (("a", "no no no no"), ("b", "so it is {}")):
        lines = [
            {"context": [f"is it {n}?"], "response": said.format(n), "references": [f"so it is {n}"]} for n in range(30)
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


def test_a_gate_and_its_outputs_do_not_depend_on_who_reads_the_messages(systems: Path) -> None:
    (systems / "page.html").write_text("old")
    call = "rejoinder compare b.jsonl a.jsonl -s bleu-2 --fail-under 0 -o page.html"
    for ending in ("2>&1 | true", "| true", "| head -1", "2>&1 >&- | true"):
        ran = shell(f"{call} {ending}; exit ${{PIPESTATUS[0]}}", systems)
        assert ran.returncode == 6, (ending, ran.stderr)
    assert (systems / "page.html").read_text().startswith("<!doctype html>")


def test_a_closed_stream_is_none_that_is_missed(systems: Path) -> None:
    ran = shell("rejoinder score a.jsonl -s length -o out.jsonl >&-", systems)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert len((systems / "out.jsonl").read_text().splitlines()) == 30
    assert shell("rejoinder score nosuch.jsonl 2>&-", systems).returncode == 4
    assert len(shell("rejoinder score a.jsonl -s length 2>&-", systems).stdout.splitlines()) == 30


@pytest.mark.parametrize(
    "call",
    [
        "score a.jsonl -s length",
        "score a.jsonl -s length -o -",
        "study a.jsonl -s length --resamples 100",
        "compare a.jsonl b.jsonl -s bleu-2 --resamples 100",
        "list",
        "list --json",
        "--version",
    ],
)
def test_results_that_cannot_be_written_are_an_error(systems: Path, call: str) -> None:
    text = (systems / "a.jsonl").read_text()
    lines = [json.loads(line) | {"quality": {"overall": 1 + n % 5}} for n, line in enumerate(text.splitlines())]
    (systems / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    ran = shell(f"rejoinder {call} >&-", systems)
    assert ran.returncode == 7, ran.stderr
    assert "standard output: cannot be written (it is closed)" in " ".join(ran.stderr.split())


def test_a_closed_standard_input_is_an_empty_one(systems: Path) -> None:
    closed, empty = (shell(f"rejoinder score - -s length {end}", systems) for end in ("<&-", "< /dev/null"))
    assert closed.returncode == empty.returncode == 3 and closed.stderr == empty.stderr
    assert shell("rejoinder score a.jsonl -s length <&-", systems).returncode == 0
    assert shell("rejoinder list <&-", systems).returncode == 0


def test_a_file_never_takes_the_number_of_a_closed_stream(systems: Path) -> None:
    """Else a message for standard error would be written into an output."""
    ran = shell("rejoinder score a.jsonl -s length -s nosuch -o out.jsonl <&- >&- 2>&-", systems)
    assert ran.returncode == 2
    ran = shell("rejoinder score a.jsonl -s length -o out.jsonl <&- >&- 2>&-", systems)
    assert ran.returncode == 0
    lines = (systems / "out.jsonl").read_text().splitlines()
    assert [json.loads(line)["scores"] for line in lines] == [{"length": 4.0}] * 30


def test_answers_exported_to_a_closed_stream_are_an_error(systems: Path) -> None:
    with annotate(replies(), systems / "study", raters=1) as study:
        rate_all(study, raters(study)[0])
    assert shell("rejoinder annotate -o study --export - >&-", systems).returncode == 7
    assert shell("rejoinder annotate -o study --export -", systems).returncode == 0


def test_what_standard_input_is_read_from_is_not_replaced(systems: Path) -> None:
    before = (systems / "a.jsonl").read_text()
    ran = shell("rejoinder score - -s length -o a.jsonl < a.jsonl", systems)
    said = "rejoinder: a.jsonl: is standard input too and would be replaced. Choose another place for the output\n"
    assert (ran.returncode, ran.stderr) == (2, said)
    assert (systems / "a.jsonl").read_text() == before
    assert shell("rejoinder score - -s length -o other.jsonl < a.jsonl", systems).returncode == 0


def test_the_name_of_a_stream_is_no_output(systems: Path) -> None:
    call = "rejoinder score a.jsonl -s length --format jsonl -o /dev/stdout"
    before = (systems / "b.jsonl").read_text()
    ran = shell(f"{call} >> b.jsonl", systems)
    assert ran.returncode == 2 and "/dev/stdout: writing there could replace" in ran.stderr
    assert (systems / "b.jsonl").read_text() == before
    assert shell(f"{call} | cat; exit ${{PIPESTATUS[0]}}", systems).returncode == 2
    assert shell(call.replace("stdout", "null"), systems).returncode == 0


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interruption_leaves_no_output_and_the_old_file(tmp_path: Path, stop: signal.Signals) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text("old")
    with subprocess.Popen(
        [*PROGRAM, "score", "-", "-s", "length", "-o", out],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        encoding="utf-8",
    ) as process:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        process.stdin.write(LINE * 5000)
        process.stdin.flush()
        until = time.monotonic() + 30
        while not any(path.stat().st_size for path in tmp_path.glob(".*.partial")):
            assert time.monotonic() < until, "scoring did not begin"
            time.sleep(0.02)
        process.send_signal(stop)
        code = process.wait(30)
        assert (code, process.stdout.read()) == (130, "")
        assert process.stderr.read() == "rejoinder: interrupted; every output file is whole or as it was\n"
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]
    assert out.read_text() == "old"


@pytest.mark.parametrize("arguments", ["--help", "--version", "score --help", "study --help", "train --help"])
def test_help_loads_nothing_heavy(arguments: str) -> None:
    program = (
        "import sys\n"
        "from rejoinder.cli import main\n"
        "try:\n"
        f"    main({arguments.split()!r})\n"
        "except SystemExit as stop:\n"
        "    assert not stop.code\n"
        "heavy = {'torch', 'scipy', 'nltk', 'sklearn', 'sacrebleu', 'polars', 'rouge_score'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, encoding="utf-8", timeout=60, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert "rejoinder" in ran.stdout
