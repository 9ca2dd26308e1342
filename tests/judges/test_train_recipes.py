"""How a judge is fitted, as a user asks for it: presets, single options, and none that is ignored in silence."""

from __future__ import annotations

import json
import random
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import rejoinder
from conftest import Run, refused
from rejoinder.data.folders import read_folder
from rejoinder.errors import UsageError
from rejoinder.judges.adem.fit import FitOptions
from rejoinder.judges.adem.judge import Kind
from rejoinder.judges.adem.recipes import DERIU2019, LOWE2017, fit_options
from samples import few

NO_WEIGHT = (
    "the penalty l1 would have no effect: its weight is 0. Give --penalty-weight (penalty_weight) over 0 too, or leave "
    "the penalty out"
)
FIELDS = tuple(asdict(FitOptions()))


def trained(run: Run, folder: Path, *arguments: object) -> dict[str, Any]:
    """The record of one training on a sample of the box."""
    done = run("train", *arguments, "-o", folder / "judge", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)["scorers"][arguments[0]]["training"]
    assert isinstance(found, dict)
    return found


def recipe(found: dict[str, Any]) -> dict[str, Any]:
    return {name: found[name] for name in FIELDS}


@pytest.mark.slow
def test_the_papers_recipe_in_one_word(run: Run, tmp_path: Path) -> None:
    lines = few("@dstc7", 120, tmp_path)
    found = trained(run, tmp_path, "r-adem", lines, "--preset", "lowe2017")
    released = {
        "components": 50,
        "epochs": 200,
        "batch_size": 32,
        "learning_rate": 0.001,
        "penalty": "frobenius",
        "penalty_weight": 0.075,
        "oversample": "release",
        "normalise": "none",
    }
    assert recipe(found) == released == asdict(LOWE2017)
    assert found["fitted_rows"] > found["lines"]["train"] > found["over_sampling_left_out"] > 0
    table = run("train", "r-adem", lines, "--preset", "lowe2017", "--epochs", "2", "-o", tmp_path / "other").out
    left_out = found["over_sampling_left_out"]
    assert f"over-sampled to {found['fitted_rows']} lines; {left_out} training lines are too short or too long" in table
    assert "fitted with 50 components, frobenius norm times 0.075, step 0.001, batch 32; best epoch" in table


def test_options_win_over_the_preset(run: Run, tmp_path: Path) -> None:
    single = {
        "--components": ("7", "components", 7),
        "--normalise": ("l2", "normalise", "l2"),
        "--over-sample": ("none", "oversample", None),
        "--penalty": ("l2_squared", "penalty", "l2_squared"),
        "--penalty-weight": (".01", "penalty_weight", 0.01),
        "--step": (".02", "learning_rate", 0.02),
        "--epochs": ("3", "epochs", 3),
        "--batch": ("64", "batch_size", 64),
    }
    flags = [word for flag, (text, _, _) in single.items() for word in (flag, text)]
    found = trained(run, tmp_path, "c-adem", "@conture", "--preset", "lowe2017", *flags)
    assert recipe(found) == {name: value for _, name, value in single.values()}
    assert len(read_folder(tmp_path / "judge").tensors["M"]) == 7


def test_each_option_changes_its_own_field_alone() -> None:
    assert fit_options("adem") == FitOptions()
    assert fit_options("autojudge") == DERIU2019 == fit_options("c-adem", "deriu2019")
    for name in FIELDS:
        for preset in (None, "lowe2017", "deriu2019"):
            start = asdict(fit_options("adem", preset))
            value = {"penalty": "l1", "oversample": "words", "normalise": "l2"}.get(name, 3)
            asked = {name: value} if name != "penalty" else {name: value, "penalty_weight": 3}
            assert asdict(fit_options("adem", preset, asked)) == {**start, **asked}


def test_all_components(run: Run, tmp_path: Path) -> None:
    assert trained(run, tmp_path, "c-adem", "@conture", "--components", "all", "--epochs", "1")["components"] is None


def test_fewer_components_than_asked_for_are_told(run: Run, tmp_path: Path) -> None:
    """Fifty components of vectors that have three dimensions are three."""
    vectors = tmp_path / "three.txt"
    texts = [text for one in rejoinder.read("@conture") for text in (*one.context, one.response)]
    words = sorted({word for text in texts for word in re.findall(r"[a-z]+", text.lower())})
    source = random.Random(1)
    vectors.write_text("".join(f"{word} {' '.join(f'{source.random():.3f}' for _ in range(3))}\n" for word in words))
    done = run("train", "c-adem", "@conture", "-o", tmp_path / "judge", "--vectors", vectors, "--epochs", "1")
    assert "fitted with 3 components, " in done.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "autojudge @conture --penalty l1",
            NO_WEIGHT,
        ),
        (
            "c-adem @conture --penalty l1 --penalty-weight 0",
            NO_WEIGHT,
        ),
        (
            "c-adem @conture --references mean",
            "c-adem reads no references, so counting them by 'mean' would have no effect",
        ),
        (
            "autojudge @conture --references best",
            "autojudge reads no references, so counting them by 'best' would have no effect",
        ),
        (
            "c-adem @conture --components 51",
            "51 components of vectors that have 50 dimensions. Ask for 50 or fewer, or for all",
        ),
        ("c-adem @conture --components many", "--components is 'many', expected a number or all"),
        ("c-adem @conture --components 0", "components is 0, expected 1 or more"),
        ("c-adem @conture --step nan", "--step is nan, expected a finite number"),
        ("c-adem @conture --step 0", "the step (learning_rate) is 0, expected a number over 0"),
        ("c-adem @conture --penalty-weight -1", "penalty_weight is -1, expected 0 or more"),
        (
            "c-adem @conture --state context",
            "the encoder word-vectors has one state only. Leave the state context out",
        ),
    ],
)
def test_no_option_is_ignored_in_silence(run: Run, tmp_path: Path, arguments: str, message: str) -> None:
    refused(run("train", *arguments.split(), "-o", tmp_path / "judge"), 2, message)
    assert list(tmp_path.iterdir()) == []


