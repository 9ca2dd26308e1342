"""What a library may see of another library's model: a checked copy of its folder, or of its GGUF file.

A folder may come from a stranger. The library that loads it never gets the folder itself: it gets a temporary folder
that holds only the files listed here. Configurations are read, checked and written again; weights and tokenizers are
linked. So no Python file, no pickle and no file outside the folder can be opened, whatever the library would do.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

from annotated_types import Interval, MaxLen

from rejoinder.data.folders import machine_memory
from rejoinder.data.strict import json_value, require
from rejoinder.errors import DataError, UnusableModel
from rejoinder.llm.gguf_header import gguf_header

MAX_LAYERS = 1000
MAX_EXPERTS = 1024
MAX_MODULES = 2**15
"""Experts times layers at most; both are built one by one."""
_MAX_SIZE, _MAX_ROWS = 2**20, 2**24  # of a layer; of a vocabulary or of positions
_MAX_CONFIG, _MAX_TOKENIZER = 2**24, 2**27  # bytes
_MAX_ENTRIES = 10_000  # files and folders in a model's folder
_MAX_TEMPLATE = 2**20  # characters
_MAX_PROMPT = 10_000  # characters that stand before each text
_MAX_GROWTH = 1000
_MODULE = re.compile(
    r"sentence_transformers\.(?:models|base\.modules|sentence_transformer\.modules)(?:\.[a-z_]+)?"
    r"\.(Transformer|Pooling|Normalize|Dense|LayerNorm|Dropout|StaticEmbedding)"
)
_WEIGHED = ("Dense", "LayerNorm", "StaticEmbedding")
_ACTIVATION = re.compile(r"torch\.nn\.modules\.(?:activation|linear)\.(?:[A-Z]\w*)")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_PICKLED = re.compile(r".*\.(?:bin|pt|pth|pkl|pickle|ckpt|h5|npy|npz|joblib|msgpack|onnx)", re.IGNORECASE)
_AS_THEY_ARE = re.compile(
    r"tokenizer\.json|vocab\.(?:json|txt)|merges\.txt|added_tokens\.json|unigram\.json|[\w.-]+\.model"
)
_TEMPLATES = re.compile(r"chat_template\.jinja|chat_template\.json")
# Keys by which a configuration would make a library open other files or run other code. They are left away: nothing
# that is in the folder itself needs them.
_LEFT_AWAY = re.compile(
    r".*(?:name_or_path|_path|_file|_dir|_repo|repo_id|attn_implementation|experts_implementation)"
    r"|backbone.*|use_backbone|.*timm.*|use_kernels|kernel_config|transformers_weights|custom_pipelines"
    r"|_commit_hash|trust_remote_code|local_files_only|cache_dir|task_specific_params"
)
_QUANTISED = ("quantization_config", "compression_config")
_REFUSED = {
    "auto_map": "would run Python code of its own",
    **dict.fromkeys(_QUANTISED, "holds quantised weights, which need further libraries"),
}
_SIZE = re.compile(
    r".*(?:size|dim|width|channels|heads?|layers?|depth|experts|groups?|group_num|blocks|labels|model|ff|embd|count|rank)"
)
_ROWS = re.compile(r".*(?:vocab|position|n_ctx|length|window).*")
_LAYERS = re.compile(r".*(?:layers?|depth|groups|group_num|blocks)")
_TEXT_KEYS = re.compile(
    r".*_token|.*_side|chat_template|tokenizer_class|truncation_strategy|errors|backend|.*_lang|language|task|"
    r"content|__type"
)
_READERS = ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
_SENTENCE_CONFIGS = tuple(f"sentence_{name}_config.json" for name in _READERS)


@dataclass
class _Sentence:
    """The settings of a model of sentence-transformers that are kept."""

    prompts: dict[str, Annotated[str, MaxLen(_MAX_PROMPT)] | None] = field(default_factory=dict)
    default_prompt_name: str | None = None
    similarity_fn_name: str | None = None
    model_type: Literal["SentenceTransformer"] = "SentenceTransformer"


@dataclass
class _Reading:
    """The settings of a transformer in such a model."""

    max_seq_length: Annotated[int, Interval(ge=1, le=_MAX_ROWS)] | None = None
    do_lower_case: bool | None = None
    transformer_task: Literal["feature-extraction"] = "feature-extraction"
    modality_config: dict[str, dict[str, Any]] = field(default_factory=dict)
    module_output_name: Any = None


@dataclass
class Declared:
    """How many numbers and tensors the headers of a model's weights declare."""

    parameters: int = 0
    tensors: int = 0


