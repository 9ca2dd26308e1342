"""A trained model as one folder: `config.json`, `card.md`, tensors as safetensors. Nothing in it can run code."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rejoinder.errors import DataError, MissingAsset
from rejoinder.io.atomic import atomic_folder, require_replaceable

CONFIG = "config.json"
WEIGHTS = "weights.safetensors"
CARD = "card.md"
_FORMAT = 1


def write_folder(
    folder: str | Path, config: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]], card: str, **files: str
) -> None:
    """Write a model's folder whole or not at all; an older model at the same place is replaced.

    Args:
        folder: where to.
        config: JSON values, with the `kind` that says who can load it.
        tensors: weights by name.
        card: what the model is, for people.
        files: further text files by their stem, written as `STEM.json`.

    Raises:
        UsageError: something that is no model stands at `folder`.
    """
    from safetensors.numpy import save

    with atomic_folder(Path(folder), ours=_files_of(folder)) as partial:
        packed = save({name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()})
        (partial / WEIGHTS).write_bytes(packed)
        names = [CARD, CONFIG, WEIGHTS, *(f"{stem}.json" for stem in files)]
        full = {"format": _FORMAT, **config, "weights_digest": tensors_digest(tensors), "files": sorted(names)}
        (partial / CONFIG).write_text(json.dumps(full, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        (partial / CARD).write_text(card, encoding="utf-8")
        for stem, text in files.items():
            (partial / f"{stem}.json").write_text(text, encoding="utf-8")


def require_free(folder: str | Path) -> None:
    """Raise where `write_folder` would refuse to write, to be called before the work that leads there.

    Raises:
        UsageError: something that is no model stands at `folder`, or the folder around it does not exist.
    """
    require_replaceable(Path(folder), _files_of(folder))


def _files_of(folder: str | Path) -> set[str]:
    """The files that the model in `folder` says it has; none where there is no model."""
    try:
        return set(read_config(folder).get("files", ()))
    except (MissingAsset, DataError):
        return set()


def read_config(folder: str | Path) -> dict[str, Any]:
    """The config of the model in `folder`.

    Raises:
        MissingAsset: there is no model.
        DataError: its config is damaged or newer than this version.
    """
    path = Path(folder) / CONFIG
    if not path.is_file():
        raise MissingAsset(
            f"{folder}: no trained model here ({CONFIG} is missing). Train one: rejoinder train adem FILE -o {folder}"
        )
    config = read_json(path)
    if not isinstance(config, dict) or config.get("format") != _FORMAT:
        found = config.get("format") if isinstance(config, dict) else "no object"
        raise DataError(f"model format {found}, this version reads {_FORMAT}", "Update rejoinder", where=str(path))
    return config


def read_json(path: Path) -> Any:
    """The JSON value in one file of a model.

    Raises:
        MissingAsset: the file is missing.
        DataError: it is not JSON.
    """
    if not path.is_file():
        raise MissingAsset(f"{path}: missing. Copy the whole folder of the model, or train it again.")
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError(f"damaged ({error})", "Train or copy the model again", where=str(path)) from error


def read_tensors(folder: str | Path) -> dict[str, NDArray[Any]]:
    """The weights of the model in `folder`, checked against the digest in its config.

    Raises:
        MissingAsset: the weights are missing.
        DataError: they are not those the config was written with.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    path = Path(folder) / WEIGHTS
    if not path.is_file():
        raise MissingAsset(f"{path}: missing. Copy the whole folder of the model, or train it again.")
    try:
        tensors: dict[str, NDArray[Any]] = load_file(path)
    except (SafetensorError, OSError) as error:
        raise DataError(f"damaged ({error})", "Copy the whole folder again", where=str(path)) from error
    if tensors_digest(tensors) != read_config(folder).get("weights_digest"):
        raise DataError("not the weights this model was saved with", "Copy the whole folder again", where=str(path))
    return tensors


def tensors_digest(tensors: Mapping[str, NDArray[Any]]) -> str:
    """Twelve hexadecimal digits that tell these tensors from others: SHA-256 over names, types, shapes and values."""
    total = hashlib.sha256()
    for name in sorted(tensors):
        tensor = np.ascontiguousarray(tensors[name])
        total.update(f"{name}:{tensor.dtype.str}:{tensor.shape};".encode())
        total.update(tensor.tobytes())
    return total.hexdigest()[:12]
