"""A trained model as one folder: `config.json`, `card.md`, tensors as safetensors, further texts.

A folder may come from a stranger: nothing in it can run code, no file outside it is read, and each value is checked
before it is used. The digest finds damage, not intent: a stranger writes a digest that fits.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from annotated_types import Interval, Predicate
from numpy.typing import NDArray

from rejoinder.data.outputs import atomic_file, atomic_folder, require_replaceable
from rejoinder.data.strict import AGAIN as AGAIN
from rejoinder.data.strict import json_value, require
from rejoinder.data.strict import value_in as value_in
from rejoinder.errors import DataError, MissingAsset, UsageError

CONFIG, WEIGHTS, CARD = "config.json", "weights.safetensors", "card.md"
_THERE = "a trained model is there already. Choose another name, or replace it with --force (in Python, force=True)"
_LARGEST_CONFIG = 2**24  # bytes
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")  # in the folder itself: no path, no drive
_REMEDIES = {"format": "Update rejoinder", "blobs": "Train it again, an older version made it"}


@dataclass(frozen=True)
class FolderConfig:
    """The values of `config.json`; `model` has the `kind` that says who can load it."""

    format: Annotated[int, Interval(ge=1, le=2)]
    digest: str
    files: list[Annotated[str, Predicate(lambda name: bool(_NAME.fullmatch(name)))]]
    model: dict[str, Any]


@dataclass(frozen=True)
class Parts:
    """A model: `config` (JSON values), `tensors` (weights by name) and `files` (further texts by name)."""

    config: Mapping[str, Any]
    tensors: Mapping[str, NDArray[Any]] = field(repr=False)
    files: Mapping[str, str] = field(default_factory=dict, repr=False)

    @cached_property
    def digest(self) -> str:
        """The first twelve hexadecimal digits of SHA-256 over all parts."""
        total = hashlib.sha256(json.dumps(self.config, sort_keys=True, allow_nan=False).encode())
        for name, tensor in sorted(self.tensors.items()):
            total.update(f"\n{name} {tensor.dtype.str} {tensor.shape}\n".encode())
            total.update(np.ascontiguousarray(tensor).tobytes())
        for name, text in sorted(self.files.items()):
            total.update(f"\n{name}\n{text}".encode())
        return total.hexdigest()[:12]

    def holding(self, name: str, other: Parts) -> Parts:
        """Return these parts with those of `other` inside, under `name`: its config as a value, the rest by prefix."""
        tensors = {f"{name}.{key}": tensor for key, tensor in other.tensors.items()}
        files = {f"{name}.{key}": text for key, text in other.files.items()}
        return Parts({**self.config, name: dict(other.config)}, {**self.tensors, **tensors}, {**self.files, **files})

    def inner(self, name: str) -> Parts:
        """Return the parts that `holding` put inside under `name`."""
        start = f"{name}."
        tensors = {key.removeprefix(start): tensor for key, tensor in self.tensors.items() if key.startswith(start)}
        files = {key.removeprefix(start): text for key, text in self.files.items() if key.startswith(start)}
        return Parts(value_in(self.config, name, dict[str, Any]), tensors, files)


def write_folder(folder: str | Path, parts: Parts, card: str, *, force: bool = False) -> None:
    """Write a model's folder whole or not at all; `force` replaces a model there. See `require_free`."""
    from safetensors.numpy import save

    require_free(folder, force=force)
    names = sorted({CARD, CONFIG, WEIGHTS, *parts.files})
    about = {"format": 2, "digest": parts.digest, "files": names, "model": dict(parts.config)}
    ours = _files_of(folder) | {*names} if force else ()
    with atomic_folder(Path(folder), ours=ours, there=_THERE) as partial:
        # ascontiguousarray gives a scalar a dimension.
        tensors = {name: np.ascontiguousarray(tensor).reshape(tensor.shape) for name, tensor in parts.tensors.items()}
        (partial / WEIGHTS).write_bytes(save(tensors))
        texts = {CONFIG: json.dumps(about, indent=2, ensure_ascii=False) + "\n", CARD: card, **parts.files}
        for name, text in texts.items():
            (partial / name).write_text(text, encoding="utf-8")


def require_free(folder: str | Path, *, force: bool = False) -> None:
    """Raise `UsageError` if something other than a model is there, or a model without `force`, before any work."""
    require_replaceable(Path(folder), files := _files_of(folder))
    if files and not force:
        raise UsageError(f"{folder}: {_THERE}")


def run_folder(folder: str | Path) -> Path:
    """Return the folder next to a model's in which its training keeps tokens, checkpoints and curves."""
    return Path(folder).parent / f"{Path(folder).name}.run"


