"""docs/llm-judge.md from end to end, against a judge on loopback whose faults are known."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import rejoinder
from conftest import PROJECT, Run
from loopback import serving
from rejoinder.llm import spent
from simulated_judge import LENGTH_BIAS, OWN_NOISE, Judge, sample, worth, write_rated
from test_docs import blocks, lay_out

PAGE = PROJECT / "docs" / "llm-judge.md"
ADDRESS = "http://localhost:8000/v1"
pytestmark = pytest.mark.slow


class Asked(NamedTuple):
    """The judge, and where it is."""

    judge: Judge
    address: str


@pytest.fixture(scope="module")
def asked() -> Iterator[Asked]:
    spent.SPENT.clear()
    judge = Judge()
    with serving() as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("no_proxy", "*")
        server.answering = judge
        yield Asked(judge, server.address)
    spent.SPENT.clear()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the commands of the page run, one after the other."""
    folder = tmp_path_factory.mktemp("page")
    write_rated(folder)
    lay_out(PAGE, folder)
    return folder


def test_the_page_shows_what_its_commands_say(
    asked: Asked, place: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    for command, *shown in (block.removeprefix("$ ").splitlines() for block in blocks(PAGE, "console")):
        done = run(*shlex.split(command.replace(ADDRESS, asked.address))[1:])
        said = " ".join(f"{done.out} {done.err}".split())
        assert done.code == 0, done.err
        for line in shown:
            assert " ".join(line.split()) in said, f"{command} does not print {line!r}, but {said}"
    # Nothing is paid for twice.
    judge = f"openai:{asked.address}#judge,repeats=3,prompt=rubric.txt,cache=answers.db"
    before = asked.judge.asked
    rejoinder.score("rated.jsonl", judge)
    unreadable = asked.judge.asked - before
    assert unreadable == 27  # of 900, the refusals, which hold no score
    with (place / "study.html").open() as page:
        assert ADDRESS not in page.read()
    assert json.loads((place / "scored.jsonl").read_text().splitlines()[0])["intervals"]["llm"]


def test_what_was_put_in_is_found(asked: Asked, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    judge = rejoinder.load_scorer(
        f"openai:{asked.address}#judge,name=known,prompt=rubric.txt,repeats=3,cache=answers.db"
    )
    rated = list(rejoinder.read("rated.jsonl"))
    scores = rejoinder.score(rated, judge)
    same = spent.SPENT["known"].repeatability
    assert same is not None and same.replies > 250
    assert same.apart == pytest.approx(OWN_NOISE, abs=0.05)
    assert same.single == pytest.approx(asked.judge.reliability(1), abs=0.03)
    assert same.mean == pytest.approx(asked.judge.reliability(3), abs=0.03)

    truth = np.array([worth(line) for line in sample()])
    found = rejoinder.study(rated, [judge, "length"], resamples=100)
    ceiling = found.one(statistic="ceiling of pearson").value
    ratings = [np.mean([one.value for one in line.ratings]) for line in rated]
    assert ceiling == pytest.approx(np.corrcoef(truth, ratings)[0, 1], abs=0.03)
    row = found.one(scorer="known", statistic="pearson", level="turn")
    assert row.value / ceiling == pytest.approx(np.corrcoef(truth, scores.values)[0, 1], abs=0.03)

    estimated = rejoinder.estimate("replies.jsonl", judge, rated="few.jsonl").one(statistic="mean rating")
    assert estimated.low < truth.mean() < estimated.high
    assert pytest.approx(0.4) == LENGTH_BIAS * 10  # which the page sets beside the interval that its audit prints