@dataclass
class CheckedCopy:
    """A folder to load a model from; `transformers` are the folders of such models in it, `gguf` the name of a file."""

    folder: Path
    transformers: dict[Path, Declared] = field(default_factory=dict)
    gguf: str = ""


@contextmanager
def checked_copy(place: Path, called: str, *, sentence: bool = False) -> Iterator[CheckedCopy]:
    """Yield a copy of a model that holds nothing but what was checked; it is gone when the block ends.

    Args:
        place: a folder, or a GGUF file.
        called: the model's name in messages.
        sentence: the model is one of sentence-transformers.

    Raises:
        UnusableModel: it would run code, its weights are no safetensors, or a file of it is damaged.
    """
    with TemporaryDirectory(prefix="rejoinder-", ignore_cleanup_errors=True) as temporary:
        copy = CheckedCopy(Path(temporary))
        source = _Source(place, called)
        if place.suffix == ".gguf" and place.is_file():
            copy.gguf = place.name if _NAME.fullmatch(place.name) else "model.gguf"
            copy.transformers[copy.folder] = _gguf(source, place)
            _link(place.resolve(), copy.folder / copy.gguf)
        else:
            source.require_no_code()
            modules = _modules(source, copy.folder) if sentence else [("Transformer", "")]
            for kind, path in modules:
                (copy.folder / path).mkdir(exist_ok=True)
                if kind == "Transformer":
                    copy.transformers[copy.folder / path] = _transformer(source, path, copy.folder, sentence)
                else:
                    _module(source, kind, path, copy.folder)
        yield copy


