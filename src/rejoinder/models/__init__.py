"""Encoders and responders by name; the table of the kinds of models. Only `networks` imports torch at the top."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rejoinder.assets import JUDGE
from rejoinder.data.folders import Parts, in_folder, read_folder
from rejoinder.data.read import examples_of
from rejoinder.errors import DataError, MissingExtra, UsageError
from rejoinder.example import Given
from rejoinder.registry import Entry, Registry
from rejoinder.scorer import Encoder

if TYPE_CHECKING:
    from rejoinder.models.decoding import Decoding
    from rejoinder.models.encoders import PortableEncoder
    from rejoinder.models.recurrent_encoders import StateOf
    from rejoinder.responder import Responder

WORD_VECTORS = "word-vectors"
"""The encoder of a judge for which none is named."""
INSIDE = "encoder"
"""The name under which the folder of a judge keeps its encoder."""


def _load(module: str, function: str = "from_parts") -> Callable[..., Any]:
    """Return a call of a function whose module is imported when it is called."""
    return lambda *arguments: getattr(import_module(f"rejoinder.models.{module}"), function)(*arguments)


class ModelKind(NamedTuple):
    """A kind of model, which the `kind` in the config of a folder names."""

    about: str  # "" for one that no recipe makes
    encoder: Callable[[Parts], PortableEncoder] | None = None  # made of the parts of a folder
    responder: Callable[[Parts, Decoding], Responder] | None = None
    trained: bool = False  # a network is trained, which needs torch
    torch: bool = False  # the model itself runs on torch
    teacher: bool = False  # its recipe needs an encoder
    corpus: str = "dialogues"  # what it is made of

    @property
    def is_material(self) -> bool:
        """Whether judges read it next to the vectors of an encoder."""
        return not (self.encoder or self.responder)

    def made(self, name: str) -> tuple[str, str]:
        """Return the command that makes a model of this kind, and what it needs."""
        recipe = f"recipes/{name}{'-small' if self.trained else ''}.toml"
        extra = "" if not self.trained else "; the extra train" if self.torch else "; to train it the extra train"
        teacher = " --teacher NAME" if self.teacher else ""
        return f"rejoinder pretrain {recipe} CORPUS...{teacher} -o FOLDER", f"{self.corpus}{extra}"


_retrieval, _generation, _recurrent = (
    _load("retrieval"),
    _load("generation"),
    _load("recurrent_encoders"),
)
_word_vectors, _sentence = _load("encoders", "average_encoder"), _load("encoders", "sentence_encoder")
_network: dict[str, Any] = {"trained": True, "torch": True}
MODELS: dict[str, ModelKind] = {
    "average": ModelKind("", _load("encoders", "average_of")),
    "sentence": ModelKind("", _load("encoders", "sentence_of")),
    "random": ModelKind("a response drawn at random", responder=_retrieval),
    "c-tfidf": ModelKind("the response to the most similar context, by TF-IDF", responder=_retrieval),
    "r-tfidf": ModelKind("the most similar response, by TF-IDF", responder=_retrieval),
    "lm": ModelKind("a language model over the conversation", responder=_generation, **_network),
    "seq2seq": ModelKind("an encoder of the last turn and a decoder", responder=_generation, **_network),
    "hred": ModelKind("a hierarchical recurrent encoder and a decoder", _recurrent, _generation, **_network),
    "vhred": ModelKind("an HRED with a latent variable", _recurrent, _generation, **_network),
    "mrrnn": ModelKind("an HRED that plans a coarse sequence first", responder=_generation, **_network),
    "dual-encoder": ModelKind("two encoders that choose a response", responder=_retrieval, **_network),
    "student": ModelKind(
        "a small encoder that was taught a large one's vectors", _load("student"), trained=True, teacher=True
    ),
    "tweet2vec": ModelKind(
        "the characters of a tweet, read both ways",
        _load("recurrent_encoders", "tweets_from_parts"),
        corpus="tweets",
        **_network,
    ),
    "phrases": ModelKind("how usual words and phrases are in a corpus"),
    "mood": ModelKind("what turns are like and what replies take them for, over an encoder's vectors", teacher=True),
    "selector": ModelKind("which reply answers which context, over an encoder's vectors", trained=True, teacher=True),
}
"""Every kind of model in a folder but judges."""
_BUNDLED, _NAMED = "comes along", "is named so"
_REMOVED = {"dan": "This version has no such models any more. Train it again over another encoder"}
ENCODERS: Registry[PortableEncoder] = Registry(
    "encoder",
    (
        Entry(WORD_VECTORS, "averaged word vectors", lambda _, path: _word_vectors(path), _BUNDLED),
        Entry("rejoinder", "the sentence encoder of the judge in the box", lambda *_: load_encoder(JUDGE), _BUNDLED),
        Entry(
            "sentence:MODEL_OR_FOLDER",
            "any model of sentence-transformers",
            lambda name, _: _sentence(name.partition(":")[2]),
            _NAMED,
            "the model; the extra encoders",
        ),
    ),
)
"""Encoders that have a name; `load(name, vectors)` makes one."""


def _endpoint(rest: str, decoding: Decoding) -> Responder:
    from rejoinder.llm.endpoint import place_of
    from rejoinder.llm.responder import EndpointResponder

    address, model = place_of(rest, rest)
    sample = decoding.method == "sample"
    return EndpointResponder(address, model, sample, decoding.temperature, decoding.top_p, decoding.longest)


def _command(rest: str, _: Decoding) -> Responder:
    from rejoinder.external.responder import CommandResponder

    return CommandResponder(rest)


RESPONDERS: Registry[Responder] = Registry(
    "responder",
    (
        Entry("human:FILE", "replies that people wrote", _load("responders", "load_human"), _NAMED, "the file"),
        Entry("command:PROGRAM", "a program, contexts in and replies out", _command, _NAMED, "the program"),
        Entry("openai:URL#MODEL", "an endpoint of OpenAI's form", _endpoint, _NAMED, "the network, to that URL"),
    ),
)
"""Responders that are no trained models; `load(rest, decoding)` takes the part of the name after the colon."""


def _kind_of(parts: Parts) -> tuple[str, ModelKind]:
    kind = str(parts.config.get("kind"))
    return kind, MODELS.get(kind, ModelKind(""))


def encoder_of(parts: Parts, where: str = "") -> PortableEncoder:
    """Return the encoder that `parts` hold, with a `kind` in their config; `where` is their source, for messages.

    Raises:
        DataError: they are those of something else.
        MissingExtra: a library that it needs is not installed.
    """
    kind, model = _kind_of(parts)
    if model.encoder is None:
        known = ", ".join(name for name, other in MODELS.items() if other.encoder)
        remedy = _REMOVED.get(kind, "Name the folder of a pre-trained model")
        raise DataError(f"a model of kind {kind!r}, expected one of {known}", remedy, where=where)
    with in_folder(where):
        return model.encoder(parts)


def load_encoder(
    name: str | Path, state: StateOf | None = None, *, vectors: str | Path | None = None
) -> PortableEncoder:
    """Return the encoder called `name`.

    Args:
        name: one of `ENCODERS`, `sentence:` and a model of sentence-transformers, or the folder of a pre-trained model
            or of a judge, whose encoder it is.
        state: the state of an HRED or VHRED that stands for a text; by default `context`, or that of the judge.
        vectors: file of word vectors for `word-vectors`; by default the bundled ones.

    Raises:
        MissingAsset, MissingExtra: there is no model, or a library that it needs is not installed.
        UnusableModel, DataError: it is damaged, refused or something else.
        UsageError: there is no such state, or the encoder has a single one; or `vectors` of an encoder without words.
    """
    name = str(name)
    if vectors is not None and name != WORD_VECTORS:
        raise UsageError(f"the encoder {name} takes the place of word vectors. Leave {vectors} out, or the encoder")
    if entry := ENCODERS.entry(name):
        if state is not None:
            raise UsageError(f"the encoder {name} has one state only. Leave the state {state} out")
        return entry.load(name, vectors)
    parts = read_folder(name)
    if _kind_of(parts)[1].encoder is None and INSIDE in parts.config:
        with in_folder(name):
            parts = parts.inner(INSIDE)
    kind, model = _kind_of(parts)
    if model.encoder is _recurrent:
        if state not in (None, "context", "utterance"):
            raise UsageError(f"no state is called {state!r}. There are: context, utterance")
        config = {"state": "context", **parts.config}
        parts = replace(parts, config=config | {"state": state or config["state"]})
    elif state is not None:
        raise UsageError(f"{name}: a model of kind {kind} has one state only. Leave the state {state} out")
    return encoder_of(parts, name)


def encode(
    examples: Given,
    encoder: Encoder | str | Path = WORD_VECTORS,
    *,
    state: StateOf | None = None,
    vectors: str | Path | None = None,
) -> dict[str, NDArray[Any]]:
    """Return vectors of everything in N examples with R references together, by name.

    Args:
        examples: in any form that `examples_of` takes.
        encoder: texts to vectors, or the name of an encoder.
        state: see `load_encoder`.
        vectors: see `load_encoder`.

    Returns:
        `ids` [N]; `context` and `response` [N, D]; `reference` [R, D], and `reference_row` [R], the row of the example
        of each. A text without a known word is a row of NaN.

    Raises:
        DataError: `examples` cannot be read; see also `load_encoder`.
        MissingAsset, MissingExtra, UsageError: see `load_encoder`.
    """
    from rejoinder.models.encoders import encode_distinct

    lines = examples_of(examples)
    if isinstance(encoder, (str, Path)):
        encoder = load_encoder(encoder, state, vectors=vectors)
    pairs = [(row, text) for row, example in enumerate(lines) for text in example.references]
    return {
        "ids": np.array([example.id for example in lines], dtype=np.str_),
        "context": encode_distinct(encoder.encode_contexts, [example.context for example in lines]),
        "response": encode_distinct(encoder.encode, [example.response for example in lines]),
        "reference": encode_distinct(encoder.encode, [text for _, text in pairs]),
        "reference_row": np.array([row for row, _ in pairs], dtype=np.int64),
    }


def load_responder(name: str | Path | Responder, *, decoding: Decoding | None = None) -> Responder:
    """Return the responder with this name; a responder object comes back as it is.

    Args:
        name: the path of a trained model, `human:FILE`, `command:PROGRAM ARGUMENTS` or `openai:URL#MODEL`.
        decoding: how a model that writes replies token by token chooses the tokens; by default the usual way.

    Raises:
        UsageError: there is no such responder.
        MissingAsset, MissingExtra: a file or a library that it needs is missing.
        DataError: such a file is damaged, or the model in the folder is no responder.
    """
    from rejoinder.models.decoding import Decoding

    if not isinstance(name, (str, Path)):
        if not hasattr(name, "respond_batch"):
            kind = type(name).__name__
            raise UsageError(f"a responder is a name, a folder or an object with respond_batch, not a {kind}")
        return name
    if os.path.isdir(name):  # noqa: PTH112 - Path.is_dir raises OSError for a name that is too long
        parts = read_folder(name)
        kind, model = _kind_of(parts)
        if model.responder is None:
            problem = f"a model of kind {kind!r}, expected one of {', '.join(responder_kinds())}"
            raise DataError(problem, "Name a folder with a responder; rejoinder pretrain makes them", where=str(name))
        with in_folder(name):
            return model.responder(parts, decoding or Decoding())
    if entry := RESPONDERS.entry(str(name)):
        return entry.load(str(name).partition(":")[2], decoding or Decoding())
    known = ", ".join(f"{prefix}:..." for prefix in RESPONDERS)
    raise UsageError(f"no responder is called {str(name)!r}. Use the path of a trained one, or {known}")


def responder_kinds() -> list[str]:
    """Return the kinds of models that answer."""
    return [name for name, kind in MODELS.items() if kind.responder]


def require_torch(what: str = "A pre-trained encoder") -> None:
    """Raise `MissingExtra` if torch is not installed."""
    try:
        import torch  # noqa: F401 - only whether it is there
    except ImportError as error:
        raise MissingExtra("torch", "train", what) from error
