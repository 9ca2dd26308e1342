"""Texts as numbers through a network: batches of like size, padded, on the CPU."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import numpy as np
from annotated_types import Interval
from numpy.typing import NDArray

from rejoinder.data.folders import AGAIN, Parts, value_in
from rejoinder.errors import DataError, MissingExtra
from rejoinder.models.vocabulary import PAD_ID, Vocabulary, as_turn
from rejoinder.models.weights import Count, Object, tensor, text_of
from rejoinder.scorer import FloatArray

if TYPE_CHECKING:
    from torch import Tensor, nn

    from rejoinder.models.networks.dialogue import Dialogues

    Network = TypeVar("Network", bound=nn.Module)
Text = TypeVar("Text", bound=Hashable)
Numbers = TypeVar("Numbers", bound=Sequence[Any])

VOCABULARY = "vocabulary.json"
_LONGEST_TURN = 100_000
_TOGETHER = 64


def encode_once(encode: Callable[[Sequence[Text]], FloatArray], texts: Sequence[Text]) -> FloatArray:
    """[N, D] what `encode` gives for N texts or contexts; each distinct one is encoded once."""
    places: dict[Text, int] = {}
    rows = [places.setdefault(text, len(places)) for text in texts]
    return encode(list(places))[rows]


def encode_batches(
    items: Sequence[Numbers], width: int, size: Callable[[Numbers], Any], encode: Callable[[list[Numbers]], Tensor]
) -> FloatArray:
    """[N, width] vectors of N items in numbers; a row of NaN for an empty one.

    Like sizes go together, so that no reading of padding is paid for; a row does not depend on its neighbours.

    Args:
        items: what to encode.
        width: D.
        size: what to sort by.
        encode: [n, D] the vectors of one batch.
    """
    import torch

    encoded = np.full((len(items), width), np.nan)
    usable = sorted((place for place, item in enumerate(items) if item), key=lambda place: size(items[place]))
    with torch.inference_mode():
        for start in range(0, len(usable), _TOGETHER):
            places = usable[start : start + _TOGETHER]
            encoded[places] = encode([items[place] for place in places]).double().numpy()
    return encoded


def padded(sequences: Sequence[Sequence[int]], filler: int) -> tuple[Tensor, Tensor]:
    """[n, T] the sequences with `filler` behind, and their lengths [n]."""
    import torch

    lengths = torch.tensor([len(sequence) for sequence in sequences])
    table = torch.full((len(sequences), int(lengths.max())), filler)
    for row, sequence in enumerate(sequences):
        table[row, : len(sequence)] = torch.tensor(sequence)
    return table, lengths


def as_dialogues(contexts: Sequence[Sequence[Sequence[int]]]) -> Dialogues:
    """Contexts of one turn or more, given as numbers, for a dialogue model; all turns in one chunk."""
    import torch

    from rejoinder.models.networks.dialogue import Dialogues, Turns

    tokens, lengths = padded([turn for context in contexts for turn in context], PAD_ID)
    rows = torch.full((len(contexts), max(map(len, contexts))), -1)
    start = 0
    for row, context in enumerate(contexts):
        rows[row, : len(context)] = torch.arange(start, start + len(context))
        start += len(context)
    return Dialogues([Turns(tokens, lengths)], rows)


def numbered_turns(
    vocabulary: Vocabulary, context: Sequence[str], longest_turn: int, most_turns: int
) -> list[list[int]]:
    """The numbers of the last `most_turns` turns of a context that have any, each cut to `longest_turn`."""
    turns = [as_turn(ids, longest_turn) for text in context if (ids := vocabulary.encode(text))]
    return turns[-most_turns:]


def is_cut(vocabulary: Vocabulary, context: Sequence[str], longest_turn: int, most_turns: int) -> bool:
    """Whether `numbered_turns` leaves something of a context out."""
    sizes = [size for text in context if (size := len(vocabulary.encode(text)))]
    return len(sizes) > most_turns or any(size >= longest_turn for size in sizes)


def require_torch(what: str = "A pre-trained encoder") -> None:
    """Raise where a network cannot run.

    Raises:
        MissingExtra: torch is not installed.
    """
    try:
        import torch  # noqa: F401 - only whether it is there
    except ImportError as error:
        raise MissingExtra("torch", "train", what) from error


def with_weights(build: Callable[[], Network], tensors: Mapping[str, NDArray[Any]]) -> Network:
    """The network that `build` makes, with `tensors` as its weights, in evaluation mode.

    It is built without memory first: sizes that a stranger wrote take none before the weights are seen to fit them.

    Raises:
        DataError: no such network can be built, or the weights are not those of one.
    """
    import torch

    try:
        with torch.device("meta"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of sizes that are 0
            expected = {name: tuple(weight.shape) for name, weight in build().state_dict().items()}
    except (RuntimeError, TypeError, ValueError, ZeroDivisionError) as error:
        raise DataError(f"no network can be built ({error!s:.80})", AGAIN, field="sizes") from error
    if unknown := next((name for name in tensors if name not in expected), None):
        raise DataError(f"the tensor {unknown} is none of this network", AGAIN)
    given = {name: tensor(tensors, name, shape) for name, shape in expected.items()}
    network = build()
    network.load_state_dict({name: torch.from_numpy(weight) for name, weight in given.items()})
    return network.eval()


def vocabulary_of(parts: Parts, pieces: int, name: str = VOCABULARY) -> Vocabulary:
    """The vocabulary in the file `name` of a network that has vectors for so many pieces.

    Raises:
        DataError: there is none, or it has more pieces.
    """
    found = Vocabulary.from_json(text_of(parts.files, name))
    if found.size > pieces:
        raise DataError(f"{found.size} pieces in {name} for a network of {pieces}", AGAIN, field="sizes.vocabulary")
    return found


def limits(config: Mapping[str, Any]) -> tuple[int, int]:
    """The most pieces of a turn that a network reads, its end included, and the most turns."""
    text = value_in(value_in(config, "recipe", Object), "text", Object)
    longest = value_in(text, "longest_turn", Annotated[int, Interval(ge=2, le=_LONGEST_TURN)])
    return longest, value_in(text, "most_turns", Count)
