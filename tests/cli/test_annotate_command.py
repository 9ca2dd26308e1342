"""`rejoinder annotate` on the command line: studies made, shown, stopped and gone on with."""

from __future__ import annotations

import io
import json
import logging
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import pytest

import rejoinder
from conftest import Run, refused
from rejoinder.annotation.answers import all_answers
from rejoinder.annotation.study import opened
from studies import rate_all, raters, replies


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a file of replies."""
    rejoinder.write(replies(), tmp_path / "replies.jsonl")
    return tmp_path


def test_a_study_is_made_and_its_links_are_told(run: Run, place: Path) -> None:
    done = run("annotate", place / "replies.jsonl", "--raters", 2, "-o", place / "study", "--prepare")
    assert done.code == 0, done.err
    assert re.fullmatch(
        r"rater-1  http://127.0.0.1:8000/r/[\w-]{24}\nrater-2  http://127.0.0.1:8000/r/[\w-]{24}\n"
        r"you      http://127.0.0.1:8000/admin  password: [\w-]{16}\n",
        done.out,
    )
    again = run("annotate", "-o", place / "study", "--prepare", "--json", "--url", "https://rate.example/")
    told = json.loads(again.out)
    assert list(told) == ["raters", "admin", "password"] and told["admin"] == "https://rate.example/admin"
    assert told["raters"]["rater-2"].startswith("https://rate.example/r/")


def test_replies_that_nobody_gets_are_said_to_be(run: Run, place: Path) -> None:
    (place / "design.toml").write_text("contexts = 1\nreplies = 2\ncommon = 0\n")
    asked = ("--questions", place / "design.toml", "-o", place / "study", "--prepare")
    for raters_, left in ((1, "10"), (2, "8")):
        done = run("annotate", place / "replies.jsonl", *asked, "--raters", raters_)
        assert done.code == 0 and f"{left} of 12 replies are given to no rater. More --raters" in done.err


def test_answers_go_out_and_in(run: Run, place: Path) -> None:
    for name in ("here", "there"):
        assert run("annotate", place / "replies.jsonl", "--raters", 1, "-o", place / name, "--prepare").code == 0
    with opened(place / "here") as study:
        rate_all(study, raters(study)[0])
    out = run("annotate", "-o", place / "here", "--export", place / "rows.csv")
    assert (out.code, out.err) == (0, f"{place / 'rows.csv'}: 12 rows\n")
    inside = run("annotate", "-o", place / "here", "--export", place / "here" / "rows.csv")
    assert inside.code == 0 and (place / "here" / "rows.csv").read_text() == (place / "rows.csv").read_text()
    for own in ("study.sqlite", "study.json", "."):
        assert run("annotate", "-o", place / "here", "--export", place / "here" / own).code == 2
    renamed = place / "renamed.csv"
    renamed.write_text((place / "rows.csv").read_text().replace("rater-1", "ann"))
    back = run("annotate", "-o", place / "there", "--import", renamed)
    assert (back.code, back.err) == (0, f"{renamed}: 12 new answers\n")
    score = run("score", place / "rows.csv", "-s", "length")
    assert score.code == 0, score.err


def test_the_lines_that_tell_most_in_two_rounds(run: Run, place: Path) -> None:
    """No line comes twice, and each bears its weight to the end."""
    file, rows = place / "replies.jsonl", place / "rows.csv"
    for _ in range(2):  # the same call goes on with the study that it made
        done = run("annotate", file, "--next", 4, "-s", "length", "--raters", 2, "-o", place / "first", "--prepare")
        assert done.code == 0, done.err
    with opened(place / "first") as study:
        chosen = [line["id"] for item in study.plan.rated for line in item.lines]
        for rater in raters(study):
            rate_all(study, rater)
    assert len(chosen) == 4
    assert run("annotate", "-o", place / "first", "--export", rows).code == 0
    assert {line.id for line in rejoinder.read(rows)} == set(chosen)
    assert all(float(line.extra["rating_weight"]) > 0 for line in rejoinder.read(rows))
    again = run("annotate", file, "--next", 99, "-s", "length", "--rated", rows, "-o", place / "second", "--prepare")
    assert again.code == 0, again.err
    with opened(place / "second") as study:
        others = [line["id"] for item in study.plan.rated for line in item.lines]
    assert sorted(chosen + others) == sorted(line.id for line in rejoinder.read(file))


def test_what_is_rated_is_left_out_of_a_choice_alone(run: Run, place: Path) -> None:
    said = "--rated is for --next, which leaves out what is rated. Say how many, or leave it out"
    refused(run("annotate", place / "replies.jsonl", "--rated", place / "replies.jsonl", "-o", place / "x"), 2, said)


def test_calls_that_cannot_be(run: Run, place: Path) -> None:
    study, file = place / "study", place / "replies.jsonl"
    assert run("annotate", file, "-o", study, "--prepare").code == 0
    rejoinder.write(replies(2), place / "other.jsonl")
    remedy = "Leave it out to go on with the study, or choose another folder"
    refused(run("annotate", place / "other.jsonl", "-o", study), 2, f"{study}: holds a study of other lines. {remedy}")
    said = f"{place / 'none'}: no study stands there. Name the file with the replies to rate"
    refused(run("annotate", "-o", place / "none"), 2, said)
    (place / "bad.jsonl").write_text("{")
    assert run("annotate", place / "bad.jsonl", "-o", place / "none").code == 3
    (place / "design.toml").write_text("titel = 1")
    wrong = run("annotate", file, "-o", place / "none", "--questions", place / "design.toml")
    assert wrong.code == 3 and wrong.err.startswith(
        f'rejoinder: {place / "design.toml"}: field "titel": unknown. Known: '
    )
    assert run("annotate", file, "-o", place / "none", "--questions", place / "no.toml").code == 4
    for url, said in (("x", "Could not parse"), ("nosuch://x", "nosuch")):
        bad = run("annotate", file, "-o", place / "none", "--database", url)
        assert bad.code == 2 and said in bad.err and bad.err.count("\n") == 1, bad.err
    lost = run("annotate", file, "-o", place / "no" / "folder")
    assert lost.code == 7 and "mkdir -p" in lost.err
    assert not (place / "none").exists()


def test_an_address_that_is_taken(run: Run, place: Path) -> None:
    assert run("annotate", place / "replies.jsonl", "-o", place / "study", "--prepare").code == 0
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = f"127.0.0.1:{port} cannot be listened on (Address already in use). Choose another: --host, --port"
        refused(run("annotate", "-o", place / "study", "--port", port), 2, said)


def test_the_pages_leave_the_log_handlers_of_others_alone(run: Run, place: Path) -> None:
    class Kept(logging.StreamHandler[io.StringIO]):
        closed = False

        def close(self) -> None:
            self.closed = True

    handler = Kept(io.StringIO())
    assert run("annotate", place / "replies.jsonl", "-o", place / "study", "--prepare").code == 0
    with socket.create_server(("127.0.0.1", 0)) as taken:
        run("annotate", "-o", place / "study", "--port", taken.getsockname()[1])
    assert not handler.closed


@pytest.mark.slow
@pytest.mark.parametrize(("library", "call"), [("sqlalchemy", "--prepare"), ("fastapi", ""), ("uvicorn", "")])
def test_a_library_that_is_missing_is_named_with_its_remedy(place: Path, library: str, call: str) -> None:
    code = f"import sys; sys.modules[{library!r}] = None; from rejoinder.cli import main; main(sys.argv[1:])"
    given = [sys.executable, "-c", code, "annotate", str(place / "replies.jsonl"), "-o", str(place / "study")]
    done = subprocess.run([*given, *call.split()], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 4
    said = f" needs {library}. Install it: pip install 'rejoinder[annotate]'"
    assert " ".join(done.stderr.split()).endswith(said) and "Traceback" not in done.stderr


@contextmanager
def shown(study: Path, *given: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command as a process that shows its pages, and the link of its first rater."""
    call = [sys.executable, "-m", "rejoinder", "annotate", *given, "-o", str(study), "--port", "0"]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process, process.stdout.readline().split()[-1]
        process.kill()


