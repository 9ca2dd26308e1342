"""Every command and every piece of Python in the documents runs, and every link leads somewhere."""

from __future__ import annotations

import csv
import json
import os
import random
import re
import shlex
from pathlib import Path
from shutil import copy, copytree

import numpy as np
import pytest

import formats_page
import label_table
import llm_bot
import rejoinder
from conftest import PROJECT, Run
from judges_over_views import made_material, quick_judge
from rated_systems import write_bots
from rejoinder.data.columns import ALIASES
from rejoinder.data.format import formats
from rejoinder.data.write import write
from samples import GERMAN, rated, write_vectors, write_weeks

DOCUMENTS = [
    PROJECT / "README.md",
    PROJECT / "CONTRIBUTING.md",
    *sorted((PROJECT / "docs").glob("*.md")),
    *sorted((PROJECT / "docs" / "explain").glob("*.md")),
    *sorted((PROJECT / "docs" / "howto").glob("*.md")),
    *sorted((PROJECT / "docs" / "tutorials").glob("*.md")),
    *sorted((PROJECT / "website").rglob("*.md")),
]
# A block with the name of a file behind its language is that file, which the commands find where they run.
BLOCK = re.compile(r"^```(\w*)(?: (\S+))?\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#]+)\)")


def blocks(document: Path, language: str) -> list[str]:
    found = BLOCK.findall(document.read_text(encoding="utf-8"))
    return [text for own, name, text in found if own == language and not name]


def lay_out(document: Path, folder: Path) -> None:
    """Write the files that the document shows."""
    for _, name, text in BLOCK.findall(document.read_text(encoding="utf-8")):
        if name:
            (folder / name).write_text(text, encoding="utf-8")


def copy_recipes(folder: Path) -> None:
    """The recipes, with fewer updates of the tiny model: what is asked is whether the calls run in their order."""
    copytree(PROJECT / "recipes", folder)
    tiny = folder / "vhred-tiny.toml"
    short = tiny.read_text(encoding="utf-8").replace("updates = 40", "updates = 10")
    assert "updates = 10" in short
    tiny.write_text(short, encoding="utf-8")


def write_german(folder: Path) -> None:
    """What docs/languages.md takes for granted: German ratings, and word vectors."""
    (folder / "de.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in rated(GERMAN, " ")))
    words = {word for parts in GERMAN.values() for text in parts for word in text.replace(".", "").split()}
    rng = np.random.default_rng(0)
    write_vectors(folder / "cc.de.300.vec", {word: tuple(rng.normal(size=5)) for word in sorted(words)})


# What customers ask, and what answers it.
ASKED = {
    "refund": ("i want my money back for order {}", "we will send the money back to your card within five days"),
    "delivery": ("where is my parcel number {} ?", "the parcel is on its way and will be with you tomorrow"),
    "account": ("i can not log in with the name user{}", "we sent you a mail to choose a new password"),
    "size": ("the shoes of order {} are too small", "you can change them for a larger size in every shop"),
    "bill": ("there is a mistake in the bill {}", "we looked at the bill and will correct the sum"),
    "broken": ("the lamp from order {} does not work", "please send us a photo and we will send a new lamp"),
}
POLITE = ("thank you for your message , have a nice day", "we are sorry to hear that")


def write_ratings(folder: Path) -> None:
    """What docs/train.md takes for granted: 300 rated replies, good where they answer what was asked."""
    rng = random.Random(4)
    with (folder / "ratings.csv").open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["prompt", "answer", "stars"])
        for number in range(300):
            intent, case = rng.choice(sorted(ASKED)), rng.random()
            if case < 0.45:
                answer, mean = ASKED[intent][1], 4.2
            elif case < 0.8:
                answer, mean = ASKED[rng.choice(sorted(set(ASKED) - {intent}))][1], 2.0
            else:
                answer, mean = rng.choice(POLITE), 2.6
            if rng.random() < 0.4:
                answer = f"{answer} , {rng.choice(POLITE)}"
            stars = min(5, max(1, round(rng.gauss(mean, 1.1))))
            table.writerow([ASKED[intent][0].format(1000 + number), answer, stars])


