"""`rejoinder train` with the ADEM family: presets, options, encoders, and no option without an effect."""

from __future__ import annotations

import json
import random
import re
import shutil
import sys
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rejoinder
from conftest import Run, refused
from rejoinder.data.folders import read_folder, write_folder
from rejoinder.errors import DataError, MissingExtra
from rejoinder.example import Example
from rejoinder.judges.adem.learner import recipe_of
from rejoinder.judges.adem.optimizer import PRESETS, AdemOptions
from rejoinder.judges.train import train_judge
from rejoinder.models import load_encoder
from rejoinder.models.encoders import AverageEncoder, PortableEncoder
from rejoinder.scorer import run as scores_of
from rejoinder.text.vectors import read_vectors
from samples import few

NO_WEIGHT = (
    "the penalty l1 would have no effect: its weight is 0. Give --penalty-weight (penalty_weight) over 0 too, or leave "
    "the penalty out"
)
FIELDS = tuple(asdict(AdemOptions()))


def trained(run: Run, folder: Path, *arguments: object) -> dict[str, Any]:
    """Return the record of one training."""
    done = run("train", *arguments, "-o", folder / "judge", "--json")
    assert done.code == 0, done.err
    record = json.loads(done.out)["scorers"][arguments[0]]["training"]
    assert isinstance(record, dict)
    return record


@pytest.mark.slow
def test_recipe_of_a_paper(run: Run, tmp_path: Path) -> None:
    lines = few("@dstc7", 120, tmp_path)
    record = trained(run, tmp_path, "r-adem", lines, "--preset", "lowe2017")
    assert {name: record[name] for name in FIELDS} == asdict(PRESETS["lowe2017"])
    assert record["fitted_rows"] > record["lines"]["train"] > record["over_sampling_left_out"] > 0
    table = run("train", "r-adem", lines, "--preset", "lowe2017", "--epochs", "2", "-o", tmp_path / "other").out
    left_out = record["over_sampling_left_out"]
    assert f"over-sampled to {record['fitted_rows']} lines; {left_out} training lines are too short or too" in table
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
    record = trained(run, tmp_path, "c-adem", "@conture", "--preset", "lowe2017", *flags)
    assert {name: record[name] for name in FIELDS} == {name: value for _, name, value in single.values()}
    assert len(read_folder(tmp_path / "judge").tensors["M"]) == 7


def test_each_option_changes_its_own_field_alone() -> None:
    assert recipe_of("adem", None, {}) == AdemOptions()
    assert recipe_of("autojudge", None, {}) == PRESETS["deriu2019"] == recipe_of("c-adem", "deriu2019", {})
    assert recipe_of("autojudge", None, {"penalty": "l1", "penalty_weight": 0.01}).penalty == "l1"
    for name in FIELDS:
        for preset in (None, *PRESETS):
            value = {"penalty": "l1", "oversample": "words", "normalise": "l2"}.get(name, 3)
            changes = {name: value} if name != "penalty" else {name: value, "penalty_weight": 3}
            assert asdict(recipe_of("adem", preset, changes)) == {**asdict(recipe_of("adem", preset, {})), **changes}


def test_untrained(run: Run, tmp_path: Path) -> None:
    rejoinder.write(rated(), tmp_path / "rated.jsonl")
    record = trained(run, tmp_path, "untrained", tmp_path / "rated.jsonl")
    assert (record["epochs"], record["best_epoch"]) == (0, 0)
    ran = run("score", tmp_path / "rated.jsonl", "-s", tmp_path / "judge")
    assert ran.code == 0 and sum(not record["unscored"] for record in ran.records) > 50
    assert "Untrained ADEM" in run("show", tmp_path / "judge").out


