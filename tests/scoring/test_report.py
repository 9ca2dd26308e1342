"""The report of score: one pass, flat memory, and nothing in a reply that a browser would run or load."""

from __future__ import annotations

import json
import re
import tracemalloc
from collections.abc import Iterable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from scipy import stats

from conftest import Run
from rejoinder.example import Example
from rejoinder.report.results import Results
from rejoinder.scorer import OUT_OF_DOMAIN, Card, Scorer, Scores
from rejoinder.scoring import report as module
from rejoinder.scoring import sums
from rejoinder.scoring.report import ScoreReport
from rejoinder.scoring.scoring import Summary, score_lines


class Given:
    """Gives each reply the number that it begins with; another reply is out of its domain."""

    def __init__(self, low: float | None = 0, high: float | None = 10, *, better: bool | None = True) -> None:
        self.options: dict[str, Any] = {}
        self.card = Card(
            "given", "a number", "judge", frozenset(), (low, high), "", domain="numbers", higher_is_better=better
        )

    def score_batch(self, examples: list[Example]) -> Scores:
        numbers = [re.match(r"-?[\d.]+", example.response) for example in examples]
        outside = {row: (OUT_OF_DOMAIN, "odd") for row, number in enumerate(numbers) if not number}
        return Scores(np.array([float(number[0]) if number else 1.0 for number in numbers]), warnings=outside)


def reported(examples: Iterable[Example], *by: str, scorer: Any = None, **how: Any) -> ScoreReport:
    summaries = {"given": Summary(cast("Scorer", scorer or Given()))}
    report = ScoreReport(summaries, by)
    for line in score_lines(examples, summaries, **how):
        report.added(line)
    return report


def lines(count: int = 60) -> list[Example]:
    return [
        Example(
            (f"question {n // 3}",),
            f"{n % 10} points",
            id=str(n),
            system="AB"[n % 2],
            extra={"topic": {"name": f"t{n % 3}"}, "time": f"2026-0{1 + n % 3}-0{1 + n % 7}T10:00:00Z"},
        )
        for n in range(count)
    ]


def html(report: ScoreReport, folder: Path) -> str:
    report.save(folder / "a.html")
    return (folder / "a.html").read_text()


def means(results: Results, **labels: str) -> dict[str, float]:
    return {e.system or e.group: e.value for e in results.pick(statistic="mean score", **labels)}


def test_means_by_system_and_column() -> None:
    results = reported(lines(), "topic.name").results()
    scores = np.array([n % 10 for n in range(60)], float)
    whole = results.one(statistic="mean score", system="", by="")
    assert whole.value == scores.mean() and whole.n == 60 and whole.contexts == 20
    for place, system in enumerate("AB"):
        assert results.one(system=system).value == scores[place::2].mean()
    assert means(results, by="topic.name") == {f"t{n}": scores[n::3].mean() for n in range(3)}
    titles = [table.title for table in results.layout.tables]
    assert "Mean score by system" in titles and "Mean score by topic.name" in titles


def test_an_interval_takes_contexts_as_clusters() -> None:
    """One line a context gives the t interval of the mean; copies of all lines change nothing but n."""
    numbers = [1, 4, 4, 7, 9, 2, 3]
    once = [Example((f"question {n}",), str(number), id=str(n)) for n, number in enumerate(numbers)]
    expected = stats.t.interval(0.95, 6, np.mean(numbers), stats.sem(numbers))
    for given, n in ((once, 7), ([*once, *(replace(one, id=f"{one.id}b") for one in once)], 14)):
        mean = reported(given).results().one(statistic="mean score")
        assert mean.ends == pytest.approx(expected) and (mean.n, mean.contexts) == (n, 7)
    alone = reported(once[:1]).results().one(statistic="mean score")
    assert not alone.has_interval and "single context" in alone.reason


def test_over_many_contexts_means_have_no_intervals_and_say_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sums, "CONTEXTS", 10)
    results = reported(lines(), "topic.name").results()
    assert means(results, by="topic.name") == means(reported(lines(), "topic.name").results(), by="topic.name")
    assert not any(e.has_interval for e in results.estimates)
    assert {e.reason for e in results.estimates} == {"no interval over more than 10 contexts"}


