"""`rejoinder inspect`: what a person who has a file sees of it, and the file in our own form."""

from __future__ import annotations

import io
import json
import shlex
from pathlib import Path
from typing import Any

import pytest

import rejoinder
from conftest import Run

RATED = [
    {"prompt": f"Tea {number}?", "answer": f"Yes, {number} cups.", "stars": 1 + number % 5, "model": f"v{number % 2}"}
    for number in range(40)
]
PAIR = {
    "prompt": "Tea?",
    "response_a": "Yes.",
    "response_b": "No.",
    "votes": ["model_a", "model_a", "tie"],
    "model_a": "v1",
}


@pytest.fixture
def rated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of rated replies in the working folder."""
    monkeypatch.chdir(tmp_path)
    return lines(tmp_path / "log.jsonl", *RATED)


def lines(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def inspected(run: Run, *arguments: object) -> dict[str, Any]:
    ran = run("inspect", *arguments, "--json")
    assert ran.code == 0, ran.err
    found: dict[str, Any] = json.loads(ran.out)
    return found


def test_it_counts_and_shows_the_first_three(run: Run, rated: Path) -> None:
    found = inspected(run, rated.name)
    assert (found["version"], found["examples"], found["rated"], found["pairs"]) == (1, 40, 40, 0)
    assert sorted(found["systems"]) == ["v0", "v1"]
    assert [line["context"] for line in found["first"]] == [["Tea 0?"], ["Tea 1?"], ["Tea 2?"]]
    assert [line["ratings"] for line in found["first"]] == [{"overall": [value]} for value in (1, 2, 3)]
    printed = run("inspect", rated.name).out
    assert "Tea 2?" in printed and "Tea 3?" not in printed
    assert all(call in printed for call in found["calls"])


def test_its_calls_have_the_flags_that_read_the_file(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(
        f"Tea {place}?,{'Yes. ' * (place % 4)},{('bad', 'fair', 'good')[place % 3]}\n" for place in range(12)
    )
    Path("words.csv").write_text("asked,response,rating\n" + rows, encoding="utf-8")
    assert run("score", "words.csv", "-s", "length").code == 3
    flags = ("--map", "context=asked", "--scale", "bad,fair,good")
    found = inspected(run, "words.csv", *flags)
    assert [line["ratings"] for line in found["first"]] == [{"overall": [value]} for value in (1, 2, 3)]
    assert (found["first"][0]["scale"], found["labelled"]) == ([1, 3], 0)
    assert [call.split()[1] for call in found["calls"]] == ["study", "ratings", "score"]
    for call in found["calls"]:
        assert run(*shlex.split(call)[1:]).code == 0, call
    assert run("score", "words.csv", "-s", "length", *flags).code == 0


def test_its_calls_run(run: Run, rated: Path) -> None:
    calls = inspected(run, rated.name)["calls"]
    assert 0 < len(calls) <= 3
    for call in calls:
        assert run(*shlex.split(call.removeprefix("rejoinder "))).code == 0, call


def test_a_file_alone_is_inspected_and_a_command_wins_over_a_file(run: Run, rated: Path) -> None:
    assert run(rated.name).out == run("inspect", rated.name).out != ""
    assert run("@conture").code == 0
    Path("list").write_text(rated.read_text(encoding="utf-8"), encoding="utf-8")
    assert "rejoinder" in run("list").out and "Tea" not in run("list").out
    assert run("nothing.csv").code == 4
    assert run("nothing").code == 2


def test_all_lines_are_written_in_our_own_form(run: Run, rated: Path) -> None:
    assert run(rated.name, "-o", "lines.jsonl").code == 0
    for one, other in zip(rejoinder.read(rated), rejoinder.read("lines.jsonl"), strict=True):
        assert (one.context, one.response, one.system) == (other.context, other.response, other.system)
        assert one.ratings == other.ratings
    pairs = lines(Path("pairs.jsonl"), {**PAIR, "model_b": "v2"}, {**PAIR, "id": "b", "score_a": 3})
    assert inspected(run, pairs, "-o", "own.jsonl")["pairs"] == 2
    for pair, again in zip(rejoinder.read_pairs(pairs), rejoinder.read_pairs("own.jsonl"), strict=True):
        assert (pair.preferred, pair.votes) == (again.preferred, again.votes)
        for reply, same in zip(pair.replies, again.replies, strict=True):
            assert (reply.context, reply.response, reply.system) == (same.context, same.response, same.system)
    assert [json.loads(line)["preferred"] for line in run(pairs, "-o", "-").out.splitlines()] == [0, 0]


@pytest.mark.parametrize("options", ["-o log.jsonl", "-o lines.csv", "-o - --json", "-o no/l.jsonl"])
def test_an_output_that_cannot_be_is_refused(run: Run, rated: Path, options: str) -> None:
    before = rated.read_bytes()
    assert run("inspect", rated.name, *options.split()).code in (2, 7)
    assert rated.read_bytes() == before and [path.name for path in rated.parent.iterdir()] == [rated.name]


def test_a_bad_line_stops_or_is_skipped(run: Run, rated: Path) -> None:
    rated.write_text(rated.read_text(encoding="utf-8") + "{broken\n", encoding="utf-8")
    ran = run("inspect", rated.name, "-o", "lines.jsonl")
    assert ran.code == 3 and "log.jsonl:41:" in ran.err and not Path("lines.jsonl").exists()
    found = inspected(run, rated.name, "--on-error", "skip", "-o", "lines.jsonl")
    assert (found["skipped"], found["examples"]) == (1, 40)
    assert len(Path("lines.jsonl").read_text(encoding="utf-8").splitlines()) == 40


def test_it_reads_as_the_other_commands_do(run: Run, rated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("odd.csv").write_text("said,heard,mark\nfine,how are you,4\n", encoding="utf-8")
    found = inspected(run, "odd.csv", "--map", "response=said,context=heard,rating=mark", "--scale", "1,5")
    assert (found["rated"], found["first"][0]["response"], found["first"][0]["scale"]) == (1, "fine", [1, 5])
    said = [{"role": role, "content": text} for role, text in (("user", "a"), ("assistant", "b"))]
    talk = lines(Path("talk.jsonl"), {"messages": said * 3})
    assert inspected(run, talk, "--turns", "all")["examples"] == 3
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(rated.read_bytes()), encoding="utf-8"))
    assert inspected(run, "-")["examples"] == 40


def test_odd_texts_are_harmless_and_cut(run: Run, rated: Path) -> None:
    lines(rated, {"prompt": "\x1b[2J\u202eabc", "answer": "word " * 2000, "key\x07": 1}, {"prompt": "", "answer": ""})
    ran = run(rated.name)
    assert ran.code == 0 and "\x1b" not in ran.out and "\x07" not in ran.out
    assert len(ran.out) < 2500 and "9,999" in ran.out