def test_components(run: Run, tmp_path: Path) -> None:
    assert trained(run, tmp_path, "c-adem", "@conture", "--components", "all", "--epochs", "1")["components"] is None
    vectors = tmp_path / "three.txt"
    texts = [text for one in rejoinder.read("@conture") for text in (*one.context, one.response)]
    words = sorted({word for text in texts for word in re.findall(r"[a-z]+", text.lower())})
    source = random.Random(1)
    vectors.write_text("".join(f"{word} {' '.join(f'{source.random():.3f}' for _ in range(3))}\n" for word in words))
    done = run("train", "c-adem", "@conture", "-o", tmp_path / "other", "--vectors", vectors, "--epochs", "1")
    assert "fitted with 3 components, " in done.out, "fifty components of vectors that have three dimensions"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("autojudge @conture --penalty l1", NO_WEIGHT),
        ("c-adem @conture --penalty l1 --penalty-weight 0", NO_WEIGHT),
        (
            "autojudge @conture --references best",
            "autojudge reads no references, so counting them by 'best' would have no effect",
        ),
        ("untrained @dstc7 --epochs 3", "untrained is ADEM before training, so epochs would have no effect"),
        (
            "c-adem @conture --components 51",
            "51 components of vectors that have 50 dimensions. Ask for 50 or fewer, or for all",
        ),
        ("c-adem @conture --components many", "--components is 'many', expected a number or all"),
        ("c-adem @conture --step nan", "--step is nan, expected a finite number"),
        ("c-adem @conture --state context", "the encoder word-vectors has one state only. Leave the state context out"),
        (
            "c-adem @conture -e gone --vectors v.npz",
            "the encoder gone takes the place of word vectors. Leave v.npz out, or the encoder",
        ),
    ],
)
def test_no_option_is_ignored_in_silence(run: Run, tmp_path: Path, arguments: str, message: str) -> None:
    refused(run("train", *arguments.split(), "-o", tmp_path / "judge"), 2, message)
    assert list(tmp_path.iterdir()) == []


def test_best_epoch_0_and_the_last_epoch_are_reported(run: Run, tmp_path: Path) -> None:
    lines = few("@conture", 300, tmp_path)
    arguments = ("train", "c-adem", lines, "--step", "1e6", "--epochs", 20)
    words = run(*arguments, "-o", tmp_path / "other").words.partition("best epoch 0: ")[2]
    assert "the head as it was before training and has learnt nothing from these ratings" in words
    assert all(text in words for text in ("ratings that spread", "another encoder (-e)", "--step", "--penalty-weight"))
    assert "learnt nothing from these ratings" in (tmp_path / "other" / "card.md").read_text(encoding="utf-8")
    short = run("train", "c-adem", lines, "-o", tmp_path / "short", "--epochs", "1").words
    assert "the validation error was still falling at the last epoch" in short and "best epoch 0: " not in short


def test_a_judge_without_agreement_is_reported(run: Run, tmp_path: Path) -> None:
    source, file = random.Random(7), tmp_path / "noise.jsonl"
    words = ["music", "film", "book", "game", "dinner", "train", "river", "winter", "garden", "school", "paper"]
    with file.open("w", encoding="utf-8") as lines:
        for _ in range(150):
            context, response = (" ".join(source.choices(words, k=4)) for _ in range(2))
            line = {"context": [context], "response": response, "quality": {"overall": source.randint(1, 5)}}
            lines.write(json.dumps({**line, "scale": [1, 5]}) + "\n")
    sentence = "no significant agreement with people on the "
    assert sentence in run("train", "c-adem", file, "-o", tmp_path / "judge").out
    assert sentence not in run("train", "r-adem", "@dstc7", "-o", tmp_path / "judge").out


def test_strangers_folder_is_refused_and_nothing_is_lost(run: Run, tmp_path: Path) -> None:
    rejoinder.write(rated(), tmp_path / "rated.jsonl")
    trained(run, tmp_path, "c-adem", tmp_path / "rated.jsonl", "--epochs", "1")
    parts = read_folder(tmp_path / "judge")
    for name, tensor in (
        ("M", np.zeros((3, 5))),
        ("M", np.zeros(4)),
        ("projection.components", np.zeros((2, 2))),
        ("projection.mean", np.zeros(7)),
    ):
        write_folder(tmp_path / "strange", replace(parts, tensors={**parts.tensors, name: tensor}), "", force=True)
        before = sorted((path.name, path.read_bytes()) for path in (tmp_path / "strange").iterdir())
        ran = run("score", tmp_path / "rated.jsonl", "-s", tmp_path / "strange", "-o", tmp_path / "scores.jsonl")
        assert ran.code == 3 and ran.err.count("\n") <= 2 and name in ran.err, ran.err
        assert sorted((path.name, path.read_bytes()) for path in (tmp_path / "strange").iterdir()) == before
        assert not (tmp_path / "scores.jsonl").exists()
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1.txt").write_text("years of work")
    ran = run("train", "c-adem", tmp_path / "rated.jsonl", "-o", tmp_path / "thesis", "--force")
    assert ran.code == 2 and (tmp_path / "thesis" / "chapter1.txt").read_text() == "years of work"


