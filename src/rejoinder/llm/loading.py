"""The one way to load a model of another library: found by name, checked, then loaded without code and network."""

from __future__ import annotations

import logging
import os
import re
import struct
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, redirect_stderr, suppress
from functools import cache
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from rejoinder.errors import DataError, MissingAsset, MissingExtra, RejoinderError, UnusableModel, shown
from rejoinder.llm.model_folders import CheckedCopy, checked_copy, require_built_size

FOLDERS = "REJOINDER_MODELS"
"""The environment variable that names the folder in which models of a judge are looked up by name."""
_SAFE = {"trust_remote_code": False, "local_files_only": True}
_SNAPSHOTS, _CACHED = "snapshots", "models--"
_HALVES = ("amx_bf16", "avx512_bf16", "bf16")  # capabilities of a processor that multiplies bfloat16
_PARSING = Lock()  # `_parsed_once` changes the library for the whole process
_LONGEST_REASON = 160  # characters
_BARE = re.compile(r"[\w.-]+(/[\w.-]+)?")


class LanguageModel(NamedTuple):
    """A model of transformers with its tokenizer; `packed` if its weights are those of a GGUF file."""

    model: Any
    tokenizer: Any
    packed: bool


def bare_name(name: str) -> str:
    """Return the part of a model's name that a judge's folder keeps: the last part of a path, never where it is."""
    place = Path(name)
    if not place.exists():
        return name
    place = place.resolve()
    if place.parent.name == _SNAPSHOTS and place.parent.parent.name.startswith(_CACHED):
        return place.parent.parent.name.removeprefix(_CACHED).replace("--", "/", 1)
    return re.sub(r"[^\w.-]+", "-", place.name)


def find_model(name: str, called: str, *, owner: str = "", cache_folder: str | None = None, bare: bool = False) -> Path:
    """Return the place of a model on this machine.

    Args:
        name: a folder, a GGUF file, or the name of a model in the cache of Hugging Face.
        called: the model's name in messages.
        owner: the organisation that a name without one may belong to.
        cache_folder: another cache than the library's.
        bare: it may be no path: it is looked up in the cache, and in the folder that `REJOINDER_MODELS` names.

    Raises:
        MissingAsset: there is no such model on this machine.
    """
    if not bare and (Path(name).is_dir() or Path(name).suffix == ".gguf"):
        if not Path(name).exists():
            raise MissingAsset(f"{called}: no such file. Give a GGUF file or a folder")
        return Path(name)
    if is_bare_name(name):
        if bare and (folder := os.environ.get(FOLDERS)) and (Path(folder) / name).exists():
            return Path(folder) / name
        for full in (name, f"{owner}/{name}") if owner and "/" not in name else (name,):
            if found := _cached(full, cache_folder):
                return found
    put = f", or set {FOLDERS} to the folder that holds it" if bare else ""
    remedy = f"download it once: hf download {name}{put}"
    raise MissingAsset(f"{called}: no such model on this machine. {remedy if bare else f'Give a folder, or {remedy}'}")


def _cached(name: str, cache_folder: str | None) -> Path | None:
    """Return the snapshot of a model in the cache of Hugging Face; None if it is missing."""
    from huggingface_hub import snapshot_download

    with suppress(OSError, ValueError):
        return Path(snapshot_download(name, cache_dir=cache_folder, local_files_only=True))
    return None


def load_sentence_model(place: Path, called: str) -> Any:
    """Load the `SentenceTransformer` in a folder.

    Raises `UnusableModel` if it is refused or the library cannot load it, `MissingExtra` without the library.
    """
    try:
        from sentence_transformers import SentenceTransformer
        from transformers import AutoModel
    except ImportError as error:
        raise MissingExtra("sentence-transformers", "encoders", f"The encoder {called}") from error
    with _loading(place, called, sentence=True) as copy:
        _require_size(copy, AutoModel, called)
        return SentenceTransformer(str(copy.folder), model_kwargs={"use_safetensors": True}, **_SAFE)


def load_language_model(place: Path, called: str) -> LanguageModel:
    """Load the causal language model in a folder or a GGUF file; see `load_sentence_model`."""
    try:
        from transformers import AutoModelForCausalLM, AutoTokenizer
    except ImportError as error:
        raise MissingExtra("transformers", "encoders", f"The language model {called}") from error
    packed = place.suffix == ".gguf" and place.is_file()
    for library in ("gguf", "accelerate") if packed else ():
        if find_spec(library) is None:
            raise MissingExtra(library, "encoders", f"The language model {called}")
    with _loading(place, called) as copy:
        given = {"gguf_file": copy.gguf, **_SAFE} if packed else _SAFE
        # A bar over the tensors of a GGUF file goes to stderr, and nothing turns it off.
        with redirect_stderr(StringIO()), _parsed_once() if packed else nullcontext():
            _require_size(copy, AutoModelForCausalLM, called)
            tokenizer = AutoTokenizer.from_pretrained(str(copy.folder), **given)
            weights = {} if packed else {"use_safetensors": True}
            model, told = AutoModelForCausalLM.from_pretrained(
                str(copy.folder), dtype=_dtype(packed), output_loading_info=True, **weights, **given
            )
        if told["missing_keys"]:  # the library would draw them
            raise ValueError(f"its weights lack {sorted(told['missing_keys'])[0]}")
    return LanguageModel(model.eval(), tokenizer, packed)


