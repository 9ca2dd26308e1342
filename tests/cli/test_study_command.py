"""`study` and `train` on the command line: against people, and from ratings to a judge."""

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


def test_study_says_what_it_found(run: Run) -> None:
    ran = run("study", "@dstc7", "-s", "bleu-4", "-s", "length", "--resamples", "100", "--all")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("bleu-4 is not shown to agree with people: Pearson 0.04 ")
    assert "dstc7, turn level" in ran.out and "dstc7, system level" in ran.out
    assert "400 lines, 400 of them rated and used" in ran.out
    assert "100 resamples of contexts, seed 0" in " ".join(ran.out.split())


def test_study_for_machines(run: Run, tmp_path: Path) -> None:
    dstc7, conture = few("@dstc7", 100, tmp_path), few("@conture", 40, tmp_path)
    ran = run("study", dstc7, conture, "-s", "rouge-l", "-s", "length", "--json", "--resamples", "100", "--seed", "3")
    assert ran.code == 0
    result = json.loads(ran.out)
    assert result["version"] == 1 and set(result["signature"]) == {"rouge-l", "length"}
    assert result["signature"]["length"]["scorer"] == "length"
    wanted = {"dataset", "scorer", "level", "statistic", "n", "value", "low", "high", "p", "method", "seed"}
    assert all(wanted <= set(one) and one["seed"] == 3 for one in result["results"])
    examples = list(rejoinder.read(dstc7))
    expected = pearson_of(rejoinder.score(examples, "length"), examples)
    (found,) = (
        one
        for one in result["results"]
        if (one["dataset"], one["scorer"], one["level"], one["statistic"]) == ("dstc7", "length", "turn", "pearson")
    )
    assert found["value"] == pytest.approx(expected, abs=1e-6) and found["n"] == 100
    assert found["low"] <= found["value"] <= found["high"] and 0 < found["p"] <= 1
    (unscored,) = (
        one
        for one in result["results"]
        if (one["dataset"], one["scorer"], one["level"], one["statistic"])
        == ("conture_turn", "rouge-l", "turn", "pearson")
    )
    assert unscored["value"] is None and unscored["reason"] and unscored["n"] == 0


def test_the_same_study_twice_is_the_same(run: Run, tmp_path: Path) -> None:
    arguments = ("study", few("@dstc7", 60, tmp_path), "-s", "length", "--json", "--resamples", "100")
    first = run(*arguments).out
    assert run(*arguments).out == first != run(*arguments, "--seed", "1").out


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
    assert {one["n"] for one in dropped["results"] if one["level"] == "turn"} == {7}


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


def test_the_call_on_the_page_reads_the_file_as_this_one_did(run: Run, tmp_path: Path) -> None:
    path, page = tmp_path / "odd.csv", tmp_path / "page.html"
    rows = [f"what {number}?,{'yes ' * (1 + number % 5)},{1 + number % 5}" for number in range(40)]
    path.write_text("\n".join(["asked so,told so,liked", *rows, "and this?,no,9", ""]), encoding="utf-8")
    given = ("--map", "context=asked so,response=told so,rating=liked", "--scale", "1,5", "--on-error", "skip")
    done = run("study", path, "-s", "length", *given, "--resamples", "100", "-o", page)
    assert done.code == 0, done.err
    text = unescape(page.read_text(encoding="utf-8"))
    assert "--map 'context=asked so,response=told so,rating=liked' --on-error skip" in text
