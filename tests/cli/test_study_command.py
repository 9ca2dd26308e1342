"""`study` and `train` on the command line."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rejoinder
from conftest import Run
from samples import few


def pearson_of(scores: rejoinder.Scores, examples: list[rejoinder.Example]) -> float:
    ratings = np.array([example.rating() for example in examples], dtype=float)
    return float(np.corrcoef(scores.values[scores.scored], ratings[scores.scored])[0, 1])


def test_the_terminal_shows_the_answer_and_one_table(run: Run, tmp_path: Path) -> None:
    call = ("study", few("@dstc7", 100, tmp_path), "-s", "bleu-4", "-s", "length", "--resamples", "100")
    ran = run(*call)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("bleu-4 shows no significant agreement with human ratings: Pearson ")
    assert ran.out.count("───") and "raters: ceiling" in ran.out and "length (baseline)" in ran.out
    assert "100 lines, 100 of them rated and used" in ran.out and "Kendall" not in ran.out
    every = run(*call, "--all").out
    assert every.startswith(ran.out.partition("More:")[0].rstrip()) and "Kendall" in every
    assert "dstc7, turn level" in every and "dstc7, system level" in every


def test_json_is_the_flat_list(run: Run, tmp_path: Path) -> None:
    dstc7, conture = few("@dstc7", 100, tmp_path), few("@conture", 40, tmp_path)
    ran = run("study", dstc7, conture, "-s", "rouge-l", "-s", "length", "--json", "--resamples", "100", "--seed", "3")
    assert ran.code == 0
    result = json.loads(ran.out)
    assert result["version"] == 2 and result["command"] == "study" and result["options"]["seed"] == 3
    assert result["signature"]["length"]["scorer"] == "length" and result["scorers"]["rouge-l"]["kind"] == "metric"
    assert {name for name, about in result["scorers"].items() if about["asked"]} == {"rouge-l", "length"}
    assert all(row["seed"] in (3, None) for row in result["results"])

    def row(**labels: str) -> dict[str, Any]:
        labels = {"level": "turn", "group": "", **labels}
        (found,) = (row for row in result["results"] if labels.items() <= row.items())
        return dict(found)

    examples = list(rejoinder.read(dstc7))
    found = row(dataset="dstc7", scorer="length", statistic="pearson")
    assert found["value"] == pytest.approx(pearson_of(rejoinder.score(examples, "length"), examples), abs=1e-6)
    assert found["n"] == 100 and found["low"] <= found["value"] <= found["high"] and 0 < found["p"] <= 1
    unscored = row(dataset="conture_turn", scorer="rouge-l", statistic="pearson")
    assert unscored["value"] is None and "no reference" in unscored["reason"] and unscored["n"] == 0
    assert result["cases"][0]["why"] and {"dataset", "scorer", "id", "rating", "score"} <= result["cases"][0].keys()
    assert {about["dataset"]: about["rated"] for about in result["data"]} == {"dstc7": 100, "conture_turn": 40}


def test_the_same_study_twice_is_the_same(run: Run, tmp_path: Path) -> None:
    arguments = ("study", few("@dstc7", 60, tmp_path), "-s", "length", "--json", "--resamples", "100")
    first = run(*arguments).out
    assert run(*arguments).out == first != run(*arguments, "--seed", "1").out


def test_every_format_has_the_answer_and_figures_are_drawn(run: Run, tmp_path: Path) -> None:
    lines = few("@dstc7", 60, tmp_path)
    paths = [tmp_path / f"report.{suffix}" for suffix in ("html", "md", "tex", "csv", "json")]
    outs = [word for path in paths for word in ("-o", path)]
    ran = run(
        "study", lines, "-s", "rejoinder", "-s", "length", "--resamples", 100, *outs, "--figures", tmp_path / "charts"
    )
    assert ran.code == 0, ran.err
    headline = ran.out.splitlines()[0]
    for path in paths[:2]:
        text = unescape(path.read_text(encoding="utf-8")).replace("\\", "").replace("\u00a0", " ")
        assert (
            headline in text
            and "The best scorer against the others" in text
            and "Where scorers and raters differ" in text
        )
    assert "booktabs" in paths[2].read_text(encoding="utf-8") and paths[3].read_text().count("\n") > 50
    names = {path.name for path in (tmp_path / "charts").iterdir()}
    assert {"study-scorers.svg", "study-scorers.png", "study-scorers.pdf"} <= names
    ran = run("study", lines, "-s", "length", "--figures", paths[0])
    assert ran.code == 2 and "is a file. Name a folder for the charts" in ran.err


def test_a_place_that_cannot_take_the_study_is_refused_before_any_work(run: Run, tmp_path: Path) -> None:
    for place, code in (("a.pdf", 2), ("gone/a.html", 7)):
        assert run("study", tmp_path / "no.jsonl", "-o", tmp_path / place).code == code


def test_options_of_ratings_are_refused_for_pairs(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    records = [{"id": n, "context": ["a"], "responses": ["b " * n, "c"], "preferred": n % 2} for n in range(1, 12)]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert run("study", path, "-s", "length", "--resamples", "100").code == 0
    for option in (("--dimension", "wit"), ("--drop-copies",), ("--leave-one-out",), ("--scale", "1,5")):
        refusal = run("study", path, "-s", "length", *option)
        assert refusal.code == 2 and option[0] in refusal.err and f"{path}:1 is a pair" in refusal.err


def test_responses_that_copy_a_reference_can_be_left_out(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    records = [
        {
            "id": n,
            "context": [f"turn {n}"],
            "response": "a " * n,
            "references": ["A  a A"],
            "quality": {"overall": n % 4},
        }
        for n in range(1, 9)
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    kept = json.loads(run("study", path, "-s", "length", "--json", "--resamples", "100").out)
    dropped = json.loads(run("study", path, "-s", "length", "--json", "--resamples", "100", "--drop-copies").out)
    assert kept["counts"] == {"examples": 8, "rated": 8, "copies": 1}
    assert dropped["counts"] == {"examples": 8, "rated": 7, "copies": 1} and dropped["options"]["drop_copies"]
    assert {one["n"] for one in dropped["results"] if one["statistic"] == "pearson"} == {7}


def test_a_study_that_cannot_be(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": 1, "response": "a"}\n')
    ran = run("study", path, "-s", "length")
    assert (ran.code, ran.out) == (3, "") and 'none of 1 lines has a rating in "overall"' in ran.err
    path.write_text('{"id": 1, "response": "a", "quality": {"overall": 1}}\n' * 2)
    ran = run("study", path, "-s", "length")
    assert (ran.code, ran.out) == (3, "") and ran.err.startswith(f'rejoinder: {path}:2: field "id": ')
    path.write_text('{"id": 1, "response": "a", "quality": {"overall": 1}}\n')
    assert run("study", path, "-s", "bleu-2").code == 5
    assert run("study", path, "-s", "blue-2").code == 2
    assert run("study", tmp_path / "gone.jsonl", "-s", "length").code == 4


# train


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "sample"), [("c-adem", "@conture"), ("r-adem", "@dstc7")])
def test_a_trained_judge_is_a_scorer_like_any_other(
    run: Run, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, kind: str, sample: str
) -> None:
    folder, held_out = tmp_path / "judge", tmp_path / "test.jsonl"
    given = few(sample, 200, tmp_path_factory.mktemp("given"))
    ran = run("train", kind, given, "-o", folder, "--held-out", held_out)
    assert (ran.code, ran.err) == (0, "")
    assert ran.words.startswith("No scorer shows significant agreement with people: ")
    assert "part lines Pearson Spearman " in ran.words
    assert f"saved in {folder}; score with it: rejoinder score FILE -s {folder}" in ran.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["judge", "test.jsonl"]

    test = list(rejoinder.read(held_out))
    whole = {example.id: example for example in rejoinder.read(given)}
    assert 20 < len(test) < len(whole) / 3 and all(whole[example.id] == example for example in test)

    records = run("score", held_out, "-s", folder).records
    scores = rejoinder.score(test, folder)
    assert [record["scores"][str(folder)] for record in records] == list(scores.values)
    study = json.loads(run("study", held_out, "-s", folder, "--json", "--resamples", "100").out)
    found = next(one for one in study["results"] if one["level"] == "turn" and one["statistic"] == "pearson")
    assert found["value"] == pytest.approx(pearson_of(scores, test), abs=1e-6)
    config = json.loads((folder / "config.json").read_text())
    assert config["model"]["training"]["test"]["pearson"] == pytest.approx(found["value"], abs=1e-6), "as training said"

    card = run("show", folder)
    assert card.code == 0 and card.out.startswith(f"{kind} (judge)") and "|model:" in card.out


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_same_seed_trains_the_same_judge_byte_for_byte(run: Run, tmp_path: Path) -> None:
    train = ("train", "c-adem", few("@conture", 120, tmp_path), "--epochs", 20)
    for name, seed in (("one", 0), ("two", 0), ("three", 1)):
        assert run(*train, "-o", tmp_path / name, "--seed", seed).code == 0
    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert files(tmp_path / "one") != files(tmp_path / "three")
    assert not any(name.endswith((".pkl", ".pickle", ".pt", ".npy")) for name in files(tmp_path / "one"))
    before = files(tmp_path / "three")
    assert run(*train, "-o", tmp_path / "three", "--seed", "2", "--force").code == 0
    assert files(tmp_path / "three") != before, "an older judge is replaced where it is asked for"


def test_a_damaged_judge(run: Run, tmp_path: Path) -> None:
    folder, lines = tmp_path / "judge", few("@conture", 100, tmp_path)
    run("train", "c-adem", lines, "-o", folder, "--epochs", 2)
    for name, part in files(folder).items():
        if name == "card.md":
            continue
        (folder / name).write_bytes(part[: len(part) // 2])
        ran = run("score", lines, "-s", folder)
        assert (ran.code, ran.out) == (3, "") and ran.err.startswith(f"rejoinder: {folder}"), name
        (folder / name).unlink()
        ran = run("score", lines, "-s", folder)
        assert (ran.code, ran.out) == (4, "") and "missing" in ran.err, name
        (folder / name).write_bytes(part)
    assert run("score", lines, "-s", folder).code == 0


def untouched(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *arguments: Any) -> str:
    """The message of a training that is refused before it begins."""

    def begun(*_: Any, **__: Any) -> None:
        pytest.fail("training began")

    monkeypatch.setattr("rejoinder.analysis.train.train", begun)
    before = sorted(tmp_path.rglob("*"))
    ran = run("train", "c-adem", "@conture", *arguments)
    assert (ran.code in (2, 7), ran.out) == (True, "") and sorted(tmp_path.rglob("*")) == before
    return ran.err


def test_a_place_that_cannot_take_the_judge_is_refused_before_training(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "config.json").write_text("{}")
    message = untouched(run, tmp_path, monkeypatch, "-o", project)
    assert message == (
        f"rejoinder: {project}: exists and holds what rejoinder did not write there (config.json), "
        "so it is not replaced. Choose another name.\n"
    )
    message = untouched(run, tmp_path, monkeypatch, "-o", tmp_path / "no" / "judge")
    assert message.startswith(f"rejoinder: {tmp_path}/no/judge: its folder does not exist. Make it first: mkdir -p ")
    message = untouched(run, tmp_path, monkeypatch, "-o", tmp_path / "j", "--held-out", tmp_path / "test.doc")
    assert "unknown output format .doc" in message
    message = untouched(run, tmp_path, monkeypatch, "-o", tmp_path / "j", "--held-out", tmp_path / "no" / "test.csv")
    assert "its folder does not exist" in message
    assert "--seed" in untouched(run, tmp_path, monkeypatch, "-o", tmp_path / "j", "--seed", "-1")


def test_too_little_to_learn_from(run: Run, tmp_path: Path) -> None:
    ran = run("train", "adem", "@conture", "-o", tmp_path / "judge")
    assert ran.code == 3 and ran.out == "" and ran.err.count("\n") == 1
    assert "train a judge that needs no reference: rejoinder train c-adem, or autojudge" in ran.err
    assert list(tmp_path.iterdir()) == []
    path = tmp_path / "a.jsonl"
    path.write_text('{"context": ["hi"], "response": "a"}\n{\n')
    one = run("train", "c-adem", path, "-o", tmp_path / "judge", "--on-error", "skip")
    assert (
        one.code == 3
        and one.err.startswith("skipped 1:\n")
        and "0 rated contexts that c-adem can learn from" in one.err
    )
    ran = run("train", "c-adem", tmp_path / "b.csv", "-o", tmp_path / "judge")
    assert (ran.code, ran.out) == (4, "") and ran.err.startswith(f"rejoinder: {tmp_path}/b.csv: no such file. ")


def test_the_page_prints_the_command_line(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, page = tmp_path / "odd.csv", tmp_path / "page.html"
    rows = [f"what {number}?,{'yes ' * (1 + number % 5)},{1 + number % 5}" for number in range(40)]
    path.write_text("\n".join(["asked so,told so,liked", *rows, "and this?,no,9", ""]), encoding="utf-8")
    given = ("--map", "context=asked so,response=told so,rating=liked", "--scale", "1,5", "--on-error", "skip")
    call = ("study", path, "-s", "length", *given, "--resamples", "100", "-o", page)
    monkeypatch.setattr("sys.argv", ["rejoinder", *map(str, call)])
    done = run(*call)
    assert done.code == 0, done.err
    text = unescape(page.read_text(encoding="utf-8"))
    assert "--map 'context=asked so,response=told so,rating=liked' --scale 1,5 --on-error skip" in text