def test_a_penalty_with_a_weight_is_taken_by_autojudge_too(run: Run, tmp_path: Path) -> None:
    arguments = ("autojudge", "@conture", "--penalty", "l1", "--penalty-weight", ".01", "--epochs", "2")
    found = trained(run, tmp_path, *arguments)
    assert (found["penalty"], found["penalty_weight"]) == ("l1", 0.01)


def test_a_state_of_an_encoder_that_has_one_only_is_refused(run: Run, tmp_path: Path) -> None:
    from rejoinder.data.folders import write_folder
    from rejoinder.models.encoders import AverageEncoder
    from rejoinder.text.vectors import read_vectors

    folder = tmp_path / "average"
    write_folder(folder, AverageEncoder(read_vectors()).parts, "")
    message = f"{folder}: a model of kind average has one state only. Leave the state context out"
    judge = ("train", "c-adem", "@conture", "-o", tmp_path / "judge")
    refused(run(*judge, "-e", folder, "--state", "context"), 2, message)
    vectors = ("encode", "@conture", "-o", tmp_path / "vectors.npz")
    refused(run(*vectors, "-e", folder, "--state", "context"), 2, message)
    assert run(*vectors, "-e", folder).code == 0


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"epochs": -1}, "epochs is -1, expected 0 or more"),
        ({"batch_size": 0}, "batch_size is 0, expected 1 or more"),
        ({"learning_rate": float("nan")}, r"the step \(learning_rate\) is nan, expected a number over 0"),
        ({"penalty_weight": float("inf")}, "penalty_weight is inf, expected 0 or more"),
        ({"penalty": "l3"}, "penalty is 'l3', expected frobenius or l2_squared or l1"),
        ({"oversample": "lines"}, "oversample is 'lines', expected words or release or None"),
        ({"normalise": "l1"}, "normalise is 'l1', expected none or l2"),
    ],
)
def test_options_out_of_range_from_python(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=f"^{message}$"):
        FitOptions(**asked)


def test_an_unknown_preset_from_python() -> None:
    kind: Kind = "adem"
    with pytest.raises(UsageError, match="^no preset is called 'lowe'. There are: lowe2017, deriu2019$"):
        fit_options(kind, "lowe")


def test_a_head_that_training_did_not_better_is_told(run: Run, tmp_path: Path) -> None:
    lines = few("@conture", 300, tmp_path)
    arguments = ("c-adem", lines, "--step", "1e6", "--epochs", 20)
    found = trained(run, tmp_path, *arguments)
    assert found["best_epoch"] == 0
    table = run("train", *arguments, "-o", tmp_path / "other").words
    told = table.partition("best epoch 0: ")[2]
    assert "the head as it was before training and has learnt nothing from these ratings" in told
    assert all(what in told for what in ("ratings that spread", "another encoder (-e)", "--step", "--penalty-weight"))
    assert "learnt nothing from these ratings" in (tmp_path / "other" / "card.md").read_text(encoding="utf-8")
    assert "best epoch 0: " not in run("train", "c-adem", lines, "-o", tmp_path / "third").words
    assert "learnt nothing" not in (tmp_path / "third" / "card.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_training_that_was_not_at_its_end_is_told(run: Run, tmp_path: Path) -> None:
    said = "the validation error was still falling at the last epoch: more --epochs or a longer --step may help"
    assert said in run("train", "c-adem", "@conture", "-o", tmp_path / "one", "--epochs", "3").words
    assert said not in run("train", "c-adem", "@conture", "-o", tmp_path / "two").words


def test_help_is_grouped(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = run("train", "--help").out
    titles = [line for line in shown.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert titles[:3] == ["Arguments:", "Options:", "What it reads:"] and titles[3].startswith("How it is fitted")
    fitting = shown.partition(titles[3])[2]
    flags = ("preset", "components", "normalise", "over-sample", "penalty", "penalty-weight", "step", "epochs", "batch")
    assert all(f"  --{flag} " in fitting for flag in flags)
    assert "Usage: rejoinder score" in run("score", "--help").out