def write_for_fit(folder: Path) -> None:
    """What docs/howto/fit.md takes for granted: ratings, choices, and a judge."""
    write_ratings(folder)
    quick_judge(made_material(folder)).save(folder / "shop-judge")
    with (folder / "choices.jsonl").open("w", encoding="utf-8") as stream:
        for number, (asked, answer) in enumerate(12 * list(ASKED.values())):
            line = {"prompt": asked.format(number), "chosen": answer, "rejected": f"{answer} {POLITE[number % 2]}"}
            stream.write(f"{json.dumps(line)}\n")


def copy_results(folder: Path) -> None:
    """What docs/result-files.md takes for granted: result files of other programs."""
    for file in (PROJECT / "tests" / "golden" / "evaluations").iterdir():
        copy(file, folder)


def write_logs(folder: Path) -> None:
    """What docs/compare.md takes for granted: the logs of two weeks, and versions of a bot with human labels."""
    write_weeks(folder)
    for name in ("v2.csv", "v3.csv", "labels.csv"):
        copy(PROJECT / "docs" / "tutorials" / "llm-bot" / name, folder)


def write_turns(folder: Path) -> None:
    """What docs/scale.md takes for granted: a folder of two Parquet files."""
    (folder / "turns").mkdir()
    for number in range(2):
        lines = [{"id": f"{number}-{n}", "context": ["hello"], "response": f"hello number {n}"} for n in range(3)]
        write(lines, folder / "turns" / f"part-{number:05}.parquet")


def write_topics(folder: Path) -> None:
    """What docs/howto/look-at-scores.md takes for granted: replies with a topic."""
    with (folder / "replies.jsonl").open("w", encoding="utf-8") as stream:
        for topic, turns in {
            "tea": ("do you like tea ?", "yes , i do ."),
            "work": ("how was work ?", "it was fine ."),
        }.items():
            line = {"context": [turns[0]], "response": turns[1], "topic": topic}
            stream.write(f"{json.dumps(line)}\n")


def copy_bot(folder: Path) -> None:
    """What the pages about judges and labels take for granted: the files of the tutorial."""
    for file in llm_bot.FOLDER.glob("*.csv"):
        copy(file, folder)


GIVEN = {
    "llm-bot.md": copy_bot,
    "check-a-judge.md": copy_bot,
    "look-at-scores.md": write_topics,
    "result-files.md": copy_results,
    "languages.md": write_german,
    "scale.md": write_turns,
    "compare.md": write_logs,
    "estimate.md": write_bots,
    "fit.md": write_for_fit,
    "train.md": write_ratings,
}


# Those that take seconds each run with --slow, as CI does.
# Those that need more than a folder run in tests of their own.
ELSEWHERE = ("llm-judge.md",)  # test_llm_judge.py
LONG = ("audit.md", "fit.md", "index.md", "judge.md", "rerank.md", "scale.md", "train.md")


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(path, marks=pytest.mark.slow) if path.name in LONG else path
        for path in DOCUMENTS
        if path.name not in ELSEWHERE
    ],
    ids=lambda path: path.name,
)
def test_commands_run_in_their_order(
    document: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    slow = request.config.getoption("--slow")
    if not slow:
        request.getfixturevalue("few_trees")
    commands = [
        (command, shown)
        for block in blocks(document, "console")
        for command, *shown in (part.splitlines() for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:])
    ]
    copy_recipes(tmp_path / "recipes")
    lay_out(document, tmp_path)
    GIVEN.get(document.name, lambda _: None)(tmp_path)
    monkeypatch.chdir(tmp_path)
    for command, shown in commands:
        program, *words = shlex.split(command)
        assert program == "rejoinder", command
        if words[0] == "audit" and "--family" not in words:
            words += ["--limit", "40"]  # of every family, which takes half a minute otherwise
        done = run(*words)  # in this process, which has its libraries loaded; test_cli_process calls the program itself
        assert done.code == 0, f"{document.name}: {command}\n{done.err}"
        for line in shown:
            assert " ".join(line.split()) in done.words, f"{document.name}: {command} does not print {line!r}"
    if document.name == "README.md":
        assert len(commands) >= 5


# tests/integrations/test_page.py runs the page about other tools, each where it is installed.
PYTHON = [path for path in DOCUMENTS if path.name != "integrations.md"]


