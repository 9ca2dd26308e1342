"""A trained model as one folder: `config.json`, `card.md`, tensors as safetensors. Nothing in it can run code."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rejoinder.errors import DataError, MissingAsset, UsageError
from rejoinder.io.atomic import atomic_folder, require_replaceable

CONFIG = "config.json"
WEIGHTS = "weights.safetensors"
CARD = "card.md"
_FORMAT = 2
_READABLE = (1, 2)
_AGAIN = "Copy the whole folder of the model again, or train it again"


@dataclass(frozen=True)
class Parts:
    """Everything that decides what a model does.

    Attributes:
        config: JSON values, with the `kind` that says who can load it.
        tensors: weights by name.
        files: further text files by name.
    """

    config: Mapping[str, Any]
    tensors: Mapping[str, NDArray[Any]] = field(repr=False)
    files: Mapping[str, str] = field(default_factory=dict, repr=False)

    @cached_property
    def digest(self) -> str:
        """Twelve hexadecimal digits that tell this model from others: SHA-256 over all parts."""
        total = hashlib.sha256(json.dumps(self.config, sort_keys=True, allow_nan=False).encode())
        for name, tensor in sorted(self.tensors.items()):
            total.update(f"\n{name} {tensor.dtype.str} {tensor.shape}\n".encode())
            total.update(np.ascontiguousarray(tensor).tobytes())
        for name, text in sorted(self.files.items()):
            total.update(f"\n{name}\n{text}".encode())
        return total.hexdigest()[:12]

    def holding(self, name: str, other: Parts) -> Parts:
        """These parts and those of `other`, kept inside under `name`: its config as a value, the rest by a prefix."""

        def under(found: Mapping[str, Any]) -> dict[str, Any]:
            return {f"{name}.{key}": value for key, value in found.items()}

        return Parts(
            {**self.config, name: dict(other.config)},
            {**self.tensors, **under(other.tensors)},
            {**self.files, **under(other.files)},
        )

    def inner(self, name: str) -> Parts:
        """The parts that `holding` put inside under `name`."""

        def under(found: Mapping[str, Any]) -> dict[str, Any]:
            mark = f"{name}."
            return {key.removeprefix(mark): value for key, value in found.items() if key.startswith(mark)}

        return Parts(self.config[name], under(self.tensors), under(self.files))


def write_folder(folder: str | Path, parts: Parts, card: str, *, force: bool = False) -> None:
    """Write a model's folder whole or not at all.

    Args:
        folder: where to.
        parts: the model.
        card: what it is, for people.
        force: replace a model that stands there.

    Raises:
        UsageError: see `require_free`.
    """
    from safetensors.numpy import save

    require_free(folder, force=force)
    names = sorted({CARD, CONFIG, WEIGHTS, *parts.files})
    about = {"format": _FORMAT, "digest": parts.digest, "files": names, "model": dict(parts.config)}
    with atomic_folder(Path(folder), ours=_files_of(folder)) as partial:
        # A number alone has no dimension, which ascontiguousarray would give it.
        whole = {name: np.ascontiguousarray(tensor).reshape(tensor.shape) for name, tensor in parts.tensors.items()}
        packed = save(whole)
        (partial / WEIGHTS).write_bytes(packed)
        texts = {CONFIG: json.dumps(about, indent=2, ensure_ascii=False) + "\n", CARD: card, **parts.files}
        for name, text in texts.items():
            (partial / name).write_text(text, encoding="utf-8")


def require_free(folder: str | Path, *, force: bool = False) -> None:
    """Raise where `write_folder` would refuse to write, to be called before the work that leads there.

    Args:
        folder: where to.
        force: a model that stands there may be replaced.

    Raises:
        UsageError: a model stands at `folder` and is not to be replaced, or something that is no model does, or the
            folder around it does not exist.
    """
    files = _files_of(folder)
    require_replaceable(Path(folder), files)
    if files and not force:
        raise UsageError(
            f"{folder}: a trained model is there already. Choose another name, or replace it with --force (in Python, "
            "force=True)"
        )


def run_folder(folder: str | Path) -> Path:
    """The folder beside a model's in which its training keeps tokens, checkpoints and curves."""
    place = Path(folder)
    return place.parent / f"{place.name}.run"


def read_folder(folder: str | Path) -> Parts:
    """The model in `folder`, checked against the digest it was written with.

    Raises:
        MissingAsset: there is no model, or a file of it is missing or unreadable.
        DataError: a file is damaged or changed, or the model is newer than this version.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load

    place = Path(folder)
    about = _about(place)
    texts = [name for name in about["files"] if name not in (CARD, CONFIG, WEIGHTS)]
    files = {name: _bytes(place / name).decode("utf-8") for name in texts}
    try:
        tensors = load(_bytes(place / WEIGHTS))
    except SafetensorError as error:
        raise DataError(f"damaged ({error})", _AGAIN, where=str(place / WEIGHTS)) from error
    parts = Parts(about["model"], tensors, files)
    if parts.digest != about["digest"]:
        raise DataError("its files are not those it was saved with", _AGAIN, where=str(folder))
    return parts


def kind_of(folder: str | Path) -> str | None:
    """What kind of model stands in `folder`, as its config says; None where it says none.

    Raises:
        MissingAsset: there is no model.
        DataError: its config is damaged, or newer than this version.
    """
    kind: str | None = _about(Path(folder))["model"].get("kind")
    return kind


def _about(place: Path) -> dict[str, Any]:
    """What `config.json` says: `format`, `digest`, `files`, `model`."""
    path = place / CONFIG
    if not path.is_file():
        remedy = "Check the name; rejoinder train makes judges, rejoinder pretrain encoders and responders"
        raise MissingAsset(f"{place}: no trained model here ({CONFIG} is missing). {remedy}")
    try:
        about = json.loads(_bytes(path))
    except ValueError as error:
        raise DataError(f"damaged ({error})", _AGAIN, where=str(path)) from error
    if not isinstance(about, dict) or about.get("format") not in _READABLE:
        found = about.get("format") if isinstance(about, dict) else "no object"
        raise DataError(f"model format {found}, this version reads {_FORMAT}", "Update rejoinder", where=str(path))
    if about.get("blobs"):
        problem = f"an older version made it, with {', '.join(map(str, about['blobs']))}, which is not run any more"
        raise DataError(problem, "Train it again with this version", where=str(path))
    if not {"digest", "files", "model"} <= set(about):
        raise DataError("damaged (a part is missing)", _AGAIN, where=str(path))
    return about


def _files_of(folder: str | Path) -> set[str]:
    """The files that the model in `folder` says it has; none where there is no model."""
    try:
        return set(_about(Path(folder))["files"])
    except (MissingAsset, DataError):
        return set()


def _bytes(path: Path) -> bytes:
    """What a file of a model holds."""
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise MissingAsset(f"{path}: missing. {_AGAIN}.") from error
    except OSError as error:
        raise MissingAsset(
            f"{path}: cannot be read ({error.strerror}). Give yourself the right to, or copy it."
        ) from error