def test_the_lowest_lines_come_first_and_equal_ones_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOWEST", 8)
    assert [line.example.id for line in reported(lines()).lines] == ["0", "10", "20", "30", "40", "50", "1", "11"]
    highest = reported(lines(), scorer=Given(better=False))
    assert [line.example.id for line in highest.lines][:6] == ["9", "19", "29", "39", "49", "59"]
    monkeypatch.undo()
    assert reported(lines(), scorer=Given(better=False)).results().answer == (
        "The 20 highest of 60 scores by given are at least 6.00 of 10.",
    )


def test_the_sentence_and_the_warnings(tmp_path: Path) -> None:
    report = reported([*lines(), *(Example((), "none", id=f"x{n}") for n in range(2))], "absent")
    results = report.results()
    assert results.answer == (
        "The 20 lowest of 60 scores by given are at most 3.00 of 10; 2 replies could not be scored.",
    )
    assert results.warnings[0].startswith("2 of 62 scores withheld: out of domain, given cannot judge these replies")
    assert results.warnings[-1] == 'No line has "absent".'
    page = html(report, tmp_path)
    assert page.index('class="warnings"') < page.index('id="lines"') < page.index('id="part-1"')
    few = reported(lines(9)).results()
    assert few.answer == ("The mean of 9 scores by given is 4.00 of 10.",)
    kept = reported([Example((), "none", id="x")], out_of_domain="keep")
    assert kept.lines[0].warnings == [OUT_OF_DOMAIN, "odd"]


def test_scores_beyond_the_scale_are_in_the_bins_at_its_ends() -> None:
    report = reported([Example((), text, id=text) for text in ("-3", "0", "9.99", "10", "12")])
    chart = report.results().layout.chart
    bars = report._histograms["given"]
    assert chart is not None and "hold 2 scores beyond them" in chart.caption
    assert (bars.counts[0], bars.counts[-1], sum(bars.counts)) == (2, 3, 5)


def test_without_a_scale_the_first_scores_decide_the_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sums, "_FIRST", 4)
    report = reported([Example((), text, id=text) for text in ("3", "5", "4", "7", "90")], scorer=Given(None, None))
    report.results()
    bars = report._histograms["given"]
    assert (bars.edges[0], bars.edges[-1], bars.outside, sum(bars.counts)) == (3, 7, 1, 5)
    same = reported([Example((), "3", id="a")], scorer=Given(None, None))
    same.results()
    assert same._histograms["given"].edges[0] < 3 < same._histograms["given"].edges[-1]


@pytest.mark.parametrize(
    ("days", "unit", "first"),
    [
        (["2026-03-04T10:00:00Z", "2026-03-05"], "day", "2026-03-04"),
        ([f"2026-0{1 + n // 28}-{1 + n % 28:02}" for n in range(100)], "week", "2025-12-29"),
        ([f"{2000 + n // 12}-{1 + n % 12:02}-03 01:02:03" for n in range(50)] + ["2026-01-01"], "day", "2000-01-03"),
        ([f"{2000 + n}-{1 + k:02}-03" for n in range(3) for k in range(12)] * 2, "day", "2000-01-03"),
        ([f"{1990 + n}-{1 + k:02}-03" for n in range(20) for k in range(12)], "year", "1990-01-01"),
    ],
)
def test_dates_by_iso_8601_give_means_over_time(days: list[str], unit: str, first: str) -> None:
    given = [Example((), str(n % 10), id=str(n), extra={"when": day, "no": "03-04-2026"}) for n, day in enumerate(days)]
    results = reported(given).results()
    over_time = results.pick(by=f"when by {unit}")
    assert min(e.group for e in over_time) == first and sum(e.n for e in over_time) == len(days)
    assert "over-time" in [chart.name for chart in results.layout.charts]
    assert not reported([replace(one, extra={"when": "04/03/2026"}) for one in given]).results().pick(by="when by day")