class _Source:
    """A model's folder whose files are read only where they are plain files inside it."""

    def __init__(self, place: Path, called: str) -> None:
        self.place, self.called = place, called
        root = place.resolve()
        # In the cache of Hugging Face the files of a snapshot are links to blobs next to it.
        in_cache = root.parent.name == "snapshots" and root.parent.parent.name.startswith("models--")
        self.root = root.parent.parent if in_cache else root

    def refusal(self, problem: str, remedy: str = "Take another model, or a whole copy of this one") -> UnusableModel:
        """The error that says why the model is not used."""
        return UnusableModel(f"{self.called}: {problem}. {remedy}")

    def require_size(self, file: Path, name: str, most: int) -> None:
        """Refuse a file that is too large."""
        if file.stat().st_size > most:
            raise self.refusal(f"{name} is larger than {most:,} bytes")

    def file(self, name: str) -> Path | None:
        """Return the plain file with this name, links followed; None if it is missing."""
        path = self.place / name
        try:
            if not os.path.lexists(path):
                return None
            real = path.resolve(strict=True)
            if not real.is_relative_to(self.root):
                raise self.refusal(f"{name} leads out of its folder")
            if not stat.S_ISREG(real.stat().st_mode):
                raise self.refusal(f"{name} is no file")
        except (OSError, RuntimeError) as error:
            raise self.refusal(f"{name} cannot be read ({type(error).__name__})") from error
        return real

    def json(self, name: str, kind: type = dict) -> Any:
        """Return the object or list in a JSON file; None if it is missing."""
        if (path := self.file(name)) is None:
            return None
        try:
            self.require_size(path, name, _MAX_CONFIG)
            found = json_value(path.read_bytes(), name)
        except OSError as error:
            raise self.refusal(f"{name} cannot be read ({error.strerror})") from error
        except DataError as error:
            raise self.refusal(error.problem) from error
        if not isinstance(found, kind):
            raise self.refusal(f"{name} is damaged (no {'object' if kind is dict else 'list'})")
        return found

    def require(self, kind: type, value: Any, name: str) -> None:
        """Refuse the value of a JSON file that is not strictly a `kind`."""
        try:
            require(kind, value)
        except DataError as error:
            raise self.refusal(f"{name}: {error.field} {error.problem}") from error

    def names(self, path: str) -> list[str]:
        """What is in a folder inside it; nothing where there is no such folder."""
        folder = self.place / path
        try:
            if not folder.resolve(strict=True).is_relative_to(self.place.resolve()):
                raise self.refusal(f"{path} leads out of its folder")
            return sorted(entry.name for entry in folder.iterdir())
        except FileNotFoundError:
            return []
        except (OSError, RuntimeError) as error:
            raise self.refusal(f"{path or 'its folder'} cannot be read ({type(error).__name__})") from error

    def require_no_code(self) -> None:
        """Refuse a folder with a configuration that names code of its own."""
        tree = (Path(folder) / name for folder, _, names in os.walk(self.place) for name in sorted(names))
        for number, path in enumerate(tree):
            if number == _MAX_ENTRIES:
                raise self.refusal(f"more than {_MAX_ENTRIES:,} files are in its folder")
            if path.suffix == ".json" and "config" in path.name:
                name = path.relative_to(self.place).as_posix()
                try:
                    found = self.json(name)
                except UnusableModel:
                    continue  # no library sees it, unless the model needs it: then it is read, and refused, again
                self.require_key_absent(found, name, "auto_map")

    def require_key_absent(self, found: Any, name: str, key: str) -> None:
        """Refuse a value that holds an object with a key that is refused."""
        if any(part.get(key) for part in _objects(found)):
            raise self.refusal(f"it {_REFUSED[key]} ({key} in {name}), which is never done")


def settings_digest(place: Path, called: str, patterns: Sequence[str], modules: re.Pattern[str]) -> str:
    """Return a digest of a model's settings: files with names of `patterns`, also in the folders `modules` inside.

    Raises `UnusableModel` if a file leads out of the folder or is too large.
    """
    source = _Source(place, called)
    folders = [place, *(inside for inside in place.iterdir() if inside.is_dir() and modules.fullmatch(inside.name))]
    total = hashlib.sha256()
    for path in sorted(path for folder in folders for path in folder.iterdir() if path.is_file()):
        name = path.relative_to(place).as_posix()
        if any(path.match(pattern) for pattern in patterns) and (file := source.file(name)):
            source.require_size(file, name, _MAX_TOKENIZER)
            text = file.read_bytes()
            total.update(f"\n{name} {len(text)}\n".encode() + text)
    return total.hexdigest()[:12]


