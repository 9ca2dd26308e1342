"""The command line as a user meets it: results, messages, exit codes. Each command runs in this process."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import rejoinder
from conftest import PROJECT, Run, refused
from rejoinder import cli
from rejoinder.auditing.attack import listing
from rejoinder.cli import COMMANDS
from rejoinder.registry import Entry
from rejoinder.scoring.catalog import SCORERS, cards
from samples import few


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    """Three lines: all there, no context, no reference; with keys of the user's own."""
    path = tmp_path / "lines.jsonl"
    records: Sequence[dict[str, Any]] = (
        {"id": "x", "context": ["how are you"], "response": "fine", "references": ["fine"], "mood": {"a": [1]}},
        {"id": "y", "context": [], "response": "i am fine today , thanks", "references": ["i am fine , thanks"]},
        {"id": "z", "context": ["where are you now"], "response": "where are you 🙂", "n": 7},
    )
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


# score


def test_scores_come_out_in_the_order_of_the_input(run: Run, lines: Path) -> None:
    ran = run("score", lines, "-s", "length", "-s", "bleu-2")
    assert (ran.code, ran.err) == (0, "")
    assert [record["id"] for record in ran.records] == ["x", "y", "z"]
    first, second, third = ran.records
    assert list(first)[:5] == ["id", "scores", "unscored", "warnings", "signatures"]
    assert list(first["signatures"]) == ["length", "bleu-2"]
    assert first["signatures"]["length"].startswith("scorer:length|version:2|")
    assert list(first["scores"]) == ["length", "bleu-2"] and first["mood"] == {"a": [1]}
    assert second["unscored"] == {} and 0 < second["scores"]["bleu-2"] < first["scores"]["bleu-2"]
    assert third["scores"]["bleu-2"] is None and third["unscored"] == {"bleu-2": "no reference"} and third["n"] == 7


