"""Any program as a scorer."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import rejoinder
from conftest import Run
from rejoinder.errors import DataError, MissingAsset, UsageError
from rejoinder.example import Example, Rating
from rejoinder.external.command import CommandScorer
from rejoinder.scorer import Scores, run
from rejoinder.scoring.catalog import load_scorer

Make = Callable[..., CommandScorer]


@pytest.fixture
def program(tmp_path: Path) -> Callable[..., str]:
    """Writes a program in Python, given the body of its loop over questions `q`; its command line."""

    def write(body: str, *, before: str = "") -> str:
        path = tmp_path / "a judge.py"
        path.write_text(
            f"import json, os, sys, time\n{before}\nfor line in sys.stdin:\n    q = json.loads(line)\n    {body}\n"
        )
        return f"'{sys.executable}' -S '{path}'"

    return write


@pytest.fixture
def make(program: Callable[..., str]) -> Make:
    return lambda body, before="", patience=20.0: CommandScorer(
        "command:judge", program(body, before=before), patience=patience
    )


def scored(scorer: CommandScorer, *responses: str) -> Scores:
    return run(scorer, [Example(("hi", "ho"), one, ("ha",)) for one in responses])


def test_a_program_is_a_scorer(program: Callable[..., str], tmp_path: Path) -> None:
    name = "command:" + program("print(len(q['response']))")
    found = run(load_scorer(name), [Example(("hi",), text) for text in ("abc", "", "ü" * 40)])
    assert found.values.tolist() == [3, 0, 40] and not found.reasons
    assert dict(found.signature.fields)["scorer"] == name and found.signature.fields["kind"] == "command"


def test_what_a_program_is_given(make: Make, tmp_path: Path) -> None:
    log = tmp_path / "log"
    scorer = make(f"open({str(log)!r}, 'a').write(line); print(1)")
    rated = Example(("a\nb",), "ü", ("r", "s"), ratings=(Rating(5.0),), quality={"overall": 5.0}, extra={"gold": 3})
    run(scorer, [rated, rated])
    (line,) = log.read_text().splitlines()  # each distinct input once
    assert json.loads(line) == {"context": ["a\nb"], "response": "ü", "references": ["r", "s"]}


@pytest.mark.parametrize(
    ("said", "value", "reason"),
    [
        ("3", 3.0, None),
        ("-2.5e1", -25.0, None),
        ('{"score": 4, "why": "fine"}', 4.0, None),
        ("null", None, "the program gave no score"),
        ('{"score": null, "reason": "too\\nlong"}', None, "too long"),
        ("NaN", None, "the program gave nan"),
        ("Infinity", None, "the program gave inf"),
        ("true", None, "the program wrote something else than an answer"),
        ('"4"', None, "the program wrote something else than an answer"),
        ("{}", None, "the program wrote something else than an answer"),
        ("[4]", None, "the program wrote something else than an answer"),
    ],
)
def test_what_a_program_may_say(make: Make, said: str, value: float | None, reason: str | None) -> None:
    found = scored(make(f"print({said!r})"), "x")
    assert found.values.tolist() == pytest.approx([np.nan if value is None else value], nan_ok=True)
    assert found.reasons == ({} if reason is None else {0: reason})


def test_a_program_that_fails_now_and_then_is_started_again(make: Make) -> None:
    body = "sys.exit(3) if q['response'] == 'bb' else print('[]' if q['response'] == 'ccc' else len(q['response']))"
    found = scored(make(body), "a", "bb", "ccc", "dddd", "eeeee")
    assert np.isnan(found.values).tolist() == [False, True, True, False, False]
    assert found.values[[0, 3, 4]].tolist() == [1, 4, 5]
    assert found.reasons == {
        1: "the program ended with exit code 3",
        2: "the program wrote something else than an answer",
    }


def test_a_line_that_is_not_json_stops_scoring(make: Make) -> None:
    """What comes after it belongs to the example before."""
    body = "print('warning') if q['response'] == 'bb' else None; print(len(q['response']))"
    scorer = make(body)
    with pytest.raises(DataError, match="answer 2: 'warning'"):
        scored(scorer, "a", "bb", "ccc")
    assert scored(scorer, "dddd").values.tolist() == [4], "it is started again"


def test_after_three_failures_it_is_not_asked_again(make: Make, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    scorer = make("pass", before=f"open({str(starts)!r}, 'a').write('x'); sys.exit(1)")
    found = scored(scorer, *"abcdefg")
    assert not found.scored.any() and starts.read_text() == "xxx"
    assert found.reasons[0] == "the program ended with exit code 1"
    assert found.reasons[6] == "the program failed 3 times in a row and is left alone for 60 s"


def test_after_a_pause_it_is_asked_again(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a service three bad lines of one client would otherwise take the program from all others for good."""
    scorer = make("sys.exit(3) if q['context'] == ['bad'] else print(len(q['response']))")
    bad = [Example(("bad",), "a" * n) for n in range(1, 5)]
    assert not run(scorer, bad).scored.any()
    assert "is left alone" in scored(scorer, "abc").reasons[0]
    monkeypatch.setattr("rejoinder.external.command._PAUSE", 0.0)
    assert scored(scorer, "abc").values.tolist() == [3]
    monkeypatch.undo()
    assert run(scorer, bad[:2]).reasons[1] == "the program ended with exit code 3"
    assert scored(scorer, "ab").scored.all(), "failures are counted anew"


