"""Programs that write more lines than they are asked for: an error that names the line, never scores out of step."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import rejoinder
from conftest import Run
from rejoinder.errors import DataError
from rejoinder.example import Example
from rejoinder.external.command import CommandScorer
from rejoinder.scorer import run as score
from rejoinder.scoring.replies import respond

Write = Callable[..., str]
LINES = [{"id": f"{n}", "context": ["Go on."], "response": "x" * n} for n in range(1, 6)]
ANSWER = "print(json.dumps(len(q['response']) if 'response' in q else {'response': 'yes'}), flush=True)"
EXCESS = {
    "a warm-up line": {"before": "print(-1, flush=True)"},
    "a warm-up line that comes late": {"before": "time.sleep(0.1); print(-1, flush=True)", "slow": True},
    "a warm-up line that is no JSON": {"before": "print('Loading the model', flush=True)"},
    "a blank line first": {"before": "print(flush=True)"},
    "two answers to the first": {"body": f"n == 0 and print(-1, flush=True); {ANSWER}"},
    "two answers to each": {"body": f"{ANSWER}; {ANSWER}"},
    "two answers to the last": {"body": f"{ANSWER}; n == 4 and ({ANSWER})"},
    "a late second answer": {"body": f"{ANSWER}; time.sleep(0.02); n == 4 and ({ANSWER})"},
    "noise in the middle": {"body": f"n == 2 and print('warning: slow', flush=True); {ANSWER}"},
    "a blank line in the middle": {"body": f"n == 2 and print(flush=True); {ANSWER}"},
    "a summary at the end": {"after": "print(json.dumps({'score': 3}))"},
    "words at the end": {"after": "print('done')"},
    "a line without an end": {"after": "sys.stdout.write('3')"},
}


@pytest.fixture
def program(tmp_path: Path) -> Write:
    def write(*, before: str = "", body: str = ANSWER, after: str = "", slow: bool = False) -> str:
        path = tmp_path / "judge.py"
        pause = "time.sleep(0.02); " if slow else ""
        path.write_text(
            f"import json, sys, time\n{before}\nfor n, line in enumerate(sys.stdin):\n"
            f"    q = json.loads(line)\n    {pause}{body}\n{after}\n"
        )
        return f"command:'{sys.executable}' -S '{path}'"

    return write


@pytest.mark.parametrize("how", EXCESS.values(), ids=EXCESS)
def test_a_line_in_excess_stops_every_command(program: Write, how: dict[str, str], run: Run, tmp_path: Path) -> None:
    file, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in LINES))
    name = program(**how)
    for call in (("score", file, "-s", name), ("respond", file, "-r", name)):
        done = run(*call, "-o", out)
        assert (done.code, len(done.err.strip().splitlines())) == (3, 1), done.err
        assert "judge.py" in done.err and "answer" in done.err
        assert not out.exists()


def test_the_line_is_named(program: Write) -> None:
    name = program(after="print('mean 3.0')")
    with pytest.raises(DataError, match="after answer 2: .*'mean 3.0'"):
        score(rejoinder.load_scorer(name), [Example(("a",), "b"), Example(("a",), "c")])


def test_responders_and_selftalk_are_looked_at_too(program: Write) -> None:
    name = program(body="print(json.dumps({'response': str(n)}), flush=True)", after="print('{}')")
    with pytest.raises(DataError, match="without a question"):
        list(respond([["a"], ["b"]], name))
    with pytest.raises(DataError, match="without a question"):
        list(rejoinder.selftalk([["a"]], name, turns=2))


def test_blank_lines_at_the_end_are_no_answers(program: Write) -> None:
    name = program(after="print(); print()")
    assert score(rejoinder.load_scorer(name), [Example(("a",), "bb")]).values.tolist() == [2.0]


def test_a_program_that_is_in_step_is_started_once(program: Write, run: Run, tmp_path: Path) -> None:
    starts, file = tmp_path / "starts", tmp_path / "in.jsonl"
    file.write_text("".join(f"{json.dumps({**LINES[0], 'response': f'{n}'})}\n" for n in range(2100)))
    done = run(
        "score", file, "-s", program(before=f"open({str(starts)!r}, 'a').write('x')"), "-o", tmp_path / "o.jsonl"
    )
    assert done.code == 0, done.err
    assert starts.read_text() == "x"


def test_a_program_goes_on_after_a_call_in_a_service(program: Write, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    name = program(before=f"open({str(starts)!r}, 'a').write('x')")
    served = CommandScorer(name, name.partition(":")[2]).under("command")
    for text in ("a", "bb"):
        assert score(served, [Example(("hi",), text)]).values.tolist() == [len(text)]
    assert starts.read_text() == "x"


@pytest.mark.parametrize("said", ["nan", "inf", "-inf", "NaN"])
def test_what_is_no_finite_number_is_no_score(program: Write, said: str) -> None:
    found = score(rejoinder.load_scorer(program(body=f"print({said!r}, flush=True)")), [Example(("a",), "b")])
    assert found.reasons == {0: f"the program gave {said.lower()}"}


def test_a_program_that_does_not_end_is_ended(program: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rejoinder.external.program._LEAVE", 0.2)
    name = program(after="time.sleep(60)")
    assert score(rejoinder.load_scorer(name), [Example(("a",), "bb")]).values.tolist() == [2.0]


def test_other_commands_may_have_been_called_before(program: Write, run: Run, tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    file.write_text(f"{json.dumps(LINES[0])}\n")
    assert run("list").code == 0  # its module is called as a builtin is
    assert run("score", file, "-s", program(), "-o", tmp_path / "out.jsonl").code == 0