# encoders


def rated() -> list[Example]:
    """Return rated lines with context and reference, which do not belong together."""
    examples = [replace(example, context=example.context[-1:]) for example in list(rejoinder.read("@conture"))[1:62]]
    return [
        replace(example, references=(other.response,), context_id=example.id) for example, other in pairwise(examples)
    ]


@pytest.fixture(scope="module", params=["hred-context", "vhred-utterance", "tweet2vec"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch", reason="needs the extra train")
    pytest.importorskip("tokenizers", reason="needs the extra train")
    import tiny

    place = tmp_path_factory.mktemp("encoder") / request.param
    if request.param == "tweet2vec":
        return tiny.tweet_model(place)
    return tiny.dialogue_model(place, latent=4 if request.param.startswith("vhred") else 0)


@pytest.fixture
def encoder(folder: Path) -> PortableEncoder:
    return load_encoder(folder, "utterance" if "utterance" in folder.name else None)


def test_a_judge_takes_its_encoder_along(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = shutil.copytree(folder, tmp_path / "encoder")
    encoder = load_encoder(copy, "utterance" if "utterance" in folder.name else None)
    first, again = (train_judge(rated(), "adem", encoder, AdemOptions(components=3, epochs=2)) for _ in range(2))
    assert first.judge.options["model"] == again.judge.options["model"]
    first.judge.save(tmp_path / "judge")
    shutil.rmtree(copy)
    loaded = rejoinder.load_scorer(tmp_path / "judge")
    before, after = scores_of(first.judge, rated()), scores_of(loaded, rated())
    np.testing.assert_array_equal(before.values, after.values)
    assert before.signature == after.signature
    assert load_encoder(tmp_path / "judge").options == encoder.options
    card = (tmp_path / "judge" / "card.md").read_text()
    assert f"{encoder.width} dimensions" in card and "Word order" not in card
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "torch", None)
        with pytest.raises(MissingExtra, match="A pre-trained encoder needs torch"):
            rejoinder.load_scorer(tmp_path / "judge")
    (inside,) = (tmp_path / "judge").glob("encoder.*.json")
    inside.write_text(inside.read_text().replace("a", "b", 1))
    with pytest.raises(DataError, match="its files are not those it was saved with"):
        rejoinder.load_scorer(tmp_path / "judge")


def test_an_encoder_is_no_judge(folder: Path) -> None:
    with pytest.raises(DataError, match="a pre-trained encoder .*rejoinder train adem FILE -e"):
        rejoinder.load_scorer(folder)


def test_the_command_trains_over_an_encoder(run: Run, folder: Path, tmp_path: Path) -> None:
    rejoinder.write(rated(), tmp_path / "rated.jsonl")
    state = () if folder.name == "tweet2vec" else ("--state", "utterance")
    record = trained(run, tmp_path, "autojudge", tmp_path / "rated.jsonl", "-e", folder, *state)
    assert (record["components"], record["batch_size"]) == (None, 512)
    scored = run("score", tmp_path / "rated.jsonl", "-s", tmp_path / "judge")
    assert scored.code == 0 and sum(not record["unscored"] for record in scored.records) >= 59
    assert ("state:utterance" in run("show", tmp_path / "judge").out) == (folder.name != "tweet2vec")


def test_a_state_of_an_encoder_that_has_one_only_is_refused(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "average"
    write_folder(folder, AverageEncoder(read_vectors()).parts, "")
    message = f"{folder}: a model of kind average has one state only. Leave the state context out"
    arguments = ("train", "c-adem", "@conture", "-o", tmp_path / "judge")
    refused(run(*arguments, "-e", folder, "--state", "context"), 2, message)
    assert run(*arguments, "-e", tmp_path / "gone").code == 4


def test_an_output_may_be_called_as_an_encoder_is(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("train", "c-adem", "@conture", "-e", "rejoinder", "-o", "rejoinder", "--epochs", "1").code == 0
    ran = run("train", "c-adem", "@conture", "-e", "rejoinder/", "-o", "rejoinder", "--epochs", "1", "--force")
    assert (ran.code, ran.out) == (2, ""), "with a slash it is the folder"