def read_folder(folder: str | Path) -> Parts:
    """Read a model. Raises `MissingAsset` (no model, a file is missing) or `DataError` (damaged, changed, newer)."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    config = read_config(folder)
    with in_folder(folder):
        files = {name: _text(folder, name) for name in config.files if name not in (CARD, CONFIG, WEIGHTS)}
        try:
            parts = Parts(config.model, load(_bytes(folder, WEIGHTS)), files)
        except (SafetensorError, KeyError) as error:  # KeyError: a type of numbers that numpy lacks
            raise DataError(f"damaged ({error})", AGAIN, where=str(Path(folder) / WEIGHTS)) from error
        if parts.digest != config.digest:
            raise DataError("its files are not those it was saved with", AGAIN)
        require_finite(parts.tensors)
    return parts


def require_finite(tensors: Mapping[str, NDArray[Any]]) -> None:
    """Raise `DataError` if a tensor holds NaN, infinity, or no numbers."""
    for name, tensor in tensors.items():
        if tensor.dtype.kind not in "fiu":
            raise DataError(f"the tensor {name} is {tensor.dtype}, expected numbers", AGAIN)
        if not np.isfinite(tensor).all():
            raise DataError(f"the tensor {name} holds NaN or infinity", AGAIN)


def read_config(folder: str | Path) -> FolderConfig:
    """Read `config.json` of a model. Raises `MissingAsset` if there is none, `DataError` if it is damaged or newer."""
    path = Path(folder) / CONFIG
    if not path.exists():
        remedy = "Check the name; rejoinder train makes judges, rejoinder pretrain encoders and responders"
        raise MissingAsset(f"{folder}: no trained model here ({CONFIG} is missing). {remedy}")
    with in_folder(path):
        values = json_value(_bytes(folder, CONFIG, _LARGEST_CONFIG), CONFIG)
        if isinstance(values, dict) and not values.get("blobs", True):  # format 1 had a list of them
            del values["blobs"]
        try:
            require(FolderConfig, values)
        except DataError as error:
            raise DataError(error.problem, _REMEDIES.get(error.field, AGAIN), field=error.field) from error
        return FolderConfig(**values)


def read_card(folder: str | Path) -> str:
    """Read the card of a model, "" if it has none. Raises `DataError` if it is no text or leads out of the folder."""
    with in_folder(folder):
        return _text(folder, CARD) if (Path(folder) / CARD).exists() else ""


def write_section(folder: str | Path, title: str, text: str) -> None:
    """Put a section at the end of a model's card, replacing one of that title; the digest stays the same."""
    read_config(folder)
    others = re.sub(rf"(?ms)^## {re.escape(title)}$.*?(?=^## |\Z)", "", read_card(folder)).strip("\n")
    with atomic_file(Path(folder) / CARD) as partial:
        card = f"{others}\n\n## {title}\n\n".lstrip("\n") + text.strip("\n") + "\n"
        partial.write_text(card, encoding="utf-8", errors="backslashreplace")


@contextmanager
def in_folder(folder: str | Path) -> Iterator[None]:
    """Add the folder to each `DataError` of the block that names no place."""
    try:
        yield
    except DataError as error:
        raise DataError(error.problem, error.remedy, where=error.where or str(folder), field=error.field) from error


def _files_of(folder: str | Path) -> set[str]:
    """Return the names of the files that a model's config lists; none if there is no model."""
    with suppress(MissingAsset, DataError):
        return set(read_config(folder).files)
    return set()


def _text(folder: str | Path, name: str) -> str:
    try:
        return _bytes(folder, name).decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError("not a text in UTF-8", AGAIN, where=str(Path(folder) / name)) from error


def _bytes(folder: str | Path, name: str, largest: int = sys.maxsize) -> bytes:
    """Return the bytes of a plain file in the folder itself, links followed."""
    path = Path(folder) / name
    try:
        if path.resolve(strict=True).parent != Path(folder).resolve() or not path.is_file():
            raise DataError("not a file in the folder itself, so it is not read", AGAIN, where=str(path))
        if (size := path.stat().st_size) > (limit := min(largest, machine_memory())):
            raise DataError(f"{size:,} bytes, expected at most {limit:,}", AGAIN, where=str(path))
        return path.read_bytes()
    except FileNotFoundError as error:
        raise MissingAsset(f"{path}: missing. {AGAIN}") from error
    except (OSError, RuntimeError) as error:  # RuntimeError: a link to itself
        raise MissingAsset(f"{path}: cannot be read ({error}). {AGAIN}") from error


def machine_memory() -> int:
    """Return the bytes of memory of the machine, or the largest number if it does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return sys.maxsize
