"""Models and adapters that turn contexts into replies."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from rejoinder.data.folders import in_folder, read_folder
from rejoinder.errors import DataError
from rejoinder.kinds import makers
from rejoinder.responder import Decoding, Responder


def load(folder: str | Path, decoding: Decoding) -> Responder:
    """The responder in `folder`.

    Raises:
        MissingAsset: there is no model, or a part of it is missing.
        MissingExtra: a library that it needs is not installed.
        DataError: a part is damaged, or the model is no responder.
    """
    parts = read_folder(folder)
    kind = str(parts.config.get("kind"))
    known = makers("responder")
    if kind not in known:
        found = f"a model of kind {kind!r}, expected one of {', '.join(known)}"
        raise DataError(found, "Name the folder of a responder; rejoinder pretrain makes them", where=str(folder))
    with in_folder(folder):
        responder: Responder = import_module(known[kind]).from_parts(parts, decoding)
    return responder