def usable_memory() -> int:
    """How many bytes of memory this process may use at most: of the machine, or of its container."""
    limits = [machine_memory()]
    for group in ("memory.max", "memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError):
            limits.append(int((Path("/sys/fs/cgroup") / group).read_text(encoding="ascii")))
    return min(limits)


def _modules(source: _Source, to: Path) -> list[tuple[str, str]]:
    """The kind and the folder of each module of a model of sentence-transformers."""
    config = source.json("config_sentence_transformers.json")
    if config is not None:
        kept = {key.name: config[key.name] for key in fields(_Sentence) if key.name in config}
        source.require(_Sentence, kept, "config_sentence_transformers.json")
        _write(to / "config_sentence_transformers.json", kept)
    modules = source.json("modules.json", list)
    if modules is None:
        return [("Transformer", "")]
    known: list[tuple[str, str]] = []
    written: list[dict[str, Any]] = []
    for module in modules[:100]:
        kind, path = (module.get("type"), module.get("path")) if isinstance(module, dict) else (None, None)
        match = _MODULE.fullmatch(kind) if isinstance(kind, str) else None
        if match is None:
            raise source.refusal(f"modules.json names {kind!r:.60}, which is no module that is loaded here")
        if not isinstance(path, str) or (path and not _NAME.fullmatch(path)):
            raise source.refusal(f"modules.json names {path!r:.60}, which is no folder inside it")
        if path in (place for _, place in known):  # the settings of one would be taken for those of the other
            raise source.refusal(f"modules.json names the folder {path!r:.60} twice")
        known.append((match[1], path))
        written.append({"idx": len(written), "name": str(len(written)), "path": path, "type": kind})
    if not known:
        raise source.refusal("modules.json names no module")
    _write(to / "modules.json", written)
    return known


def _module(source: _Source, kind: str, path: str, to: Path) -> None:
    """Copy what a module that is no transformer needs."""
    at = f"{path}/" if path else ""
    declared = _weights(source, at, to) if kind in _WEIGHED else Declared()
    if kind == "StaticEmbedding":
        _as_they_are(source, path, to)
        return
    if (config := source.json(f"{at}config.json")) is None:
        return
    activation = config.get("activation_function", "torch.nn.modules.activation.Tanh")
    if not isinstance(activation, str) or not _ACTIVATION.fullmatch(activation):
        raise source.refusal(f"{at}config.json names {activation!r:.60}, which is no activation of torch")
    kept = {key: value for key, value in config.items() if key == "activation_function" or not _names_place(value)}
    sizes = [value for value in kept.values() if isinstance(value, int) and not isinstance(value, bool)]
    largest = sorted([1, 1, *sizes])[-2:]
    if kind in _WEIGHED:
        require_built_size(largest[0] * largest[1], declared, source.called)
    _write(to / at / "config.json", kept)


def _transformer(source: _Source, path: str, to: Path, sentence: bool) -> Declared:
    """Copy what a model of transformers needs."""
    at = f"{path}/" if path else ""
    config = source.json(f"{at}config.json")
    if config is None:
        adapter = source.file(f"{at}adapter_config.json") is not None
        problem = "it is an adapter without its model" if adapter else f"{at}config.json is missing"
        raise source.refusal(problem, "Merge the two and save the whole model" if adapter else "Give a model's folder")
    declared = _weights(source, at, to)
    for key in _REFUSED:
        source.require_key_absent(config, f"{at}config.json", key)
    require_sizes(config, declared, source.refusal)
    _write(to / at / "config.json", _without_places(config))
    for name in ("tokenizer_config.json", "special_tokens_map.json"):
        if (found := source.json(f"{at}{name}")) is not None:
            _require_short_template(source, json.dumps(found.get("chat_template")))
            kept = _tokenizer_keys(found)
            if sentence:
                kept.pop("chat_template", None)
            _write(to / at / name, kept)
    for name in _SENTENCE_CONFIGS if sentence else ():
        if (found := source.json(f"{at}{name}")) is not None:
            _write(to / at / name, _sentence_keys(source, found, f"{at}{name}"))
    _as_they_are(source, path, to, templates=not sentence)
    return declared


def _as_they_are(source: _Source, path: str, to: Path, *, templates: bool = False) -> None:
    """Link the files of a tokenizer.

    Sentence-transformers would run a chat template in this process, without limits, so it gets none.
    """
    for name in source.names(path):
        wanted = _AS_THEY_ARE.fullmatch(name) or (templates and _TEMPLATES.fullmatch(name))
        if wanted and (file := source.file(f"{path}/{name}" if path else name)):
            source.require_size(file, name, _MAX_TEMPLATE if name.startswith("chat_template") else _MAX_TOKENIZER)
            if name == "tokenizer.json":
                _require_no_growth(source, file)
            _link(file, to / path / name)


def _require_no_growth(source: _Source, file: Path) -> None:
    """Refuse a tokenizer whose rules would make a text many times as long before it is cut."""
    found = json.loads(file.read_bytes())
    growth = 1
    for rule in _objects([found.get("normalizer"), found.get("pre_tokenizer")]):
        texts = [rule[key] for key in ("content", "prepend", "replacement") if isinstance(rule.get(key), str)]
        growth *= max([1, *map(len, texts)])
    if growth > _MAX_GROWTH:
        raise source.refusal(f"the rules of tokenizer.json would make a text over {_MAX_GROWTH:,} times as long")


def _objects(found: Any) -> Iterator[dict[str, Any]]:
    """Yield a value that is an object, and all objects inside it."""
    if isinstance(found, dict):
        yield found
    for inside in found.values() if isinstance(found, dict) else found if isinstance(found, list) else ():
        yield from _objects(inside)


def _weights(source: _Source, at: str, to: Path) -> Declared:
    """Link the safetensors in a folder and add up what their headers declare."""
    names = ["model.safetensors"]
    if source.file(f"{at}model.safetensors") is None:
        index = source.json(f"{at}model.safetensors.index.json")
        if index is None:
            pickled = next(filter(_PICKLED.fullmatch, source.names(at)), None)
            problem = f"its only weights are {at}{pickled}" if pickled else f"no weights in {at or 'its folder'}"
            remedy = "Save it again as safetensors, or take another"
            raise source.refusal(f"{problem}; only safetensors and GGUF are opened", remedy)
        shards = index.get("weight_map")
        if not isinstance(shards, dict) or not all(
            isinstance(name, str) and _NAME.fullmatch(name) and name.endswith(".safetensors")
            for name in shards.values()
        ):
            raise source.refusal(f"{at}model.safetensors.index.json names files that are no safetensors in its folder")
        names = sorted(set(shards.values()))
        _write(to / at / "model.safetensors.index.json", {"metadata": {}, "weight_map": shards})
    total, size = Declared(), 0
    for name in names:
        if (file := source.file(f"{at}{name}")) is None:
            raise source.refusal(f"{at}{name} is missing")
        size += file.stat().st_size
        if size > usable_memory():
            raise source.refusal(f"{at}{name}: {size:,} bytes, more than this machine has memory")
        _add_header(source, file, f"{at}{name}", total)
        _link(file, to / at / name)
    if not total.parameters:
        raise source.refusal(f"{at}{names[0]} holds no weights")
    return total


def _add_header(source: _Source, file: Path, name: str, total: Declared) -> None:
    """Add up what the header of a safetensors file declares; its library checks it against the file."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="numpy") as tensors:
            for tensor in tensors.keys():  # noqa: SIM118 - no mapping
                total.parameters += math.prod(tensors.get_slice(tensor).get_shape())
                total.tensors += 1
    except (SafetensorError, OSError) as error:
        raise source.refusal(f"{name} is damaged ({error!s:.100})") from error


def _gguf(source: _Source, file: Path) -> Declared:
    """What the header of a GGUF file declares, where it is true."""
    if file.stat().st_size > usable_memory():
        raise source.refusal(f"{file.stat().st_size:,} bytes, more than this machine has memory")
    try:
        with file.open("rb") as stream:
            header = gguf_header(stream, file.stat().st_size)
    except (ValueError, OverflowError) as error:
        problem = f"no GGUF file of a language model, or a damaged one ({error})"
        raise source.refusal(problem, "Download it again") from error
    declared = Declared(header.parameters, header.tensors)
    # Weights of a few bits are unpacked to two bytes each at least.
    if 2 * declared.parameters > usable_memory():
        raise source.refusal(f"{declared.parameters:,} weights, more than this machine has memory for")
    config = {key.replace(".", "_").replace("block_count", "layers"): value for key, value in header.values.items()}
    require_sizes(config, declared, source.refusal)
    _require_short_template(source, header.values.get("tokenizer.chat_template", ""))
    return declared


def require_sizes(config: Mapping[str, Any], declared: Declared, refusal: Callable[[str], UnusableModel]) -> None:
    """Refuse a configuration, with those inside it, that asks for sizes that its weights cannot have."""
    layers = experts = 1
    for key, value in _numbers(config):
        most = _MAX_ROWS if _ROWS.fullmatch(key) else _MAX_SIZE if _SIZE.fullmatch(key) else 2**63
        if _LAYERS.fullmatch(key):
            most = min(MAX_LAYERS, max(declared.tensors, 1))
            layers = max(layers, int(value))
        elif "expert" in key and _SIZE.fullmatch(key) and not key.endswith("size"):
            most = MAX_EXPERTS
            experts = max(experts, int(value))
        if value > most:
            raise refusal(f"{key} is {value:,} in its configuration, more than its weights can have ({most:,})")
    if layers * experts > MAX_MODULES:
        raise refusal(f"its configuration asks for {experts:,} experts in {layers:,} layers")


def _numbers(config: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """The whole numbers in a configuration, with their keys."""
    for key, value in config.items():
        if isinstance(value, dict) and key not in ("id2label", "label2id"):
            yield from _numbers(value)
        for number in value if isinstance(value, list) else [value]:
            if isinstance(number, int) and not isinstance(number, bool):
                yield key.removesuffix("s") if isinstance(value, list) else key, number


def require_built_size(parameters: int, declared: Declared, called: str) -> None:
    """Refuse a model, built without memory, that has far more numbers than its weights, some tied or unused."""
    if parameters > 4 * declared.parameters + 10_000_000:
        raise UnusableModel(
            f"{called}: its configuration asks for {parameters:,} numbers, its weights hold {declared.parameters:,}. "
            "Take a whole copy of the model"
        )


def _names_place(value: Any) -> bool:
    return isinstance(value, str) and ("/" in value or "\\" in value)


def _without_places(found: Any, key: str = "") -> Any:
    """A configuration without what names places, other code or other ways of computing."""
    if isinstance(found, dict):
        return {
            name: _without_places(value, name)
            for name, value in found.items()
            if key in ("id2label", "label2id") or not (_LEFT_AWAY.fullmatch(name) or _names_place(value))
        }
    if isinstance(found, list):
        return [_without_places(value) for value in found if not _names_place(value)]
    return found


def _tokenizer_keys(found: Mapping[str, Any]) -> dict[str, Any]:
    """Of a tokenizer's configuration its flags and numbers, and texts only where they are tokens."""
    listed = ("added_tokens_decoder", "additional_special_tokens", "extra_special_tokens", "model_input_names")
    return {
        key: value
        for key, value in found.items()
        if not _LEFT_AWAY.fullmatch(key) and key not in ("auto_map", "init_inputs", "from_slow", "gguf_file")
        if isinstance(value, (bool, int, float, type(None))) or _TEXT_KEYS.fullmatch(key) or key in listed
    }


def _require_short_template(source: _Source, template: str) -> None:
    if len(template) > _MAX_TEMPLATE:
        raise source.refusal(f"its chat template is longer than {_MAX_TEMPLATE:,} characters")


def _sentence_keys(source: _Source, found: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the settings of a transformer in sentence-transformers that decide how it reads a text."""
    known = {setting.name for setting in fields(_Reading)}
    kept = {key: value for key, value in found.items() if key in known or value}
    source.require(_Reading, kept, name)
    methods = [read.get("method", "forward") for read in kept.get("modality_config", {}).values()]
    if any(method not in ("forward", "get_text_features") for method in methods):
        raise source.refusal(f"{name}: its modality_config names a method that is not called here")
    return kept


def _write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")


def _link(source: Path, target: Path) -> None:
    """Make a file appear under another name, without copying it where the system can."""
    try:
        target.symlink_to(source)
    except (OSError, NotImplementedError):
        shutil.copyfile(source, target)
