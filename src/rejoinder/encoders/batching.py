"""Texts as numbers through a network: batches of like size, padded, on the CPU."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rejoinder.errors import MissingExtra
from rejoinder.scorer import FloatArray
from rejoinder.text.bpe import PAD_ID, Vocabulary, as_turn

if TYPE_CHECKING:
    from torch import Tensor, nn

    from rejoinder.nn.dialogue import Dialogues

    Network = TypeVar("Network", bound=nn.Module)
Text = TypeVar("Text", bound=Hashable)
Numbers = TypeVar("Numbers", bound=Sequence[Any])

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

    from rejoinder.nn.dialogue import Dialogues, Turns

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


def with_weights(network: Network, tensors: Mapping[str, NDArray[Any]]) -> Network:
    """The network with `tensors` as its weights, in evaluation mode."""
    import torch

    network.load_state_dict({name: torch.from_numpy(tensor) for name, tensor in tensors.items()})
    return network.eval()