@pytest.mark.parametrize("document", PYTHON, ids=lambda path: path.name)
def test_python_runs(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay_out(document, tmp_path)
    if blocks(document, "python"):
        GIVEN.get(document.name, lambda _: None)(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for code in blocks(document, "python"):
        # Each as a program of its own that knows nothing of the others, but in this process.
        exec(compile(code, document.name, "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_scripts_and_links_are_there(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    for target in LINK.findall(text):
        if "://" not in target:
            assert (document.parent / target).exists(), target
    for script in re.findall(r"^(scripts/\w+|\.ci/run)", text, re.MULTILINE):
        assert os.access(PROJECT / script, os.X_OK), script


@pytest.mark.parametrize("page", label_table.PAGES, ids=lambda path: path.name)
def test_pages_about_labels_end_with_the_tables_of_the_script(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert label_table.filled(text) == text  # `python tests/label_table.py` writes the tables again
    assert all(table in text for table in label_table.tables())


def test_the_script_writes_the_files_of_the_tutorial(tmp_path: Path) -> None:
    made = llm_bot.bot()
    llm_bot.write_files(tmp_path, made)
    llm_bot.write_second_look(tmp_path, made)
    for file in llm_bot.FOLDER.iterdir():  # `python tests/llm_bot.py` writes them again
        assert (tmp_path / file.name).read_text(encoding="utf-8") == file.read_text(encoding="utf-8"), file.name


def test_the_tutorial_states_the_truth() -> None:
    made = llm_bot.bot()
    good = np.array([made.truth[line["id"]] for line in made.lines])
    passed = np.array([line["judge"] == "pass" for line in made.lines])
    systems = np.array([line["system"] for line in made.lines])
    shares = [good.mean(), *(good[systems == name].mean() for name in ("v1", "v2", "v3"))]
    shares += [passed[good == 1].mean(), 1 - passed[good == 0].mean()]
    page = (PROJECT / "docs" / "tutorials" / "llm-bot.md").read_text(encoding="utf-8")
    truth = page.partition("## The truth")[2].partition("##")[0]
    assert re.findall(r"(\d+) %", truth) == [f"{100 * share:.0f}" for share in shares]
    files = (llm_bot.FOLDER / name for name in (llm_bot.LABELS, llm_bot.SECOND))
    rated = list(rejoinder.read(*files, labels=True, texts=False))
    study = rejoinder.study(made.lines, ["column:judge"], rated=rated)
    rows = [study.one(scorer="column:judge", statistic="pass rate", system=name) for name in ("", "v1", "v2", "v3")]
    rows += [study.one(scorer="column:judge", statistic=name, by="") for name in ("TPR", "TNR")]
    assert all(row.low <= share <= row.high for row, share in zip(rows, shares, strict=True))


def test_every_sample_of_formats_gives_the_result_on_the_page() -> None:
    page = formats_page.PATH.read_text(encoding="utf-8")
    assert formats_page.filled(page) == page  # `python tests/formats_page.py` writes the results again
    assert page.count("```result") == len(list(formats_page.SAMPLE.finditer(page)))


def test_every_format_has_a_sample_on_the_page(tmp_path: Path) -> None:
    samples = formats_page.SAMPLE.finditer(formats_page.PATH.read_text(encoding="utf-8"))
    found = [(sample["name"], formats_page.format_of(sample, tmp_path)) for sample in samples if sample["name"]]
    assert found == [(name, name) for name, _ in found]
    assert {name for name, _ in found} == {kind.name for kind in formats()}


def test_every_name_on_the_page_of_formats_is_known() -> None:
    table = formats_page.PATH.read_text(encoding="utf-8").partition("## Names")[2].partition("###")[0]
    lines = re.findall(r"^\| `(\w+)` \|(.*)\|(.*)\|$", table, re.MULTILINE)
    assert {field for field, *_ in lines} == {*ALIASES} - {"messages", "quality", "dataset"}
    for field, *columns in lines:
        for names, known in zip(columns, ALIASES[field], strict=True):
            assert set(re.findall(r"`(\w+)`", names)) <= set(known.split()), field


RESULTS = sorted((PROJECT / "docs" / "results").glob("*.md"))


@pytest.mark.parametrize("page", RESULTS, ids=lambda path: path.name)
def test_calls_over_corpora_pass_over_their_bad_lines(page: Path) -> None:
    """The corpora hold dialogues that a reader refuses; a printed call that stops at one is none that can be made."""
    text = page.read_text(encoding="utf-8").replace("\n", " ")
    for call in re.findall(
        r"`((?:rejoinder (?:pretrain|reproduce|respond|selftalk)|python -m research\.\w+) [^`]+)`", text
    ):
        if "CORPUS" in call or "ubuntu_irc" in call:
            assert "--on-error skip" in call, call