HOSTILE = [
    "1 <script>alert(1)</script> <img src=x onerror=alert(1)>",
    "1 ![a](http://x.example/a.png) [b](javascript:alert(1)) [c](data:text/html,x) [d](http://x.example)",
    "1 <http://x.example/auto>",
    "1 \u202egnp.exe\u202c \x00 \ud800",
    "1 ```\n</div></details></script>\n```",
]


def test_nothing_in_a_reply_is_run_or_loaded(tmp_path: Path) -> None:
    given = [
        Example((text,), text, id=text, system=text, extra={"k": text})
        for text in (reply.encode("utf-8", "replace").decode() for reply in HOSTILE)
    ]
    page = html(reported(given, "k"), tmp_path)
    seen: list[tuple[str, dict[str, str | None]]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            seen.append((tag, dict(attrs)))

    reader = Reader()
    reader.feed(page[page.index("<main>") : page.index("</main>")])
    assert not {"script", "img", "iframe", "object", "link", "base"} & {tag for tag, _ in seen}
    assert not [name for _, attributes in seen for name in attributes if name.startswith("on") or name == "src"]
    links = [attributes for tag, attributes in seen if tag == "a"]
    assert len(links) == 3 and all(str(link["href"]).startswith("http://x.example") for link in links)
    assert {link["rel"] for link in links} == {"noreferrer nofollow"}
    assert "\u202e" not in page and "default-src 'none'" in page and page.count("<script>") == page.count("'sha256-")


def test_memory_is_flat() -> None:
    def peak(count: int) -> int:
        tracemalloc.start()
        given = (Example((f"question {n % 50}",), f"{n % 10} {'word ' * 50}", id=str(n)) for n in range(count))
        reported(given)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(1_000)  # what is loaded once
    assert peak(6_000) < 1.3 * peak(3_000)


def test_the_command_writes_a_report(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        "".join(json.dumps({"context": ["hi"], "response": f"yes {n}", "k": n % 2}) + "\n" for n in range(9))
    )
    ran = run("score", path, "-s", "rejoinder", "--by", "k", "-o", tmp_path / "a.html", "-o", tmp_path / "b.jsonl")
    page = (tmp_path / "a.html").read_text()
    assert ran.code == 0 and "moved by" in page and "Mean score by k" in page
    assert len((tmp_path / "b.jsonl").read_text().splitlines()) == 9
    assert run("score", path, "--by", "k", "-o", tmp_path / "b.jsonl").code == 2
    (tmp_path / "t.csv").write_text("question,answer,model,k\nhi,yes,A,1\nhi,no,B,2\n")
    assert run("score", tmp_path / "t.csv", "-s", "length", "--by", "model", "-o", tmp_path / "t.html").code == 0
    page = (tmp_path / "t.html").read_text()
    assert "Mean score by model" in page and "No line has" not in page
    assert run("score", path, "-o", tmp_path / "none" / "a.html").code == 7
    (tmp_path / "c.jsonl").write_text('{"response": "ja, ich habe zwei hunde und eine katze zu hause"}\n')
    before = (tmp_path / "a.html").read_bytes()
    nothing = run("score", tmp_path / "c.jsonl", "-o", tmp_path / "a.html", "-o", tmp_path / "b.jsonl")
    assert nothing.code == 5 and (tmp_path / "a.html").read_bytes() == before, "an older report stays"


def test_a_reply_that_begins_with_an_equals_sign_stays_text(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"response": "=1+1"}\n{"response": "http://x.example"}\n')
    assert run("score", tmp_path / "a.jsonl", "-s", "length", "-o", tmp_path / "a.xlsx").code == 0
    import zipfile

    with zipfile.ZipFile(tmp_path / "a.xlsx") as book:
        sheet = book.read("xl/worksheets/sheet1.xml").decode()
        assert (
            "<f>" not in sheet
            and "hyperlink" not in sheet
            and not any("rels/sheet" in name for name in book.namelist())
        )
    records = run("score", tmp_path / "a.xlsx", "-s", "length").records
    assert [record["response"] for record in records] == ["=1+1", "http://x.example"]
