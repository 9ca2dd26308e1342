"""A causal language model as a view, by a model of random numbers that is made on the spot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rejoinder.errors import DataError, MissingAsset
from rejoinder.io.folders import Parts
from rejoinder.judges.views.own import source_called, source_of, views_of
from rejoinder.outside.causal import CausalModel, causal_model
from rejoinder.records import Example

torch = pytest.importorskip("torch", reason="needs the extra train")
transformers = pytest.importorskip("transformers", reason="needs the extra encoders")

CHAT = (
    "{% for m in messages %}[{{ m['role'] }}]{{ m['content'] }}</s>{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}"
)
EXAMPLES = [
    Example(("do you like music ?",), "yes i like jazz"),
    Example(("hi", "hello you", "do you like music ?"), "no"),
    Example(("do you like music ?",), "no"),
    Example((), "hello"),
    Example(("hi", "hello you"), "yes"),
]


@pytest.fixture(scope="module", params=["chat", "plain"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Llama of one layer over single characters."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    marks = ["<s>", "</s>", "[user]", "[assistant]"]
    pieces = {piece: number for number, piece in enumerate([*marks, *map(chr, range(32, 127)), "\n"])}
    tokenizer = Tokenizer(models.WordLevel(pieces, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    own = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", additional_special_tokens=marks[2:]
    )
    own.chat_template = CHAT if request.param == "chat" else None
    torch.manual_seed(0)
    shape = transformers.LlamaConfig(
        vocab_size=len(pieces), hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2
    )
    place = tmp_path_factory.mktemp("llama")
    transformers.LlamaForCausalLM(shape).save_pretrained(place)
    own.save_pretrained(place)
    return place


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
    (view,) = views_of(model, "own")
    together = view.features(EXAMPLES)
    assert np.isfinite(together).all()
    apart = np.concatenate([view.features([one]) for one in reversed(EXAMPLES)])[::-1]
    assert (together == apart).all()
    assert np.isnan(view.features([Example(("hi",), " ")])).all()


def test_it_is_found_again_by_name_and_weights(folder: Path, model: CausalModel) -> None:
    found = source_of(model.parts)
    assert isinstance(found, CausalModel) and found.options == model.options
    with pytest.raises(DataError, match="Put the model back"):
        source_of(Parts({**model.parts.config, "weights": "0"}, {}))
    with pytest.raises(MissingAsset, match="no causal language model on this machine"):
        source_called(f"lm:{folder / 'none'}")
