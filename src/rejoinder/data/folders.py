"""A trained model as one folder: `config.json`, `card.md`, tensors as safetensors.

A folder may come from a stranger: nothing in it can run code, nothing outside it is read, and what it holds is checked
before it is used (`io.checks`).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rejoinder.data.checks import AGAIN, inner, loaded, require_finite
from rejoinder.data.outputs import atomic_file, atomic_folder, require_replaceable
from rejoinder.errors import DataError, MissingAsset, UsageError

CONFIG = "config.json"
WEIGHTS = "weights.safetensors"
CARD = "card.md"
_FORMAT = 2
_READABLE = (1, 2)
_THERE = "a trained model is there already. Choose another name, or replace it with --force (in Python, force=True)"
_LARGEST_CONFIG = 2**24  # bytes
# A name in the folder itself: no way up or down, no drive, nothing that a system takes for a device.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


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

        return Parts(inner(self.config, name), under(self.tensors), under(self.files))


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
    ours = _files_of(folder) | {*names} if force else ()
    with atomic_folder(Path(folder), ours=ours, there=_THERE) as partial:
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
        raise UsageError(f"{folder}: {_THERE}")


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
    place = Path(folder)
    about = _about(place)
    texts = [name for name in about["files"] if name not in (CARD, CONFIG, WEIGHTS)]
    with in_folder(folder):
        parts = Parts(about["model"], _tensors(place), {name: _text(place, name) for name in texts})
        if parts.digest != about["digest"]:
            raise DataError("its files are not those it was saved with", AGAIN)
        require_finite(parts.tensors)
    return parts


def read_card(folder: str | Path) -> str:
    """The card for people of the model in `folder`; "" where there is none.

    Raises:
        DataError: it is no text, or leads out of the folder.
    """
    place = Path(folder)
    with in_folder(folder):
        return _text(place, CARD) if (place / CARD).exists() else ""


def write_section(folder: str | Path, title: str, text: str) -> None:
    """Put a section at the end of the card of the model in `folder`, in the place of an older one of that title.

    The card decides no score, so that what the folder is called in signatures stays.

    Args:
        folder: of a model.
        title: of the section.
        text: what stands in it, without headings of its own.

    Raises:
        MissingAsset, DataError: there is no model, or its card is no text.
        WriteError: the card cannot be written.
    """
    kind_of(folder)
    heading = f"## {title}"
    before, _, rest = f"\n{read_card(folder)}".partition(f"\n{heading}\n")
    after = re.search(r"^## ", rest, re.MULTILINE)
    kept = (before.strip("\n"), rest[after.start() :].strip("\n") if after else "")
    parts = [*filter(None, kept), heading, text.strip("\n")]
    with atomic_file(Path(folder) / CARD) as partial:
        partial.write_text("\n\n".join(parts) + "\n", encoding="utf-8", errors="backslashreplace")


@contextmanager
def in_folder(folder: str | Path) -> Iterator[None]:
    """Say of an error in the block which folder it is about, where it does not say so itself."""
    try:
        yield
    except DataError as error:
        if error.where:
            raise
        raise DataError(error.problem, error.remedy, where=str(folder), field=error.field) from error


def kind_of(folder: str | Path) -> str | None:
    """What kind of model stands in `folder`, as its config says; None where it says none.

    Raises:
        MissingAsset: there is no model.
        DataError: its config is damaged, or newer than this version.
    """
    kind = _about(Path(folder))["model"].get("kind")
    return kind if isinstance(kind, str) else None


def _about(place: Path) -> dict[str, Any]:
    """What `config.json` says: `format`, `digest`, `files`, `model`."""
    path = place / CONFIG
    if not path.exists():
        remedy = "Check the name; rejoinder train makes judges, rejoinder pretrain encoders and responders"
        raise MissingAsset(f"{place}: no trained model here ({CONFIG} is missing). {remedy}")
    with in_folder(path):
        about = loaded(_bytes(place, CONFIG, _LARGEST_CONFIG), "it")
        if not isinstance(about, dict) or about.get("format") not in _READABLE:
            found = repr(about.get("format")) if isinstance(about, dict) else "no object"
            raise DataError(f"model format {found:.40}, this version reads {_FORMAT}", "Update rejoinder")
        if blobs := about.get("blobs"):
            named = ", ".join(map(str, blobs)) if isinstance(blobs, list) else repr(blobs)
            problem = f"an older version made it, with {named:.60}, which is not run any more"
            raise DataError(problem, "Train it again with this version")
        inner(about, "model")
        if not isinstance(about.get("digest"), str) or not _are_names(about.get("files")):
            raise DataError("damaged (digest and files must be a text and a list of names)", AGAIN)
    return about


def _are_names(found: Any) -> bool:
    """Whether all of `found` are names of files in the folder itself."""
    return isinstance(found, list) and all(isinstance(name, str) and _NAME.fullmatch(name) for name in found)


def _files_of(folder: str | Path) -> set[str]:
    """The files that the model in `folder` says it has; none where there is no model."""
    try:
        return set(_about(Path(folder))["files"])
    except (MissingAsset, DataError):
        return set()


def _tensors(place: Path) -> dict[str, NDArray[Any]]:
    """The weights of a model."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        return load(_bytes(place, WEIGHTS))
    except (SafetensorError, KeyError) as error:  # a kind of number that numpy does not have is a KeyError
        raise DataError(f"damaged ({error})", AGAIN, where=str(place / WEIGHTS)) from error


def _text(place: Path, name: str) -> str:
    """What a text file of a model holds."""
    try:
        return _bytes(place, name).decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError("no text in UTF-8", AGAIN, where=str(place / name)) from error


def _bytes(place: Path, name: str, most: int | None = None) -> bytes:
    """What the file `name` of the model in `place` holds: a plain file, inside it, of at most `most` bytes."""
    path = place / name
    try:
        if path.resolve(strict=True).parent != place.resolve() or not path.is_file():
            raise DataError("is no file in the folder itself, so it is not read", AGAIN, where=str(path))
        size, limit = path.stat().st_size, min(most or sys.maxsize, machine_memory())
        if size > limit:
            raise DataError(f"{size:,} bytes, more than the {limit:,} that can be read", AGAIN, where=str(path))
        return path.read_bytes()
    except FileNotFoundError as error:
        raise MissingAsset(f"{path}: missing. {AGAIN}.") from error
    except (OSError, RuntimeError) as error:  # RuntimeError: a link to itself
        reason = error.strerror if isinstance(error, OSError) else error
        raise MissingAsset(f"{path}: cannot be read ({reason}). Give yourself the right to, or copy it.") from error


def machine_memory() -> int:
    """How many bytes of memory the machine has, where it says so."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return sys.maxsize
