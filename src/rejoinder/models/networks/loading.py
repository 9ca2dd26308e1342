"""Weights from a folder into a network, and texts as numbers through it in padded batches of similar size."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import numpy as np
import torch
from annotated_types import Interval
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from rejoinder.data.folders import AGAIN, Parts, value_in
from rejoinder.errors import DataError
from rejoinder.models.networks.dialogue import Dialogues, Turns
from rejoinder.models.vocabulary import PAD_ID, Vocabulary, as_turn
from rejoinder.models.weights import Count, Object, tensor, text_of
from rejoinder.scorer import FloatArray

VOCABULARY = "vocabulary.json"
_LONGEST_TURN = 100_000
_BATCH = 64
Network = TypeVar("Network", bound=nn.Module)
Numbers = TypeVar("Numbers", bound=Sequence[Any])


def build(make: Callable[[], Network], tensors: Mapping[str, NDArray[Any]]) -> Network:
    """Return the network that `make` builds, with `tensors` as its weights, in evaluation mode.

    It is built without memory first, so that the sizes in the folder of a stranger take none before the weights fit
    them. Raises `DataError` if no such network can be built, or the weights are not those of one.
    """
    try:
        with torch.device("meta"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of sizes that are 0
            expected = {name: tuple(weight.shape) for name, weight in make().state_dict().items()}
    except (RuntimeError, TypeError, ValueError, ZeroDivisionError) as error:
        raise DataError(f"no network can be built ({error!s:.80})", AGAIN, field="sizes") from error
    if unknown := next((name for name in tensors if name not in expected), None):
        raise DataError(f"the tensor {unknown} is none of this network", AGAIN)
    weights = {name: tensor(tensors, name, shape) for name, shape in expected.items()}
    network = make()
    network.load_state_dict({name: torch.from_numpy(weight) for name, weight in weights.items()})
    return network.eval()


@dataclass(frozen=True)
class TurnReader:
    """Contexts to numbers, as in training: the last `most_turns` turns, `longest_turn` pieces of each with its end."""

    vocabulary: Vocabulary
    longest_turn: int
    most_turns: int

    def numbers(self, context: Sequence[str]) -> list[list[int]]:
        """The numbers of the last turns of a context, without turns that have none."""
        return [as_turn(ids, self.longest_turn) for ids in self._ids(context)[-self.most_turns :]]

    def truncates(self, context: Sequence[str]) -> bool:
        """Whether `numbers` leaves out turns of a context, or the end of a turn."""
        turns = self._ids(context)
        return len(turns) > self.most_turns or any(len(ids) >= self.longest_turn for ids in turns)

    def _ids(self, context: Sequence[str]) -> list[list[int]]:
        return [ids for text in context if (ids := self.vocabulary.encode(text))]


def turn_reader(parts: Parts, pieces: int, name: str = VOCABULARY) -> TurnReader:
    """Return the reader of a network that has vectors for `pieces` pieces, its vocabulary in the file `name`.

    Raises `DataError` if there is no such file, it has more pieces, or the config has no limits.
    """
    vocabulary = Vocabulary.from_json(text_of(parts.files, name))
    if vocabulary.size > pieces:
        raise DataError(f"{vocabulary.size} pieces in {name} for {pieces}", AGAIN, field="sizes.vocabulary")
    text = value_in(value_in(parts.config, "recipe", Object), "text", Object)
    longest = value_in(text, "longest_turn", Annotated[int, Interval(ge=2, le=_LONGEST_TURN)])
    return TurnReader(vocabulary, longest, value_in(text, "most_turns", Count))


def pad(sequences: Sequence[Sequence[int]], fill: int = PAD_ID) -> Turns:
    """[n, T] the sequences with `fill` behind, and their lengths [n]."""
    rows = [torch.tensor(sequence, dtype=torch.long) for sequence in sequences]
    return Turns(pad_sequence(rows, batch_first=True, padding_value=fill), torch.tensor([*map(len, rows)]))


def as_dialogues(contexts: Sequence[Sequence[Sequence[int]]]) -> Dialogues:
    """Contexts of one turn or more, in numbers, for a dialogue model; all turns in one chunk."""
    turns = [turn for context in contexts for turn in context]
    rows = list(torch.split(torch.arange(len(turns)), [*map(len, contexts)]))
    return Dialogues([pad(turns)], pad_sequence(rows, batch_first=True, padding_value=-1))


def encode_in_batches(
    items: Sequence[Numbers], width: int, size: Callable[[Numbers], Any], encode: Callable[[list[Numbers]], Tensor]
) -> FloatArray:
    """[N, width] vectors of N items in numbers; a row of NaN for an empty one.

    Items of similar `size` go together to `encode`, so that little padding is read; a row does not depend on others.
    """
    encoded = np.full((len(items), width), np.nan)
    usable = sorted((place for place, item in enumerate(items) if item), key=lambda place: size(items[place]))
    with torch.inference_mode():
        for start in range(0, len(usable), _BATCH):
            places = usable[start : start + _BATCH]
            encoded[places] = encode([items[place] for place in places]).double().numpy()
    return encoded
