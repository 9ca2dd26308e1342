"""Texts as numbers through a network: batches of like size, padded, on the CPU."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rejoinder.errors import MissingExtra
from rejoinder.scorer import FloatArray

if TYPE_CHECKING:
    from torch import Tensor, nn

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


def require_torch() -> None:
    """Raise where a network cannot run.

    Raises:
        MissingExtra: torch is not installed.
    """
    try:
        import torch  # noqa: F401 - only whether it is there
    except ImportError as error:
        raise MissingExtra("torch", "train", "A pre-trained encoder") from error


def with_weights(network: Network, tensors: Mapping[str, NDArray[Any]]) -> Network:
    """The network with `tensors` as its weights, in evaluation mode."""
    import torch

    network.load_state_dict({name: torch.from_numpy(tensor) for name, tensor in tensors.items()})
    return network.eval()