def test_silence_has_an_end(make: Make) -> None:
    found = scored(make("time.sleep(60)", patience=0.2), "x")
    assert found.reasons == {0: "no answer in 0.2 s"}


def test_half_a_character_is_no_crash(make: Make) -> None:
    found = scored(make('print(\'{"score": null, "reason": "\\\\ud83d"}\')'), "x")
    assert "half a character" in found.reasons[0]


def test_what_cannot_be_started_is_told() -> None:
    with pytest.raises(MissingAsset, match="no-such-program: cannot be started"):
        scored(CommandScorer("command:no-such-program", "no-such-program"), "x")
    with pytest.raises(UsageError, match="no command after command:"):
        load_scorer("command: ")


def test_every_command_takes_it(program: Callable[..., str], run: Run, tmp_path: Path) -> None:
    name = "command:" + program("print(len(q['response']))")
    lines = [
        {"context": [f"film {n}?"], "response": "very " * (n % 5) + "good", "quality": {"overall": 1 + n % 5}}
        for n in range(80)
    ]
    file = tmp_path / "in.jsonl"
    file.write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    done = run("score", file, "-s", name, "-o", tmp_path / "out.jsonl")
    assert done.code == 0, done.err
    assert json.loads((tmp_path / "out.jsonl").read_text().splitlines()[1])["scores"] == {name: 9.0}
    assert run("study", file, "-s", name, "--resamples", 100).code == 0
    assert run("compare", file, file, "-s", name, "--resamples", 100).code == 0
    done = run("audit", file, "-s", name, "--family", "said-twice")
    assert done.code == 0 and "is fooled by 1 of 1 attack" in done.words
    done = run("score", file, "-s", name, "-o", tmp_path / "a judge.py")
    assert done.code == 2 and "a judge.py" in done.err  # the program is an input, which no output may replace
    assert run("show", name).code == 0


def test_an_audit_of_a_program_that_fails_on_some(program: Callable[..., str]) -> None:
    name = "command:" + program("sys.exit(1) if len(q['response']) > 60 else print(1)")
    given = [Example((f"c {n}",), f"good {n}") for n in range(40)]
    results = rejoinder.audit(given, name, families=["padding"])
    fooled = results.one(statistic="share fooled")
    assert (fooled.n, results.about.data[0]["failed"], fooled.verdict) == (0, 40, "inconclusive")
