"""Models and adapters that turn contexts into replies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rejoinder.data.folders import Parts, in_folder, read_folder
from rejoinder.errors import DataError
from rejoinder.registry import Entry, Registry

if TYPE_CHECKING:
    from rejoinder.models.decoding import Decoding
    from rejoinder.responder import Responder


def _human(rest: str, decoding: Decoding) -> Responder:
    from rejoinder.models.human import load

    return load(rest, decoding)


def _command(rest: str, decoding: Decoding) -> Responder:
    from rejoinder.models.command import load

    return load(rest, decoding)


def _endpoint(rest: str, decoding: Decoding) -> Responder:
    from rejoinder.models.endpoint import load

    return load(rest, decoding)


def _retrieval(parts: Parts, decoding: Decoding) -> Responder:
    from rejoinder.models.retrieval import from_parts

    return from_parts(parts, decoding)


def _generation(parts: Parts, decoding: Decoding) -> Responder:
    from rejoinder.models.generation import from_parts

    return from_parts(parts, decoding)


def _dual(parts: Parts, decoding: Decoding) -> Responder:
    from rejoinder.models.dual_responder import from_parts

    return from_parts(parts, decoding)


_NAMED = "is named so"
RESPONDERS: Registry[Responder] = Registry(
    "responder",
    (
        Entry("human:FILE", "replies that people wrote", _human, _NAMED, "the file"),
        Entry("command:PROGRAM", "a program, contexts in and replies out", _command, _NAMED, "the program"),
        Entry("openai:URL#MODEL", "an endpoint of OpenAI's form", _endpoint, _NAMED, "the network, to that URL"),
    ),
)
"""Responders that are no trained models; `load(rest, decoding)` takes the part of the name after the colon."""
KINDS: Registry[Responder] = Registry(
    "kind of responder",
    (
        Entry("random", "a response drawn at random", _retrieval),
        Entry("c-tfidf", "the response to the most similar context, by TF-IDF", _retrieval),
        Entry("r-tfidf", "the most similar response, by TF-IDF", _retrieval),
        Entry("lm", "a language model over the conversation", _generation),
        Entry("seq2seq", "an encoder of the last turn and a decoder", _generation),
        Entry("hred", "a hierarchical recurrent encoder and a decoder", _generation),
        Entry("vhred", "an HRED with a latent variable", _generation),
        Entry("mrrnn", "an HRED that plans a coarse sequence first", _generation),
        Entry("dual-encoder", "two encoders that choose a response", _dual),
    ),
)
"""Trained responders by the kind that their folder names; `load(parts, decoding)` makes one."""


def load(folder: str | Path, decoding: Decoding) -> Responder:
    """Return the responder in `folder`.

    Raises:
        MissingAsset: there is no model, or a part of it is missing.
        MissingExtra: a library that it needs is not installed.
        DataError: a part is damaged, or the model is no responder.
    """
    parts = read_folder(folder)
    kind = str(parts.config.get("kind"))
    if kind not in KINDS:
        found = f"a model of kind {kind!r}, expected one of {', '.join(KINDS)}"
        raise DataError(found, "Name the folder of a responder; rejoinder pretrain makes them", where=str(folder))
    with in_folder(folder):
        return KINDS[kind].load(parts, decoding)