def load_named_model(config: Mapping[str, Any], kind: str, find: Callable[[str], Any]) -> Any:
    """Return the model that a folder names under `model`, if it still has the digest under `weights`.

    A folder may come from a stranger, so it names a model and never a place.

    Args:
        config: of the part of the folder that is this model.
        kind: the word that users write before the name.
        find: finds a model by its bare name.

    Raises `MissingAsset` if there is none, `DataError` if the name is a path or the weights are others.
    """
    name, weights = config.get("model"), config.get("weights")
    if not isinstance(name, str) or not is_bare_name(name):
        problem = f"is {shown(name)}, expected the name of a model, such as someone/model, and no path"
        raise DataError(problem, "Train it again with this version", field="model")
    try:
        model = find(name)
    except MissingAsset as error:
        raise MissingAsset(f"{error}; the judge was fitted with it") from error
    if model.digest != weights:
        problem = f"{kind}:{name} has the weights {model.digest}, expected {shown(weights)}"
        raise DataError(problem, "Put the model back that it was trained with, or train it again", field="model")
    return model


def is_bare_name(name: str) -> bool:
    """Return whether a text is the name of a model in the cache of Hugging Face, and no path that leads elsewhere."""
    return bool(_BARE.fullmatch(name)) and not {".", ".."} & {*name.split("/")}


@contextmanager
def usable(called: str) -> Iterator[None]:
    """Turn errors of a library in the block into one line: this model cannot be used."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (RejoinderError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except MemoryError as error:
        raise UnusableModel(f"{called}: needs more memory than there is. Take a smaller model") from error
    except BaseException as error:
        first = next(iter(str(error).strip().splitlines()), "")
        reason = f"{type(error).__name__}: {first:.{_LONGEST_REASON}}"
        damaged = isinstance(error, struct.error) or type(error).__name__ == "SafetensorError"
        problem = "a file of this model is damaged" if damaged else "the library cannot use this model"
        raise UnusableModel(f"{called}: {problem} ({reason}). Download it again, or take another") from error


@contextmanager
def _loading(place: Path, called: str, *, sentence: bool = False) -> Iterator[CheckedCopy]:
    """Yield the checked copy of a model; the libraries report nothing but errors, as ours."""
    from transformers.utils import logging as library

    library.disable_progress_bar()  # of the library, which knows no terminal from a file
    library.set_verbosity_error()
    for name in ("sentence_transformers", "huggingface_hub"):
        logging.getLogger(name).setLevel(logging.ERROR)
    with usable(called), checked_copy(place, called, sentence=sentence) as copy:
        yield copy


def _require_size(copy: CheckedCopy, auto: Any, called: str) -> None:
    """Build each model of transformers without memory, and refuse one that is far larger than its weights."""
    import torch
    from transformers import AutoConfig

    for folder, declared in copy.transformers.items():
        given = {"gguf_file": copy.gguf} if copy.gguf else {}
        config = AutoConfig.from_pretrained(str(folder), **given, **_SAFE)
        with torch.device("meta"):
            built = auto.from_config(config, trust_remote_code=False)
        for tensors in (built.parameters(), built.buffers()):
            require_built_size(sum(tensor.numel() for tensor in tensors), declared, called)


@contextmanager
def _parsed_once() -> Iterator[None]:
    """Let the library parse a GGUF file once, not for tokenizer, sizes and weights each: half of the loading time."""
    import gguf

    names = ("GGUFReader", "get_tensor_name_map")
    with _PARSING:
        own = {name: getattr(gguf, name) for name in names}
        for name in names:
            setattr(gguf, name, cache(own[name]))
        try:
            yield
        finally:
            for name in names:
                setattr(gguf, name, own[name])


def _dtype(packed: bool) -> Any:
    """Return the type of a model's numbers: bfloat16 for a GGUF file where the processor multiplies it.

    Other processors take six times as long for it as for single precision.
    """
    import torch

    if not packed:
        return "auto"
    known: Any = getattr(torch.cpu, "get_capabilities", dict)()
    return torch.bfloat16 if any(known.get(name) for name in _HALVES) else torch.float32