@pytest.mark.parametrize("name", ["length", "context-overlap", "rouge-l", "bleu-4/coco", "embedding-greedy"])
def test_the_command_gives_the_scores_that_python_gives(run: Run, tmp_path: Path, name: str) -> None:
    lines = few("@dstc7", 100, tmp_path)
    examples = list(rejoinder.read(lines))
    scores = rejoinder.score(examples, name)
    records = run("score", lines, "-s", name).records
    assert [record["id"] for record in records] == [example.id for example in examples]
    for place, record in enumerate(records):
        if place in scores.reasons:
            assert record["scores"][name] is None and record["unscored"][name] == scores.reasons[place]
        else:
            assert record["scores"][name] == scores.values[place] and record["unscored"] == {}


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".csv", ".tsv", ".parquet"])
def test_scores_go_to_a_file_and_a_summary_to_the_user(run: Run, lines: Path, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"out{suffix}"
    ran = run("score", lines, "-s", "length", "-s", "context-overlap", "-o", out)
    assert (ran.code, ran.err) == (0, "")
    assert ran.words.startswith("scorer scored unscored mean sd corpus ")
    assert "1 unscored: no context (context-overlap)" in ran.out
    assert "scorer:length|version:2|tokenizer:words-2|rejoinder:" in ran.out
    assert "fine today" not in ran.out
    first, second, _ = rejoinder.read(out)
    assert first.extra["scores"]["length"] == 1.0
    assert second.extra["scores"]["context-overlap"] is None
    assert second.extra["unscored"] == {"context-overlap": "no context"}


def test_formats_of_standard_output(run: Run, lines: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = run("score", lines, "-s", "length", "-s", "bleu-1", "--format", "table").words
    assert table.startswith("id response length bleu-1 ") and "y i am fine today , thanks 5" in table
    assert "z where are you 🙂 4.000 –" in table and "1 unscored: no reference (bleu-1)" in table
    rows = list(csv.DictReader(io.StringIO(run("score", lines, "-s", "length", "--format", "csv").out)))
    assert (rows[0]["id"], rows[0]["scores.length"], rows[0]["mood"]) == ("x", "1.0", '{"a": [1]}')
    assert run("score", lines, "-s", "length", "--format", "jsonl").records[2]["id"] == "z"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert run("score", lines, "-s", "length").out.startswith("id "), "on a terminal a table is the default"


def test_a_long_table_says_how_much_it_leaves_out(run: Run) -> None:
    assert (
        "... and 380 more lines; --format jsonl shows all"
        in run("score", "@dstc7", "-s", "length", "--format", "table").out
    )


def test_a_format_beats_the_suffix_but_a_table_is_no_file(run: Run, lines: Path, tmp_path: Path) -> None:
    run("score", lines, "-s", "length", "--format", "csv", "-o", tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_text().startswith("id,scores.length,")
    message = "--format table is for reading on a terminal. Omit it, or omit -o"
    refused(run("score", lines, "-s", "length", "--format", "table", "-o", tmp_path / "t.csv"), 2, message)


def test_scores_of_an_earlier_run_stay(run: Run, lines: Path, tmp_path: Path) -> None:
    for suffix in ("jsonl", "csv", "parquet"):
        first, second = tmp_path / f"one.{suffix}", tmp_path / f"two.{suffix}"
        run("score", lines, "-s", "length", "-s", "bleu-1", "-o", first)
        run("score", first, "-s", "context-overlap", "-s", "bleu-1", "-o", second)
        found = list(rejoinder.read(second))
        assert set(found[0].extra["scores"]) == {"length", "bleu-1", "context-overlap"}
        assert {name: text.split("|")[0] for name, text in found[0].extra["signatures"].items()} == {
            name: f"scorer:{name}" for name in ("length", "bleu-1", "context-overlap")
        }
        assert found[1].extra["unscored"] == {"context-overlap": "no context"}
        assert found[2].extra["unscored"] == {"bleu-1": "no reference"}


def test_a_scores_key_of_the_users_own_is_not_overwritten(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"response": "a", "scores": [3]}\n')
    message = f'{path}:1: field "scores": is a list, expected an object by scorer, as scoring writes it. Rename it'
    refused(run("score", path, "-s", "length"), 3, message)
    with path.open("a") as stream:
        stream.write('{"response": "a b", "scores": null}\n')
    ran = run("score", path, "-s", "length", "--on-error", "skip")
    assert ran.code == 0 and [record["scores"] for record in ran.records] == [{"length": 2.0}]


def test_standard_input_and_several_files(run: Run, lines: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"response": "from stdin"}\n')))
    assert [record["id"] for record in run("score", lines, "-", "-s", "length").records] == ["x", "y", "z", "stdin:1"]


def test_without_a_name_the_judge_in_the_box_scores(run: Run, lines: Path) -> None:
    assert list(run("score", lines).records[0]["scores"]) == ["rejoinder"]


def test_without_a_name_every_plain_scorer_is_studied(run: Run) -> None:
    found = json.loads(run("study", "@conture", "--resamples", "100", "--json").out)
    assert [name for name, scorer in found["scorers"].items() if scorer["asked"]] == [
        name for name in SCORERS if name != "rejoinder"
    ]
    (left_out,) = found["warnings"]
    assert "rejoinder, which was fitted on lines of conture_turn." in left_out and "-s rejoinder" in left_out


def test_a_study_of_what_a_judge_was_fitted_on_has_a_warning(run: Run) -> None:
    ran = run("study", "@conture", "-s", "rejoinder", "--resamples", "100", "--json")
    found = json.loads(ran.out)
    assert any("fitted on lines of conture_turn" in warning for warning in found["warnings"])
    assert found["scorers"]["rejoinder"]["fitted_on"] == ["conture_turn"] and (ran.code, ran.err) == (0, "")


def test_a_study_of_what_a_judge_was_fitted_on_has_a_warning_where_no_data_set_is_named(
    run: Run, tmp_path: Path
) -> None:
    plain = [replace(line, dataset=None) for line in islice(rejoinder.read("@dstc7"), 80)]
    rejoinder.write(plain, tmp_path / "own.jsonl")
    run("train", "r-adem", tmp_path / "own.jsonl", "-o", tmp_path / "judge")
    ran = run("study", tmp_path / "own.jsonl", "-s", tmp_path / "judge", "--resamples", "100")
    assert ran.code == 0 and "fitted on lines of files that name no data set" in ran.words
    named = run("study", "@dstc7", "-s", tmp_path / "judge", "-s", "length", "--resamples", "100")
    assert named.code == 0 and "fitted on" not in named.words


def test_a_bad_line_stops_and_leaves_the_old_output(run: Run, lines: Path, tmp_path: Path) -> None:
    with lines.open("a") as stream:
        stream.write('{"id": "bad", "context": ["a", 5], "response": "x"}\n')
    (tmp_path / "out.jsonl").write_text("old")
    ran = run("score", lines, "-s", "length", "-o", tmp_path / "out.jsonl")
    assert (ran.code, ran.out) == (3, "") and ran.err.startswith(f'rejoinder: {lines}:4: field "context": ')
    assert (tmp_path / "out.jsonl").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lines.jsonl", "out.jsonl"]


def test_skipping_counts_and_lists(run: Run, lines: Path) -> None:
    with lines.open("a") as stream:
        stream.write("{\n" * 25 + '{"id": "last", "response": "x"}\n')
    ran = run("score", lines, "-s", "length", "--on-error", "skip")
    assert ran.code == 0
    assert [record["id"] for record in ran.records] == ["x", "y", "z", "last"]
    said = ran.err.splitlines()
    assert said[0] == "skipped 25:" and said[-1] == "  ... and 5 more" and len(said) == 22
    assert said[1].startswith(f"  {lines}:4: broken JSON (")


def test_where_everything_is_skipped_nothing_is_written(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("{\n")
    ran = run("score", tmp_path / "a.jsonl", "-s", "length", "--on-error", "skip", "-o", tmp_path / "out.jsonl")
    assert ran.code == 3 and not (tmp_path / "out.jsonl").exists()
    assert ran.err.endswith("rejoinder: no line is left to score. Correct those that were skipped\n")
    assert "skipped 1:" in ran.err


@pytest.mark.parametrize(
    "call", ["score {} -s context-overlap", "study {} -s context-overlap", "audit {} -s context-overlap"]
)
def test_where_no_line_has_a_context_the_columns_are_named(run: Run, tmp_path: Path, call: str) -> None:
    rows = "".join(f"{n},what about {n},b,well {n} yes,{n % 5 + 1}\n" for n in range(60))
    (tmp_path / "a.csv").write_text(f"id,foo,bar,response,rating\n{rows}")
    ran = run(*call.format(tmp_path / "a.csv").split())
    remedy = "(--map context=NAME), or choose what needs none (rejoinder list)\n"
    assert ran.code == 5
    assert ran.err.endswith(f"no context. Say which of foo, bar holds what was said before {remedy}")


def test_a_judge_is_not_fitted_on_replies_alone_and_says_what_to_map(run: Run, tmp_path: Path) -> None:
    rows = "".join(f"{n},well {n} yes,{n % 5 + 1}\n" for n in range(60))
    (tmp_path / "a.csv").write_text(f"id,response,rating\n{rows}")
    for command in (("fit",), ("train", "judge")):
        ran = run(*command, tmp_path / "a.csv", "--scale", "1,5", "-o", tmp_path / "judge")
        assert ran.code == 3 and "Say which column holds what was said before (--map context=NAME)" in ran.err


def test_a_scorer_without_a_single_score(run: Run, lines: Path, tmp_path: Path) -> None:
    lines.write_text('{"response": "a"}\n{"response": "b"}\n')
    ran = run("score", lines, "-s", "context-overlap", "-s", "bleu-2", "-o", tmp_path / "out.jsonl")
    assert ran.code == 5
    columns = "what was said before (--map context=NAME) or a good reply (--map references=NAME)"
    message = f"none of 2 lines has a score: no context, no reference. Say which column holds {columns}"
    assert ran.err == f"rejoinder: {message}\n"
    assert [example.extra["scores"] for example in rejoinder.read(tmp_path / "out.jsonl")] == [
        {"context-overlap": None, "bleu-2": None}
    ] * 2
    assert run("score", lines, "-s", "length", "-s", "bleu-2").code == 0, "one scorer that works is enough"


def test_lines_without_a_single_score_replace_no_older_file(run: Run, lines: Path, tmp_path: Path) -> None:
    lines.write_text('{"response": "a"}\n{"response": "b"}\n')
    for name in ("out.jsonl", "out.csv"):
        (tmp_path / name).write_text("of yesterday\n")
        ran = run("score", lines, "-s", "bleu-2", "-o", tmp_path / name)
        assert ran.code == 5 and (tmp_path / name).read_text() == "of yesterday\n"
        said = ran.err.splitlines()
        assert said[0] == f"{tmp_path / name} is left as it was" and len(said) == 2
        assert said[1].startswith("rejoinder: none of 2 lines has a score: no reference. Say which column")
    assert run("score", lines, "-s", "length", "-s", "bleu-2", "-o", tmp_path / "out.csv").code == 0
    assert "of yesterday" not in (tmp_path / "out.csv").read_text(), "one scorer that works is enough"


def test_an_output_that_is_an_input_is_refused(run: Run, lines: Path) -> None:
    before = lines.read_bytes()
    ran = run("score", lines, "-s", "length", "-o", lines)
    assert (ran.code, lines.read_bytes()) == (2, before)
    assert "is an input too and would be replaced. Choose another place for the output" in ran.err


def test_word_vectors_that_nobody_reads_are_refused(run: Run, lines: Path) -> None:
    ran = run("score", lines, "-s", "length", "--vectors", "vectors.txt")
    assert (ran.code, ran.err) == (2, "rejoinder: vectors.txt: none of length reads word vectors. Leave them out\n")


@pytest.mark.slow
@pytest.mark.parametrize("columns", ["40", "80", "200"])
def test_no_cell_of_a_table_is_ever_cut(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    study = ("study", few("@dstc7", 100, tmp_path), "-s", "embedding-greedy", "-s", "length", "--resamples", 100)
    found = json.loads(run(*study, "--json").out)["results"]
    shown = run(*study, "--all").out
    rows = [row for row in found if row["statistic"] in ("pearson", "spearman") and row["level"] == "turn"]
    rows = [row for row in rows if row["scorer"] in ("embedding-greedy", "length") and not row["group"]]
    for row in rows:
        assert f"{row['value']:z.2f} [{row['low']:z.2f}, {row['high']:z.2f}]" in shown
        assert row["scorer"] in shown and str(row["n"]) in shown.split()
    assert len(rows) == 4
    ids = [json.loads(line)["id"] for line in run("score", "@conture", "-s", "length").out.splitlines()[:20]]
    table = run("score", "@conture", "--format", "table").out
    assert set(ids) <= set(table.split())


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            ("-s", "blue-4"),
            2,
            "no scorer and no folder is called 'blue-4'. Nearest: bleu-4, bleu-3, bleu-2. All of them: rejoinder list",
        ),
        (
            ("-s", "length", "-o", "{folder}/no/a.jsonl"),
            7,
            "{folder}/no/a.jsonl: its folder does not exist. Make it first: mkdir -p {folder}/no",
        ),
        (
            ("-s", "length", "-o", "{folder}/a.doc"),
            2,
            "{folder}/a.doc: unknown output format .doc. Use one of "
            ".jsonl, .ndjson, .csv, .tsv, .parquet, .xlsx, .html",
        ),
        (  # said before scorers are loaded, which may take long
            ("-s", "blue-4", "-o", "{folder}/a.doc"),
            2,
            "{folder}/a.doc: unknown output format .doc. Use one of "
            ".jsonl, .ndjson, .csv, .tsv, .parquet, .xlsx, .html",
        ),
        (
            ("-s", "{folder}"),
            4,
            "{folder}: no trained model here (config.json is missing). "
            "Check the name; rejoinder train makes judges, rejoinder pretrain encoders and responders",
        ),
    ],
)
def test_calls_that_cannot_work(
    run: Run, lines: Path, tmp_path: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    filled = [argument.format(folder=tmp_path) for argument in arguments]
    refused(run("score", lines, *filled), code, message.format(folder=tmp_path))


def test_what_is_not_there(run: Run, lines: Path, tmp_path: Path) -> None:
    ran = run("score", tmp_path / "gone.csv", "-s", "length")
    assert (ran.code, ran.out) == (4, "") and ran.err.startswith(f"rejoinder: {tmp_path}/gone.csv: no such file. ")
    ran = run("score", lines, "-s", "embedding-average", "--vectors", tmp_path / "gone.txt")
    assert ran.code == 4 and ran.out == "" and ran.err.count("\n") == 1
    assert ran.err.startswith(f"rejoinder: {tmp_path}/gone.txt: ")


@pytest.mark.parametrize(
    "arguments", ["score", "fly", "score @dstc7 --format xml", "study --seed x", "train c-adem @dstc7"]
)
def test_usage(run: Run, arguments: str) -> None:
    ran = run(*arguments.split())
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == 1 and ran.err.endswith(" See rejoinder --help, rejoinder COMMAND --help\n")


def test_debug_shows_where_and_keeps_the_exit_code(run: Run, tmp_path: Path) -> None:
    for arguments in (("--debug", "score"), ("score", "--debug")):
        ran = run(*arguments, tmp_path / "gone.jsonl", "-s", "length")
        assert ran.code == 4
        assert "Traceback (most recent call last)" in ran.err and "rejoinder.errors.MissingAsset" in ran.err


def test_a_fault_of_ours_is_one_line_too(run: Run, lines: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("rejoinder.scoring.catalog.load_scorer", fail)
    refused(run("score", lines), 1, "ZeroDivisionError: oh. This is a fault of rejoinder; --debug shows where")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("rejoinder.scoring.catalog.load_scorer", full)
    told = "cannot be written (No space left on device). Make room, also for temporary files, or choose another place."
    refused(run("score", lines), 7, f"standard output or a temporary file: {told}")


def test_interruption_is_refused(run: Run, lines: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("rejoinder.scoring.engines.run", stop)
    refused(
        run("score", lines, "-s", "length", "-o", tmp_path / "a.csv"),
        130,
        "interrupted; every output file is whole or as it was",
    )
    assert [path.name for path in tmp_path.iterdir()] == ["lines.jsonl"]


# list, show, doctor, version


def test_list(run: Run) -> None:
    table = run("list")
    assert table.code == 0 and all(f"\n{name} " in table.out for name in SCORERS)
    assert all(f"\n{entry.name} " in table.out for group in listing().values() for entry in group)
    found = json.loads(run("list", "--json").out)
    assert found["version"] == 1 and [result["scorer"] for result in found["results"]] == list(cards())
    assert {"scorer", "kind", "summary", "needs", "range", "higher_is_better", "source"} <= set(found["results"][0])
    groups = ("judges", "encoders", "responders", "material", "attacks")
    names = {group: [entry["name"] for entry in found[group]] for group in groups}
    assert names == {group: [entry.name for entry in entries] for group, entries in listing().items()}
    assert {"adem", "panel"} <= set(names["judges"]) and {"hred", "tweet2vec", "rejoinder"} <= set(names["encoders"])
    assert {"hred", "r-tfidf", "human:FILE", "openai:URL#MODEL"} <= set(names["responders"])
    assert names["material"] == ["phrases", "mood", "selector"]


@pytest.mark.parametrize(
    "entry", [entry for group in listing().values() for entry in group], ids=lambda entry: entry.name
)
def test_what_is_listed_says_how_it_comes_about(entry: Entry[Any]) -> None:
    assert entry.about and entry.made, "a kind without words"
    for recipe in re.findall(r"recipes/\S+", entry.made):
        assert f'kind = "{entry.name}"' in (PROJECT / recipe).read_text(encoding="utf-8")
    program, *words = entry.made.split()
    assert program != "rejoinder" or words[0] in COMMANDS


@pytest.mark.parametrize("name", ["bleu-2", "bleu-4/coco", "embedding-extrema", "length"])
def test_show(run: Run, name: str) -> None:
    text = run("show", name).out
    assert text.startswith(f"{name} (") and "  example\n" in text and "signature  scorer:" in text
    (record,) = json.loads(run("show", name, "--json").out)["results"]
    assert record["scorer"] == name and record["signature"]["scorer"] == name
    assert record["needs"] == sorted(cards()[name].needs)


def test_show_of_nothing(run: Run) -> None:
    ran = run("show", "metoer")
    assert ran.code == 2 and "Nearest: meteor" in ran.err


def test_doctor(run: Run) -> None:
    text = run("doctor")
    assert text.code == 0 and "numpy" in text.out and "@dstc7" in text.out and text.out.endswith("\n")
    found = json.loads(run("doctor", "--json").out)
    assert found["version"] == 1 and {"what", "found", "needed_for", "remedy"} == set(found["results"][0])


def test_version_and_help(run: Run) -> None:
    assert run("--version").out == f"rejoinder {rejoinder.__version__}\n"
    assert all(name in run("--help").out for name in cli.COMMANDS)
    for name in cli.COMMANDS:
        assert run(name, "--help").out.startswith(f"Usage: rejoinder {name}")


def decimals() -> list[tuple[str, str]]:
    """Every option of every command that takes a number with a fraction."""
    from typing import get_type_hints

    return [
        (name, parameter)
        for name, module in cli.COMMANDS.items()
        for parameter, hint in get_type_hints(import_module(module).command, include_extras=True).items()
        if "float" in str(getattr(hint, "__origin__", hint))
    ]


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
@pytest.mark.parametrize(("name", "parameter"), decimals())
def test_a_number_that_is_none_is_refused(run: Run, tmp_path: Path, name: str, parameter: str, value: str) -> None:
    from test_outputs import call_of

    flag = f"--{parameter.replace('_', '-')}"
    ran = run(*call_of(name, {}, tmp_path), f"{flag}={value}")
    assert (ran.code, ran.out) == (2, "") and flag in ran.err and ran.err.count("\n") == 1, ran.err
    assert "expected a finite number" in ran.err or "Invalid value" in ran.err


def test_an_option_of_one_value_is_not_given_twice(run: Run, lines: Path, tmp_path: Path) -> None:
    ran = run("score", lines, "-s", "length", "-s", "bleu-2", "--scale", "1,5", "--scale", "1,7")
    assert (ran.code, ran.out) == (2, "") and "--scale was given 2 times and takes one value. Give it once" in ran.err


def test_one_call_writes_several_files(run: Run, lines: Path, tmp_path: Path) -> None:
    places = [tmp_path / name for name in ("a.csv", "b.jsonl", "c.xlsx", "d.html")]
    several = [word for place in places for word in ("-o", place)]
    assert run("score", lines, "-s", "length", *several).code == 0
    assert all(place.stat().st_size for place in places)
    for place in places[:3]:
        alone = tmp_path / f"alone{place.suffix}"
        assert run("score", lines, "-s", "length", "-o", alone).code == 0
        assert alone.read_bytes() == place.read_bytes()
    ran = run("score", lines, "-s", "length", "-o", "-", "-o", tmp_path / "e.csv")
    assert ran.out == places[1].read_text() and (tmp_path / "e.csv").read_bytes() == places[0].read_bytes()
    same = run("score", lines, "-s", "length", "-o", places[0], "-o", places[0])
    assert same.code == 2 and "two outputs in one place" in same.err


def test_a_table_comes_back_with_its_own_columns(run: Run, tmp_path: Path) -> None:
    rows = [
        "Ticket,Question,Bot reply,Human rating (1-5),warnings,Region",
        "7,hi there,hello,04,ok,EU",
        "8,well,fine,5,,US",
    ]
    (tmp_path / "log.csv").write_text("\n".join(rows) + "\n")
    assert run("score", tmp_path / "log.csv", "-s", "length", "-o", tmp_path / "a.csv").code == 0
    with (tmp_path / "a.csv").open(newline="") as stream:
        header, *scored = csv.reader(stream)
    added = ["scores.length", "unscored", "rejoinder_warnings", "signatures"]
    assert header == [*rows[0].split(","), *added], "the user's own column `warnings` stays"
    assert [",".join(row[:6]) for row in scored] == rows[1:], "cells come back as they were written"
    assert run("score", tmp_path / "a.csv", "-s", "length", "-s", "rejoinder", "-o", tmp_path / "b.csv").code == 0
    with (tmp_path / "b.csv").open(newline="") as stream:
        header, *again = csv.reader(stream)
    assert header[:6] == rows[0].split(",") and header.count("scores.length") == 1 and "scores.rejoinder" in header
    assert [row[:6] for row in again] == [row[:6] for row in scored]


def test_rows_of_several_raters_are_one_line(run: Run, tmp_path: Path) -> None:
    text = "id,prompt,answer,rater,rating\n1,hi,hello,ann,3\n1,hi,hello,bob,4\n"
    (tmp_path / "rows.csv").write_text(text)
    assert run("score", tmp_path / "rows.csv", "-s", "length", "-o", tmp_path / "a.csv").code == 0
    with (tmp_path / "a.csv").open(newline="") as stream:
        (line,) = csv.DictReader(stream)
    assert (line["response"], json.loads(line["ratings"])) == ("hello", [3, 4])