def answered(link: str) -> None:
    """Answer what is next as a browser would."""
    with urllib.request.urlopen(f"{link}/next") as page:
        text, place = page.read().decode(), page.url
    (mark,) = re.findall(r'name="mark" value="([^"]+)"', text)
    with urllib.request.urlopen(place, urlencode({"mark": mark, "answer-0": "3"}).encode()) as sent:
        assert sent.status == 200


@pytest.mark.slow
def test_it_ends_cleanly_and_goes_on_after_a_kill(place: Path) -> None:
    study = place / "study"
    with shown(study, str(place / "replies.jsonl")) as (process, link):
        for _ in range(3):
            answered(link)
        process.send_signal(signal.SIGKILL)
        assert process.wait(20) == -signal.SIGKILL
    with opened(study) as found:
        assert len(all_answers(found)) == 3
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 130)):
        with shown(study) as (process, again):
            assert again.rpartition("/")[2] == link.rpartition("/")[2]
            answered(again)
            process.send_signal(number)
            assert process.wait(20) == code
            assert process.stderr is not None
            said = f"rejoinder: interrupted; every answer is kept; to go on: rejoinder annotate -o {study}"
            assert " ".join(process.stderr.read().split()) == said
    with opened(study) as found:
        assert len(all_answers(found)) == 5
