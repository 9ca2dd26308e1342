"""`rejoinder audit` as a user calls it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from conftest import Run, has_wordnet, refused
from rejoinder.auditing.battery import ATTACKS
from samples import few

FEW = ("--family", "jumbled", "--family", "upper-case", "--family", "said-twice")


def test_the_judge_in_the_box_on_the_sample(run: Run) -> None:
    done = run("audit", "@conture", "--limit", 30)
    assert done.code == 0 and done.err == ""
    made = [attack for attack in ATTACKS if attack.name != "synonyms" or has_wordnet()]
    assert done.out.startswith("rejoinder is fooled by ") and f"of {len(made)} attacks" in done.words
    assert all(f"\n{attack.name} " in done.out for attack in made)
    assert "Worst examples:" in done.out and "scorer:rejoinder|" in done.out and "|attacks:2|" in done.out


def test_every_format(run: Run, tmp_path: Path) -> None:
    names = ["card.html", "card.md", "card.tex", "card.csv", "card.json"]
    outs = [word for name in names for word in ("-o", tmp_path / name)]
    done = run("audit", "@conture", "-s", "length", *FEW, *outs)
    assert done.code == 0 and "saved in " in done.out
    for name in names[:3]:
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert "jumbled" in text and "said-twice" in text and "fooled" in text, name
    page = (tmp_path / "card.html").read_text(encoding="utf-8")
    assert page.index("length is fooled by 2 of 3 attacks") < page.index('class="chart"')
    assert "rejoinder audit @conture -s length --family jumbled" in page
    rows = list(csv.DictReader(io.StringIO((tmp_path / "card.csv").read_text())))
    record = json.loads((tmp_path / "card.json").read_text())
    assert [row["family"] for row in rows] == [one["family"] for one in record["results"]]
    assert [float(row["value"]) for row in rows] == [one["value"] for one in record["results"]] == [0.5, 0.0, 1.0]
    assert {row["verdict"] for row in rows} == {"fooled", "holds"}


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
    assert done.code == 0 and "white-box" in done.out and "pool:3 replies, " in done.words
    said = card.read_text(encoding="utf-8")
    assert "--pool pool.txt" in said and "Beside ADEM" in said and "## Geometry" in said
    told = "pool-best looks for replies in a pool. Give a file of them: --pool FILE (pool=)"
    refused(run("audit", "@conture", *own), 2, told)
    pool.write_text("\n", encoding="utf-8")
    told = f"{pool}: no reply is in it. Give a text file with a reply a line, or a corpus"
    refused(run("audit", "@conture", "--pool", pool), 3, told)


def test_the_gate(run: Run) -> None:
    closed = run("audit", "@conture", "-s", "length", *FEW, "--fail-over", 0.05)
    assert closed.code == 6 and "gate 5 %: not passed, exit code 6 (jumbled fools it 50 %" in closed.words
    told = run("audit", "@conture", "-s", "length", *FEW, "--fail-over", 0.05, "--json")
    assert told.code == 6 and json.loads(told.out)["gate"]["passed"] is False
    opened = run("audit", "@conture", "-s", "length", "--family", "upper-case", "--fail-over", 0.15)
    assert opened.code == 0 and "gate 15 %: passed" in opened.out
    nothing = run("audit", "@conture", "-s", "length", "--family", "reference", "--fail-over", 0.5)
    assert nothing.code == 6 and "no attack has a verdict" in nothing.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--family", "jumble"), "no attack is called 'jumble'. Nearest: jumbled. All of them: rejoinder list"),
        (
            ("-s", "column:stars"),
            "column:stars is a column of the lines and says nothing of other replies. Name what made it",
        ),
        (("--fail-over", "1.5"), "the share let pass is 1.5, expected a number from 0 to under 1"),
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
    said = "length is no folder of a judge and has no card. Leave --card out; -o writes to a file"
    refused(run("audit", lines, "-s", "length", "--card"), 2, said)


def test_a_narrow_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    done = run("audit", "@conture", "-s", "length", *FEW)
    table = done.out[: done.out.index("scorer:")]
    assert max(map(len, table.splitlines())) <= 60


# replies that fit and replies that do not


def write_sets(folder: Path) -> Path:
    lines = [
        {
            "id": number,
            "context": [f"where is the {thing} ?"],
            "positive_responses": [f"the {thing} is over there .", "i do not know , sorry ."],
            "random_negative_responses": ["no .", "yes ."],
            "adversarial_negative_responses": [f"i bought a {thing} for my sister last year in the city ."],
        }
        for number, thing in enumerate(["cup", "key", "car", "dog", "hat", "map"] * 6)
    ]
    file = folder / "sets.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return file


def test_lines_that_bring_their_irrelevant_replies(run: Run, tmp_path: Path) -> None:
    import rejoinder

    file = write_sets(tmp_path)
    done = run("audit", file, "-s", "length", "-o", tmp_path / "card.html", "-o", tmp_path / "card.csv")
    assert done.code == 0 and "length gives the relevant reply the higher score in 100 % [" in done.words
    assert "in 0 % [0, 52] of pairs with replies that people wrote to mislead" in done.words
    assert "0.8827" in done.out and "scorer:length|" in done.out
    page = (tmp_path / "card.html").read_text(encoding="utf-8")
    assert "i bought a cup for my sister" in page and "DEB, single replies" in page
    rows = list(csv.DictReader(io.StringIO((tmp_path / "card.csv").read_text())))
    assert [row["statistic"] for row in rows] == 2 * ["pairs", "auc", "single replies"]
    record = json.loads(run("audit", file, "-s", "length", "--json").out)
    assert record == json.loads(json.dumps(rejoinder.relevance(file, "length").to_dict()))


def test_a_gate_on_irrelevant_replies(run: Run, tmp_path: Path) -> None:
    file = write_sets(tmp_path)
    done = run("audit", file, "-s", "length", "--fail-over", 0.3)
    assert (
        done.code == 6 and "gate 30 %: not passed, exit code 6 (misleading irrelevant replies win 100 %" in done.words
    )


def test_what_is_for_attacks_alone_is_refused(run: Run, tmp_path: Path) -> None:
    file = write_sets(tmp_path)
    for flag in (("--family", "jumbled"), ("--scale", "1,5")):
        said = f"{flag[0]} is for attacks, and {file}:1 brings its own irrelevant replies. Leave it out"
        refused(run("audit", file, *flag), 2, said)
    single = tmp_path / "single.jsonl"
    single.write_text(json.dumps({"context": ["hi"], "response": "hello"}))
    both = f"a set of replies, and {single}:1 is a single one; an audit takes one or the other"
    refused(run("audit", single, file), 3, f"{file}:1: {both}. Call audit once for each")
