"""`rejoinder audit` as a user calls it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from conftest import Run, has_wordnet, refused
from rejoinder.auditing.attack import ATTACKS
from samples import few

FEW = ("--family", "jumbled", "--family", "upper-case", "--family", "said-twice")


def test_the_bundled_judge_on_the_sample(run: Run) -> None:
    done = run("audit", "@conture", "--limit", 30)
    assert done.code == 0 and done.err == ""
    made = [attack for attack in ATTACKS.values() if attack.name != "synonyms" or has_wordnet()]
    assert done.out.startswith("rejoinder is fooled by ") and f"of {len(made)} attacks" in done.words
    assert all(f"\n{attack.name} " in done.out for attack in made)
    assert "Worst replies:" in done.out


def test_every_format(run: Run, tmp_path: Path) -> None:
    names = ["card.html", "card.md", "card.tex", "card.csv", "card.json"]
    outs = [word for name in names for word in ("-o", tmp_path / name)]
    done = run("audit", "@conture", "-s", "length", *FEW, *outs)
    assert done.code == 0 and "saved in " in done.out
    for name in names[:3]:
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert "jumbled" in text and "said-twice" in text and "fooled" in text, name
    page = (tmp_path / "card.html").read_text(encoding="utf-8")
    assert page.index("length is fooled by 2 of 3 attacks") < page.index("<svg")
    assert "rejoinder audit @conture -s length --family jumbled" in page
    rows = [
        row
        for row in csv.DictReader(io.StringIO((tmp_path / "card.csv").read_text()))
        if row["statistic"] == "share fooled"
    ]
    record = json.loads((tmp_path / "card.json").read_text())
    shares = [row for row in record["results"] if row["statistic"] == "share fooled"]
    assert [row["group"] for row in rows] == [row["group"] for row in shares]
    assert [float(row["value"]) for row in rows] == [row["value"] for row in shares] == [0.5, 0.0, 1.0]
    assert {row["verdict"] for row in rows} == {"above", "below"}


def test_json_is_what_python_gives(run: Run) -> None:
    import rejoinder

    record = json.loads(run("audit", "@conture", "-s", "length", "--json", "--seed", 3, *FEW).out)
    found = rejoinder.audit("@conture", "length", families=["jumbled", "upper-case", "said-twice"], seed=3)
    assert record == json.loads(json.dumps(found.to_dict()))


def test_a_pool_of_replies(run: Run, tmp_path: Path) -> None:
    pool, card = tmp_path / "pool.txt", tmp_path / "card.md"
    pool.write_text("Hello.\nDo you like it?\nThat is very good to know.\n", encoding="utf-8")
    own = ("--family", "pool-best", "--family", "white-box")
    done = run("audit", "@conture", "--limit", 50, "--pool", pool, *own, "-o", card)
    assert done.code == 0 and "white-box" in done.out
    said = card.read_text(encoding="utf-8")
    assert f"--pool {pool}" in said and "Compared with ADEM" in said and "## Geometry" in said
    told = "pool-best looks for replies in a pool. Give a file of them: --pool FILE (pool=)"
    refused(run("audit", "@conture", *own), 2, told)
    pool.write_text("\n", encoding="utf-8")
    told = f"{pool}: no reply is in it. Give a text file with a reply a line, or a corpus"
    refused(run("audit", "@conture", "--pool", pool), 3, told)


def test_the_gate(run: Run) -> None:
    closed = run("audit", "@conture", "-s", "length", *FEW, "--fail-over", 0.05)
    assert closed.code == 6 and "gate 5 %: not passed (jumbled fools it 50 %" in closed.err
    told = run("audit", "@conture", "-s", "length", *FEW, "--fail-over", 0.05, "--json")
    assert told.code == 6 and json.loads(told.out)["gate"]["passed"] is False
    opened = run("audit", "@conture", "-s", "length", "--family", "upper-case", "--fail-over", 0.15)
    assert opened.code == 0 and "gate 15 %: passed" in opened.err
    nothing = run("audit", "@conture", "-s", "length", "--family", "reference", "--fail-over", 0.5)
    assert nothing.code == 6 and "no attack has a verdict" in nothing.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--family", "jumble"), "no attack is called 'jumble'. Nearest: jumbled. All of them: rejoinder list"),
        (
            ("-s", "column:stars"),
            "column:stars is a column of the lines and has no scores for other replies. Name the scorer that made it",
        ),
        (("--fail-over", "1.5"), "the share that is allowed is 1.5, expected a number from 0 to under 1"),
        (("--fail-over", "nan"), "--fail-over is nan, expected a finite number"),
    ],
)
def test_wrong_calls(run: Run, arguments: tuple[str, ...], said: str) -> None:
    refused(run("audit", "@conture", *arguments), 2, said)


def test_an_unknown_format_is_told_before_any_work(run: Run, tmp_path: Path) -> None:
    done = run("audit", "nowhere.jsonl", "-o", tmp_path / "card.doc")
    assert done.code == 2 and "unknown format of a report .doc" in done.err


def test_nothing_to_attack(run: Run, tmp_path: Path) -> None:
    (tmp_path / "none.jsonl").write_text('{"context": ["hi"], "response": ""}\n')
    refused(run("audit", tmp_path / "none.jsonl"), 3, "no example has a reply. Give lines with a response")


def test_text_from_the_lines_is_inert(run: Run, tmp_path: Path) -> None:
    line = {"context": ["<b>hi</b>"], "response": "\x1b[31mI am <script>alert(1)</script> | *here* \\x"}
    lines = [json.dumps({**line, "context_id": str(number)}) + "\n" for number in range(40)]
    (tmp_path / "odd.jsonl").write_text("".join(lines))
    done = run(
        "audit", tmp_path / "odd.jsonl", "-s", "length", *FEW, "-o", tmp_path / "a.html", "-o", tmp_path / "a.md"
    )
    assert done.code == 0 and "\x1b" not in done.out
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page and "&lt;script&gt;alert" in page
    assert "<script>" not in (tmp_path / "a.md").read_text(encoding="utf-8").replace("\\<script", "")


@pytest.mark.slow
def test_the_card_of_a_judge(run: Run, tmp_path: Path) -> None:
    folder, lines = tmp_path / "judge", few("@dstc7", 200, tmp_path)
    assert run("train", "r-adem", lines, "-o", folder, "--epochs", 2).code == 0
    before = (folder / "card.md").read_text()
    signature = run("show", folder, "--json").out
    assert run("audit", lines, "-s", folder, *FEW, "--card").code == 0
    first = (folder / "card.md").read_text()
    assert first.startswith(before.rstrip()) and "\n## What fools it\n" in first and "| jumbled |" in first
    assert "What fools it" in run("show", folder).out and run("show", folder, "--json").out == signature
    (folder / "card.md").write_text(f"{first}\n## Later\n\nA word.\n")
    assert run("audit", lines, "-s", folder, "--family", "dull", "--card").code == 0
    second = (folder / "card.md").read_text()
    assert second.count("## What fools it") == 1 and "| jumbled |" not in second and "| dull |" in second
    assert second.startswith(before.rstrip()) and "## Later\n\nA word." in second
    said = "length is not a judge's folder and has no card. Leave --card out; -o writes to a file"
    refused(run("audit", lines, "-s", "length", "--card"), 2, said)


def test_a_narrow_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    done = run("audit", "@conture", "-s", "length", *FEW)
    assert max(map(len, done.out.splitlines())) <= 60
