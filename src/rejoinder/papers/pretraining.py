"""Perplexity of trained sequence models beside n-grams that were fitted on the same tokens, and what the models say."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from rejoinder.encoders.batching import as_dialogues, with_weights
from rejoinder.errors import UsageError
from rejoinder.io.folders import Parts, read_folder
from rejoinder.nn.dialogue import DialogueModel, Sizes
from rejoinder.nn.language import LanguageModel, LanguageSizes
from rejoinder.papers.asked import Asked, Takes, named
from rejoinder.responder import Decoding, answer, request
from rejoinder.responders.generation import from_parts
from rejoinder.stats.ngrams import fit_ngrams
from rejoinder.training.batches import batch_count, batch_stream, padding
from rejoinder.training.tokens import TokenStore

TAKES = Takes(
    ("responders", "seed"),
    must=("responders",),
    why="measures models that `rejoinder pretrain` made, with their runs beside them. Give an HRED, a VHRED that went "
    "on from it, and others: -r NAME=FOLDER",
)
SAMPLES, LONGEST = 10, 30
TOGETHER = 32
WITHOUT_LATENT = ("lm", "seq2seq", "hred")
ORDERS = (1, 2, 3)


class Model(NamedTuple):
    """A trained model.

    Attributes:
        kind: lm, seq2seq, hred, vhred or mrrnn.
        config: of its folder; its `figures` are those of the best validation.
        weights: how many numbers it has.
        places: perplexity of turns without context and of turns with one; None where a latent variable gives only a
            bound.
        samples: for HRED and VHRED, what it says in held-out dialogues.
    """

    kind: str
    config: Mapping[str, Any]
    weights: int
    places: tuple[float, float] | None
    samples: Sequence[Sample]


class Sample(NamedTuple):
    """The last turn of a held-out dialogue.

    Attributes:
        context: the turns before it.
        true: what people said.
        said: what the model says.
    """

    context: Sequence[str]
    true: str
    said: str


@dataclass(frozen=True)
class Found:
    """All that was found.

    Attributes:
        ngrams: perplexity of modified Kneser-Ney models, by their order.
        models: the HRED and the VHRED last.
        train: tokens that were trained on.
        held_out: tokens that were validated on.
        tokens_per_update: of the HRED, mean.
        padding: share of the positions of an epoch's batches that hold padding.
    """

    ngrams: Mapping[int, float]
    models: Sequence[Model]
    train: int
    held_out: int
    tokens_per_update: float
    padding: float

    def of(self, kind: str) -> Model:
        """The model of a kind."""
        return next(one for one in self.models if one.kind == kind)


def find(asked: Asked) -> Found:
    """The models, and n-grams on exactly the tokens that the HRED was trained and validated on.

    Raises:
        UsageError: there is no HRED or no VHRED; or a model was validated on other tokens than the HRED.
    """
    folders = {}
    for text in asked.responders:
        folder = Path(named(text, "-r")[1])
        folders[str(read_folder(folder).config["kind"])] = folder
    if not {"hred", "vhred"} <= set(folders):
        raise UsageError(f"{', '.join(folders)}: there is no HRED or no VHRED among them. Give both")
    train, held_out = (TokenStore(_run_of(folders["hred"]) / part) for part in ("train", "held_out"))
    _require_same(held_out, folders)
    with asked.stage("measuring", len(folders) + len(ORDERS)) as advance:
        models = []
        for kind in sorted(folders, key=lambda one: (one == "vhred", one == "hred")):
            models.append(_measured(kind, folders[kind], held_out, asked.seed))
            advance(1)
        config = read_folder(folders["hred"]).config
        ngrams = {}
        for order in ORDERS:
            fitted = fit_ngrams(_turns_of(train), order, vocabulary_size=config["sizes"]["vocabulary"])
            ngrams[order] = fitted.perplexity(_turns_of(held_out))
            advance(1)
    budget = config["recipe"]["tokens_per_batch"]
    an_update = train.tokens / batch_count(train, tokens_per_batch=budget, seed=0, epoch=0)
    return Found(ngrams, models, train.tokens, held_out.tokens, an_update, _padding_share(train, budget))


def _measured(kind: str, folder: Path, held_out: TokenStore, seed: int) -> Model:
    """One model on the tokens that it was validated on."""
    parts = read_folder(folder)
    weights = sum(tensor.size for tensor in parts.tensors.values())
    places = _places(parts, held_out) if kind in WITHOUT_LATENT else None
    said = list(_samples(parts, held_out, seed)) if kind in ("hred", "vhred") else []
    return Model(kind, parts.config, weights, places, said)


def _places(parts: Parts, held_out: TokenStore) -> tuple[float, float]:
    """Perplexity of the first turns of the held-out pieces, and of all later turns."""
    sizes, generator = parts.config["sizes"], torch.Generator()

    def build() -> LanguageModel | DialogueModel:
        if parts.config["kind"] == "lm":
            return LanguageModel(LanguageSizes(**sizes))
        return DialogueModel(Sizes(**sizes))

    model = with_weights(build, parts.tensors)
    sums = np.zeros((2, 2))  # first turns, all turns; nats, tokens
    with torch.inference_mode():
        for start in range(0, held_out.pieces, TOGETHER):
            pieces = range(start, min(start + TOGETHER, held_out.pieces))
            told = [[turn.tolist() for turn in held_out.turns(piece)] for piece in pieces]
            for row, turns in enumerate(([one[:1] for one in told], told)):
                losses = model(as_dialogues(turns), generator)
                sums[row] += float(losses.nll), losses.tokens
    first, later = sums[0], sums[1] - sums[0]
    return math.exp(first[0] / first[1]), math.exp(later[0] / later[1])


def _samples(parts: Parts, held_out: TokenStore, seed: int) -> Iterator[Sample]:
    """The last turns of random held-out dialogues; the model writes greedily, a VHRED draws from its prior."""
    responder = from_parts(parts, Decoding("greedy", longest=LONGEST))
    chosen = np.random.default_rng(seed).choice(held_out.pieces, SAMPLES, replace=False).tolist()
    told = [[responder.vocabulary.decode(turn.tolist()) for turn in held_out.turns(piece)] for piece in chosen]
    answers = answer(responder, [request(tuple(turns[:-1]), seed) for turns in told])
    for turns, found in zip(told, answers, strict=True):
        yield Sample(turns[:-1], turns[-1], found.replies[0].text if found.replies else f"({found.reason})")


def _run_of(folder: Path) -> Path:
    """Where the tokens of a model's run lie."""
    return folder.with_name(f"{folder.name}.run")


def _require_same(held_out: TokenStore, folders: Mapping[str, Path]) -> None:
    """Raise where one of the models was validated on other tokens."""
    for folder in folders.values():
        other = TokenStore(_run_of(folder) / "held_out")
        if other.counts != held_out.counts or not all(map(np.array_equal, _turns_of(other), _turns_of(held_out))):
            raise UsageError(f"{folder} was validated on other tokens than the HRED. Train both on the same corpora")


def _turns_of(store: TokenStore) -> Iterator[NDArray[Any]]:
    """Every turn in a store."""
    return (turn for piece in range(store.pieces) for turn in store.turns(piece))


def _padding_share(store: TokenStore, budget: int) -> float:
    """Share of the positions of an epoch's batches that hold padding."""
    counts = [padding(batch) for batch in batch_stream(store, tokens_per_batch=budget, seed=0, epoch=0)]
    return sum(padded for padded, _ in counts) / sum(positions for _, positions in counts)
